//! Counts the calls that rules allowed in earlier sessions. As for a search, only lines with the text of a rule are parsed.

use super::session_list::belongs_to;
use super::{Error, Sessions, line_parts, private_files, session_reader};
use crate::chat::{CallId, Entry, SessionId};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkMatch};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// A rule, as the reasons of the calls name it that it allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedRule {
    /// Beginning of the reason.
    pub reason_start: String,
    /// True if calls of every project count; otherwise only those of this project.
    pub is_everywhere: bool,
}

/// Calls that a rule allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleUses {
    pub count: usize,
    /// Time of the last call in milliseconds since 1970; 0 without calls.
    pub last_ms: u64,
}

impl Sessions {
    /// Counts the calls that each of these rules allowed in other sessions than `except`. A call that `except` contains too,
    /// as a copy does, is not counted, and one that several sessions share counts once. Sessions that cannot be read are
    /// left out. Blocks for as long as a search.
    ///
    /// # Errors
    /// If the sessions cannot be listed.
    pub fn count_rule_uses(
        &self,
        project: &Path,
        rules: &[UsedRule],
        except: &SessionId,
    ) -> Result<Vec<RuleUses>, Error> {
        let mut uses = vec![RuleUses::default(); rules.len()];
        let Some(matcher) = rule_matcher(rules) else { return Ok(uses) };
        let mut searcher = SearcherBuilder::new()
            .bom_sniffing(false)
            .heap_limit(Some(2 * session_reader::MAX_LINE_BYTES as usize))
            .build();
        let (mut calls, mut calls_of_exception) = (HashMap::new(), HashMap::new());
        for file in self.session_files()? {
            let calls = if file.id == *except { &mut calls_of_exception } else { &mut calls };
            let mut sink = AllowedCalls { rules, is_here: belongs_to(&file, project), calls, has_parts: false };
            let Ok(opened) = private_files::open_read(&file.path) else { continue };
            // What was read until an error counts.
            drop(searcher.search_file(&matcher, &opened, &mut sink));
            if sink.has_parts
                && let Ok(session) = session_reader::read(&file.path)
            {
                session.entries.iter().zip(&session.times).for_each(|(entry, time)| sink.add_entry(entry, *time));
            }
        }
        calls.retain(|call, _| !calls_of_exception.contains_key(call));
        for (rule, time) in
            calls.into_iter().flat_map(|((_, time), rules)| rules.into_iter().map(move |rule| (rule, time)))
        {
            let RuleUses { count, last_ms } = &mut uses[rule];
            (*count, *last_ms) = (*count + 1, time.max(*last_ms));
        }
        Ok(uses)
    }
}

/// Matches the lines with the text of a rule, and the parts of long lines.
fn rule_matcher(rules: &[UsedRule]) -> Option<RegexMatcher> {
    if rules.is_empty() {
        return None;
    }
    let mut literals = vec![line_parts::PART_START.to_owned()];
    for rule in rules {
        let escaped = serde_json::to_string(&rule.reason_start).ok()?;
        literals.push(escaped.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    RegexMatcherBuilder::new().fixed_strings(true).line_terminator(Some(b'\n')).build_literals(&literals).ok()
}

/// The calls found so far, each with the rules that allowed it.
struct AllowedCalls<'a> {
    rules: &'a [UsedRule],
    /// True if the session read now is one of this project.
    is_here: bool,
    calls: &'a mut HashMap<(CallId, u64), Vec<usize>>,
    /// True if the file has entries in parts.
    has_parts: bool,
}

impl AllowedCalls<'_> {
    fn add_entry(&mut self, entry: &Entry, time_ms: u64) {
        let Entry::Planned { call, verdict, reason, .. } = entry.unwrap_sub_agent() else { return };
        if verdict != "allow" {
            return;
        }
        let is_used =
            |rule: &UsedRule| (self.is_here || rule.is_everywhere) && reason.contains(rule.reason_start.as_str());
        let used: Vec<usize> = (0..self.rules.len()).filter(|index| is_used(&self.rules[*index])).collect();
        if !used.is_empty() {
            self.calls.insert((call.clone(), time_ms), used);
        }
    }
}

impl Sink for &mut AllowedCalls<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        for line in matched.lines() {
            if line_parts::is_part(line) {
                self.has_parts = true;
                return Ok(false);
            }
            let Ok(session) = session_reader::read_without_header(line) else { continue };
            session.entries.iter().zip(&session.times).for_each(|(entry, time)| self.add_entry(entry, *time));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Access, Digest, Preview};
    use crate::store::{Header, Log};

    fn planned(call: &str, verdict: &str, reason: &str, filler: usize) -> Entry {
        Entry::Planned {
            call: call.into(),
            title: "Run a command?".into(),
            summary: "make".into(),
            access: Access::Nothing,
            preview: Box::new(Preview::Text("x".repeat(filler))),
            destroys: None,
            preconditions: Box::default(),
            verdict: verdict.into(),
            reason: reason.into(),
            hooks_not_run: Vec::new(),
            sha256: Digest::default(),
        }
    }

    #[test]
    fn counts_allowed_calls_of_other_sessions_once() {
        let home = tempfile::tempdir().unwrap();
        let sessions = Sessions::new(home.path().to_owned());
        let used = "your rule: bash_exec make \"x\" … (this project, saved today, rules.toml:1)";
        let everywhere = "your rule: bash_exec ls … (every project, rules.toml:9); the other parts only read";
        let write = |id: &str, project: &str, entries: &[Entry]| {
            let header = Header::new(SessionId(id.into()), Path::new(project), "m", false);
            let mut log = sessions.begin_session(&header);
            entries.iter().for_each(|entry| log.append(entry).unwrap());
        };
        write(
            "01A",
            "/p",
            &[planned("a", "allow", used, 0), planned("b", "ask", used, 0), planned("c", "allow", everywhere, 0)],
        );
        // Written in parts.
        write("01B", "/p", &[planned("d", "allow", used, line_parts::LONGEST_WRITTEN + 10)]);
        write("01C", "/other", &[planned("e", "allow", used, 0), planned("f", "allow", everywhere, 0)]);
        write("01D", "/p", &[planned("g", "allow", used, 0)]);
        let copy = |from: &str, to: &str| {
            let file =
                |id: &str| sessions.session_files().unwrap().into_iter().find(|file| file.id.0 == id).unwrap().path;
            let path = file(from);
            std::fs::copy(&path, path.with_file_name(path.file_name().unwrap().to_string_lossy().replace(from, to)))
                .unwrap();
        };
        copy("01A", "01E");
        let rules = [
            UsedRule { reason_start: "your rule: bash_exec make \"x\" … (this project".into(), is_everywhere: false },
            UsedRule { reason_start: "your rule: bash_exec ls … (every project".into(), is_everywhere: true },
            UsedRule { reason_start: "your rule: bash_exec rm … (this project".into(), is_everywhere: false },
        ];
        let uses = sessions.count_rule_uses(Path::new("/p"), &rules, &SessionId("01A".into())).unwrap();
        assert_eq!(uses[0].count, 2, "the calls of 01A are in its copy 01E too");
        let uses = sessions.count_rule_uses(Path::new("/p"), &rules, &SessionId("01D".into())).unwrap();
        assert_eq!(uses.iter().map(|uses| uses.count).collect::<Vec<_>>(), [2, 2, 0]);
        assert!(uses[0].last_ms > 0 && uses[2].last_ms == 0, "{uses:?}");
        assert_eq!(sessions.count_rule_uses(Path::new("/p"), &[], &SessionId("01D".into())).unwrap(), []);
    }
}
