//! Demo scripts in Markdown: the script is in blocks marked `toml`, files of the project in blocks marked `file=PATH`.

use super::script::ScriptError;

/// A fence of a block: its characters, and what the block is.
struct Block<'a> {
    fence: &'a str,
    kind: Kind,
    line: usize,
}

enum Kind {
    Script,
    File(String, String),
    Other,
}

/// Returns the script, with an empty line for each line that is not part of it so that its lines keep their numbers, and the files.
pub(super) fn extract(text: &str) -> Result<(String, Vec<(String, String)>), ScriptError> {
    let (mut script, mut files, mut has_script) = (String::new(), Vec::new(), false);
    let mut open: Option<Block<'_>> = None;
    for (index, line) in text.lines().enumerate() {
        match &mut open {
            None => open = open_block(line, index + 1),
            Some(block) if line.trim_end() == block.fence => {
                if let Some(Block { kind: Kind::File(path, content), .. }) = open.take() {
                    files.push((path, content));
                }
            }
            Some(Block { kind: Kind::Script, .. }) => {
                script.push_str(line);
                has_script = true;
            }
            Some(Block { kind: Kind::File(_, content), .. }) => {
                content.push_str(line);
                content.push('\n');
            }
            Some(Block { kind: Kind::Other, .. }) => {}
        }
        script.push('\n');
    }
    match open {
        Some(block) => Err(ScriptError { line: block.line, message: "this block has no end".to_owned() }),
        None if !has_script => {
            Err(ScriptError { line: 1, message: "there is no block marked ```toml with steps".to_owned() })
        }
        None => Ok((script, files)),
    }
}

/// Returns the block that a line begins.
fn open_block(line: &str, number: usize) -> Option<Block<'_>> {
    let fence_length = line.chars().take_while(|c| *c == '`').count();
    if fence_length < 3 {
        return None;
    }
    let (fence, info) = line.split_at(fence_length);
    let mut words = info.split_whitespace();
    let file = words.clone().find_map(|word| word.strip_prefix("file="));
    let kind = match (words.next(), file) {
        (_, Some(path)) => Kind::File(path.to_owned(), String::new()),
        (Some("toml"), None) => Kind::Script,
        _ => Kind::Other,
    };
    Some(Block { fence, kind, line: number })
}
