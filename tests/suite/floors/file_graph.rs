//! Graph of source files: which file names which, and by which names.
//!
//! Reads `use` declarations and paths in the code that begin with `crate`, `super`, `self`, an import or a child module.
//! A name that a file only re-exports is followed to the file that defines it. Tests and comments are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The names that one file takes from each other file.
pub type FileGraph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Maximum number of imports that are followed to resolve one path.
const MAX_HOPS: usize = 12;

type ModulePath = Vec<String>;

/// What one source file declares, imports and names.
#[derive(Default)]
struct SourceFile {
    file: String,
    module: ModulePath,
    definitions: HashSet<String>,
    imports: Vec<Import>,
    /// Modules imported with `*`.
    globs: Vec<ModulePath>,
    /// Paths in the code, outside of imports.
    paths: Vec<ModulePath>,
    /// All identifiers outside of imports.
    words: HashSet<String>,
}

struct Import {
    name: String,
    path: ModulePath,
    is_public: bool,
}

/// Builds the graph from file names relative to the root (`agent/state.rs`) and their text.
pub fn build_graph(sources: &[(String, String)]) -> FileGraph {
    let files: HashMap<ModulePath, SourceFile> = sources
        .iter()
        .filter(|(file, _)| file != "main.rs")
        .map(|(file, text)| (module_of(file), read_file(file, text)))
        .collect();
    let mut graph = FileGraph::new();
    for source in files.values() {
        let arrows = graph.entry(source.file.clone()).or_default();
        let used = |import: &&Import| !import.is_public || source.words.contains(&import.name);
        let imported = source.imports.iter().filter(used).map(|import| &import.path);
        for path in imported.chain(&source.paths) {
            if let Some((target, name)) = absolute(source, path, &files, 0).and_then(|path| resolve(path, &files, 0))
                && target != source.file
            {
                arrows.entry(target).or_default().insert(name);
            }
        }
        for glob in &source.globs {
            let target = absolute(source, glob, &files, 0).and_then(|path| files.get(&path));
            if let Some(target) = target.filter(|target| target.file != source.file) {
                arrows.entry(target.file.clone()).or_default().insert("*".to_owned());
            }
        }
    }
    graph
}

fn module_of(file: &str) -> ModulePath {
    let mut module: ModulePath = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
        module.pop();
    }
    module
}

/// Returns the path from the root of the crate, or `None` if it leads to another crate. `hops` is the number of imports
/// that were followed to get to this path.
fn absolute(
    source: &SourceFile,
    path: &[String],
    files: &HashMap<ModulePath, SourceFile>,
    hops: usize,
) -> Option<ModulePath> {
    let (first, remaining) = path.split_first()?;
    let mut base = source.module.clone();
    match first.as_str() {
        "crate" => return Some(remaining.to_vec()),
        "self" => {}
        "super" => {
            base.pop();
            let supers = remaining.iter().take_while(|segment| *segment == "super").count();
            base.truncate(base.len().saturating_sub(supers));
            base.extend_from_slice(&remaining[supers..]);
            return Some(base);
        }
        _ => {
            let import = source.imports.iter().find(|import| import.name == *first && import.path != path);
            if let Some(import) = import.filter(|_| hops < MAX_HOPS) {
                base = absolute(source, &import.path, files, hops + 1)?;
            } else {
                base.push(first.clone());
                files.get(&base)?;
            }
        }
    }
    base.extend_from_slice(remaining);
    Some(base)
}

/// Returns the file that defines the item at an absolute path and the item's name; `None` for a module. `hops` is the
/// number of imports that were followed to get to this path.
fn resolve(path: ModulePath, files: &HashMap<ModulePath, SourceFile>, hops: usize) -> Option<(String, String)> {
    let depth = (1..=path.len()).take_while(|depth| files.contains_key(&path[..*depth])).last().unwrap_or(0);
    let source = files.get(&path[..depth])?;
    let (name, remaining) = path[depth..].split_first()?;
    if source.definitions.contains(name) || hops == MAX_HOPS {
        return Some((source.file.clone(), name.clone()));
    }
    let follow = |base: Option<ModulePath>, tail: &[String]| {
        base.and_then(|base| resolve([base.as_slice(), tail].concat(), files, hops + 1))
    };
    if let Some(import) = source.imports.iter().find(|import| import.name == *name) {
        return follow(absolute(source, &import.path, files, 0), remaining);
    }
    for glob in &source.globs {
        let module = absolute(source, glob, files, 0).filter(|module| {
            let exports = |other: &SourceFile| {
                other.definitions.contains(name) || other.imports.iter().any(|import| import.name == *name)
            };
            files.get(module).is_some_and(exports)
        });
        if module.is_some() {
            return follow(module, &path[depth..]);
        }
    }
    Some((source.file.clone(), name.clone()))
}

fn read_file(file: &str, text: &str) -> SourceFile {
    let tokens = without_tests(split_tokens(text));
    let module = module_of(file);
    let mut source = SourceFile { file: file.to_owned(), module: module.clone(), ..SourceFile::default() };
    // Names of the inline modules around the current token, each with its depth.
    let mut inline: Vec<(String, usize)> = Vec::new();
    let (mut depth, mut at) = (0, 0);
    while at < tokens.len() {
        let token = tokens[at].as_str();
        let next = tokens.get(at + 1).map_or("", String::as_str);
        match token {
            "{" => depth += 1,
            "}" => {
                inline.retain(|(_, opened)| *opened < depth);
                depth -= 1;
            }
            "mod" if tokens.get(at + 2).is_some_and(|token| token == "{") => {
                inline.push((next.to_owned(), depth + 1));
            }
            "use" if next != "<" => {
                let is_public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
                let end = tokens[at..].iter().position(|token| token == ";").map_or(tokens.len(), |end| at + end);
                let mut paths = Vec::new();
                expand_tree(&tokens[at + 1..end], &[], &mut paths);
                for (path, alias) in paths {
                    add_import(&mut source, from_file(&path, &inline), alias, is_public);
                }
                at = end;
            }
            "fn" | "struct" | "enum" | "type" | "const" | "static" | "trait" | "union" if depth == inline.len() => {
                source.definitions.insert(next.to_owned());
            }
            _ => {}
        }
        if is_word(token) && token != "use" {
            source.words.insert(token.to_owned());
            let mut path = vec![token.to_owned()];
            let continues = at > 0 && (tokens[at - 1] == "::" || tokens[at - 1] == ".");
            while tokens.get(at + 1).is_some_and(|token| token == "::")
                && tokens.get(at + 2).is_some_and(|token| is_word(token))
            {
                at += 2;
                path.push(tokens[at].clone());
                source.words.insert(tokens[at].clone());
            }
            if path.len() > 1 && !continues {
                source.paths.push(from_file(&path, &inline));
            }
        }
        at += 1;
    }
    source
}

fn add_import(source: &mut SourceFile, mut path: ModulePath, alias: Option<String>, is_public: bool) {
    let last = path.last().cloned().unwrap_or_default();
    if last == "*" {
        path.pop();
        source.globs.push(path);
        return;
    }
    if last == "self" && path.len() > 1 {
        path.pop();
    }
    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
    source.imports.push(Import { name, path, is_public });
}

/// Rewrites a path that is used in these inline modules as the path with the same meaning at the top of the file.
fn from_file(path: &[String], inline: &[(String, usize)]) -> ModulePath {
    let supers = path.iter().take_while(|segment| *segment == "super").count();
    let outer = supers.min(inline.len());
    if outer == 0 {
        return path.to_vec();
    }
    let kept = inline[..inline.len() - outer].iter().map(|(name, _)| name.clone());
    let start = if supers > outer { vec![] } else { vec!["self".to_owned()] };
    start.into_iter().chain(kept).chain(path[outer..].iter().cloned()).collect()
}

/// Lists the paths of a tree of imports, each with the name given by `as`.
fn expand_tree(tokens: &[String], prefix: &[String], paths: &mut Vec<(ModulePath, Option<String>)>) {
    let mut path = prefix.to_vec();
    let mut position = 0;
    while position < tokens.len() {
        match tokens[position].as_str() {
            // A leading `::` names another crate.
            "::" if position == 0 && prefix.is_empty() => return,
            "::" => {}
            "as" => return paths.push((path, tokens.get(position + 1).cloned())),
            "{" => {
                let inner = &tokens[position + 1..tokens.len() - 1];
                return split_at_commas(inner).into_iter().for_each(|part| expand_tree(part, &path, paths));
            }
            segment => path.push(segment.to_owned()),
        }
        position += 1;
    }
    if path.len() > prefix.len() {
        paths.push((path, None));
    }
}

fn split_at_commas(tokens: &[String]) -> Vec<&[String]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..]);
    parts
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Removes every item under `#[cfg(test)]`.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut position = 0;
    while position < tokens.len() {
        let is_test =
            tokens[position..].iter().map(String::as_str).take(7).eq(["#", "[", "cfg", "(", "test", ")", "]"]);
        if !is_test {
            kept.push(tokens[position].clone());
            position += 1;
            continue;
        }
        position += 7;
        let mut depth = 0;
        while position < tokens.len() {
            let token = tokens[position].as_str();
            depth += i32::from(matches!(token, "{" | "(" | "[")) - i32::from(matches!(token, "}" | ")" | "]"));
            position += 1;
            let ends_use = tokens.get(position).is_some_and(|next| next == ";");
            if depth <= 0 && (token == ";" || token == "}" && !ends_use) {
                break;
            }
        }
    }
    kept
}

/// Splits code into identifiers, `::` and single characters, without comments, strings and lifetimes.
fn split_tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at_end = |index: usize| index >= chars.len();
    let starts = |index: usize, with: &str| with.chars().enumerate().all(|(i, c)| chars.get(index + i) == Some(&c));
    let mut tokens = Vec::new();
    let mut position = 0;
    while !at_end(position) {
        let c = chars[position];
        if starts(position, "//") {
            position += chars[position..].iter().take_while(|c| **c != '\n').count();
        } else if starts(position, "/*") {
            position += 2;
            while !at_end(position) && !starts(position, "*/") {
                position += 1;
            }
            position += 2;
        } else if c.is_alphanumeric() || c == '_' {
            let word: String = chars[position..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
            position += word.chars().count();
            let hashes = chars[position.min(chars.len())..].iter().take_while(|c| **c == '#').count();
            if matches!(word.as_str(), "r" | "br" | "cr") && chars.get(position + hashes) == Some(&'"') {
                let close = format!("\"{}", "#".repeat(hashes));
                position += hashes + 1;
                while !at_end(position) && !starts(position, &close) {
                    position += 1;
                }
                position += close.len();
            } else {
                tokens.push(word);
            }
        } else if c == '"' {
            position += 1;
            while !at_end(position) && chars[position] != '"' {
                position += if chars[position] == '\\' { 2 } else { 1 };
            }
            position += 1;
        } else if c == '\'' {
            if chars.get(position + 1) == Some(&'\\') {
                position += 3;
                position += chars[position.min(chars.len())..].iter().take_while(|c| **c != '\'').count() + 1;
            } else if chars.get(position + 2) == Some(&'\'') {
                position += 3;
            } else {
                position += 1 + chars[position + 1..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            }
        } else if starts(position, "::") {
            tokens.push("::".to_owned());
            position += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            position += 1;
        }
    }
    tokens
}
