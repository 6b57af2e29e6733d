//! `aye export`: draws recordings.

use super::export_file::{check_target, write_file};
use crate::cli::bail_usage;
use crate::cli::export::{ExportSvg, ExportedFormat};
use crate::recording::cast_reader::Recording;
use crate::recording::svg::{SvgOptions, draw_svg};
use crate::text::byte_size::format_bytes;
use crate::text::clean::clean_line;
use anyhow::Result;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

/// Maximum bytes of a recording.
const MAX_BYTES: u64 = 256 << 20;

/// Runs the command.
pub(super) fn run(format: &ExportedFormat) -> Result<ExitCode> {
    let ExportedFormat::Svg(ExportSvg { input, output, no_window, force }) = format;
    check_target(output, *force, "Name another file, or overwrite it with --force.")?;
    let recording = read_recording(input)?;
    let svg = match draw_svg(&recording, SvgOptions { has_window: !no_window }) {
        Ok(svg) => svg,
        Err(error) => bail_usage!("Cannot draw {}: {error}.", clean_line(&input.display().to_string())),
    };
    write_file(output, svg, *force)?;
    Ok(ExitCode::SUCCESS)
}

fn read_recording(path: &Path) -> Result<Recording> {
    let mut bytes = Vec::new();
    let name = clean_line(&path.display().to_string()).into_owned();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        bail_usage!("Cannot read {name}: {error}. Name a recording, such as one of aye --record.");
    }
    if bytes.len() as u64 > MAX_BYTES {
        bail_usage!("Cannot read {name}: it has more than {}.", format_bytes(MAX_BYTES));
    }
    // A program that was killed may have cut a character of the last line.
    match Recording::parse(&String::from_utf8_lossy(&bytes)) {
        Ok(recording) => Ok(recording),
        Err(error) => bail_usage!("Cannot read {name}: {}.", clean_line(&error)),
    }
}
