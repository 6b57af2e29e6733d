//! Tests of `named_secrets`: a command that only reads files with secrets, each named literally, lists them there, so
//! that a rule for these files can allow it.

use super::*;
use crate::chat::{CommandSandbox, Intent, SandboxAccess};
use crate::policy::ExcludedPaths;
use crate::project::OwnFiles;
use crate::project::checkpoints::CallRecorder;
use crate::project::shell::Shell;
use crate::tools::bash_exec::BashExec;
use crate::tools::{LiveContext, Tool, ToolSettings};
use serde_json::json;
use std::sync::Arc;

fn named_secrets(command: &str, files: &dyn Reader) -> Vec<String> {
    let line = CommandLine {
        command: command.to_owned(),
        folder: files.root().to_owned(),
        seconds: 1,
        ..CommandLine::default()
    };
    match command_access(line, files) {
        Access::Run(run) => {
            assert!(run.named_secrets.is_empty() || (run.may_disclose && run.is_sensitive), "{command}");
            run.named_secrets.iter().map(|path| path.display().to_string()).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn r13_names_secrets_only_if_nothing_else_needs_approval() {
    let (_place, disk) = project_with_secrets();
    let root = disk.root().to_owned();
    fs::write(root.join(".env.local"), "x").unwrap();
    fs::write(root.join("own.env"), "x").unwrap();
    fs::write(root.join("two.env"), "x").unwrap();
    fs::hard_link(root.join("two.env"), root.join("plain")).unwrap();
    fs::create_dir_all(root.join(".ssh")).unwrap();
    fs::write(root.join(".ssh/id_rsa"), "x").unwrap();
    symlink("keys", root.join("ways")).unwrap();
    let files = disk.with_own_files(OwnFiles::new(vec![root.join("own.env")], Vec::new()));
    for (command, expected) in [
        ("cat .env", &[".env"][..]),
        ("cat '.env' README.md", &[".env"]),
        ("cat .env .env.local", &[".env", ".env.local"]),
        ("cat .env .env", &[".env"]),
        ("grep -n KEY .env", &[".env"]),
        ("head -n 1 keys/server.pem | wc -l", &["keys/server.pem"]),
        ("cat < .env", &[".env"]),
        ("cat README.md", &[]),
        ("cat ./.env", &[]),
        ("cat src/../.env", &[]),
        ("cat .e*", &[]),
        ("cat .env .e*", &[]),
        ("cat .env README*", &[]),
        ("cat {.env,.env.local}", &[]),
        ("cat $X .env", &[]),
        ("cat $(echo .env)", &[]),
        ("cat secret-link", &[]),
        ("cat .env secret-link", &[]),
        ("cat ways/server.pem", &[]),
        ("cat two.env", &[]),
        ("cat plain", &[]),
        ("cat .env plain", &[]),
        ("cat own.env", &[]),
        ("cat .ssh/id_rsa", &[]),
        ("cat .git/config", &[]),
        ("cat .env /etc/shadow", &[]),
        ("cat .env ~/.netrc", &[]),
        ("cat .env missing.env", &[]),
        ("grep -r x .", &[]),
        ("grep -r x .env", &[]),
        ("cd src && cat ../.env", &[]),
        ("cd keys && cat server.pem", &[]),
        ("sort -o .env .env", &[]),
        ("sort .env -o sorted", &[]),
        ("cat .env > copy", &[]),
        ("cp .env copy", &[]),
        ("source .env", &[]),
        ("make .env", &[]),
        ("cat .env; make", &[]),
        ("git show HEAD:.env", &[]),
        ("git diff .env", &[]),
        ("cat .env && git status", &[]),
        ("bash -c 'cat .env; true' &", &[]),
    ] {
        assert_eq!(named_secrets(command, &files), expected, "{command}");
    }
    // A command that names more than 16 such files lists none of them.
    let names: Vec<String> = (0..17).map(|number| format!("{number}.env")).collect();
    names.iter().for_each(|name| fs::write(root.join(name), "x").unwrap());
    assert_eq!(named_secrets(&format!("cat {}", names[..16].join(" ")), &files).len(), 16);
    assert!(named_secrets(&format!("cat {}", names.join(" ")), &files).is_empty());
    let network = CommandLine {
        command: "cat .env".into(),
        folder: root,
        seconds: 1,
        network: Some("to send it".into()),
        ..CommandLine::default()
    };
    let Access::Run(run) = command_access(network, &files) else { panic!("it asks") };
    assert!(run.named_secrets.is_empty());
}

#[tokio::test]
async fn r13_named_file_that_was_replaced_is_not_read() {
    let sandbox = CommandSandbox::enforced(SandboxAccess::default());
    let tool = BashExec::new(ToolSettings { sandbox, ..ToolSettings::default() });
    let (_place, disk) = project_with_secrets();
    let env = disk.root().join(".env");
    let files = Arc::new(disk);
    let replace_env = |kind: &str| {
        fs::remove_file(&env).unwrap();
        match kind {
            "link" => symlink("keys/server.pem", &env).unwrap(),
            "hard link" => fs::hard_link(files.root().join("keys/server.pem"), &env).unwrap(),
            "folder" => fs::create_dir(&env).unwrap(),
            _ => {}
        }
    };
    for kind in ["link", "hard link", "folder"] {
        let Intent::Act(plan) = tool.plan_call(&json!({ "command": "cat .env" }), &*files).unwrap() else {
            panic!("{kind}")
        };
        assert!(matches!(&plan.access, Access::Run(run) if run.named_secrets == [Path::new(".env")]), "{kind}");
        replace_env(kind);
        let project = files.clone();
        let context = LiveContext {
            project,
            shell: Arc::new(Shell::new("/nowhere".into())),
            excluded: ExcludedPaths::default(),
            runs_in_parts: false,
            recorder: Arc::new(CallRecorder::disabled()),
            results: crate::tools::ResultFiles::default(),
            progress: Arc::new(|_| {}),
        };
        let error = tool.run(&plan, &context).await.unwrap_err().to_string();
        assert!(error.contains("changed since it was checked"), "{kind}: {error}");
        if kind == "folder" {
            fs::remove_dir(&env).unwrap()
        } else {
            fs::remove_file(&env).unwrap()
        }
        fs::write(&env, "x").unwrap();
    }
}
