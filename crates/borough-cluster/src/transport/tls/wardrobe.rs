//! The certificates of the moment.
//!
//! Promise: files that changed are used from the next connection on; files that cannot be used change nothing and are
//! logged once. Looking costs one pass over three files a second at most, on a thread that may block: a file
//! system that hangs holds up the one connection that looks, and no other.
//!
//! ```text
//! fresh --a second passed, a connection comes--> looking --same--> fresh
//!   ^                                             |  |
//!   +------------------- new ones are used -------+  +-- unusable: the old ones stay, logged once, tried again
//! ```

use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::error::TlsError;
use super::material::Material;
use super::settings::{Files, Pem, Source, Tls};

/// How often files are looked at, at most.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Hands out what connections are made with.
pub(super) struct Wardrobe {
    /// None if the certificates never change.
    files: Option<Files>,
    worn: Mutex<Worn>,
}

struct Worn {
    material: Arc<Material>,
    stamps: Stamps,
    /// No look before that; none while somebody looks.
    next_look: Option<Instant>,
    /// What was last said about files that cannot be used.
    said: Option<String>,
}

/// By what a changed file is known: its time of change and its size. None where there is no such file.
type Stamps = [Option<(SystemTime, u64)>; 3];

impl Wardrobe {
    pub(super) fn new(tls: &Tls) -> Result<Self, TlsError> {
        let (files, stamps, material) = match &tls.source {
            Source::Files(files) => {
                // Before the reading: what changes meanwhile looks changed afterwards.
                let stamps = stamps(files);
                (Some(files.clone()), stamps, Material::new(&Pem::read(files)?)?)
            }
            Source::Pem(pem) => (None, Stamps::default(), Material::new(pem)?),
        };
        let worn = Worn {
            material: Arc::new(material),
            stamps,
            next_look: Some(Instant::now() + LOOK_EVERY),
            said: None,
        };
        Ok(Self { files, worn: Mutex::new(worn) })
    }

    /// What to use now. Dropping the future leaves a look that has begun going on by itself.
    pub(super) async fn current(self: &Arc<Self>) -> Arc<Material> {
        if self.begins_look() {
            let wardrobe = self.clone();
            // If it was cancelled with the runtime, nobody is left to use the answer.
            drop(tokio::task::spawn_blocking(move || wardrobe.look()).await);
        }
        self.lock().material.clone()
    }

    /// Whether the certificate that others are shown is valid now.
    pub(super) fn check_dates(&self) -> Result<(), TlsError> {
        self.lock().material.check_dates()
    }

    fn begins_look(&self) -> bool {
        let mut worn = self.lock();
        let is_due = self.files.is_some() && worn.next_look.is_some_and(|at| at <= Instant::now());
        if is_due {
            worn.next_look = None;
        }
        is_due
    }

    fn look(&self) {
        if let Some(files) = &self.files {
            self.look_at(files);
        }
        self.lock().next_look = Some(Instant::now() + LOOK_EVERY);
    }

    fn look_at(&self, files: &Files) {
        let stamps = stamps(files);
        if stamps == self.lock().stamps {
            return;
        }
        match Pem::read(files).and_then(|pem| Material::new(&pem)) {
            Ok(material) => {
                tracing::info!(certificate = %files.certificate.display(), "new certificates are used");
                let mut worn = self.lock();
                worn.material = Arc::new(material);
                worn.stamps = stamps;
                worn.said = None;
            }
            Err(error) => {
                // The stamps stay as they were, so that it is tried again: the next file may still be on its way.
                let text = error.to_string();
                let mut worn = self.lock();
                if worn.said.as_ref() != Some(&text) {
                    tracing::warn!(%error, "new certificates cannot be used, the old ones stay");
                    worn.said = Some(text);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Worn> {
        self.worn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamps(files: &Files) -> Stamps {
    [&files.authority, &files.certificate, &files.key].map(|path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    })
}
