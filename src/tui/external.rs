//! Effects outside the program: clipboard, editor, opener, notifications.

use crate::text::hidden_chars::mark_hidden;
use crate::text::words::split_words;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Maximum length of a text for the terminal's clipboard, in bytes; few terminals accept more by OSC 52.
pub const MAX_CLIPBOARD: usize = 100_000;

/// Returns the bytes that copy a text to the clipboard of the user's terminal; `None` if it exceeds `MAX_CLIPBOARD`.
/// Written only after an explicit key press.
pub fn clipboard_bytes(text: &str) -> Option<Vec<u8>> {
    if text.len() > MAX_CLIPBOARD {
        return None;
    }
    let mut bytes = Vec::new();
    crossterm::queue!(bytes, crossterm::clipboard::CopyToClipboard::to_clipboard_from(text)).ok()?;
    Some(bytes)
}

/// Returns the bytes of the bell and of a desktop notification, which some terminals show. A longer text is cut after
/// 120 characters.
pub fn notification_bytes(text: &str) -> Vec<u8> {
    let text = mark_hidden(text).replace(['\n', '\t'], " ").chars().take(120).collect::<String>();
    format!("\x1b]9;{text}\x1b\\\x07").into_bytes()
}

/// Returns the user's editor as words: the setting, `$VISUAL`, `$EDITOR` or `vi`. Never passed to a shell.
pub fn find_editor(configured: Option<&str>, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<String> {
    let read_variable = |name| variable(name).and_then(|value| value.into_string().ok());
    let candidates = [configured.map(str::to_owned), read_variable("VISUAL"), read_variable("EDITOR")];
    let text = candidates.into_iter().flatten().find(|text| !text.trim().is_empty());
    split_words(&text.unwrap_or_else(|| "vi".to_owned()))
}

/// Returns the command that opens a file at a line in this editor.
pub fn editor_command(editor: &[String], file: &Path, line: Option<usize>) -> Vec<OsString> {
    let mut command: Vec<OsString> = editor.iter().map(OsString::from).collect();
    let name = editor.first().map(Path::new).and_then(Path::file_stem).unwrap_or_default();
    let with_line = |file: &Path, line: usize| {
        let mut text = file.as_os_str().to_owned();
        text.push(format!(":{line}"));
        text
    };
    match (line, name.to_str().unwrap_or_default()) {
        (Some(line), "code" | "code-insiders" | "codium" | "vscodium" | "cursor") => {
            command.push("--goto".into());
            command.push(with_line(file, line));
        }
        (Some(line), "hx" | "helix" | "zed" | "subl" | "micro") => command.push(with_line(file, line)),
        (Some(line), "vi" | "vim" | "nvim" | "view" | "nano" | "emacs" | "emacsclient" | "kak" | "joe" | "ne") => {
            command.push(format!("+{line}").into());
            command.push(file.into());
        }
        // The line argument of other editors is unknown.
        _ => command.push(file.into()),
    }
    command
}

/// Runs a program in the foreground of the terminal and waits for it. The caller has released the terminal. If the
/// user suspends it with ctrl-z, this program stops with it.
pub fn run_in_foreground(command: &[OsString], folder: &Path) -> io::Result<()> {
    use rustix::process::{Signal, WaitOptions, kill_process, waitpid};
    let (program, arguments) = command.split_first().ok_or_else(|| io::Error::other("no editor configured"))?;
    let name = program.to_string_lossy();
    let child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    let child_pid = rustix::process::Pid::from_child(&child);
    let status = loop {
        let (_, status) = match waitpid(Some(child_pid), WaitOptions::UNTRACED) {
            Err(rustix::io::Errno::INTR) => continue,
            waited => waited?.ok_or_else(|| io::Error::other(format!("{name} was lost")))?,
        };
        if !status.stopped() {
            break status;
        }
        kill_process(rustix::process::getpid(), Signal::STOP)?;
        // A shell's `fg` continues both processes. If only this one was continued, continue the child too.
        let _ = kill_process(child_pid, Signal::CONT);
    };
    match (status.exit_status(), status.terminating_signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => Err(io::Error::other(format!("{name} exited with code {code}"))),
        (None, signal) => {
            Err(io::Error::other(format!("{name} was terminated by signal {}", signal.unwrap_or_default())))
        }
    }
}

/// Opens a text in the user's editor and returns the edited text, without the final newline that editors add. Only the
/// user can read the temporary file.
pub fn edit_text(editor: &[String], text: &str, folder: &Path) -> io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("aye-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let mut command: Vec<OsString> = editor.iter().map(OsString::from).collect();
    command.push(file.path().into());
    run_in_foreground(&command, folder)?;
    let edited = std::fs::read_to_string(file.path())?;
    let added_newline = edited.strip_suffix('\n').filter(|_| !text.ends_with('\n'));
    Ok(added_newline.map(str::to_owned).unwrap_or(edited))
}

/// Opens a web address with the system's opener, without waiting for it.
pub fn open_web(address: &str) -> io::Result<()> {
    if !is_web_address(address) {
        return Err(io::Error::other("only http and https addresses are opened"));
    }
    spawn_opener(OsStr::new(address))
}

/// Returns whether the opener may receive this text. The opener itself would also accept files, programs and options.
fn is_web_address(address: &str) -> bool {
    let has_scheme =
        |scheme: &str| address.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme));
    (has_scheme("http://") || has_scheme("https://")) && !address.contains(char::is_control)
}

/// Opens a picture with the system's opener; an editor would show its bytes.
pub fn open_picture(file: &Path) -> io::Result<()> {
    match std::fs::metadata(file)?.is_file() {
        true => spawn_opener(file.as_os_str()),
        false => Err(io::Error::other(format!("{} is not a file", file.display()))),
    }
}

fn spawn_opener(target: &OsStr) -> io::Result<()> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut child = Command::new(opener)
        .arg(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("{opener}: {error}")))?;
    // Wait for the child, or it stays a zombie.
    std::thread::Builder::new().name("opener".into()).spawn(move || child.wait())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_only_a_final_newline_that_the_editor_added() {
        let edit = |editor: &str, text: &str| edit_text(&split_words(editor), text, Path::new(".")).unwrap();
        assert_eq!(edit("true", "one\n"), "one\n");
        assert_eq!(edit("sh -c 'echo two >> $0'", "one "), "one two");
        assert_eq!(edit("sh -c 'echo two >> $0'", "one\n"), "one\ntwo\n");
        assert_eq!(edit("true", ""), "");
    }

    #[track_caller]
    fn assert_editor_command(editor: &str, expected: &str) {
        let command = editor_command(&split_words(editor), Path::new("/p/my file.rs"), Some(7));
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(words.join("|"), expected);
    }

    #[test]
    fn passes_the_line_in_the_form_of_each_known_editor() {
        assert_editor_command("vim", "vim|+7|/p/my file.rs");
        assert_editor_command("/usr/bin/nvim -u NONE", "/usr/bin/nvim|-u|NONE|+7|/p/my file.rs");
        assert_editor_command("emacsclient -nw", "emacsclient|-nw|+7|/p/my file.rs");
        assert_editor_command("hx", "hx|/p/my file.rs:7");
        assert_editor_command("code --wait", "code|--wait|--goto|/p/my file.rs:7");
        assert_editor_command("'my editor'", "my editor|/p/my file.rs");
        assert_editor_command(r"my\ editor -c 'set nu'", "my editor|-c|set nu|/p/my file.rs");
        assert_editor_command("vim 'x", "vim|'x|+7|/p/my file.rs");
    }

    #[test]
    fn editor_is_the_setting_then_visual_then_editor() {
        let only_variable =
            |name: &'static str| move |requested: &str| (requested == name).then(|| OsString::from("nano -w"));
        assert_eq!(find_editor(None, &only_variable("VISUAL")), ["nano", "-w"]);
        assert_eq!(find_editor(None, &only_variable("EDITOR")), ["nano", "-w"]);
        assert_eq!(find_editor(Some("hx"), &only_variable("VISUAL")), ["hx"]);
        assert_eq!(find_editor(Some(" "), &|_| None), ["vi"]);
    }

    #[test]
    fn r36_only_web_addresses_are_opened() {
        assert!(is_web_address("HTTPS://docs.rs/") && is_web_address("http://docs.rs"));
        for address in
            ["file:///etc/passwd", "file:/etc/passwd", "FILE:///x", "javascript:x", "/etc/passwd", "-a", "https://a\nb"]
        {
            // A missing opener on this machine would be another error.
            assert!(!is_web_address(address), "{address}");
            let error = open_web(address).unwrap_err().to_string();
            assert_eq!(error, "only http and https addresses are opened", "{address}");
        }
    }

    #[test]
    fn r32_notification_contains_no_control_characters() {
        let bytes = String::from_utf8(notification_bytes("a\x1b]0;x\x07b\u{e0041}")).unwrap();
        assert_eq!(bytes, "\x1b]9;a<U+001B>]0;x<U+0007>b<U+E0041>\x1b\\\x07");
    }
}
