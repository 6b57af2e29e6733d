//! `aye sessions search`: searches the text of sessions.

use super::list::{columns, object, title};
use super::{Desk, Mistake, say};
use crate::assemble::facts;
use crate::print::harmless;
use crate::store::search::{Found, Hit, Scope, Words};
use crate::tui::text::clean::one_line;
use crate::tui::text::width;
use anyhow::Result;
use serde_json::json;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Hits shown per session.
const MOST: usize = 3;

impl Desk<'_> {
    pub(super) fn search(&self, typed: &[&str]) -> Result<ExitCode> {
        let words =
            Words::new(typed.iter().copied()).ok_or_else(|| Mistake("no words to search for".to_owned()))?;
        let project = self.cli.kept.here.then_some(self.folder.as_path());
        let scope = Scope { project, most: MOST, wanted: &|| true };
        let mut out = io::stdout().lock();
        let columns = columns(out.is_terminal());
        let (mut count, mut written) = (0, Ok(()));
        let unread = self.sessions.search(&words, &scope, &mut |found| {
            count += 1;
            let lines =
                if self.cli.json { vec![in_json(&found)] } else { in_words(&found, columns, count > 1) };
            // Printed as it is found, so that the first results appear at once.
            written = lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written?;
        drop(out);
        for (id, why) in unread.map_err(super::fault)? {
            say(&format!("Cannot search all of {id}: {why}"))?;
        }
        if count == 0 {
            say(&format!("no session contains “{}”", typed.join(" ")))?;
            return Ok(ExitCode::FAILURE);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn in_words(found: &Found, columns: Option<usize>, more: bool) -> Vec<String> {
    let fit = |line: String| columns.map_or(line.clone(), |columns| width::fit(&line, columns).into_owned());
    let listed = &found.listed;
    let folder = facts::in_short(&listed.folder);
    let head = format!("{}  {}  {} · {folder}", listed.id, facts::when(listed.modified), title(listed));
    let mut lines = if more { vec![String::new()] } else { Vec::new() };
    lines.push(fit(one_line(&head).into_owned()));
    let hit = |hit: &Hit| fit(format!("   {:8}  {}", hit.whose.word(), one_line(&hit.line)));
    lines.extend(found.hits.iter().map(hit));
    if found.more {
        lines.push("   … and more".to_owned());
    }
    lines
}

fn in_json(found: &Found) -> String {
    let hit = |hit: &Hit| json!({ "who": hit.whose.word(), "line": hit.line, "at": hit.at });
    let mut object = object(&found.listed, false);
    if let Some(object) = object.as_object_mut() {
        object.remove("open");
        object.insert("found".to_owned(), found.hits.iter().map(hit).collect());
        object.insert("more".to_owned(), json!(found.more));
    }
    harmless(&object.to_string())
}
