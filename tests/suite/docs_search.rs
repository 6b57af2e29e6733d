//! `search_docs` and `get_doc_page`: documents of the project, the manual and folders of the user.

use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::{add_settings, call, offered_tools};
use crate::support::user::User;
use serde_json::{Value, json};
use std::fs;

const TOOLS: [&str; 2] = ["search_docs", "get_doc_page"];

fn search(query: &str) -> crate::support::service::Answer {
    call("search_docs", json!({ "query": query }))
}

fn page(path: &str) -> crate::support::service::Answer {
    call("get_doc_page", json!({ "path": path }))
}

/// A user with these replies, whose settings turn the tools on and name a folder that exists and one that does not.
fn user(answers: Vec<crate::support::service::Answer>) -> User {
    let user = User::new(answers);
    let [notes, missing] = ["notes", "missing"].map(|name| user.path(name));
    fs::create_dir(&notes).unwrap();
    fs::write(notes.join("deploy.md"), "# Deploying\n\nPress the zebra button.\n").unwrap();
    add_settings(&user, &format!("[docs]\nenabled = true\nfolders = [{notes:?}, {missing:?}]\n"));
    user.write_file("README.md", "# Program\n\nSee docs.\n");
    user.write_file("docs/zoo.md", "# The zoo\n\n## Animals\n\nA zebra is striped.\n");
    user.write_file("docs/secrets.md", "zebra SECRET");
    user.write_file("src/zebra.rs", "zebra");
    user
}

/// The texts that the model received for its calls.
fn results(user: &User) -> Vec<String> {
    let body = user.service.received().last().unwrap().body.clone();
    let messages = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

fn run(user: &User, arguments: &[&str]) -> (String, String, i32) {
    user.setup(arguments).run_piped("")
}

#[test]
fn the_model_searches_documents_and_reads_one() {
    let calls = [
        search("Where is a zebra?"),
        page("docs/zoo.md:5"),
        page("notes/deploy.md"),
        search("MCP servers"),
        page("aye/mcp"),
    ];
    let user = user(calls.into_iter().chain([text_answer("Done.")]).collect());
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    let screen = program.until_idle("Done.");
    // Nothing was asked, and the rows name what was read.
    for row in [
        "Search docs Where is a zebra? in the docs and /",
        "Read document docs/zoo.md",
        "Read document notes/deploy.md",
    ] {
        assert!(screen.contains(row), "{row}: {screen}");
    }
    let results = results(&user);
    let found = &results[0];
    assert!(found.contains("docs/zoo.md:5: The zoo · Animals\n    A zebra is striped.\n"), "{found}");
    assert!(found.contains("notes/deploy.md:3: Deploying\n    Press the zebra button.\n"), "{found}");
    assert!(
        found.contains("2 of the project, ") && found.contains(" of aye's manual, 1 of the user's folders"),
        "{found}"
    );
    assert!(found.contains("[skipped, may hold secrets: 1]") && !found.contains("zebra.rs"), "{found}");
    assert!(
        found.contains("/missing of the user's settings was not searched: it does not exist or cannot be read]"),
        "{found}"
    );
    assert!(results[1].starts_with("docs/zoo.md: The zoo\n\n# The zoo\n"), "{}", results[1]);
    assert!(results[2].starts_with("notes/deploy.md: Deploying\n\n# Deploying\n"), "{}", results[2]);
    assert!(results[3].starts_with("aye/mcp:"), "{}", results[3]);
    assert!(results[4].starts_with("aye/mcp: MCP servers\n\n# MCP servers\n"), "{}", results[4]);
    for tool in TOOLS {
        assert!(offered_tools(&user)[0].contains(&tool.to_owned()), "{:?}", offered_tools(&user));
    }
}

#[test]
fn a_dry_run_searches_the_changed_documents() {
    let write = call("write_file", json!({ "path": "docs/new.md", "content": "# New\n\nAn okapi is shy.\n" }));
    let calls = [search("okapi"), write, search("okapi"), page("docs/new.md"), page("notes/deploy.md")];
    let user = user(calls.into_iter().chain([text_answer("Done.")]).collect());
    let (_, errors, code) = run(&user, &["-p", "go", "--dry-run"]);
    assert_eq!(code, 0, "{errors}");
    let results = results(&user);
    assert!(results[0].contains("No document matches."), "{}", results[0]);
    assert!(results[2].contains("docs/new.md:3: New\n    An okapi is shy.\n"), "{}", results[2]);
    assert!(results[3].contains("docs/new.md: New\n\n# New\n"), "{}", results[3]);
    assert!(results[4].contains("Press the zebra button."), "{}", results[4]);
    assert!(!user.project().join("docs/new.md").exists());
}

#[test]
fn r12_rules_exclude_documents_from_the_search() {
    let calls = [
        search("zebra"),
        page("docs/zoo.md"),
        page("docs/secrets.md"),
        page("../notes/deploy.md"),
        page("notes/deploy.md"),
    ];
    let user = user(calls.into_iter().chain([text_answer("Done.")]).collect());
    let notes = user.path("notes").display().to_string();
    let rules = format!(
        "[[rule]]\nverdict = \"deny\"\npath = \"docs/zoo.md\"\n[[rule]]\nverdict = \"deny\"\npath = \"{notes}/**\"\n"
    );
    let user = user.with_rules(&rules);
    run(&user, &["-p", "go"]);
    let body = user.service.received().last().unwrap().body.to_string();
    for hidden in ["striped", "zebra button", "SECRET"] {
        assert!(!body.contains(hidden), "{hidden}: {body}");
    }
    let results = results(&user);
    assert!(results[0].contains("[skipped by rules of the user: 2]"), "{}", results[0]);
    assert!(results[1].contains("docs/zoo.md") && results[1].contains("rule"), "{}", results[1]);
    assert!(results[2].contains("may hold secrets"), "{}", results[2]);
    assert!(results[3].contains("must be one that search_docs returns"), "{}", results[3]);
    assert!(results[4].contains("a rule of the user excludes it"), "{}", results[4]);
    // A rule for the tool denies every search.
    let user = user.with_answers(vec![search("zebra"), text_answer("Done.")]);
    let user = user.with_rules("[[rule]]\nverdict = \"deny\"\ntool = \"search_docs\"\n");
    run(&user, &["-p", "go"]);
    let body = user.service.received().last().unwrap().body.to_string();
    assert!(body.contains("Refused by a rule of the user: ") && !body.contains("No document matches"), "{body}");
}

#[test]
fn a_long_page_is_stored_as_a_file_of_the_workspace() {
    let user = user(vec![page("docs/long.md"), text_answer("Done.")]);
    user.write_file("docs/long.md", &format!("# Long\n{}", "More text.\n".repeat(9_000)));
    run(&user, &["-p", "go"]);
    let result = &results(&user)[0];
    assert!(result.starts_with("docs/long.md: Long\n\n# Long\n") && result.contains(" bytes omitted]"), "{result:.80}");
    assert!(result.contains("workspace://"), "{}", &result[result.len() - 400..]);
}

#[test]
fn sub_agents_search_too() {
    let task = call("sub_agent", json!({ "name": "look up", "task": "Find the zebra" }));
    let user = user(vec![task, search("zebra"), text_answer("Striped."), text_answer("Done.")]);
    let (_, errors, code) = run(&user, &["-p", "go"]);
    assert_eq!(code, 0, "{errors}");
    let tools = offered_tools(&user);
    assert!(tools[1].contains(&"search_docs".to_owned()), "{tools:?}");
    let bodies: Vec<String> = user.service.received().iter().map(|request| request.body.to_string()).collect();
    assert!(bodies[2].contains("A zebra is striped."), "{}", bodies[2]);
}

#[test]
fn the_tools_are_off_by_default_and_the_inventory_says_why() {
    let user = User::new(vec![search("zebra"), page("aye/mcp"), text_answer("Done.")]);
    // Files of a project set nothing.
    user.write_file("config.toml", "[docs]\nenabled = true\n");
    user.write_file(".aye/config.toml", "[docs]\nenabled = true\n");
    run(&user, &["-p", "go"]);
    let tools = offered_tools(&user);
    assert!(TOOLS.iter().all(|tool| !tools[0].contains(&(*tool).to_owned())), "{tools:?}");
    let body = user.service.received().last().unwrap().body.to_string();
    for tool in TOOLS {
        assert!(body.contains(&format!("Unknown tool “{tool}”")), "{body}");
    }
    let (list, _, _) = user.run_headless(&["tools"]);
    let row = |list: &str, tool: &str| list.lines().find(|line| line.starts_with(tool)).unwrap_or_default().to_owned();
    for tool in TOOLS {
        assert!(row(&list, tool).ends_with("  off · aye · docs.enabled is false"), "{list}");
    }
    let (shown, _, code) = user.run_headless(&["tools", "show", "search_docs"]);
    assert!(code == 0 && shown.starts_with("search_docs · off · docs.enabled is false\n"), "{shown}");
    let (rows, _, _) = user.run_headless(&["tools", "--json"]);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found = rows.iter().find(|row| row["name"] == "get_doc_page").unwrap();
    assert_eq!([&found["state"], &found["problem"]], ["off", "docs.enabled is false"]);
    let (tokens, _, _) = user.run_headless(&["tokens"]);
    assert!(tokens.contains("docs.enabled is false"), "{tokens}");
    // A rule may name a tool that is off.
    let user = user.with_rules("[[rule]]\nverdict = \"deny\"\ntool = \"search_docs\"\n");
    let (report, _, _) = user.run_headless(&["doctor"]);
    assert!(!report.contains("search_docs"), "{report}");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "/tools");
    program.until_all(&["search_docs", "docs.enabled is false"]);
}

#[test]
fn the_inventory_lists_enabled_tools() {
    let user = user(Vec::new());
    let (list, _, _) = user.run_headless(&["tools"]);
    assert!(list.lines().any(|line| line.starts_with("search_docs") && line.contains("  on · built-in")), "{list}");
}

#[test]
fn doctor_checks_the_folders() {
    let user = user(Vec::new());
    let (report, _, _) = user.run_headless(&["doctor"]);
    // Long lines are wrapped.
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the manual of aye and 1 of 2 folders"), "{report}");
    assert!(words.contains("docs.folders: ") && words.contains("it does not exist or cannot be read"), "{report}");
    let (report, _, _) = User::new(Vec::new()).run_headless(&["doctor"]);
    assert!(!report.contains("search_docs"), "{report}");
}
