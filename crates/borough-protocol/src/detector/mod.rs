//! Whether a peer that is silent is gone.
