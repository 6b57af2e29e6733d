//! `aye sessions search`: searches the text of sessions.

use super::list::{line_width, session_json, title_or_reason};
use super::{SessionStore, UsageError};
use crate::cli::sessions::SearchSessions;
use crate::commands::output::print_notice;
use crate::print::json_line;
use crate::project::folder_facts;
use crate::store::local_time;
use crate::store::search::{Hit, HitSource, Scope, SearchWords, SessionHits};
use crate::text::clean::clean_line;
use crate::text::width;
use anyhow::Result;
use serde_json::json;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Hits shown per session.
const MAX_HITS: usize = 3;

impl SessionStore {
    pub(super) fn search_sessions(&self, options: &SearchSessions) -> Result<ExitCode> {
        let query = &options.words;
        let search_words = SearchWords::new(query.iter().map(String::as_str)).ok_or_else(|| {
            UsageError(
                "Cannot search: there are no words to search for. Name some: `aye sessions search retry`.".to_owned(),
            )
        })?;
        let project = options.here.then_some(self.folder.as_path());
        let scope = Scope { project, max_hits: MAX_HITS, is_wanted: &|| true };
        let mut out = io::stdout().lock();
        let columns = line_width();
        let (mut count, mut result) = (0, Ok(()));
        let unreadable = self.sessions.search(&search_words, &scope, &mut |session_hits| {
            count += 1;
            let lines = if options.json {
                vec![session_hits_json(&session_hits)]
            } else {
                format_session_hits(&session_hits, columns, count > 1)
            };
            // Printed as it is found, so that the first results appear at once.
            result = lines.iter().try_for_each(|line| writeln!(out, "{line}")).and_then(|()| out.flush());
            if result.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        result?;
        drop(out);
        for (id, why) in unreadable.map_err(super::convert_store_error)? {
            print_notice(&format!("Cannot search all of {id}: {why}"))?;
        }
        if count == 0 {
            print_notice(&format!("no session contains “{}”", query.join(" ")))?;
            return Ok(ExitCode::FAILURE);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn format_session_hits(session_hits: &SessionHits, columns: Option<usize>, needs_separator: bool) -> Vec<String> {
    let fit = |line: String| columns.map_or(line.clone(), |columns| width::fit_start(&line, columns).into_owned());
    let listed = &session_hits.listed;
    let folder = folder_facts::shorten_home(&listed.folder);
    let head =
        format!("{}  {}  {} · {folder}", listed.id, local_time::format_time(listed.modified), title_or_reason(listed));
    let mut lines = if needs_separator { vec![String::new()] } else { Vec::new() };
    lines.push(fit(clean_line(&head).into_owned()));
    let format_hit = |hit: &Hit| fit(format!("   {:8}  {}", hit.source.label(), clean_line(&hit.line)));
    lines.extend(session_hits.hits.iter().map(format_hit));
    if session_hits.has_more {
        lines.push("   … and more".to_owned());
    }
    lines
}

fn session_hits_json(session_hits: &SessionHits) -> String {
    let source = |hit: &Hit| if hit.source == HitSource::User { "user" } else { hit.source.label() };
    let hit_json_object = |hit: &Hit| json!({ "source": source(hit), "line": hit.line, "at": hit.time_ms });
    // The names of version 0.1, kept for one release.
    let old_hit = |hit: &Hit| json!({ "who": hit.source.label(), "line": hit.line, "at": hit.time_ms });
    // Whether the session is open is not looked up, so its fields are removed.
    let is_open = false;
    let mut object = session_json(&session_hits.listed, is_open);
    if let Some(object) = object.as_object_mut() {
        object.remove("is_open");
        object.remove("open");
        object.insert("hits".to_owned(), session_hits.hits.iter().map(hit_json_object).collect());
        object.insert("found".to_owned(), session_hits.hits.iter().map(old_hit).collect());
        object.insert("has_more".to_owned(), json!(session_hits.has_more));
        object.insert("more".to_owned(), json!(session_hits.has_more));
    }
    json_line(&object)
}
