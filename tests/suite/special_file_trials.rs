//! Trials of commands in a project with files that cannot be copied: sockets, fifos, devices, and files of other groups.

use crate::support::print_uncaptured;
use crate::trials::{TrialProject, list_changes};
use aye::project::checkpoints::CallRecorder;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// A group that no account of the machine is in.
const FOREIGN_GROUP: u32 = 54_321;

/// Creates a socket, a fifo and, as root, a device in the folder. Returns their names.
fn create_special_files(folder: &Path) -> Vec<&'static str> {
    drop(UnixListener::bind(folder.join("socket")).unwrap());
    let make =
        |name: &str, kind, device| rustix::fs::mknodat(rustix::fs::CWD, folder.join(name), kind, 0o644.into(), device);
    make("fifo", rustix::fs::FileType::Fifo, 0).unwrap();
    let null = rustix::fs::makedev(1, 3);
    match make("device", rustix::fs::FileType::CharacterDevice, null) {
        Ok(()) => vec!["device", "fifo", "socket"],
        Err(_) => {
            print_uncaptured("left out: only root creates devices");
            vec!["fifo", "socket"]
        }
    }
}

/// Returns the kind of each file and its inode, which tell whether it is still the same.
fn identities(folder: &Path, names: &[&str]) -> Vec<(bool, bool, bool, u64)> {
    let identity = |name: &&str| {
        let metadata = fs::symlink_metadata(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let kind = metadata.file_type();
        (kind.is_socket(), kind.is_fifo(), kind.is_char_device(), metadata.ino())
    };
    names.iter().map(identity).collect()
}

#[tokio::test]
async fn special_files_of_the_project_are_seen_and_stay() {
    let Some(project) = TrialProject::with_files(&[("a.txt", "one\n"), ("sub/b.txt", "b\n")]) else { return };
    let names = create_special_files(&project.project.join("sub"));
    let before = identities(&project.project.join("sub"), &names);
    let trial =
        project.try_command("ls sub; test -p sub/fifo && test -S sub/socket && echo two >> a.txt; touch sub/new").await;
    let listed: Vec<&str> = trial.outcome.output.lines().collect();
    assert_eq!(listed, [&["b.txt"][..], &names].concat());
    assert_eq!(list_changes(&trial), ["modified a.txt", "created sub/new"]);
    assert!(trial.effects.unkeepable.is_empty(), "{:?}", trial.effects.unkeepable);
    let unkept = trial.keep(&CallRecorder::disabled()).unwrap();
    assert!(unkept.conflicts.is_empty(), "{unkept:?}");
    assert_eq!(project.file("a.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(identities(&project.project.join("sub"), &names), before);
}

/// The deletion of a special file is a loss like that of any other file, and kept like one.
#[tokio::test]
async fn deleted_special_files_are_listed_as_destroyed_and_go_when_kept() {
    let Some(project) = TrialProject::with_files(&[("a.txt", "one\n")]) else { return };
    let names = create_special_files(&project.project);
    let before = identities(&project.project, &names);
    let trial = project.try_command(&format!("rm -f {}; echo two >> a.txt", names.join(" "))).await;
    let deletions = names.iter().map(|name| format!("deleted {name} destroys"));
    let expected: Vec<String> = std::iter::once("modified a.txt".to_owned()).chain(deletions).collect();
    assert_eq!(list_changes(&trial), expected);
    assert_eq!(identities(&project.project, &names), before, "nothing is real yet");
    let unkept = trial.keep(&CallRecorder::disabled()).unwrap();
    assert!(unkept.conflicts.is_empty(), "{unkept:?}");
    for name in names {
        assert!(fs::symlink_metadata(project.project.join(name)).is_err(), "{name}");
    }
    assert_eq!(project.file("a.txt").as_deref(), Some("one\ntwo\n"));
}

/// A special file that was replaced since the trial is not deleted with it.
#[tokio::test]
async fn a_special_file_that_changed_since_the_trial_stays() {
    let Some(project) = TrialProject::with_files(&[("a.txt", "one\n")]) else { return };
    let names = create_special_files(&project.project);
    let trial = project.try_command(&format!("rm -f {}", names.join(" "))).await;
    for name in &names {
        fs::remove_file(project.project.join(name)).unwrap();
        fs::write(project.project.join(name), "work since then\n").unwrap();
    }
    let kept = trial.keep(&CallRecorder::disabled());
    for name in &names {
        assert_eq!(project.file(name).as_deref(), Some("work since then\n"), "{name}: {kept:?}");
    }
}

/// A file keeps its group when a change to it is kept.
#[tokio::test]
async fn a_kept_change_leaves_a_file_in_its_group() {
    let Some(project) = TrialProject::with_files(&[("ours.txt", "one\n"), ("shared/theirs.txt", "one\n")]) else {
        return;
    };
    let paths = ["shared", "shared/theirs.txt"].map(|path| project.project.join(path));
    for path in &paths {
        if std::os::unix::fs::chown(path, None, Some(FOREIGN_GROUP)).is_err() {
            return print_uncaptured("left out: only root gives a file to another group");
        }
    }
    fs::set_permissions(&paths[1], fs::Permissions::from_mode(0o664)).unwrap();
    let trial = project.try_command("echo two >> ours.txt; echo two >> shared/theirs.txt; cat shared/theirs.txt").await;
    assert_eq!(trial.outcome.output, "one\ntwo\n");
    assert_eq!(list_changes(&trial), ["modified ours.txt", "modified shared/theirs.txt"]);
    let unkept = trial.keep(&CallRecorder::disabled()).unwrap();
    assert!(unkept.conflicts.is_empty(), "{unkept:?}");
    let metadata = fs::metadata(&paths[1]).unwrap();
    assert_eq!((metadata.gid(), metadata.mode() & 0o777), (FOREIGN_GROUP, 0o664));
    assert_eq!(fs::metadata(&paths[0]).unwrap().gid(), FOREIGN_GROUP);
    assert_eq!(project.file("ours.txt").as_deref(), Some("one\ntwo\n"));
    assert_eq!(project.file("shared/theirs.txt").as_deref(), Some("one\ntwo\n"));
}
