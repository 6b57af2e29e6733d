//! Locations of settings and sessions.

use super::session_header::session_path;
use super::{Error, private_files};
use crate::chat::skill::MAIN_FILE;
use crate::chat::{Digest, SessionId};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Maximum number of tool files, of custom commands and of skills whose links are followed.
const MAX_LISTED: usize = 1_000;

/// The folders of settings, data and the tour: in `AYE_HOME` if set, otherwise those the system assigns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    config: PathBuf,
    data: PathBuf,
    tour: PathBuf,
}

impl Places {
    /// Finds the folders. `home` is the value of `AYE_HOME`; a relative path is resolved against the working folder.
    /// Creates nothing.
    pub fn find(home: Option<OsString>) -> Result<Self, Error> {
        match home.filter(|home| !home.is_empty()) {
            Some(home) => {
                let home = std::path::absolute(&home).map_err(Error::with_path(Path::new(&home)))?;
                Ok(Self::within(&home))
            }
            None => {
                let folders = directories::ProjectDirs::from("", "", "aye").ok_or(Error::NoHome)?;
                Ok(Self {
                    config: folders.config_dir().to_owned(),
                    data: folders.data_dir().to_owned(),
                    tour: folders.cache_dir().join("tour"),
                })
            }
        }
    }

    /// Returns the places within one folder.
    pub fn within(home: &Path) -> Self {
        Self { config: home.join("config"), data: home.join("data"), tour: home.join("tour") }
    }

    /// Creates every folder with access for the owner only, tightens existing ones, and removes leftover temporary
    /// files of killed processes.
    pub fn prepare(&self) -> Result<(), Error> {
        let other_folders = [self.themes(), self.sessions(), self.drafts(), self.history(), self.tour()];
        for folder in [&self.config, &self.data].into_iter().chain(&other_folders) {
            private_files::create_folder(folder).map_err(Error::with_path(folder))?;
        }
        for folder in [&self.config, &self.sessions(), &self.drafts(), &self.history()] {
            private_files::remove_abandoned(folder);
        }
        // Settings that are links, for example into a dotfiles repository, are written at their target.
        for file in self.config_files().into_iter().filter(|file| file.is_symlink()) {
            let real = file.canonicalize().ok();
            real.as_deref().and_then(Path::parent).into_iter().for_each(private_files::remove_abandoned);
        }
        Ok(())
    }

    fn config_files(&self) -> [PathBuf; 6] {
        let (keys, tool_keys) = (self.credentials(), self.tool_credentials());
        [self.settings(), self.rules(), self.trusted(), keys, tool_keys, self.instructions()]
    }

    /// Returns the folders that belong to aye: settings and data.
    pub fn own_folders(&self) -> [&Path; 2] {
        [&self.config, &self.data]
    }

    /// Returns aye's own folders, and what is elsewhere because a settings file, a tool file, a custom command, a skill or its main
    /// file, or one of their folders is a link: the project may be a repository of settings files.
    pub fn own_paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.own_folders().into_iter().map(resolve_links).collect();
        let mut files = Vec::from(self.config_files());
        let skills = self.skills();
        for folder in [self.tools(), self.commands(), skills.clone()] {
            let entries = folder.read_dir().into_iter().flatten().flatten().take(MAX_LISTED).map(|entry| entry.path());
            for entry in entries {
                let main_file = (folder == skills).then(|| entry.join(MAIN_FILE));
                files.extend(std::iter::once(entry).chain(main_file));
            }
            files.push(folder);
        }
        for file in resolve_files(files) {
            if !paths.iter().any(|folder| file.starts_with(folder)) {
                paths.push(file);
            }
        }
        paths
    }

    /// Returns the files with keys, with links resolved.
    pub fn key_files(&self) -> Vec<PathBuf> {
        resolve_files(vec![self.credentials(), self.tool_credentials()]).collect()
    }

    /// Returns the settings file, which need not exist.
    pub fn settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the rules file, which need not exist.
    pub fn rules(&self) -> PathBuf {
        self.config.join("rules.toml")
    }

    /// Returns the list of trusted project files, which need not exist.
    pub fn trusted(&self) -> PathBuf {
        self.config.join("trusted.toml")
    }

    /// Returns the file of the user's own instructions for every project, which need not exist.
    pub fn instructions(&self) -> PathBuf {
        self.config.join("AGENTS.md")
    }

    /// Returns the folder of the user's themes.
    pub fn themes(&self) -> PathBuf {
        self.config.join("themes")
    }

    /// Returns the folder of the user's tool files, which need not exist.
    pub fn tools(&self) -> PathBuf {
        self.config.join("tools")
    }

    /// Returns the folder of the user's custom commands, which need not exist.
    pub fn commands(&self) -> PathBuf {
        self.config.join("commands")
    }

    /// Returns the folder of the user's skills, which need not exist.
    pub fn skills(&self) -> PathBuf {
        self.config.join("skills")
    }

    /// Returns the file of saved keys of providers, which need not exist.
    pub fn credentials(&self) -> PathBuf {
        self.config.join("credentials.toml")
    }

    /// Returns the file of credentials for the requests of tools, which need not exist.
    pub fn tool_credentials(&self) -> PathBuf {
        self.config.join("tool_credentials.toml")
    }

    /// Returns the folder of session files.
    pub fn sessions(&self) -> PathBuf {
        self.data.join("sessions")
    }

    /// Returns the file of a session.
    pub fn session(&self, id: &SessionId) -> PathBuf {
        session_path(&self.sessions(), id)
    }

    /// Returns the folder of unsent drafts.
    pub fn drafts(&self) -> PathBuf {
        self.data.join("drafts")
    }

    /// Returns the folder of message histories, one file per project.
    pub fn history(&self) -> PathBuf {
        self.data.join("history")
    }

    /// Returns the folder of the journal, a log of what the program did, with one file per run. Created by its first
    /// writer.
    pub fn journal(&self) -> PathBuf {
        self.data.join("journal")
    }

    /// Returns the tour's project. It is outside the data folder, so that it is treated like any other project.
    pub fn tour(&self) -> PathBuf {
        self.tour.clone()
    }

    /// Returns the folder of the demos that were played. Created by the first one.
    pub fn demos(&self) -> PathBuf {
        self.tour.with_file_name("demos")
    }

    /// Returns the file of the accepted tools of MCP servers, which need not exist.
    pub fn mcp_catalogue(&self) -> PathBuf {
        self.data.join("mcp.json")
    }

    /// Returns the folder of the trials of commands. Created by the first trial.
    pub fn trials(&self) -> PathBuf {
        self.data.join("trials")
    }

    /// Returns the folder of the checkpoints of all projects.
    pub fn all_checkpoints(&self) -> PathBuf {
        self.data.join("checkpoints")
    }

    /// Returns the folder of the checkpoints of the project in `folder`. Created by its first change.
    pub fn checkpoints(&self, folder: &Path) -> PathBuf {
        self.all_checkpoints().join(Digest::of_bytes(folder.as_os_str().as_bytes()).as_str())
    }

    /// Returns the folder of a session's workspace. Created by its first file.
    pub fn workspace(&self, id: &SessionId) -> PathBuf {
        self.workspaces().join(&id.0)
    }

    /// Returns the folder of all workspaces, each named by its session.
    pub fn workspaces(&self) -> PathBuf {
        self.data.join("workspace")
    }

    /// Returns the overlay folder of a session's dry run. Created by its first writer.
    pub fn rehearsal(&self, id: &SessionId) -> PathBuf {
        self.data.join("rehearsal").join(&id.0)
    }
}

/// Resolves the links of files as [`resolve_links`] does. Most are in the same few folders and are no links, so it suffices to resolve
/// these folders once.
fn resolve_files(files: Vec<PathBuf>) -> impl Iterator<Item = PathBuf> {
    let mut real_folders = HashMap::new();
    files.into_iter().map(move |file| match (file.parent(), file.file_name()) {
        (Some(folder), Some(name)) if !file.is_symlink() => {
            let real_folder: &PathBuf = real_folders.entry(folder.to_owned()).or_insert_with(|| resolve_links(folder));
            real_folder.join(name)
        }
        _ => resolve_links(&file),
    })
}

/// Resolves the links of a path as far as it exists.
pub fn resolve_links(path: &Path) -> PathBuf {
    let resolve_parent = || Some(resolve_links(path.parent()?).join(path.file_name()?));
    path.canonicalize().ok().or_else(resolve_parent).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn aye_home_moves_everything() {
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
    fn r56_folders_are_accessible_to_the_owner_only() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::within(home.path());
        places.prepare().unwrap();
        places.prepare().unwrap();
        for folder in [places.themes(), places.sessions(), places.drafts(), places.history()] {
            assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700, "{}", folder.display());
        }
    }

    #[test]
    fn what_links_in_the_settings_folder_lead_to_belongs_to_aye() {
        use std::os::unix::fs::symlink;
        let home = tempfile::tempdir().unwrap();
        let (places, dotfiles) = (Places::within(home.path()), home.path().canonicalize().unwrap().join("dotfiles"));
        places.prepare().unwrap();
        assert_eq!(places.own_paths().len(), 2);
        std::fs::create_dir_all(dotfiles.join("commands")).unwrap();
        std::fs::create_dir(places.tools()).unwrap();
        for name in ["AGENTS.md", "post.toml"] {
            std::fs::write(dotfiles.join(name), "").unwrap();
        }
        std::fs::write(places.tools().join("own.toml"), "").unwrap();
        symlink(dotfiles.join("AGENTS.md"), places.instructions()).unwrap();
        symlink(dotfiles.join("commands"), places.commands()).unwrap();
        symlink(dotfiles.join("post.toml"), places.tools().join("post.toml")).unwrap();
        let expected = ["AGENTS.md", "post.toml", "commands"].map(|name| dotfiles.join(name));
        assert_eq!(places.own_paths()[2..], expected);
        std::fs::create_dir_all(places.skills().join("own")).unwrap();
        std::fs::create_dir_all(dotfiles.join("forms")).unwrap();
        std::fs::write(dotfiles.join("own.md"), "").unwrap();
        symlink(dotfiles.join("forms"), places.skills().join("forms")).unwrap();
        symlink(dotfiles.join("own.md"), places.skills().join("own/SKILL.md")).unwrap();
        let mut skills = places.own_paths()[5..].to_vec();
        skills.sort();
        assert_eq!(skills, ["forms", "own.md"].map(|name| dotfiles.join(name)));
        // Links, files below links, files of linked folders and missing files are resolved as each alone is.
        let below = |folder: PathBuf, names: &[&str]| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        let files = [
            below(places.tools(), &["own.toml", "post.toml", "missing"]),
            below(places.commands(), &["a.md", "b.md"]),
            below(places.skills().join("forms"), &["SKILL.md", "none/none"]),
            below(places.instructions(), &["", "x"]),
        ]
        .concat();
        let expected: Vec<PathBuf> = files.iter().map(|file| resolve_links(file)).collect();
        assert_eq!(resolve_files(files).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn removes_temporary_file_at_target_of_linked_settings() {
        let home = tempfile::tempdir().unwrap();
        let (places, dotfiles) = (Places::within(home.path()), home.path().join("dotfiles"));
        places.prepare().unwrap();
        std::fs::create_dir(&dotfiles).unwrap();
        std::fs::write(dotfiles.join("aye.toml"), "").unwrap();
        std::os::unix::fs::symlink(dotfiles.join("aye.toml"), places.settings()).unwrap();
        let old = std::time::SystemTime::now() - std::time::Duration::from_secs(7_200);
        let create_file = |name: &str, modified: std::time::SystemTime| {
            let path = dotfiles.join(name);
            let file = std::fs::File::create(&path).unwrap();
            file.set_modified(modified).unwrap();
            path
        };
        let (abandoned, recent) =
            (create_file(".half-abcd1234", old), create_file(".half-abcd1235", std::time::SystemTime::now()));
        let other_name = create_file("half-abcd1234", old);
        places.prepare().unwrap();
        assert!(!abandoned.exists() && recent.exists() && other_name.exists() && dotfiles.join("aye.toml").exists());
    }
}
