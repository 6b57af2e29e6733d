//! The spinner of running work.

use std::time::Duration;

/// Interval of the spinner: visible movement at low cost.
pub const SPINNER_INTERVAL: Duration = Duration::from_millis(250);

/// Frames of the spinner.
const SPINNER_FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Returns the frame of the spinner at a time.
pub fn spinner_frame(now: Duration) -> &'static str {
    SPINNER_FRAMES[(now.as_millis() / SPINNER_INTERVAL.as_millis() % 10) as usize]
}
