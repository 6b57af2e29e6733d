//! Frames of a page in the real program: their elements are listed and acted on, and those of another host ask.

use crate::for_each_browser;
use crate::support::browser::{ACT_RULE, OPEN_RULE, approve, open, start, until_settled};
use crate::support::service::Answer;
use crate::support::terminal_session::text_answer;
use crate::support::tool_service::{add_settings, call};
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::Outcome;
use serde_json::{Value, json};
use std::path::Path;

for_each_browser!(
    elements_of_frames_are_listed_and_acted_on,
    an_approved_action_is_not_done_in_another_document_of_the_frame
);

const HTML: &str = "200 OK\r\nContent-Type: text/html";

fn act(arguments: Value) -> Answer {
    call("browser_act", arguments)
}

/// A user with this browser, who allows the server by both of its hosts, and actions on one of them.
fn user_with_both_hosts(answers: Vec<Answer>, server: &WebServer, browser: &Path) -> User {
    let user = User::new(answers);
    let (port, browser) = (server.port, browser.display());
    let hosts = format!("private_hosts = [\"127.0.0.1:{port}\", \"localhost:{port}\"]");
    add_settings(&user, &format!("[web]\n{hosts}\nbrowser_path = \"{browser}\"\n"));
    user.with_rules(&format!("{OPEN_RULE}{ACT_RULE}"))
}

fn elements_of_frames_are_listed_and_acted_on(browser: &Path) {
    let server = WebServer::start();
    let port = server.port;
    let button = |name: &str| format!("<button onclick=\"this.textContent='{name} done'\">{name}</button>");
    // The frame of `localhost` is one of another site. Both are below what is visible, and so are their elements.
    let page = format!(
        "<title>Shop</title>{}<p style='height:1500px'></p><iframe src=/same title=Same width=400 height=200 \
         style='border:7px solid;padding:5px'></iframe><iframe src='http://localhost:{port}/other' width=400 height=200 \
         style='border:3px solid;transform:scale(0.5)'></iframe>",
        button("Top")
    );
    let same = format!("<p style='height:500px'></p>{}<input aria-label=Field>", button("Same"));
    let other = format!(
        "<form action=/sent aria-label=Ask><input name=who aria-label=Who></form><p style='height:500px'></p>{}\
         <iframe src='http://127.0.0.1:{port}/deep'></iframe>",
        button("Other")
    );
    let server = server
        .with_page("/", HTML, page.as_bytes())
        .with_page("/same", HTML, same.as_bytes())
        .with_page("/other", HTML, other.as_bytes())
        .with_page("/deep", HTML, button("Deep").as_bytes())
        .with_page("/sent?who=Eve+Bob", HTML, b"<h1>Thanks</h1>");
    let answers = vec![
        open(&server.url("/")),
        act(json!({ "action": "click", "target": "e2" })),
        act(json!({ "action": "type", "target": "e3", "value": "text" })),
        act(json!({ "action": "click", "target": "e5" })),
        act(json!({ "action": "fill", "target": "e4", "value": "Ada Bob" })),
        act(json!({ "action": "click", "target": "e6" })),
        act(json!({ "action": "click", "target": "iframe" })),
        act(json!({ "action": "hover", "target": "e4" })),
        call("browser_screenshot", json!({})),
        act(json!({ "action": "fill", "target": "e4", "value": "Eve Bob" })),
        act(json!({ "action": "press", "value": "Enter" })),
        text_answer("Done."),
    ];
    let user = user_with_both_hosts(answers, &server, browser);
    let mut program = start(&user, &[]);
    // The first action after a page was opened asks. The host of the frame is that of the page.
    let screen = approve(&mut program, "Act on the web page?", "click button");
    assert!(!screen.contains("in a frame of"), "{screen}");
    // The rule does not cover the frame of another host.
    let screen = approve(&mut program, "Act on the web page?", "click button \"Other\" [e5]");
    assert!(screen.contains("in a frame of localhost, another host than the page"), "{screen}");
    assert!(screen.contains("call of localhost in a page of 127.0.0.1") && !screen.contains("a always"), "{screen}");
    let screen = approve(&mut program, "Act on the web page?", "Ada Bob");
    assert!(screen.contains("fill textbox \"Who\" [e4]"), "{screen}");
    approve(&mut program, "Act on the web page?", "hover textbox");
    approve(&mut program, "Save a picture of the web page?", "screenshot.png");
    approve(&mut program, "Act on the web page?", "Eve Bob");
    // Nor the key, which goes to that frame.
    let screen = approve(&mut program, "Act on the web page?", "press Enter");
    assert!(screen.contains("in a frame of localhost"), "{screen}");
    program.until_idle("Done.");
    let settled = until_settled(&user, &mut program, 11);
    let texts: Vec<&str> = settled.iter().map(Outcome::text).collect();
    let expected = "- button \"Top\" [e1]\n- Iframe \"Same\"\n  - button \"Same\" [e2]\n  - textbox \"Field\" [e3]\n\
        - Iframe (of localhost)\n  - form \"Ask\"\n    - textbox \"Who\" [e4]\n  - button \"Other\" [e5]\n\
        \x20 - Iframe\n    - button \"Deep\" [e6]\n";
    assert!(texts[0].ends_with(expected), "{}", texts[0]);
    for (index, part) in [
        (1, "button \"Same done\""),
        (2, "textbox \"Field\" [e3]: \"text\""),
        (3, "button \"Other done\""),
        (4, "textbox \"Who\" [e4]: \"Ada Bob\""),
        (5, "button \"Deep done\""),
        (6, "A frame is at this place."),
    ] {
        assert!(texts[index].contains(part), "{part}: {settled:#?}");
    }
    let failures = settled.iter().filter(|outcome| !matches!(outcome, Outcome::Done(_))).count();
    assert_eq!(failures, 1, "{settled:#?}");
    program.until_condition("the form of the frame is sent", |_| {
        server.requests().iter().any(|request| request.starts_with("GET /sent?who=Eve+Bob "))
    });
}

/// The prompt shows an element of the document that was in the frame when the call was planned.
fn an_approved_action_is_not_done_in_another_document_of_the_frame(browser: &Path) {
    let server = WebServer::start();
    let port = server.port;
    let page = format!("<iframe src='http://localhost:{port}/frame'></iframe>");
    let frame = b"<form action=/done><button>Go</button></form><script>const timer = setInterval(async () => {
        if ((await fetch('/go')).ok) { clearInterval(timer); location = '/pay' } }, 100)</script>";
    let pay = b"<form action=/done><button>Go</button></form><script>fetch('/arrived')</script>";
    let server = server.with_page("/", HTML, page.as_bytes()).with_page("/frame", HTML, frame);
    let server = server.with_page("/pay", HTML, pay);
    let navigate = json!({ "url": server.url("/"), "wait_for": "load" });
    let click = act(json!({ "action": "click", "target": "e1" }));
    let answers = vec![call("browser_navigate", navigate), click, text_answer("Done.")];
    let user = user_with_both_hosts(answers, &server, browser);
    let mut program = start(&user, &[]);
    program.until_prompt("click button \"Go\"");
    let server = server.with_page("/go", HTML, b"");
    program.until_condition("the frame has moved", |_| {
        server.requests().iter().any(|request| request.starts_with("GET /arrived "))
    });
    approve(&mut program, "Act on the web page?", "in a frame of localhost");
    program.until_idle("Done.");
    let settled = until_settled(&user, &mut program, 2);
    let text = "e1 is not on the page as it is now.";
    assert!(matches!(&settled[1], Outcome::Failed(found) if found == text), "{settled:#?}");
    let done = server.requests().into_iter().find(|request| request.starts_with("GET /done"));
    assert_eq!(done, None);
}
