//! Removes sessions with all their data.

use super::{DeleteFolder, Drafts, Error, Places, session_log};
use crate::chat::SessionId;
use std::fs::{self, File};
use std::path::PathBuf;

/// Sessions to remove. While this exists no other process can open them.
#[derive(Debug)]
pub struct Removal {
    places: Places,
    locked: Vec<(SessionId, PathBuf, File)>,
}

impl Removal {
    /// Locks all of the sessions, or none.
    ///
    /// # Errors
    /// [`Error::Busy`] if another process has one open, [`Error::Missing`] if one does not exist.
    pub fn lock_all(places: &Places, ids: &[SessionId]) -> Result<Self, Error> {
        let mut locked = Vec::new();
        for id in ids {
            let path = places.session(id);
            let file = session_log::open_locked(&path, id)?;
            locked.push((id.clone(), path, file));
        }
        Ok(Self { places: places.clone(), locked })
    }

    /// Removes the sessions. Other data is removed before the session file, so that an incomplete removal can be
    /// repeated. Returns the failures. `delete_folder` deletes an overlay or a workspace,
    /// whatever its permissions.
    pub fn remove(self, delete_folder: DeleteFolder) -> Vec<(SessionId, Error)> {
        let drafts = Drafts::new(&self.places);
        let mut failures = Vec::new();
        for (id, path, file) in self.locked {
            let (overlay, workspace) = (self.places.rehearsal(&id), self.places.workspace(&id));
            let result = delete_folder(&overlay)
                .map_err(Error::with_path(&overlay))
                .and_then(|()| delete_folder(&workspace).map_err(Error::with_path(&workspace)))
                .and_then(|()| drafts.remove(&id))
                .and_then(|()| fs::remove_file(&path).map_err(Error::with_path(&path)));
            if let Err(error) = result {
                failures.push((id, error));
            }
            drop(file);
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Entry, UnsentText};
    use crate::project::rehearsal::remove_folder;
    use crate::store::draft::Owner;
    use crate::store::{Header, Log, SessionLog, Sessions};
    use crate::test_folder::Folder;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn create_places() -> (Folder, Places) {
        let home = Folder::new();
        let places = Places::within(home.path());
        places.prepare().unwrap();
        (home, places)
    }

    /// Creates a dry run with draft files of all names, current and earlier, an overlay with a read-only folder, and a
    /// workspace. Returns its ID and its open log.
    fn create_session(places: &Places, id: &str) -> (SessionId, SessionLog) {
        let (id, dry_run) = (SessionId(id.into()), true);
        let mut log = SessionLog::new(&places.sessions(), &Header::new(id.clone(), Path::new("/p"), "m", dry_run));
        log.append(&Entry::UserMessage { text: "x".into() }).unwrap();
        Drafts::new(places).save(&Owner::Session(id.clone()), &UnsentText::from_text("unsent")).unwrap();
        for name in [format!("{id}.txt"), format!("{id}-card.txt"), format!("new-0123-{id}.json")] {
            fs::write(places.drafts().join(name), "x").unwrap();
        }
        fs::create_dir_all(places.workspace(&id).join("bytes")).unwrap();
        fs::write(places.workspace(&id).join("bytes/a"), "x").unwrap();
        let folder = places.rehearsal(&id).join("upper/deep");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a"), "x").unwrap();
        std::os::unix::fs::symlink("/", folder.join("link")).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o500)).unwrap();
        (id, log)
    }

    #[test]
    fn removes_session_with_all_its_data() {
        let (home, places) = create_places();
        let (removed, log) = create_session(&places, "01A");
        drop(log);
        let (_, kept_log) = create_session(&places, "01B");
        drop(kept_log);
        assert_eq!(Removal::lock_all(&places, &[removed]).unwrap().remove(remove_folder).len(), 0);
        let mut remaining = Vec::new();
        let mut folders = vec![home.path().join("data")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                assert!(!path.to_string_lossy().contains("01A"), "{path:?}");
                remaining.push(path.clone());
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                }
            }
        }
        assert!(remaining.iter().any(|path| path.ends_with("01B/upper/deep/a")), "{remaining:?}");
        // The removed overlay has a link to `/`.
        assert!(Path::new("/usr").exists());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn removes_any_overlay_but_not_targets_of_links() {
        crate::project::unprivileged::run_unprivileged(|home| {
            let places = Places::within(home);
            places.prepare().unwrap();
            let (first, log) = create_session(&places, "01A");
            drop(log);
            let folder = places.rehearsal(&first).join("upper/deep");
            fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
            crate::store::overlay_copy::tests::create_deep_folders(&folder);
            for mode in [0o000, 0o300, 0o600] {
                let closed = folder.join(format!("{mode:o}"));
                fs::create_dir_all(closed.join("deep")).unwrap();
                fs::write(closed.join("a"), "x").unwrap();
                fs::set_permissions(closed.join("deep"), Permissions::from_mode(mode)).unwrap();
                fs::set_permissions(closed, Permissions::from_mode(mode)).unwrap();
            }
            let (second, log) = create_session(&places, "01B");
            drop(log);
            let elsewhere = home.join("elsewhere");
            fs::rename(places.rehearsal(&second), &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, places.rehearsal(&second)).unwrap();
            let failures = Removal::lock_all(&places, &[first.clone(), second.clone()]).unwrap().remove(remove_folder);
            assert_eq!(failures.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&second], "{failures:?}");
            assert!(!places.rehearsal(&first).exists() && elsewhere.join("upper/deep/a").exists());
            assert_eq!(fs::read_dir(places.sessions()).unwrap().count(), 1);
        });
    }

    #[test]
    fn r54_open_session_prevents_removal_of_all() {
        let (_home, places) = create_places();
        let (first, log) = create_session(&places, "01A");
        let (second, open_log) = create_session(&places, "01B");
        drop(log);
        let ids = [first.clone(), second];
        assert!(matches!(Removal::lock_all(&places, &ids).unwrap_err(), Error::Busy(_)));
        // Processes that other tests start may share the closed file for longer than the attempts to lock it take.
        let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let missing = loop {
            match Removal::lock_all(&places, &[first.clone(), SessionId("01C".into())]).unwrap_err() {
                Error::Busy(_) if std::time::Instant::now() < end => {}
                error => break error,
            }
        };
        assert!(missing.to_string().starts_with("Cannot find the session \"01C\": "));
        assert_eq!(Sessions::new(places.sessions()).list_all().unwrap().len(), 2);
        drop(open_log);
    }
}
