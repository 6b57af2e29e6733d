//! Disks that refuse a write halfway: a quota that is used up, and a file system that is read-only.

use crate::support::kept::settings;
use crate::support::leave_out;
use crate::support::mounts::{may_mount, small_disk};
use crate::support::preload;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::talking::{calls_after, says};
use rustix::mount::{MountFlags, mount_remount};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

/// Fails every write to a file below a folder with EDQUOT: a quota is a matter of a file system that few machines have.
const QUOTA: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int file, const void *bytes, size_t count) {
    char link[64], path[4096];
    const char *below = getenv("AYE_TEST_QUOTA");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (below && length > 0 && strncmp(path, below, strlen(below)) == 0) {
        errno = EDQUOT;
        return -1;
    }
    return syscall(SYS_write, file, bytes, count);
}
"#;

/// The program in full mode, and a model that calls `write_file` on `a.txt` and then ends its turn.
fn writes_a_file() -> (tokio::runtime::Runtime, Service, Setup) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let call = ("write_file", json!({ "path": "a.txt", "content": "new\n" }));
    let service = runtime.block_on(Service::start([calls_after(Duration::ZERO, &[call]), says("Done.")]));
    let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "m", "go"]);
    settings(&setup, "[approval]\nmode = \"full\"\n");
    (runtime, service, setup)
}

fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}

/// What the model was sent of the call.
fn outcome(service: &Service) -> String {
    let received = service.received();
    let body = &received.last().expect("a request was sent").body;
    let messages = body["messages"].as_array().expect("a request has messages");
    messages.last().unwrap()["content"].as_str().unwrap_or_default().to_owned()
}

fn quota(setup: Setup, below: &Path) -> Option<Setup> {
    static LIBRARY: LazyLock<Option<PathBuf>> = LazyLock::new(|| preload::build("quota", QUOTA));
    let Some(library) = LIBRARY.as_deref() else {
        leave_out("no C compiler builds a library here");
        return None;
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Some(setup.env("LD_PRELOAD", &text(library)).env("AYE_TEST_QUOTA", &text(&real_path(below))))
}

#[test]
fn r24_a_used_up_quota_leaves_the_old_file_whole() {
    let (_runtime, service, setup) = writes_a_file();
    let setup = setup.has("a.txt", "old\n");
    let project = setup.place.path().join("project");
    let Some(setup) = quota(setup, &project) else { return };
    let (_, err, code) = setup.print("");
    assert!(outcome(&service).contains("the disk is full"), "{}\n{err}", outcome(&service));
    assert_eq!(std::fs::read_to_string(project.join("a.txt")).unwrap(), "old\n");
    assert_eq!(std::fs::read_dir(&project).unwrap().count(), 1, "a temporary file is left");
    assert_eq!(code, 0, "{err}");
}

#[test]
fn r53_a_used_up_quota_for_sessions_is_said_and_the_reply_comes_whole() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([says("The whole reply.")]));
    let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "m", "go"]);
    let data = setup.place.path().join("home/aye/data");
    std::fs::create_dir_all(&data).unwrap();
    let Some(setup) = quota(setup, &data) else { return };
    let (out, err, code) = setup.print("");
    assert!(err.contains("The session could not be saved"), "{err}");
    assert_eq!((out.trim_end(), code), ("The whole reply.", 1));
    assert!(err.contains(" is not saved: ") && err.contains("Not kept: 1 message, 1 reply"), "{err}");
}

#[test]
fn r24_r53_a_read_only_disk_is_said_and_changes_nothing() {
    if !may_mount("failing_disks::r24_r53_a_read_only_disk_is_said_and_changes_nothing") {
        return;
    }
    let (_runtime, service, setup) = writes_a_file();
    let project = setup.place.path().join("project");
    let data = setup.place.path().join("home/aye/data");
    for folder in [&project, &data] {
        small_disk(folder, "size=512k");
    }
    let setup = setup.has("a.txt", "old\n");
    for folder in [&project, &data] {
        mount_remount(folder, MountFlags::RDONLY, c"").unwrap();
    }
    let (out, err, code) = setup.print("");
    assert!(outcome(&service).contains("Read-only file system"), "{}\n{err}", outcome(&service));
    assert_eq!(std::fs::read_to_string(project.join("a.txt")).unwrap(), "old\n");
    assert!(err.contains("The session could not be saved"), "{err}");
    assert!(out.contains("Done.") && code == 1, "{code} {out}");
    assert!(err.contains("Not kept: 1 message, 2 replies, 1 outcome of a call"), "{err}");
}
