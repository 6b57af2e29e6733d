//! Finds the passage of a file that the model most likely meant.

use super::summary_line;

/// Lines shown.
const MAX_LINES: usize = 12;

/// Describes the passage of `text` that is closest to `wanted`, with line numbers, and whether only whitespace differs.
/// The result follows the text of an error; it is empty if nothing is similar.
pub fn describe_closest(text: &str, wanted: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = wanted.lines().map(str::trim).skip_while(|line| line.is_empty()).take(20).collect();
    let count_equal_lines = |start: usize| {
        let pairs = wanted.iter().zip(&lines[start..]);
        pairs.filter(|(wanted, line)| !wanted.is_empty() && **wanted == line.trim()).count()
    };
    // The first of the best matches: `max_by_key` alone would return the last.
    let best = (0..lines.len())
        .map(|start| (count_equal_lines(start), start))
        .max_by_key(|(score, start)| (*score, usize::MAX - start));
    let nonempty_count = wanted.iter().filter(|line| !line.is_empty()).count();
    match best {
        Some((score, start)) if score > 0 => {
            let label = if score == nonempty_count { "only whitespace differs at" } else { "closest match at" };
            format_passage(&lines, start, wanted.len(), label)
        }
        Some(_) | None => find_similar(&lines, &wanted),
    }
}

/// Describes the line that shares the most words with the longest wanted line; empty if none shares any.
fn find_similar(lines: &[&str], wanted: &[&str]) -> String {
    let Some(longest) = wanted.iter().max_by_key(|line| line.len()) else { return String::new() };
    let words: Vec<&str> = longest.split_whitespace().take(30).collect();
    let score = |line: &str| line.split_whitespace().take(60).filter(|word| words.contains(word)).count();
    let best = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (score(line), index))
        .max_by_key(|(score, index)| (*score, usize::MAX - index));
    match best {
        Some((score, index)) if score > 0 => format_passage(lines, index.saturating_sub(1), 3, "similar text at"),
        Some(_) | None => String::new(),
    }
}

fn format_passage(lines: &[&str], start: usize, count: usize, label: &str) -> String {
    let end = (start + count.clamp(1, MAX_LINES)).min(lines.len());
    let rows: Vec<String> = (start..end)
        .map(|index| format!("{}\t{}", index + 1, summary_line::truncate_chars(lines[index], 200).0))
        .collect();
    format!(" — {label} line {}:\n{}", start + 1, rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_closest_passage_with_line_numbers() {
        let text = "fn a() {\n    one();\n    two(x, y);\n}\n";
        assert_eq!(describe_closest(text, "  one();\n"), " — only whitespace differs at line 2:\n2\t    one();");
        assert_eq!(
            describe_closest(text, "one();\nthree();"),
            " — closest match at line 2:\n2\t    one();\n3\t    two(x, y);"
        );
        assert!(describe_closest(text, "two(x, z);").starts_with(" — similar text at line 2:\n"));
        assert_eq!(describe_closest(text, "nothing"), "");
        assert_eq!(describe_closest("", "x"), "");
    }
}
