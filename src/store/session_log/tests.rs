//! Tests of a session's file after errors while writing.

use super::*;
use crate::store::new_id;
use rustix::io::Errno;
use std::os::unix::fs::MetadataExt;

fn user_message(text: &str) -> Entry {
    Entry::UserMessage { text: text.into() }
}

fn header() -> Header {
    let dry_run = true;
    Header::new(SessionId("01J".into()), Path::new("/project"), "m", dry_run)
}

/// Accepts a number of bytes, then fails with this error until more is allowed.
struct LimitedWriter {
    capacity: usize,
    written: Vec<u8>,
    error: Errno,
}

impl Write for LimitedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = bytes.len().min(self.capacity);
        if written == 0 {
            return Err(self.error.into());
        }
        self.capacity -= written;
        self.written.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn empty_session_leaves_no_file() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    assert!(!log.path().exists() && !log.has_unwritten());
    log.append(&user_message("x")).unwrap();
    assert_eq!(log.path().metadata().unwrap().mode() & 0o777, 0o600);
    drop(SessionLog::new(home.path(), &Header::new(new_id(), Path::new("/"), "", false)));
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn r52_long_entry_is_written_in_parts_and_read_back() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    // JSON escapes each character as six bytes, `\u001b`. A part escapes the backslash again, which makes seven.
    let long = format!("{}\"\\end", "\u{1b}".repeat(2 << 20));
    for text in ["a", &long, "b"] {
        log.append(&user_message(text)).unwrap();
    }
    let text_part = crate::chat::partial_reply::TextPart(0, long.clone());
    let model = String::from("m");
    log.append_reply_piece(&PartialReply {
        sub_agent_call: None,
        model,
        text: text_part,
        reasoning: Default::default(),
    })
    .unwrap();
    let path = log.path().to_owned();
    drop(log);
    let text = std::fs::read_to_string(&path).unwrap();
    let longest = text.lines().map(str::len).max().unwrap();
    assert!(longest > 3 << 20 && longest < super::super::line_parts::LONGEST_WRITTEN, "{longest}");
    // Five parts of the entry and five of the piece of a reply.
    assert_eq!(text.lines().filter(|line| line.contains(r#""kind":"part""#)).count(), 10);
    let (_, session) = SessionLog::open(home.path(), &header().id).unwrap();
    assert_eq!(session.entries[..3], [user_message("a"), user_message(&long), user_message("b")]);
    assert!(
        matches!(&session.entries[3], Entry::Replied { text, .. } if *text == long) && session.incomplete_count == 1
    );
    assert!(session.notices.is_empty() && session.last_seq == 4);
    // A lost part loses only its entry.
    let remaining_lines: Vec<&str> =
        text.lines().enumerate().filter(|(index, _)| *index != 3).map(|(_, line)| line).collect();
    std::fs::write(&path, remaining_lines.join("\n")).unwrap();
    let session = super::session_reader::read(&path).unwrap();
    assert_eq!(session.entries[..2], [user_message("a"), user_message("b")]);
    assert!(session.notices[0].to_string().contains("damaged"), "{:?}", session.notices);
}

#[test]
fn r53_recreates_removed_folder_and_writes_whole_session() {
    let home = tempfile::tempdir().unwrap();
    let sessions = home.path().join("data/sessions");
    private_files::create_folder(&sessions).unwrap();
    let mut log = SessionLog::new(&sessions, &header());
    log.append(&user_message("a")).unwrap();
    std::fs::remove_dir_all(home.path().join("data")).unwrap();
    log.append(&user_message("b")).unwrap();
    assert_eq!(session_reader::read(log.path()).unwrap().entries, [user_message("a"), user_message("b")]);
    assert_eq!(sessions.metadata().unwrap().mode() & 0o777, 0o700);
    // Also without further entries.
    std::fs::remove_dir_all(home.path().join("data")).unwrap();
    log.save().unwrap();
    assert_eq!(session_reader::read(log.path()).unwrap().entries, [user_message("a"), user_message("b")]);
    // A blocked path is reported and counted, and saved once it is free.
    std::fs::remove_dir_all(home.path().join("data")).unwrap();
    std::fs::write(home.path().join("data"), "").unwrap();
    assert!(log.append(&user_message("c")).is_err() && log.append(&user_message("d")).is_err() && log.save().is_err());
    assert_eq!(log.unsaved_count(), 2);
    std::fs::remove_file(home.path().join("data")).unwrap();
    log.save().unwrap();
    assert_eq!((log.unsaved_count(), session_reader::read(log.path()).unwrap().entries.len()), (0, 4));
}

#[test]
fn written_entries_are_read_back_and_continued() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("a\nb")).unwrap();
    drop(log);
    let (mut log, before) = SessionLog::open(home.path(), &header().id).unwrap();
    assert_eq!(before.entries, [user_message("a\nb")]);
    assert_eq!(before.header.unwrap().folder, Path::new("/project"));
    log.append(&user_message("c")).unwrap();
    let text = std::fs::read_to_string(log.path()).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["aye"], &lines[0]["dry_run"]), (&1.into(), &true.into()));
    assert_eq!((&lines[1]["seq"], &lines[2]["seq"]), (&1.into(), &2.into()));
    assert_eq!(lines[2]["entry"]["text"], "c");
    assert!(lines[2]["at"].as_u64().unwrap() > 1_700_000_000_000);
}

#[test]
fn r50_terminates_incomplete_line_before_the_next() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("one")).unwrap();
    log.append(&user_message("two")).unwrap();
    let path = log.path().to_owned();
    drop(log);
    let complete = std::fs::read(&path).unwrap();
    for length in 0..=complete.len() {
        std::fs::write(&path, &complete[..length]).unwrap();
        let (mut log, before) = SessionLog::open(home.path(), &header().id).unwrap();
        log.append(&user_message("three")).unwrap();
        drop(log);
        let after = super::super::read(&path).unwrap();
        assert_eq!(after.entries.len(), before.entries.len() + 1, "cut at {length}");
        assert_eq!(after.entries.last(), Some(&user_message("three")), "cut at {length}");
        let file = std::fs::read(&path).unwrap();
        let (old, new) = file.split_at(length);
        assert_eq!(old, &complete[..length], "cut at {length}");
        assert_eq!(new.starts_with(b"\n"), length > 0 && old[length - 1] != b'\n', "cut at {length}");
    }
}

#[test]
fn r53_writes_failed_entries_with_the_next() {
    let total_bytes = {
        let mut queue = Vec::new();
        for (seq, text) in [(1, "one"), (2, "two"), (3, "three")] {
            push_line(&mut queue, &Line::now(seq, user_message(text))).unwrap();
        }
        String::from_utf8(queue).unwrap().len()
    };
    // Full disk, read-only file system, exceeded quota, lost permission, I/O error.
    let kinds = [Errno::NOSPC, Errno::ROFS, Errno::DQUOT, Errno::ACCESS, Errno::IO];
    for (capacity, error) in (0..total_bytes).zip(kinds.into_iter().cycle()) {
        let (mut writer, mut queue) = (LimitedWriter { capacity, written: Vec::new(), error }, Vec::new());
        let mut failure_count = 0;
        for (seq, text) in [(1, "one"), (2, "two"), (3, "three")] {
            push_line(&mut queue, &Line::now(seq, user_message(text))).unwrap();
            failure_count += usize::from(write_queued(&mut writer, &mut queue).is_err());
        }
        assert!(failure_count > 0, "room for {capacity}");
        writer.capacity = usize::MAX;
        write_queued(&mut writer, &mut queue).unwrap();
        let session = session_reader::read_without_header(&writer.written[..]).unwrap();
        assert_eq!(
            session.entries,
            [user_message("one"), user_message("two"), user_message("three")],
            "room for {capacity}"
        );
        assert_eq!(session.notices, [], "room for {capacity}");
    }
}

#[test]
fn r53_full_disk_is_an_error_each_time_and_loses_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.file = Some(File::options().append(true).open("/dev/full").unwrap());
    for text in ["one", "two"] {
        assert_eq!(log.append(&user_message(text)).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
    assert!(log.has_unwritten());
    log.file = None;
    log.append(&user_message("three")).unwrap();
    assert!(!log.has_unwritten());
    let session = super::super::read(log.path()).unwrap();
    assert_eq!(session.entries, [user_message("one"), user_message("two"), user_message("three")]);
    assert_eq!(session.header.unwrap().model, "m");
}

#[test]
fn r54_session_can_be_opened_once() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("x")).unwrap();
    let busy = SessionLog::open(home.path(), &header().id).unwrap_err();
    assert_eq!(busy.to_string(), "Cannot open session 01J: it is open in another aye. Close it there first.");
    drop(log);
    assert!(SessionLog::open(home.path(), &header().id).is_ok());
    let missing = SessionLog::open(home.path(), &SessionId("02".into())).unwrap_err();
    assert!(missing.to_string().starts_with("Cannot find the session \"02\": "));
}

#[test]
fn ids_sort_by_creation_time() {
    let first = new_id();
    std::thread::sleep(std::time::Duration::from_millis(2));
    assert!(first < new_id());
    assert_eq!(first.0.len(), 26);
}

#[test]
fn rewrites_file_that_was_deleted_while_open() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("before")).unwrap();
    std::fs::remove_file(log.path()).unwrap();
    log.append(&user_message("after")).unwrap();
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert!(text.contains("before") && text.contains("after") && text.lines().count() == 3, "{text}");
    assert!(SessionLog::open(home.path(), &SessionId("01J".into())).is_err(), "it is locked as before");
}

#[test]
fn r53_rewrites_deleted_file_when_disk_has_room_again() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("before")).unwrap();
    let content = std::fs::read(log.path()).unwrap();
    std::fs::remove_file(log.path()).unwrap();
    log.queue_for_new_file(File::options().append(true).open("/dev/full").unwrap(), content);
    assert_eq!(log.append(&user_message("meanwhile")).unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert!(log.has_unwritten());
    log.file = None;
    log.append(&user_message("after")).unwrap();
    let session = super::super::read(log.path()).unwrap();
    assert_eq!(session.entries, [user_message("before"), user_message("meanwhile"), user_message("after")]);
    assert_eq!((session.header.unwrap().model, session.notices), ("m".into(), vec![]));
}

#[test]
fn r54_removed_session_stays_removed_for_a_waiting_process() {
    let home = tempfile::tempdir().unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("x")).unwrap();
    let path = log.path().to_owned();
    let opened = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| SessionLog::open(home.path(), &header().id).map(|_| ()));
        // The result is the same whether it waits already or opens the file later.
        std::thread::sleep(LOCK_PAUSE);
        std::fs::remove_file(&path).unwrap();
        drop(log);
        waiting.join().unwrap()
    });
    let message = opened.unwrap_err().to_string();
    assert!(
        message.starts_with("Cannot find the session \"01J\"") || message.contains("is open in another aye"),
        "{message}"
    );
    assert!(!path.exists());
}

#[test]
fn existing_file_is_not_overwritten() {
    let home = tempfile::tempdir().unwrap();
    let path = session_path(home.path(), &header().id);
    std::fs::write(&path, "another's").unwrap();
    let mut log = SessionLog::new(home.path(), &header());
    assert_eq!(log.append(&user_message("x")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "another's");
}

#[test]
fn r54_new_file_that_cannot_be_locked_is_removed() {
    let home = tempfile::tempdir().unwrap();
    let path = session_path(home.path(), &header().id);
    let file = private_files::create_append(&path).unwrap();
    // A process that reads all sessions may lock the new file first.
    let reader = File::open(&path).unwrap();
    reader.try_lock().unwrap();
    assert_eq!(lock_new(&path, file).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(!path.exists());
    let mut log = SessionLog::new(home.path(), &header());
    log.append(&user_message("x")).unwrap();
    assert_eq!(super::super::read(&path).unwrap().entries, [user_message("x")]);
}

/// Stores the bytes of each write separately.
#[derive(Default)]
struct WriteRecorder(Vec<Vec<u8>>);

impl Write for WriteRecorder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn r50_entry_is_one_write_with_its_line_feed() {
    let (mut file, mut queue) = (WriteRecorder::default(), Vec::new());
    for (seq, text) in [(1, "one\ntwo".to_owned()), (2, "x".repeat(3_000_000)), (3, String::new())] {
        push_line(&mut queue, &Line::now(seq, user_message(&text))).unwrap();
        write_queued(&mut file, &mut queue).unwrap();
    }
    assert_eq!(file.0.len(), 3);
    for line in &file.0 {
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "one line, with its end");
    }
}
