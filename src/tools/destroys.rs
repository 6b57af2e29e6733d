//! What a command plainly destroys. It knows the words of programs: what it finds is said, what it does not find is not
//! thereby safe.

use crate::policy::runs_what_it_is_given;
use crate::policy::shell::{self, Place, Reading, Redirect, Simple, Word, base};

/// Programs that only tell of their words, or have an `rm` of their own.
const TELL: &[&str] =
    &["echo", "printf", "grep", "egrep", "fgrep", "rg", "git", "npm", "man", "which", "type", "apt"];
/// How deep a line may stand in the words of a program: `ssh a "ssh b 'rm -r x'"`.
const DEPTH: usize = 3;

/// What is destroyed, in words for the card.
pub fn by(command: &str) -> Option<String> {
    of(&shell::read(command), DEPTH).map(str::to_owned)
}

fn of(reading: &Reading, deep: usize) -> Option<&'static str> {
    let found = reading.commands.iter().find_map(|simple| one(simple, deep));
    // Where it could not be read to its end, the words that it names are all there is.
    let lost = || {
        let named = reading.named.iter().filter(|_| reading.unclear.is_some());
        let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
        for word in named {
            if word.place == Place::First {
                parts.push(Vec::new());
            }
            let pieces =
                word.text.split(|letter: char| letter.is_whitespace() || ";|&(){}`".contains(letter));
            parts.last_mut()?.extend(pieces.filter(|piece| !piece.is_empty()));
        }
        parts.iter().find_map(|words| part(words, true))
    };
    found.or_else(lost)
}

/// What one command destroys.
fn one(simple: &Simple, deep: usize) -> Option<&'static str> {
    let words: Vec<&str> = simple.words.iter().map(Word::shown).collect();
    let writes = |redirect: &Redirect| match redirect {
        Redirect::Write(word) | Redirect::Append(word) => device(word.shown()),
        Redirect::Read(_) | Redirect::Onto | Redirect::Text(_) => false,
    };
    if simple.redirects.iter().any(writes) {
        return Some("writes over a device (> /dev/…)");
    }
    let program = simple.program().unwrap_or_default();
    // Its words may be a line: `ssh host 'rm -r x'`. A shell's were read already.
    let lines = words.iter().filter(|word| word.contains(char::is_whitespace));
    let hands_on = runs_what_it_is_given(program) && deep > 0;
    let inner = || lines.filter(|_| hands_on).find_map(|line| of(&shell::read(line), deep - 1));
    part(&words, !TELL.contains(&program)).or_else(inner)
}

/// What these words destroy; `anywhere` is whether a program may stand behind the first of them.
fn part(words: &[&str], anywhere: bool) -> Option<&'static str> {
    let starts = words.iter().enumerate().take(if anywhere { words.len() } else { 1 });
    starts.into_iter().find_map(|(at, word)| {
        let rest = &words[at + 1..];
        let name = base(word);
        // A flag by its long name, or as a letter among short ones.
        let flag = |long: &str, short: char| {
            rest.iter().any(|word| {
                *word == long || (word.starts_with('-') && !word.starts_with("--") && word.contains(short))
            })
        };
        let has =
            |wanted: &str| rest.iter().any(|word| *word == wanted || word.starts_with(&format!("{wanted}=")));
        let before = at.checked_sub(1).map(|at| words[at]);
        match name {
            "rm" if matches!(before, Some("docker" | "podman")) => None,
            "rm" if flag("--recursive", 'r') || flag("--recursive", 'R') => {
                Some("deletes folders and all in them (rm -r)")
            }
            "rm" if flag("--force", 'f') => Some("deletes files without asking (rm -f)"),
            "find" if has("-delete") => Some("deletes what it finds (find -delete)"),
            "git" if has("push") && (flag("--force", 'f') || has("--force-with-lease")) => {
                Some("replaces the history on the remote (git push --force)")
            }
            "git"
                if has("push")
                    && (["--mirror", "--delete", "--prune"].into_iter().any(has)
                        || rest.iter().any(|word| word.len() > 1 && word.starts_with(['+', ':']))) =>
            {
                Some("replaces or deletes branches on the remote (git push)")
            }
            "git" if has("reset") && has("--hard") => {
                Some("throws away changes not committed (git reset --hard)")
            }
            "git" if has("clean") && flag("--force", 'f') => {
                Some("deletes files git does not know (git clean -f)")
            }
            "dd" if rest.iter().any(|word| word.starts_with("of=")) => {
                Some("overwrites what it writes to (dd of=)")
            }
            "shred" => Some("overwrites files for good (shred)"),
            "truncate" => Some("cuts files short (truncate)"),
            name if name == "mkfs" || name.starts_with("mkfs.") => Some("empties a disk (mkfs)"),
            _ => None,
        }
    })
}

fn device(target: &str) -> bool {
    let harmless = ["null", "stdout", "stderr", "tty", "zero", "full"];
    let name = target.strip_prefix("/dev/");
    name.is_some_and(|name| {
        !harmless.contains(&name) && !name.starts_with("fd/") && !name.starts_with("pts/")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_plainly_destroyed_is_said() {
        for (command, part) in [
            ("rm -rf build", "rm -r"),
            ("cd x && sudo /bin/rm -f y", "rm -f"),
            ("find . | xargs rm -r", "rm -r"),
            ("sh -c 'rm -rf x'", "rm -r"),
            ("find . -name x -delete", "-delete"),
            ("git -C x push origin main --force", "--force"),
            ("git push --force-with-lease=main", "--force"),
            ("git push origin +topic", "replaces or deletes"),
            ("git push origin :topic", "replaces or deletes"),
            ("git push --delete origin topic", "replaces or deletes"),
            ("git push --mirror origin", "replaces or deletes"),
            ("git reset --hard HEAD~1", "--hard"),
            ("git clean -fdx", "clean"),
            ("mkfs.ext4 /dev/sda", "mkfs"),
            ("dd if=a of=/dev/sda", "dd"),
            ("echo x >/dev/sda", "/dev/"),
            ("shred x", "shred"),
            ("truncate -s 0 x", "truncate"),
            // However it is written and whoever runs it
            ("r\\m -r\\f x", "rm -r"),
            ("'rm' \"-rf\" x", "rm -r"),
            ("rm x --recursive", "rm -r"),
            ("bash -c \"bash -c 'rm -rf x'\"", "rm -r"),
            ("echo $(rm -rf x)", "rm -r"),
            ("for f in a b; do rm -rf $f; done", "rm -r"),
            ("if true; then git reset --hard; fi", "--hard"),
            ("ssh host 'cd x && rm -rf y'", "rm -r"),
            ("docker exec c rm -rf /x", "rm -r"),
            ("timeout 5 env A=b rm -rf x", "rm -r"),
            ("timeout 5 git push -f", "--force"),
            ("find . -exec rm -rf {} +", "rm -r"),
            ("find . -print0 | xargs -0 rm -f", "rm -f"),
            ("echo x 2>>/dev/sda", "/dev/"),
            ("rm -rf 'x", "rm -r"),
            ("cat <<E\n$(rm -rf x)\nE", "rm -r"),
        ] {
            assert!(by(command).is_some_and(|said| said.contains(part)), "{command}");
        }
        for command in [
            "ls",
            "cargo test 2>/dev/null",
            "git push",
            "git reset x",
            "git rm -r x",
            "dd if=x",
            "form -rf",
            "rm x",
            "git commit -m 'never rm -rf x; git reset --hard'",
            "echo rm -rf x",
            "grep -rn 'rm -rf' src",
            "git -C x rm -r y",
            "docker rm -f c",
            "cat 'rm -rf'",
            "ls > 'rm -rf'",
            "cat x # rm -rf y",
            "cat <<'E'\nrm -rf x\nE",
        ] {
            assert_eq!(by(command), None, "{command}");
        }
    }
}
