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
    let trimmed = path.trim_end_matches(['\n', '\r']);
    if trimmed.trim().is_empty() {
        return Err(Error::Arguments("The path is empty. Use “.” for the project folder.".to_owned()));
    }
    let exact = files.locate(path)?;
    if files.exists(&exact) {
        return Ok(exact);
    }
    let name = trimmed.strip_prefix('@').filter(|rest| !rest.is_empty()).unwrap_or(trimmed);
    for spelling in [Some(trimmed.to_owned()), unescape_path(trimmed), unescape_path(name)].into_iter().flatten() {
        if let Some(location) = files.locate(&spelling).ok().filter(|location| files.exists(location)) {
            return Ok(location);
        }
    }
    Ok(files.locate(name)?)
}

/// Returns the access needed to read the path. A file that this dry run created as a whole discloses nothing, wherever
/// it is.
pub fn read_access(files: &dyn Reader, location: &Location) -> Access {
    if location.own_file == Some(OwnFile::Credentials) {
        Access::AyeFiles(location.display_path.clone())
    } else if (location.is_inside && !location.is_sensitive && !has_unknown_hard_links(files, location))
        || files.has_only_rehearsed_content(location)
    {
        Access::Read(vec![location.display_path.clone()])
    } else {
        Access::ReadSensitive(location.display_path.clone())
    }
}

/// Returns whether the file has several hard links of which one may be the name of a secret.
fn has_unknown_hard_links(files: &dyn Reader, location: &Location) -> bool {
    files.link_count(location) > 1 && files.unknown_hard_link_check()(location)
}

/// Returns the access needed to read a file found by a walk: by its own name and, if it is a link, by the name of its
/// target.
pub fn walk_access(files: &dyn Reader, location: &Location) -> Vec<Access> {
    let access_for = |path: &Path| match location.is_inside && !location.is_sensitive {
        true => Access::Read(vec![path.to_owned()]),
        false => Access::ReadSensitive(path.to_owned()),
    };
    let mut accesses = vec![access_for(&location.display_path)];
    if files.root().join(&location.display_path) != location.real {
        accesses.push(access_for(location.real.strip_prefix(files.root()).unwrap_or(&location.real)));
    }
    accesses
}

/// Returns the access needed to write the path.
pub fn write_access(location: &Location) -> Access {
    if location.own_file.is_some() {
        Access::AyeFiles(location.display_path.clone())
    } else if location.is_inside && !location.is_sensitive {
        Access::Write(location.display_path.clone())
    } else {
        Access::WriteOutside(location.display_path.clone())
    }
}

/// Returns the file if it has several hard links: a write may change, or leave unchanged, its other names.
pub fn hard_links(files: &dyn Reader, location: &Location) -> Option<HardLinks> {
    let names = files.link_count(location);
    (names > 1).then(|| HardLinks { path: location.display_path.clone(), names })
}

/// Formats a path for users and models on one line: never empty, invisible characters escaped.
pub fn display_path(location: &Location) -> String {
    let displayed = escape_path(&location.display_path);
    if displayed.is_empty() { ".".to_owned() } else { displayed }
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
    pub fn record(files: &dyn Reader, location: &Location) -> Result<Self, Error> {
        let name = location.display_path.to_str().ok_or_else(|| {
            Error::Failed(format!("{} has a name that is not Unicode, so no call can use it.", display_path(location)))
        })?;
        let holds_keys = location.own_file == Some(OwnFile::Credentials);
        // A folder of the project with the name `~` is not the user's home.
        let path = if location.is_inside { format!("./{name}") } else { name.to_owned() };
        let is_plain = matches!(read_access(files, location), Access::Read(_));
        Ok(Self { path, inside: location.is_inside, sensitive: location.is_sensitive, holds_keys, is_plain })
    }

    /// Locates the path again. Fails if it changed since the plan, for example into a link to elsewhere.
    pub fn locate_again(&self, files: &dyn Reader) -> Result<Location, Error> {
        let location = files.locate(&self.path)?;
        if Self::record(files, &location)? == *self {
            Ok(location)
        } else {
            Err(project::Error::Changed(location.display_path).into())
        }
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

    fn check_displayed_path(path: &str, expected: &str) {
        let files = MemoryProject::with_files(&[("src/a.rs", ""), ("@odd", ""), ("line\nbreak", "")]);
        let displayed =
            locate(&files, path).map(|location| display_path(&location)).unwrap_or_else(|error| error.to_string());
        assert_eq!(displayed, expected, "{path}");
    }

    #[test]
    fn accepts_common_spellings_of_paths() {
        check_displayed_path("src/a.rs", "src/a.rs");
        check_displayed_path("./src/a.rs", "src/a.rs");
        check_displayed_path("@src/a.rs", "src/a.rs");
        check_displayed_path("@./src/a.rs", "src/a.rs");
        check_displayed_path("@odd", "@odd");
        check_displayed_path(".", ".");
        check_displayed_path("src/a.rs\n", "src/a.rs");
        check_displayed_path("new\n", "new");
        check_displayed_path("line\nbreak", "line\\nbreak");
        check_displayed_path("line\\nbreak", "line\\nbreak");
        check_displayed_path("@line\\nbreak", "line\\nbreak");
        check_displayed_path("no\\nsuch", "no\\nsuch");
        check_displayed_path("back\\slash", "back\\slash");
        check_displayed_path(" ", "The path is empty. Use “.” for the project folder.");
    }

    #[test]
    fn rejects_path_that_changed_since_the_plan() {
        let files = MemoryProject::with_files(&[("a", "")]);
        let mut planned = PlannedPath::record(&files, &locate(&files, "a").unwrap()).unwrap();
        assert!(planned.locate_again(&files).is_ok());
        planned.sensitive = true;
        assert!(planned.locate_again(&files).unwrap_err().to_string().contains("has changed"));
    }

    #[test]
    fn r13_reading_hard_link_of_possible_secret_needs_approval() {
        let files = [(".env", "K=1"), ("a", "x"), ("elsewhere", "x"), ("one", "x"), ("target/x", "x")];
        let rehearsed = RehearsedProject::new(&files);
        let base = rehearsed.folder.path();
        let hard_link = |source: &str, target: &Path| std::fs::hard_link(rehearsed.live_path(source), target).unwrap();
        hard_link(".env", &rehearsed.live_path("notes"));
        hard_link("a", &rehearsed.live_path("b"));
        hard_link("elsewhere", &base.join("out"));
        hard_link("target/x", &base.join("store"));
        // The other names of a file that a command links in a dry run are not searched for, so that such a file counts
        // as a possible secret. In a package folder such as `target` it does not.
        std::fs::write(rehearsed.overlay_path("made"), "x").unwrap();
        std::fs::hard_link(rehearsed.overlay_path("made"), rehearsed.overlay_path("linked")).unwrap();
        std::fs::create_dir(rehearsed.overlay_path("target")).unwrap();
        std::fs::hard_link(rehearsed.overlay_path("made"), rehearsed.overlay_path("target/built")).unwrap();
        let readers: [&dyn Reader; 2] = [&*rehearsed.disk, &*rehearsed.rehearsal];
        for files in readers {
            for (path, is_plain) in [
                ("notes", false),
                ("elsewhere", false),
                ("a", true),
                ("b", true),
                ("one", true),
                ("target/x", true),
                (".env", false),
            ] {
                let access = read_access(files, &files.locate(path).unwrap());
                assert_eq!(matches!(access, Access::Read(_)), is_plain, "{path}: {access:?}");
            }
        }
        let access = read_access(&*rehearsed.rehearsal, &rehearsed.rehearsal.locate("made").unwrap());
        assert!(matches!(access, Access::ReadSensitive(_)), "{access:?}");
        // A recursive search skips them.
        let find_unknown_hard_links = |files: &dyn Reader| {
            let has_unknown_hard_links = files.unknown_hard_link_check();
            let mut paths = Vec::new();
            let root = files.locate(".").unwrap();
            let hidden = false;
            let result = files.walk(&root, hidden, &mut |entry| {
                if !entry.is_folder && has_unknown_hard_links(&entry.location) {
                    paths.push(entry.location.display_path.display().to_string());
                }
                std::ops::ControlFlow::Continue(())
            });
            result.unwrap();
            paths
        };
        assert_eq!(find_unknown_hard_links(&*rehearsed.disk), ["elsewhere", "notes"]);
        assert_eq!(find_unknown_hard_links(&*rehearsed.rehearsal), ["elsewhere", "linked", "made", "notes"]);
    }

    #[tokio::test]
    async fn r13_search_skips_hard_link_to_a_secret() {
        let rehearsed = RehearsedProject::new(&[(".env", "hunter2\n"), ("a", "hunter2 is none\n")]);
        std::fs::hard_link(rehearsed.live_path(".env"), rehearsed.live_path("notes")).unwrap();
        let projects: [Arc<dyn Writer>; 2] = [rehearsed.disk.clone(), rehearsed.rehearsal.clone()];
        for project in projects {
            let arguments = serde_json::json!({ "pattern": "hunter2" });
            let Ok(Intent::Act(plan)) = SearchText.plan_call(&arguments, &*project) else { panic!("it is planned") };
            let shell = Arc::new(Shell::new("/nowhere".into()));
            let context = LiveContext {
                project,
                shell,
                excluded: ExcludedPaths::default(),
                runs_in_parts: false,
                recorder: Arc::new(crate::project::checkpoints::CallRecorder::disabled()),
                results: crate::tools::ResultFiles::default(),
                progress: Arc::new(|_| {}),
            };
            let output = SearchText.run(&plan, &context).await.unwrap();
            assert!(output.starts_with("a:1: hunter2 is none\n[skipped, may hold secrets: 2;"), "{output}");
        }
    }
}
