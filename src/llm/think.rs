//! Reasoning that comes inside the text, between `<think>` and `</think>` at its start.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Tells thoughts from words. What might be a tag still being written is held back until it is known.
#[derive(Debug, Default)]
pub struct Split {
    place: Place,
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Place {
    /// Nothing but blanks so far.
    #[default]
    Start,
    /// Right after the tag, where a line break belongs to the tag.
    Opened,
    Inside,
    /// Thoughts are over, and blanks between them and the words are left out.
    Between,
    Words,
}

/// A piece of one or the other.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Thought.
    Thought(String),
    /// Said.
    Said(String),
}

impl Split {
    /// Takes more text and gives what is known of it.
    pub fn take(&mut self, more: &str) -> Vec<Piece> {
        self.held.push_str(more);
        let mut out = Vec::new();
        loop {
            match self.place {
                Place::Start => {
                    let bare = self.held.trim_start();
                    if let Some(rest) = bare.strip_prefix(OPEN) {
                        self.held = rest.to_owned();
                        self.place = Place::Opened;
                    } else if OPEN.starts_with(bare) {
                        return out;
                    } else {
                        self.place = Place::Words;
                    }
                }
                Place::Opened => {
                    self.held = self.held.trim_start_matches(['\r', '\n']).to_owned();
                    if self.held.is_empty() {
                        return out;
                    }
                    self.place = Place::Inside;
                }
                Place::Inside => {
                    if let Some(at) = self.held.find(CLOSE) {
                        push(&mut out, Piece::Thought(self.held[..at].to_owned()));
                        self.held.drain(..at + CLOSE.len());
                        self.place = Place::Between;
                    } else {
                        let keep = begun(&self.held);
                        let known: String = self.held.drain(..self.held.len() - keep).collect();
                        push(&mut out, Piece::Thought(known));
                        return out;
                    }
                }
                Place::Between => {
                    self.held = self.held.trim_start().to_owned();
                    if self.held.is_empty() {
                        return out;
                    }
                    self.place = Place::Words;
                }
                Place::Words => {
                    push(&mut out, Piece::Said(std::mem::take(&mut self.held)));
                    return out;
                }
            }
        }
    }

    /// What was held back, once nothing more comes.
    pub fn end(&mut self) -> Option<Piece> {
        let rest = std::mem::take(&mut self.held);
        match self.place {
            _ if rest.is_empty() => None,
            Place::Opened | Place::Inside => Some(Piece::Thought(rest)),
            Place::Start | Place::Between | Place::Words => Some(Piece::Said(rest)),
        }
    }
}

fn push(out: &mut Vec<Piece>, piece: Piece) {
    let (Piece::Thought(text) | Piece::Said(text)) = &piece;
    if !text.is_empty() {
        out.push(piece);
    }
}

/// How many bytes at the end could be the start of the closing tag.
fn begun(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|n| text.ends_with(&CLOSE[..*n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut split = Split::default();
        let mut all: Vec<Piece> = pieces.iter().flat_map(|piece| split.take(piece)).collect();
        all.extend(split.end());
        let (mut thought, mut said) = (String::new(), String::new());
        for piece in all {
            match piece {
                Piece::Thought(text) => thought.push_str(&text),
                Piece::Said(text) => said.push_str(&text),
            }
        }
        (thought, said)
    }

    #[test]
    fn thoughts_and_words_are_told_apart() {
        let check = |text: &str, thought: &str, said: &str| {
            assert_eq!(split(&[text]), (thought.to_owned(), said.to_owned()), "{text}");
            let letters: Vec<String> = text.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(split(&letters), (thought.to_owned(), said.to_owned()), "letter by letter: {text}");
        };
        check("hello", "", "hello");
        check("<think>a b</think>\n\nhello", "a b", "hello");
        check("\n <think>\n中</think>好", "中", "好");
        check("use <think> like this", "", "use <think> like this");
        check("<thing>", "", "<thing>");
        check("<thi", "", "<thi");
        check("<think>never closed </thin", "never closed </thin", "");
        check("<think>a < b </b></think>c <think>d</think>", "a < b </b>", "c <think>d</think>");
        check("  indented", "", "  indented");
        check("", "", "");
    }
}
