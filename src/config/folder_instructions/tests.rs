//! Which folders are looked at for a file that was read, and what is trusted of their files.

use super::*;
use crate::config::project_files::{ProjectFileKind, ProjectFiles};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

const TODAY: &str = "2026-11-22";

struct TestProject(tempfile::TempDir);

impl TestProject {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("app/docs/a")).unwrap();
        Self(directory)
    }

    fn source(&self) -> ProjectSource {
        ProjectSource::within(&self.0.path().canonicalize().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.source().folder.join(name)
    }

    fn write_file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Names and trusted texts that are found for a file.
    fn find(&self, file: &str) -> Vec<(String, Option<String>)> {
        let found = find_folder_instructions(&self.source(), Path::new(file)).folders.into_iter();
        found.map(|folder| (folder.file, folder.trusted.map(|instructions| instructions.text))).collect()
    }

    /// Trusts the files as `/trust` does after the model has read in these folders.
    fn trust(&self, names: &[&str]) -> bool {
        let source =
            ProjectSource { folder_files: names.iter().map(|name| (*name).to_owned()).collect(), ..self.source() };
        ProjectFiles::trust(&source, &ProjectFiles::load(&source).signature(), TODAY).unwrap()
    }
}

#[test]
fn r68_folders_below_the_project_are_found_and_have_trust_of_their_own() {
    let project = TestProject::new();
    project.write_file("AGENTS.md", "project");
    project.write_file("docs/AGENTS.md", "docs\n@a/style.md\n");
    project.write_file("docs/a/style.md", "style\n");
    project.write_file("docs/a/AGENTS.md", "nested");
    let names = ["docs/AGENTS.md", "docs/a/AGENTS.md"];
    assert_eq!(project.find("docs/a/x.md"), names.map(|name| (name.to_owned(), None)));
    assert_eq!(project.find("docs/x.md").len(), 1);
    assert_eq!(project.find("x.md"), [], "the project's own file is always sent");
    assert!(project.trust(&names[..1]));
    let docs = ("docs/AGENTS.md".to_owned(), Some("docs\nstyle\n".to_owned()));
    assert_eq!(project.find("docs/a/x.md"), [docs, ("docs/a/AGENTS.md".to_owned(), None)]);
    assert_eq!(ProjectFiles::trusted_instructions(&project.source()).len(), 1, "it is not sent with every request");
    // A trusted file stays on the list, and is not trusted after a change of its import.
    let listed = ProjectFiles::load(&project.source()).files;
    assert!(listed.iter().any(|file| file.name == "docs/AGENTS.md" && file.trust_state == TrustState::Trusted));
    project.write_file("docs/a/style.md", "other\n");
    assert_eq!(project.find("docs/x.md"), [("docs/AGENTS.md".to_owned(), None)]);
    let files = ProjectFiles::load(&project.source());
    let changed = files.untrusted().next().unwrap();
    assert_eq!((changed.name.as_str(), changed.diff.as_ref().unwrap().added), ("docs/AGENTS.md", 1));
}

#[test]
fn r68_unusual_files_and_names_are_not_found() {
    let project = TestProject::new();
    fs::write(project.0.path().join("secret"), "canary").unwrap();
    let file = project.path("docs/AGENTS.md");
    for target in ["../../secret", "/dev/zero", "nowhere", "AGENTS.md"] {
        symlink(target, &file).unwrap();
        assert_eq!(project.find("docs/x.md"), [], "{target}");
        fs::remove_file(&file).unwrap();
    }
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert_eq!(project.find("docs/x.md"), []);
    fs::remove_file(&file).unwrap();
    for text in [&b"\xff"[..], b"a\0", b" \n"] {
        fs::write(&file, text).unwrap();
        assert_eq!(project.find("docs/x.md"), []);
    }
    for folder in ["a\nb", "a\u{1b}[2J", "a\u{202e}b", "a\u{200b}b"] {
        fs::create_dir_all(project.path(folder)).unwrap();
        project.write_file(&format!("{folder}/AGENTS.md"), "text");
        assert_eq!(project.find(&format!("{folder}/x.md")), [], "{folder:?}");
        assert!(!is_folder_file(&format!("{folder}/AGENTS.md")), "{folder:?}");
    }
    for name in
        ["AGENTS.md", "../AGENTS.md", "a/../../AGENTS.md", "/etc/AGENTS.md", "a/b.md", "a/xAGENTS.md", "./AGENTS.md"]
    {
        assert!(!is_folder_file(name), "{name}");
    }
    // A name that is not of such a file is not read, wherever it comes from.
    let source = ProjectSource { folder_files: vec!["../secret".into(), "/etc/passwd".into()], ..project.source() };
    assert_eq!(ProjectFiles::load(&source).files, []);
    let deep = "d/".repeat(200);
    fs::create_dir_all(project.path(&deep)).unwrap();
    project.write_file("d/AGENTS.md", "deep");
    assert_eq!(project.find(&format!("{deep}x.md")).len(), 1);
    project.write_file("docs/AGENTS.md", &"x\n".repeat(5_000));
    let off = ProjectSource { max_instruction_bytes: 0, ..project.source() };
    assert_eq!(find_folder_instructions(&off, Path::new("docs/x.md")), FoundInstructions::default());
    assert!(project.trust(&["docs/AGENTS.md"]));
    assert_eq!(project.find("docs/x.md")[0].1.as_ref().unwrap().len(), 1_000);
    let files = ProjectFiles::load(&project.source());
    let ProjectFileKind::Instructions(instructions) = &files.files[0].kind else { panic!("{files:?}") };
    assert_eq!(instructions.omitted_bytes(), 9_000);
}
