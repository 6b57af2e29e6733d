//! How much runs without asking: fixed by the person, outside any card.

use super::Subject;
use crate::chat::sensitive::is_system_file;
use crate::chat::{Access, Plan, Reach, Run};
use serde::{Deserialize, Serialize};

/// How much runs without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Reading inside the project runs; everything else is refused.
    Plan,
    /// Reading inside the project runs; everything else asks.
    #[default]
    Ask,
    /// Changing files of the project runs too.
    Auto,
    /// Commands run too. What may hold secrets, what can reach the network and what cannot be taken back outside the
    /// project still asks, and what is never done is not done.
    Full,
}

impl Mode {
    /// Every one, from the narrowest to the widest.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Auto, Self::Full];

    /// The one that a person's key changes to from here. A key that is pressed by mistake never widens it beyond asking.
    pub fn next(self) -> Self {
        match self {
            Self::Plan => Self::Ask,
            Self::Ask | Self::Auto | Self::Full => Self::Plan,
        }
    }

    /// Its one word, as it is written in the settings and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Full => "full",
        }
    }

    /// What it means, in a few words for the person.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Plan => "the project is read, nothing is changed or run",
            Self::Ask => "reading runs, everything else asks you",
            Self::Auto => "reading and changing files, the rest asks",
            Self::Full => "all runs but what cannot be taken back",
        }
    }

    /// Whether less is asked than by default.
    pub fn is_wide(self) -> bool {
        match self {
            Self::Plan | Self::Ask => false,
            Self::Auto | Self::Full => true,
        }
    }

    /// Whether a plan goes ahead in this mode that does more than read. What destroys something asks in auto, and in full
    /// if that is not plainly inside the project. What may hold secrets asks in every mode.
    pub(super) fn lets_through(self, plan: &Plan, of: &Subject<'_>) -> bool {
        let full = self == Self::Full;
        let whole = plan.destroys.is_none();
        match &plan.access {
            Access::Nothing | Access::Read(_) => true,
            Access::ReadSensitive(path) => full && is_system_file(path),
            Access::Write(_) => full || (self == Self::Auto && whole),
            Access::WriteOutside(_) | Access::Own(_) => false,
            Access::Run(run) if run.sensitive => false,
            Access::Run(run) => match run.reach {
                Reach::Reads | Reach::Writes => full || (self == Self::Auto && whole),
                Reach::Runs => full && !can_reach_network(run, of),
                Reach::Outside | Reach::Unclear | Reach::Never => false,
            },
        }
    }

    /// Why a command asks in full mode that would run but for this, in words that follow “because”.
    pub(super) fn why_asked(self, run: &Run, of: &Subject<'_>) -> Option<String> {
        if self != Self::Full || matches!(run.reach, Reach::Outside | Reach::Unclear | Reach::Never) {
            return None;
        }
        if run.sensitive {
            return Some("it may read secrets".to_owned());
        }
        can_reach_network(run, of).then(|| "it can reach the network".to_owned())
    }
}

/// Whether nothing keeps a command off the network: no sandbox does, and one of its programs is not known to stay local.
fn can_reach_network(run: &Run, of: &Subject<'_>) -> bool {
    !run.walls.is_offline() && !of.stays_local()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{By, Standing};
    use crate::chat::{CommandLine, Grant, Openings, Run, Scope, Walls};
    use crate::policy::Rules;
    use crate::policy::tests::plan;
    use crate::policy::{Policy, judge};

    /// A command within a sandbox that keeps it off the network.
    fn run(reach: Reach) -> Access {
        runs("x", reach, Walls::raised(Openings::default()), false)
    }

    fn runs(command: &str, reach: Reach, walls: Walls, sensitive: bool) -> Access {
        let line = CommandLine {
            command: command.into(),
            folder: "/p".into(),
            seconds: 30,
            walls,
            ..CommandLine::default()
        };
        Access::Run(Run {
            line: Box::new(line),
            reach,
            why: "of this".into(),
            sensitive,
            discloses: sensitive,
            named_secrets: Vec::new(),
        })
    }

    #[test]
    fn r20_what_may_read_secrets_or_reach_the_network_asks_in_full_mode() {
        let offline = || Walls::raised(Openings::default());
        let online = || Walls::raised(Openings { network: true, ..Openings::default() });
        let sockets = || Walls::raised(Openings { sockets: true, ..Openings::default() });
        let absent = || Walls::Absent("it is off".into());
        for (command, reach, walls, sensitive, expected, why) in [
            ("x", Reach::Runs, offline(), false, "allow", "full mode"),
            ("x", Reach::Runs, offline(), true, "ask", "of this; it may read secrets"),
            ("cat a", Reach::Writes, offline(), true, "ask", "of this; it may read secrets"),
            ("x", Reach::Runs, online(), false, "ask", "of this; it can reach the network"),
            ("x", Reach::Runs, sockets(), false, "ask", "of this; it can reach the network"),
            ("x", Reach::Runs, absent(), false, "ask", "of this; it can reach the network"),
            ("x", Reach::Runs, Walls::Unsaid, false, "ask", "it can reach the network"),
            ("touch a && mkdir b", Reach::Runs, absent(), false, "allow", "full mode"),
            ("rm a", Reach::Runs, absent(), false, "allow", "full mode"),
            ("cp a b; cat b", Reach::Runs, absent(), false, "allow", "full mode"),
            ("touch a; x", Reach::Runs, absent(), false, "ask", "it can reach the network"),
            ("./touch a", Reach::Runs, absent(), false, "ask", "it can reach the network"),
            ("LD_PRELOAD=./x touch a", Reach::Runs, absent(), false, "ask", "it can reach the network"),
            ("touch a &", Reach::Runs, absent(), false, "ask", "it can reach the network"),
            ("f() { x; }; f", Reach::Runs, absent(), false, "ask", "it can reach the network"),
            ("git commit -m x", Reach::Runs, absent(), false, "ask", "it can reach the network"),
            ("x", Reach::Outside, absent(), true, "ask", "of this"),
        ] {
            let plan = plan(runs(command, reach, walls.clone(), sensitive), false);
            let full = Policy { mode: Mode::Full, ..Policy::default() };
            let verdict = judge(&full, &[], &Rules::default(), "t", &plan);
            assert_eq!(verdict.word(), expected, "{command} {walls:?}: {verdict:?}");
            assert!(verdict.why().ends_with(why), "{command} {walls:?}: {verdict:?}");
        }
    }

    #[test]
    fn r20_the_table_of_all_four_modes() {
        for (access, destroys, expected) in [
            (Access::Nothing, false, ["allow"; 4]),
            (Access::Read(vec!["a".into()]), false, ["allow"; 4]),
            (Access::ReadSensitive("/etc/passwd".into()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::ReadSensitive(".env".into()), false, ["refuse", "ask", "ask", "ask"]),
            (Access::ReadSensitive("/usr/include/a.h".into()), false, ["refuse", "ask", "ask", "allow"]),
            (Access::Own("/moved/config/config.toml".into()), false, ["refuse"; 4]),
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
            (run(Reach::Never), false, ["refuse"; 4]),
            (Access::Write(".aye/rules.toml".into()), false, ["refuse"; 4]),
            (Access::WriteOutside("/home/x/.config/aye/config.toml".into()), false, ["refuse"; 4]),
        ] {
            let plan = plan(access, destroys);
            let found = Mode::ALL.map(|mode| {
                judge(&Policy { mode, ..Policy::default() }, &[], &Rules::default(), "t", &plan).word()
            });
            assert_eq!(found, expected, "{:?} {destroys}", plan.access);
            let dry = Mode::ALL.map(|mode| {
                judge(
                    &Policy { mode, dry_run: true, ..Policy::default() },
                    &[],
                    &Rules::default(),
                    "t",
                    &plan,
                )
                .word()
            });
            let reads = matches!(plan.access, Access::Nothing | Access::Read(_));
            let at_most = if reads {
                "allow"
            } else if expected == ["refuse"; 4] {
                "refuse"
            } else if matches!(plan.access, Access::ReadSensitive(_)) {
                // Of these only what is no secret is read, where it is read live.
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
    fn r14_no_grant_lifts_what_is_never_done() {
        let scope = Scope::Command { command: "x".into(), folder: "/p".into(), network: false };
        let (grant, call, by) = (Grant::new("t", scope), "c".into(), By::Nobody);
        let granted = [Standing { grant, entry: 0, number: 1, call, by }];
        let said =
            |reach| judge(&Policy::default(), &granted, &Rules::default(), "t", &plan(run(reach), false));
        assert_eq!(said(Reach::Runs).word(), "allow");
        assert!(said(Reach::Never).why().contains("in every mode and whatever was allowed: of this"));
    }

    #[test]
    fn r20_the_key_never_leads_to_less_asking() {
        assert_eq!(Mode::ALL.map(Mode::next), [Mode::Ask, Mode::Plan, Mode::Plan, Mode::Plan]);
        assert!(Mode::ALL.into_iter().all(|mode| !mode.next().is_wide()));
        assert_eq!(Mode::default(), Mode::Ask);
    }
}
