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
    after: Option<&'static str>,
    options: &'static [(u8, ValueForm)],
}

const fn program(names: &'static [&'static str], options: &'static [(u8, ValueForm)]) -> Program {
    Program { names, after: None, options }
}

const fn login_program(names: &'static [&'static str], options: &'static [(u8, ValueForm)]) -> Program {
    Program { names, after: Some("login"), options }
}

const PROGRAMS: &[Program] = &[
    program(
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlshow",
            "mysqlcheck",
            "mysqlbinlog",
            "mysqlsh",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
            "mariadb-import",
            "mariadb-check",
            "mycli",
            "xtrabackup",
        ],
        &[(b'p', ValueForm::Secret)],
    ),
    program(&["curl"], &[(b'u', ValueForm::User), (b'U', ValueForm::User), (b'b', ValueForm::Cookies)]),
    program(&["http", "https", "xh", "xhs"], &[(b'a', ValueForm::User)]),
    program(&["sshpass"], &[(b'p', ValueForm::Secret)]),
    program(
        &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        &[(b'p', ValueForm::Secret)],
    ),
    program(&["redis-cli", "valkey-cli"], &[(b'a', ValueForm::Secret)]),
    program(&["sqlcmd", "bcp", "unzip", "zip"], &[(b'P', ValueForm::Secret)]),
    program(&["7z", "7za", "7zr", "unrar", "rabbitmqadmin", "twine"], &[(b'p', ValueForm::Secret)]),
    program(
        &["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"],
        &[(b'w', ValueForm::Secret)],
    ),
    program(&["smbclient", "rpcclient", "smbget"], &[(b'U', ValueForm::Percent)]),
    program(&["snmpwalk", "snmpget"], &[(b'A', ValueForm::Secret), (b'X', ValueForm::Secret)]),
    login_program(
        &[
            "docker", "podman", "nerdctl", "buildah", "helm", "oras", "skopeo", "az", "oc", "cf", "ibmcloud", "regctl",
            "crane",
        ],
        &[(b'p', ValueForm::Secret)],
    ),
];

/// Long options that take a secret although they do not have the name of one.
const LONG_OPTIONS: &[(&str, ValueForm)] = &[
    ("user", ValueForm::User),
    ("proxy-user", ValueForm::User),
    ("creds", ValueForm::User),
    ("src-creds", ValueForm::User),
    ("dest-creds", ValueForm::User),
    ("auth", ValueForm::User),
    ("cookie", ValueForm::Cookies),
    ("passin", ValueForm::Source),
    ("passout", ValueForm::Source),
    ("pass", ValueForm::Source),
];

/// The program of a command line, and whether the required subcommand was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenCommand {
    program: &'static Program,
    counts: bool,
}

/// State of the scan of a command line.
pub(super) struct LineState {
    open: Option<OpenCommand>,
    /// True if an odd number of double quotes precedes this offset; `single` likewise.
    double: bool,
    single: bool,
    continues: bool,
}

impl LineState {
    pub(super) fn new(open: Option<OpenCommand>) -> Self {
        Self { open, double: false, single: false, continues: false }
    }

    /// Processes a word.
    pub(super) fn process_word(&mut self, text: &str, at: usize, word: &str) {
        self.continues = false;
        if let Some(open) = self.open.as_mut().filter(|open| !open.counts) {
            open.counts = open.program.after == Some(word);
        }
        let next = text.as_bytes().get(at + word.len());
        if word.len() > 14 || !matches!(next, Some(b' ' | b'\t' | b'"' | b'\'' | b'\\' | b',')) {
            return;
        }
        if let Some(program) = PROGRAMS.iter().find(|program| program.names.contains(&word)) {
            self.open = Some(OpenCommand { program, counts: program.after.is_none() });
        }
    }

    /// Processes a quote without a backslash before it.
    pub(super) fn process_quote(&mut self, quote: u8) {
        let side = if quote == b'"' { &mut self.double } else { &mut self.single };
        *side = !*side;
    }

    /// Processes a command separator, which ends the command unless it is quoted.
    pub(super) fn end_command(&mut self) {
        if !self.double && !self.single {
            self.open = None;
        }
    }

    /// Processes the end of a line; `continued` if the next line belongs to the same command.
    pub(super) fn end_line(&mut self, continued: bool) {
        if !continued {
            *self = Self::new(None);
        }
        self.continues = continued;
    }

    /// Returns the program whose command line continues in the next text, after a backslash at the end of this one.
    pub(super) fn open_at_end(&self) -> Option<OpenCommand> {
        self.open.filter(|_| self.continues)
    }
}

/// Returns whether an argument is an option whose value is the next argument and a secret.
pub(super) fn is_secret_option(argument: &str) -> bool {
    let name = argument.trim_start_matches('-');
    name.len() < argument.len() && !name.contains('=') && names_secret(name)
}

fn names_secret(name: &str) -> bool {
    let low = name.to_ascii_lowercase();
    let ordinary = ["key", "auth", "private-key", "private_key", "jwt"];
    classify_name(name).is_some_and(|class| class != NameClass::Key || !ordinary.contains(&low.as_str()))
}

/// Finds the secret in the value of the option at this offset.
pub(super) fn find_option_secret(text: &str, at: usize, line: &LineState) -> Option<Range<usize>> {
    let before = at.checked_sub(1).map(|before| text.as_bytes()[before]);
    if before.is_some_and(is_word_byte) {
        return None;
    }
    let dashes = prefix_length(&text[at..], |byte| byte == b'-');
    if dashes > 3 {
        return None;
    }
    // In a diff, a removed line begins with one more dash.
    let from = at + dashes;
    let name = &text[from..from + prefix_length(&text[from..], is_word_byte)];
    let short = || (dashes == 1).then(|| find_short_option(text, from, name, line)).flatten();
    short().or_else(|| find_long_option(text, from, name, dashes))
}

/// Finds the secret of a short option of this line's program, with its value attached or as the next argument.
fn find_short_option(text: &str, from: usize, name: &str, line: &LineState) -> Option<Range<usize>> {
    let open = line.open.filter(|open| open.counts)?;
    let takes = |letter: u8| open.program.options.iter().find(|(known, _)| *known == letter).map(|(_, takes)| *takes);
    let bytes = name.as_bytes();
    if let Some(first) = bytes.first().copied().and_then(takes) {
        let attached = from + 1;
        return match text.as_bytes().get(attached) {
            None | Some(b' ' | b'\t' | b'\n') => {
                let value = find_next_value(text, attached)?;
                let is_option = !value.is_quoted() && value.preview(text).starts_with('-');
                if is_option { None } else { secret_part(text, value, first) }
            }
            Some(b'"' | b'\'' | b'\\' | b',') if bytes.len() == 1 => {
                // The quote belongs to the value, or ends an argument in a list.
                let value = find_next_value(text, attached).or_else(|| Some(ValuePosition::locate(text, attached)));
                value.and_then(|value| secret_part(text, value, first))
            }
            Some(b'=') => secret_part(text, ValuePosition::locate(text, attached + 1), first),
            Some(_) => secret_part(text, ValuePosition::locate(text, attached), first),
        };
    }
    // Combined flags, of which the last takes the value.
    let last = bytes.last().copied().and_then(takes).filter(|_| bytes.len() <= 6)?;
    let letters = bytes.iter().all(u8::is_ascii_alphabetic);
    let value = find_next_value(text, from + bytes.len()).filter(|_| letters)?;
    secret_part(text, value, last)
}

/// Finds the secret of a long option of any program.
fn find_long_option(text: &str, from: usize, name: &str, dashes: usize) -> Option<Range<usize>> {
    if name.len() < 2 || dashes == 1 && name.len() < 4 {
        return None;
    }
    let after = from + name.len();
    let equals = text.as_bytes().get(after) == Some(&b'=');
    let value = if equals { ValuePosition::locate(text, after + 1) } else { find_next_value(text, after)? };
    if let Some((_, takes)) = LONG_OPTIONS.iter().find(|(known, _)| *known == name)
        && let Some(found) = secret_part(text, value, *takes)
    {
        return Some(found);
    }
    if !names_secret(name) {
        return None;
    }
    let seen = value.preview(text);
    let blanks = value.begin - after;
    let is_sentence = !value.is_quoted() && !equals && is_word_of_sentence(seen);
    let is_other = seen.starts_with("id=") || !value.is_quoted() && seen.starts_with('-') && !equals;
    // The placeholder of the value, or the description in help output.
    let is_help = !value.is_quoted()
        && !equals
        && !looks_random(seen)
        && (blanks > 1 && !text[after..value.begin].contains('\n') || classify_name(seen).is_some());
    if is_sentence || is_other || is_help {
        return None;
    }
    secret_part(text, value, ValueForm::Secret)
}

/// Locates the next argument, also in a list of quoted ones or after a line continuation.
fn find_next_value(text: &str, after: usize) -> Option<ValuePosition> {
    let blank = |at: usize| prefix_length(&text[at..], |byte| matches!(byte, b' ' | b'\t'));
    let slashes = prefix_length(&text[after..], |byte| byte == b'\\');
    let mut at = after;
    let mut quoted = false;
    if matches!(text.as_bytes().get(after + slashes), Some(b'"' | b'\'')) {
        quoted = true;
        at += slashes + 1;
    }
    let from = at;
    at += blank(at);
    if text.as_bytes().get(at) == Some(&b',') {
        at += 1;
        at += prefix_length(&text[at..], |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }
    if text[at..].starts_with("\\\n") {
        at += 2;
        at += blank(at);
    }
    let value = ValuePosition::locate(text, at);
    // After the end of a quotation any word may follow.
    let fits = at > from && (!quoted || value.is_quoted() || looks_random(value.preview(text)));
    fits.then_some(value)
}

/// Returns the secret part of a value.
fn secret_part(text: &str, value: ValuePosition, takes: ValueForm) -> Option<Range<usize>> {
    let seen = value.preview(text);
    let skipped = match takes {
        ValueForm::Secret => 0,
        ValueForm::User | ValueForm::Percent => {
            let sign = if takes == ValueForm::User { ':' } else { '%' };
            let (name, secret) = seen.split_once(sign)?;
            // Numeric ids of a user and a group.
            let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_url = secret.starts_with("//");
            if number(name) && number(secret) || is_url || name.contains(char::is_whitespace) {
                return None;
            }
            name.len() + 1
        }
        ValueForm::Cookies => {
            seen.contains('=').then_some(())?;
            0
        }
        ValueForm::Source => seen.starts_with("pass:").then_some("pass:".len())?,
    };
    let secret = &seen[skipped..];
    let whole = value.full_range(text);
    let is_secret = !secret.is_empty() && !is_placeholder(secret) && whole.start + skipped < whole.end;
    is_secret.then(|| whole.start + skipped..whole.end)
}
