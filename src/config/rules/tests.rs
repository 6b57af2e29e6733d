//! Parsing of rules, error messages with line numbers, and failing closed.

mod old_names;
mod unknown_tools;

use super::*;
use crate::chat::{Access, CommandLine, Preconditions, Preview};
use crate::policy::{RuleEffect, RuleLocation, RuleTarget, Subject};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const TODAY: &str = "2026-11-22";

struct TestProject(tempfile::TempDir);

impl TestProject {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("app/.aye")).unwrap();
        Self(directory)
    }

    fn source(&self) -> ProjectSource {
        ProjectSource {
            tools: ["bash_exec", "write_file", "edit_file"].map(str::to_owned).to_vec(),
            max_instruction_bytes: 0,
            ..ProjectSource::within(self.0.path())
        }
    }

    fn load_user_rules(&self, text: &str) -> LoadedRules {
        fs::write(self.source().rules_file, text).unwrap();
        self.source().load(TODAY)
    }

    fn load_project_rules(&self, text: &str) -> LoadedRules {
        fs::write(self.source().folder.join(PROJECT_RULES_FILE), text).unwrap();
        self.source().load(TODAY)
    }
}

fn matches_command(rule: &Rule, command: &str) -> bool {
    let access = Access::Run(
        CommandLine { command: command.into(), folder: "/p".into(), seconds: 1, ..CommandLine::default() }.into(),
    );
    let (preview, destroys) = (Preview::Text(String::new()), false);
    rule.matches(&Subject::new("bash_exec", &access, &preview, destroys, &Preconditions::default()))
}

#[test]
fn rules_are_parsed_with_lines_and_dates() {
    let project = TestProject::new();
    let loaded = project.load_user_rules(
        "\u{feff}# mine\n\n[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\nmatches = [\"git push -f\"]\nnot_matches = \"git log\"\n\n\
         [[rule]]\nverdict = \"allow\"\ntool = \"bash_exec\"\nprefix = [\"cargo\", \"test\"]\ncreated = 2026-11-22\nexpires = \"2027-02-20\"\nkey = \"a\"\n",
    );
    assert_eq!((loaded.problems.len(), loaded.rules.read_error), (0, None));
    let [deny, allow] = loaded.rules.list.as_slice() else { panic!("two rules") };
    assert_eq!(
        (deny.effect, deny.location.line, deny.target.clone()),
        (RuleEffect::Deny, 3, RuleTarget::Prefix(vec!["git".into(), "push".into()]))
    );
    assert_eq!(
        (allow.effect, allow.location.line, allow.expires.as_str(), allow.saved_with_key.as_str()),
        (RuleEffect::Allow, 9, "2027-02-20", "a")
    );
    assert!(matches_command(allow, "cargo test x"));
}

#[test]
fn r12_errors_have_lines_and_invalid_ask_or_deny_rules_make_every_call_ask() {
    for (text, line, part, makes_ask) in [
        ("[[rule]\n", 1, "this is not TOML", true),
        ("[[rule]]\nverdict = \"deny\"\nverdict = \"ask\"\nprefix = \"x\"", 3, "this is not TOML", true),
        ("x = 1", 1, "every rule begins with [[rule]]", true),
        ("\n[rule]\nverdict = \"deny\"", 2, "every rule begins with [[rule]]", true),
        ("[[rule]]\nverdict = \"dney\"\nprefix = \"x\"", 2, "Use \"allow\", \"ask\" or \"deny\"", true),
        ("[[rule]]\nprefix = \"x y\"", 1, "the rule has no verdict", true),
        ("[[rule]]\nverdict = 3\nprefix = \"x\"", 2, "must be a quoted string", true),
        ("[[rule]]\nverdict = \"deny\"", 1, "the rule has no subject", true),
        ("[[rule]]\nverdict = \"deny\"\nprefix = \"x\"\npath = \"y\"", 4, "has prefix and path", true),
        ("[[rule]]\nverdict = \"deny\"\nprefxi = \"x\"", 3, "Did you mean prefix?", true),
        ("[[rule]]\nverdict = \"deny\"\ntool = \"bash\"", 3, "tool \"bash\" does not exist", true),
        ("[[rule]]\nverdict = \"deny\"\nprefix = \"x | y\"", 3, "plain words", true),
        ("[[rule]]\nverdict = \"deny\"\nprefix = [1]", 3, "a quoted string or a list", true),
        ("[[rule]]\nverdict = \"deny\"\npath = \"~/x\"", 3, "write the full path", true),
        ("[[rule]]\nverdict = \"deny\"\npath = \"../x\"", 3, "must not contain ..", true),
        ("[[rule]]\nverdict = \"deny\"\nhost = \"https://x\"", 3, "Use a name", true),
        (
            "[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\nmatches = \"git log\"",
            4,
            "does not match \"git log\", its example under matches",
            true,
        ),
        ("[[rule]]\nverdict = \"deny\"\nprefix = \"x\"\nexpires = \"soon\"", 4, "must be a date", true),
        ("[[rule]]\nverdict = \"deny\"\nprefix = \"x\"\nproject = \"app\"", 4, "absolute directory path", true),
        ("[[rule]]\nverdict = \"allow\"\nprefix = \"bash -c\"", 3, "too broad", false),
        ("[[rule]]\nverdict = \"allow\"\nprefix = \"git\"", 3, "too broad", false),
        ("[[rule]]\nverdict = \"allow\"\nprefix = \"git -c\"", 3, "too broad", false),
        ("[[rule]]\nverdict = \"allow\"\npath = \"/etc/**\"", 3, "full path", false),
        ("[[rule]]\nverdict = \"allow\"\nhost = \"*\"", 3, "too broad to allow", false),
        ("[[rule]]\nverdict = \"allow\"\ntool = \"mcp__a__b\"\nhost = \"mcp:*\"", 4, "Use a name", false),
        ("[[rule]]\nverdict = \"deny\"\nhost = \"mcp:a b\"", 3, "Use a name", true),
        (
            "[[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\"\nnot_matches = [\"cargo test x\"]",
            4,
            "matches \"cargo test x\", its example under not",
            false,
        ),
        ("[[rule]]\nverdict = \"allow\"\nprefix = \"go test\"\nmatches = \"go test; ls\"", 4, "under matches", false),
        ("[[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\"\nfoo = 1", 4, "not a key of a rule", false),
        ("[[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\"\ninput = 1", 4, "true or false", false),
        ("[[rule]]\nverdict = \"allow\"\ncommand = \"make\"\ninput = true", 4, "allows a prefix", false),
        ("[[rule]]\nverdict = \"deny\"\nprefix = \"make\"\ninput = true", 4, "allows a prefix", true),
    ] {
        let project = TestProject::new();
        let loaded = project.load_user_rules(&format!("{text}\n"));
        let notices = loaded.notices().join("\n");
        assert!(notices.contains(part) && notices.contains(&format!("rules.toml:{line}:")), "{text}: {notices}");
        assert_eq!(loaded.rules.read_error.is_some(), makes_ask, "{text}: {notices}");
        assert!(loaded.rules.list.iter().all(|rule| rule.effect != RuleEffect::Allow), "{text}");
    }
}

#[test]
fn a_deny_rule_with_a_failing_example_still_denies() {
    let loaded = TestProject::new()
        .load_user_rules("[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\nmatches = \"git log\"\n");
    assert!(loaded.rules.read_error.is_some());
    assert!(matches_command(&loaded.rules.list[0], "git push"));
}

#[test]
fn a_rule_applies_until_it_expires_and_only_in_its_project() {
    let project = TestProject::new();
    let project_path = project.source().folder.display().to_string();
    let text = |expires: &str, project: &str| {
        format!(
            "[[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\"\nexpires = {expires}\nproject = \"{project}\"\n"
        )
    };
    for (expires, rule_project, active_count, expired_count) in [
        ("2026-11-22", project_path.as_str(), 1, 0),
        ("2026-11-21", project_path.as_str(), 0, 1),
        ("2026-11-22", "/elsewhere", 0, 0),
        ("2026-11-21", "/elsewhere", 0, 0),
    ] {
        let loaded = project.load_user_rules(&text(expires, rule_project));
        let counts = (loaded.rules.list.len(), loaded.expired.len());
        assert_eq!(counts, (active_count, expired_count), "{expires} {rule_project}");
    }
}

#[test]
fn r12_an_unreadable_file_allows_nothing_and_makes_every_call_ask() {
    let invalid_files: [(&str, Vec<u8>); 5] = [
        ("ten megabytes", vec![b'#'; 10 << 20]),
        ("a NUL", b"[[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\0\"\n".to_vec()),
        ("no UTF-8", b"# \xff\n".to_vec()),
        ("ten thousand brackets", vec![b'['; 10_000]),
        ("a deep table", format!("a{}=1", ".a".repeat(20_000)).into_bytes()),
    ];
    for (case, bytes) in invalid_files {
        let project = TestProject::new();
        fs::write(project.source().rules_file, bytes).unwrap();
        let loaded = project.source().load(TODAY);
        assert!(loaded.rules.read_error.is_some() && loaded.rules.list.is_empty(), "{case}");
        assert!(loaded.notices()[0].contains("rules.toml:"), "{case}: {:?}", loaded.notices());
    }
    let project = TestProject::new();
    fs::create_dir(project.source().rules_file).unwrap();
    assert!(project.source().load(TODAY).rules.read_error.is_some(), "a directory in its place");
    let project = TestProject::new();
    let mkfifo_status = std::process::Command::new("mkfifo").arg(project.source().rules_file).status().unwrap();
    assert!(mkfifo_status.success() && project.source().load(TODAY).rules.read_error.is_some(), "a pipe in its place");
    let no_rules = LoadedRules { rules: empty_rules(), ..LoadedRules::default() };
    assert_eq!(TestProject::new().source().load(TODAY), no_rules, "no file is no rules");
}

fn empty_rules() -> Rules {
    Rules { today: TODAY.to_owned(), ..Rules::default() }
}

#[test]
fn ten_thousand_rules_are_parsed() {
    let project = TestProject::new();
    let text: String = (0..10_000)
        .map(|number| format!("[[rule]]\nverdict = \"allow\"\nprefix = \"make target{number}\"\n"))
        .collect();
    let loaded = project.load_user_rules(&text);
    assert_eq!((loaded.rules.list.len(), loaded.problems.len()), (10_000, 0));
    assert_eq!(loaded.rules.list[9_999].location.line, 29_998);
}

#[test]
fn r14_untrusted_project_rules_allow_nothing() {
    let project = TestProject::new();
    let (source, allow) = (project.source(), "[[rule]]\nverdict = \"allow\"\nprefix = \"make install\"\n");
    let loaded = project.load_project_rules(allow);
    assert!(
        loaded.rules.list.is_empty()
            && matches!(loaded.project_rules, ProjectRules::Untrusted { has_changed: false, .. })
    );
    assert!(loaded.notices()[0].contains("(1 allow) is not trusted"), "{:?}", loaded.notices());
    // Errors in an untrusted file have no effect.
    assert_eq!(project.load_project_rules("[[rule").rules, empty_rules());
    project.load_project_rules(allow);
    trust::trust_files(&source.trust_file, &source.folder, &[(PROJECT_RULES_FILE, allow)], TODAY).unwrap();
    let trusted = source.load(TODAY);
    assert_eq!((trusted.rules.list.len(), &trusted.project_rules), (1, &ProjectRules::Trusted));
    assert_eq!(trusted.rules.list[0].scope, RuleScope::TrustedProject);
    assert_eq!(fs::metadata(&source.trust_file).unwrap().permissions().mode() & 0o777, 0o600);
    // After a change of one character the file is untrusted again.
    let loaded = project.load_project_rules(&format!("{allow}\n"));
    assert!(
        loaded.rules.list.is_empty()
            && matches!(loaded.project_rules, ProjectRules::Untrusted { has_changed: true, .. })
    );
    assert!(loaded.notices()[0].contains("has changed since you trusted it"));
    // The same text in another directory is not trusted.
    let other_source = ProjectSource { folder: project.0.path().join("other"), ..source.clone() };
    fs::create_dir_all(other_source.folder.join(".aye")).unwrap();
    fs::write(other_source.folder.join(PROJECT_RULES_FILE), allow).unwrap();
    assert!(other_source.load(TODAY).rules.list.is_empty());
    trust::trust_files(&source.trust_file, &other_source.folder, &[(PROJECT_RULES_FILE, allow)], TODAY).unwrap();
    assert_eq!(other_source.load(TODAY).rules.list.len(), 1);
    project.load_project_rules(allow);
    assert_eq!(source.load(TODAY).rules.list.len(), 1, "trusting the other project keeps this trust");
    trust::revoke_trust(&source.trust_file, &source.folder, Some(PROJECT_RULES_FILE)).unwrap();
    assert!(source.load(TODAY).rules.list.is_empty());
    // A project's rules cannot name another project, and an invalid trust file trusts nothing.
    let other_rule = format!("{allow}project = \"/\"\n");
    trust::trust_files(&source.trust_file, &source.folder, &[(PROJECT_RULES_FILE, &other_rule)], TODAY).unwrap();
    assert!(project.load_project_rules(&other_rule).notices()[0].contains("remove the key project"));
    fs::write(&source.trust_file, "[[project").unwrap();
    assert!(project.load_project_rules(allow).rules.list.is_empty());
}

fn saved_rule(effect: RuleEffect, target: RuleTarget) -> Rule {
    Rule {
        effect,
        tool: Some("bash_exec".into()),
        target,
        scope: RuleScope::EveryProject,
        created: "2026-11-22".into(),
        expires: "2027-02-20".into(),
        scripts: Vec::new(),
        takes_input: false,
        saved_with_key: "enter".into(),
        location: RuleLocation::default(),
    }
}

fn prefix_target(text: &str) -> RuleTarget {
    RuleTarget::Prefix(text.split(' ').map(str::to_owned).collect())
}

#[test]
fn saved_rules_are_read_back_and_comments_are_kept() {
    let project = TestProject::new();
    let source = project.source();
    let old_text =
        "# all of mine\n\n# never this\n[[rule]]\nverdict = \"deny\" # really\nprefix = \"git push\"\n# the end\n";
    project.load_user_rules(old_text);
    let rules = [
        Rule { takes_input: true, ..saved_rule(RuleEffect::Allow, prefix_target("cargo test")) },
        saved_rule(RuleEffect::Allow, RuleTarget::Command("echo \"\\\n\t'''\u{202e}\" | x".into())),
        Rule {
            scope: RuleScope::Project(source.folder.clone()),
            ..saved_rule(RuleEffect::Allow, RuleTarget::Path("a b/**".into()))
        },
    ];
    for rule in &rules {
        rules_editor::append_rule(&source.rules_file, rule, &source.tools).unwrap();
    }
    let text = fs::read_to_string(&source.rules_file).unwrap();
    assert!(text.starts_with(old_text.trim_end().strip_suffix("# the end").unwrap()), "{text}");
    assert!(text.contains("# the end"), "{text}");
    assert_eq!(fs::metadata(&source.rules_file).unwrap().permissions().mode() & 0o777, 0o600);
    let loaded = source.load(TODAY);
    assert_eq!((loaded.rules.list.len(), loaded.problems.len()), (4, 0), "{text}");
    for rule in rules.iter().rev() {
        assert!(rules_editor::remove_rule(&source.rules_file, rule, &source.tools).unwrap());
        assert!(!rules_editor::remove_rule(&source.rules_file, rule, &source.tools).unwrap(), "it is already removed");
    }
    assert_eq!(fs::read_to_string(&source.rules_file).unwrap().trim_end(), old_text.trim_end());
    // Removing the first rule keeps the comment at the head of the file.
    let deny = Rule {
        tool: None,
        created: String::new(),
        expires: String::new(),
        saved_with_key: String::new(),
        ..saved_rule(RuleEffect::Deny, prefix_target("git push"))
    };
    assert!(rules_editor::remove_rule(&source.rules_file, &deny, &source.tools).unwrap());
    assert!(fs::read_to_string(&source.rules_file).unwrap().contains("# all of mine"));
}

#[test]
fn a_replaced_target_leaves_the_rest_of_the_file_unchanged() {
    let project = TestProject::new();
    let source = project.source();
    let text = "# mine\n[[rule]]\nverdict = \"allow\"\nwords = \"cargo test\" # old key\ninput = true\n\n[[rule]]\nverdict = \"deny\"\npath = \".env\"\n";
    let allow = project.load_user_rules(text).rules.list[0].clone();
    assert!(source.replace_rule(&allow, &allow.with_text(" cargo  check ")).unwrap());
    let new_text = fs::read_to_string(&source.rules_file).unwrap();
    assert_eq!(new_text, text.replace("\"cargo test\"", "[\"cargo\", \"check\"]"));
    assert!(!source.replace_rule(&allow, &allow.with_text("x")).unwrap(), "the old rule is gone");
    let check = source.load(TODAY).rules.list[0].clone();
    for invalid in ["", "sudo", "git", "-c x"] {
        assert!(source.replace_rule(&check, &check.with_text(invalid)).is_err(), "{invalid}");
        assert_eq!(fs::read_to_string(&source.rules_file).unwrap(), new_text);
    }
}

#[test]
fn a_file_that_cannot_be_edited_stays_unchanged() {
    let rule = saved_rule(RuleEffect::Allow, prefix_target("cargo test"));
    for text in ["[[rule\nmine", "rule = 3\n"] {
        let project = TestProject::new();
        project.load_user_rules(text);
        assert!(rules_editor::append_rule(&project.source().rules_file, &rule, &project.source().tools).is_err());
        assert_eq!(fs::read_to_string(project.source().rules_file).unwrap(), text);
    }
    let project = TestProject::new();
    project.load_user_rules("# mine\n");
    fs::set_permissions(project.source().rules_file, fs::Permissions::from_mode(0o400)).unwrap();
    let error = rules_editor::append_rule(&project.source().rules_file, &rule, &project.source().tools).unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(fs::read_to_string(project.source().rules_file).unwrap(), "# mine\n");
}

#[test]
fn r24_a_full_disk_keeps_the_rules_and_returns_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let mount_output = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(directory.path())
        .output();
    if !mount_output.is_ok_and(|output| output.status.success()) {
        return;
    }
    let file = directory.path().join("rules.toml");
    let old_text = "# mine\n[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\n";
    fs::write(&file, old_text).unwrap();
    let rule = saved_rule(RuleEffect::Allow, prefix_target("cargo test"));
    let tools = ["bash_exec".to_owned()];
    // The lock file exists before the disk is full.
    rules_editor::append_rule(&file, &rule, &tools).unwrap();
    assert!(rules_editor::remove_rule(&file, &rule, &tools).unwrap());
    let old_text_on_disk = fs::read_to_string(&file).unwrap();
    let mut filler = fs::File::create(directory.path().join("filler")).unwrap();
    while std::io::Write::write(&mut filler, &[0; 512]).is_ok() {}
    let append_result = rules_editor::append_rule(&file, &rule, &tools);
    let current_text = fs::read_to_string(&file);
    let file_count = fs::read_dir(directory.path()).unwrap().count();
    drop(filler);
    let umount_status = std::process::Command::new("umount").arg(directory.path()).status();
    assert!(umount_status.is_ok_and(|status| status.success()));
    assert_eq!(append_result.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    assert_eq!((current_text.unwrap(), file_count), (old_text_on_disk, 3), "the rules, the lock and the filler");
}

#[test]
fn concurrent_additions_are_all_kept() {
    let project = TestProject::new();
    let source = project.source();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let source = &source;
            scope.spawn(move || {
                let rule = saved_rule(RuleEffect::Allow, prefix_target(&format!("make target{number}")));
                rules_editor::append_rule(&source.rules_file, &rule, &source.tools).unwrap();
            });
        }
    });
    let loaded = source.load(TODAY);
    assert_eq!((loaded.rules.list.len(), loaded.problems.len()), (8, 0));
}

#[test]
fn the_example_file_is_valid_and_shows_every_key() {
    let text = include_str!("../../../rules.example.toml");
    let loaded = TestProject::new().load_user_rules(text);
    assert_eq!((loaded.notices(), loaded.rules.read_error), (Vec::new(), None));
    assert_eq!(loaded.old_names, []);
    assert_eq!(text.matches("[[rule]]").count(), 5);
    for key in rule_parser::RULE_KEYS {
        assert!(text.lines().any(|line| line.starts_with(&format!("{key} = "))), "{key}");
    }
}
