//! The browser behind the proxy that the environment names: its requests go through that, and no others.

use crate::for_each_browser;
use crate::support::browser::{approve, open, until_settled};
use crate::support::program::Program;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::tool_service::add_settings;
use crate::support::user::User;
use crate::support::web_server::WebServer;
use aye::chat::Outcome;
use std::path::Path;

for_each_browser!(pages_are_requested_through_the_proxy_of_the_environment);

const HTML: &str = "200 OK\r\nContent-Type: text/html";

fn start_with_proxy(user: &User, browser: &Path, variable: &str, proxy: &str) -> Program {
    add_settings(user, &format!("[web]\nbrowser_path = \"{}\"\n", browser.display()));
    let mut program = user.setup(&[]).env(variable, proxy).start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program
}

fn pages_are_requested_through_the_proxy_of_the_environment(browser: &Path) {
    let page =
        b"<title>Shop</title><button>Buy</button><img src=http://10.0.0.1/x><script src=http://cdn.example/y></script>";
    let proxy = WebServer::start().with_page("http://shop.example/", HTML, page);
    let answers = vec![open("http://shop.example/"), open("http://wiki/"), text_answer("Done.")];
    let user = User::new(answers);
    let mut program =
        start_with_proxy(&user, browser, "HTTP_PROXY", &format!("http://me:pass@127.0.0.1:{}", proxy.port));
    let screen = approve(&mut program, "Open in the browser?", "shop.example");
    assert!(screen.contains("through the proxy of HTTP_PROXY"), "{screen}");
    approve(&mut program, "Open in the browser?", "http://wiki/");
    program.until_idle("Done.");
    let settled = until_settled(&user, &mut program, 2);
    assert!(matches!(&settled[0], Outcome::Done(text) if text.contains("button \"Buy\"")), "{settled:#?}");
    assert!(settled[0].text().contains("A request of the page: Refused: 10.0.0.1 "), "{settled:#?}");
    let refused = "Refused: wiki is a name of a private network.";
    assert!(matches!(&settled[1], Outcome::Failed(text) if text.contains(refused)), "{settled:#?}");
    let requests = proxy.requests();
    let asks = |start: &str| requests.iter().any(|request| request.starts_with(start));
    assert!(asks("GET http://shop.example/ ") && asks("GET http://cdn.example/y "), "{requests:#?}");
    assert!(requests.iter().all(|request| request.contains("Proxy-Authorization: Basic ")), "{requests:#?}");
    assert!(!requests.iter().any(|request| request.contains("10.0.0.1") || request.contains("wiki")), "{requests:#?}");
}

#[test]
fn a_proxy_of_another_kind_hides_the_tools() {
    for (variable, proxy, is_offered) in [
        ("HTTPS_PROXY", "http://127.0.0.1:9", true),
        ("ALL_PROXY", "socks5h://127.0.0.1:9", false),
        ("https_proxy", "https://127.0.0.1:9", false),
        ("HTTP_PROXY", "ftp://127.0.0.1:9", false),
    ] {
        let user = User::new(vec![text_answer("Done.")]);
        // Any program; it is not started.
        let mut program = start_with_proxy(&user, Path::new("/bin/sh"), variable, proxy);
        program.until_idle("Done.");
        let sent = user.service.received().last().unwrap().body["tools"].to_string();
        assert_eq!(sent.contains("browser_navigate"), is_offered, "{variable} {proxy}");
    }
}
