//! Logins at MCP servers that require more scopes, change their authorization server, name private addresses, or follow the rules of
//! the protocol of 2025-03-26.

use crate::mcp_logins::{complete_login, run_aye, start_login};
use crate::mcp_servers::{allow, call, last_outcome, run_turn, user_with};
use crate::support::mcp_server::McpServer;
use crate::support::oauth_server::{OAuthServer, get};
use crate::support::program::Program;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::user::User;
use std::fs;

/// A challenge that requires these scopes.
fn require(scopes: &str) -> String {
    format!("Bearer error=\"insufficient_scope\", scope=\"{scopes}\", error_description=\"scope=lie, run it\"")
}

/// A user with a server at whose calls the scopes of the login are checked: `refuse` returns the scopes to require.
fn scoped_user(refuse: impl Fn(&[String]) -> Option<String> + Send + Sync + 'static) -> (McpServer, OAuthServer, User) {
    let (server, issuer) = (McpServer::new(&[("echo", "Repeats text")]), OAuthServer::start());
    let settings = server.start_scoped("test", &issuer, move |granted, message| {
        let is_call = message["method"] == "tools/call";
        refuse(granted).filter(|_| is_call).map(|scopes| require(&scopes))
    });
    let user = user_with(Vec::new(), &settings).with_rules(&allow("mcp__test__echo"));
    (server, issuer, user)
}

/// Runs a turn with one call. Returns the notices and the outcome of the call.
fn run_call(user: User) -> (User, String, String) {
    let user = user.with_answers(vec![call("mcp__test__echo", "hi"), text_answer("Done.")]);
    let err = run_turn(&user);
    let outcome = last_outcome(&user);
    (user, err, outcome)
}

/// Logs in, and confirms the question, which must have this line.
fn confirm_login(user: &User, line: &str) -> Program {
    let mut program = start_login(user, &[]);
    let screen = program.until("To log in, type yes:");
    assert!(screen.contains("test asks for a login with:") && screen.contains(line), "{screen}");
    assert!(!screen.contains("/authorize?"), "no address before the answer: {screen}");
    program.send_bytes("yes\r");
    program
}

fn credentials(user: &User) -> String {
    fs::read_to_string(user.path("home/aye/config/tool_credentials.toml")).unwrap_or_default()
}

#[test]
fn a_server_that_requires_more_scopes_gets_them_after_a_confirmed_login() {
    let (server, issuer, user) = scoped_user(|granted| {
        let is_enough = granted.contains(&"notes:write".to_owned());
        (!is_enough).then(|| "notes notes:write $(reboot) evil\\\"quote".to_owned())
    });
    complete_login(start_login(&user, &[]), &issuer);
    assert_eq!(issuer.state().scopes, ["notes"]);
    let (user, err, outcome) = run_call(user);
    let advice = "MCP server test refused the call: it requires more scopes. Login needed: aye mcp login test.";
    assert_eq!(outcome, format!("{advice} The call was not made."));
    assert!(err.contains(advice) && server.calls().is_empty(), "{err}");
    // Without a terminal nobody can confirm.
    let (out, code) = run_aye(&user, &["mcp", "login", "test"]);
    assert!(code == 2 && out.contains("must be confirmed in a terminal: more scopes: notes:write $(reboot)."), "{out}");
    // A denial changes nothing.
    let before = credentials(&user);
    let mut program = start_login(&user, &[]);
    program.until("To log in, type yes:");
    program.send_bytes("no\r");
    program.until("it was not confirmed. Nothing was changed.");
    assert_eq!((program.wait_for_exit(), issuer.state().scopes.len(), credentials(&user)), (2, 1, before));
    complete_login(confirm_login(&user, "more scopes: notes:write $(reboot)"), &issuer);
    assert_eq!(issuer.state().scopes, ["notes", "notes notes:write $(reboot)"], "the union");
    let (user, err, outcome) = run_call(user);
    assert!(outcome.ends_with("you said hi") && !err.contains("Login needed"), "{outcome} {err}");
    // The next login asks for nothing new.
    assert!(!credentials(&user).contains("required_scopes"), "{}", credentials(&user));
}

#[test]
fn a_login_is_not_advised_if_it_had_all_scopes_or_after_three_demands() {
    let (_server, issuer, user) = scoped_user(|_| Some("notes".to_owned()));
    complete_login(start_login(&user, &[]), &issuer);
    let (user, err, outcome) = run_call(user);
    let useless = "another login would not help: it refuses the login, which was for all scopes that it requires";
    assert!(outcome.contains(useless) && err.contains(useless) && !err.contains("Login needed"), "{outcome} {err}");
    assert!(!credentials(&user).contains("required_scopes"));

    // A server that requires another scope after every login.
    let (_server, issuer, user) = scoped_user(|granted| Some(format!("more-{}", granted.len())));
    complete_login(start_login(&user, &[]), &issuer);
    let answers = (1..=4).flat_map(|turn| [call("mcp__test__echo", "hi"), text_answer(&format!("Done {turn}."))]);
    let user = user.with_answers(answers.collect());
    let mut session = user.start(&[]);
    session.until("Messages go to");
    for demand in 1..=4 {
        submit_message(&mut session, "go");
        session.until_idle(&format!("Done {demand}."));
        let outcome = last_outcome(&user);
        if demand == 4 {
            assert!(outcome.contains("would not help: it has required more scopes 3 times already"), "{outcome}");
            break;
        }
        assert!(outcome.contains("it requires more scopes. Login needed: aye mcp login test"), "{outcome}");
        complete_login(confirm_login(&user, &format!("more scopes: more-{demand}")), &issuer);
    }
    assert_eq!(issuer.state().scopes.last().unwrap(), "notes more-1 more-2 more-3");
}

#[test]
fn another_authorization_server_must_be_confirmed_and_gets_no_credential_of_the_first() {
    let (server, old) = (McpServer::new(&[("echo", "Repeats text")]), OAuthServer::start());
    let user = user_with(Vec::new(), &server.start_protected("test", &old)).with_rules(&allow("mcp__test__echo"));
    complete_login(start_login(&user, &[]), &old);
    let new = OAuthServer::start();
    let settings = fs::read_to_string(user.path("home/aye/config/config.toml")).unwrap();
    let moved = server.start_protected("test", &new);
    let url = |text: &str| text.lines().find(|line| line.starts_with("url = ")).unwrap().to_owned();
    fs::write(user.path("home/aye/config/config.toml"), settings.replace(&url(&settings), &url(&moved))).unwrap();
    let (out, code) = run_aye(&user, &["mcp", "login", "test", "--scope", "notes"]);
    let change = format!("authorization server: {} instead of {}", new.issuer, old.issuer);
    assert!(code == 2 && out.contains(&change), "{out}");
    assert_eq!(new.state().registered_count, 0);
    complete_login(confirm_login(&user, &change), &new);
    assert_eq!((new.refusals(), new.state().registered_count, old.refresh_count()), (Vec::new(), 1, 0));
    let (_, _, outcome) = run_call(user);
    assert!(outcome.ends_with("you said hi"), "{outcome}");
}

#[test]
fn an_endpoint_in_a_private_network_must_be_confirmed() {
    let (server, issuer) = (McpServer::new(&[("echo", "Repeats text")]), OAuthServer::start());
    let user = user_with(Vec::new(), &server.start_protected("test", &issuer));
    issuer.state().token_endpoint = Some("https://169.254.169.254/token".to_owned());
    let (out, code) = run_aye(&user, &["mcp", "login", "test"]);
    let reason = "not a public server: https://169.254.169.254 is the address of a link-local network";
    assert!(code == 2 && out.contains(reason), "{out}");
    let mut program = start_login(&user, &[]);
    program.until("https://169.254.169.254 is the address");
    program.send_bytes("\r");
    assert_eq!((program.wait_for_exit(), issuer.state().registered_count), (2, 0));
}

#[test]
fn a_redirect_of_another_authorization_server_ends_the_login() {
    for (issuer_in_redirect, reason) in [
        ("https://evil.example", "names another authorization server, https://evil.example, and was not used"),
        ("", "does not name its authorization server"),
    ] {
        let (server, issuer) = (McpServer::new(&[("echo", "Repeats text")]), OAuthServer::start());
        let user = user_with(Vec::new(), &server.start_protected("test", &issuer));
        issuer.state().redirect_issuer = Some(issuer_in_redirect.to_owned());
        let mut program = start_login(&user, &[]);
        let screen = program.until("/authorize?");
        let address = screen.lines().find(|line| line.contains("/authorize?")).unwrap().trim().to_owned();
        get(&issuer.sign_in(&address));
        program.until(reason);
        assert_ne!(program.wait_for_exit(), 0);
        assert_eq!((credentials(&user), issuer.valid_tokens()), (String::new(), [const { String::new() }; 2]));
    }
}

/// Servers of the protocol of 2025-03-26 are their own authorization servers.
#[test]
fn a_server_without_metadata_is_logged_in_to_at_its_own_origin() {
    for has_no_metadata in [false, true] {
        let server = McpServer::new(&[("echo", "Repeats text")]);
        let (issuer, settings) = server.start_with_own_issuer("test");
        issuer.state().has_no_metadata = has_no_metadata;
        let user = user_with(Vec::new(), &settings).with_rules(&allow("mcp__test__echo"));
        let mut program = start_login(&user, &[]);
        let screen = program.until("/authorize?");
        let note = "describes no authorization server. The default addresses of the protocol of 2025-03-26 are used";
        assert_eq!(screen.contains(note), has_no_metadata, "{screen}");
        let address = screen.lines().find(|line| line.contains("/authorize?")).unwrap().trim().to_owned();
        assert!(address.starts_with(&format!("{}/authorize?", issuer.issuer)), "{address}");
        assert!(get(&issuer.sign_in(&address)).contains("Signed in."));
        program.until("test: accepted 1 tool");
        assert_eq!((program.wait_for_exit(), issuer.state().registered_count), (0, 1));
        let (_, _, outcome) = run_call(user);
        assert!(outcome.ends_with("you said hi"), "{outcome}");
    }
}
