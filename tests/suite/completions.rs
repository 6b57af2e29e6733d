//! Completions in real shells: what the user types, presses tab, and runs.

use crate::support::program::{Program, Setup, program};
use crate::support::report_skipped;
use crate::support::stored_files::{list_all_files, write_script, write_settings};
use aye::chat::{Entry, SessionId, TitleSource};
use aye::store::{Header, Log, Sessions};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SESSION: &str = "01JD0000000000000000000001";
const OTHER_SESSION: &str = "01JE0000000000000000000002";

/// A profile whose name a shell would run, split or expand if it were not quoted.
const HOSTILE: &str = "evil $(touch pwned) `touch pwned` ; touch pwned & \"q\" 'x' $HOME * ~ \\ !! #";

/// A title that would do the same, and move the cursor or set the title of the window.
const HOSTILE_TITLE: &str = "%F{red}\u{1b}]0;pwned\u{7}\n$(touch pwned) `touch pwned`\n; touch pwned\t: \\ \"'";

/// A shell, and how it is started with an init file.
struct Shell {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Commands before and after the script is read.
    init: (&'static str, &'static str),
    init_file: &'static str,
    script_file: &'static str,
}

const BASH: Shell = Shell {
    name: "bash",
    arguments: &["--noprofile", "--rcfile", "init/init.bash", "-i"],
    init: ("PS1='$ '; unset HISTFILE", ". init/aye.bash"),
    init_file: "init.bash",
    script_file: "aye.bash",
};

const ZSH: Shell = Shell {
    name: "zsh",
    arguments: &["-d", "-i"],
    // The script is found in `fpath`, as a package installs it.
    init: (
        "PS1='$ '; unset HISTFILE; unsetopt prompt_sp",
        "fpath=($PWD/init $fpath); autoload -U compinit; compinit -u -D",
    ),
    init_file: ".zshrc",
    script_file: "_aye",
};

const FISH: Shell = Shell {
    name: "fish",
    arguments: &["--private", "--no-config", "--init-command", "source init/init.fish"],
    init: (
        "set -g fish_greeting; set -g fish_autosuggestion_enabled 0; function fish_prompt; echo '$ '; end",
        "source init/aye.fish",
    ),
    init_file: "init.fish",
    script_file: "aye.fish",
};

const ELVISH: Shell = Shell {
    name: "elvish",
    arguments: &["-rc", "init/rc.elv"],
    init: ("set edit:prompt = { put '$ ' }; set edit:rprompt = { }", "eval (slurp < init/aye.elv)"),
    init_file: "rc.elv",
    script_file: "aye.elv",
};

const NUSHELL: Shell = Shell {
    name: "nu",
    arguments: &["--no-history", "--env-config", "init/env.nu", "--config", "init/config.nu"],
    init: (
        "$env.config.show_banner = false; $env.PROMPT_COMMAND = {|| ''}; $env.PROMPT_COMMAND_RIGHT = {|| ''}; \
         $env.PROMPT_INDICATOR = '$ '",
        "use aye.nu",
    ),
    init_file: "config.nu",
    script_file: "aye.nu",
};

fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        report_skipped(&format!("{program} is not installed"));
    }
    found.is_ok()
}

/// The script of a shell.
fn script(shell: &str) -> String {
    let (script, err, code) = Setup::new(&["completions", shell]).run_piped("");
    assert_eq!((err.as_str(), code), ("", 0), "{shell}");
    script
}

/// Settings with profiles, and sessions, of this project.
fn create_home(setup: &Setup) {
    let quoted = serde_json::to_string(HOSTILE).unwrap();
    let profile = |name: &str| format!("[profiles.{name}]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m:7b\"\n");
    let hidden = [r#""evil\n$(touch pwned)""#, r#""evil\u001b]0;pwned\u0007""#, r#""--yes""#].map(profile).concat();
    write_settings(setup, &[profile("workplace"), profile(&quoted), hidden].concat());
    let sessions = Sessions::new(setup.root.path().join("home/aye/data/sessions"));
    for (id, title) in [(SESSION, "plain title"), (OTHER_SESSION, HOSTILE_TITLE)] {
        let folder = setup.root.path().join("project").canonicalize().unwrap();
        let header = Header::new(SessionId(id.into()), &folder, "m", false);
        let title = Entry::Titled { title: title.into(), by: TitleSource::User, usage: None };
        sessions.begin_session(&header).append(&title).unwrap();
    }
}

/// Starts a shell with completions. An `aye` that is not asked for completions prints its arguments.
fn start_shell(shell: &Shell) -> Option<Program> {
    if !is_installed(shell.name) {
        return None;
    }
    let setup = Setup::new(shell.arguments).other_program(shell.name).size(100, 40);
    create_home(&setup);
    let (folder, bin) = (setup.root.path().join("project/init"), setup.root.path().join("bin"));
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(&bin).unwrap();
    let real = program();
    let shim = format!(
        "[ -n \"$AYE_COMPLETE\" ] && exec '{}' \"$@\"\nprintf 'RAN'\nfor word; do printf '<%s>' \"$word\"; done\necho",
        real.display()
    );
    write_script(&bin.join("aye"), &shim);
    let script = script(if shell.name == "nu" { "nushell" } else { shell.name });
    fs::write(folder.join(shell.script_file), script).unwrap();
    fs::write(folder.join("env.nu"), "").unwrap();
    fs::write(folder.join(shell.init_file), format!("{}\n{}\n", shell.init.0, shell.init.1)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let setup = setup.with_file("README.md", "").with_file("src/main.rs", "");
    let mut program = setup.env("PATH", &path).env("INPUTRC", "/dev/null").env("ZDOTDIR", "init").start();
    program.until("$");
    Some(program)
}

/// Types a line with tabs and runs it; returns the arguments that `aye` received.
#[track_caller]
fn run_line(program: &mut Program, line: &str) -> String {
    let start = program.bytes().len();
    program.type_text(line);
    program.press_keys("\r");
    let mut arguments = String::new();
    program.until_condition("the arguments of aye", |program| {
        let output = String::from_utf8_lossy(&program.bytes()[start..]).into_owned();
        let printed = output.split_once("RAN").and_then(|(_, after)| after.split_once('\r'));
        arguments = printed.map(|(printed, _)| printed.to_owned()).unwrap_or_default();
        printed.is_some()
    });
    arguments
}

fn check_shell(shell: &Shell) {
    let Some(mut program) = start_shell(shell) else { return };
    for (line, expected) in [
        ("aye rehears\t", "<rehearsal>".to_owned()),
        ("aye sessions exp\t", "<sessions><export>".to_owned()),
        ("aye rehearsal apply --hu\t", "<rehearsal><apply><--hunks>".to_owned()),
        ("aye --profile workp\t", "<--profile><workplace>".to_owned()),
        ("aye --profile=workp\t", "<--profile=workplace>".to_owned()),
        ("aye -m m:\t", "<-m><m:7b>".to_owned()),
        ("aye --profile workp\t rehears\t", "<--profile><workplace><rehearsal>".to_owned()),
        ("aye --resume 01JD\t", format!("<--resume><{SESSION}>")),
        ("aye sessions rm 01JE\t 01JD\t", format!("<sessions><rm><{OTHER_SESSION}><{SESSION}>")),
        ("aye --profile evi\t", format!("<--profile><{HOSTILE}>")),
        ("aye explain READ\t", "<explain><README.md>".to_owned()),
        // Zsh removes the slash when the line runs.
        ("aye -C sr\t", if shell.name == "zsh" { "<-C><src>" } else { "<-C><src/>" }.to_owned()),
        ("true; aye help sand\t", "<help><sandbox>".to_owned()),
    ] {
        // Elvish shows a candidate that it quotes until enter accepts it.
        let line = if shell.name == "elvish" { format!("{line}\r") } else { line.to_owned() };
        assert_eq!(run_line(&mut program, &line), expected, "{}: {line:?}", shell.name);
    }
    if shell.name != "elvish" {
        assert_eq!(run_line(&mut program, "X=1 aye help sand\t"), "<help><sandbox>", "{}", shell.name);
        let exported = run_line(&mut program, "aye sessions export --output=READ\t");
        assert_eq!(exported, "<sessions><export><--output=README.md>", "{}", shell.name);
    }
    // Both sessions are listed, with their titles; by bash after the second tab.
    program.type_text(if shell.name == "bash" { "aye --resume 01J\t\t" } else { "aye --resume 01J\t" });
    let screen = program.until_all(&[SESSION, OTHER_SESSION, "plain title", "%F{red}"]);
    assert!(screen.contains("<U+001B>]0;pwned<U+0007>"), "{}: {screen}", shell.name);
    let output = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(!output.contains("\x1b]0;pwned") && !output.contains("error"), "{}: {output:?}", shell.name);
    assert_eq!(program.file("pwned"), None, "{}", shell.name);
}

#[test]
fn bash_completes_commands_options_and_names() {
    check_shell(&BASH);
}

#[test]
fn zsh_completes_commands_options_and_names() {
    check_shell(&ZSH);
}

#[test]
fn fish_completes_commands_options_and_names() {
    check_shell(&FISH);
}

#[test]
fn elvish_completes_commands_options_and_names() {
    check_shell(&ELVISH);
}

#[test]
fn nushell_completes_commands_options_and_names() {
    check_shell(&NUSHELL);
}

/// The completer of the shell is one for all programs, so the script must not replace another one.
#[test]
fn nushell_keeps_the_completions_of_other_programs() {
    if !is_installed("nu") {
        return;
    }
    let test = "$env.config.completions.external.completer = {|spans| [$\"other ($spans.0)\"] }\nuse aye.nu\n\
                let complete = $env.config.completions.external.completer\n\
                print (do $complete [git x] | to nuon) (do $complete [aye --theme= aye x] | describe)\n";
    let setup = Setup::new(&[]).with_file("aye.nu", &script("nushell")).with_file("test.nu", test);
    let folder = setup.root.path().join("project");
    let done =
        Command::new("nu").args(["--no-config-file", "test.nu"]).current_dir(&folder).env("HOME", &folder).output();
    let done = done.unwrap();
    let output = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    // Without `aye` in the path, its own completions are empty.
    assert_eq!(output, "[\"other git\"]\nlist<any>\n");
}

#[test]
fn the_script_of_each_shell_is_valid() {
    for (shell, check) in [
        ("bash", &["bash", "-n"][..]),
        ("zsh", &["zsh", "-n"]),
        ("fish", &["fish", "--no-execute"]),
        ("powershell", &["pwsh", "-NoProfile", "-File"]),
        ("nushell", &["nu", "--no-config-file", "--ide-check", "10"]),
    ] {
        let script = script(shell);
        assert!(script.contains("aye") && script.ends_with('\n'), "{shell}");
        if !is_installed(check[0]) {
            continue;
        }
        let setup = Setup::new(&[]).with_file("script.ps1", &script);
        let file = setup.root.path().join("project/script.ps1");
        let done = Command::new(check[0]).args(&check[1..]).arg(file).stdin(Stdio::null()).output().unwrap();
        let output = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
        assert!(done.status.success() && !output.contains("\"severity\":\"Error\""), "{shell}: {output}");
    }
}

/// Asks for completions as a script does; returns the answer.
fn ask(setup: &Setup, shell: &str, words: &[&str]) -> String {
    let setup = Setup::with_home(&setup.root, words).env("AYE_COMPLETE", shell);
    let (out, err, code) = setup.run_piped("");
    assert_eq!((err.as_str(), code), ("", 0), "{words:?}");
    out
}

#[test]
fn completing_writes_nothing_and_shows_no_secret() {
    let setup = Setup::new(&[]);
    create_home(&setup);
    let home = setup.root.path().join("home/aye");
    let secret = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl";
    let credentials = format!("[github]\nkind = \"bearer\"\norigins = [\"https://h\"]\nsecret = \"{secret}\"\n");
    fs::write(home.join("config/tool_credentials.toml"), credentials).unwrap();
    let title = Entry::Titled { title: format!("my key is {secret}"), by: TitleSource::User, usage: None };
    let header = Header::new(SessionId("01JF".into()), Path::new("/x"), "m", false);
    Sessions::new(home.join("data/sessions")).begin_session(&header).append(&title).unwrap();
    let files = || -> Vec<_> {
        let mut files = list_all_files(setup.root.path());
        files.sort();
        files.into_iter().map(|file| (fs::read(&file).unwrap_or_default(), file)).collect()
    };
    let before = files();
    for words in [
        &["aye", ""][..],
        &["aye", "--resume", ""],
        &["aye", "--profile", ""],
        &["aye", "--model", ""],
        &["aye", "--theme", ""],
        &["aye", "tools", "show", ""],
        &["aye", "mcp", "show", ""],
        &["aye", "credentials", "rotate", ""],
        &["aye", "rehearsal", "show", ""],
    ] {
        let answer = ask(&setup, "zsh", words);
        assert!(!answer.contains(secret) && answer.starts_with("none\n"), "{words:?}: {answer}");
    }
    assert!(ask(&setup, "zsh", &["aye", "credentials", "rotate", ""]).contains("github"));
    assert_eq!(files(), before);
}

#[test]
fn completing_never_fails() {
    // A home that is a file, settings that are not TOML, and no folder to work in.
    let setup = Setup::new(&[]);
    fs::write(setup.root.path().join("home/aye"), "").unwrap();
    assert_eq!(ask(&setup, "zsh", &["aye", "--resume", ""]), "none\n");
    let setup = Setup::new(&[]);
    write_settings(&setup, "= not TOML");
    assert!(ask(&setup, "fish", &["aye", "--profile", ""]).contains("openai"));
    // Not a shell: the variable is ignored.
    let setup = Setup::with_home(&setup.root, &["--version"]).env("AYE_COMPLETE", "1");
    assert!(setup.run_piped("").0.starts_with("aye "));
}
