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
    /// Changes to files of the project run too.
    Auto,
    /// Commands run too. Possible reads of secrets, network access and irreversible actions outside the project still
    /// ask. Calls that are never allowed are still refused.
    Full,
}

impl Mode {
    /// All modes, narrowest first.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Auto, Self::Full];

    /// Returns the mode that the mode key switches to. It never leads to less asking than the default, in case of a
    /// mistyped key.
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
            Self::Auto => "reads and edits run, the rest asks",
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
    pub(super) fn allows_plan(self, plan: &Plan, of: &Subject<'_>) -> bool {
        let full = self == Self::Full;
        let whole = plan.destroys.is_none();
        match &plan.access {
            Access::Nothing | Access::Read(_) => true,
            Access::ReadSensitive(path) => full && is_system_file(path),
            Access::Write(_) => full || (self == Self::Auto && whole),
            Access::WriteOutside(_) | Access::AyeFiles(_) => false,
            Access::Run(run) if run.is_sensitive => false,
            Access::Run(run) => match run.reach {
                Reach::Reads | Reach::Writes => full || (self == Self::Auto && whole),
                Reach::Runs => full && !can_reach_network(run, of),
                Reach::Outside | Reach::Unclear | Reach::Denied => false,
            },
        }
    }

    /// Returns why a command that `full` mode would otherwise allow asks.
    pub(super) fn full_mode_reason(self, run: &CommandAccess, of: &Subject<'_>) -> Option<String> {
        if self != Self::Full || matches!(run.reach, Reach::Outside | Reach::Unclear | Reach::Denied) {
            return None;
        }
        if run.is_sensitive {
            return Some("possible read of secrets".to_owned());
        }
        can_reach_network(run, of).then(|| "network access".to_owned())
    }
}

/// Returns whether a command may have network access: no sandbox prevents it, and a program of it is not known to stay
/// local.
fn can_reach_network(run: &CommandAccess, of: &Subject<'_>) -> bool {
    !run.sandbox.is_offline() && !of.stays_local()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CommandAccess, CommandLine, CommandSandbox, Grant, GrantScope, SandboxAccess};
    use crate::chat::{Decider, SessionGrant};
    use crate::policy::Rules;
    use crate::policy::tests::plan;
    use crate::policy::{Policy, judge_plan};

    /// A command in a sandbox without network access.
    fn run(reach: Reach) -> Access {
        runs("x", reach, CommandSandbox::enforced(SandboxAccess::default()), false)
    }

    fn runs(command: &str, reach: Reach, walls: CommandSandbox, sensitive: bool) -> Access {
        let line = CommandLine {
            command: command.into(),
            folder: "/p".into(),
            seconds: 30,
            sandbox: walls,
            ..CommandLine::default()
        };
        Access::Run(CommandAccess {
            line: Box::new(line),
            reach,
            reason: "of this".into(),
            is_sensitive: sensitive,
            may_disclose: sensitive,
            named_secrets: Vec::new(),
        })
    }

    #[test]
    fn r20_full_mode_asks_for_secrets_and_network() {
        let offline = || CommandSandbox::enforced(SandboxAccess::default());
        let online = || CommandSandbox::enforced(SandboxAccess { network: true, ..SandboxAccess::default() });
        let sockets = || CommandSandbox::enforced(SandboxAccess { sockets: true, ..SandboxAccess::default() });
        let absent = || CommandSandbox::Unavailable("it is off".into());
        for (command, reach, walls, sensitive, expected, why) in [
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
            let plan = plan(runs(command, reach, walls.clone(), sensitive), false);
            let full = Policy { mode: Mode::Full, ..Policy::default() };
            let verdict = judge_plan(&full, &[], &Rules::default(), "t", &plan);
            assert_eq!(verdict.as_str(), expected, "{command} {walls:?}: {verdict:?}");
            assert!(verdict.reason().ends_with(why), "{command} {walls:?}: {verdict:?}");
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
            (Access::Write("a".into()), true, ["refuse", "ask", "ask", "allow"]),
            (Access::WriteOutside("/a".into()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::WriteOutside(".git/config".into()), false, ["refuse", "ask", "ask", "ask"]),
            (run(Reach::Writes), false, ["refuse", "ask", "allow", "allow"]),
            (run(Reach::Writes), true, ["refuse", "ask", "ask", "allow"]),
            (run(Reach::Runs), false, ["refuse", "ask", "ask", "allow"]),
            (run(Reach::Runs), true, ["refuse", "ask", "ask", "allow"]),
            (run(Reach::Outside), false, ["refuse", "ask", "ask", "ask"]),
            (run(Reach::Unclear), false, ["refuse", "ask", "ask", "ask"]),
            (run(Reach::Denied), false, ["refuse"; 4]),
            (Access::Write(".aye/rules.toml".into()), false, ["refuse"; 4]),
            (Access::WriteOutside("/home/x/.config/aye/config.toml".into()), false, ["refuse"; 4]),
        ] {
            let plan = plan(access, destroys);
            let found = Mode::ALL.map(|mode| {
                judge_plan(&Policy { mode, ..Policy::default() }, &[], &Rules::default(), "t", &plan).as_str()
            });
            assert_eq!(found, expected, "{:?} {destroys}", plan.access);
            let dry = Mode::ALL.map(|mode| {
                judge_plan(&Policy { mode, dry_run: true, ..Policy::default() }, &[], &Rules::default(), "t", &plan)
                    .as_str()
            });
            let reads = matches!(plan.access, Access::Nothing | Access::Read(_));
            let at_most = if reads {
                "allow"
            } else if expected == ["refuse"; 4] {
                "refuse"
            } else if matches!(plan.access, Access::ReadSensitive(_)) {
                // Of these only system files without secrets are readable live, in full mode.
                let mut dry = dry;
                dry[3] = if expected[3] == "allow" { "withhold" } else { dry[3] };
                assert_eq!(dry[1..], ["withhold"; 3], "{:?}", plan.access);
                continue;
            } else {
                "rehearse"
            };
            assert_eq!(dry[1..], [at_most; 3], "no mode leaves a dry run: {:?}", plan.access);
        }
    }

    #[test]
    fn r14_grants_do_not_lift_refusals() {
        let scope = GrantScope::Command { command: "x".into(), folder: "/p".into(), network: false };
        let (grant, call, by) = (Grant::new("t", scope), "c".into(), Decider::Headless);
        let granted = [SessionGrant { grant, entry_index: 0, call_number: 1, call, by }];
        let said = |reach| judge_plan(&Policy::default(), &granted, &Rules::default(), "t", &plan(run(reach), false));
        assert_eq!(said(Reach::Runs).as_str(), "allow");
        assert!(said(Reach::Denied).reason().contains("Refused in every mode: of this"));
    }

    #[test]
    fn r20_mode_key_never_widens_permissions() {
        assert_eq!(Mode::ALL.map(Mode::next_by_key), [Mode::Ask, Mode::Plan, Mode::Plan, Mode::Plan]);
        assert!(Mode::ALL.into_iter().all(|mode| !mode.next_by_key().is_wide()));
        assert_eq!(Mode::default(), Mode::Ask);
    }
}
