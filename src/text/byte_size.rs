//! Numbers of bytes for readers.

/// Formats a number of bytes: `1 byte`, `12 bytes`, `3.4 kB`, `1.2 MB`. A kB has 1,000 bytes.
pub fn format_bytes(bytes: u64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        0..1000 => format!("{bytes} bytes"),
        // From here on the number would be rounded to `1000.0 kB`.
        1000..999_950 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_number_of_bytes_has_the_larger_unit() {
        let sizes = [0, 1, 999, 1000, 999_949, 999_950, 1_000_000].map(format_bytes);
        assert_eq!(sizes, ["0 bytes", "1 byte", "999 bytes", "1.0 kB", "999.9 kB", "1.0 MB", "1.0 MB"]);
    }
}
