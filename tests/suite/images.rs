//! Images attached by the user, as the provider receives them.

use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{submit_message, text_answer};
use serde_json::json;
use tokio::runtime::Runtime;

fn profile_settings(service: &Service, more: &str) -> String {
    format!(
        "[model]\nprofile = \"eyes\"\n[profiles.eyes]\nbase_url = \"{}\"\nmodel = \"m\"\ncontext_window = 100000\n{more}",
        service.base_url
    )
}

fn setup_project(arguments: &[&str]) -> Setup {
    let setup = Setup::new(arguments).with_file("notes.png", "not an image");
    std::fs::write(setup.root.path().join("project/shot.png"), b"\x89PNG rest").unwrap();
    setup
}

#[test]
fn attached_image_is_sent_to_a_model_with_vision() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("I see."), text_answer("Still.")]));
    let setup = setup_project(&["-p", "what is in @shot.png and @notes.png?"]);
    write_settings(&setup, &profile_settings(&service, "images = true"));
    assert_eq!(setup.run_piped(""), ("I see.\n".into(), String::new(), 0));
    let next_setup = Setup::with_home(&setup.root, &["-c", "-p", "and now?"]);
    assert_eq!(next_setup.run_piped("").0, "Still.\n");
    let requests = service.received();
    let content = &requests[0].body["messages"][1]["content"];
    assert_eq!(content[1], json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORyByZXN0"}}));
    let text = content[0]["text"].as_str().unwrap();
    assert!(text.starts_with("what is in @shot.png") && text.contains("[@notes.png is not attached: not a"), "{text}");
    assert_eq!(content.as_array().unwrap().len(), 2);
    assert_eq!(requests[1].body["messages"][1]["content"][1], content[1], "a continued session sends the image again");
}

#[test]
fn model_without_vision_gets_the_file_name_and_the_user_a_notice() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("Fine.")]));
    let setup = setup_project(&["-p", "what is in @shot.png?"]);
    write_settings(&setup, &profile_settings(&service, ""));
    let (out, err, code) = setup.run_piped("");
    assert_eq!((out.as_str(), code), ("Fine.\n", 0));
    assert!(err.contains("only the file name of the picture"), "{err}");
    assert_eq!(service.received()[0].body["messages"][1]["content"], "what is in @shot.png?");
    let mut program = Setup::with_home(&setup.root, &[]).start();
    program.until("Messages go to");
    submit_message(&mut program, "look at @shot.png please");
    program.until("Only the picture's name");
}

#[test]
fn responses_api_receives_images() {
    let runtime = Runtime::new().unwrap();
    let done = json!({"type": "response.completed", "response": {"status": "completed", "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "I see."}]}]}});
    let service = runtime.block_on(Service::start([crate::support::service::Answer::stream().event(done)]));
    let setup = setup_project(&["-p", "@shot.png"]);
    write_settings(&setup, &profile_settings(&service, "images = true\napi = \"responses\""));
    assert_eq!(setup.run_piped("").0, "I see.\n");
    let content = &service.received()[0].body["input"][0]["content"];
    assert_eq!(content[0], json!({"type": "input_text", "text": "@shot.png"}));
    assert_eq!(
        content[1],
        json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORyByZXN0", "detail": "auto"})
    );
}
