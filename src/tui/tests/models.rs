//! Choosing a model: the list and the effects of a choice.

use super::*;
use crate::tui::host::{Listed, ModelRow, Models, Reply, Wish};

fn row(profile: &str, model: &str) -> ModelRow {
    ModelRow { profile: profile.into(), model: model.into(), ..ModelRow::default() }
}

#[test]
fn the_automatic_theme_can_be_chosen_again() {
    let mut screen = Screen::new();
    let kept = |screen: &Screen| {
        let kept = |effect: &Effect| match effect {
            Effect::Ask(crate::tui::host::Wish::KeepTheme(name)) => Some(name.clone()),
            _ => None,
        };
        screen.effects.iter().filter_map(kept).collect::<Vec<_>>()
    };
    screen.presses("alt-t");
    assert!(screen.shows().contains("❯ auto"), "{}", screen.shows());
    screen.types("light");
    screen.presses("enter");
    assert_eq!(screen.state.theme.name, "light");
    screen.presses("alt-t");
    assert!(screen.shows().contains("❯ light"), "{}", screen.shows());
    screen.types("auto");
    assert_eq!(screen.state.theme.name, "dark", "it is previewed");
    screen.presses("enter");
    assert_eq!(
        (kept(&screen), screen.state.theme.name.as_str()),
        (vec!["light".into(), "auto".into()], "dark")
    );
}

#[test]
fn the_header_names_the_answering_model_if_none_was_configured() {
    let mut screen = Screen::new();
    screen.state.agent.model = String::new();
    screen.state.connection.model = String::new();
    screen.says("hello");
    screen.chunk(Chunk::Answering { model: "talker-7b".into(), instead: None });
    screen.replies("Hello.");
    let shows = screen.shows();
    assert!(shows.lines().next().unwrap().contains("talker-7b"), "{shows}");
    assert_eq!(screen.state.agent.model, "", "requests name no model");
}

/// Opens the list, with these models of the provider and of other profiles.
fn listing(rows: Vec<ModelRow>, others: Vec<ModelRow>) -> Screen {
    let mut screen = Screen::new();
    screen.presses("alt-m");
    assert_eq!(asked(&screen), [&Wish::Models]);
    screen.effects.clear();
    screen.happens(Event::Host(Reply::Models(Models { listed: Listed::These(rows), others })));
    screen.frame();
    screen
}

fn asked(screen: &Screen) -> Vec<&Wish> {
    fn wish(effect: &Effect) -> Option<&Wish> {
        if let Effect::Ask(wish) = effect { Some(wish) } else { None }
    }
    screen.effects.iter().filter_map(wish).collect()
}

fn some() -> Vec<ModelRow> {
    let priced = |model: &str, window, price| ModelRow { window, price, ..row("", model) };
    vec![
        priced("gpt-5-mini", Some(400_000), Some((0.25, 0.025, 2.0))),
        priced("a-model-of-many-words/with-a-long-name-2026-11-20-preview-extended", Some(1_000_000), None),
        priced("free-one", None, Some((0.0, 0.0, 0.0))),
        priced("hostile\u{1b}[31m\u{202e}name", None, None),
    ]
}

#[test]
fn the_list_shows_models_with_context_window_and_price() {
    let mut screen = listing(some(), vec![row("groq", ""), row("ollama", "qwen3")]);
    insta::assert_snapshot!("models_80x24", screen.shows());
    screen.resized(120, 36);
    insta::assert_snapshot!("models_120x36", screen.shows());
    screen.resized(60, 15);
    screen.types("new-name");
    insta::assert_snapshot!("models_60x15", screen.shows());
}

#[test]
fn a_failed_listing_shows_the_reason_above_the_known_models() {
    let mut screen = Screen::new();
    screen.presses("alt-m");
    let why = "the service refused the key, or wants one (401, invalid_api_key): no such key";
    let models = Models { listed: Listed::Failed(why.into()), others: vec![row("groq", "")] };
    screen.happens(Event::Host(Reply::Models(models)));
    screen.frame();
    insta::assert_snapshot!("models_that_cannot_be_listed", screen.shows());
}

#[test]
fn a_picked_model_is_used_and_stored_on_request() {
    let took = |typed: &str, chord: &str| {
        let mut screen = listing(some(), vec![row("groq", "g1")]);
        screen.types(typed);
        screen.presses(chord);
        let asked = asked(&screen).into_iter().cloned().collect::<Vec<_>>();
        (asked, screen)
    };
    let keep = |profile: &str, model: &str| Wish::KeepModel {
        profile: profile.into(),
        address: String::new(),
        model: model.into(),
    };
    let (asked, screen) = took("free", "enter");
    assert_eq!(asked, [Wish::UseModel("free-one".into())]);
    assert_eq!(
        (screen.state.connection.price, screen.state.connection.window),
        (Some((0.0, 0.0, 0.0)), None)
    );
    assert_eq!(took("free", "ctrl-s").0, [Wish::UseModel("free-one".into()), keep("", "free-one")]);
    let profile = Wish::UseProfile { profile: "groq".into(), model: "g1".into() };
    assert_eq!(took("groq", "enter").0, std::slice::from_ref(&profile));
    assert_eq!(took("groq", "ctrl-s").0, [profile, keep("groq", "g1")]);
    assert_eq!(took("no such", "enter").0, [Wish::UseModel("no such".into())]);
    assert_eq!(took("no such", "ctrl-s").0, [Wish::UseModel("no such".into()), keep("", "no such")]);
    let hostile = took("hostile", "enter").0;
    assert_eq!(
        hostile,
        [Wish::UseModel("hostile\u{1b}[31m\u{202e}name".into())],
        "exactly as the provider sent it"
    );
    assert_eq!(took("free", "esc").0, []);
    // A typed name that is a row is not offered a second time.
    let (asked, _) = took("free-one", "enter");
    assert_eq!(asked, [Wish::UseModel("free-one".into())]);
}

#[test]
fn the_store_key_does_nothing_in_lists_without_it() {
    let mut screen = Screen::new();
    screen.presses("alt-t");
    screen.effects.clear();
    screen.presses("ctrl-s");
    assert_eq!(asked(&screen), [] as [&Wish; 0]);
    assert!(screen.shows().contains("Themes"), "the list is still open");
}

#[test]
fn a_provider_is_switched_when_the_session_records_it() {
    use crate::tui::host::{Connection, Reached};
    let mut screen = Screen::new();
    let session = screen.state.session.clone();
    let reached = |session: &crate::chat::SessionId| {
        let connection = Connection { model: "b1".into(), profile: "two".into(), ..Connection::default() };
        Event::Host(Reply::Reached(Box::new(Reached { session: session.clone(), number: 7, connection })))
    };
    screen.says("hello");
    screen.happens(reached(&session));
    assert!(screen.shows().contains("Stop it first"), "a turn runs: {}", screen.shows());
    assert!(!asked(&screen).contains(&&Wish::TakeUp(7)));
    screen.replies("Hello.");
    screen.effects.clear();
    screen.happens(reached(&crate::chat::SessionId("another".into())));
    assert_eq!(screen.effects, [], "the switch was for another session");
    screen.happens(reached(&session));
    let entry = Entry::Switched { model: "b1".into(), profile: Some("two".into()) };
    assert_eq!(
        screen.effects[..2],
        [Effect::Agent(vec![agent::Effect::Append(entry)]), Effect::Ask(Wish::TakeUp(7))]
    );
    screen.frame();
    assert!(screen.shows().contains("switched to b1 (profile two)"), "{}", screen.shows());
    assert_eq!(screen.state.agent.model, "b1");
}

#[test]
fn a_list_of_thousands_of_models_is_filtered() {
    let many = (0..5000).map(|at| row("", &format!("maker-{}/model-{at}-preview", at % 70))).collect();
    let mut screen = listing(many, Vec::new());
    screen.types("mk69 prev");
    screen.presses("enter");
    assert!(
        matches!(asked(&screen)[..], [Wish::UseModel(name)] if name.starts_with("maker-69/")),
        "{:?}",
        asked(&screen)
    );
}

#[test]
fn cached_input_is_charged_at_its_own_price() {
    let mut screen = Screen::new();
    let usage = Usage { input: 1_000_000, cached: 600_000, output: 100_000 };
    screen.state.connection.price = Some((3.0, 0.3, 15.0));
    screen.says("hello");
    screen.chunk(Chunk::Usage(usage));
    screen.replies("Hello.");
    assert!(screen.shows().contains("$2.88"), "1.20 + 0.18 + 1.50: {}", screen.shows());
}
