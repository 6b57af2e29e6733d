//! Reads a document, a picture or the clipboard in a separate process with limits, so that a faulty or hostile one cannot stop
//! aye or use up the machine.
//!
//! The process gets the document through stdin and writes the result, or the reason why there is none, to stdout.

#[cfg(feature = "images")]
use super::picture::{scaling, strips};
use super::rows::MAX_TABLE_BYTES;
use super::{clipboard, parquet, pdf, spreadsheet};
use crate::chat::image::MAX_SOURCE_BYTES;
#[cfg(feature = "images")]
use crate::chat::image::{StripFormat, StripLayout};
use crate::project::guard::own_program;
use crate::project::process_limits::lower_limit;
use rustix::process::Resource;
use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// First argument of a process that reads a document. The second is the task.
pub const ARGUMENT: &str = "read-document";
/// Memory of the process.
const MAX_MEMORY: u64 = 1 << 30;
/// Processor time of the process.
const MAX_SECONDS: u64 = 10;
/// Time until the process is killed. More than its processor time, because the machine may be busy.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Time until a process that reads the clipboard is killed: another program answers it, or does not.
const MAX_CLIPBOARD_WAIT: Duration = Duration::from_secs(10);
/// Stack of the thread that reads the document.
const STACK_BYTES: usize = 64 << 20;
/// Exit code of a process that wrote a reason.
const NO_RESULT: u8 = 3;
/// Variables that name the display whose clipboard is read.
const DISPLAY_VARIABLES: [&str; 5] = ["DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "HOME"];
/// Maximum width and height of the pixels of a picture.
#[cfg(feature = "images")]
const MAX_PIXEL_SIDE: u32 = 4096;
/// Interval at which the end of the process is awaited.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// A format of documents that are read in a process of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// Its text, page by page.
    Pdf,
    /// Its rows as JSON.
    Parquet,
    /// Rows of its first sheet as JSON.
    Xlsx,
}

/// What the process does with the bytes that it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReaderTask {
    /// Writes the text of a document.
    Text(DocumentFormat),
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
    fn to_argument(self) -> String {
        match self {
            Self::Text(DocumentFormat::Pdf) => "PDF".to_owned(),
            Self::Text(DocumentFormat::Parquet) => "Parquet".to_owned(),
            Self::Text(DocumentFormat::Xlsx) => "XLSX".to_owned(),
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

    fn from_argument(argument: &str) -> Option<Self> {
        Some(match argument {
            "PDF" => Self::Text(DocumentFormat::Pdf),
            "Parquet" => Self::Text(DocumentFormat::Parquet),
            "XLSX" => Self::Text(DocumentFormat::Xlsx),
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

    fn run(self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        match self {
            Self::Text(DocumentFormat::Pdf) => pdf::extract_text(bytes).map(String::into_bytes),
            Self::Text(DocumentFormat::Parquet) => parquet::read_rows(bytes).map(String::into_bytes),
            Self::Text(DocumentFormat::Xlsx) => spreadsheet::read_rows(bytes).map(String::into_bytes),
            Self::Clipboard => clipboard::read_content(),
            #[cfg(feature = "images")]
            Self::PictureForModel => scaling::encode_for_model(bytes),
            #[cfg(feature = "images")]
            Self::PicturePixels { width, height } => scaling::scale_to_pixels(&bytes, (width, height)),
            #[cfg(feature = "images")]
            Self::PicturePng { width, height } => scaling::scale_to_png(&bytes, (width, height)),
            #[cfg(feature = "images")]
            Self::PictureStrips(layout) => strips::encode_output(&bytes, layout),
        }
    }

    /// Returns the time until the process is killed.
    fn max_wait(self) -> Duration {
        match self {
            Self::Clipboard => MAX_CLIPBOARD_WAIT,
            _ => MAX_WAIT,
        }
    }

    /// Returns the bytes of output that are read. The process fails if it writes more.
    fn max_output(self) -> u64 {
        match self {
            // The last page may have as much text again as all before it, and a note follows.
            Self::Text(DocumentFormat::Pdf) => 3 * pdf::MAX_TEXT as u64,
            Self::Text(DocumentFormat::Parquet | DocumentFormat::Xlsx) => MAX_TABLE_BYTES as u64 + 1,
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

/// Returns the text of a document. Blocks for at most thirty seconds.
///
/// # Errors
/// Why there is none, worded to follow a colon.
pub fn read_document(format: DocumentFormat, bytes: &[u8]) -> Result<String, String> {
    let text = run_reader_process(ReaderTask::Text(format), bytes)?;
    String::from_utf8(text).map_err(|_| "its text is damaged".to_owned())
}

/// Starts the process and returns its result. Blocks for at most thirty seconds, ten for the clipboard.
///
/// # Errors
/// Why there is none, worded to follow a colon.
pub(super) fn run_reader_process(task: ReaderTask, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let cannot_start = |error: std::io::Error| error.to_string();
    let mut command = Command::new(own_program());
    command.args([ARGUMENT, &task.to_argument()]).env_clear().current_dir("/");
    if task == ReaderTask::Clipboard {
        command.envs(DISPLAY_VARIABLES.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().map_err(cannot_start)?;
    let (stdin, stdout) = (process.stdin.take(), process.stdout.take());
    let bytes = bytes.to_vec();
    // A process that was killed closes both.
    let writer = std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(&bytes)));
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        // Output beyond the limit is not read, so that the process fails to write it.
        stdout.map(|stdout| stdout.take(task.max_output()).read_to_end(&mut output)).transpose().map(|_| output)
    });
    let (started, max_wait) = (Instant::now(), task.max_wait());
    let status = loop {
        match process.try_wait().map_err(cannot_start)? {
            Some(status) => break Some(status),
            None if started.elapsed() > max_wait => {
                let _ = process.kill();
                let _ = process.wait();
                break None;
            }
            None => std::thread::sleep(CHECK_INTERVAL),
        }
    };
    let _ = writer.join();
    let output = reader.join().ok().and_then(Result::ok);
    match (status.and_then(|status| status.code()), output) {
        (Some(0), Some(output)) => Ok(output),
        (Some(code), Some(reason)) if code == i32::from(NO_RESULT) => {
            Err(String::from_utf8_lossy(&reason).into_owned())
        }
        _ if status.is_none() => Err(format!("it was not read within {} s", max_wait.as_secs())),
        _ => Err(format!("it cannot be read with {MAX_SECONDS} s of processor time and 1 GiB of memory")),
    }
}

/// Reads a document from stdin and writes the result of the task to stdout.
pub fn run_reader() -> ExitCode {
    let argument = std::env::args_os().nth(2);
    let Some(task) = argument.as_ref().and_then(|argument| ReaderTask::from_argument(argument.to_str()?)) else {
        return ExitCode::FAILURE;
    };
    for (resource, limit) in [(Resource::As, MAX_MEMORY), (Resource::Cpu, MAX_SECONDS), (Resource::Core, 0)] {
        if lower_limit(resource, limit).is_err() {
            return ExitCode::FAILURE;
        }
    }
    crate::project::parent_exit::end_with_parent();
    let mut bytes = Vec::new();
    if std::io::stdin().read_to_end(&mut bytes).is_err() {
        return ExitCode::FAILURE;
    }
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || task.run(bytes));
    let (output, code) = match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(output))) => (output, 0),
        Ok(Ok(Err(reason))) => (reason.into_bytes(), NO_RESULT),
        Ok(Err(_)) | Err(_) => return ExitCode::FAILURE,
    };
    match std::io::stdout().write_all(&output) {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
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
