//! Tool that searches lines with a regular expression.

use super::arguments::parse_arguments;
use super::planned_path::{self, PlannedPath};
use super::progress::{ProgressReporter, format_count};
use super::{
    Error, LiveContext, Progress, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read,
    run_blocking, summary_line,
};
use crate::chat::{Intent, Plan, Preconditions, Preview, ToolSpec, Work};
use crate::policy::ExcludedPaths;
use crate::project::{self, Location, OwnFile, Reader, Writer};
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
const MAX_HITS: usize = 100;
/// Bytes returned per call.
const BYTES: usize = 16 * 1024;
/// Characters shown of a line.
const WIDTH: usize = 300;
/// Time limit of a search; the outcome reports that files were not searched.
const TIME_LIMIT: Duration = Duration::from_secs(10);

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
struct SearchRequest {
    place: PlannedPath,
    pattern: String,
    glob: Option<String>,
    ignore_case: bool,
}

#[async_trait]
impl Tool for SearchText {
    fn tool_spec(&self) -> ToolSpec {
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
        let Arguments { pattern, path, glob, ignore_case } = parse_arguments(&self.tool_spec(), arguments)?;
        let at = planned_path::locate(files, path.as_deref().unwrap_or("."))?;
        let looking = SearchRequest {
            place: PlannedPath::record(files, &at)?,
            pattern,
            glob,
            ignore_case: ignore_case.unwrap_or(false),
        };
        looking.regex_matcher()?;
        looking.glob_filter()?;
        let wanted = match (&looking.glob, at.display_path.as_os_str().is_empty()) {
            (None, true) => String::new(),
            (Some(glob), true) => format!(" in {glob}"),
            (None, false) => format!(" in {}", planned_path::display_path(&at)),
            (Some(glob), false) => format!(" in {}, {glob}", planned_path::display_path(&at)),
        };
        Ok(Intent::Act(Box::new(Plan {
            title: "Search files?".to_owned(),
            summary: summary_line::first_line(
                &format!("{}{wanted}", summary_line::first_line(&looking.pattern, 80)),
                120,
            ),
            access: planned_path::read_access(files, &at),
            preview: Preview::Text(format!("{}{wanted}", looking.pattern)),
            grant: None,
            destroys: None,
            preconditions: Preconditions::default(),
            work: Work::Arguments(json!(looking)),
        })))
    }

    async fn run(&self, plan: &Plan, hands: &LiveContext) -> Result<String, Error> {
        run_search(plan, hands.project.clone(), &hands.excluded, &hands.progress).await
    }

    async fn rehearse(&self, plan: &Plan, stage: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let looks = run_search(plan, stage.project.clone(), &stage.excluded, &stage.progress);
        rehearse_read("search_text", plan, stage, looks).await
    }
}

async fn run_search(
    plan: &Plan,
    files: Arc<dyn Writer>,
    left_out: &ExcludedPaths,
    progress: &Progress,
) -> Result<String, Error> {
    let mut far = ProgressReporter::new(progress.clone());
    let (looking, left_out): (SearchRequest, ExcludedPaths) = (parse_plan_data(plan)?, left_out.clone());
    run_blocking(files, move |files| {
        let started = Instant::now();
        looking.search(files, &left_out, &mut far, &|| started.elapsed())
    })
    .await
}

impl SearchRequest {
    fn regex_matcher(&self) -> Result<RegexMatcher, Error> {
        if self.pattern.is_empty() {
            return Err(Error::Arguments("The pattern is empty; it would match every line.".to_owned()));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(self.ignore_case).line_terminator(Some(b'\n')).build(&self.pattern).map_err(|error| {
            Error::Arguments(format!(
                "“{}” is not a valid Rust regex: {error}. Escape a literal . * + ? ( ) [ ] {{ }} | ^ $ \\ with \\.",
                summary_line::first_line(&self.pattern, 100)
            ))
        })
    }

    fn glob_filter(&self) -> Result<Option<GlobMatcher>, Error> {
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
        left_out: &ExcludedPaths,
        far: &mut ProgressReporter,
        elapsed: &dyn Fn() -> Duration,
    ) -> Result<String, Error> {
        let under = self.place.locate_again(files)?;
        let mut found = SearchResults::new(self.regex_matcher()?);
        match files.read(&under) {
            Ok(bytes) => found.search_file(&under, &bytes),
            Err(project::Error::NotAFile { kind: "a folder", .. }) => {
                let (filter, below) = (self.glob_filter()?, planned_path::read_access(files, &under));
                let has_hidden_names = files.name_check();
                files.walk(&under, true, &mut |file| {
                    found.met += 1;
                    far.report(|| found.progress_text());
                    if elapsed() > TIME_LIMIT {
                        found.given_up = true;
                        return ControlFlow::Break(());
                    }
                    if file.is_folder
                        || filter.as_ref().is_some_and(|filter| !filter.is_match(&file.location.display_path))
                    {
                        return ControlFlow::Continue(());
                    }
                    // Files that the user was not asked about are not read.
                    if (file.location.is_sensitive && !under.is_sensitive)
                        || (!file.location.is_inside && under.is_inside)
                        || file.location.own_file == Some(OwnFile::Credentials)
                        || (under.is_inside && !under.is_sensitive && has_hidden_names(&file.location))
                    {
                        found.sensitive += 1;
                        return ControlFlow::Continue(());
                    }
                    if planned_path::walk_access(files, &file.location)
                        .iter()
                        .any(|name| left_out.excludes(name, &below))
                    {
                        found.left_out += 1;
                        return ControlFlow::Continue(());
                    }
                    match files.read(&file.location) {
                        Ok(bytes) => found.search_file(&file.location, &bytes),
                        Err(_) => found.unread += 1,
                    }
                    ControlFlow::Continue(())
                })?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(found.into_text())
    }
}

/// Matches found so far, and counts of skipped files.
struct SearchResults {
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

impl SearchResults {
    fn new(matcher: RegexMatcher) -> Self {
        let searcher = SearcherBuilder::new().line_number(true).build();
        let (out, hits, more, met, given_up) = (String::new(), 0, 0, 0, false);
        let (searched, binary, sensitive, left_out, unread) = (0, 0, 0, 0, 0);
        Self { matcher, searcher, out, hits, more, met, searched, binary, sensitive, left_out, unread, given_up }
    }

    fn search_file(&mut self, at: &Location, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.binary += 1;
            return;
        }
        self.searched += 1;
        let shown = planned_path::display_path(at);
        let (out, hits, more) = (&mut self.out, &mut self.hits, &mut self.more);
        let sink = Lossy(|number, line| {
            let (kept, whole) = summary_line::truncate_chars(line.trim_end(), WIDTH);
            let row = format!("{shown}:{number}: {kept}{}\n", if whole.is_some() { "…" } else { "" });
            if *hits < MAX_HITS && *more == 0 && out.len() + row.len() <= BYTES {
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
    fn progress_text(&self) -> String {
        let lines = format_count(self.hits + self.more, "line", "lines");
        format!("{} scanned · {lines} found", format_count(self.met, "file", "files"))
    }

    fn into_text(mut self) -> String {
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
            let seconds = TIME_LIMIT.as_secs();
            self.out.push_str(&format!("[stopped after {seconds} s; not every file was searched]\n"));
        }
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::output::CommandProgress;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};
    use std::sync::Arc;

    async fn check_search(files: &Arc<MemoryProject>, arguments: Value, expected: &str) {
        let found = match plan_call(&SearchText, arguments.clone(), files) {
            Ok(plan) => run_call(&SearchText, &plan, files).await.unwrap_or_else(|error| error.to_string()),
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
        let files = MemoryProject::with_bytes(names.iter().map(|name| (name.as_str(), b"fn a\n".to_vec())));
        let plan = plan_call(&SearchText, json!({"pattern": "fn"}), &files).unwrap();
        let looking: SearchRequest = parse_plan_data(&plan).unwrap();
        // Each file takes a second.
        let seconds = std::cell::Cell::new(0);
        let elapsed = || Duration::from_secs(seconds.replace(seconds.get() + 1));
        let mut far = ProgressReporter::new(Arc::new(|_: CommandProgress<'_>| ()));
        let found = looking.search(&files, &ExcludedPaths::default(), &mut far, &elapsed).unwrap();
        assert!(found.ends_with("[stopped after 10 s; not every file was searched]\n"), "{found}");
        assert_eq!(found.lines().count(), 12, "{found}");
    }

    #[test]
    fn long_search_reports_progress() {
        let files = MemoryProject::with_files(&[("a", "fn a\n"), ("b", "fn b\n")]);
        let plan = plan_call(&SearchText, json!({"pattern": "fn"}), &files).unwrap();
        let looking: SearchRequest = parse_plan_data(&plan).unwrap();
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = told.clone();
        let mut far = ProgressReporter::without_delay(Arc::new(move |shown: CommandProgress<'_>| {
            kept.lock().unwrap().push(shown.latest.to_owned())
        }));
        looking.search(&files, &ExcludedPaths::default(), &mut far, &|| Duration::ZERO).unwrap();
        let told = told.lock().unwrap();
        assert!(told[0].ends_with(" scanned · 0 lines found"), "{told:?}");
    }

    #[tokio::test]
    async fn finds_lines_with_path_and_number() {
        let text =
            [("a.rs", "fn a\nfn b\r\n"), ("src/c.rs", "Fn c"), ("d.md", "fn d"), (".env", "fn=secret"), ("e", "fn\0")];
        let files = MemoryProject::with_files(&text);
        let skipped =
            "[skipped, binary: 1]\n[skipped, may hold secrets: 1; to search one, set path; the user is asked]\n";
        check_search(&files, json!({"pattern": "^fn [ab]"}), &format!("a.rs:1: fn a\na.rs:2: fn b\n{skipped}")).await;
        check_search(
            &files,
            json!({"pattern": "fn", "glob": "*.rs", "ignore_case": true}),
            "a.rs:1: fn a\na.rs:2: fn b\nsrc/c.rs:1: Fn c\n",
        )
        .await;
        check_search(&files, json!({"pattern": "Fn", "glob": "src/*.rs"}), "src/c.rs:1: Fn c\n").await;
        check_search(&files, json!({"pattern": "fn", "path": "d.md"}), "d.md:1: fn d\n").await;
        check_search(&files, json!({"pattern": "secret", "path": ".env"}), ".env:1: fn=secret\n").await;
        check_search(&files, json!({"pattern": "zzz", "path": "src"}), "No line matches; one file was searched.\n")
            .await;
        check_search(&files, json!({"pattern": "fn", "path": "no"}), "there is no file no").await;
        check_search(&files, json!({"pattern": "a("}), "“a(” is not a valid Rust regex: *").await;
        check_search(&files, json!({"pattern": "a\nb"}), "“a…” is not a valid Rust regex: *").await;
        check_search(&files, json!({"pattern": ""}), "The pattern is empty*").await;
        check_search(&files, json!({"pattern": "a", "glob": "a["}), "Invalid glob: *").await;
    }

    #[tokio::test]
    async fn limits_results_and_counts_the_rest() {
        let files = MemoryProject::with_files(&[
            ("many", &"x\n".repeat(MAX_HITS + 5)),
            ("wide", &format!("y{}\n", "é".repeat(WIDTH)).repeat(50)),
        ]);
        let told = |pattern: &str| plan_call(&SearchText, json!({"pattern": pattern}), &files).unwrap();
        let many = run_call(&SearchText, &told("x"), &files).await.unwrap();
        assert!(
            many.ends_with("many:100: x\n[more matching lines: 5; narrow the pattern, the path or the glob]\n"),
            "{many}"
        );
        let wide = run_call(&SearchText, &told("y"), &files).await.unwrap();
        assert!(wide.len() < BYTES + 200 && wide.contains("…\n[more matching lines: 2"), "{}", wide.len());
    }
}
