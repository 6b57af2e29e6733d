//! Locates the path of a call, and checks that it is still the same when the call runs.

use super::Error;
use crate::chat::{Access, HardLinks};
use crate::project::{self, Location, OwnFile, Reader};
use crate::text::escaped_path::{escape_path, unescape_path};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Locates the path that a model gave.
///
/// If no file has exactly that name, ignores a leading `@` or `./` and trailing line breaks, and accepts the escaped
/// form in which names are displayed (`a\nb`).
pub fn locate(files: &dyn Reader, path: &str) -> Result<Location, Error> {
    let bare = path.trim_end_matches(['\n', '\r']);
    if bare.trim().is_empty() {
        return Err(Error::Arguments("The path is empty. Use “.” for the project folder.".to_owned()));
    }
    let exact = files.locate(path)?;
    if files.exists(&exact) {
        return Ok(exact);
    }
    let name = bare.strip_prefix('@').filter(|rest| !rest.is_empty()).unwrap_or(bare);
    for other in [Some(bare.to_owned()), unescape_path(bare), unescape_path(name)].into_iter().flatten() {
        if let Some(at) = files.locate(&other).ok().filter(|at| files.exists(at)) {
            return Ok(at);
        }
    }
    Ok(files.locate(name)?)
}

/// Returns the access needed to read the path. A file that this dry run created as a whole discloses nothing, wherever
/// it is.
pub fn read_access(files: &dyn Reader, at: &Location) -> Access {
    if at.own_file == Some(OwnFile::Credentials) {
        Access::AyeFiles(at.display_path.clone())
    } else if (at.is_inside && !at.is_sensitive && !has_hidden_names(files, at)) || files.has_only_rehearsed_content(at)
    {
        Access::Read(vec![at.display_path.clone()])
    } else {
        Access::ReadSensitive(at.display_path.clone())
    }
}

/// Returns whether the file has several hard links of which one may be the name of a secret.
fn has_hidden_names(files: &dyn Reader, at: &Location) -> bool {
    files.link_count(at) > 1 && files.name_check()(at)
}

/// Returns the access needed to read a file found by a walk: by its own name and, if it is a link, by the name of its
/// target.
pub fn walk_access(files: &dyn Reader, at: &Location) -> Vec<Access> {
    let named = |shown: &Path| match at.is_inside && !at.is_sensitive {
        true => Access::Read(vec![shown.to_owned()]),
        false => Access::ReadSensitive(shown.to_owned()),
    };
    let mut all = vec![named(&at.display_path)];
    if files.root().join(&at.display_path) != at.real {
        all.push(named(at.real.strip_prefix(files.root()).unwrap_or(&at.real)));
    }
    all
}

/// Returns the access needed to write the path.
pub fn write_access(at: &Location) -> Access {
    if at.own_file.is_some() {
        Access::AyeFiles(at.display_path.clone())
    } else if at.is_inside && !at.is_sensitive {
        Access::Write(at.display_path.clone())
    } else {
        Access::WriteOutside(at.display_path.clone())
    }
}

/// Returns the file if it has several hard links, which a write would replace.
pub fn hard_links(files: &dyn Reader, at: &Location) -> Option<HardLinks> {
    let names = files.link_count(at);
    (names > 1).then(|| HardLinks { path: at.display_path.clone(), names })
}

/// Formats a path for users and models on one line: never empty, invisible characters escaped.
pub fn display_path(at: &Location) -> String {
    let shown = escape_path(&at.display_path);
    if shown.is_empty() { ".".to_owned() } else { shown }
}

/// A path as it was when the call was planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPath {
    /// Name for looking it up: relative to the project if inside, so that the project folder may have any name.
    path: String,
    inside: bool,
    sensitive: bool,
    #[serde(default)]
    holds_keys: bool,
    /// True if reading it needs no approval.
    #[serde(default)]
    is_plain: bool,
}

impl PlannedPath {
    /// Records a located path. Fails if its name is not Unicode.
    pub fn record(files: &dyn Reader, at: &Location) -> Result<Self, Error> {
        let name = at.display_path.to_str().ok_or_else(|| {
            Error::Failed(format!("{} has a name that is not Unicode, so no call can use it.", display_path(at)))
        })?;
        let holds_keys = at.own_file == Some(OwnFile::Credentials);
        // A folder of the project with the name `~` is not the user's home.
        let path = if at.is_inside { format!("./{name}") } else { name.to_owned() };
        let is_plain = matches!(read_access(files, at), Access::Read(_));
        Ok(Self { path, inside: at.is_inside, sensitive: at.is_sensitive, holds_keys, is_plain })
    }

    /// Locates the path again. Fails if it changed since the plan, for example into a link to elsewhere.
    pub fn locate_again(&self, files: &dyn Reader) -> Result<Location, Error> {
        let at = files.locate(&self.path)?;
        if Self::record(files, &at)? == *self { Ok(at) } else { Err(project::Error::Changed(at.display_path).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Intent;
    use crate::policy::ExcludedPaths;
    use crate::project::Writer;
    use crate::project::shell::Shell;
    use crate::project::test_project::RehearsedProject;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::search_text::SearchText;
    use crate::tools::{LiveContext, Tool};
    use std::sync::Arc;

    fn check_shown_path(path: &str, expected: &str) {
        let files = MemoryProject::with_files(&[("src/a.rs", ""), ("@odd", ""), ("line\nbreak", "")]);
        let found = locate(&files, path).map(|at| display_path(&at)).unwrap_or_else(|error| error.to_string());
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn accepts_common_spellings_of_paths() {
        check_shown_path("src/a.rs", "src/a.rs");
        check_shown_path("./src/a.rs", "src/a.rs");
        check_shown_path("@src/a.rs", "src/a.rs");
        check_shown_path("@./src/a.rs", "src/a.rs");
        check_shown_path("@odd", "@odd");
        check_shown_path(".", ".");
        check_shown_path("src/a.rs\n", "src/a.rs");
        check_shown_path("new\n", "new");
        check_shown_path("line\nbreak", "line\\nbreak");
        check_shown_path("line\\nbreak", "line\\nbreak");
        check_shown_path("@line\\nbreak", "line\\nbreak");
        check_shown_path("no\\nsuch", "no\\nsuch");
        check_shown_path("back\\slash", "back\\slash");
        check_shown_path(" ", "The path is empty. Use “.” for the project folder.");
    }

    #[test]
    fn rejects_path_that_changed_since_the_plan() {
        let files = MemoryProject::with_files(&[("a", "")]);
        let mut place = PlannedPath::record(&files, &locate(&files, "a").unwrap()).unwrap();
        assert!(place.locate_again(&files).is_ok());
        place.sensitive = true;
        assert!(place.locate_again(&files).unwrap_err().to_string().contains("has changed"));
    }

    #[test]
    fn r13_reading_hard_link_of_possible_secret_needs_approval() {
        let files = [(".env", "K=1"), ("a", "x"), ("elsewhere", "x"), ("one", "x"), ("target/x", "x")];
        let scene = RehearsedProject::new(&files);
        let base = scene.folder.path();
        let link = |from: &str, to: &Path| std::fs::hard_link(scene.live_path(from), to).unwrap();
        link(".env", &scene.live_path("notes"));
        link("a", &scene.live_path("b"));
        link("elsewhere", &base.join("out"));
        link("target/x", &base.join("store"));
        // The other names of a file that a command links in a dry run are not searched for.
        std::fs::write(scene.overlay_path("made"), "x").unwrap();
        std::fs::hard_link(scene.overlay_path("made"), scene.overlay_path("linked")).unwrap();
        std::fs::create_dir(scene.overlay_path("target")).unwrap();
        std::fs::hard_link(scene.overlay_path("made"), scene.overlay_path("target/built")).unwrap();
        let both: [&dyn Reader; 2] = [&*scene.disk, &*scene.rehearsal];
        for files in both {
            for (path, plain) in [
                ("notes", false),
                ("elsewhere", false),
                ("a", true),
                ("b", true),
                ("one", true),
                ("target/x", true),
                (".env", false),
            ] {
                let access = read_access(files, &files.locate(path).unwrap());
                assert_eq!(matches!(access, Access::Read(_)), plain, "{path}: {access:?}");
            }
        }
        let made = read_access(&*scene.rehearsal, &scene.rehearsal.locate("made").unwrap());
        assert!(matches!(made, Access::ReadSensitive(_)), "{made:?}");
        // A recursive search skips them.
        let found = |files: &dyn Reader| {
            let check = files.name_check();
            let mut hidden = Vec::new();
            let root = files.locate(".").unwrap();
            let walk = files.walk(&root, false, &mut |found| {
                if !found.is_folder && check(&found.location) {
                    hidden.push(found.location.display_path.display().to_string());
                }
                std::ops::ControlFlow::Continue(())
            });
            walk.unwrap();
            hidden
        };
        assert_eq!(found(&*scene.disk), ["elsewhere", "notes"]);
        assert_eq!(found(&*scene.rehearsal), ["elsewhere", "linked", "made", "notes"]);
    }

    #[tokio::test]
    async fn r13_search_skips_hard_link_to_a_secret() {
        let scene = RehearsedProject::new(&[(".env", "hunter2\n"), ("a", "hunter2 is none\n")]);
        std::fs::hard_link(scene.live_path(".env"), scene.live_path("notes")).unwrap();
        let both: [Arc<dyn Writer>; 2] = [scene.disk.clone(), scene.rehearsal.clone()];
        for project in both {
            let arguments = serde_json::json!({ "pattern": "hunter2" });
            let Ok(Intent::Act(plan)) = SearchText.plan(&arguments, &*project) else { panic!("it is planned") };
            let shell = Arc::new(Shell::new("/nowhere".into()));
            let hands = LiveContext { project, shell, excluded: ExcludedPaths::default(), progress: Arc::new(|_| {}) };
            let found = SearchText.run(&plan, &hands).await.unwrap();
            assert!(found.starts_with("a:1: hunter2 is none\n[skipped, may hold secrets: 2;"), "{found}");
        }
    }
}
