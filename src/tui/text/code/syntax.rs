//! Reads code as its language does, and says what each stretch of it is.

use super::{Colours, Job, Role};
use std::sync::OnceLock;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Finds the colours. Takes from 1 to some 200 ms the first time for a language. Never fails: an unknown
/// language has no colours.
pub fn highlight(job: &Job) -> Colours {
    let grammars = grammars();
    let Some(grammar) = grammar(grammars, &job.language) else { return Colours::default() };
    let (mut state, mut scopes) = (ParseState::new(grammar), ScopeStack::new());
    let mut colours = Colours::default();
    for line in job.code.split_inclusive('\n') {
        // A grammar that stumbles over a line leaves the rest plain.
        let Ok(changes) = state.parse_line(line, grammars) else { break };
        let end = line.trim_end_matches('\n').len();
        let mut stretches: Vec<(usize, Role)> = Vec::new();
        let mut from = 0;
        let mut push = |to: usize, scopes: &ScopeStack| {
            let to = to.min(end);
            if to > from {
                match (stretches.last_mut(), role(scopes)) {
                    (Some((length, before)), role) if *before == role => *length += to - from,
                    (_, role) => stretches.push((to - from, role)),
                }
                from = to;
            }
        };
        for (at, change) in changes {
            push(at, &scopes);
            if scopes.apply(&change).is_err() {
                return colours;
            }
        }
        push(end, &scopes);
        colours.lines.push(stretches);
    }
    colours
}

fn grammars() -> &'static SyntaxSet {
    static GRAMMARS: OnceLock<SyntaxSet> = OnceLock::new();
    GRAMMARS.get_or_init(two_face::syntax::extra_newlines)
}

/// By name, by an ending, or by a whole file name; what comes after a comma or blank (`rust,ignore`) is no name.
fn grammar<'a>(grammars: &'a SyntaxSet, language: &str) -> Option<&'a SyntaxReference> {
    let file = language.rsplit(['/', '\\']).next().unwrap_or(language);
    let word = language.split([',', ' ', '{']).next().unwrap_or(language);
    let known = match word.to_ascii_lowercase().as_str() {
        "console" | "shell" | "shell-session" | "sh" | "zsh" => "bash",
        "jsonc" | "json5" => "json",
        "c#" | "csharp" => "cs",
        "text" | "plain" | "plaintext" | "txt" | "output" => return None,
        _ => word,
    };
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    grammars
        .find_syntax_by_token(known)
        .or_else(|| grammars.find_syntax_by_extension(file))
        .or_else(|| ending.and_then(|ending| grammars.find_syntax_by_extension(ending)))
}

/// What the innermost scope that means something makes of a stretch.
fn role(scopes: &ScopeStack) -> Role {
    scopes.as_slice().iter().rev().find_map(|scope| meaning(*scope)).unwrap_or(Role::Plain)
}

fn meaning(scope: Scope) -> Option<Role> {
    static TABLE: OnceLock<Vec<(Scope, Option<Role>)>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let rows = MEANINGS.iter();
        rows.filter_map(|(prefix, role)| Some((Scope::new(prefix).ok()?, *role))).collect()
    });
    table.iter().find(|(prefix, _)| prefix.is_prefix_of(scope)).and_then(|(_, role)| *role)
}

/// The first row that fits counts, so the finer stand before the coarser. `None`: look further out.
const MEANINGS: &[(&str, Option<Role>)] = &[
    ("markup.inserted", Some(Role::Added)),
    ("markup.deleted", Some(Role::Removed)),
    ("markup.heading", Some(Role::Keyword)),
    ("markup.raw", Some(Role::String)),
    ("meta.diff.header", Some(Role::Comment)),
    ("meta.diff.range", Some(Role::Type)),
    ("comment", Some(Role::Comment)),
    ("punctuation.definition.comment", Some(Role::Comment)),
    ("punctuation.definition.string", Some(Role::String)),
    ("punctuation.definition.inserted", None),
    ("punctuation.definition.deleted", None),
    ("constant.character.escape", Some(Role::Number)),
    ("string", Some(Role::String)),
    ("constant", Some(Role::Number)),
    ("support.constant", Some(Role::Number)),
    ("storage.type.function", Some(Role::Keyword)),
    ("storage", Some(Role::Keyword)),
    ("keyword.operator", Some(Role::Punctuation)),
    ("keyword", Some(Role::Keyword)),
    ("variable.language", Some(Role::Keyword)),
    ("entity.name.function", Some(Role::Function)),
    ("support.function", Some(Role::Function)),
    ("support.macro", Some(Role::Function)),
    ("variable.function", Some(Role::Function)),
    ("entity.name.tag", Some(Role::Keyword)),
    ("entity.other.attribute-name", Some(Role::Type)),
    ("entity.name", Some(Role::Type)),
    ("entity.other.inherited-class", Some(Role::Type)),
    ("support.type", Some(Role::Type)),
    ("support.class", Some(Role::Type)),
    ("punctuation", Some(Role::Punctuation)),
];
