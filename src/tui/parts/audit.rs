//! The record of a call as text: a row of the list and a page. Used by the screen and by `aye audit`.

use crate::chat::adviser::words_of_hooks_not_run;
use crate::chat::audit::{Holds, Record, outcome_word};
use crate::chat::{Access, Basis, By, Decision, Entry, Grant, Held, Outcome, Seen, Status, escape};
use crate::tui::parts::transcript::sub_agent::named;
use crate::tui::parts::transcript::{how_long, live};
use crate::tui::text::wrap::{Shape, wrap};
use crate::tui::text::{Piece, clean, reveal, width};
use ratatui::style::Style;
use std::time::Duration;

/// Lines shown of arguments, messages and results unless all of them are requested.
const LINES: usize = 6;
/// Minimum and maximum width of the column for times and labels, in cells.
const LABEL: (usize, usize) = (11, 24);

/// Returns the time at which an entry was written; empty if unknown.
pub type When<'a> = &'a dyn Fn(usize) -> String;

/// Returns the texts of a row in the list: the call, and its decision and outcome.
pub fn row(record: &Record<'_>) -> (String, String) {
    let mark = match record.outcome() {
        _ if record.bad_end().is_some() => "✗",
        Some(Outcome::Done(_)) => "✓",
        Some(Outcome::Failed(_)) => "✗",
        Some(Outcome::Refused(_)) => "⊘",
        Some(Outcome::Rehearsed(_)) => "◇",
        Some(Outcome::Interrupted(_)) => "■",
        None => "…",
    };
    let mut parts = vec![brief(record)];
    parts.extend(record.sub_agent.map(named));
    parts.extend(Some(record.summary()).filter(|summary| !summary.is_empty()).map(str::to_owned));
    if let Holds::No(why) = record.agrees() {
        parts.insert(0, format!("CAREFUL: {why}"));
    }
    (format!("{mark} {}", record.call.name), parts.join(" · "))
}

/// Summarizes the decision and the outcome of a call.
fn brief(record: &Record<'_>) -> String {
    let ended = record.outcome().map_or("open", outcome_word);
    match record.decided() {
        Some(Entry::Decided { by: By::Nobody, .. }) => "no interactive user".to_owned(),
        Some(Entry::Decided { decision, by, .. }) => {
            let said = format!("{} {}", who(by), brief_decision(decision));
            if matches!(decision, Decision::Deny(_)) { said } else { format!("{said}, {ended}") }
        }
        Some(Entry::Answered { by, .. }) => {
            format!("{} answered", by.as_ref().map_or("you", who))
        }
        _ => match record.planned() {
            Some(Entry::Planned { verdict, .. }) => format!("{}, {ended}", brief_verdict(verdict)),
            _ => ended.to_owned(),
        },
    }
}

fn brief_decision(decision: &Decision) -> &'static str {
    match decision {
        Decision::Once => "approved",
        Decision::Selected(_) => "approved a part",
        Decision::Always(_) => "granted",
        Decision::Edited(_) => "edited",
        Decision::Deny(_) => "denied",
    }
}

fn brief_verdict(verdict: &str) -> &str {
    match verdict {
        "allow" => "allowed",
        "ask" => "asked you",
        "rehearse" => "rehearsed",
        "withhold" => "withheld",
        "refuse" => "denied",
        other => other,
    }
}

fn who(by: &By) -> &'static str {
    match by {
        By::Person { .. } => "you",
        By::File => "your answers file",
        By::Nobody => "no interactive user: aye",
    }
}

/// Returns everything known about the call as lines of this width. `whole` includes all of its result.
pub fn page(record: &Record<'_>, when: When<'_>, width: usize, whole: bool) -> Vec<String> {
    let times = std::iter::once(record.made).chain(record.steps.iter().map(|(at, _)| *at));
    let column = times.map(|at| width::width(&when(at)) + 2).max().unwrap_or(0).clamp(LABEL.0, LABEL.1);
    let most = if whole { usize::MAX } else { LINES };
    let mut page = Page { lines: Vec::new(), column, width: width.max(1), most };
    let whose = record.sub_agent.map_or_else(|| "the model".to_owned(), named);
    page.say(&when(record.made), &format!("{whose} called {}", record.call.name));
    page.say("", &record.call.arguments);
    for (at, entry) in &record.steps {
        page.step(&when(*at), entry);
    }
    if record.outcome().is_none() {
        page.say(
            "",
            match record.is_allowed() {
                true => "allowed, but no outcome is recorded",
                false => "waiting for a decision",
            },
        );
    }
    if let Some(Entry::Planned { access, basis, destroys, .. }) = record.planned() {
        page.facts(access, basis, destroys.as_deref());
    }
    page.bytes(record);
    if let Some(outcome) = record.outcome() {
        page.result(outcome);
    }
    if let Some(Entry::Planned { basis, .. }) = record.planned() {
        page.variables(basis, whole);
    }
    page.lines
}

/// Lines of a page while they are collected.
struct Page {
    lines: Vec<String>,
    /// Width of the labels in cells.
    column: usize,
    width: usize,
    /// Maximum lines of one text.
    most: usize,
}

impl Page {
    /// Adds a label and a text, with invisible characters marked.
    fn say(&mut self, label: &str, words: &str) {
        self.put(label, &reveal::words(words));
    }

    fn put(&mut self, label: &str, words: &str) {
        // A narrow page has a single column.
        let wide = self.width >= 3 * self.column;
        let column = if wide { self.column } else { 0 };
        let inline = if wide || label.is_empty() { String::new() } else { format!("{label} ") };
        let gap = column.saturating_sub(width::width(label));
        let first = if wide { format!("{}{}", width::cut(label, column), " ".repeat(gap)) } else { inline };
        let piece = |text: String| vec![Piece::new(text, Style::new())];
        let shape = Shape {
            width: self.width,
            first: piece(first),
            rest: piece(" ".repeat(column)),
            verbatim: false,
        };
        // Text beyond the limit is not laid out, to save time.
        let end = self.most.saturating_mul(4 * self.width.max(16)).min(words.len());
        let shown = words.get(..words.floor_char_boundary(end)).unwrap_or_default();
        let lines = wrap(&[Piece::new(shown, Style::new())], &shape).lines;
        let cut = shown.len() < words.len() || lines.len() > self.most;
        for line in lines.iter().take(self.most) {
            let line: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
            self.lines.push(line.trim_end().to_owned());
        }
        if cut {
            let more = format!("… {} in total; see --json", live::bytes(words.len()));
            let line =
                format!("{}{}", " ".repeat(column), width::fit(&more, self.width.saturating_sub(column)));
            self.lines.push(line);
        }
    }

    fn step(&mut self, when: &str, entry: &Entry) {
        if let Some(words) = step(entry) {
            self.say(when, &words);
        }
    }

    /// Adds what the call accesses and its preconditions.
    fn facts(&mut self, access: &Access, basis: &Basis, destroys: Option<&str>) {
        if let Access::Run(line) = access {
            self.say("folder", &format!("{} · timeout {} s", line.folder.display(), line.seconds));
        }
        if let Some(destroys) = destroys {
            self.say("careful", &format!("this {destroys}"));
        }
        for seen in &basis.files {
            self.say("file", &file(seen));
        }
        if basis.partial {
            self.say("file", "the call may use more files than these");
        }
    }

    /// Adds the variables in the environment of a command. They come last because they are many.
    fn variables(&mut self, basis: &Basis, whole: bool) {
        if !basis.environment.is_empty() {
            let count = basis.environment.len();
            let names = if whole { basis.environment.join(" ") } else { "listed by --json".to_owned() };
            self.say("variables", &format!("{count}: {names}"));
        }
    }

    fn bytes(&mut self, record: &Record<'_>) {
        let Some(sha256) = record.sha256() else {
            if record.planned().is_some() {
                self.say("sha256", "not recorded by the version of aye that wrote this");
            }
            return;
        };
        self.say("sha256", sha256.as_str());
        match record.holds() {
            Holds::Yes => {
                let ran = record
                    .steps
                    .iter()
                    .any(|(_, entry)| matches!(entry, Entry::Settled { sha256, .. } if !sha256.is_none()));
                // A call that failed may not have run; its result tells.
                let ran = match record.outcome() {
                    Some(Outcome::Failed(_)) if ran => " and tried",
                    Some(_) if ran => " and run",
                    Some(_) | None => "",
                };
                let words = match (record.decided().is_some(), ran) {
                    (true, "") => "shown and decided: the same bytes".to_owned(),
                    (true, ran) => format!("shown, decided{ran}: the same bytes"),
                    (false, "") => "as shown".to_owned(),
                    (false, ran) => format!("planned{ran}: the same bytes"),
                };
                self.say("", &words);
            }
            Holds::No(why) => self.say("", &format!("CAREFUL: {why}")),
            Holds::Unknown => {}
        }
    }

    fn result(&mut self, outcome: &Outcome) {
        self.put("result", clean::clean(&escape::strip_colors(outcome.text())).trim_end());
    }
}

/// Describes one step of a call; `None` for an entry that is not a step.
pub fn step(entry: &Entry) -> Option<String> {
    Some(match entry {
        Entry::Planned { verdict, why, hooks_not_run, .. } => {
            let between = match (verdict.as_str(), why.is_empty()) {
                (_, true) => "",
                (_, false) => ": ",
            };
            let hooks = words_of_hooks_not_run(hooks_not_run).map(|words| format!("; {words}"));
            format!("{}{between}{why}{}", brief_verdict(verdict), hooks.unwrap_or_default())
        }
        Entry::Consulted { by, advice, why, failed, took_ms, .. } => {
            let said = match (failed, why.is_empty()) {
                (true, _) => format!("failed: {why}"),
                (false, true) => format!("returned {}", advice.word()),
                (false, false) => format!("returned {}: {why}", advice.word()),
            };
            let took = how_long(Duration::from_millis(*took_ms));
            format!("{} {said} · {took}", by.words())
        }
        Entry::Asked { questions, .. } => match questions.list.as_slice() {
            [one] => format!("asked you: {}", one.text),
            list => format!("asked you {} questions", list.len()),
        },
        Entry::Decided { decision, by, .. } => {
            format!("{} {}{}", who(by), decided(decision), pressed(Some(by)))
        }
        Entry::Answered { answer, by, .. } => {
            let what = match answer.status {
                Status::Answered => "answered",
                Status::Declined => "declined to answer",
                Status::Deferred => "deferred",
            };
            let who = by.as_ref().map_or("you", who);
            format!("{who} {what}{}", pressed(by.as_ref()))
        }
        Entry::Settled { outcome, took_ms, staged, .. } => {
            let came = staged.as_ref().map(|staged| format!(", {}", staged.words())).unwrap_or_default();
            let took = match took_ms {
                0 => String::new(),
                ms => format!(" in {}", how_long(Duration::from_millis(*ms))),
            };
            format!("{}{took}{came}", outcome_word(outcome))
        }
        _ => return None,
    })
}

/// Describes a decision in full.
fn decided(decision: &Decision) -> String {
    match decision {
        Decision::Once => "approved once".to_owned(),
        Decision::Selected(rejected) => format!("approved, {} rejected", rejected.len()),
        Decision::Always(grant) => format!("approved with a grant: {}", Grant::words(grant)),
        Decision::Edited(arguments) => format!("edited the arguments to {arguments}"),
        Decision::Deny(words) if words.is_empty() => "denied".to_owned(),
        Decision::Deny(words) => format!("denied: {words}"),
    }
}

/// Describes the key of a decision and the time since the prompt appeared.
fn pressed(by: Option<&By>) -> String {
    match by {
        Some(By::Person { key, after_ms }) => {
            format!(" · {key} · {} after it was shown", how_long(Duration::from_millis(*after_ms)))
        }
        Some(By::File | By::Nobody) | None => String::new(),
    }
}

/// Describes a file among the preconditions of a plan.
pub fn file(seen: &Seen) -> String {
    let path = seen.path.display();
    let held = match &seen.held {
        Held::Nothing => "new".to_owned(),
        Held::TooMuch => "too large to be compared".to_owned(),
        Held::Read { bytes, sha256 } => {
            let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
            format!("{} · sha256 {}", live::bytes(bytes), sha256.short())
        }
    };
    let after = match (&seen.becomes, seen.grows) {
        (Some(after), _) => format!(" → {}", after.short()),
        (None, true) => " · may grow".to_owned(),
        (None, false) => String::new(),
    };
    format!("{path} · {held}{after}")
}
