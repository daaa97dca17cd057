//! The bars: a group a workload, a bar a program, its median with a whisker over the range.
//!
//! Each group has its own scale. A bar more than [`CLIP`] times as long as the group's median one is cut, or nothing
//! else in the group could be seen; its figure is written beside it all the same.

use crate::cluster::{self, Unit};
use crate::programs::{self, Kind};
use crate::samples::{Samples, Spread};
use crate::workloads::{Better, Workload};
use std::fmt::Write;

const CLIP: f64 = 6.0;
const WIDTH: f64 = 860.0;
const BAR_LEFT: f64 = 120.0;
/// Where bars begin that are named by what was measured.
const TIME_LEFT: f64 = 160.0;
const BAR_MOST: f64 = 560.0;
const BAR_HEIGHT: f64 = 14.0;
const LINE: f64 = 20.0;
const TITLE: f64 = 30.0;
const GAP: f64 = 16.0;

/// Colours follow the reader's light or dark preference.
const STYLE: &str = "\
svg { font: 12px system-ui, sans-serif; background: #fff }
text { fill: #24292f } .title { font-weight: 600; font-size: 13px } .note { fill: #57606a }
.borough { fill: #0969da } .peer { fill: #8c959f } .limit { fill: #d0d7de } .range { stroke: #24292f }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117 } text { fill: #e6edf3 } .note { fill: #9198a1 }
  .borough { fill: #4493f8 } .peer { fill: #656c76 } .limit { fill: #3d444d } .range { stroke: #e6edf3 }
}";

/// Draws all workloads measured, and what took time in clusters.
pub(super) fn render(samples: &Samples, clusters: &[cluster::Row]) -> String {
    let mut body = String::new();
    let mut top = GAP;
    for workload in samples.workloads() {
        let bars = bars(workload, samples);
        if !bars.is_empty() {
            let better = match workload.better() {
                Better::Higher => "more is better",
                Better::Lower => "less is better",
            };
            top = group(&mut body, top, (workload.title(), better), BAR_LEFT, &bars);
        }
    }
    let bars = times(clusters);
    if !bars.is_empty() {
        top = group(&mut body, top, ("clusters under load", "less is better"), TIME_LEFT, &bars);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" width=\"{WIDTH}\" height=\"{top}\">\n\
         <style>\n{STYLE}\n</style>\n{body}</svg>\n"
    )
}

struct Bar {
    name: &'static str,
    class: &'static str,
    spread: Spread,
    /// The median, for people.
    figure: String,
}

fn bars(workload: Workload, samples: &Samples) -> Vec<Bar> {
    let class = |kind| match kind {
        Kind::Borough => "borough",
        Kind::Peer => "peer",
        Kind::Limit => "limit",
    };
    programs::all()
        .filter_map(|(name, kind)| {
            let spread = samples.spread(workload, name)?;
            Some(Bar { name, class: class(kind), spread, figure: workload.show(spread.median) })
        })
        .collect()
}

/// A bar for each figure that is a time.
fn times(clusters: &[cluster::Row]) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    for row in clusters {
        let name = row.goal.figure;
        if let Some((unit @ Unit::Ms, spread)) = row.figure
            && bars.iter().all(|bar| bar.name != name)
        {
            bars.push(Bar { name, class: "borough", spread, figure: unit.show(spread.median) });
        }
    }
    bars
}

/// Draws one workload, its bars from that far left on; the top of what comes next.
fn group(body: &mut String, top: f64, (title, better): (&str, &str), left: f64, bars: &[Bar]) -> f64 {
    let title = escape(title);
    let baseline = top + LINE * 0.7;
    draw(
        body,
        format_args!(
            r#"<text class="title" x="8" y="{baseline}">{title} <tspan class="note">{better}</tspan></text>"#
        ),
    );
    let scale = BAR_MOST / longest(bars);
    for (bar, line) in bars.iter().zip(0_u8..) {
        one_bar(body, top + TITLE + f64::from(line) * LINE, scale, left, bar);
    }
    bars.iter().fold(top + TITLE + GAP, |top, _| top + LINE)
}

fn one_bar(body: &mut String, top: f64, scale: f64, left: f64, bar: &Bar) {
    let Bar { name, class, spread, figure } = bar;
    let at = |value: f64| left + (value * scale).min(BAR_MOST);
    let (baseline, middle) = (top + BAR_HEIGHT - 3.0, top + BAR_HEIGHT / 2.0);
    let (name, figure) = (escape(name), escape(figure));
    let (low, high) = (at(spread.low), at(spread.high));
    let width = (at(spread.median) - left).max(1.0);
    let cut = if spread.median * scale > BAR_MOST { " (cut)" } else { "" };
    let label = left.max(high).max(at(spread.median)) + 6.0;
    draw(body, format_args!(r#"<text x="8" y="{baseline}">{name}</text>"#));
    draw(
        body,
        format_args!(
            r#"<rect class="{class}" x="{left}" y="{top}" width="{width:.1}" height="{BAR_HEIGHT}" rx="2"/>"#
        ),
    );
    draw(
        body,
        format_args!(r#"<line class="range" x1="{low:.1}" x2="{high:.1}" y1="{middle}" y2="{middle}"/>"#),
    );
    draw(body, format_args!(r#"<text x="{label:.1}" y="{baseline}">{figure}{cut}</text>"#));
}

/// The figure that fills the width.
fn longest(bars: &[Bar]) -> f64 {
    let medians: Vec<_> = bars.iter().map(|bar| bar.spread.median).collect();
    let cut = Spread::of(&medians).map_or(1.0, |spread| spread.median * CLIP);
    let ends = bars.iter().map(|bar| bar.spread.high);
    ends.fold(f64::MIN_POSITIVE, f64::max).min(cut)
}

fn draw(body: &mut String, element: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    writeln!(body, "{element}").ok();
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::starts_and_leaves;
    use crate::row::tests::tell1;

    #[test]
    fn every_measured_program_has_a_bar_and_its_figure() {
        let svg = render(&tell1(4.0), &[]);
        assert_eq!(svg.matches("<rect").count(), 4);
        assert!(svg.contains("20.00 M/s") && svg.contains(r#"class="borough""#));
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn a_giant_is_cut_and_the_others_stay_visible() {
        let svg = render(&tell1(1.0), &[]);
        // raw-batch is 20 times the rest.
        assert_eq!(svg.matches("(cut)").count(), 1);
        assert!(svg.contains(&format!(r#"width="{BAR_MOST:.1}""#)));
    }

    #[test]
    fn every_time_of_a_cluster_has_one_bar() {
        let svg = render(&Samples::default(), &starts_and_leaves("3000, 4000, 5000", "100", ""));
        // The starts, held against two goals; the silence; the time that a leave took; but not how much was lost.
        assert_eq!(svg.matches("<rect").count(), 3);
        assert!(svg.contains("4000 ms") && svg.contains("leave_silence") && !svg.contains("leave_lost"));
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape(r#"a<b>&"c""#), "a&lt;b&gt;&amp;&quot;c&quot;");
    }
}
