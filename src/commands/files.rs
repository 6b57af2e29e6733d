//! `aye files`: lists, prints, copies, deletes, restores and prunes the files of a session's workspace.

use super::export_file;
use super::folder::open_places;
use super::output::{confirm, print_lines, print_notice};
use crate::assemble::sandbox_setup::workspace_limits;
use crate::chat::{SessionId, pluralize};
use crate::cli::files::{FilesCommand, ListOptions, SessionPlace};
use crate::cli::{UsageError, bail_usage};
use crate::config::{Overrides, Settings};
use crate::print::json_line;
use crate::store::{Places, Sessions, local_time};
use crate::text::byte_size::format_bytes;
use crate::text::clean::{clean_line, clean_text};
use crate::text::workspace_address::{AddressTarget, PathPrefix, SCHEME, ScopedPath, WorkspaceAddress, WorkspacePath};
use crate::workspace::{self, NewFile, Origin, Replaces, StoredFile, Workspace, is_text};
use anyhow::Result;
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

/// Origin of the files that this command writes.
const ORIGIN: &str = "aye files";

/// Runs the command.
pub(super) fn run(command: FilesCommand) -> Result<ExitCode> {
    match command {
        FilesCommand::Ls(options) => list(&options),
        FilesCommand::Cat { file, place } => {
            let (workspace, target) = find_workspace(&place, &file)?;
            let bytes = workspace.find(&target).and_then(|file| workspace.read(&file)).map_err(to_usage_error)?;
            let mut out = io::stdout().lock();
            if !out.is_terminal() {
                out.write_all(&bytes)?;
            } else if is_text(&bytes) {
                // Anyone may have written it, and its control sequences would reach the terminal.
                out.write_all(clean_text(&String::from_utf8_lossy(&bytes)).as_bytes())?;
            } else {
                bail_usage!("Cannot show {file} in the terminal: it is not text. Copy it with: aye files get {file}");
            }
            out.flush()?;
            Ok(ExitCode::SUCCESS)
        }
        FilesCommand::Get { file, target, force, place } => {
            let (workspace, source) = find_workspace(&place, &file)?;
            let file = workspace.find(&source).map_err(to_usage_error)?;
            let target = target.unwrap_or_else(|| file.path.file_name().into());
            export_file::check_target(&target, force, "Use --force to replace it.")?;
            let bytes = workspace.read(&file).map_err(to_usage_error)?;
            export_file::write_file(&target, &bytes, force)?;
            print_lines([clean_line(&format!("{} ({})", target.display(), format_bytes(file.size))).into_owned()])
        }
        FilesCommand::Put { source, path, overwrite, place } => put(&source, path, overwrite, &place),
        FilesCommand::Rm { files, place } => {
            for file in files {
                let (workspace, target) = find_workspace(&place, &file)?;
                if let AddressTarget::Id(id, Some(_)) = &target {
                    bail_usage!(
                        "Cannot delete one version of {id}: a file is deleted as a whole. Omit “@” and the number."
                    );
                }
                let deleted = workspace.delete(&target, origin()).map_err(to_usage_error)?;
                print_lines([clean_line(&format!("deleted {}", deleted.path)).into_owned()])?;
            }
            Ok(ExitCode::SUCCESS)
        }
        FilesCommand::History { file, json, place } => {
            let (workspace, target) = find_workspace(&place, &file)?;
            let versions = workspace.list_versions(&target).map_err(to_usage_error)?;
            let lines = versions.iter().map(|(file, is_kept)| match json {
                true => {
                    let mut object = to_json(file);
                    crate::chat::extend_object(&mut object, json!({ "kept": is_kept }));
                    json_line(&object)
                }
                false => describe_version(file, *is_kept),
            });
            print_lines(lines.collect::<Vec<_>>())
        }
        FilesCommand::Restore { file, place } => restore(&file, &place),
        FilesCommand::Prune { yes, place } => prune(yes, &place),
    }
}

fn list(options: &ListOptions) -> Result<ExitCode> {
    let prefix = PathPrefix::parse(options.prefix.as_deref().unwrap_or_default());
    let prefix = prefix.map_err(|reason| UsageError(format!("Cannot list this folder: {reason}. Correct it.")))?;
    let workspace = open_workspace(&options.place, prefix.session.as_deref())?;
    let files = workspace.list(&prefix).map_err(to_usage_error)?;
    if options.json {
        return print_lines(files.iter().map(|file| json_line(&to_json(file))));
    }
    if files.is_empty() {
        return print_lines(["no files in the workspace of this session".to_owned()]);
    }
    let bytes = files.iter().map(|file| file.size).sum();
    let sum = format!("{}, {}", pluralize(files.len(), "file"), format_bytes(bytes));
    print_lines([sum].into_iter().chain(files.iter().map(describe_file)))
}

fn put(source: &Path, path: Option<String>, overwrite: bool, place: &SessionPlace) -> Result<ExitCode> {
    let is_stdin = source == Path::new("-");
    let path = match (path, source.file_name().and_then(|name| name.to_str())) {
        (Some(path), _) => path,
        (None, Some(name)) if !is_stdin => name.to_owned(),
        (None, _) => bail_usage!("Cannot store this: it has no name. Add a path in the workspace."),
    };
    let (workspace, target) = find_workspace_by_path(place, &path)?;
    let max_bytes = workspace.limits().file_bytes;
    let mut bytes = Vec::new();
    let read = match is_stdin {
        true => io::stdin().lock().take(max_bytes + 1).read_to_end(&mut bytes),
        false => std::fs::File::open(source).and_then(|file| file.take(max_bytes + 1).read_to_end(&mut bytes)),
    };
    if let Err(error) = read {
        bail_usage!("Cannot read {}: {error}. Check the path.", source.display());
    }
    let replaces = if overwrite { Replaces::Any } else { Replaces::Nothing };
    let new_file = NewFile { path: &target, bytes: &bytes, origin: origin(), replaces, media_type: None };
    let stored = workspace.write(&new_file).map_err(|error| match error {
        workspace::Error::Exists(path) => {
            UsageError(format!("Cannot store {path}: it exists. Replace it with --overwrite.")).into()
        }
        error => to_usage_error(error),
    })?;
    print_lines([describe_file(&stored)])
}

fn restore(file: &str, place: &SessionPlace) -> Result<ExitCode> {
    let (workspace, target) = find_workspace(place, file)?;
    let versions = workspace.list_versions(&target).map_err(to_usage_error)?;
    let version = match &target {
        AddressTarget::Id(_, Some(_)) => workspace.find(&target).map_err(to_usage_error)?,
        _ => match versions.into_iter().rfind(|(_, is_kept)| *is_kept) {
            Some((version, _)) => version,
            None => bail_usage!("Cannot restore {file}: no version of it is kept."),
        },
    };
    let bytes = workspace.read(&version).map_err(to_usage_error)?;
    let Origin { untrusted_source, secrecy, .. } = version.origin.clone();
    let origin = Origin { untrusted_source, secrecy, ..origin() };
    let media_type = Some(version.media_type.as_str());
    let new_file = NewFile { path: &version.path, bytes: &bytes, origin, replaces: Replaces::Any, media_type };
    let stored = workspace.write(&new_file).map_err(to_usage_error)?;
    print_lines([describe_file(&stored)])
}

fn prune(skip_confirmation: bool, place: &SessionPlace) -> Result<ExitCode> {
    let workspace = open_workspace(place, None)?;
    let question = || {
        let session = workspace.session();
        Ok(format!("To permanently remove the earlier versions and deleted files of the session {session}"))
    };
    let no_terminal = "Cannot ask before removing: not a terminal. Nothing was removed. Confirm with --yes.";
    if !skip_confirmation && !confirm(question, no_terminal)? {
        return print_lines(["Nothing was removed.".to_owned()]);
    }
    let (count, bytes) = workspace.prune().map_err(to_usage_error)?;
    print_lines([format!("removed {}, {}", pluralize(count, "version"), format_bytes(bytes))])
}

fn origin() -> Origin {
    Origin { tool: ORIGIN.to_owned(), ..Origin::default() }
}

/// Opens the workspace that a file belongs to, and parses the file: an address, an ID, or a path.
pub(super) fn find_workspace(place: &SessionPlace, file: &str) -> Result<(Workspace, AddressTarget)> {
    let parsed = match file.starts_with(SCHEME) {
        true => file.parse::<WorkspaceAddress>().map(|address| address.target),
        false => file.parse().or_else(|_| ScopedPath::parse(file).map(AddressTarget::Path)),
    };
    let target = parsed
        .map_err(|reason| UsageError(format!("Cannot use {file:?}: {reason}. List the files with `aye files`.")))?;
    Ok((open_workspace(place, target.session())?, target))
}

fn find_workspace_by_path(place: &SessionPlace, path: &str) -> Result<(Workspace, WorkspacePath)> {
    let parsed = ScopedPath::parse(path);
    let scoped = parsed.map_err(|reason| UsageError(format!("Cannot use the path {path:?}: {reason}. Correct it.")))?;
    Ok((open_workspace(place, scoped.session.as_deref())?, scoped.path))
}

/// Opens the workspace of the session that a path names, of the one that an option names, or of the last one.
fn open_workspace(place: &SessionPlace, named: Option<&str>) -> Result<Workspace> {
    let (places, folder) = open_places(&place.place)?;
    let sessions = Sessions::new(places.sessions());
    let session: SessionId = match named.or(place.session.as_deref()) {
        Some(name) => sessions.find_id(name),
        None => sessions.find_continued(&folder),
    }
    .map_err(UsageError::from_error)?;
    let workspace = Workspace::new(&places, session, load_limits(&places));
    // What was saved in opened copies since aye last looked belongs to the files that this command is about.
    store_changed_copies(&workspace)?;
    Ok(workspace)
}

/// Stores what was saved in opened copies and returns those files. A notice says which cannot be stored.
pub(super) fn store_changed_copies(workspace: &Workspace) -> Result<Vec<StoredFile>> {
    let mut files = Vec::new();
    for copy in workspace.store_changed_copies().map_err(to_usage_error)? {
        match copy.stored {
            Ok(file) => files.push(file),
            Err(error) => {
                let (name, place) = (copy.name, copy.copy.display());
                print_notice(&format!("The changes of {name} are not stored. {error} They are in {place}."))?;
            }
        }
    }
    Ok(files)
}

fn load_limits(places: &Places) -> workspace::Limits {
    let environment = |name: &str| std::env::var(name).ok();
    workspace_limits(&Settings::load(&places.settings(), &environment, &Overrides::default()).config)
}

/// An error of the file system is no mistake of the user.
pub(super) fn to_usage_error(error: workspace::Error) -> anyhow::Error {
    match error {
        workspace::Error::Io { .. } | workspace::Error::Busy(_) | workspace::Error::Damaged(_) => error.into(),
        workspace::Error::Missing(_) => {
            UsageError(format!("{error} List the files with `aye files`, or name their session with --session.")).into()
        }
        error => UsageError(error.to_string()).into(),
    }
}

fn describe_time(file: &StoredFile) -> String {
    local_time::format_entry_time(file.time)
}

fn describe_file(file: &StoredFile) -> String {
    let version = if file.version > 1 { format!(" · version {}", file.version) } else { String::new() };
    let StoredFile { id, path, media_type, .. } = file;
    let line = format!("{id}  {path}  {} · {media_type} · {}{version}", format_bytes(file.size), describe_time(file));
    clean_line(&line).into_owned()
}

fn describe_version(file: &StoredFile, is_kept: bool) -> String {
    let state = match (file.is_latest, is_kept) {
        (true, _) => " · latest",
        (false, true) => "",
        (false, false) => " · no longer kept",
    };
    let tool = if file.origin.tool.is_empty() { String::new() } else { format!(" · {}", file.origin.tool) };
    let StoredFile { id, version, .. } = file;
    clean_line(&format!("{id}@{version}  {} · {}{tool}{state}", format_bytes(file.size), describe_time(file)))
        .into_owned()
}

fn to_json(file: &StoredFile) -> Value {
    let StoredFile { id, path, version, size, sha256, media_type, time, origin, is_latest } = file;
    json!({
        "id": id, "path": path.as_str(), "version": version, "size": size, "sha256": sha256, "type": media_type,
        "time": time, "tool": origin.tool, "call": origin.call, "untrusted_source": origin.untrusted_source,
        "latest": is_latest,
    })
}
