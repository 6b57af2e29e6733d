//! Tests that exactly the previewed change is applied, and that a conflict is an error.

use super::*;
use crate::policy::ExcludedPaths;
use crate::project::OwnFiles;
use crate::project::disk::Disk;
use crate::project::shell::Shell;
use crate::project::test_project::RehearsedProject;
use std::fs;

/// Plans and applies rehearsed changes of a scene.
trait ApplyChanges {
    fn plan(&self, arguments: Value) -> Result<Plan, String>;
    async fn act(&self, plan: &Plan) -> Result<String, String>;
}

impl ApplyChanges for RehearsedProject {
    fn plan(&self, arguments: Value) -> Result<Plan, String> {
        match ApplyChange::new(self.rehearsal.clone()).plan(&arguments, &*self.disk) {
            Ok(Intent::Act(plan)) => Ok(*plan),
            Ok(Intent::Ask(_)) => panic!("it asks nothing"),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn act(&self, plan: &Plan) -> Result<String, String> {
        let shell = Arc::new(Shell::new("/nowhere".into()));
        let hands = LiveContext {
            project: self.disk.clone(),
            shell,
            excluded: ExcludedPaths::default(),
            progress: Arc::new(|_| {}),
        };
        ApplyChange::new(self.rehearsal.clone()).run(plan, &hands).await.map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn applies_exactly_the_previewed_diff() {
    let scene = RehearsedProject::new(&[("a", "one\ntwo\n")]);
    scene.rehearse_write("a", "one\n2\n");
    let plan = scene.plan(json!({ "path": "a" })).unwrap();
    assert_eq!((plan.title.as_str(), plan.destroys.as_deref(), &plan.grant), ("Apply: change a?", None, &None));
    assert_eq!(plan.access, Access::Write("a".into()));
    let Preview::Edit(diff) = &plan.preview else { panic!("{:?}", plan.preview) };
    assert_eq!((diff.added, diff.removed), (1, 1));
    // The rehearsal changes again after the prompt was shown.
    scene.rehearse_write("a", "one\nthree\n");
    assert!(scene.act(&plan).await.unwrap_err().contains("has changed since the plan was made"));
    assert_eq!(scene.live_text("a").as_deref(), Some("one\ntwo\n"));
    let plan = scene.plan(json!({ "path": "a" })).unwrap();
    assert_eq!(scene.act(&plan).await.unwrap(), "a: applied");
    assert_eq!(scene.live_text("a").as_deref(), Some("one\nthree\n"));
    assert!(scene.plan(json!({ "path": "a" })).unwrap_err().contains("there is nothing to do"));
    assert!(scene.plan(json!({ "path": "b" })).unwrap_err().contains("Nothing was rehearsed at b"));
}

#[tokio::test]
async fn conflict_before_or_after_the_prompt_overwrites_nothing() {
    let scene = RehearsedProject::new(&[("a", "one\n"), ("b", "one\n")]);
    scene.rehearse_write("a", "two\n");
    scene.rehearse_write("b", "two\n");
    scene.rehearse_deletion("a2");
    let plan = scene.plan(json!({ "path": "b" })).unwrap();
    for path in ["a", "b"] {
        fs::write(scene.folder.path().join("project").join(path), "mine\n").unwrap();
    }
    assert!(scene.plan(json!({ "path": "a" })).unwrap_err().starts_with("CONFLICT: a changed since"));
    assert!(scene.act(&plan).await.unwrap_err().starts_with("CONFLICT: b"));
    assert_eq!((scene.live_text("a").unwrap(), scene.live_text("b").unwrap()), ("mine\n".into(), "mine\n".into()));
}

#[tokio::test]
async fn hunks_can_be_applied_one_by_one_in_any_order() {
    let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n5\n", "\nfive\nmore\n").replace("\n30\n", "\n");
    let scene = RehearsedProject::new(&[("a", &before)]);
    scene.rehearse_write("a", &after);
    for line in [28, 2] {
        let plan = scene.plan(json!({ "path": "a", "line": line })).unwrap();
        let Preview::Edit(diff) = &plan.preview else { panic!("{:?}", plan.preview) };
        assert_eq!(diff.hunks.len(), 1);
        scene.act(&plan).await.unwrap();
    }
    assert_eq!(scene.live_text("a").as_deref(), Some(after.as_str()));
    let words = scene.plan(json!({ "path": "a", "line": 2 })).unwrap_err();
    assert!(words.contains("there is nothing to do"), "{words}");
    scene.rehearse_write("a", "all\nnew\n");
    let words = scene.plan(json!({ "path": "a", "line": 7 })).unwrap_err();
    assert!(words.contains("No hunk starts at line 7"), "{words}");
}

#[tokio::test]
async fn deleting_a_folder_deletes_only_its_rehearsed_contents() {
    let scene = RehearsedProject::new(&[("x", "1\n2\n"), ("old/a", "a"), ("old/deep/b", "b")]);
    scene.rehearse_deletion("x");
    scene.rehearse_deletion("old");
    let plan = scene.plan(json!({ "path": "x" })).unwrap();
    let Preview::Edit(diff) = &plan.preview else { panic!("{:?}", plan.preview) };
    assert_eq!(diff.note.as_deref(), Some("deletes the file"), "it is not deleted yet");
    assert_eq!((plan.title.as_str(), plan.destroys.as_deref()), ("Apply: delete x?", Some("deletes x")));
    scene.act(&plan).await.unwrap();
    let plan = scene.plan(json!({ "path": "old" })).unwrap();
    assert_eq!(plan.destroys.as_deref(), Some("deletes old and the 3 files and folders in it"));
    assert!(matches!(&plan.preview, Preview::Text(text) if text.contains("old/deep/b")), "{:?}", plan.preview);
    fs::write(scene.folder.path().join("project/old/mine"), "x").unwrap();
    let words = scene.act(&plan).await.unwrap_err();
    assert!(words.contains("CONFLICT") || words.contains("has changed"), "{words}");
    assert_eq!(scene.live_text("old/a").as_deref(), Some("a"));
    fs::remove_file(scene.folder.path().join("project/old/mine")).unwrap();
    scene.act(&plan).await.unwrap();
    assert_eq!((scene.live_text("x"), scene.folder.path().join("project/old").exists()), (None, false));
}

#[test]
fn sensitive_path_counts_as_outside_and_tool_is_not_offered() {
    let scene = RehearsedProject::new(&[]);
    scene.rehearse_write(".git/hooks/pre-commit", "#!/bin/sh\n");
    let plan = scene.plan(json!({ "path": ".git/hooks/pre-commit" })).unwrap();
    assert!(matches!(plan.access, Access::WriteOutside(_)), "{:?}", plan.access);
    let tools = super::super::Toolbox::from_tools(vec![Arc::new(ApplyChange::new(scene.rehearsal.clone()))]);
    assert_eq!((tools.tool_specs(), tools.sub_agent_specs()), (vec![], vec![]));
    assert!(tools.find_tool(APPLY_CHANGE).is_ok());
}

#[test]
fn finds_non_unicode_name_if_unambiguous() {
    use std::os::unix::ffi::OsStrExt;
    let scene = RehearsedProject::new(&[]);
    let upper = scene.folder.path().join("layer/upper");
    fs::create_dir_all(&upper).unwrap();
    fs::write(upper.join(std::ffi::OsStr::from_bytes(b"a\xff")), "x").unwrap();
    assert!(scene.plan(json!({ "path": "a\u{fffd}" })).is_ok());
    fs::write(upper.join(std::ffi::OsStr::from_bytes(b"a\xfe")), "x").unwrap();
    assert!(scene.plan(json!({ "path": "a\u{fffd}" })).unwrap_err().contains("not Unicode"));
}

#[test]
fn r32_title_names_only_plain_file_names() {
    let long = "n".repeat(60);
    for (path, title) in [
        ("src/retry.rs", "Apply: create retry.rs?"),
        ("\u{8bf4}\u{660e}.txt", "Apply: create \u{8bf4}\u{660e}.txt?"),
        ("y yes \u{2500}\u{256e}", "Apply: create a file?"),
        (long.as_str(), "Apply: create a file?"),
    ] {
        let scene = RehearsedProject::new(&[]);
        scene.rehearse_write(path, "x\n");
        assert_eq!(scene.plan(json!({ "path": path })).unwrap().title, title);
    }
}

#[tokio::test]
async fn r14_contents_of_a_deleted_folder_are_judged_with_it() {
    let scene =
        RehearsedProject::new(&[("plain/a", "a"), ("home/config/rules.toml", "x"), ("repository/.git/config", "x")]);
    for folder in ["plain", "home", "repository"] {
        scene.rehearse_deletion(folder);
    }
    let own = scene.disk.root().join("home/config");
    let disk = Arc::new(Disk::new(scene.disk.root()).unwrap().with_own_files(OwnFiles::new(vec![own], Vec::new())));
    let rehearsal = Arc::new(Rehearsal::new(disk.clone(), scene.folder.path().join("layer")));
    let scene = RehearsedProject { rehearsal, disk, ..scene };
    let access = |folder: &str| scene.plan(json!({ "path": folder })).unwrap().access;
    assert_eq!(access("plain"), Access::Write("plain".into()));
    assert_eq!(access("home"), Access::AyeFiles("home".into()), "aye's own settings are deleted with it");
    assert_eq!(access("repository"), Access::WriteOutside("repository".into()));
    let plan = scene.plan(json!({ "path": "home" })).unwrap();
    scene.act(&plan).await.unwrap();
    assert_eq!(scene.live_text("home/config/rules.toml"), None);
}

#[tokio::test]
async fn outside_project_applies_files_of_tools_but_not_of_commands() {
    let scene = RehearsedProject::new(&[]);
    let base = scene.folder.path().canonicalize().unwrap();
    let path = |name: &str| base.join("out").join(name).to_str().unwrap().to_owned();
    fs::create_dir(base.join("out")).unwrap();
    fs::write(path("old"), "one\n").unwrap();
    for (name, text) in [("new/deep", "new\n"), ("old", "two\n"), ("command", "mine\n")] {
        scene.rehearse_write(&path(name), text);
    }
    let upper = base.join("layer/outside/upper").join(path("command").trim_start_matches('/'));
    fs::write(upper, "by a command\n").unwrap();
    let plan = scene.plan(json!({ "path": path("new/deep") })).unwrap();
    assert_eq!(plan.access, Access::WriteOutside(path("new/deep").into()));
    assert_eq!(plan.destroys, Some(format!("changes {}, outside the project", path("new/deep"))));
    assert!(matches!(&plan.preview, Preview::Edit(diff) if diff.added == 1), "{:?}", plan.preview);
    scene.act(&plan).await.unwrap();
    assert_eq!(fs::read_to_string(path("new/deep")).unwrap(), "new\n");
    assert!(scene.plan(json!({ "path": path("new/deep") })).unwrap_err().contains("nothing to do"));
    assert!(scene.plan(json!({ "path": path("command") })).unwrap_err().contains("run the command live"));
    // The real file changes after the prompt is shown, and before.
    let plan = scene.plan(json!({ "path": path("old") })).unwrap();
    fs::write(path("old"), "mine\n").unwrap();
    assert!(scene.act(&plan).await.unwrap_err().starts_with("CONFLICT"));
    assert!(scene.plan(json!({ "path": path("old") })).unwrap_err().starts_with("CONFLICT"));
    assert_eq!(fs::read_to_string(path("old")).unwrap(), "mine\n");
    fs::write(path("old"), "one\n").unwrap();
    scene.act(&plan).await.unwrap();
    assert_eq!(fs::read_to_string(path("old")).unwrap(), "two\n");
    assert!(!std::path::Path::new(&path("command")).exists());
}

#[tokio::test]
async fn outside_file_is_not_applied_through_a_new_link() {
    let scene = RehearsedProject::new(&[]);
    let base = scene.folder.path().canonicalize().unwrap();
    let path = base.join("out/file").to_str().unwrap().to_owned();
    fs::create_dir_all(base.join("out")).unwrap();
    fs::create_dir(base.join("other")).unwrap();
    scene.rehearse_write(&path, "new\n");
    let plan = scene.plan(json!({ "path": path })).unwrap();
    fs::remove_dir(base.join("out")).unwrap();
    std::os::unix::fs::symlink("other", base.join("out")).unwrap();
    assert!(scene.act(&plan).await.is_err());
    assert!(fs::read_dir(base.join("other")).unwrap().next().is_none());
}
