//! What the program says of one measurement.

use super::Measurement;
use serde::Deserialize;

/// One measurement, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) measurement: Measurement,
    pub(super) figures: Vec<Figure>,
    /// What was wrong; then no figure counts.
    pub(crate) faults: Vec<String>,
    /// The share of the machine that other processes used meanwhile.
    pub(crate) others: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Figure {
    name: String,
    unit: Unit,
    runs: Vec<f64>,
}

/// What values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    Ms,
    Count,
    Percent,
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ms => "ms",
            Self::Count => "count",
            Self::Percent => "percent",
        }
    }

    /// A value for people.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Ms if value >= 10_000.0 => format!("{:.1} s", value / 1e3),
            Self::Ms => format!("{value:.0} ms"),
            Self::Count => format!("{value:.0}"),
            Self::Percent => format!("{value:.1} %"),
        }
    }
}

/// The line as it is printed.
#[derive(Deserialize)]
struct Line {
    measurement: String,
    figures: Vec<Figure>,
    faults: Vec<String>,
}

impl Measured {
    /// Reads the line that the program prints.
    pub(crate) fn read(line: &str) -> Result<Self, String> {
        let line: Line = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let measurement = Measurement::parse(&line.measurement)
            .ok_or_else(|| format!("{} is no measurement", line.measurement))?;
        Ok(Self { measurement, figures: line.figures, faults: line.faults, others: None })
    }

    /// One without figures.
    pub(crate) fn failed(why: String) -> Self {
        Self { measurement: Measurement::Formation, figures: Vec::new(), faults: vec![why], others: None }
    }

    /// All runs of a figure.
    pub(crate) fn runs(&self, figure: &str) -> Option<(Unit, &[f64])> {
        let found = self.figures.iter().find(|it| it.name == figure && !it.runs.is_empty())?;
        Some((found.unit, &found.runs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_the_program_prints_it() {
        let line = r#"{"measurement":"leave","figures":[{"name":"leave_silence","unit":"ms","runs":[1.5,1.0]}],"faults":["no"]}"#;
        let measured = Measured::read(line).unwrap();
        assert_eq!(measured.measurement, Measurement::Leave);
        assert_eq!(measured.runs("leave_silence"), Some((Unit::Ms, &[1.5, 1.0][..])));
        assert_eq!(measured.runs("leave_lost"), None);
        assert_eq!(measured.faults, ["no"]);
        assert!(Measured::read("nonsense").is_err());
    }
}
