//! What a command plainly destroys. It knows words, not the shell: what it finds is said, what it does not find is not
//! thereby safe.

/// What is destroyed, in words for the card.
pub fn by(command: &str) -> Option<String> {
    let spaced = command.replace('>', " > ");
    let parts = spaced.split([';', '|', '&', '\n', '(', ')', '{', '}', '`']);
    parts.map(words).find_map(|words| part(&words)).map(str::to_owned)
}

fn words(part: &str) -> Vec<&str> {
    part.split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '\\', '$']))
        .filter(|word| !word.is_empty())
        .collect()
}

fn part(words: &[&str]) -> Option<&'static str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let rest = &words[at + 1..];
        let name = word.rsplit('/').next().unwrap_or(word);
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
            "rm" if matches!(before, Some("git" | "docker" | "podman" | "npm")) => None,
            "rm" if flag("--recursive", 'r') || flag("--recursive", 'R') => {
                Some("deletes folders and all in them (rm -r)")
            }
            "rm" if flag("--force", 'f') => Some("deletes files without asking (rm -f)"),
            "find" if has("-delete") => Some("deletes what it finds (find -delete)"),
            "git" if has("push") && (flag("--force", 'f') || has("--force-with-lease")) => {
                Some("replaces the history on the remote (git push --force)")
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
            ">" => rest.first().filter(|target| device(target)).map(|_| "writes over a device (> /dev/…)"),
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
            ("git reset --hard HEAD~1", "--hard"),
            ("git clean -fdx", "clean"),
            ("mkfs.ext4 /dev/sda", "mkfs"),
            ("dd if=a of=/dev/sda", "dd"),
            ("echo x >/dev/sda", "/dev/"),
            ("shred x", "shred"),
            ("truncate -s 0 x", "truncate"),
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
        ] {
            assert_eq!(by(command), None, "{command}");
        }
    }
}
