//! Which of two versions of a user's program is the newer.

use core::cmp::Ordering;

/// Compares as people count: `1.10` is newer than `1.9`, `1.0` is newer than `1.0-rc.2`, and what is missing counts as 0.
///
/// Whatever the texts are, it is an order: two that compare equal are written alike, but for zeros and what separates the parts.
pub fn compare_versions(one: &str, other: &str) -> Ordering {
    let (one, one_before) = split(one);
    let (other, other_before) = split(other);
    compare_parts(one, other).then_with(|| match (one_before, other_before) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(one), Some(other)) => compare_parts(one, other),
    })
}

/// The version, and what says that it is not out yet.
fn split(version: &str) -> (&str, Option<&str>) {
    match version.split_once('-') {
        Some((version, before)) => (version, Some(before)),
        None => (version, None),
    }
}

fn compare_parts(one: &str, other: &str) -> Ordering {
    let parts = |text| str::split(text, |c: char| !c.is_alphanumeric());
    let (mut one, mut other) = (parts(one), parts(other));
    loop {
        let order = match (one.next(), other.next()) {
            (None, None) => return Ordering::Equal,
            (one, other) => compare_part(one.unwrap_or("0"), other.unwrap_or("0")),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Numbers by their value, however long they are; a number is older than a word.
fn compare_part(one: &str, other: &str) -> Ordering {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match (is_number(one), is_number(other)) {
        (true, true) => {
            let (one, other) = (one.trim_start_matches('0'), other.trim_start_matches('0'));
            one.len().cmp(&other.len()).then_with(|| one.cmp(other))
        }
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => one.cmp(other),
    }
}
