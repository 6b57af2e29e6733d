//! Imports replace their lines, stay inside their folder, and end.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

/// A folder `app` with a folder next to it that no import may read.
struct TestFolder(tempfile::TempDir);

impl TestFolder {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("app/docs")).unwrap();
        let folder = Self(directory);
        folder.write_file("../secret.md", "canary");
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("app")
    }

    fn write_file(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn expand_as(&self, file: &str, text: &str, has_settings: bool) -> ExpandedText {
        let path = self.path();
        let folder = ImportFolder { path: &path, label: "the project", has_settings };
        expand_imports(folder, Path::new(file), &path.join(file), text.to_owned())
    }

    fn expand(&self, text: &str) -> ExpandedText {
        self.expand_as("AGENTS.md", text, false)
    }

    /// Checks that the line stays and that the reason is reported.
    #[track_caller]
    fn assert_fails(&self, line: &str, reason: &str) {
        let expanded = self.expand(&format!("before\n{line}\nafter\n"));
        assert_eq!(expanded.text, format!("before\n{line}\nafter\n"));
        assert_eq!(expanded.problems.len(), 1, "{expanded:?}");
        assert!(expanded.problems[0].starts_with("line 2 of AGENTS.md: @"), "{expanded:?}");
        assert!(expanded.problems[0].ends_with(reason), "{expanded:?}");
    }
}

#[test]
fn a_line_with_a_path_is_replaced_by_that_file() {
    let folder = TestFolder::new();
    folder.write_file("docs/a.md", "\u{feff}A\n@b.md\n@../c.md");
    folder.write_file("docs/b.md", "B");
    folder.write_file("c.md", "C\r\n");
    folder.write_file("empty.md", "");
    let expanded = folder.expand("one\n@docs/a.md\n  @./c.md  \r\n@empty.md\ntwo\n@docs/b.md");
    assert_eq!(expanded.text, "one\nA\nB\nC\r\nC\r\ntwo\nB");
    assert_eq!(expanded.imports, ["docs/a.md", "docs/b.md", "c.md", "empty.md"]);
    assert_eq!(expanded.problems, [""; 0]);
    assert_eq!(folder.expand("\u{feff}@docs/b.md\n").text, "B\n");
}

#[test]
fn other_lines_with_the_sign_stay_and_are_no_problem() {
    let folder = TestFolder::new();
    folder.write_file("c.md", "C\n");
    for text in [
        "Ask @c.md first\n",
        "@c.md and more\n",
        "- @c.md\n",
        "    @c.md\n",
        "\t@c.md\n",
        "@@c.md\n",
        "@\n",
        "`@c.md`\n",
        "a@c.md",
    ] {
        assert_eq!(folder.expand(text), ExpandedText { text: text.to_owned(), ..ExpandedText::default() }, "{text:?}");
    }
}

#[test]
fn code_blocks_import_nothing() {
    let folder = TestFolder::new();
    folder.write_file("c.md", "C\n");
    for (open, close) in [("```", "```"), ("~~~ sh", "~~~~"), ("  ````md", "`````"), ("```", "")] {
        let text = format!("{open}\n@c.md\n``\n~~\n``` x\n@c.md\n{close}\n");
        assert_eq!(folder.expand(&text).text, text);
    }
    assert_eq!(folder.expand("```\n~~~\n@c.md\n```\n@c.md\n").text, "```\n~~~\n@c.md\n```\nC\n");
    assert_eq!(folder.expand("```inline```\n@c.md\n").text, "```inline```\nC\n", "no code block begins here");
    // A block that an imported file leaves open ends with that file.
    folder.write_file("open.md", "```\n@c.md\n");
    assert_eq!(folder.expand("@open.md\n@c.md\n").text, "```\n@c.md\nC\n");
}

#[test]
fn nothing_outside_the_folder_is_imported() {
    let folder = TestFolder::new();
    let secret = folder.0.path().join("secret.md");
    symlink(&secret, folder.path().join("link.md")).unwrap();
    symlink("..", folder.path().join("up")).unwrap();
    folder.assert_fails("@../secret.md", "it is outside the project");
    folder.assert_fails("@docs/../../secret.md", "it is outside the project");
    folder.assert_fails(&format!("@{}", secret.display()), "it is outside the project");
    folder.assert_fails("@/etc/passwd", "it is outside the project");
    folder.assert_fails("@~/.ssh/id_rsa", "it is outside the project");
    folder.assert_fails("@link.md", "it is a symlink to a path outside the project");
    folder.assert_fails("@up/secret.md", "it is a symlink to a path outside the project");
    folder.write_file("docs/a.md", "@../../secret.md\n@../link.md\n");
    let expanded = folder.expand("@docs/a.md\n");
    assert_eq!((expanded.problems.len(), expanded.text.contains("canary")), (2, false), "{expanded:?}");
}

#[test]
fn files_that_may_hold_secrets_are_not_imported() {
    let folder = TestFolder::new();
    for name in [".env", ".git/config", ".aye/rules.toml", "docs/key.pem"] {
        folder.write_file(name, "canary");
        folder.assert_fails(&format!("@{name}"), "the file may hold secrets or affect other programs");
    }
    symlink(".env", folder.path().join("env.md")).unwrap();
    folder.assert_fails("@env.md", "it is a symlink to .env, which may hold secrets or affect other programs");
    folder.write_file(".aye/style.md", "Style.\n");
    assert_eq!(folder.expand_as(".aye/instructions.md", "@style.md\n", false).text, "Style.\n");
    folder.write_file("config.toml", "key = 1\n");
    assert_eq!(folder.expand("@config.toml\n").text, "key = 1\n");
    let settings = folder.expand_as("AGENTS.md", "@config.toml\n@docs/../Config.TOML\n", true);
    assert_eq!((settings.text.contains("key"), settings.imports.len()), (false, 0), "{settings:?}");
}

#[test]
fn unusable_files_are_reported_without_blocking() {
    let folder = TestFolder::new();
    let path = folder.path();
    folder.assert_fails("@nowhere.md", "there is no such file");
    folder.assert_fails("@AGENTS.md/x", "there is no such file");
    folder.assert_fails("@docs", "it is not a regular file");
    assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
    folder.assert_fails("@pipe", "it is not a regular file");
    fs::write(path.join("bytes"), b"a\n\xff").unwrap();
    folder.assert_fails("@bytes", "line 2 is not text in UTF-8");
    folder.write_file("binary", "a\0b");
    folder.assert_fails("@binary", "it is not a text file");
    fs::File::create(path.join("large")).unwrap().set_len(100 << 20).unwrap();
    folder.assert_fails("@large", "the file is longer than 256 KiB");
    symlink("loop", path.join("loop")).unwrap();
    folder.assert_fails("@loop", "it is a broken symlink");
    folder.assert_fails(&format!("@{}", "x".repeat(5_000)), "File name too long (os error 36))");
}

#[test]
fn imports_end_at_cycles_and_five_levels() {
    let folder = TestFolder::new();
    folder.write_file("AGENTS.md", "@AGENTS.md\n");
    folder.assert_fails("@AGENTS.md", "the file imports itself");
    folder.write_file("a.md", "A\n@docs/b.md\n");
    folder.write_file("docs/b.md", "B\n@../again.md\n");
    symlink("a.md", folder.path().join("again.md")).unwrap();
    let expanded = folder.expand("@a.md\n");
    assert_eq!(expanded.text, "A\nB\n@../again.md\n");
    assert_eq!(expanded.problems, ["line 2 of docs/b.md: @../again.md: the file imports itself"]);
    for level in 1..=6 {
        folder.write_file(&format!("{level}.md"), &format!("level {level}\n@{}.md\n", level + 1));
    }
    let expanded = folder.expand("@1.md\n");
    assert!(expanded.text.ends_with("level 5\n@6.md\n"), "{}", expanded.text);
    assert_eq!(expanded.problems, ["line 2 of 5.md: @6.md: imports are nested deeper than 5 levels"]);
}

#[test]
fn many_imports_are_bounded_in_number_and_size() {
    let folder = TestFolder::new();
    folder.write_file("large.md", &"x".repeat(100 << 10));
    let expanded = folder.expand(&"@large.md\n".repeat(1_000));
    assert!(expanded.text.len() <= (256 << 10) + 64, "{}", expanded.text.len());
    assert_eq!(expanded.text.matches("@large.md").count(), 998);
    assert!(expanded.problems.len() <= MAX_IMPORTS, "{}", expanded.problems.len());
    assert!(expanded.problems[0].ends_with("the text would be longer than 256 KiB"), "{:?}", expanded.problems);
    assert!(expanded.problems.last().unwrap().ends_with("there are more than 64 imports"), "{:?}", expanded.problems);
    // Each file imports the next one many times.
    for level in 1..=5 {
        folder.write_file(&format!("{level}.md"), &format!("@{}.md\n", level + 1).repeat(50));
    }
    folder.write_file("6.md", "");
    let started = std::time::Instant::now();
    let expanded = folder.expand(&"@1.md\n".repeat(1_000));
    assert!(expanded.problems.iter().filter(|problem| problem.contains("more than 64")).count() == 1, "{expanded:?}");
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn names_with_control_characters_are_cleaned_in_messages() {
    let folder = TestFolder::new();
    let expanded = folder.expand("@a\u{1b}]0;owned\u{7}b\n");
    assert_eq!(expanded.problems, [""; 0], "no path: the line is text");
    folder.write_file("docs\u{1b}[2J/a.md", "@x\u{202e}y\n");
    symlink("docs\u{1b}[2J", folder.path().join("d")).unwrap();
    let expanded = folder.expand("@d/a.md\n");
    assert!(!format!("{}{:?}", expanded.problems.concat(), expanded.imports).contains('\u{1b}'), "{expanded:?}");
    assert!(!expanded.problems.concat().contains('\u{202e}'), "{expanded:?}");
}
