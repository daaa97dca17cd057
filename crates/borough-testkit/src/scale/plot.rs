//! The plot: bytes per second at rest over the number of nodes, both logarithmic.

use std::fmt::Write;

use super::crowd::Role;
use super::scenario::Course;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 600.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 310.0;
/// Powers of ten at the ends of the axes.
const NODES: (f64, f64) = (1.0, 3.0);
const BYTES: (f64, f64) = (3.0, 6.0);

/// Colours follow the reader's light or dark preference.
const STYLE: &str = "\
svg { font: 12px system-ui, sans-serif; background: #fff }
text { fill: #24292f } .title { font-weight: 600; font-size: 13px } .note { fill: #57606a }
.grid { stroke: #d0d7de } .limit { stroke: #cf222e; stroke-dasharray: 5 4 } polyline { fill: none; stroke-width: 2 }
.voter { stroke: #0969da } .member { stroke: #1a7f37 } circle.voter { fill: #0969da } circle.member { fill: #1a7f37 }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117 } text { fill: #e6edf3 } .note { fill: #9198a1 } .grid { stroke: #3d444d }
}";

/// Draws some runs, in the order of their size.
pub fn plot(courses: &[Course]) -> String {
    let mut body = String::new();
    draw(
        &mut body,
        format_args!(
            r#"<text class="title" x="{LEFT}" y="22">Bytes per second of a node at rest <tspan class="note">sent and received together</tspan></text>"#
        ),
    );
    axes(&mut body);
    curve(&mut body, courses, Role::Voter, "voter", "voter");
    curve(&mut body, courses, Role::Member, "member", "non-voter");
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\">\n\
         <style>\n{STYLE}\n</style>\n{body}</svg>\n"
    )
}

fn axes(body: &mut String) {
    for (bytes, label) in [(1e3, "1 kB/s"), (1e4, "10 kB/s"), (1e5, "100 kB/s"), (1e6, "1 MB/s")] {
        let (y, class) = (height(bytes), if bytes >= 1e6 { "limit" } else { "grid" });
        draw(
            body,
            format_args!(r#"<line class="{class}" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1}" y2="{y:.1}"/>"#),
        );
        let (x, y) = (LEFT - 8.0, y + 4.0);
        draw(body, format_args!(r#"<text class="note" x="{x}" y="{y:.1}" text-anchor="end">{label}</text>"#));
    }
    let (x, y) = (LEFT + 8.0, height(1e6) + 16.0);
    draw(body, format_args!(r#"<text class="note" x="{x}" y="{y:.1}">a voter's bound, each way</text>"#));
    for nodes in [10.0, 30.0, 100.0, 300.0, 1000.0] {
        let (x, y) = (width(nodes), BOTTOM + 18.0);
        draw(body, format_args!(r#"<line class="grid" x1="{x:.1}" x2="{x:.1}" y1="{TOP}" y2="{BOTTOM}"/>"#));
        draw(
            body,
            format_args!(r#"<text class="note" x="{x:.1}" y="{y}" text-anchor="middle">{nodes}</text>"#),
        );
    }
    let (x, y) = (f64::midpoint(LEFT, RIGHT), HEIGHT - 10.0);
    draw(body, format_args!(r#"<text class="note" x="{x}" y="{y}" text-anchor="middle">nodes</text>"#));
}

fn curve(body: &mut String, courses: &[Course], role: Role, class: &str, name: &str) {
    let points: Vec<(f64, f64)> = courses
        .iter()
        .filter_map(|course| {
            let share = course.phase("rest")?.share(role);
            (share.nodes > 0).then(|| (width(count(course.nodes)), height(share.both_ways())))
        })
        .collect();
    let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    draw(body, format_args!(r#"<polyline class="{class}" points="{}"/>"#, line.join(" ")));
    for (x, y) in &points {
        draw(body, format_args!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3"/>"#));
    }
    if let Some((x, y)) = points.last() {
        let (x, y) = (x - 10.0, y - 10.0);
        draw(body, format_args!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="end">{name}</text>"#));
    }
}

fn width(nodes: f64) -> f64 {
    between(nodes.log10(), NODES, (LEFT, RIGHT))
}

fn height(bytes: f64) -> f64 {
    between(bytes.max(1.0).log10(), BYTES, (BOTTOM, TOP))
}

/// Where a value stands between the ends, and not beyond them.
fn between(value: f64, (low, high): (f64, f64), (from, to): (f64, f64)) -> f64 {
    from + (to - from) * ((value - low) / (high - low)).clamp(0.0, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "no cluster is that large")]
fn count(nodes: usize) -> f64 {
    nodes as f64
}

fn draw(body: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    writeln!(body, "{element}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::sample;

    #[test]
    fn every_run_has_a_point_on_both_curves() {
        let svg = plot(&[10, 100, 1000].map(|nodes| sample(nodes, 3000, 300 * nodes as u64, 700)));
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 6);
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn what_is_beyond_the_axes_stays_on_the_page() {
        assert!((height(1e12) - TOP).abs() < 1e-9);
        assert!((height(0.0) - BOTTOM).abs() < 1e-9);
        assert!((width(1e9) - RIGHT).abs() < 1e-9);
    }
}
