//! Web pages and tools of files over TLS, in the real program: certificates, redirects, credentials, and size.

use crate::provider_tls::authority_file;
use crate::support::https_service::{header, start_https_service};
use crate::support::program::Setup;
use crate::support::service::Answer;
use crate::support::terminal_session::text_answer;
use crate::support::tls_service::{Authority, ServerCertificate, TlsService, serve_connections};
use crate::support::tool_service::{add_settings, call, outcomes, write_user_tool};
use crate::support::user::User;
use aye::chat::Outcome;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SECRET: &str = "canary-of-a-tool-9042";

/// A service at 127.0.0.1 with a certificate of an authority that the user trusts, and the user, who allows reading
/// from it.
struct Trusted {
    user: User,
    service: TlsService,
    authorities: tempfile::NamedTempFile,
}

impl Trusted {
    fn new(answers: impl FnOnce(&str) -> Vec<Answer>) -> Self {
        let authority = Authority::new();
        let service = start_https_service(authority.issue_certificate("127.0.0.1", 2090));
        let base = format!("https://127.0.0.1:{}", service.port);
        Self { user: user_with(answers(&base), service.port), service, authorities: authority_file(&authority.pem) }
    }

    fn url(&self, path: &str) -> String {
        format!("https://127.0.0.1:{}{path}", self.service.port)
    }

    /// Adds a tool that sends a request without arguments.
    fn with_tool(self, path: &str, lines: &str) -> Self {
        // A busy machine needs more than the usual limit.
        let timeout = if lines.contains("timeout_ms") { "" } else { "timeout_ms = 60000" };
        let text = format!(
            "name = \"ping\"\ntype = \"http_api\"\nmethod = \"GET\"\nurl = \"{}\"\nallow_private = true\n{lines}\n{timeout}\n",
            self.url(path)
        );
        write_user_tool(&self.user, "ping.toml", &text);
        self
    }

    /// Runs one headless turn, and returns the outcomes of its calls.
    fn run(&self) -> Vec<Outcome> {
        run_turn(&self.user, &[("SSL_CERT_FILE", self.authorities.path().to_str().unwrap())])
    }

    /// Returns the only outcome, which must be a failure.
    fn run_failing(&self) -> String {
        match self.run().as_slice() {
            [Outcome::Failed(text)] => text.clone(),
            outcomes => panic!("{outcomes:?}"),
        }
    }

    /// Returns the only outcome, which must be a success.
    fn run_succeeding(&self) -> String {
        match self.run().as_slice() {
            [Outcome::Done(text)] => text.clone(),
            outcomes => panic!("{outcomes:?}"),
        }
    }
}

/// A user who lets tools read from this port of this machine.
fn user_with(answers: Vec<Answer>, port: u16) -> User {
    let user = User::new(answers).with_rules("[[rule]]\nverdict = \"allow\"\nhost = \"127.0.0.1\"\n");
    add_settings(&user, &format!("[web]\nprivate_hosts = [\"127.0.0.1:{port}\"]\n"));
    user
}

/// Runs one headless turn with these variables, and returns the outcomes of all calls of the session.
fn run_turn(user: &User, variables: &[(&str, &str)]) -> Vec<Outcome> {
    let setup = user.setup(&["-p", "go"]);
    let setup = variables.iter().fold(setup, |setup, (name, value)| setup.env(name, value));
    let (out, err, _) = setup.run_piped("");
    assert!(out.contains("Done.") && !out.contains(SECRET) && !err.contains(SECRET), "{out}{err}");
    outcomes(user)
}

fn fetch(url: &str) -> Vec<Answer> {
    vec![call("web_fetch", json!({ "url": url })), text_answer("Done.")]
}

/// A trusted service whose page at this path is fetched.
fn fetching(path: &str) -> Trusted {
    Trusted::new(|base| fetch(&format!("{base}{path}")))
}

/// A trusted service with a tool for this path.
fn calling(path: &str, lines: &str) -> Trusted {
    Trusted::new(|_| vec![call("ping", json!({})), text_answer("Done.")]).with_tool(path, lines)
}

/// A server on another port that counts its connections.
fn start_canary() -> (u16, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    let port = serve_connections(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    (port, connections)
}

#[test]
fn a_page_and_a_tool_are_read_over_tls() {
    let text = fetching("/get?a=b").run_succeeding();
    assert!(text.contains("\"address\": \"/get?a=b\"") && text.contains("Untrusted text"), "{text}");
    let text = calling("/get", "").run_succeeding();
    assert!(text.contains("\"login\": false"), "{text}");
    let text = calling("/status/418", "").run_failing();
    assert!(text.contains("answered 418"), "{text}");
}

#[test]
fn a_server_with_a_wrong_certificate_receives_nothing() {
    let authority = Authority::new();
    let authorities = authority_file(&authority.pem);
    let variables = [("SSL_CERT_FILE", authorities.path().to_str().unwrap())];
    for (certificate, expected) in [
        (
            ServerCertificate::self_signed("127.0.0.1"),
            "its certificate is not signed by an authority that this machine trusts",
        ),
        (Authority::new().issue_certificate("127.0.0.1", 2090), "its certificate is not signed by an authority"),
        (authority.issue_certificate("127.0.0.1", 2001), "its certificate expired"),
        (authority.issue_certificate("other.example", 2090), "its certificate is for other.example, not for 127.0.0.1"),
    ] {
        let service = start_https_service(certificate);
        let user = user_with(fetch(&format!("https://127.0.0.1:{}/get", service.port)), service.port);
        let outcomes = run_turn(&user, &variables);
        let [Outcome::Failed(text)] = outcomes.as_slice() else { panic!("{outcomes:?}") };
        assert!(text.starts_with("Cannot trust 127.0.0.1: ") && text.contains(expected), "{text}");
        assert!(service.requests.lock().unwrap().iter().all(String::is_empty), "a request was sent");
    }
}

#[test]
fn large_compressed_endless_and_late_answers_are_bounded() {
    let text = fetching("/gzip").run_failing();
    assert!(text.contains("sent a compressed response that was not requested"), "{text}");
    let text = calling("/gzip", "").run_failing();
    assert!(text.contains("sent a compressed response that was not requested"), "{text}");
    let text = fetching("/bytes/5000000").run_succeeding();
    assert!(text.len() < 64 << 10 && text.contains("only the first 1048576 bytes were read"), "{}", text.len());
    let text = calling("/bytes/5000000", "").run_succeeding();
    assert!(text.len() < 20 << 10, "{}", text.len());
    let text = calling("/stream/100", "").run_succeeding();
    assert!(text.contains("line 0\n") && text.contains("line 99"), "{text}");
    let text = calling("/delay/30", "timeout_ms = 700").run_failing();
    assert!(text.contains("127.0.0.1 did not answer within 0.7 s"), "{text}");
}

#[test]
fn no_redirect_from_tls_leads_elsewhere() {
    let (port, connections) = start_canary();
    let mut targets: Vec<(String, &str)> = [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "127%2e0%2e0%2e1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "169.254.169.254",
    ]
    .iter()
    .map(|host| (format!("https://{host}:{port}/"), "Refused: "))
    .collect();
    targets.push((format!("http://localhost:{port}/"), "redirects to an address without encryption"));
    targets.push((format!("http://127.0.0.1:{port}/"), "redirects to an address without encryption"));
    targets.push((format!("https://localhost:{port}/"), "needs a call of its own"));
    targets.push((format!("https://127。0。0。1:{port}/"), "redirects to an invalid address"));
    targets.push(("https://example.com/".to_owned(), "needs a call of its own"));
    targets.push((format!("https://user:password@localhost:{port}/"), "contains a user name or password"));
    targets.push(("file:///etc/passwd".to_owned(), "is not supported"));
    for (target, expected) in targets {
        let query: String =
            reqwest::Url::parse_with_params("https://h/", [("url", &target)]).unwrap().query().unwrap().into();
        let text = fetching(&format!("/redirect-to?{query}")).run_failing();
        assert!(text.contains(expected), "{target}: {text}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "the canary was reached");
}

#[test]
fn r57_a_credential_is_sent_over_tls_to_its_origin_only() {
    let (port, connections) = start_canary();
    let add = |trusted: &Trusted, kind: &[&str]| {
        let origin = trusted.url("");
        let arguments = [&["credentials", "add", "token", "--origin", &origin, "--stdin"], kind].concat();
        let (_, err, code) = Setup::with_home(&trusted.user.root, &arguments).run_piped(SECRET);
        assert_eq!((err.as_str(), code), ("", 0));
    };
    for (path, kind, scheme) in
        [("/bearer", &[][..], "Bearer "), ("/basic-auth/ada/x", &["--kind", "basic", "--user", "ada"], "Basic ")]
    {
        let trusted = calling(path, "credential = \"token\"");
        add(&trusted, kind);
        let text = trusted.run_succeeding();
        assert!(text.contains("\"login\": true"), "{text}");
        let requests = trusted.service.requests.lock().unwrap();
        assert!(header(&requests[0], "authorization").is_some_and(|login| login.starts_with(scheme)), "{requests:?}");
    }
    // The same host on another port is another origin.
    for target in ["https://localhost", "https://127.0.0.1", "http://127.0.0.1"].map(|base| format!("{base}:{port}/x"))
    {
        let trusted = calling(&format!("/redirect-to?url={target}"), "credential = \"token\"");
        add(&trusted, &[]);
        let text = trusted.run_failing();
        let reasons = ["which this tool may not call", "without encryption", "Refused: "];
        assert!(reasons.iter().any(|reason| text.contains(reason)), "{text}");
        assert_eq!(trusted.service.requests.lock().unwrap().len(), 1);
    }
    assert_eq!(connections.load(Ordering::SeqCst), 0, "the canary was reached");
    let trusted = calling("/redirect-to?url=/bearer", "credential = \"token\"");
    add(&trusted, &[]);
    assert!(trusted.run_succeeding().contains("\"login\": true"), "the same origin still gets it");
    // A credential for another origin is not sent at all.
    let other = format!("https://127.0.0.1:{port}");
    let trusted = calling("/bearer", "credential = \"token\"");
    let arguments = ["credentials", "add", "token", "--origin", &other, "--stdin"];
    Setup::with_home(&trusted.user.root, &arguments).run_piped(SECRET);
    assert!(trusted.run_failing().contains("it is bound to"));
    assert_eq!(trusted.service.connection_count(), 0);
}
