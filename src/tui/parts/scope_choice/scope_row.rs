//! Texts about one scope: its name, an example of what it covers, and what it never covers.

use crate::agent::GrantOption;
use crate::chat::{Grant, GrantScope};
use crate::policy::WITH_INPUT;
use crate::text::width::{fit_path, fit_start, text_width};
use std::path::Path;

/// Minimum columns of an example that is shortened to fit into the row of its scope.
const MIN_EXAMPLE_COLUMNS: usize = 8;
/// Minimum columns of the name of a scope in a row in which everything is shortened.
const MIN_LABEL_COLUMNS: usize = 12;
/// Minimum columns of a row in which an example is shortened. With fewer it is left out.
const MIN_ROW_COLUMNS: usize = 48;
/// Name of the scope for all file changes.
const FILE_CHANGES: &str = "file changes in this project";
/// Name of the tool that calls any tool of a server.
const ANY_SERVER_TOOL: &str = "run_mcp_tool";
/// Texts before the example and the limits in a row.
const EXAMPLE_START: &str = "  e.g. ";
const LIMITS_START: &str = "  never ";

/// A scope in one row, with all of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRow {
    /// Its name and an example of what it covers, if there is any.
    pub subject: String,
    /// What it never covers.
    pub limits: String,
}

impl ScopeRow {
    /// Fits each scope into these columns: the example is shortened first, then the limits, then the name. With very few
    /// columns the example is left out and a row may be longer. Limits of scopes of one kind are shortened equally, so
    /// that a part that only some of them name is no difference between them.
    pub fn fit_all(options: &[GrantOption], columns: usize) -> Vec<Self> {
        let level = |option: &GrantOption| {
            let row = Self::fit(option, columns, 0);
            describe_limits(&option.grant).iter().position(|limits| *limits == row.limits).unwrap_or(0)
        };
        let levels: Vec<(LimitKind, usize)> =
            options.iter().map(|option| (LimitKind::from(&option.grant.scope), level(option))).collect();
        let common_level = |(kind, _): &(LimitKind, usize)| {
            levels.iter().filter(|(other, _)| other == kind).map(|(_, level)| *level).max().unwrap_or(0)
        };
        options.iter().zip(&levels).map(|(option, level)| Self::fit(option, columns, common_level(level))).collect()
    }

    /// Fits one scope, whose limits are shortened at least this far.
    fn fit(option: &GrantOption, columns: usize, min_level: usize) -> Self {
        let [label, medium_label, short_label] = labels(&option.grant);
        let limits = describe_limits(&option.grant);
        let limits = &limits[min_level.min(limits.len() - 1)..];
        let shortest = limits.last().copied().unwrap_or_default();
        let text_columns = columns.saturating_sub(LIMITS_START.len());
        let example = option.example.as_deref();
        let varying = example.map(|example| strip_scope(&option.grant, example));
        let subject = |label: &str, example: Option<&str>| match example {
            Some(example) => format!("{label}{EXAMPLE_START}{example}"),
            None => label.to_owned(),
        };
        let subjects = [
            subject(&label, example),
            subject(&medium_label, example),
            subject(&short_label, example),
            subject(&short_label, varying),
        ];
        for text in subjects {
            let columns_left = text_columns.saturating_sub(text_width(&text));
            if let Some(limits) = limits.iter().find(|limits| text_width(limits) <= columns_left) {
                return Self { subject: text, limits: (*limits).to_owned() };
            }
        }
        if columns < MIN_ROW_COLUMNS {
            let label = fit_label(&option.grant, &short_label, columns.max(MIN_LABEL_COLUMNS));
            return Self { subject: label, limits: shortest.to_owned() };
        }
        let start_columns = if example.is_some() { EXAMPLE_START.len() } else { 0 };
        let example_columns = varying.map_or(0, |example| text_width(example).min(MIN_EXAMPLE_COLUMNS));
        let label_columns = text_columns.saturating_sub(start_columns + example_columns + text_width(shortest));
        let label = fit_label(&option.grant, &short_label, label_columns.max(MIN_LABEL_COLUMNS));
        let used_columns = text_width(&label) + start_columns + text_width(shortest);
        let example_columns = text_columns.saturating_sub(used_columns).max(example_columns);
        let varying = varying.map(|example| fit_path(example, example_columns));
        Self { subject: subject(&label, varying.as_deref()), limits: shortest.to_owned() }
    }
}

/// Kinds of scopes whose limits can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitKind {
    Command,
    Prefix,
    Files,
    Network,
}

impl From<&GrantScope> for LimitKind {
    fn from(scope: &GrantScope) -> Self {
        match scope {
            GrantScope::Command { .. } => Self::Command,
            GrantScope::Prefix { .. } => Self::Prefix,
            GrantScope::File(_) | GrantScope::Folder(_) | GrantScope::FileChanges | GrantScope::Workspace => {
                Self::Files
            }
            GrantScope::Host(_) | GrantScope::Service(_) => Self::Network,
        }
    }
}

/// Names a scope with an example of what it covers, if there is any.
pub fn describe_option(option: &GrantOption) -> String {
    let label = label_scope(&option.grant);
    match &option.example {
        Some(example) => format!("{label} · such as {example}"),
        None => label,
    }
}

/// Returns the verb of a tool: `edit_file` and `write_file` are verbs.
fn verb(grant: &Grant) -> &str {
    grant.tool.strip_suffix("_file").unwrap_or(&grant.tool)
}

/// Names the scope of a grant in a list.
pub fn label_scope(grant: &Grant) -> String {
    let verb = verb(grant);
    match &grant.scope {
        GrantScope::Command { .. } => grant.describe_coverage(),
        GrantScope::Prefix { words, .. } => format!("{}{} …", input_text(grant), words.join(" ")),
        GrantScope::File(path) => format!("{verb} {}", path.display()),
        GrantScope::Folder(path) if path == Path::new("") => format!("{verb} any file of the project"),
        GrantScope::Folder(path) => format!("{verb} any file below {}/", path.display()),
        GrantScope::FileChanges => format!("{FILE_CHANGES}, edit and write"),
        GrantScope::Host(host) => format!("any page of {host}"),
        GrantScope::Service(host) if grant.tool == ANY_SERVER_TOOL => format!("any tool of any MCP server at {host}"),
        GrantScope::Service(service) => format!("any call of this tool to {service}"),
        GrantScope::Workspace => "files of this session's workspace".to_owned(),
    }
}

/// Returns what stands for the commands whose output a command of this grant reads; empty if it reads none.
fn input_text(grant: &Grant) -> &'static str {
    if grant.takes_input { WITH_INPUT } else { "" }
}

/// Returns the name of the scope of a grant and two shorter ones, longest first.
fn labels(grant: &Grant) -> [String; 3] {
    let (label, verb) = (label_scope(grant), verb(grant));
    let short = match &grant.scope {
        GrantScope::Command { network: true, .. } => "exactly this command, with network".to_owned(),
        GrantScope::Command { .. } => "exactly this command".to_owned(),
        GrantScope::Folder(path) if path == Path::new("") => format!("{verb} in project"),
        GrantScope::Folder(path) => format!("{verb} in {}/", path.display()),
        GrantScope::FileChanges => return [label, FILE_CHANGES.to_owned(), "all file changes".to_owned()],
        GrantScope::Service(host) if grant.tool == ANY_SERVER_TOOL => format!("any MCP server at {host}"),
        GrantScope::Service(service) => format!("this tool at {service}"),
        GrantScope::Workspace => "files of the workspace".to_owned(),
        GrantScope::Prefix { .. } | GrantScope::File(_) | GrantScope::Host(_) => label.clone(),
    };
    [label, short.clone(), short]
}

/// Shortens the name of a scope: a path in its middle, a command at its end.
fn fit_label(grant: &Grant, label: &str, columns: usize) -> String {
    let verb = verb(grant);
    match (&grant.scope, label.strip_prefix(verb)) {
        (GrantScope::File(_) | GrantScope::Folder(_), Some(path)) => {
            format!("{verb}{}", fit_path(path, columns.saturating_sub(text_width(verb))))
        }
        _ => fit_start(label, columns).into_owned(),
    }
}

/// Returns the part of an example that the name of its scope does not say.
fn strip_scope<'a>(grant: &Grant, example: &'a str) -> &'a str {
    let start = match &grant.scope {
        GrantScope::Prefix { words, .. } => format!("{}{} ", input_text(grant), words.join(" ")),
        GrantScope::Folder(path) => format!("{}/", path.display()),
        GrantScope::Command { .. }
        | GrantScope::File(_)
        | GrantScope::FileChanges
        | GrantScope::Host(_)
        | GrantScope::Service(_)
        | GrantScope::Workspace => return example,
    };
    example.strip_prefix(&start).unwrap_or(example)
}

/// Describes the calls that a grant of this scope never covers, besides those that no grant covers. Longest text first;
/// the first one says everything.
pub fn describe_limits(grant: &Grant) -> &'static [&'static str] {
    match &grant.scope {
        GrantScope::Command { .. } => &["a command that differs in any character", "any other command", "any other"],
        GrantScope::Prefix { .. } => &[
            "a variable, a substitution, > FILE, a path outside the project",
            "$x, $(…), > FILE, a path outside the project",
            "$x, $(…), > FILE, paths outside",
            "$x, > FILE, paths outside",
            "$x, > FILE, …",
        ],
        GrantScope::File(_) => &["another file, another tool", "another file"],
        GrantScope::Folder(path) if path == Path::new("") => &[
            "a file outside the project, another tool",
            "a file outside the project",
            "outside the project",
            "outside it",
        ],
        GrantScope::Folder(_) => &[
            "a file outside this folder, another tool",
            "a file outside this folder",
            "outside this folder",
            "outside it",
        ],
        GrantScope::FileChanges => {
            &["a file outside the project, a command", "outside the project, commands", "commands"]
        }
        GrantScope::Service(_) if grant.tool == ANY_SERVER_TOOL => &["another host, also one below it", "another host"],
        GrantScope::Service(_) => &["another service, another tool", "another service"],
        GrantScope::Workspace => &["the workspace of another session, another tool", "another session, another tool"],
        GrantScope::Host(_) => &[
            "another host, also one below it; an address in a private network",
            "another host, private networks",
            "another host",
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(tool: &str, scope: GrantScope, example: Option<&str>) -> GrantOption {
        let example = example.map(str::to_owned);
        GrantOption { grant: Grant::new(tool, scope), can_be_rule: true, earlier_calls: Vec::new(), example }
    }

    fn prefix(words: &[&str], example: &str) -> GrantOption {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        option("bash_exec", GrantScope::Prefix { words, folder: "/p".into() }, Some(example))
    }

    #[track_caller]
    fn assert_row(option: &GrantOption, columns: usize, expected: &str) {
        let ScopeRow { subject, limits } = ScopeRow::fit(option, columns, 0);
        let row = format!("{subject}{LIMITS_START}{limits}");
        assert_eq!(row, expected);
        assert!(text_width(&row) <= columns, "{row}");
    }

    #[test]
    fn a_row_has_the_name_the_example_and_the_limits_of_its_scope() {
        let test = prefix(&["cargo", "test"], "cargo test --verbose");
        assert_row(&test, 71, "cargo test …  e.g. cargo test --verbose  never $x, > FILE, …");
        assert_row(&test, 51, "cargo test …  e.g. --verbose  never $x, > FILE, …");
        let example = Some(format!("{WITH_INPUT}cargo test --verbose"));
        let with_input = GrantOption { grant: test.grant.clone().with_input(true), example, ..test };
        assert_row(&with_input, 76, "… | cargo test …  e.g. … | cargo test --verbose  never $x, > FILE, …");
        assert_row(&with_input, 58, "… | cargo test …  e.g. --verbose  never $x, > FILE, …");
        let folder = option("edit_file", GrantScope::Folder("src/deep".into()), Some("src/deep/other.txt"));
        assert_row(
            &folder,
            100,
            "edit any file below src/deep/  e.g. src/deep/other.txt  never a file outside this folder",
        );
        assert_row(&folder, 51, "edit in src/deep/  e.g. other.txt  never outside it");
        let changes = option("edit_file", GrantScope::FileChanges, Some("src/another.txt"));
        assert_row(&changes, 71, "file changes in this project  e.g. src/another.txt  never commands");
        assert_row(&changes, 51, "all file changes  e.g. …another.txt  never commands");
        let exact = GrantScope::Command { command: "make".into(), folder: "/p".into(), network: false };
        assert_row(&option("bash_exec", exact, None), 51, "exactly this command  never any other command");
    }

    /// At every width the rows of one kind name the same parts of what they never cover.
    #[test]
    fn limits_of_scopes_of_one_kind_are_shortened_equally() {
        let commands = [
            prefix(&["cargo", "test", "--workspace"], "cargo test --workspace --verbose"),
            prefix(&["cargo", "test"], "cargo test --verbose"),
            prefix(&["cargo"], "cargo b"),
        ];
        let files = [
            option("edit_file", GrantScope::File("src/tui/parts/a.rs".into()), None),
            option("edit_file", GrantScope::Folder("src/tui/parts".into()), Some("src/tui/parts/b.rs")),
            option("edit_file", GrantScope::Folder("src".into()), Some("src/b.rs")),
        ];
        let mut has_different_needs = false;
        for columns in MIN_ROW_COLUMNS..110 {
            let alone: Vec<ScopeRow> = commands.iter().map(|option| ScopeRow::fit(option, columns, 0)).collect();
            has_different_needs |= alone.iter().any(|row| row.limits != alone[0].limits);
            let rows = ScopeRow::fit_all(&commands, columns);
            assert!(rows.iter().all(|row| row.limits == rows[0].limits), "{columns}: {rows:?}");
            let rows = ScopeRow::fit_all(&files, columns);
            let named = rows.iter().filter(|row| row.limits.contains("another tool")).count();
            assert!([0, files.len()].contains(&named) && rows[1].limits == rows[2].limits, "{columns}: {rows:?}");
        }
        assert!(has_different_needs);
    }

    #[test]
    fn a_long_row_is_cut_in_the_middle_and_keeps_all_parts() {
        let long = "src/a/very/long/path/with/many/folders/in/it";
        let folder = option("edit_file", GrantScope::Folder(long.into()), Some(&format!("{long}/other.txt")));
        for columns in MIN_ROW_COLUMNS..70 {
            let ScopeRow { subject, limits } = ScopeRow::fit(&folder, columns, 0);
            let row = format!("{subject}{LIMITS_START}{limits}");
            assert!(text_width(&row) <= columns, "{columns}: {row}");
            assert!(row.contains("  e.g. ") && row.contains(".txt  never outside it"), "{columns}: {row}");
        }
        let network = GrantScope::Command { command: "x".into(), folder: "/p".into(), network: true };
        assert_row(&option("bash_exec", network, None), 51, "exactly this command, with network  never any other");
    }
}
