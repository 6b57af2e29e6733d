//! The machine: versions, the sandbox as it really is, the shell, git and the project's folder.

use super::finding::Finding;
use crate::assemble::{folder, myself, walls};
use crate::chat::{SessionId, Walls};
use crate::config::Shell;
use crate::config::dry_run::Stage;
use crate::project::branch::branch;
use crate::project::sandbox::{self, Kernel, probe};
use crate::project::stage::try_stage;
use crate::store::Places;
use crate::tools::read_only::EXACT;
use std::path::{Path, PathBuf};

/// The program and what it runs on.
pub(super) fn versions() -> Finding {
    let system = rustix::system::uname();
    let (name, release) = (system.sysname().to_string_lossy(), system.release().to_string_lossy());
    let words = format!("aye {} · {name} {release} · {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH);
    Finding::well("version", words)
}

/// What holds commands back: what the settings say, what the kernel can, and what came of trying it.
pub(super) fn sandbox(shell: &Shell, places: &Places) -> Vec<Finding> {
    let area = "sandbox";
    let confined = walls::confined(shell, places);
    let mut found: Vec<Finding> = confined
        .notices
        .iter()
        .map(|notice| Finding::note(area, notice, "make it, or take it out of the settings"))
        .collect();
    let reach = match confined.walls {
        Walls::Unsaid => return found,
        Walls::Absent(why) if !shell.sandbox => {
            let advice = "commands are held back by nothing but your no; leave shell.sandbox out to have it";
            found.push(Finding::note(area, format!("none: {why}"), advice));
            found.push(reads_less());
            return found;
        }
        Walls::Absent(why) => {
            let advice = "commands are held back by nothing but your no, and their cards say so; it takes Linux 6.2 or \
                newer with Landlock among its security modules";
            found.push(Finding::note(area, format!("none: {why}"), advice));
            found.push(reads_less());
            return found;
        }
        Walls::Raised(reach) => reach,
    };
    let tried = tempfile::tempdir().and_then(|inside| {
        let outside = tempfile::tempdir()?;
        let real = (inside.path().canonicalize()?, outside.path().canonicalize()?);
        Ok(probe::try_walls(&myself(), &real.0, &real.1))
    });
    let (landlock, signals) = match sandbox::kernel() {
        Kernel::Able { landlock, signals } => (landlock, signals),
        Kernel::Unable(_) => (0, false),
    };
    let network = match (reach.network, shell.network == crate::config::Network::Off) {
        (true, _) => "on for every command",
        (false, true) => "off, whatever is asked",
        (false, false) => "off unless you say yes to it",
    };
    let write: Vec<String> = reach.write.iter().map(|place| place.display().to_string()).collect();
    let write = if write.is_empty() { String::new() } else { format!(", {}", write.join(", ")) };
    let means = format!("commands write in the project{write}; network {network}");
    match tried {
        Err(error) => {
            let words = format!("it could not be tried, since no temporary folder can be made: {error}");
            found.push(Finding::wrong(
                area,
                words,
                "make room, or set TMPDIR to a folder that can be written",
            ));
        }
        Ok(None) => {
            let words = "the kernel has it, but it could not be raised";
            let advice =
                "no command is run like this: a container may forbid it; shell.sandbox = false does without";
            found.push(Finding::wrong(area, words, advice));
        }
        Ok(Some(wrong)) => {
            let known = |tried: &probe::Tried| *tried == probe::Tried::Signals && !signals;
            let (old, wrong): (Vec<_>, Vec<_>) = wrong.into_iter().partition(known);
            if wrong.is_empty() {
                let words = format!("Landlock {landlock} and seccomp, raised and tried: {means}");
                found.push(Finding::well(area, words));
            }
            found.extend(wrong.iter().map(|tried| {
                Finding::wrong(
                    area,
                    tried.words(),
                    "rely on the cards alone, and report this with the kernel's version",
                )
            }));
            found.extend(old.iter().map(|_| {
                let words = "a command can end other programs of yours, aye among them";
                Finding::note(area, words, "Linux 6.12 or newer holds that back too")
            }));
        }
    }
    found.push(read_only());
    if reach.sockets {
        let advice =
            "leave shell.sockets out unless you need it: Docker or the session bus do anything for a command";
        found.push(Finding::note(area, "commands may talk to other programs through their sockets", advice));
    }
    found
}

/// The sandbox of commands that run without approval, tried.
fn read_only() -> Finding {
    let area = "sandbox";
    let tried = tempfile::tempdir().ok().and_then(|folder| {
        let real = folder.path().canonicalize().ok()?;
        probe::try_read_only(&myself(), &real)
    });
    let advice =
        "set approval for every command with a rule that asks, and report this with the kernel's version";
    match tried.as_deref() {
        Some([]) => Finding::well(
            area,
            "read-only for commands without approval, raised and tried: they read the project except sensitive files, and write nothing",
        ),
        Some([tried, ..]) => Finding::wrong(area, format!("read-only: {}", tried.words()), advice),
        None => Finding::wrong(
            area,
            "the read-only sandbox could not be raised",
            "commands without approval do not run like this: a container may forbid it; shell.sandbox = false does without",
        ),
    }
}

/// What runs without approval if there is no sandbox.
fn reads_less() -> Finding {
    let words = format!("without approval run only: {}", EXACT.join(" · "));
    Finding::note("sandbox", words, "every other command asks, those that only read too")
}

/// Whether the commands of a dry run run, tried over the folder that would be worked in.
pub(super) fn stage(stage: Stage, named: Option<&Path>, places: &Places) -> Vec<Finding> {
    let area = "stage";
    // A folder that is not there is told of elsewhere.
    let Ok(folder) = folder(named) else { return Vec::new() };
    let told = "commands of a dry run do not run; what comes of them is an example, or made up as said below";
    if stage == Stage::Off {
        let words = format!("none: dry_run.stage is \"off\" in the settings; {told}");
        return vec![Finding::note(area, words, "leave dry_run.stage out to have it")];
    }
    let layer = places.rehearsal(&SessionId("trial".to_owned()));
    vec![match try_stage(&myself(), &folder, layer.parent().unwrap_or(&layer)) {
        Ok(()) => Finding::well(
            area,
            "set up and tried: commands of a dry run run over its layer, and nowhere else",
        ),
        Err(why) => {
            let advice =
                "it takes Linux 5.12 or newer, and root or a system that lets a user make namespaces";
            Finding::note(area, format!("none: {why}; {told}"), advice)
        }
    }]
}

/// The shell, git, and the folder that would be worked in.
pub(super) fn project(named: Option<&Path>) -> Vec<Finding> {
    let mut found = Vec::new();
    found.push(match (on_path("bash"), on_path("sh")) {
        (Some(bash), _) => Finding::well("shell", format!("{} runs commands", bash.display())),
        (None, Some(sh)) => {
            let words = format!("{} runs commands, since there is no bash", sh.display());
            Finding::note("shell", words, "install bash: models write for it")
        }
        (None, None) => Finding::wrong(
            "shell",
            "there is neither bash nor sh on the PATH",
            "no command can be run like this",
        ),
    });
    found.push(match on_path("git") {
        Some(git) => Finding::well("git", git.display().to_string()),
        None => Finding::note("git", "there is no git on the PATH", "install it to undo what goes wrong"),
    });
    found.push(match folder(named) {
        Ok(folder) => {
            let branch = branch(&folder).map(|branch| format!(", branch {branch}")).unwrap_or_default();
            Finding::well("project", format!("{}{branch}", folder.display()))
        }
        Err(error) => Finding::wrong("project", error.to_string(), "name another folder with -C"),
    });
    found
}

/// The first program of this name that would be found.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}
