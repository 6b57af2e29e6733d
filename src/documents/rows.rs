//! Rows of a table as JSON text, up to a limit.

use serde_json::Value;

/// Maximum bytes of the JSON text of a table.
pub const MAX_TABLE_BYTES: usize = 1_000_000;

/// Writes rows as a JSON list of lists.
pub(super) struct RowWriter {
    json: String,
    rows: usize,
}

impl RowWriter {
    /// Creates a writer for a table with these names of columns.
    pub(super) fn new(columns: Vec<String>) -> Result<Self, String> {
        let mut writer = Self { json: String::from("["), rows: 0 };
        writer.push_row(columns.into_iter().map(Value::String).collect())?;
        Ok(writer)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The table is too long, worded to follow a colon.
    pub(super) fn push_row(&mut self, row: Vec<Value>) -> Result<(), String> {
        if self.rows > 0 {
            self.json.push(',');
        }
        self.json.push_str(&Value::Array(row).to_string());
        self.rows += 1;
        if self.json.len() >= MAX_TABLE_BYTES {
            let rows = self.rows;
            return Err(format!("its first {rows} rows have more than {MAX_TABLE_BYTES} bytes as JSON"));
        }
        Ok(())
    }

    /// Returns the list.
    pub(super) fn finish(mut self) -> String {
        self.json.push(']');
        self.json
    }
}
