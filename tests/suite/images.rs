//! Images attached by the user, as the provider receives them.

#[cfg(feature = "images")]
use crate::support::png::striped_png;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{submit_message, text_answer};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use tokio::runtime::Runtime;

/// A PNG of 2 × 2 pixels.
const SHOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR42mP8z8DAwMDAxMDAwMDAAAANHQEDaB7T3gAAAABJRU5ErkJggg==";

fn profile_settings(service: &Service, more: &str) -> String {
    format!(
        "[model]\nprofile = \"eyes\"\n[profiles.eyes]\nbase_url = \"{}\"\nmodel = \"m\"\ncontext_window = 100000\n{more}",
        service.base_url
    )
}

fn setup_project(arguments: &[&str]) -> Setup {
    let setup = Setup::new(arguments).with_file("notes.png", "not an image");
    std::fs::write(setup.root.path().join("project/shot.png"), BASE64_STANDARD.decode(SHOT).unwrap()).unwrap();
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
    assert_eq!(content[1], json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{SHOT}")}}));
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
        json!({"type": "input_image", "image_url": format!("data:image/png;base64,{SHOT}"), "detail": "auto"})
    );
}

#[cfg(feature = "images")]
#[test]
fn large_images_are_scaled_and_bombs_are_not_decoded() {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start([text_answer("I see."), text_answer("Still.")]));
    let setup = setup_project(&["-p", "compare @wide.png, @photo.png, @bomb.png and @cut.png"]);
    let write = |name: &str, bytes: &[u8]| std::fs::write(setup.root.path().join("project").join(name), bytes).unwrap();
    write("wide.png", &striped_png(2000, 1500));
    // Many pixels in few bytes.
    let photo = striped_png(3000, 2000);
    assert!(photo.len() < 100_000, "{}", photo.len());
    write("photo.png", &photo);
    // The size in the header alone is refused; the data that follows would be decoded to gigabytes.
    let mut bomb = photo.clone();
    bomb[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    write("bomb.png", &bomb);
    write("cut.png", &photo[..photo.len() / 2]);
    write_settings(&setup, &profile_settings(&service, "images = true"));
    assert_eq!(setup.run_piped(""), ("I see.\n".into(), String::new(), 0));
    let next_setup = Setup::with_home(&setup.root, &["-c", "-p", "and now?"]);
    assert_eq!(next_setup.run_piped("").0, "Still.\n");
    let requests = service.received();
    let content = &requests[0].body["messages"][1]["content"];
    let text = content[0]["text"].as_str().unwrap();
    for part in [
        "[@wide.png was scaled from 2000 × 1500 to 1568 × 1176 pixels]",
        "[@photo.png was scaled from 3000 × 2000 to 1568 × 1045 pixels]",
        "[@bomb.png is not attached: 65536 × 65536 is more than 64 million pixels]",
        "[@cut.png is not attached: it is damaged",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for (index, size) in [(1, (1568, 1176)), (2, (1568, 1045))] {
        let url = content[index]["image_url"]["url"].as_str().unwrap();
        let png = BASE64_STANDARD.decode(url.strip_prefix("data:image/png;base64,").unwrap()).unwrap();
        assert_eq!(aye::project::picture_size::parse_size(&png), Some(size));
    }
    assert_eq!(content.as_array().unwrap().len(), 3);
    assert_eq!(&requests[1].body["messages"][1]["content"], content, "the same bytes are sent again");
}
