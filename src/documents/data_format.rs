//! Formats of data, and their values as JSON.

use super::reader_process::{DocumentFormat, read_document};
use crate::text::delimited_rows::{RowLimits, parse_rows};
use crate::text::unique_keys::parse_unique_to_depth;
use serde_json::{Map, Value, json};

/// Maximum depth of nested values.
const MAX_DEPTH: usize = 64;
/// Maximum values of a YAML document, in which one line can stand for many.
const MAX_YAML_VALUES: usize = 100_000;
/// Bytes at the beginning in which the delimiter of a table is looked for.
const SNIFFED_BYTES: usize = 8 << 10;
/// What is read is bounded by the size of the file.
const NO_LIMITS: RowLimits = RowLimits { rows: usize::MAX, columns: usize::MAX, cells: usize::MAX };

/// A format of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataFormat {
    Json,
    /// One JSON value per line.
    JsonLines,
    /// Values separated by commas, or by what seems to separate them.
    Csv,
    /// Values separated by tabs, or by what seems to separate them.
    Tsv,
    Yaml,
    Toml,
    Parquet,
    Xlsx,
    /// The binary format of old spreadsheets, which is not read.
    Xls,
}

impl DataFormat {
    /// Returns the format of files with the extension of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        Some(match extension.to_ascii_lowercase().as_str() {
            "json" => Self::Json,
            "jsonl" | "ndjson" => Self::JsonLines,
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "yaml" | "yml" => Self::Yaml,
            "toml" => Self::Toml,
            "parquet" => Self::Parquet,
            "xlsx" => Self::Xlsx,
            "xls" => Self::Xls,
            _ => return None,
        })
    }

    /// Returns the format of a media type without parameters.
    pub fn from_media_type(media_type: &str) -> Option<Self> {
        Some(match media_type.to_ascii_lowercase().as_str() {
            "application/json" => Self::Json,
            "application/jsonl" | "application/x-ndjson" | "application/x-jsonlines" => Self::JsonLines,
            "text/csv" => Self::Csv,
            "text/tab-separated-values" => Self::Tsv,
            "application/yaml" | "application/x-yaml" | "text/yaml" => Self::Yaml,
            "application/toml" => Self::Toml,
            "application/vnd.apache.parquet" => Self::Parquet,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => Self::Xlsx,
            "application/vnd.ms-excel" => Self::Xls,
            _ => return None,
        })
    }

    /// Returns whether files of the format are text, so that a range of lines can be selected.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Parquet | Self::Xlsx | Self::Xls)
    }

    /// Returns the name for users and models.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::JsonLines => "JSON Lines",
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
            Self::Parquet => "Parquet",
            Self::Xlsx => "XLSX",
            Self::Xls => "XLS",
        }
    }

    /// Parses text of the format. The value is a list or an object. Rows of tables are lists of texts: numbers stay as they
    /// are written. Lines that are all objects with the same keys in the same order become a table, its first row the
    /// keys. Of several YAML documents the first is returned.
    ///
    /// # Errors
    /// Why it cannot be parsed, worded to follow a colon; also for a single value that is no list or object.
    pub fn parse_text(self, text: &str) -> Result<Value, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value = match self {
            Self::Json => parse_json(text)?,
            Self::JsonLines => parse_json_lines(text)?,
            Self::Csv => parse_table(text, ',')?,
            Self::Tsv => parse_table(text, '\t')?,
            Self::Yaml => parse_yaml(text)?,
            Self::Toml => parse_toml(text)?,
            Self::Parquet | Self::Xlsx | Self::Xls => return Err(format!("{} is not text", self.name())),
        };
        match &value {
            Value::Array(_) | Value::Object(_) if depth(&value) <= MAX_DEPTH => Ok(value),
            Value::Array(_) | Value::Object(_) => Err(format!("its values are nested more than {MAX_DEPTH} deep")),
            _ => Err("it holds a single value, no list or object".to_owned()),
        }
    }

    /// Parses bytes of a format that is not text: the first row of the list has the names of the columns. Blocks for at
    /// most thirty seconds.
    ///
    /// # Errors
    /// Why it cannot be read, worded to follow a colon.
    pub fn parse_bytes(self, bytes: &[u8]) -> Result<Value, String> {
        let format = match self {
            Self::Parquet => DocumentFormat::Parquet,
            Self::Xlsx => DocumentFormat::Xlsx,
            Self::Xls => {
                return Err("the old XLS format is not supported; save it as XLSX or CSV".to_owned());
            }
            _ => return Err(format!("{} is text", self.name())),
        };
        let rows = read_document(format, bytes)?;
        serde_json::from_str(&rows).map_err(|_| "its rows are damaged".to_owned())
    }
}

/// Returns the depth of nested lists and objects.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

fn parse_json(text: &str) -> Result<Value, String> {
    match parse_unique_to_depth(text, MAX_DEPTH) {
        Ok((value, None)) => Ok(value),
        Ok((_, Some(_))) => Err("there is text after the value".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_json_lines(text: &str) -> Result<Value, String> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        values.push(parse_json(line).map_err(|error| format!("line {}: {error}", index + 1))?);
    }
    if values.is_empty() {
        return Err("it has no lines".to_owned());
    }
    let keys: Option<Vec<&String>> = values[0].as_object().map(|object| object.keys().collect());
    let has_keys = |value: &Value| {
        value.as_object().is_some_and(|object| keys.as_ref().is_some_and(|keys| object.keys().eq(keys.iter().copied())))
    };
    if values.len() < 2 || !values.iter().all(has_keys) {
        return Ok(Value::Array(values));
    }
    let header = keys.iter().flatten().map(|key| json!(key)).collect();
    let rows = values.iter().filter_map(Value::as_object).map(|object| object.values().cloned().collect());
    Ok(std::iter::once(Value::Array(header)).chain(rows.map(Value::Array)).collect())
}

fn parse_table(text: &str, delimiter: char) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Err("it has no rows".to_owned());
    }
    let table = parse_rows(text, delimiter, NO_LIMITS, false)
        .or_else(|| parse_rows(text, find_delimiter(text)?, NO_LIMITS, false))
        .ok_or("it has a single column, or a quote that is not closed")?;
    let has_value = |row: &Vec<String>| row.iter().any(|cell| !cell.is_empty());
    Ok(table.rows.into_iter().filter(has_value).map(Value::from).collect())
}

/// Returns the delimiter that separates each of the first rows into the same number of columns, if there is one.
fn find_delimiter(text: &str) -> Option<char> {
    let beginning = &text[..text.floor_char_boundary(SNIFFED_BYTES)];
    let columns = |delimiter: char| {
        let rows = parse_rows(beginning, delimiter, NO_LIMITS, beginning.len() < text.len())?.rows;
        let count = rows.first()?.len();
        rows.iter().all(|row| row.len() == count).then_some(count)
    };
    let counted = [',', ';', '\t', '|'].into_iter().filter_map(|delimiter| Some((columns(delimiter)?, delimiter)));
    counted.max_by_key(|(count, _)| *count).map(|(_, delimiter)| delimiter)
}

fn parse_yaml(text: &str) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: MAX_YAML_VALUES, max_depth: MAX_DEPTH },
        strict_booleans: true,
        with_snippet: false,
    };
    // Each alias adds all values of its anchor.
    let mut options = options;
    options.alias_limits.max_total_replayed_events = MAX_YAML_VALUES;
    let documents: Vec<Value> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|error| error.to_string())?;
    documents.into_iter().next().ok_or_else(|| "it is empty".to_owned())
}

fn parse_toml(text: &str) -> Result<Value, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    to_json(toml::Value::Table(table))
}

/// Converts a TOML value. Dates and times become texts.
fn to_json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => json!(number),
        toml::Value::Float(number) if number.is_finite() => json!(number),
        toml::Value::Float(number) => return Err(format!("{number} is no number in JSON")),
        toml::Value::Boolean(is_true) => json!(is_true),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(to_json).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(key, value)| Ok((key, to_json(value)?)));
            Value::Object(fields.collect::<Result<Map<_, _>, String>>()?)
        }
    })
}

#[cfg(test)]
mod tests;
