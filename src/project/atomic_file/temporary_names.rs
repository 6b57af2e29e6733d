//! Temporary files that exist while a file is replaced or removed: their names, the exchange, and the removal of
//! leftovers after a crash.

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

/// Flags for opening a file to read.
pub const READ_FLAGS: OFlags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Name prefix of a new file that is still being written.
pub const NEW_PREFIX: &str = ".aye-new-";
/// Name prefix of an entry during an exchange: the complete new one, or the old one.
pub const EXCHANGE_PREFIX: &str = ".aye-held-";
/// Age from which an unlocked temporary file is a leftover. An exchange takes far less time.
const LEFTOVER_AGE: Duration = Duration::from_secs(60);

/// Returns a name for a new file that is being written.
pub fn new_file_name() -> String {
    format!("{NEW_PREFIX}{}", Ulid::new())
}

/// Returns a name for an entry during an exchange. It contains the hashes of contents (of files, or targets of links)
/// that may be deleted if the entry is found after a crash.
pub fn exchange_name(removable: &[&[u8]]) -> String {
    removable.iter().fold(format!("{EXCHANGE_PREFIX}{}", Ulid::new()), |name, bytes| {
        name + "-" + Digest::of_bytes(bytes).short_hex()
    })
}

/// Atomically replaces the entry `name` by the entry `new_name`, checks the replaced entry, and deletes it. If
/// `is_expected` rejects it or it cannot be deleted, it is put back, and the new entry is deleted. `new_flags` and
/// `old_flags` are the flags for deleting each of them. `exchanged` is the temporary name of the new entry before the
/// exchange, and of the old one after it.
///
/// # Errors
/// [`Errno::STALE`] if `is_expected` rejected the replaced entry. If the file system cannot exchange the two, the new
/// entry keeps its name.
pub fn exchange_entries(
    folder: &OwnedFd,
    (new_name, new_flags): (&str, AtFlags),
    (name, old_flags): (&OsStr, AtFlags),
    exchanged: &str,
    is_expected: &dyn Fn(&str) -> bool,
) -> Result<(), Errno> {
    rustix::fs::renameat(folder, new_name, folder, exchanged)?;
    let swap = || renameat_with(folder, name, folder, exchanged, RenameFlags::EXCHANGE);
    if let Err(errno) = swap() {
        rustix::fs::renameat(folder, exchanged, folder, new_name)?;
        return Err(errno);
    }
    let removed = if is_expected(exchanged) { unlinkat(folder, exchanged, old_flags) } else { Err(Errno::STALE) };
    removed.inspect_err(|_| match swap() {
        Ok(()) => drop(unlinkat(folder, exchanged, new_flags)),
        // Another process removed the new entry, so the old one is put back.
        Err(_) => restore_name(folder, exchanged, name),
    })
}

/// Returns whether the error means that the file system does not support the kind of rename. Systems use different
/// errors.
pub fn is_unsupported(errno: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&errno)
}

/// Restores an entry's name, unless another entry has it.
pub fn restore_name(folder: &OwnedFd, exchanged: &str, name: &OsStr) {
    let result = renameat_with(folder, exchanged, folder, name, RenameFlags::NOREPLACE);
    if result.is_err_and(is_unsupported) {
        let _ = rustix::fs::renameat(folder, exchanged, folder, name);
    }
}

/// Removes the leftovers of a crashed program from a folder: partly written files, and exchanged entries whose hash is
/// part of their name. An entry with any other content, such as another program's change, is kept.
pub fn remove_leftovers(folder: &OwnedFd) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(opened) = rustix::fs::openat(folder, ".", flags, Mode::empty()) else { return };
    let Ok(entries) = Dir::read_from(&opened) else { return };
    for entry in entries.flatten() {
        let Some(name) = entry.file_name().to_str().ok().filter(|name| name.starts_with(".aye-")) else {
            continue;
        };
        if let Some(flags) = leftover_flags(folder, name) {
            // A leftover that cannot be removed does no harm.
            let _ = unlinkat(folder, name, flags);
        }
    }
}

/// Returns the flags for removing an entry if it is a leftover.
fn leftover_flags(folder: &OwnedFd, name: &str) -> Option<AtFlags> {
    let (suffix, is_exchanged) = match name.strip_prefix(NEW_PREFIX) {
        Some(suffix) => (suffix, false),
        None => (name.strip_prefix(EXCHANGE_PREFIX)?, true),
    };
    let mut parts = suffix.split('-');
    let created = Ulid::from_string(parts.next()?).ok()?.datetime();
    SystemTime::now().duration_since(created).ok().filter(|age| *age > LEFTOVER_AGE)?;
    let hashes: Vec<&str> = parts.collect();
    let is_removable = |bytes: &[u8]| match is_exchanged {
        true => hashes.contains(&Digest::of_bytes(bytes).short_hex()),
        false => hashes.is_empty(),
    };
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    match FileType::from_raw_mode(stat.st_mode as RawMode) {
        // A folder that is not empty stays.
        FileType::Directory => Some(AtFlags::REMOVEDIR),
        FileType::Symlink => {
            let target = rustix::fs::readlinkat(folder, name, Vec::new()).ok()?;
            is_removable(target.as_bytes()).then_some(AtFlags::empty())
        }
        FileType::RegularFile => {
            let file = File::from(rustix::fs::openat(folder, name, READ_FLAGS, Mode::empty()).ok()?);
            file.try_lock().ok()?;
            let mut bytes = Vec::new();
            (&file).take(READ_LIMIT + 1).read_to_end(&mut bytes).ok()?;
            is_removable(&bytes).then_some(AtFlags::empty())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::atomic_file::parent_folders::open_parents;
    use std::fs;
    use std::path::Path;

    /// Returns the same name with an old time. The time is part of the ULID, which has 26 characters and begins with
    /// `0`.
    fn with_old_time(name: &str) -> String {
        let prefix_start = name.rfind(".aye-").unwrap();
        let id_start = prefix_start + name[prefix_start..].find("0").unwrap();
        let old = Ulid::from_datetime(SystemTime::now() - 2 * LEFTOVER_AGE);
        format!("{}{old}{}", &name[..id_start], &name[id_start + 26..])
    }

    fn list_names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn r24_leftovers_are_removed_and_other_files_are_kept() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let write_file = |name: String, text: &str| {
            fs::write(folder.join(&name), text).unwrap();
            name
        };
        write_file(with_old_time(&new_file_name()), "half of i");
        write_file(with_old_time(&exchange_name(&[b"one", b"two"])), "one");
        write_file(with_old_time(&exchange_name(&[b"one", b"two"])), "two");
        std::os::unix::fs::symlink("to", folder.join(with_old_time(&exchange_name(&[b"to"])))).unwrap();
        fs::create_dir(folder.join(with_old_time(&new_file_name()))).unwrap();
        let mut expected = vec![
            write_file(new_file_name(), "being written"),
            write_file(exchange_name(&[b"one"]), "one"),
            write_file(with_old_time(&exchange_name(&[b"one", b"two"])), "another program's"),
            write_file(format!("{}-more", with_old_time(&new_file_name())), "x"),
            write_file(format!("{NEW_PREFIX}notes"), "x"),
            write_file(format!("{}é", with_old_time(&new_file_name())), "x"),
            write_file(format!("x{}", with_old_time(&new_file_name())), "x"),
        ];
        let full = with_old_time(&new_file_name());
        fs::create_dir(folder.join(&full)).unwrap();
        fs::write(folder.join(&full).join("x"), "x").unwrap();
        expected.push(full);
        let locked = write_file(with_old_time(&new_file_name()), "slow");
        let lock = File::open(folder.join(&locked)).unwrap();
        lock.try_lock().unwrap();
        expected.push(locked);
        remove_leftovers(&open_parents(&folder, None).unwrap().folder);
        expected.sort();
        assert_eq!(list_names(&folder), expected);
    }

    #[test]
    fn r24_changed_file_is_put_back_and_no_temporary_file_is_left() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let parents = open_parents(&folder, None).unwrap();
        let file = (OsStr::new("file"), AtFlags::empty());
        let read = || fs::read_to_string(folder.join("file")).unwrap();
        for (is_expected, text) in [(false, "mine"), (true, "new")] {
            fs::write(folder.join("file"), "mine").unwrap();
            let new_name = new_file_name();
            fs::write(folder.join(&new_name), "new").unwrap();
            let check_exchange = |exchanged: &str| {
                assert_eq!(fs::read_to_string(folder.join(exchanged)).unwrap(), "mine");
                assert_eq!(read(), "new");
                is_expected
            };
            let result = exchange_entries(
                &parents.folder,
                (&new_name, AtFlags::empty()),
                file,
                &exchange_name(&[]),
                &check_exchange,
            );
            assert_eq!(result, if is_expected { Ok(()) } else { Err(Errno::STALE) });
            assert_eq!((read().as_str(), list_names(&folder)), (text, vec!["file".to_owned()]));
        }
        // If the old entry was deleted meanwhile, the new one keeps its name, so that its creator can remove it.
        fs::remove_file(folder.join("file")).unwrap();
        let new_name = new_file_name();
        fs::write(folder.join(&new_name), "new").unwrap();
        let result =
            exchange_entries(&parents.folder, (&new_name, AtFlags::empty()), file, &exchange_name(&[]), &|_| true);
        assert_eq!((result, list_names(&folder)), (Err(Errno::NOENT), vec![new_name]));
    }
}
