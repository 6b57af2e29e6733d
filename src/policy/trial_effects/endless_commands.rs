//! Commands that run until they are stopped: servers, watchers, programs that wait for the keyboard, and processes in the
//! background. A trial of one would only end at its time limit.
//!
//! The lists need not be complete: a command that they miss is stopped by its time limit, and asks then.

use crate::policy::command_line::{SimpleCommand, Word, parse_command_line};

/// Servers, and programs that are used with the keyboard.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    // Editors, pagers and screens
    "vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "hx", "helix", "less", "more", "most", "man", "info",
    "top", "htop", "btop", "atop", "glances", "nvtop", "tig", "lazygit", "fzf", "mc", "ranger", "tmux", "screen", "watch",
    "ssh", "telnet", "mosh",
    // Servers and watchers
    "nginx", "caddy", "httpd", "apache2", "redis-server", "postgres", "mysqld", "mongod", "uvicorn", "gunicorn", "hypercorn",
    "waitress-serve", "daphne", "http-server", "live-server", "json-server", "serve", "vite", "nodemon", "entr", "watchexec",
    "inotifywait", "fswatch", "watchman", "browser-sync", "webpack-dev-server", "ng-serve", "jupyter", "jupyter-lab",
    "jupyter-notebook", "tensorboard", "streamlit", "miniserve", "simple-http-server", "sshd", "dockerd", "containerd",
];

/// Programs with the first words, options aside, that make them run on.
#[rustfmt::skip]
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("npm", &["start"]), ("npm", &["run", "dev"]), ("npm", &["run", "start"]), ("npm", &["run", "serve"]), ("npm", &["run", "watch"]),
    ("pnpm", &["start"]), ("pnpm", &["dev"]), ("pnpm", &["run", "dev"]), ("pnpm", &["run", "start"]),
    ("yarn", &["start"]), ("yarn", &["dev"]), ("yarn", &["run", "dev"]), ("bun", &["dev"]), ("bun", &["run", "dev"]),
    ("next", &["dev"]), ("next", &["start"]), ("nuxt", &["dev"]), ("astro", &["dev"]), ("ng", &["serve"]), ("webpack", &["serve"]),
    ("webpack", &["watch"]), ("gatsby", &["develop"]), ("expo", &["start"]), ("cargo", &["watch"]), ("trunk", &["serve"]),
    ("mdbook", &["serve"]), ("mkdocs", &["serve"]), ("hugo", &["server"]), ("jekyll", &["serve"]), ("zola", &["serve"]),
    ("flask", &["run"]), ("rails", &["server"]), ("rails", &["s"]), ("rails", &["console"]), ("php", &["artisan", "serve"]),
    ("mix", &["phx.server"]), ("docker", &["compose", "up"]), ("docker-compose", &["up"]), ("kubectl", &["port-forward"]),
    ("git", &["daemon"]), ("git", &["instaweb"]), ("dotnet", &["watch"]), ("gradle", &["bootRun"]), ("deno", &["serve"]),
];

/// Modules of Python that serve.
const PYTHON_SERVERS: &[&str] = &["http.server", "uvicorn", "gunicorn", "pdb"];

/// Returns whether a command line is known to run until it is stopped.
pub fn is_endless(command: &str) -> bool {
    parse_command_line(command).commands.iter().any(runs_on)
}

fn runs_on(simple: &SimpleCommand) -> bool {
    let is_detached = simple.wrappers.iter().any(|words| {
        let name = words.first().and_then(Word::known_text);
        matches!(name, Some("nohup" | "setsid"))
    });
    let Some(program) = simple.program() else { return simple.is_background || is_detached };
    let words: Vec<&str> = simple.arguments().iter().filter_map(Word::known_text).collect();
    // `vim --version` ends.
    if matches!(words.as_slice(), ["--version" | "--help" | "-V" | "-h" | "-v"]) {
        return simple.is_background || is_detached;
    }
    let operands: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let serves_python = program.starts_with("python")
        && words.windows(2).any(|pair| pair[0] == "-m" && PYTHON_SERVERS.contains(&pair[1]))
        || program.starts_with("python") && operands.get(1) == Some(&"runserver");
    let follows = program == "tail" && words.iter().any(|word| is_follow_option(word))
        || matches!(program, "journalctl" | "docker" | "kubectl")
            && words.iter().any(|word| matches!(*word, "-f" | "--follow"));
    let serves_php = program == "php" && words.first() == Some(&"-S");
    simple.is_background
        || is_detached
        || serves_python
        || serves_php
        || follows
        || words.contains(&"--watch")
        || PROGRAMS.contains(&program)
        || SUBCOMMANDS.iter().any(|(name, first)| *name == program && operands.starts_with(first))
}

/// Returns whether an argument makes `tail` follow a file: `-f`, `-F`, `-fn5`, `--follow=name`.
fn is_follow_option(word: &str) -> bool {
    let is_short = word.starts_with('-') && !word.starts_with("--") && word.contains(['f', 'F']);
    is_short || word.starts_with("--follow") || word.starts_with("--retry")
}

#[cfg(test)]
mod tests {
    use super::is_endless;

    #[test]
    fn servers_watchers_and_screens_do_not_end() {
        for command in [
            "npm run dev",
            "npm --silent start",
            "cd web && npm run dev",
            "python3 -m http.server 8000",
            "python manage.py runserver",
            "php -S localhost:8000",
            "vim a.txt",
            "/usr/bin/less a.txt",
            "git log | less",
            "tail -f log",
            "tail -n 5 -F log",
            "sleep 100 &",
            "make & cargo test",
            "nohup make",
            "setsid make",
            "npx tsc --watch",
            "cargo watch -x test",
            "docker compose up",
            "bash -c 'npm start'",
            "(npm start)",
        ] {
            assert!(is_endless(command), "{command}");
        }
    }

    #[test]
    fn everything_else_is_taken_to_end() {
        for command in [
            "cargo test",
            "npm run build",
            "npm test",
            "python3 -m pytest",
            "python manage.py migrate",
            "tail -n 5 file",
            "vim --version",
            "docker compose build",
            "git commit -m 'npm start'",
            "echo vim",
            "mytool",
            "",
        ] {
            assert!(!is_endless(command), "{command}");
        }
    }
}
