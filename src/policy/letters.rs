//! Options of one letter that stand together in one word, as in `-xCsub`.

/// What is glued behind the first of these letters, empty where nothing is. `None` where none of them is there, or one of
/// `taking` stands before it: what is behind that one is its word, and no option. So are words with two dashes.
pub(super) fn behind<'a>(word: &'a str, letters: &str, taking: &str) -> Option<&'a str> {
    let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let (at, letter) =
        cluster.char_indices().find(|(_, letter)| letters.contains(*letter) || taking.contains(*letter))?;
    letters.contains(letter).then(|| &cluster[at + letter.len_utf8()..])
}
