//! The list of `/connect`: the credentials of tools, and how a missing one is connected there.

use crate::support::service::Service;
use crate::support::stored_files::find_files_with;
use crate::support::terminal_session::submit_message;
use crate::support::user::User;

const SECRET: &str = "odd-s3cret-1234567890";

#[test]
fn a_missing_credential_of_a_tool_is_connected_from_the_list() {
    let user = User::new(Vec::new());
    let tool = "name = \"list_issues\"\ntype = \"http_api\"\nmethod = \"GET\"\nurl = \"https://api.github.com/issues\"\n\
        description = \"Lists issues\"\ncredential = \"github\"\n";
    std::fs::create_dir_all(user.path("home/aye/config/tools")).unwrap();
    std::fs::write(user.path("home/aye/config/tools/list_issues.toml"), tool).unwrap();
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
    program.press_until("\r", "aye credentials rotate github");
    program.press_keys("\x04");
    program.wait_for_exit();
    let kept = user.path("home/aye/config/tool_credentials.toml");
    assert_eq!(find_files_with(user.root.path(), SECRET), [kept]);
    assert_eq!(Service::received(&user.service).len(), 0, "nothing was sent");
}
