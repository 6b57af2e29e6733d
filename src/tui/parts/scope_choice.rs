//! The choice of the scope and span of a grant. Lists all scopes with an example of what each covers, the calls that the
//! selected one would have covered, its limits, and the rule that would be written.

pub mod scope_row;

use super::listening::{QUIET_TIME, TOO_SOON};
use crate::agent::GrantOption;
use crate::chat::{Grant, GrantScope, GrantSpan, pluralize};
use crate::config::rules::rules_editor;
use crate::text::width::text_width;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::{self, explain_unseen_end, key_hint};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use scope_row::{ScopeRow, describe_limits, describe_option};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// When a call asks although a grant or a rule covers it.
const UNTRUSTED_TEXT_NOTE: &str = "asks once more in each turn that has read text from outside, such as a page";
/// What a grant that includes input allows.
const INPUT_NOTE: &str = "input from other commands may decide what such a command does";
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
    /// Name of the key that shows the whole call.
    toggle_key: String,
    opened_at: Duration,
    /// True if the end of the text for the current choice was on the screen.
    has_reached_end: bool,
    /// True while the rule is being written.
    is_storing: bool,
    /// True if the user asked to see the whole call above the scopes.
    shows_whole_call: bool,
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
    /// Text after it in the style of secondary text.
    pub dim_text: String,
    /// True for a text with a command or a rule, whose further rows are marked.
    pub is_code: bool,
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
            toggle_key: keys.first_chord(Scope::GrantScope, Action::Toggle),
            opened_at: now,
            has_reached_end: false,
            is_storing: false,
            shows_whole_call: false,
        })
    }

    /// Returns whether the rule is being written. Meanwhile keys have no effect.
    pub fn is_storing(&self) -> bool {
        self.is_storing
    }

    /// Returns whether the whole call is shown above the scopes, however many rows it needs.
    pub fn shows_whole_call(&self) -> bool {
        self.shows_whole_call
    }

    /// Shows the whole call above the scopes, or again as much of it as leaves room for them.
    pub fn toggle_whole_call(&mut self) {
        self.shows_whole_call = !self.shows_whole_call;
    }

    /// Returns the texts that say how many lines of the call are not shown, and the key that shows them; longest first.
    pub fn describe_hidden_lines(&self, count: usize) -> [String; 3] {
        let lines = pluralize(count, "more line");
        match self.toggle_key.as_str() {
            "" => [lines, format!("{count} more"), String::new()],
            key => [format!("{lines} · {key} shows all"), format!("{count} more · {key} all"), format!("{key} all")],
        }
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
        // The names of the scopes say what a grant of this span covers.
        for option in &mut self.options {
            option.grant.span = if option.can_be_rule { self.span } else { GrantSpan::Session };
        }
        self.has_reached_end = false;
        // The whole call may leave no rows for what was just chosen.
        self.shows_whole_call = false;
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
    /// the call can send something to another machine. If `is_roomy`, what a scope never covers has a row of its own;
    /// otherwise a scope has one row, in which that and its example are shortened.
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
        let mut whole_limits = None;
        let indent = text_width("› 1  ");
        let rows = ScopeRow::fit_all(&self.options, width.saturating_sub(indent));
        for (index, option) in self.options.iter().enumerate() {
            let is_selected = index == self.selected;
            let (mark, style) = if is_selected { ("›", theme.strong) } else { (" ", theme.text) };
            let prefix = format!("{mark} {}  ", index + 1);
            let limits = describe_limits(&option.grant);
            let mut push = |prefix, text, style, dim_text, is_code| {
                lines.push(ChoiceLine { part: ChoicePart::Scopes, prefix, text, style, dim_text, is_code });
            };
            if is_roomy {
                push(prefix, describe_option(option), style, String::new(), true);
                push(format!("{}never: ", " ".repeat(indent)), limits[0].to_owned(), theme.dim, String::new(), false);
                continue;
            }
            let ScopeRow { subject, limits: row_limits } = &rows[index];
            whole_limits = whole_limits.or((is_selected && row_limits != limits[0]).then_some(limits[0]));
            push(prefix, subject.clone(), style, format!("  never {row_limits}"), true);
        }
        let spans = self.spans().iter().map(|span| match *span == self.span {
            true => format!("[{}]", span.describe_span()),
            false => span.describe_span().to_owned(),
        });
        let mut push = |part, text: String, style| {
            let (prefix, dim_text, is_code) = (String::new(), String::new(), part == ChoicePart::Rule);
            lines.push(ChoiceLine { part, prefix, text, style, dim_text, is_code });
        };
        push(ChoicePart::Scopes, spans.collect::<Vec<_>>().join(" · "), theme.text);
        if let Some(limits) = whole_limits {
            push(ChoicePart::Explanation, format!("{} never covers: {limits}", self.selected + 1), theme.dim);
        }
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
        if grant.takes_input {
            push(ChoicePart::Explanation, INPUT_NOTE.to_owned(), theme.dim);
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
    /// end of the text. `toggle_labels` say what the key for the whole call does; empty if it changes nothing.
    pub fn hints(&self, keys: &Keymap, shows_end: bool, toggle_labels: &[&str]) -> Vec<String> {
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
            key_hint(3, if toggle_labels.is_empty() { "" } else { &self.toggle_key }, toggle_labels),
            key_hint(4, &key(Action::Close), &["back"]),
            key_hint(5, &key(Action::Deny), &["deny"]),
        ])
    }
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
