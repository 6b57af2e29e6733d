//! Command lines: parsing does not panic, is deterministic, and stays within its limits.

use aye::policy::command_line::{self, MAX_CHARACTERS, MAX_COMMANDS, MAX_NESTING};

/// Checks these bytes as a command line.
pub fn check(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    let reading = command_line::parse_command_line(&line);
    assert_eq!(command_line::parse_command_line(&line), reading, "parsing is not deterministic");
    if reading.unclear.is_some() {
        return;
    }
    assert!(
        line.chars().count() <= MAX_CHARACTERS && reading.commands.len() <= MAX_COMMANDS,
        "more than the limit was parsed"
    );
    for command in &reading.commands {
        assert!(command.nesting.len() <= MAX_NESTING, "nested deeper than the limit");
    }
    // A line break at the end is not a command.
    let more = command_line::parse_command_line(&format!("{line}\n"));
    assert_eq!(
        (&more.commands, &more.unclear),
        (&reading.commands, &reading.unclear),
        "a line break at the end changes the result"
    );
}
