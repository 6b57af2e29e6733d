//! Logins at MCP servers with OAuth: discovery, registration, the token, and its end.

use crate::mcp_servers::{allow, call, last_outcome, run_turn, user_with};
use crate::support::mcp_server::McpServer;
use crate::support::oauth_server::{OAuthServer, get};
use crate::support::program::{Program, Setup};
use crate::support::stored_files::find_files_with;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::user::User;
use std::fs;

/// A user with a server that needs a token of an authorization server.
fn protected_user() -> (McpServer, OAuthServer, User) {
    let (server, issuer) = (McpServer::new(&[("echo", "Repeats text")]), OAuthServer::start());
    let settings = server.start_protected("test", &issuer);
    let user = user_with(Vec::new(), &settings).with_rules(&allow("mcp__test__echo"));
    (server, issuer, user)
}

pub fn start_login(user: &User, options: &[&str]) -> Program {
    Setup::with_home(&user.root, &[&["mcp", "login", "test"], options].concat()).size(500, 30).start()
}

/// Logs in as the user in the browser.
fn log_in(user: &User, issuer: &OAuthServer) {
    complete_login(start_login(user, &[]), issuer);
}

/// Does what the user does in the browser, and waits for the end of the login.
pub fn complete_login(mut program: Program, issuer: &OAuthServer) {
    let screen = program.until("/authorize?");
    let address = screen.lines().find(|line| line.contains("/authorize?")).unwrap().trim().to_owned();
    assert!(address.contains("code_challenge_method=S256") && address.contains("scope=notes"), "{address}");
    assert!(get(&issuer.sign_in(&address)).contains("Signed in."));
    program.until_condition("the tools of the server", |program| {
        let screen = program.screen();
        screen.contains("test: 1 tool, unchanged") || screen.contains("test: accepted 1 tool")
    });
    assert_eq!(program.wait_for_exit(), 0);
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("s3cret"));
}

pub fn run_aye(user: &User, arguments: &[&str]) -> (String, i32) {
    let (out, err, code) = user.run_headless(arguments);
    (format!("{out}{err}"), code)
}

#[test]
fn a_login_registers_signs_in_and_sends_the_token_to_the_server_only() {
    let (server, issuer, user) = protected_user();
    log_in(&user, &issuer);
    let settings = fs::read_to_string(user.path("home/aye/config/config.toml")).unwrap();
    assert!(settings.contains("credential = \"mcp-test\""), "{settings}");
    let url = settings.lines().find_map(|line| line.strip_prefix("url = ")).unwrap().trim_matches('"').to_owned();
    assert_eq!(issuer.state().resources, [url.clone(), url.clone()], "the sign-in and the tokens name the service");
    assert_eq!(issuer.state().registered_count, 1);
    for token in issuer.valid_tokens() {
        assert_eq!(find_files_with(user.root.path(), &token), [user.path("home/aye/config/tool_credentials.toml")]);
    }
    let (out, _) = run_aye(&user, &["credentials"]);
    assert!(out.starts_with("mcp-test  OAuth at") && out.contains(url.trim_end_matches("/mcp")), "{out}");
    let mut user = user.with_answers(vec![call("mcp__test__echo", "hi"), text_answer("Done.")]);
    run_turn(&user);
    assert!(last_outcome(&user).ends_with("you said hi"), "{}", last_outcome(&user));
    // A token that ended is renewed in the middle of a session.
    issuer.revoke_access();
    user = user.with_answers(vec![call("mcp__test__echo", "again"), text_answer("Done.")]);
    run_turn(&user);
    assert!(last_outcome(&user).ends_with("you said again"), "{}", last_outcome(&user));
    assert_eq!((issuer.refresh_count(), issuer.state().resources.len()), (1, 3));
    assert_eq!(server.calls(), ["echo", "echo"]);
}

/// The check of the tools after a login refreshes a token that is about to expire.
#[test]
fn a_token_that_expires_at_once_is_refreshed_by_its_login() {
    let (_server, issuer, user) = protected_user();
    issuer.state().lifetime = 30;
    log_in(&user, &issuer);
    assert!(issuer.refresh_count() > 0);
}

#[test]
fn without_a_token_the_state_of_the_server_says_that_a_login_is_needed() {
    let (_server, issuer, user) = protected_user();
    let user = user.with_answers(vec![text_answer("Done.")]);
    let err = run_turn(&user);
    assert!(err.contains("Login needed: aye mcp login test"), "{err}");
    let mut program = user.start(&[]);
    program.until("Login needed: aye mcp login test");
    submit_message(&mut program, "/mcp");
    program.until("cannot be used: it requires authorization. Login needed: aye mcp login test");
    drop(program);
    log_in(&user, &issuer);
    issuer.revoke_access();
    issuer.revoke_refresh();
    let user = user.with_answers(vec![call("mcp__test__echo", "hi"), text_answer("Done.")]);
    let err = run_turn(&user);
    assert!(err.contains("Login needed: aye mcp login test"), "{err}");
    log_in(&user, &issuer);
    let (out, code) = run_aye(&user, &["mcp", "logout", "test"]);
    assert!(code == 0 && out.contains("logged out of test"), "{out}");
    let settings = fs::read_to_string(user.path("home/aye/config/config.toml")).unwrap();
    assert!(!settings.contains("credential"), "{settings}");
    for token in issuer.valid_tokens() {
        assert_eq!(find_files_with(user.root.path(), &token).len(), 0);
    }
}

/// A server may take the secret of a client only in a header, whether the client was registered by aye or by the user.
#[test]
fn a_secret_of_the_client_is_sent_in_a_header_if_the_server_says_so() {
    for is_registered_by_user in [false, true] {
        let (_server, issuer, user) = protected_user();
        issuer.state().client_secret = Some("cl&ent-s3cret".to_owned());
        issuer.state().takes_secret_in_header = true;
        if is_registered_by_user {
            let mut program = start_login(&user, &["--client-id", "my-client", "--client-secret"]);
            program.until("Client secret for test, not shown:");
            program.until_condition("no echo", |program| !program.is_echoing());
            program.send_bytes("cl&ent-s3cret\r");
            complete_login(program, &issuer);
        } else {
            log_in(&user, &issuer);
        }
        assert_eq!(issuer.state().registered_count, usize::from(!is_registered_by_user));
        // A refresh sends it in the same way.
        issuer.revoke_access();
        let user = user.with_answers(vec![call("mcp__test__echo", "hi"), text_answer("Done.")]);
        run_turn(&user);
        assert!(last_outcome(&user).ends_with("you said hi"), "{}", last_outcome(&user));
        assert_eq!((issuer.refresh_count(), issuer.refusals()), (1, Vec::<String>::new()));
    }
}

#[test]
fn a_login_is_refused_with_the_reason_and_saves_nothing() {
    let (_server, issuer, user) = protected_user();
    issuer.state().hides_pkce = true;
    let (out, code) = run_aye(&user, &["mcp", "login", "test"]);
    assert!(code == 2 && out.contains("does not say that it supports PKCE"), "{out}");
    let settings = fs::read_to_string(user.path("home/aye/config/config.toml")).unwrap();
    fs::write(
        user.path("home/aye/config/config.toml"),
        format!("{settings}credential = \"mine\"\n[mcp.program]\ncommand = [\"x\"]\n[mcp.keyed]\nurl = \"https://a.example\"\nheaders = {{ authorization = \"Bearer x\" }}\n"),
    )
    .unwrap();
    let add = ["credentials", "add", "mine", "--origin", "https://a.example", "--env", "MINE"];
    assert_eq!(run_aye(&user, &add).1, 0);
    for (arguments, reason) in [
        (["mcp", "login", "test"], "Cannot replace the credential mine: it is not of a login."),
        (["mcp", "logout", "test"], "Cannot replace the credential mine: it is not of a login."),
        (["mcp", "login", "program"], "it is a program, without an address"),
        (["mcp", "login", "keyed"], "its settings have a header Authorization"),
        (["mcp", "logout", "keyed"], "has no credential"),
        (["mcp", "login", "none"], "Cannot find the MCP server \"none\""),
    ] {
        let (out, code) = run_aye(&user, &arguments);
        assert!(code == 2 && out.contains(reason), "{arguments:?}: {out}");
    }
    assert_eq!(issuer.state().registered_count, 0);
}
