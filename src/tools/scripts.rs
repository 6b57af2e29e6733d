//! The files of the project that a command line names: what they hold when the card is shown is what may run. A file
//! that is named by a pattern or by a variable is not found.

use crate::chat::{Basis, Beyond, Held, Seen};
use crate::policy::shell::{self, Place};
use crate::project::{self, Located, Reader};

/// So many files are compared, …
const FILES: usize = 24;
/// … and so many words are looked at.
const WORDS: usize = 2000;
/// Folders that a command goes to before.
const FOLDERS: usize = 8;

/// Programs that run what they are given. Where one is named, every file must stay to the byte as it was; where none
/// is, the log of something that runs may grow.
#[rustfmt::skip]
const RUN: &[&str] = &[
    "sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "eval", "exec", "env", "xargs", "parallel", "sudo",
    "python", "python2", "python3", "pypy", "pypy3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua",
    "awk", "gawk", "sed", "make", "tclsh", "Rscript", "java", "psql", "sqlite3", "mysql", "git", "patch", "kubectl",
];

/// What a command rests on: the files it names, with what they hold now.
pub fn named(command: &str, files: &dyn Reader) -> Basis {
    let words = shell::read(command).named;
    let mut basis = Basis { partial: words.len() > WORDS, ..Basis::default() };
    let runs = words.iter().any(|word| RUN.contains(&word.text.rsplit('/').next().unwrap_or_default()));
    let mut folders = vec![String::new()];
    let mut goes = false;
    for word in words.iter().take(WORDS) {
        if goes && folders.len() < FOLDERS {
            folders.push(below(folders.last().map_or("", String::as_str), &word.text));
        }
        goes = word.place == Place::First && word.text == "cd";
        if basis.beyond.as_ref().is_none_or(|beyond| !beyond.sensitive) && word.place != Place::First {
            let found = spellings(&word.text)
                .into_iter()
                .flat_map(|name| folders.iter().map(move |folder| below(folder, name)));
            let found: Vec<Beyond> = found.filter_map(|name| beyond(&name, files)).collect();
            let worst = found.into_iter().max_by_key(|beyond| beyond.sensitive);
            if let Some(worst) = worst.filter(|worst| worst.sensitive || basis.beyond.is_none()) {
                basis.beyond = Some(worst);
            }
        }
        if word.place == Place::Written {
            continue;
        }
        for name in spellings(&word.text) {
            for folder in &folders {
                let Some(mut seen) = look(&below(folder, name), files) else { continue };
                if basis.files.iter().any(|other| other.path == seen.path) {
                    continue;
                }
                let is_log = seen.path.extension().is_some_and(|ending| ending == "log");
                seen.grows = is_log && !runs && word.place == Place::Later;
                if basis.files.len() == FILES {
                    basis.partial = true;
                    return basis;
                }
                basis.files.push(seen);
            }
        }
    }
    basis
}

/// The place, where it is outside of the project or one that no rule covers.
fn beyond(path: &str, files: &dyn Reader) -> Option<Beyond> {
    let at = files.locate(path).ok().filter(|at| !at.inside || at.sensitive)?;
    Some(Beyond { path: at.shown, sensitive: at.sensitive })
}

/// The file, where it is one of the project's.
fn look(path: &str, files: &dyn Reader) -> Option<Seen> {
    let at: Located = files.locate(path).ok().filter(|at| at.inside)?;
    let held = match files.read(&at) {
        Ok(bytes) => Held::of(Some(&bytes)),
        Err(project::Error::TooLarge { .. }) => Held::TooMuch,
        Err(_) => return None,
    };
    Some(Seen { path: at.shown, held, becomes: None, grows: false })
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with(['/', '~']) {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}

/// How a word may name a file: as it is, behind a flag or a variable, or as what is sent.
pub(super) fn spellings(word: &str) -> Vec<&str> {
    let mut names = vec![word];
    names.extend(word.split_once('=').map(|(_, value)| value));
    names.extend(word.strip_prefix('@'));
    if word.starts_with('-') && !word.starts_with("--") {
        names.extend(word.get(2..));
    }
    for name in &mut names {
        for own in ["$PWD/", "${PWD}/", "$(pwd)/"] {
            *name = name.strip_prefix(own).unwrap_or(name);
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory::Memory;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn project() -> Arc<Memory> {
        Memory::with(&[
            ("x.sh", "echo x\n"),
            ("tools/y.py", "print(1)\n"),
            ("a b.sh", "echo ab\n"),
            ("app.log", "one\n"),
            ("data.json", "{}"),
            ("-f", ""),
            (".env", "K=1"),
        ])
    }

    fn check(command: &str, expected: &[&str]) {
        let files = project();
        let found = named(command, &files);
        let names: Vec<String> = found.files.iter().map(|seen| seen.path.display().to_string()).collect();
        assert_eq!(names, expected, "{command}");
    }

    #[test]
    fn r08_files_that_a_command_names_are_found() {
        check("bash ./x.sh", &["x.sh"]);
        check("./x.sh --now", &["x.sh"]);
        check("python3 tools/y.py 1 2", &["tools/y.py"]);
        check("cd tools && python3 y.py", &["tools/y.py"]);
        check("(cd tools; python3 ./y.py); ./x.sh", &["tools/y.py", "x.sh"]);
        check("cd tools/../tools&&python3 y.py", &["tools/y.py"]);
        check("A=1 ./x.sh", &["x.sh"]);
        check("BASH_ENV=x.sh bash -c true", &["x.sh"]);
        check("sh<x.sh", &["x.sh"]);
        check("cat x.sh|sh", &["x.sh"]);
        check("'./x.sh'", &["x.sh"]);
        check("./x\\.sh", &["x.sh"]);
        check("sh 'a b.sh'", &["a b.sh"]);
        check("sh a\\ b.sh", &["a b.sh"]);
        check("bash -c './x.sh && python3 \"tools/y.py\"'", &["x.sh", "tools/y.py"]);
        check("echo \"$(sh x.sh)\"", &["x.sh"]);
        check("echo `sh x.sh`", &["x.sh"]);
        check("sh $PWD/x.sh", &["x.sh"]);
        check("sh \"$(pwd)/x.sh\"", &["x.sh"]);
        check("sh $(pwd)/x.sh", &["x.sh"]);
        check("make -fx.sh", &["x.sh"]);
        check("make --file=x.sh", &["x.sh"]);
        check("curl -d @data.json http://a", &["data.json"]);
        check("true;x.sh", &["x.sh"]);
        check("x.sh x.sh ./x.sh", &["x.sh"]);
        check("if true\nthen ./x.sh\nfi", &["x.sh"]);
        check("source .env", &[".env"]);
        check("sh /project/x.sh", &["x.sh"]);
        check("x.sh 2>&1 | cat data.json", &["x.sh", "data.json"]);
    }

    #[test]
    fn what_is_no_file_of_the_project_or_is_only_written_is_not() {
        for command in [
            "",
            "cargo test",
            "ls tools",
            "sh /etc/passwd",
            "sh ../x",
            "echo y > x.sh",
            "echo y >>x.sh",
            "\"",
            "'x",
            "$(",
            "\\",
        ] {
            check(command, &[]);
        }
    }

    #[test]
    fn only_a_log_that_nothing_runs_may_grow() {
        let grows = |command: &str| named(command, &project()).files[0].grows;
        assert!(grows("tail -n 20 app.log"));
        assert!(grows("grep error < app.log | wc -l"));
        for command in [
            "bash app.log",
            "./app.log",
            "cat app.log | sh",
            "A=1 ./app.log",
            "cat data.json",
            "xargs < app.log",
            "sh -c 'cat app.log'",
        ] {
            assert!(!grows(command), "{command}");
        }
    }

    #[test]
    fn r08_words_and_files_are_bounded_and_it_is_said_where_more_may_be() {
        let names: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
        let files = Memory::bytes(names.iter().map(|name| (name.as_str(), b"x".to_vec())));
        let found = named(&names.join(" "), &files);
        assert_eq!((found.files.len(), found.partial), (FILES, true));
        let found = named(&names[..FILES].join(" "), &files);
        assert_eq!((found.files.len(), found.partial), (FILES, false));
        assert!(named(&"a ".repeat(WORDS + 1), &files).partial);
        let nested = "'\"".repeat(500);
        assert!(named(&nested, &files).files.is_empty());
    }

    proptest! {
        #[test]
        fn r64_no_command_breaks_it_and_quotes_hide_no_file(
            before in r#"[ab /.;|&()<>"'\\$`{}=@~\n-]{0,40}"#, name in "[a-c ]{1,4}"
        ) {
            let path = format!("d/{name}.sh");
            let files = Memory::with(&[(&path, "x")]);
            named(&before, &files);
            let quoted = format!("sh '{path}'");
            prop_assert_eq!(named(&quoted, &files).files.len(), 1);
            let escaped = format!("sh {}", path.replace(' ', "\\ "));
            prop_assert_eq!(named(&escaped, &files).files.len(), 1);
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_named_and_not_compared() {
        let place = tempfile::tempdir().unwrap();
        let big = std::fs::File::create(place.path().join("big.sh")).unwrap();
        big.set_len(crate::project::READ_LIMIT + 1).unwrap();
        let disk = project::disk::Disk::new(place.path()).unwrap();
        let found = named("sh big.sh", &disk);
        assert_eq!(found.files[0].held, Held::TooMuch);
    }
}
