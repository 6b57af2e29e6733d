//! Input of a secret: from the terminal without echo, or from standard input.

use crate::cli::bail_usage;
use crate::config::Key;
use anyhow::{Context, Result};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, IsTerminal, Read, Write};

/// Maximum bytes of a secret.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// Reads a secret: all of standard input if `from_stdin`, otherwise from the terminal.
///
/// # Errors
/// A `UsageError` if there is no secret.
pub(in crate::commands) fn read_secret(from_stdin: bool, question: &str) -> Result<Key> {
    let text = if from_stdin { read_piped()? } else { ask_in_terminal(question)? };
    let secret = Key::new(&text);
    if secret.expose().is_empty() {
        bail_usage!("Cannot save the secret: it is empty. Enter one that is not.");
    }
    Ok(secret)
}

fn read_piped() -> Result<String> {
    let mut text = String::new();
    io::stdin().take(MAX_SECRET_BYTES + 1).read_to_string(&mut text).context("Cannot read the secret")?;
    if text.len() as u64 > MAX_SECRET_BYTES {
        bail_usage!(
            "Cannot save the secret: it is longer than {} KiB, which is the limit. Enter a shorter one.",
            MAX_SECRET_BYTES >> 10
        );
    }
    Ok(text)
}

fn ask_in_terminal(question: &str) -> Result<String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        bail_usage!("Cannot ask for the secret: not a terminal. Use --stdin, --env or --key-command.");
    }
    write!(io::stderr(), "{question}, not shown: ")?;
    io::stderr().flush()?;
    let silence = TerminalSilence::start()?;
    let line = read_line(&mut io::stdin().lock());
    drop(silence);
    writeln!(io::stderr())?;
    match line? {
        Some(line) => Ok(line),
        None => bail_usage!("cancelled; nothing was saved"),
    }
}

/// Terminal without echo, line editing and signals by keys, until this is dropped.
struct TerminalSilence(Termios);

impl TerminalSilence {
    fn start() -> io::Result<Self> {
        let modes = tcgetattr(io::stdin())?;
        let mut silent = modes.clone();
        silent.local_modes &= !(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        // Input typed before the question stays: a paste may have been fast.
        tcsetattr(io::stdin(), OptionalActions::Drain, &silent)?;
        Ok(Self(modes))
    }
}

impl Drop for TerminalSilence {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.0);
    }
}

/// Reads one line with backspace, ctrl-u, and ctrl-c, which returns `None`, as does the end of the input.
fn read_line(input: &mut impl Read) -> Result<Option<String>> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while input.read(&mut byte)? == 1 && (line.len() as u64) < MAX_SECRET_BYTES {
        match byte[0] {
            b'\r' | b'\n' => return Ok(Some(String::from_utf8(line).context("The secret is not text in UTF-8")?)),
            // ctrl-c, ctrl-d, ctrl-\ and escape.
            0x03 | 0x04 | 0x1c | 0x1b => return Ok(None),
            0x08 | 0x7f => {
                // A character of several bytes is removed as a whole.
                while line.pop().is_some_and(|removed| removed & 0xc0 == 0x80) {}
            }
            0x15 => line.clear(),
            other => line.push(other),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_without_being_seen() {
        for (typed, line) in [
            ("s3cret\r", Some("s3cret")),
            ("s3x\x7fcret\n", Some("s3cret")),
            ("wrong\x15s3cret\r", Some("s3cret")),
            ("é\x7fx\r", Some("x")),
            ("s3cret\x03", None),
            ("s3cret\x1b", None),
            ("s3cret", None),
        ] {
            assert_eq!(read_line(&mut typed.as_bytes()).unwrap().as_deref(), line, "{typed:?}");
        }
        let error = read_line(&mut &b"s3cret\xff\r"[..]).unwrap_err();
        assert!(!format!("{error:#}").contains("s3cret"), "{error:#}");
    }
}
