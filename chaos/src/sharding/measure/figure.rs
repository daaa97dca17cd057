//! What was measured, as it is printed.

use std::time::Duration;

use serde::Serialize;

/// One thing that was done, how often, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    /// What was done.
    pub measurement: String,
    /// What was measured of it.
    pub figures: Vec<Figure>,
    /// What was wrong. If there is anything, the figures count for nothing.
    pub faults: Vec<String>,
}

/// One figure, over all runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it is called.
    pub name: String,
    /// What its values are.
    pub unit: Unit,
    /// The value of each run, in the order in which they were made.
    pub runs: Vec<f64>,
}

/// What values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// So many.
    Count,
    /// Parts of a hundred.
    Percent,
}

impl Measurement {
    pub(super) fn new(name: &str) -> Self {
        Self { measurement: name.to_owned(), figures: Vec::new(), faults: Vec::new() }
    }

    pub(super) fn add_time(&mut self, figure: &str, time: Duration) {
        self.add(figure, Unit::Ms, time.as_secs_f64() * 1e3);
    }

    pub(super) fn add_count(&mut self, figure: &str, count: usize) {
        // Far fewer than a fraction of a number has room for.
        self.add(figure, Unit::Count, u32::try_from(count).map_or(f64::INFINITY, f64::from));
    }

    pub(super) fn add_percent(&mut self, figure: &str, part: u32, whole: u32) {
        self.add(figure, Unit::Percent, f64::from(part) * 100.0 / f64::from(whole));
    }

    fn add(&mut self, name: &str, unit: Unit, run: f64) {
        match self.figures.iter_mut().find(|figure| figure.name == name) {
            Some(figure) => figure.runs.push(run),
            None => self.figures.push(Figure { name: name.to_owned(), unit, runs: vec![run] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_a_figure_are_printed_together_in_their_order() {
        let mut measured = Measurement::new("leave");
        measured.add_time("leave_silence", Duration::from_micros(1500));
        measured.add_count("leave_lost", 0);
        measured.add_time("leave_silence", Duration::from_millis(1));
        measured.add_percent("leave_moved", 64, 256);
        measured.faults.push("a message was lost".to_owned());
        let line = concat!(
            r#"{"measurement":"leave","figures":["#,
            r#"{"name":"leave_silence","unit":"ms","runs":[1.5,1.0]},"#,
            r#"{"name":"leave_lost","unit":"count","runs":[0.0]},"#,
            r#"{"name":"leave_moved","unit":"percent","runs":[25.0]}],"#,
            r#""faults":["a message was lost"]}"#
        );
        assert_eq!(serde_json::to_string(&measured).unwrap(), line);
    }
}
