//! Separates reasoning between tags from the reply text. A tag counts at the start of a reply, later only if the reply
//! has already contained reasoning, and never inside code.

use crate::chat::Chunk;

/// Opening and closing reasoning tags of known models.
const TAGS: [(&str, &str); 4] =
    [("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"), ("[THINK]", "[/THINK]")];

/// Maximum bytes of possible leading whitespace that are held back.
const MAX_LEADING_BLANKS: usize = 4096;

/// Splits a stream of text into chunks of reasoning and of reply text. Text that may begin a tag is held back until
/// more text decides it. [`Chunk::WasReasoning`] follows from a closing tag without an opening one: some chat templates
/// write the opening tag, so that the model writes only the closing one.
#[derive(Debug, Default)]
pub struct ReasoningSplitter {
    state: TagState,
    pending: String,
    line: MarkdownLine,
    /// The reply has contained tagged reasoning, so later tags count too.
    has_reasoning: bool,
    /// A closing tag without an opening one is text, because the provider sends reasoning separately or an opening tag
    /// was text.
    pub is_lone_close_text: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum TagState {
    /// Only whitespace so far.
    #[default]
    Start,
    /// Directly after the opening tag with this index in [`TAGS`]; a line break belongs to the tag.
    Opened(usize),
    /// In reasoning that ends with the closing tag with this index.
    InTag(usize),
    /// After reasoning; whitespace before the text is dropped.
    AfterReasoning,
    Text,
}

impl ReasoningSplitter {
    /// Processes more text and returns the chunks that are decided.
    pub fn split_text(&mut self, text: &str) -> Vec<Chunk> {
        self.pending.push_str(text);
        let mut out = Vec::new();
        loop {
            match self.state {
                TagState::Start => {
                    let trimmed = self.pending.trim_start();
                    let tag_index = TAGS.iter().position(|(open, _)| trimmed.starts_with(open));
                    if let Some(tag) = tag_index {
                        self.pending = trimmed[TAGS[tag].0.len()..].to_owned();
                        self.state = TagState::Opened(tag);
                    } else if self.pending.len() <= MAX_LEADING_BLANKS
                        && TAGS.iter().any(|(open, _)| open.starts_with(trimmed))
                    {
                        return out;
                    } else {
                        self.state = TagState::Text;
                    }
                }
                TagState::Opened(tag) => {
                    self.has_reasoning = true;
                    self.pending = self.pending.trim_start_matches(['\r', '\n']).to_owned();
                    if self.pending.is_empty() {
                        return out;
                    }
                    self.state = TagState::InTag(tag);
                }
                TagState::InTag(tag) => {
                    let close = TAGS[tag].1;
                    if let Some(end) = self.pending.find(close) {
                        push_nonempty(&mut out, Chunk::Reasoning(self.pending[..end].to_owned()));
                        self.pending.drain(..end + close.len());
                        self.state = TagState::AfterReasoning;
                    } else {
                        let decided = self.pending.len() - partial_tag_length(&self.pending, close);
                        push_nonempty(&mut out, Chunk::Reasoning(self.pending.drain(..decided).collect()));
                        return out;
                    }
                }
                TagState::AfterReasoning => {
                    self.pending = self.pending.trim_start().to_owned();
                    if self.pending.is_empty() {
                        return out;
                    }
                    self.line = MarkdownLine::default();
                    self.state = TagState::Text;
                }
                TagState::Text => {
                    if !self.split_plain_text(&mut out) {
                        return out;
                    }
                }
            }
        }
    }

    /// Returns the text that was held back, at the end of the reply.
    pub fn finish(&mut self) -> Option<Chunk> {
        let pending = std::mem::take(&mut self.pending);
        match self.state {
            _ if pending.is_empty() => None,
            TagState::Opened(_) | TagState::InTag(_) => Some(Chunk::Reasoning(pending)),
            TagState::Start | TagState::AfterReasoning | TagState::Text => Some(Chunk::Text(pending)),
        }
    }

    /// Emits text up to a tag or a possible beginning of one. Returns whether a tag was found and processing continues.
    fn split_plain_text(&mut self, out: &mut Vec<Chunk>) -> bool {
        let mut position = 0;
        while let Some(byte) = self.pending.as_bytes().get(position).copied() {
            let may_be_tag = matches!(byte, b'<' | b'[') && !self.line.is_code();
            match if may_be_tag { self.find_tag(position) } else { Tag::None } {
                Tag::None => {
                    // If an opening tag is text, its closing tag is text too.
                    self.is_lone_close_text |=
                        may_be_tag && TAGS.iter().any(|(open, _)| self.pending[position..].starts_with(open));
                    self.line.push_byte(byte);
                    position += 1;
                }
                Tag::Undecided => {
                    push_nonempty(out, Chunk::Text(self.pending.drain(..position).collect()));
                    return false;
                }
                Tag::Opens(tag) => {
                    push_nonempty(out, Chunk::Text(self.pending.drain(..position).collect()));
                    self.pending.drain(..TAGS[tag].0.len());
                    self.state = TagState::Opened(tag);
                    return true;
                }
                Tag::Closes(tag) => {
                    push_nonempty(out, Chunk::Text(self.pending.drain(..position).collect()));
                    out.push(Chunk::WasReasoning);
                    self.pending.drain(..TAGS[tag].1.len());
                    (self.state, self.has_reasoning) = (TagState::AfterReasoning, true);
                    return true;
                }
            }
        }
        push_nonempty(out, Chunk::Text(std::mem::take(&mut self.pending)));
        false
    }

    /// Returns the tag at a position, if tags count there. Once the reply has contained reasoning, that is an opening
    /// tag at the start of a line; until then, a closing tag without an opening one at the start or end of its line.
    fn find_tag(&self, position: usize) -> Tag {
        let remaining = &self.pending[position..];
        let mut is_undecided = false;
        for (tag, (open, close)) in TAGS.iter().enumerate() {
            if self.has_reasoning && !self.line.has_text {
                if remaining.starts_with(open) {
                    return Tag::Opens(tag);
                }
                is_undecided |= open.starts_with(remaining);
            }
            if !self.has_reasoning && !self.is_lone_close_text {
                match remaining.strip_prefix(close) {
                    Some(following) if !self.line.has_text || following.starts_with(['\r', '\n']) => {
                        return Tag::Closes(tag);
                    }
                    Some(following) => is_undecided |= following.is_empty(),
                    // A possible opening tag is held back too: if it turns out to be text, its closing tag is text.
                    None => is_undecided |= close.starts_with(remaining) || open.starts_with(remaining),
                }
            }
        }
        if is_undecided { Tag::Undecided } else { Tag::None }
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
#[derive(Debug, Default)]
struct MarkdownLine {
    /// More than whitespace since the line began.
    has_text: bool,
    /// Length of the current run of backticks or tildes.
    run_length: usize,
    /// The run began its line.
    is_run_at_line_start: bool,
    /// The backtick or tilde of the run.
    run_byte: u8,
    /// Inside inline code.
    is_in_code: bool,
    /// Character and length of the fence that opened the current fenced code block.
    fence: Option<(u8, usize)>,
}

impl MarkdownLine {
    fn push_byte(&mut self, byte: u8) {
        if matches!(byte, b'`' | b'~') {
            if self.run_length > 0 && self.run_byte != byte {
                self.finish_run();
            }
            if self.run_length == 0 {
                (self.run_byte, self.is_run_at_line_start) = (byte, !self.has_text);
            }
            self.run_length += 1;
            self.has_text = true;
            return;
        }
        self.finish_run();
        match byte {
            b'\n' => {
                // Inline code continues over a line break but not over an empty line.
                self.is_in_code &= self.has_text;
                self.has_text = false;
            }
            b' ' | b'\t' | b'\r' => {}
            _ => self.has_text = true,
        }
    }

    fn finish_run(&mut self) {
        let length = std::mem::take(&mut self.run_length);
        if length >= 3 && self.is_run_at_line_start {
            match self.fence {
                None => self.fence = Some((self.run_byte, length)),
                // A shorter fence is text of the block.
                Some((byte, opening_length)) if byte == self.run_byte && length >= opening_length => self.fence = None,
                Some(_) => {}
            }
        } else if length > 0 && self.run_byte == b'`' && self.fence.is_none() {
            self.is_in_code = !self.is_in_code;
        }
    }

    /// Returns whether the next byte is inside code, given that it ends the current run of backticks or tildes.
    fn is_code(&mut self) -> bool {
        self.finish_run();
        self.is_in_code || self.fence.is_some()
    }
}

/// Appends a chunk of text or reasoning, unless it is empty.
fn push_nonempty(out: &mut Vec<Chunk>, chunk: Chunk) {
    if !matches!(&chunk, Chunk::Reasoning(text) | Chunk::Text(text) if text.is_empty()) {
        out.push(chunk);
    }
}

/// Returns how many bytes at the end of the text may be the beginning of the closing tag.
fn partial_tag_length(text: &str, closing_tag: &str) -> usize {
    (1..closing_tag.len()).rev().find(|n| text.ends_with(&closing_tag[..*n])).unwrap_or(0)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Splits text that arrives in these pieces into reasoning and reply text.
    pub fn split_reasoning(pieces: &[&str]) -> (String, String) {
        let mut splitter = ReasoningSplitter::default();
        let mut chunks: Vec<Chunk> = pieces.iter().flat_map(|piece| splitter.split_text(piece)).collect();
        chunks.extend(splitter.finish());
        let (mut reasoning, mut reply) = (String::new(), String::new());
        for chunk in chunks {
            match chunk {
                Chunk::Reasoning(text) => reasoning.push_str(&text),
                Chunk::Text(text) => reply.push_str(&text),
                Chunk::WasReasoning => reasoning.push_str(&std::mem::take(&mut reply)),
                other => panic!("{other:?}"),
            }
        }
        (reasoning, reply)
    }

    fn check_tags(text: &str, reasoning: &str, reply: &str) {
        assert_eq!(split_reasoning(&[text]), (reasoning.to_owned(), reply.to_owned()), "{text}");
        let characters: Vec<String> = text.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(
            split_reasoning(&characters),
            (reasoning.to_owned(), reply.to_owned()),
            "character by character: {text}"
        );
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
        check_tags("````\n```\n</think>\n````\n", "", "````\n```\n</think>\n````\n");
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
