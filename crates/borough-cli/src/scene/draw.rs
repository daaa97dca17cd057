//! All of it on a terminal.

use anyhow::Result;
use borough_management::view::{Member, Members};
use ratatui::backend::TestBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Cell, Paragraph, Row as TableRow, Table, Wrap};
use ratatui::{Frame, Terminal};

use super::{Scene, map};
use crate::output;

/// The widths of all columns but the bar, and the gaps between them.
const COLUMNS: [u16; 9] = [3, 11, 9, 11, 6, 9, 8, 6, 6];
/// How many busy entities are shown, and how many slow ones below how long turns take.
const BUSIEST: usize = 5;
const SLOWEST: usize = 4;

/// What stands below the picture, and which node the keys mean.
#[derive(Debug, Default)]
pub(crate) struct Footer {
    pub(crate) facts: Vec<Line<'static>>,
    /// What happened last. On a small screen the older ones make room.
    pub(crate) notices: Vec<Line<'static>>,
    pub(crate) lines: Vec<Line<'static>>,
    pub(crate) selected: Option<String>,
}

impl Footer {
    /// All of it that fits in so many rows; the last notice and all else in any case.
    fn within(&self, rows: u16, width: u16) -> Vec<Line<'static>> {
        let all = |left_out: usize| -> Vec<_> {
            let notices = self.notices.iter().skip(left_out);
            self.facts.iter().chain(notices).chain(&self.lines).cloned().collect()
        };
        let most = self.notices.len().saturating_sub(1);
        let fits = |lines: &Vec<_>| wrapped(lines, width) < rows;
        (0..most).map(all).find(fits).unwrap_or_else(|| all(most))
    }
}

/// Draws what was last seen. Where not all of it fits, the nodes and their shards come first, then what stands below the picture, then who has most to do.
pub(crate) fn draw(frame: &mut Frame<'_>, scene: &Scene, footer: &Footer) {
    let Rect { width, height, .. } = frame.area();
    let (header, nodes) = (header(scene), nodes(scene, footer.selected.as_deref(), width));
    let rows = scene.members.as_ref().map_or(0, |members| members.members.len());
    let (maps, busiest, slowest) = (maps(scene, width), busiest(scene), slowest(scene));
    let picture = wrapped(&header, width) + fitting(rows + 2) + fitting(maps.len() + 1);
    let footer = footer.within(height.saturating_sub(picture), width);
    let footer_rows = wrapped(&footer, width) + 1;
    // A line above it and one of its own at least.
    let left = Some(height.saturating_sub(picture + footer_rows)).filter(|left| *left >= 2);
    let loads = fitting(busiest.len().max(slowest.len()) + 1);
    let [top, members, map, below, bottom] = Layout::vertical([
        Constraint::Length(wrapped(&header, width)),
        Constraint::Length(fitting(rows + 2)),
        Constraint::Min(3),
        Constraint::Length(loads.min(left.unwrap_or(0))),
        Constraint::Length(footer_rows),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(header).wrap(Wrap { trim: false }), top);
    frame.render_widget(nodes, members);
    frame.render_widget(Paragraph::new(maps).block(Block::new().borders(Borders::TOP)), map);
    let halves = Layout::horizontal([Constraint::Ratio(1, 2); 2]).areas::<2>(below);
    for (lines, half) in [busiest, slowest].into_iter().zip(halves) {
        frame.render_widget(Paragraph::new(lines).block(Block::new().borders(Borders::TOP)), half);
    }
    let block = Block::new().borders(Borders::TOP);
    frame.render_widget(Paragraph::new(footer).wrap(Wrap { trim: false }).block(block), bottom);
}

/// One frame as text, for programs and for terminals that are none.
pub(crate) fn printed(scene: &Scene, width: u16, footer: &Footer) -> Result<String> {
    let rows = scene.members.as_ref().map_or(0, |members| members.members.len());
    let shards: usize =
        scene.shards.iter().flat_map(|shards| &shards.kinds).map(|kind| kind.shards as usize / 32 + 2).sum();
    let below = footer.facts.len() + footer.notices.len() + footer.lines.len();
    let height = fitting(rows + shards + BUSIEST + below + 12);
    let mut terminal = Terminal::new(TestBackend::new(width, height))?;
    terminal.draw(|frame| draw(frame, scene, footer))?;
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    let mut empty = 0;
    for cells in buffer.content.chunks(usize::from(width)) {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    Ok(text)
}

fn header(scene: &Scene) -> Vec<Line<'static>> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut lines = Vec::new();
    if let Some(members) = &scene.members {
        let total = scene.tally.total();
        lines.push(Line::from(vec![
            Span::styled(format!("cluster {}", members.cluster), bold),
            Span::raw(format!(", seen by {} ({}); it ", members.seen_by, members.standing)),
            Span::styled(survival(members), bold),
        ]));
        lines.push(Line::raw(format!(
            "{} entities  {} messages/s  held {}  refused {}  dropped {}  {} shards moved",
            output::grouped(total.entities),
            output::grouped(total.rate),
            output::grouped(total.held),
            output::grouped(total.refused),
            output::grouped(total.dropped),
            output::grouped(total.arrived),
        )));
        lines.extend(members.advice.clone().map(Line::raw));
    }
    lines.extend(scene.silence.clone().map(|why| Line::styled(why, bold)));
    if !scene.tally.missing.is_empty() {
        lines.push(Line::raw(format!("no counts from {}", scene.tally.missing.join(", "))));
    }
    lines
}

/// `survives the loss of 1 voter now`.
fn survival(members: &Members) -> String {
    match members.tolerates {
        0 => "survives no loss now".to_owned(),
        some => format!("survives the loss of {} now", output::counted(some, "voter")),
    }
}

fn nodes<'a>(scene: &Scene, selected: Option<&str>, width: u16) -> Table<'a> {
    let titles = ["", "NODE", "STATE", "PART", "SHARDS", "ENTITIES", "MSG/S", "HELD", "MOVED", ""];
    let bar = width.saturating_sub(COLUMNS.iter().sum::<u16>() + fitting(COLUMNS.len())).min(32);
    let widths = COLUMNS.iter().copied().chain([bar]).map(Constraint::Length);
    let members = scene.members.iter().flat_map(|members| &members.members);
    let most = members.clone().map(|member| owned(scene, &member.node)).max().unwrap_or(0).max(1);
    let rows = members.map(|member| {
        let row = node(scene, member, usize::from(bar), most);
        let is_selected = selected == Some(&*member.node);
        if is_selected { row.style(Style::new().add_modifier(Modifier::REVERSED)) } else { row }
    });
    Table::new(rows.collect::<Vec<_>>(), widths)
        .header(TableRow::new(titles).style(Style::new().add_modifier(Modifier::DIM)))
        .block(Block::new().borders(Borders::TOP))
}

/// One node; its bar is as long as its share of what the one with most shards has.
fn node<'a>(scene: &Scene, member: &Member, bar: usize, most: usize) -> TableRow<'a> {
    let mark = scene.marks.get(&member.node).copied().unwrap_or_default();
    let shards = owned(scene, &member.node);
    let row = scene.tally.rows.get(&member.node).copied().unwrap_or_default();
    let state = if member.is_reachable { member.state.clone() } else { format!("{} ?", member.state) };
    TableRow::new([
        Cell::from(Span::styled(format!(" {} ", map::letter(mark)), map::style(mark))),
        Cell::from(member.node.clone()),
        Cell::from(state),
        Cell::from(output::part(member)),
        Cell::from(shards.to_string()),
        Cell::from(output::grouped(row.entities)),
        Cell::from(output::grouped(row.rate)),
        Cell::from(output::grouped(row.held)),
        Cell::from(output::grouped(row.arrived + row.departed)),
        Cell::from(Span::styled("█".repeat((shards * bar).div_ceil(most)), colour(mark))),
    ])
}

/// A bar in the node's colour.
fn colour(mark: usize) -> Style {
    map::style(mark).bg.map_or_else(Style::new, |colour| Style::new().fg(colour))
}

/// How many shards of all types it owns.
fn owned(scene: &Scene, node: &str) -> usize {
    let places = scene.shards.iter().flat_map(|shards| &shards.kinds).flat_map(|map| &map.places);
    places.filter(|place| place.owner.as_deref() == Some(node)).count()
}

/// The shards of each type.
fn maps(scene: &Scene, width: u16) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for kind in scene.shards.iter().flat_map(|shards| &shards.kinds) {
        let moving = kind.places.iter().filter(|place| place.moving_to.is_some()).count();
        let moves = if moving == 0 { String::new() } else { format!(", {moving} moving") };
        lines.push(Line::raw(format!(
            "{}: {}{moves}",
            kind.kind,
            output::counted(kind.shards as usize, "shard")
        )));
        lines.extend(map::lines(kind, &scene.marks, width));
    }
    lines
}

/// Those that have most to do.
fn busiest(scene: &Scene) -> Vec<Line<'static>> {
    let mut lines: Vec<_> = scene
        .busiest
        .iter()
        .take(BUSIEST)
        .map(|busy| {
            Line::raw(format!("{}/{} on {}: {} waiting", busy.kind, busy.id, busy.node, busy.waiting))
        })
        .collect();
    if lines.is_empty() {
        lines.push(Line::raw("no entity has messages waiting"));
    }
    lines
}

/// How long turns take, and whose take longest.
fn slowest(scene: &Scene) -> Vec<Line<'static>> {
    let total = scene.tally.total();
    let (half, most) = (output::short(total.p50_nanos), output::short(total.p99_nanos));
    let mut lines = vec![Line::raw(format!("turns: p50 {half}, p99 {most}"))];
    lines.extend(scene.slowest.iter().take(SLOWEST).map(|slow| {
        let took = output::short(slow.took_nanos);
        Line::raw(format!("{}/{} on {}: a turn of {took}", slow.kind, slow.id, slow.node))
    }));
    lines
}

/// How many rows they take.
fn wrapped(lines: &[Line<'_>], width: u16) -> u16 {
    // Spaces between two words may begin a row.
    let width = usize::from(width).saturating_sub(2).max(1);
    let rows = |line: &Line<'_>| {
        let (mut rows, mut column) = (1, 0);
        for word in line.to_string().split_inclusive(' ') {
            let length = Line::raw(word).width();
            if column > 0 && column + length > width {
                (rows, column) = (rows + 1, 0);
            }
            // Only a word that is longer than a row is cut.
            rows += length.saturating_sub(1) / width;
            column += length;
        }
        rows
    };
    fitting(lines.iter().map(rows).sum())
}

/// Lengths on a screen are short.
fn fitting(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use borough_management::view::{Place, ShardMap, Shards};

    use super::*;
    use crate::scene::News;

    const NAMES: [&str; 4] = ["city-hall", "downtown", "harbour", "uptown"];

    fn member(name: &str) -> Member {
        Member {
            node: name.to_owned(),
            address: "127.0.0.1:1".to_owned(),
            uid: "1".to_owned(),
            state: "up".to_owned(),
            is_reachable: true,
            is_voter: true,
            is_coordinator: false,
            phi_milli: None,
            roles: Vec::new(),
            app_version: String::new(),
            zone: String::new(),
            management: None,
        }
    }

    /// A demo of three nodes that has run for a while.
    fn scene() -> Scene {
        let members = Members {
            cluster: "demo".to_owned(),
            seen_by: NAMES[0].to_owned(),
            standing: "member".to_owned(),
            advice: None,
            version: "1.1".to_owned(),
            coordinator: None,
            tolerates: 1,
            members: NAMES.map(member).into(),
        };
        let owner = |shard: u32| NAMES[1 + shard as usize % 3].to_owned();
        let place = |shard| Place { shard, owner: Some(owner(shard)), epoch: 1, moving_to: None };
        let kind = ShardMap {
            kind: "sensors".to_owned(),
            shards: 256,
            hosts: Vec::new(),
            places: (0..256).map(place).collect(),
        };
        let mut scene = Scene::default();
        scene.take_in(News::Table(members, Shards { seen_by: NAMES[0].to_owned(), kinds: vec![kind] }));
        scene
    }

    fn drawn(width: u16, height: u16, footer: &Footer) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen in memory");
        terminal.draw(|frame| draw(frame, &scene(), footer)).expect("it cannot fail");
        let cells = terminal.backend().buffer().content.chunks(usize::from(width));
        cells.map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect()).collect()
    }

    #[test]
    fn a_small_terminal_shows_every_node_all_shards_and_the_keys() {
        let facts =
            "sent 104 950 (5 000 a second), refused 0; answers p50 312 us, p99 1.4 ms; survives 1 loss now";
        let invitation =
            "dashboard http://127.0.0.1:25580; in another terminal: borough top --address 127.0.0.1:25580";
        let keys = "a add a node   k kill -9   d drain   l leave   p pause, go on   up, down choose   q quit";
        let footer = Footer {
            facts: vec![Line::raw(facts)],
            notices: (0..4).map(|number| Line::raw(format!("notice {number}"))).collect(),
            lines: vec![Line::raw(invitation), Line::raw(keys)],
            selected: None,
        };
        let rows = drawn(80, 24, &footer);
        let shows = |words: &str| rows.iter().any(|row| row.contains(words));
        for words in
            NAMES.iter().copied().chain(["sensors: 256 shards", "notice 3", "q quit", "survives the loss"])
        {
            assert!(shows(words), "{words} is not on it:\n{}", rows.join("\n"));
        }
        let tiles = rows.iter().filter(|row| {
            row.starts_with("BCDBCD") || row.starts_with("CDBCDB") || row.starts_with("DBCDBC")
        });
        assert_eq!(tiles.count(), 4, "{}", rows.join("\n"));
    }

    #[test]
    fn a_large_terminal_shows_who_has_most_to_do_and_all_that_happened() {
        let notices = (0..4).map(|number| Line::raw(format!("notice {number}"))).collect();
        let rows = drawn(100, 40, &Footer { notices, ..Footer::default() });
        for words in ["no entity has messages waiting", "turns: p50", "notice 0", "notice 3"] {
            assert!(rows.iter().any(|row| row.contains(words)), "{}", rows.join("\n"));
        }
    }
}
