//! Effects of a command line: either it only reads certain paths, or a reason why it needs approval.

mod danger;
mod git;
mod operands;
mod place;
mod programs;
mod refused;
pub mod scripts;
mod search;
mod text;
mod versions;

pub(super) use danger::stays_local;
pub(super) use refused::is_own;

use super::shell::{Joint, Reading, Redirect, Simple, Unclear, Within, Word};
use crate::chat::Reach;
use crate::chat::shorten::listed;

/// Effects of a command line, as far as its words show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaches {
    /// Widest reach of its parts.
    pub reach: Reach,
    /// Reason for asking; empty if the line only reads.
    pub why: String,
    /// Paths that have to be checked against the file system. Complete if the line only reads and writes.
    pub touches: Vec<Touch>,
}

/// A path that a command touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The word: a known path, a pattern, or a path below the user's home.
    pub word: Word,
    /// Possible working directories, relative to the project. More than one if a `cd` may have failed.
    pub folders: Vec<String>,
    pub how: How,
}

/// Kind of access to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// Reads names, sizes and times.
    Names,
    /// Reads the file.
    Contents,
    /// Reads the file, or every file below the folder. Links inside it are not followed.
    Below {
        /// True if hidden files are included.
        hidden: bool,
        /// Names of folders that are skipped.
        without: Vec<String>,
        /// True if a link to a file is followed, and one to a folder may be.
        links: bool,
    },
    /// No access, but the file must not exist, or must not contain any of these words if there are some: it would
    /// decide what runs.
    Silent(&'static [&'static str]),
    /// No access: a pattern that must match no file, so that the shell leaves it unchanged.
    Unmatched,
    /// Runs git, which follows the settings of the repository.
    Repository,
    /// Prints content from the repository: tracked and staged files, and commits.
    Tracked {
        /// Limits the content to these paths, relative to the project; no limit if empty.
        below: Vec<String>,
        /// True if the content may include stashed commits.
        stashed: bool,
    },
    /// Runs in this folder.
    Works,
    /// Overwrites the file.
    Write,
    /// Appends to the file.
    Append,
    /// Deletes the file.
    Delete,
}

/// Analyzes the effects of a command line.
pub fn reaches(reading: &Reading) -> Reaches {
    if let Some(why) = refused::refused(reading) {
        return Reaches { reach: Reach::Never, why, touches: Vec::new() };
    }
    if let Some(Unclear(why)) = &reading.unclear {
        return Reaches { reach: Reach::Unclear, why: why.clone(), touches: Vec::new() };
    }
    let mut all = Reaches { reach: Reach::Reads, why: String::new(), touches: Vec::new() };
    let mut folders = Folders::default();
    let mut whys = Whys::default();
    for simple in &reading.commands {
        let at = folders.at(simple);
        let redirected = redirections(simple, &at);
        all.touches.extend(redirected.touches);
        redirected.whys.into_iter().for_each(|(reach, why)| whys.add(reach, why));
        match part(simple, &at) {
            Ok(part) => {
                all.touches.extend(part.touches);
                whys.add(part.reach, part.why);
            }
            Err(why) => {
                whys.add(danger::of(simple), why);
                all.touches.extend(danger::touched(simple, &at));
            }
        }
        folders.after(simple);
    }
    if let Some((reach, why)) = whys.worst() {
        all.worsen(reach, why);
    }
    all
}

/// Most reasons that are listed; the others are counted.
const WHYS: usize = 3;

/// Reasons for asking; only those with the widest reach are kept.
#[derive(Debug, Default)]
pub struct Whys {
    reach: Option<Reach>,
    list: Vec<String>,
}

impl Whys {
    /// Adds a reason. Reasons with a narrower reach than another one are dropped.
    pub fn add(&mut self, reach: Reach, why: String) {
        if self.reach.is_none_or(|worst| reach > worst) {
            (self.reach, self.list) = (Some(reach), Vec::new());
        }
        if self.reach == Some(reach) && !self.list.contains(&why) {
            self.list.push(why);
        }
    }

    /// Returns the widest reach and its reasons.
    pub fn worst(&self) -> Option<(Reach, String)> {
        Some((self.reach?, listed(&self.list, WHYS)))
    }
}

/// Returns the possible working directories of each command of a line, relative to the project.
pub fn places(reading: &Reading) -> Vec<Vec<String>> {
    let mut folders = Folders::default();
    let place = |simple: &Simple| {
        let at = folders.at(simple);
        folders.after(simple);
        at
    };
    reading.commands.iter().map(place).collect()
}

impl Reaches {
    fn worsen(&mut self, reach: Reach, why: String) {
        if reach > self.reach {
            (self.reach, self.why) = (reach, why);
        }
    }
}

/// Paths touched by the redirections of one command.
#[derive(Default)]
struct Redirections {
    touches: Vec<Touch>,
    whys: Vec<(Reach, String)>,
}

/// Judges the redirections of one command. The shell opens these files before it starts any program.
fn redirections(simple: &Simple, folders: &[String]) -> Redirections {
    let mut found = Redirections::default();
    for redirect in &simple.redirects {
        let (word, how) = match redirect {
            Redirect::Onto | Redirect::Text(Word::Known(_)) => continue,
            Redirect::Text(word) => {
                found.whys.push((danger::of(simple), unknown(word)));
                continue;
            }
            Redirect::Read(word) => (word, How::Contents),
            Redirect::Write(word) => (word, How::Write),
            Redirect::Append(word) => (word, How::Append),
        };
        if word.known().is_some_and(|name| matches!(name, "/dev/null" | "/dev/stdout" | "/dev/stderr")) {
            continue;
        }
        let reads = how == How::Contents;
        match word {
            Word::Known(_) | Word::Home(_) if reads => {}
            Word::Known(_) | Word::Home(_) => {
                found.whys.push((Reach::Writes, format!("write to {}", said(word))));
            }
            // The file to read or overwrite is only known once the shell opens it.
            Word::Pattern(_) | Word::Unknown(_) => {
                let reach = if reads { Reach::Unclear } else { Reach::Outside };
                found.whys.push((reach, unknown(word)));
                continue;
            }
        }
        found.touches.push(Touch { word: word.clone(), folders: folders.to_vec(), how });
    }
    found
}

/// Returns the effects of the program of one command, or the reason for asking if it does more than read.
fn part(simple: &Simple, folders: &[String]) -> Result<Reaches, String> {
    let mut all = Reaches { reach: Reach::Reads, why: String::new(), touches: Vec::new() };
    if simple.background {
        return Err("background process".to_owned());
    }
    for wrapper in &simple.wrappers {
        programs::wraps_only(wrapper)?;
    }
    for (name, value) in &simple.prefix {
        let Some(value) = value.known() else { return Err(unknown(value)) };
        if simple.words.is_empty() || !programs::is_harmless(name, value) {
            return Err(format!("assignment to {name}"));
        }
    }
    if simple.words.is_empty() {
        return Ok(all);
    }
    let touched = programs::touched(simple)?;
    let deleted: Vec<String> =
        touched.iter().filter(|(_, how)| *how == How::Delete).map(|(word, _)| said(word)).collect();
    if !deleted.is_empty() {
        all.worsen(Reach::Runs, format!("deletion of {}", listed(&deleted, WHYS)));
    }
    for (word, how) in touched {
        all.touches.push(Touch { word, folders: folders.to_vec(), how });
    }
    Ok(all)
}

/// Returns a word for display: shortened and without invisible characters.
fn said(word: &Word) -> String {
    word.shown().chars().take(60).collect::<String>().escape_debug().to_string()
}

/// Describes a word whose value is not known.
fn unknown(word: &Word) -> String {
    let shown = said(word);
    match word {
        Word::Unknown(text) if !text.is_ascii() && !text.contains(['$', '`', '{', '~']) => {
            format!("end of “{shown}” depends on the locale; quote it")
        }
        Word::Pattern(_) => format!("files matching “{shown}” unknown before it runs"),
        Word::Known(_) | Word::Home(_) | Word::Unknown(_) => {
            format!("value of “{shown}” unknown before it runs")
        }
    }
}

/// Tracks the working directory of each command: a `cd` affects later commands of the same shell.
struct Folders {
    /// Open shells, outermost first.
    shells: Vec<(Vec<Shell>, Places)>,
}

/// Identifies a subshell.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shell {
    Within(Within),
    Pipe(usize, usize),
}

/// Possible working directories of a shell.
#[derive(Debug, Clone, Default)]
struct Places {
    /// All possible directories.
    all: Vec<String>,
    /// The certain ones, while a `cd` is followed by `&&` only.
    sure: Option<Vec<String>>,
}

/// Most directories that are tracked.
const PLACES: usize = 8;

impl Places {
    fn now(&self) -> &[String] {
        self.sure.as_ref().unwrap_or(&self.all)
    }
}

impl Default for Folders {
    fn default() -> Self {
        Self { shells: vec![(Vec::new(), Places { all: vec![String::new()], sure: None })] }
    }
}

impl Folders {
    /// Returns the possible working directories of a command.
    fn at(&mut self, simple: &Simple) -> Vec<String> {
        let own = shells(simple);
        // `(a); (b)` are two shells with the same nesting.
        let fresh = simple.joint == Joint::First && !own.is_empty();
        while self
            .shells
            .last()
            .is_some_and(|(shell, _)| !own.starts_with(shell) || (fresh && shell.len() == own.len()))
        {
            self.shells.pop();
        }
        let Some((shell, places)) = self.shells.last_mut() else { return vec![String::new()] };
        // The first command of a subshell has no connector to what came before it.
        if !matches!(simple.joint, Joint::And | Joint::Pipe | Joint::PipeBoth) {
            places.sure = None;
        }
        let now = places.now().to_vec();
        if shell.len() < own.len() {
            self.shells.push((own, Places { all: now.clone(), sure: None }));
        }
        now
    }

    /// Applies a `cd`. Later commands may run in the new directory or, if it failed, in the old one.
    fn after(&mut self, simple: &Simple) {
        let Some((_, places)) = self.shells.last_mut() else { return };
        let there: Vec<String> = match programs::goes_to(simple) {
            Some(to) => places.now().iter().map(|from| below(from, to)).collect(),
            // Unknown target: treated as outside the project.
            None if matches!(simple.program(), Some("cd" | "pushd" | "popd")) => vec!["..".to_owned()],
            None => return,
        };
        for place in &there {
            // Too many to track: treated as outside the project, which asks.
            let followed = places.all.contains(place) || places.all.len() < PLACES;
            let place = if followed { place.as_str() } else { ".." };
            if !places.all.iter().any(|known| known == place) {
                places.all.push(place.to_owned());
            }
        }
        places.sure = Some(there);
    }
}

fn shells(simple: &Simple) -> Vec<Shell> {
    let within = simple.within.iter().filter(|within| **within != Within::Group).cloned().map(Shell::Within);
    within.chain(simple.pipes.iter().map(|(number, stage)| Shell::Pipe(*number, *stage))).collect()
}

/// Joins a path to a folder; absolute and home paths stay as they are.
pub fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with('/') || name == "~" || name.starts_with("~/") {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}
