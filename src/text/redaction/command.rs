//! Secrets on command lines: in long options of any program, and in short options of known programs.

use super::assignment::ValuePosition;
use super::names::{NameClass, classify_name, is_placeholder, is_word_of_sentence, looks_random};
use super::word_bytes::{is_word_byte, prefix_length};
use std::ops::Range;

/// Form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ValueForm {
    Secret,
    /// User name, colon and secret.
    User,
    /// User name, percent sign and secret.
    Percent,
    /// Cookies; without `=` the name of a file.
    Cookies,
    /// Prefix, colon and secret: `pass:secret`.
    Source,
}

/// A program, the subcommand its options must follow, if any, and its short options.
#[derive(Debug)]
struct Program {
    names: &'static [&'static str],
    subcommand: Option<&'static str>,
    options: &'static [(u8, ValueForm)],
}

const fn program(names: &'static [&'static str], options: &'static [(u8, ValueForm)]) -> Program {
    Program { names, subcommand: None, options }
}

#[rustfmt::skip]
const PROGRAMS: &[Program] = &[
    program(&[
        "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mysqlbinlog", "mysqlsh", "mariadb",
        "mariadb-dump", "mariadb-admin", "mariadb-import", "mariadb-check", "mycli", "xtrabackup", "sshpass", "mongo",
        "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "7z", "7za", "7zr", "unrar",
        "rabbitmqadmin", "twine",
    ], &[(b'p', ValueForm::Secret)]),
    program(&["curl"], &[(b'u', ValueForm::User), (b'U', ValueForm::User), (b'b', ValueForm::Cookies)]),
    program(&["http", "https", "xh", "xhs"], &[(b'a', ValueForm::User)]),
    program(&["redis-cli", "valkey-cli"], &[(b'a', ValueForm::Secret)]),
    program(&["sqlcmd", "bcp", "unzip", "zip"], &[(b'P', ValueForm::Secret)]),
    program(&["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"], &[(b'w', ValueForm::Secret)]),
    program(&["smbclient", "rpcclient", "smbget"], &[(b'U', ValueForm::Percent)]),
    program(&["snmpwalk", "snmpget"], &[(b'A', ValueForm::Secret), (b'X', ValueForm::Secret)]),
    Program { subcommand: Some("login"), ..program(&[
        "docker", "podman", "nerdctl", "buildah", "helm", "oras", "skopeo", "az", "oc", "cf", "ibmcloud", "regctl",
        "crane",
    ], &[(b'p', ValueForm::Secret)]) },
];

/// Long options that take a secret although they do not have the name of one.
const LONG_OPTIONS: &[(ValueForm, &[&str])] = &[
    (ValueForm::User, &["user", "proxy-user", "creds", "src-creds", "dest-creds", "auth"]),
    (ValueForm::Cookies, &["cookie"]),
    (ValueForm::Source, &["passin", "passout", "pass"]),
];

/// The program of a command line, and whether its options count: only after the required subcommand, if it has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenCommand {
    program: &'static Program,
    is_active: bool,
}

/// State of the scan of a command line.
pub(super) struct LineState {
    open_command: Option<OpenCommand>,
    /// True if an odd number of double quotes precedes the current offset.
    in_double_quotes: bool,
    in_single_quotes: bool,
    /// True if the last line ended with a line continuation and no word followed yet.
    is_continued: bool,
}

impl LineState {
    pub(super) fn new(open_command: Option<OpenCommand>) -> Self {
        Self { open_command, in_double_quotes: false, in_single_quotes: false, is_continued: false }
    }

    /// Processes a word.
    pub(super) fn process_word(&mut self, text: &str, position: usize, word: &str) {
        self.is_continued = false;
        if let Some(open_command) = self.open_command.as_mut().filter(|open| !open.is_active) {
            open_command.is_active = open_command.program.subcommand == Some(word);
        }
        let next_byte = text.as_bytes().get(position + word.len());
        // No program in the list has a longer name. After its name comes a blank, a quote, a backslash or a comma.
        if word.len() > 14 || !matches!(next_byte, Some(b' ' | b'\t' | b'"' | b'\'' | b'\\' | b',')) {
            return;
        }
        if let Some(program) = PROGRAMS.iter().find(|program| program.names.contains(&word)) {
            self.open_command = Some(OpenCommand { program, is_active: program.subcommand.is_none() });
        }
    }

    /// Processes a quote without a backslash before it.
    pub(super) fn process_quote(&mut self, quote: u8) {
        let is_quoted = if quote == b'"' { &mut self.in_double_quotes } else { &mut self.in_single_quotes };
        *is_quoted = !*is_quoted;
    }

    /// Processes a command separator, which ends the command unless it is quoted.
    pub(super) fn end_command(&mut self) {
        if !self.in_double_quotes && !self.in_single_quotes {
            self.open_command = None;
        }
    }

    /// Processes the end of a line; `is_continued` if the next line belongs to the same command.
    pub(super) fn end_line(&mut self, is_continued: bool) {
        if !is_continued {
            *self = Self::new(None);
        }
        self.is_continued = is_continued;
    }

    /// Returns the program whose command line continues in the next text, after a backslash at the end of this one.
    pub(super) fn open_at_end(&self) -> Option<OpenCommand> {
        self.open_command.filter(|_| self.is_continued)
    }
}

/// Returns whether an argument is an option whose value is the next argument and a secret.
pub(super) fn is_secret_option(argument: &str) -> bool {
    let name = argument.trim_start_matches('-');
    name.len() < argument.len() && !name.contains('=') && is_secret_option_name(name)
}

fn is_secret_option_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // In many programs these options take a file or an identifier instead of a secret.
    let ambiguous = ["key", "auth", "private-key", "private_key", "jwt"];
    classify_name(name).is_some_and(|class| class != NameClass::Key || !ambiguous.contains(&lower.as_str()))
}

/// Finds the secret in the value of the option at this offset.
pub(super) fn find_option_secret(text: &str, position: usize, line: &LineState) -> Option<Range<usize>> {
    let previous_byte = position.checked_sub(1).map(|index| text.as_bytes()[index]);
    if previous_byte.is_some_and(is_word_byte) {
        return None;
    }
    let dashes = prefix_length(&text[position..], |byte| byte == b'-');
    // A long option has at most two dashes, and one more at the start of a removed line in a diff.
    if dashes > 3 {
        return None;
    }
    let name_start = position + dashes;
    let name = &text[name_start..name_start + prefix_length(&text[name_start..], is_word_byte)];
    let short_option = || (dashes == 1).then(|| find_short_option(text, name_start, name, line)).flatten();
    short_option().or_else(|| find_long_option(text, name_start, name, dashes))
}

/// Finds the secret of a short option of this line's program, with its value attached or as the next argument.
fn find_short_option(text: &str, name_start: usize, name: &str, line: &LineState) -> Option<Range<usize>> {
    let open_command = line.open_command.filter(|open| open.is_active)?;
    let value_form =
        |option: u8| open_command.program.options.iter().find(|(name, _)| *name == option).map(|(_, form)| *form);
    let bytes = name.as_bytes();
    if let Some(form) = bytes.first().copied().and_then(value_form) {
        let value_start = name_start + 1;
        return match text.as_bytes().get(value_start) {
            None | Some(b' ' | b'\t' | b'\n') => {
                let value = find_next_value(text, value_start)?;
                let is_option = !value.is_quoted() && value.preview(text).starts_with('-');
                if is_option { None } else { secret_part(text, value, form) }
            }
            Some(b'"' | b'\'' | b'\\' | b',') if bytes.len() == 1 => {
                // The quote belongs to the value, or ends an argument in a list.
                let value =
                    find_next_value(text, value_start).or_else(|| Some(ValuePosition::locate(text, value_start)));
                value.and_then(|value| secret_part(text, value, form))
            }
            Some(b'=') => secret_part(text, ValuePosition::locate(text, value_start + 1), form),
            Some(_) => secret_part(text, ValuePosition::locate(text, value_start), form),
        };
    }
    // At most six combined flags, of which the last takes the value. A longer name is that of a long option.
    let form = bytes.last().copied().and_then(value_form).filter(|_| bytes.len() <= 6)?;
    let is_alphabetic = bytes.iter().all(u8::is_ascii_alphabetic);
    let value = find_next_value(text, name_start + bytes.len()).filter(|_| is_alphabetic)?;
    secret_part(text, value, form)
}

/// Finds the secret of a long option of any program.
fn find_long_option(text: &str, name_start: usize, name: &str, dashes: usize) -> Option<Range<usize>> {
    // After one dash, a short name is more likely a group of short options.
    if name.len() < 2 || dashes == 1 && name.len() < 4 {
        return None;
    }
    let name_end = name_start + name.len();
    let has_equals = text.as_bytes().get(name_end) == Some(&b'=');
    let value = if has_equals { ValuePosition::locate(text, name_end + 1) } else { find_next_value(text, name_end)? };
    if let Some((form, _)) = LONG_OPTIONS.iter().find(|(_, options)| options.contains(&name))
        && let Some(secret) = secret_part(text, value, *form)
    {
        return Some(secret);
    }
    if !is_secret_option_name(name) {
        return None;
    }
    let preview = value.preview(text);
    let separator_length = value.start - name_end;
    let is_sentence = !value.is_quoted() && !has_equals && is_word_of_sentence(preview);
    // A reference to a secret by its id, or the next option.
    let is_id_or_option = preview.starts_with("id=") || !value.is_quoted() && preview.starts_with('-') && !has_equals;
    // The placeholder of the value, or the description in help output.
    let is_help = !value.is_quoted()
        && !has_equals
        && !looks_random(preview)
        && (separator_length > 1 && !text[name_end..value.start].contains('\n') || classify_name(preview).is_some());
    if is_sentence || is_id_or_option || is_help {
        return None;
    }
    secret_part(text, value, ValueForm::Secret)
}

/// Locates the next argument, also in a list of quoted ones or after a line continuation.
fn find_next_value(text: &str, argument_end: usize) -> Option<ValuePosition> {
    let count_blanks = |start: usize| prefix_length(&text[start..], |byte| matches!(byte, b' ' | b'\t'));
    let slashes = prefix_length(&text[argument_end..], |byte| byte == b'\\');
    let mut position = argument_end;
    let mut was_quoted = false;
    if matches!(text.as_bytes().get(argument_end + slashes), Some(b'"' | b'\'')) {
        was_quoted = true;
        position += slashes + 1;
    }
    let separator_start = position;
    position += count_blanks(position);
    if text.as_bytes().get(position) == Some(&b',') {
        position += 1;
        position += prefix_length(&text[position..], |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }
    if text[position..].starts_with("\\\n") {
        position += 2;
        position += count_blanks(position);
    }
    let value = ValuePosition::locate(text, position);
    // After a closing quote, an unquoted word may be prose instead of an argument.
    let is_next_argument =
        position > separator_start && (!was_quoted || value.is_quoted() || looks_random(value.preview(text)));
    is_next_argument.then_some(value)
}

/// Returns the secret part of a value.
fn secret_part(text: &str, value: ValuePosition, form: ValueForm) -> Option<Range<usize>> {
    let preview = value.preview(text);
    let skipped_bytes = match form {
        ValueForm::Secret => 0,
        ValueForm::User | ValueForm::Percent => {
            let separator = if form == ValueForm::User { ':' } else { '%' };
            let (name, secret) = preview.split_once(separator)?;
            // Numeric ids of a user and a group.
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_url = secret.starts_with("//");
            if is_number(name) && is_number(secret) || is_url || name.contains(char::is_whitespace) {
                return None;
            }
            name.len() + 1
        }
        ValueForm::Cookies => preview.contains('=').then_some(0)?,
        ValueForm::Source => preview.starts_with("pass:").then_some("pass:".len())?,
    };
    let secret = &preview[skipped_bytes..];
    let value_range = value.full_range(text);
    let is_secret =
        !secret.is_empty() && !is_placeholder(secret) && value_range.start + skipped_bytes < value_range.end;
    is_secret.then(|| value_range.start + skipped_bytes..value_range.end)
}
