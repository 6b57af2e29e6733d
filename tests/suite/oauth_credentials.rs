//! Credentials of an OAuth sign-in: the sign-in itself, the refresh of tokens, and several programs at once.

use crate::support::oauth_server::{OAuthServer, get};
use crate::support::program::{Program, Setup};
use crate::support::stored_files::find_files_with;
use aye::assemble::request_credentials::CredentialStore;
use aye::config::SecretStore;
use aye::store::Places;
use aye::text::known_secrets::KnownSecrets;
use aye::web::request_credentials::RequestCredentials;
use reqwest::Url;
use reqwest::header::HeaderValue;
use std::path::PathBuf;
use std::sync::Arc;

/// Starts the sign-in of a credential that may be sent to the server itself.
fn start_sign_in(
    server: &OAuthServer,
    setup: Setup,
    options: &[&str],
) -> (Program, Arc<crate::support::folder::Folder>) {
    let (issuer, root) = (server.issuer.as_str(), setup.root.clone());
    let arguments = ["credentials", "add", "svc", "--oauth", issuer, "--client-id", "my-client", "--origin", issuer];
    // So wide that the address is on one line.
    let program = Setup::with_home(&root, &[&arguments[..], options].concat()).size(500, 20).start();
    (program, root)
}

/// The address that the program prints.
fn printed_address(program: &mut Program, issuer: &str) -> String {
    let screen = program.until(&format!("{issuer}/authorize?"));
    screen.lines().find(|line| line.contains("/authorize?")).unwrap().trim().to_owned()
}

/// Signs in.
fn sign_in(server: &OAuthServer, options: &[&str]) -> Arc<crate::support::folder::Folder> {
    let (mut program, root) = start_sign_in(server, Setup::new(&[]), options);
    let redirect = server.sign_in(&printed_address(&mut program, &server.issuer));
    assert!(get(&redirect).contains("Signed in."));
    program.until("Added svc: OAuth at");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("s3cret"));
    root
}

fn open_store(root: &crate::support::folder::Folder) -> CredentialStore {
    let places = Places::within(&root.path().join("home/aye"));
    CredentialStore::new(&places, KnownSecrets::default(), SecretStore::File)
}

fn bearer(store: &CredentialStore, issuer: &str) -> Result<String, String> {
    let (_, value) = store.header("svc", &Url::parse(issuer).unwrap())?;
    Ok(value.to_str().unwrap().strip_prefix("Bearer ").unwrap().to_owned())
}

fn credential_file(root: &crate::support::folder::Folder) -> PathBuf {
    root.path().join("home/aye/config/tool_credentials.toml")
}

#[test]
fn a_sign_in_in_the_browser_gives_tokens_for_its_origin_only() {
    let server = OAuthServer::start();
    let root = sign_in(&server, &["--scope", "read", "--scope", "write"]);
    let store = open_store(&root);
    let [access, refresh] = server.valid_tokens();
    assert_eq!(bearer(&store, &server.issuer), Ok(access.clone()));
    let error = bearer(&store, "https://evil.example").unwrap_err();
    assert!(error.contains("it is bound to") && !error.contains("s3cret"), "{error}");
    for token in [access, refresh] {
        assert_eq!(find_files_with(root.path(), &token), [credential_file(&root)]);
    }
    let (out, _, _) = Setup::with_home(&root, &["credentials"]).run_piped("");
    assert!(out.starts_with("svc  OAuth at http://127.0.0.1:") && !out.contains("s3cret"), "{out}");
    assert_eq!(server.refresh_count(), 0, "the token is valid for an hour");
}

#[test]
fn a_redirect_of_another_sign_in_is_ignored() {
    let server = OAuthServer::start();
    let (mut program, root) = start_sign_in(&server, Setup::new(&[]), &[]);
    let address = printed_address(&mut program, &server.issuer);
    let redirect = Url::parse(&server.sign_in(&address)).unwrap();
    let with_query = |query: &str| {
        let mut url = redirect.clone();
        url.set_query(Some(query));
        url.to_string()
    };
    // A page in the browser knows neither the state nor may it end the sign-in.
    for forged in ["code=evil", "code=evil&state=guess", "error=access_denied&state=guess", "", "state="] {
        assert!(get(&with_query(forged)).starts_with("HTTP/1.1 404"), "{forged}");
    }
    let mut other_path = redirect.clone();
    other_path.set_path("/favicon.ico");
    assert!(get(other_path.as_str()).starts_with("HTTP/1.1 404"));
    // A connection that sends nothing, and one that sends too much, must not block the sign-in.
    let port = redirect.port().unwrap();
    let silent = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    drop(silent);
    let mut noisy = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    let _ = std::io::Write::write_all(&mut noisy, &[b'x'; 40_000]);
    drop(noisy);
    assert!(get(redirect.as_str()).contains("Signed in."));
    program.until("Added svc");
    assert_eq!(program.wait_for_exit(), 0);
    assert_eq!(bearer(&open_store(&root), &server.issuer), Ok(server.valid_tokens()[0].clone()));
    assert_eq!(server.refusals(), [""; 0]);
}

#[test]
fn a_refused_sign_in_saves_nothing() {
    let server = OAuthServer::start();
    let (mut program, root) = start_sign_in(&server, Setup::new(&[]), &[]);
    let address = Url::parse(&printed_address(&mut program, &server.issuer)).unwrap();
    let find = |name: &str| address.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    let mut redirect = Url::parse(&find("redirect_uri")).unwrap();
    redirect.query_pairs_mut().append_pair("error", "access_denied").append_pair("state", &find("state"));
    assert!(get(redirect.as_str()).contains("The sign-in failed."));
    program.until("The authorization server refused: access_denied.");
    assert_eq!(program.wait_for_exit(), 1);
    assert!(!credential_file(&root).exists());
    // The server rejects the code.
    let (mut program, root) = start_sign_in(&server, Setup::new(&[]), &[]);
    let redirect = server.sign_in(&printed_address(&mut program, &server.issuer));
    server.state().client_secret = Some("needed".to_owned());
    get(&redirect);
    program.until("The sign-in failed: invalid_grant: unknown client");
    assert_eq!(program.wait_for_exit(), 1);
    assert!(!credential_file(&root).exists());
}

#[test]
fn a_client_secret_is_read_from_a_pipe_and_stored() {
    let server = OAuthServer::start();
    server.state().client_secret = Some("client-s3cret".to_owned());
    let (mut program, root) = start_sign_in(&server, Setup::new(&[]), &["--client-secret"]);
    program.until("Client secret for svc, not shown:");
    program.until_condition("no echo", |program| !program.is_echoing());
    program.send_bytes("client-s3cret\r");
    get(&server.sign_in(&printed_address(&mut program, &server.issuer)));
    program.until("Added svc");
    server.state().lifetime = 10;
    let url = Url::parse(&server.issuer).unwrap();
    let store = open_store(&root);
    let (_, first) = store.header("svc", &url).unwrap();
    let (_, renewed) = store.renew_header("svc", &url, &first).unwrap().unwrap();
    assert_ne!(first, renewed);
    assert_eq!(server.refusals(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_refreshed_before_its_end_and_after_a_rejection() {
    let server = OAuthServer::start();
    server.state().lifetime = 30;
    let (root, server) = tokio::task::spawn_blocking(move || (sign_in(&server, &[]), server)).await.unwrap();
    let store = open_store(&root);
    // It ends too soon, so it is refreshed; the new one is valid for an hour.
    server.state().lifetime = 3600;
    let first = bearer(&store, &server.issuer).unwrap();
    assert_eq!((first.clone(), server.refresh_count()), (server.valid_tokens()[0].clone(), 1));
    assert_eq!(bearer(&store, &server.issuer), Ok(first.clone()));
    assert_eq!(server.refresh_count(), 1);
    let stored = std::fs::read_to_string(credential_file(&root)).unwrap();
    assert!(stored.contains(&server.valid_tokens()[1]), "the new refresh token is stored");
    // The service rejects the token: it is renewed once, for whoever has the rejected one.
    server.revoke_access();
    let url = Url::parse(&server.issuer).unwrap();
    let rejected = HeaderValue::from_str(&format!("Bearer {first}")).unwrap();
    let (_, renewed) = store.renew_header("svc", &url, &rejected).unwrap().unwrap();
    let (_, again) = store.renew_header("svc", &url, &rejected).unwrap().unwrap();
    assert_eq!((&renewed, server.refresh_count()), (&again, 2));
    assert!(store.renew_header("svc", &Url::parse("https://evil.example").unwrap(), &rejected).is_err());
    // The sign-in itself was revoked.
    server.revoke_refresh();
    let error = store.renew_header("svc", &url, &again).unwrap_err();
    assert!(
        error.contains("The refresh failed: invalid_grant") && error.contains("aye credentials rotate svc"),
        "{error}"
    );
    assert!(!error.contains("s3cret"), "{error}");
    // The user signs in again.
    let (root, server) = tokio::task::spawn_blocking(move || {
        let mut program = Setup::with_home(&root, &["credentials", "rotate", "svc"]).size(500, 20).start();
        get(&server.sign_in(&printed_address(&mut program, &server.issuer)));
        program.until("Replaced the secret of svc");
        (root, server)
    })
    .await
    .unwrap();
    assert_eq!(bearer(&open_store(&root), &server.issuer), Ok(server.valid_tokens()[0].clone()));
}

#[test]
fn programs_that_refresh_at_once_keep_the_new_refresh_token() {
    let server = OAuthServer::start();
    server.state().lifetime = 30;
    let root = sign_in(&server, &[]);
    server.state().lifetime = 3600;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (root, issuer) = (&root, &server.issuer);
            // A store of its own, as in another program.
            scope.spawn(move || bearer(&open_store(root), issuer).unwrap());
        }
    });
    assert_eq!(server.refresh_count(), 1, "all use the tokens of the first");
    // Each round uses the refresh token that the one before stored.
    for _ in 0..5 {
        let url = Url::parse(&server.issuer).unwrap();
        let rejected = HeaderValue::from_str(&format!("Bearer {}", server.valid_tokens()[0])).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (root, url, rejected) = (&root, &url, &rejected);
                scope.spawn(move || open_store(root).renew_header("svc", url, rejected).unwrap().unwrap());
            }
        });
    }
    assert_eq!((server.refresh_count(), server.refusals().len()), (6, 0));
}

#[test]
fn a_sign_in_on_another_device_waits_for_the_user() {
    let server = OAuthServer::start();
    let (mut program, root) = start_sign_in(&server, Setup::new(&[]), &["--device"]);
    program.until("Cannot sign in on another device");
    program.wait_for_exit();
    assert!(!credential_file(&root).exists());
    server.state().has_device_endpoint = true;
    let prompt = format!("Open {}/enter on any device and enter the code WDJB-MJHT", server.issuer);
    // Without --device too, because this environment has no browser.
    for (options, is_approved) in [(&["--device"][..], false), (&["--device"], true), (&[], true)] {
        server.state().is_device_approved = None;
        let polls = server.state().device_polls;
        let (mut program, root) = start_sign_in(&server, Setup::new(&[]), options);
        program.until(&prompt);
        program.until_condition("requests for the tokens", |_| server.state().device_polls > polls + 2);
        server.state().is_device_approved = Some(is_approved);
        if is_approved {
            program.until("Added svc");
            let token = server.valid_tokens()[0].clone();
            assert_eq!(bearer(&open_store(&root), &server.issuer), Ok(token));
        } else {
            program.until("The sign-in failed: access_denied.");
        }
        assert_eq!(program.wait_for_exit(), u32::from(!is_approved));
        assert_eq!(credential_file(&root).exists(), is_approved);
        assert!(!String::from_utf8_lossy(&program.bytes()).contains("s3cret"));
    }
}

#[test]
fn rejects_servers_that_cannot_be_trusted() {
    let server = OAuthServer::start();
    let issuer = server.issuer.as_str();
    for (arguments, part) in [
        (&["--oauth", "http://login.example.com", "--client-id", "x"][..], "is not https://"),
        (&["--oauth", &format!("{issuer}/tenant"), "--client-id", "x"], "has no metadata (status 404)"),
        (&["--oauth", issuer], "--client-id"),
        (&["--oauth", issuer, "--client-id", "x", "--env", "X"], "cannot be used with"),
        (&["--oauth", issuer, "--client-id", "x", "--stdin"], "--client-secret"),
        (&["--oauth", issuer, "--client-id", "x", "--token-endpoint", "https://a.example"], "--authorization-endpoint"),
        (
            &[
                "--oauth",
                issuer,
                "--client-id",
                "x",
                "--token-endpoint",
                "https://a.example/t",
                "--authorization-endpoint",
                "file:///etc/passwd",
            ],
            "is not https://",
        ),
    ] {
        let all = [&["credentials", "add", "svc", "--origin", "https://api.example.com"], arguments].concat();
        let setup = Setup::new(&all);
        let (out, err, code) = setup.run_piped("");
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}: {err}");
        assert!(err.contains(part), "{arguments:?}: {err}");
        assert!(!credential_file(&setup.root).exists());
    }
}
