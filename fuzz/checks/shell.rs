//! A command line: reading it neither panics nor depends on what is not there, and what is plain is named.

use aye::policy::shell::{self, DEPTH, LONGEST, MOST};

/// Bytes as a command line.
pub fn check(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    let reading = shell::read(&line);
    assert_eq!(shell::read(&line), reading, "read again it says something else");
    if reading.unclear.is_some() {
        return;
    }
    assert!(line.chars().count() <= LONGEST && reading.commands.len() <= MOST, "too much is plain");
    for command in &reading.commands {
        assert!(command.within.len() <= DEPTH, "too deep is plain");
    }
    // A line end or a comment behind it is no command.
    let more = shell::read(&format!("{line}\n"));
    assert_eq!(
        (&more.commands, &more.unclear),
        (&reading.commands, &reading.unclear),
        "a line end changes it"
    );
}
