//! Loads the custom commands of the user and of the project.

use super::session_builder::SessionBuilder;
use crate::chat::custom_command::{CommandFiles, CustomCommand};
use crate::config::definition_files::COMMAND_FILES;
use std::path::Path;

impl SessionBuilder {
    /// Reads the custom commands of the user and the trusted ones of the project in this folder. A command of the project replaces the
    /// user's with the same name.
    pub(super) fn custom_commands(&self, folder: &Path) -> CommandFiles {
        let folder_of_user = self.places.commands();
        let mut found = CommandFiles::default();
        for (file, is_trusted) in COMMAND_FILES.read_project(&self.project_source(folder)) {
            // The trust prompt says why a file that is not trusted cannot be used.
            match file.text.and_then(|text| CustomCommand::parse_file(&file.name, &file.name, &text)) {
                Ok(command) if is_trusted => found.commands.push(CustomCommand { is_of_project: true, ..command }),
                Ok(command) => found.untrusted.push(command.name),
                Err(_) => {}
            }
        }
        for file in COMMAND_FILES.read_user(&folder_of_user) {
            let shown = folder_of_user.join(&file.name).display().to_string();
            match file.text.and_then(|text| CustomCommand::parse_file(&file.name, &shown, &text)) {
                Ok(command) if found.commands.iter().any(|known| known.name == command.name) => {}
                Ok(command) => found.commands.push(command),
                Err(reason) => found.problems.push(format!("Cannot use {shown}: {reason}.")),
            }
        }
        found.commands.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }
}
