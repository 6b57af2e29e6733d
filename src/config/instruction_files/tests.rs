//! Which files are read, in which order, and which share of the limit each gets.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// A repository `repo` with a project `repo/a/app` in it, and the settings of the user.
struct TestRepository(tempfile::TempDir);

impl TestRepository {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for folder in ["repo/.git", "repo/a/app/.aye", "config"] {
            fs::create_dir_all(directory.path().join(folder)).unwrap();
        }
        Self(directory)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn write_file(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn source(&self) -> ProjectSource {
        ProjectSource {
            folder: self.path("repo/a/app"),
            home: Some(self.path("")),
            ..ProjectSource::within(&self.path(""))
        }
    }

    fn read_all(&self) -> InstructionFiles {
        InstructionFiles::read_all(&self.source())
    }

    /// Names and texts of the project's files. That of an unusable file is the reason.
    fn project_texts(&self) -> Vec<(String, String)> {
        let text =
            |file: InstructionFile| (file.name, file.content.map_or_else(|reason| reason, |content| content.text));
        self.read_all().project.into_iter().map(text).collect()
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn files_are_read_from_the_root_of_the_repository_inwards() {
    let repository = TestRepository::new();
    repository.write_file("AGENTS.md", "outside");
    repository.write_file("repo/AGENTS.md", "root");
    repository.write_file("repo/a/AGENTS.md", "middle");
    repository.write_file("repo/a/app/AGENTS.md", "near");
    repository.write_file("repo/a/app/.aye/instructions.md", "own");
    repository.write_file("config/AGENTS.md", "mine");
    let expected = pairs(&[
        ("../../AGENTS.md", "root"),
        ("../AGENTS.md", "middle"),
        ("AGENTS.md", "near"),
        (".aye/instructions.md", "own"),
    ]);
    assert_eq!(repository.project_texts(), expected);
    assert_eq!(repository.read_all().user.unwrap().name, "~/config/AGENTS.md");
    // In a repository inside another one, the inner one counts. In a linked work tree `.git` is a file.
    repository.write_file("repo/a/.git", "gitdir: ../.git/worktrees/a\n");
    assert_eq!(repository.project_texts(), expected[1..]);
    fs::create_dir(repository.path("repo/a/app/.git")).unwrap();
    assert_eq!(repository.project_texts(), expected[2..], "the project is the root");
    for git in ["repo/a/app/.git", "repo/.git"] {
        fs::remove_dir(repository.path(git)).unwrap();
    }
    fs::remove_file(repository.path("repo/a/.git")).unwrap();
    assert_eq!(repository.project_texts(), expected[2..], "no repository");
}

#[test]
fn parents_stay_inside_the_repository_and_have_no_secrets() {
    let repository = TestRepository::new();
    repository.write_file("secret.md", "canary");
    repository.write_file("repo/.env", "KEY=canary");
    let parent = repository.path("repo/a/AGENTS.md");
    for (target, reason) in [
        ("../../secret.md", "outside the repository"),
        ("/etc/passwd", "outside the repository"),
        ("../.env", "may hold secrets"),
        ("nowhere", "broken symlink"),
    ] {
        symlink(target, &parent).unwrap();
        let texts = repository.project_texts();
        assert!(texts.len() == 1 && texts[0].1.contains(reason), "{texts:?}");
        fs::remove_file(&parent).unwrap();
    }
    assert!(Command::new("mkfifo").arg(&parent).status().unwrap().success());
    assert_eq!(repository.project_texts(), pairs(&[("../AGENTS.md", "it is not a regular file")]));
    fs::remove_file(&parent).unwrap();
    // Imports of a parent stay in the repository, those of the project in the project.
    repository.write_file("repo/style.md", "style");
    repository.write_file("repo/a/AGENTS.md", "@../style.md\n@../../secret.md\n");
    repository.write_file("repo/a/app/AGENTS.md", "@../../style.md\n");
    let files = repository.read_all().project;
    let texts: Vec<&str> = files.iter().map(|file| file.content.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(texts, ["style\n@../../secret.md\n", "@../../style.md\n"]);
    let problems: Vec<String> = files.into_iter().flat_map(|file| file.content.unwrap().problems).collect();
    assert_eq!(
        problems,
        [
            "line 2 of a/AGENTS.md: @../../secret.md: it is outside the repository",
            "line 1 of AGENTS.md: @../../style.md: it is outside the project"
        ]
    );
}

#[test]
fn a_file_with_two_names_is_sent_once() {
    let repository = TestRepository::new();
    repository.write_file("repo/a/app/AGENTS.md", "near");
    symlink("a/app/AGENTS.md", repository.path("repo/AGENTS.md")).unwrap();
    symlink("../AGENTS.md", repository.path("repo/a/app/.aye/instructions.md")).unwrap();
    assert_eq!(repository.project_texts(), pairs(&[("AGENTS.md", "near")]));
    // The user's settings may be links into a repository of settings.
    symlink(repository.path("repo/a/app/AGENTS.md"), repository.path("config/AGENTS.md")).unwrap();
    assert_eq!(repository.project_texts(), pairs(&[]));
    assert_eq!(repository.read_all().user.unwrap().content.unwrap().text, "near");
}

#[test]
fn the_limit_is_spent_on_the_user_then_the_project_then_the_nearest_parent() {
    let repository = TestRepository::new();
    for name in ["config", "repo", "repo/a", "repo/a/app"] {
        repository.write_file(&format!("{name}/AGENTS.md"), &format!("{}\n", "x".repeat(99)).repeat(3));
    }
    let sent = |max_bytes| {
        let (user, project) = repository.read_all().to_instructions(max_bytes);
        let sizes: Vec<(String, usize)> = project.iter().map(|file| (file.file.clone(), file.text.len())).collect();
        (user.map_or(0, |user| user.text.len()), sizes)
    };
    let sizes = |root, middle, near| {
        [("../../AGENTS.md", root), ("../AGENTS.md", middle), ("AGENTS.md", near)]
            .map(|(name, size)| (name.to_owned(), size))
    };
    assert_eq!(sent(2_000), (300, sizes(300, 300, 300).to_vec()));
    assert_eq!(sent(1_000), (300, sizes(100, 300, 300).to_vec()));
    assert_eq!(sent(700), (300, sizes(0, 100, 300).to_vec()));
    assert_eq!(sent(100), (100, sizes(0, 0, 0).to_vec()));
    let off = ProjectSource { max_instruction_bytes: 0, ..repository.source() };
    assert_eq!(InstructionFiles::read_all(&off), InstructionFiles::default());
    // Blank and unusable files take no share.
    repository.write_file("config/AGENTS.md", " \n");
    fs::write(repository.path("repo/a/AGENTS.md"), b"\xff").unwrap();
    let (user, project) = repository.read_all().to_instructions(1_000);
    assert_eq!((user, project.len()), (None, 2));
}

#[test]
fn the_users_file_may_be_a_link_and_imports_only_texts_of_the_settings_folder() {
    let repository = TestRepository::new();
    let user = || repository.read_all().user.unwrap().content;
    repository.write_file("dotfile.md", "@style.md\n@credentials.toml\n@tool_credentials.toml\n@../repo/x.md\n");
    repository.write_file("config/style.md", "style\n");
    for name in ["config/credentials.toml", "config/tool_credentials.toml", "repo/x.md"] {
        repository.write_file(name, "canary");
    }
    symlink("../dotfile.md", repository.path("config/AGENTS.md")).unwrap();
    let expanded = user().unwrap();
    assert_eq!(expanded.text, "style\n@credentials.toml\n@tool_credentials.toml\n@../repo/x.md\n");
    assert_eq!(expanded.problems.len(), 3, "{expanded:?}");
    assert!(expanded.problems[2].ends_with("it is outside the settings folder"), "{expanded:?}");
    let file = repository.path("config/AGENTS.md");
    fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    assert_eq!(user(), Err("it is not a regular file".to_owned()));
    fs::remove_file(&file).unwrap();
    fs::write(&file, "a\0").unwrap();
    assert_eq!(user(), Err("it is not a text file".to_owned()));
    fs::remove_file(&file).unwrap();
    assert_eq!(repository.read_all().user, None);
}
