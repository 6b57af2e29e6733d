//! One session's file damaged in every way there is a name for: it comes back as far as it can be read, what is wrong is
//! said, what stood there stays, and it goes on.

use crate::support::folder::Folder;
use crate::support::often;
use aye::chat::{Entry, Session};
use aye::store::{Header, Log, SessionLog, Sessions, StoredSession, new_id};
use std::collections::HashSet;
use std::path::Path;

/// What is done to the lines of a file.
type Damage = fn(Vec<Vec<u8>>) -> Vec<u8>;

fn glued(lines: Vec<Vec<u8>>) -> Vec<u8> {
    lines.concat()
}

/// The line at this place as something else.
fn with(mut lines: Vec<Vec<u8>>, at: usize, line: impl AsRef<[u8]>) -> Vec<u8> {
    lines[at] = line.as_ref().to_vec();
    glued(lines)
}

/// A line without its end.
fn bare(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Each with how many of the ten entries are lost at most, and whether anything has to be said.
const DAMAGES: &[(&str, usize, bool, Damage)] = &[
    ("nothing at all", 0, false, |lines| glued(lines)),
    ("the last line is cut in its middle", 1, true, |lines| {
        let all = glued(lines);
        all[..all.len() - 20].to_vec()
    }),
    ("the last line lacks its end", 0, false, |lines| bare(&glued(lines)).to_vec()),
    ("the second half is gone", 5, false, |lines| glued(lines[..6].to_vec())),
    ("a block of NUL in the middle", 1, true, |lines| with(lines, 4, [&[0; 4096][..], b"\n"].concat())),
    ("a block of NUL at the end", 0, true, |lines| [glued(lines), vec![0; 4096]].concat()),
    ("a block of NUL before a line", 0, true, |lines| {
        let line = [vec![0; 512], lines[4].clone()].concat();
        with(lines, 4, line)
    }),
    ("a mark of the byte order", 0, true, |lines| [b"\xef\xbb\xbf".to_vec(), glued(lines)].concat()),
    ("bytes that are no text", 1, true, |lines| with(lines, 3, b"\xff\xfe\x80\xc3\x28\n")),
    ("bytes that are no text inside a line", 1, true, |lines| {
        let line = [bare(&lines[3]).split_at(60).0, b"\xff\xff", &lines[3][60..]].concat();
        with(lines, 3, line)
    }),
    ("two lines glued", 0, false, |lines| {
        let line = bare(&lines[3]).to_vec();
        with(lines, 3, line)
    }),
    ("a cut line glued to the next", 1, true, |lines| {
        let line = lines[3][..25].to_vec();
        with(lines, 3, line)
    }),
    ("all lines glued", 0, false, |lines| lines.iter().flat_map(|line| bare(line).to_vec()).collect()),
    ("a bad line in the middle", 1, true, |lines| with(lines, 5, "no json\n")),
    ("many bad lines", 4, true, |lines| with([&lines[..3], &lines[6..]].concat(), 2, "a\nb\n{\n[[[\n")),
    ("an entry of a kind nobody knows", 1, true, |lines| {
        with(lines, 4, "{\"seq\":4,\"at\":1,\"entry\":{\"kind\":\"dreamt\",\"of\":{}}}\n")
    }),
    ("an entry without what it needs", 1, true, |lines| {
        with(lines, 4, "{\"seq\":4,\"at\":1,\"entry\":{\"kind\":\"said\"}}\n")
    }),
    ("an entry of another type", 1, true, |lines| {
        with(lines, 4, "{\"seq\":4,\"at\":1,\"entry\":{\"kind\":\"said\",\"text\":[1]}}\n")
    }),
    ("a newer version", 0, true, |lines| {
        let line = String::from_utf8(lines[0].clone()).unwrap().replace("\"aye\":1", "\"aye\":9");
        with(lines, 0, line)
    }),
    ("no first line", 0, true, |lines| glued(lines[1..].to_vec())),
    ("half a first line", 0, true, |lines| {
        let line = [&lines[0][..30], b"\n"].concat();
        with(lines, 0, line)
    }),
    ("another program's first line", 0, true, |lines| with(lines, 0, "{\"type\":\"session_meta\"}\n")),
    ("line ends of Windows", 0, false, |lines| lines.iter().flat_map(|line| [bare(line), b"\r\n"].concat()).collect()),
    ("empty lines everywhere", 0, false, |lines| lines.iter().flat_map(|line| [line, &b"\n\n"[..]].concat()).collect()),
    ("lines in another order", 0, false, |mut lines| {
        lines[1..].reverse();
        glued(lines)
    }),
    ("a line twice", 0, true, |lines| {
        let line = [lines[3].clone(), lines[3].clone()].concat();
        with(lines, 3, line)
    }),
    ("a number beyond all others", 0, false, |lines| {
        let line = String::from_utf8(lines[9].clone()).unwrap().replace("\"seq\":9", "\"seq\":18446744073709551615");
        with(lines, 9, line)
    }),
    ("brackets without end", 1, true, |lines| with(lines, 4, "[".repeat(200_000) + "\n")),
    ("an overwritten beginning", 2, true, |lines| {
        let mut all = glued(lines);
        all[..300].fill(b'x');
        all
    }),
    ("nothing is left", 10, false, |_| Vec::new()),
    ("only blanks are left", 10, true, |_| b"   \n \t\n".to_vec()),
    ("a picture in its place", 10, true, |_| b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec()),
];

/// Ten entries of every kind of trouble to read.
fn entries() -> Vec<Entry> {
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

/// Every entry that is read stood there, each as often as it may.
fn kept(read: &StoredSession, all: &[Entry]) -> usize {
    let strange: Vec<&Entry> = read.entries.iter().filter(|entry| !all.contains(entry)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    all.iter().filter(|entry| read.entries.contains(entry)).count()
}

#[test]
fn r52_damaged_in_any_way_a_session_comes_back_and_goes_on() {
    let home = Folder::new();
    let sessions = Sessions::new(home.path().to_owned());
    let all = entries();
    let (mut ids, mut names) = (Vec::new(), HashSet::new());
    for (name, lost, says, damage) in DAMAGES {
        assert!(names.insert(name));
        let id = new_id();
        let mut lines = sessions.begin_session(&Header::new(id.clone(), Path::new("/p"), "m", false));
        all.iter().for_each(|entry| lines.append(entry).unwrap());
        let path = lines.path().to_owned();
        drop(lines);
        let whole = std::fs::read(&path).unwrap();
        let damaged = damage(whole.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect());
        std::fs::write(&path, &damaged).unwrap();

        let read = sessions.read(&id).unwrap();
        assert!(kept(&read, &all) + lost >= all.len(), "{name}: {:?}", read.notices);
        assert_eq!(!read.notices.is_empty(), *says, "{name}: {:?}", read.notices);
        let mut session = Session::replay(read.entries.clone());
        assert!(session.messages().len() <= all.len(), "{name}");
        let (mut lines, opened) = SessionLog::open(home.path(), &id).unwrap();
        assert_eq!(opened, read, "{name}");
        let more = Entry::UserMessage { text: "it goes on".into() };
        lines.append(&more).unwrap();
        session.apply(more.clone());
        drop(lines);
        assert!(std::fs::read(&path).unwrap().starts_with(&damaged), "{name}: what stood there stays");
        let again = sessions.read(&id).unwrap();
        assert!(again.entries.contains(&more), "{name}");
        assert_eq!(again.entries.len(), read.entries.len() + 1, "{name}");
        ids.push(id);
    }
    assert!(DAMAGES.len() > 30);
    let listed: HashSet<_> = sessions.list_all().unwrap().into_iter().map(|listed| listed.id).collect();
    assert!(ids.iter().all(|id| listed.contains(id)), "none hides another");
}

#[test]
fn r52_a_byte_changed_anywhere_costs_its_line_at_most() {
    let home = Folder::new();
    let sessions = Sessions::new(home.path().to_owned());
    let all = entries();
    let id = new_id();
    let mut lines = sessions.begin_session(&Header::new(id.clone(), Path::new("/p"), "m", false));
    all.iter().for_each(|entry| lines.append(entry).unwrap());
    let path = lines.path().to_owned();
    drop(lines);
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(often(1, 7)) {
        for byte in [0, b'\n', b'"', 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = byte;
            std::fs::write(&path, &damaged).unwrap();
            let read = sessions.read(&id).unwrap();
            let kept = all.iter().filter(|entry| read.entries.contains(entry)).count();
            // The end of a line glues it to the next one.
            assert!(kept + 2 > all.len(), "byte {at} as {byte}: {kept} of {}: {:?}", all.len(), read.notices);
        }
    }
}
