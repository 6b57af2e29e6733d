//! Where settings and sessions live.

use super::{Error, private};
use crate::chat::SessionId;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The one variable that moves everything: one folder, with `config` and `data` in it.
pub const HOME: &str = "AYE_HOME";

/// The two folders, where the system wants them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    config: PathBuf,
    data: PathBuf,
    tour: PathBuf,
}

impl Places {
    /// Finds them, given what `AYE_HOME` holds. A relative one is taken from the working folder. Nothing is made yet.
    pub fn find(home: Option<OsString>) -> Result<Self, Error> {
        match home.filter(|home| !home.is_empty()) {
            Some(home) => {
                let home = std::path::absolute(&home).map_err(Error::at(Path::new(&home)))?;
                Ok(Self::under(&home))
            }
            None => {
                let folders = directories::ProjectDirs::from("", "", "aye").ok_or(Error::Homeless)?;
                Ok(Self {
                    config: folders.config_dir().to_owned(),
                    data: folders.data_dir().to_owned(),
                    tour: folders.cache_dir().join("tour"),
                })
            }
        }
    }

    /// All of them in one folder.
    pub fn under(home: &Path) -> Self {
        Self { config: home.join("config"), data: home.join("data"), tour: home.join("tour") }
    }

    /// Makes every folder, for its owner alone, tightens those that others can look into, and removes what is left in them
    /// of files that were half written when the program was killed.
    pub fn prepare(&self) -> Result<(), Error> {
        let inside = [self.themes(), self.sessions(), self.drafts(), self.history(), self.tour()];
        for folder in [&self.config, &self.data].into_iter().chain(&inside) {
            private::folder(folder).map_err(Error::at(folder))?;
        }
        for folder in [&self.config, &self.sessions(), &self.drafts(), &self.history()] {
            private::sweep(folder);
        }
        // Where the settings are links, as in a repository of one's own, they are written where those lead.
        for file in [self.settings(), self.rules(), self.trusted(), self.credentials()] {
            let real = file.canonicalize().ok();
            let away = real.as_deref().and_then(Path::parent).filter(|_| file.is_symlink());
            away.into_iter().for_each(private::sweep);
        }
        Ok(())
    }

    /// What is aye's alone: the folder of settings and the folder of what is kept.
    pub fn own(&self) -> [&Path; 2] {
        [&self.config, &self.data]
    }

    /// The person's settings; the file need not exist.
    pub fn settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The person's rules; the file need not exist.
    pub fn rules(&self) -> PathBuf {
        self.config.join("rules.toml")
    }

    /// Which files of which projects the person trusts; the file need not exist.
    pub fn trusted(&self) -> PathBuf {
        self.config.join("trusted.toml")
    }

    /// The person's own themes.
    pub fn themes(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// Keys that were entered in the program; the file need not exist.
    pub fn credentials(&self) -> PathBuf {
        self.config.join("credentials.toml")
    }

    /// One file for each session.
    pub fn sessions(&self) -> PathBuf {
        self.data.join("sessions")
    }

    /// What was typed and not sent.
    pub fn drafts(&self) -> PathBuf {
        self.data.join("drafts")
    }

    /// What was said before, one file for each project.
    pub fn history(&self) -> PathBuf {
        self.data.join("history")
    }

    /// What the program did, a file for each of the last runs. Made by whoever writes there first.
    pub fn journal(&self) -> PathBuf {
        self.data.join("journal")
    }

    /// The tour's project. Not among what is kept: there everything is asked about, and a tour is a project like any
    /// other.
    pub fn tour(&self) -> PathBuf {
        self.tour.clone()
    }

    /// What a session's dry run wrote: the layer over its project. Made by whoever writes there first.
    pub fn rehearsal(&self, id: &SessionId) -> PathBuf {
        self.data.join("rehearsal").join(&id.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn one_variable_moves_everything() {
        let places = Places::find(Some("/somewhere".into())).unwrap();
        assert_eq!(places.settings(), Path::new("/somewhere/config/config.toml"));
        assert_eq!(places.sessions(), Path::new("/somewhere/data/sessions"));
        assert_eq!(places.rehearsal(&SessionId("01J".into())), Path::new("/somewhere/data/rehearsal/01J"));
    }

    #[test]
    fn a_relative_home_is_made_absolute() {
        let places = Places::find(Some("here".into())).unwrap();
        assert_eq!(places.sessions(), std::env::current_dir().unwrap().join("here/data/sessions"));
    }

    #[test]
    fn r56_every_folder_is_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::under(home.path());
        places.prepare().unwrap();
        places.prepare().unwrap();
        for folder in [places.themes(), places.sessions(), places.drafts(), places.history()] {
            assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700, "{}", folder.display());
        }
    }

    #[test]
    fn half_a_settings_file_is_swept_where_a_link_to_the_settings_leads() {
        let home = tempfile::tempdir().unwrap();
        let (places, own) = (Places::under(home.path()), home.path().join("dotfiles"));
        places.prepare().unwrap();
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join("aye.toml"), "").unwrap();
        std::os::unix::fs::symlink(own.join("aye.toml"), places.settings()).unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
        let half = |name: &str, old: std::time::SystemTime| {
            let path = own.join(name);
            let file = std::fs::File::create(&path).unwrap();
            file.set_modified(old).unwrap();
            path
        };
        let (left, young) =
            (half(".half-abcd1234", old), half(".half-abcd1235", std::time::SystemTime::now()));
        let other = half("half-abcd1234", old);
        places.prepare().unwrap();
        assert!(!left.exists() && young.exists() && other.exists() && own.join("aye.toml").exists());
    }
}
