//! Path lookup: resolves links and determines whether a path lies inside the project.

use super::{Error, Located};
use crate::chat::sensitive::sensitive;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Maximum number of links in a path, as in the kernel.
const LINKS: usize = 40;

/// Looks up a path written by a user or a model. `root` is a real path; `home` replaces `~`.
pub fn locate(root: &Path, home: Option<&Path>, path: &str) -> Result<Located, Error> {
    locate_by(root, home, path, &on_disk)
}

/// Like `locate_path`, with the targets of links given by `link`.
pub fn locate_by(
    root: &Path,
    home: Option<&Path>,
    path: &str,
    link: &dyn Fn(&Path) -> Option<PathBuf>,
) -> Result<Located, Error> {
    let written = absolute(root, home, path)?;
    let real = resolve(&written, link)?;
    let mut located = at(root, real);
    // A link called `.env` is read by programs as `.env`, whatever its target.
    located.sensitive |= sensitive(&written);
    Ok(located)
}

/// Locates a path that contains no links.
pub fn at(root: &Path, real: PathBuf) -> Located {
    let (inside, shown) = match real.strip_prefix(root) {
        Ok(below) if below.as_os_str().is_empty() => (true, PathBuf::from(".")),
        Ok(below) => (true, below.to_owned()),
        Err(_) => (false, real.clone()),
    };
    Located { sensitive: sensitive(&real), real, shown, inside, own: None }
}

/// Makes a path absolute without resolving links.
fn absolute(root: &Path, home: Option<&Path>, path: &str) -> Result<PathBuf, Error> {
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
pub fn on_disk(path: &Path) -> Option<PathBuf> {
    std::fs::read_link(path).ok()
}

/// Resolves all links, component by component. Parts that do not exist are kept as written.
pub fn resolve(path: &Path, link: &dyn Fn(&Path) -> Option<PathBuf>) -> Result<PathBuf, Error> {
    let mut real = PathBuf::from("/");
    let mut links = 0;
    let mut ahead: Vec<OsString> = backwards(path);
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
        if links > LINKS {
            return Err(Error::BadPath(format!("{} leads through too many links", path.display())));
        }
        if target.is_absolute() {
            real = PathBuf::from("/");
        }
        ahead.extend(backwards(&target));
    }
    Ok(real)
}

/// Returns the components of a path, last one first.
fn backwards(path: &Path) -> Vec<OsString> {
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

    struct Place {
        _folder: tempfile::TempDir,
        root: PathBuf,
        home: PathBuf,
    }

    fn place() -> Place {
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
        Place { _folder: folder, root, home }
    }

    fn shown(place: &Place, path: &str) -> (String, bool, bool) {
        let found = locate(&place.root, Some(&place.home), path).unwrap();
        let base = place.root.parent().unwrap();
        let shown = found.shown.strip_prefix(base).unwrap_or(&found.shown);
        (shown.display().to_string(), found.inside, found.sensitive)
    }

    #[test]
    fn r25_path_is_inside_only_if_its_target_is() {
        let place = place();
        let check = |path: &str, name: &str, inside: bool, sensitive: bool| {
            assert_eq!(shown(&place, path), (name.to_owned(), inside, sensitive), "{path}");
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
        let place = place();
        for (path, words) in [
            ("", "the path is empty; `.` is the project's folder"),
            ("  ", "the path is empty; `.` is the project's folder"),
            ("a\0b", "the path contains a NUL byte"),
        ] {
            assert_eq!(locate(&place.root, None, path).unwrap_err().to_string(), words);
        }
        let error = locate(&place.root, None, "loop/x").unwrap_err().to_string();
        assert!(error.ends_with("leads through too many links"), "{error}");
        assert!(locate(&place.root, None, "~/x").is_err());
    }

    #[test]
    fn r32_control_and_bidi_characters_are_allowed_in_names() {
        let place = place();
        for name in ["a\nb", "a\u{202e}txt.exe", "a\u{1b}[31m", "\t"] {
            let found = locate(&place.root, None, name);
            if name.trim().is_empty() {
                assert!(found.is_err());
            } else {
                assert_eq!(found.unwrap().real, place.root.join(name));
            }
        }
    }

    #[test]
    fn absolute_project_paths_are_shown_relative() {
        let place = place();
        let path = place.root.join("src/a.rs");
        assert_eq!(shown(&place, &path.display().to_string()).0, "src/a.rs");
    }
}
