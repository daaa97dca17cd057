//! A broken rule, and how bad it is.

use std::fmt;

/// A rule was broken in a run. Replaying the run breaks it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A machine found itself broken and panicked; its text.
    Crash(String),
    /// Something happened that must never happen: which rule, and what happened.
    Safety(&'static str, String),
    /// Something did not happen in time: what was waited for, and what was seen instead.
    Liveness(&'static str, String),
}

impl Violation {
    /// The rule that was broken.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::Crash(_) => "crash",
            Self::Safety(rule, _) | Self::Liveness(rule, _) => rule,
        }
    }

    /// What a program that found it exits with: 1 crash, 2 safety, 3 liveness.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Crash(_) => 1,
            Self::Safety(..) => 2,
            Self::Liveness(..) => 3,
        }
    }

    /// Whether both break the same rule: what a run cut down must still do.
    pub fn is_like(&self, other: &Self) -> bool {
        self.exit_code() == other.exit_code() && self.rule() == other.rule()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash(text) => write!(f, "crash: {text}"),
            Self::Safety(rule, text) => write!(f, "safety, {rule}: {text}"),
            Self::Liveness(rule, text) => write!(f, "liveness, {rule}: {text}"),
        }
    }
}
