//! `aye export`: writes recordings in other formats.

use super::demo::recorded_script::{is_script, record_script};
use super::export_file::{check_target, write_file};
use super::export_theme::RecolouringTheme;
use crate::cli::bail_usage;
use crate::cli::export::{DrawingOptions, ExportFiles, ExportHtml, ExportSvg, ExportedFormat};
#[cfg(feature = "recording-images")]
use crate::cli::export::{ExportGif, ExportPng, PictureOptions};
use crate::recording::cast_reader::Recording;
use crate::recording::cast_rewriter::{RewriteOptions, rewrite_cast};
use crate::recording::frames::STANDARD_PADDING;
use crate::recording::html::{HtmlOptions, draw_html};
use crate::recording::svg::{SvgOptions, draw_svg};
#[cfg(feature = "recording-images")]
use crate::recording::{gif::draw_gif, png::draw_png, raster::RasterOptions};
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
    match format {
        ExportedFormat::Svg(ExportSvg { files, drawing }) => {
            let options = SvgOptions { has_window: !drawing.no_window, padding: padding_of(drawing) };
            export_recording(files, Some(drawing), |recording| draw_svg(recording, options))
        }
        #[cfg(feature = "recording-images")]
        ExportedFormat::Png(ExportPng { files, at, drawing, picture }) => {
            let options = raster_options(drawing, *picture);
            export_recording(files, Some(drawing), |recording| draw_png(recording, *at, options))
        }
        #[cfg(feature = "recording-images")]
        ExportedFormat::Gif(ExportGif { files, drawing, picture }) => {
            let options = raster_options(drawing, *picture);
            export_recording(files, Some(drawing), |recording| draw_gif(recording, options))
        }
        ExportedFormat::Html(ExportHtml { files, drawing }) => {
            let options = HtmlOptions { has_window: !drawing.no_window, padding: drawing.padding };
            export_recording(files, Some(drawing), |recording| draw_html(recording, options))
        }
        ExportedFormat::Cast(cast) => {
            let options = RewriteOptions { version: cast.version, idle_limit: cast.idle };
            export_recording(&cast.files, None, |recording| Ok(rewrite_cast(recording, options)))
        }
    }
}

fn padding_of(drawing: &DrawingOptions) -> u16 {
    drawing.padding.unwrap_or(STANDARD_PADDING)
}

#[cfg(feature = "recording-images")]
fn raster_options(drawing: &DrawingOptions, picture: PictureOptions) -> RasterOptions {
    RasterOptions { has_window: !drawing.no_window, scale: picture.scale, padding: padding_of(drawing) }
}

/// Reads a recording, and writes what `make` makes of it. Nothing is written if it fails.
fn export_recording<T: AsRef<[u8]>>(
    files: &ExportFiles,
    drawing: Option<&DrawingOptions>,
    make: impl FnOnce(&Recording) -> Result<T, String>,
) -> Result<ExitCode> {
    let ExportFiles { input, output, force } = files;
    check_target(output, *force, "Name another file, or overwrite it with --force.")?;
    if output.canonicalize().is_ok_and(|output| input.canonicalize().is_ok_and(|input| input == output)) {
        bail_usage!(
            "Cannot write {}: it is the recording. Name another file.",
            clean_line(&output.display().to_string())
        );
    }
    let theme = drawing.and_then(|drawing| drawing.theme.as_deref()).map(RecolouringTheme::find).transpose()?;
    let mut recording = read_recording(input)?;
    if let Some(theme) = theme {
        theme.apply_to(&mut recording);
    }
    recording.shows_cursor = drawing.is_none_or(|drawing| !drawing.no_cursor);
    match make(&recording) {
        Ok(content) => write_file(output, content, *force)?,
        Err(error) => bail_usage!("Cannot draw {}: {error}.", clean_line(&input.display().to_string())),
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads a recording of at most 256 MB, or records a demo script.
///
/// # Errors
/// A `UsageError` that names the file and what is wrong with it.
pub(super) fn read_recording(path: &Path) -> Result<Recording> {
    if is_script(path) {
        return record_script(path);
    }
    let mut bytes = Vec::new();
    let name = clean_line(&path.display().to_string()).into_owned();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        bail_usage!("Cannot read {name}: {error}. Name a recording or a demo script, such as one of aye --record.");
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
