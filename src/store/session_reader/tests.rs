//! Tests of damaged files: which entries are kept, and which notices are given.

use super::*;

const HEAD: &str = r#"{"aye":1,"id":"01J","folder":"/p","time":"2026-11-20T19:00:00Z","model":"m","dry_run":false}"#;

/// Returns the line of a user message whose text is its number. Its time decreases with the number, because entries
/// must not be sorted by time.
fn entry_line(seq: u64) -> String {
    format!(r#"{{"seq":{seq},"at":{},"entry":{{"kind":"said","text":"{seq}"}}}}"#, 1000 - seq)
}

fn message_text(entry: &Entry) -> &str {
    match entry {
        Entry::UserMessage { text } => text,
        other => panic!("{other:?}"),
    }
}

fn message_texts(session: &StoredSession) -> Vec<&str> {
    session.entries.iter().map(message_text).collect()
}

/// Reads a file and compares the kept entries and the notices.
#[track_caller]
fn check_read(file: impl AsRef<[u8]>, expected_texts: &[&str], expected_notices: &[&str]) -> StoredSession {
    let session = read_from(file.as_ref()).unwrap();
    assert_eq!(message_texts(&session), expected_texts);
    let notices: Vec<String> = session.notices.iter().map(ToString::to_string).collect();
    assert_eq!(notices, expected_notices);
    session
}

/// Returns a file with `middle` between two valid entries.
fn file_with_middle(middle: impl AsRef<[u8]>) -> Vec<u8> {
    let mut file = format!("{HEAD}\n{}\n", entry_line(1)).into_bytes();
    file.extend_from_slice(middle.as_ref());
    file.extend_from_slice(format!("\n{}\n", entry_line(3)).as_bytes());
    file
}

const DAMAGED: &str = "line 3 is damaged; unreadable data was skipped";

#[test]
fn reads_complete_file_without_notices() {
    let session = check_read(file_with_middle(entry_line(2)), &["1", "2", "3"], &[]);
    assert_eq!(session.header.unwrap().folder, Path::new("/p"));
    assert_eq!((session.times, session.last_seq), (vec![999, 998, 997], 3));
    check_read("", &[], &[]);
    check_read(HEAD, &[], &[]);
    check_read(
        file_with_middle(entry_line(2)).iter().map(|&b| b as char).collect::<String>().replace('\n', "\r\n"),
        &["1", "2", "3"],
        &[],
    );
}

#[test]
fn r52_duplicate_lines_are_read_once() {
    let lines = [HEAD.to_owned(), entry_line(1), entry_line(2), entry_line(3)];
    let duplicated: String = lines.iter().map(|line| format!("{line}\n{line}\n")).collect();
    let notice = "3 entries occur twice in lines 4 to 8; each is shown once";
    assert_eq!(check_read(duplicated, &["1", "2", "3"], &[notice]).last_seq, 3);
    let content = lines.join("\n") + "\n";
    check_read(content.repeat(2), &["1", "2", "3"], &["3 entries occur twice in lines 6 to 8; each is shown once"]);
    let with_repeated = format!("{content}{}\n", entry_line(2));
    check_read(with_repeated, &["1", "2", "3"], &["an entry occurs twice in line 5; it is shown once"]);
    // The same text sent twice is two entries, even with the same number.
    let different = entry_line(2).replace("\"2\"", "\"other\"");
    check_read(format!("{content}{different}\n"), &["1", "2", "other", "3"], &[]);
    let same_text = entry_line(4).replace("\"4\"", "\"3\"");
    check_read(format!("{content}{same_text}\n"), &["1", "2", "3", "3"], &[]);
    // Another session's header is not a repetition.
    let foreign_header = HEAD.replace("01J", "01K");
    let damaged = "line 5 is damaged; unreadable data was skipped";
    check_read(format!("{content}{foreign_header}\n"), &["1", "2", "3"], &[damaged]);
}

#[test]
fn r52_damaged_line_loses_only_itself() {
    check_read(file_with_middle("not json"), &["1", "3"], &[DAMAGED]);
    check_read(file_with_middle(&entry_line(2)[..30]), &["1", "3"], &[DAMAGED]);
    check_read(file_with_middle(b"\xff\xfe\x80"), &["1", "3"], &[DAMAGED]);
    check_read(file_with_middle([0; 4096]), &["1", "3"], &[DAMAGED]);
    check_read(file_with_middle(r#"{"seq":2,"at":1,"entry":{"kind":"said","text":"a\xff"}}"#), &["1", "3"], &[DAMAGED]);
    check_read(file_with_middle("[".repeat(100_000)), &["1", "3"], &[DAMAGED]);
    check_read(file_with_middle("a\nb\nc"), &["1", "3"], &["lines 3 to 5 are damaged; unreadable data was skipped"]);
    check_read(file_with_middle(""), &["1", "3"], &[]);
}

#[test]
fn r52_splits_joined_lines() {
    check_read(file_with_middle(format!("{}{}", entry_line(2), entry_line(4))), &["1", "2", "3", "4"], &[]);
    check_read(file_with_middle(format!("{}{}", &entry_line(9)[..20], entry_line(2))), &["1", "2", "3"], &[DAMAGED]);
    check_read(file_with_middle([&[0; 512][..], entry_line(2).as_bytes()].concat()), &["1", "2", "3"], &[DAMAGED]);
    check_read(format!("{HEAD}{}\n{}\n", entry_line(1), entry_line(2)), &["1", "2"], &[]);
}

#[test]
fn text_that_looks_like_a_line_stays_text() {
    let text = serde_json::to_string(&entry_line(7)).unwrap();
    let entry = format!(r#"{{"seq":1,"at":1,"entry":{{"kind":"said","text":{text}}}}}"#);
    check_read(format!("{HEAD}\n{entry}{}\n", entry_line(2)), &[&entry_line(7), "2"], &[]);
}

#[test]
fn r52_unknown_kind_is_skipped_by_name() {
    let notice = "line 3 was skipped: a newer aye wrote “dreamt” entries there";
    let session =
        check_read(file_with_middle(r#"{"seq":8,"at":1,"entry":{"kind":"dreamt","of":[1]}}"#), &["1", "3"], &[notice]);
    // A later version may write the time in another form.
    check_read(file_with_middle(r#"{"seq":8,"at":"1","entry":{"kind":"dreamt"}}"#), &["1", "3"], &[notice]);
    assert_eq!(session.last_seq, 8);
    let newer = HEAD.replace(r#""aye":1"#, r#""aye":2"#);
    check_read(
        format!("{newer}\n{}\n", entry_line(1)),
        &["1"],
        &["a newer aye wrote this session (format 2); unknown entries are skipped"],
    );
}

#[test]
fn r52_damaged_header_loses_no_entry() {
    let notice = "the first line of the session is damaged";
    assert_eq!(check_read(format!("{{\"ay\n{}\n", entry_line(1)), &["1"], &[notice]).header, None);
    check_read(format!("{}\n", entry_line(1)), &["1"], &[notice]);
    check_read(format!("{}\n{}\n", &HEAD[..30], entry_line(1)), &["1"], &[notice]);
    let session = check_read(
        format!("\u{feff}{HEAD}\n{}\n", entry_line(1)),
        &["1"],
        &["line 1 is damaged; unreadable data was skipped"],
    );
    assert!(session.header.is_some());
}

#[test]
fn r50_any_truncation_loses_at_most_the_last_line() {
    let complete = format!("{HEAD}\n{}\n{}", entry_line(1), entry_line(2));
    for length in HEAD.len() + entry_line(1).len() + 2..complete.len() {
        let session = read_from(&complete.as_bytes()[..length]).unwrap();
        let torn = length > HEAD.len() + entry_line(1).len() + 2;
        assert_eq!((message_texts(&session), session.notices.len()), (vec!["1"], usize::from(torn)), "cut at {length}");
        assert!(session.notices.iter().all(|notice| notice.problem == Problem::Incomplete), "{:?}", session.notices);
    }
    check_read(&complete, &["1", "2"], &[]);
    check_read(&complete[..complete.len() - 5], &["1"], &["line 3 was being written when aye ended, and was skipped"]);
}

#[test]
fn r55_entries_are_ordered_by_number_not_by_time() {
    check_read(format!("{HEAD}\n{}\n{}\n{}\n", entry_line(3), entry_line(1), entry_line(2)), &["1", "2", "3"], &[]);
}

#[test]
fn r52_endless_line_uses_no_memory_and_the_rest_is_kept() {
    let long =
        io::Read::chain(format!("{HEAD}\n{}\n", entry_line(1)).leak().as_bytes(), io::repeat(b'x').take(100 << 20));
    let file = long.chain(format!("\n{}\n", entry_line(3)).leak().as_bytes());
    let session = read_from(file).unwrap();
    assert_eq!(message_texts(&session), ["1", "3"]);
    assert_eq!(session.notices, [Notice { first: 3, last: 3, problem: Problem::Long }]);
}

#[test]
fn damaged_number_does_not_prevent_appending() {
    let session =
        check_read(file_with_middle(entry_line(2).replace(":2,", ":18446744073709551615,")), &["1", "3", "2"], &[]);
    // The next entry gets the number `last_seq` plus one, but at most `u64::MAX`.
    assert_eq!(session.last_seq, u64::MAX);
}

proptest::proptest! {
    #[test]
    fn r64_no_bytes_make_reading_panic(bytes: Vec<u8>, at in 0usize..300) {
        let mut file = file_with_middle(entry_line(2));
        let at = at.min(file.len());
        file.splice(at..at, bytes);
        let _ = read_from(&file[..]);
    }
}

/// A call written before hashes existed, and a question.
const OLD: &[&str] = &[
    r#"{"kind":"said","text":"go"}"#,
    r#"{"kind":"replied","text":"","calls":[{"id":"a","name":"bash_exec","arguments":"{\"command\":\"ls\"}"},{"id":"q","name":"ask_question","arguments":"{}"}],"model":"m","thought_ms":1}"#,
    r#"{"kind":"planned","call":"a","title":"run a command?","summary":"ls","access":{"reach":"run","of":{"command":"ls","folder":"/p","seconds":30}},"preview":{"as":"command","what":{"command":"ls","folder":"/p","seconds":30}},"verdict":"ask"}"#,
    r#"{"kind":"decided","call":"a","decision":{"what":"once"},"by":{"who":"person","key":"y","after_ms":900}}"#,
    r#"{"kind":"settled","call":"a","outcome":{"how":"done","text":"exit 0"},"took_ms":12}"#,
    r#"{"kind":"asked","call":"q","questions":{"list":[{"keyword":"k","text":"Which?","options":[]}]}}"#,
    r#"{"kind":"answered","call":"q","answer":{"status":"declined"}}"#,
    r#"{"kind":"settled","call":"q","outcome":{"how":"done","text":"declined"}}"#,
];

#[test]
fn reads_sessions_from_before_hashes() {
    let lines: String =
        (1..).zip(OLD).map(|(seq, entry)| format!("{{\"seq\":{seq},\"at\":5,\"entry\":{entry}}}\n")).collect();
    let stored = read_from(format!("{HEAD}\n{lines}").as_bytes()).unwrap();
    assert_eq!((stored.entries.len(), stored.notices.len()), (OLD.len(), 0), "{:?}", stored.notices);
    for (entry, old) in stored.entries.iter().zip(OLD) {
        // At most two fields are added to those of the old line, so that older versions can read the entry.
        let (old, new): (serde_json::Value, _) =
            (serde_json::from_str(old).unwrap(), serde_json::to_value(entry).unwrap());
        let new = new.as_object().unwrap();
        for (field, value) in new.iter().filter(|(field, _)| old.get(field.as_str()).is_none()) {
            assert!(["reasoning", "took_ms"].contains(&field.as_str()), "{field}: {value}");
        }
    }
    let session = crate::chat::Session::replay(stored.entries.clone());
    assert!(session.open_calls().is_empty());
    let records = crate::chat::audit::collect_records(&stored.entries);
    assert_eq!((records.len(), records[0].verify()), (2, crate::chat::audit::Integrity::Unknown));
    assert_eq!(records[0].to_json(&|_| None)["key"], "y");
}
