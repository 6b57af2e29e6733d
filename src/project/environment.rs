//! The environment a command gets: the person's own, without secrets, and without anything that would wait for a key.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What every command finds set, whatever the person's terminal says.
const SET: [(&str, &str); 4] = [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb"), ("NO_COLOR", "1")];

/// Names whose values a command does not see. They are matched without regard to case.
const ENDS: [&str; 13] = [
    "_KEY",
    "_KEYS",
    "_KEY_ID",
    "_KEY_PATH",
    "_TOKEN",
    "_TOKENS",
    "_SECRET",
    "_SECRETS",
    "_PAT",
    "_PASS",
    "_PWD",
    "_PASSPHRASE",
    "_AUTH",
];
/// Anywhere in the name.
const PARTS: [&str; 7] =
    ["PASSWORD", "PASSWD", "CREDENTIAL", "PRIVATE_KEY", "SECRET_", "ACCESS_KEY", "API_KEY"];
/// The whole name: short ones, and doors to a running agent that holds keys.
const WHOLE: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "APIKEY", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "PGPASSFILE"];

/// They change what the words of a command mean: where `cd` goes to, and which names a pattern stands for. A command is
/// read without them.
const OTHERWISE: [&str; 4] = ["CDPATH", "BASHOPTS", "SHELLOPTS", "GLOBIGNORE"];

/// Lists of folders where a program is looked for, or what it loads, and what stands between two. An empty name in one is
/// the working folder.
const LOOKED_IN: [(&str, &[u8]); 2] = [("PATH", b":"), ("LD_LIBRARY_PATH", b":;")];

/// Lists of files that programs obey which only read, and what stands between two.
const LISTED: [(&str, &[u8]); 3] = [("LD_PRELOAD", b": \t\n\x0b\x0c\r"), ("LD_AUDIT", b":"), ("MAGIC", b":")];

/// Each names a file or a folder that programs obey which only read.
const OBEYED: [&str; 9] = [
    "BASH_ENV",
    "ENV",
    "RIPGREP_CONFIG_PATH",
    "GIT_DIR",
    "GIT_COMMON_DIR",
    "GIT_EXEC_PATH",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXTERNAL_DIFF",
];

/// The same for a command that nobody is asked about: nothing in this folder says which program runs, or what it obeys.
pub fn beyond(folder: &Path, environment: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_beyond = |path: &Path| {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        path.is_absolute() && !path.starts_with(folder) && !real.starts_with(folder)
    };
    let kept = |(name, value): &(OsString, OsString)| {
        let paths = |between: &[u8]| {
            let paths = value.as_bytes().split(|byte| between.contains(byte));
            paths.map(|path| Path::new(OsStr::from_bytes(path))).collect::<Vec<_>>()
        };
        if let Some((_, between)) = LOOKED_IN.iter().find(|(list, _)| name == list) {
            let folders = paths(between).into_iter().filter(|path| is_beyond(path));
            return Some((name.clone(), std::env::join_paths(folders).ok().filter(|list| !list.is_empty())?));
        }
        let stays = match LISTED.iter().find(|(list, _)| name == list) {
            // To obey a part of them may be another matter than all or none.
            Some((_, between)) => {
                paths(between).iter().all(|path| path.as_os_str().is_empty() || is_beyond(path))
            }
            None => !OBEYED.iter().any(|obeyed| name == obeyed) || is_beyond(Path::new(value)),
        };
        stays.then(|| (name.clone(), value.clone()))
    };
    environment.iter().filter_map(kept).collect()
}

/// The environment of a command, made from aye's own. `keys` are variables that hold keys, whatever they are called.
pub fn environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    keys: &[String],
) -> Vec<(OsString, OsString)> {
    let left_out = |name: &OsStr| {
        secret(name)
            || OTHERWISE.iter().any(|other| name == *other)
            || keys.iter().any(|key| name == key.as_str())
            || SET.iter().any(|(set, _)| name == *set)
    };
    let kept = own.filter(|(name, _)| !left_out(name));
    kept.chain(SET.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

/// Whether the name promises a secret.
fn secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    ENDS.iter().any(|end| name.ends_with(end))
        || PARTS.iter().any(|part| name.contains(part))
        || WHOLE.iter().any(|whole| name == *whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r21_names_that_promise_a_secret_are_left_out() {
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SESSION_TOKEN",
            "PGPASSWORD",
            "my_db_password",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "CLIENT_SECRET",
            "SECRET_KEY_BASE",
            "SSH_AUTH_SOCK",
            "TOKEN",
            "DOCKER_PASS",
        ] {
            assert!(secret(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn what_programs_need_stays() {
        for name in
            ["PATH", "HOME", "PWD", "OLDPWD", "LANG", "CARGO_HOME", "EDITOR", "KEYMAP", "MONKEY", "COMPASS"]
        {
            assert!(!secret(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn r12_what_runs_unasked_is_looked_for_outside_of_the_project() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        let (folder, link) = (base.join("app"), base.join("link"));
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        let own = |path: &Path| path.join("bin").display().to_string();
        let list = format!("/usr/bin:{}::.:bin:./bin:{}:/bin:", own(&folder), own(&link));
        let given = [
            ("PATH", list.as_str()),
            ("LD_LIBRARY_PATH", ":lib"),
            ("BASH_ENV", ".env"),
            ("RIPGREP_CONFIG_PATH", "/etc/ripgreprc"),
            ("GIT_DIR", &own(&folder)),
            ("LANG", "C"),
        ];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let left = beyond(&folder, &given);
        let left: Vec<(&str, &str)> =
            left.iter().map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap())).collect();
        let expected = [("PATH", "/usr/bin:/bin"), ("RIPGREP_CONFIG_PATH", "/etc/ripgreprc"), ("LANG", "C")];
        assert_eq!(left, expected);
    }

    #[test]
    fn r12_of_a_list_that_is_obeyed_every_name_counts() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let own = folder.join("x.so").display().to_string();
        let left = |name: &str, value: &str| {
            let left = beyond(&folder, &[(name.into(), value.into())]);
            left.first().map(|(_, value)| value.to_str().unwrap().to_owned())
        };
        for (name, between) in [
            ("LD_PRELOAD", ":"),
            ("LD_PRELOAD", " "),
            ("LD_PRELOAD", "\t"),
            ("LD_AUDIT", ":"),
            ("MAGIC", ":"),
        ] {
            let apart = |one: &str, two: &str| format!("{one}{between}{two}");
            for list in [
                apart("/usr/lib/a.so", &own),
                apart(&own, "/usr/lib/a.so"),
                apart("/usr/lib/a.so", "x.so"),
                own.clone(),
            ] {
                assert_eq!(left(name, &list), None, "{name}={list}");
            }
            for list in [apart("/usr/lib/a.so", "/usr/lib/b.so"), apart("", "/usr/lib/a.so")] {
                assert_eq!(left(name, &list), Some(list.clone()), "{name}={list}");
            }
        }
        let list = format!("/usr/lib;{};/lib:;.;{}", folder.display(), folder.join("lib").display());
        assert_eq!(left("LD_LIBRARY_PATH", &list).as_deref(), Some("/usr/lib:/lib"));
        // Such a name is one in `PATH`.
        assert_eq!(left("PATH", "/usr/bin;x:/bin").as_deref(), Some("/usr/bin;x:/bin"));
        assert_eq!(left("PATH", &format!("/bin:{}", folder.display())).as_deref(), Some("/bin"));
    }

    #[test]
    fn nothing_pages_or_colours() {
        let own =
            [("PAGER", "less"), ("A_TOKEN", "x"), ("HOME", "/h"), ("MY_MODEL", "sk-1"), ("CDPATH", "/")];
        let own = own.into_iter().map(|(name, value)| (name.into(), value.into()));
        let made = environment(own, &["MY_MODEL".to_owned()]);
        let value = |name: &str| made.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        assert_eq!(value("PAGER"), Some("cat".into()));
        assert_eq!(value("TERM"), Some("dumb".into()));
        assert_eq!(value("HOME"), Some("/h".into()));
        assert_eq!(value("A_TOKEN"), None);
        assert_eq!(made.len(), 5);
    }
}
