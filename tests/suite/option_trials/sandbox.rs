//! Runs lines in the read-only sandbox, as the program does with commands that run without approval.

use super::evidence::{Effect, RunEvidence, SECONDS, Watch};
use super::scratch::Scratch;
use crate::support::program::program;
use aye::chat::{CommandLine, CommandSandbox, SandboxAccess};
use aye::project::shell::Shell;
use rustix::process::{WaitOptions, getpid, set_child_subreaper, wait};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Limit until the processes of a finished line have ended.
const EXIT_LIMIT: Duration = Duration::from_secs(2);

/// The program's own shell, which runs lines in the read-only sandbox.
pub struct Sandbox {
    shell: Shell,
    runtime: tokio::runtime::Runtime,
}

impl Sandbox {
    /// Makes this process the parent of every process that a line leaves behind. No other test may run in it.
    pub fn new() -> Self {
        set_child_subreaper(Some(getpid())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { shell: Shell::new(program()), runtime }
    }

    /// Runs a line, whether the policy allows it or not, and waits until all its processes have ended.
    pub fn run(&self, scratch: &Scratch, project: &str, text: &str, watch: &Watch) -> RunEvidence {
        // Forget what was opened before this line.
        watch.opened();
        let line = CommandLine {
            command: text.to_owned(),
            folder: scratch.project(project),
            seconds: SECONDS,
            sandbox: CommandSandbox::enforced(SandboxAccess::default()),
            ..CommandLine::default()
        };
        let outcome = self.runtime.block_on(self.shell.run_read_only(&line, runs_git(text), &[], &|_| {}));
        let (outcome, _) = outcome.unwrap_or_else(|error| panic!("{text}: {error}"));
        let left_running = is_process_left();
        RunEvidence {
            output: outcome.output.into_bytes(),
            stopped: outcome.timed_out,
            opened: watch.opened(),
            left_running,
        }
    }
}

/// Returns whether the sandbox opens the repository for this line.
pub fn runs_git(text: &str) -> bool {
    text.contains("git")
}

/// Returns whether this is the one effect that the sandbox cannot prevent: git prints staged content from its own
/// objects, which it may read. Only the project `staged` has a secret there. The policy asks about such a line.
pub fn is_known_leak(project: &str, text: &str, effect: &Effect) -> bool {
    project == "staged" && runs_git(text) && *effect == Effect::Printed("P/keys/server.pem")
}

/// Returns whether a process of the line still runs after the limit.
fn is_process_left() -> bool {
    let deadline = Instant::now() + EXIT_LIMIT;
    loop {
        match wait(WaitOptions::NOHANG) {
            // An ended process was reaped.
            Ok(Some(_)) => {}
            Ok(None) if Instant::now() > deadline => return true,
            Ok(None) => sleep(Duration::from_millis(1)),
            Err(_) => return false,
        }
    }
}
