//! Which paths hold secrets, or are obeyed by other programs: asked about every time, whatever else was allowed.

use std::path::Path;

/// Folders. Everything in them counts, at any depth.
#[rustfmt::skip]
const FOLDERS: &[&str] = &[
    // Versions and their hooks
    ".git", ".hg", ".svn", ".husky", ".githooks",
    // Settings of aye and of programs like it, which start tool servers and grant permissions
    ".aye", ".config/aye", ".local/share/aye", ".claude", ".codex", ".cursor", ".gemini",
    // Editors run tasks from these
    ".vscode", ".idea", ".devcontainer",
    // Keys and accounts
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".config/gcloud", ".config/gh",
    ".config/op", ".config/sops", ".local/share/keyrings", "library/keychains",
    // What starts by itself
    ".config/autostart", ".config/systemd", ".config/fish", ".config/git", ".config/environment.d",
    "library/launchagents",
    // Browsers and mail keep passwords
    ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium",
];

/// Files, wherever they are. One `*` stands for anything.
#[rustfmt::skip]
const FILES: &[&str] = &[
    // Secrets of a project
    ".env*", "*.env", "#.env*", "..env*", ".flaskenv", ".htpasswd", ".secrets*", "secret.txt", "passwords.*", ".vault_pass*",
    "*.tfstate", "*.tfstate.backup", "local.settings.json", "wp-config.php", "secrets.*", "credentials", "credentials.*", ".credentials*",
    // Keys
    "*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx", "id_rsa*", "id_dsa*", "id_ecdsa*",
    "id_ed25519*", "authorized_keys",
    // Accounts
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pypirc", ".git-credentials",
    ".vault-token", ".dockercfg", "kubeconfig*", ".s3cfg", ".boto", "serviceaccount*", ".*_history", "shadow", "shadow-", "gshadow*",
    "sudoers", ".cargo/config", ".cargo/config.toml",
    // Shells run these when they start
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc", ".xprofile", ".xinitrc",
    ".xsessionrc", ".pam_environment", ".gdbinit", ".lldbinit", ".direnvrc",
    // Other programs obey these
    ".gitconfig", ".gitmodules", ".mcp.json", "mcp.json", ".vimrc", ".tmux.conf", "crontab",
];

/// Whether the path is one of those. Names are compared without regard to case, since some file systems do so too.
pub fn sensitive(path: &Path) -> bool {
    let names: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
    let begins = |from: usize, pattern: &str| {
        let mut names = names[from..].iter();
        pattern.split('/').all(|part| names.next().is_some_and(|name| fits(name, part)))
    };
    let ends = |pattern: &str| {
        let from = names.len().checked_sub(1 + pattern.matches('/').count());
        from.is_some_and(|from| begins(from, pattern))
    };
    (0..names.len()).any(|from| FOLDERS.iter().any(|folder| begins(from, folder)))
        || FILES.iter().any(|file| ends(file))
}

/// Folders of installed programs, libraries and their documentation: every user may read them, and no secret is put there.
#[rustfmt::skip]
const SYSTEM: &[&str] = &[
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64",
    "/usr/libexec", "/usr/include", "/usr/share", "/usr/src", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib",
    "/usr/local/include", "/usr/local/share", "/nix/store", "/snap",
];

/// Whether a real path outside the project belongs to the installed system. Whatever else is outside may hold secrets.
pub fn is_system_file(real: &Path) -> bool {
    SYSTEM.iter().any(|folder| real.starts_with(folder)) && !sensitive(real)
}

/// Whether a name fits a pattern with at most one `*`.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn r26_secrets_and_what_others_obey_are_sensitive() {
        for path in [
            ".git", ".git/hooks/pre-commit", "sub/.git/config", ".GIT/config", ".env", ".env.local", ".Env",
            "prod.env", ".envrc", "/home/a/.ssh/config", "/home/a/.bashrc",
            "/home/a/.config/aye/config.toml", ".aye/anything", "certs/server.pem", "id_ed25519",
            "id_rsa.pub", ".npmrc", "/home/a/.cargo/credentials.toml", "/home/a/.cargo/config.toml",
            ".vscode/tasks.json", ".mcp.json", ".husky/pre-push", "/home/a/.config/fish/config.fish",
            "/home/a/.AWS/credentials", "#.env#", "..env.un~", ".flaskenv", ".bash_history", ".psql_history", "terraform.tfstate",
            "kubeconfig", "/etc/shadow", ".secrets", "serviceAccount.json",
        ] {
            assert!(sensitive(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn r13_only_what_is_installed_is_known_to_hold_no_secret_outside_the_project() {
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
    fn ordinary_files_are_not() {
        for path in [
            "", "src/main.rs", "README.md", ".gitignore", ".github/workflows/ci.yml", "environment.rs",
            "git/x", "aye/x", "src/env.rs", "id_generator.rs", "keys.rs", "config.toml", "fish/config/x",
            "pem", ".cargo/other",
        ] {
            assert!(!sensitive(Path::new(path)), "{path}");
        }
    }
}
