//! What may not ride along behind the words of a rule: a word that makes the program run another one or what stands in it,
//! obey another file, or work elsewhere.

use super::letters;

/// Options that do so whichever the program is. They are compared without their dashes: some programs take one for two.
#[rustfmt::skip]
const OPTIONS: &[&str] = &[
    "exec", "execute", "exec-path", "exec-batch", "upload-pack", "receive-pack", "ext-diff", "textconv",
    "open-files-in-pager", "to-command", "checkpoint-action", "use-compress-program", "compress-program", "rsh",
    "rsync-path", "pre", "hostname-bin", "pager", "config", "config-env", "toolexec", "execdir", "ok", "okdir",
    "script-shell", "shell", "runner", "rcfile", "init-file", "load-path", "require", "eval", "plugin", "gpg-program",
    "ssh-command", "proxy-command", "git-dir", "work-tree", "manifest-path", "prefix", "directory", "output",
    "hooks-path", "template", "makefile", "justfile", "info-script", "new-volume-script", "rmt-command", "rsh-command",
    "vettool", "post-renderer", "chdir", "C",
];

/// What one program has of its own beside those.
struct Own {
    programs: &'static [&'static str],
    /// Options of one letter that do so: alone, with their word behind them, or among others.
    letters: &'static str,
    /// Letters that take a word of another kind: what follows one of them is that word.
    taking: &'static str,
    /// Whole names.
    names: &'static [&'static str],
}

#[rustfmt::skip]
const OWN: &[Own] = &[
    Own { programs: &["make", "gmake"], letters: "fECI", taking: "oW", names: &["file", "include-dir"] },
    Own { programs: &["just"], letters: "fdEc", taking: "",
        names: &["set", "command", "choose", "chooser", "shell-arg", "dotenv-path", "dotenv-filename",
        "working-directory"] },
    Own { programs: &["task"], letters: "tdg", taking: "oC", names: &["taskfile", "dir", "global"] },
    Own { programs: &["rake"], letters: "eEpfrRIC", taking: "DWTj",
        names: &["rakefile", "rakelib", "rakelibdir", "libdir", "execute-print", "execute-continue"] },
    Own { programs: &["ninja"], letters: "fCt", taking: "djklw", names: &[] },
    Own { programs: &["cmake"], letters: "PCE", taking: "DUGABS", names: &[] },
    Own { programs: &["tar"], letters: "IFCT", taking: "fbHKLNVX", names: &["files-from"] },
    Own { programs: &["git"], letters: "O", taking: "me", names: &[] },
    Own { programs: &["rsync"], letters: "eM", taking: "fTB@", names: &["remote-option"] },
    Own { programs: &["apt", "apt-get"], letters: "oc", taking: "t", names: &["option"] },
    Own { programs: &["ansible"], letters: "maiM", taking: "ufetTlK", names: &["args", "module-name", "module-path"] },
    Own { programs: &["gradle", "gradlew"], letters: "Ibcp", taking: "DPx",
        names: &["init-script", "build-file", "settings-file", "project-dir", "include-build"] },
    Own { programs: &["npm", "pnpm", "yarn"], letters: "", taking: "",
        names: &["node-options", "userconfig", "globalconfig"] },
    Own { programs: &["kubectl", "helm", "oc"], letters: "", taking: "", names: &["kubeconfig"] },
    Own { programs: &["svn"], letters: "", taking: "",
        names: &["diff-cmd", "diff3-cmd", "editor-cmd", "merge-cmd", "config-option", "config-dir"] },
    Own { programs: &["bazel"], letters: "", taking: "", names: &["run_under", "workspace_status_command"] },
    Own { programs: &["mix"], letters: "er", taking: "", names: &[] },
    Own { programs: &["mvn"], letters: "", taking: "", names: &["f", "s", "gs", "t", "file", "settings"] },
    Own { programs: &["go"], letters: "", taking: "", names: &["ldflags", "overlay", "modfile"] },
    Own { programs: &["openssl"], letters: "", taking: "", names: &["engine", "provider", "provider-path"] },
    Own { programs: &["pip", "pip3", "uv"], letters: "", taking: "", names: &["python"] },
    Own { programs: &["jj"], letters: "", taking: "", names: &["tool"] },
];

/// Options that stand in full where they would be taken for the beginning of another one.
const WHOLE: &[&str] = &["rm", "global", "diff"];

/// To these a word with `=` in it says what they run, and any word may come before a shell.
const OBEY_ASSIGNMENTS: &[&str] = &["make", "gmake", "just", "rake", "task"];

/// What a shell would not take for a letter of a plain word.
const SIGNS: &[char] =
    &['=', ';', '|', '&', '<', '>', '$', '`', '(', ')', '\\', '"', '\'', '#', '!', '{', '}'];

/// Whether a word behind those of a rule makes the program run another one or what stands in the word, or work elsewhere.
pub(super) fn runs_others(program: &str, word: &str) -> bool {
    holds_code(program, word) || word.starts_with('-') && is_such_option(program, word)
}

fn holds_code(program: &str, word: &str) -> bool {
    if OBEY_ASSIGNMENTS.contains(&program) {
        // They take the blanks around a name away, and hand on what is left to a shell.
        return word.contains(char::is_whitespace) || word.contains(char::is_control) || word.contains(SIGNS);
    }
    let name = word.split_once('=').map(|(name, _)| name.trim());
    let assigns = name.is_some_and(|name| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:+?!".contains(&byte))
    });
    word.contains("$(")
        || word.contains('`')
        || ((assigns || word.starts_with('-')) && word.contains([' ', '\t', '\n', ';', '|', '&', '<', '>']))
        // A host, which it reaches by a program of its own.
        || (program == "tar" && word.contains(':'))
}

fn is_such_option(program: &str, word: &str) -> bool {
    let own = OWN.iter().filter(|own| own.programs.contains(&program));
    let name = word.split('=').next().unwrap_or_default();
    let bare = name.trim_start_matches('-');
    // Most programs take an option by its beginning too; behind one dash letters may stand each for itself.
    let least = if name.starts_with("--") { 1 } else { 4 };
    let short = bare.len() >= least && !WHOLE.contains(&bare);
    let named = |option: &str| bare == option || (short && option.starts_with(bare));
    let lettered = |own: &Own| letters::behind(word, own.letters, own.taking).is_some();
    // A number behind it is one of lines or columns.
    let elsewhere =
        word.strip_prefix("-C").is_some_and(|rest| !rest.bytes().all(|byte| byte.is_ascii_digit()));
    elsewhere
        || OPTIONS.iter().any(|option| named(option))
        || own.clone().any(|own| own.names.iter().any(|option| named(option)))
        || own.into_iter().any(lettered)
}
