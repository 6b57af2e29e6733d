//! Hostile texts on every surface: what a user sees contains no terminal sequences and no invisible characters, and
//! hides nothing that the model read.
//!
//! For many texts: `AYE_TEST_TRIALS=3000 cargo test --test suite hostile_texts -- --nocapture`. `AYE_TEST_SEED` repeats
//! a run.

mod text;

use crate::support::folder::Folder;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::{pick_count, print_uncaptured, requested_trials};
use aye::text::escape_sequences::strip_colors;
use serde_json::{Value, json};
use std::sync::Arc;
use text::{Generator, find_forbidden, remove_whitespace, split_words, without_sequences};
use tokio::runtime::Runtime;

/// All hostile texts of one session.
struct Case {
    prompt: String,
    /// Text of the first reply.
    reply: String,
    /// Text of the last reply, if it asks no question.
    end: String,
    /// Content of `content.txt`.
    content: String,
    /// Name of another file in the project.
    name: String,
    /// Part of the command that is denied.
    denied: String,
    /// Text of the question and of its first option, if the last reply asks one.
    question: Option<String>,
}

impl Case {
    fn new(generator: &mut Generator) -> Self {
        Self {
            prompt: format!("go {}", generator.text()),
            reply: generator.reply(),
            end: generator.reply(),
            content: format!("{}\n{}", generator.text(), generator.text()),
            name: generator.name(),
            denied: generator.text(),
            question: generator.dice.one_of(3).then(|| generator.text()),
        }
    }

    /// The replies of the model, in order.
    fn answers(&self) -> Vec<Answer> {
        let reads = [
            ("read_file", json!({ "path": "content.txt" })),
            ("list_files", json!({})),
            ("bash_exec", json!({ "command": "cat content.txt" })),
        ];
        let denied = [("bash_exec", json!({ "command": format!("touch made; : {}", self.denied) }))];
        let last = match &self.question {
            None => Answer::stream().text(&self.end).finish("stop").done(),
            Some(text) => {
                let options = json!([{ "label": text, "description": text }, { "label": "no", "description": "" }]);
                let question = json!({ "keyword": "k", "text": text, "type": "single", "options": options });
                calls("c", "", &[("ask_question", json!({ "questions": [question] }))])
            }
        };
        vec![calls("a", &self.reply, &reads), calls("b", "", &denied), last]
    }

    /// The program with these arguments, in a project with the files to read.
    fn setup(&self, arguments: &[&str]) -> Setup {
        let setup = Setup::new(arguments).size(100, 40);
        let project = setup.root.path().join("project");
        std::fs::write(project.join("content.txt"), &self.content).unwrap();
        // The file system may not accept the name.
        let _ = std::fs::write(project.join(&self.name), "");
        setup
    }
}

/// A reply with this text and these calls. The IDs of the calls are `id` followed by their index.
fn calls(id: &str, text: &str, calls: &[(&str, Value)]) -> Answer {
    let all: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(at, (name, arguments))| {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            json!({ "index": at, "id": format!("{id}{at}"), "type": "function", "function": function })
        })
        .collect();
    let delta = json!({ "choices": [{ "index": 0, "delta": { "tool_calls": all } }] });
    Answer::stream().text(text).event(delta).finish("tool_calls").done()
}

/// The role and the text of each message in the last request.
fn last_messages(service: &Service) -> Vec<(String, String)> {
    let received = service.received();
    let last = received.last().expect("the model was asked");
    let messages = last.body["messages"].as_array().unwrap().iter();
    let text = |message: &Value| {
        (message["role"].as_str().unwrap().to_owned(), message["content"].as_str().unwrap_or_default().to_owned())
    };
    messages.map(text).collect()
}

/// Panics if the text contains a forbidden character.
#[track_caller]
fn check_no_forbidden(surface: &str, printed: &str) {
    if let Some((at, c)) = find_forbidden(printed) {
        let around: String = printed[at..].chars().take(60).collect();
        panic!("{surface} shows U+{:04X}: {around:?}", u32::from(c));
    }
}

#[track_caller]
fn check_all_words(surface: &str, printed: &str, text: &str) {
    let squashed = remove_whitespace(printed);
    for word in split_words(text) {
        assert!(squashed.contains(&word), "{surface} hides {word} of {text:?}:\n{printed}");
    }
}

/// Where the output goes.
enum Printed {
    Pipe,
    File,
    Terminal,
}

/// Runs a headless session; returns its output, its folder, and the messages that were sent.
fn run_headless(case: &Case, to: &Printed, json: bool) -> (String, Arc<Folder>, Vec<(String, String)>) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(case.answers()));
    let mut arguments = vec!["--base-url", &service.base_url, "--model", "scripted-7b", "-p"];
    if json {
        arguments.push("--json");
    }
    arguments.push(&case.prompt);
    let setup = case.setup(&arguments);
    let root = setup.root.clone();
    let output = match to {
        Printed::Pipe => {
            let (out, err, code) = setup.run_piped("");
            assert_eq!(code, 3, "a call is denied: {err}");
            check_no_forbidden("the standard error", &err);
            out
        }
        Printed::File => {
            let file = root.path().join("printed");
            setup.run_piped_to("", std::fs::File::create(&file).unwrap().into());
            String::from_utf8(std::fs::read(file).unwrap()).unwrap()
        }
        Printed::Terminal => {
            let mut program = setup.start();
            program.wait_for_exit();
            String::from_utf8(program.bytes()).unwrap().replace("\r\n", "\n")
        }
    };
    let sent = last_messages(&service);
    (output, root, sent)
}

/// Checks that the last request has no hidden characters, and that every way to read the session shows all of it. A
/// session of an older version has its results unescaped.
fn check_all_surfaces(case: &Case, place: &Arc<Folder>, sent: &[(String, String)], is_old: bool) {
    let run = |arguments: &[&str]| {
        let (out, err, code) = Setup::with_home(place, arguments).run_piped("");
        assert_eq!(code, 0, "{arguments:?}: {err}");
        check_no_forbidden(&arguments.join(" "), &format!("{out}\n{err}"));
        out
    };
    let show = run(&["sessions", "show"]);
    let audit = run(&["audit"]);
    let audit_json = run(&["audit", "--json"]);
    let markdown = run(&["sessions", "export", "--format", "markdown"]);
    let html = run(&["sessions", "export", "--format", "html"]);
    let json = run(&["sessions", "export", "--format", "json"]);
    assert!(audit.contains("read_file") && audit_json.contains("read_file"));
    let value: Value = serde_json::from_str(&json).unwrap();
    assert!(value["entries"].as_array().is_some_and(|entries| entries.len() > 4));
    for entry in value["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "settled") {
        let kept = entry["outcome"]["text"].as_str().unwrap();
        let is_sent = |(role, text): &(String, String)| role == "tool" && *text == strip_colors(kept);
        assert!(is_old || sent.iter().any(is_sent), "not what the model was sent: {kept:?}");
    }
    let squashed = remove_whitespace(&show);
    sent.iter().for_each(|(_, text)| check_no_forbidden("a request", text));
    for (role, text) in sent.iter().filter(|(role, _)| role != "system") {
        for (surface, printed) in [("show", &show), ("markdown", &markdown), ("html", &html), ("json", &json)] {
            check_all_words(surface, printed, text);
        }
        if role == "tool" {
            assert!(squashed.contains(&remove_whitespace(text)), "show hides a part of {text:?}:\n{show}");
        }
    }
    for (surface, printed) in [("markdown", &markdown), ("html", &html), ("show", &show)] {
        check_all_words(surface, printed, &case.reply);
    }
}

/// Resumes the session on the screen, and checks the transcript and one result opened with `o`. `nth` is the index of
/// that result from the end, modulo the number of results.
fn check_screen(case: &Case, place: &Arc<Folder>, sent: &[(String, String)], nth: u64) {
    // Nothing listens on this port, and no request is sent.
    let arguments = ["--base-url", "http://127.0.0.1:9/v1", "--model", "scripted-7b", "--continue"];
    let mut program = Setup::with_home(place, &arguments).size(110, 60).start();
    // The two reads may have ended in either order.
    let shows_reads = |screen: String| screen.contains("✓ Re") || screen.contains("✓ Listed");
    program.until_condition("the session is shown", |program| shows_reads(program.screen()));
    let results: Vec<&String> = sent.iter().filter(|(role, _)| role == "tool").map(|(_, text)| text).collect();
    // Calls that only read run at the same time. The screen shows them in the order in which they ended.
    let rows: Vec<&String> = settled_calls(place).iter().map(|call| results[*call]).collect();
    if case.question.is_none() {
        program.until_condition(&format!("all words of {:?} are shown", case.end), |program| {
            let transcript = remove_whitespace(&program.screen());
            split_words(&case.end).iter().all(|word| transcript.contains(word))
        });
        let nth = usize::try_from(nth).unwrap() % rows.len();
        let order = settled_calls(place);
        // The two calls that read without a command are one row if they ended one after the other.
        let run_start = order.windows(2).position(|calls| calls[0] < 2 && calls[1] < 2);
        let select_call_from_end = |program: &mut Program, count: usize| {
            for _ in 0..count {
                // Alt-Up selects the previous call.
                program.press_keys("\x1b[1;3A");
            }
        };
        if let Some(start) = run_start {
            select_call_from_end(&mut program, rows.len() - start - 1);
            program.press_keys("\r");
            program.press_keys("\x1b");
        }
        // The row of the open run precedes its calls.
        let is_before_run = run_start.is_some_and(|start| rows.len() - 1 - nth < start);
        select_call_from_end(&mut program, nth + 1 + usize::from(is_before_run));
        program.press_keys("o");
        let result = remove_whitespace(rows[rows.len() - 1 - nth]);
        program.until_condition(&format!("o shows all of {result:?}"), |program| {
            remove_whitespace(&program.screen()).contains(&result)
        });
    }
    check_terminal_bytes(&program);
}

/// Returns the indices of the calls of [`Case::answers`] in the order in which they ended.
fn settled_calls(place: &Arc<Folder>) -> Vec<usize> {
    let (json, ..) = Setup::with_home(place, &["sessions", "export", "--format", "json"]).run_piped("");
    let session: Value = serde_json::from_str(&json).unwrap();
    let settled = session["entries"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "settled");
    let ids = settled.map(|entry| entry["call"].as_str().unwrap());
    ids.filter_map(|id| ["a0", "a1", "a2", "b0"].iter().position(|known| *known == id)).collect()
}

#[track_caller]
fn check_terminal_bytes(program: &Program) {
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    let text = without_sequences(&bytes).replace('\r', "\n").replace(['\u{8}', '\u{e}', '\u{f}'], "");
    check_no_forbidden("the screen", &text);
}

/// Rewrites the session as an older version would have saved it, with unescaped results.
fn make_old(root: &Folder, case: &Case) {
    let sessions = root.path().join("home/aye/data/sessions");
    for file in std::fs::read_dir(sessions).unwrap().flatten().map(|file| file.path()) {
        if file.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let mut lines = String::new();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let mut value: Value = serde_json::from_str(line).unwrap();
            let settled = &mut value["entry"];
            if settled["kind"] == "settled" && settled["call"].as_str().is_some_and(|call| call.starts_with('a')) {
                settled["outcome"]["text"] = json!(format!("{}\n{}", case.content, case.name));
            }
            lines.push_str(&format!("{value}\n"));
        }
        std::fs::write(file, lines).unwrap();
    }
}

#[test]
fn hostile_texts_are_shown_completely_and_safely_on_every_surface() {
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut generator = Generator::new(seed.unwrap_or_else(|| u64::from(std::process::id())));
    let max_count = requested_trials().unwrap_or_else(|| pick_count(60, 20));
    let mut sessions = 0_usize;
    while generator.texts < max_count {
        let seed = generator.dice.0;
        let case = Case::new(&mut generator);
        if requested_trials().is_some() {
            print_uncaptured(&format!("{} texts, the last of the seed {seed}", generator.texts));
        }
        let (as_text, as_json) = (false, true);
        let (piped, place, sent) = run_headless(&case, &Printed::Pipe, as_text);
        let (file, ..) = run_headless(&case, &Printed::File, as_text);
        let (terminal, ..) = run_headless(&case, &Printed::Terminal, as_text);
        let (json, ..) =
            run_headless(&case, if sessions.is_multiple_of(2) { &Printed::Pipe } else { &Printed::Terminal }, as_json);
        for (surface, printed) in [("a pipe", &piped), ("a file", &file), ("a terminal", &terminal), ("--json", &json)]
        {
            check_no_forbidden(surface, printed);
            check_all_words(surface, printed, &case.reply);
            check_all_words(surface, printed, case.question.as_ref().unwrap_or(&case.end));
        }
        let is_old = false;
        check_all_surfaces(&case, &place, &sent, is_old);
        check_screen(&case, &place, &sent, sessions as u64);
        if sessions.is_multiple_of(2) {
            make_old(&place, &case);
            let runtime = Runtime::new().unwrap();
            let service = runtime.block_on(Service::start([Answer::stream().text("Done.").finish("stop").done()]));
            let session_flags =
                ["--base-url", &service.base_url, "--model", "scripted-7b", "--continue", "-p", "go on"];
            Setup::with_home(&place, &session_flags).run_piped("");
            if case.question.is_none() {
                let is_old = true;
                check_all_surfaces(&case, &place, &last_messages(&service), is_old);
            }
        }
        sessions += 1;
    }
    if requested_trials().is_some() {
        print_uncaptured(&format!("{} texts in {sessions} sessions", generator.texts));
    }
}

#[test]
fn a_raw_reply_is_printed_byte_for_byte() {
    let reply = "\u{1b}[31mred\u{1b}[0m\r\u{e0041}\u{200b}\u{7f}end";
    let runtime = Runtime::new().unwrap();
    let print = |extra_arguments: &[&str]| {
        let answer = Answer::stream().text(reply).finish("stop").done();
        let service = runtime.block_on(Service::start([answer]));
        let arguments = ["--base-url", &service.base_url, "--model", "scripted-7b", "-p", "go"];
        Setup::new(&[&arguments[..], extra_arguments].concat()).run_piped("")
    };
    assert_eq!(print(&["--raw"]).0, format!("{reply}\n"));
    assert_eq!(print(&[]).0, "[31mred[0m<U+E0041><U+200B>end\n");
    let (help, ..) = Setup::new(&["--help"]).run_piped("");
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["--raw", "byte for byte", "control characters except line feed and tab are removed"] {
        assert!(help.contains(part), "{part}: {help}");
    }
}
