//! The list of `/connect`: the credentials of tools, and how a missing one is connected there.

use crate::support::service::Service;
use crate::support::stored_files::find_files_with;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::user::User;

const SECRET: &str = "odd-s3cret-1234567890";

/// Adds a tool that names the credential `github`.
fn add_tool(user: &User) {
    let tool = "name = \"list_issues\"\ntype = \"http_api\"\nmethod = \"GET\"\nurl = \"https://api.github.com/issues\"\n\
        description = \"Lists issues\"\ncredential = \"github\"\n";
    std::fs::create_dir_all(user.path("home/aye/config/tools")).unwrap();
    std::fs::write(user.path("home/aye/config/tools/list_issues.toml"), tool).unwrap();
}

#[test]
fn a_missing_credential_of_a_tool_is_connected_from_the_list() {
    let user = User::new(Vec::new());
    add_tool(&user);
    let mut program = user.start(&[]);
    program.until("Messages go to");
    submit_message(&mut program, "/connect");
    program.until_all(&["Credential github", "missing · sent only to https://api.github.com"]);
    program.type_text("github");
    program.press_until("\r", "Enter the secret");
    program.type_text(SECRET);
    program.until("•••");
    program.press_until("\r", "github is connected");
    let screen = program.screen();
    assert_eq!(screen.matches("github is connected").count(), 1, "{screen}");
    assert!(!program.screen().contains("s3cret"), "{}", program.screen());
    submit_message(&mut program, "/connect");
    program.until("connected · sent only to https://api.github.com");
    program.type_text("github");
    program.until_gone("Enter an API key");
    program.press_keys("\r");
    program.until_gone("Providers and credentials");
    let screen = program.until("github is connected · aye credentials rotate github");
    assert_eq!(screen.matches("github is connected").count(), 1, "{screen}");
    program.press_keys("\x04");
    program.wait_for_exit();
    let kept = user.path("home/aye/config/tool_credentials.toml");
    assert_eq!(find_files_with(user.root.path(), SECRET), [kept]);
    assert_eq!(Service::received(&user.service).len(), 0, "nothing was sent");
}

#[test]
fn r57_keys_that_arrive_with_the_choice_go_into_the_field() {
    let pasted = format!("\r\x1b[200~{SECRET}\x1b[201~");
    for (at_once, rest) in [("\rodd", &SECRET[3..]), (&*pasted, "")] {
        let user = User::new(vec![command_answer("touch never-run"), text_answer("Denied.")]);
        add_tool(&user);
        let mut program = user.start(&[]);
        program.until("Messages go to");
        // A prompt waits behind the list.
        submit_message(&mut program, "go");
        program.until_prompt("Run a command?");
        program.press_until("\x1bc", "Credential github");
        program.type_text("github");
        program.until_gone("Enter an API key");
        program.until("❯ github");
        // One write, so that no frame is drawn between the choice and the secret. It must not seem to go on with the filter.
        program.wait_ms(500);
        program.press_keys(at_once);
        // Read together with what follows, the keys would be a paste.
        program.until("Enter the secret");
        program.type_text(rest);
        let screen = program.until(&"•".repeat(SECRET.len()));
        assert!(screen.contains("Enter the secret") && screen.contains("aye credentials add"), "{screen}");
        program.press_until("\r", "github is connected");
        let screen = program.until_prompt("Run a command?");
        assert!(!screen.contains("s3cret") && !screen.contains("odd"), "{screen}");
        program.press_keys("n");
        program.until("Denied.");
        program.press_keys("\x04");
        program.wait_for_exit();
        let kept = user.path("home/aye/config/tool_credentials.toml");
        assert_eq!(find_files_with(user.root.path(), SECRET), [kept]);
        assert!(find_files_with(user.root.path(), "odd-").len() == 1 && !user.path("project/never-run").exists());
    }
}
