//! Tests of folders with file names that are not Unicode.

use super::*;

/// macOS has no such names.
#[cfg(target_os = "linux")]
#[test]
fn r13_non_unicode_name_does_not_hide_a_secret() {
    use std::os::unix::ffi::OsStrExt;
    let (directory, files) = project_with_secrets();
    let keys = directory.path().join("project/src/keys");
    fs::create_dir(&keys).unwrap();
    fs::write(keys.join("server.pem"), "x").unwrap();
    for has_odd_name in [false, true] {
        if has_odd_name {
            fs::write(keys.join(std::ffi::OsStr::from_bytes(b"caf\xe9.txt")), "x").unwrap();
        }
        for command in ["cat src/keys/*", "grep -r x src", "grep x src/keys/*.pem"] {
            assert_ne!(judge_reach(command, &files).0, Reach::Reads, "{command}, {has_odd_name}");
        }
    }
    assert_eq!(judge_reach("cat src/gone/*.rs src/main.rs/*", &files).0, Reach::Reads);
}
