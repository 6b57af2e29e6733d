//! Rows of Parquet files.

use super::rows::RowWriter;
use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// Returns the rows as a JSON list of lists, the first with the names of the columns. Numbers that are not finite become
/// null, and bytes that are not text become base64.
///
/// # Errors
/// Why they cannot be read, worded to follow a colon.
pub(super) fn read_rows(bytes: Vec<u8>) -> Result<String, String> {
    let reader = SerializedFileReader::new(Bytes::from(bytes)).map_err(|error| error.to_string())?;
    let columns = reader.metadata().file_metadata().schema().get_fields().iter();
    let mut writer = RowWriter::new(columns.map(|column| column.name().to_owned()).collect())?;
    for row in reader.get_row_iter(None).map_err(|error| error.to_string())? {
        let row = row.map_err(|error| error.to_string())?;
        writer.push_row(row.get_column_iter().map(|(_, field)| field.to_json_value()).collect())?;
    }
    Ok(writer.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use std::sync::Arc;

    /// Creates a file with three columns and two rows.
    fn make_file(compression: Compression) -> Vec<u8> {
        let schema = "message rows { required int64 id; optional binary name (UTF8); required double share; }";
        let schema = Arc::new(parse_message_type(schema).unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut file = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut file, schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&[1, i64::MAX], None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&[ByteArray::from("Zoë")], Some(&[1, 0]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[0.5, f64::NAN], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        file
    }

    #[test]
    fn rows_of_each_compression_are_read() {
        let expected = r#"[["id","name","share"],[1,"Zoë",0.5],[9223372036854775807,null,null]]"#;
        let zstd = Compression::ZSTD(Default::default());
        let gzip = Compression::GZIP(Default::default());
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, zstd, Compression::LZ4_RAW] {
            assert_eq!(read_rows(make_file(compression)).as_deref(), Ok(expected), "{compression:?}");
        }
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let whole = make_file(Compression::SNAPPY);
        for damaged in [&b"PAR1"[..], &whole[..whole.len() - 1], b""] {
            assert!(read_rows(damaged.to_vec()).is_err());
        }
    }
}
