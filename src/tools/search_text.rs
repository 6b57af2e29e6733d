//! Tool that searches lines with a regular expression.

use super::arguments::{object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::planned_path::{self, PlannedPath};
use super::progress::{ProgressReporter, WorkClock, format_count};
use super::walk_filter::{Exclusion, WalkFilter};
use super::{
    Error, LiveContext, Progress, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read,
    run_blocking, summary_line,
};
use crate::chat::{CallResult, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::policy::ExcludedPaths;
use crate::project::{self, Location, Reader, Writer};
use async_trait::async_trait;
use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, sinks::Lossy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool = BuiltInTool {
    words: CallWords::new("search_text", "Search").with_result(CallResult::Reading),
    make: |_| Some(Arc::new(SearchText)),
};

/// Matching lines returned per call.
const MAX_MATCHES: usize = 100;
/// Bytes returned per call.
const MAX_BYTES: usize = 16 * 1024;
/// Characters shown of a line.
const MAX_LINE_CHARS: usize = 300;
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
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "search_text",
            "Search lines with a regular expression. Returns `path:line: text`.",
            json!({
                "pattern": { "type": "string", "description": "Rust regex" },
                "path": { "type": "string", "description": "File or folder, default the project" },
                "glob": { "type": "string", "description": "E.g. *.rs" },
                "ignore_case": { "type": "boolean", "description": "Default false" },
            }),
            &["pattern"],
        )
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { pattern, path, glob, ignore_case } = parse_arguments(&self.tool_spec(), arguments)?;
        let location = planned_path::locate(files, path.as_deref().unwrap_or("."))?;
        let request = SearchRequest {
            place: PlannedPath::record(files, &location)?,
            pattern,
            glob,
            ignore_case: ignore_case.unwrap_or(false),
        };
        request.regex_matcher()?;
        request.glob_filter()?;
        let scope = match (&request.glob, location.display_path.as_os_str().is_empty()) {
            (None, true) => String::new(),
            (Some(glob), true) => format!(" in {glob}"),
            (None, false) => format!(" in {}", planned_path::display_path(&location)),
            (Some(glob), false) => format!(" in {}, {glob}", planned_path::display_path(&location)),
        };
        let summary = format!("{}{scope}", summary_line::first_line(&request.pattern, 80));
        Ok(Intent::Act(Box::new(Plan::new(
            "Search files?",
            summary_line::first_line(&summary, 120),
            planned_path::read_access(files, &location),
            Preview::Text(format!("{}{scope}", request.pattern)),
            Work::Arguments(json!(request)),
        ))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        run_search(plan, context.project.clone(), &context.excluded, &context.progress).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let result = run_search(plan, context.project.clone(), &context.excluded, &context.progress);
        rehearse_read("search_text", plan, context, result).await
    }
}

async fn run_search(
    plan: &Plan,
    files: Arc<dyn Writer>,
    excluded: &ExcludedPaths,
    progress: &Progress,
) -> Result<String, Error> {
    let mut reporter = ProgressReporter::new(progress.clone());
    let (request, excluded): (SearchRequest, ExcludedPaths) = (parse_plan_data(plan)?, excluded.clone());
    // Dropped with this future.
    let (caller, clock) = WorkClock::start();
    let result =
        run_blocking(files, move |files| request.search(files, &excluded, &mut reporter, &|| clock.elapsed())).await;
    drop(caller);
    result
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
        let any_folder_glob = if glob.contains('/') { glob.to_owned() } else { format!("**/{glob}") };
        let builder_result = GlobBuilder::new(any_folder_glob.trim_start_matches("./")).literal_separator(true).build();
        let compiled = builder_result.map_err(|error| Error::Arguments(format!("Invalid glob: {error}.")))?;
        Ok(Some(compiled.compile_matcher()))
    }

    /// Runs the search. `elapsed` returns the time since it began.
    fn search(
        &self,
        files: &dyn Reader,
        excluded: &ExcludedPaths,
        reporter: &mut ProgressReporter,
        elapsed: &dyn Fn() -> Duration,
    ) -> Result<String, Error> {
        let root = self.place.locate_again(files)?;
        let mut results = SearchResults {
            matcher: self.regex_matcher()?,
            searcher: SearcherBuilder::new().line_number(true).build(),
            text: String::new(),
            counts: SearchCounts::default(),
            is_timed_out: false,
        };
        match files.read(&root) {
            Ok(bytes) => results.search_file(&root, &bytes),
            Err(project::Error::NotAFile { kind: "a folder", .. }) => {
                let (filter, walk_filter) = (self.glob_filter()?, WalkFilter::new(files, root.clone(), excluded));
                let include_hidden = true;
                files.walk(&root, include_hidden, &mut |file| {
                    results.counts.visited += 1;
                    reporter.report_if_due(|| results.progress_text());
                    if elapsed() > TIME_LIMIT {
                        results.is_timed_out = true;
                        return ControlFlow::Break(());
                    }
                    if file.is_folder
                        || filter.as_ref().is_some_and(|filter| !filter.is_match(&file.location.display_path))
                    {
                        return ControlFlow::Continue(());
                    }
                    // Files that the user was not asked about are not read.
                    match walk_filter.find_exclusion(&file.location) {
                        None => {}
                        Some(Exclusion::Sensitive) => {
                            results.counts.sensitive += 1;
                            return ControlFlow::Continue(());
                        }
                        Some(Exclusion::Rule) => {
                            results.counts.excluded += 1;
                            return ControlFlow::Continue(());
                        }
                    }
                    match files.read(&file.location) {
                        Ok(bytes) => results.search_file(&file.location, &bytes),
                        Err(_) => results.counts.unreadable += 1,
                    }
                    ControlFlow::Continue(())
                })?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(results.into_text())
    }
}

/// Matches found so far, and the search for them.
struct SearchResults {
    matcher: RegexMatcher,
    searcher: Searcher,
    text: String,
    counts: SearchCounts,
    is_timed_out: bool,
}

/// Counts of matching lines and of files.
#[derive(Default)]
struct SearchCounts {
    /// Matching lines that are listed.
    listed: usize,
    /// Further matching lines.
    unlisted: usize,
    /// Files and folders visited, searched or not.
    visited: usize,
    searched: usize,
    binary: usize,
    sensitive: usize,
    excluded: usize,
    unreadable: usize,
}

impl SearchResults {
    fn search_file(&mut self, location: &Location, bytes: &[u8]) {
        if bytes.contains(&0) {
            self.counts.binary += 1;
            return;
        }
        self.counts.searched += 1;
        let displayed_path = planned_path::display_path(location);
        let (text, counts) = (&mut self.text, &mut self.counts);
        let sink = Lossy(|line_number, line| {
            let (truncated, full_length) = summary_line::truncate_chars(line.trim_end(), MAX_LINE_CHARS);
            let row = format!(
                "{displayed_path}:{line_number}: {truncated}{}\n",
                if full_length.is_some() { "…" } else { "" }
            );
            if counts.listed < MAX_MATCHES && counts.unlisted == 0 && text.len() + row.len() <= MAX_BYTES {
                text.push_str(&row);
                counts.listed += 1;
            } else {
                counts.unlisted += 1;
            }
            Ok(true)
        });
        if self.searcher.search_slice(&self.matcher, bytes, sink).is_err() {
            self.counts.unreadable += 1;
        }
    }

    /// Formats the progress for the screen.
    fn progress_text(&self) -> String {
        let lines = format_count(self.counts.listed + self.counts.unlisted, "line", "lines");
        format!("{} scanned · {lines} found", format_count(self.counts.visited, "file", "files"))
    }

    fn into_text(mut self) -> String {
        if self.counts.listed + self.counts.unlisted == 0 {
            let searched = match self.counts.searched {
                1 => "one file was searched".to_owned(),
                count => format!("{count} files were searched"),
            };
            self.text = format!("No line matches; {searched}.\n");
        }
        for (label, count, hint) in [
            ("more matching lines", self.counts.unlisted, "; narrow the pattern, the path or the glob"),
            ("skipped, binary", self.counts.binary, ""),
            ("skipped, may hold secrets", self.counts.sensitive, "; to search one, set path; the user is asked"),
            ("skipped by rules of the user", self.counts.excluded, ""),
            ("not searched, read error", self.counts.unreadable, ""),
        ] {
            if count > 0 {
                self.text.push_str(&format!("[{label}: {count}{hint}]\n"));
            }
        }
        if self.is_timed_out {
            let seconds = TIME_LIMIT.as_secs();
            self.text.push_str(&format!("[stopped after {seconds} s; not every file was searched]\n"));
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::output::CommandProgress;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};
    use std::sync::Arc;

    /// Checks the output or the error of a search; `*` at the end of `expected` stands for any text.
    async fn check_search(files: &Arc<MemoryProject>, arguments: Value, expected: &str) {
        let output = match plan_call(&SearchText, arguments.clone(), files) {
            Ok(plan) => run_call(&SearchText, &plan, files).await.unwrap_or_else(|error| error.to_string()),
            Err(error) => error.to_string(),
        };
        assert!(
            output == expected || expected.ends_with('*') && output.starts_with(expected.trim_end_matches('*')),
            "{arguments}: {output}"
        );
    }

    #[test]
    fn r27_search_stops_after_ten_seconds_and_reports_it() {
        let names: Vec<String> = (0..100).map(|file| format!("file-{file}")).collect();
        let files = MemoryProject::with_bytes(names.iter().map(|name| (name.as_str(), b"fn a\n".to_vec())));
        let plan = plan_call(&SearchText, json!({"pattern": "fn"}), &files).unwrap();
        let request: SearchRequest = parse_plan_data(&plan).unwrap();
        // Each file takes a second.
        let seconds = std::cell::Cell::new(0);
        let elapsed = || Duration::from_secs(seconds.replace(seconds.get() + 1));
        let mut reporter = ProgressReporter::new(Arc::new(|_: CommandProgress<'_>| ()));
        let output = request.search(&files, &ExcludedPaths::default(), &mut reporter, &elapsed).unwrap();
        assert!(output.ends_with("[stopped after 10 s; not every file was searched]\n"), "{output}");
        // One match for each of the seconds 0 to 10, and the message.
        assert_eq!(output.lines().count(), 12, "{output}");
    }

    #[test]
    fn long_search_reports_progress() {
        let files = MemoryProject::with_files(&[("a", "fn a\n"), ("b", "fn b\n")]);
        let plan = plan_call(&SearchText, json!({"pattern": "fn"}), &files).unwrap();
        let request: SearchRequest = parse_plan_data(&plan).unwrap();
        let reports = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink_reports = reports.clone();
        let mut reporter = ProgressReporter::without_delay(Arc::new(move |progress: CommandProgress<'_>| {
            sink_reports.lock().unwrap().push(progress.latest.to_owned())
        }));
        request.search(&files, &ExcludedPaths::default(), &mut reporter, &|| Duration::ZERO).unwrap();
        let reports = reports.lock().unwrap();
        assert!(reports[0].ends_with(" scanned · 0 lines found"), "{reports:?}");
    }

    #[tokio::test]
    async fn finds_lines_with_path_and_number() {
        let text =
            [("a.rs", "fn a\nfn b\r\n"), ("src/c.rs", "Fn c"), ("d.md", "fn d"), (".env", "fn=secret"), ("e", "fn\0")];
        let files = MemoryProject::with_files(&text);
        let skipped_notes =
            "[skipped, binary: 1]\n[skipped, may hold secrets: 1; to search one, set path; the user is asked]\n";
        check_search(&files, json!({"pattern": "^fn [ab]"}), &format!("a.rs:1: fn a\na.rs:2: fn b\n{skipped_notes}"))
            .await;
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
            ("many", &"x\n".repeat(MAX_MATCHES + 5)),
            ("wide", &format!("y{}\n", "é".repeat(MAX_LINE_CHARS)).repeat(50)),
        ]);
        let plan_search = |pattern: &str| plan_call(&SearchText, json!({"pattern": pattern}), &files).unwrap();
        let many_lines = run_call(&SearchText, &plan_search("x"), &files).await.unwrap();
        assert!(
            many_lines.ends_with("many:100: x\n[more matching lines: 5; narrow the pattern, the path or the glob]\n"),
            "{many_lines}"
        );
        let wide_lines = run_call(&SearchText, &plan_search("y"), &files).await.unwrap();
        assert!(
            wide_lines.len() < MAX_BYTES + 200 && wide_lines.contains("…\n[more matching lines: 24;"),
            "{}",
            wide_lines.len()
        );
    }
}
