//! Checks the terminal's capabilities.

use super::finding::Finding;
use crate::tui::terminal_features::find_multiplexer;
use crate::tui::theme::depth::ColourDepth;
use std::io::IsTerminal;

pub(super) fn check_terminal() -> Vec<Finding> {
    let area = "terminal";
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let term = variable("TERM").unwrap_or_else(|| "not set".to_owned());
    if !is_terminal {
        let advice = "the screen needs a terminal; use aye -p to print a reply";
        return vec![Finding::note(area, format!("not a terminal (TERM is {term})"), advice)];
    }
    let mut findings = Vec::new();
    let (columns, rows) = crossterm::terminal::size().unwrap_or_default();
    let depth = match ColourDepth::from_environment(&|name| std::env::var(name).ok()) {
        ColourDepth::True => "16 million colours",
        ColourDepth::Palette => "256 colours",
        ColourDepth::Sixteen => "16 colours",
        ColourDepth::None => "no colours",
    };
    let program = variable("TERM_PROGRAM").map(|program| format!(" · {program}")).unwrap_or_default();
    findings.push(match term.as_str() {
        "dumb" => {
            let message = "TERM=dumb: it cannot show a screen";
            Finding::problem(area, message, "if it can after all, start with: TERM=xterm aye")
        }
        _ => Finding::ok(area, format!("TERM {term}{program} · {columns}x{rows} · {depth}")),
    });
    if columns > 0 && (columns < 40 || rows < 10) {
        let message = format!("{columns}x{rows} is small");
        findings.push(Finding::note(area, message, "at least 80x24 shows a prompt without scrolling"));
    }
    let keyboard = match crossterm::terminal::supports_keyboard_enhancement() {
        Ok(true) => "shift-enter and enter can be distinguished",
        Ok(false) => "shift-enter and enter cannot be distinguished (alt-enter breaks the line)",
        Err(_) => "the terminal did not report its keyboard capabilities",
    };
    let links = match supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout) {
        true => "links are supported",
        false => "links may not be supported (screen.links = \"on\" enables them)",
    };
    findings.push(Finding::ok(area, format!("{keyboard} · {links}")));
    findings.push(match find_multiplexer(&variable) {
        Some("tmux") => {
            let message = "inside tmux: copied text goes through it";
            Finding::note(area, message, "if copying does not work: set -g set-clipboard on, in tmux.conf")
        }
        Some(name) => {
            let message = format!("inside {name}: copied text may not reach the clipboard");
            Finding::note(area, message, "copy with the terminal's own selection: hold shift and drag")
        }
        None => Finding::ok(area, "the terminal does the copying (OSC 52) and does not report whether it works"),
    });
    findings
}
