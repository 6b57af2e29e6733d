//! Pages that change between a plan and its call, calls that fail, and browsers that end: nothing is done elsewhere, and nothing
//! is left.

use crate::for_each_browser;
use crate::support::browser::{ACT_RULE, OPEN_RULE, approve, open, start, until_settled, user_with};
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::call;
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::Outcome;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

for_each_browser!(
    an_approved_action_is_not_done_on_another_page,
    a_failed_action_keeps_the_history,
    a_resumed_session_has_a_new_browser
);

const HTML: &str = "200 OK\r\nContent-Type: text/html";

fn act(arguments: Value) -> crate::support::service::Answer {
    call("browser_act", arguments)
}

/// The prompt shows the page that was open when the call was planned.
fn an_approved_action_is_not_done_on_another_page(browser: &Path) {
    for (move_on, arguments, part) in [
        ("location = '/pay'", json!({ "action": "click", "target": "button" }), "click the element button"),
        ("location = '/pay'", json!({ "action": "press", "value": "Enter" }), "press Enter"),
        (
            "history.pushState({}, '', '/pay'), fetch('/arrived')",
            json!({ "action": "click", "target": "e1" }),
            "click button",
        ),
    ] {
        let page = format!(
            "<title>Shop</title><form action=/done><button autofocus>Go</button></form><script>const timer = setInterval(async () => {{
                if ((await fetch('/go')).ok) {{ clearInterval(timer); {move_on} }} }}, 100)</script>"
        );
        let pay = b"<form action=/done><button autofocus>Go</button></form><script>fetch('/arrived')</script>";
        let server = WebServer::start().with_page("/", HTML, page.as_bytes()).with_page("/pay", HTML, pay);
        let navigate = json!({ "url": server.url("/"), "wait_for": "load" });
        let answers = vec![call("browser_navigate", navigate), act(arguments), text_answer("Done.")];
        let user = user_with(answers, &server, browser).with_rules(OPEN_RULE);
        let mut program = start(&user, &[]);
        program.until_prompt(part);
        let server = server.with_page("/go", HTML, b"");
        program.until_condition("the page has moved", |_| {
            server.requests().iter().any(|request| request.starts_with("GET /arrived "))
        });
        approve(&mut program, "Act on the web page?", part);
        program.until_idle("Done.");
        let settled = until_settled(&user, &mut program, 2);
        let text = "The page has changed since the call was planned. Nothing was done.";
        assert!(matches!(&settled[1], Outcome::Failed(found) if found == text), "{move_on}: {settled:#?}");
        let done = server.requests().into_iter().find(|request| request.starts_with("GET /done"));
        assert_eq!(done, None, "{move_on}");
    }
}

fn a_failed_action_keeps_the_history(browser: &Path) {
    let server = WebServer::start().with_page("/", HTML, b"<a href=/two>Two</a>").with_page(
        "/two",
        HTML,
        b"<title>Second</title><div id=aye-labels><button>Left</button></div>",
    );
    let answers = vec![
        open(&server.url("/")),
        act(json!({ "action": "click", "target": "a" })),
        act(json!({ "action": "click", "target": "#none" })),
        // Labels that a stopped call has left are removed, and are in no picture.
        call("browser_screenshot", json!({ "annotate": false })),
        act(json!({ "action": "scroll" })),
        act(json!({ "action": "click", "target": "#none" })),
        act(json!({ "action": "back" })),
        text_answer("Done."),
    ];
    let user = user_with(answers, &server, browser).with_rules(&format!("{OPEN_RULE}{ACT_RULE}"));
    let mut program = start(&user, &[]);
    approve(&mut program, "Act on the web page?", "click the element a");
    approve(&mut program, "Save a picture of the web page?", "screenshot.png");
    program.until_idle("Done.");
    let settled = until_settled(&user, &mut program, 7);
    for index in [2, 5] {
        assert!(matches!(&settled[index], Outcome::Failed(text) if text.contains("No element")), "{settled:#?}");
    }
    assert!(settled[1].text().contains("button \"Left\"") && !settled[4].text().contains("Left"), "{settled:#?}");
    assert!(matches!(&settled[6], Outcome::Done(text) if text.contains("link \"Two\"")), "{settled:#?}");
}

/// A rule for a host that names no tool is for requests without scripts.
#[test]
fn a_browser_that_does_not_start_asks_first_and_leaves_nothing() {
    let server = WebServer::start();
    let user = User::new(Vec::new());
    let (script, mark) = (user.path("browser"), user.path("folder"));
    // A process that outlives the browser writes until it is killed.
    let text = format!(
        "#!/bin/sh\npwd >{mark}\nfor name in HOME TMPDIR XDG_CONFIG_HOME XDG_RUNTIME_DIR; do eval echo \\$$name; done >>{mark}\n\
         (while :; do mkdir -p profile/a; echo x >profile/a/b; done) &\nexit 7\n",
        mark = mark.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let answers = vec![open(&server.url("/")), text_answer("Done.")];
    let user = user_with(answers, &server, &script).with_rules("[[rule]]\nverdict = \"allow\"\nhost = \"127.0.0.1\"\n");
    let mut program = start(&user, &[]);
    approve(&mut program, "Open in the browser?", "Its scripts run.");
    program.until_idle("Done.");
    let settled = until_settled(&user, &mut program, 1);
    let text = "The browser could not be started: it exited with status 7.";
    assert!(matches!(&settled[0], Outcome::Failed(found) if found == text), "{settled:#?}");
    let folders = std::fs::read_to_string(&mark).unwrap();
    let folders: Vec<&std::path::Path> = folders.lines().map(std::path::Path::new).collect();
    let temporary = user.path("tmp").canonicalize().unwrap();
    assert!(folders.len() == 5 && folders.iter().all(|folder| *folder == folders[0]), "{folders:?}");
    assert_eq!(folders[0].parent(), Some(temporary.as_path()));
    let started = Instant::now();
    while folders[0].exists() {
        assert!(started.elapsed() < Duration::from_secs(20), "{folders:?} is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Pages and logins end with the program. The model is told once.
fn a_resumed_session_has_a_new_browser(browser: &Path) {
    let server = WebServer::start().with_page("/", HTML, b"<button>One</button>");
    let answers = vec![
        open(&server.url("/")),
        text_answer("Done."),
        act(json!({ "action": "click", "target": "e1" })),
        open(&server.url("/")),
        open(&server.url("/")),
        text_answer("Again."),
    ];
    let user = user_with(answers, &server, browser).with_rules(OPEN_RULE);
    let mut program = start(&user, &[]);
    program.until_idle("Done.");
    program.press_keys("\x04");
    program.wait_for_exit();
    let mut program = user.start(&["--continue"]);
    program.until("Done.");
    submit_message(&mut program, "go on");
    approve(&mut program, "Open in the browser?", "which may have led to this request");
    program.until_idle("Again.");
    let settled = until_settled(&user, &mut program, 4);
    let lost = "No page is open. The session was resumed, and pages and logins of its earlier browser are gone.";
    assert!(matches!(&settled[1], Outcome::Failed(text) if text.starts_with(lost)), "{settled:#?}");
    let note = "The browser is new, because the session was resumed. Earlier pages and logins are gone.";
    assert!(!settled[0].text().contains(note) && !settled[3].text().contains(note), "{settled:#?}");
    assert!(matches!(&settled[2], Outcome::Done(text) if text.contains(note)), "{settled:#?}");
}
