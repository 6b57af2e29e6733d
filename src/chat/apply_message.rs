//! Messages that begin a turn whose calls come from the program: an undo, a rewind of files, or the applied changes of a
//! dry run. The model reads them as user messages.

/// Message of the turn that undoes the last one.
pub const UNDO_MESSAGE: &str = "Undo the changes of the last turn. I approve each file.";
/// Message of the turn that applies a dry run.
pub const APPLY_MESSAGE: &str = "Apply the changes of the dry run. I approve each group.";
/// Parts of the message of a rewind before and after the quoted message.
const REWIND_PARTS: (&str, &str) = ("Undo all changes since ", ". I approve each file.");

/// Returns the message of the turn that undoes everything since a message of the user, which is quoted.
pub fn rewind_message(quoted_message: &str) -> String {
    format!("{}{quoted_message}{}", REWIND_PARTS.0, REWIND_PARTS.1)
}

/// Returns what such a message requests, without the approval at its end; `None` for any other message. A user message of
/// exactly this form counts as one.
pub fn describe_request(text: &str) -> Option<&str> {
    let is_rewind = text.starts_with(REWIND_PARTS.0) && text.ends_with(REWIND_PARTS.1) && !text.contains('\n');
    let is_request = text == UNDO_MESSAGE || text == APPLY_MESSAGE || is_rewind;
    text.rsplit_once(". ").filter(|_| is_request).map(|(request, _)| request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_the_program_are_described() {
        assert_eq!(describe_request(UNDO_MESSAGE), Some("Undo the changes of the last turn"));
        assert_eq!(describe_request(APPLY_MESSAGE), Some("Apply the changes of the dry run"));
        assert_eq!(describe_request(&rewind_message("“Go. On”")), Some("Undo all changes since “Go. On”"));
        for text in
            ["Undo the changes of the last turn.", "Undo all changes since monday", "", "x. I approve each file."]
        {
            assert_eq!(describe_request(text), None, "{text}");
        }
    }
}
