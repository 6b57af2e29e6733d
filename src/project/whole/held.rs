//! What stands beside a file for the moment in which it is replaced or taken away: how it is called, how it changes places,
//! and what an end of the program in that moment left of it.

use super::READING;
use crate::chat::Digest;
use crate::project::READ_LIMIT;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, renameat_with, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::time::{Duration, SystemTime};
use ulid::Ulid;

/// What the name of something new begins with, until it is whole.
pub const WRITING: &str = ".aye-new-";
/// What the name begins with of what is in hand: something new that is whole, or what it took the place of.
pub const HELD: &str = ".aye-held-";
/// What is this old, and locked by nobody, was left by a program that is gone. Nobody is at it for nearly so long.
const OLD: Duration = Duration::from_secs(60);

/// A name for what is being written.
pub fn writing() -> String {
    format!("{WRITING}{}", Ulid::new())
}

/// A name for what is in hand. It says of which bytes nothing is lost if it is found after an end in the middle: those of
/// files, or where links lead.
pub fn held(may_go: &[&[u8]]) -> String {
    may_go.iter().fold(format!("{HELD}{}", Ulid::new()), |name, bytes| name + "-" + Digest::of(bytes).short())
}

/// Puts what is called `beside` in the place of something else in one step, looks at what it has in its hands then, and
/// takes that away. What is not what `is_it` looks for, or cannot be taken away, is put back; then nothing is left beside.
/// `new` and `old` say how each is taken away.
///
/// # Errors
/// [`Errno::STALE`] where something else was there. Where the two cannot be exchanged `beside` is called as before.
pub fn exchange(
    folder: &OwnedFd,
    (beside, new): (&str, AtFlags),
    (name, old): (&OsStr, AtFlags),
    held: &str,
    is_it: &dyn Fn(&str) -> bool,
) -> Result<(), Errno> {
    rustix::fs::renameat(folder, beside, folder, held)?;
    let swap = || renameat_with(folder, name, folder, held, RenameFlags::EXCHANGE);
    if let Err(errno) = swap() {
        rustix::fs::renameat(folder, held, folder, beside)?;
        return Err(errno);
    }
    let gone = if is_it(held) { unlinkat(folder, held, old) } else { Err(Errno::STALE) };
    gone.inspect_err(|_| match swap() {
        Ok(()) => drop(unlinkat(folder, held, new)),
        // Somebody took away what was put there: what is held here is all there is.
        Err(_) => put_back(folder, held, name),
    })
}

/// Whether a file system says that it has no such way to rename: each system in a word of its own.
pub fn is_not_offered(errno: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&errno)
}

/// Gives something its name again, unless another has it by now.
pub fn put_back(folder: &OwnedFd, held: &str, name: &OsStr) {
    let done = renameat_with(folder, held, folder, name, RenameFlags::NOREPLACE);
    if done.is_err_and(is_not_offered) {
        let _ = rustix::fs::renameat(folder, held, folder, name);
    }
}

/// Takes away what a program that ended in the middle left in a folder: what it wrote, and what it had in hand where that is
/// what its name says. Somebody else's change that it held then stays under that name.
pub fn sweep(folder: &OwnedFd) {
    let listed = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(listed) = rustix::fs::openat(folder, ".", listed, Mode::empty()) else { return };
    let Ok(entries) = Dir::read_from(&listed) else { return };
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().ok().filter(|name| name.starts_with(".aye-")) else {
            continue;
        };
        if let Some(how) = may_go(folder, name) {
            // What cannot be taken away is in nobody's way.
            let _ = unlinkat(folder, name, how);
        }
    }
}

/// Whether something is left over, and how it is taken away.
fn may_go(folder: &OwnedFd, name: &str) -> Option<AtFlags> {
    let (rest, is_held) = match name.strip_prefix(WRITING) {
        Some(rest) => (rest, false),
        None => (name.strip_prefix(HELD)?, true),
    };
    let mut parts = rest.split('-');
    let began = Ulid::from_string(parts.next()?).ok()?.datetime();
    SystemTime::now().duration_since(began).ok().filter(|age| *age > OLD)?;
    let marks: Vec<&str> = parts.collect();
    let goes = |bytes: &[u8]| match is_held {
        true => marks.contains(&Digest::of(bytes).short()),
        false => marks.is_empty(),
    };
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(stat.st_mode as RawMode) {
        // One with something in it stays.
        FileType::Directory => Some(AtFlags::REMOVEDIR),
        FileType::Symlink => {
            let to = rustix::fs::readlinkat(folder, name, Vec::new()).ok()?;
            goes(to.as_bytes()).then_some(AtFlags::empty())
        }
        FileType::RegularFile => {
            let file = File::from(rustix::fs::openat(folder, name, READING, Mode::empty()).ok()?);
            file.try_lock().ok()?;
            let mut bytes = Vec::new();
            (&file).take(READ_LIMIT + 1).read_to_end(&mut bytes).ok()?;
            goes(&bytes).then_some(AtFlags::empty())
        }
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::whole::way;
    use std::fs;
    use std::path::Path;

    /// The same name, as if it was made long ago.
    fn aged(name: &str) -> String {
        let at = name.rfind(".aye-").unwrap();
        let begins = at + name[at..].find("0").unwrap();
        let old = Ulid::from_datetime(SystemTime::now() - 2 * OLD);
        format!("{}{old}{}", &name[..begins], &name[begins + 26..])
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn r24_what_an_end_in_the_middle_left_goes_and_nothing_that_is_anothers() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let put = |name: String, text: &str| {
            fs::write(folder.join(&name), text).unwrap();
            name
        };
        put(aged(&writing()), "half of i");
        put(aged(&held(&[b"one", b"two"])), "one");
        put(aged(&held(&[b"one", b"two"])), "two");
        std::os::unix::fs::symlink("to", folder.join(aged(&held(&[b"to"])))).unwrap();
        fs::create_dir(folder.join(aged(&writing()))).unwrap();
        let mut stay = vec![
            put(writing(), "being written"),
            put(held(&[b"one"]), "one"),
            put(aged(&held(&[b"one", b"two"])), "somebody's"),
            put(format!("{}-more", aged(&writing())), "x"),
            put(format!("{WRITING}notes"), "x"),
            put(format!("{}é", aged(&writing())), "x"),
            put(format!("x{}", aged(&writing())), "x"),
        ];
        let full = aged(&writing());
        fs::create_dir(folder.join(&full)).unwrap();
        fs::write(folder.join(&full).join("x"), "x").unwrap();
        stay.push(full);
        let locked = put(aged(&writing()), "slow");
        let lock = File::open(folder.join(&locked)).unwrap();
        lock.try_lock().unwrap();
        stay.push(locked);
        sweep(&way(&folder, None).unwrap().folder);
        stay.sort();
        assert_eq!(names(&folder), stay);
    }

    #[test]
    fn r24_what_is_another_by_now_is_put_back_and_nothing_is_left_beside() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap();
        let way = way(&folder, None).unwrap();
        let file = (OsStr::new("file"), AtFlags::empty());
        let read = || fs::read_to_string(folder.join("file")).unwrap();
        for (is_it, text) in [(false, "mine"), (true, "new")] {
            fs::write(folder.join("file"), "mine").unwrap();
            let beside = writing();
            fs::write(folder.join(&beside), "new").unwrap();
            let looks = |held: &str| {
                assert_eq!(fs::read_to_string(folder.join(held)).unwrap(), "mine");
                assert_eq!(read(), "new");
                is_it
            };
            let done = exchange(&way.folder, (&beside, AtFlags::empty()), file, &held(&[]), &looks);
            assert_eq!(done, if is_it { Ok(()) } else { Err(Errno::STALE) });
            assert_eq!((read().as_str(), names(&folder)), (text, vec!["file".to_owned()]));
        }
        // It went meanwhile: what was made is called as before, for whoever made it to take away.
        fs::remove_file(folder.join("file")).unwrap();
        let beside = writing();
        fs::write(folder.join(&beside), "new").unwrap();
        let done = exchange(&way.folder, (&beside, AtFlags::empty()), file, &held(&[]), &|_| true);
        assert_eq!((done, names(&folder)), (Err(Errno::NOENT), vec![beside]));
    }
}
