//! Paths that hold secrets or control other programs. Access to them is always asked about, whatever was approved.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};
use std::sync::LazyLock;

/// Folders, including everything in them at any depth.
#[rustfmt::skip]
const SENSITIVE_FOLDERS: &[&str] = &[
    // Version control and its hooks
    ".git", ".hg", ".svn", ".husky", ".githooks",
    // Settings of aye and similar programs, which start tool servers and grant permissions
    ".aye", ".config/aye", ".local/share/aye", ".claude", ".codex", ".cursor", ".gemini",
    // Tasks that editors run
    ".vscode", ".idea", ".devcontainer",
    // Keys and accounts
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".config/gcloud", ".config/gh",
    ".config/op", ".config/sops", ".local/share/keyrings", "library/keychains",
    // Autostart
    ".config/autostart", ".config/systemd", ".config/fish", ".config/git", ".config/environment.d",
    "library/launchagents",
    // Browsers and mail programs, which store passwords
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium",
];

/// Files in any folder. One `*` matches anything.
#[rustfmt::skip]
const SENSITIVE_FILES: &[&str] = &[
    // Secrets of a project, and copies of `.env` that editors make, such as `#.env#` and `..env.un~`
    ".env*", "*.env", "#.env*", "..env*", ".flaskenv", ".htpasswd", ".secrets*", "secret.txt", "passwords.*", ".vault_pass*",
    "*.tfstate", "*.tfstate.backup", "local.settings.json", "wp-config.php", "secrets.*", "credentials", "credentials.*", ".credentials*",
    // Keys
    "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", "authorized_keys",
    // Accounts
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".git-credentials",
    ".vault-token", ".dockercfg", "kubeconfig*", ".s3cfg", ".boto", "serviceaccount*", ".*_history", "shadow", "shadow-", "gshadow*",
    "sudoers", ".cargo/config", ".cargo/config.toml",
    // Start-up files of shells
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xprofile", ".xinitrc",
    ".xsessionrc", ".pam_environment", ".gdbinit", ".lldbinit", ".direnvrc",
    // Settings that other programs execute
    ".gitconfig", ".gitmodules", ".mcp.json", "mcp.json", ".vimrc", ".tmux.conf", "crontab",
];

/// Returns whether a path is sensitive. Names are compared without case, because some file systems ignore it.
pub fn is_sensitive(path: &Path) -> bool {
    let names: Vec<Cow<'_, str>> = path.components().map(lowercase_name).collect();
    let table = &*PATTERN_TABLE;
    let matches_from = |start: usize, pattern: &[&str]| {
        let mut names = names[start..].iter();
        pattern.iter().all(|part| names.next().is_some_and(|name| matches_pattern(name, part)))
    };
    let is_in_folder = |start: usize| {
        let patterns = table.folders.get(&*names[start]);
        patterns.is_some_and(|patterns| patterns.iter().any(|pattern| matches_from(start, pattern)))
    };
    let Some(last) = names.last() else { return false };
    (0..names.len()).any(is_in_folder)
        || table.files.contains(&**last)
        || table.file_patterns.iter().any(|pattern| {
            let start = names.len().checked_sub(pattern.len());
            start.is_some_and(|start| matches_from(start, pattern))
        })
}

fn lowercase_name(part: Component<'_>) -> Cow<'_, str> {
    match part.as_os_str().to_string_lossy() {
        Cow::Borrowed(name) if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) => name.into(),
        name => name.to_lowercase().into(),
    }
}

/// The patterns, arranged for look-up: a project has thousands of paths.
struct PatternTable {
    /// The folders by their first name, each with its names.
    folders: HashMap<&'static str, Vec<Vec<&'static str>>>,
    /// The files without `*` and `/`.
    files: HashSet<&'static str>,
    /// The other files, each with its names.
    file_patterns: Vec<Vec<&'static str>>,
}

static PATTERN_TABLE: LazyLock<PatternTable> = LazyLock::new(|| {
    let mut folders: HashMap<_, Vec<_>> = HashMap::new();
    for folder in SENSITIVE_FOLDERS {
        let names: Vec<&str> = folder.split('/').collect();
        folders.entry(names[0]).or_default().push(names);
    }
    let is_name = |file: &&&str| !file.contains(['*', '/']);
    let files = SENSITIVE_FILES.iter().filter(is_name).copied().collect();
    let file_patterns = SENSITIVE_FILES.iter().filter(|file| !is_name(file)).map(|file| file.split('/').collect());
    PatternTable { folders, files, file_patterns: file_patterns.collect() }
});

/// Folders of installed programs, libraries and documentation: readable by every user, so secrets are not stored there.
#[rustfmt::skip]
const SYSTEM_FOLDERS: &[&str] = &[
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64",
    "/usr/libexec", "/usr/include", "/usr/share", "/usr/src", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib",
    "/usr/local/include", "/usr/local/share", "/nix/store", "/snap",
];

/// Returns whether a real path outside the project belongs to the installed system. All other paths may hold secrets.
pub fn is_system_file(real: &Path) -> bool {
    SYSTEM_FOLDERS.iter().any(|folder| real.starts_with(folder)) && !is_sensitive(real)
}

/// Returns whether a name matches a pattern with at most one `*`.
fn matches_pattern(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((prefix, suffix)) => {
            name.len() >= prefix.len() + suffix.len() && name.starts_with(prefix) && name.ends_with(suffix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    #[rustfmt::skip]
    fn r26_secrets_and_settings_of_other_programs_are_sensitive() {
        for path in [
            ".git", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", ".env", ".env.local", ".Env",
            "prod.env", ".envrc", "/home/a/.ssh/config", "/home/a/.bashrc",
            "/home/a/.config/aye/config.toml", ".aye/anything", "certs/server.pem", "id_ed25519",
            "id_rsa.pub", ".npmrc", "/home/a/.cargo/credentials.toml", "/home/a/.cargo/config.toml",
            ".vscode/tasks.json", ".mcp.json", ".husky/pre-push", "/home/a/.config/fish/config.fish",
            "/home/a/.AWS/credentials", "#.env#", "..env.un~", ".flaskenv", ".bash_history", ".psql_history", "terraform.tfstate",
            "kubeconfig", "/etc/shadow", ".secrets", "serviceAccount.json",
        ] {
            assert!(is_sensitive(Path::new(path)), "{path}");
        }
    }

    proptest! {
        #[test]
        fn the_table_matches_as_the_lists_do(
            names in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(SENSITIVE_FOLDERS.to_vec()).prop_map(str::to_owned),
                    prop::sample::select(SENSITIVE_FILES.to_vec()).prop_map(|file| file.replace('*', "x")),
                    prop::sample::select(SENSITIVE_FILES.to_vec()).prop_map(|file| file.replace('*', "").to_uppercase()),
                    "[a-z.]{1,3}",
                ],
                0..4,
            )
        ) {
            let path = names.join("/");
            let lower = path.to_lowercase();
            let names: Vec<&str> = lower.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
            let is_match = |names: &[&str], pattern: &str| {
                let parts: Vec<&str> = pattern.split('/').collect();
                names.len() == parts.len() && names.iter().zip(parts).all(|(name, part)| matches_pattern(name, part))
            };
            let in_folder = SENSITIVE_FOLDERS.iter().any(|folder| {
                names.windows(1 + folder.matches('/').count()).any(|names| is_match(names, folder))
            });
            let is_file = SENSITIVE_FILES.iter().any(|file| {
                let start = names.len().checked_sub(1 + file.matches('/').count());
                start.is_some_and(|start| is_match(&names[start..], file))
            });
            prop_assert_eq!(is_sensitive(Path::new(&path)), in_folder || is_file, "{}", path);
        }
    }

    #[test]
    fn r13_outside_the_project_only_system_files_are_not_sensitive() {
        for (path, expected) in [
            ("/usr/include/stdio.h", true),
            ("/usr/share", true),
            ("/nix/store/abc/lib/x", true),
            ("/usr/share/app/.env", false),
            ("/usr/local/lib/server.pem", false),
            ("/usr/local/etc/app.conf", false),
            ("/usrx/include", false),
            ("/usr", false),
            ("/etc/shadow", false),
            ("/home/ada/notes.txt", false),
            ("/tmp/x", false),
            ("/proc/self/environ", false),
            ("usr/share/x", false),
        ] {
            assert_eq!(is_system_file(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn ordinary_files_are_not_sensitive() {
        for path in [
            "", "src/main.rs", "README.md", ".gitignore", ".github/workflows/ci.yml", "environment.rs",
            "git/x", "aye/x", "src/env.rs", "id_generator.rs", "keys.rs", "config.toml", "fish/config/x",
            "pem", ".cargo/other",
        ] {
            assert!(!is_sensitive(Path::new(path)), "{path}");
        }
    }
}
