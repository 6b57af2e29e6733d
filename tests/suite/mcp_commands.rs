//! `aye mcp` with the real program and a real server: adding, checking, accepting, importing and removing.

use crate::support::closed_port::reserve_closed_port;
use crate::support::mcp_server::McpServer;
use crate::support::program::Setup;
use crate::support::stored_files::write_settings;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;

/// Runs `aye` in the same home; returns its output and errors together, and its exit code.
fn run(home: &Setup, arguments: &[&str]) -> (String, i32) {
    let (out, err, code) = Setup::with_home(&home.root, arguments).run_piped("");
    (format!("{out}{err}"), code)
}

fn schema(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

#[test]
fn a_server_is_added_checked_accepted_and_removed() {
    let home = Setup::new(&[]);
    write_settings(&home, "# mine\n[screen]\nmouse = false\n");
    let server = McpServer::new(&[]);
    server.set_tools(&json!([schema("echo", "Repeats \u{202E}text")]));
    let (folder, command) = server.command();
    let mut arguments = vec!["mcp", "add", "test", "--env", &folder, "--"];
    arguments.extend(command.iter().map(String::as_str));
    let (out, code) = run(&home, &arguments);
    assert!(code == 0 && out.contains("new tool echo") && out.contains("test: accepted 1 tool"), "{out}");
    assert!(out.contains("Repeats <U+202E>text"), "hidden characters are shown: {out}");
    let settings = fs::read_to_string(home.root.path().join("home/aye/config/config.toml")).unwrap();
    assert!(settings.starts_with("# mine\n[screen]\nmouse = false\n") && settings.contains("[mcp.test]"), "{settings}");
    let catalogue = home.root.path().join("home/aye/data/mcp.json");
    assert_eq!(fs::metadata(&catalogue).unwrap().mode() & 0o777, 0o600);
    let (out, code) = run(&home, &arguments);
    assert!(code == 2 && out.contains("Cannot add the MCP server test: it exists."), "{out}");

    server.set_tools(&json!([schema("echo", "Repeats more"), schema("new", "New")]));
    let (out, code) = run(&home, &["mcp", "check", "test"]);
    assert_eq!(code, 1, "{out}");
    for part in
        ["changed tool echo", "- description: Repeats <U+202E>text", "+ description: Repeats more", "new tool new"]
    {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (out, _) = run(&home, &["mcp"]);
    assert!(out.contains("0 of 2 tools, 2 changed: aye mcp check test"), "{out}");
    assert!(!out.contains(&folder), "values of variables are not shown: {out}");
    let (out, _) = run(&home, &["doctor"]);
    assert!(out.contains("test: 2 tools changed, not offered"), "{out}");
    let (out, code) = run(&home, &["mcp", "check", "test", "--accept"]);
    assert!(code == 0 && out.contains("test: accepted 2 tools"), "{out}");
    let (out, code) = run(&home, &["mcp", "refresh", "test"]);
    assert!(code == 0 && out.contains("test: 2 tools, unchanged"), "{out}");
    let (out, _) = run(&home, &["mcp", "list", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&listed["name"], &listed["tools"]), (&json!("test"), &json!(["echo", "new"])));
    let (out, _) = run(&home, &["mcp", "show", "test"]);
    assert!(out.contains("tool echo") && out.contains("description: New"), "{out}");

    let (out, code) = run(&home, &["mcp", "remove", "test"]);
    assert!(code == 0 && out.contains("removed MCP server test"), "{out}");
    let settings = fs::read_to_string(home.root.path().join("home/aye/config/config.toml")).unwrap();
    assert!(settings.starts_with("# mine\n[screen]\nmouse = false\n") && !settings.contains("mcp"), "{settings}");
    assert!(!fs::read_to_string(&catalogue).unwrap().contains("Repeats more"), "its tools are forgotten");
    let (out, code) = run(&home, &["mcp", "check", "test"]);
    assert!(code == 2 && out.contains("none is configured. Add one with `aye mcp add`."), "{out}");
}

#[test]
fn invalid_servers_are_refused_with_the_reason() {
    let home = Setup::new(&[]);
    for (arguments, reason) in [
        (&["mcp", "add", "A__b", "--", "x"][..], "may only have lower-case"),
        (
            &["mcp", "add", "a", "ftp://a.example"],
            "Cannot add the MCP server a: its address is invalid. Use an address",
        ),
        (&["mcp", "add", "a", "https://user:password@a.example"], "without a user name and password"),
        (&["mcp", "add", "a", "--env", "x", "--", "x"], "Use --env NAME=VALUE."),
        (&["mcp", "show", "a"], "none is configured. Add one with `aye mcp add`."),
        (&["mcp", "import", "missing.json"], "does not exist"),
    ] {
        let (out, code) = run(&home, arguments);
        assert!(code == 2 && out.contains(reason), "{arguments:?}: {out}");
    }
    assert!(!home.root.path().join("home/aye/config/config.toml").exists());
    write_settings(
        &home,
        "[mcp.both]\ncommand = [\"x\"]\nurl = \"https://a.example\"\n[mcp.\"A B\"]\nurl = \"https://a.example\"\n",
    );
    let (out, _) = run(&home, &["mcp"]);
    assert!(out.contains("mcp.both is not used: it has both command and url"), "{out}");
    assert!(out.contains("mcp.A B is not used: the name may only have"), "{out}");
}

#[test]
fn servers_of_another_program_are_imported_and_none_is_started() {
    let server = McpServer::new(&[("echo", "Repeats text")]);
    let (folder, command) = server.command();
    let (name, value) = folder.split_once('=').unwrap();
    let servers = json!({ "mcpServers": {
        "My Server": { "command": command[0], "args": command[1..], "env": { name: value } },
        "old": { "type": "sse", "url": "https://a.example/sse" },
    } });
    let home = Setup::new(&[]).with_file("mcp.json", &servers.to_string());
    let (out, code) = run(&home, &["mcp", "import", "mcp.json"]);
    assert!(code == 0 && out.contains("added my_server:") && out.contains("old: not used"), "{out}");
    assert_eq!(server.pids(), [0; 0]);
    let (out, code) = run(&home, &["mcp", "import", "mcp.json"]);
    assert!(code == 0 && out.contains("exists and was left unchanged") && out.contains("nothing was added"), "{out}");
    let (out, code) = run(&home, &["mcp", "check", "my_server"]);
    assert!(code == 0 && out.contains("my_server: accepted 1 tool"), "{out}");
}

#[test]
fn a_server_with_an_address_is_added_with_a_header() {
    let home = Setup::new(&[]);
    let server = McpServer::new(&[("echo", "Repeats text")]);
    let settings = server.start_http("test", "own-key");
    let url = settings.lines().find_map(|line| line.strip_prefix("url = \"")?.strip_suffix('"')).unwrap();
    let (out, code) = run(&home, &["mcp", "add", "other", url]);
    assert!(code != 0 && out.contains("it requires authorization"), "{out}");
    assert!(server.received().is_empty(), "without the header nothing is accepted");
    let (out, code) = run(&home, &["mcp", "add", "test", url, "--header", "X-Key: own-key"]);
    assert!(code == 0 && out.contains("new tool echo") && out.contains("test: accepted 1 tool"), "{out}");
    assert!(!out.contains("own-key"), "{out}");
    let (out, code) = run(&home, &["mcp", "refresh", "test"]);
    assert!(code == 0 && out.contains("test: 1 tool, unchanged"), "{out}");
}

#[test]
fn a_server_that_is_down_keeps_its_tools() {
    let home = Setup::new(&[]);
    let server = McpServer::new(&[("echo", "Repeats text")]);
    write_settings(&home, &server.stdio_settings("test"));
    let (out, code) = run(&home, &["mcp", "refresh", "test"]);
    assert!(code == 0 && out.contains("test: accepted 1 tool"), "{out}");
    let catalogue = home.root.path().join("home/aye/data/mcp.json");
    let before = fs::read_to_string(&catalogue).unwrap();
    server.set_broken(true);
    for arguments in [&["mcp", "refresh", "test"][..], &["mcp", "check", "test", "--accept"]] {
        let (out, code) = run(&home, arguments);
        assert!(code == 1 && out.contains("Cannot use the MCP server test: it exited with status 4"), "{out}");
    }
    assert_eq!(fs::read_to_string(&catalogue).unwrap(), before);
    let (out, _) = run(&home, &["mcp"]);
    assert!(out.contains("· 1 tool\n"), "{out}");
}

#[test]
fn an_invalid_list_of_tools_is_reported_with_its_line() {
    let home = Setup::new(&[]);
    write_settings(&home, "[mcp.x]\ncommand = [\"x\"]\n# some\ntools = [1]\n");
    for arguments in [&["mcp"][..], &["doctor"]] {
        let (out, _) = run(&home, arguments);
        assert!(out.contains("config.toml:4: mcp.x.tools is"), "{out}");
    }
}

/// The address of a server may hold a key.
#[tokio::test]
async fn an_unreachable_server_is_reported_without_its_address() {
    let (_socket, address) = reserve_closed_port();
    let home = Setup::new(&[]);
    write_settings(&home, &format!("[mcp.test]\nurl = \"http://{address}/key-in-path/mcp?key=key-in-query\"\n"));
    let (out, code) = tokio::task::spawn_blocking(move || run(&home, &["mcp", "check", "test"])).await.unwrap();
    assert!(code != 0 && out.contains("Connection refused"), "{out}");
    assert!(!out.contains("key-in"), "{out}");
}
