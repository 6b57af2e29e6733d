//! Custom commands: files of the user and of a trusted project whose text is sent as a message.

use crate::support::program::Program;
use crate::support::terminal_session::{submit_message, text_answer};
use crate::support::user::User;
use serde_json::Value;
use std::fs;
use std::time::Duration;

/// The last message of each request.
fn sent(user: &User) -> Vec<String> {
    let last = |body: &Value| body["messages"].as_array().and_then(|messages| messages.last().cloned());
    let messages = user.service.received().iter().filter_map(|request| last(&request.body)).collect::<Vec<_>>();
    messages.iter().map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn write_command(user: &User, name: &str, text: &str) {
    let folder = user.path("home/aye/config/commands");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

fn start(user: &User) -> Program {
    let mut program = user.start(&[]);
    program.until("Messages go to");
    program
}

#[test]
fn a_command_of_the_user_is_listed_and_its_text_is_sent() {
    let user = User::new(vec![text_answer("First."), text_answer("Second."), text_answer("Third.")]);
    user.write_file("notes.txt", "a note\n");
    write_command(
        &user,
        "review.md",
        "---\ndescription: Review a file\nargument-hint: FILE\n---\nReview @$1 for $2.\n",
    );
    write_command(&user, "help.md", "Not this.");
    write_command(&user, "no good.md", "Nor this.");
    let mut program = start(&user);
    program.press_keys("/rev");
    program.until("FILE · Review a file");
    // Single words: the lines break where the path ends.
    program.until_all(&["Rename", "digits,"]);
    program.press_keys("\x15");
    submit_message(&mut program, "/review notes.txt 'bad style'");
    program.until_idle("First.");
    let message = sent(&user).remove(0);
    assert!(message.contains("Review @notes.txt for bad style.") && message.contains("a note"), "{message}");
    // A file that changed is read again, and one that is gone is unknown.
    write_command(&user, "review.md", "Look again at $ARGUMENTS\n");
    submit_message(&mut program, "/review all of it");
    program.until_idle("Second.");
    assert_eq!(sent(&user).last().unwrap(), "Look again at all of it");
    fs::remove_file(user.path("home/aye/config/commands/review.md")).unwrap();
    submit_message(&mut program, "/review");
    program.until("Unknown command /review");
    assert_eq!(sent(&user).len(), 2);
}

#[test]
fn a_command_is_sent_once() {
    let user = User::new(vec![text_answer("Done.")]);
    write_command(&user, "go.md", "Go on with $ARGUMENTS.");
    let mut program = start(&user);
    submit_message(&mut program, "/go it");
    program.until_idle("Done.");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(sent(&user), ["Go on with it."]);
}

#[test]
fn r68_a_command_of_a_project_is_used_only_once_it_is_trusted() {
    let user = User::new(vec![text_answer("First."), text_answer("Second.")]);
    write_command(&user, "tidy.md", "The user's text.");
    user.write_file(".aye/commands/tidy.md", "---\ndescription: Tidy up\n---\nThe project's text: $1.\n");
    let mut program = user.start(&[]);
    let screen = program.until_prompt("Trust the files of this project?");
    for part in [".aye/commands/tidy.md", "/tidy · Tidy up", "sent as your message when you type the command"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    program.press_until("n", "Not used: ");
    program.press_keys("\x15");
    submit_message(&mut program, "/tidy a");
    program.until_idle("First.");
    assert_eq!(sent(&user), ["The user's text.\n\na"]);
    submit_message(&mut program, "/trust");
    program.until_prompt("Trust the files of this project?");
    program.press_until("y", "Trusted: ");
    submit_message(&mut program, "/tidy b");
    program.until_idle("Second.");
    assert_eq!(sent(&user).last().unwrap(), "The project's text: b.");
    // A version that was not trusted is not used.
    user.write_file(".aye/commands/tidy.md", "Another text.\n");
    fs::remove_file(user.path("home/aye/config/commands/tidy.md")).unwrap();
    submit_message(&mut program, "/tidy c");
    program.until("you do not trust /tidy");
    assert_eq!(sent(&user).len(), 2);
}
