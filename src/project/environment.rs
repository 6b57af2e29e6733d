//! Environment of a command: the user's own, without secrets and without pagers that would wait for a key.

use super::program_path::paths_outside;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Variables that every command gets, whatever the user's terminal has.
const ALWAYS_SET: [(&str, &str); 4] = [("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb"), ("NO_COLOR", "1")];

/// Endings of the names of variables that may hold a secret and that no command gets. Compared case-insensitively.
const SECRET_ENDINGS: [&str; 13] = [
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
/// Parts of such names.
const SECRET_PARTS: [&str; 7] = ["PASSWORD", "PASSWD", "CREDENTIAL", "PRIVATE_KEY", "SECRET_", "ACCESS_KEY", "API_KEY"];
/// Whole names of such variables: short ones, and those of sockets of agents that hold keys.
const SECRET_NAMES: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "APIKEY", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "PGPASSFILE"];

/// Variables that change the meaning of a command: the target of `cd`, the names that a pattern matches, options of
/// programs, and the programs that git runs. Commands are analysed without them, so they are removed. Exported shell
/// functions (`BASH_FUNC_…`) and git settings (`GIT_CONFIG…`) are removed too.
const MEANING_VARIABLES: [&str; 10] = [
    "CDPATH",
    "BASHOPTS",
    "SHELLOPTS",
    "GLOBIGNORE",
    "BASH_ENV",
    "ENV",
    "POSIXLY_CORRECT",
    "GREP_OPTIONS",
    "GIT_EXTERNAL_DIFF",
    "RIPGREP_CONFIG_PATH",
];
const MEANING_PREFIXES: [&str; 2] = ["BASH_FUNC_", "GIT_CONFIG"];

/// Git settings in the overlay sandbox. Merging a file into the overlay updates its change time, and git would
/// otherwise treat every merged file as modified.
const OVERLAY_GIT_SETTINGS: [(&str, &str); 3] =
    [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.trustctime"), ("GIT_CONFIG_VALUE_0", "false")];

/// User variables that a command without approval gets, if the value is plain: words, numbers, a time zone. Of the
/// user's other variables it gets only `LC_…`, if plain, `PATH` and `HOME`.
const PLAIN_VARIABLES: [&str; 6] = ["LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "COLUMNS"];

/// User variables that a command of a dry run gets in addition, if the value is plain: they select and locate
/// toolchains. They hold only versions, paths and compiler options.
#[rustfmt::skip]
const TOOLCHAIN_VARIABLES: &[&str] = &[
    "CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL", "CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET", "CARGO_TERM_COLOR",
    "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTC", "RUSTC_WRAPPER", "RUSTFLAGS", "RUSTDOCFLAGS", "RUST_BACKTRACE",
    "RUST_TEST_THREADS", "RUST_MIN_STACK", "GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOBIN", "GOFLAGS", "GOOS", "GOARCH",
    "GOTOOLCHAIN", "GOMAXPROCS", "CGO_ENABLED", "JAVA_HOME", "JDK_HOME", "MAVEN_HOME", "M2_HOME", "GRADLE_HOME",
    "GRADLE_USER_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "SDKMAN_DIR", "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "PYENV_ROOT", "PYENV_VERSION", "RBENV_ROOT",
    "RBENV_VERSION", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "NVM_DIR", "NVM_BIN", "NODE_ENV", "NODE_PATH", "VOLTA_HOME",
    "BUN_INSTALL", "DENO_DIR", "DOTNET_ROOT", "PNPM_HOME", "CC", "CXX", "CPP", "LD", "AR", "AS", "CFLAGS", "CXXFLAGS",
    "CPPFLAGS", "LDFLAGS", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH",
    "CMAKE_PREFIX_PATH", "CMAKE_GENERATOR", "CMAKE_BUILD_PARALLEL_LEVEL", "CMAKE_BUILD_TYPE", "MAKEFLAGS", "CI",
    "SOURCE_DATE_EPOCH", "LINES", "SHELL", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
];

/// Returns the environment of a command in a dry run: `PATH`, `HOME` and `ALWAYS_SET`, and of `PLAIN_VARIABLES`,
/// `TOOLCHAIN_VARIABLES` and `LC_…` those whose value is plain. `temporary` is the folder for temporary files, if it is
/// not `/tmp`.
pub fn dry_run_environment(
    environment: &[(OsString, OsString)],
    temporary: Option<&Path>,
) -> Vec<(OsString, OsString)> {
    let is_plain = |value: &OsStr| {
        let is_plain_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"._@+-/:,=% ".contains(byte);
        // A URL may contain a password.
        value.as_bytes().iter().all(is_plain_byte) && !value.as_bytes().windows(3).any(|window| window == b"://")
    };
    let is_kept = |(name, value): &&(OsString, OsString)| {
        let Some(name) = name.to_str() else { return false };
        let is_known = is_locale(name) || PLAIN_VARIABLES.contains(&name) || TOOLCHAIN_VARIABLES.contains(&name);
        ["PATH", "HOME"].contains(&name)
            || ALWAYS_SET.iter().any(|(set, _)| name == *set)
            || (is_known && is_plain(value))
    };
    let temporary = temporary.map(|folder| ("TMPDIR".into(), folder.into()));
    environment.iter().filter(is_kept).cloned().chain(temporary).collect()
}

/// Returns whether a variable sets a locale category.
fn is_locale(name: &str) -> bool {
    name.strip_prefix("LC_").is_some_and(|category| category.bytes().all(|byte| byte.is_ascii_uppercase()))
}

/// Git variables of a command without approval: git reads no settings except the repository's own, writes nothing,
/// fetches no missing objects, and does not look for a repository above the project.
const GIT_VARIABLES: [(&str, &str); 7] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ALLOW_PROTOCOL", ""),
];

/// Returns the environment of a command without approval: its `PATH` has no folder in the project `folder`, and no
/// variable changes what a program reads or runs.
pub fn read_only_environment(folder: &Path, environment: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    let is_plain = |value: &OsStr| {
        let is_plain_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"._@+-/:".contains(byte);
        // A path would be another file to read.
        let bytes = value.as_bytes();
        bytes.iter().all(is_plain_byte)
            && !bytes.starts_with(b"/")
            && !bytes.starts_with(b":")
            && !bytes.windows(2).any(|window| window == b"..")
    };
    let is_known =
        |name: &OsStr| PLAIN_VARIABLES.iter().any(|plain| name == *plain) || name.to_str().is_some_and(is_locale);
    let keep_variable = |(name, value): &(OsString, OsString)| {
        let is_always_set = ALWAYS_SET.iter().any(|(set, _)| name == set);
        let value = match name.to_str() {
            Some("PATH") => paths_outside(folder, value)?,
            Some("HOME") => value.clone(),
            _ if is_always_set || (is_known(name) && is_plain(value)) => value.clone(),
            _ => return None,
        };
        Some((name.clone(), value))
    };
    let parent = folder.parent().unwrap_or(folder).into();
    let git_variables = GIT_VARIABLES.iter().map(|(name, value)| (name.into(), value.into()));
    environment
        .iter()
        .filter_map(keep_variable)
        .chain(git_variables)
        .chain([("GIT_CEILING_DIRECTORIES".into(), parent)])
        .collect()
}

/// Adds the settings that the overlay sandbox needs.
pub fn with_overlay_settings(environment: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let settings = OVERLAY_GIT_SETTINGS.iter().map(|(name, value)| (name.into(), value.into()));
    environment.into_iter().chain(settings).collect()
}

/// Returns the environment of a command, derived from aye's own. Variables whose names suggest a secret are removed,
/// and also those named in `key_variables`, which hold keys although their names may not suggest it.
pub fn command_environment(
    own_variables: impl Iterator<Item = (OsString, OsString)>,
    key_variables: &[String],
) -> Vec<(OsString, OsString)> {
    let is_removed = |name: &OsStr| {
        is_secret_name(name)
            || MEANING_VARIABLES.iter().any(|variable| name == *variable)
            || MEANING_PREFIXES.iter().any(|prefix| name.as_bytes().starts_with(prefix.as_bytes()))
            || key_variables.iter().any(|variable| name == variable.as_str())
            || ALWAYS_SET.iter().any(|(set, _)| name == *set)
    };
    let remaining = own_variables.filter(|(name, _)| !is_removed(name));
    remaining.chain(ALWAYS_SET.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}

/// Returns whether the name suggests a secret.
fn is_secret_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || SECRET_PARTS.iter().any(|part| name.contains(part))
        || SECRET_NAMES.iter().any(|secret| name == *secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r21_names_that_suggest_a_secret_are_removed() {
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
            assert!(is_secret_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn variables_that_programs_need_are_kept() {
        for name in ["PATH", "HOME", "PWD", "OLDPWD", "LANG", "CARGO_HOME", "EDITOR", "KEYMAP", "MONKEY", "COMPASS"] {
            assert!(!is_secret_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn r12_unapproved_commands_run_no_program_of_the_project() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let (folder, link) = (base.join("app"), base.join("link"));
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        let bin_folder = |path: &Path| path.join("bin").display().to_string();
        let list = format!("/usr/bin:{}::.:bin:./bin:{}:/bin:/x;y", bin_folder(&folder), bin_folder(&link));
        let path = read_only_environment(&folder, &[("PATH".into(), list.into())]);
        assert_eq!(path[0], ("PATH".into(), "/usr/bin:/bin:/x;y".into()));
        // If no folder of `PATH` remains, only the git variables and `GIT_CEILING_DIRECTORIES` are set.
        assert_eq!(read_only_environment(&folder, &[("PATH".into(), "bin".into())]).len(), GIT_VARIABLES.len() + 1);
    }

    #[test]
    fn unapproved_commands_get_only_listed_variables_with_plain_values() {
        let is_kept = |name: &str, value: &str| {
            let git_count = GIT_VARIABLES.len() + 1;
            read_only_environment(Path::new("/p"), &[(name.into(), value.into())]).len() == git_count + 1
        };
        for (name, value) in [
            ("HOME", "/home/a"),
            ("LANG", "de_DE.UTF-8@euro"),
            ("LC_ALL", "C"),
            ("LC_TIME", "en_US.UTF-8"),
            ("TZ", "Europe/Berlin"),
            ("TZ", "CET-1CEST"),
            ("USER", "a.b"),
            ("TERM", "dumb"),
            ("PAGER", "cat"),
        ] {
            assert!(is_kept(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("BASH_FUNC_cat%%", "() { :; }"),
            ("BASH_ENV", "/x"),
            ("ENV", "/x"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.pager"),
            ("GIT_CONFIG_PARAMETERS", "x"),
            ("GIT_EXTERNAL_DIFF", "x"),
            ("GIT_DIR", "/x"),
            ("GIT_WORK_TREE", "/"),
            ("GIT_INDEX_FILE", "/x"),
            ("GIT_EXEC_PATH", "/x"),
            ("GIT_TRACE", "/x"),
            ("GIT_SSH", "x"),
            ("POSIXLY_CORRECT", "1"),
            ("GREP_OPTIONS", "-r"),
            ("RIPGREP_CONFIG_PATH", "/etc/x"),
            ("LESSOPEN", "|x"),
            ("LD_PRELOAD", "/usr/lib/x.so"),
            ("LD_LIBRARY_PATH", "/usr/lib"),
            ("PYTHONPATH", "/x"),
            ("PYTHONSTARTUP", "/x"),
            ("NODE_OPTIONS", "-r x"),
            ("TREE_COLORS", "x"),
            ("LS_COLORS", "x"),
            ("MAGIC", "/x"),
            ("JQ_COLORS", "x"),
            ("BLOCK_SIZE", "1"),
            ("TIME_STYLE", "+x"),
            ("QUOTING_STYLE", "c"),
            ("TMPDIR", "/x"),
            ("XDG_CONFIG_HOME", "/x"),
            ("AWKPATH", "/x"),
            ("PERL5OPT", "x"),
            ("RUBYOPT", "x"),
            ("IFS", "x"),
            ("SHELLOPTS", "x"),
            ("LOCPATH", "/x"),
            ("LC_x", "C"),
            ("LANG", "/x"),
            ("LANG", "../x"),
            ("LC_ALL", "() { :; }"),
            ("TZ", ":/etc/shadow"),
            ("TZ", "/etc/shadow"),
        ] {
            assert!(!is_kept(name, value), "{name}={value}");
        }
    }

    #[test]
    fn dry_run_commands_get_only_listed_variables_with_plain_values() {
        let is_kept = |name: &str, value: &str| dry_run_environment(&[(name.into(), value.into())], None).len() == 1;
        for (name, value) in [
            ("PATH", "/usr/bin:/home/a b/bin;x"),
            ("HOME", "/home/a"),
            ("LC_ALL", "C.UTF-8"),
            ("CARGO_HOME", "/home/a/.cargo"),
            ("RUSTFLAGS", "-C target-cpu=native"),
            ("CFLAGS", "-O2 -g"),
            ("MAKEFLAGS", "-j8"),
            ("CI", "true"),
            ("TERM", "dumb"),
        ] {
            assert!(is_kept(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("MY_SERVICE_LOGIN", "x"),
            ("DATABASE_URL", "postgres://a:b@c/d"),
            ("GOFLAGS", "-x=https://a:b@c"),
            ("NODE_OPTIONS", "-r x"),
            ("JAVA_TOOL_OPTIONS", "-Dpassword=x"),
            ("NPM_CONFIG_REGISTRY", "x"),
            ("AYE_HOME", "/home/a/.aye"),
            ("XDG_DATA_HOME", "/home/a"),
            ("CARGO_REGISTRY_DEFAULT", "x"),
            ("CFLAGS", "$(x)"),
            ("TMPDIR", "/home/a"),
        ] {
            assert!(!is_kept(name, value), "{name}={value}");
        }
        let temporary = dry_run_environment(&[("TMPDIR".into(), "/x".into())], Some(Path::new("/t")));
        assert_eq!(temporary, [("TMPDIR".into(), "/t".into())]);
    }

    #[test]
    fn no_command_gets_variables_that_change_its_meaning() {
        for name in [
            "BASH_FUNC_git%%",
            "BASH_FUNC_cat()",
            "BASH_ENV",
            "ENV",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_KEY_12",
            "GIT_CONFIG_VALUE_0",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_SYSTEM",
            "GIT_CONFIG_PARAMETERS",
            "GIT_CONFIG",
            "GIT_EXTERNAL_DIFF",
            "POSIXLY_CORRECT",
            "GREP_OPTIONS",
            "CDPATH",
        ] {
            let variables = [(OsString::from(name), OsString::from("x")), ("GIT_AUTHOR_NAME".into(), "me".into())];
            let environment = command_environment(variables.into_iter(), &[]);
            assert!(environment.iter().all(|(known, _)| known != name), "{name}");
            assert!(environment.iter().any(|(known, _)| known == "GIT_AUTHOR_NAME"));
        }
    }

    #[test]
    fn pagers_and_colours_are_disabled() {
        let variables = [("PAGER", "less"), ("A_TOKEN", "x"), ("HOME", "/h"), ("MY_MODEL", "sk-1"), ("CDPATH", "/")];
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let environment = command_environment(variables, &["MY_MODEL".to_owned()]);
        let value = |name: &str| environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        assert_eq!(value("PAGER"), Some("cat".into()));
        assert_eq!(value("TERM"), Some("dumb".into()));
        assert_eq!(value("HOME"), Some("/h".into()));
        assert_eq!(value("A_TOKEN"), None);
        assert_eq!(environment.len(), ALWAYS_SET.len() + 1, "only `HOME` is kept");
    }
}
