//! How far a command line reaches: only reads, and what; or why it has to be asked about.

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

/// What a command line does, as far as its words say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaches {
    /// The worst of its parts.
    pub reach: Reach,
    /// Why, in words that follow “because”; empty where it only reads.
    pub why: String,
    /// What it touches that whoever knows the folder has to look up. Where it only reads and writes these are all.
    pub touches: Vec<Touch>,
}

/// Something a command touches by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// As it is named: known, a pattern, or below the person's home.
    pub word: Word,
    /// Where relative names may begin, from the project's folder: more than one where a `cd` may have failed.
    pub folders: Vec<String>,
    /// What is done there.
    pub how: How,
}

/// What a command does with what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum How {
    /// Looks at names, sizes and times.
    Names,
    /// Reads the file.
    Contents,
    /// Reads the file, or every file below the folder; links in it are not followed.
    Below {
        /// Hidden files too.
        hidden: bool,
        /// Folders of these names are left out.
        without: Vec<String>,
        /// A link to a file is followed, and one to a folder may be.
        links: bool,
    },
    /// Nothing, but it must not be there, or hold any of these words where there are some: it would say what runs.
    Silent(&'static [&'static str]),
    /// Nothing: a pattern that must stand for no file, so that it stands as it is written.
    Unmatched,
    /// Asks git, which does what the repository's own settings say.
    Repository,
    /// Prints content that git keeps: of tracked files, staged ones too, and of commits.
    Tracked {
        /// Only below these paths from the project's folder; everything if there are none.
        below: Vec<String>,
        /// Commits that were put aside may be among it.
        stashed: bool,
    },
    /// Runs there.
    Works,
    /// Writes there, from the beginning.
    Write,
    /// Writes at its end.
    Append,
    /// Deletes it.
    Delete,
}

/// Tells how far a line reaches.
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

/// Reasons that are told before the rest is counted.
const WHYS: usize = 3;

/// Why something is asked about: everything that reaches as far as the worst of it.
#[derive(Debug, Default)]
pub struct Whys {
    reach: Option<Reach>,
    list: Vec<String>,
}

impl Whys {
    /// One more reason. What reaches less far than another one is not told beside it.
    pub fn add(&mut self, reach: Reach, why: String) {
        if self.reach.is_none_or(|worst| reach > worst) {
            (self.reach, self.list) = (Some(reach), Vec::new());
        }
        if self.reach == Some(reach) && !self.list.contains(&why) {
            self.list.push(why);
        }
    }

    /// How far the worst of it reaches, and all that does.
    pub fn worst(&self) -> Option<(Reach, String)> {
        Some((self.reach?, listed(&self.list, WHYS)))
    }
}

/// For every command of a line, where relative names may begin when it runs, from the project's folder.
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

/// What the redirections of one part touch, whatever its program is.
#[derive(Default)]
struct Redirections {
    touches: Vec<Touch>,
    whys: Vec<(Reach, String)>,
}

/// Judges the redirections of one part. They are the shell's: it opens the files before it starts any program.
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
                found.whys.push((Reach::Writes, format!("it writes to {}", said(word))));
            }
            // Which file is read or written over is not known before the shell opens it.
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

/// What the program of one part does; why it is asked about if it does more than read.
fn part(simple: &Simple, folders: &[String]) -> Result<Reaches, String> {
    let mut all = Reaches { reach: Reach::Reads, why: String::new(), touches: Vec::new() };
    if simple.background {
        return Err("it goes on in the background".to_owned());
    }
    for wrapper in &simple.wrappers {
        programs::wraps_only(wrapper)?;
    }
    for (name, value) in &simple.prefix {
        let Some(value) = value.known() else { return Err(unknown(value)) };
        if simple.words.is_empty() || !programs::is_harmless(name, value) {
            return Err(format!("it sets {name}"));
        }
    }
    if simple.words.is_empty() {
        return Ok(all);
    }
    let touched = programs::touched(simple)?;
    let deleted: Vec<String> =
        touched.iter().filter(|(_, how)| *how == How::Delete).map(|(word, _)| said(word)).collect();
    if !deleted.is_empty() {
        all.worsen(Reach::Runs, format!("it deletes {}", listed(&deleted, WHYS)));
    }
    for (word, how) in touched {
        all.touches.push(Touch { word, folders: folders.to_vec(), how });
    }
    Ok(all)
}

/// A word as it is told: bounded, and with nothing in it that does not show.
fn said(word: &Word) -> String {
    word.shown().chars().take(60).collect::<String>().escape_debug().to_string()
}

/// Says that a word is not known.
fn unknown(word: &Word) -> String {
    let shown = said(word);
    match word {
        Word::Unknown(text) if !text.is_ascii() && !text.contains(['$', '`', '{', '~']) => {
            format!("where “{shown}” ends depends on the language that is set; in quotes it would be known")
        }
        Word::Pattern(_) => format!("which files “{shown}” stands for is not known before it runs"),
        Word::Known(_) | Word::Home(_) | Word::Unknown(_) => {
            format!("what “{shown}” stands for is not known before it runs")
        }
    }
}

/// Where relative names begin, part by part: a `cd` holds for what follows it in the same shell.
struct Folders {
    /// The shells that are open, the outermost first.
    shells: Vec<(Vec<Shell>, Places)>,
}

/// What sets one shell apart from another.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Shell {
    Within(Within),
    Pipe(usize, usize),
}

/// Where a shell may be.
#[derive(Debug, Clone, Default)]
struct Places {
    /// Wherever it may be.
    all: Vec<String>,
    /// Where it is for certain, as long as `&&` follows `&&` behind a `cd`.
    sure: Option<Vec<String>>,
}

/// Places that are followed. More are not worth it.
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
    /// Where this part may be when it runs.
    fn at(&mut self, simple: &Simple) -> Vec<String> {
        let own = shells(simple);
        // `(a); (b)` are two shells, though they look the same.
        let fresh = simple.joint == Joint::First && !own.is_empty();
        while self
            .shells
            .last()
            .is_some_and(|(shell, _)| !own.starts_with(shell) || (fresh && shell.len() == own.len()))
        {
            self.shells.pop();
        }
        let Some((shell, places)) = self.shells.last_mut() else { return vec![String::new()] };
        // What stands first in a shell of its own does not tell how that follows what was before it.
        if !matches!(simple.joint, Joint::And | Joint::Pipe | Joint::PipeBoth) {
            places.sure = None;
        }
        let now = places.now().to_vec();
        if shell.len() < own.len() {
            self.shells.push((own, Places { all: now.clone(), sure: None }));
        }
        now
    }

    /// Takes up what a `cd` changed. Whoever stands behind it may be there or still be here.
    fn after(&mut self, simple: &Simple) {
        let Some((_, places)) = self.shells.last_mut() else { return };
        let there: Vec<String> = match programs::goes_to(simple) {
            Some(to) => places.now().iter().map(|from| below(from, to)).collect(),
            // That may be anywhere.
            None if matches!(simple.program(), Some("cd" | "pushd" | "popd")) => vec!["..".to_owned()],
            None => return,
        };
        for place in &there {
            // Beyond what is followed it may be anywhere, which asks.
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

/// A name as it is seen from `folder`.
pub fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() || name.starts_with('/') || name == "~" || name.starts_with("~/") {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}
