//! `aye open`: opens a file, a file of a workspace or a web address, as the screen opens a link.

use super::files::{find_workspace, store_changed_copies, to_usage_error};
use super::folder::open_places;
use super::output::print_lines;
use crate::chat::image;
use crate::cli::commands::Open;
use crate::cli::files::SessionPlace;
use crate::cli::{UsageError, bail_usage};
use crate::config::{Overrides, Settings};
use crate::text::clean::clean_line;
use crate::text::link::{LinkTarget, parse_link};
use crate::tui::external;
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
pub(super) fn run(arguments: &Open) -> Result<ExitCode> {
    let Open { target, place } = arguments;
    let (_, folder) = open_places(&place.place)?;
    match parse_link(target) {
        // A file whose name looks like a position is meant as it is written.
        _ if !target.is_empty() && folder.join(target).exists() => {
            open_file(&folder, &folder.join(target), None, place)?
        }
        Some(LinkTarget::Web(address)) => external::open_web(&address)?,
        Some(LinkTarget::Workspace(address)) => return open_workspace_file(&address, place),
        Some(LinkTarget::File { path, line, .. }) if folder.join(&path).exists() => {
            open_file(&folder, &folder.join(path), line, place)?;
        }
        Some(LinkTarget::File { path, .. }) => {
            bail_usage!("Cannot open {path}: there is no such file. Paths are relative to {}.", folder.display())
        }
        None => bail_usage!(
            "Cannot open {target}: there is no such file. Use a path, PATH:LINE, a workspace:// address, or a web address."
        ),
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a picture in its program, and any other file in the editor.
fn open_file(folder: &Path, file: &Path, line: Option<usize>, place: &SessionPlace) -> Result<()> {
    if line.is_none() && file.to_str().is_some_and(image::is_image_path) {
        return Ok(external::open_picture(file)?);
    }
    let (places, _) = open_places(&place.place)?;
    let variable = |name: &str| std::env::var(name).ok();
    let settings = Settings::load(&places.settings(), &variable, &Overrides::default());
    let editor = external::find_editor(settings.config.screen.editor.as_deref(), &|name| std::env::var_os(name));
    let command = external::editor_command(&editor, file, line);
    external::run_in_foreground(&command, folder).map_err(|error| {
        UsageError(format!("Cannot open {}: {error}. Set $EDITOR or screen.editor.", file.display())).into()
    })
}

fn open_workspace_file(address: &str, place: &SessionPlace) -> Result<ExitCode> {
    let (workspace, target) = find_workspace(place, address)?;
    let file = workspace.find(&target).map_err(to_usage_error)?;
    // Another session's file is only read, unless that session is named by an option.
    let is_writable = file.is_latest && target.session().is_none();
    let copy = workspace.copy_to_open(&file, is_writable).map_err(to_usage_error)?;
    let (_, folder) = open_places(&place.place)?;
    let opened = open_file(&folder, &copy, None, place);
    // Also if the editor ended with an error, it may have saved before.
    let stored = store_changed_copies(&workspace)?;
    let lines = stored.iter().map(|file| format!("{} is now version {}", file.path, file.version));
    let lines: Vec<String> = lines.map(|line| clean_line(&line).into_owned()).collect();
    let code = print_lines(lines)?;
    opened.map(|()| code)
}
