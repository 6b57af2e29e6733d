//! Secrets on command lines: in long options of any program, and in short options of known programs.

use super::assignment::Value;
use super::names::{Name, classify, is_placeholder, is_random, is_word_of_sentence};
use super::scan::{is_word, run};
use std::ops::Range;

/// Form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Takes {
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
    options: &'static [(u8, Takes)],
}

const fn program(names: &'static [&'static str], options: &'static [(u8, Takes)]) -> Program {
    Program { names, after: None, options }
}

const fn login(names: &'static [&'static str], options: &'static [(u8, Takes)]) -> Program {
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
        &[(b'p', Takes::Secret)],
    ),
    program(&["curl"], &[(b'u', Takes::User), (b'U', Takes::User), (b'b', Takes::Cookies)]),
    program(&["http", "https", "xh", "xhs"], &[(b'a', Takes::User)]),
    program(&["sshpass"], &[(b'p', Takes::Secret)]),
    program(
        &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        &[(b'p', Takes::Secret)],
    ),
    program(&["redis-cli", "valkey-cli"], &[(b'a', Takes::Secret)]),
    program(&["sqlcmd", "bcp", "unzip", "zip"], &[(b'P', Takes::Secret)]),
    program(&["7z", "7za", "7zr", "unrar", "rabbitmqadmin", "twine"], &[(b'p', Takes::Secret)]),
    program(
        &["ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldappasswd", "ldapwhoami"],
        &[(b'w', Takes::Secret)],
    ),
    program(&["smbclient", "rpcclient", "smbget"], &[(b'U', Takes::Percent)]),
    program(&["snmpwalk", "snmpget"], &[(b'A', Takes::Secret), (b'X', Takes::Secret)]),
    login(
        &[
            "docker", "podman", "nerdctl", "buildah", "helm", "oras", "skopeo", "az", "oc", "cf", "ibmcloud",
            "regctl", "crane",
        ],
        &[(b'p', Takes::Secret)],
    ),
];

/// Long options that take a secret although they do not have the name of one.
const LONG: &[(&str, Takes)] = &[
    ("user", Takes::User),
    ("proxy-user", Takes::User),
    ("creds", Takes::User),
    ("src-creds", Takes::User),
    ("dest-creds", Takes::User),
    ("auth", Takes::User),
    ("cookie", Takes::Cookies),
    ("passin", Takes::Source),
    ("passout", Takes::Source),
    ("pass", Takes::Source),
];

/// The program of a command line, and whether the required subcommand was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    program: &'static Program,
    counts: bool,
}

/// State of the scan of a command line.
pub(super) struct Line {
    open: Option<Open>,
    /// True if an odd number of double quotes precedes this offset; `single` likewise.
    double: bool,
    single: bool,
    continues: bool,
}

impl Line {
    pub(super) fn new(open: Option<Open>) -> Self {
        Self { open, double: false, single: false, continues: false }
    }

    /// Processes a word.
    pub(super) fn word(&mut self, text: &str, at: usize, word: &str) {
        self.continues = false;
        if let Some(open) = self.open.as_mut().filter(|open| !open.counts) {
            open.counts = open.program.after == Some(word);
        }
        let next = text.as_bytes().get(at + word.len());
        if word.len() > 14 || !matches!(next, Some(b' ' | b'\t' | b'"' | b'\'' | b'\\' | b',')) {
            return;
        }
        if let Some(program) = PROGRAMS.iter().find(|program| program.names.contains(&word)) {
            self.open = Some(Open { program, counts: program.after.is_none() });
        }
    }

    /// Processes a quote without a backslash before it.
    pub(super) fn quote(&mut self, quote: u8) {
        let side = if quote == b'"' { &mut self.double } else { &mut self.single };
        *side = !*side;
    }

    /// Processes a command separator, which ends the command unless it is quoted.
    pub(super) fn separate(&mut self) {
        if !self.double && !self.single {
            self.open = None;
        }
    }

    /// Processes the end of a line; `continued` if the next line belongs to the same command.
    pub(super) fn feed(&mut self, continued: bool) {
        if !continued {
            *self = Self::new(None);
        }
        self.continues = continued;
    }

    /// Returns the program whose command line continues in the next text, after a backslash at the end of this one.
    pub(super) fn open_at_end(&self) -> Option<Open> {
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
    classify(name).is_some_and(|class| class != Name::Key || !ordinary.contains(&low.as_str()))
}

/// Finds the secret in the value of the option at this offset.
pub(super) fn option(text: &str, at: usize, line: &Line) -> Option<Range<usize>> {
    let before = at.checked_sub(1).map(|before| text.as_bytes()[before]);
    if before.is_some_and(is_word) {
        return None;
    }
    let dashes = run(&text[at..], |byte| byte == b'-');
    if dashes > 3 {
        return None;
    }
    // In a diff, a removed line begins with one more dash.
    let from = at + dashes;
    let name = &text[from..from + run(&text[from..], is_word)];
    let short = || (dashes == 1).then(|| short(text, from, name, line)).flatten();
    short().or_else(|| long(text, from, name, dashes))
}

/// Finds the secret of a short option of this line's program, with its value attached or as the next argument.
fn short(text: &str, from: usize, name: &str, line: &Line) -> Option<Range<usize>> {
    let open = line.open.filter(|open| open.counts)?;
    let takes =
        |letter: u8| open.program.options.iter().find(|(known, _)| *known == letter).map(|(_, takes)| *takes);
    let bytes = name.as_bytes();
    if let Some(first) = bytes.first().copied().and_then(takes) {
        let attached = from + 1;
        return match text.as_bytes().get(attached) {
            None | Some(b' ' | b'\t' | b'\n') => {
                let value = next(text, attached)?;
                let is_option = !value.is_quoted() && value.preview(text).starts_with('-');
                if is_option { None } else { of(text, value, first) }
            }
            Some(b'"' | b'\'' | b'\\' | b',') if bytes.len() == 1 => {
                // The quote belongs to the value, or ends an argument in a list.
                let value = next(text, attached).or_else(|| Some(Value::at(text, attached)));
                value.and_then(|value| of(text, value, first))
            }
            Some(b'=') => of(text, Value::at(text, attached + 1), first),
            Some(_) => of(text, Value::at(text, attached), first),
        };
    }
    // Combined flags, of which the last takes the value.
    let last = bytes.last().copied().and_then(takes).filter(|_| bytes.len() <= 6)?;
    let letters = bytes.iter().all(u8::is_ascii_alphabetic);
    let value = next(text, from + bytes.len()).filter(|_| letters)?;
    of(text, value, last)
}

/// Finds the secret of a long option of any program.
fn long(text: &str, from: usize, name: &str, dashes: usize) -> Option<Range<usize>> {
    if name.len() < 2 || dashes == 1 && name.len() < 4 {
        return None;
    }
    let after = from + name.len();
    let equals = text.as_bytes().get(after) == Some(&b'=');
    let value = if equals { Value::at(text, after + 1) } else { next(text, after)? };
    if let Some((_, takes)) = LONG.iter().find(|(known, _)| *known == name)
        && let Some(found) = of(text, value, *takes)
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
        && !is_random(seen)
        && (blanks > 1 && !text[after..value.begin].contains('\n') || classify(seen).is_some());
    if is_sentence || is_other || is_help {
        return None;
    }
    of(text, value, Takes::Secret)
}

/// Locates the next argument, also in a list of quoted ones or after a line continuation.
fn next(text: &str, after: usize) -> Option<Value> {
    let blank = |at: usize| run(&text[at..], |byte| matches!(byte, b' ' | b'\t'));
    let slashes = run(&text[after..], |byte| byte == b'\\');
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
        at += run(&text[at..], |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }
    if text[at..].starts_with("\\\n") {
        at += 2;
        at += blank(at);
    }
    let value = Value::at(text, at);
    // After the end of a quotation any word may follow.
    let fits = at > from && (!quoted || value.is_quoted() || is_random(value.preview(text)));
    fits.then_some(value)
}

/// Returns the secret part of a value.
fn of(text: &str, value: Value, takes: Takes) -> Option<Range<usize>> {
    let seen = value.preview(text);
    let skipped = match takes {
        Takes::Secret => 0,
        Takes::User | Takes::Percent => {
            let sign = if takes == Takes::User { ':' } else { '%' };
            let (name, secret) = seen.split_once(sign)?;
            // Numeric ids of a user and a group.
            let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_url = secret.starts_with("//");
            if number(name) && number(secret) || is_url || name.contains(char::is_whitespace) {
                return None;
            }
            name.len() + 1
        }
        Takes::Cookies => {
            seen.contains('=').then_some(())?;
            0
        }
        Takes::Source => seen.starts_with("pass:").then_some("pass:".len())?,
    };
    let secret = &seen[skipped..];
    let whole = value.whole(text);
    let is_secret = !secret.is_empty() && !is_placeholder(secret) && whole.start + skipped < whole.end;
    is_secret.then(|| whole.start + skipped..whole.end)
}
