//! Hashes that say whether two things are the same.

use sha2::{Digest, Sha256};

/// The digest in hexadecimal.
pub(crate) fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
