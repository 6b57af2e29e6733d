//! Tools of servers and files that are deferred because they have too many tokens, in the real program.

use crate::support::mcp_server::McpServer;
use crate::support::program::Program;
use crate::support::service::Answer;
use crate::support::stored_files::{NO_TITLES, read_session};
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::{call, offered_tools, outcomes};
use crate::support::user::User;
use aye::chat::{Entry, Outcome};
use serde_json::{Value, json};
use std::fs;

/// A user with a server of this many tools, each with about 150 tokens. Tool 7 is about tides.
fn user_with_tools(count: usize, answers: Vec<Answer>) -> (User, McpServer) {
    let names: Vec<(String, String)> = (0..count)
        .map(|number| {
            let subject = if number == 7 { "tides" } else { "other things" };
            (format!("tool_{number}"), format!("Reports {subject}. {}", "It is described at length. ".repeat(20)))
        })
        .collect();
    let tools: Vec<(&str, &str)> =
        names.iter().map(|(name, description)| (name.as_str(), description.as_str())).collect();
    let server = McpServer::new(&tools);
    let user = User::new(answers);
    let settings = format!("{NO_TITLES}\n{}", server.stdio_settings("hub"));
    fs::write(user.path("home/aye/config/config.toml"), settings).unwrap();
    (user, server)
}

fn run_tool(name: &str, text: &str) -> Answer {
    call("run_tool", json!({ "name": name, "arguments": { "text": text } }))
}

/// Starts the program, and waits for the tools of the server.
fn start_session(user: &User, server: &McpServer, arguments: &[&str]) -> Program {
    let mut program = user.start(arguments);
    program.until("Messages go to");
    server.until_offered(&mut program, user);
    program
}

#[test]
fn a_deferred_tool_is_found_described_and_called_under_its_own_name() {
    let answers = vec![
        call("find_tool", json!({ "words": "tide" })),
        call("describe_tool", json!({ "name": "mcp__hub__tool_7" })),
        run_tool("mcp__hub__tool_7", "high"),
        text_answer("Done."),
    ];
    let (user, server) = user_with_tools(60, answers);
    let mut program = start_session(&user, &server, &[]);
    submit_message(&mut program, "go");
    let screen = program.until_prompt("Call an MCP tool?");
    for part in ["tool    tool_7", "\"text\": \"high\"", "60 tools deferred", "hub (60 tools)"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!screen.contains("run_tool"), "{screen}");
    assert_eq!(server.calls(), [""; 0], "nothing is called before the approval");
    program.press_keys("y");
    program.until_idle("Done.");
    assert_eq!(server.calls(), ["tool_7"]);
    let requests = offered_tools(&user);
    for names in &requests {
        assert!(names.ends_with(&["find_tool", "describe_tool", "run_tool"].map(str::to_owned)), "{names:?}");
        assert!(names.iter().all(|name| !name.starts_with("mcp__")), "{names:?}");
    }
    let [Outcome::Done(found), Outcome::Done(described), Outcome::Done(done)] = &outcomes(&user)[..] else {
        panic!("{:?}", outcomes(&user))
    };
    assert!(found.starts_with("mcp__hub__tool_7: Reports tides."), "{found}");
    assert!(described.contains("\"properties\":{\"text\""), "{described}");
    assert!(done.ends_with("you said high"), "{done}");
    // The model sees its call as it made it.
    let last = user.service.received().last().unwrap().body.clone();
    let calls = last["messages"].as_array().unwrap().iter().filter_map(|message| message["tool_calls"].as_array());
    let function = &calls.flatten().last().unwrap()["function"];
    let arguments = r#"{"name":"mcp__hub__tool_7","arguments":{"text":"high"}}"#;
    assert_eq!((&function["name"], &function["arguments"]), (&json!("run_tool"), &json!(arguments)));
    let recorded: Vec<Entry> = read_session(&user.setup(&[]));
    let deferred = recorded.iter().filter(|entry| matches!(entry, Entry::ToolsDeferred { .. })).count();
    assert_eq!(deferred, 1, "it is recorded once");

    // The list says the same.
    submit_message(&mut program, "/tools");
    program.until("deferred: 60 tools");
    program.press_keys("\x1b");
    let (out, _, _) = user.run_headless(&["tools"]);
    assert!(out.contains("mcp__hub__tool_7") && out.contains("on · deferred · mcp · external"), "{out}");
    let (tokens, _, _) = user.run_headless(&["tokens", "--json"]);
    let rows: Vec<Value> = tokens.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_server: Vec<&Value> = rows.iter().filter(|row| row["group"] == "mcp").collect();
    assert!(of_server.len() == 60 && of_server.iter().all(|row| row["not_sent_because"] == "deferred"), "{tokens}");
    assert_eq!(server.calls(), ["tool_7"], "the report starts no server");
    let (audit, _, _) = user.run_headless(&["audit"]);
    assert!(audit.contains("mcp__hub__tool_7") && !audit.contains("run_tool"), "{audit}");
}

#[test]
fn rules_apply_to_the_called_tool() {
    let answers = vec![
        run_tool("mcp__hub__tool_1", "one"),
        run_tool("mcp__hub__tool_2", "two"),
        run_tool("mcp__hub__tool_3", "three"),
        call("run_tool", json!({ "name": "bash_exec", "arguments": { "command": "touch made" } })),
        run_tool("mcp__hub__missing", "x"),
        call("run_tool", json!({ "tool": "mcp__hub__tool_1" })),
        text_answer("Done."),
    ];
    let (user, server) = user_with_tools(60, answers);
    let rule = |verdict: &str, tool: &str| {
        format!("[[rule]]\nverdict = \"{verdict}\"\ntool = \"{tool}\"\nhost = \"mcp:hub\"\n")
    };
    let rules = [rule("allow", "mcp__hub__tool_1"), rule("deny", "mcp__hub__tool_2")].concat();
    // Rules can name tools that are known.
    let user = user.with_rules(&rules);
    let (out, err, _) = user.setup(&["-p", "go"]).run_piped("");
    assert!(out.contains("Done."), "{out}{err}");
    assert!(err.contains("60 tools deferred") && err.contains("find_tool"), "{err}");
    assert_eq!(server.calls(), ["tool_1"]);
    let outcomes = outcomes(&user);
    assert!(matches!(&outcomes[0], Outcome::Done(text) if text.contains("you said one")), "{outcomes:?}");
    for outcome in &outcomes[1..4] {
        assert!(matches!(outcome, Outcome::Refused(_)), "{outcomes:?}");
    }
    assert!(!user.project().join("made").exists());
    assert!(matches!(&outcomes[4], Outcome::Failed(text) if text.contains("Unknown tool “mcp__hub__missing”")));
    assert!(matches!(&outcomes[5], Outcome::Failed(text) if text.contains("Invalid arguments for run_tool")));
}

#[test]
fn a_dry_run_simulates_a_deferred_call_like_a_direct_one() {
    let (user, server) = user_with_tools(60, vec![text_answer("Known.")]);
    user.setup(&["-p", "go"]).run_piped("");
    let user = user.with_answers(vec![run_tool("mcp__hub__tool_1", "one"), text_answer("Done.")]);
    let (out, err, _) = user.setup(&["--dry-run", "-p", "go"]).run_piped("");
    assert!(out.contains("Done.") && err.contains("60 tools deferred"), "{out}{err}");
    assert_eq!(server.calls(), [""; 0]);
    let last = user.service.received().last().unwrap().body["messages"].to_string();
    assert!(last.contains("mcp__hub__tool_1") && !last.contains("you said one"), "{last}");
}

#[test]
fn the_limit_is_a_setting_of_the_profile() {
    for (limit, is_deferred) in [("0", true), ("1000000", false)] {
        let (user, _server) = user_with_tools(2, vec![text_answer("Done.")]);
        let settings = user.path("home/aye/config/config.toml");
        let profile =
            format!("\n[profiles.p]\nbase_url = \"{}\"\nmodel = \"m\"\ntool_tokens = {limit}\n", user.service.base_url);
        fs::write(&settings, fs::read_to_string(&settings).unwrap() + &profile).unwrap();
        let (out, err, _) = user.run_headless(&["--profile", "p", "-p", "go"]);
        assert!(out.contains("Done."), "{out}{err}");
        assert_eq!(err.contains("2 tools deferred"), is_deferred, "{err}");
        assert_eq!(offered_tools(&user)[0].contains(&"find_tool".to_owned()), is_deferred);
    }
}

#[test]
fn tools_of_servers_are_listed_with_their_tokens_and_the_sum() {
    let (user, _server) = user_with_tools(1, vec![text_answer("Done.")]);
    user.setup(&["-p", "go"]).run_piped("");
    let (out, _, _) = user.run_headless(&["tools", "--json"]);
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_server = rows.iter().find(|row| row["name"] == "mcp__hub__tool_0").unwrap();
    assert_eq!((&of_server["kind"], &of_server["file"]), (&json!("mcp"), &json!("mcp:hub")));
    assert!(of_server["tokens"].as_u64().unwrap() > 50, "{of_server}");
    for tool in ["list_workspace_files", "read_workspace_file", "write_workspace_file", "delete_workspace_file"] {
        assert!(rows.iter().any(|row| row["name"] == tool && row["state"] == "on"), "{tool}: {out}");
    }
    // Tools that are off, such as the searches without a key, are not sent.
    let offered: Vec<_> = rows.iter().filter(|row| row["state"] == "on").collect();
    let sum: u64 = offered.iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
    let (out, _, _) = user.run_headless(&["tools"]);
    let total = format!("{} of {} tools on · about {sum} tokens together (estimates)", offered.len(), rows.len());
    assert_eq!(out.lines().next(), Some(total.as_str()), "{out}");
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "/tools");
    program.until(&total);
}

#[test]
fn the_page_of_tools_shows_the_descriptions_of_servers_in_a_narrow_terminal() {
    let (user, _server) = user_with_tools(2, vec![text_answer("Done.")]);
    user.setup(&["-p", "go"]).run_piped("");
    let mut program = user.setup(&[]).size(60, 24).start();
    program.until("Messages go to");
    submit_message(&mut program, "/tools");
    program.until("tools on · about");
    program.press_until("\x1b[F", "mcp__hub__tool_1");
    let screen = program.screen();
    let (_, rows) = screen.split_once("│ mcp__hub__tool_1 ").unwrap_or_else(|| panic!("{screen}"));
    let rows: Vec<&str> = rows.lines().map(|row| row.trim_end_matches('│').trim_end()).take(4).collect();
    let [row, rest, description, next] = rows[..] else { panic!("{screen}") };
    assert!(row.trim_start().starts_with("on · mcp · external · about "), "{screen}");
    assert!(rest.ends_with(" tokens · mcp:hub"), "{screen}");
    assert_eq!(description, "│     Reports other things.", "{screen}");
    assert!(next.starts_with("│ web_search "), "{screen}");
    // The description is dimmer than the row.
    let styles = program.cell_styles();
    let color_of = |character: &str| {
        let style = styles.iter().rfind(|style| style.starts_with(&format!("{character} ")));
        style.map(|style| style.split(" on ").next().unwrap()[character.len()..].to_owned())
    };
    assert_ne!(color_of("R"), color_of("x"), "{screen}");
}
