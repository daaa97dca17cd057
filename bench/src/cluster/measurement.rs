//! What can be done to a cluster.

/// One thing that is done to a cluster, over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measurement {
    Formation,
    ColdStart,
    Kill,
    Join,
    Leave,
    RollingRestart,
}

impl Measurement {
    /// In the order of the report.
    pub(crate) const ALL: [Self; 6] =
        [Self::Formation, Self::ColdStart, Self::Kill, Self::Join, Self::Leave, Self::RollingRestart];

    /// The name on the command line and to the program that makes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Formation => "formation",
            Self::ColdStart => "cold-start",
            Self::Kill => "kill",
            Self::Join => "join",
            Self::Leave => "leave",
            Self::RollingRestart => "rolling-restart",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|measurement| measurement.name() == name)
    }
}
