//! Times and sizes as people write them: a number and a unit.

use std::time::Duration;

/// Units of time, the largest first, in nanoseconds.
const TIMES: [(&str, u128); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
/// Units of size, the largest first, in bytes.
const SIZES: [(&str, u128); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
const SECOND: u128 = 1_000_000_000;

/// Reads `250 ms`, `3s`, `3.5 s`, `5 min`. The unit must be there.
pub(super) fn read_time(text: &str) -> Option<Duration> {
    let nanos = read(text, &TIMES)?;
    let seconds = u64::try_from(nanos / SECOND).ok()?;
    Some(Duration::new(seconds, u32::try_from(nanos % SECOND).ok()?))
}

/// Reads `256 KiB`, `8MiB`; a bare number counts bytes.
pub(super) fn read_size(text: &str) -> Option<u64> {
    let is_bare = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_bare { text.parse().ok() } else { u64::try_from(read(text, &SIZES)?).ok() }
}

/// Writes a time so that [`read_time`] reads the same.
pub(super) fn write_time(time: Duration) -> String {
    let nanos = time.as_nanos();
    // Seconds are read most easily as a fraction, other units whole.
    let is_seconds = nanos >= SECOND && !nanos.is_multiple_of(60 * SECOND) && nanos.is_multiple_of(1_000_000);
    if is_seconds && !nanos.is_multiple_of(SECOND) {
        let thousandths = format!("{:03}", nanos % SECOND / 1_000_000);
        return format!("{}.{} s", nanos / SECOND, thousandths.trim_end_matches('0'));
    }
    // A day is written as 24 h, as it is said; more than one as days.
    let fits =
        |&&(_, unit): &&(&str, u128)| nanos.is_multiple_of(unit) && (unit != TIMES[0].1 || nanos > unit);
    let (name, unit) =
        if nanos == 0 { ("s", SECOND) } else { *TIMES.iter().find(fits).unwrap_or(&("ns", 1)) };
    format!("{} {name}", nanos / unit)
}

/// Writes a size so that [`read_size`] reads the same.
pub(super) fn write_size(bytes: u64) -> String {
    let bytes = u128::from(bytes);
    let fits = |&&(_, unit): &&(&str, u128)| bytes >= unit && bytes.is_multiple_of(unit);
    let (name, unit) = SIZES.iter().find(fits).unwrap_or(&("B", 1));
    format!("{} {name}", bytes / unit)
}

fn read(text: &str, units: &[(&str, u128)]) -> Option<u128> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, name) = (&text[..end], text[end..].trim_start());
    let (_, unit) = units.iter().find(|(known, _)| *known == name)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let whole: u128 = whole.parse().ok()?;
    // More digits than a unit has nanoseconds say nothing.
    if part.is_empty() || part.len() > 9 {
        return None;
    }
    let scale = 10_u128.pow(u32::try_from(part.len()).ok()?);
    let part = part.parse::<u128>().ok()?.checked_mul(*unit)? / scale;
    whole.checked_mul(*unit)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_a_space() {
        for (text, millis) in [
            ("250 ms", 250),
            ("3s", 3_000),
            ("3.5 s", 3_500),
            ("5 min", 300_000),
            ("2h", 7_200_000),
            ("1 d", 86_400_000),
        ] {
            assert_eq!(read_time(text), Some(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(read_time("1.5us"), Some(Duration::from_nanos(1_500)));
    }

    #[test]
    fn a_time_without_a_unit_or_of_no_number_is_none() {
        for text in
            ["", "250", "ms", "-1 s", "1 sec", "1 s ", " 1 s", "1.2.3 s", "1. s", ".5 s", "1e3 s", "1 S"]
        {
            assert_eq!(read_time(text), None, "{text:?}");
        }
        assert_eq!(read_time(&format!("{} d", u128::MAX)), None);
        assert_eq!(read_time(&format!("{}0 s", u64::MAX)), None);
    }

    #[test]
    fn sizes_are_read_in_binary_units_and_in_bytes() {
        for (text, bytes) in
            [("4096", 4096), ("4 KiB", 4096), ("8MiB", 8 << 20), ("0.5 GiB", 1 << 29), ("7 B", 7)]
        {
            assert_eq!(read_size(text), Some(bytes), "{text}");
        }
        for text in ["", "KiB", "1 KB", "1 kib", "-1", "99999999999999999999999"] {
            assert_eq!(read_size(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (time, text) in [
            (Duration::ZERO, "0 s"),
            (Duration::from_millis(400), "400 ms"),
            (Duration::from_millis(3_500), "3.5 s"),
            (Duration::from_millis(61_005), "61.005 s"),
            (Duration::from_secs(30), "30 s"),
            (Duration::from_secs(60), "1 min"),
            (Duration::from_secs(86_400), "24 h"),
            (Duration::from_secs(366 * 86_400), "366 d"),
            (Duration::from_nanos(1_000_000_001), "1000000001 ns"),
        ] {
            assert_eq!(write_time(time), text);
            assert_eq!(read_time(text), Some(time), "{text}");
        }
        for (size, text) in [(0, "0 B"), (1023, "1023 B"), (256 << 10, "256 KiB"), (1 << 30, "1 GiB")] {
            assert_eq!(write_size(size), text);
            assert_eq!(read_size(text), Some(size));
        }
    }
}
