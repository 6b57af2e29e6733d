//! Checks the machine: versions, the sandbox, the shell, git and the project folder.

use super::finding::Finding;
use crate::assemble::sandbox_setup;
use crate::chat::{CommandSandbox, SessionId};
use crate::cli::resolve_folder;
use crate::config::{OverlaySandbox, Shell};
use crate::documents::reader_process::check_reader as check_reader_program;
use crate::project::branch::current_branch;
use crate::project::guard::own_program;
use crate::project::overlay_sandbox::test_overlay_sandbox;
use crate::project::sandbox::{self, SandboxSupport, probe};
use crate::store::Places;
use crate::tools::read_only_commands::EXACT_COMMANDS;
use std::path::{Path, PathBuf};

/// Reports the program and system versions.
pub(super) fn check_versions() -> Finding {
    let system = rustix::system::uname();
    let (name, release) = (system.sysname().to_string_lossy(), system.release().to_string_lossy());
    let message = format!("aye {} · {name} {release} · {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    Finding::ok("version", message)
}

/// Starts the program that reads documents, and reports whether it works.
pub(super) fn check_reader() -> Vec<Finding> {
    let area = "reader";
    vec![match check_reader_program() {
        Ok(()) => Finding::ok(
            area,
            "aye-reader can be started: it reads pages, pictures, PDFs, spreadsheets and the clipboard",
        ),
        Err(reason) => Finding::problem(
            area,
            format!("pages, pictures, PDFs, spreadsheets and the clipboard cannot be read: {reason}"),
            "both programs are built by `cargo install` and `cargo build`, and are in every package",
        ),
    }]
}

/// Checks the sandbox: the settings, the kernel, and an actual test run.
pub(super) fn check_sandbox(shell: &Shell, places: &Places) -> Vec<Finding> {
    let area = "sandbox";
    let setup = sandbox_setup::setup_sandbox(shell, places);
    let mut findings: Vec<Finding> = setup
        .notices
        .iter()
        .map(|notice| Finding::note(area, notice, "create it, or remove it from the settings"))
        .collect();
    let access = match setup.sandbox {
        CommandSandbox::Unspecified => return findings,
        CommandSandbox::Unavailable(reason) if !shell.sandbox => {
            let advice = "commands are limited only by your approval. Remove shell.sandbox from the settings to enable the sandbox";
            findings.push(Finding::note(area, format!("none: {reason}"), advice));
            findings.push(no_sandbox_finding());
            return findings;
        }
        CommandSandbox::Unavailable(reason) => {
            let advice = "commands are limited only by your approval, and their prompts say so. The sandbox needs Linux 6.2 or \
                newer with Landlock among its security modules";
            findings.push(Finding::note(area, format!("none: {reason}"), advice));
            findings.push(no_sandbox_finding());
            return findings;
        }
        CommandSandbox::Enforced(access) => access,
    };
    let test_result = tempfile::tempdir().and_then(|inside| {
        let outside = tempfile::tempdir()?;
        let canonical = (inside.path().canonicalize()?, outside.path().canonicalize()?);
        Ok(probe::test_sandbox(&own_program(), &canonical.0, &canonical.1))
    });
    let (landlock, signals) = match sandbox::kernel_support() {
        SandboxSupport::Supported { landlock, signals } => (landlock, signals),
        SandboxSupport::Unsupported(_) => (0, false),
    };
    let network = match (access.network, shell.network == crate::config::Network::Off) {
        (true, _) => "on for every command",
        (false, true) => "off",
        (false, false) => "off unless you approve it",
    };
    let write: Vec<String> = access.write.iter().map(|folder| folder.display().to_string()).collect();
    let write = if write.is_empty() { String::new() } else { format!(", {}", write.join(", ")) };
    let description = format!("commands can write to the project{write}; network {network}");
    match test_result {
        Err(error) => {
            let message = format!("cannot be tested, because no temporary folder can be created: {error}");
            findings.push(Finding::problem(area, message, "free disk space, or set TMPDIR to a writable folder"));
        }
        Ok(None) => {
            let message = "the kernel supports it, but it cannot be set up";
            let advice = "commands cannot run; a container may forbid it. shell.sandbox = false disables the sandbox";
            findings.push(Finding::problem(area, message, advice));
        }
        Ok(Some(failed)) => {
            let is_expected =
                |operation: &probe::TestedOperation| *operation == probe::TestedOperation::SendSignal && !signals;
            let (expected, unexpected): (Vec<_>, Vec<_>) = failed.into_iter().partition(is_expected);
            if unexpected.is_empty() {
                let message = format!("Landlock {landlock} and seccomp, tested: {description}");
                findings.push(Finding::ok(area, message));
            }
            findings.extend(unexpected.iter().map(|operation| {
                Finding::problem(
                    area,
                    operation.failure_text(),
                    "rely only on the approval prompts, and report this with the kernel version",
                )
            }));
            findings.extend(expected.iter().map(|_| {
                let message = "commands can kill your other processes, including aye";
                Finding::note(area, message, "Linux 6.12 or newer prevents this")
            }));
        }
    }
    findings.push(check_read_only());
    if access.sockets {
        let advice =
            "remove shell.sockets unless you need it: through Docker or the session bus a command can do anything";
        findings.push(Finding::note(area, "commands can connect to sockets of other programs", advice));
    }
    findings
}

/// Tests the sandbox of commands that run without approval.
fn check_read_only() -> Finding {
    let area = "sandbox";
    let failed = tempfile::tempdir().ok().and_then(|folder| {
        let canonical = folder.path().canonicalize().ok()?;
        probe::test_read_only(&own_program(), &canonical)
    });
    let advice = "require approval for every command with an ask rule, and report this with the kernel version";
    match failed.as_deref() {
        Some([]) => Finding::ok(
            area,
            "read-only for commands without approval, tested: they can read the project except sensitive files, and write nothing",
        ),
        Some([operation, ..]) => Finding::problem(area, format!("read-only: {}", operation.failure_text()), advice),
        None => Finding::problem(
            area,
            "the read-only sandbox cannot be set up",
            "commands without approval cannot run; a container may forbid it. shell.sandbox = false disables the sandbox",
        ),
    }
}

/// Reports what runs without approval if there is no sandbox.
fn no_sandbox_finding() -> Finding {
    let message = format!("commands that run without approval: {}", EXACT_COMMANDS.join(" · "));
    Finding::note("sandbox", message, "every other command asks, even if it only reads")
}

/// Tests whether commands of a dry run can run in an overlay sandbox on top of the working folder.
pub(super) fn check_overlay(overlay_mode: OverlaySandbox, requested: Option<&Path>, places: &Places) -> Vec<Finding> {
    let area = "overlay";
    // A missing folder is reported by another check.
    let Ok(folder) = resolve_folder(requested) else { return Vec::new() };
    let consequence = "commands of a dry run do not run; their results are simulated, see simulator";
    if overlay_mode == OverlaySandbox::Off {
        let message = format!("none: dry_run.overlay_sandbox is \"off\" in the settings; {consequence}");
        return vec![Finding::note(area, message, "remove dry_run.overlay_sandbox from the settings to enable it")];
    }
    // No session has this ID: only the folder of all overlays is used.
    let overlay = places.rehearsal(&SessionId("trial".to_owned()));
    vec![match test_overlay_sandbox(&own_program(), &folder, overlay.parent().unwrap_or(&overlay)) {
        Ok(()) => Finding::ok(area, "overlay sandbox tested: commands of a dry run run in it"),
        Err(reason) => {
            let advice = "it needs Linux 5.12 or newer, and root or unprivileged user namespaces";
            Finding::note(area, format!("none: {reason}; {consequence}"), advice)
        }
    }]
}

/// Checks the shell, git and the working folder.
pub(super) fn check_project(requested: Option<&Path>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.push(match (find_on_path("bash"), find_on_path("sh")) {
        (Some(bash), _) => Finding::ok("shell", format!("{} runs commands", bash.display())),
        (None, Some(sh)) => {
            let message = format!("{} runs commands, because bash is missing", sh.display());
            Finding::note("shell", message, "install bash: models write bash commands")
        }
        (None, None) => {
            Finding::problem("shell", "neither bash nor sh is on the PATH", "commands cannot run; install bash")
        }
    });
    findings.push(match find_on_path("git") {
        Some(git) => Finding::ok("git", git.display().to_string()),
        None => Finding::note("git", "git is not on the PATH", "install it to be able to undo changes"),
    });
    findings.push(match resolve_folder(requested) {
        Ok(folder) => {
            let branch = current_branch(&folder).map(|branch| format!(", branch {branch}")).unwrap_or_default();
            Finding::ok("project", format!("{}{branch}", folder.display()))
        }
        Err(error) => Finding::problem("project", error.to_string(), "name another folder with -C"),
    });
    findings
}

/// Finds a program on the PATH.
fn find_on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}
