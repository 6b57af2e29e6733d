//! Path lookup: resolves links and determines whether a path lies inside the project.

use super::{Error, Location};
use crate::chat::sensitive_paths::is_sensitive;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Maximum number of links in a path, as in the kernel.
const MAX_LINKS: usize = 40;

/// Looks up a path written by a user or a model. `root` is a real path; `home` replaces `~`.
pub fn locate_path(root: &Path, home: Option<&Path>, path: &str) -> Result<Location, Error> {
    locate_with(root, home, path, &mut link_target)
}

/// Like `locate_path`, with the targets of links given by `link`.
pub fn locate_with(
    root: &Path,
    home: Option<&Path>,
    path: &str,
    link: &mut dyn FnMut(&Path) -> Option<PathBuf>,
) -> Result<Location, Error> {
    let absolute = make_absolute(root, home, path)?;
    let real = resolve_links(&absolute, link)?;
    let mut location = locate_real(root, real);
    // A link called `.env` is read by programs as `.env`, whatever its target.
    location.is_sensitive |= is_sensitive(&absolute);
    Ok(location)
}

/// Locates a path that contains no links.
pub fn locate_real(root: &Path, real: PathBuf) -> Location {
    let (is_inside, display_path) = match real.strip_prefix(root) {
        Ok(relative) if relative.as_os_str().is_empty() => (true, PathBuf::from(".")),
        Ok(relative) => (true, relative.to_owned()),
        Err(_) => (false, real.clone()),
    };
    Location { is_sensitive: is_sensitive(&real), real, display_path, is_inside, own_file: None }
}

/// Makes a path absolute without resolving links.
fn make_absolute(root: &Path, home: Option<&Path>, path: &str) -> Result<PathBuf, Error> {
    let fail = |reason: &str| Err(Error::Invalid(reason.to_owned()));
    if path.trim().is_empty() {
        return fail("the path is empty; `.` is the project's folder");
    }
    if path.contains('\0') {
        return fail("the path contains a NUL byte");
    }
    let home_relative = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (home_relative, home) {
        (Some(relative), Some(home)) => Ok(home.join(relative.trim_start_matches('/'))),
        (Some(_), None) => fail("the home folder is not known; write the path in full"),
        (None, _) => Ok(root.join(path)),
    }
}

/// Returns the target of a link on disk, `None` if the path is not a link.
pub fn link_target(path: &Path) -> Option<PathBuf> {
    std::fs::read_link(path).ok()
}

/// Resolves the links in a path; a missing path stays as it is.
pub fn resolve_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Resolves all links, component by component. `link` returns the target of a link, and `None` for any other path.
/// Parts that do not exist are kept as written.
pub fn resolve_links(path: &Path, link: &mut dyn FnMut(&Path) -> Option<PathBuf>) -> Result<PathBuf, Error> {
    let mut real = PathBuf::from("/");
    let mut link_count = 0;
    let mut remaining: Vec<OsString> = reversed_components(path);
    while let Some(name) = remaining.pop() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        let Some(target) = link(&next) else {
            real = next;
            continue;
        };
        link_count += 1;
        if link_count > MAX_LINKS {
            return Err(Error::Invalid(format!("{} leads through too many links", path.display())));
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        remaining.extend(reversed_components(&target));
    }
    Ok(real)
}

/// Returns the folders that contain a relative path, outermost first.
pub fn list_parents(relative: &Path) -> Vec<&Path> {
    let mut parents: Vec<&Path> =
        relative.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()).collect();
    parents.reverse();
    parents
}

/// Returns the components of a path, last one first.
fn reversed_components(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct PathFixture {
        _folder: tempfile::TempDir,
        root: PathBuf,
        home: PathBuf,
    }

    fn create_fixture() -> PathFixture {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, home) = (base.join("project"), base.join("home"));
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        std::fs::write(root.join("src/a.rs"), "a").unwrap();
        std::fs::write(base.join("outside.txt"), "o").unwrap();
        symlink(base.join("outside.txt"), root.join("out")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink(&home, root.join("home")).unwrap();
        symlink("src", root.join("source")).unwrap();
        symlink(base.join("not-yet"), root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("src/a.rs", root.join(".env")).unwrap();
        PathFixture { _folder: folder, root, home }
    }

    /// Returns the displayed path (outside the project: relative to the project's parent folder), whether it is inside
    /// the project, and whether it is sensitive.
    fn locate_shown(fixture: &PathFixture, path: &str) -> (String, bool, bool) {
        let location = locate_path(&fixture.root, Some(&fixture.home), path).unwrap();
        let base = fixture.root.parent().unwrap();
        let display_path = location.display_path.strip_prefix(base).unwrap_or(&location.display_path);
        (display_path.display().to_string(), location.is_inside, location.is_sensitive)
    }

    #[test]
    fn r25_path_is_inside_only_if_its_target_is() {
        let fixture = create_fixture();
        let assert_located = |path: &str, name: &str, inside: bool, sensitive: bool| {
            assert_eq!(locate_shown(&fixture, path), (name.to_owned(), inside, sensitive), "{path}");
        };
        assert_located(".", ".", true, false);
        assert_located("src/a.rs", "src/a.rs", true, false);
        assert_located("./src//./a.rs", "src/a.rs", true, false);
        assert_located("src/../src/a.rs", "src/a.rs", true, false);
        assert_located("new/deep/file", "new/deep/file", true, false);
        assert_located("source/a.rs", "src/a.rs", true, false);
        assert_located("source/new", "src/new", true, false);
        assert_located("..", "", false, false);
        assert_located("../outside.txt", "outside.txt", false, false);
        assert_located("../project/src", "src", true, false);
        assert_located("../project-two", "project-two", false, false);
        assert_located("out", "outside.txt", false, false);
        assert_located("up/outside.txt", "outside.txt", false, false);
        assert_located("up/project/src", "src", true, false);
        assert_located("home/x", "home/x", false, false);
        assert_located("home/../outside.txt", "outside.txt", false, false);
        assert_located("dangling", "not-yet", false, false);
        assert_located("missing/../../outside.txt", "outside.txt", false, false);
        assert_located("~", "home", false, false);
        assert_located("~/.ssh/config", "home/.ssh/config", false, true);
        assert_located("home/.ssh/config", "home/.ssh/config", false, true);
        assert_located("~other", "~other", true, false);
        assert_located(".git/config", ".git/config", true, true);
        assert_located(".env", "src/a.rs", true, true);
    }

    #[test]
    fn invalid_paths_are_refused_with_a_reason() {
        let fixture = create_fixture();
        for (path, expected) in [
            ("", "the path is empty; `.` is the project's folder"),
            ("  ", "the path is empty; `.` is the project's folder"),
            ("a\0b", "the path contains a NUL byte"),
        ] {
            assert_eq!(locate_path(&fixture.root, None, path).unwrap_err().to_string(), expected);
        }
        let error = locate_path(&fixture.root, None, "loop/x").unwrap_err().to_string();
        assert!(error.ends_with("leads through too many links"), "{error}");
        assert!(locate_path(&fixture.root, None, "~/x").is_err());
    }

    #[test]
    fn r32_control_and_bidi_characters_are_allowed_in_names() {
        let fixture = create_fixture();
        for name in ["a\nb", "a\u{202e}txt.exe", "a\u{1b}[31m", "\t"] {
            let result = locate_path(&fixture.root, None, name);
            if name.trim().is_empty() {
                assert!(result.is_err());
            } else {
                assert_eq!(result.unwrap().real, fixture.root.join(name));
            }
        }
    }

    #[test]
    fn absolute_project_paths_are_shown_relative() {
        let fixture = create_fixture();
        let path = fixture.root.join("src/a.rs");
        assert_eq!(locate_shown(&fixture, &path.display().to_string()).0, "src/a.rs");
    }
}
