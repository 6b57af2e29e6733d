//! Credentials of tools: how they are kept, which requests may carry them, and where they never appear.

use crate::support::keyboard::PATIENCE;
use crate::support::program::{Setup, program};
use crate::support::scene::Scene;
use crate::support::scripted::{calls, says};
use crate::support::stored_files::{find_files_with, write_script, write_settings};
use async_trait::async_trait;
use aye::agent::Event;
use aye::assemble::credential_prompts::CredentialPrompts;
use aye::assemble::request_credentials::CredentialStore;
use aye::chat::{Access, ExternalAccess, Intent, Outcome, Plan, Preview, ToolSpec, Work};
use aye::config::{Key, SecretStore};
use aye::project::Reader;
use aye::store::Places;
use aye::text::known_secrets::KnownSecrets;
use aye::tools::connect_credential::{Connection, CredentialConnector};
use aye::tools::{Error, LiveContext, Tool, Toolbox};
use aye::tui::host::{CredentialRequest, HostReply};
use aye::web::request_credentials::{NamedCredential, RequestCredentials};
use reqwest::Url;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;

const SECRET: &str = "odd-s3cret-1234567890";
const NEW_SECRET: &str = "rotated-s3cret-0987654321";
const ORIGIN: &str = "https://api.example.com";

fn run(setup: &Setup, arguments: &[&str], input: &str) -> (String, String, i32) {
    let arguments = [&["credentials"], arguments].concat();
    Setup::with_home(&setup.root, &arguments).run_piped(input)
}

/// Adds a credential, which must succeed.
fn add(setup: &Setup, arguments: &[&str], input: &str) {
    let (out, err, code) = run(setup, &[&["add"], arguments].concat(), input);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
}

fn credential_file(setup: &Setup) -> PathBuf {
    setup.root.path().join("home/aye/config/tool_credentials.toml")
}

/// The credentials of this home, used by the real program's own code.
fn open_store(setup: &Setup, secrets: &KnownSecrets) -> CredentialStore {
    let places = Places::within(&setup.root.path().join("home/aye"));
    let mut store = CredentialStore::new(&places, secrets.clone(), SecretStore::File);
    store.aye_program = program();
    store
}

/// The header for a request to this address, as a line.
fn header_line(store: &CredentialStore, name: &str, url: &str) -> Result<String, String> {
    let (name, value) = store.header(name, &Url::parse(url).unwrap())?;
    assert!(value.is_sensitive() && !format!("{value:?}").contains("s3cret"));
    Ok(format!("{name}: {}", value.to_str().unwrap()))
}

#[test]
fn a_credential_is_added_listed_rotated_and_removed() {
    let setup = Setup::new(&[]);
    let (out, err, code) = run(&setup, &["add", "github", "--origin", ORIGIN, "--stdin"], &format!("{SECRET}\n"));
    assert_eq!((err.as_str(), code), ("", 0));
    assert_eq!(out, format!("Added github: bearer token, in the file, sent only to {ORIGIN}.\n"));
    add(&setup, &["ci", "--origin", ORIGIN, "--origin", "http://localhost:80", "--env", "CI_TOKEN"], "");
    let file = credential_file(&setup);
    assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
    let (out, _, _) = run(&setup, &[], "");
    assert_eq!(
        out,
        "ci      bearer token  http://localhost, https://api.example.com  in the variable CI_TOKEN\n\
         github  bearer token  https://api.example.com                    in the file\n"
    );
    let (out, _, _) = run(&setup, &["list", "--json"], "");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let facts = json!({
        "name": "github", "kind": "bearer", "header": null, "user": null, "origins": [ORIGIN], "secret": "file", "env": null,
    });
    assert_eq!((lines.len(), &lines[1]), (2, &facts));
    assert!(!out.contains(SECRET));
    let (out, err, code) = run(&setup, &["rotate", "github", "--stdin"], NEW_SECRET);
    assert_eq!((err.as_str(), code), ("", 0), "{out}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains(NEW_SECRET) && !text.contains(SECRET) && text.contains("CI_TOKEN"), "{text}");
    let (_, err, code) = run(&setup, &["remove", "github"], "yes\n");
    assert!(code == 2 && err.contains("not a terminal. Use --yes"), "{err}");
    let (out, _, code) = run(&setup, &["remove", "--yes", "github"], "");
    assert_eq!((out.as_str(), code), ("Deleted github. Revoke it at its service too.\n", 0));
    assert!(find_files_with(setup.root.path(), NEW_SECRET).is_empty());
}

#[test]
fn rejects_what_cannot_be_a_credential_and_saves_nothing() {
    let setup = Setup::new(&[]);
    for (arguments, input, part) in [
        (&["add", "a"][..], SECRET, "Cannot add a: it has no origin."),
        (&["add", "a", "--origin", "http://api.example.com", "--stdin"], SECRET, "http is not encrypted"),
        (&["add", "a", "--origin", "https://api.example.com/v1", "--stdin"], SECRET, "it has a path"),
        (&["add", "a b", "--origin", ORIGIN, "--stdin"], SECRET, "Cannot use this name: "),
        (&["add", "a", "--origin", ORIGIN], SECRET, "not a terminal. Use --stdin, --env or --key-command"),
        (&["add", "a", "--origin", ORIGIN, "--stdin"], "  \n", "Cannot save the secret: it is empty."),
        (&["add", "a", "--origin", ORIGIN, "--stdin"], "odd\ns3cret", "a line break"),
        (&["add", "a", "--origin", ORIGIN, "--stdin", "--env", "X"], SECRET, "cannot be used with"),
        (&["add", "a", "--origin", ORIGIN, "--env", "X=odd-s3cret"], "", "not its value"),
        (&["add", "a", "--origin", ORIGIN, "--key-command", "a | b"], "", "needs a shell"),
        (&["add", "a", "--origin", ORIGIN, "--kind", "basic", "--stdin"], SECRET, "Add --user NAME."),
        (&["add", "a", "--origin", ORIGIN, "--kind", "header", "--stdin"], SECRET, "Add --header NAME."),
        (&["add", "a", "--origin", ORIGIN, "--kind", "header", "--header", "Host", "--stdin"], SECRET, "belongs to"),
        (
            &["add", "a", "--origin", ORIGIN, "--user", "x", "--stdin"],
            SECRET,
            "Cannot use --user here: only --kind basic has a user name",
        ),
        (
            &["rotate", "a", "--stdin"],
            SECRET,
            "Cannot replace the secret of a: there is no usable credential of this name",
        ),
        (&["remove", "--yes", "a"], "", "Cannot delete a: there is no credential of this name"),
    ] {
        let (out, err, code) = run(&setup, arguments, input);
        assert_eq!((out.as_str(), code), ("", 2), "{arguments:?}: {err}");
        assert!(err.contains(part) && !err.contains("s3cret"), "{arguments:?}: {err}");
        assert!(!credential_file(&setup).exists(), "{arguments:?}");
    }
    add(&setup, &["a", "--origin", ORIGIN, "--stdin"], SECRET);
    let (_, err, code) = run(&setup, &["add", "a", "--origin", "https://other.example", "--stdin"], NEW_SECRET);
    assert!(code == 2 && err.contains("Cannot add a: it exists. "), "{err}");
}

#[test]
fn r57_a_secret_typed_in_the_terminal_is_never_shown() {
    let setup = Setup::new(&["credentials", "add", "github", "--origin", ORIGIN]);
    let root = setup.root.clone();
    let mut program = setup.start();
    program.until("Secret for github, not shown:");
    program.until_condition("no echo", |program| !program.is_echoing());
    program.send_bytes(&format!("wrong\x15{SECRET}x\x7f\r"));
    program.until("Added github");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("s3cret"));
    assert_eq!(find_files_with(root.path(), SECRET).len(), 1);
    for key in ["\x03", "\x1b"] {
        let mut program = Setup::with_home(&root, &["credentials", "rotate", "github"]).start();
        program.until("New secret for github, not shown:");
        program.until_condition("no echo", |program| !program.is_echoing());
        program.send_bytes(&format!("half-typed{key}"));
        program.until("cancelled; nothing was saved");
        assert_eq!(program.wait_for_exit(), 2);
        assert!(program.is_echoing(), "the terminal is restored");
    }
    assert_eq!(find_files_with(root.path(), SECRET).len(), 1, "it is unchanged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn each_kind_is_sent_in_its_header_and_only_to_its_origins() {
    let setup = Setup::new(&[]);
    let script = setup.root.path().join("give");
    write_script(&script, "printf '%s-%s\\n' odd s3cret-1234567890");
    let command = script.display().to_string();
    add(&setup, &["token", "--origin", ORIGIN, "--stdin"], SECRET);
    add(&setup, &["key", "--origin", ORIGIN, "--stdin", "--kind", "api-key"], SECRET);
    add(&setup, &["own", "--origin", ORIGIN, "--stdin", "--kind", "header", "--header", "X-Auth"], SECRET);
    add(&setup, &["login", "--origin", ORIGIN, "--stdin", "--kind", "basic", "--user", "ada"], SECRET);
    add(&setup, &["printed", "--origin", ORIGIN, "--key-command", &command], "");
    add(&setup, &["unset", "--origin", ORIGIN, "--env", "AYE_NO_SUCH_TOKEN"], "");
    add(&setup, &["failing", "--origin", ORIGIN, "--key-command", "false"], "");
    let secrets = KnownSecrets::default();
    let store = open_store(&setup, &secrets);
    // On a worker thread of the runtime: other tasks must go on meanwhile.
    for (name, header) in [
        ("token", format!("authorization: Bearer {SECRET}")),
        ("key", format!("x-api-key: {SECRET}")),
        ("own", format!("x-auth: {SECRET}")),
        ("login", "authorization: Basic YWRhOm9kZC1zM2NyZXQtMTIzNDU2Nzg5MA==".to_owned()),
        ("printed", format!("authorization: Bearer {SECRET}")),
    ] {
        assert_eq!(header_line(&store, name, "https://api.example.com/v1/x?y"), Ok(header), "{name}");
        for url in [
            "http://api.example.com/",
            "https://api.example.com:8443/",
            "https://api.example.com.evil.example/",
            "https://evil.example/",
            "https://api.example.com@evil.example/",
        ] {
            let error = header_line(&store, name, url).unwrap_err();
            assert!(error.contains(&format!("it is bound to {ORIGIN}")), "{name}: {url}: {error}");
        }
    }
    for text in [SECRET, "YWRhOm9kZC1zM2NyZXQtMTIzNDU2Nzg5MA=="] {
        assert_eq!(secrets.mask(text), "[redacted]");
    }
    for (name, part) in [
        ("none", "The credential “none” is missing. The user must add it with: aye credentials add none --origin"),
        ("unset", "is missing: the variable AYE_NO_SUCH_TOKEN is not set"),
        ("failing", "is missing: the key command false failed (1)"),
        ("../x\u{1b}[2J", "cannot be the name of a credential"),
    ] {
        let error = header_line(&store, name, "https://api.example.com/").unwrap_err();
        assert!(error.contains(part) && !error.contains('\u{1b}'), "{error}");
    }
    std::fs::write(credential_file(&setup), "no toml").unwrap();
    let error = header_line(&store, "token", "https://api.example.com/").unwrap_err();
    assert_eq!(error, "The credentials of the user cannot be read: it is not valid TOML; correct or remove it.");
}

/// A tool whose service repeats the credential in its answer.
struct EchoedCredential(CredentialStore);

#[async_trait]
impl Tool for EchoedCredential {
    fn tool_spec(&self) -> ToolSpec {
        ToolSpec {
            name: "echo".into(),
            description: "Echo.".into(),
            parameters: json!({ "type": "object" }).into(),
            ..ToolSpec::default()
        }
    }

    fn plan_call(&self, _: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let access =
            ExternalAccess { request: format!("POST {ORIGIN}/"), service: "api.example.com".into(), page_host: None };
        let preview = Preview::Text(format!("POST {ORIGIN}/\nAuthorization: <credential token>"));
        let access = Access::External(Box::new(access));
        Ok(Intent::Act(Box::new(Plan::new("Send?", "echo".into(), access, preview, Work::Arguments(json!({}))))))
    }

    fn named_credential(&self) -> Option<NamedCredential> {
        Some(NamedCredential { name: "token".into(), origins: vec![ORIGIN.into()] })
    }

    async fn run(&self, _: &Plan, _: &LiveContext) -> Result<String, Error> {
        let url = Url::parse(ORIGIN).unwrap();
        let (name, value) = self.0.header("token", &url).map_err(Error::Failed)?;
        let echoed = format!("200 OK, you sent {name}: {}", value.to_str().unwrap());
        // Of two calls, the second fails.
        if echoed.contains(NEW_SECRET) { Err(Error::Failed(echoed)) } else { Ok(echoed) }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_a_credential_that_a_service_repeats_reaches_neither_session_nor_model() {
    let setup = Setup::new(&[]);
    add(&setup, &["token", "--origin", ORIGIN, "--stdin"], SECRET);
    let secrets = KnownSecrets::default();
    let tool = Arc::new(EchoedCredential(open_store(&setup, &secrets)));
    let replies = [calls("echo", json!({})), says("Done."), calls("echo", json!({})), says("Done.")];
    let mut scene = Scene::with_tool(replies, tool);
    scene.runtime.context.secrets = secrets;
    scene.say("go").await;
    scene.approve().await;
    let (out, err, _) = run(&setup, &["rotate", "token", "--stdin"], NEW_SECRET);
    assert!(err.is_empty(), "{out}");
    scene.say("again").await;
    scene.approve().await;
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[..], [Outcome::Done(_), Outcome::Failed(_)]), "{outcomes:?}");
    let entries = serde_json::to_string(&*scene.log.entries.lock().unwrap()).unwrap();
    assert!(entries.matches("you sent authorization: Bearer [redacted]").count() == 2, "{entries}");
    let requests = format!("{:?}", scene.model.requests().lock().unwrap());
    for secret in [SECRET, NEW_SECRET] {
        assert!(!entries.contains(secret) && !requests.contains(secret), "{entries}");
    }
}

#[test]
fn r57_a_credential_is_in_no_file_but_its_own_and_reaches_no_command() {
    use crate::support::service::Service;
    use crate::support::terminal_session::{command_answer, text_answer};
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let commands = "env; cat /proc/$PPID/environ; echo ran-to-the-end";
    let service = runtime.block_on(Service::start([command_answer(commands), text_answer("Done.")]));
    let setup =
        Setup::new(&["--debug-content"]).env("OPENAI_BASE_URL", &service.base_url).env("OPENAI_API_KEY", "sk-x");
    let setup = setup.size(100, 30).env("AYE_MODEL", "m").env("MY_TOKEN", NEW_SECRET);
    add(&setup, &["token", "--origin", ORIGIN, "--stdin"], SECRET);
    add(&setup, &["other", "--origin", ORIGIN, "--env", "MY_TOKEN"], "");
    write_settings(&setup, "");
    let root = setup.root.clone();
    let mut program = setup.start();
    program.until("ask mode");
    program.type_text("go");
    program.press_keys("\r");
    program.until_prompt("Run a command?");
    program.press_keys("y");
    program.until("Done.");
    program.press_keys("\u{4}");
    program.wait_for_exit();
    let sent = service.received().iter().map(|request| request.body.to_string()).collect::<String>();
    assert!(sent.contains("ran-to-the-end"), "{sent}");
    for secret in [SECRET, NEW_SECRET] {
        assert!(!sent.contains(secret), "{secret} was sent to the model");
    }
    let bundle = root.path().join("bundle.txt").display().to_string();
    let (out, err, _) =
        Setup::with_home(&root, &["doctor", "--bundle", &bundle]).env("MY_TOKEN", NEW_SECRET).run_piped("");
    assert!(std::fs::exists(&bundle).unwrap(), "{out}{err}");
    let (exported, _, _) = Setup::with_home(&root, &["sessions", "export"]).run_piped("");
    assert!(exported.contains("ran-to-the-end"), "{exported}");
    for secret in [SECRET, NEW_SECRET] {
        assert!(!exported.contains(secret));
        let own = (secret == SECRET).then(|| root.path().join("home/aye/config/tool_credentials.toml"));
        assert_eq!(find_files_with(root.path(), secret), own.into_iter().collect::<Vec<_>>(), "{secret}");
    }
}

/// The prompts for credentials of this home, and what they send to the screen.
fn open_prompts(setup: &Setup) -> (Arc<CredentialPrompts>, mpsc::Receiver<HostReply>) {
    let prompts = CredentialPrompts::new(Arc::new(open_store(setup, &KnownSecrets::default())));
    let (replies, screen) = mpsc::channel(8);
    prompts.set_screen(replies);
    (Arc::new(prompts), screen)
}

async fn next_request(screen: &mut mpsc::Receiver<HostReply>) -> Arc<CredentialRequest> {
    match tokio::time::timeout(PATIENCE, screen.recv()).await.unwrap().unwrap() {
        HostReply::CredentialRequested(request) => request,
        _ => panic!("no request for a credential"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_model_learns_only_whether_a_credential_is_connected() {
    let setup = Setup::new(&[]);
    let (prompts, mut screen) = open_prompts(&setup);
    let tools = Toolbox::from_tools(Vec::new()).with_credential_prompts(prompts.clone());
    assert!(tools.tool_names().is_empty(), "no tool names a credential");
    let named = Arc::new(EchoedCredential(open_store(&setup, &KnownSecrets::default())));
    let tool = tools.with_tool(named).find_tool("connect_credential").unwrap();
    let call = || calls("connect_credential", json!({ "name": "token", "reason": "To list issues" }));
    let replies = [call(), says("Denied."), call(), says("Stored."), call(), says("Known.")];
    let mut scene = Scene::with_tool(replies, tool);
    for secret in [None, Some(SECRET)] {
        scene.apply_event(Event::UserMessage("go".into()));
        let request = loop {
            tokio::select! {
                event = scene.next_event() => scene.apply_event(event),
                request = next_request(&mut screen) => break request,
            }
        };
        assert_eq!((&*request.name, &*request.reason, request.origins.len()), ("token", "To list issues", 1));
        prompts.answer(request.id, secret.map(Key::new));
        scene.run_until_idle().await;
    }
    scene.say("again").await;
    let texts: Vec<String> = scene.outcomes().iter().map(|outcome| format!("{outcome:?}")).collect();
    assert_eq!(
        texts,
        [
            "Failed(\"declined by the user. Do not ask again; continue without it.\")",
            "Done(\"connected\")",
            "Done(\"connected\")",
        ]
    );
    assert!(screen.try_recv().is_err(), "no second prompt");
    let entries = serde_json::to_string(&*scene.log.entries.lock().unwrap()).unwrap();
    assert!(!entries.contains(SECRET), "{entries}");
    assert_eq!(find_files_with(setup.root.path(), SECRET), [credential_file(&setup)]);
    let header = header_line(&open_store(&setup, &KnownSecrets::default()), "token", ORIGIN);
    assert_eq!(header, Ok(format!("authorization: Bearer {SECRET}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_withdrawn_when_its_call_is_stopped_and_missing_without_a_screen() {
    let setup = Setup::new(&[]);
    let (prompts, mut screen) = open_prompts(&setup);
    let named = NamedCredential { name: "github".into(), origins: vec![ORIGIN.into()] };
    let (task_prompts, task_named) = (prompts.clone(), named.clone());
    let task = tokio::spawn(async move { task_prompts.connect(&task_named, "x").await });
    let request = next_request(&mut screen).await;
    task.abort();
    let withdrawn = tokio::time::timeout(PATIENCE, screen.recv()).await.unwrap().unwrap();
    assert!(matches!(withdrawn, HostReply::CredentialWithdrawn(id) if id == request.id));
    prompts.answer(request.id, Some(Key::new(SECRET)));
    assert!(!credential_file(&setup).exists(), "a late answer is dropped");
    let headless = CredentialPrompts::new(Arc::new(open_store(&setup, &KnownSecrets::default())));
    let Connection::Missing(text) = headless.connect(&named, "x").await else { panic!("it is missing") };
    assert!(text.ends_with("The user must run: aye credentials add github --origin https://api.example.com"), "{text}");
    // A credential of this name for another origin is not replaced.
    add(&setup, &["github", "--origin", "https://other.example", "--stdin"], SECRET);
    let Connection::Missing(text) = prompts.connect(&named, "x").await else { panic!("it is missing") };
    assert!(text.contains("it is bound to https://other.example"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_chosen_while_a_tool_asks_for_it_answers_the_tool() {
    let setup = Setup::new(&[]);
    let (prompts, mut screen) = open_prompts(&setup);
    let named = NamedCredential { name: "github".into(), origins: vec![ORIGIN.into()] };
    for answer in [None, Some(Key::new(NEW_SECRET))] {
        let (task_prompts, task_named) = (prompts.clone(), named.clone());
        let task = tokio::spawn(async move { task_prompts.connect(&task_named, "x").await });
        let request = next_request(&mut screen).await;
        // The prompt of the tool does not delay the choice of the user.
        assert_eq!(prompts.save_secret(&named, Key::new(SECRET)).await, Ok(()));
        prompts.answer(request.id, answer);
        assert_eq!(task.await.unwrap(), Connection::Connected);
        let header = header_line(&open_store(&setup, &KnownSecrets::default()), "github", ORIGIN);
        assert_eq!(header, Ok(format!("authorization: Bearer {SECRET}")));
        let again = prompts.save_secret(&named, Key::new(NEW_SECRET)).await;
        assert_eq!(again, Err("github could not be saved: it was added meanwhile.".to_owned()));
        std::fs::remove_file(credential_file(&setup)).unwrap();
    }
    add(&setup, &["github", "--origin", "https://other.example", "--stdin"], SECRET);
    let problem = prompts.save_secret(&named, Key::new(NEW_SECRET)).await.unwrap_err();
    assert!(problem.contains("it is bound to https://other.example"), "{problem}");
}

#[test]
fn doctor_reports_unusable_credentials() {
    use std::os::unix::fs::PermissionsExt;
    let setup = Setup::new(&["doctor"]);
    add(&setup, &["token", "--origin", ORIGIN, "--stdin"], SECRET);
    add(&setup, &["unset", "--origin", ORIGIN, "--env", "AYE_NO_SUCH_TOKEN"], "");
    let file = credential_file(&setup);
    let text = std::fs::read_to_string(&file).unwrap() + "[broken]\nkind = \"bearer\"\norigins = []\nsecret = \"x\"\n";
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (out, _, code) = setup.run_piped("");
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 1);
    for part in [
        "2 credentials in ~/aye/config/tool_credentials.toml",
        "broken cannot be used: it has no origin",
        "the variable AYE_NO_SUCH_TOKEN is not set",
        "was accessible to others (644)",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    assert!(!out.contains("s3cret"), "{out}");
    let (out, err, _) = run(&setup, &["list"], "");
    assert!(err.contains("the credential broken cannot be used: it has no origin") && out.contains("token"), "{err}");
    let (_, err, code) = run(&setup, &["remove", "--yes", "broken"], "");
    assert_eq!((err.as_str(), code), ("", 0));
    std::fs::write(&file, "secret = odd-s3cret").unwrap();
    let (out, _, _) = Setup::with_home(&setup.root, &["doctor"]).run_piped("");
    assert!(out.contains("it is not valid TOML") && !out.contains("s3cret"), "{out}");
}
