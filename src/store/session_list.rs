//! Lists sessions, newest first, reading only what a list needs.

use super::error::explain_unreadable;
use super::session_reader::{Problem, StoredSession};
use super::{Error, Header, Log, private_files, session_header, session_log, session_reader};
use crate::chat::{CallId, Entry, Session, SessionId, TitleSource};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The header ends within this many bytes.
const MAX_HEADER_BYTES: u64 = 8 << 10;
/// Bytes read from the start of a file: the header and the first message.
const HEAD_BYTES: u64 = 64 << 10;
/// Bytes read from the end of a file: a later title, another model, a waiting question. A title farther from both ends
/// is not in the list; the session itself has it.
const TAIL_BYTES: u64 = 64 << 10;

/// Maximum number of sessions that are checked for being open in another process.
const MAX_OPEN_CHECKS: usize = 50;

/// The folder of all sessions.
#[derive(Debug, Clone)]
pub struct Sessions {
    folder: PathBuf,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its ID, by which it is opened.
    pub id: SessionId,
    /// The title given by the user or the model, or the first words of the first message.
    pub title: Option<String>,
    /// Creation time in RFC 3339 format; empty if the header is damaged.
    pub time: String,
    /// Time of the last change.
    pub modified: SystemTime,
    /// The project; empty if the header is damaged.
    pub folder: PathBuf,
    /// Model of the last reply.
    pub model: String,
    pub dry_run: bool,
    /// True if its calls come from another program (`aye serve`).
    pub is_served: bool,
    /// The session that it was copied from.
    pub from: Option<SessionId>,
    /// Size of the file.
    pub bytes: u64,
    /// True if a question or an approval waits for the user.
    pub has_open_prompt: bool,
    /// What the model noted when it handed the session to the user, if it did.
    pub parked_note: Option<String>,
    /// Problem of the file as one sentence for the user, if any.
    pub problem: Option<String>,
}

/// The most recently changed session of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latest {
    /// The newest readable session.
    pub id: SessionId,
    /// Newer unreadable sessions that may belong to the project, with the reasons.
    pub unreadable: Vec<(SessionId, String)>,
}

impl Latest {
    /// Explains why it is uncertain which session is the newest. `None` if it is certain.
    pub fn explain_doubt(&self) -> Option<String> {
        let Self { id, unreadable } = self;
        let newer = if unreadable.len() == 1 { "It is newer than" } else { "They are newer than" };
        (!unreadable.is_empty()).then(|| {
            format!(
                "{}. {newer} {id}, the newest readable session of this folder. To continue that one: aye --resume {id}",
                explain_unreadable(unreadable)
            )
        })
    }
}

/// A session in a list of names.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedName {
    /// Its ID.
    pub id: SessionId,
    /// What is known of it; `None` if its file was not read.
    pub details: Option<Listed>,
}

/// Returns whether another process has this session open for writing.
fn is_open(path: &Path) -> bool {
    let locked = private_files::open_read(path).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(fs::TryLockError::WouldBlock)))
}

impl Sessions {
    /// Opens a folder of sessions, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns every session, last changed first. Unreadable files are included and marked.
    pub fn list_all(&self) -> Result<Vec<Listed>, Error> {
        Ok(self.session_files()?.into_iter().map(|file| read_listing(&file)).collect())
    }

    /// Returns at most `max` sessions whose IDs begin with `prefix`, last changed first. Details are read until they took
    /// `max_bytes`. A folder that cannot be read has no sessions.
    pub fn list_names(&self, prefix: &str, max: usize, max_bytes: u64) -> Vec<ListedName> {
        let files = self.session_files().unwrap_or_default().into_iter().filter(|file| file.id.0.starts_with(prefix));
        let mut read_bytes = 0;
        let read_name = |file: SessionFile| {
            let details = (read_bytes < max_bytes).then(|| read_listing(&file));
            read_bytes += details.as_ref().map_or(0, |listed| listed.bytes.min(HEAD_BYTES + TAIL_BYTES));
            ListedName { id: file.id, details }
        };
        files.take(max).map(read_name).collect()
    }

    /// Returns the number of sessions, readable or not.
    pub fn count(&self) -> usize {
        self.session_files().map_or(0, |files| files.len())
    }

    /// Returns which of the fifty last changed sessions another process has open. Changes nothing, and holds each
    /// lock only for the check.
    pub fn open_elsewhere(&self) -> Vec<SessionId> {
        let files = self.session_files().unwrap_or_default().into_iter().take(MAX_OPEN_CHECKS);
        files.filter(|file| is_open(&file.path)).map(|file| file.id).collect()
    }

    /// Returns the sessions of a project, last changed first, including unreadable ones that may belong to it.
    pub fn list_by_project(&self, project: &Path) -> Result<Vec<Listed>, Error> {
        let files = self.session_files()?.into_iter();
        let may_belong = |file: &SessionFile| !matches!(project_of(file, project), ProjectOf::Other);
        Ok(files.filter(may_belong).map(|file| read_listing(&file)).collect())
    }

    /// Returns the most recently changed session of this project, other than those with calls of another program.
    pub fn find_latest(&self, project: &Path) -> Result<Latest, Error> {
        let mut unreadable = Vec::new();
        for file in self.session_files()? {
            match project_of(&file, project) {
                ProjectOf::This { is_served: true } => {}
                ProjectOf::This { is_served: false } => return Ok(Latest { id: file.id, unreadable }),
                ProjectOf::Other => {}
                ProjectOf::Unknown(reason) => unreadable.push((file.id, reason)),
            }
        }
        Err(match unreadable.is_empty() {
            true => Error::NoSessions(project.to_owned()),
            false => Error::NoneReadable { folder: project.to_owned(), unreadable },
        })
    }

    /// Returns the session to continue.
    ///
    /// # Errors
    /// Fails if a newer session is unreadable: an older one is only continued if it is named.
    pub fn find_continued(&self, project: &Path) -> Result<SessionId, Error> {
        let latest = self.find_latest(project)?;
        latest.explain_doubt().map_or(Ok(latest.id), |doubt| Err(Error::Uncertain(doubt)))
    }

    /// Returns the named dry run, or the newest one of this project.
    pub fn find_dry_run(&self, project: &Path, requested: Option<&str>) -> Result<SessionId, Error> {
        if let Some(name) = requested {
            return self.find_id(name);
        }
        let newest = self.list_by_project(project)?.into_iter().find(|listed| listed.dry_run);
        newest.map(|listed| listed.id).ok_or_else(|| Error::NoDryRun(project.to_owned()))
    }

    /// Reads the live copies of a session in this project, except for unreadable ones.
    pub fn read_live_copies(&self, project: &Path, id: &SessionId) -> Vec<StoredSession> {
        let listed = self.list_by_project(project).unwrap_or_default().into_iter();
        let copies = listed.filter(|listed| listed.from.as_ref() == Some(id) && !listed.dry_run);
        copies.filter_map(|listed| self.read(&listed.id).ok()).collect()
    }

    /// Returns the session whose ID is `name`, or the only session whose ID starts with `name`, ignoring case.
    pub fn find_id(&self, name: &str) -> Result<SessionId, Error> {
        let prefix = name.trim().to_ascii_uppercase();
        let mut candidates: Vec<SessionId> = self.session_files()?.into_iter().map(|file| file.id).collect();
        candidates.retain(|id| !prefix.is_empty() && id.0.to_ascii_uppercase().starts_with(&prefix));
        if let Some(index) = candidates.iter().position(|id| id.0.eq_ignore_ascii_case(&prefix)) {
            return Ok(candidates.swap_remove(index));
        }
        match candidates.len() {
            0 => Err(Error::Missing(name.to_owned())),
            1 => Ok(candidates.swap_remove(0)),
            _ => Err(Error::Ambiguous { prefix: name.to_owned(), candidates }),
        }
    }

    /// Returns the files, last changed first. Inaccessible ones count as oldest.
    pub(super) fn session_files(&self) -> Result<Vec<SessionFile>, Error> {
        let paths = private_files::list_folder(&self.folder).map_err(Error::with_path(&self.folder))?;
        let to_session_file = |path: PathBuf| {
            let id = id_of(&path)?;
            let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
            Some(SessionFile { id, path, modified: modified.unwrap_or(SystemTime::UNIX_EPOCH) })
        };
        let mut files: Vec<SessionFile> = paths.into_iter().filter_map(to_session_file).collect();
        files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.id.cmp(&a.id)));
        Ok(files)
    }

    /// Sets the title of a session, as if the user did.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<(), Error> {
        let (mut log, _) = self.open(id)?;
        let titled = Entry::Titled { title: title.to_owned(), by: TitleSource::User, usage: None };
        log.append(&titled).map_err(Error::with_path(log.path()))
    }

    /// Opens a session to continue it.
    pub fn open(&self, id: &SessionId) -> Result<(session_log::SessionLog, StoredSession), Error> {
        session_log::SessionLog::open(&self.folder, id)
    }

    /// Reads a session, even if another process has it open.
    pub fn read(&self, id: &SessionId) -> Result<StoredSession, Error> {
        session_reader::read(&session_header::session_path(&self.folder, id))
    }

    /// Starts a session; its file is created with the first entry.
    pub fn begin_session(&self, header: &Header) -> session_log::SessionLog {
        session_log::SessionLog::new(&self.folder, header)
    }
}

fn id_of(path: &Path) -> Option<SessionId> {
    let is_session = path.extension() == Some(OsStr::new("jsonl"));
    let name = path.file_stem()?.to_str()?;
    (is_session && !name.starts_with('.')).then(|| SessionId(name.to_owned()))
}

/// A session file that was not read yet.
pub(super) struct SessionFile {
    pub(super) id: SessionId,
    pub(super) path: PathBuf,
    modified: SystemTime,
}

/// The project that a session belongs to.
enum ProjectOf {
    This {
        /// True if its calls come from another program.
        is_served: bool,
    },
    Other,
    /// Unreadable, for this reason.
    Unknown(String),
}

/// Determines the project of a session.
fn project_of(file: &SessionFile, project: &Path) -> ProjectOf {
    let read_head = || -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        open_regular(&file.path)?.take(MAX_HEADER_BYTES).read_to_end(&mut head)?;
        Ok(head)
    };
    let head = match read_head() {
        Ok(head) => head,
        // It was removed after listing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return ProjectOf::Other,
        Err(error) => return ProjectOf::Unknown(error.to_string()),
    };
    match session_reader::read_from(&head[..]) {
        Ok(StoredSession { header: Some(header), .. }) => match header.is_in_project(project) {
            true => ProjectOf::This { is_served: header.is_served },
            false => ProjectOf::Other,
        },
        Ok(session) => match folder_in(&head) {
            Some(folder) if folder != project.to_string_lossy() => ProjectOf::Other,
            Some(_) | None => ProjectOf::Unknown(missing_header_reason(&session)),
        },
        Err(error) => ProjectOf::Unknown(error.to_string()),
    }
}

/// Returns the folder named in a damaged header.
fn folder_in(head: &[u8]) -> Option<String> {
    const FIELD: &[u8] = b"\"folder\":";
    let line = head.split(|byte| *byte == b'\n').next()?;
    let position = line.windows(FIELD.len()).position(|window| window == FIELD)?;
    serde_json::Deserializer::from_slice(&line[position + FIELD.len()..]).into_iter().next()?.ok()
}

/// Returns whether a file belongs to this project. False if its header is unreadable.
pub(super) fn belongs_to(file: &SessionFile, project: &Path) -> bool {
    matches!(project_of(file, project), ProjectOf::This { .. })
}

/// Returns why a session has no header.
fn missing_header_reason(session: &StoredSession) -> String {
    let header_notice = session.notices.iter().find(|notice| notice.problem == Problem::NoHeader);
    header_notice.map_or("it is empty".to_owned(), ToString::to_string)
}

/// Opens a regular file. Permissions of others are removed if possible.
fn open_regular(path: &Path) -> io::Result<File> {
    let file = private_files::open_read(path)?;
    let _ = private_files::remove_others_access(&file);
    Ok(file)
}

/// Reads one file; errors are reported in the result.
pub(super) fn read_listing(file: &SessionFile) -> Listed {
    let mut listed = Listed {
        id: file.id.clone(),
        title: None,
        time: String::new(),
        modified: file.modified,
        folder: PathBuf::new(),
        model: String::new(),
        dry_run: false,
        is_served: false,
        from: None,
        bytes: 0,
        has_open_prompt: false,
        parked_note: None,
        problem: None,
    };
    if let Err(error) = fill_listing(&file.path, &mut listed) {
        listed.problem = Some(error.to_string());
    }
    listed
}

fn fill_listing(path: &Path, listed: &mut Listed) -> io::Result<()> {
    let mut file = open_regular(path)?;
    listed.bytes = file.metadata()?.len();
    let (head, tail) = if listed.bytes <= HEAD_BYTES + TAIL_BYTES {
        (session_reader::read_from((&file).take(listed.bytes))?, StoredSession::default())
    } else {
        let head = session_reader::read_from((&file).take(HEAD_BYTES))?;
        file.seek(SeekFrom::Start(listed.bytes - TAIL_BYTES))?;
        let mut tail = BufReader::new((&file).take(TAIL_BYTES));
        // The first line may be incomplete.
        tail.skip_until(b'\n')?;
        (head, session_reader::read_without_header(tail)?)
    };
    match head.header {
        Some(header) => {
            listed.time = header.time;
            listed.folder = header.folder;
            listed.model = header.model;
            listed.dry_run = header.dry_run;
            listed.is_served = header.is_served;
            listed.from = header.from;
        }
        None => listed.problem = Some(missing_header_reason(&head)),
    }
    let session = Session::replay(head.entries.into_iter().chain(tail.entries));
    listed.title = session.title().map(str::to_owned);
    if let Some(model) = session.model() {
        listed.model = model.to_owned();
    }
    listed.has_open_prompt = has_open_prompt(session.entries());
    listed.parked_note = session.parked_note().map(str::to_owned);
    Ok(())
}

/// Returns whether a prompt was open when the last entry was written.
fn has_open_prompt(entries: &[Entry]) -> bool {
    let mut open_calls: HashSet<&CallId> = HashSet::new();
    for entry in entries {
        match entry.unwrap_sub_agent() {
            Entry::Asked { call, .. } => drop(open_calls.insert(call)),
            Entry::Planned { call, verdict, .. } if verdict == "ask" => drop(open_calls.insert(call)),
            Entry::Decided { call, .. } | Entry::Answered { call, .. } | Entry::Settled { call, .. } => {
                open_calls.remove(call);
            }
            _ => {}
        }
    }
    !open_calls.is_empty()
}

#[cfg(test)]
mod tests;
