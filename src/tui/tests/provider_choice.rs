//! Choosing a provider, from the welcome screen on.

use super::*;
use crate::tui::host::{HostReply, HostRequest, LocalServer};

fn tour_screen(servers: &[(&str, &[&str])]) -> Screen {
    let mut screen = Screen::new();
    screen.state.session.connection.is_tour = true;
    let server = |(name, models): &(&str, &[&str])| LocalServer {
        name: (*name).into(),
        address: "http://127.0.0.1:11434/v1".into(),
        models: models.iter().map(|model| (*model).to_owned()).collect(),
    };
    screen.handle_event(Event::Host(HostReply::LocalServers(servers.iter().map(server).collect())));
    screen.effects.clear();
    screen
}

fn provider_requests(screen: &Screen) -> Vec<&HostRequest> {
    let provider_request = |effect| match effect {
        &Effect::Request(ref request @ (HostRequest::UseLocalServer(_) | HostRequest::SaveKey(_))) => Some(request),
        _ => None,
    };
    screen.effects.iter().filter_map(provider_request).collect()
}

#[test]
fn the_welcome_screen_names_the_tour_and_the_other_providers() {
    let mut screen = tour_screen(&[("Ollama", &["qwen3", "llama3"])]);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye                                                the tour · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────

       aye  the terminal copilot that asks first

       Connected to the tour: a built-in script, not a model. It needs no key and
       no network. Its tools are real and work in a small sample project.

       ❯ Type “say hello” and press enter to start.

       To connect to a model instead, press alt-c:
       • Ollama is running on this machine · qwen3 and 1 more
       • OpenAI, or the provider in your settings, with an API key

       ctrl-p   Command palette
       alt-s    Continue another session
       f1       Key help




    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     ask mode                                                                ? help
    ");
    screen.resize_screen(60, 15);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye                            the tour · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     Connected to the tour: a built-in script, not a model. It
     needs no key and no network. Its tools are real and work
     in a small sample project.

     ❯ Type “say hello” and press enter to start.

     To connect to a model instead, press alt-c:
     • Ollama is running on this machine · qwen3 and 1 more
     • OpenAI, or the provider in your settings, with an API
       key

     ❯ Write a message, / for commands, @ for files
     ask mode                                            ? help
    ");
    screen.resize_screen(40, 10);
    let text = screen.screen_text();
    assert!(text.contains("the tour: a built-in") && text.contains("say hello"), "{text}");
}

#[test]
fn a_local_server_is_picked_from_the_list() {
    let mut screen = tour_screen(&[("Ollama", &["qwen3", "llama3"])]);
    screen.press_key("alt-c");
    assert!(screen.screen_text().contains("Ollama, on this machine"), "{}", screen.screen_text());
    screen.press_key("down");
    screen.press_key("enter");
    let picked = LocalServer {
        name: "Ollama".into(),
        address: "http://127.0.0.1:11434/v1".into(),
        models: vec!["llama3".into()],
    };
    assert_eq!(provider_requests(&screen), [&HostRequest::UseLocalServer(picked)]);
}

#[test]
fn opening_the_list_finds_servers_started_later() {
    let mut screen = tour_screen(&[]);
    screen.press_key("alt-c");
    assert!(screen.effects.contains(&Effect::Request(HostRequest::FindLocalServers)));
    let server = LocalServer { name: "vLLM".into(), address: "http://127.0.0.1:8000/v1".into(), models: vec![] };
    screen.handle_event(Event::Host(HostReply::LocalServers(vec![server])));
    assert!(screen.screen_text().contains("vLLM, on this machine"), "{}", screen.screen_text());
}

#[test]
fn r57_an_entered_api_key_is_never_shown() {
    let mut screen = tour_screen(&[]);
    screen.press_key("alt-c");
    screen.press_key("enter");
    screen.handle_event(Event::Pasted("sk-sec".into()));
    screen.type_text("ret");
    let text = screen.screen_text();
    assert!(text.contains("❯ •••••••••") && !text.contains("sk-") && !text.contains("ret "), "{text}");
    screen.press_key("enter");
    assert_eq!(provider_requests(&screen), [&HostRequest::SaveKey("sk-secret".into())]);
    assert!(screen.state.input.composer.is_empty(), "nothing of it is in the composer");
}

#[test]
fn an_empty_or_cancelled_key_is_not_stored() {
    for last_key in ["enter", "esc"] {
        let mut screen = tour_screen(&[]);
        screen.press_key("alt-c");
        screen.press_key("enter");
        screen.type_text(if last_key == "esc" { "sk-secret" } else { "  " });
        screen.press_key(last_key);
        assert!(provider_requests(&screen).is_empty());
        assert!(!screen.screen_text().contains("Enter API key"), "{}", screen.screen_text());
    }
}

#[test]
fn the_provider_is_not_switched_while_a_turn_runs() {
    let mut screen = tour_screen(&[("Ollama", &["qwen3"])]);
    screen.send_text("go");
    screen.press_key("alt-m");
    screen.press_key("enter");
    assert!(provider_requests(&screen).is_empty());
    assert!(screen.screen_text().contains("Stop it first"), "{}", screen.screen_text());
}

#[test]
fn r57_the_key_prompt_names_the_provider_that_receives_it() {
    let cases = [
        ("", "tiny-7b at 127.0.0.1:9 (set by --base-url)", "provider: tiny-7b at 127.0.0.1:9"),
        ("work", "m at example.com (set in config.toml:2)", "provider: m at example.com"),
        // This provider receives no key: the entered one is for the configured provider.
        ("", "qwen3 of Ollama, found on this machine", "unless your settings name another"),
    ];
    for (profile, source, expected) in cases {
        let mut screen = Screen::new();
        screen.state.session.connection.profile = profile.into();
        screen.state.session.connection.source = source.into();
        screen.press_key("alt-c");
        screen.press_key("enter");
        let text = screen.screen_text();
        let words: Vec<&str> = text.split(['│', ' ', '\n']).filter(|word| !word.is_empty()).collect();
        assert!(words.join(" ").contains(expected), "{text}");
    }
}
