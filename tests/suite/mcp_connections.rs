//! Connections to MCP servers: servers that end, that cannot start and that hang, and what a server logs.

use crate::journal::read_journals;
use crate::mcp_servers::{allow, call, offered, run_turn, start_session, user_with};
use crate::support::mcp_server::{LOGGED, McpServer};
use crate::support::program::{count_sleeping, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::terminal_session::{submit_message, text_answer};

#[test]
fn a_server_that_ended_is_reported_once_and_its_tools_come_back_with_it() {
    let server = McpServer::new(&[("echo", "Repeats text")]);
    let answers = ["First.", "Second.", "Third."].map(text_answer).to_vec();
    let user = user_with(answers, &server.stdio_settings("test"));
    let mut program = start_session(&user, &server);
    submit_message(&mut program, "go");
    program.until_idle("First.");
    assert_eq!(offered(&user), ["mcp__test__echo"]);
    server.set_broken(true);
    server.kill();
    program.until("MCP server test cannot be used: it was killed by signal 9. Its tools are not offered");
    submit_message(&mut program, "go");
    program.until_idle("Second.");
    assert_eq!(offered(&user), [""; 0], "its tools are withdrawn");
    // Each of these attempts fails, as those do that the program makes by itself.
    for _ in 0..2 {
        let starts = server.pids().len();
        submit_message(&mut program, "see @test:doc://guide");
        program.until_condition("an attempt", |_| server.pids().len() > starts);
        program.until("The message was not sent");
        program.press_keys("\x15");
        program.until_gone("see @test:doc://guide");
    }
    let lists = server.count_received("tools/list");
    server.set_broken(false);
    program.until_condition("another connection", |_| server.count_received("tools/list") > lists);
    program.until_all_threads_rest();
    submit_message(&mut program, "go");
    program.until_idle("Third.");
    assert_eq!(offered(&user), ["mcp__test__echo"], "its tools are offered again");
    submit_message(&mut program, "/notices");
    let screen = program.until("it was killed by signal 9");
    assert_eq!(screen.matches("Its tools are not offered until it answers").count(), 1, "{screen}");
}

/// The time limit of the server is longer than this test may take.
#[test]
fn the_first_message_does_not_wait_for_a_server_that_hangs() {
    let seconds = unique_sleep_seconds();
    let settings = format!("[mcp.test]\ncommand = [\"sleep\", \"{seconds}\"]\ndiscovery_seconds = 120\n");
    let user = user_with(vec![text_answer("Done.")], &settings);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    program.until_condition("the server runs", |_| count_sleeping(seconds) > 0);
    submit_message(&mut program, "go");
    let screen = program.until_idle("Done.");
    assert!(!screen.contains("MCP server test"), "{screen}");
    assert!(count_sleeping(seconds) > 0, "the message was sent after the end of the connection");
    drop(program);
    wait_until_none_sleeps(seconds);
}

#[test]
fn servers_are_connected_in_parallel() {
    let [one, two] = [(); 2].map(|()| McpServer::new(&[("echo", "Repeats text")]));
    one.answer_after(&two);
    two.answer_after(&one);
    let limit = "discovery_seconds = 20\n";
    let settings = format!("{}{limit}{}{limit}", one.stdio_settings("one"), two.stdio_settings("two"));
    let user = user_with(vec![text_answer("Done.")], &settings);
    let err = run_turn(&user);
    assert_eq!(offered(&user), ["mcp__one__echo", "mcp__two__echo"], "{err}");
}

#[test]
fn what_a_server_logs_is_in_the_journal_with_its_content_only_on_request() {
    for (option, has_content) in [(&[][..], false), (&["--debug-content"], true)] {
        let server = McpServer::new(&[("log", "Logs a message")]);
        let answers = vec![call("mcp__test__log", ""), text_answer("Done.")];
        let user = user_with(answers, &server.stdio_settings("test")).with_rules(&allow("mcp__test__log"));
        let (out, err, _) = user.setup(&[&["-p", "go"], option].concat()).run_piped("");
        assert!(out.contains("Done."), "{out}{err}");
        let journal = read_journals(user.root.path()).concat();
        assert!(journal.contains("an MCP server logged a message"), "{journal}");
        assert_eq!(journal.contains(LOGGED), has_content, "{journal}");
        assert!(!out.contains(LOGGED) && !err.contains(LOGGED), "{out}{err}");
    }
}
