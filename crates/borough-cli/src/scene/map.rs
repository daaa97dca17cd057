//! The shard map: each shard a tile with its owner's letter, in its owner's colour.

use std::collections::BTreeMap;

use borough_management::view::ShardMap;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// Told apart by people who see fewer colours too (after Okabe and Ito), in the terminal's 256; the letters tell as much.
const COLOURS: [u8; 8] = [214, 75, 36, 227, 26, 166, 175, 250];

/// The letter of a node, by its number: `A` to `Z`, then again.
pub(super) fn letter(mark: usize) -> char {
    char::from(b'A' + u8::try_from(mark % 26).unwrap_or(0))
}

/// A node's own colour, as ground.
pub(super) fn style(mark: usize) -> Style {
    Style::new().fg(Color::Black).bg(Color::Indexed(COLOURS[mark % COLOURS.len()]))
}

/// One type's shards, by number, in rows that fit the width. A shard that moves is shown by the letter of where it goes, in lower case on its
/// owner's colour; one that nobody owns is a dot.
pub(super) fn lines(map: &ShardMap, marks: &BTreeMap<String, usize>, width: u16) -> Vec<Line<'static>> {
    let columns = columns(map.shards, width);
    let mark = |node: Option<&String>| node.and_then(|node| marks.get(node)).copied();
    let mut tiles = vec![Span::raw("·"); map.shards as usize];
    for place in &map.places {
        let Some(tile) = tiles.get_mut(place.shard as usize) else { continue };
        let Some(owner) = mark(place.owner.as_ref()) else { continue };
        *tile = match mark(place.moving_to.as_ref()) {
            Some(to) => Span::styled(
                letter(to).to_ascii_lowercase().to_string(),
                style(owner).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            ),
            None => Span::styled(letter(owner).to_string(), style(owner)),
        };
    }
    tiles.chunks(columns).map(|row| Line::from(row.to_vec())).collect()
}

/// The largest power of two that fits, so that a shard keeps its place in the eye; at most 64.
fn columns(shards: u32, width: u16) -> usize {
    let fits = usize::from(width).clamp(1, 64).min(shards.max(1) as usize);
    if fits.is_power_of_two() { fits } else { fits.next_power_of_two() / 2 }
}

#[cfg(test)]
mod tests {
    use borough_management::view::Place;

    use super::*;

    #[test]
    fn each_shard_shows_its_owner_where_it_goes_or_that_it_has_none() {
        let place = |shard, owner: Option<&str>, to: Option<&str>| Place {
            shard,
            owner: owner.map(str::to_owned),
            epoch: 1,
            moving_to: to.map(str::to_owned),
        };
        let places = vec![place(0, Some("a"), None), place(1, Some("b"), Some("a")), place(2, None, None)];
        let map = ShardMap { kind: "t".to_owned(), shards: 4, hosts: Vec::new(), places };
        let marks = BTreeMap::from([("a".to_owned(), 0), ("b".to_owned(), 1)]);
        let text: Vec<_> = lines(&map, &marks, 80).iter().map(ToString::to_string).collect();
        assert_eq!(text, ["Aa··"]);
    }

    #[test]
    fn rows_are_powers_of_two_that_fit() {
        assert_eq!((columns(256, 200), columns(256, 63), columns(3, 80), columns(256, 0)), (64, 32, 2, 1));
    }
}
