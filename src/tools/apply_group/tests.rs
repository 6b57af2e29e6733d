//! Tests the outcome of applying a group.

use super::*;
use crate::chat::Rejected;
use crate::policy::ExcludedPaths;
use crate::project::checkpoints::CallRecorder;
use crate::project::disk::Disk;
use crate::project::shell::Shell;
use crate::project::{Reader, Writer};
use std::fs;

#[tokio::test]
async fn outcome_names_applied_rejected_and_conflicting_files() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("project");
    fs::create_dir(&root).unwrap();
    let disk = Arc::new(Disk::new(&root).unwrap());
    let rehearsal = Arc::new(Rehearsal::new(disk.clone(), directory.path().join("layer")));
    let tool = ApplyGroup(rehearsal.clone());
    let source = json!({ "group": "source" });
    let plan_error = |arguments: &Value| tool.plan_call(arguments, &*disk).unwrap_err().to_string();
    assert_eq!(plan_error(&source), "There are no source changes to apply.");
    for name in ["a", "b", "c", "d"] {
        fs::write(root.join(name), "one\n").unwrap();
        let location = rehearsal.locate(name).unwrap();
        rehearsal.write(&location, Some(b"one\n"), b"two\n").unwrap();
    }
    fs::write(root.join("c"), "mine\n").unwrap();
    let Ok(Intent::Act(mut plan)) = tool.plan_call(&source, &*disk) else { panic!("no plan") };
    assert_eq!(plan.summary, "source changes: 4 changes, +4 −4, 1 cannot be applied");
    fs::write(root.join("d"), "mine\n").unwrap();
    // Without a list of hunks, the whole file `b` is rejected.
    assert!(plan.set_rejected(&[Rejected { item: 1, hunks: vec![] }]));
    let context = LiveContext {
        project: disk.clone(),
        shell: Arc::new(Shell::new("/nowhere".into())),
        excluded: ExcludedPaths::default(),
        runs_in_parts: false,
        recorder: Arc::new(CallRecorder::disabled()),
        results: crate::tools::ResultFiles::default(),
        progress: Arc::new(|_| {}),
    };
    let outcome = tool.run(&plan, &context).await.unwrap();
    let lines: Vec<&str> = outcome.lines().collect();
    assert_eq!(lines[..5], ["source changes: 1 of 4 applied.", "Applied: 1", "  a", "Rejected by the user: 1", "  b"]);
    assert_eq!(lines[5], "Not applied: 2");
    assert!(lines[6].starts_with("  c: CONFLICT") && lines[7].starts_with("  d: CONFLICT"), "{outcome}");
    let read_text = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    assert_eq!(["a", "b", "c", "d"].map(read_text), ["two\n", "one\n", "mine\n", "mine\n"]);
    // If every file is in conflict there is no prompt.
    for name in ["b", "c", "d"] {
        fs::write(root.join(name), "mine\n").unwrap();
    }
    let why = plan_error(&source);
    assert!(why.starts_with("None of the source changes can be applied:") && why.contains("CONFLICT: b"), "{why}");
    assert!(plan_error(&json!({ "group": "everything" })).contains("group"));
    assert!(!tool.is_offered());
}
