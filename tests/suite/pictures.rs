//! Pictures that the person names, as the service gets them.

use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{say, says};
use serde_json::json;
use tokio::runtime::Runtime;

fn profile(service: &Service, more: &str) -> String {
    format!(
        "[model]\nprofile = \"eyes\"\n[profiles.eyes]\nbase_url = \"{}\"\nmodel = \"m\"\ncontext_window = 100000\n{more}",
        service.base_url
    )
}

fn project(arguments: &[&str]) -> Setup {
    let setup = Setup::new(arguments).has("notes.png", "no picture at all");
    std::fs::write(setup.place.path().join("project/shot.png"), b"\x89PNG rest").unwrap();
    setup
}

#[test]
fn a_picture_that_is_named_is_shown_to_a_model_that_can_see() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([says("I see."), says("Still.")]));
    let setup = project(&["-p", "what is in @shot.png and @notes.png?"]);
    write_settings(&setup, &profile(&service, "images = true"));
    assert_eq!(setup.print(""), ("I see.\n".into(), String::new(), 0));
    let again = Setup::again(&setup.place, &["-c", "-p", "and now?"]);
    assert_eq!(again.print("").0, "Still.\n");
    let requests = service.received();
    let said = &requests[0].body["messages"][1]["content"];
    assert_eq!(said[1], json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORyByZXN0"}}));
    let text = said[0]["text"].as_str().unwrap();
    assert!(text.starts_with("what is in @shot.png") && text.contains("[@notes.png is not attached: not a"), "{text}");
    assert_eq!(said.as_array().unwrap().len(), 2);
    assert_eq!(requests[1].body["messages"][1]["content"][1], said[1], "a session that goes on shows it again");
}

#[test]
fn a_model_that_cannot_see_gets_the_name_alone_and_the_person_is_told() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([says("Fine.")]));
    let setup = project(&["-p", "what is in @shot.png?"]);
    write_settings(&setup, &profile(&service, ""));
    let (out, err, code) = setup.print("");
    assert_eq!((out.as_str(), code), ("Fine.\n", 0));
    assert!(err.contains("only the file name of the picture"), "{err}");
    assert_eq!(service.received()[0].body["messages"][1]["content"], "what is in @shot.png?");
    let mut program = Setup::again(&setup.place, &[]).start();
    program.until("Connected to");
    say(&mut program, "look at @shot.png please");
    program.until("Only the picture's name");
}

#[test]
fn the_responses_api_is_shown_pictures_too() {
    let runtime = Runtime::new().unwrap();
    let done = json!({"type": "response.completed", "response": {"status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "I see."}]}]}});
    let service = runtime.block_on(Service::start([crate::support::service::Answer::stream().event(done)]));
    let setup = project(&["-p", "@shot.png"]);
    write_settings(&setup, &profile(&service, "images = true\napi = \"responses\""));
    assert_eq!(setup.print("").0, "I see.\n");
    let said = &service.received()[0].body["input"][0]["content"];
    assert_eq!(said[0], json!({"type": "input_text", "text": "@shot.png"}));
    assert_eq!(said[1], json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORyByZXN0"}));
}
