//! Secrets of credentials in the key store of the system: where they are, and what happens if it cannot be used.

use crate::support::key_store::TestKeyStore;
use crate::support::oauth_server::{OAuthServer, get};
use crate::support::program::{Program, Setup};
use crate::support::stored_files::{find_files_with, read_session, write_settings};
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::time_limits::is_within_limit;
use crate::support::tool_service::{add_settings, call, response, user_with_tool, write_user_tool};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use serde_json::{Value, json};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub const SECRET: &str = "odd-s3cret-1234567890";
pub const NEW_SECRET: &str = "rotated-s3cret-0987654321";
pub const ORIGIN: &str = "https://api.example.com";
/// Time that a key store has for an answer.
const LIMIT: Duration = Duration::from_secs(3);

/// Runs `aye credentials` next to this key store.
pub fn run(store: &TestKeyStore, setup: &Setup, arguments: &[&str], input: &str) -> (String, String, i32) {
    let arguments = [&["credentials"], arguments].concat();
    store.connect(Setup::with_home(&setup.root, &arguments)).run_piped(input)
}

/// Adds a credential for an origin. Returns what is printed.
pub fn add(store: &TestKeyStore, setup: &Setup, name: &str, origin: &str) -> (String, String) {
    let (out, err, code) = run(store, setup, &["add", name, "--origin", origin, "--stdin"], SECRET);
    assert_eq!(code, 0, "{out}{err}");
    (out, err)
}

fn assert_in_no_file(folder: &Path, secret: &str) {
    assert_eq!(find_files_with(folder, secret), Vec::<PathBuf>::new(), "{secret}");
}

pub fn read_credentials(setup: &Setup) -> String {
    std::fs::read_to_string(setup.root.path().join("home/aye/config/tool_credentials.toml")).unwrap()
}

pub fn status_tool(url: &str) -> String {
    format!(
        "name = \"status\"\ntype = \"http_api\"\nmethod = \"GET\"\nurl = \"{url}\"\nallow_private = true\n\
        credential = \"token\"\n"
    )
}

/// Calls the tool `status`. Returns its output and whether it succeeded.
pub fn call_tool(store: &TestKeyStore, user: &User) -> (String, bool) {
    let setup = Setup::with_home(&user.root, &["tools", "test", "status", "--yes"]);
    let (out, err, code) = store.connect(setup).run_piped("");
    (format!("{out}{err}"), code == 0)
}

#[test]
fn r57_a_secret_in_the_key_store_is_in_no_file_and_reaches_only_its_request() {
    let Some(store) = TestKeyStore::start() else { return };
    let echo = format!("you sent {SECRET}");
    let server = WebServer::with_responses(&[&response("200 OK", "Content-Type: text/plain\r\n", &echo)]);
    let answers = vec![call("status", json!({})), text_answer("Done.")];
    let user = user_with_tool(answers, "status.toml", &status_tool(&server.url("/s")));
    let setup = user.setup(&[]);
    let (out, err) = add(&store, &setup, "token", &server.url(""));
    assert_eq!(err, "");
    assert_eq!(out, format!("Added token: bearer token, in the key store, sent only to {}.\n", server.url("")));
    let (out, _, _) = run(&store, &setup, &["list", "--json"], "");
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed["secret"], "key_store");
    assert_eq!(store.count_secrets(), 1);

    let mut program = store.connect(user.setup(&["--debug-content"])).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_prompt("Read from the web?");
    program.press_keys("y");
    program.until_idle("Done.");
    program.press_keys("\u{4}");
    program.wait_for_exit();
    assert!(server.requests()[0].contains(&format!("authorization: Bearer {SECRET}\r\n")), "{:?}", server.requests());
    let entries = serde_json::to_string(&read_session(&setup)).unwrap();
    assert!(entries.contains("you sent [credential]"), "{entries}");
    let sent: String = user.service.received().iter().map(|request| request.body.to_string()).collect();
    assert!(sent.contains("you sent [credential]") && !sent.contains(SECRET), "{sent}");
    let bundle = user.path("bundle.txt").display().to_string();
    let (out, _, _) = store.connect(Setup::with_home(&user.root, &["doctor", "--bundle", &bundle])).run_piped("");
    assert!(std::fs::read_to_string(&bundle).unwrap().contains("1 secret in the key store"), "{out}");
    let (exported, _, _) = user.run_headless(&["sessions", "export"]);
    assert!(exported.contains("you sent [credential]") && !exported.contains(SECRET), "{exported}");
    assert_in_no_file(user.root.path(), SECRET);

    let entry = read_credentials(&setup);
    let (out, err, code) = run(&store, &setup, &["rotate", "token", "--stdin"], NEW_SECRET);
    assert_eq!((err.as_str(), code), ("", 0));
    assert!(out.starts_with("Replaced the secret of token, in the key store"), "{out}");
    assert_eq!((read_credentials(&setup), store.count_secrets()), (entry, 1), "it is replaced where it is");
    assert!(call_tool(&store, &user).1);
    assert!(server.requests()[1].contains(&format!("authorization: Bearer {NEW_SECRET}\r\n")));
    let (_, err, code) = run(&store, &setup, &["remove", "--yes", "token"], "");
    assert_eq!((err.as_str(), code, store.count_secrets()), ("", 0, 0));
    for folder in [user.root.path(), store.folder()] {
        for secret in [SECRET, NEW_SECRET] {
            assert_in_no_file(folder, secret);
        }
    }
}

#[test]
fn a_locked_key_store_counts_as_none_and_is_never_asked_to_unlock_itself() {
    let Some(store) = TestKeyStore::start() else { return };
    let server = WebServer::with_responses(&[&response("200 OK", "", "reached")]);
    let user = user_with_tool(Vec::new(), "status.toml", &status_tool(&server.url("/s")));
    let setup = user.setup(&[]);
    add(&store, &setup, "token", &server.url(""));
    add(&store, &setup, "unused", ORIGIN);
    let id = read_credentials(&setup).lines().find_map(|line| line.strip_prefix("key_store = ").map(str::to_owned));
    let id = id.unwrap().trim_matches('"').to_owned();
    assert!(id.starts_with("token-"), "{id}");
    store.lock();
    let (out, err) = add(&store, &setup, "other", ORIGIN);
    assert_eq!(out, format!("Added other: bearer token, in the file, sent only to {ORIGIN}.\n"));
    assert!(err.contains("The secret of other is kept in the file: the key store is locked."), "{err}");
    let (text, is_done) = call_tool(&store, &user);
    assert!(!is_done, "{text}");
    let expected = "The credential “token” cannot be used: the key store is locked. The user must unlock it, or run aye \
        credentials rotate token; do not ask for its value.";
    assert!(text.contains(expected), "{text}");
    let (out, _, code) = store.connect(Setup::with_home(&user.root, &["doctor"])).run_piped("");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == 1 && out.contains("the secret of token cannot be read: the key store is locked"), "{out}");
    // What cannot be deleted is named.
    let (out, err, code) = run(&store, &setup, &["rotate", "token", "--stdin"], NEW_SECRET);
    assert!(code == 0 && out.starts_with("Replaced the secret of token, in the file"), "{out}{err}");
    assert!(err.contains(&format!("The secret {id} could not be deleted: the key store is locked.")), "{err}");
    assert!(call_tool(&store, &user).1);
    assert!(server.requests()[0].contains(&format!("Bearer {NEW_SECRET}\r\n")), "{:?}", server.requests());
    let (_, err, code) = run(&store, &setup, &["remove", "--yes", "unused"], "");
    assert!(code == 0 && err.contains("could not be deleted: the key store is locked"), "{err}");
    assert!(!read_credentials(&setup).contains("unused"));
    assert!(!store.log().contains("prompt"), "{}", store.log());
    assert_eq!(find_files_with(user.root.path(), SECRET).len(), 1, "only that of the other credential");
}

#[test]
fn a_key_store_that_hangs_is_given_up_after_three_seconds() {
    let Some(store) = TestKeyStore::start() else { return };
    let server = WebServer::with_responses(&[&response("200 OK", "", "reached")]);
    let user = user_with_tool(Vec::new(), "status.toml", &status_tool(&server.url("/s")));
    let setup = user.setup(&[]);
    add(&store, &setup, "token", &server.url(""));
    store.suspend();
    let started = Instant::now();
    let (text, is_done) = call_tool(&store, &user);
    assert!(!is_done && text.contains("the key store did not answer within 3 s"), "{text}");
    assert!(started.elapsed() >= LIMIT && is_within_limit(LIMIT * 2, started.elapsed()), "{:?}", started.elapsed());
    let (out, err) = add(&store, &setup, "other", ORIGIN);
    assert!(out.contains("in the file") && err.contains("did not answer within 3 s"), "{out}{err}");
    store.resume();
    assert!(call_tool(&store, &user).1, "it is used again");
}

#[test]
fn a_bus_that_never_answers_blocks_neither_the_screen_nor_the_exit() {
    let server = WebServer::with_responses(&[&response("200 OK", "", "reached")]);
    let user = user_with_tool(Vec::new(), "status.toml", &status_tool(&server.url("/s")));
    let _bus = UnixListener::bind(user.path("bus")).unwrap();
    let connect =
        |setup: Setup| setup.env("DBUS_SESSION_BUS_ADDRESS", &format!("unix:path={}", user.path("bus").display()));
    let arguments = ["credentials", "add", "file", "--origin", ORIGIN, "--stdin"];
    let started = Instant::now();
    let (out, err, code) = connect(Setup::with_home(&user.root, &arguments)).run_piped(SECRET);
    assert!(started.elapsed() >= LIMIT && is_within_limit(LIMIT * 2, started.elapsed()), "{:?}", started.elapsed());
    assert!(code == 0 && out.contains("in the file"), "{out}{err}");
    assert!(err.contains("The secret of file is kept in the file: the key store did not answer within 3 s."), "{err}");
    // Three credentials of tools are waited for once.
    let mut entries = String::new();
    for name in ["token", "second", "third"] {
        entries +=
            &format!("[{name}]\nkind = \"bearer\"\norigins = [\"{}\"]\nkey_store = \"{name}-1\"\n", server.url(""));
        let tool = status_tool(&server.url("/s")).replace("token", name).replace("status", &format!("{name}_status"));
        write_user_tool(&user, &format!("{name}.toml"), &tool);
    }
    std::fs::write(user.path("home/aye/config/tool_credentials.toml"), entries).unwrap();
    let mut program = connect(user.setup(&[])).start();
    program.until("Messages go to");
    submit_message(&mut program, "/connect");
    program.until("Providers and credentials");
    // The screen takes keys meanwhile.
    program.press_keys("\x1b");
    program.until_gone("Providers and credentials");
    let started = Instant::now();
    submit_message(&mut program, "/connect");
    program.until("Credential second  cannot be used");
    assert!(is_within_limit(LIMIT * 2, started.elapsed()), "{:?}", started.elapsed());
    program.type_text("second");
    program.press_until("\r", "second cannot be used: The credential");
    submit_message(&mut program, "/connect");
    program.until("Providers and credentials");
    let started = Instant::now();
    program.press_keys("\x1b");
    program.press_keys("\x04");
    program.wait_for_exit();
    assert!(is_within_limit(LIMIT, started.elapsed()), "{:?}", started.elapsed());
}

#[test]
fn a_bus_that_speaks_nonsense_counts_as_none() {
    let setup = Setup::new(&[]);
    let bus_file = setup.root.path().join("bus");
    let bus = UnixListener::bind(&bus_file).unwrap();
    let answers: [&[u8]; 4] = [b"", b"\0", b"REJECTED EXTERNAL\r\n", b"OK 1234\r\nAGREE_UNIX_FD\r\nl\xff\xff\xff\xff"];
    // One connection for each answer.
    std::thread::spawn(move || {
        for (stream, answer) in bus.incoming().zip(answers) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 64]);
            let _ = stream.write_all(answer);
        }
    });
    let addresses = [format!("unix:path={}", bus_file.display()), "unix:path=/dev/null".into(), "nonsense".into()];
    for (number, address) in answers.map(|_| &addresses[0]).into_iter().chain(&addresses[1..]).enumerate() {
        let name = format!("c{number}");
        let arguments = ["credentials", "add", &name, "--origin", ORIGIN, "--stdin"];
        let setup = Setup::with_home(&setup.root, &arguments).env("DBUS_SESSION_BUS_ADDRESS", address);
        let (out, err, code) = setup.run_piped(SECRET);
        assert!(code == 0 && out.contains("in the file") && err.is_empty(), "{address}: {out}{err}");
    }
}

#[test]
fn nothing_connects_to_the_bus_before_a_secret_in_the_key_store_is_used() {
    let answers = vec![text_answer("Done.")];
    let user = user_with_tool(answers, "status.toml", &status_tool(&format!("{ORIGIN}/s")));
    let bus = UnixListener::bind(user.path("bus")).unwrap();
    bus.set_nonblocking(true).unwrap();
    let address = format!("unix:path={}", user.path("bus").display());
    let connect = |setup: Setup| {
        let folder = user.root.path().display().to_string();
        setup.env("DBUS_SESSION_BUS_ADDRESS", &address).env("XDG_RUNTIME_DIR", &folder)
    };
    let entry = format!("[token]\nkind = \"bearer\"\norigins = [\"{ORIGIN}\"]\nkey_store = \"token-1\"\n");
    std::fs::write(user.path("home/aye/config/tool_credentials.toml"), entry).unwrap();
    add_settings(&user, "[credentials]\nstore = \"file\"\n");
    let arguments = ["credentials", "add", "other", "--origin", ORIGIN, "--stdin"];
    for (arguments, expected) in [
        (&["credentials", "list"][..], "in the key store"),
        (&arguments[..], "in the file"),
        (&["tools", "check"][..], ""),
    ] {
        let (out, err, code) = connect(Setup::with_home(&user.root, arguments)).run_piped(SECRET);
        assert!(code == 0 && out.contains(expected) && err.is_empty(), "{arguments:?}: {out}{err}");
    }
    let mut program = connect(user.setup(&[])).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle("Done.");
    program.press_keys("\x04");
    program.wait_for_exit();
    assert_eq!(bus.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock, "it connected");
}

/// The arguments that add the credential `token` by a sign-in.
pub fn add_sign_in<'a>(issuer: &'a str, origin: &'a str) -> [&'a str; 9] {
    ["credentials", "add", "token", "--oauth", issuer, "--client-id", "my-client", "--origin", origin]
}

/// Signs in with this command, which keeps the tokens in the key store.
pub fn sign_in(store: &TestKeyStore, server: &OAuthServer, user: &User, arguments: &[&str]) {
    let mut program = store.connect(Setup::with_home(&user.root, arguments).size(500, 20)).start();
    let screen = program.until("/authorize?");
    let address = screen.lines().find(|line| line.contains("/authorize?")).unwrap().trim();
    get(&server.sign_in(address));
    program.until(", in the key store, sent only to");
    program.wait_for_exit();
}

#[test]
fn r57_tokens_of_a_sign_in_are_refreshed_in_the_key_store() {
    let Some(store) = TestKeyStore::start() else { return };
    let server = OAuthServer::start();
    let issuer = server.issuer.as_str();
    let user = user_with_tool(Vec::new(), "status.toml", &status_tool(&format!("{issuer}/s")));
    server.state().lifetime = 10;
    let mut tokens = Vec::new();
    sign_in(&store, &server, &user, &add_sign_in(issuer, issuer));
    tokens.extend(server.valid_tokens());
    let entry = read_credentials(&user.setup(&[]));
    server.state().lifetime = 3600;
    // Programs at once refresh one after the other. The server knows no such path, but got the token.
    let (call, root) = (["tools", "test", "status", "--yes"], &user.root);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let setup = store.connect(Setup::with_home(root, &call));
            scope.spawn(move || {
                let (out, err, _) = setup.run_piped("");
                assert!(out.contains("404"), "{out}{err}");
            });
        }
    });
    assert_eq!((server.refresh_count(), server.refusals()), (1, Vec::new()), "the other calls have the new token");
    tokens.extend(server.valid_tokens());
    assert_eq!((read_credentials(&user.setup(&[])), store.count_secrets()), (entry, 1));
    for token in tokens {
        for folder in [user.root.path(), store.folder()] {
            assert_in_no_file(folder, &token);
        }
    }
    // A sign-in again goes to the same place.
    server.revoke_refresh();
    sign_in(&store, &server, &user, &["credentials", "rotate", "token"]);
    assert_eq!(store.count_secrets(), 1);
}

#[test]
fn homes_and_programs_share_a_key_store_without_collisions() {
    let Some(store) = TestKeyStore::start() else { return };
    let homes = [Setup::new(&[]), Setup::new(&[])];
    let names = ["a", "b", "c"];
    std::thread::scope(|scope| {
        for home in &homes {
            for name in names {
                let store = &store;
                scope.spawn(move || {
                    let (out, err) = add(store, home, name, ORIGIN);
                    assert!(out.contains("in the key store"), "{out}{err}");
                });
            }
        }
    });
    assert_eq!(store.count_secrets(), 6);
    let (_, err, _) = run(&store, &homes[0], &["remove", "--yes", "a"], "");
    assert_eq!((err.as_str(), store.count_secrets()), ("", 5));
    // A secret that is moved to the file or to a variable leaves the key store.
    write_settings(&homes[0], "[credentials]\nstore = \"file\"\n");
    let (out, err, _) = run(&store, &homes[0], &["rotate", "b", "--stdin"], NEW_SECRET);
    assert!(out.contains("in the file") && err.is_empty(), "{out}{err}");
    assert_eq!(store.count_secrets(), 4);
    let (out, err, _) = run(&store, &homes[1], &["rotate", "b", "--env", "MY_TOKEN"], "");
    assert!(out.contains("in the variable MY_TOKEN") && err.is_empty(), "{out}{err}");
    assert_eq!(store.count_secrets(), 3);
    // And one that is moved back enters it.
    write_settings(&homes[0], "");
    let (out, err, _) = run(&store, &homes[0], &["rotate", "b", "--stdin"], SECRET);
    assert!(out.contains("in the key store") && err.is_empty(), "{out}{err}");
    assert_in_no_file(homes[0].root.path(), NEW_SECRET);
    assert_in_no_file(homes[0].root.path(), SECRET);
    assert_eq!(store.count_secrets(), 4);
}

/// Types the secret of a tool's credential in the screen, up to the Enter that saves it.
pub fn enter_secret(store: &TestKeyStore, user: &User) -> Program {
    let mut program = store.connect(user.setup(&[])).start();
    program.until("Messages go to");
    submit_message(&mut program, "/connect");
    program.until("Credential token");
    program.type_text("token");
    program.press_until("\r", "Enter the secret");
    program.type_text(SECRET);
    program.until("•••");
    program
}

/// Connects the credential of a tool in the screen. Returns what the screen shows at the end.
fn connect_in_screen(store: &TestKeyStore, user: &User, expected: &str) -> String {
    let mut program = enter_secret(store, user);
    program.press_until("\r", "token is connected");
    let screen = program.until(expected);
    program.press_keys("\x04");
    program.wait_for_exit();
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("s3cret"));
    screen
}

#[test]
fn a_credential_of_the_screen_is_kept_in_the_key_store() {
    let Some(store) = TestKeyStore::start() else { return };
    let new_user = || user_with_tool(Vec::new(), "status.toml", &status_tool(&format!("{ORIGIN}/s")));
    let user = new_user();
    let screen = connect_in_screen(&store, &user, "token is connected");
    assert!(!screen.contains("kept in the file"), "{screen}");
    assert_eq!(store.count_secrets(), 1);
    assert_in_no_file(user.root.path(), SECRET);
    store.lock();
    let user = new_user();
    connect_in_screen(&store, &user, "The secret of token is kept in the file: the key store is locked.");
    let file: &Path = &user.path("home/aye/config/tool_credentials.toml");
    assert_eq!(find_files_with(user.root.path(), SECRET), [file]);
    assert!(!store.log().contains("prompt"), "{}", store.log());
}
