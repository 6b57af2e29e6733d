//! The options among a program's words: in clusters, with their word glued to them, shortened; none of them stands behind `--`.

/// What one word says.
enum Says<'a> {
    /// An option by its long name, with the word it holds.
    Long(&'a str, Option<&'a str>),
    /// Options of one letter, the last of them with the word it holds.
    Letters(&'a str, Option<&'a str>),
    /// No option.
    Operand(&'a str),
}

/// The words one by one. `taking` are the options that have a word of their own, glued to them or behind them.
fn each<'a>(words: &[&'a str], taking: &[&str]) -> Vec<Says<'a>> {
    let takes = |letter: char| {
        taking.iter().any(|option| option.strip_prefix('-') == Some(letter.encode_utf8(&mut [0; 4])))
    };
    let longer = |word: &str| word.len() > 2 && taking.iter().any(|option| option.starts_with(word));
    let (mut all, mut words, mut plain) = (Vec::new(), words.iter(), false);
    while let Some(word) = words.next() {
        let cluster = word.strip_prefix('-').filter(|rest| !plain && !rest.is_empty());
        match cluster {
            None => all.push(Says::Operand(word)),
            Some("-") => plain = true,
            Some(long) if long.starts_with('-') => all.push(match word.split_once('=') {
                Some((name, value)) => Says::Long(name, Some(value)),
                None if longer(word) => Says::Long(word, words.next().copied()),
                None => Says::Long(word, None),
            }),
            Some(cluster) => {
                let last = cluster.char_indices().find(|(_, letter)| takes(*letter));
                let end = last.map_or(cluster.len(), |(at, letter)| at + letter.len_utf8());
                let (letters, glued) = cluster.split_at(end);
                let value = match last {
                    Some(_) if glued.is_empty() => words.next().copied(),
                    Some(_) => Some(glued),
                    None => None,
                };
                all.push(Says::Letters(letters, value));
            }
        }
    }
    all
}

/// A flag by its long name, or as a letter among short ones, where no option takes a word of its own.
pub(super) fn flag(words: &[&str], long: &str, short: char) -> bool {
    flags(words, &[], long, short)
}

/// The same where these options take one.
pub(super) fn flags(words: &[&str], taking: &[&str], long: &str, short: char) -> bool {
    each(words, taking).into_iter().any(|says| match says {
        Says::Long(name, _) => name == long,
        Says::Letters(letters, _) => letters.contains(short),
        Says::Operand(_) => false,
    })
}

/// Whether there is an option of one of these long names, whatever it holds.
pub(super) fn long(words: &[&str], names: &[&str]) -> bool {
    each(words, &[]).iter().any(|says| matches!(says, Says::Long(name, _) if names.contains(name)))
}

/// What is no option, and no value of one of `taking`.
pub(super) fn operands<'a>(words: &[&'a str], taking: &[&str]) -> Vec<&'a str> {
    let operand = |says| match says {
        Says::Operand(word) => Some(word),
        Says::Long(..) | Says::Letters(..) => None,
    };
    each(words, taking).into_iter().filter_map(operand).collect()
}

/// What an option holds: `-o x`, `-ox`, `--output x`, `--output=x`, `--out=x`. It is one of `taking`.
pub(super) fn behind<'a>(words: &[&'a str], taking: &[&str], short: char, long: &str) -> Vec<&'a str> {
    let held = |says| match says {
        Says::Long(name, value) if name.len() > 2 && long.starts_with(name) => value,
        Says::Letters(letters, value) if letters.ends_with(short) => value,
        Says::Long(..) | Says::Letters(..) | Says::Operand(_) => None,
    };
    each(words, taking).into_iter().filter_map(held).collect()
}
