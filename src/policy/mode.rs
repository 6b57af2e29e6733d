//! Permission modes: how much runs without approval. Only the user sets them, never from a prompt.

use super::Subject;
use crate::chat::sensitive_paths::is_system_file;
use crate::chat::{Access, CommandAccess, Plan, Reach};
use serde::{Deserialize, Serialize};

/// Permission mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Reads inside the project run; everything else is refused.
    Plan,
    /// Reads inside the project run; everything else asks.
    #[default]
    Ask,
    /// Edits by file tools run too; commands run if a trial shows that their effects are harmless.
    Auto,
    /// Commands run too. Possible reads of secrets, network access and irreversible actions outside the project still
    /// ask. Calls that are never allowed are still refused.
    Full,
}

impl Mode {
    /// All modes, narrowest first.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Auto, Self::Full];

    /// Returns the mode that the mode key switches to. It never asks less than the default mode, because the key may be
    /// pressed by mistake.
    pub fn next_by_key(self) -> Self {
        match self {
            Self::Plan => Self::Ask,
            Self::Ask | Self::Auto | Self::Full => Self::Plan,
        }
    }

    /// Returns the name used in the settings and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Full => "full",
        }
    }

    /// Returns a short description for the user.
    pub fn description(self) -> &'static str {
        match self {
            Self::Plan => "reads only, nothing is changed or run",
            Self::Ask => "reads run without approval, everything else asks",
            Self::Auto => "edits run; commands are tried, harmless effects kept",
            Self::Full => "everything except irreversible actions",
        }
    }

    /// Returns whether this mode asks less than the default.
    pub fn is_wide(self) -> bool {
        match self {
            Self::Plan | Self::Ask => false,
            Self::Auto | Self::Full => true,
        }
    }

    /// Returns whether this mode allows a plan that does more than read inside the project. Destructive calls ask in
    /// `auto`, and in `full` unless they are clearly inside the project. Possible reads of secrets ask in every mode.
    pub(super) fn allows_plan(self, plan: &Plan, subject: &Subject<'_>) -> bool {
        let is_full = self == Self::Full;
        let is_nondestructive = plan.destroys.is_none();
        match &plan.access {
            Access::Nothing | Access::Read(_) => true,
            Access::ReadSensitive(path) => is_full && is_system_file(path),
            Access::Write(_) => is_full || (self == Self::Auto && is_nondestructive),
            Access::WriteOutside(_) | Access::AyeFiles(_) | Access::Fetch(_) | Access::External(_) => false,
            Access::Background(_) => self.is_wide(),
            Access::Workspace(access) => {
                !access.changes || access.session.is_none() && self.is_wide() && (is_full || is_nondestructive)
            }
            Access::Run(run) if run.is_sensitive => false,
            Access::Run(run) => match run.reach {
                Reach::Reads => is_full || (self == Self::Auto && is_nondestructive),
                // In `auto` the effects decide, not the words.
                Reach::Writes => is_full,
                Reach::Runs => is_full && !can_reach_network(run, subject),
                Reach::Outside | Reach::Unclear | Reach::Denied => false,
            },
        }
    }

    /// Returns the reason why a command asks in `full` mode. `None` in another mode, or if it asks for another
    /// reason than secrets and network access.
    pub(super) fn full_mode_reason(self, run: &CommandAccess, subject: &Subject<'_>) -> Option<String> {
        if self != Self::Full || matches!(run.reach, Reach::Outside | Reach::Unclear | Reach::Denied) {
            return None;
        }
        if run.is_sensitive {
            return Some("possible read of secrets".to_owned());
        }
        can_reach_network(run, subject).then(|| "network access".to_owned())
    }
}

/// Returns whether a command may have network access: no sandbox prevents it, and a program of it is not known to stay
/// local.
fn can_reach_network(run: &CommandAccess, subject: &Subject<'_>) -> bool {
    !run.sandbox.is_offline() && !subject.stays_local()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CommandAccess, CommandLine, CommandSandbox, Grant, GrantScope, SandboxAccess};
    use crate::chat::{Decider, SessionGrant};
    use crate::policy::Rules;
    // The second argument of `plan` is true for a call that destroys something.
    use crate::policy::tests::{plan, workspace_access};
    use crate::policy::{Policy, judge_plan};

    /// A command in a sandbox without network access.
    fn sandboxed_command(reach: Reach) -> Access {
        let is_sensitive = false;
        command_access("x", reach, CommandSandbox::enforced(SandboxAccess::default()), is_sensitive)
    }

    /// A command in this sandbox. With `is_sensitive` it may read secrets.
    fn command_access(command: &str, reach: Reach, sandbox: CommandSandbox, is_sensitive: bool) -> Access {
        let line = CommandLine {
            command: command.into(),
            folder: "/p".into(),
            seconds: 30,
            sandbox,
            ..CommandLine::default()
        };
        Access::Run(CommandAccess {
            line: Box::new(line),
            reach,
            reason: "of this".into(),
            is_sensitive,
            may_disclose: is_sensitive,
            named_secrets: Vec::new(),
        })
    }

    #[test]
    fn r20_full_mode_asks_for_secrets_and_network() {
        let offline = || CommandSandbox::enforced(SandboxAccess::default());
        let online = || CommandSandbox::enforced(SandboxAccess { network: true, ..SandboxAccess::default() });
        let sockets = || CommandSandbox::enforced(SandboxAccess { sockets: true, ..SandboxAccess::default() });
        let absent = || CommandSandbox::Unavailable("it is off".into());
        for (command, reach, sandbox, is_sensitive, expected, why) in [
            ("x", Reach::Runs, offline(), false, "allow", "full mode"),
            ("x", Reach::Runs, offline(), true, "ask", "of this; possible read of secrets"),
            ("cat a", Reach::Writes, offline(), true, "ask", "of this; possible read of secrets"),
            ("x", Reach::Runs, online(), false, "ask", "of this; network access"),
            ("x", Reach::Runs, sockets(), false, "ask", "of this; network access"),
            ("x", Reach::Runs, absent(), false, "ask", "of this; network access"),
            ("x", Reach::Runs, CommandSandbox::Unspecified, false, "ask", "network access"),
            ("touch a && mkdir b", Reach::Runs, absent(), false, "allow", "full mode"),
            ("rm a", Reach::Runs, absent(), false, "allow", "full mode"),
            ("cp a b; cat b", Reach::Runs, absent(), false, "allow", "full mode"),
            ("touch a; x", Reach::Runs, absent(), false, "ask", "network access"),
            ("./touch a", Reach::Runs, absent(), false, "ask", "network access"),
            ("LD_PRELOAD=./x touch a", Reach::Runs, absent(), false, "ask", "network access"),
            ("touch a &", Reach::Runs, absent(), false, "ask", "network access"),
            ("f() { x; }; f", Reach::Runs, absent(), false, "ask", "network access"),
            ("git commit -m x", Reach::Runs, absent(), false, "ask", "network access"),
            ("x", Reach::Outside, absent(), true, "ask", "of this"),
        ] {
            let plan = plan(command_access(command, reach, sandbox.clone(), is_sensitive), false);
            let full = Policy { mode: Mode::Full, ..Policy::default() };
            let verdict = judge_plan(&full, &[], &Rules::default(), "t", &plan);
            assert_eq!(verdict.as_str(), expected, "{command} {sandbox:?}: {verdict:?}");
            assert!(verdict.reason().ends_with(why), "{command} {sandbox:?}: {verdict:?}");
        }
    }

    #[test]
    fn r20_judges_each_access_in_all_modes() {
        for (access, destroys, expected) in [
            (Access::Nothing, false, ["allow"; 4]),
            (Access::Read(vec!["a".into()]), false, ["allow"; 4]),
            (Access::ReadSensitive("/etc/passwd".into()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::ReadSensitive(".env".into()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::ReadSensitive("/usr/include/a.h".into()), false, ["refuse", "ask", "ask", "allow"]),
            (Access::AyeFiles("/moved/config/config.toml".into()), false, ["refuse"; 4]),
            (Access::Write("a".into()), false, ["refuse", "ask", "allow", "allow"]),
            (Access::Background(1), false, ["refuse", "ask", "allow", "allow"]),
            (workspace_access(false, None), false, ["allow"; 4]),
            (workspace_access(false, Some("01A")), false, ["allow"; 4]),
            (workspace_access(true, None), false, ["refuse", "ask", "allow", "allow"]),
            (workspace_access(true, Some("01A")), false, ["refuse", "ask", "ask", "ask"]),
            (Access::Write("a".into()), true, ["refuse", "ask", "ask", "allow"]),
            (Access::WriteOutside("/a".into()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::Fetch(Box::default()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::External(Box::default()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::WriteOutside(".git/config".into()), false, ["refuse", "ask", "ask", "ask"]),
            (sandboxed_command(Reach::Writes), false, ["refuse", "ask", "ask", "allow"]),
            (sandboxed_command(Reach::Writes), true, ["refuse", "ask", "ask", "allow"]),
            (sandboxed_command(Reach::Runs), false, ["refuse", "ask", "ask", "allow"]),
            (sandboxed_command(Reach::Runs), true, ["refuse", "ask", "ask", "allow"]),
            (sandboxed_command(Reach::Outside), false, ["refuse", "ask", "ask", "ask"]),
            (sandboxed_command(Reach::Unclear), false, ["refuse", "ask", "ask", "ask"]),
            (sandboxed_command(Reach::Denied), false, ["refuse"; 4]),
            (Access::Write(".aye/rules.toml".into()), false, ["refuse"; 4]),
            (Access::WriteOutside("/home/x/.config/aye/config.toml".into()), false, ["refuse"; 4]),
        ] {
            let plan = plan(access, destroys);
            let verdicts = Mode::ALL.map(|mode| {
                judge_plan(&Policy { mode, ..Policy::default() }, &[], &Rules::default(), "t", &plan).as_str()
            });
            assert_eq!(verdicts, expected, "{:?} {destroys}", plan.access);
            let dry_verdicts = Mode::ALL.map(|mode| {
                judge_plan(&Policy { mode, dry_run: true, ..Policy::default() }, &[], &Rules::default(), "t", &plan)
                    .as_str()
            });
            let is_read = plan.access.is_inside_read();
            let expected_dry = if is_read {
                "allow"
            } else if expected == ["refuse"; 4] {
                "refuse"
            } else if matches!(plan.access, Access::ReadSensitive(_)) {
                // A dry run withholds possible secrets. `full` mode, at index 3, is not checked if it allows the read
                // live (system files without secrets).
                let end = if expected[3] == "allow" { 3 } else { 4 };
                assert!(dry_verdicts[1..end].iter().all(|verdict| *verdict == "withhold"), "{:?}", plan.access);
                continue;
            } else {
                "rehearse"
            };
            // Plan mode, at index 0, may refuse the call.
            assert_eq!(dry_verdicts[1..], [expected_dry; 3], "no mode makes a dry run live: {:?}", plan.access);
        }
    }

    #[test]
    fn r14_grants_do_not_lift_refusals() {
        let scope = GrantScope::Command { command: "x".into(), folder: "/p".into(), network: false };
        let (grant, call, by) = (Grant::new("t", scope), "c".into(), Decider::Headless);
        let granted = [SessionGrant { grant, entry_index: 0, call_number: 1, call, by }];
        let judge_reach = |reach| {
            judge_plan(&Policy::default(), &granted, &Rules::default(), "t", &plan(sandboxed_command(reach), false))
        };
        assert_eq!(judge_reach(Reach::Runs).as_str(), "allow");
        assert!(judge_reach(Reach::Denied).reason().contains("Refused in every mode: of this"));
    }

    #[test]
    fn r20_mode_key_never_widens_permissions() {
        assert_eq!(Mode::ALL.map(Mode::next_by_key), [Mode::Ask, Mode::Plan, Mode::Plan, Mode::Plan]);
        assert!(Mode::ALL.into_iter().all(|mode| !mode.next_by_key().is_wide()));
        assert_eq!(Mode::default(), Mode::Ask);
    }
}
