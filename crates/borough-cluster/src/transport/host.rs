//! What the text of an address says: a host and a port.

use borough_protocol::incarnation::Address;

/// The parts of `host:port`. An IPv6 host stands in brackets: `[::1]:4000`; here it is without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostPort<'a> {
    /// A name or an IP address.
    pub(crate) host: &'a str,
    /// The port; 0 leaves the choice to the system.
    pub(crate) port: u16,
}

impl<'a> HostPort<'a> {
    /// Reads an address; `None` if it is not of that form.
    pub(crate) fn of(address: &'a Address) -> Option<Self> {
        let (host, port) = address.as_str().rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = match host.strip_prefix('[') {
            Some(rest) => rest.strip_suffix(']')?,
            // A bare IPv6 address would swallow the port.
            None if host.contains(':') => return None,
            None => host,
        };
        (!host.is_empty()).then_some(Self { host, port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Option<(String, u16)> {
        HostPort::of(&Address::new(text)).map(|parts| (parts.host.to_owned(), parts.port))
    }

    #[test]
    fn names_and_both_kinds_of_ip_addresses_are_read() {
        assert_eq!(parts("a.example:80"), Some(("a.example".to_owned(), 80)));
        assert_eq!(parts("10.0.0.1:0"), Some(("10.0.0.1".to_owned(), 0)));
        assert_eq!(parts("[::1]:4000"), Some(("::1".to_owned(), 4000)));
    }

    #[test]
    fn what_is_no_host_and_port_is_none() {
        for text in ["", "a", "a:", ":80", "::1:80", "[::1:80", "a:65536", "a:-1"] {
            assert_eq!(parts(text), None, "{text}");
        }
    }
}
