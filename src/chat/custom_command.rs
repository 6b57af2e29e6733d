//! Custom commands: slash commands that a Markdown file defines. Its text, with the arguments in their places, is sent as a message.

use super::front_matter::{FrontMatter, normalize_file};
use super::mention::needs_quotes;
use crate::text::clean::clean_line;
use crate::text::words::split_words;
use std::borrow::Cow;

/// Maximum bytes of a message that a command makes.
pub const MAX_MESSAGE_BYTES: usize = 256 << 10;
/// Maximum characters of a name.
const MAX_NAME: usize = 64;
/// Stands for all arguments.
const ALL: &str = "$ARGUMENTS";

/// Commands of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandFiles {
    /// Sorted by name.
    pub commands: Vec<CustomCommand>,
    /// Names of commands of the project that the user has not trusted in their current version.
    pub untrusted: Vec<String>,
    /// Why other files cannot be used, one sentence for each.
    pub problems: Vec<String>,
}

/// A command of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCommand {
    /// Name after the slash: that of the file without `.md`.
    pub name: String,
    /// The file, as it is shown.
    pub file: String,
    /// Whether the project defines it, and not the user.
    pub is_of_project: bool,
    /// What it does, for the list of commands.
    pub description: String,
    /// Its arguments: `[file]`. Empty if the file does not say.
    pub argument_hint: String,
    /// Text of the message.
    pub text: String,
}

impl CustomCommand {
    /// Reads a file by its name, which may have folders. `shown` is how it is named for the user.
    ///
    /// # Errors
    /// Why it cannot be used, worded to follow its name.
    pub fn parse_file(file: &str, shown: &str, content: &str) -> Result<Self, String> {
        let name = file.rsplit('/').next().unwrap_or(file);
        let name = name.strip_suffix(".md").unwrap_or(name);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            && name.len() <= MAX_NAME;
        if !is_name {
            return Err(format!(
                "its name is no name of a command. Use a letter, then letters, digits, - or _, at most {MAX_NAME} characters"
            ));
        }
        Self::parse(name, shown, content)
    }

    /// Returns how the command is typed and what it does, in one line: `/review FILE · Review a file`.
    pub fn describe(&self) -> String {
        let usage = format!("/{} {}", self.name, self.argument_hint);
        format!("{} · {}", usage.trim_end(), self.description)
    }

    /// Reads a file. It may begin with lines between two `---`, of which `description` and `argument-hint` are used. The
    /// hint is taken as it is: `[file] [line]` is a usual one, and no YAML.
    ///
    /// # Errors
    /// If there is no text to send.
    pub fn parse(name: &str, file: &str, content: &str) -> Result<Self, String> {
        let content = normalize_file(content);
        let (fields, text) = FrontMatter::split(&content);
        let text = text.trim();
        if text.is_empty() {
            return Err("it has no text to send. Write the message into it".to_owned());
        }
        let description = match fields.yaml_text("description") {
            given if !given.is_empty() => given.split_whitespace().collect::<Vec<_>>().join(" "),
            _ => text.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned(),
        };
        Ok(Self {
            name: name.to_owned(),
            file: file.to_owned(),
            is_of_project: false,
            description: clean_line(&description).into_owned(),
            argument_hint: clean_line(fields.raw_value("argument-hint")).into_owned(),
            text: text.to_owned(),
        })
    }

    /// Returns the hint if it names an argument that is needed, outside of brackets, and none is given. A hint need not list the
    /// arguments one by one, so that more than one is not counted.
    pub fn missing_arguments(&self, arguments: &str) -> Option<&str> {
        let mut depth = 0_usize;
        let is_outside = |c: char| {
            match c {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && c.is_alphanumeric()
        };
        let is_needed = self.argument_hint.chars().any(is_outside);
        (is_needed && arguments.trim().is_empty()).then_some(self.argument_hint.as_str())
    }

    /// Returns the message for these arguments: `$ARGUMENTS` stands for all of them, `$1` to `$9` for single ones, which are divided as a
    /// shell does. A backslash before the sign keeps it. Arguments that have no place follow the text.
    ///
    /// # Errors
    /// If the message is too long.
    pub fn expand(&self, arguments: &str) -> Result<String, String> {
        let arguments = arguments.trim();
        let words = split_words(arguments);
        let mut message = String::with_capacity(self.text.len() + arguments.len());
        let mut has_place = false;
        let mut rest = self.text.as_str();
        while let Some(at) = rest.find('$') {
            let is_kept = rest[..at].ends_with('\\');
            let (value, length) = match find_place(&rest[at..]) {
                Some(Place::All) => (Cow::Borrowed(arguments), ALL.len()),
                Some(Place::Word(index)) => {
                    let word = words.get(index).map_or("", String::as_str);
                    // Without quotes the mention of a file would end at the first blank.
                    let is_mention = rest[..at].ends_with('@') && needs_quotes(word);
                    (if is_mention { Cow::Owned(format!("\"{word}\"")) } else { Cow::Borrowed(word) }, 2)
                }
                None => (Cow::Borrowed("$"), 1),
            };
            let is_place = length > 1;
            message.push_str(&rest[..at - usize::from(is_kept && is_place)]);
            message.push_str(if is_kept { &rest[at..at + length] } else { &value });
            has_place |= is_place && !is_kept;
            rest = &rest[at + length..];
            if message.len() > MAX_MESSAGE_BYTES {
                break;
            }
        }
        message.push_str(rest);
        if !has_place && !arguments.is_empty() {
            message.push_str("\n\n");
            message.push_str(arguments);
        }
        match message.len() {
            0..=MAX_MESSAGE_BYTES => Ok(message),
            _ => Err(format!("its message has more than {} KiB", MAX_MESSAGE_BYTES >> 10)),
        }
    }
}

/// What a sign stands for.
enum Place {
    All,
    /// Index from 0.
    Word(usize),
}

/// Returns what the sign at the beginning of this text stands for. `$10` and `$ARGUMENTS_X` are other names.
fn find_place(text: &str) -> Option<Place> {
    let goes_on =
        |length: usize| text.as_bytes().get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if text.starts_with(ALL) && !goes_on(ALL.len()) {
        return Some(Place::All);
    }
    match text.as_bytes().get(1) {
        Some(digit @ b'1'..=b'9') if !goes_on(2) => Some(Place::Word(usize::from(digit - b'1'))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn command(content: &str) -> CustomCommand {
        CustomCommand::parse("review", "commands/review.md", content).unwrap()
    }

    fn expand(text: &str, arguments: &str) -> String {
        command(text).expand(arguments).unwrap()
    }

    #[test]
    fn fields_precede_the_text() {
        let review = command(
            "---\r\ndescription: \"Review: a file\"\r\nargument-hint: [file] [line]\r\nallowed-tools: Bash(rm:*)\r\n---\r\n\r\nReview $1.\r\n",
        );
        assert_eq!((&*review.description, &*review.argument_hint), ("Review: a file", "[file] [line]"));
        assert_eq!(review.text, "Review $1.");
        let block = command("---\ndescription: >-\n  Review:\n  a file\n---\nReview $1.");
        assert_eq!(block.description, "Review: a file");
        let plain = command("\u{feff}# Look at it\n\nCarefully.\n");
        assert_eq!((&*plain.description, &*plain.argument_hint), ("Look at it", ""));
        assert_eq!(plain.text, "# Look at it\n\nCarefully.");
        // Without a second fence, or with something before the first, all of it is text.
        for text in ["---\ndescription: x\nDo it.", " ---\ndescription: x\n---\nDo it."] {
            assert_eq!(command(text).text, text.trim());
        }
        for text in ["", " \n", "---\ndescription: x\n---\n \n"] {
            assert_eq!(
                CustomCommand::parse("a", "a.md", text),
                Err("it has no text to send. Write the message into it".to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_name_is_that_of_the_file() {
        let name = |file: &str| CustomCommand::parse_file(file, file, "Do it.").map(|command| command.name);
        assert_eq!(name(".aye/commands/fix-it_2.md"), Ok("fix-it_2".to_owned()));
        for file in ["2.md", ".md", "a b.md", "a.md.md", "é.md", "a:b.md", "-a.md", &format!("{}.md", "a".repeat(65))]
        {
            assert!(name(file).unwrap_err().starts_with("its name is no name of a command. Use"), "{file}");
        }
        let hostile = command("---\ndescription: a\u{1b}[31m b\u{7}\nargument-hint: \u{1b}]0;x\u{7}F\n---\nDo it.");
        assert!(!hostile.describe().contains(char::is_control), "{:?}", hostile.describe());
    }

    #[test]
    fn arguments_are_put_in_their_places() {
        assert_eq!(expand("Review $ARGUMENTS now", " a.rs 'b c' "), "Review a.rs 'b c' now");
        assert_eq!(expand("From $2 to $1, $3.", "a 'b c'"), "From b c to a, .");
        assert_eq!(expand("Look: $1", "it's"), "Look: it's", "an open quote is a character");
        assert_eq!(
            expand("Costs $5 or \\$5, $10, $ARGUMENTS_X, $ and $", "1 2 3 4 five"),
            "Costs five or $5, $10, $ARGUMENTS_X, $ and $"
        );
        assert_eq!(expand("\\$ARGUMENTS \\\\ \\$x", ""), "$ARGUMENTS \\\\ \\$x");
        assert_eq!(expand("Summarize.", "in German"), "Summarize.\n\nin German");
        assert_eq!(expand("Summarize.", " "), "Summarize.");
        assert_eq!(expand("See @$1 and $1.", "'my file.rs'"), "See @\"my file.rs\" and my file.rs.");
        assert_eq!(expand("See @$1, @$2.", "a.rs"), "See @a.rs, @.");
        // What an argument contains is no place.
        assert_eq!(expand("$1 $ARGUMENTS", "$2 $1"), "$2 $2 $1");
    }

    #[test]
    fn arguments_outside_of_brackets_are_needed() {
        let is_missing = |hint: &str, arguments: &str| {
            command(&format!("---\nargument-hint: {hint}\n---\nReview $1.")).missing_arguments(arguments).is_some()
        };
        for hint in ["FILE", "FILE [LINE]", "<file>", "[a] FILE", "what to look for", "[a]]b"] {
            assert!(is_missing(hint, " ") && !is_missing(hint, " a.rs"), "{hint}");
        }
        for hint in ["", "[FILE]", "[FILE [LINE]]", "[a]…", "[a", "[ ... ]"] {
            assert!(!is_missing(hint, ""), "{hint}");
        }
    }

    #[test]
    fn a_message_has_a_limit() {
        let error = command(&"$ARGUMENTS".repeat(60_000)).expand(&"x".repeat(100_000)).unwrap_err();
        assert_eq!(error, "its message has more than 256 KiB");
        assert!(command("a").expand(&"x".repeat(MAX_MESSAGE_BYTES)).is_err());
    }

    proptest! {
        #[test]
        fn any_text_and_arguments_make_a_message(text in "[a$\\\\ 1-3\nARGUMENTSé_-]{1,60}", arguments in "[a$'\"\\\\ 1é]{0,20}") {
            if let Ok(command) = CustomCommand::parse("a", "a.md", &text) {
                let message = command.expand(&arguments).unwrap();
                if !command.text.contains('$') {
                    prop_assert!(message.starts_with(&command.text));
                    prop_assert!(message.ends_with(arguments.trim()));
                }
            }
        }
    }
}
