//! Applies the rehearsed change of one path to the real files. Never offered to the model; the user starts it.

use super::arguments::checked;
use super::{Error, Hands, Tool, blocking, brief};
use crate::chat::altered::{APPLY, Altered, Did};
use crate::chat::batch::Operation;
use crate::chat::{
    Access, Basis, Diff, Digest, HardLinks, Held, Intent, Plan, Preview, Seen, ToolSpec, Work,
};
use crate::project::rehearsal::{Change, Node, Rehearsal};
use crate::project::{Located, Reader, altered, batch};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest file name in a title, in characters.
const LONGEST: usize = 40;

/// Applies the rehearsed change of one path.
pub struct ApplyChange {
    rehearsal: Arc<Rehearsal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    line: Option<usize>,
}

/// Identifies the approved changes when they are applied.
#[derive(Serialize, Deserialize)]
struct Shown {
    /// Path as bytes, because it need not be UTF-8.
    path: Vec<u8>,
    line: Option<usize>,
    /// Digest of all changes, from `digest_changes`.
    all: Digest,
}

impl ApplyChange {
    pub fn new(rehearsal: Arc<Rehearsal>) -> Self {
        Self { rehearsal }
    }
}

#[async_trait]
impl Tool for ApplyChange {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: APPLY.to_owned(),
            description: "Apply the rehearsed change of one path.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "Relative to the project" },
                    "line": { "type": "integer", "minimum": 1, "description": "First line of the hunk to apply, in the rehearsed file; omit to apply all" },
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
        }
    }

    fn is_offered(&self) -> bool {
        false
    }

    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, line } = checked(&self.spec(), arguments)?;
        let side = Side::of(&self.rehearsal, Path::new(&path));
        let path = side.named(&path)?;
        let changes = side.wanted(&path, line)?;
        let Some((change, below)) = changes.split_first() else {
            return Err(Error::Failed(format!(
                "{} already matches the rehearsal; there is nothing to do.",
                path.display()
            )));
        };
        let at = side.place(&changes)?;
        let told = altered::told(&self.rehearsal, change);
        let shown = Shown { path: path.as_os_str().as_bytes().to_vec(), line, all: mark(&changes) };
        let shown = serde_json::to_value(shown).map_err(|error| Error::Broken(error.to_string()))?;
        Ok(Intent::Act(Box::new(Plan {
            title: title(&told),
            summary: brief::line(&path.to_string_lossy(), 120),
            access: access(&at),
            preview: preview(change, &told, below),
            always: None,
            destroys: destroys(change, below, &at),
            basis: Basis { hard_links: hard_links(&changes, &at, files), ..basis(&changes) },
            work: Work::Arguments(shown),
        })))
    }

    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        let Shown { path, line, all } = super::work(plan)?;
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(&path));
        let rehearsal = self.rehearsal.clone();
        let access = plan.access.clone();
        blocking(hands.project.clone(), move |_| {
            let side = Side::of(&rehearsal, &path);
            let changes = side.wanted(&path, line)?;
            if mark(&changes) != all || self::access(&side.place(&changes)?) != access {
                return Err(crate::project::Error::Changed(path).into());
            }
            let count = changes.len();
            // The entries of a deleted folder are deleted before the folder.
            for change in changes.into_iter().rev() {
                side.apply(change)?;
            }
            Ok(match count {
                0 | 1 => format!("{}: applied", path.display()),
                count => format!("{}: applied, {count} paths", path.display()),
            })
        })
        .await
    }
}

/// The overlay that holds a change: the project's, or the one for paths outside the project.
struct Side<'a> {
    rehearsal: &'a Rehearsal,
    /// Overlay over `/`, set for an absolute path.
    outside: Option<&'a Rehearsal>,
}

impl<'a> Side<'a> {
    fn of(rehearsal: &'a Rehearsal, path: &Path) -> Self {
        Self { rehearsal, outside: rehearsal.outside().filter(|_| path.is_absolute()) }
    }

    /// Finds the changed path by its displayed name.
    fn named(&self, path: &str) -> Result<PathBuf, Error> {
        if self.outside.is_some() {
            return Ok(path.into());
        }
        named(self.rehearsal, path)
    }

    /// Like the free function, but outside the project only a single file that a file tool wrote can be applied, by its
    /// absolute path.
    fn wanted(&self, path: &Path, line: Option<usize>) -> Result<Vec<Change>, Error> {
        if self.outside.is_none() {
            return wanted(self.rehearsal, path, line);
        }
        let all = self.rehearsal.outside_changes()?;
        let shown = path.display();
        match all.changes.into_iter().find(|one| one.change.path == path) {
            None => Ok(Vec::new()),
            Some(one) if one.is_conflict => Err(conflict(path)),
            Some(one) if one.is_by_tool && line.is_none() => Ok(vec![one.change]),
            Some(_) => Err(Error::Failed(format!(
                "{shown} was changed by a command outside the project. It is not applied; run the command live."
            ))),
        }
    }

    /// Locates the target of the first change.
    fn place(&self, changes: &[Change]) -> Result<Located, Error> {
        match (self.outside, changes.first()) {
            (Some(outside), Some(change)) => {
                let at = outside.place(&change.path)?;
                Ok(Located { shown: at.real.clone(), inside: false, ..at })
            }
            (_, _) => place(self.rehearsal, changes),
        }
    }

    fn apply(&self, change: Change) -> Result<(), Error> {
        let Some(outside) = self.outside else { return Ok(self.rehearsal.apply(&change)?) };
        let path = change.path.strip_prefix("/").unwrap_or(&change.path).to_owned();
        Ok(outside.apply(&Change { path, ..change })?)
    }
}

/// Finds the changed path whose displayed name is `path`.
fn named(rehearsal: &Rehearsal, path: &str) -> Result<PathBuf, Error> {
    let touched = rehearsal.touched()?;
    if touched.iter().any(|own| own == Path::new(path)) {
        return Ok(path.into());
    }
    let mut found = touched.into_iter().filter(|own| own.to_string_lossy() == path);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Error::Failed(format!(
            "{path} is ambiguous: several names that are not Unicode are displayed like this. Rename them by hand."
        ))),
        (None, _) => Err(Error::Failed(format!("Nothing was rehearsed at {path}."))),
    }
}

/// Returns the changes to apply: one change, limited to one hunk if `line` is set; or a deleted folder and everything
/// in it. Empty if the change is already applied.
fn wanted(rehearsal: &Rehearsal, path: &Path, line: Option<usize>) -> Result<Vec<Change>, Error> {
    let Some(mut change) = rehearsal.change(path)? else { return Ok(Vec::new()) };
    if rehearsal.is_conflict(path) {
        return Err(conflict(path));
    }
    if let Some(line) = line {
        change.after = one_place(&change, line)?;
        return Ok(vec![change]);
    }
    let takes_along =
        matches!(change.before, Node::Folder { .. }) && !matches!(change.after, Node::Folder { .. });
    let mut changes = vec![change];
    if takes_along {
        for below in rehearsal.touched()?.iter().filter(|below| below.starts_with(path) && *below != path) {
            let Some(change) = rehearsal.change(below)? else { continue };
            if rehearsal.is_conflict(below) {
                return Err(conflict(below));
            }
            changes.push(change);
        }
    }
    Ok(changes)
}

fn conflict(path: &Path) -> Error {
    Error::Failed(format!(
        "CONFLICT: {} changed since it was rehearsed. Nothing was applied. Compare both versions with aye rehearsal diff.",
        path.display()
    ))
}

/// Returns the file with only the hunk at `line` applied.
fn one_place(change: &Change, line: usize) -> Result<Node, Error> {
    let gone = || Error::Failed(format!("No hunk starts at line {line} of {}.", change.path.display()));
    let edit = altered::edit(change).ok_or_else(gone)?;
    let only = edit.only(line).ok_or_else(gone)?;
    match &change.before {
        Node::File { mode, .. } => Ok(Node::File { bytes: only.after.into_bytes(), mode: *mode }),
        Node::Nothing | Node::Folder { .. } | Node::Link(_) | Node::Other(_) => Err(gone()),
    }
}

/// Returns the title of the prompt. It names the file only if the name is plain; any other name could be mistaken for
/// text of the prompt.
fn title(told: &Altered) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '/');
    let name = told
        .path
        .file_name()
        .and_then(|name| name.to_str())
        .filter(|name| name.chars().all(plain) && name.chars().count() <= LONGEST);
    let (does, what) = match (told.did, told.folder) {
        (Did::Made, false) => ("create", "a file"),
        (Did::Made, true) => ("create", "a folder"),
        (Did::Changed, true) => ("change", "a folder"),
        (Did::Changed, false) => ("change", "a file"),
        (Did::Deleted, false) => ("delete", "a file"),
        (Did::Deleted, true) => ("delete", "a folder"),
    };
    let slash = if told.folder && name.is_some() { "/" } else { "" };
    format!("apply: {does} {}{slash}?", name.unwrap_or(what))
}

/// Locates the target of the first change. It counts as sensitive, outside or aye's own if any other change is.
fn place(rehearsal: &Rehearsal, changes: &[Change]) -> Result<Located, Error> {
    let mut all = changes.iter().map(|change| rehearsal.place(&change.path));
    let mut at = all.next().unwrap_or_else(|| rehearsal.place(Path::new("")))?;
    for along in all {
        let along = along?;
        at.sensitive |= along.sensitive;
        at.inside &= along.inside;
        at.own = at.own.or(along.own);
    }
    Ok(at)
}

fn access(at: &Located) -> Access {
    super::place::writing(at)
}

/// Returns the file with several hard links that the change replaces. A deleted name leaves the other names as they
/// are.
fn hard_links(changes: &[Change], at: &Located, files: &dyn Reader) -> Option<HardLinks> {
    let replaces = changes.first().is_some_and(|change| {
        matches!((&change.before, &change.after), (Node::File { .. }, Node::File { .. }))
    });
    super::place::hard_links(files, at).filter(|_| replaces)
}

fn preview(change: &Change, told: &Altered, below: &[Change]) -> Preview {
    match altered::edit(change).map(|edit| edit.diff()) {
        Some(diff) => {
            let notes: Vec<String> = diff.note.iter().cloned().chain(notes(told)).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            Preview::Edit(Diff { note, ..diff })
        }
        None => {
            let notes: Vec<String> = notes(told).collect();
            let mut text = format!("{}\n{}", change.path.display(), notes.join("\n"));
            if !below.is_empty() {
                text.push_str("\nincludes:");
                below.iter().for_each(|below| text.push_str(&format!("\n  {}", below.path.display())));
            }
            Preview::Text(text)
        }
    }
}

/// Returns the changes that a diff does not show, in words valid before and after applying.
fn notes(told: &Altered) -> impl Iterator<Item = String> {
    let deletes = if told.folder { "deletes the folder" } else { "deletes the file" };
    told.notes.iter().map(|note| if note == "deleted" { deletes.to_owned() } else { note.clone() })
}

fn destroys(change: &Change, below: &[Change], at: &Located) -> Option<String> {
    let shown = change.path.display();
    let with = match below.len() {
        0 => String::new(),
        1 => " and its contents".to_owned(),
        count => format!(" and the {count} files and folders in it"),
    };
    match (&change.before, &change.after) {
        (Node::Nothing, _) => None,
        (_, Node::Nothing) => Some(format!("deletes {shown}{with}")),
        (Node::File { .. }, Node::File { .. }) | (Node::Folder { .. }, Node::Folder { .. }) => None,
        (_, _) => Some(format!("replaces {shown}{with} with another type of file")),
    }
    .or_else(|| (!at.inside).then(|| format!("changes {shown}, outside the project")))
}

/// Returns the preconditions: the files that are compared again before the change is applied.
fn basis(changes: &[Change]) -> Basis {
    let bytes = |node: &Node| match node {
        Node::File { bytes, .. } => Some(bytes.clone()),
        Node::Nothing | Node::Folder { .. } | Node::Link(_) | Node::Other(_) => None,
    };
    // A deleted path is compared when it is deleted. It is listed here only if its name can be looked up.
    let plain = |path: &Path| path.to_str().is_some_and(|path| !path.contains(char::is_control));
    let file = |change: &&Change| match (&change.before, &change.after) {
        (Node::Folder { .. } | Node::Link(_) | Node::Other(_), _) => false,
        (Node::Nothing | Node::File { .. }, Node::File { .. }) => true,
        (Node::Nothing | Node::File { .. }, _) => plain(&change.path),
    };
    let seen = |change: &Change| Seen {
        path: change.path.clone(),
        held: Held::of(bytes(&change.before).as_deref()),
        becomes: bytes(&change.after).map(|bytes| Digest::of(&bytes)),
        grows: false,
    };
    let files = changes.iter().filter(file).map(seen).collect();
    Basis { files, ..Basis::default() }
}

/// Returns the digest of all changes.
fn mark(changes: &[Change]) -> Digest {
    let operations: Vec<Operation> = changes.iter().map(batch::operation).collect();
    batch::digest(&operations)
}

#[cfg(test)]
mod tests;
