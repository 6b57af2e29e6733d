//! Tool that returns the text of a skill, or of another file in its folder. It is offered only if there are skills.

use super::arguments::{object_spec, parse_arguments};
use super::result_files::ResultFiles;
use super::{
    Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read, run_blocking,
    summary_line,
};
use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::skill::{LOAD_SKILL, MAIN_FILE, Skill, SkillText, format_list};
use crate::chat::{Access, CallWords, Digest, Intent, Plan, Preview, ToolSpec, Work, join_first};
use crate::project::disk::Disk;
use crate::project::{FileKind, Location, OwnFile, Reader, Writer};
use crate::text::byte_size::format_bytes;
use crate::text::escaped_path::escape_path;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(LOAD_SKILL, "Load skill");

/// Maximum size of a file in bytes. The main file of a skill has the same limit.
const MAX_FILE_BYTES: u64 = 256 << 10;
/// Maximum number of other files that are listed.
const MAX_LISTED: usize = 60;
/// Maximum number of names that are read to list files.
const MAX_READ_NAMES: usize = 2_000;
/// Maximum depth of folders whose files are listed.
const MAX_DEPTH: usize = 4;

/// Loads these skills.
pub struct LoadSkill(pub Vec<Skill>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

/// Text that was read, and a line about it.
struct LoadedText {
    heading: String,
    text: String,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        LOAD_SKILL,
        "Return the instructions of a listed skill, or another file of its folder.",
        json!({
            "name": { "type": "string", "description": "Skill" },
            "file": { "type": "string", "description": "In its folder, default its instructions" },
        }),
        &["name"],
    )
}

impl LoadSkill {
    fn find(&self, name: &str) -> Result<&Skill, Error> {
        self.0.iter().find(|skill| skill.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.0.iter().map(|skill| skill.name.as_str()).collect();
            let name = summary_line::first_line(name, 64);
            Error::Arguments(format!("There is no skill “{name}”. Skills: {}.", join_first(&names, 100)))
        })
    }

    /// Does what was planned. The files of a skill are read from the disk also in a dry run.
    async fn execute(&self, plan: &Plan, files: Arc<dyn Writer>, results: &ResultFiles) -> Result<String, Error> {
        let Arguments { name, file } = parse_plan_data(plan)?;
        let skill = self.find(&name)?.clone();
        let loaded = run_blocking(files, move |files| load(&skill, file.as_deref(), files)).await?;
        Ok(results.shorten(&name, loaded.heading, loaded.text).await)
    }
}

#[async_trait]
impl Tool for LoadSkill {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        ToolSpec { prompt_section: format_list(&self.0), ..tool_spec() }
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let arguments: Arguments = parse_arguments(&tool_spec(), arguments)?;
        let skill = self.find(&arguments.name)?;
        let file = arguments.file.as_deref().filter(|file| *file != MAIN_FILE);
        let path = check_relative(file.unwrap_or(MAIN_FILE))?;
        // A file of the user is outside the project, and no rule about paths of the project is for it.
        let paths = skill.trusted.iter().map(|_| Path::new(&skill.shown_folder).join(&path)).collect();
        let summary = match file {
            None => skill.name.clone(),
            Some(file) => format!("{} · {}", skill.name, summary_line::first_line(file, 100)),
        };
        let shown = escape_path(&Path::new(&skill.shown_folder).join(&path));
        let arguments = Arguments { name: skill.name.clone(), file: file.map(str::to_owned) };
        Ok(Intent::Act(Box::new(Plan::new(
            "Load a skill?",
            summary,
            Access::Read(paths),
            Preview::Text(shown),
            Work::Arguments(json!(arguments)),
        ))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.execute(plan, context.project.clone(), &context.results).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_read(LOAD_SKILL, plan, context, self.execute(plan, context.project.clone(), &context.results)).await
    }
}

/// Checks that a path has only names, and returns it.
fn check_relative(file: &str) -> Result<PathBuf, Error> {
    let parts = Path::new(file).components().filter(|part| *part != Component::CurDir);
    let is_relative = parts.clone().all(|part| matches!(part, Component::Normal(_)));
    let path: PathBuf = parts.collect();
    match is_relative && !file.trim().is_empty() && !file.contains('\0') && path != Path::new("") {
        true => Ok(path),
        false => Err(Error::Arguments(
            "The file must be relative to the folder of the skill, without “..”: references/forms.md.".to_owned(),
        )),
    }
}

/// Reads a skill, or another file of its folder. For a skill of a project, both fail unless its main file is the trusted version.
fn load(skill: &Skill, file: Option<&str>, files: &dyn Reader) -> Result<LoadedText, Error> {
    let moved = || Error::Failed(format!("The folder of the skill {} was moved or removed.", skill.name));
    let disk = Disk::new(&skill.folder).map_err(|_| moved())?;
    if disk.root() != skill.folder {
        return Err(moved());
    }
    // The user's own main file may be a link to elsewhere. That of a project has the trusted content, wherever it is.
    let main_file = disk.locate(&format!("./{MAIN_FILE}"))?;
    let content = read_text(&disk, &main_file, MAIN_FILE)?;
    if skill.trusted.as_ref().is_some_and(|trusted| *trusted != Digest::of_bytes(content.as_bytes())) {
        return Err(Error::Failed(format!(
            "The skill {} was not loaded: {}/{MAIN_FILE} changed since the user trusted it. The user can review it with /trust.",
            skill.name, skill.shown_folder
        )));
    }
    let Some(file) = file else {
        let text = SkillText::parse(&format!("{}/{MAIN_FILE}", skill.name), &content);
        let text =
            text.map_err(|reason| Error::Failed(format!("The skill {} cannot be used: {reason}.", skill.name)))?;
        return Ok(LoadedText { heading: describe_folder(skill), text: text.body });
    };
    let path = check_relative(file)?;
    let shown = escape_path(&path);
    let location = disk.locate(&format!("./{}", path.display()))?;
    if !location.is_inside {
        return Err(Error::Failed(format!("{shown} leads out of the folder of the skill {}.", skill.name)));
    }
    // Only the path in the skill's folder counts: all of the settings folder, where the user's skills are, would be sensitive.
    let is_secret = [&path, &location.display_path].into_iter().any(|path| is_sensitive(path))
        || files.locate(&location.real.to_string_lossy())?.own_file == Some(OwnFile::Credentials);
    if is_secret {
        return Err(Error::Failed(format!("{shown} may hold secrets, so this tool does not read it.")));
    }
    // One of its other names may be that of a secret.
    if disk.link_count(&location) > 1 {
        return Err(Error::Failed(format!("{shown} has other names (hard links), so this tool does not read it.")));
    }
    if !disk.exists(&location) {
        let files = list_files(&skill.folder);
        let files = if files.is_empty() { "It has no other files.".to_owned() } else { describe_files(&files) };
        return Err(Error::Failed(format!("The skill {} has no file {shown}. {files}", skill.name)));
    }
    let text = read_text(&disk, &location, &shown)?;
    Ok(LoadedText { heading: format!("{}/{shown}", skill.shown_folder), text })
}

/// Reads a text file within the limit. Never blocks on a pipe.
fn read_text(disk: &Disk, location: &Location, shown: &str) -> Result<String, Error> {
    match disk.file_kind(location) {
        Some(FileKind::File(size)) if size > MAX_FILE_BYTES => {
            let (size, limit) = (format_bytes(size), MAX_FILE_BYTES >> 10);
            return Err(Error::Failed(format!(
                "{shown} has {size}; the limit is {limit} KiB. Read it with read_file."
            )));
        }
        Some(FileKind::File(_)) => {}
        None => return Err(Error::Failed(format!("There is no file {shown}."))),
        Some(FileKind::Folder | FileKind::Other) => return Err(Error::Failed(format!("{shown} is not a file."))),
    }
    let mut bytes = Vec::new();
    let read = disk.open(location)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::Failed(format!("Cannot read {shown}: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') && text.len() as u64 <= MAX_FILE_BYTES => Ok(text),
        Ok(_) | Err(_) => Err(Error::Failed(format!("{shown} is not a text file, so it was not read."))),
    }
}

/// Describes the folder of a skill and the other files in it.
fn describe_folder(skill: &Skill) -> String {
    let files = list_files(&skill.folder);
    let heading = format!("Skill {}, folder {}", skill.name, escape_path(Path::new(&skill.shown_folder)));
    match files.is_empty() {
        true => heading,
        false => format!(
            "{heading}. {} Read them with the argument file; scripts run only with bash_exec and its approval.",
            describe_files(&files)
        ),
    }
}

fn describe_files(files: &[String]) -> String {
    format!("Other files: {}.", join_first(files, MAX_LISTED))
}

/// Lists the other files of a skill, relative to its folder and sorted. Links, hidden files and those in deep folders are
/// left out.
fn list_files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let (mut folders, mut remaining) = (vec![(PathBuf::new(), 0)], MAX_READ_NAMES);
    while let Some((below, depth)) = folders.pop() {
        for entry in folder.join(&below).read_dir().into_iter().flatten().flatten().take(remaining) {
            remaining -= 1;
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let path = below.join(&name);
            if name.as_encoded_bytes().starts_with(b".") || path == Path::new(MAIN_FILE) {
                continue;
            }
            if kind.is_dir() && depth + 1 < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if kind.is_file() {
                files.push(escape_path(&path));
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests;
