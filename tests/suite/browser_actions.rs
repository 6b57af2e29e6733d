//! Actions on the page of the browser that no form needs, and what the browser keeps between calls.

use crate::for_each_browser;
use crate::support::browser::{ACT_RULE, OPEN_RULE, approve, open, start, until_settled, user_with};
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::call;
use crate::support::web_server::WebServer;
use aye::chat::Outcome;
use serde_json::{Value, json};
use std::path::Path;

for_each_browser!(
    double_clicks_unchecking_and_scrolling_sideways_act_on_the_page,
    a_cookie_is_kept_until_the_next_session
);

const HTML: &str = "200 OK\r\nContent-Type: text/html";

/// Reports what happens to it to its server.
const PAGE: &[u8] = b"<button onclick=fetch('/click') ondblclick=fetch('/double')>Twice</button>\
    <label><input type=checkbox checked onchange=fetch('/checked/'+this.checked)> Gift</label>\
    <div style='width:9000px'>Wide</div><script>onscroll = () => fetch(scrollX > 0 ? '/right' : '/left')</script>";

fn double_clicks_unchecking_and_scrolling_sideways_act_on_the_page(browser: &Path) {
    let mut server = WebServer::start().with_page("/", HTML, PAGE);
    for path in ["/click", "/double", "/checked/false", "/right", "/left"] {
        server = server.with_page(path, HTML, b"");
    }
    let act = |arguments: Value| call("browser_act", arguments);
    let scroll = |direction: &str| act(json!({ "action": "scroll", "direction": direction }));
    let answers = vec![
        open(&server.url("/")),
        act(json!({ "action": "dblclick", "target": "button" })),
        act(json!({ "action": "uncheck", "target": "input" })),
        // It is unchecked already.
        act(json!({ "action": "uncheck", "target": "input" })),
        scroll("right"),
        text_answer("Right."),
        scroll("left"),
        scroll("left"),
        text_answer("Left."),
    ];
    let user = user_with(answers, &server, browser).with_rules(&format!("{OPEN_RULE}{ACT_RULE}"));
    let mut program = start(&user, &[]);
    approve(&mut program, "Act on the web page?", "dblclick");
    program.until_idle("Right.");
    let count = |path: &str| {
        let start = format!("GET {path} ");
        server.requests().iter().filter(|request| request.starts_with(&start)).count()
    };
    program.until_condition("the page was scrolled to the right", |_| count("/right") > 0);
    assert_eq!((count("/click"), count("/double"), count("/checked/false"), count("/left")), (2, 1, 1, 0));
    submit_message(&mut program, "back");
    approve(&mut program, "Act on the web page?", "scroll left");
    program.until_idle("Left.");
    program.until_condition("the page was scrolled to the left", |_| count("/left") > 0);
    let settled = until_settled(&user, &mut program, 7);
    assert!(settled.iter().all(|outcome| matches!(outcome, Outcome::Done(_))), "{settled:#?}");
    assert!(settled[0].text().contains("(checked)") && !settled[2].text().contains("(checked)"), "{settled:#?}");
    let unmoved: Vec<bool> =
        settled[4..].iter().map(|outcome| outcome.text().contains("there is no more left")).collect();
    assert_eq!(unmoved, [false, false, true], "{settled:#?}");
}

fn a_cookie_is_kept_until_the_next_session(browser: &Path) {
    let server = WebServer::start()
        .with_page("/", "200 OK\r\nContent-Type: text/html\r\nSet-Cookie: id=plugh; Max-Age=9999", b"<p>One</p>")
        .with_page("/next", HTML, b"<p>Two</p>");
    let answers = vec![
        open(&server.url("/")),
        open(&server.url("/next")),
        text_answer("First."),
        open(&server.url("/next")),
        text_answer("Second."),
    ];
    let user = user_with(answers, &server, browser).with_rules(OPEN_RULE);
    let mut program = start(&user, &[]);
    approve(&mut program, "Open in the browser?", "/next");
    program.until_idle("First.");
    submit_message(&mut program, "/new");
    program.until_gone("First.");
    submit_message(&mut program, "go");
    program.until_idle("Second.");
    let requests = server.requests();
    let next: Vec<bool> = requests
        .iter()
        .filter(|request| request.starts_with("GET /next "))
        .map(|request| request.contains("id=plugh"))
        .collect();
    assert_eq!(next, [true, false], "{requests:#?}");
}
