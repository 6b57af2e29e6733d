//! Finds and reads the files that references name. Files that may hold secrets and files outside the project are refused:
//! their content would be used without having been shown to the user.

use crate::chat::Access;
use crate::documents::data_format::DataFormat;
use crate::project::{self, Reader};
use crate::text::byte_size::format_bytes;
use crate::text::file_reference::FileReference;
use crate::text::workspace_address::{AddressTarget, SCHEME, WorkspaceAddress};
use crate::tools::summary_line::first_line;
use crate::tools::workspace_target::{display_path, open_workspace};
use crate::tools::{Error, planned_path};
use crate::workspace::{self, StoredFile, Workspace};
use std::path::PathBuf;
use std::sync::Arc;

/// Characters of a target in an error.
const MAX_TARGET_CHARS: usize = 120;

/// Project and workspace whose files references can name.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    pub project: &'a dyn Reader,
    /// The workspace of the session, if it has one.
    pub workspace: Option<&'a Arc<Workspace>>,
}

/// A file that a reference names.
#[derive(Debug)]
pub(super) struct FoundFile {
    /// Path for users and models, on one line: relative to the project, or an address of a workspace.
    pub name: String,
    /// Path relative to the project, if it is a file of the project.
    pub path: Option<PathBuf>,
    pub bytes: Vec<u8>,
    /// Format by the hint of an address, the extension of the name, or the stored media type.
    pub format: Option<DataFormat>,
}

impl Sources<'_> {
    /// Reads the file of a reference. Also returns the end of the target that belongs to the text around it: a full stop
    /// after the name of a file, for example.
    ///
    /// # Errors
    /// For the model. Names the target as it was written, never a path outside the project.
    pub(super) fn read(&self, reference: &FileReference) -> Result<(FoundFile, String), Error> {
        for (target, rest) in reference.possible_targets() {
            let found = match target.starts_with(SCHEME) {
                true => self.read_workspace_file(target)?,
                false => self.read_project_file(target)?,
            };
            if let Some(found) = found {
                return Ok((found, rest.to_owned()));
            }
        }
        let target = first_line(&reference.target, MAX_TARGET_CHARS);
        let hint = match reference.target.starts_with(SCHEME) {
            true => "list_workspace_files lists all files",
            false => "list_files lists the files of the project",
        };
        Err(Error::Arguments(format!(
            "there is no file {target}. {hint}. To write the text itself, begin it with “@@@file:”."
        )))
    }

    /// Reads a file of the project; `None` if there is none.
    fn read_project_file(&self, target: &str) -> Result<Option<FoundFile>, Error> {
        let shown = first_line(target, MAX_TARGET_CHARS);
        let location = planned_path::locate(self.project, target)
            .map_err(|_| Error::Arguments(format!("“{shown}” is no path in the project.")))?;
        // Whether such a file exists is not disclosed.
        if !matches!(planned_path::read_access(self.project, &location), Access::Read(_)) {
            let why = match location.is_inside {
                true => "may hold secrets",
                false => "is outside the project",
            };
            return Err(Error::Arguments(format!(
                "“{shown}” {why}, so no reference can name it. Read it with read_file, which asks the user."
            )));
        }
        if !self.project.exists(&location) {
            return Ok(None);
        }
        let bytes = match self.project.read(&location) {
            Ok(bytes) => bytes,
            Err(project::Error::Missing(_)) => return Ok(None),
            Err(error) => return Err(Error::Arguments(format!("{error}."))),
        };
        let name = planned_path::display_path(&location);
        let format = DataFormat::from_name(&name);
        Ok(Some(FoundFile { name, path: Some(location.display_path), bytes, format }))
    }

    /// Reads a file of a workspace; `None` if there is none.
    fn read_workspace_file(&self, target: &str) -> Result<Option<FoundFile>, Error> {
        let shown = first_line(target, MAX_TARGET_CHARS);
        let Some(own) = self.workspace else {
            return Err(Error::Arguments("this session has no workspace.".to_owned()));
        };
        // A full stop may follow an address.
        let Ok(WorkspaceAddress { target, media_type }) = target.parse::<WorkspaceAddress>() else { return Ok(None) };
        let (workspace, session) = open_workspace(own, target.session().map(str::to_owned))?;
        let file = match workspace.find(&target) {
            Ok(file) => file,
            Err(workspace::Error::Missing(_)) => return Ok(None),
            Err(error) => return Err(Error::Arguments(format!("{error}"))),
        };
        if file.origin.needs_approval(session.is_none()) {
            return Err(Error::Arguments(format!(
                "{shown} may hold secrets, so no reference can name it. Read it with read_workspace_file, which asks the user."
            )));
        }
        if file.size > project::READ_LIMIT {
            let limit = format_bytes(project::READ_LIMIT);
            return Err(Error::Arguments(format!("{shown} is larger than {limit}.")));
        }
        let bytes = workspace.read(&file).map_err(|error| Error::Arguments(format!("{error}")))?;
        let name = match &target {
            AddressTarget::Path(_) => display_path(session.as_ref(), file.path.as_str()),
            AddressTarget::Id(..) => file.path.as_str().to_owned(),
        };
        let name = format!("workspace:///{} (version {})", name.trim_start_matches('/'), file.version);
        let format = find_format(media_type.as_deref(), &file);
        Ok(Some(FoundFile { name, path: None, bytes, format }))
    }
}

/// Returns the format of a stored file: by the hint of its address, its stored media type, or its name.
fn find_format(hint: Option<&str>, file: &StoredFile) -> Option<DataFormat> {
    let by_type = |media_type: &str| DataFormat::from_media_type(media_type);
    hint.map_or_else(|| by_type(&file.media_type).or_else(|| DataFormat::from_name(file.path.file_name())), by_type)
}
