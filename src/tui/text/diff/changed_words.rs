//! Changed words of a line: finds the added line that replaces a removed one, and the parts in which they differ.

use similar::{DiffTag, TextDiff};
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Lines longer than this, in bytes, are shown without highlighted words.
const MAX_WORD_DIFF_LINE: usize = 2000;
/// Time limit for finding changed words in one pair of lines.
const WORD_DIFF_TIMEOUT: Duration = Duration::from_millis(5);
/// Maximum pairs of removed and added lines that are compared to find those that belong together.
const MAX_COMPARED_PAIRS: usize = 16;
/// Minimum share of the words that two versions of a line have in common, from 0 to 1, for highlighting the others.
const MIN_SIMILARITY: f32 = 0.4;

/// Parts of a line, and whether each was changed.
pub(super) type Parts<'l> = Vec<(&'l str, bool)>;

/// Two versions of a line.
struct Pair<'l> {
    removed: usize,
    added: usize,
    similarity: f32,
    removed_parts: Parts<'l>,
    added_parts: Parts<'l>,
}

/// Splits removed and added lines into unchanged and changed parts. The most similar lines belong together, without a
/// change of their order; a line that is like no other is one unchanged part. Of many lines, as many of both belong
/// together one by one.
pub(super) fn split_changed_words<'l>(removed: &[&'l str], added: &[&'l str]) -> (Vec<Parts<'l>>, Vec<Parts<'l>>) {
    let unsplit = |lines: &[&'l str]| lines.iter().map(|line| vec![(*line, false)]).collect::<Vec<Parts<'l>>>();
    let (mut removed_parts, mut added_parts) = (unsplit(removed), unsplit(added));
    let mut pairs: Vec<Pair<'l>> = match removed.len() * added.len() <= MAX_COMPARED_PAIRS {
        true => {
            let indexes = (0..removed.len()).flat_map(|old| (0..added.len()).map(move |new| (old, new)));
            indexes.filter_map(|(old, new)| compare_lines((old, removed[old]), (new, added[new]))).collect()
        }
        false if removed.len() == added.len() => {
            let lines = removed.iter().zip(added).enumerate();
            lines.filter_map(|(index, (old, new))| compare_lines((index, old), (index, new))).collect()
        }
        false => Vec::new(),
    };
    // Of equally similar lines, the first ones.
    pairs.sort_by(|one, other| other.similarity.total_cmp(&one.similarity));
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for pair in pairs {
        let is_in_order = |(old, new): &(usize, usize)| {
            let (by_old, by_new) = (pair.removed.cmp(old), pair.added.cmp(new));
            by_old == by_new && by_old.is_ne()
        };
        if taken.iter().all(is_in_order) {
            taken.push((pair.removed, pair.added));
            (removed_parts[pair.removed], added_parts[pair.added]) = (pair.removed_parts, pair.added_parts);
        }
    }
    (removed_parts, added_parts)
}

/// Splits two versions of a line, each with its index, into unchanged and changed parts. Returns `None` if they have too few
/// words in common: highlighting would not help.
fn compare_lines<'l>((removed, old_line): (usize, &'l str), (added, new_line): (usize, &'l str)) -> Option<Pair<'l>> {
    if old_line.len().max(new_line.len()) > MAX_WORD_DIFF_LINE {
        return None;
    }
    let (old_words, new_words): (Vec<&str>, Vec<&str>) =
        (old_line.split_word_bounds().collect(), new_line.split_word_bounds().collect());
    let changes = TextDiff::configure().timeout(WORD_DIFF_TIMEOUT).diff_slices(&old_words, &new_words);
    // Spaces and brackets are in any two lines of code.
    let count_words = |words: &[&str]| words.iter().filter(|word| word.contains(char::is_alphanumeric)).count();
    let equal = changes.ops().iter().filter(|change| change.tag() == DiffTag::Equal);
    let equal_words: usize = equal.map(|change| count_words(&old_words[change.old_range()])).sum();
    let similarity = 2.0 * equal_words as f32 / (count_words(&old_words) + count_words(&new_words)).max(1) as f32;
    if similarity < MIN_SIMILARITY {
        return None;
    }
    let (mut removed_parts, mut added_parts): (Parts<'l>, Parts<'l>) = (Vec::new(), Vec::new());
    let (mut old_rest, mut new_rest) = (old_line, new_line);
    let take_part = |parts: &mut Parts<'l>, rest: &mut &'l str, words: &[&str], is_changed: bool| {
        let (part, after) = rest.split_at(words.iter().map(|word| word.len()).sum());
        *rest = after;
        if !part.is_empty() {
            parts.push((part, is_changed));
        }
    };
    for change in changes.ops() {
        let is_changed = change.tag() != DiffTag::Equal;
        take_part(&mut removed_parts, &mut old_rest, &old_words[change.old_range()], is_changed);
        take_part(&mut added_parts, &mut new_rest, &new_words[change.new_range()], is_changed);
    }
    Some(Pair { removed, added, similarity, removed_parts, added_parts })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the changed parts of each line.
    fn changed_parts(removed: &[&str], added: &[&str]) -> [Vec<String>; 2] {
        let changed = |lines: Vec<Parts<'_>>| {
            let changed_text = |parts: Parts<'_>| parts.iter().filter(|part| part.1).map(|part| part.0).collect();
            lines.into_iter().map(changed_text).collect()
        };
        let (removed_parts, added_parts) = split_changed_words(removed, added);
        [changed(removed_parts), changed(added_parts)]
    }

    /// The first removed line has words in common with the added line that replaces the second one.
    #[test]
    fn a_line_belongs_to_the_most_similar_one_and_not_to_the_first_that_is_alike() {
        let removed = ["let count = items.count();", "let total = sum(first, second);"];
        let added = ["let total = sum(first, third);"];
        assert_eq!(
            changed_parts(&removed, &added),
            [vec!["".to_owned(), "second".to_owned()], vec!["third".to_owned()]]
        );
        let removed = ["let total = first;", "let total = sum(first, second, third);"];
        let added = ["let total = sum(first, second, fourth);", "done(total);", "}"];
        assert_eq!(
            changed_parts(&removed, &added),
            [["", "third"].map(str::to_owned).to_vec(), ["fourth", "", ""].map(str::to_owned).to_vec()]
        );
    }

    #[test]
    fn lines_without_words_in_common_have_no_emphasis() {
        for added in [&["    run(two);"][..], &["    run(two);", "    go(three);", "}"]] {
            let [removed, added] = changed_parts(&["    call(one);"], added);
            assert!(removed.iter().chain(&added).all(String::is_empty), "{removed:?} {added:?}");
        }
        assert_eq!(changed_parts(&["}", "{"], &["{ }", "}"]).concat().concat(), "");
    }

    #[test]
    fn the_order_of_lines_stays() {
        let removed = ["alpha(1, x)", "beta(2, y)"];
        let added = ["beta(2, z)", "gamma()", "alpha(1, w)"];
        // Both pairs are equally similar, but only one of them keeps the order.
        assert_eq!(
            changed_parts(&removed, &added),
            [["x", ""].map(str::to_owned).to_vec(), ["", "", "w"].map(str::to_owned).to_vec()]
        );
    }
}
