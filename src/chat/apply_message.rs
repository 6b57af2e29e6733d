//! Messages that begin a turn whose calls come from no model: an undo, a rewind of files, the applied changes of a dry run,
//! a copied file, or a call of another program. The model reads them as user messages.

/// Message of the turn that undoes the last one.
pub const UNDO_MESSAGE: &str = "Undo the changes of the last turn. I approve each file.";
/// Message of the turn that applies a dry run.
pub const APPLY_MESSAGE: &str = "Apply the changes of the dry run. I approve each group.";
/// Message of the turn that copies a file of the workspace into the project.
pub const COPY_MESSAGE: &str = "Copy a file of the workspace into the project. I approve the change.";
/// Name of the tool that copies it, which no model can call.
pub const COPY_TO_PROJECT: &str = "copy_to_project";
/// Message of the turn that carries out a call of another program.
pub const SERVED_MESSAGE: &str = "Call of another program. I did not write it.";
/// Parts of the message of a rewind before and after the quoted message.
const REWIND_PARTS: (&str, &str) = ("Undo all changes since ", ". I approve each file.");

/// Returns the message of the turn that undoes everything since a message of the user, which is quoted.
pub fn rewind_message(quoted_message: &str) -> String {
    format!("{}{quoted_message}{}", REWIND_PARTS.0, REWIND_PARTS.1)
}

/// Returns what such a message is about, without its last sentence; `None` for any other message. A user message of
/// exactly this form counts as one.
pub fn describe_request(text: &str) -> Option<&str> {
    let is_rewind = text.starts_with(REWIND_PARTS.0) && text.ends_with(REWIND_PARTS.1) && !text.contains('\n');
    let is_request = [UNDO_MESSAGE, APPLY_MESSAGE, COPY_MESSAGE, SERVED_MESSAGE].contains(&text) || is_rewind;
    text.rsplit_once(". ").filter(|_| is_request).map(|(request, _)| request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_the_program_are_described() {
        assert_eq!(describe_request(UNDO_MESSAGE), Some("Undo the changes of the last turn"));
        assert_eq!(describe_request(APPLY_MESSAGE), Some("Apply the changes of the dry run"));
        assert_eq!(describe_request(COPY_MESSAGE), Some("Copy a file of the workspace into the project"));
        assert_eq!(describe_request(SERVED_MESSAGE), Some("Call of another program"));
        assert_eq!(describe_request(&rewind_message("“Go. On”")), Some("Undo all changes since “Go. On”"));
        for text in
            ["Undo the changes of the last turn.", "Undo all changes since monday", "", "x. I approve each file."]
        {
            assert_eq!(describe_request(text), None, "{text}");
        }
    }
}
