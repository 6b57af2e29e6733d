//! Tests that exactly the previewed change is applied, and that a conflict is an error.

use super::*;
use crate::chat::{Access, ToolCall};
use crate::policy::ExcludedPaths;
use crate::project::OwnFiles;
use crate::project::checkpoints::CallRecorder;
use crate::project::disk::Disk;
use crate::project::shell::Shell;
use crate::project::test_project::RehearsedProject;
use std::fs;

/// Plans and applies rehearsed changes of a test project.
trait ApplyChanges {
    fn plan_change(&self, arguments: Value) -> Result<Plan, String>;
    async fn apply(&self, plan: &Plan) -> Result<String, String>;
}

impl ApplyChanges for RehearsedProject {
    fn plan_change(&self, arguments: Value) -> Result<Plan, String> {
        match ApplyChange(self.rehearsal.clone()).plan_call(&arguments, &*self.disk) {
            Ok(Intent::Act(plan)) => Ok(*plan),
            Ok(Intent::Ask(_)) => panic!("it asks nothing"),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn apply(&self, plan: &Plan) -> Result<String, String> {
        let shell = Arc::new(Shell::new("/nowhere".into()));
        let context = LiveContext {
            project: self.disk.clone(),
            shell,
            excluded: ExcludedPaths::default(),
            runs_in_parts: false,
            recorder: Arc::new(CallRecorder::disabled()),
            results: crate::tools::ResultFiles::default(),
            progress: Arc::new(|_| {}),
        };
        ApplyChange(self.rehearsal.clone()).run(plan, &context).await.map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn applies_exactly_the_previewed_diff() {
    let project = RehearsedProject::new(&[("a", "one\ntwo\n")]);
    project.rehearse_write("a", "one\n2\n");
    let plan = project.plan_change(json!({ "path": "a" })).unwrap();
    assert_eq!((plan.title.as_str(), plan.destroys.as_deref(), &plan.grant), ("Apply: change a?", None, &None));
    assert_eq!(plan.access, Access::Write("a".into()));
    let Preview::Edit(diff) = &plan.preview else { panic!("{:?}", plan.preview) };
    assert_eq!((diff.added, diff.removed), (1, 1));
    // The rehearsal changes again after the prompt was shown.
    project.rehearse_write("a", "one\nthree\n");
    assert!(project.apply(&plan).await.unwrap_err().contains("has changed since the plan was made"));
    assert_eq!(project.live_text("a").as_deref(), Some("one\ntwo\n"));
    let plan = project.plan_change(json!({ "path": "a" })).unwrap();
    assert_eq!(project.apply(&plan).await.unwrap(), "a: applied");
    assert_eq!(project.live_text("a").as_deref(), Some("one\nthree\n"));
    assert!(project.plan_change(json!({ "path": "a" })).unwrap_err().contains("there is nothing to do"));
    assert!(project.plan_change(json!({ "path": "b" })).unwrap_err().contains("Nothing was rehearsed at b"));
}

#[tokio::test]
async fn conflict_before_or_after_the_prompt_overwrites_nothing() {
    let project = RehearsedProject::new(&[("a", "one\n"), ("b", "one\n")]);
    project.rehearse_write("a", "two\n");
    project.rehearse_write("b", "two\n");
    project.rehearse_deletion("a2");
    let plan = project.plan_change(json!({ "path": "b" })).unwrap();
    for path in ["a", "b"] {
        fs::write(project.folder.path().join("project").join(path), "mine\n").unwrap();
    }
    assert!(project.plan_change(json!({ "path": "a" })).unwrap_err().starts_with("CONFLICT: a changed since"));
    assert!(project.apply(&plan).await.unwrap_err().starts_with("CONFLICT: b"));
    assert_eq!((project.live_text("a").unwrap(), project.live_text("b").unwrap()), ("mine\n".into(), "mine\n".into()));
}

#[tokio::test]
async fn hunks_can_be_applied_one_by_one_in_any_order() {
    let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n5\n", "\nfive\nmore\n").replace("\n30\n", "\n");
    let project = RehearsedProject::new(&[("a", &before)]);
    project.rehearse_write("a", &after);
    // The first lines of the two hunks in the rehearsed file.
    for line in [28, 2] {
        let plan = project.plan_change(json!({ "path": "a", "line": line })).unwrap();
        let Preview::Edit(diff) = &plan.preview else { panic!("{:?}", plan.preview) };
        assert_eq!(diff.hunks.len(), 1);
        project.apply(&plan).await.unwrap();
    }
    assert_eq!(project.live_text("a").as_deref(), Some(after.as_str()));
    let error = project.plan_change(json!({ "path": "a", "line": 2 })).unwrap_err();
    assert!(error.contains("there is nothing to do"), "{error}");
    project.rehearse_write("a", "all\nnew\n");
    let error = project.plan_change(json!({ "path": "a", "line": 7 })).unwrap_err();
    assert!(error.contains("No hunk starts at line 7"), "{error}");
}

#[tokio::test]
async fn deleting_a_folder_deletes_only_its_rehearsed_contents() {
    let project = RehearsedProject::new(&[("x", "1\n2\n"), ("old/a", "a"), ("old/deep/b", "b")]);
    project.rehearse_deletion("x");
    project.rehearse_deletion("old");
    let plan = project.plan_change(json!({ "path": "x" })).unwrap();
    let Preview::Edit(diff) = &plan.preview else { panic!("{:?}", plan.preview) };
    assert_eq!(diff.note.as_deref(), Some("deletes the file"), "the note says what applying does");
    assert_eq!((plan.title.as_str(), plan.destroys.as_deref()), ("Apply: delete x?", Some("deletes x")));
    project.apply(&plan).await.unwrap();
    let plan = project.plan_change(json!({ "path": "old" })).unwrap();
    assert_eq!(plan.destroys.as_deref(), Some("deletes old and the 3 files and folders in it"));
    assert!(matches!(&plan.preview, Preview::Text(text) if text.contains("old/deep/b")), "{:?}", plan.preview);
    fs::write(project.folder.path().join("project/old/mine"), "x").unwrap();
    let error = project.apply(&plan).await.unwrap_err();
    assert!(error.contains("CONFLICT") || error.contains("has changed"), "{error}");
    assert_eq!(project.live_text("old/a").as_deref(), Some("a"));
    fs::remove_file(project.folder.path().join("project/old/mine")).unwrap();
    project.apply(&plan).await.unwrap();
    assert_eq!((project.live_text("x"), project.folder.path().join("project/old").exists()), (None, false));
}

#[test]
fn sensitive_path_counts_as_outside_and_tool_is_not_offered() {
    let project = RehearsedProject::new(&[]);
    project.rehearse_write(".git/hooks/pre-commit", "#!/bin/sh\n");
    let plan = project.plan_change(json!({ "path": ".git/hooks/pre-commit" })).unwrap();
    assert!(matches!(plan.access, Access::WriteOutside(_)), "{:?}", plan.access);
    let tools = super::super::Toolbox::from_tools(vec![Arc::new(ApplyChange(project.rehearsal.clone()))]);
    assert_eq!(tools.tool_specs(), []);
    let call = ToolCall {
        id: "a".into(),
        name: APPLY_CHANGE.to_owned(),
        arguments: json!({ "path": ".git/hooks/pre-commit" }).to_string(),
    };
    let plan_with = |is_apply_call| tools.plan_call(&call, project.disk.as_ref(), is_apply_call);
    assert!(plan_with(true).is_ok());
    let error = plan_with(false).unwrap_err().to_string();
    assert!(error.contains("Unknown tool"), "a model that knows its name cannot call it: {error}");
}

#[test]
fn finds_non_unicode_name_if_unambiguous() {
    use std::os::unix::ffi::OsStrExt;
    let project = RehearsedProject::new(&[]);
    let upper = project.folder.path().join("layer/upper");
    fs::create_dir_all(&upper).unwrap();
    fs::write(upper.join(std::ffi::OsStr::from_bytes(b"a\xff")), "x").unwrap();
    assert!(project.plan_change(json!({ "path": "a\u{fffd}" })).is_ok());
    fs::write(upper.join(std::ffi::OsStr::from_bytes(b"a\xfe")), "x").unwrap();
    assert!(project.plan_change(json!({ "path": "a\u{fffd}" })).unwrap_err().contains("not Unicode"));
}

#[test]
fn r32_title_names_only_plain_file_names() {
    let long_name = "n".repeat(60);
    for (path, title) in [
        ("src/retry.rs", "Apply: create retry.rs?"),
        ("\u{8bf4}\u{660e}.txt", "Apply: create \u{8bf4}\u{660e}.txt?"),
        ("y yes \u{2500}\u{256e}", "Apply: create a file?"),
        (long_name.as_str(), "Apply: create a file?"),
    ] {
        let project = RehearsedProject::new(&[]);
        project.rehearse_write(path, "x\n");
        assert_eq!(project.plan_change(json!({ "path": path })).unwrap().title, title);
    }
}

#[tokio::test]
async fn r14_contents_of_a_deleted_folder_are_judged_with_it() {
    let project =
        RehearsedProject::new(&[("plain/a", "a"), ("home/config/rules.toml", "x"), ("repository/.git/config", "x")]);
    for folder in ["plain", "home", "repository"] {
        project.rehearse_deletion(folder);
    }
    let own_files = project.disk.root().join("home/config");
    let disk =
        Arc::new(Disk::new(project.disk.root()).unwrap().with_own_files(OwnFiles::new(vec![own_files], Vec::new())));
    let rehearsal = Arc::new(Rehearsal::new(disk.clone(), project.folder.path().join("layer")));
    let project = RehearsedProject { rehearsal, disk, ..project };
    let access_of = |folder: &str| project.plan_change(json!({ "path": folder })).unwrap().access;
    assert_eq!(access_of("plain"), Access::Write("plain".into()));
    assert_eq!(access_of("home"), Access::AyeFiles("home".into()), "aye's own settings are deleted with it");
    assert_eq!(access_of("repository"), Access::WriteOutside("repository".into()));
    let plan = project.plan_change(json!({ "path": "home" })).unwrap();
    project.apply(&plan).await.unwrap();
    assert_eq!(project.live_text("home/config/rules.toml"), None);
}

#[tokio::test]
async fn outside_project_applies_files_of_tools_but_not_of_commands() {
    let project = RehearsedProject::new(&[]);
    let base = project.folder.path().canonicalize().unwrap();
    let path = |name: &str| base.join("out").join(name).to_str().unwrap().to_owned();
    fs::create_dir(base.join("out")).unwrap();
    fs::write(path("old"), "one\n").unwrap();
    for (name, text) in [("new/deep", "new\n"), ("old", "two\n"), ("command", "mine\n")] {
        project.rehearse_write(&path(name), text);
    }
    // A command changes this file in the overlay after the file tool wrote it.
    let overlay_file = base.join("layer/outside/upper").join(path("command").trim_start_matches('/'));
    fs::write(overlay_file, "by a command\n").unwrap();
    let plan = project.plan_change(json!({ "path": path("new/deep") })).unwrap();
    assert_eq!(plan.access, Access::WriteOutside(path("new/deep").into()));
    assert_eq!(plan.destroys, Some(format!("changes {}, outside the project", path("new/deep"))));
    assert!(matches!(&plan.preview, Preview::Edit(diff) if diff.added == 1), "{:?}", plan.preview);
    project.apply(&plan).await.unwrap();
    assert_eq!(fs::read_to_string(path("new/deep")).unwrap(), "new\n");
    assert!(project.plan_change(json!({ "path": path("new/deep") })).unwrap_err().contains("nothing to do"));
    assert!(project.plan_change(json!({ "path": path("command") })).unwrap_err().contains("run the command live"));
    // The real file changes after the prompt is shown, and before.
    let plan = project.plan_change(json!({ "path": path("old") })).unwrap();
    fs::write(path("old"), "mine\n").unwrap();
    assert!(project.apply(&plan).await.unwrap_err().starts_with("CONFLICT"));
    assert!(project.plan_change(json!({ "path": path("old") })).unwrap_err().starts_with("CONFLICT"));
    assert_eq!(fs::read_to_string(path("old")).unwrap(), "mine\n");
    fs::write(path("old"), "one\n").unwrap();
    project.apply(&plan).await.unwrap();
    assert_eq!(fs::read_to_string(path("old")).unwrap(), "two\n");
    assert!(!std::path::Path::new(&path("command")).exists());
}

#[tokio::test]
async fn outside_file_is_not_applied_through_a_new_link() {
    let project = RehearsedProject::new(&[]);
    let base = project.folder.path().canonicalize().unwrap();
    let path = base.join("out/file").to_str().unwrap().to_owned();
    fs::create_dir_all(base.join("out")).unwrap();
    fs::create_dir(base.join("other")).unwrap();
    project.rehearse_write(&path, "new\n");
    let plan = project.plan_change(json!({ "path": path })).unwrap();
    fs::remove_dir(base.join("out")).unwrap();
    std::os::unix::fs::symlink("other", base.join("out")).unwrap();
    assert!(project.apply(&plan).await.is_err());
    assert!(fs::read_dir(base.join("other")).unwrap().next().is_none());
}
