//! Welcome screen of an empty session: model and provider, permission mode, warnings, and the most important keys.

use crate::agent::TrialSupport;
use crate::chat::instructions::InstructionScope;
use crate::chat::pluralize;
use crate::policy::Mode;
use crate::text::clean::clean_text;
use crate::text::width;
use crate::tui::keys::{Action, Scope};
use crate::tui::prompts::trust_prompt;
use crate::tui::state::State;
use crate::tui::text::wrap::{Piece, Shape, wrap_pieces};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

/// Maximum line length in columns; longer lines are hard to read.
const MAX_LINE: usize = 92;

/// Maximum number of warnings shown.
const MAX_WARNINGS: usize = 4;

/// Lines that are shown or dropped together. If space is short, sections with the highest `priority` number are dropped
/// first; 0 is never dropped.
struct Section {
    lines: Vec<Line<'static>>,
    priority: u8,
    /// Whether no blank row is drawn above it if the section before it has this flag too.
    is_key: bool,
}

impl Section {
    fn new(lines: Vec<Line<'static>>, priority: u8) -> Self {
        Self { lines, priority, is_key: false }
    }
}

/// Draws the welcome screen.
pub fn draw_welcome(state: &State, area: Rect, buffer: &mut Buffer) {
    let margin = if area.width > 60 { 2 } else { 0 };
    let area = Rect { x: area.x + margin, width: area.width.saturating_sub(margin), ..area };
    let width = usize::from(area.width).clamp(1, MAX_LINE);
    let rows = usize::from(area.height);
    let mut sections = fit_sections(state, width, rows, MAX_WARNINGS);
    // Fewer warnings are shown if they would push out the first step, and at last only their number.
    for max_warnings in (0..MAX_WARNINGS).rev() {
        if sections_height(&sections) <= rows {
            break;
        }
        sections = fit_sections(state, width, rows, max_warnings);
    }
    // A third of the free rows, at most six, is above the text.
    let blank_rows = (rows.saturating_sub(sections_height(&sections)) / 3).min(6);
    let blank = [Line::default()];
    let mut lines: Vec<&Line> = sections
        .iter()
        .enumerate()
        .flat_map(|(index, section)| blank[..blank_rows_above(&sections, index)].iter().chain(&section.lines))
        .collect();
    // What is cut off must not be a warning.
    let note = hidden_warnings_line(state, 0, width);
    if let (Some(note), Some(last)) = (note.first().filter(|_| lines.len() > rows), rows.checked_sub(1)) {
        lines[last] = note;
    }
    for (row, line) in area.rows().skip(blank_rows).zip(lines) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
}

/// Returns the sections, without those that are dropped to fit into these rows.
fn fit_sections(state: &State, width: usize, rows: usize, max_warnings: usize) -> Vec<Section> {
    let mut sections = vec![
        title_section(state, width),
        connection_section(state, width),
        warnings_section(state, width, max_warnings),
    ];
    if state.session.connection.is_tour {
        sections.extend([first_step_section(state, width), providers_section(state, width)]);
    }
    sections.extend(key_sections(state, width));
    sections.retain(|section| !section.lines.is_empty());
    while sections_height(&sections) > rows
        && let Some(index) =
            (0..sections.len()).filter(|at| sections[*at].priority > 0).max_by_key(|at| sections[*at].priority)
    {
        sections.remove(index);
    }
    sections
}

fn sections_height(sections: &[Section]) -> usize {
    (0..sections.len()).map(|index| blank_rows_above(sections, index) + sections[index].lines.len()).sum()
}

/// Returns the blank rows above a section: one between two sections, none between two keys.
fn blank_rows_above(sections: &[Section], index: usize) -> usize {
    let Some(previous) = index.checked_sub(1) else { return 0 };
    usize::from(!(sections[previous].is_key && sections[index].is_key))
}

fn title_section(state: &State, width: usize) -> Section {
    let theme = &state.theme;
    let pieces = [("aye", theme.heading), ("  the terminal copilot that asks first", theme.dim)];
    Section::new(wrap_styled(&pieces, width, ""), 7)
}

/// Model, provider and permission mode or dry run.
fn connection_section(state: &State, width: usize) -> Section {
    let theme = &state.theme;
    let connection = &state.session.connection;
    let mut lines = if connection.is_tour {
        let description = "a built-in script, not a model. It needs no key and no network. Its tools are real and work in \
            a small sample project.";
        wrap_styled(
            &[("Connected to ", theme.text), ("the tour", theme.strong), (": ", theme.text), (description, theme.text)],
            width,
            "",
        )
    } else if connection.is_unconfigured {
        let key = connect_key(state);
        let advice = format!("No provider is configured. Press {key} to enter a key or to choose a local server.");
        wrap_styled(&[(&advice, theme.warning)], width, "")
    } else {
        let model = &connection.model;
        // The source may begin with the name of the model.
        let source = connection.source.strip_prefix(model.as_str()).unwrap_or(&connection.source);
        let separator = if source.is_empty() || source.starts_with([' ', ',', '(']) { "" } else { ", " };
        let source = if model.is_empty() { format!("{source}.") } else { format!("{separator}{source}.") };
        wrap_styled(&[("Messages go to ", theme.text), (model, theme.strong), (&source, theme.text)], width, "")
    };
    let mode = state.agent.policy.mode;
    if state.agent.is_dry_run() {
        let text = "Dry run: nothing is changed; you see what would be done. ";
        let commands = match &state.agent.config.dry_run.no_sandbox_reason {
            None => "Commands run in an overlay sandbox.".to_owned(),
            Some(reason) => format!(
                "Commands do not run: no overlay sandbox ({reason}). The model receives {}.",
                state.agent.describe_simulation()
            ),
        };
        lines.extend(wrap_styled(&[(text, theme.danger), (&commands, theme.text)], width, ""));
    } else if !connection.is_tour {
        let text = format!("{} mode: {}", mode.as_str(), mode.description());
        lines.extend(wrap_styled(&[(&text, mode_style(mode, theme))], width, ""));
        if mode == Mode::Ask && state.agent.trial_support == TrialSupport::Available {
            let pieces = [
                ("Recommended here: ", theme.dim),
                ("/mode auto", theme.accent),
                (
                    ". Edits run; each command is tried in a throwaway sandbox and asks unless its effects are harmless.",
                    theme.dim,
                ),
            ];
            lines.extend(wrap_styled(&pieces, width, ""));
        }
    }
    lines.extend(project_lines(state, width));
    Section::new(lines, 0)
}

/// Warnings about settings, rules and themes; `/notices` lists all of them.
fn warnings_section(state: &State, width: usize, max_warnings: usize) -> Section {
    let theme = &state.theme;
    let mut lines: Vec<Line<'static>> = Vec::new();
    for warning in state.current_warnings().take(max_warnings) {
        lines.extend(wrap_styled(&[(&clean_text(warning), theme.warning)], width, "! "));
    }
    lines.extend(hidden_warnings_line(state, max_warnings, width));
    Section::new(lines, 0)
}

/// Says how many warnings are not shown, if any.
fn hidden_warnings_line(state: &State, shown: usize, width: usize) -> Vec<Line<'static>> {
    let theme = &state.theme;
    match state.current_warnings().count().saturating_sub(shown) {
        0 => Vec::new(),
        count if shown == 0 => {
            let text = format!("{} · /notices lists all", pluralize(count, "warning"));
            wrap_styled(&[(&text, theme.warning)], width, "! ")
        }
        count => wrap_styled(&[(&format!("{count} more · /notices lists all"), theme.dim)], width, "  "),
    }
}

/// Instructions sent to the model, and project files that are not used.
fn project_lines(state: &State, width: usize) -> Vec<Line<'static>> {
    let theme = &state.theme;
    let mut lines = Vec::new();
    for (scope, label) in [
        (InstructionScope::User, "Your instructions, sent with every request"),
        (InstructionScope::Project, "Project instructions, trusted and sent with every request"),
    ] {
        let files = state.agent.config.instructions.iter().filter(|file| file.scope == scope);
        let files: Vec<String> = files.map(trust_prompt::describe_instructions).collect();
        if !files.is_empty() {
            let text = format!("{label}: {}.", files.join(", "));
            lines.extend(wrap_styled(&[(&text, theme.dim)], width, ""));
        }
    }
    let unused = &state.session.trust.unused_files;
    if !unused.is_empty() && state.session.trust.pending.is_none() {
        let text = format!("Not used, because you do not trust it: {}. Review with /trust.", unused.join(", "));
        lines.extend(wrap_styled(&[(&text, theme.warning)], width, ""));
    }
    lines
}

/// Returns the key that opens the list of providers, or its command if it has no key.
fn connect_key(state: &State) -> String {
    let key = state.keys.first_chord(Scope::Anywhere, Action::Connect);
    if key.is_empty() { "/connect".to_owned() } else { key }
}

/// First step in the tour.
fn first_step_section(state: &State, width: usize) -> Section {
    let theme = &state.theme;
    let send_key = state.keys.first_chord(Scope::Composer, Action::Send);
    let pieces = [
        ("Type ", theme.text),
        ("“say hello”", theme.user),
        (" and press ", theme.text),
        (&send_key, theme.accent),
        (" to start.", theme.text),
    ];
    Section::new(wrap_styled(&pieces, width, "❯ "), 0)
}

/// Providers that can be used instead of the tour.
fn providers_section(state: &State, width: usize) -> Section {
    let theme = &state.theme;
    let key = connect_key(state);
    let pieces = [("To connect to a model instead, press ", theme.text), (&key, theme.accent), (":", theme.text)];
    let mut lines = wrap_styled(&pieces, width, "");
    for server in &state.local_servers {
        let models = match server.models.as_slice() {
            [] => String::new(),
            [model] => format!(" · {model}"),
            [first, rest @ ..] => format!(" · {first} and {} more", rest.len()),
        };
        let server_text = [(server.name.as_str(), theme.strong), (" is running on this machine", theme.text)];
        let mut pieces = server_text.to_vec();
        pieces.push((&models, theme.dim));
        lines.extend(wrap_styled(&pieces, width, "• "));
    }
    if state.local_servers.is_empty() {
        let text = "Ollama, LM Studio, llama.cpp or vLLM, if one is running on this machine";
        lines.extend(wrap_styled(&[(text, theme.dim)], width, "• "));
    }
    let text = "OpenAI, or the provider in your settings, with an API key";
    lines.extend(wrap_styled(&[(text, theme.dim)], width, "• "));
    Section::new(lines, 1)
}

/// The most important keys, one per section. Key help and the palette, which lead to all others, are dropped last.
fn key_sections(state: &State, width: usize) -> Vec<Section> {
    let theme = &state.theme;
    let mode = state.agent.policy.mode;
    let (send_label, send_style) = match state.agent.is_dry_run() {
        true => ("Send message; tool calls are only rehearsed", theme.dim),
        false => (send_label(mode), mode_style(mode, theme)),
    };
    let hints = [
        (4, Scope::Composer, Action::Send, send_label, send_style),
        (3, Scope::Anywhere, Action::Palette, "Command palette", theme.dim),
        (5, Scope::Anywhere, Action::Sessions, "Continue another session", theme.dim),
        (6, Scope::Anywhere, Action::Connect, "Switch provider", theme.dim),
        (2, Scope::Anywhere, Action::Help, "Key help", theme.dim),
    ];
    let mut sections = Vec::new();
    for (priority, scope, action, label, style) in hints {
        // The other sections of the tour explain how to send a message and how to connect.
        let is_explained = state.session.connection.is_tour && matches!(action, Action::Send | Action::Connect);
        let chord = state.keys.first_chord(scope, action);
        if !chord.is_empty() && !is_explained {
            // Labels start at column 9, or one blank after a longer chord.
            let gap = " ".repeat(9usize.saturating_sub(width::text_width(&chord)).max(1));
            let first = vec![Piece::new(chord, theme.accent), Piece::new(gap, theme.dim)];
            let shape = Shape::with_hanging_prefix(width, first);
            let lines = wrap_pieces(&[Piece::new(label, style)], &shape).lines;
            sections.push(Section { lines, priority, is_key: true });
        }
    }
    sections
}

/// Effect of sending a message in this mode, with regard to approval.
fn send_label(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "Send message; nothing is changed or run",
        Mode::Ask => "Send message; only reads run without your approval",
        Mode::Auto => "Send message; edits run, commands ask unless a trial was harmless",
        Mode::Full => "Send message; almost every tool call runs without asking",
    }
}

/// Returns the style for a mode: the fewer approvals it needs, the more prominent.
fn mode_style(mode: Mode, theme: &Theme) -> Style {
    match mode {
        Mode::Plan | Mode::Ask => theme.dim,
        Mode::Auto => theme.warning,
        Mode::Full => theme.danger,
    }
}

/// Wraps a paragraph in several styles after a bullet, with hanging indentation.
fn wrap_styled(texts: &[(&str, Style)], width: usize, bullet: &str) -> Vec<Line<'static>> {
    let pieces: Vec<Piece> =
        texts.iter().filter(|(text, _)| !text.is_empty()).map(|(text, style)| Piece::new(*text, *style)).collect();
    let style = texts.first().map_or(Style::new(), |(_, style)| *style);
    wrap_pieces(&pieces, &Shape::with_hanging_prefix(width, vec![Piece::new(bullet, style)])).lines
}
