//! Comparison of two sets of tools: tokens per tool, changed words of descriptions, and losses of meaning.

use super::schema_source::{CountedTool, SchemaSet};
use crate::chat::schema_diff::{Field, Loss, ToolText, find_losses, list_fields};
use crate::chat::token_budgets::TokenCounts;
use crate::print::json_line;
use crate::text::clean::clean_line;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// A tool of one set or of both.
struct ComparedTool<'a> {
    name: &'a str,
    old: Option<&'a CountedTool>,
    new: Option<&'a CountedTool>,
    losses: Vec<Loss>,
    /// Descriptions that changed: the place, and both texts.
    changes: Vec<(String, String, String)>,
}

/// Two sets of tools.
pub(super) struct Comparison {
    old: SchemaSet,
    new: SchemaSet,
}

impl Comparison {
    pub(super) fn new(old: SchemaSet, new: SchemaSet) -> Self {
        Self { old, new }
    }

    /// Compares all tools, in the order of the older set, then those that are new.
    fn compare_tools(&self) -> Vec<ComparedTool<'_>> {
        let names: Vec<String> =
            self.old.tools.iter().chain(&self.new.tools).map(|tool| tool.text.name.clone()).collect();
        let of_old = self.old.tools.iter().map(|old| {
            let new = find_tool(&self.new.tools, &old.text.name);
            let losses = new.map(|new| find_losses(&old.text, &new.text, &other_names(&names, &old.text.name)));
            let changes = new.map(|new| changed_texts(&old.text, &new.text));
            ComparedTool {
                name: &old.text.name,
                old: Some(old),
                new,
                losses: losses.unwrap_or_default(),
                changes: changes.unwrap_or_default(),
            }
        });
        let added = self.new.tools.iter().filter(|new| find_tool(&self.old.tools, &new.text.name).is_none());
        let added = added.map(|new| ComparedTool {
            name: &new.text.name,
            old: None,
            new: Some(new),
            losses: Vec::new(),
            changes: Vec::new(),
        });
        of_old.chain(added).collect()
    }

    /// Returns the comparison for the user.
    pub(super) fn lines(&self) -> Vec<String> {
        let tools = self.compare_tools();
        let name_width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0).max(20);
        let is_estimated = self.old.tools.iter().chain(&self.new.tools).any(|tool| tool.is_estimated);
        let (old, new) = (sum(&self.old), sum(&self.new));
        let mut lines = vec![
            format!("A  {}", self.old.describe()),
            format!("B  {}", self.new.describe()),
            String::new(),
            format!("{:name_width$} {:>7} {:>7} {:>7} {:>7}", "tokens", "A", "B", "change", ""),
        ];
        let sum_row =
            |name: &str, old: u64, new: u64| format!("{name:name_width$} {}", row(Some(old), Some(new), false));
        lines.push(sum_row("total (cl100k)", old.cl100k, new.cl100k));
        lines.push(sum_row("total (o200k)", old.o200k, new.o200k));
        for tool in &tools {
            let counts = |tool: Option<&CountedTool>| tool.map(|tool| tool.counts.cl100k);
            let is_estimated = [tool.old, tool.new].into_iter().flatten().any(|tool| tool.is_estimated);
            lines.push(format!("{:name_width$} {}", tool.name, row(counts(tool.old), counts(tool.new), is_estimated)));
        }
        for tool in tools.iter().filter(|tool| !tool.changes.is_empty() || !tool.losses.is_empty()) {
            lines.extend([String::new(), tool.name.to_owned()]);
            for (place, old, new) in &tool.changes {
                lines.push(format!("  {}  {}", place_name(place), mark_changed_words(old, new)));
            }
            for Loss { place, kind, text } in &tool.losses {
                lines.push(format!("  LOST {} · {} · {text}", kind.as_str(), place_name(place)));
            }
        }
        let removed = tools.iter().filter(|tool| tool.new.is_none());
        let removed: Vec<&str> = removed.map(|tool| tool.name).collect();
        let losses: usize = tools.iter().map(|tool| tool.losses.len()).sum();
        lines.push(String::new());
        if !removed.is_empty() {
            lines.push(format!("only in A: {}", removed.join(", ")));
        }
        lines.push(match losses {
            0 => "no lost words, limits or defaults found".to_owned(),
            1 => "1 loss of meaning".to_owned(),
            losses => format!("{losses} losses of meaning"),
        });
        if is_estimated {
            lines.push("~ marks estimates: the file states no tokens of these tools".to_owned());
        }
        lines.iter().map(|line| clean_line(line.trim_end()).into_owned()).collect()
    }

    /// Returns one JSON object per tool, then the sum.
    pub(super) fn json_lines(&self) -> Vec<String> {
        let tokens = |tool: Option<&CountedTool>| {
            tool.map(|CountedTool { counts, is_estimated, .. }| {
                json!({ "cl100k": counts.cl100k, "o200k": counts.o200k, "is_estimated": is_estimated })
            })
        };
        let loss = |Loss { place, kind, text }: &Loss| json!({ "place": place, "kind": kind.as_str(), "text": text });
        let change = |(place, old, new): &(String, String, String)| json!({ "place": place, "a": old, "b": new });
        let tools = self.compare_tools();
        let mut rows: Vec<Value> = Vec::new();
        for tool in &tools {
            rows.push(json!({
                "part": "tool", "name": tool.name, "a": tokens(tool.old), "b": tokens(tool.new),
                "losses": tool.losses.iter().map(loss).collect::<Vec<_>>(),
                "changes": tool.changes.iter().map(change).collect::<Vec<_>>(),
            }));
        }
        let (old, new) = (sum(&self.old), sum(&self.new));
        rows.push(json!({
            "part": "total",
            "a": { "source": self.old.source, "cl100k": old.cl100k, "o200k": old.o200k },
            "b": { "source": self.new.source, "cl100k": new.cl100k, "o200k": new.o200k },
            "percent": { "cl100k": percent(old.cl100k, new.cl100k), "o200k": percent(old.o200k, new.o200k) },
            "losses": tools.iter().map(|tool| tool.losses.len()).sum::<usize>(),
        }));
        rows.iter().map(json_line).collect()
    }
}

fn find_tool<'a>(tools: &'a [CountedTool], name: &str) -> Option<&'a CountedTool> {
    tools.iter().find(|tool| tool.text.name == name)
}

/// Returns the names of the other tools. A tool's own name is no hint.
fn other_names(names: &[String], own: &str) -> Vec<String> {
    let mut others: Vec<String> = names.iter().filter(|name| *name != own && name.contains('_')).cloned().collect();
    others.sort();
    others.dedup();
    others
}

fn sum(set: &SchemaSet) -> TokenCounts {
    let add = |encoding: fn(&TokenCounts) -> u64| set.tools.iter().map(|tool| encoding(&tool.counts)).sum();
    TokenCounts { cl100k: add(|counts| counts.cl100k), o200k: add(|counts| counts.o200k) }
}

/// Returns the change in percent, rounded.
fn percent(old: u64, new: u64) -> i64 {
    if old == new { 0 } else { ((new as f64 / (old as f64).max(1.0) - 1.0) * 100.0).round() as i64 }
}

/// Formats the columns of a row: both numbers, the difference and the percentage.
fn row(old: Option<u64>, new: Option<u64>, is_estimated: bool) -> String {
    let mark = if is_estimated { "~" } else { "" };
    let number = |count: Option<u64>| count.map_or("–".to_owned(), |count| format!("{mark}{count}"));
    let (change, share) = match (old, new) {
        (Some(old), Some(new)) if old != new => {
            let sign = if new > old { "+" } else { "−" };
            let percent = percent(old, new);
            (format!("{sign}{}", old.abs_diff(new)), format!("{sign}{} %", percent.abs()))
        }
        (Some(_), Some(_)) => ("0".to_owned(), String::new()),
        (None, Some(new)) => (format!("+{new}"), "new".to_owned()),
        (Some(old), None) => (format!("−{old}"), "removed".to_owned()),
        (None, None) => (String::new(), String::new()),
    };
    format!("{:>7} {:>7} {change:>7} {share:>7}", number(old), number(new))
}

fn place_name(place: &str) -> &str {
    if place.is_empty() { "description" } else { place }
}

/// Returns the descriptions that differ, also those of added parameters.
fn changed_texts(old: &ToolText, new: &ToolText) -> Vec<(String, String, String)> {
    let (old_fields, new_fields) = (list_fields(&old.parameters), list_fields(&new.parameters));
    let find = |fields: &[Field], path: &str| {
        fields.iter().find(|field| field.path == path).map_or(String::new(), |field| field.description.clone())
    };
    let mut changes = vec![(String::new(), old.description.clone(), new.description.clone())];
    changes.extend(
        old_fields.iter().map(|field| (field.path.clone(), field.description.clone(), find(&new_fields, &field.path))),
    );
    let added = new_fields.iter().filter(|field| old_fields.iter().all(|old| old.path != field.path));
    changes.extend(added.map(|field| (field.path.clone(), String::new(), field.description.clone())));
    changes.retain(|(_, old, new)| old != new);
    changes
}

/// Returns both texts as one, with `[-removed-]` and `{+added+}` words.
fn mark_changed_words(old: &str, new: &str) -> String {
    let diff = TextDiff::from_words(old, new);
    let mut text = String::new();
    let mut open: Option<ChangeTag> = None;
    let close = |text: &mut String, tag: Option<ChangeTag>| match tag {
        Some(ChangeTag::Delete) => text.push_str("-]"),
        Some(ChangeTag::Insert) => text.push_str("+}"),
        Some(ChangeTag::Equal) | None => {}
    };
    for change in diff.iter_all_changes() {
        if open != Some(change.tag()) {
            close(&mut text, open);
            match change.tag() {
                ChangeTag::Delete => text.push_str("[-"),
                ChangeTag::Insert => text.push_str("{+"),
                ChangeTag::Equal => {}
            }
            open = Some(change.tag());
        }
        text.push_str(change.value());
    }
    close(&mut text, open);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_marked() {
        assert_eq!(mark_changed_words("Run a shell command.", "Run a command."), "Run a [-shell -]command.");
        assert_eq!(mark_changed_words("", "New."), "{+New.+}");
        assert_eq!(mark_changed_words("Same.", "Same."), "Same.");
    }

    #[test]
    fn rows_state_the_difference() {
        assert_eq!(row(Some(200), Some(150), false), "    200     150     −50   −25 %");
        assert_eq!(row(None, Some(15), true), "      –     ~15     +15     new");
        assert_eq!(row(Some(15), None, false), "     15       –     −15 removed");
        assert_eq!(row(Some(15), Some(15), false), "     15      15       0        ");
        assert_eq!([percent(7_598, 5_459), percent(100, 106), percent(0, 0)], [-28, 6, 0]);
    }
}
