//! Content of the system's clipboard, read in a process of its own: what other programs put there may be hostile, and they may
//! never answer.

use super::reader_process::run_reader_process;
use super::reader_task::ReaderTask;

/// Maximum bytes of text that is pasted.
#[cfg(feature = "clipboard")]
const MAX_TEXT: usize = 1 << 20;
/// First byte of the output of the process before a picture and before text.
const PICTURE: u8 = b'p';
const TEXT: u8 = b't';

/// What is on the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClipboardContent {
    /// A picture, as PNG.
    Picture(Vec<u8>),
    Text(String),
}

/// Reads the clipboard. Blocks for at most ten seconds.
///
/// # Errors
/// Why it cannot be read, worded to follow a colon.
pub fn read_clipboard() -> Result<ClipboardContent, String> {
    parse_output(run_reader_process(ReaderTask::Clipboard, &[])?)
}

fn parse_output(mut output: Vec<u8>) -> Result<ClipboardContent, String> {
    let unusable = || "what is on it cannot be used".to_owned();
    if output.is_empty() {
        return Err(unusable());
    }
    let content = output.split_off(1);
    match output[0] {
        PICTURE => Ok(ClipboardContent::Picture(content)),
        TEXT => String::from_utf8(content).map(ClipboardContent::Text).map_err(|_| unusable()),
        _ => Err(unusable()),
    }
}

/// Returns the output of the process: a picture as PNG, or text, after a byte that says which.
#[cfg(feature = "clipboard")]
pub(super) fn read_content() -> Result<Vec<u8>, String> {
    let no_clipboard = |error: arboard::Error| match error {
        arboard::Error::ContentNotAvailable => "there is no picture and no text on it".to_owned(),
        arboard::Error::ClipboardNotSupported => "this system has none that can be read".to_owned(),
        error => format!("there is none here, for example over SSH ({error})"),
    };
    let mut clipboard = arboard::Clipboard::new().map_err(no_clipboard)?;
    if let Ok(picture) = clipboard.get_image() {
        let (width, height) = (picture.width as u32, picture.height as u32);
        let png = super::picture::scaling::encode_pixels((width, height), picture.bytes.into_owned())?;
        return Ok([vec![PICTURE], png].concat());
    }
    let text = clipboard.get_text().map_err(no_clipboard)?;
    match text.len() > MAX_TEXT {
        true => Err("the text on it is longer than 1 MB".to_owned()),
        false => Ok([vec![TEXT], text.into_bytes()].concat()),
    }
}

#[cfg(not(feature = "clipboard"))]
pub(super) fn read_content() -> Result<Vec<u8>, String> {
    Err("this build cannot read it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_of_the_output_says_what_follows() {
        assert_eq!(parse_output(b"p\x89PNG".to_vec()), Ok(ClipboardContent::Picture(b"\x89PNG".to_vec())));
        assert_eq!(parse_output("tä".into()), Ok(ClipboardContent::Text("ä".to_owned())));
        for output in [&b""[..], b"x", b"t\xff"] {
            assert_eq!(parse_output(output.to_vec()), Err("what is on it cannot be used".to_owned()));
        }
    }
}
