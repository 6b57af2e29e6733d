//! The program `aye-reader`: reads one document, one picture or the clipboard, and ends.

#[cfg(feature = "images")]
use super::picture::{scaling, strips};
use super::reader_task::{DocumentFormat, MAX_MEMORY, MAX_SECONDS, NO_RESULT, OTHER_VERSION, ReaderTask, VERSION};
use super::{clipboard, feed, html, parquet, pdf, spreadsheet};
use crate::project::process_limits::lower_limit;
use rustix::process::Resource;
use std::io::{Read, Write};
use std::process::ExitCode;

/// Stack of the thread that reads the document.
const STACK_BYTES: usize = 64 << 20;

/// Reads a document from stdin and writes the result of the task, which the arguments name, to stdout.
pub fn run_reader() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [version, task] = arguments.as_slice() else {
        let _ = writeln!(std::io::stderr(), "aye-reader {VERSION}: reads documents for aye, which starts it.");
        return ExitCode::from(2);
    };
    if version != VERSION {
        return ExitCode::from(OTHER_VERSION);
    }
    let Some(task) = task.to_str().and_then(ReaderTask::from_argument) else { return ExitCode::from(OTHER_VERSION) };
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
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || run_task(task, bytes));
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

fn run_task(task: ReaderTask, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    match task {
        ReaderTask::Text(DocumentFormat::Pdf) => pdf::extract_text(bytes).map(String::into_bytes),
        ReaderTask::Text(DocumentFormat::Parquet) => parquet::read_rows(bytes).map(String::into_bytes),
        ReaderTask::Text(DocumentFormat::Xlsx) => spreadsheet::read_rows(bytes).map(String::into_bytes),
        ReaderTask::Text(DocumentFormat::Feed) => feed::convert_feed(bytes),
        ReaderTask::Html => Ok(html::convert_page(bytes)),
        ReaderTask::Check => Ok(Vec::new()),
        ReaderTask::Clipboard => clipboard::read_content(),
        #[cfg(feature = "images")]
        ReaderTask::PictureForModel => scaling::encode_for_model(bytes),
        #[cfg(feature = "images")]
        ReaderTask::PicturePixels { width, height } => scaling::scale_to_pixels(&bytes, (width, height)),
        #[cfg(feature = "images")]
        ReaderTask::PicturePng { width, height } => scaling::scale_to_png(&bytes, (width, height)),
        #[cfg(feature = "images")]
        ReaderTask::PictureStrips(layout) => strips::encode_output(&bytes, layout),
    }
}
