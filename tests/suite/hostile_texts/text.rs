//! Hostile texts, and which parts of a text a user can read.

use crate::support::Dice;

/// Sequences that a terminal obeys or does not show. None contains a word that `split_words` would find.
const HOSTILE: [&str; 46] = [
    "\u{1b}[2J",
    "\u{1b}[H",
    "\u{1b}[2J\u{1b}[H",
    "\u{1b}[1A",
    "\u{1b}[5D",
    "\u{1b}[2K",
    "\u{1b}[1K",
    "\u{1b}[K",
    "\u{1b}[31m",
    "\u{1b}[0m",
    "\u{1b}[8m",
    "\u{1b}[38;2;0;0;0m",
    "\u{1b}]0;own3d\u{7}",
    "\u{1b}]2;own3d\u{1b}\\",
    "\u{1b}]52;c;b3duM2Q=\u{7}",
    "\u{1b}]8;;https://own3d.example\u{1b}\\",
    "\u{1b}P1;2|own3d\u{1b}\\",
    "\u{1b}_own3d\u{1b}\\",
    "\u{1b}^own3d",
    "\u{1b} X",
    "\u{1b}[3 X",
    "\u{1b}#8",
    "\u{1b}(B",
    "\u{1b}c",
    "\u{1b}[?1049h",
    "\u{1b}[6n",
    "\u{1b}",
    "\u{1b}[",
    "\u{1b}[31",
    "\u{9b}31m",
    "\u{9d}0;own3d\u{9c}",
    "\r",
    "\u{8}\u{8}\u{8}",
    "\u{b}",
    "\u{c}",
    "\u{85}",
    "\u{7f}",
    "\u{7}",
    "\u{2028}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{feff}",
    "\u{e0041}\u{e0042}\u{e007f}",
    "\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
    "\u{e0100}\u{fe01}",
];

/// Text between hostile parts.
const PLAIN: [&str; 8] = [" ", "  ", "\n", "\r\n", "\t", " e\u{301} ", " \u{6f22}\u{5b57} ", "."];

/// Markdown that a renderer may drop. Each `@` stands for a word.
const MARKDOWN: [&str; 8] = [
    "\n\n```rust @ @\nlet x = 1;\n```\n\n",
    "\n\n~~~ @,@\ncode\n~~~\n\n",
    " [@](https://a.example \"@\") ",
    " ![@](pictures/none.png '@') ",
    "\n\n[unused@]: https://a.example/@ \"title\"\n\n",
    "\n\n| a |\n|---|\n| @ | @ |\n\n",
    " [@](#@) ",
    " <!-- @ --> &#27;]0;@&#7; ",
];

/// Generates texts with known words in them.
pub struct Generator {
    pub dice: Dice,
    /// Number of words so far.
    count: u64,
    /// Number of texts so far.
    pub texts: usize,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice(seed), count: 0, texts: 0 }
    }

    /// A word that is in no other text.
    fn random_word(&mut self) -> String {
        self.count += 1;
        format!("wz{}q", self.count)
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.dice.below(all.len() as u64)).unwrap()]
    }

    /// A text that often starts and ends with something hostile.
    pub fn text(&mut self) -> String {
        self.texts += 1;
        let mut text = String::new();
        for _ in 0..2 + self.dice.below(6) {
            if !self.dice.one_of(4) {
                text.push_str(self.pick(&HOSTILE));
            }
            text.push_str(&self.random_word());
            if self.dice.one_of(3) {
                text.push_str(self.pick(&PLAIN));
            }
        }
        if !self.dice.one_of(3) {
            text.push_str(self.pick(&HOSTILE));
        }
        text
    }

    /// A reply of a model with hostile parts and Markdown.
    pub fn reply(&mut self) -> String {
        let mut text = self.text();
        for part in self.pick(&MARKDOWN).split_inclusive('@') {
            let bare = part.strip_suffix('@');
            text.push_str(bare.unwrap_or(part));
            if bare.is_some() {
                text.push_str(&self.random_word());
            }
        }
        text + &self.text()
    }

    /// A hostile file name.
    pub fn name(&mut self) -> String {
        let text: String = self.text().chars().filter(|c| !"/\n\r".contains(*c)).collect();
        let mut end = text.len().min(120);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        format!("n{}", &text[..end])
    }
}

/// The known words of a text, each once per occurrence, in order.
pub fn split_words(text: &str) -> Vec<String> {
    let mut matches = Vec::new();
    for (at, _) in text.match_indices("wz") {
        let remaining = &text[at + 2..];
        let digits = remaining.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && remaining[digits..].starts_with('q') {
            matches.push(format!("wz{}q", &remaining[..digits]));
        }
    }
    matches
}

/// A text without whitespace and frames, independent of its layout.
pub fn remove_whitespace(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !('\u{2500}'..='\u{259f}').contains(c)).collect()
}

/// The first character that a terminal would obey or not show, after its byte offset.
pub fn find_forbidden(printed: &str) -> Option<(usize, char)> {
    aye::text::hidden_chars::find_hidden(printed)
}

/// Terminal output without the program's own sequences, but with the text inside them.
pub fn without_sequences(sent: &str) -> String {
    let mut out = String::new();
    let mut remaining = sent;
    while let Some(offset) = remaining.find('\u{1b}') {
        out.push_str(&remaining[..offset]);
        let sequence = &remaining[offset + 1..];
        let length = match sequence.as_bytes().first() {
            Some(b'[') => sequence[1..].find(|c| ('@'..='~').contains(&c)).map_or(sequence.len(), |end| 2 + end),
            Some(b']') => {
                let end = sequence.find(['\u{7}', '\u{1b}']).unwrap_or(sequence.len());
                let payload = &sequence[1..end];
                let text = payload.split_once(';').map_or("", |(_, text)| text);
                assert!(!text.starts_with("own3d") && !text.starts_with("c;b3du"), "{payload:?} was obeyed");
                out.push_str(text);
                out.push('\n');
                end + if sequence[end..].starts_with('\u{7}') { 1 } else { 2.min(sequence.len() - end) }
            }
            Some(b'(' | b')') => 2,
            Some(_) => 1,
            None => 0,
        };
        remaining = &sequence[length.min(sequence.len())..];
        // Text on both sides of a sequence does not belong together.
        out.push('\n');
    }
    out + remaining
}
