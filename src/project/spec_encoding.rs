//! Encodes sandbox specifications for the guard, as JSON: in an argument, or in a frame sent over its lifeline.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Maximum content of a frame in bytes; no real list of paths is that long.
const MAX_FRAME_BYTES: u64 = 256 << 20;

/// Encodes a specification as one argument.
pub fn to_argument(spec: &impl Serialize) -> OsString {
    // The guard refuses an empty argument.
    serde_json::to_string(spec).unwrap_or_default().into()
}

/// Decodes the argument of a specification. `None` if it is missing or malformed.
pub fn from_argument<T: DeserializeOwned>(argument: Option<OsString>) -> Option<T> {
    serde_json::from_str(argument?.to_str()?).ok()
}

/// Encodes a specification as a frame.
pub fn to_frame(spec: &impl Serialize) -> Vec<u8> {
    frame_bytes(&serde_json::to_vec(spec).unwrap_or_default())
}

/// Reads the frame of a specification. `None` if it is truncated or malformed.
pub fn from_frame<T: DeserializeOwned>(source: impl Read) -> Option<T> {
    serde_json::from_slice(&read_frame(source).ok()?).ok()
}

/// Encodes bytes as a frame: their number in eight bytes, then the bytes.
pub fn frame_bytes(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes()[..], bytes].concat()
}

/// Reads the content of a frame, and nothing after it.
pub fn read_frame(mut source: impl Read) -> io::Result<Vec<u8>> {
    let mut count = [0; 8];
    source.read_exact(&mut count)?;
    let count = u64::from_le_bytes(count);
    let mut bytes = Vec::new();
    source.take(count.min(MAX_FRAME_BYTES)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == count { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// A list of absolute paths.
#[derive(Serialize, Deserialize)]
pub struct Paths(#[serde(with = "absolute_paths")] pub Vec<PathBuf>);

/// An absolute path: text if it is Unicode, otherwise bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum EncodedPath {
    Text(String),
    Bytes(Vec<u8>),
}

impl EncodedPath {
    fn new(path: &Path) -> Self {
        path.to_str().map_or_else(|| Self::Bytes(path.as_os_str().as_bytes().to_vec()), |text| Self::Text(text.into()))
    }

    fn decode<E: serde::de::Error>(self) -> Result<PathBuf, E> {
        let path = match self {
            Self::Text(text) => PathBuf::from(text),
            Self::Bytes(bytes) => OsString::from_vec(bytes).into(),
        };
        if path.is_absolute() { Ok(path) } else { Err(E::custom("a path is not absolute")) }
    }
}

/// Serialization of one absolute path.
pub mod absolute_path {
    use super::EncodedPath;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::{Path, PathBuf};

    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        EncodedPath::new(path).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        EncodedPath::deserialize(deserializer)?.decode()
    }
}

/// Serialization of a list of absolute paths.
pub mod absolute_paths {
    use super::EncodedPath;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::path::PathBuf;

    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| EncodedPath::new(path)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Vec::deserialize(deserializer)?.into_iter().map(EncodedPath::decode).collect()
    }
}
