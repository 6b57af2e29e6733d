//! The sessions there are, newest first, each looked at no more than a list needs.

use super::read::{Matter, Read};
use super::{Error, Header, Log, lines, private, read};
use crate::chat::{CallId, Entry, Namer, Session, SessionId};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Cursor, Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Bytes in which a header ends.
const HEADER: u64 = 8 << 10;
/// Bytes looked at from the beginning of a file: the header and the first words.
const HEAD: u64 = 64 << 10;
/// Bytes looked at from its end: a later title, another model, a question that waits. A title given further from
/// both ends than this is not in the list; the session itself knows it.
const TAIL: u64 = 64 << 10;

/// Sessions that are looked at for whether they are open.
const LATEST: usize = 50;

/// The folder of sessions.
#[derive(Debug, Clone)]
pub struct Sessions {
    folder: PathBuf,
}

/// One session in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its name, by which it is opened.
    pub id: SessionId,
    /// The person's name for it, or the first words that were said.
    pub title: Option<String>,
    /// When it was made, as RFC 3339; empty where the header is damaged.
    pub time: String,
    /// When something was last added.
    pub modified: SystemTime,
    /// The project; empty where the header is damaged.
    pub folder: PathBuf,
    /// The model that answered last.
    pub model: String,
    /// Whether it is a dry run.
    pub dry_run: bool,
    /// The session that it began as a copy of.
    pub from: Option<SessionId>,
    /// How long the file is.
    pub bytes: u64,
    /// Whether a question or an approval waits for the person.
    pub waits: bool,
    /// What is wrong with the file, in one sentence. The person reads it.
    pub broken: Option<String>,
}

/// The session of a project that was last added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latest {
    /// The last one that can be read.
    pub id: SessionId,
    /// Sessions that were added to after it, cannot be read, and may be of the project; each with the reason.
    pub unreadable: Vec<(SessionId, String)>,
}

/// Lists unreadable sessions with the reasons.
pub fn explain_unreadable(unreadable: &[(SessionId, String)]) -> String {
    let each: Vec<String> =
        unreadable.iter().map(|(id, why)| format!("session {id} cannot be read: {why}")).collect();
    each.join("; ")
}

/// Whether another process has this session open for adding to it.
fn is_open(path: &Path) -> bool {
    let locked = private::open_read(path).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(fs::TryLockError::WouldBlock)))
}

impl Sessions {
    /// The sessions in this folder, which need not exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Every session, the one last added to first. A file that cannot be read is in the list as such.
    pub fn all(&self) -> Result<Vec<Listed>, Error> {
        Ok(self.files()?.into_iter().map(|file| look(&file)).collect())
    }

    /// How many there are, readable or not.
    pub fn count(&self) -> usize {
        self.files().map_or(0, |files| files.len())
    }

    /// Those of the fifty added to last that another process has open. Nothing is changed, and nobody is kept
    /// waiting for longer than one look.
    pub fn open_elsewhere(&self) -> Vec<SessionId> {
        let files = self.files().unwrap_or_default().into_iter().take(LATEST);
        files.filter(|file| is_open(&file.path)).map(|file| file.id).collect()
    }

    /// Lists the sessions of one project in the same order, and those that cannot be read and may be of it.
    pub fn of(&self, project: &Path) -> Result<Vec<Listed>, Error> {
        let files = self.files()?.into_iter();
        let may_be = |file: &Found| !matches!(project_of(file, project), ProjectOf::Other);
        Ok(files.filter(may_be).map(|file| look(&file)).collect())
    }

    /// Finds the session of this project that was last added to.
    pub fn latest(&self, project: &Path) -> Result<Latest, Error> {
        let mut unreadable = Vec::new();
        for file in self.files()? {
            match project_of(&file, project) {
                ProjectOf::This => return Ok(Latest { id: file.id, unreadable }),
                ProjectOf::Other => {}
                ProjectOf::Unknown(why) => unreadable.push((file.id, why)),
            }
        }
        Err(match unreadable.is_empty() {
            true => Error::None(project.to_owned()),
            false => Error::NoneReadable { folder: project.to_owned(), unreadable },
        })
    }

    /// The one session whose name is or begins with this, in either case of letters.
    pub fn find(&self, name: &str) -> Result<SessionId, Error> {
        let wanted = name.trim().to_ascii_uppercase();
        let mut fits: Vec<SessionId> = self.files()?.into_iter().map(|file| file.id).collect();
        fits.retain(|id| !wanted.is_empty() && id.0.to_ascii_uppercase().starts_with(&wanted));
        if let Some(exact) = fits.iter().position(|id| id.0.eq_ignore_ascii_case(&wanted)) {
            return Ok(fits.swap_remove(exact));
        }
        match fits.len() {
            0 => Err(Error::Missing(name.to_owned())),
            1 => Ok(fits.swap_remove(0)),
            _ => Err(Error::Ambiguous { prefix: name.to_owned(), candidates: fits }),
        }
    }

    /// The files, the one last added to first. What cannot even be looked at is the oldest.
    pub(super) fn files(&self) -> Result<Vec<Found>, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::at(&self.folder)(error)),
        };
        let found = |path: PathBuf| {
            let id = id_of(&path)?;
            let modified = fs::metadata(&path).and_then(|data| data.modified());
            Some(Found { id, path, modified: modified.unwrap_or(SystemTime::UNIX_EPOCH) })
        };
        let mut files: Vec<Found> = entries.filter_map(|entry| found(entry.ok()?.path())).collect();
        files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| b.id.cmp(&a.id)));
        Ok(files)
    }

    /// Gives a session a name, as its person does.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<(), Error> {
        let (mut lines, _) = self.open(id)?;
        let titled = Entry::Titled { title: title.to_owned(), by: Namer::Person, usage: None };
        lines.append(&titled).map_err(Error::at(lines.path()))
    }

    /// Opens a session to go on with it.
    pub fn open(&self, id: &SessionId) -> Result<(lines::Lines, Read), Error> {
        lines::Lines::open(&self.folder, id)
    }

    /// Reads a session, also while another process has it open.
    pub fn read(&self, id: &SessionId) -> Result<Read, Error> {
        read::read(&lines::path(&self.folder, id))
    }

    /// Begins a session; its file is made with the first entry.
    pub fn begin(&self, header: &Header) -> lines::Lines {
        lines::Lines::new(&self.folder, header)
    }
}

fn id_of(path: &Path) -> Option<SessionId> {
    let sessions = path.extension() == Some(OsStr::new("jsonl"));
    let name = path.file_stem()?.to_str()?;
    (sessions && !name.starts_with('.')).then(|| SessionId(name.to_owned()))
}

/// One file, not looked into yet.
pub(super) struct Found {
    pub(super) id: SessionId,
    pub(super) path: PathBuf,
    modified: SystemTime,
}

/// Whether a session belongs to a project.
enum ProjectOf {
    This,
    Other,
    /// It cannot be read, for this reason.
    Unknown(String),
}

/// Reads of which project a session is.
fn project_of(file: &Found, project: &Path) -> ProjectOf {
    let is_this = |is: bool| if is { ProjectOf::This } else { ProjectOf::Other };
    let open = || -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        plain_file(&file.path)?.take(HEADER).read_to_end(&mut head)?;
        Ok(head)
    };
    let head = match open() {
        Ok(head) => head,
        // It was removed since it was listed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return ProjectOf::Other,
        Err(error) => return ProjectOf::Unknown(error.to_string()),
    };
    match read::from(&mut Cursor::new(&head)) {
        Ok(Read { header: Some(header), .. }) => is_this(header.is_of(project)),
        Ok(read) => match folder_in(&head) {
            Some(folder) if folder != project.to_string_lossy() => ProjectOf::Other,
            Some(_) | None => ProjectOf::Unknown(headless(&read)),
        },
        Err(error) => ProjectOf::Unknown(error.to_string()),
    }
}

/// The folder that a damaged header still names.
fn folder_in(head: &[u8]) -> Option<String> {
    const FIELD: &[u8] = b"\"folder\":";
    let line = head.split(|byte| *byte == b'\n').next()?;
    let at = line.windows(FIELD.len()).position(|window| window == FIELD)?;
    serde_json::Deserializer::from_slice(&line[at + FIELD.len()..]).into_iter().next()?.ok()
}

/// Whether a file may be a session of this project, as far as can be read.
pub(super) fn is_of(file: &Found, project: &Path) -> bool {
    matches!(project_of(file, project), ProjectOf::This)
}

/// Why a session has no header.
fn headless(read: &Read) -> String {
    let headless = read.notices.iter().find(|notice| notice.matter == Matter::Headless);
    headless.map_or("it is empty".to_owned(), ToString::to_string)
}

/// Opens what is a file and nothing else. One that others can read, from a copy or an older program, is tightened where
/// that is allowed.
fn plain_file(path: &Path) -> io::Result<File> {
    let file = private::open_read(path)?;
    let _ = private::tighten(&file);
    Ok(file)
}

/// Looks at one file; what goes wrong is said in its row.
pub(super) fn look(file: &Found) -> Listed {
    let mut row = Listed {
        id: file.id.clone(),
        title: None,
        time: String::new(),
        modified: file.modified,
        folder: PathBuf::new(),
        model: String::new(),
        dry_run: false,
        from: None,
        bytes: 0,
        waits: false,
        broken: None,
    };
    if let Err(error) = fill(&file.path, &mut row) {
        row.broken = Some(error.to_string());
    }
    row
}

fn fill(path: &Path, row: &mut Listed) -> io::Result<()> {
    let mut file = plain_file(path)?;
    row.bytes = file.metadata()?.len();
    let (head, tail) = if row.bytes <= HEAD + TAIL {
        (part(&mut file, row.bytes, true)?, Read::default())
    } else {
        let head = part(&mut file, HEAD, true)?;
        file.seek(SeekFrom::Start(row.bytes - TAIL))?;
        (head, part(&mut file, TAIL, false)?)
    };
    match head.header {
        Some(header) => {
            row.time = header.time;
            row.folder = header.folder;
            row.model = header.model;
            row.dry_run = header.dry_run;
            row.from = header.from;
        }
        None => row.broken = Some(headless(&head)),
    }
    let session = Session::replay(head.entries.into_iter().chain(tail.entries));
    row.title = session.title().map(str::to_owned);
    if let Some(model) = session.model() {
        row.model = model.to_owned();
    }
    row.waits = waits(session.entries());
    Ok(())
}

/// Reads a part of a file, of which the first line counts only where the file begins.
fn part(file: &mut File, bytes: u64, beginning: bool) -> io::Result<Read> {
    let mut text = Vec::new();
    file.take(bytes).read_to_end(&mut text)?;
    if beginning {
        return read::from(&mut Cursor::new(text));
    }
    let first = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
    read::without_header(&mut Cursor::new(&text[first..]))
}

/// Whether a card was open when the last entry was written.
fn waits(entries: &[Entry]) -> bool {
    let mut open: HashSet<&CallId> = HashSet::new();
    for entry in entries {
        match entry.bare() {
            Entry::Asked { call, .. } => drop(open.insert(call)),
            Entry::Planned { call, verdict, .. } if verdict == "ask" => drop(open.insert(call)),
            Entry::Decided { call, .. } | Entry::Answered { call, .. } | Entry::Settled { call, .. } => {
                open.remove(call);
            }
            Entry::Said { .. }
            | Entry::Replied { .. }
            | Entry::Planned { .. }
            | Entry::Ended { .. }
            | Entry::Titled { .. }
            | Entry::TakenBack { .. }
            | Entry::Compacted { .. }
            | Entry::Consulted { .. }
            | Entry::FellBack { .. }
            | Entry::Beneath { .. }
            | Entry::Switched { .. }
            | Entry::Became { .. } => {}
        }
    }
    !open.is_empty()
}

#[cfg(test)]
mod tests;
