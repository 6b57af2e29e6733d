//! Expands references to files in the arguments of a call, once and before the call is planned: what is planned, shown and
//! run are the same bytes.

mod adaptation;
mod excerpt;
mod source;

use super::summary_line::first_line;
use super::{Error, Tool};
use crate::chat::{Digest, Intent, Preview, ReferenceUse, ReferencedFile, ToolSpec};
use crate::text::byte_size::format_bytes;
use crate::text::file_reference::{
    FileReference, LineRange, TextPart, as_single_reference, may_have_references, parse_text,
};
use adaptation::{adapt, schema_type};
use excerpt::{cut_text, cut_value};
use serde_json::{Map, Value};
use source::FoundFile;
pub use source::Sources;

/// Maximum bytes that one reference to text stands for.
const MAX_TEXT_BYTES: usize = 200_000;
/// Maximum bytes that all references of a call stand for.
const MAX_TOTAL_BYTES: usize = 1_000_000;
/// Maximum references of a call.
const MAX_REFERENCES: usize = 100;
/// Maximum bytes of referenced content that a prompt shows in full.
const MAX_SHOWN_BYTES: usize = 8_000;
/// Characters of an argument in an error.
const MAX_QUOTED_CHARS: usize = 80;

/// Arguments with the text and the data that references stand for.
#[derive(Debug, PartialEq)]
struct ExpandedArguments {
    arguments: Value,
    /// `arguments` with excerpts of long texts and data, for the prompt. `None` if all of it can be shown.
    shown_arguments: Option<Value>,
    /// The files, in the order of the references. `is_excerpt` is that of `shown_arguments`.
    files: Vec<ReferencedFile>,
}

/// Expands the references in the arguments of a call. Returns `None` if there is nothing to expand: only parameters that
/// allow references are looked at. Keys are not expanded, and neither is what a reference stands for.
///
/// # Errors
/// For the model: which reference is invalid, and what to do.
fn expand_arguments(
    spec: &ToolSpec,
    arguments: &Value,
    sources: &Sources<'_>,
) -> Result<Option<ExpandedArguments>, Error> {
    let Value::Object(fields) = arguments else { return Ok(None) };
    let use_of = |name: &str| spec.file_references.iter().find(|(known, _)| known == name).map(|(_, usage)| *usage);
    if !fields.iter().any(|(name, value)| use_of(name).is_some() && has_references(value)) {
        return Ok(None);
    }
    let schemas = spec.parameters.to_value();
    let mut expansion = Expansion { sources, files: Vec::new(), bytes: 0 };
    let (mut expanded, mut shown) = (Map::new(), Map::new());
    for (name, value) in fields {
        let (value, shown_value) = match use_of(name) {
            Some(usage) => {
                let schema = &schemas["properties"][name];
                expansion.expand(value, schema, usage).map_err(|error| name_parameter(name, error))?
            }
            None => (value.clone(), value.clone()),
        };
        expanded.insert(name.clone(), value);
        shown.insert(name.clone(), shown_value);
    }
    let is_cut = expansion.files.iter().any(|file| file.is_excerpt);
    let shown_arguments = (is_cut && expansion.bytes > MAX_SHOWN_BYTES).then_some(Value::Object(shown));
    Ok(Some(ExpandedArguments { arguments: Value::Object(expanded), shown_arguments, files: expansion.files }))
}

/// Plans a call with the text and the data that the references in its arguments stand for. If those are long, the prompt
/// shows excerpts; a diff is always shown whole.
///
/// # Errors
/// Those of the tool, and which reference is invalid and what to do.
pub fn plan_with_references(tool: &dyn Tool, arguments: &Value, sources: &Sources<'_>) -> Result<Intent, Error> {
    let files = sources.project;
    // Most calls have none, and need no spec to know that.
    let expanded = match has_references(arguments) {
        true => expand_arguments(&tool.tool_spec(), arguments, sources)?,
        false => None,
    };
    let Some(expanded) = expanded else { return tool.plan_call(arguments, files) };
    let mut plan = match tool.plan_call(&expanded.arguments, files)? {
        Intent::Act(plan) => plan,
        Intent::Ask(_) => {
            return Err(Error::Arguments("References to files are not allowed in a question.".to_owned()));
        }
    };
    plan.preconditions.references = expanded.files;
    if let (Some(shown), Preview::Text(_)) = (&expanded.shown_arguments, &plan.preview)
        && let Ok(Intent::Act(shown)) = tool.plan_call(shown, files)
        && matches!(shown.preview, Preview::Text(_))
    {
        plan.full_preview = Some(Box::new(std::mem::replace(&mut plan.preview, shown.preview)));
    } else {
        plan.preconditions.references.iter_mut().for_each(|file| file.is_excerpt = false);
    }
    Ok(Intent::Act(plan))
}

/// Returns whether a value contains what may be a reference.
fn has_references(value: &Value) -> bool {
    match value {
        Value::String(text) => may_have_references(text),
        Value::Array(items) => items.iter().any(has_references),
        Value::Object(fields) => fields.values().any(has_references),
        _ => false,
    }
}

fn name_parameter(name: &str, error: Error) -> Error {
    match error {
        Error::Arguments(message) => Error::Arguments(format!("Cannot use the argument “{name}”: {message}")),
        error => error,
    }
}

/// The expansion of the references of a call.
struct Expansion<'a> {
    sources: &'a Sources<'a>,
    files: Vec<ReferencedFile>,
    /// Bytes that the references stand for.
    bytes: usize,
}

impl Expansion<'_> {
    /// Expands a value. Also returns it with excerpts.
    fn expand(&mut self, value: &Value, schema: &Value, usage: ReferenceUse) -> Result<(Value, Value), Error> {
        match value {
            Value::String(text) if may_have_references(text) => self.expand_text(text, schema, usage),
            Value::Array(items) => {
                let expanded = items.iter().map(|item| self.expand(item, &schema["items"], usage));
                let (values, shown): (Vec<_>, Vec<_>) = expanded.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
                Ok((values.into(), shown.into()))
            }
            Value::Object(fields) => {
                let (mut values, mut shown) = (Map::new(), Map::new());
                for (name, field) in fields {
                    let (value, shown_value) = self.expand(field, &schema["properties"][name], usage)?;
                    values.insert(name.clone(), value);
                    shown.insert(name.clone(), shown_value);
                }
                Ok((values.into(), shown.into()))
            }
            other => Ok((other.clone(), other.clone())),
        }
    }

    fn expand_text(&mut self, text: &str, schema: &Value, usage: ReferenceUse) -> Result<(Value, Value), Error> {
        let parts = parse_text(text).map_err(|error| {
            Error::Arguments(format!("invalid reference in “{}”: {error}.", first_line(text, MAX_QUOTED_CHARS)))
        })?;
        if let (Some(reference), ReferenceUse::Data) = (as_single_reference(&parts), usage) {
            return self.expand_data(reference, schema);
        }
        let (mut expanded, mut shown) = (String::new(), String::new());
        for part in &parts {
            match part {
                TextPart::Literal(literal) => {
                    expanded.push_str(literal);
                    shown.push_str(literal);
                }
                TextPart::Reference(reference) => {
                    let (file, rest) = self.read(reference)?;
                    let (text, excerpt) = self.take_text(reference, &file)?;
                    for (target, text) in [(&mut expanded, &text), (&mut shown, &excerpt)] {
                        target.push_str(text);
                        target.push_str(&rest);
                    }
                }
            }
        }
        Ok((expanded.into(), shown.into()))
    }

    /// Expands a reference that is the whole value: data in a known format becomes what the schema describes.
    fn expand_data(&mut self, reference: &FileReference, schema: &Value) -> Result<(Value, Value), Error> {
        if schema["format"] == "file" {
            // The tool wants the address itself. Nothing is read.
            if let Some(range) = reference.range {
                let message = format!("it takes a whole file, so the lines {range} cannot be named. Leave them out.");
                return Err(Error::Arguments(message));
            }
            let address = Value::String(reference.target.clone());
            return Ok((address.clone(), address));
        }
        let (file, _) = self.read(reference)?;
        let wanted = schema_type(schema);
        let refusal = |reason: &str| Error::Arguments(format!("{} cannot be used as data: {reason}.", file.name));
        let Some(format) = file.format.filter(|format| wanted != Some("string") || !format.is_text()) else {
            let (text, excerpt) = self.take_text(reference, &file)?;
            return Ok((text.into(), excerpt.into()));
        };
        if !format.is_text() && wanted == Some("string") {
            return Err(refusal(&format!("it is {}, but the argument is of the type string", format.name())));
        }
        let (bytes, parsed) = match (format.is_text(), reference.range) {
            (false, Some(_)) => return Err(refusal(&format!("{} has no lines; leave the range out", format.name()))),
            (false, None) => (&file.bytes[..], format.parse_bytes(&file.bytes)),
            (true, range) => {
                let text = select_lines(&file, range)?;
                (text.as_bytes(), format.parse_text(text))
            }
        };
        let value = match parsed {
            Ok(value) => value,
            Err(reason) if !format.is_text() || wanted.is_some() => {
                let what = wanted.map(|name| format!(", but the argument is of the type {name}")).unwrap_or_default();
                return Err(refusal(&format!("it cannot be read as {} ({reason}){what}", format.name())));
            }
            // Text of any kind will do.
            Err(_) => {
                let (text, excerpt) = self.take_text(reference, &file)?;
                return Ok((text.into(), excerpt.into()));
            }
        };
        let value = adapt(value, schema).map_err(|reason| refusal(&reason))?;
        self.count(&file, value.to_string().len())?;
        let excerpt = cut_value(&value);
        self.record(reference, &file, bytes, excerpt != value);
        Ok((value, excerpt))
    }

    /// Reads the file of a reference. Also returns the end of the reference that belongs to the text around it.
    fn read(&self, reference: &FileReference) -> Result<(FoundFile, String), Error> {
        if self.files.len() >= MAX_REFERENCES {
            return Err(Error::Arguments(format!("there are more than {MAX_REFERENCES} references in the call.")));
        }
        self.sources.read(reference)
    }

    /// Returns the text that a reference stands for, and an excerpt of it.
    fn take_text(&mut self, reference: &FileReference, file: &FoundFile) -> Result<(String, String), Error> {
        let text = select_lines(file, reference.range)?;
        if text.len() > MAX_TEXT_BYTES {
            return Err(Error::Arguments(format!(
                "{}{} has {}; a reference stands for at most {}. Name fewer lines, such as {}.",
                file.name,
                reference.range.map(|range| range.to_string()).unwrap_or_default(),
                format_bytes(text.len() as u64),
                format_bytes(MAX_TEXT_BYTES as u64),
                LineRange::Lines(1, fitting_lines(text).max(1)),
            )));
        }
        self.count(file, text.len())?;
        let excerpt = cut_text(text);
        self.record(reference, file, text.as_bytes(), excerpt != text);
        Ok((text.to_owned(), excerpt))
    }

    /// Counts what a reference stands for.
    fn count(&mut self, file: &FoundFile, bytes: usize) -> Result<(), Error> {
        self.bytes += bytes;
        if self.bytes <= MAX_TOTAL_BYTES {
            return Ok(());
        }
        let limit = format_bytes(MAX_TOTAL_BYTES as u64);
        Err(Error::Arguments(format!(
            "with {}, the references of the call stand for more than {limit}. Name fewer lines, or use several calls.",
            file.name
        )))
    }

    fn record(&mut self, reference: &FileReference, file: &FoundFile, bytes: &[u8], is_excerpt: bool) {
        self.files.push(ReferencedFile {
            name: file.name.clone(),
            lines: reference.range.map(|range| range.to_string()),
            path: file.path.clone(),
            bytes: bytes.len() as u64,
            sha256: Digest::of_bytes(bytes),
            is_excerpt,
        });
    }
}

/// Returns the lines of a file; all of it without a range.
fn select_lines(file: &FoundFile, range: Option<LineRange>) -> Result<&str, Error> {
    let is_text = !file.bytes.contains(&0);
    let text = std::str::from_utf8(&file.bytes).ok().filter(|_| is_text).ok_or_else(|| {
        Error::Arguments(format!("{} is not UTF-8 text, so a reference cannot insert it here.", file.name))
    })?;
    let Some(range) = range else { return Ok(text) };
    range.select(text).map_err(|lines| {
        let lines = match lines {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        Error::Arguments(format!("{} has {lines}, so the lines {range} do not exist.", file.name))
    })
}

/// Returns how many lines at the beginning of a text one reference may stand for.
fn fitting_lines(text: &str) -> u64 {
    let mut bytes = 0;
    let fits = |line: &&str| {
        bytes += line.len();
        bytes <= MAX_TEXT_BYTES
    };
    text.split_inclusive('\n').take_while(fits).count() as u64
}

#[cfg(test)]
mod tests;
