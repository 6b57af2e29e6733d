//! Choosing a model, a provider or a theme: the lists, the effects of a choice, and the price of a reply.

use super::*;
use crate::tui::host::{HostReply, HostRequest, ModelList, ModelRow, Models};

fn model_row(profile: &str, model: &str) -> ModelRow {
    ModelRow { profile: profile.into(), model: model.into(), ..ModelRow::default() }
}

#[test]
fn the_automatic_theme_can_be_chosen_again() {
    let mut screen = Screen::new();
    let saved_themes = |screen: &Screen| {
        let saved_theme = |effect: &Effect| match effect {
            Effect::Request(HostRequest::SaveTheme(name)) => Some(name.clone()),
            _ => None,
        };
        screen.effects.iter().filter_map(saved_theme).collect::<Vec<_>>()
    };
    screen.press_key("alt-t");
    assert!(screen.screen_text().contains("❯ auto"), "{}", screen.screen_text());
    screen.type_text("light");
    screen.press_key("enter");
    assert_eq!(screen.state.theme.name, "light");
    screen.press_key("alt-t");
    assert!(screen.screen_text().contains("❯ light"), "{}", screen.screen_text());
    screen.type_text("auto");
    assert_eq!(screen.state.theme.name, "dark", "it is previewed");
    screen.press_key("enter");
    assert_eq!(
        (saved_themes(&screen), screen.state.theme.name.as_str()),
        (vec!["light".into(), "auto".into()], "dark")
    );
}

#[test]
fn the_header_names_the_answering_model_if_none_was_configured() {
    let mut screen = Screen::new();
    screen.state.agent.model.name = String::new();
    screen.state.session.connection.model = String::new();
    screen.send_text("hello");
    screen.receive_chunk(Chunk::ModelChosen { model: "talker-7b".into(), reason: None });
    screen.receive_reply("Hello.");
    let text = screen.screen_text();
    assert!(text.lines().next().unwrap().contains("talker-7b"), "{text}");
    assert_eq!(screen.state.agent.model.name, "", "requests name no model");
}

/// Opens the list, with these models of the provider and of other profiles.
fn open_model_list(rows: Vec<ModelRow>, others: Vec<ModelRow>) -> Screen {
    let mut screen = Screen::new();
    screen.press_key("alt-m");
    assert_eq!(host_requests(&screen), [&HostRequest::ListModels]);
    screen.effects.clear();
    screen
        .handle_event(Event::Host(HostReply::Models(Models { listed: ModelList::Models(rows), other_models: others })));
    screen.draw_frame();
    screen
}

/// Returns the requests to the host among the effects.
fn host_requests(screen: &Screen) -> Vec<&HostRequest> {
    fn host_request(effect: &Effect) -> Option<&HostRequest> {
        if let Effect::Request(request) = effect { Some(request) } else { None }
    }
    screen.effects.iter().filter_map(host_request).collect()
}

fn sample_models() -> Vec<ModelRow> {
    // A price is per million tokens: input, cached input, output.
    let priced_row = |model: &str, window, price| ModelRow { context_window: window, price, ..model_row("", model) };
    vec![
        priced_row("gpt-5-mini", Some(400_000), Some((0.25, 0.025, 2.0))),
        priced_row("a-model-of-many-words/with-a-long-name-2026-11-20-preview-extended", Some(1_000_000), None),
        priced_row("free-one", None, Some((0.0, 0.0, 0.0))),
        priced_row("hostile\u{1b}[31m\u{202e}name", None, None),
    ]
}

#[test]
fn the_list_shows_models_with_context_window_and_price() {
    let mut screen = open_model_list(sample_models(), vec![model_row("groq", ""), model_row("ollama", "qwen3")]);
    insta::assert_snapshot!("models_80x24", screen.screen_text());
    screen.resize_screen(120, 36);
    insta::assert_snapshot!("models_120x36", screen.screen_text());
    screen.resize_screen(60, 15);
    screen.type_text("new-name");
    insta::assert_snapshot!("models_60x15", screen.screen_text());
}

#[test]
fn a_failed_listing_shows_the_reason_above_the_known_models() {
    let mut screen = Screen::new();
    screen.press_key("alt-m");
    let reason = "the service refused the key, or wants one (401, invalid_api_key): no such key.";
    let models = Models { listed: ModelList::Failed(reason.into()), other_models: vec![model_row("groq", "")] };
    screen.handle_event(Event::Host(HostReply::Models(models)));
    screen.draw_frame();
    insta::assert_snapshot!("models_that_cannot_be_listed", screen.screen_text());
}

#[test]
fn a_picked_model_is_used_and_stored_on_request() {
    let pick_typed = |typed: &str, chord: &str| {
        let mut screen = open_model_list(sample_models(), vec![model_row("groq", "g1")]);
        screen.type_text(typed);
        screen.press_key(chord);
        let requests = host_requests(&screen).into_iter().cloned().collect::<Vec<_>>();
        (requests, screen)
    };
    let save_request = |profile: &str, model: &str| HostRequest::SaveModel {
        profile: profile.into(),
        address: String::new(),
        model: model.into(),
    };
    let (requests, screen) = pick_typed("free", "enter");
    assert_eq!(requests, [HostRequest::UseModel("free-one".into())]);
    assert_eq!(
        (screen.state.session.connection.price, screen.state.session.connection.context_window),
        (Some((0.0, 0.0, 0.0)), None)
    );
    assert_eq!(
        pick_typed("free", "ctrl-s").0,
        [HostRequest::UseModel("free-one".into()), save_request("", "free-one")]
    );
    let profile = HostRequest::UseProfile { profile: "groq".into(), model: "g1".into() };
    assert_eq!(pick_typed("groq", "enter").0, std::slice::from_ref(&profile));
    assert_eq!(pick_typed("groq", "ctrl-s").0, [profile, save_request("groq", "g1")]);
    assert_eq!(pick_typed("no such", "enter").0, [HostRequest::UseModel("no such".into())]);
    assert_eq!(
        pick_typed("no such", "ctrl-s").0,
        [HostRequest::UseModel("no such".into()), save_request("", "no such")]
    );
    let hostile = pick_typed("hostile", "enter").0;
    assert_eq!(
        hostile,
        [HostRequest::UseModel("hostile\u{1b}[31m\u{202e}name".into())],
        "exactly as the provider sent it"
    );
    assert_eq!(pick_typed("free", "esc").0, []);
    // A typed name that is a row is not offered a second time.
    let (requests, _) = pick_typed("free-one", "enter");
    assert_eq!(requests, [HostRequest::UseModel("free-one".into())]);
}

#[test]
fn the_store_key_does_nothing_in_lists_without_it() {
    let mut screen = Screen::new();
    screen.press_key("alt-t");
    screen.effects.clear();
    screen.press_key("ctrl-s");
    assert_eq!(host_requests(&screen), [] as [&HostRequest; 0]);
    assert!(screen.screen_text().contains("Themes"), "the list is still open");
}

#[test]
fn a_provider_is_switched_when_the_session_records_it() {
    use crate::tui::host::{Connection, PendingConnection};
    let mut screen = Screen::new();
    let session = screen.state.session.id.clone();
    let connected_event = |session: &crate::chat::SessionId| {
        let connection = Connection { model: "b1".into(), profile: "two".into(), ..Connection::default() };
        Event::Host(HostReply::Connected(Box::new(PendingConnection {
            session: session.clone(),
            number: 7,
            connection,
        })))
    };
    screen.send_text("hello");
    screen.handle_event(connected_event(&session));
    assert!(screen.screen_text().contains("Stop it first"), "a turn runs: {}", screen.screen_text());
    assert!(!host_requests(&screen).contains(&&HostRequest::SwitchConnection(7)));
    screen.receive_reply("Hello.");
    screen.effects.clear();
    screen.handle_event(connected_event(&crate::chat::SessionId("another".into())));
    assert_eq!(screen.effects, [], "the switch was for another session");
    screen.handle_event(connected_event(&session));
    let entry = Entry::Switched { model: "b1".into(), profile: Some("two".into()) };
    assert_eq!(
        screen.effects[..2],
        [Effect::Agent(vec![agent::Effect::AppendEntry(entry)]), Effect::Request(HostRequest::SwitchConnection(7))]
    );
    screen.draw_frame();
    assert!(screen.screen_text().contains("switched to b1 (profile two)"), "{}", screen.screen_text());
    assert_eq!(screen.state.agent.model.name, "b1");
}

#[test]
fn a_list_of_thousands_of_models_is_filtered() {
    let models = (0..5000).map(|n| model_row("", &format!("maker-{}/model-{n}-preview", n % 70))).collect();
    let mut screen = open_model_list(models, Vec::new());
    screen.type_text("mk69 prev");
    screen.press_key("enter");
    assert!(
        matches!(host_requests(&screen)[..], [HostRequest::UseModel(name)] if name.starts_with("maker-69/")),
        "{:?}",
        host_requests(&screen)
    );
}

#[test]
fn cached_input_is_charged_at_its_own_price() {
    let mut screen = Screen::new();
    let usage = Usage { input: 1_000_000, cached: 600_000, output: 100_000 };
    screen.state.session.connection.price = Some((3.0, 0.3, 15.0));
    screen.send_text("hello");
    screen.receive_chunk(Chunk::Usage(usage));
    screen.receive_reply("Hello.");
    assert!(screen.screen_text().contains("$2.88"), "1.20 + 0.18 + 1.50: {}", screen.screen_text());
}
