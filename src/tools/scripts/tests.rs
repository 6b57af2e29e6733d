//! Tests of which files a command names, and which of them a grant depends on.

use super::*;
use crate::chat::{Decider, Plan, SessionGrant};
use crate::config::rules::rules_editor;
use crate::policy::{Policy, Rules, Subject, explain_no_scopes, grant_covers, grant_scopes, judge_plan};
use crate::tools::ToolSettings;
use crate::tools::bash_exec::BashExec;
use crate::tools::memory_project::MemoryProject;
use crate::tools::tests::plan_call;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn test_project() -> Arc<MemoryProject> {
    MemoryProject::with_files(&[
        ("x.sh", "echo x\n"),
        ("tools/y.py", "print(1)\n"),
        ("a b.sh", "echo ab\n"),
        ("app.log", "one\n"),
        ("data.json", "{}"),
        ("-f", ""),
        ("tools/~x.sh", "echo tilde\n"),
        (".env", "K=1"),
    ])
}

/// Checks the files of the preconditions of a command.
fn check_files(command: &str, expected: &[&str]) {
    let files = test_project();
    let preconditions = command_preconditions(command, &files);
    let names: Vec<String> = preconditions.files.iter().map(|snapshot| snapshot.path.display().to_string()).collect();
    assert_eq!(names, expected, "{command}");
}

#[test]
fn r08_finds_files_that_a_command_names() {
    check_files("bash ./x.sh", &["x.sh"]);
    check_files("./x.sh --now", &["x.sh"]);
    check_files("python3 tools/y.py 1 2", &["tools/y.py"]);
    check_files("cd tools && python3 y.py", &["tools/y.py"]);
    // If the folder does not exist, the file here may run instead.
    check_files("(cd tools; python3 ./y.py); ./x.sh", &["tools/y.py", "x.sh", "y.py"]);
    check_files("cd tools/../tools&&python3 y.py", &["tools/y.py"]);
    check_files("cd tools && cat '~x.sh'", &["tools/~x.sh"]);
    check_files("A=1 ./x.sh", &["x.sh"]);
    check_files("BASH_ENV=x.sh bash -c true", &["x.sh"]);
    check_files("sh<x.sh", &["x.sh"]);
    check_files("cat x.sh|sh", &["x.sh"]);
    check_files("'./x.sh'", &["x.sh"]);
    check_files("./x\\.sh", &["x.sh"]);
    check_files("sh 'a b.sh'", &["a b.sh"]);
    check_files("sh a\\ b.sh", &["a b.sh"]);
    check_files("bash -c './x.sh && python3 \"tools/y.py\"'", &["x.sh", "tools/y.py"]);
    check_files("echo \"$(sh x.sh)\"", &["x.sh"]);
    check_files("echo `sh x.sh`", &["x.sh"]);
    check_files("sh $PWD/x.sh", &["x.sh"]);
    check_files("sh \"$(pwd)/x.sh\"", &["x.sh"]);
    check_files("sh $(pwd)/x.sh", &["x.sh"]);
    check_files("make -fx.sh", &["x.sh"]);
    check_files("make --file=x.sh", &["x.sh"]);
    check_files("curl -d @data.json http://a", &["data.json"]);
    check_files("true;x.sh", &["x.sh"]);
    check_files("x.sh x.sh ./x.sh", &["x.sh"]);
    check_files("if true\nthen ./x.sh\nfi", &["x.sh"]);
    check_files("source .env", &[".env"]);
    check_files("sh /project/x.sh", &["x.sh"]);
    check_files("x.sh 2>&1 | cat data.json", &["x.sh", "data.json"]);
}

#[test]
fn ignores_written_files_and_words_that_name_no_file() {
    for command in [
        "",
        "cargo test",
        "ls tools",
        "sh /etc/passwd",
        "sh ../x",
        "echo y > x.sh",
        "echo y >>x.sh",
        "\"",
        "'x",
        "$(",
        "\\",
    ] {
        check_files(command, &[]);
    }
}

#[test]
fn only_a_log_that_is_not_run_may_grow() {
    let may_grow = |command: &str| command_preconditions(command, &test_project()).files[0].may_grow;
    assert!(may_grow("tail -n 20 app.log"));
    assert!(may_grow("grep error < app.log | wc -l"));
    for command in [
        "bash app.log",
        "./app.log",
        "cat app.log | sh",
        "A=1 ./app.log",
        "cat data.json",
        "xargs < app.log",
        "sh -c 'cat app.log'",
    ] {
        assert!(!may_grow(command), "{command}");
    }
}

#[test]
fn r08_limits_words_and_files_and_reports_it() {
    let names: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let files = MemoryProject::with_bytes(names.iter().map(|name| (name.as_str(), b"x".to_vec())));
    let preconditions = command_preconditions(&names.join(" "), &files);
    assert_eq!((preconditions.files.len(), preconditions.is_partial), (MAX_FILES, true));
    let preconditions = command_preconditions(&names[..MAX_FILES].join(" "), &files);
    assert_eq!((preconditions.files.len(), preconditions.is_partial), (MAX_FILES, false));
    assert!(command_preconditions(&"a ".repeat(MAX_WORDS + 1), &files).is_partial);
    let nested = "'\"".repeat(500);
    assert!(command_preconditions(&nested, &files).files.is_empty());
}

proptest! {
    #[test]
    fn r64_no_command_panics_and_quotes_hide_no_file(
        before in r#"[ab /.;|&()<>"'\\$`{}=@~\n-]{0,40}"#, name in "[a-c ]{1,4}"
    ) {
        let path = format!("d/{name}.sh");
        let files = MemoryProject::with_files(&[(&path, "x")]);
        command_preconditions(&before, &files);
        let quoted = format!("sh '{path}'");
        prop_assert_eq!(command_preconditions(&quoted, &files).files.len(), 1);
        let escaped = format!("sh {}", path.replace(' ', "\\ "));
        prop_assert_eq!(command_preconditions(&escaped, &files).files.len(), 1);
    }
}

#[test]
fn large_file_is_listed_but_not_compared() {
    let directory = tempfile::tempdir().unwrap();
    let big_file = std::fs::File::create(directory.path().join("big.sh")).unwrap();
    big_file.set_len(crate::project::READ_LIMIT + 1).unwrap();
    let disk = project::disk::Disk::new(directory.path()).unwrap();
    let preconditions = command_preconditions("sh big.sh", &disk);
    assert_eq!(preconditions.files[0].content, FileContent::TooLarge);
}

/// Plans the command in a project with these files.
fn plan_command(command: &str, files: &[(&str, &str)]) -> Plan {
    let tool = BashExec::new(ToolSettings::default());
    plan_call(&tool, json!({ "command": command }), &MemoryProject::with_files(files)).unwrap()
}

fn verdict_and_reason(grants: &[SessionGrant], rules: &Rules, plan: &Plan) -> (String, String) {
    let verdict = judge_plan(&Policy::default(), grants, rules, "bash_exec", plan);
    (verdict.as_str().to_owned(), verdict.reason().to_owned())
}

#[test]
fn r11_grant_ends_if_its_script_changes() {
    let files_before = [("x.sh", "echo x\n"), ("lib.sh", "a=1\n"), ("web/a.js", "1"), ("README.md", "x")];
    for (command, changes) in [
        ("./x.sh", &[("x.sh", "rm -rf ~\n")][..]),
        ("bash x.sh", &[("x.sh", "evil\n")]),
        ("bash x.sh --now", &[("x.sh", "evil\n")]),
        ("bash -c './x.sh && make'", &[("x.sh", "evil\n")]),
        ("timeout 5 ./x.sh", &[("x.sh", "evil\n")]),
        ("source lib.sh && make", &[("lib.sh", "evil\n")]),
        ("cd web && node a.js", &[("web/a.js", "evil")]),
        ("cd web; node a.js", &[("a.js", "evil")]),
        ("node -r ./none.js web/a.js", &[("none.js", "evil")]),
        ("node -r ./none.js web/a.js", &[("web/a.js", "evil")]),
        ("perl none.pl", &[("none.pl", "evil")]),
        ("sh < x.sh", &[("x.sh", "evil\n")]),
        ("awk -f x.sh README.md", &[("x.sh", "evil\n")]),
        ("make -f lib.sh", &[("lib.sh", "evil\n")]),
        ("strace ./x.sh", &[("x.sh", "evil\n")]),
        ("strace ./new.sh", &[("new.sh", "evil\n")]),
        ("make | ./x.sh", &[("x.sh", "evil\n")]),
        ("find . -exec ./x.sh ';'", &[("x.sh", "evil\n")]),
    ] {
        let plan_before = plan_command(command, &files_before);
        let grant = plan_before.grant.clone().unwrap_or_else(|| panic!("{command} can be granted"));
        assert!(!grant.scripts.is_empty(), "{command}");
        assert_eq!(grant_scopes("bash_exec", &plan_before)[0], grant, "{command}");
        let mut rule = rules_editor::rule_from_grant(&grant, Path::new("/project"), "a");
        (rule.location.file, rule.location.line) = ("rules.toml".into(), 3);
        let rules = Rules { list: vec![rule], ..Rules::default() };
        let grants =
            vec![SessionGrant { grant, entry_index: 0, call_number: 1, call: "c".into(), by: Decider::Headless }];
        let no_rules = Rules::default();
        assert_eq!(verdict_and_reason(&grants, &no_rules, &plan_before).0, "allow", "{command}");
        assert_eq!(verdict_and_reason(&[], &rules, &plan_before).0, "allow", "{command}");
        let mut files_after: BTreeMap<&str, &str> = files_before.into_iter().collect();
        files_after.extend(changes.iter().copied());
        let plan_after = plan_command(command, &files_after.into_iter().collect::<Vec<_>>());
        let name = changes[0].0;
        for (grants, rules) in [(&grants[..], &no_rules), (&[], &rules)] {
            let (verdict, why) = verdict_and_reason(grants, rules, &plan_after);
            assert_eq!(verdict, "ask", "{command}");
            assert!(why.contains(name) && why.contains("since you allowed it"), "{command}: {why}");
        }
        // The original script is still allowed, the changed one is not.
        assert_eq!(verdict_and_reason(&[], &rules, &plan_command(command, &files_before)).0, "allow", "{command}");
    }
}

#[test]
fn r11_files_that_are_only_named_do_not_bind_a_grant() {
    for command in
        ["cargo test", "make lint", "git add README.md", "sed -i s/x/y/ README.md", "python3 -m pytest README.md"]
    {
        let plan_before = plan_command(command, &[("README.md", "x")]);
        let grant = plan_before.grant.clone().unwrap();
        assert_eq!(grant.scripts, [], "{command}");
        let plan_after = plan_command(command, &[("README.md", "another"), ("new.sh", "x")]);
        assert!(grant_covers(&grant, &Subject::from_plan("bash_exec", &plan_after)), "{command}");
    }
}

#[test]
fn r11_command_with_unknown_scripts_cannot_be_granted() {
    let files = [("x.sh", "echo x\n"), ("b/y", "")];
    for command in [
        "bash *.sh",
        "bash $X",
        "for f in x.sh; do bash $f; done",
        "bash /tmp/x.sh",
        "/tmp/x.sh",
        "../x.sh",
        "python3 b",
        "cat x.sh | sh",
        "pushd b && ./x.sh",
        "PATH=. x.sh",
        "BASH_ENV=x.sh make",
        "ls | xargs bash",
    ] {
        let plan = plan_command(command, &files);
        assert_eq!((plan.grant.as_ref(), grant_scopes("bash_exec", &plan).len()), (None, 0), "{command}");
        assert!(explain_no_scopes("bash_exec", &plan).is_some(), "{command}");
    }
    assert!(plan_command("/usr/bin/python3 x.sh", &files).grant.is_some(), "system programs do not change");
    // More files than are compared.
    let names: Vec<String> = (0..30).map(|n| format!("f{n}.sh")).collect();
    let many_files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    assert_eq!(plan_command(&format!("bash {}", names.join(" ")), &many_files).grant, None);
    let one_script = MemoryProject::with_bytes([("x.sh", b"echo x\n".to_vec())]);
    assert!(command_preconditions("./x.sh", &one_script).scripts_to_bind().is_ok(), "a single script can be compared");
}
