//! Finds the passage of a file that the model most likely meant.

use super::summary_line;

/// Maximum number of lines shown.
const MAX_LINES: usize = 12;

/// Describes the passage of `text` that is closest to `wanted`, with line numbers, and whether only whitespace differs.
/// The result follows the text of an error; it is empty if nothing is similar.
pub fn describe_closest(text: &str, wanted: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = wanted.lines().map(str::trim).skip_while(|line| line.is_empty()).collect();
    let count_equal_lines = |wanted: &[&str], start: usize| {
        let pairs = wanted.iter().zip(&lines[start..]);
        pairs.filter(|(wanted, line)| !wanted.is_empty() && **wanted == line.trim()).count()
    };
    // Twenty lines identify a passage; all of them are compared at every line of the file.
    let first_lines = &wanted[..wanted.len().min(20)];
    match find_best(lines.len(), |start| count_equal_lines(first_lines, start)) {
        Some((start, _)) => {
            let nonempty_count = wanted.iter().filter(|line| !line.is_empty()).count();
            let is_equal = count_equal_lines(&wanted, start) == nonempty_count;
            let label = if is_equal { "only whitespace differs at" } else { "closest match at" };
            format_passage(&lines, start, wanted.len(), label)
        }
        None => describe_similar(&lines, first_lines),
    }
}

/// Describes the line that shares the most words with the longest wanted line, with one line before and after it; empty
/// if none shares any.
fn describe_similar(lines: &[&str], wanted: &[&str]) -> String {
    let Some(longest) = wanted.iter().max_by_key(|line| line.len()) else { return String::new() };
    let words: Vec<&str> = longest.split_whitespace().take(30).collect();
    let count_shared_words =
        |index: usize| lines[index].split_whitespace().take(60).filter(|word| words.contains(word)).count();
    let passage = |(index, _): (usize, _)| format_passage(lines, index.saturating_sub(1), 3, "similar text at");
    find_best(lines.len(), count_shared_words).map(passage).unwrap_or_default()
}

/// Returns the first index below `count` with the highest score, and that score. `None` if no score is above 0.
fn find_best(count: usize, score: impl Fn(usize) -> usize) -> Option<(usize, usize)> {
    // Reversed, because `max_by_key` returns the last of equal items.
    let best = (0..count).map(|index| (index, score(index))).rev().max_by_key(|(_, score)| *score);
    best.filter(|(_, score)| *score > 0)
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

    #[test]
    fn a_difference_after_many_lines_is_not_called_whitespace() {
        let text: String = (1..=30).map(|n| format!("    line {n}\n")).collect();
        let wanted = text.replace("    ", "");
        assert!(describe_closest(&text, &wanted).starts_with(" — only whitespace differs at line 1:"));
        let wanted = wanted.replace("line 25", "other 25");
        assert!(describe_closest(&text, &wanted).starts_with(" — closest match at line 1:"));
    }
}
