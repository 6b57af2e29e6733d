//! Parses one theme file, before inheritance is resolved.

use super::ROLES;
use ratatui::style::Modifier;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Old and new names of renamed roles. The old names work in this release.
const RENAMED_ROLES: &[(&str, &str)] =
    &[("ground", "background"), ("spare_ground", "fallback_background"), ("person", "user"), ("found", "search_match")];

/// A theme as written in its file.
#[derive(Debug, Clone, Default)]
pub(super) struct ThemeSource {
    /// Name of the parent theme, if any, and the line that names it.
    pub(super) inherits: Option<(String, usize)>,
    pub(super) is_light: Option<bool>,
    /// Colour of each palette name.
    pub(super) palette: BTreeMap<String, String>,
    pub(super) roles: Vec<(String, RoleSource)>,
    pub(super) warnings: Vec<ThemeWarning>,
}

/// A role as written in its file, with unresolved colour names.
#[derive(Debug, Clone, Default)]
pub(super) struct RoleSource {
    pub(super) line: usize,
    pub(super) fg: Option<String>,
    pub(super) bg: Option<String>,
    pub(super) modifiers: Modifier,
}

/// Parses a theme file. Each invalid line causes a warning and is ignored.
pub(super) fn parse_theme(file: &str, text: &str) -> ThemeSource {
    let line_ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset).collect();
    let mut parser = ThemeParser { file, line_ends, source: ThemeSource::default() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        parser.push_warning(error.span().unwrap_or_default(), format!("invalid TOML: {}", error.message()));
    }
    for (key, value) in table.get_ref().iter() {
        parser.read_entry(key, value, table.get_ref());
    }
    parser.source
}

struct ThemeParser<'a> {
    file: &'a str,
    /// Offset of each line break.
    line_ends: Vec<usize>,
    source: ThemeSource,
}

impl ThemeParser<'_> {
    /// Reads a role or setting of the file's `table`. A role's old name is replaced by its new one, with a warning.
    fn read_entry(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
        table: &DeTable<'_>,
    ) {
        let (mut name, line) = (key.get_ref().as_ref(), self.line_number(&key.span()));
        if let Some((old, new)) = RENAMED_ROLES.iter().find(|(old, _)| *old == name) {
            let has_both = table.contains_key(*new);
            let effect = match has_both {
                true => "both are given and only the new name counts",
                false => "the old name works in this release",
            };
            let (file, message) = (self.file.to_owned(), format!("`{old}` is now `{new}`; {effect}"));
            self.source.warnings.push(ThemeWarning { file, line, message, is_old_name: true });
            if has_both {
                return;
            }
            name = new;
        }
        match (name, value.get_ref()) {
            ("inherits", DeValue::String(theme)) => self.source.inherits = Some((theme.to_string(), line)),
            ("light", DeValue::Boolean(light)) => self.source.is_light = Some(*light),
            ("palette", DeValue::Table(palette)) => {
                for (name, value) in palette.iter() {
                    match read_colour(value.get_ref()) {
                        Some(colour) => drop(self.source.palette.insert(name.get_ref().to_string(), colour)),
                        None => self
                            .push_warning(value.span(), "a palette entry must be a colour, such as \"#8ab4f8\"".into()),
                    }
                }
            }
            ("inherits", _) => {
                self.push_warning(key.span(), "`inherits` must be the name of a theme, in quotes".into())
            }
            ("light", _) => self.push_warning(key.span(), "`light` must be true or false".into()),
            ("palette", _) => self.push_warning(key.span(), "`palette` must be a table of colours".into()),
            _ if !ROLES.contains(&name) => {
                let roles = ROLES.join(", ");
                self.push_warning(key.span(), format!("unknown role `{name}`. Use one of: {roles}"));
            }
            (_, DeValue::Table(table)) => {
                let role = self.read_role(table, line);
                self.source.roles.push((name.to_owned(), role));
            }
            (_, value) => match read_colour(value) {
                fg @ Some(_) => {
                    self.source.roles.push((name.to_owned(), RoleSource { line, fg, ..RoleSource::default() }));
                }
                None => self
                    .push_warning(key.span(), format!("`{name}` must be a colour or a table such as {{ {FIELDS} }}")),
            },
        }
    }

    fn read_role(&mut self, table: &DeTable<'_>, line: usize) -> RoleSource {
        let mut role = RoleSource { line, ..RoleSource::default() };
        for (key, value) in table.iter() {
            let modifiers = &mut role.modifiers;
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("fg", value) if read_colour(value).is_some() => role.fg = read_colour(value),
                ("bg", value) if read_colour(value).is_some() => role.bg = read_colour(value),
                ("bold", DeValue::Boolean(on)) => modifiers.set(Modifier::BOLD, *on),
                ("italic", DeValue::Boolean(on)) => modifiers.set(Modifier::ITALIC, *on),
                ("underline", DeValue::Boolean(on)) => modifiers.set(Modifier::UNDERLINED, *on),
                ("dim", DeValue::Boolean(on)) => modifiers.set(Modifier::DIM, *on),
                ("reverse", DeValue::Boolean(on)) => modifiers.set(Modifier::REVERSED, *on),
                (name, _) => self.push_warning(key.span(), format!("unknown key `{name}`; a role has {{ {FIELDS} }}")),
            }
        }
        role
    }

    fn push_warning(&mut self, span: Range<usize>, message: String) {
        let line = self.line_number(&span);
        self.source.warnings.push(ThemeWarning::new(self.file.to_owned(), line, message));
    }

    fn line_number(&self, span: &Range<usize>) -> usize {
        1 + self.line_ends.partition_point(|end| *end < span.start)
    }
}

/// Keys of a role and their values, as listed in warnings.
const FIELDS: &str = "fg, bg = colour; bold, italic, underline, dim, reverse = true or false";

/// Returns a colour as written: a string, or a number of the palette of 256.
fn read_colour(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(colour) => Some(colour.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// A problem in one line of a theme. The other lines are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThemeWarning {
    /// Name of the theme file.
    pub file: String,
    /// Line number, from 1; 0 for the whole file.
    pub line: usize,
    /// Description of the problem and the allowed values, for the user.
    pub message: String,
    /// True for the old name of a role, which works in this release.
    pub is_old_name: bool,
}

impl ThemeWarning {
    pub(super) fn new(file: String, line: usize, message: String) -> Self {
        Self { file, line, message, is_old_name: false }
    }
}

impl std::fmt::Display for ThemeWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}: {}", self.file, self.message),
        }
    }
}
