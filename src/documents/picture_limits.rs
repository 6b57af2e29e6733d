//! Limits of pictures.

/// Maximum bytes of a picture that is read.
pub const MAX_SOURCE_BYTES: u64 = 32_000_000;
/// Maximum pixels of a picture that is decoded. With four bytes for each, twice, they fit in the memory of the process.
pub(super) const MAX_PIXELS: u64 = 64_000_000;
