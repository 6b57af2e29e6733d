//! Skills are read from real folders: what is returned, and that nothing else is.

use super::*;
use crate::tools::long_text::MAX_SHOWN_BYTES;
use crate::tools::memory_project::MemoryProject;
use crate::tools::tests::{plan_call, run_call};
use std::fs;
use std::os::unix::fs::symlink;

const CONTENT: &str = "---\nname: forms\ndescription: Fill forms\n---\n# Forms\n\nDo it.\n";

/// The skill `forms` in a folder of its own, next to a file with a secret.
struct Fixture {
    base: tempfile::TempDir,
    skill: Skill,
}

impl Fixture {
    fn new(is_of_project: bool) -> Self {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().canonicalize().unwrap().join(".aye/skills/forms");
        fs::create_dir_all(folder.join("references")).unwrap();
        fs::write(folder.join(MAIN_FILE), CONTENT).unwrap();
        fs::write(folder.join("references/fields.md"), "Fields").unwrap();
        fs::write(base.path().join("secret"), "SECRET").unwrap();
        let skill = Skill {
            name: "forms".into(),
            description: "Fill forms".into(),
            folder,
            shown_folder: ".aye/skills/forms".into(),
            trusted: is_of_project.then(|| Digest::of_bytes(CONTENT.as_bytes())),
        };
        Self { base, skill }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.skill.folder.join(name)
    }

    async fn call(&self, arguments: Value) -> Result<String, String> {
        let (tool, files) = (LoadSkill(vec![self.skill.clone()]), MemoryProject::with_files(&[]));
        let plan = plan_call(&tool, arguments, &files).map_err(|error| error.to_string())?;
        run_call(&tool, &plan, &files).await.map_err(|error| error.to_string())
    }

    async fn load_file(&self, file: &str) -> Result<String, String> {
        self.call(json!({ "name": "forms", "file": file })).await
    }
}

#[tokio::test]
async fn the_text_comes_with_the_names_of_other_files() {
    let fixture = Fixture::new(true);
    fs::create_dir_all(fixture.path("scripts/.cache")).unwrap();
    for name in ["scripts/fill.py", "scripts/.cache/x", ".hidden", "a\nb.md"] {
        fs::write(fixture.path(name), "").unwrap();
    }
    symlink(fixture.base.path(), fixture.path("outside")).unwrap();
    assert_eq!(
        fixture.call(json!({ "name": "forms" })).await.unwrap(),
        "Skill forms, folder .aye/skills/forms. Other files: a\\nb.md, references/fields.md, scripts/fill.py. \
         Read them with the argument file; scripts run only with bash_exec and its approval.\n\n# Forms\n\nDo it."
    );
    assert_eq!(fixture.load_file(MAIN_FILE).await, fixture.call(json!({ "name": "forms" })).await);
    assert_eq!(
        fixture.load_file("./references/fields.md").await.unwrap(),
        ".aye/skills/forms/references/fields.md\n\nFields"
    );
}

#[tokio::test]
async fn a_wrong_name_says_which_exist() {
    let fixture = Fixture::new(true);
    let error = fixture.call(json!({ "name": "form\u{202e}" })).await.unwrap_err();
    assert_eq!(error, "There is no skill “form<U+202E>”. Skills: forms.");
    let error = fixture.load_file("references/none.md").await.unwrap_err();
    assert_eq!(error, "The skill forms has no file references/none.md. Other files: references/fields.md.");
    assert!(fixture.call(json!({ "name": "forms", "other": 1 })).await.unwrap_err().contains("other"));
}

#[tokio::test]
async fn no_path_leads_out_of_the_folder() {
    let fixture = Fixture::new(true);
    symlink(fixture.base.path().join("secret"), fixture.path("link.md")).unwrap();
    symlink(fixture.base.path(), fixture.path("up")).unwrap();
    symlink("../../../secret", fixture.path("references/relative.md")).unwrap();
    symlink(".env", fixture.path("plain.md")).unwrap();
    fs::write(fixture.path(".env"), "SECRET").unwrap();
    fs::hard_link(fixture.base.path().join("secret"), fixture.path("hard.md")).unwrap();
    let absolute = fixture.base.path().join("secret").display().to_string();
    let own = fixture.path("references/fields.md").display().to_string();
    for file in [
        "../../../secret",
        "references/../../../../secret",
        "references/../references/fields.md",
        "..",
        ".",
        "/",
        "",
        " ",
        "a\0b",
        "~/secret",
        "~",
        "link.md",
        "up/secret",
        "references/relative.md",
        "plain.md",
        ".env",
        "hard.md",
        "references",
        &absolute,
        &own,
        "@references/fields.md",
        "references/fields.md/x",
    ] {
        let error = fixture.load_file(file).await.expect_err(file);
        assert!(!error.contains("SECRET"), "{file}: {error}");
    }
    // A link inside the folder is no way out.
    symlink("references/fields.md", fixture.path("inside.md")).unwrap();
    assert!(fixture.load_file("inside.md").await.unwrap().ends_with("\n\nFields"));
}

#[tokio::test]
async fn only_the_trusted_text_of_a_project_is_read() {
    let fixture = Fixture::new(true);
    fs::write(fixture.path(MAIN_FILE), CONTENT.replace("Do it", "Do harm")).unwrap();
    for file in [None, Some("references/fields.md")] {
        let error = fixture.call(json!({ "name": "forms", "file": file })).await.unwrap_err();
        assert!(error.contains("changed since the user trusted it") && error.contains("/trust"), "{error}");
    }
    fs::remove_file(fixture.path(MAIN_FILE)).unwrap();
    assert_eq!(fixture.load_file("references/fields.md").await.unwrap_err(), "There is no file SKILL.md.");
    // The user may change their own skills, but a mistake is named.
    let own = Fixture::new(false);
    fs::write(own.path(MAIN_FILE), CONTENT.replace("Do it", "Do it well")).unwrap();
    assert!(own.call(json!({ "name": "forms" })).await.unwrap().ends_with("Do it well."));
    fs::write(own.path(MAIN_FILE), "Do it").unwrap();
    let error = own.call(json!({ "name": "forms" })).await.unwrap_err();
    assert!(error.starts_with("The skill forms cannot be used: it has no front matter"), "{error}");
}

#[tokio::test]
async fn a_folder_that_became_a_link_is_refused() {
    let fixture = Fixture::new(true);
    let elsewhere = fixture.base.path().join("elsewhere");
    fs::rename(&fixture.skill.folder, &elsewhere).unwrap();
    let error = fixture.load_file("references/fields.md").await.unwrap_err();
    assert_eq!(error, "The folder of the skill forms was moved or removed.");
    symlink(&elsewhere, &fixture.skill.folder).unwrap();
    assert_eq!(fixture.load_file("references/fields.md").await.unwrap_err(), error);
}

#[tokio::test]
async fn unusual_files_are_refused_and_none_blocks() {
    let fixture = Fixture::new(true);
    let fifo = std::process::Command::new("mkfifo").arg(fixture.path("pipe")).status().unwrap();
    assert!(fifo.success());
    fs::write(fixture.path("binary"), b"a\0b").unwrap();
    fs::write(fixture.path("latin"), b"a\xffb").unwrap();
    fs::write(fixture.path("large"), vec![b'x'; 257 << 10]).unwrap();
    for (file, expected) in [
        ("pipe", "pipe is not a file."),
        ("references", "references is not a file."),
        ("binary", "binary is not a text file, so it was not read."),
        ("latin", "latin is not a text file, so it was not read."),
        ("large", "large has 263.2 kB; the limit is 256 KiB. Read it with read_file."),
    ] {
        assert_eq!(fixture.load_file(file).await.unwrap_err(), expected);
    }
    fs::remove_file(fixture.path(MAIN_FILE)).unwrap();
    fs::rename(fixture.path("pipe"), fixture.path(MAIN_FILE)).unwrap();
    assert_eq!(fixture.call(json!({ "name": "forms" })).await.unwrap_err(), "SKILL.md is not a file.");
}

#[tokio::test]
async fn a_long_text_is_cut_at_a_line() {
    let fixture = Fixture::new(true);
    fs::write(fixture.path("long.md"), "é and more\n".repeat(8_000)).unwrap();
    let result = fixture.load_file("long.md").await.unwrap();
    assert!(result.len() < MAX_SHOWN_BYTES + 200, "{}", result.len());
    assert!(result.ends_with("é and more\n[46848 bytes omitted]"), "{}", &result[result.len() - 60..]);
}

#[test]
fn access_is_reading_and_names_the_file_in_the_project() {
    let files = MemoryProject::with_files(&[]);
    let access = |is_of_project: bool, arguments: Value| {
        let tool = LoadSkill(vec![Fixture::new(is_of_project).skill]);
        plan_call(&tool, arguments, &files).unwrap().access
    };
    let main_file = Access::Read(vec![".aye/skills/forms/SKILL.md".into()]);
    assert_eq!(access(true, json!({ "name": "forms" })), main_file);
    let other = Access::Read(vec![".aye/skills/forms/a/b.md".into()]);
    assert_eq!(access(true, json!({ "name": "forms", "file": "./a/./b.md" })), other);
    assert_eq!(access(false, json!({ "name": "forms" })), Access::Read(Vec::new()));
}

#[test]
fn many_files_are_listed_up_to_a_limit() {
    let fixture = Fixture::new(true);
    fs::create_dir_all(fixture.path("a/b/c/d/e")).unwrap();
    fs::write(fixture.path("a/b/c/d/e/deep.md"), "").unwrap();
    fs::create_dir(fixture.path("many")).unwrap();
    for number in 0..MAX_READ_NAMES + 10 {
        fs::write(fixture.path(&format!("many/{number}")), "").unwrap();
    }
    let files = list_files(&fixture.skill.folder);
    assert!(files.len() <= MAX_READ_NAMES && !files.iter().any(|file| file.ends_with("deep.md")), "{}", files.len());
    let described = describe_folder(&fixture.skill);
    assert!(described.len() < 2_000, "{described}");
}
