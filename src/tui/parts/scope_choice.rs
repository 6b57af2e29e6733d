//! The choice of the scope and span of a grant. Lists all scopes with an example of what each covers, the calls that the
//! selected one would have covered, its limits, and the rule that would be written.

use super::listening::{QUIET_TIME, TOO_SOON};
use crate::agent::GrantOption;
use crate::chat::{Grant, GrantScope, GrantSpan};
use crate::config::rules::rules_editor;
use crate::text::width::{fit_end, fit_start, text_width};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{self, explain_unseen_end, key_hint};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Minimum columns of an example that is shortened to fit into the row of its scope. With fewer it is left out.
const MIN_EXAMPLE_COLUMNS: usize = 8;
/// Name of the scope for all file changes.
const FILE_CHANGES: &str = "file changes in this project";
/// Name of the tool that calls any tool of a server.
const ANY_SERVER_TOOL: &str = "run_mcp_tool";
/// When a call asks although a grant or a rule covers it.
const UNTRUSTED_TEXT_NOTE: &str = "asks once more in each turn that has read text from outside, such as a page";
/// Maximum number of covered calls that are named.
const MAX_NAMED_CALLS: usize = 4;

/// The scope and span of a grant while they are being chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ScopeChoice {
    /// Possible scopes, narrowest first; at least one.
    options: Vec<GrantOption>,
    /// Index of the selected scope.
    selected: usize,
    /// Where and how long the grant applies.
    span: GrantSpan,
    /// Project folder.
    folder: PathBuf,
    /// Name of the key that confirms, as stored in the rule.
    key: String,
    opened_at: Duration,
    /// True if the end of the text for the current choice was on the screen.
    has_reached_end: bool,
    /// True while the rule is being written.
    is_storing: bool,
}

/// Parts of the choice, from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChoicePart {
    /// What can be chosen, and what it never covers.
    Scopes,
    /// What no scope covers, and what the selected one would have covered.
    Explanation,
    /// Text of the rule that would be stored.
    Rule,
}

/// A line of the choice, not wrapped yet.
pub struct ChoiceLine {
    pub part: ChoicePart,
    /// Start of the first row; further rows are indented by its width.
    pub prefix: String,
    pub text: String,
    pub style: Style,
}

impl ScopeChoice {
    /// Creates the choice with the narrowest scope and the span of this session selected. Returns `None` if nothing can be
    /// granted.
    pub fn new(options: Vec<GrantOption>, folder: &Path, keys: &Keymap, now: Duration) -> Option<Self> {
        if options.is_empty() {
            return None;
        }
        Some(Self {
            options,
            selected: 0,
            span: GrantSpan::Session,
            folder: folder.to_owned(),
            key: keys.first_chord(Scope::GrantScope, Action::Accept),
            opened_at: now,
            has_reached_end: false,
            is_storing: false,
        })
    }

    /// Returns whether the rule is being written. Meanwhile keys have no effect.
    pub fn is_storing(&self) -> bool {
        self.is_storing
    }

    /// Returns whether keys may still be meant for the view before the choice.
    pub fn is_just_opened(&self, now: Duration) -> bool {
        now.saturating_sub(self.opened_at) < QUIET_TIME
    }

    /// Handles a failure to write the rule: keys work again, except those pressed in the meantime.
    pub fn handle_store_failure(&mut self, now: Duration) {
        (self.is_storing, self.opened_at) = (false, now);
    }

    /// Records whether a readable frame showed the end of the text.
    pub fn record_frame(&mut self, shows_end: bool) {
        self.has_reached_end |= shows_end;
    }

    fn selected_option(&self) -> &GrantOption {
        &self.options[self.selected.min(self.options.len() - 1)]
    }

    /// Returns the possible spans. A grant that cannot be written as a rule lasts for this session only.
    fn spans(&self) -> &'static [GrantSpan] {
        match self.selected_option().can_be_rule && self.folder.to_str().is_some() {
            true => &[GrantSpan::Session, GrantSpan::Project, GrantSpan::Everywhere],
            false => &[GrantSpan::Session],
        }
    }

    /// Selects another scope or span. If the action cannot, returns the reason and the key that works, separated by
    /// ` · `.
    pub fn change_scope(&mut self, action: Action, keys: &Keymap) -> Result<(), String> {
        let key = |action| keys.first_chord(Scope::GrantScope, action);
        match action {
            Action::NarrowScope if self.selected == 0 => return Err("This is the narrowest scope".to_owned()),
            Action::WidenScope if self.selected + 1 >= self.options.len() => return Err(self.explain_widest()),
            Action::NarrowScope => self.selected -= 1,
            Action::WidenScope => self.selected += 1,
            Action::Up | Action::Down => {
                let spans = self.spans();
                if spans.len() == 1 {
                    return Err("No rule is possible: for this session only".to_owned());
                }
                let index = spans.iter().position(|span| *span == self.span).unwrap_or(0);
                // The selection wraps around, so one up is the same as `len - 1` down.
                let steps = if action == Action::Down { 1 } else { spans.len() - 1 };
                self.span = spans[(index + steps) % spans.len()];
            }
            Action::ApproveOnce | Action::ApproveAlways => {
                let (accept_key, close_key) = (key(Action::Accept), key(Action::Close));
                return Err(format!("{accept_key} to grant and approve · {close_key} to go back"));
            }
            _ => return Err(format!("This key does nothing here · {} to go back", key(Action::Close))),
        }
        self.handle_selection();
        Ok(())
    }

    /// Selects the scope with this number, from 1. If there is none, returns the numbers that exist.
    pub fn select_number(&mut self, number: usize) -> Result<(), String> {
        if number == 0 || number > self.options.len() {
            return Err(match self.options.len() {
                1 => "There is one scope".to_owned(),
                count => format!("There are {count} scopes: 1 to {count}"),
            });
        }
        self.selected = number - 1;
        self.handle_selection();
        Ok(())
    }

    fn handle_selection(&mut self) {
        if !self.spans().contains(&self.span) {
            self.span = GrantSpan::Session;
        }
        self.has_reached_end = false;
    }

    /// Returns the chosen grant; `is_listening` is true if a key may answer now. If the grant cannot be given yet, returns
    /// the reason and the key that works, separated by ` · `.
    pub fn confirm(&mut self, keys: &Keymap, is_listening: bool, now: Duration) -> Result<Grant, String> {
        if !is_listening || self.is_just_opened(now) {
            return Err(TOO_SOON.to_owned());
        }
        if !self.has_reached_end {
            return Err(explain_unseen_end(&keys.first_chord(Scope::GrantScope, Action::Bottom)));
        }
        self.is_storing = self.span != GrantSpan::Session;
        Ok(self.selected_option().grant_for_span(self.span))
    }

    /// Explains why there is no wider scope.
    fn explain_widest(&self) -> String {
        match &self.selected_option().grant.scope {
            GrantScope::Command { network: true, .. } => {
                "No wider scope with network access: the command may reach other hosts than it names"
            }
            GrantScope::Command { .. } if !self.selected_option().grant.scripts.is_empty() => {
                "No wider scope: the command runs a file and is allowed while that file is unchanged"
            }
            GrantScope::Command { .. } => "No wider scope: this is not a simple command identified by its first words",
            GrantScope::Prefix { .. } => "This is the widest scope: allowing any command would allow anything",
            GrantScope::File(_)
            | GrantScope::Folder(_)
            | GrantScope::FileChanges
            | GrantScope::Host(_)
            | GrantScope::Service(_)
            | GrantScope::Workspace => "This is the widest scope",
        }
        .to_owned()
    }

    /// Returns all lines of the choice. `sandbox_note` says what the sandbox of a command allows; `can_send` is true if
    /// the call can send something to another machine. If `is_roomy`, every scope says what it never covers, and its
    /// example is whole; otherwise only the selected one does, and an example is shortened to the row of its scope.
    pub fn choice_lines(
        &self,
        width: usize,
        sandbox_note: &str,
        can_send: bool,
        theme: &Theme,
        is_roomy: bool,
    ) -> Vec<ChoiceLine> {
        let option = self.selected_option();
        let grant = option.grant_for_span(self.span);
        let mut lines = Vec::new();
        for (index, option) in self.options.iter().enumerate() {
            let is_selected = index == self.selected;
            let (mark, style) = if is_selected { ("›", theme.strong) } else { (" ", theme.text) };
            let prefix = format!("{mark} {}  ", index + 1);
            let indent = " ".repeat(text_width(&prefix));
            let columns = if is_roomy { usize::MAX } else { width.saturating_sub(text_width(&prefix)) };
            let text = describe_option(option, columns);
            lines.push(ChoiceLine { part: ChoicePart::Scopes, prefix, text, style });
            if is_roomy || is_selected {
                let (prefix, text) = (format!("{indent}never: "), describe_limits(&option.grant).to_owned());
                lines.push(ChoiceLine { part: ChoicePart::Scopes, prefix, text, style: theme.dim });
            }
        }
        let spans = self.spans().iter().map(|span| match *span == self.span {
            true => format!("[{}]", span.describe_span()),
            false => span.describe_span().to_owned(),
        });
        let mut push = |part, text: String, style| {
            lines.push(ChoiceLine { part, prefix: String::new(), text, style });
        };
        push(ChoicePart::Scopes, spans.collect::<Vec<_>>().join(" · "), theme.text);
        if let Some(limits) = describe_common_limits(&grant) {
            push(ChoicePart::Explanation, format!("always ask: {limits}"), theme.dim);
        }
        if can_send {
            push(ChoicePart::Explanation, UNTRUSTED_TEXT_NOTE.to_owned(), theme.dim);
        }
        if !sandbox_note.is_empty() && matches!(grant.scope, GrantScope::Prefix { .. }) {
            let text = format!("the sandbox of every such command: {sandbox_note}");
            push(ChoicePart::Explanation, text, theme.dim);
        }
        push(ChoicePart::Explanation, describe_covered_calls(&option.earlier_calls), theme.dim);
        if self.span != GrantSpan::Session {
            push(ChoicePart::Explanation, "stored in your rules.toml for 90 days:".to_owned(), theme.dim);
            let rule = rules_editor::format_rule(&rules_editor::rule_from_grant(&grant, &self.folder, &self.key));
            rule.lines().for_each(|text| push(ChoicePart::Rule, text.to_owned(), theme.accent));
        }
        if self.is_storing {
            push(ChoicePart::Rule, "Writing the rule…".to_owned(), theme.prompt);
        }
        lines
    }

    /// Returns the key hints, from the longest to the shortest. `shows_end` is true if the frame with these hints shows the
    /// end of the text.
    pub fn hints(&self, keys: &Keymap, shows_end: bool) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::GrantScope, action);
        let accept_key = key(Action::Accept);
        let scope_keys = match self.options.len() {
            1 => String::new(),
            count => format!("1–{count} ←→"),
        };
        let end_labels =
            [format!("jump to the end, then {accept_key} grant"), format!("first, then {accept_key} grant")];
        let first_hint = match self.has_reached_end || shows_end {
            true => key_hint(0, &accept_key, &["approve and grant", "grant"]),
            false => key_hint(0, &key(Action::Bottom), &end_labels.each_ref().map(String::as_str)),
        };
        // The numbers are the priorities of removal: the highest is removed first. The keys of the choice stay longest.
        key_hints::hint_rows([
            first_hint,
            key_hint(1, &scope_keys, &["scope"]),
            key_hint(2, if self.spans().len() > 1 { "↑↓" } else { "" }, &["where it applies", "where"]),
            key_hint(3, &key(Action::Close), &["back"]),
            key_hint(4, &key(Action::Deny), &["deny"]),
        ])
    }
}

/// Names a scope with an example of what it covers, shortened to fit into these columns: of a path the end matters, of a
/// command the start.
fn describe_option(option: &GrantOption, columns: usize) -> String {
    let label = label_scope(&option.grant);
    let Some(example) = &option.example else { return label };
    let (labels, is_command): (&[&str], bool) = match &option.grant.scope {
        GrantScope::Command { .. } | GrantScope::Prefix { .. } => (&[&label], true),
        GrantScope::FileChanges => (&[&label, FILE_CHANGES], false),
        GrantScope::File(_) | GrantScope::Folder(_) | GrantScope::Host(_) | GrantScope::Service(_) => {
            (&[&label], false)
        }
        GrantScope::Workspace => (&[&label], false),
    };
    for label in labels {
        let text = format!("{label} · such as ");
        let columns_left = columns.saturating_sub(text_width(&text));
        if columns_left >= text_width(example).min(MIN_EXAMPLE_COLUMNS) {
            let fitted = if is_command { fit_start(example, columns_left) } else { fit_end(example, columns_left) };
            return text + &fitted;
        }
    }
    label
}

/// Describes the calls of this session that the grant would have covered.
fn describe_covered_calls(calls: &[String]) -> String {
    let names = calls.iter().rev().take(MAX_NAMED_CALLS).cloned().collect::<Vec<_>>().join(", ");
    let ellipsis = if calls.len() > MAX_NAMED_CALLS { ", …" } else { "" };
    match calls.len() {
        0 => "matches no earlier call of this session".to_owned(),
        1 => format!("would have covered 1 call of this session: {names}"),
        count => format!("would have covered {count} calls of this session: {names}{ellipsis}"),
    }
}

/// Names the scope of a grant in a list.
pub fn label_scope(grant: &Grant) -> String {
    // `edit_file` and `write_file` are verbs.
    let verb = grant.tool.strip_suffix("_file").unwrap_or(&grant.tool);
    match &grant.scope {
        GrantScope::Command { .. } => grant.describe_coverage(),
        GrantScope::Prefix { words, .. } => format!("{} …", words.join(" ")),
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

/// Describes the calls that a grant of this scope never covers, besides those that no grant covers.
fn describe_limits(grant: &Grant) -> &'static str {
    match &grant.scope {
        GrantScope::Command { .. } => "a command that differs in any character",
        GrantScope::Prefix { .. } => "a variable, a substitution, > FILE, a path outside the project",
        GrantScope::File(_) => "another file, another tool",
        GrantScope::Folder(path) if path == Path::new("") => "a file outside the project, another tool",
        GrantScope::Folder(_) => "a file outside this folder, another tool",
        GrantScope::FileChanges => "a file outside the project, a command",
        GrantScope::Service(_) if grant.tool == ANY_SERVER_TOOL => "another host, also one below it",
        GrantScope::Service(_) => "another service, another tool",
        GrantScope::Host(_) => "another host, also one below it; an address in a private network",
        GrantScope::Workspace => "the workspace of another session, another tool",
    }
}

/// Describes the calls that no scope for the same call covers.
fn describe_common_limits(grant: &Grant) -> Option<&'static str> {
    match &grant.scope {
        GrantScope::Command { .. } | GrantScope::Prefix { .. } => {
            Some("secrets, configuration of other programs, destructive actions")
        }
        GrantScope::File(_) | GrantScope::Folder(_) | GrantScope::FileChanges => {
            Some("secrets such as .env, configuration of other programs such as .git/, destructive actions")
        }
        GrantScope::Service(_) | GrantScope::Host(_) | GrantScope::Workspace => None,
    }
}
