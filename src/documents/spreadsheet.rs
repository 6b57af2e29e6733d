//! Rows of XLSX files.

use super::rows::RowWriter;
use calamine::{Data, ExcelDateTime, Reader, Xlsx};
use serde_json::{Value, json};
use std::io::Cursor;

/// Largest integer that a spreadsheet, whose numbers are floating-point, stores exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the rows of the first sheet as a JSON list of lists. The cells of the first row are texts; empty cells of other
/// rows are null.
///
/// # Errors
/// Why they cannot be read, worded to follow a colon.
pub(super) fn read_rows(bytes: Vec<u8>) -> Result<String, String> {
    let mut workbook: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let sheet = workbook.worksheet_range_at(0).ok_or("it has no sheet")?.map_err(|error| error.to_string())?;
    let mut rows = sheet.rows();
    let columns = rows.next().ok_or("its first sheet is empty")?.iter().map(cell_text);
    let mut writer = RowWriter::new(columns.collect())?;
    for row in rows {
        writer.push_row(row.iter().map(cell_value).collect())?;
    }
    Ok(writer.finish())
}

/// Returns the text of a cell; empty for an empty one.
fn cell_text(cell: &Data) -> String {
    match cell_value(cell) {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn cell_value(cell: &Data) -> Value {
    match cell {
        Data::Int(number) => json!(number),
        #[expect(clippy::cast_possible_truncation, reason = "checked before")]
        Data::Float(number) if number.fract() == 0.0 && number.abs() <= MAX_EXACT => json!(*number as i64),
        // A number that is not finite becomes null.
        Data::Float(number) => json!(number),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => json!(text),
        Data::Bool(is_true) => json!(is_true),
        Data::DateTime(time) => json!(format_time(time)),
        Data::Error(error) => json!(error.to_string()),
        Data::Empty => Value::Null,
    }
}

/// Formats a date, or a date with a time of day, as ISO 8601.
fn format_time(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        return format!("{} days", time.as_f64());
    }
    let (year, month, day, hour, minute, second, milliseconds) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (hour, minute, second, milliseconds) {
        (0, 0, 0, 0) => date,
        (hour, minute, second, 0) => format!("{date}T{hour:02}:{minute:02}:{second:02}"),
        (hour, minute, second, milliseconds) => {
            format!("{date}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    /// Makes a file with one sheet of these rows of XML.
    fn make_file(rows: &str) -> Vec<u8> {
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let package = "http://schemas.openxmlformats.org/package/2006/relationships";
        let mut file = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text) in [
            (
                "_rels/.rels",
                format!(
                    "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
                ),
            ),
            (
                "xl/workbook.xml",
                format!(
                    "<workbook xmlns=\"{main}\" xmlns:r=\"{relations}\"><sheets><sheet name=\"One\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
                ),
            ),
            (
                "xl/_rels/workbook.xml.rels",
                format!(
                    "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{relations}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
                ),
            ),
            (
                "xl/styles.xml",
                format!(
                    "<styleSheet xmlns=\"{main}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
                ),
            ),
            (
                "xl/worksheets/sheet1.xml",
                format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>"),
            ),
        ] {
            file.start_file(name, SimpleFileOptions::default()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }
        file.finish().unwrap().into_inner()
    }

    #[test]
    fn cells_of_each_type_are_read() {
        let rows = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>name</t></is></c><c r=\"B1\"><v>2026</v></c></row>\
            <row r=\"2\"><c r=\"A2\" t=\"inlineStr\"><is><t>Zo\u{eb}</t></is></c><c r=\"B2\"><v>1.5</v></c></row>\
            <row r=\"3\"><c r=\"A3\" t=\"b\"><v>1</v></c><c r=\"B3\" s=\"1\"><v>46355</v></c></row>\
            <row r=\"4\"><c r=\"B4\" t=\"e\"><v>#DIV/0!</v></c></row>";
        let expected = r##"[["name","2026"],["Zoë",1.5],[true,"2026-11-29"],[null,"#DIV/0!"]]"##;
        assert_eq!(read_rows(make_file(rows)).as_deref(), Ok(expected));
    }

    #[test]
    fn a_damaged_or_empty_file_is_an_error() {
        let whole = make_file("");
        assert_eq!(read_rows(whole.clone()).unwrap_err(), "its first sheet is empty");
        for damaged in [&b"PK\x03\x04"[..], &whole[..whole.len() / 2], b""] {
            assert!(read_rows(damaged.to_vec()).is_err());
        }
    }

    #[test]
    fn too_many_rows_are_an_error() {
        let row = |number: usize| format!("<row r=\"{number}\"><c r=\"A{number}\"><v>1234567890</v></c></row>");
        let rows: String = (1..=90_000).map(row).collect();
        let error = read_rows(make_file(&rows)).unwrap_err();
        assert!(error.contains("more than 1000000 bytes"), "{error}");
    }
}
