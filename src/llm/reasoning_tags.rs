//! Separates reasoning between tags from the reply text. A tag counts at the start of a reply, later only if the reply
//! has already contained reasoning, and never inside code.

/// Reasoning tags of known models.
const TAGS: [(&str, &str); 4] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"), ("[THINK]", "[/THINK]")];

/// Maximum bytes of possible leading whitespace that are held back.
const MAX_LEADING_BLANKS: usize = 4096;

/// Splits a stream of text into reasoning and reply text. A possible beginning of a tag is held back until it is
/// decided.
#[derive(Debug, Default)]
pub struct ReasoningSplitter {
    state: Place,
    pending: String,
    line: MarkdownLine,
    /// The reply has contained tagged reasoning: later blocks are reasoning too.
    has_reasoning: bool,
    /// The provider sends reasoning separately, or an opening tag was text: a closing tag alone is then text.
    is_separate: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Place {
    /// Only whitespace so far.
    #[default]
    Start,
    /// Directly after an opening tag; a line break belongs to the tag.
    Opened(usize),
    InTag(usize),
    /// After reasoning; whitespace before the text is dropped.
    AfterReasoning,
    Text,
}

/// A piece of reasoning or text.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    Reasoning(String),
    Text(String),
    /// All text so far was reasoning: some chat templates write the opening tag, so that the model writes only the
    /// closing one.
    WasReasoning,
}

impl ReasoningSplitter {
    /// Records that the provider sends reasoning separately from the text.
    pub fn mark_separate(&mut self) {
        self.is_separate = true;
    }

    /// Processes more text and returns the pieces that are decided.
    pub fn split_text(&mut self, more: &str) -> Vec<Piece> {
        self.pending.push_str(more);
        let mut out = Vec::new();
        loop {
            match self.state {
                Place::Start => {
                    let bare = self.pending.trim_start();
                    let opened = TAGS.iter().position(|(open, _)| bare.starts_with(open));
                    if let Some(tag) = opened {
                        self.pending = bare[TAGS[tag].0.len()..].to_owned();
                        self.state = Place::Opened(tag);
                    } else if self.pending.len() <= MAX_LEADING_BLANKS
                        && TAGS.iter().any(|(open, _)| open.starts_with(bare))
                    {
                        return out;
                    } else {
                        self.state = Place::Text;
                    }
                }
                Place::Opened(tag) => {
                    self.has_reasoning = true;
                    self.pending = self.pending.trim_start_matches(['\r', '\n']).to_owned();
                    if self.pending.is_empty() {
                        return out;
                    }
                    self.state = Place::InTag(tag);
                }
                Place::InTag(tag) => {
                    let close = TAGS[tag].1;
                    if let Some(at) = self.pending.find(close) {
                        push_piece(&mut out, Piece::Reasoning(self.pending[..at].to_owned()));
                        self.pending.drain(..at + close.len());
                        self.state = Place::AfterReasoning;
                    } else {
                        let known = self.pending.len() - partial_tag_length(&self.pending, close);
                        push_piece(&mut out, Piece::Reasoning(self.pending.drain(..known).collect()));
                        return out;
                    }
                }
                Place::AfterReasoning => {
                    self.pending = self.pending.trim_start().to_owned();
                    if self.pending.is_empty() {
                        return out;
                    }
                    self.line = MarkdownLine::default();
                    self.state = Place::Text;
                }
                Place::Text => {
                    if !self.split_words(&mut out) {
                        return out;
                    }
                }
            }
        }
    }

    /// Returns the text that was held back, at the end of the reply.
    pub fn finish(&mut self) -> Option<Piece> {
        let rest = std::mem::take(&mut self.pending);
        match self.state {
            _ if rest.is_empty() => None,
            Place::Opened(_) | Place::InTag(_) => Some(Piece::Reasoning(rest)),
            Place::Start | Place::AfterReasoning | Place::Text => Some(Piece::Text(rest)),
        }
    }

    /// Emits text up to a tag or a possible beginning of one. Returns whether a tag was found and processing continues.
    fn split_words(&mut self, out: &mut Vec<Piece>) -> bool {
        let mut at = 0;
        while let Some(byte) = self.pending.as_bytes().get(at).copied() {
            let may_be_tag = matches!(byte, b'<' | b'[') && !self.line.is_code();
            match if may_be_tag { self.find_tag(at) } else { Tag::None } {
                Tag::None => {
                    // If an opening tag is text, its closing tag is text too.
                    self.is_separate |= may_be_tag && TAGS.iter().any(|(open, _)| self.pending[at..].starts_with(open));
                    self.line.push_byte(byte);
                    at += 1;
                }
                Tag::Undecided => {
                    push_piece(out, Piece::Text(self.pending.drain(..at).collect()));
                    return false;
                }
                Tag::Opens(tag) => {
                    push_piece(out, Piece::Text(self.pending.drain(..at).collect()));
                    self.pending.drain(..TAGS[tag].0.len());
                    self.state = Place::Opened(tag);
                    return true;
                }
                Tag::Closes(tag) => {
                    push_piece(out, Piece::Text(self.pending.drain(..at).collect()));
                    out.push(Piece::WasReasoning);
                    self.pending.drain(..TAGS[tag].1.len());
                    (self.state, self.has_reasoning) = (Place::AfterReasoning, true);
                    return true;
                }
            }
        }
        push_piece(out, Piece::Text(std::mem::take(&mut self.pending)));
        false
    }

    /// Returns the tag at a position, if tags count here: a further opening tag on a line of its own, or, once, a
    /// closing tag without an opening one at the start or end of its line.
    fn find_tag(&self, at: usize) -> Tag {
        let rest = &self.pending[at..];
        let mut unknown = false;
        for (tag, (open, close)) in TAGS.iter().enumerate() {
            if self.has_reasoning && self.line.is_blank() {
                if rest.starts_with(open) {
                    return Tag::Opens(tag);
                }
                unknown |= open.starts_with(rest);
            }
            if !self.has_reasoning && !self.is_separate {
                match rest.strip_prefix(close) {
                    Some(after) if self.line.is_blank() || after.starts_with(['\r', '\n']) => {
                        return Tag::Closes(tag);
                    }
                    Some(after) => unknown |= after.is_empty(),
                    None => unknown |= close.starts_with(rest) || open.starts_with(rest),
                }
            }
        }
        if unknown { Tag::Undecided } else { Tag::None }
    }
}

/// Result of looking for a tag.
#[derive(Debug)]
enum Tag {
    None,
    /// Undecided until more text arrives.
    Undecided,
    Opens(usize),
    Closes(usize),
}

/// Markdown state of the current line.
#[derive(Debug)]
struct MarkdownLine {
    /// Only whitespace since the line began.
    blank: bool,
    /// Length of the current run of backticks or tildes, and whether it began its line.
    run: usize,
    run_is_first: bool,
    run_of: u8,
    in_code: bool,
    /// Character that opened the current fenced code block.
    fenced: Option<u8>,
}

impl Default for MarkdownLine {
    fn default() -> Self {
        Self { blank: true, run: 0, run_is_first: false, run_of: 0, in_code: false, fenced: None }
    }
}

impl MarkdownLine {
    fn push_byte(&mut self, byte: u8) {
        if matches!(byte, b'`' | b'~') {
            if self.run > 0 && self.run_of != byte {
                self.finish_run();
            }
            if self.run == 0 {
                (self.run_of, self.run_is_first) = (byte, self.blank);
            }
            self.run += 1;
            self.blank = false;
            return;
        }
        self.finish_run();
        match byte {
            b'\n' => {
                // Inline code continues over a line break but not over an empty line.
                self.in_code &= !self.blank;
                self.blank = true;
            }
            b' ' | b'\t' | b'\r' => {}
            _ => self.blank = false,
        }
    }

    fn finish_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run >= 3 && self.run_is_first {
            match self.fenced {
                None => self.fenced = Some(self.run_of),
                Some(by) if by == self.run_of => self.fenced = None,
                Some(_) => {}
            }
        } else if run > 0 && self.run_of == b'`' && self.fenced.is_none() {
            self.in_code = !self.in_code;
        }
    }

    fn is_code(&mut self) -> bool {
        self.finish_run();
        self.in_code || self.fenced.is_some()
    }

    fn is_blank(&self) -> bool {
        self.blank
    }
}

fn push_piece(out: &mut Vec<Piece>, piece: Piece) {
    match &piece {
        Piece::Reasoning(text) | Piece::Text(text) if text.is_empty() => {}
        Piece::Reasoning(_) | Piece::Text(_) | Piece::WasReasoning => out.push(piece),
    }
}

/// Returns how many bytes at the end of the text may be the beginning of the closing tag.
fn partial_tag_length(text: &str, close: &str) -> usize {
    (1..close.len()).rev().find(|n| text.ends_with(&close[..*n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut split = ReasoningSplitter::default();
        let mut all: Vec<Piece> = pieces.iter().flat_map(|piece| split.split_text(piece)).collect();
        all.extend(split.finish());
        let (mut thought, mut said) = (String::new(), String::new());
        for piece in all {
            match piece {
                Piece::Reasoning(text) => thought.push_str(&text),
                Piece::Text(text) => said.push_str(&text),
                Piece::WasReasoning => thought.push_str(&std::mem::take(&mut said)),
            }
        }
        (thought, said)
    }

    fn check_tags(text: &str, thought: &str, said: &str) {
        assert_eq!(split(&[text]), (thought.to_owned(), said.to_owned()), "{text}");
        let characters: Vec<String> = text.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(split(&characters), (thought.to_owned(), said.to_owned()), "character by character: {text}");
    }

    #[test]
    fn reasoning_and_text_are_separated() {
        check_tags("hello", "", "hello");
        check_tags("<think>a b</think>\n\nhello", "a b", "hello");
        check_tags("\n <think>\n中</think>好", "中", "好");
        check_tags("[THINK]a[/THINK]b", "a", "b");
        check_tags("<thinking>a</think></thinking>b", "a</think>", "b");
        check_tags("use <think> like this", "", "use <think> like this");
        check_tags("<thing>", "", "<thing>");
        check_tags("<thi", "", "<thi");
        check_tags("<think>never closed </thin", "never closed </thin", "");
        check_tags("<think>a < b </b></think>c <think>d</think>", "a < b </b>", "c <think>d</think>");
        check_tags("  indented", "", "  indented");
        check_tags("", "", "");
    }

    #[test]
    fn r48_a_closing_tag_alone_turns_earlier_text_into_reasoning() {
        check_tags("a\nb\n</think>\n\nc", "a\nb\n", "c");
        check_tags("a </think>\r\nb", "a ", "b");
        check_tags("a\n</think>b", "a\n", "b");
        check_tags("</think>a", "", "a");
        check_tags("a\n</think>\nb\n</think>\nc", "a\n", "b\n</think>\nc");
        check_tags("a </think> b", "", "a </think> b");
        check_tags("a </think>", "", "a </think>");
        check_tags("a\n</thi", "", "a\n</thi");
        check_tags("`</think>`\n", "", "`</think>`\n");
        check_tags("a `b\n</think>\nc` d", "", "a `b\n</think>\nc` d");
        check_tags("a `b\n\n</think>\nc", "a `b\n\n", "c");
        check_tags("```\n</think>\n```\n", "", "```\n</think>\n```\n");
        check_tags("~~~\n```\n</think>\n~~~\n", "", "~~~\n```\n</think>\n~~~\n");
        check_tags("```\na\n```\n</think>\nb", "```\na\n```\n", "b");
    }

    #[test]
    fn r48_later_blocks_are_reasoning_if_the_first_was() {
        check_tags("<think>a</think>b\n<think>c</think>\nd", "ac", "b\nd");
        check_tags("<think>a</think>b\n  <think>c</think>\nd", "ac", "b\n  d");
        check_tags("a\n</think>\nb\n<think>c</think>d", "a\nc", "b\nd");
        check_tags("b\n<think>c</think>\nd", "", "b\n<think>c</think>\nd");
        check_tags("<think>a</think>b\n```\n<think>c</think>\n```\n", "a", "b\n```\n<think>c</think>\n```\n");
        check_tags("<think>a</think>b\n<thi", "a", "b\n<thi");
    }
}
