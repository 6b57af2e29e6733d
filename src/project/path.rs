//! Path lookup: resolves links and determines whether a path lies inside the project.

use super::{Error, Location};
use crate::chat::sensitive_paths::is_sensitive;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Maximum number of links in a path, as in the kernel.
const MAX_LINKS: usize = 40;

/// Looks up a path written by a user or a model. `root` is a real path; `home` replaces `~`.
pub fn locate_path(root: &Path, home: Option<&Path>, path: &str) -> Result<Location, Error> {
    locate_with(root, home, path, &link_target)
}

/// Like `locate_path`, with the targets of links given by `link`.
pub fn locate_with(
    root: &Path,
    home: Option<&Path>,
    path: &str,
    link: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Result<Location, Error> {
    let written = make_absolute(root, home, path)?;
    let real = resolve_links(&written, link)?;
    let mut located = locate_real(root, real);
    // A link called `.env` is read by programs as `.env`, whatever its target.
    located.is_sensitive |= is_sensitive(&written);
    Ok(located)
}

/// Locates a path that contains no links.
pub fn locate_real(root: &Path, real: PathBuf) -> Location {
    let (inside, shown) = match real.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => (true, PathBuf::from(".")),
        Ok(below) => (true, below.to_owned()),
        Err(_) => (false, real.clone()),
    };
    Location { is_sensitive: is_sensitive(&real), real, display_path: shown, is_inside: inside, own_file: None }
}

/// Makes a path absolute without resolving links.
fn make_absolute(root: &Path, home: Option<&Path>, path: &str) -> Result<PathBuf, Error> {
    let bad = |words: &str| Err(Error::BadPath(words.to_owned()));
    if path.trim().is_empty() {
        return bad("the path is empty; `.` is the project's folder");
    }
    if path.contains('\0') {
        return bad("the path contains a NUL byte");
    }
    let below_home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (below_home, home) {
        (Some(rest), Some(home)) => Ok(home.join(rest.trim_start_matches('/'))),
        (Some(_), None) => bad("the home folder is not known; write the path in full"),
        (None, _) => Ok(root.join(path)),
    }
}

/// Returns the target of a link on disk, `None` if the path is not a link.
pub fn link_target(path: &Path) -> Option<PathBuf> {
    std::fs::read_link(path).ok()
}

/// Resolves all links, component by component. Parts that do not exist are kept as written.
pub fn resolve_links(path: &Path, link: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<PathBuf, Error> {
    let mut real = PathBuf::from("/");
    let mut links = 0;
    let mut ahead: Vec<OsString> = reversed_components(path);
    while let Some(name) = ahead.pop() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        let Some(target) = link(&next) else {
            real = next;
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(Error::BadPath(format!("{} leads through too many links", path.display())));
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        ahead.extend(reversed_components(&target));
    }
    Ok(real)
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

    fn locate_shown(place: &PathFixture, path: &str) -> (String, bool, bool) {
        let found = locate_path(&place.root, Some(&place.home), path).unwrap();
        let base = place.root.parent().unwrap();
        let shown = found.display_path.strip_prefix(base).unwrap_or(&found.display_path);
        (shown.display().to_string(), found.is_inside, found.is_sensitive)
    }

    #[test]
    fn r25_path_is_inside_only_if_its_target_is() {
        let place = create_fixture();
        let check = |path: &str, name: &str, inside: bool, sensitive: bool| {
            assert_eq!(locate_shown(&place, path), (name.to_owned(), inside, sensitive), "{path}");
        };
        check(".", ".", true, false);
        check("src/a.rs", "src/a.rs", true, false);
        check("./src//./a.rs", "src/a.rs", true, false);
        check("src/../src/a.rs", "src/a.rs", true, false);
        check("new/deep/file", "new/deep/file", true, false);
        check("source/a.rs", "src/a.rs", true, false);
        check("source/new", "src/new", true, false);
        check("..", "", false, false);
        check("../outside.txt", "outside.txt", false, false);
        check("../project/src", "src", true, false);
        check("../project-two", "project-two", false, false);
        check("out", "outside.txt", false, false);
        check("up/outside.txt", "outside.txt", false, false);
        check("up/project/src", "src", true, false);
        check("home/x", "home/x", false, false);
        check("home/../outside.txt", "outside.txt", false, false);
        check("dangling", "not-yet", false, false);
        check("missing/../../outside.txt", "outside.txt", false, false);
        check("~", "home", false, false);
        check("~/.ssh/config", "home/.ssh/config", false, true);
        check("home/.ssh/config", "home/.ssh/config", false, true);
        check("~other", "~other", true, false);
        check(".git/config", ".git/config", true, true);
        check(".env", "src/a.rs", true, true);
    }

    #[test]
    fn invalid_paths_are_refused_with_a_reason() {
        let place = create_fixture();
        for (path, words) in [
            ("", "the path is empty; `.` is the project's folder"),
            ("  ", "the path is empty; `.` is the project's folder"),
            ("a\0b", "the path contains a NUL byte"),
        ] {
            assert_eq!(locate_path(&place.root, None, path).unwrap_err().to_string(), words);
        }
        let error = locate_path(&place.root, None, "loop/x").unwrap_err().to_string();
        assert!(error.ends_with("leads through too many links"), "{error}");
        assert!(locate_path(&place.root, None, "~/x").is_err());
    }

    #[test]
    fn r32_control_and_bidi_characters_are_allowed_in_names() {
        let place = create_fixture();
        for name in ["a\nb", "a\u{202e}txt.exe", "a\u{1b}[31m", "\t"] {
            let found = locate_path(&place.root, None, name);
            if name.trim().is_empty() {
                assert!(found.is_err());
            } else {
                assert_eq!(found.unwrap().real, place.root.join(name));
            }
        }
    }

    #[test]
    fn absolute_project_paths_are_shown_relative() {
        let place = create_fixture();
        let path = place.root.join("src/a.rs");
        assert_eq!(locate_shown(&place, &path.display().to_string()).0, "src/a.rs");
    }
}
