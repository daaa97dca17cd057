//! Where a management is asked, as people write it.

use std::fmt;

use anyhow::{Result, bail};

/// A host and a port, and whether they are asked over HTTPS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    place: String,
    is_secured: bool,
}

impl Endpoint {
    /// The scheme that is written wins. Without one it is HTTPS where certificates are named: a token must not go out in the open because
    /// of a word that was left out.
    pub(super) fn read(text: &str, names_certificates: bool) -> Result<Self> {
        let (scheme, place) = text.split_once("://").unwrap_or(("", text));
        let is_secured = match scheme.to_ascii_lowercase().as_str() {
            "" => Some(names_certificates),
            "http" => Some(false),
            "https" => Some(true),
            _ => None,
        };
        match (is_secured, place.trim_end_matches('/')) {
            (Some(is_secured), place) if !place.is_empty() => {
                Ok(Self { place: place.to_owned(), is_secured })
            }
            _ => bail!(
                "{text:?} is no place to ask a management: give --address HOST:PORT, http://HOST:PORT \
                 or https://HOST:PORT"
            ),
        }
    }

    /// Whether it is asked over HTTPS.
    pub(super) fn is_secured(&self) -> bool {
        self.is_secured
    }

    /// The same place, asked the other way.
    pub(super) fn otherwise(&self) -> Self {
        Self { place: self.place.clone(), is_secured: !self.is_secured }
    }
}

/// As a URL without a path.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.is_secured { "https" } else { "http" }, self.place)
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    fn read(text: &str, names_certificates: bool) -> String {
        Endpoint::read(text, names_certificates).unwrap().to_string()
    }

    #[test]
    fn the_scheme_that_is_written_wins() {
        assert_eq!(read("https://a:1/", false), "https://a:1");
        assert_eq!(read("http://a:1", true), "http://a:1");
        assert_eq!(read("HTTPS://[::1]:1", false), "https://[::1]:1");
    }

    #[test]
    fn without_a_scheme_certificates_mean_https() {
        assert_eq!(read("a:1", false), "http://a:1");
        assert_eq!(read("a:1", true), "https://a:1");
    }

    #[test]
    fn what_is_no_place_is_refused_with_what_is() {
        for text in ["", "https://", "ftp://a:1"] {
            let words = Endpoint::read(text, false).unwrap_err().to_string();
            assert!(words.contains("https://HOST:PORT"), "{words}");
        }
    }
}
