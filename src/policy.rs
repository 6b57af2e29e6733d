//! Verdict on a planned call: allow, ask, deny, rehearse or withhold. Judging has no side effects.

mod chain_coverage;
mod chain_limits;
pub mod chains;
pub mod command_line;
mod coverage;
mod coverage_gaps;
mod dry_run;
pub mod effects;
mod excluded_paths;
mod exec_options;
mod explanation;
pub mod glob;
pub mod grammar;
mod grant_edit;
mod grant_scopes;
mod mode;
mod named_paths;
mod neutral_wrappers;
pub mod rule;
mod step_folders;
mod subject;
mod targets;
mod trial_effects;
mod verdict;
mod wide_prefixes;

pub use chain_coverage::{
    chain_is_covered, grant_allows_some_part, grant_covers, is_allowed_in_parts, rule_allows_some_part,
};
pub use chain_limits::{has_known_words_or_patterns, is_builtin, is_plain_reader, prints_by_script, reads_only_input};
pub use dry_run::may_disclose;
pub use excluded_paths::ExcludedPaths;
pub use explanation::{ExplainedCheck, explain_verdict};
pub use grant_edit::{edit_scope, editable_scope, needs_shell};
pub use grant_scopes::{WITH_INPUT, can_be_rule, example_call, explain_no_scopes, grant_scopes, grant_scopes_beside};
pub use mode::Mode;
pub use rule::{DisabledRule, Rule, RuleEffect, RuleLocation, RuleScope, RuleTarget, Rules};
pub use subject::Subject;
pub use trial_effects::{is_tried_first, judge_trial};
pub use verdict::{Policy, Verdict, Withheld};
pub use wide_prefixes::{explain_too_wide, runs_its_arguments};

use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::{Access, Plan, Reach, SessionGrant};
use crate::text::escaped_path::escape_path;
use rule::asking_reason;

/// Judges a plan. The first match in this order wins:
///
/// 1. calls that are never allowed are denied;
/// 2. a rule that denies;
/// 3. calls without effects are allowed; reads inside the project are allowed, or ask if step 5 applies to them;
/// 4. plan mode denies;
/// 5. a rule that asks, or an unreadable rules file that may contain one;
/// 6. a call that concerns a file with several hard links asks;
/// 7. a grant of this session;
/// 8. a rule that allows;
/// 9. the permission mode;
/// 10. everything else asks.
///
/// In a dry run the verdicts `allow` and `ask` become `rehearse` with the live verdict in the reason, or `withhold` if
/// the call would send data to the model that needs approval.
pub fn judge_plan(policy: &Policy, grants: &[SessionGrant], rules: &Rules, tool: &str, plan: &Plan) -> Verdict {
    if let Some(why) = refusal_reason(&plan.access) {
        return Verdict::Deny(format!(
            "Refused in every mode: {why}. Do not retry it in another form; tell the user what they can run themselves."
        ));
    }
    let subject = Subject::from_plan(tool, plan);
    if let Some(rule) = rules.first_matching(RuleEffect::Deny, &subject) {
        return Verdict::Deny(format!(
            "Refused by a rule of the user: {}. Do not retry it in another form; report what you would have done.",
            rule.describe_with_location()
        ));
    }
    let ask_reason = asking_reason(rules, &subject);
    let apply_dry_run = |live_verdict| dry_run::dry_run_verdict(policy, grants, rules, &subject, plan, live_verdict);
    match (&plan.access, &ask_reason) {
        (Access::Nothing, _) => return Verdict::Allow("no effects".to_owned()),
        (Access::Read(_), None) => return Verdict::Allow("read inside the project".to_owned()),
        (Access::Read(_), Some(why)) => return apply_dry_run(Verdict::Ask(why.clone())),
        (Access::Workspace(access), None) if !access.changes => {
            return Verdict::Allow("read of a workspace".to_owned());
        }
        (Access::Workspace(access), Some(why)) if !access.changes => return apply_dry_run(Verdict::Ask(why.clone())),
        _ => {}
    }
    if policy.mode == Mode::Plan {
        return Verdict::Deny(
            "Refused: plan mode allows only reading inside the project. Describe what you would do instead.".to_owned(),
        );
    }
    apply_dry_run(judge_live(policy, grants, rules, &subject, plan, ask_reason))
}

/// Returns the live verdict on a call that is neither denied nor without effects.
fn judge_live(
    policy: &Policy,
    grants: &[SessionGrant],
    rules: &Rules,
    subject: &Subject<'_>,
    plan: &Plan,
    ask_reason: Option<String>,
) -> Verdict {
    if let Some(why) = ask_reason {
        return Verdict::Ask(why);
    }
    if let Some(links) = &plan.preconditions.hard_links {
        let name_note = match plan.access {
            Access::Run(_) => "its other names, possibly outside the project, change too",
            _ => "its other names keep the old content",
        };
        return Verdict::Ask(format!("{}: {name_note}", coverage::describe_hard_links(links)));
    }
    if let Some(session_grant) = grants.iter().find(|session_grant| grant_covers(&session_grant.grant, subject)) {
        return Verdict::Allow(format!("allowed {}", session_grant.describe_origin()));
    }
    if let Some(rule) = rules.first_matching(RuleEffect::Allow, subject) {
        return Verdict::Allow(rule.reason(&rules.today));
    }
    let approvals = chain_coverage::Approvals { grants, rules };
    if let Some(reason) = chain_coverage::explain_allowed_chain(approvals, subject) {
        return Verdict::Allow(reason);
    }
    if let Some(secret_rules) = coverage_gaps::rules_for_named_secrets(rules, subject) {
        let descriptions: Vec<String> = secret_rules.iter().map(|rule| rule.describe_with_location()).collect();
        return Verdict::Allow(format!("your rules for the files it reads: {}", descriptions.join(", ")));
    }
    if policy.mode.allows_plan(plan, subject) {
        return Verdict::Allow(format!("{} mode", policy.mode.as_str()));
    }
    if let Some(why) = coverage_gaps::explain_stale_grant(grants, rules, subject) {
        return Verdict::Ask(why);
    }
    Verdict::Ask(match &plan.access {
        // `judge_plan` has decided these before.
        Access::Nothing | Access::Read(_) | Access::AyeFiles(_) => String::new(),
        Access::ReadSensitive(path) => {
            let why = match (path.is_absolute(), is_sensitive(path)) {
                (true, true) => "outside the project, may hold secrets",
                (true, false) => "outside the project",
                (false, _) => "may hold secrets",
            };
            format!("read of {} ({why})", escape_path(path))
        }
        Access::Write(_) => "file change in the project".to_owned(),
        Access::Background(_) => "end of a background command".to_owned(),
        Access::Workspace(access) if access.session.is_some() => {
            "change of the workspace of another session".to_owned()
        }
        Access::Workspace(_) => "change of the workspace".to_owned(),
        Access::WriteOutside(path) => {
            format!("change of {} (outside the project, or configuration of other programs)", escape_path(path))
        }
        Access::Fetch(fetch) => format!("request to {}", fetch.host),
        Access::External(external) => match &external.page_host {
            Some(page) => format!("call of {} in a page of {page}, which may change something there", external.service),
            None => format!("call of {}, which may change something there", external.service),
        },
        Access::Run(run) => {
            let mode_reason =
                policy.mode.full_mode_reason(run, subject).filter(|mode_reason| *mode_reason != run.reason);
            let parts_reason = chain_coverage::explain_asking_parts(approvals, subject, &run.reason);
            match (parts_reason.as_deref().unwrap_or(&run.reason), mode_reason) {
                ("", mode_reason) => mode_reason.unwrap_or_else(|| "command".to_owned()),
                (why, Some(mode_reason)) => format!("{why}; {mode_reason}"),
                (why, None) => why.to_owned(),
            }
        }
    })
}

/// Returns why the call is denied in every mode.
fn refusal_reason(access: &Access) -> Option<String> {
    match access {
        Access::Nothing
        | Access::Read(_)
        | Access::ReadSensitive(_)
        | Access::Background(_)
        | Access::Workspace(_)
        | Access::Fetch(_)
        | Access::External(_) => None,
        Access::AyeFiles(path) => {
            Some(format!("{} belongs to aye's own settings, sessions and keys", escape_path(path)))
        }
        Access::Write(path) | Access::WriteOutside(path) => effects::refuse_own_path(&path.to_string_lossy()),
        Access::Run(run) => (run.reach == Reach::Denied).then(|| run.reason.clone()),
    }
}

#[cfg(test)]
mod prefix_rule_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{
        CommandLine, Decider, Grant, GrantScope, HardLinks, Preconditions, Preview, Work, WorkspaceAccess,
    };

    fn run_access(command: &str) -> Access {
        let line = CommandLine { command: command.into(), folder: "/p".into(), seconds: 30, ..CommandLine::default() };
        Access::Run(line.into())
    }

    /// Access to a file of the workspace, or of that of another session.
    pub fn workspace_access(changes: bool, session: Option<&str>) -> Access {
        let session = session.map(|id| crate::chat::SessionId(id.into()));
        Access::Workspace(Box::new(WorkspaceAccess {
            path: "a".into(),
            session,
            changes,
            ..WorkspaceAccess::default()
        }))
    }

    /// Creates a plan with this access. If `destroys` is true, it is destructive.
    pub fn plan(access: Access, destroys: bool) -> Plan {
        let (preview, work) = (Preview::Text(String::new()), Work::Arguments(serde_json::Value::Null));
        let destroys = destroys.then(|| "all of it".into());
        Plan { destroys, ..Plan::new("", String::new(), access, preview, work) }
    }

    fn session_grant(grant: &Grant) -> SessionGrant {
        let by = Decider::Headless;
        SessionGrant { grant: grant.clone(), entry_index: 0, call_number: 1, call: "c".into(), by }
    }

    /// Returns the name of the verdict in the log, where `deny` is named `refuse`.
    fn verdict_name(policy: Policy, granted: &[Grant], access: Access, destroys: bool) -> &'static str {
        let plan = plan(access, destroys);
        let granted: Vec<SessionGrant> = granted.iter().map(session_grant).collect();
        judge_plan(&policy, &granted, &Rules::default(), "tool", &plan).as_str()
    }

    #[test]
    fn judges_each_access_in_ask_and_plan_mode() {
        let ask = Policy::default();
        let plan = Policy { mode: Mode::Plan, ..Policy::default() };
        let dry = Policy { mode: Mode::Ask, dry_run: true, ..Policy::default() };
        let dry_plan = Policy { mode: Mode::Plan, dry_run: true, ..Policy::default() };
        for (access, expected) in [
            (Access::Nothing, ["allow", "allow", "allow", "allow"]),
            (Access::Read(vec!["a".into()]), ["allow", "allow", "allow", "allow"]),
            (Access::ReadSensitive("/etc/passwd".into()), ["ask", "refuse", "withhold", "refuse"]),
            (Access::Write("a".into()), ["ask", "refuse", "rehearse", "refuse"]),
            (Access::WriteOutside("/a".into()), ["ask", "refuse", "rehearse", "refuse"]),
            (Access::Background(1), ["ask", "refuse", "rehearse", "refuse"]),
            (workspace_access(false, None), ["allow", "allow", "allow", "allow"]),
            (workspace_access(false, Some("01A")), ["allow", "allow", "allow", "allow"]),
            (workspace_access(true, None), ["ask", "refuse", "rehearse", "refuse"]),
            (workspace_access(true, Some("01A")), ["ask", "refuse", "rehearse", "refuse"]),
            (run_access("ls"), ["ask", "refuse", "rehearse", "refuse"]),
        ] {
            let verdicts = [ask, plan, dry, dry_plan].map(|policy| verdict_name(policy, &[], access.clone(), false));
            assert_eq!(verdicts, expected, "{access:?}");
        }
    }

    #[test]
    fn r24_hard_linked_files_always_ask() {
        let links = HardLinks { path: "a".into(), names: 3 };
        let linked_plan = |access| Plan {
            preconditions: Preconditions { hard_links: Some(links.clone()), ..Preconditions::default() },
            ..plan(access, false)
        };
        let everything = crate::policy::rule_tests::rule(RuleEffect::Allow, RuleTarget::Path("**".into()));
        let rules = Rules { list: vec![everything], ..Rules::default() };
        let granted = [
            session_grant(&Grant::new("tool", GrantScope::File("a".into()))),
            session_grant(&Grant::new(
                "tool",
                GrantScope::Command { command: "tee a".into(), folder: "/p".into(), network: false },
            )),
        ];
        for (access, why) in [
            (Access::Write("a".into()), "hard link: a (3 names): its other names keep the old content"),
            (run_access("tee a"), "hard link: a (3 names): its other names, possibly outside the project, change too"),
        ] {
            for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
                let policy = Policy { mode, ..Policy::default() };
                let verdict = judge_plan(&policy, &granted, &rules, "tool", &linked_plan(access.clone()));
                assert_eq!(verdict, Verdict::Ask(why.to_owned()), "{mode:?}");
                let unlinked = judge_plan(&policy, &granted, &rules, "tool", &plan(access.clone(), false));
                assert_eq!(unlinked.as_str(), "allow", "{mode:?}: without other names");
            }
            let plan = Plan { grant: Some(granted[0].grant.clone()), ..linked_plan(access) };
            assert!(grant_scopes("tool", &plan).is_empty());
            assert_eq!(explain_no_scopes("tool", &plan).as_deref(), Some("hard link: a (3 names)"));
        }
    }

    #[test]
    fn r13_only_an_exact_rule_allows_reading_secrets() {
        let secret_read = plan(Access::ReadSensitive(".env".into()), false);
        let aye_file = plan(Access::AyeFiles("/x/credentials.toml".into()), false);
        for (pattern, expected) in [
            (".env", "allow"),
            (".env*", "ask"),
            ("**", "ask"),
            ("*", "ask"),
            (".en?", "ask"),
            ("./.env", "ask"),
            ("/x/credentials.toml", "ask"),
        ] {
            let rule = crate::policy::rule_tests::rule(RuleEffect::Allow, RuleTarget::Path(pattern.into()));
            let rules = Rules { list: vec![rule], ..Rules::default() };
            for mode in [Mode::Ask, Mode::Auto, Mode::Full] {
                let policy = Policy { mode, ..Policy::default() };
                assert_eq!(
                    judge_plan(&policy, &[], &rules, "tool", &secret_read).as_str(),
                    expected,
                    "{pattern} {mode:?}"
                );
                assert_eq!(
                    judge_plan(&policy, &[], &rules, "tool", &aye_file).as_str(),
                    "refuse",
                    "{pattern} {mode:?}"
                );
            }
            let policy = Policy { mode: Mode::Plan, ..Policy::default() };
            assert_eq!(judge_plan(&policy, &[], &rules, "tool", &secret_read).as_str(), "refuse", "{pattern}");
        }
    }

    #[test]
    fn r11_grant_covers_only_its_scope() {
        let single_grant = |scope| [Grant::new("tool", scope)];
        let ls_grant = single_grant(GrantScope::Command { command: "ls".into(), folder: "/p".into(), network: false });
        let file_grant = single_grant(GrantScope::File("a".into()));
        for (granted, access, destroys, expected) in [
            (&ls_grant, run_access("ls"), false, "allow"),
            (&ls_grant, run_access("ls "), false, "ask"),
            (&ls_grant, run_access("ls\nrm -rf ."), false, "ask"),
            (&ls_grant, run_access("ls"), true, "ask"),
            (&ls_grant, Access::Write("a".into()), false, "ask"),
            (&file_grant, Access::Write("a".into()), false, "allow"),
            (&file_grant, Access::Write("a".into()), true, "ask"),
            (&file_grant, Access::Write("b".into()), false, "ask"),
            (&file_grant, Access::WriteOutside("a".into()), false, "ask"),
            (&file_grant, Access::ReadSensitive("a".into()), false, "ask"),
        ] {
            assert_eq!(verdict_name(Policy::default(), granted, access.clone(), destroys), expected, "{access:?}");
        }
        let elsewhere = Access::Run(
            CommandLine { command: "ls".into(), folder: "/q".into(), seconds: 30, ..CommandLine::default() }.into(),
        );
        assert_eq!(verdict_name(Policy::default(), &ls_grant, elsewhere, false), "ask", "another folder");
        let other_tool_grant = [Grant::new("other", GrantScope::File("a".into()))];
        assert_eq!(
            verdict_name(Policy::default(), &other_tool_grant, Access::Write("a".into()), false),
            "ask",
            "another tool"
        );
        let dry = Policy { dry_run: true, ..Policy::default() };
        assert_eq!(
            verdict_name(dry, &ls_grant, run_access("ls"), false),
            "rehearse",
            "a grant does not end the dry run"
        );
    }
}
