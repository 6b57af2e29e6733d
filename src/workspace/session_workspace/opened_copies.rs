//! Copies of files for other programs. What a program saves in a copy becomes the next version of its file.
//!
//! The copy of a version is `ID-VERSION/NAME`, and `ID-VERSION.stored` next to that folder names the content that was last
//! copied or stored. A copy that a program may have open is never written again.

use super::{NewFile, Replaces, Workspace, find_record};
use crate::chat::Digest;
use crate::store::private_files;
use crate::text::workspace_address::AddressTarget;
use crate::workspace::{Error, Origin, StoredFile};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

/// Ending of the file with the content that was last copied or stored.
const STORED: &str = "stored";
/// What wrote a version that was saved in a copy.
const ORIGIN: &str = "saved copy";
/// Time without a change after which a copy counts as saved, so that no half of it is stored.
const SETTLE_TIME: Duration = Duration::from_millis(200);
/// Number of times a copy is waited for. One that changes all the time is stored as it is.
const MAX_WAITS: usize = 5;
/// Maximum number of copies of one version.
const MAX_COPIES: usize = 1000;

/// A file whose copy was changed, and the version that this became.
#[derive(Debug)]
pub struct ChangedCopy {
    /// Path in the workspace.
    pub name: String,
    /// Path of the copy.
    pub copy: PathBuf,
    pub stored: Result<StoredFile, Error>,
}

/// The folder of a copy.
struct CopyFolder {
    folder: PathBuf,
    /// Id and version of the file.
    id: String,
    version: u64,
}

impl CopyFolder {
    /// Parses the path of a folder; `None` for anything else.
    fn parse(folder: PathBuf) -> Option<Self> {
        let name = folder.file_name()?.to_str()?;
        let mut parts = name.split('-');
        let (id, version) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?);
        (!name.contains('.') && folder.is_dir()).then_some(Self { folder, id, version })
    }

    fn stored_path(&self) -> PathBuf {
        self.folder.with_extension(STORED)
    }

    /// Returns the state of a copy that was last copied or stored: its digest, size and time of change.
    fn read_stored(&self) -> Option<(Digest, String)> {
        let text = String::from_utf8(private_files::read_or_empty(&self.stored_path())).ok()?;
        let (digest, state) = text.split_once(' ')?;
        Some((Digest::parse(digest)?, state.to_owned()))
    }

    /// Records that the copy with this digest is stored. Without it, the copy is compared with the version that it was made of.
    fn write_stored(&self, digest: &Digest, copy: &Path) -> io::Result<()> {
        private_files::replace(&self.stored_path(), format!("{digest} {}", describe_state(copy)?).as_bytes())
    }
}

/// Returns the size and the time of change of a file.
fn describe_state(path: &Path) -> io::Result<String> {
    let metadata = path.symlink_metadata()?;
    Ok(format!("{} {}.{:09}", metadata.len(), metadata.mtime(), metadata.mtime_nsec()))
}

impl Workspace {
    /// Returns the path of a copy with the name of the file, for a program that opens it. It is removed by
    /// [`Self::prune`] and with the session. A copy with changes that are not stored yet stays as it is.
    ///
    /// # Errors
    /// If the content cannot be read, or the copy cannot be written.
    pub fn copy_to_open(&self, file: &StoredFile, is_writable: bool) -> Result<PathBuf, Error> {
        let name = format!("{}-{}", file.id, file.version);
        let folder = self.copies_folder();
        for number in 1..MAX_COPIES {
            let folder = folder.join(if number == 1 { name.clone() } else { format!("{name}-{number}") });
            let copy = folder.join(file.path.file_name());
            let place = CopyFolder { folder, id: file.id.clone(), version: file.version };
            let found = match private_files::read_file(&copy) {
                Ok(bytes) => Some(Digest::of_bytes(&bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                // It may hold changes that cannot be read now.
                Err(_) => continue,
            };
            let stored = place.read_stored().map_or_else(|| file.sha256.clone(), |(digest, _)| digest);
            match found {
                None => self.write_copy(file, &place, &copy)?,
                Some(found) if found == file.sha256 || found != stored => {}
                // It became another version, and a program may have it open.
                Some(_) => continue,
            }
            let mode = Permissions::from_mode(if is_writable { 0o600 } else { 0o400 });
            fs::set_permissions(&copy, mode).map_err(Error::with_path(&copy))?;
            return Ok(copy);
        }
        Err(Error::with_path(&folder)(io::Error::other("there are too many copies; remove them with aye files prune")))
    }

    fn write_copy(&self, file: &StoredFile, place: &CopyFolder, copy: &Path) -> Result<(), Error> {
        let bytes = self.read(file)?;
        let write = || -> io::Result<()> {
            private_files::create_folder(&place.folder)?;
            private_files::replace(copy, &bytes)?;
            place.write_stored(&file.sha256, copy)
        };
        write().map_err(Error::with_path(&place.folder))
    }

    /// Stores what other programs saved in copies since they were made or last stored: each becomes the latest version of its
    /// file, the one that was saved last after the others. Waits up to a second for a copy that is being saved. Lists one
    /// folder, which does not exist unless a file was opened.
    ///
    /// # Errors
    /// If the copies cannot be listed.
    pub fn store_changed_copies(&self) -> Result<Vec<ChangedCopy>, Error> {
        let folder = self.copies_folder();
        let folders = private_files::list_folder(&folder).map_err(Error::with_path(&folder))?;
        let mut changed = Vec::new();
        for place in folders.into_iter().filter_map(CopyFolder::parse) {
            changed.extend(self.find_changed_copy(place)?);
        }
        changed.sort_by_key(|(time, ..)| *time);
        Ok(changed.into_iter().filter_map(|(_, place, copy)| self.store_copy(&place, copy)).collect())
    }

    /// Returns the time at which a copy was saved, its folder and its path, if its state is not the one that is stored.
    fn find_changed_copy(&self, place: CopyFolder) -> Result<Option<(SystemTime, CopyFolder, PathBuf)>, Error> {
        let target = AddressTarget::Id(place.id.clone(), None);
        let name = match find_record(&self.refresh()?.index, &target) {
            Ok((_, record)) => record.path.file_name().to_owned(),
            // A file that no index lists any more. Its copy stays.
            Err(_) => return Ok(None),
        };
        let copy = place.folder.join(name);
        // Of a copy that a program is replacing right now, the next call finds the new one.
        let Ok(state) = describe_state(&copy) else { return Ok(None) };
        if place.read_stored().is_some_and(|(_, stored)| stored == state) {
            return Ok(None);
        }
        for _ in 0..MAX_WAITS {
            let age = changed_at(&copy).and_then(|time| SystemTime::now().duration_since(time).ok());
            match age.filter(|age| *age < SETTLE_TIME) {
                Some(age) => sleep(SETTLE_TIME - age),
                None => break,
            }
        }
        Ok(changed_at(&copy).map(|time| (time, place, copy)))
    }

    /// Stores a copy; returns `None` if its content is the one that is stored.
    fn store_copy(&self, place: &CopyFolder, copy: PathBuf) -> Option<ChangedCopy> {
        let stored = self.try_store_copy(place, &copy).transpose()?;
        let file_name = || copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = stored.as_ref().map_or_else(|_| file_name(), |stored| stored.path.to_string());
        Some(ChangedCopy { name, copy, stored })
    }

    fn try_store_copy(&self, place: &CopyFolder, copy: &Path) -> Result<Option<StoredFile>, Error> {
        let size = copy.symlink_metadata().map_err(Error::with_path(copy))?.len();
        let (path, origin, made_of) = {
            let loaded = self.refresh()?;
            let (_, record) = find_record(&loaded.index, &AddressTarget::Id(place.id.clone(), None))?;
            let versions = || record.versions.iter().rev();
            let origin = Origin {
                tool: ORIGIN.to_owned(),
                // What a text from outside was changed to may still have its instructions.
                untrusted_source: versions().find_map(|version| version.origin.untrusted_source.clone()),
                secrecy: versions().map(|version| version.origin.secrecy).max().unwrap_or_default(),
                rehearsed: versions().next().is_some_and(|version| version.origin.rehearsed),
                ..Origin::default()
            };
            let made_of = versions().find(|version| version.number == place.version);
            let made_of = made_of.and_then(|version| Some(version.content.as_ref()?.sha256.clone()));
            (record.path.clone(), origin, made_of)
        };
        if size > self.limits.file_bytes {
            let (name, limit) = (path.to_string(), self.limits.file_bytes);
            return Err(Error::TooLarge { name, size, limit });
        }
        let bytes = private_files::read_file(copy).map_err(Error::with_path(copy))?;
        let digest = Digest::of_bytes(&bytes);
        let known = place.read_stored().map(|(digest, _)| digest).or(made_of);
        let stored = match known.as_ref() == Some(&digest) {
            // Only its time has changed.
            true => None,
            false => Some(self.write(&NewFile {
                path: &path,
                bytes: &bytes,
                origin,
                replaces: Replaces::Any,
                media_type: None,
            })?),
        };
        place.write_stored(&digest, copy).map_err(Error::with_path(&place.folder))?;
        Ok(stored)
    }

    /// Removes the copies. A folder in which another program has put files stays with them, and so does a copy of a file that
    /// is not listed any more.
    pub(super) fn remove_copies(&self) -> Result<(), Error> {
        let folder = self.copies_folder();
        for place in private_files::list_folder(&folder).map_err(Error::with_path(&folder))? {
            let Some(place) = CopyFolder::parse(place) else { continue };
            let target = AddressTarget::Id(place.id.clone(), None);
            let Ok(name) =
                find_record(&self.refresh()?.index, &target).map(|(_, record)| record.path.file_name().to_owned())
            else {
                continue;
            };
            for path in [place.folder.join(name), place.stored_path()] {
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(Error::with_path(&path)(error));
                    }
                    _ => {}
                }
            }
            let _ = fs::remove_dir(&place.folder);
        }
        let _ = fs::remove_dir(&folder);
        Ok(())
    }

    /// Folder of the copies that other programs open.
    fn copies_folder(&self) -> PathBuf {
        self.folder.join("open")
    }
}

fn changed_at(copy: &Path) -> Option<SystemTime> {
    copy.symlink_metadata().ok()?.modified().ok()
}
