//! A session file damaged in every known way: its readable entries load, the damage is reported, the existing bytes
//! stay, and the session can continue.

use crate::support::folder::Folder;
use crate::support::pick_count;
use aye::chat::{Entry, Message, Session};
use aye::store::{Header, Log, SessionLog, Sessions, StoredSession, new_id};
use std::collections::HashSet;
use std::path::Path;

/// Turns the lines of a file into damaged bytes.
type Damage = fn(Vec<Vec<u8>>) -> Vec<u8>;

fn join_lines(lines: Vec<Vec<u8>>) -> Vec<u8> {
    lines.concat()
}

/// Replaces the line at this index. Returns all lines joined.
fn replace_line(mut lines: Vec<Vec<u8>>, index: usize, line: impl AsRef<[u8]>) -> Vec<u8> {
    lines[index] = line.as_ref().to_vec();
    join_lines(lines)
}

/// The line without its line end.
fn trim_line_end(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Name, number of entries (of ten) that may be lost, whether the damage is reported, and the damage.
const DAMAGES: &[(&str, usize, bool, Damage)] = &[
    ("nothing at all", 0, false, |lines| join_lines(lines)),
    ("the last line is cut in its middle", 1, true, |lines| {
        let all = join_lines(lines);
        all[..all.len() - 20].to_vec()
    }),
    ("the last line lacks its end", 0, false, |lines| trim_line_end(&join_lines(lines)).to_vec()),
    ("the second half is gone", 5, false, |lines| join_lines(lines[..6].to_vec())),
    ("a block of NUL in the middle", 1, true, |lines| replace_line(lines, 4, [&[0; 4096][..], b"\n"].concat())),
    ("a block of NUL at the end", 0, true, |lines| [join_lines(lines), vec![0; 4096]].concat()),
    ("a block of NUL before a line", 0, true, |lines| {
        let line = [vec![0; 512], lines[4].clone()].concat();
        replace_line(lines, 4, line)
    }),
    ("a mark of the byte order", 0, true, |lines| [b"\xef\xbb\xbf".to_vec(), join_lines(lines)].concat()),
    ("bytes that are no text", 1, true, |lines| replace_line(lines, 3, b"\xff\xfe\x80\xc3\x28\n")),
    ("bytes that are no text inside a line", 1, true, |lines| {
        let line = [trim_line_end(&lines[3]).split_at(60).0, b"\xff\xff", &lines[3][60..]].concat();
        replace_line(lines, 3, line)
    }),
    ("two lines glued", 0, false, |lines| {
        let line = trim_line_end(&lines[3]).to_vec();
        replace_line(lines, 3, line)
    }),
    ("a cut line glued to the next", 1, true, |lines| {
        let line = lines[3][..25].to_vec();
        replace_line(lines, 3, line)
    }),
    ("all lines glued", 0, false, |lines| lines.iter().flat_map(|line| trim_line_end(line).to_vec()).collect()),
    ("a bad line in the middle", 1, true, |lines| replace_line(lines, 5, "no json\n")),
    ("many bad lines", 4, true, |lines| replace_line([&lines[..3], &lines[6..]].concat(), 2, "a\nb\n{\n[[[\n")),
    ("an entry of an unknown kind", 1, true, |lines| {
        replace_line(lines, 4, "{\"seq\":4,\"at\":1,\"entry\":{\"kind\":\"dreamt\",\"of\":{}}}\n")
    }),
    ("an entry without what it needs", 1, true, |lines| {
        replace_line(lines, 4, "{\"seq\":4,\"at\":1,\"entry\":{\"kind\":\"said\"}}\n")
    }),
    ("an entry of another type", 1, true, |lines| {
        replace_line(lines, 4, "{\"seq\":4,\"at\":1,\"entry\":{\"kind\":\"said\",\"text\":[1]}}\n")
    }),
    ("a newer version", 0, true, |lines| {
        let line = String::from_utf8(lines[0].clone()).unwrap().replace("\"aye\":1", "\"aye\":9");
        replace_line(lines, 0, line)
    }),
    ("no first line", 0, true, |lines| join_lines(lines[1..].to_vec())),
    ("half a first line", 0, true, |lines| {
        let line = [&lines[0][..30], b"\n"].concat();
        replace_line(lines, 0, line)
    }),
    ("another program's first line", 0, true, |lines| replace_line(lines, 0, "{\"type\":\"session_meta\"}\n")),
    ("line ends of Windows", 0, false, |lines| {
        lines.iter().flat_map(|line| [trim_line_end(line), b"\r\n"].concat()).collect()
    }),
    ("empty lines everywhere", 0, false, |lines| lines.iter().flat_map(|line| [line, &b"\n\n"[..]].concat()).collect()),
    ("lines in another order", 0, false, |mut lines| {
        lines[1..].reverse();
        join_lines(lines)
    }),
    ("a line twice", 0, true, |lines| {
        let line = [lines[3].clone(), lines[3].clone()].concat();
        replace_line(lines, 3, line)
    }),
    ("a number beyond all others", 0, false, |lines| {
        let line = String::from_utf8(lines[9].clone()).unwrap().replace("\"seq\":9", "\"seq\":18446744073709551615");
        replace_line(lines, 9, line)
    }),
    ("brackets without end", 1, true, |lines| replace_line(lines, 4, "[".repeat(200_000) + "\n")),
    ("an overwritten beginning", 2, true, |lines| {
        let mut all = join_lines(lines);
        all[..300].fill(b'x');
        all
    }),
    ("nothing is left", 10, false, |_| Vec::new()),
    ("only blanks are left", 10, true, |_| b"   \n \t\n".to_vec()),
    ("a picture in its place", 10, true, |_| b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
];

/// Ten entries with content that is hard to parse.
fn sample_entries() -> Vec<Entry> {
    let lines = [
        r#"{"kind":"said","text":"one “two”\n{\"seq\":1,\"at\":2}"}"#,
        r#"{"kind":"replied","text":"I look.","reasoning":"hm","calls":[{"id":"a","name":"bash_exec","arguments":"{\"command\":\"make\"}"}],"model":"m"}"#,
        r#"{"kind":"planned","call":"a","title":"run a command?","summary":"make","access":{"reach":"run","of":{"command":"make","folder":"/p","seconds":30}},"preview":{"as":"command","what":{"command":"make","folder":"/p","seconds":30}},"verdict":"ask"}"#,
        r#"{"kind":"decided","call":"a","decision":{"what":"once"},"by":{"who":"person","key":"y","after_ms":900}}"#,
        r#"{"kind":"settled","call":"a","outcome":{"how":"done","text":"exit 0\nàé漢"},"took_ms":12}"#,
        r#"{"kind":"replied","text":"Done.","model":"m"}"#,
        r#"{"kind":"ended","ending":{"how":"finished"}}"#,
        r#"{"kind":"titled","title":"a name"}"#,
        r#"{"kind":"said","text":"and now"}"#,
        r#"{"kind":"replied","text":"The end of it.","model":"m"}"#,
    ];
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks that no unknown entry was read; returns the number of entries that were read.
fn count_read(read: &StoredSession, all: &[Entry]) -> usize {
    let strange: Vec<&Entry> = read.entries.iter().filter(|entry| !all.contains(entry)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    all.iter().filter(|entry| read.entries.contains(entry)).count()
}

#[test]
fn r52_a_damaged_session_loads_and_continues() {
    let home = Folder::new();
    let sessions = Sessions::new(home.path().to_owned());
    let entries = sample_entries();
    let (mut ids, mut names) = (Vec::new(), HashSet::new());
    for (name, lost, is_reported, damage) in DAMAGES {
        assert!(names.insert(name));
        let id = new_id();
        let mut log = sessions.begin_session(&Header::new(id.clone(), Path::new("/p"), "m", false));
        entries.iter().for_each(|entry| log.append(entry).unwrap());
        let path = log.path().to_owned();
        drop(log);
        let full_text = std::fs::read(&path).unwrap();
        let damaged = damage(full_text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect());
        std::fs::write(&path, &damaged).unwrap();

        let read = sessions.read(&id).unwrap();
        assert!(count_read(&read, &entries) + lost >= entries.len(), "{name}: {:?}", read.notices);
        assert_eq!(!read.notices.is_empty(), *is_reported, "{name}: {:?}", read.notices);
        let mut session = Session::replay(read.entries.clone());
        assert!(session.messages(0, usize::MAX).len() <= entries.len(), "{name}");
        let (mut log, opened) = SessionLog::open(home.path(), &id).unwrap();
        assert_eq!(opened, read, "{name}");
        let extra = Entry::UserMessage { text: "it goes on".into() };
        log.append(&extra).unwrap();
        session.apply(extra.clone());
        drop(log);
        assert!(std::fs::read(&path).unwrap().starts_with(&damaged), "{name}: the existing bytes changed");
        let again = sessions.read(&id).unwrap();
        assert!(again.entries.contains(&extra), "{name}");
        assert_eq!(again.entries.len(), read.entries.len() + 1, "{name}");
        ids.push(id);
    }
    assert!(DAMAGES.len() > 30);
    let listed: HashSet<_> = sessions.list_all().unwrap().into_iter().map(|listed| listed.id).collect();
    assert!(ids.iter().all(|id| listed.contains(id)), "a session is missing in the list");
}

#[test]
fn r52_a_session_with_every_line_twice_sends_each_call_once() {
    let home = Folder::new();
    let sessions = Sessions::new(home.path().to_owned());
    let (id, entries) = (new_id(), sample_entries());
    let mut log = sessions.begin_session(&Header::new(id.clone(), Path::new("/p"), "m", false));
    entries.iter().for_each(|entry| log.append(entry).unwrap());
    let path = log.path().to_owned();
    drop(log);
    let once = std::fs::read_to_string(&path).unwrap();
    let sent = Session::replay(entries.clone()).messages(0, usize::MAX);
    let call_count = sent.iter().filter(|message| matches!(message, Message::Tool { .. })).count();
    assert!(call_count > 0, "{sent:?}");
    for twice in [once.lines().map(|line| format!("{line}\n{line}\n")).collect(), once.repeat(2)] {
        std::fs::write(&path, twice).unwrap();
        let read = sessions.read(&id).unwrap();
        assert_eq!(read.entries, entries);
        assert_eq!(Session::replay(read.entries).messages(0, usize::MAX), sent);
    }
}

#[test]
fn r52_a_changed_byte_loses_at_most_one_entry() {
    let home = Folder::new();
    let sessions = Sessions::new(home.path().to_owned());
    let entries = sample_entries();
    let id = new_id();
    let mut log = sessions.begin_session(&Header::new(id.clone(), Path::new("/p"), "m", false));
    entries.iter().for_each(|entry| log.append(entry).unwrap());
    let path = log.path().to_owned();
    drop(log);
    let full_text = std::fs::read(&path).unwrap();
    for at in (0..full_text.len()).step_by(pick_count(1, 7)) {
        for byte in [0, b'\n', b'"', 0xff] {
            let mut damaged = full_text.clone();
            damaged[at] = byte;
            std::fs::write(&path, &damaged).unwrap();
            let read = sessions.read(&id).unwrap();
            let count = entries.iter().filter(|entry| read.entries.contains(entry)).count();
            // At most one entry is lost, even if the byte was a line end, so that its line is joined with the next one.
            assert!(count + 2 > entries.len(), "byte {at} as {byte}: {count} of {}: {:?}", entries.len(), read.notices);
        }
    }
}
