//! Tests of `get_doc_page`.

use super::*;
use crate::policy::{Rule, RuleEffect, RuleTarget, Rules};
use crate::project::checkpoints::CallRecorder;
use crate::project::shell::Shell;
use crate::project::test_project::RehearsedProject;
use crate::tools::doc_sources::DocFolder;
use crate::tools::long_text::MAX_SHOWN_BYTES;
use std::fs;
use std::os::unix::fs::symlink;

struct Fixture {
    project: RehearsedProject,
    tool: GetDocPage,
    excluded: ExcludedPaths,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = RehearsedProject::new(files);
        let notes = project.folder.path().canonicalize().unwrap().join("notes");
        fs::create_dir(&notes).unwrap();
        fs::write(notes.join("n.md"), "# Note\nOf the user.\n").unwrap();
        fs::write(notes.join(".env"), "SECRET").unwrap();
        fs::write(notes.join("secrets.md"), "SECRET").unwrap();
        fs::write(project.folder.path().join("outside.md"), "SECRET").unwrap();
        symlink("../outside.md", notes.join("out.md")).unwrap();
        let folders = vec![DocFolder { path: notes, shown: "~/notes".to_owned() }];
        let tool = GetDocPage(Arc::new(DocLibrary::new(folders)));
        Self { project, tool, excluded: ExcludedPaths::default() }
    }

    async fn get(&self, path: &str) -> Result<String, String> {
        self.get_as_planned(path, || ()).await
    }

    /// Calls the tool, with a change between the plan and the call.
    async fn get_as_planned(&self, path: &str, change: impl FnOnce()) -> Result<String, String> {
        let planned = self.tool.plan_call(&json!({ "path": path }), &*self.project.disk);
        let Intent::Act(plan) = planned.map_err(|error| error.to_string())? else { panic!("it acts") };
        change();
        let context = LiveContext {
            project: self.project.disk.clone(),
            shell: Arc::new(Shell::new("/nowhere".into())),
            excluded: self.excluded.clone(),
            runs_in_parts: false,
            recorder: Arc::new(CallRecorder::disabled()),
            results: ResultFiles::default(),
            progress: Arc::new(|_| {}),
        };
        self.tool.run(&plan, &context).await.map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn a_page_has_its_path_and_title() {
    let fixture =
        Fixture::new(&[("docs/a.md", "# A page\n\nText.\n"), ("README", "Plain.\n"), ("docs/line\nbreak.md", "B")]);
    assert_eq!(fixture.get("docs/a.md").await.unwrap(), "docs/a.md: A page\n\n# A page\n\nText.\n");
    assert_eq!(fixture.get("README").await.unwrap(), "README: README\n\nPlain.\n");
    assert_eq!(fixture.get("notes/n.md").await.unwrap(), "notes/n.md: Note\n\n# Note\nOf the user.\n");
    assert!(fixture.get("aye/mcp").await.unwrap().starts_with("aye/mcp: MCP servers\n\n# MCP servers\n"));
    // The spellings of a search and of other tools.
    for path in ["docs/a.md:12", "./docs/a.md", "docs/./a.md", " docs/a.md\n"] {
        assert!(fixture.get(path).await.unwrap().starts_with("docs/a.md: A page\n"), "{path}");
    }
    assert!(fixture.get("docs/line\\nbreak.md").await.unwrap().starts_with("docs/line\\nbreak.md: "));
    assert!(fixture.get("notes/n.md:2").await.unwrap().starts_with("notes/n.md: Note\n"));
}

#[tokio::test]
async fn r13_only_documents_are_returned() {
    let fixture = Fixture::new(&[
        ("docs/a.md", "A"),
        ("docs/.env", "SECRET"),
        ("docs/secrets.md", "SECRET"),
        ("docs/ignored.md", "SECRET"),
        (".gitignore", "ignored.md\n"),
        ("src/main.rs", "SECRET"),
        ("notes.md", "SECRET"),
        ("docs/bin.md", "SECRET\0"),
    ]);
    symlink("../../outside.md", fixture.project.live_path("docs/out.md")).unwrap();
    symlink("secrets.md", fixture.project.live_path("docs/link.md")).unwrap();
    fs::hard_link(fixture.project.live_path("docs/secrets.md"), fixture.project.live_path("docs/hard.md")).unwrap();
    let absolute = fixture.project.live_path("docs/a.md").display().to_string();
    for path in [
        "",
        " ",
        "/",
        "..",
        ".",
        "~",
        "~/notes/n.md",
        "a\0b",
        "/etc/passwd",
        &absolute,
        "../outside.md",
        "docs/../../outside.md",
        "docs/../src/main.rs",
        "notes/../outside.md",
        "docs",
        "docs/none.md",
        "docs/.env",
        "docs/secrets.md",
        "docs/ignored.md",
        "src/main.rs",
        "notes.md",
        "docs/bin.md",
        "docs/out.md",
        "docs/link.md",
        "docs/hard.md",
        "aye",
        "aye/",
        "aye/none",
        "aye/../docs/a.md",
        "notes",
        "notes/",
        "notes/.env",
        "notes/secrets.md",
        "notes/out.md",
        "notes/none.md",
        "notes//etc/passwd",
        "other/n.md",
        "docs/a.md/x",
        "docs/a.md:x",
    ] {
        let error = fixture.get(path).await.expect_err(path);
        assert!(!error.contains("SECRET"), "{path}: {error}");
    }
    let error = fixture.get("src/main.rs").await.unwrap_err();
    assert_eq!(error, "src/main.rs is not one of the documents that search_docs searches. Use read_file.");
    let error = fixture.get("docs/none.md").await.unwrap_err();
    assert_eq!(error, "There is no document docs/none.md. Find one with search_docs.");
    let error = fixture.get("docs/secrets.md").await.unwrap_err();
    assert_eq!(
        error,
        "docs/secrets.md may hold secrets, so this tool does not read it. Use read_file; the user is asked."
    );
    let error = fixture.get("docs/ignored.md").await.unwrap_err();
    assert_eq!(
        error,
        "docs/ignored.md is not one of the documents, or a rule of the user excludes it. Find one with search_docs."
    );
}

#[tokio::test]
async fn rules_apply_to_pages() {
    let mut fixture = Fixture::new(&[("docs/a.md", "A"), ("docs/deep/b.md", "B")]);
    symlink("deep/b.md", fixture.project.live_path("docs/link.md")).unwrap();
    let notes = fixture.tool.0.folders[0].path.display().to_string();
    let denied = ["docs/deep/**".to_owned(), format!("{notes}/**")]
        .map(|pattern| Rule::new(RuleEffect::Deny, RuleTarget::Path(pattern)));
    fixture.excluded = ExcludedPaths::for_tool(&Rules { list: denied.into(), ..Rules::default() }, NAME);
    assert!(fixture.get("docs/a.md").await.is_ok());
    for path in ["docs/deep/b.md", "docs/link.md", "notes/n.md"] {
        let error = fixture.get(path).await.expect_err(path);
        assert!(error.contains("a rule of the user excludes it"), "{path}: {error}");
    }
    // What the user was asked about is read; the name of a link was not asked about.
    let asked = Rule::new(RuleEffect::Ask, RuleTarget::Path("docs/**".to_owned()));
    fixture.excluded = ExcludedPaths::for_tool(&Rules { list: vec![asked], ..Rules::default() }, NAME);
    for path in ["docs/a.md", "docs/deep/b.md", "docs/link.md", "notes/n.md"] {
        assert!(fixture.get(path).await.is_ok(), "{path}");
    }
    let asked = Rule::new(RuleEffect::Ask, RuleTarget::Path("docs/link.md".to_owned()));
    fixture.excluded = ExcludedPaths::for_tool(&Rules { list: vec![asked], ..Rules::default() }, NAME);
    assert!(fixture.get("docs/link.md").await.unwrap_err().contains("excludes it"));
    // The policy judges the path of a document in the project, and it has none of a page elsewhere.
    let access = |path: &str| match fixture.tool.plan_call(&json!({ "path": path }), &*fixture.project.disk).unwrap() {
        Intent::Act(plan) => (plan.access, plan.summary),
        Intent::Ask(questions) => panic!("{questions:?}"),
    };
    assert_eq!(access("docs/a.md"), (Access::Read(vec!["docs/a.md".into()]), "docs/a.md".to_owned()));
    assert_eq!(access("docs/link.md").0, Access::Read(vec!["docs/deep/b.md".into()]));
    assert_eq!(access("notes/n.md"), (Access::Read(Vec::new()), "notes/n.md in ~/notes".to_owned()));
    assert_eq!(access("aye/mcp"), (Access::Read(Vec::new()), "aye/mcp".to_owned()));
}

#[tokio::test]
async fn a_file_that_becomes_a_link_after_the_plan_is_refused() {
    let fixture = Fixture::new(&[("docs/a.md", "A"), ("docs/secrets.md", "SECRET")]);
    let path = fixture.project.live_path("docs/a.md");
    let replaced = fixture.get_as_planned("docs/a.md", || {
        fs::remove_file(&path).unwrap();
        symlink("secrets.md", &path).unwrap();
    });
    let error = replaced.await.unwrap_err();
    assert!(error.contains("has changed") && !error.contains("SECRET"), "{error}");
}

#[tokio::test]
async fn long_pages_are_cut() {
    let fixture =
        Fixture::new(&[("docs/long.md", &"é and more\n".repeat(8_000)), ("docs/large.md", &"x\n".repeat(600_000))]);
    let page = fixture.get("docs/long.md").await.unwrap();
    assert!(page.len() < MAX_SHOWN_BYTES + 200 && page.contains(" bytes omitted]"), "{}", page.len());
    let page = fixture.get("docs/large.md").await.unwrap();
    assert!(page.ends_with("[only the first 1.0 MB of 1.2 MB were read]"), "{}", &page[page.len() - 100..]);
}
