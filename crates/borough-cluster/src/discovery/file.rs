//! Seeds in a file, as a deployment writes it.

use std::path::PathBuf;

use borough_protocol::incarnation::Address;

use super::{Discovery, DiscoveryError, Seeds, is_address};

/// How much of a wrong line is repeated.
const SHOWN: usize = 100;

/// The addresses in a file: one a line as `host:port`; what follows a `#` is a comment. The file is read anew each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSeeds {
    /// The file.
    pub path: PathBuf,
}

impl Discovery for FileSeeds {
    fn seeds(&self) -> Seeds<'_> {
        Box::pin(async {
            let path = self.path.clone();
            // Files may lie on a slow network: never on the thread that renews the lease.
            let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(path)).await;
            let failed = |source| DiscoveryError::File { path: self.path.clone(), source };
            let text = read.map_err(std::io::Error::other).and_then(|read| read).map_err(failed)?;
            self.parse(&text)
        })
    }

    fn is_complete(&self) -> bool {
        true
    }
}

impl FileSeeds {
    fn parse(&self, text: &str) -> Result<Vec<Address>, DiscoveryError> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let said = lines.enumerate().filter(|(_, line)| !line.is_empty());
        said.map(|(place, line)| {
            if is_address(line) {
                Ok(Address::new(line))
            } else {
                let text = line.chars().take(SHOWN).collect();
                Err(DiscoveryError::Line { path: self.path.clone(), line: place + 1, text })
            }
        })
        .collect()
    }
}
