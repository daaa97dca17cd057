//! How actors are called: `/bank`, `/bank/alice`, and `/bank/$7.0` for one without a name.

use crate::id::ActorId;

/// Why a name cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// It contains a `/`, which stands between names in a path.
    #[error("contains '/'")]
    Slash,
    /// It begins with `$`, as only the paths of nameless actors do.
    #[error("begins with '$', which is kept for actors without a name")]
    Dollar,
}

pub(crate) fn check(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        Err(NameError::Empty)
    } else if name.contains('/') {
        Err(NameError::Slash)
    } else if name.starts_with('$') {
        Err(NameError::Dollar)
    } else {
        Ok(())
    }
}

pub(crate) fn nameless(id: ActorId) -> String {
    if id == ActorId::NOBODY { "/$never-started".to_owned() } else { format!("/${id}") }
}

pub(crate) fn child(parent: &str, id: ActorId, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{parent}/{name}"),
        None => format!("{parent}{}", nameless(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_make_paths_ambiguous_is_refused() {
        assert_eq!(check("alice"), Ok(()));
        assert_eq!(check(""), Err(NameError::Empty));
        assert_eq!(check("a/b"), Err(NameError::Slash));
        assert_eq!(check("$1.0"), Err(NameError::Dollar));
    }
}
