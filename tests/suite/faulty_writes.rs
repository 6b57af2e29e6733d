//! Each write, sync and rename of saved data fails once: the data is still saved, or the user is told what was not
//! saved.

use crate::support::preload;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::{NO_TITLES, write_settings};
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::{pick_count, report_skipped};
use aye::chat::Entry;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tokio::runtime::Runtime;

/// Counts the calls that write, sync, create or rename a file in the folder, as the size of a counter file. The journal
/// does not count, because it contains no text of sessions. The call with the given number fails with EIO. Later calls
/// succeed unless `AYE_TEST_FOR_GOOD` is set.
const FAULTY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int below(const char *path) {
    const char *folder = getenv("AYE_TEST_BELOW");
    return folder && strncmp(path, folder, strlen(folder)) == 0 && !strstr(path, "/journal");
}

static int fails(void) {
    const char *counter = getenv("AYE_TEST_COUNT"), *number = getenv("AYE_TEST_FAIL");
    int file = syscall(SYS_openat, AT_FDCWD, counter, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, file, "x", 1);
    struct stat about;
    fstat(file, &about);
    syscall(SYS_close, file);
    long at = number ? atol(number) : 0;
    int is_it = getenv("AYE_TEST_FOR_GOOD") ? about.st_size >= at : about.st_size == at;
    if (at && is_it) errno = EIO;
    return at && is_it;
}

static int fails_on(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return below(path) && fails();
}

ssize_t write(int file, const void *bytes, size_t count) {
    return fails_on(file) ? -1 : syscall(SYS_write, file, bytes, count);
}

int fsync(int file) { return fails_on(file) ? -1 : syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails_on(file) ? -1 : syscall(SYS_fdatasync, file); }

int rename(const char *from, const char *to) {
    return below(to) && fails() ? -1 : syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    int mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if (flags & O_CREAT && below(path) && fails()) return -1;
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
"#;

fn build_library() -> Option<PathBuf> {
    static LIBRARY: LazyLock<Option<PathBuf>> = LazyLock::new(|| preload::build_library("faulty", FAULTY));
    if LIBRARY.is_none() {
        report_skipped("no C compiler builds a library here");
    }
    LIBRARY.clone()
}

/// Sets up a program whose write with this number fails, and all later ones too if `for_good`. With 0 no write fails.
fn with_fault(setup: Setup, library: &Path, number: usize, for_good: bool) -> Setup {
    let root = setup.root.path().canonicalize().unwrap();
    let data = root.join("home/aye/data");
    std::fs::create_dir_all(&data).unwrap();
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let setup = setup
        .env("LD_PRELOAD", &text(library.to_owned()))
        .env("AYE_TEST_BELOW", &text(data))
        .env("AYE_TEST_COUNT", &text(root.join("count")))
        .env("AYE_TEST_FAIL", &number.to_string());
    if for_good { setup.env("AYE_TEST_FOR_GOOD", "1") } else { setup }
}

/// Counts the calls of the program that could have failed.
fn count_calls(root: &Path) -> usize {
    std::fs::metadata(root.join("count")).map_or(0, |metadata| metadata.len() as usize)
}

/// Returns whether the session on disk has the message, the reply and the end of the turn.
fn is_saved(root: &Path) -> bool {
    let files = std::fs::read_dir(root.join("home/aye/data/sessions")).into_iter().flatten().flatten();
    let entries: Vec<Entry> =
        files.filter_map(|file| aye::store::read(&file.path()).ok()).flat_map(|read| read.entries).collect();
    entries.iter().any(|entry| matches!(entry, Entry::UserMessage { text } if text == "one"))
        && entries.iter().any(|entry| matches!(entry, Entry::Replied { text, .. } if text == "First."))
        && entries.iter().any(|entry| matches!(entry, Entry::Ended { .. }))
}

/// Returns whether a file in this data folder contains the text.
fn contains_text(root: &Path, folder: &str, text: &str) -> bool {
    let files = std::fs::read_dir(root.join("home/aye/data").join(folder)).into_iter().flatten().flatten();
    files
        .filter(|file| !file.file_name().to_string_lossy().starts_with('.'))
        .any(|file| std::fs::read_to_string(file.path()).is_ok_and(|text_of_file| text_of_file.contains(text)))
}

#[test]
fn r53_saves_a_printed_reply_or_reports_it_whichever_write_fails() {
    let Some(library) = build_library() else { return };
    let runtime = Runtime::new().unwrap();
    let (mut number, mut failed) = (0, 0);
    loop {
        for for_good in [false, true] {
            let service = runtime.block_on(Service::start([text_answer("First.")]));
            let setup = Setup::new(&["-p", "--base-url", &service.base_url, "--model", "m", "one"]);
            let root = setup.root.clone();
            let (out, err, code) = with_fault(setup, &library, number, for_good).run_piped("");
            let why = format!("write {number}, for good: {for_good}: code {code}: {err}");
            assert_eq!(out.trim_end(), "First.", "{why}");
            match is_saved(root.path()) {
                true => assert_eq!(code, 0, "{why}"),
                false => assert!(code == 1 && err.contains("Not kept: "), "{why}"),
            }
            failed += usize::from(number > 0 && count_calls(root.path()) >= number);
            if number > 0 && count_calls(root.path()) < number {
                assert!(failed > 4, "only {failed} writes could fail");
                return;
            }
        }
        number += 1;
    }
}

#[test]
fn r53_saves_a_session_on_the_screen_or_reports_it_whichever_write_fails() {
    let Some(library) = build_library() else { return };
    let runtime = Runtime::new().unwrap();
    // Each trial takes two seconds, because the draft is saved once a second.
    let step = pick_count(1, 5);
    let (mut number, mut failed) = (1, 0);
    loop {
        let service = runtime.block_on(Service::start([text_answer("First.")]));
        let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]);
        write_settings(&setup, NO_TITLES);
        let root = setup.root.clone();
        let for_good = false;
        let mut program = with_fault(setup, &library, number, for_good).start();
        program.until("Messages go to");
        submit_message(&mut program, "one");
        program.until("First.");
        program.type_text("unsent words");
        program.until("unsent words");
        program.wait_ms(1_200);
        program.press_keys("\x03\x03");
        program.wait_for_exit();
        let text = String::from_utf8_lossy(&program.bytes()).into_owned();
        for (what, is_kept, notices) in [
            ("the session", is_saved(root.path()), &["could not be saved", "NOT SAVED", "is not saved"][..]),
            ("the draft", contains_text(root.path(), "drafts", "unsent words"), &["draft not saved", "could not be"]),
            ("the history", contains_text(root.path(), "history", "one"), &["Cannot add this to the history"]),
        ] {
            let is_reported = notices.iter().any(|notice| text.contains(notice));
            assert!(is_kept || is_reported, "write {number}: {what} is lost:\n{}", program.screen());
        }
        if count_calls(root.path()) < number {
            break;
        }
        failed += 1;
        number += step;
    }
    assert!(failed > 2, "only {failed} writes could fail");
}
