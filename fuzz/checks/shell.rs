//! A command line: reading it neither panics nor depends on what is not there, and what is plain is named.

use aye::policy::command_line::{self, MAX_CHARACTERS, MAX_COMMANDS, MAX_NESTING};

/// Bytes as a command line.
pub fn check(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    let reading = command_line::parse_command_line(&line);
    assert_eq!(command_line::parse_command_line(&line), reading, "read again it says something else");
    if reading.unclear.is_some() {
        return;
    }
    assert!(line.chars().count() <= MAX_CHARACTERS && reading.commands.len() <= MAX_COMMANDS, "too much is plain");
    for command in &reading.commands {
        assert!(command.nesting.len() <= MAX_NESTING, "too deep is plain");
    }
    // A line end or a comment behind it is no command.
    let more = command_line::parse_command_line(&format!("{line}\n"));
    assert_eq!((&more.commands, &more.unclear), (&reading.commands, &reading.unclear), "a line end changes it");
}
