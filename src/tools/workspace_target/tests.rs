//! Tests of the tools of a workspace.

mod call_arguments;

use super::*;
use crate::chat::{Digest, GrantScope, Preview, ToolCall};
use crate::policy::ExcludedPaths;
use crate::project::checkpoints::CallRecorder;
use crate::project::overlay_sandbox::CommandRehearsal;
use crate::project::shell::Shell;
use crate::store::Places;
use crate::text::known_secrets::KnownSecrets;
use crate::tools::delete_workspace_file::DeleteWorkspaceFile;
use crate::tools::list_workspace_files::ListWorkspaceFiles;
use crate::tools::memory_project::MemoryProject;
use crate::tools::read_workspace_file::ReadWorkspaceFile;
use crate::tools::references::{Sources, plan_with_references};
use crate::tools::result_files::ResultFiles;
use crate::tools::tests::plan_call;
use crate::tools::write_workspace_file::WriteWorkspaceFile;
use crate::tools::{LiveContext, Tool};
use crate::workspace::{Limits, NewFile, Origin, Replaces, Secrecy};
use serde_json::{Value, json};

const OWN: &str = "01JDXA0000000000000000000Z";
const OTHER: &str = "01JDXA0000000000000000000Y";

struct Scene {
    home: tempfile::TempDir,
    own: Arc<Workspace>,
    files: Arc<MemoryProject>,
}

impl Scene {
    fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let home = tempfile::tempdir().unwrap();
        let places = Places::within(home.path());
        std::fs::create_dir_all(places.sessions()).unwrap();
        std::fs::write(places.session(&SessionId(OTHER.into())), "").unwrap();
        let own = Arc::new(Workspace::new(&places, SessionId(OWN.into()), limits));
        let files = MemoryProject::with_files(&[("data.csv", "a,b\n"), (".env", "KEY=1")]);
        Self { home, own, files }
    }

    fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let own = self.own.clone();
        match name {
            "list" => Arc::new(ListWorkspaceFiles(own)),
            "read" => Arc::new(ReadWorkspaceFile(own)),
            "write" => Arc::new(WriteWorkspaceFile(own)),
            _ => Arc::new(DeleteWorkspaceFile(own)),
        }
    }

    fn plan(&self, tool: &str, arguments: Value) -> Result<Plan, String> {
        plan_call(&*self.tool(tool), arguments, &self.files).map_err(|error| error.to_string())
    }

    async fn run(&self, tool: &str, plan: &Plan) -> Result<String, String> {
        let context = LiveContext {
            project: Arc::new(self.files.clone()),
            shell: Arc::new(Shell::new("/nowhere".into())),
            excluded: ExcludedPaths::default(),
            runs_in_parts: false,
            recorder: Arc::new(CallRecorder::disabled()),
            results: ResultFiles::new(Some(self.own.clone()), &scene_call(tool), KnownSecrets::default()),
            progress: Arc::new(|_| {}),
        };
        self.tool(tool).run(plan, &context).await.map_err(|error| error.to_string())
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let plan = self.plan(tool, arguments)?;
        self.run(tool, &plan).await
    }

    async fn rehearse(&self, tool: &str, plan: &Plan, is_approved: bool) -> RehearsalOutcome {
        let context = RehearsalContext {
            project: Arc::new(self.files.clone()),
            commands: CommandRehearsal::Simulated("x".into()),
            is_hidden: false,
            is_approved,
            has_simulator: false,
            excluded: ExcludedPaths::default(),
            results: ResultFiles::default(),
            progress: Arc::new(|_| {}),
        };
        self.tool(tool).rehearse(plan, &context).await.unwrap()
    }
}

fn scene_call(tool: &str) -> ToolCall {
    ToolCall { id: "c7".into(), name: format!("{tool}_workspace_file"), arguments: "{}".into() }
}

/// The access to a workspace; panics for another one.
fn access(plan: &Plan) -> WorkspaceAccess {
    match &plan.access {
        Access::Workspace(access) => (**access).clone(),
        other => panic!("{other:?}"),
    }
}

/// Such a call is never allowed without a prompt, and needs a capital key.
#[tokio::test]
async fn a_change_of_a_file_whose_versions_are_not_kept_destroys_it() {
    for limits in [Limits { old_versions: 0, ..Limits::default() }, Limits { old_bytes: 3, ..Limits::default() }] {
        let scene = Scene::with_limits(limits);
        let new = scene.plan("write", json!({ "path": "a", "content": "long" })).unwrap();
        assert_eq!(new.destroys, None);
        scene.run("write", &new).await.unwrap();
        let replace = json!({ "path": "a", "content": "longer", "overwrite": true });
        let replace_bytes = json!({ "path": "a", "content_base64": "AAECAwQFBg==", "overwrite": true });
        for (tool, arguments, text) in [
            ("write", replace, "Replace a workspace file without keeping version 1?"),
            ("write", replace_bytes, "replaces version 2, which the settings do not keep"),
            ("delete", json!({ "path": "a" }), "Cannot be restored: the settings keep no version of this size"),
        ] {
            let plan = scene.plan(tool, arguments).unwrap();
            assert_eq!(plan.destroys.as_deref(), Some("a"));
            let shown = format!("{} {:?}", plan.title, plan.preview);
            assert!(shown.contains(text), "{shown}");
            assert!(!scene.run(tool, &plan).await.unwrap().contains("kept"));
        }
    }
}

#[tokio::test]
async fn a_file_is_written_listed_read_and_deleted() {
    let scene = Scene::new();
    assert_eq!(scene.call("list", json!({})).await.unwrap(), "No files.");
    let plan = scene.plan("write", json!({ "path": "/reports/q1.md", "content": "# Q1\n" })).unwrap();
    assert_eq!(plan.preview, Preview::Text("reports/q1.md\n5 bytes\n\n# Q1\n".into()));
    assert_eq!((access(&plan).changes, access(&plan).session), (true, None));
    assert_eq!(plan.grant.as_ref().unwrap().scope, GrantScope::Workspace);
    let written = scene.run("write", &plan).await.unwrap();
    let id = written.split_once("workspace://").unwrap().1[..26].to_owned();
    assert!(written.contains("(5 bytes, text/markdown, version 1)"), "{written}");
    let listed = scene.call("list", json!({ "path_prefix": "reports" })).await.unwrap();
    assert_eq!(listed, format!("1 file, 5 bytes\n{id}  reports/q1.md  5 bytes · text/markdown"));
    assert_eq!(scene.call("list", json!({ "path_prefix": "rep" })).await.unwrap(), "No files.");
    let text = "reports/q1.md · version 1 · text/markdown · characters 0-4 of 5\n# Q1\n";
    for arguments in [
        json!({ "path": "reports/q1.md" }),
        json!({ "file_id": id, "path": "" }),
        json!({ "file_id": format!("workspace://{id}@1#text/markdown") }),
        json!({ "path": "workspace:///reports/q1.md" }),
    ] {
        let plan = scene.plan("read", arguments.clone()).unwrap();
        assert!(!access(&plan).changes && plan.grant.is_none());
        assert_eq!(scene.run("read", &plan).await.unwrap(), text, "{arguments}");
    }
    let error = scene.plan("write", json!({ "path": "reports/q1.md", "content": "x" })).unwrap_err();
    assert_eq!(error, "reports/q1.md exists. Set overwrite to true to replace it; its earlier versions are kept.");
    let plan = scene.plan("write", json!({ "path": "reports/q1.md", "content": "x", "overwrite": true })).unwrap();
    assert_eq!(plan.title, "Replace a workspace file and keep version 1?");
    assert!(matches!(&plan.preview, Preview::Edit(diff) if (diff.added, diff.removed) == (1, 1)), "{:?}", plan.preview);
    let bytes = json!({ "path": "reports/q1.md", "content_base64": "AAE=", "overwrite": true });
    let preview = scene.plan("write", bytes).unwrap().preview;
    assert!(
        matches!(&preview, Preview::Text(text) if text.contains("replaces version 1, which is kept")),
        "{preview:?}"
    );
    assert!(scene.run("write", &plan).await.unwrap().contains(&format!("workspace://{id} (1 byte")));
    let deletion = scene.plan("delete", json!({ "file_id": id })).unwrap();
    assert_eq!(deletion.grant.as_ref().unwrap().scope, GrantScope::Workspace);
    assert!(scene.plan("delete", json!({ "file_id": format!("{id}@1") })).is_err());
    scene.run("delete", &deletion).await.unwrap();
    assert!(scene.run("delete", &deletion).await.is_err(), "what was planned is gone");
    let error = scene.plan("read", json!({ "path": "reports/q1.md" })).unwrap_err();
    assert!(error.contains("There is no file /reports/q1.md in the workspace. list_workspace_files"), "{error}");
    let old = scene.call("read", json!({ "file_id": format!("{id}@1") })).await.unwrap();
    assert!(old.ends_with("\n# Q1\n"), "{old}");
    let versions = scene.own.list_versions(&format!("{id}@1").parse().unwrap()).unwrap();
    assert_eq!(
        versions[0].0.origin,
        Origin { tool: "write_workspace_file".into(), call: "c7".into(), ..Origin::default() }
    );
}

#[tokio::test]
async fn ranges_are_characters() {
    let scene = Scene::new();
    scene.call("write", json!({ "path": "a", "content": "äöü€🙂" })).await.unwrap();
    for (offset, length, expected) in [
        (0, Some(2), " · characters 0-1 of 5 · continue with offset 2\näö"),
        (2, None, " · characters 2-4 of 5\nü€🙂"),
        (2, Some(0), " · characters 2-4 of 5\nü€🙂"),
        (5, None, " · no text from character 5 on, 5 characters\n"),
        (99, Some(1), " · no text from character 99 on, 5 characters\n"),
    ] {
        let read = scene.call("read", json!({ "path": "a", "offset": offset, "length": length })).await.unwrap();
        assert!(read.ends_with(&format!("text/plain{expected}")), "{read}");
    }
    assert!(scene.plan("read", json!({ "path": "a", "offset": -1 })).is_err());
    let text: String = (0..20_000).map(|number| format!("{number}é\n")).collect();
    scene.call("write", json!({ "path": "long", "content": text })).await.unwrap();
    let (mut joined, mut offset) = (String::new(), 0);
    loop {
        let read = scene.call("read", json!({ "path": "long", "offset": offset })).await.unwrap();
        let (facts, part) = read.split_once('\n').unwrap();
        joined.push_str(part);
        let Some((_, next)) = facts.split_once("continue with offset ") else { break };
        offset = next.parse::<usize>().unwrap();
    }
    assert!(joined == text);
}

#[tokio::test]
async fn bytes_are_described_and_not_read() {
    let scene = Scene::new();
    let written =
        scene.call("write", json!({ "path": "a.png", "content_base64": "iVBORw0KGgoAAAAN SUhEUg==" })).await.unwrap();
    assert!(written.contains("16 bytes, image/png"), "{written}");
    let read = scene.call("read", json!({ "path": "a.png" })).await.unwrap();
    assert!(read.contains("image/png · 16 bytes. It is not text") && read.contains("workspace://"), "{read}");
    for (arguments, part) in [
        (json!({ "path": "b" }), "Give content, content_base64 or source_path."),
        (json!({ "path": "b", "content": "x", "content_base64": "eA==" }), "Give only one of"),
        (json!({ "path": "b", "content_base64": "%" }), "Cannot decode content_base64"),
        (json!({ "content": "x", "path": "", "filename": "" }), "Give path, or filename"),
        (json!({ "path": "b", "content": "x", "mime_type": "csv" }), "“csv”: expected a type such as text/csv"),
        (json!({ "path": "../b", "content": "x" }), "“.” and “..” are not names of files"),
        (json!({ "path": "b", "source_path": "missing" }), "there is no file missing"),
    ] {
        let error = scene.plan("write", arguments).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    assert!(scene.call("write", json!({ "path": "empty", "content": "", "source_path": "" })).await.is_ok());
}

#[tokio::test]
async fn a_copy_is_the_planned_content_and_a_sensitive_file_asks() {
    let scene = Scene::new();
    let plan = scene.plan("write", json!({ "path": "data.csv", "source_path": "data.csv" })).unwrap();
    assert_eq!(access(&plan).copied_file.as_deref(), Some(std::path::Path::new("data.csv")));
    assert_eq!(plan.preview, Preview::Text("data.csv\na copy of data.csv, 4 bytes".into()));
    assert!(scene.run("write", &plan).await.unwrap().contains("4 bytes, text/csv"));
    let file = scene.own.find(&"workspace:///data.csv".parse::<WorkspaceAddress>().unwrap().target).unwrap();
    assert_eq!(file.sha256, Digest::of_bytes(b"a,b\n"));
    let location = planned_location(&scene, "data.csv");
    crate::project::Writer::write(&scene.files, &location, Some(b"a,b\n"), b"other").unwrap();
    let error = scene.run("write", &plan).await.unwrap_err();
    assert!(error.contains("has changed since the plan was made"), "{error}");
    for (path, shown) in [(".env", ".env"), ("../missing", "/missing")] {
        let plan = scene.plan("write", json!({ "path": "env", "source_path": path })).unwrap();
        assert_eq!((&plan.access, &plan.grant), (&Access::ReadSensitive(shown.into()), &None));
        assert!(matches!(scene.rehearse("write", &plan, false).await, RehearsalOutcome::NotRun(_)), "{path}");
        assert!(matches!(&plan.preview, Preview::Text(text) if !text.contains("bytes")), "its size is not disclosed");
    }
    let other = format!("/sessions/{OTHER}/env");
    let error = scene.plan("write", json!({ "path": other, "source_path": ".env" })).unwrap_err();
    assert!(error.contains("may hold secrets"), "{error}");
}

#[tokio::test]
async fn a_stored_secret_is_read_with_approval_only() {
    let scene = Scene::new();
    let copy = scene.plan("write", json!({ "path": "notes.txt", "source_path": ".env" })).unwrap();
    scene.run("write", &copy).await.unwrap();
    let read = scene.plan("read", json!({ "path": "notes.txt" })).unwrap();
    assert_eq!(read.access, Access::ReadSensitive("workspace:///notes.txt".into()));
    assert!(matches!(scene.rehearse("read", &read, false).await, RehearsalOutcome::NotRun(_)));
    assert!(scene.run("read", &read).await.unwrap().contains("KEY=1"), "an approved call reads it");
    let sources = Sources { project: &scene.files, workspace: Some(&scene.own) };
    let write = scene.tool("write");
    let arguments = json!({ "path": "b", "content": "@@file:workspace:///notes.txt" });
    let error = plan_with_references(&*write, &arguments, &sources).unwrap_err().to_string();
    assert!(error.contains("may hold secrets"), "{error}");
    // Its next version is not a copy of the secret.
    scene.call("write", json!({ "path": "notes.txt", "content": "x", "overwrite": true })).await.unwrap();
    access(&scene.plan("read", json!({ "path": "notes.txt" })).unwrap());
}

#[tokio::test]
async fn a_result_that_may_hold_secrets_is_not_for_other_sessions() {
    let scene = Scene::new();
    let other = Arc::new(scene.own.of_session(&SessionId(OTHER.into())).unwrap());
    for (workspace, path) in [(&scene.own, "own.txt"), (&other, "other.txt")] {
        let path = crate::text::workspace_address::WorkspacePath::parse(path).unwrap();
        let origin = Origin { secrecy: Secrecy::Result, ..Origin::default() };
        workspace
            .write(&NewFile { path: &path, bytes: b"KEY=1", origin, replaces: Replaces::Nothing, media_type: None })
            .unwrap();
    }
    access(&scene.plan("read", json!({ "path": "own.txt" })).unwrap());
    let path = format!("/sessions/{OTHER}/other.txt");
    let read = scene.plan("read", json!({ "path": path })).unwrap();
    assert_eq!(read.access, Access::ReadSensitive(format!("workspace://{path}").into()));
}

#[tokio::test]
async fn a_write_replaces_only_the_version_that_was_shown() {
    let scene = Scene::new();
    scene.call("write", json!({ "path": "a", "content": "one" })).await.unwrap();
    let plan = scene.plan("write", json!({ "path": "a", "content": "two", "overwrite": true })).unwrap();
    let new = scene.plan("write", json!({ "path": "b", "content": "x", "overwrite": true })).unwrap();
    for path in ["a", "b"] {
        scene.call("write", json!({ "path": path, "content": "by another", "overwrite": true })).await.unwrap();
    }
    let error = scene.run("write", &plan).await.unwrap_err();
    assert!(error.contains("a was not replaced: it has a newer version 2"), "{error}");
    assert!(scene.run("write", &new).await.unwrap_err().contains("b exists"));
    assert!(scene.call("read", json!({ "path": "a" })).await.unwrap().ends_with("by another"));
}

fn planned_location(scene: &Scene, path: &str) -> crate::project::Location {
    crate::project::Reader::locate(&scene.files, path).unwrap()
}

#[tokio::test]
async fn the_workspace_of_another_session_is_shown_and_never_granted() {
    let scene = Scene::new();
    let path = format!("/sessions/{OTHER}/a.txt");
    let plan = scene.plan("write", json!({ "path": path, "content": "x" })).unwrap();
    assert_eq!((plan.summary.as_str(), &plan.grant), (path.as_str(), &None));
    assert_eq!(access(&plan).session, Some(SessionId(OTHER.into())));
    assert!(matches!(scene.rehearse("write", &plan, true).await, RehearsalOutcome::Simulate(_)));
    assert!(scene.plan("read", json!({ "path": path })).is_err(), "a rehearsal writes nothing there");
    scene.run("write", &plan).await.unwrap();
    let read = scene.plan("read", json!({ "path": path })).unwrap();
    assert_eq!((read.summary.as_str(), access(&read).changes), (path.as_str(), false));
    assert!(scene.run("read", &read).await.unwrap().starts_with(&path));
    let listed = scene.call("list", json!({ "path_prefix": format!("/sessions/{OTHER}/") })).await.unwrap();
    assert!(listed.contains(&path), "{listed}");
    let deletion = scene.plan("delete", json!({ "path": path })).unwrap();
    assert_eq!((access(&deletion).session.is_some(), &deletion.grant), (true, &None));
    let own = scene.plan("list", json!({ "path_prefix": format!("/sessions/{OWN}") })).unwrap();
    assert_eq!(access(&own).session, None);
    let unknown = scene.plan("list", json!({ "path_prefix": "/sessions/01JDXA0000000000000000000X" })).unwrap_err();
    assert!(unknown.contains("There is no session 01JDXA0000000000000000000X."), "{unknown}");
}

#[tokio::test]
async fn a_text_from_outside_stays_marked() {
    let scene = Scene::new();
    let path = crate::text::workspace_address::WorkspacePath::parse("results/x.txt").unwrap();
    let origin = Origin { untrusted_source: Some("a page of a.example".into()), ..Origin::default() };
    scene
        .own
        .write(&NewFile { path: &path, bytes: b"do this", origin, replaces: Replaces::Nothing, media_type: None })
        .unwrap();
    let plan = scene.plan("read", json!({ "path": "results/x.txt" })).unwrap();
    assert_eq!(access(&plan).untrusted_source.as_deref(), Some("a page of a.example"));
    let read = scene.run("read", &plan).await.unwrap();
    assert!(read.contains(crate::web::page_text::UNTRUSTED_MARK) && read.ends_with("\ndo this"), "{read}");
}

#[tokio::test]
async fn a_rehearsal_runs_in_the_workspace_of_its_session() {
    let scene = Scene::new();
    let plan = scene.plan("write", json!({ "path": "a", "content": "x" })).unwrap();
    assert!(matches!(scene.rehearse("write", &plan, false).await, RehearsalOutcome::Ran(_)));
    for (tool, arguments) in [("list", json!({})), ("read", json!({ "path": "a" })), ("delete", json!({ "path": "a" }))]
    {
        let plan = scene.plan(tool, arguments).unwrap();
        assert!(matches!(scene.rehearse(tool, &plan, false).await, RehearsalOutcome::Ran(_)), "{tool}");
    }
}
