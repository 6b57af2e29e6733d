//! What the program `aye-reader` is asked to do, as aye passes it in an argument, and its limits.

use super::pdf;
#[cfg(feature = "images")]
use super::picture::strips;
use super::rows::MAX_TABLE_BYTES;
use crate::chat::image::MAX_SOURCE_BYTES;
#[cfg(feature = "images")]
use crate::chat::image::{StripFormat, StripLayout};
use std::time::Duration;

/// Maximum bytes of Markdown that is made of a page or a feed.
const MAX_MARKDOWN: u64 = 8 << 20;
/// Memory of the process.
pub(super) const MAX_MEMORY: u64 = 1 << 30;
/// Processor time of the process.
pub(super) const MAX_SECONDS: u64 = 10;
/// Time until the process is killed. More than its processor time, because the machine may be busy.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Time until a process that reads the clipboard is killed: another program answers it, or does not.
const MAX_CLIPBOARD_WAIT: Duration = Duration::from_secs(10);
/// Exit code of a process that wrote a reason.
pub(super) const NO_RESULT: u8 = 3;
/// Exit code of a process of another version, or one that does not know the task.
pub(super) const OTHER_VERSION: u8 = 4;
/// First argument: the version of aye and of the reader, which must be the same. The second is the task.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Maximum width and height of the pixels of a picture.
#[cfg(feature = "images")]
const MAX_PIXEL_SIDE: u32 = 4096;

/// A format of documents that are read in a process of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// Its text, page by page.
    Pdf,
    /// Its rows as JSON.
    Parquet,
    /// Rows of its first sheet as JSON.
    Xlsx,
    /// An Atom, RSS or JSON feed as Markdown.
    Feed,
}

/// What the process does with the bytes that it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderTask {
    /// Writes the text of a document.
    Text(DocumentFormat),
    /// Writes a web page as Markdown, or without its tags.
    Html,
    /// Writes nothing, to check that the process can be started.
    Check,
    /// Writes what is on the system's clipboard. The process gets no bytes.
    Clipboard,
    /// Writes the sizes of a picture, and the picture scaled for a model.
    #[cfg(feature = "images")]
    PictureForModel,
    /// Writes the pixels of a picture, scaled to this size.
    #[cfg(feature = "images")]
    PicturePixels { width: u32, height: u32 },
    /// Writes a picture as PNG, scaled to this size.
    #[cfg(feature = "images")]
    PicturePng { width: u32, height: u32 },
    /// Writes a picture scaled and cut into strips.
    #[cfg(feature = "images")]
    PictureStrips(StripLayout),
}

impl ReaderTask {
    /// Returns the argument that stands for the task.
    pub(super) fn to_argument(self) -> String {
        match self {
            Self::Text(DocumentFormat::Pdf) => "PDF".to_owned(),
            Self::Text(DocumentFormat::Parquet) => "Parquet".to_owned(),
            Self::Text(DocumentFormat::Xlsx) => "XLSX".to_owned(),
            Self::Text(DocumentFormat::Feed) => "feed".to_owned(),
            Self::Html => "HTML".to_owned(),
            Self::Check => "check".to_owned(),
            Self::Clipboard => "clipboard".to_owned(),
            #[cfg(feature = "images")]
            Self::PictureForModel => "picture".to_owned(),
            #[cfg(feature = "images")]
            Self::PicturePixels { width, height } => format!("pixels:{width}x{height}"),
            #[cfg(feature = "images")]
            Self::PicturePng { width, height } => format!("png:{width}x{height}"),
            #[cfg(feature = "images")]
            Self::PictureStrips(StripLayout { format, picture: (width, height), strip, count }) => {
                let form = match format {
                    StripFormat::Png => "png-strips",
                    StripFormat::Sixel => "sixel-strips",
                };
                format!("{form}:{width}x{height}x{}x{}x{count}", strip.0, strip.1)
            }
        }
    }

    pub(super) fn from_argument(argument: &str) -> Option<Self> {
        Some(match argument {
            "PDF" => Self::Text(DocumentFormat::Pdf),
            "Parquet" => Self::Text(DocumentFormat::Parquet),
            "XLSX" => Self::Text(DocumentFormat::Xlsx),
            "feed" => Self::Text(DocumentFormat::Feed),
            "HTML" => Self::Html,
            "check" => Self::Check,
            "clipboard" => Self::Clipboard,
            #[cfg(feature = "images")]
            "picture" => Self::PictureForModel,
            #[cfg(feature = "images")]
            _ => {
                let (form, numbers) = argument.split_once(':')?;
                let side = |text: &str| text.parse().ok().filter(|side| (1..=MAX_PIXEL_SIDE).contains(side));
                let numbers: Vec<u32> = numbers.split('x').map(side).collect::<Option<_>>()?;
                match (form, &*numbers) {
                    ("pixels", &[width, height]) => Self::PicturePixels { width, height },
                    ("png", &[width, height]) => Self::PicturePng { width, height },
                    ("png-strips" | "sixel-strips", &[width, height, strip_width, strip_height, count])
                        if width <= strip_width
                            && height <= strip_height * count
                            && strip_height * count <= MAX_PIXEL_SIDE =>
                    {
                        let format = if form == "png-strips" { StripFormat::Png } else { StripFormat::Sixel };
                        let (picture, strip) = ((width, height), (strip_width, strip_height));
                        Self::PictureStrips(StripLayout { format, picture, strip, count })
                    }
                    _ => return None,
                }
            }
            #[cfg(not(feature = "images"))]
            _ => return None,
        })
    }

    /// Returns the time until the process is killed.
    pub(super) fn max_wait(self) -> Duration {
        match self {
            Self::Clipboard => MAX_CLIPBOARD_WAIT,
            _ => MAX_WAIT,
        }
    }

    /// Returns the bytes of output that are read. The process fails if it writes more.
    pub(super) fn max_output(self) -> u64 {
        match self {
            // The last page may have as much text again as all before it, and a note follows.
            Self::Text(DocumentFormat::Pdf) => 3 * pdf::MAX_TEXT as u64,
            Self::Text(DocumentFormat::Parquet | DocumentFormat::Xlsx) => MAX_TABLE_BYTES as u64 + 1,
            Self::Text(DocumentFormat::Feed) | Self::Html => MAX_MARKDOWN,
            Self::Check => 0,
            Self::Clipboard => MAX_SOURCE_BYTES + 1,
            #[cfg(feature = "images")]
            Self::PictureForModel => crate::chat::image::MAX_SENT_BYTES as u64 + 100,
            #[cfg(feature = "images")]
            Self::PicturePixels { width, height } => u64::from(width) * u64::from(height) * 4,
            // A PNG may be slightly larger than its pixels.
            #[cfg(feature = "images")]
            Self::PicturePng { width, height } => u64::from(width + 1) * u64::from(height) * 5 + 1000,
            #[cfg(feature = "images")]
            Self::PictureStrips(layout) => strips::max_output(layout),
        }
    }
}

#[cfg(all(test, feature = "images"))]
mod tests {
    use super::*;

    #[test]
    fn the_argument_of_a_picture_is_read_back_and_has_limits() {
        let strips = |format| StripLayout { format, picture: (30, 21), strip: (40, 20), count: 2 };
        for task in [
            ReaderTask::PictureForModel,
            ReaderTask::PicturePixels { width: 3, height: 4096 },
            ReaderTask::PicturePng { width: 4096, height: 1 },
            ReaderTask::PictureStrips(strips(StripFormat::Png)),
            ReaderTask::PictureStrips(strips(StripFormat::Sixel)),
        ] {
            assert_eq!(ReaderTask::from_argument(&task.to_argument()), Some(task));
        }
        for invalid in [
            "pixels:0x1",
            "pixels:4097x1",
            "pixels:1x1x1",
            "png:1",
            "sixel-strips:1x1x1x1",
            "sixel-strips:2x1x1x1x1",
            "sixel-strips:1x3x1x1x2",
            "png-strips:1x1x1x4096x2",
            "jpeg:1x1",
            "picture:",
        ] {
            assert_eq!(ReaderTask::from_argument(invalid), None, "{invalid}");
        }
    }
}
