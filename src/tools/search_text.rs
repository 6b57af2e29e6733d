//! Tool that searches lines with a regular expression.

use super::arguments::checked;
use super::far::{Far, count};
use super::place::{self, Place};
use super::{
    Error, Hands, LeftOut, Progress, Rehearsed, Stage, Tool, blocking, brief, reading_on_stage, work,
};
use crate::chat::{Basis, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::{self, Located, Own, Reader, Writer};
use async_trait::async_trait;
use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, sinks::Lossy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Matching lines returned per call.
const HITS: usize = 100;
/// Bytes returned per call.
const BYTES: usize = 16 * 1024;
/// Characters shown of a line.
const WIDTH: usize = 300;
/// Time limit of a search; the outcome reports that files were not searched.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct SearchText;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    ignore_case: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Looking {
    place: Place,
    pattern: String,
    glob: Option<String>,
    ignore_case: bool,
}

#[async_trait]
impl Tool for SearchText {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "search_text".to_owned(),
            description: "Search lines with a regular expression. Returns `path:line: text`.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "description": "Rust regex, matched per line" },
                    "path": { "type": "string", "description": "File or folder, default the project" },
                    "glob": { "type": "string", "description": "File filter, e.g. *.rs" },
                    "ignore_case": { "type": "boolean", "description": "Default false" },
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        }
    }

    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { pattern, path, glob, ignore_case } = checked(&self.spec(), arguments)?;
        let at = place::locate(files, path.as_deref().unwrap_or("."))?;
        let looking = Looking {
            place: Place::of(files, &at)?,
            pattern,
            glob,
            ignore_case: ignore_case.unwrap_or(false),
        };
        looking.matcher()?;
        looking.filter()?;
        let wanted = match (&looking.glob, at.shown.as_os_str().is_empty()) {
            (None, true) => String::new(),
            (Some(glob), true) => format!(" in {glob}"),
            (None, false) => format!(" in {}", place::shown(&at)),
            (Some(glob), false) => format!(" in {}, {glob}", place::shown(&at)),
        };
        Ok(Intent::Act(Box::new(Plan {
            title: "search files?".to_owned(),
            summary: brief::line(&format!("{}{wanted}", brief::line(&looking.pattern, 80)), 120),
            access: place::reading(files, &at),
            preview: Preview::Text(format!("{}{wanted}", looking.pattern)),
            always: None,
            destroys: None,
            basis: Basis::default(),
            work: Work::Arguments(json!(looking)),
        })))
    }

    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        look(plan, hands.project.clone(), &hands.left_out, &hands.progress).await
    }

    async fn rehearse(&self, plan: &Plan, stage: &Stage) -> Result<Rehearsed, Error> {
        let looks = look(plan, stage.project.clone(), &stage.left_out, &stage.progress);
        reading_on_stage("search_text", plan, stage, looks).await
    }
}

async fn look(
    plan: &Plan,
    files: Arc<dyn Writer>,
    left_out: &LeftOut,
    progress: &Progress,
) -> Result<String, Error> {
    let mut far = Far::new(progress.clone());
    let (looking, left_out): (Looking, LeftOut) = (work(plan)?, left_out.clone());
    blocking(files, move |files| {
        let started = Instant::now();
        looking.search(files, &left_out, &mut far, &|| started.elapsed())
    })
    .await
}

impl Looking {
    fn matcher(&self) -> Result<RegexMatcher, Error> {
        if self.pattern.is_empty() {
            return Err(Error::Arguments("The pattern is empty; it would match every line.".to_owned()));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(self.ignore_case).line_terminator(Some(b'\n')).build(&self.pattern).map_err(
            |error| {
                Error::Arguments(format!(
                    "“{}” is not a valid Rust regex: {error}. Escape a literal . * + ? ( ) [ ] {{ }} | ^ $ \\ with \\.",
                    brief::line(&self.pattern, 100)
                ))
            },
        )
    }

    fn filter(&self) -> Result<Option<GlobMatcher>, Error> {
        let Some(glob) = self.glob.as_deref().filter(|glob| !glob.is_empty()) else { return Ok(None) };
        // As in ignore files, a pattern without a slash matches names in any folder.
        let anywhere = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
        let built = GlobBuilder::new(anywhere.trim_start_matches("./")).literal_separator(true).build();
        let built = built.map_err(|error| Error::Arguments(format!("Invalid glob: {error}.")))?;
        Ok(Some(built.compile_matcher()))
    }

    /// Runs the search. `elapsed` is the time since it began.
    fn search(
        &self,
        files: &dyn Reader,
        left_out: &LeftOut,
        far: &mut Far,
        elapsed: &dyn Fn() -> Duration,
    ) -> Result<String, Error> {
        let under = self.place.again(files)?;
        let mut found = Found::new(self.matcher()?);
        match files.read(&under) {
            Ok(bytes) => found.look_into(&under, &bytes),
            Err(project::Error::NotAFile { kind: "a folder", .. }) => {
                let (filter, below) = (self.filter()?, place::reading(files, &under));
                let has_hidden_names = files.name_check();
                files.walk(&under, true, &mut |file| {
                    found.met += 1;
                    far.is(|| found.far());
                    if elapsed() > PATIENCE {
                        found.given_up = true;
                        return ControlFlow::Break(());
                    }
                    if file.folder || filter.as_ref().is_some_and(|filter| !filter.is_match(&file.at.shown)) {
                        return ControlFlow::Continue(());
                    }
                    // Files that the user was not asked about are not read.
                    if (file.at.sensitive && !under.sensitive)
                        || (!file.at.inside && under.inside)
                        || file.at.own == Some(Own::Credentials)
                        || (under.inside && !under.sensitive && has_hidden_names(&file.at))
                    {
                        found.sensitive += 1;
                        return ControlFlow::Continue(());
                    }
                    if place::reaching(files, &file.at).iter().any(|name| left_out.holds(name, &below)) {
                        found.left_out += 1;
                        return ControlFlow::Continue(());
                    }
                    match files.read(&file.at) {
                        Ok(bytes) => found.look_into(&file.at, &bytes),
                        Err(_) => found.unread += 1,
                    }
                    ControlFlow::Continue(())
                })?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(found.told())
    }
}

/// Matches found so far, and counts of skipped files.
struct Found {
    matcher: RegexMatcher,
    searcher: Searcher,
    out: String,
    hits: usize,
    more: usize,
    /// Files and folders visited, searched or not.
    met: usize,
    searched: usize,
    binary: usize,
    sensitive: usize,
    left_out: usize,
    unread: usize,
    given_up: bool,
}

impl Found {
    fn new(matcher: RegexMatcher) -> Self {
        let searcher = SearcherBuilder::new().line_number(true).build();
        let (out, hits, more, met, given_up) = (String::new(), 0, 0, 0, false);
        let (searched, binary, sensitive, left_out, unread) = (0, 0, 0, 0, 0);
        Self {
            matcher,
            searcher,
            out,
            hits,
            more,
            met,
            searched,
            binary,
            sensitive,
            left_out,
            unread,
            given_up,
        }
    }

    fn look_into(&mut self, at: &Located, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.binary += 1;
            return;
        }
        self.searched += 1;
        let shown = place::shown(at);
        let (out, hits, more) = (&mut self.out, &mut self.hits, &mut self.more);
        let sink = Lossy(|number, line| {
            let (kept, whole) = brief::cut(line.trim_end(), WIDTH);
            let row = format!("{shown}:{number}: {kept}{}\n", if whole.is_some() { "…" } else { "" });
            if *hits < HITS && *more == 0 && out.len() + row.len() <= BYTES {
                out.push_str(&row);
                *hits += 1;
            } else {
                *more += 1;
            }
            Ok(true)
        });
        if self.searcher.search_slice(&self.matcher, bytes, sink).is_err() {
            self.unread += 1;
        }
    }

    /// Formats the progress for the screen.
    fn far(&self) -> String {
        let lines = count(self.hits + self.more, "line", "lines");
        format!("{} scanned · {lines} found", count(self.met, "file", "files"))
    }

    fn told(mut self) -> String {
        if self.hits + self.more == 0 {
            let searched = match self.searched {
                1 => "one file was searched".to_owned(),
                count => format!("{count} files were searched"),
            };
            self.out = format!("No line matches; {searched}.\n");
        }
        for (what, count, hint) in [
            ("more matching lines", self.more, "; narrow the pattern, the path or the glob"),
            ("skipped, binary", self.binary, ""),
            ("skipped, may hold secrets", self.sensitive, "; to search one, set path; the user is asked"),
            ("skipped by rules of the user", self.left_out, ""),
            ("not searched, read error", self.unread, ""),
        ] {
            if count > 0 {
                self.out.push_str(&format!("[{what}: {count}{hint}]\n"));
            }
        }
        if self.given_up {
            let seconds = PATIENCE.as_secs();
            self.out.push_str(&format!("[stopped after {seconds} s; not every file was searched]\n"));
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::output::Shown;
    use crate::tools::memory::Memory;
    use crate::tools::tests::{acted, planned};
    use std::sync::Arc;

    async fn check(files: &Arc<Memory>, arguments: Value, expected: &str) {
        let found = match planned(&SearchText, arguments.clone(), files) {
            Ok(plan) => acted(&SearchText, &plan, files).await.unwrap_or_else(|error| error.to_string()),
            Err(error) => error.to_string(),
        };
        assert!(
            found == expected || expected.ends_with('*') && found.starts_with(expected.trim_end_matches('*')),
            "{arguments}: {found}"
        );
    }

    #[test]
    fn r27_search_stops_after_ten_seconds_and_reports_it() {
        let names: Vec<String> = (0..100).map(|file| format!("file-{file}")).collect();
        let files = Memory::bytes(names.iter().map(|name| (name.as_str(), b"fn a\n".to_vec())));
        let plan = planned(&SearchText, json!({"pattern": "fn"}), &files).unwrap();
        let looking: Looking = work(&plan).unwrap();
        // Each file takes a second.
        let seconds = std::cell::Cell::new(0);
        let elapsed = || Duration::from_secs(seconds.replace(seconds.get() + 1));
        let mut far = Far::new(Arc::new(|_: Shown<'_>| ()));
        let found = looking.search(&files, &LeftOut::default(), &mut far, &elapsed).unwrap();
        assert!(found.ends_with("[stopped after 10 s; not every file was searched]\n"), "{found}");
        assert_eq!(found.lines().count(), 12, "{found}");
    }

    #[test]
    fn long_search_reports_progress() {
        let files = Memory::with(&[("a", "fn a\n"), ("b", "fn b\n")]);
        let plan = planned(&SearchText, json!({"pattern": "fn"}), &files).unwrap();
        let looking: Looking = work(&plan).unwrap();
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = told.clone();
        let mut far =
            Far::long(Arc::new(move |shown: Shown<'_>| kept.lock().unwrap().push(shown.latest.to_owned())));
        looking.search(&files, &LeftOut::default(), &mut far, &|| Duration::ZERO).unwrap();
        let told = told.lock().unwrap();
        assert!(told[0].ends_with(" scanned · 0 lines found"), "{told:?}");
    }

    #[tokio::test]
    async fn finds_lines_with_path_and_number() {
        let text = [
            ("a.rs", "fn a\nfn b\r\n"),
            ("src/c.rs", "Fn c"),
            ("d.md", "fn d"),
            (".env", "fn=secret"),
            ("e", "fn\0"),
        ];
        let files = Memory::with(&text);
        let skipped = "[skipped, binary: 1]\n[skipped, may hold secrets: 1; to search one, set path; the user is asked]\n";
        check(&files, json!({"pattern": "^fn [ab]"}), &format!("a.rs:1: fn a\na.rs:2: fn b\n{skipped}"))
            .await;
        check(
            &files,
            json!({"pattern": "fn", "glob": "*.rs", "ignore_case": true}),
            "a.rs:1: fn a\na.rs:2: fn b\nsrc/c.rs:1: Fn c\n",
        )
        .await;
        check(&files, json!({"pattern": "Fn", "glob": "src/*.rs"}), "src/c.rs:1: Fn c\n").await;
        check(&files, json!({"pattern": "fn", "path": "d.md"}), "d.md:1: fn d\n").await;
        check(&files, json!({"pattern": "secret", "path": ".env"}), ".env:1: fn=secret\n").await;
        check(&files, json!({"pattern": "zzz", "path": "src"}), "No line matches; one file was searched.\n")
            .await;
        check(&files, json!({"pattern": "fn", "path": "no"}), "there is no file no").await;
        check(&files, json!({"pattern": "a("}), "“a(” is not a valid Rust regex: *").await;
        check(&files, json!({"pattern": "a\nb"}), "“a…” is not a valid Rust regex: *").await;
        check(&files, json!({"pattern": ""}), "The pattern is empty*").await;
        check(&files, json!({"pattern": "a", "glob": "a["}), "Invalid glob: *").await;
    }

    #[tokio::test]
    async fn limits_results_and_counts_the_rest() {
        let files = Memory::with(&[
            ("many", &"x\n".repeat(HITS + 5)),
            ("wide", &format!("y{}\n", "é".repeat(WIDTH)).repeat(50)),
        ]);
        let told = |pattern: &str| planned(&SearchText, json!({"pattern": pattern}), &files).unwrap();
        let many = acted(&SearchText, &told("x"), &files).await.unwrap();
        assert!(
            many.ends_with(
                "many:100: x\n[more matching lines: 5; narrow the pattern, the path or the glob]\n"
            ),
            "{many}"
        );
        let wide = acted(&SearchText, &told("y"), &files).await.unwrap();
        assert!(wide.len() < BYTES + 200 && wide.contains("…\n[more matching lines: 2"), "{}", wide.len());
    }
}
