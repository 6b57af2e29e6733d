//! Checks the machine: versions, the sandbox, the shell, git and the project folder.

use super::finding::Finding;
use crate::assemble::{own_program, resolve_folder, sandbox_setup};
use crate::chat::{CommandSandbox, SessionId};
use crate::config::OverlaySandbox;
use crate::config::Shell;
use crate::project::branch::current_branch;
use crate::project::overlay_sandbox::test_overlay_sandbox;
use crate::project::sandbox::{self, SandboxSupport, probe};
use crate::store::Places;
use crate::tools::read_only_commands::EXACT_COMMANDS;
use std::path::{Path, PathBuf};

/// Reports the program and system versions.
pub(super) fn check_versions() -> Finding {
    let system = rustix::system::uname();
    let (name, release) = (system.sysname().to_string_lossy(), system.release().to_string_lossy());
    let words = format!("aye {} · {name} {release} · {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    Finding::ok("version", words)
}

/// Checks the sandbox: the settings, the kernel, and an actual test run.
pub(super) fn check_sandbox(shell: &Shell, places: &Places) -> Vec<Finding> {
    let area = "sandbox";
    let confined = sandbox_setup::setup_sandbox(shell, places);
    let mut found: Vec<Finding> = confined
        .notices
        .iter()
        .map(|notice| Finding::note(area, notice, "create it, or remove it from the settings"))
        .collect();
    let reach = match confined.sandbox {
        CommandSandbox::Unspecified => return found,
        CommandSandbox::Unavailable(why) if !shell.sandbox => {
            let advice = "commands are limited only by your approval. Remove shell.sandbox from the settings to enable the sandbox";
            found.push(Finding::note(area, format!("none: {why}"), advice));
            found.push(no_sandbox_finding());
            return found;
        }
        CommandSandbox::Unavailable(why) => {
            let advice = "commands are limited only by your approval, and their prompts say so. The sandbox needs Linux 6.2 or \
                newer with Landlock among its security modules";
            found.push(Finding::note(area, format!("none: {why}"), advice));
            found.push(no_sandbox_finding());
            return found;
        }
        CommandSandbox::Enforced(reach) => reach,
    };
    let tried = tempfile::tempdir().and_then(|inside| {
        let outside = tempfile::tempdir()?;
        let real = (inside.path().canonicalize()?, outside.path().canonicalize()?);
        Ok(probe::test_sandbox(&own_program(), &real.0, &real.1))
    });
    let (landlock, signals) = match sandbox::kernel_support() {
        SandboxSupport::Supported { landlock, signals } => (landlock, signals),
        SandboxSupport::Unsupported(_) => (0, false),
    };
    let network = match (reach.network, shell.network == crate::config::Network::Off) {
        (true, _) => "on for every command",
        (false, true) => "off",
        (false, false) => "off unless you approve it",
    };
    let write: Vec<String> = reach.write.iter().map(|place| place.display().to_string()).collect();
    let write = if write.is_empty() { String::new() } else { format!(", {}", write.join(", ")) };
    let means = format!("commands can write to the project{write}; network {network}");
    match tried {
        Err(error) => {
            let words = format!("cannot be tested, because no temporary folder can be created: {error}");
            found.push(Finding::problem(area, words, "free disk space, or set TMPDIR to a writable folder"));
        }
        Ok(None) => {
            let words = "the kernel supports it, but it cannot be set up";
            let advice = "commands cannot run; a container may forbid it. shell.sandbox = false disables the sandbox";
            found.push(Finding::problem(area, words, advice));
        }
        Ok(Some(wrong)) => {
            let known = |tried: &probe::TestedOperation| *tried == probe::TestedOperation::SendSignal && !signals;
            let (old, wrong): (Vec<_>, Vec<_>) = wrong.into_iter().partition(known);
            if wrong.is_empty() {
                let words = format!("Landlock {landlock} and seccomp, tested: {means}");
                found.push(Finding::ok(area, words));
            }
            found.extend(wrong.iter().map(|tried| {
                Finding::problem(
                    area,
                    tried.failure_text(),
                    "rely only on the approval prompts, and report this with the kernel version",
                )
            }));
            found.extend(old.iter().map(|_| {
                let words = "commands can kill your other processes, including aye";
                Finding::note(area, words, "Linux 6.12 or newer prevents this")
            }));
        }
    }
    found.push(check_read_only());
    if reach.sockets {
        let advice =
            "remove shell.sockets unless you need it: through Docker or the session bus a command can do anything";
        found.push(Finding::note(area, "commands can connect to sockets of other programs", advice));
    }
    found
}

/// Tests the sandbox of commands that run without approval.
fn check_read_only() -> Finding {
    let area = "sandbox";
    let tried = tempfile::tempdir().ok().and_then(|folder| {
        let real = folder.path().canonicalize().ok()?;
        probe::test_read_only(&own_program(), &real)
    });
    let advice = "require approval for every command with an ask rule, and report this with the kernel version";
    match tried.as_deref() {
        Some([]) => Finding::ok(
            area,
            "read-only for commands without approval, tested: they can read the project except sensitive files, and write nothing",
        ),
        Some([tried, ..]) => Finding::problem(area, format!("read-only: {}", tried.failure_text()), advice),
        None => Finding::problem(
            area,
            "the read-only sandbox cannot be set up",
            "commands without approval cannot run; a container may forbid it. shell.sandbox = false disables the sandbox",
        ),
    }
}

/// Reports what runs without approval if there is no sandbox.
fn no_sandbox_finding() -> Finding {
    let words = format!("commands that run without approval: {}", EXACT_COMMANDS.join(" · "));
    Finding::note("sandbox", words, "every other command asks, even if it only reads")
}

/// Tests whether commands of a dry run can run over the working folder.
pub(super) fn check_overlay(stage: OverlaySandbox, named: Option<&Path>, places: &Places) -> Vec<Finding> {
    let area = "overlay";
    // A missing folder is reported by another check.
    let Ok(folder) = resolve_folder(named) else { return Vec::new() };
    let told = "commands of a dry run do not run; their results are simulated, see simulator";
    if stage == OverlaySandbox::Off {
        let words = format!("none: dry_run.overlay_sandbox is \"off\" in the settings; {told}");
        return vec![Finding::note(area, words, "remove dry_run.overlay_sandbox from the settings to enable it")];
    }
    let layer = places.rehearsal(&SessionId("trial".to_owned()));
    vec![match test_overlay_sandbox(&own_program(), &folder, layer.parent().unwrap_or(&layer)) {
        Ok(()) => Finding::ok(area, "overlay sandbox tested: commands of a dry run run in it"),
        Err(why) => {
            let advice = "it needs Linux 5.12 or newer, and root or unprivileged user namespaces";
            Finding::note(area, format!("none: {why}; {told}"), advice)
        }
    }]
}

/// Checks the shell, git and the working folder.
pub(super) fn check_project(named: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.push(match (find_on_path("bash"), find_on_path("sh")) {
        (Some(bash), _) => Finding::ok("shell", format!("{} runs commands", bash.display())),
        (None, Some(sh)) => {
            let words = format!("{} runs commands, because bash is missing", sh.display());
            Finding::note("shell", words, "install bash: models write bash commands")
        }
        (None, None) => {
            Finding::problem("shell", "neither bash nor sh is on the PATH", "commands cannot run; install bash")
        }
    });
    found.push(match find_on_path("git") {
        Some(git) => Finding::ok("git", git.display().to_string()),
        None => Finding::note("git", "git is not on the PATH", "install it to be able to undo changes"),
    });
    found.push(match resolve_folder(named) {
        Ok(folder) => {
            let branch = current_branch(&folder).map(|branch| format!(", branch {branch}")).unwrap_or_default();
            Finding::ok("project", format!("{}{branch}", folder.display()))
        }
        Err(error) => Finding::problem("project", error.to_string(), "name another folder with -C"),
    });
    found
}

/// Finds a program on the PATH.
fn find_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}
