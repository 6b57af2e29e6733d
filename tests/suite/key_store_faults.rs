//! Secrets in the key store when something fails halfway: a full disk, a key store that locks or hangs between two messages,
//! and entries that cannot be used.

use crate::key_stores::{
    NEW_SECRET, ORIGIN, SECRET, add, add_sign_in, call_tool, enter_secret, read_credentials, run, sign_in, status_tool,
};
use crate::support::key_store::TestKeyStore;
use crate::support::mcp_server::McpServer;
use crate::support::mounts::{continue_with_mounts, mount_small_disk};
use crate::support::oauth_server::{OAuthServer, get};
use crate::support::program::{Program, Setup};
use crate::support::stored_files::find_files_with;
use crate::support::tool_service::{add_settings, response, user_with_tool, write_user_tool};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fills the disk with the settings, on which a small file system is mounted.
fn fill_disk(user: &User) {
    let mut filler = fs::File::create(user.path("home/aye/config/filler")).unwrap();
    while filler.write(&[0; 4096]).is_ok_and(|count| count > 0) {}
}

fn contains(data: &[u8], text: &str) -> bool {
    data.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The ID of the only secret that the file names.
fn stored_id(setup: &Setup) -> String {
    let text = read_credentials(setup);
    text.lines().find_map(|line| line.strip_prefix("key_store = ")).unwrap().trim_matches('"').to_owned()
}

/// Logs in to the MCP server `test`, and checks the output and the exit code.
fn log_in(store: &TestKeyStore, issuer: &OAuthServer, user: &User, (output, code): (&str, u32)) {
    let setup = Setup::with_home(&user.root, &["mcp", "login", "test"]).size(500, 20);
    let mut program = store.connect(setup).start();
    let screen = program.until("/authorize?");
    get(&issuer.sign_in(screen.lines().find(|line| line.contains("/authorize?")).unwrap().trim()));
    program.until(output);
    assert_eq!(program.wait_for_exit(), code);
}

#[test]
fn on_a_full_disk_a_new_token_does_not_reach_the_origins_of_the_old_one() {
    if !continue_with_mounts("key_store_faults::on_a_full_disk_a_new_token_does_not_reach_the_origins_of_the_old_one") {
        return;
    }
    let Some(store) = TestKeyStore::start() else { return };
    let (old_server, issuer) = (WebServer::with_responses(&[&response("200 OK", "", "reached")]), OAuthServer::start());
    let user = User::new(Vec::new());
    mount_small_disk(&user.path("home/aye/config"), "size=512k");
    write_user_tool(&user, "status.toml", &status_tool(&old_server.url("/s")));
    sign_in(&store, &issuer, &user, &add_sign_in(&issuer.issuer, &old_server.url("")));
    let [old_token, _] = issuer.valid_tokens();
    let server = McpServer::new(&[("echo", "Repeats text")]);
    let settings = format!("{}credential = \"token\"\n", server.start_protected("test", &issuer));
    fs::write(user.path("home/aye/config/config.toml"), settings).unwrap();
    fill_disk(&user);
    let entry = read_credentials(&user.setup(&[]));
    log_in(&store, &issuer, &user, ("Cannot save", 1));
    assert_ne!(issuer.valid_tokens()[0], old_token, "there is a new token");
    assert_eq!((read_credentials(&user.setup(&[])), store.count_secrets()), (entry, 1));
    assert!(call_tool(&store, &user).1);
    let requests = old_server.requests();
    assert!(requests[0].contains(&format!("authorization: Bearer {old_token}\r\n")), "{requests:?}");
    // A sign-in again changes the secret only, so it needs no space.
    sign_in(&store, &issuer, &user, &["credentials", "rotate", "token"]);
    assert!(call_tool(&store, &user).1);
    let requests = old_server.requests();
    assert!(requests[1].contains(&format!("authorization: Bearer {}\r\n", issuer.valid_tokens()[0])), "{requests:?}");
}

#[test]
fn a_changed_address_gets_a_secret_of_its_own() {
    let Some(store) = TestKeyStore::start() else { return };
    let (server, issuer) = (McpServer::new(&[("echo", "Repeats text")]), OAuthServer::start());
    let user = User::new(Vec::new());
    sign_in(&store, &issuer, &user, &add_sign_in(&issuer.issuer, ORIGIN));
    let old_id = stored_id(&user.setup(&[]));
    add_settings(&user, &format!("{}credential = \"token\"\n", server.start_protected("test", &issuer)));
    log_in(&store, &issuer, &user, ("accepted 1 tool", 0));
    assert_ne!(stored_id(&user.setup(&[])), old_id);
    assert_eq!(store.count_secrets(), 1, "the old one is deleted");
}

/// Waits until no thread of the program uses the key store.
fn wait_for_key_store_threads(program: &mut Program) {
    let threads = PathBuf::from(format!("/proc/{}/task", program.pid()));
    program.until_condition("the end of the call", |_| {
        let names =
            fs::read_dir(&threads).unwrap().flatten().map(|thread| fs::read_to_string(thread.path().join("comm")));
        !names.flatten().any(|name| name.trim() == "key store")
    });
}

#[test]
fn a_secret_is_not_saved_after_the_time_limit() {
    let Some(store) = TestKeyStore::start() else { return };
    let user = user_with_tool(Vec::new(), "status.toml", &status_tool(&format!("{ORIGIN}/s")));
    let mut program = enter_secret(&store, &user);
    store.suspend();
    program.press_until("\r", "token is connected");
    let screen = program.until("The secret of token is kept in the file: the key store did not answer within 3 s.");
    assert!(!screen.contains("could not be deleted"), "nothing was saved: {screen}");
    store.resume();
    wait_for_key_store_threads(&mut program);
    assert_eq!(store.count_secrets(), 0);
}

#[test]
fn a_secret_that_may_still_be_saved_is_named() {
    let Some(store) = TestKeyStore::start() else { return };
    let setup = Setup::new(&[]);
    for (name, method, is_named) in [("early", "SearchItems", false), ("late", "CreateItem", true)] {
        let arguments = ["credentials", "add", name, "--origin", ORIGIN, "--stdin"];
        let hang = move |data: &[u8]| {
            while contains(data, method) {
                std::thread::park();
            }
        };
        let setup = store.connect_through(Setup::with_home(&setup.root, &arguments), hang);
        let (out, err, code) = setup.run_piped(SECRET);
        assert!(code == 0 && out.contains("in the file"), "{out}{err}");
        assert!(err.contains(&format!("The secret of {name} is kept in the file: the key store did not")), "{err}");
        let notice = format!("The secret {name}-");
        assert_eq!(err.contains(&notice) && err.contains("could not be deleted"), is_named, "{err}");
    }
}

#[test]
fn a_refreshed_token_is_kept_in_the_file_if_the_key_store_locks_meanwhile() {
    let Some(store) = TestKeyStore::start() else { return };
    let server = OAuthServer::start();
    let issuer = server.issuer.as_str();
    let user = user_with_tool(Vec::new(), "status.toml", &status_tool(&format!("{issuer}/s")));
    server.state().lifetime = 10;
    sign_in(&store, &server, &user, &add_sign_in(issuer, issuer));
    server.state().before_refresh = Some(Box::new(store.locker()));
    // The server knows no such path, but got the token. The second call refreshes with the new refresh token.
    for count in 1..=2 {
        let (text, _) = call_tool(&store, &user);
        assert!(text.contains("404"), "{text}");
        assert_eq!((server.refresh_count(), server.refusals()), (count, Vec::new()));
    }
    let file = user.path("home/aye/config/tool_credentials.toml");
    for token in server.valid_tokens() {
        assert_eq!(find_files_with(user.root.path(), &token), [file.as_path()]);
    }
    assert!(!read_credentials(&user.setup(&[])).contains("key_store"));
}

#[test]
fn a_secret_of_an_entry_that_cannot_be_used_is_deleted_or_named() {
    let Some(store) = TestKeyStore::start() else { return };
    let setup = Setup::new(&[]);
    for is_locked in [false, true] {
        add(&store, &setup, "token", ORIGIN);
        let id = stored_id(&setup);
        let file = setup.root.path().join("home/aye/config/tool_credentials.toml");
        fs::write(&file, format!("{}user = \"ada\"\n", read_credentials(&setup))).unwrap();
        if is_locked {
            store.lock();
        }
        let (out, err, code) = run(&store, &setup, &["remove", "--yes", "token"], "");
        assert!(code == 0 && out.starts_with("Deleted token."), "{out}{err}");
        let notice = format!("The secret {id} could not be deleted: the key store is locked.");
        assert_eq!((err.contains(&notice), err.is_empty()), (is_locked, !is_locked), "{err}");
        assert_eq!((read_credentials(&setup).as_str(), store.count_secrets()), ("", usize::from(is_locked)));
    }
}

#[test]
fn a_key_store_that_finds_nothing_while_it_is_locked_is_not_taken_for_empty() {
    let Some(store) = TestKeyStore::start() else { return };
    let setup = Setup::new(&[]);
    let entry = format!("[token]\nkind = \"bearer\"\norigins = [\"{ORIGIN}\"]\nkey_store = \"token-1\"\n");
    fs::create_dir_all(setup.root.path().join("home/aye/config")).unwrap();
    let file = setup.root.path().join("home/aye/config/tool_credentials.toml");
    for is_locked in [false, true] {
        fs::write(&file, &entry).unwrap();
        if is_locked {
            store.lock();
        }
        let (out, err, code) = run(&store, &setup, &["remove", "--yes", "token"], "");
        assert!(code == 0 && out.starts_with("Deleted token."), "{out}{err}");
        let notice = "The secret token-1 could not be deleted: the key store is locked.";
        assert_eq!((err.contains(notice), err.is_empty()), (is_locked, !is_locked), "{err}");
    }
}

#[test]
fn r57_a_bundle_contains_no_secret_of_the_key_store() {
    let Some(store) = TestKeyStore::start() else { return };
    let issuer = OAuthServer::start();
    let user = User::new(Vec::new());
    add(&store, &user.setup(&[]), "other", ORIGIN);
    sign_in(&store, &issuer, &user, &add_sign_in(&issuer.issuer, ORIGIN));
    let [access, refresh] = issuer.valid_tokens();
    // Values of settings are part of a bundle.
    let settings = format!("[screen]\ntheme = \"{SECRET}\"\ntheme_light = \"{access}\"\ntheme_dark = \"{refresh}\"\n");
    add_settings(&user, &settings);
    let bundle = user.path("bundle.txt").display().to_string();
    let check = |arguments: &[&str]| store.connect(Setup::with_home(&user.root, arguments)).run_piped("");
    let (out, _, _) = check(&["doctor", "--bundle", &bundle]);
    let text = fs::read_to_string(&bundle).unwrap() + &out + &check(&["doctor"]).0;
    assert!(text.contains("screen.theme = ") && text.contains("2 secrets in the key store"), "{text}");
    for secret in [SECRET, &access, &refresh] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

/// Runs a command on a key store with a secret, which locks before the message with this number to it. Returns whether it got
/// so many.
fn run_with_lock(arguments: &[&str], number: usize) -> bool {
    let store = TestKeyStore::start().unwrap();
    let server = WebServer::with_responses(&[&response("200 OK", "", "reached")]);
    let user = user_with_tool(Vec::new(), "status.toml", &status_tool(&server.url("/s")));
    add(&store, &user.setup(&[]), "token", &server.url(""));
    let count = Arc::new(AtomicUsize::new(0));
    let (counter, lock) = (count.clone(), store.locker());
    let before_message = move |data: &[u8]| {
        let is_counted = contains(data, "org.freedesktop.Secret");
        if is_counted && counter.fetch_add(1, Ordering::SeqCst) == number {
            lock();
        }
    };
    let setup = store.connect_through(Setup::with_home(&user.root, arguments), before_message);
    let (out, err, _) = setup.run_piped(NEW_SECRET);
    assert!(!store.log().contains("prompt"), "{arguments:?}, message {number}: {out}{err}{}", store.log());
    count.load(Ordering::SeqCst) > number
}

#[test]
fn a_key_store_that_locks_between_two_messages_is_not_asked_to_unlock_itself() {
    if TestKeyStore::start().is_none() {
        return;
    }
    let add = ["credentials", "add", "other", "--origin", ORIGIN, "--stdin"];
    for arguments in [
        &add[..],
        &["credentials", "rotate", "token", "--stdin"],
        &["credentials", "remove", "--yes", "token"],
        &["tools", "test", "status", "--yes"],
    ] {
        let mut number = 0;
        while run_with_lock(arguments, number) {
            number += 1;
        }
        assert!(number > 2, "{arguments:?} sent only {number} messages");
    }
}
