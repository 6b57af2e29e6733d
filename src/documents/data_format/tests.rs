//! Tests of the formats of data.

use super::*;
use proptest::prelude::*;

fn parse(format: DataFormat, text: &str) -> Value {
    format.parse_text(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn each_format_is_parsed() {
    for (format, text, expected) in [
        (DataFormat::Json, "\u{feff}{\"a\": [1, 2.50]}", json!({"a": [1, 2.5]})),
        (DataFormat::JsonLines, "{\"a\":1}\n\n{\"b\":2}\n", json!([{"a": 1}, {"b": 2}])),
        (DataFormat::JsonLines, "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":null}", json!([["a", "b"], [1, 2], [3, null]])),
        (DataFormat::JsonLines, "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}", json!([{"a":1,"b":2}, {"b":3,"a":4}])),
        (DataFormat::JsonLines, "{\"a\":1}", json!([{"a": 1}])),
        (DataFormat::Csv, "id,name\r\n007,\"a, b\"\n,\n1\n", json!([["id", "name"], ["007", "a, b"], ["1"]])),
        (DataFormat::Csv, "id;name\n1;x\n", json!([["id", "name"], ["1", "x"]])),
        (DataFormat::Tsv, "id\tname\n1\ta,b\n", json!([["id", "name"], ["1", "a,b"]])),
        (
            DataFormat::Yaml,
            "a: yes\nb: [1, 2]\nc: &x {d: 1}\ne: *x\n---\nother: 1",
            json!({"a": "yes", "b": [1, 2], "c": {"d": 1}, "e": {"d": 1}}),
        ),
        (
            DataFormat::Toml,
            "a = 1\nt = 2026-11-29\n[b]\nc = [true]",
            json!({"a": 1, "t": "2026-11-29", "b": {"c": [true]}}),
        ),
    ] {
        assert_eq!(parse(format, text), expected, "{text}");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    for (format, text, part) in [
        (DataFormat::Json, "3", "a single value"),
        (DataFormat::Json, "{", "EOF"),
        (DataFormat::Json, "{} {}", "text after the value"),
        (DataFormat::Json, "{\"a\":1,\"a\":2}", "given twice"),
        (DataFormat::JsonLines, "{}\n{", "line 2: EOF"),
        (DataFormat::JsonLines, "\n", "no lines"),
        (DataFormat::Csv, "one\ntwo", "a single column"),
        (DataFormat::Csv, "a,\"b\n1,2\n", "a quote that is not closed"),
        (DataFormat::Csv, "\n\n", "no rows"),
        (DataFormat::Yaml, "a: [", "line 1"),
        (DataFormat::Yaml, "text", "a single value"),
        (DataFormat::Yaml, "", "empty"),
        (DataFormat::Yaml, "a: .nan", "NaN"),
        (DataFormat::Toml, "a = nan", "no number in JSON"),
        (DataFormat::Toml, "a", "expected"),
        (DataFormat::Xlsx, "PK", "not text"),
    ] {
        let error = format.parse_text(text).unwrap_err();
        assert!(error.to_lowercase().contains(&part.to_lowercase()), "{text}: {error}");
    }
}

#[test]
fn data_that_grows_or_nests_without_end_is_refused() {
    let bomb = (0..9).fold("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
        let uses = vec![format!("*a{level}"); 10].join(", ");
        format!("{text}a{}: &a{} [{uses}]\n", level + 1, level + 1)
    });
    let error = DataFormat::Yaml.parse_text(&bomb).unwrap_err();
    assert!(error.len() < 500, "{error}");
    for (format, text) in [
        (DataFormat::Json, format!("{}{}", "[".repeat(70), "]".repeat(70))),
        (DataFormat::Yaml, format!("{}{}", "[".repeat(70), "]".repeat(70))),
        (DataFormat::Toml, format!("a = {}{}", "[".repeat(70), "]".repeat(70))),
    ] {
        assert!(format.parse_text(&text).is_err(), "{format:?}");
        assert!(
            format.parse_text(&text.replacen(&"[".repeat(10), "", 1).replacen(&"]".repeat(10), "", 1)).is_ok(),
            "{format:?}"
        );
    }
}

#[test]
fn names_and_media_types_have_a_format() {
    assert_eq!(DataFormat::from_name("a/b.NDJSON"), Some(DataFormat::JsonLines));
    assert_eq!(DataFormat::from_name("yml"), None);
    assert_eq!(DataFormat::from_name("a.yml"), Some(DataFormat::Yaml));
    assert_eq!(DataFormat::from_media_type("text/csv"), Some(DataFormat::Csv));
    assert_eq!(DataFormat::from_media_type("text/plain"), None);
    assert!(DataFormat::Xls.parse_bytes(b"").unwrap_err().contains("save it as XLSX"));
}

proptest! {
    #[test]
    fn written_rows_are_read_back(rows in proptest::collection::vec(proptest::collection::vec("[a\",;\n\ré1]{1,4}", 2..4), 1..5)) {
        let quote = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let lines: Vec<String> = rows.iter().map(|row| row.iter().map(quote).collect::<Vec<_>>().join(",")).collect();
        let text = lines.join("\n");
        prop_assert_eq!(parse(DataFormat::Csv, &text), json!(rows));
    }

    #[test]
    fn json_written_as_yaml_or_toml_means_the_same(numbers in proptest::collection::vec(-1000..1000_i64, 1..5), text in "[ -~é]{0,12}") {
        let value = json!({"numbers": numbers, "text": text, "nested": {"yes": true}});
        prop_assert_eq!(parse(DataFormat::Yaml, &value.to_string()), value.clone());
        let table: toml::Table = toml::Table::try_from(&value).unwrap();
        prop_assert_eq!(parse(DataFormat::Toml, &table.to_string())["numbers"].clone(), value["numbers"].clone());
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "[a:{}\\[\\]\",&*\n\t #=1-]{0,40}") {
        for format in [DataFormat::Json, DataFormat::JsonLines, DataFormat::Csv, DataFormat::Tsv, DataFormat::Yaml, DataFormat::Toml] {
            if let Ok(value) = format.parse_text(&text) {
                prop_assert!(value.is_array() || value.is_object());
            }
        }
    }
}
