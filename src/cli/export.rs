//! `aye export`: recordings in other formats.

use crate::recording::cast::CastVersion;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Longest time in seconds that an option accepts: a year.
const MAX_SECONDS: f64 = 366.0 * 24.0 * 60.0 * 60.0;

/// `aye export`.
#[derive(Debug, Clone, Args)]
#[command(subcommand_value_name = "FORMAT", disable_help_subcommand = true)]
pub struct Export {
    /// Format.
    #[command(subcommand)]
    pub format: ExportedFormat,
}

/// Format of `aye export`.
#[derive(Debug, Clone, Subcommand)]
pub enum ExportedFormat {
    /// Draw a recording as an animated SVG picture, whose text can be selected
    Svg(ExportSvg),
    /// Draw one frame of a recording as a PNG picture
    #[cfg(feature = "recording-images")]
    Png(ExportPng),
    /// Draw a recording as an animated GIF picture
    #[cfg(feature = "recording-images")]
    Gif(ExportGif),
    /// Write a recording as an HTML page with a player
    Html(ExportHtml),
    /// Rewrite a recording: convert its version, shorten its pauses
    Cast(ExportCast),
}

/// Input and output of an export.
#[derive(Debug, Clone, Args)]
pub struct ExportFiles {
    /// Recording (asciicast of version 2 or 3), or demo script, which is recorded first
    #[arg(value_name = "RECORDING")]
    pub input: PathBuf,
    /// Write to this file, which must not exist unless --force is given
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// How a recording is drawn.
#[derive(Debug, Clone, Args)]
pub struct DrawingOptions {
    /// Draw in the colours of this theme [default: as recorded]
    ///
    /// `/theme` lists the names. It replaces the default colours and the 16 colours of the terminal, and those of the theme in which aye was recorded.
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Pixels around the terminal, 0 to 500 [default: 14]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u16).range(0..=500))]
    pub padding: Option<u16>,
    /// Draw no window around the terminal
    #[arg(long)]
    pub no_window: bool,
    /// Draw no cursor
    #[arg(long)]
    pub no_cursor: bool,
}

/// `aye export svg`.
#[derive(Debug, Clone, Args)]
pub struct ExportSvg {
    /// Input and output.
    #[command(flatten)]
    pub files: ExportFiles,
    /// Colours and frame.
    #[command(flatten)]
    pub drawing: DrawingOptions,
}

/// How pixels are drawn.
#[cfg(feature = "recording-images")]
#[derive(Debug, Clone, Copy, Args)]
pub struct PictureOptions {
    /// Scale factor, 1 or 2
    #[arg(long, value_name = "SCALE", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub scale: u8,
}

/// `aye export png`.
#[cfg(feature = "recording-images")]
#[derive(Debug, Clone, Args)]
pub struct ExportPng {
    /// Input and output.
    #[command(flatten)]
    pub files: ExportFiles,
    /// Draw the frame at this time in seconds [default: last frame]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub at: Option<Duration>,
    /// Colours and frame.
    #[command(flatten)]
    pub drawing: DrawingOptions,
    /// Size.
    #[command(flatten)]
    pub picture: PictureOptions,
}

/// `aye export gif`.
#[cfg(feature = "recording-images")]
#[derive(Debug, Clone, Args)]
pub struct ExportGif {
    /// Input and output.
    #[command(flatten)]
    pub files: ExportFiles,
    /// Colours and frame.
    #[command(flatten)]
    pub drawing: DrawingOptions,
    /// Size.
    #[command(flatten)]
    pub picture: PictureOptions,
}

/// `aye export html`.
#[derive(Debug, Clone, Args)]
pub struct ExportHtml {
    /// Input and output.
    #[command(flatten)]
    pub files: ExportFiles,
    /// Colours and frame.
    #[command(flatten)]
    pub drawing: DrawingOptions,
}

/// `aye export cast`.
#[derive(Debug, Clone, Args)]
pub struct ExportCast {
    /// Input and output.
    #[command(flatten)]
    pub files: ExportFiles,
    /// Version of the format [default: that of the recording]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<CastVersion>,
    /// Shorten pauses to this time in seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub idle: Option<Duration>,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..=MAX_SECONDS).contains(seconds));
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a number of seconds, such as 1.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_of_seconds() {
        assert_eq!(parse_seconds("1.5"), Ok(Duration::from_millis(1_500)));
        for wrong in ["", "-1", "NaN", "inf", "1e30", "2s", "last"] {
            assert!(parse_seconds(wrong).unwrap_err().contains("such as 1.5"), "{wrong}");
        }
    }
}
