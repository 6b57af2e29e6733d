//! Adapts data to the schema of an argument.

use serde_json::{Map, Value, json};

/// Returns the type in a schema. Of several types, the first that is not `null`.
pub(super) fn schema_type(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

/// Adapts a list or an object to a schema: a table becomes columns, rows or records, and an object a list, as far as the
/// schema asks for it.
///
/// # Errors
/// Why it cannot, worded to follow a colon.
pub(super) fn adapt(value: Value, schema: &Value) -> Result<Value, String> {
    let wanted = schema_type(schema);
    match (value, wanted) {
        (Value::Object(fields), Some("array")) => Ok(object_to_list(fields, &schema["items"])),
        (Value::Array(rows), Some("object")) if is_table(&rows) => Ok(table_to_columns(&rows)),
        (Value::Array(_), Some("object")) => Err("it is a list, but the argument is of the type object".to_owned()),
        (Value::Array(rows), None) if is_table(&rows) => Ok(table_to_records(&rows)),
        (value, _) => Ok(value),
    }
}

/// Returns whether rows are a table: at least two lists, the first of texts.
fn is_table(rows: &[Value]) -> bool {
    let header = rows.first().and_then(Value::as_array);
    rows.len() > 1
        && rows.iter().all(Value::is_array)
        && header.is_some_and(|cells| !cells.is_empty() && cells.iter().all(Value::is_string))
}

/// Converts an object for a list: to its values that are lists if the list is one of lists, else to a list with the object.
/// For a list of texts it stays, and the tool says what it expects.
fn object_to_list(fields: Map<String, Value>, items: &Value) -> Value {
    match schema_type(items) {
        Some("string") => Value::Object(fields),
        Some("array") => {
            let lists: Vec<Value> = fields.values().filter(|value| value.is_array()).cloned().collect();
            if lists.is_empty() { json!([fields]) } else { Value::Array(lists) }
        }
        _ => json!([fields]),
    }
}

/// Splits a table into the names of its columns and its rows.
fn split_header(rows: &[Value]) -> (Vec<&str>, impl Iterator<Item = &Vec<Value>>) {
    let header = rows.first().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    (header, rows.iter().skip(1).filter_map(Value::as_array))
}

/// Converts a table to an object with the values of each column. Missing cells are null; cells beyond the columns are left
/// out.
fn table_to_columns(rows: &[Value]) -> Value {
    let (header, cells) = split_header(rows);
    let mut columns: Vec<Vec<Value>> = vec![Vec::new(); header.len()];
    for row in cells {
        for (index, column) in columns.iter_mut().enumerate() {
            column.push(row.get(index).cloned().unwrap_or_default());
        }
    }
    header.into_iter().map(str::to_owned).zip(columns.into_iter().map(Value::Array)).collect()
}

/// Converts a table to a list with an object for each row. Missing cells are null; cells beyond the columns are left out.
fn table_to_records(rows: &[Value]) -> Value {
    let (header, cells) = split_header(rows);
    let to_record = |row: &Vec<Value>| -> Value {
        header
            .iter()
            .enumerate()
            .map(|(index, name)| ((*name).to_owned(), row.get(index).cloned().unwrap_or_default()))
            .collect()
    };
    cells.map(to_record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_adapted_to_the_schema() {
        let table = json!([["id", "name"], ["1"], ["2", "b", "extra"]]);
        let lists = json!({"a": [1], "b": 2, "c": [3]});
        for (value, schema, expected) in [
            (json!({"a": 1}), json!({"type": "array"}), json!([{"a": 1}])),
            (lists.clone(), json!({"type": "array", "items": {"type": "array"}}), json!([[1], [3]])),
            (json!({"b": 2}), json!({"type": "array", "items": {"type": "array"}}), json!([{"b": 2}])),
            (lists.clone(), json!({"type": "array", "items": {"type": "string"}}), lists.clone()),
            (lists.clone(), json!({"type": "array", "items": {"type": "object"}}), json!([lists.clone()])),
            (table.clone(), json!({"type": "object"}), json!({"id": ["1", "2"], "name": [null, "b"]})),
            (table.clone(), json!({}), json!([{"id": "1", "name": null}, {"id": "2", "name": "b"}])),
            (table.clone(), Value::Null, json!([{"id": "1", "name": null}, {"id": "2", "name": "b"}])),
            (table.clone(), json!({"type": ["null", "array"]}), table.clone()),
            (json!([1, 2]), json!({}), json!([1, 2])),
            (json!([["a"]]), json!({}), json!([["a"]])),
            (lists.clone(), json!({"type": "object"}), lists),
        ] {
            assert_eq!(adapt(value.clone(), &schema), Ok(expected), "{value} {schema}");
        }
        for list in [json!([1, 2]), json!([[1, 2], [3, 4]]), json!([["a"]])] {
            let error = adapt(list, &json!({"type": "object"})).unwrap_err();
            assert!(error.contains("it is a list"), "{error}");
        }
    }

    #[test]
    fn two_columns_with_one_name_are_not_mixed_up() {
        let table = json!([["a", "a"], ["1", "2"]]);
        assert_eq!(adapt(table.clone(), &json!({"type": "object"})).unwrap(), json!({"a": ["2"]}));
    }
}
