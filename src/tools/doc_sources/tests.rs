//! Tests of the sources: exclusions, limits, folders and changes.

use super::doc_folders::name_folders;
use super::*;
use crate::policy::{Rule, RuleEffect, RuleTarget, Rules};
use crate::project::disk::Disk;
use crate::project::test_project::RehearsedProject;
use crate::text::search_words::SearchWords;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

const FILES: [(&str, &str); 8] = [
    ("README.md", "# Program\nAn apple.\n"),
    ("docs/a.md", "# A\nAn apple and a berry.\n"),
    ("docs/keys/.env", "apple SECRET"),
    ("docs/secrets.md", "apple SECRET"),
    ("docs/ignored.md", "apple IGNORED"),
    (".gitignore", "docs/ignored.md\n/build\n"),
    ("build/docs/x.md", "apple IGNORED"),
    ("src/a.rs", "apple"),
];

fn excluding(effect: RuleEffect, pattern: &str) -> ExcludedPaths {
    let target = RuleTarget::Path(pattern.to_owned());
    let rule = Rule::new(effect, target);
    ExcludedPaths::for_tool(&Rules { list: vec![rule], ..Rules::default() }, "search_docs")
}

fn find(files: &dyn Reader, folders: &[DocFolder], excluded: &ExcludedPaths) -> FoundDocuments {
    let root = files.locate(".").unwrap();
    DocWalk { files, root, excluded, page_access: None, elapsed: &|| Duration::ZERO }
        .find_documents(folders, None)
        .unwrap()
}

/// Paths of the documents without those of the manual.
fn paths(found: &FoundDocuments) -> Vec<&str> {
    let documents = found.documents.iter().filter(|document| document.origin != Origin::Manual);
    documents.map(|document| document.path.as_str()).collect()
}

fn folder(path: PathBuf) -> DocFolder {
    DocFolder { shown: format!("~/{}", path.file_name().unwrap().to_str().unwrap()), path }
}

/// Searches for a word, and returns the paths of the best documents.
fn search(
    library: &DocLibrary,
    files: &dyn Reader,
    word: &str,
    elapsed: &dyn Fn() -> Duration,
) -> (Vec<String>, String) {
    let root = files.locate(".").unwrap();
    let walk = DocWalk { files, root, excluded: &ExcludedPaths::default(), page_access: None, elapsed };
    let found = library.search(&walk, &SearchWords::parse(word).unwrap()).unwrap();
    (found.hits.best.into_iter().map(|hit| hit.path).collect(), found.omissions.describe())
}

#[test]
fn the_same_files_are_excluded_as_by_search_text() {
    let project = RehearsedProject::new(&FILES);
    symlink("/etc/hostname", project.live_path("docs/out.md")).unwrap();
    symlink("../README.md", project.live_path("docs/in.md")).unwrap();
    fs::hard_link(project.live_path("docs/secrets.md"), project.live_path("docs/linked.md")).unwrap();
    for files in [&*project.disk as &dyn Reader, &*project.rehearsal] {
        let found = find(files, &[], &ExcludedPaths::default());
        // The link to a document that is found already is left out.
        assert_eq!(paths(&found), ["README.md", "docs/a.md"]);
        assert_eq!(found.omissions.describe(), "[skipped, may hold secrets: 2]\n");
        assert!(found.documents.iter().any(|document| document.path == "aye/mcp"));
        for effect in [RuleEffect::Deny, RuleEffect::Ask] {
            let found = find(files, &[], &excluding(effect, "docs/**"));
            // One rule is for the name of the link, and applies although it does not name its target.
            assert_eq!((paths(&found), found.omissions.excluded), (vec!["README.md"], 2));
        }
    }
}

#[test]
fn folders_of_the_settings_have_unique_names_and_no_way_out() {
    let project = RehearsedProject::new(&FILES);
    let base = project.folder.path().canonicalize().unwrap();
    for name in ["notes", "other/notes", "docs", "aye"] {
        fs::create_dir_all(base.join(name)).unwrap();
        fs::write(base.join(name).join("n.md"), "apple").unwrap();
    }
    let notes = base.join("notes");
    fs::create_dir_all(notes.join("deep/.hidden")).unwrap();
    for name in ["deep/d.txt", "deep/.hidden/h.md", "credentials.md", "image.png", "id_rsa.md"] {
        fs::write(notes.join(name), "apple").unwrap();
    }
    symlink(base.join("other"), notes.join("up")).unwrap();
    symlink(base.join("other/notes/n.md"), notes.join("out.md")).unwrap();
    symlink(project.live_path("docs/a.md"), notes.join("project.md")).unwrap();
    fs::hard_link(base.join("other/notes/n.md"), notes.join("linked.md")).unwrap();
    let folders: Vec<DocFolder> =
        ["notes", "other/notes", "docs", "aye", "missing", "notes/n.md"].map(|name| folder(base.join(name))).into();
    let files = &*project.disk;
    assert_eq!(name_folders(&folders, files), ["notes", "notes-2", "docs-2", "aye-2", "missing", "n.md"]);
    let found = find(files, &folders, &ExcludedPaths::default());
    let expected = ["README.md", "docs/a.md", "aye-2/n.md", "docs-2/n.md", "notes/n.md", "notes/deep/d.txt"];
    assert_eq!(paths(&found), expected);
    let described = found.omissions.describe();
    // Both names of the file with two names are left out.
    assert!(described.contains("[skipped, may hold secrets: 5]\n"), "{described}");
    assert!(
        described.contains("[folder ~/missing of the user's settings was not searched: it does not exist"),
        "{described}"
    );
    assert!(
        described.contains("[folder ~/n.md of the user's settings was not searched: it is not a folder]"),
        "{described}"
    );
    for effect in [RuleEffect::Deny, RuleEffect::Ask] {
        let found = find(files, &folders, &excluding(effect, &format!("{}/**", notes.display())));
        assert!(!paths(&found).iter().any(|path| path.starts_with("notes/")), "{:?}", paths(&found));
    }
}

#[test]
fn a_folder_inside_the_project_has_the_rules_of_the_project() {
    let project = RehearsedProject::new(&[("wiki/a.md", "apple"), ("wiki/b.md", "apple"), ("docs/c.md", "apple")]);
    let folders = [folder(project.live_path("wiki")), folder(project.live_path(""))];
    let found = find(&*project.disk, &folders, &excluding(RuleEffect::Deny, "wiki/b.md"));
    assert_eq!(paths(&found), ["docs/c.md", "wiki-2/a.md"]);
}

#[test]
fn limits_are_kept_and_reported() {
    let project = RehearsedProject::new(&[]);
    let docs = project.live_path("docs");
    fs::create_dir_all(docs.join("deep/er")).unwrap();
    for number in 0..MAX_FILES {
        fs::write(docs.join(format!("{number:04}.md")), "x").unwrap();
    }
    fs::write(docs.join("deep/er/last.md"), "x").unwrap();
    let found = find(&*project.disk, &[], &ExcludedPaths::default());
    assert_eq!(paths(&found).len(), MAX_FILES);
    assert!(!paths(&found).contains(&"docs/deep/er/last.md"));
    assert_eq!(found.omissions.describe(), "[not searched, beyond 2000 files or 33.6 MB together: 1]\n");
    let project = RehearsedProject::new(&[("docs/z.md", "x")]);
    let large = fs::File::create(project.live_path("docs/large.md")).unwrap();
    large.set_len(3 * MAX_FILE_BYTES).unwrap();
    for number in 0..40 {
        let file = fs::File::create(project.live_path(&format!("docs/m{number}.md"))).unwrap();
        file.set_len(MAX_FILE_BYTES).unwrap();
    }
    let found = find(&*project.disk, &[], &ExcludedPaths::default());
    assert_eq!((paths(&found).len(), found.omissions.beyond_limits, found.omissions.truncated), (32, 10, 1));
}

#[test]
fn long_and_binary_files_are_read_up_to_their_limits() {
    let project = RehearsedProject::new(&[("docs/b.md", "a\0b"), ("docs/l.md", "caf\u{e9}")]);
    let long = format!("apple {} berry", "x\n".repeat(MAX_FILE_BYTES as usize / 2));
    fs::write(project.live_path("docs/long.md"), &long).unwrap();
    fs::write(project.live_path("docs/l.md"), b"caf\xe9 apple").unwrap();
    let (library, now) = (DocLibrary::default(), || Duration::ZERO);
    let (found, omissions) = search(&library, &*project.disk, "apple", &now);
    assert_eq!(found[..2], ["docs/l.md", "docs/long.md"]);
    assert_eq!(omissions, "[skipped, binary: 1]\n[searched only up to 1.0 MB: 1 file]\n");
    assert!(!search(&library, &*project.disk, "berry", &now).0.contains(&"docs/long.md".to_owned()));
}

#[test]
fn changes_are_noticed_also_in_a_dry_run() {
    let project = RehearsedProject::new(&FILES);
    let (library, now) = (DocLibrary::default(), || Duration::ZERO);
    let found =
        |files: &dyn Reader, word: &str| search(&library, files, word, &now).0.contains(&"docs/a.md".to_owned());
    assert!(found(&*project.disk, "berry") && !found(&*project.disk, "zebra"));
    // Of the same length and probably at the same time.
    fs::write(project.live_path("docs/a.md"), "# A\nAn apple and a zebra.\n").unwrap();
    assert!(!found(&*project.disk, "berry") && found(&*project.disk, "zebra"));
    project.rehearse_write("docs/a.md", "# A\nAn apple and quince..\n");
    project.rehearse_write("docs/new.md", "quince");
    assert!(found(&*project.rehearsal, "quince") && !found(&*project.disk, "quince"));
    assert_eq!(search(&library, &*project.rehearsal, "quince", &now).0, ["docs/new.md", "docs/a.md"]);
    fs::remove_file(project.live_path("docs/a.md")).unwrap();
    assert!(!found(&*project.disk, "zebra"));
}

#[test]
fn r27_a_search_that_takes_too_long_reports_it() {
    let names: Vec<String> = (0..40).map(|number| format!("docs/{number}.md")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "apple")).collect();
    let project = RehearsedProject::new(&files);
    let library = DocLibrary::default();
    // Each question about the time takes a quarter of a second. Finding them takes at most half of the time.
    let quarters = std::cell::Cell::new(0);
    let elapsed = || Duration::from_millis(250 * quarters.replace(quarters.get() + 1));
    let (found, omissions) = search(&library, &*project.disk, "apple", &elapsed);
    assert_eq!(omissions, "[stopped at the time limit; not every document was searched]\n");
    assert_eq!(found.len(), 5, "those that were found are read");
    // The next search completes the index.
    let (_, omissions) = search(&library, &*project.disk, "apple", &|| Duration::ZERO);
    assert_eq!(omissions, "");
}

#[test]
fn an_unreadable_folder_disables_only_itself() {
    let project = RehearsedProject::new(&FILES);
    let folders = [folder("/nonexistent/notes".into()), folder("/dev/null".into())];
    let library = DocLibrary::new(folders.into());
    let (found, omissions) = search(&library, &*project.disk, "apple", &|| Duration::ZERO);
    assert_eq!(found.len(), 2);
    assert_eq!(omissions.lines().count(), 3, "{omissions}");
    let files: &Disk = &project.disk;
    assert!(library.folders[1].locate(files).unwrap_err().contains("not a folder"));
}
