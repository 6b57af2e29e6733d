//! Tests: paths are classified in a rehearsal as they are live, including aye's own folders.

use crate::project::disk::Disk;
use crate::project::rehearsal::Rehearsal;
use crate::project::{OwnFiles, Reader, Writer};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

#[test]
fn r14_own_files_are_sensitive_in_a_rehearsal_and_its_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, config) = (base.join("project"), base.join("project/home/config"));
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("rules.toml"), "x").unwrap();
    fs::create_dir(root.join("dotfiles")).unwrap();
    fs::write(root.join("dotfiles/config.toml"), "x").unwrap();
    std::os::unix::fs::symlink("home/config", root.join("link")).unwrap();
    let disk = Disk::new(&root)
        .unwrap()
        .with_own_files(OwnFiles::new(vec![config, root.join("dotfiles/config.toml")], Vec::new()));
    let rehearsal = Rehearsal::new(Arc::new(disk), base.join("layer"));
    for new_path in ["home/other", "home/config/made"] {
        rehearsal.write(&rehearsal.locate(new_path).unwrap(), None, b"x").unwrap();
    }
    // A link that exists only in the rehearsal.
    std::os::unix::fs::symlink("home/config/rules.toml", base.join("layer/upper/rules")).unwrap();
    for (path, expected) in [
        ("home/config/rules.toml", true),
        ("home/config", true),
        ("home/config/made", true),
        ("home/config/new/deep", true),
        ("link/rules.toml", true),
        ("rules", true),
        ("home/../home/config/rules.toml", true),
        ("dotfiles/config.toml", true),
        ("home/other", false),
        ("home/configuration", false),
        (".", false),
    ] {
        assert_eq!(rehearsal.locate(path).unwrap().is_sensitive, expected, "{path}");
    }
    for (path, expected) in
        [("home/config/made", true), ("link/made", true), ("dotfiles/config.toml", true), ("home/other", false)]
    {
        assert_eq!(rehearsal.locate_live(Path::new(path)).unwrap().is_sensitive, expected, "{path}");
    }
    let mut visited = Vec::new();
    let root = rehearsal.locate(".").unwrap();
    let result = rehearsal.walk(&root, true, &mut |entry| {
        visited.push((entry.location.display_path.display().to_string(), entry.location.is_sensitive));
        ControlFlow::Continue(())
    });
    result.unwrap();
    let expected = [
        ("dotfiles", false),
        ("dotfiles/config.toml", true),
        ("home", false),
        ("home/config", true),
        ("home/config/made", true),
        ("home/config/rules.toml", true),
        ("home/other", false),
        ("link", true),
        ("rules", true),
    ];
    assert_eq!(visited, expected.map(|(path, sensitive)| (path.to_owned(), sensitive)));
}
