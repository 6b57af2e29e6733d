//! Links in the real program: hints, previews, what is opened with which program, and addresses that mislead.

use crate::support::program::{Program, Setup};
use crate::support::service::Answer;
use crate::support::stored_files::write_script;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use crate::support::tool_service::add_settings;
use crate::support::user::User;
use std::path::PathBuf;

/// A user whose model writes this reply, with programs that record their arguments: the editor, and the opener of the system.
fn user_with_reply(reply: &str) -> User {
    user_with_answers(vec![text_answer(reply)])
}

/// A user whose model gives these answers, with the same programs.
fn user_with_answers(answers: Vec<Answer>) -> User {
    let user = User::new(answers);
    for name in ["editor", "bin/xdg-open", "bin/open"] {
        std::fs::create_dir_all(user.path("bin")).unwrap();
        write_script(
            &user.path(name),
            "for word in \"$@\"; do echo \"$word\"; done > \"$0.tmp\"; mv \"$0.tmp\" \"$0.argv\"",
        );
    }
    user
}

fn setup(user: &User) -> Setup {
    let path = format!("{}:{}", user.path("bin").display(), std::env::var("PATH").unwrap());
    user.setup(&[]).env("EDITOR", &user.path("editor").display().to_string()).env("PATH", &path)
}

/// Starts the program, sends a message, and waits for the end of the reply.
fn start_with_reply(setup: Setup, end: &str) -> Program {
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_idle(end);
    program
}

/// Waits for the arguments that a program was started with.
fn until_started(program: &mut Program, recorded: &PathBuf) -> String {
    program.until_condition("the program is started", |_| recorded.exists());
    std::fs::read_to_string(recorded).unwrap().trim_end().to_owned()
}

#[test]
fn a_link_is_previewed_at_its_line_and_opened_from_there() {
    let text: String = (1..=400).map(|number| format!("let line_{number} = {number};\n")).collect();
    let user = user_with_reply("See src/a.rs:200-201 and src/a.rs:401 and notes.md.");
    let setup = setup(&user).with_file("src/a.rs", &text).with_file("notes.md", "# Notes\n\nAll **good**.\n");
    let mut program = start_with_reply(setup, "notes.md");
    program.until_linked("src/a.rs:200-201");
    program.press_keys("\x0f");
    program.until_all(&[" OPEN   type the letters", "Seeasrc/a.rs:200-201 andssrc/a.rs:401 anddnotes.md", "p preview"]);
    program.press_keys("p");
    program.until(" PREVIEW   type the letters");
    program.press_keys("a");
    let screen = program.until_all(&["▌200 let line_200", "▌201 let line_201", "199 let line_199", "enter open"]);
    let row = screen.lines().position(|line| line.contains("▌200")).unwrap();
    assert!((5..20).contains(&row), "in the upper part: {screen}");
    // The title has the type and size of the file, and the lines that are visible.
    let title =
        screen.lines().find(|line| line.contains("─ src/a.rs:200-201 · ")).unwrap_or_else(|| panic!("{screen}"));
    assert!(title.contains(" kB") && title.contains("─ lines 19") && title.contains(" of 400 ─"), "{title}");
    // Scrolling reaches the lines before it, and Enter leaves the preview for the editor.
    program.press_keys("\x1b[5~");
    program.until("let line_180");
    program.press_keys("\r");
    let arguments = until_started(&mut program, &user.path("editor.argv"));
    assert!(arguments.ends_with("src/a.rs"), "{arguments}");
    program.until_gone("enter open");
    // A link without a line shows the file as its kind.
    program.press_keys("\x0f");
    program.until(" OPEN ");
    program.press_keys("p");
    program.until(" PREVIEW ");
    program.press_keys("d");
    let screen = program.until_all(&["Notes", "text/markdown"]);
    assert!(!screen.contains("**good**"), "{screen}");
    std::fs::remove_file(program.project().join("notes.md")).unwrap();
    program.press_keys("\x1b");
    program.until_gone("text/markdown");
    program.press_keys("\x0f");
    program.until(" OPEN ");
    program.press_keys("p");
    program.until(" PREVIEW ");
    program.press_keys("d");
    program.until("Cannot show notes.md:");
}

/// Waits until a text is struck through: a style with that attribute comes directly before it.
fn until_struck(program: &mut Program, text: &str) {
    program.until_condition(&format!("{text} is struck through"), |program| {
        let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
        bytes.match_indices(text).any(|(start, _)| {
            let style = bytes[..start].strip_suffix('m').and_then(|before| before.rsplit_once("\x1b["));
            style.is_some_and(|(_, parameters)| parameters.split(';').any(|parameter| parameter == "9"))
        })
    });
}

#[test]
fn a_link_whose_file_is_gone_is_struck_through_and_a_later_file_becomes_a_link() {
    let user = user_with_reply("See src/a.rs:1, src/later.rs, and/or workspace:///reports/none.md end");
    let mut program = start_with_reply(setup(&user).with_file("src/a.rs", "x\n"), "end");
    program.until_linked("src/a.rs:1");
    // An address of a workspace can only mean a file; other words without a file are words.
    until_struck(&mut program, "workspace:///reports/none.md");
    program.press_keys("\x0f");
    let screen = program.until(" OPEN   type a: src/a.rs:1");
    assert!(!screen.contains("s src/later.rs") && !screen.contains("s and/or"), "{screen}");
    program.press_keys("\x1b");
    program.until_gone(" OPEN ");
    // A command that ends may have changed files, and so may another program while its window was in front.
    submit_message(&mut program, "!mv src/a.rs src/later.rs");
    program.until_linked("src/later.rs, and");
    until_struck(&mut program, "src/a.rs:1");
    std::fs::rename(program.project().join("src/later.rs"), program.project().join("src/a.rs")).unwrap();
    program.press_keys("\x1b[O\x1b[I");
    program.until_linked("src/a.rs:1, src");
    until_struck(&mut program, "src/later.rs");
    let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
    assert!(!bytes.contains("9mand/or"), "a word is no missing link");
}

#[test]
fn a_link_in_an_approval_prompt_opens_and_answers_nothing() {
    let answers = vec![command_answer("cat src/a.rs && touch made"), text_answer("Done.")];
    let user = user_with_answers(answers);
    let mut program = setup(&user).with_file("src/a.rs", "x\n").start();
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program.until_linked("src/a.rs && touch");
    program.press_keys("\x0f");
    program.until(" OPEN   type a: src/a.rs");
    program.press_keys("a");
    let arguments = until_started(&mut program, &user.path("editor.argv"));
    assert!(arguments.ends_with("src/a.rs"), "{arguments}");
    program.until("$ cat src/a.rs && touch made");
    assert!(!program.project().join("made").exists());
    program.press_until("y", "Done.");
    assert!(program.project().join("made").exists());
}

#[test]
fn a_preview_shows_no_secret() {
    let user = user_with_reply("The key is in .env and config/.env:1 then.");
    let setup = setup(&user).with_file(".env", "SECRET=hunter2\n").with_file("config/.env", "SECRET=hunter2\n");
    let mut program = start_with_reply(setup, "then.");
    program.until_linked("config/.env:1");
    program.press_keys("\x0f");
    program.until(" OPEN ");
    program.press_keys("p");
    program.until(" PREVIEW ");
    program.press_keys("a");
    let screen = program.until("it may hold secrets");
    assert!(!screen.contains("hunter2"), "{screen}");
}

#[test]
fn many_links_have_hints_of_two_letters() {
    let names: Vec<String> = (10..60).map(|number| format!("f{number}.rs")).collect();
    let user = user_with_reply(&format!("{} end", names.join(" ")));
    let mut setup = setup(&user);
    for name in &names {
        setup = setup.with_file(name, "x\n");
    }
    let mut program = start_with_reply(setup, "end");
    program.until_linked("f59.rs");
    program.press_keys("\x0f");
    program.until(" OPEN   type the letters");
    // With 50 links the last two letters begin hints of two: 23 are single.
    program.press_keys("n");
    let screen = program.until(" OPEN   type the second letter");
    assert!(screen.contains("a33.rs s34.rs") && screen.contains(" f10.rs"), "{screen}");
    program.press_keys("s");
    let arguments = until_started(&mut program, &user.path("editor.argv"));
    assert!(arguments.ends_with("f34.rs"), "{arguments}");
    // Shift copies, and another key closes.
    program.press_keys("\x0f");
    program.until(" OPEN   type the letters");
    program.press_keys("m");
    program.until(" OPEN   type the second letter");
    program.press_keys("S");
    program.until("Copied the link");
    program.press_keys("\x0f");
    program.until(" OPEN   type the letters");
    program.press_keys("m");
    program.until(" OPEN   type the second letter");
    program.press_keys("7");
    program.until_gone(" OPEN   type the second letter");
}

#[test]
fn a_web_address_says_where_it_leads_and_opens_only_after_enter() {
    let reply =
        "[bank](https://bank.example@evil.example/a?b) [look](https://b\u{430}nk.example/) https://docs.rs/x end";
    let user = user_with_reply(reply);
    let mut program = start_with_reply(setup(&user), "end");
    program.until_linked("https://docs.rs/x");
    let opener = if cfg!(target_os = "macos") { "bin/open.argv" } else { "bin/xdg-open.argv" };
    for (hint, expected) in [
        (
            "a",
            [
                "Leads to evil.example",
                "“bank.example” before the @ is a user name",
                "https://bank.example@evil.example/a?b",
            ],
        ),
        ("s", ["Leads to xn--bnk-6cd.example", "letters of other alphabets", "Open this address?"]),
        ("d", ["Leads to docs.rs", "https://docs.rs/x", "Open this address?"]),
    ] {
        program.press_keys("\x0f");
        program.until(" OPEN ");
        program.press_keys(hint);
        program.until_all(&expected);
        program.press_keys(if hint == "d" { "\r" } else { "\x1b" });
        program.until_gone("Open this address?");
    }
    assert_eq!(until_started(&mut program, &user.path(opener)), "https://docs.rs/x");
    // A preview fetches nothing: without another link there is none, and its key does nothing.
    program.press_keys("\x0f");
    let screen = program.until(" OPEN ");
    assert!(!screen.contains("p preview"), "{screen}");
    program.press_keys("p");
    program.press_keys("d");
    program.until_all(&["Open this address?", "Leads to docs.rs"]);
}

#[test]
fn links_to_files_have_the_scheme_of_the_editor_except_in_a_remote_session() {
    let address = |user: &User, setup: Setup| {
        let setup = setup.with_file("src/a.rs", &"x\n".repeat(9));
        add_settings(user, "[screen]\nlinks = \"on\"\nlink_scheme = \"vscode\"\n");
        let mut program = start_with_reply(setup, "end");
        program.until_linked("src/a.rs:7");
        let project = program.project().canonicalize().unwrap();
        let local = format!("vscode://file{}/src/a.rs:7:1", project.display());
        let bytes = String::from_utf8_lossy(&program.bytes()).into_owned();
        assert!(user.path("editor").exists());
        (bytes.contains(&local), bytes.contains("vscode:"), bytes.contains("/src/a.rs#L7"))
    };
    let user = user_with_reply("See src/a.rs:7 end");
    assert_eq!(address(&user, setup(&user)), (true, true, false));
    let user = user_with_reply("See src/a.rs:7 end");
    assert_eq!(address(&user, setup(&user).env("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")), (false, false, true));
}

#[test]
fn a_remote_session_says_where_an_address_would_open() {
    let user = user_with_reply("https://docs.rs/x end");
    let mut program = start_with_reply(setup(&user).env("SSH_TTY", "/dev/pts/1"), "end");
    program.until_linked("https://docs.rs/x");
    program.press_keys("\x0f");
    program.until(" OPEN ");
    program.press_keys("a");
    program.until_all(&["Leads to docs.rs", "This session is remote", "alt-y copy"]);
}

#[test]
fn aye_open_opens_a_file_at_a_line_a_workspace_file_and_an_address() {
    let user = user_with_reply("unused");
    let run = |arguments: &[&str]| {
        let setup = Setup::with_home(&user.root, &[&["open"], arguments].concat());
        let path = format!("{}:{}", user.path("bin").display(), std::env::var("PATH").unwrap());
        let editor = user.path("editor").display().to_string();
        setup
            .with_file("src/a b.rs", "one\n")
            .with_file("odd:3", "x")
            .env("EDITOR", &editor)
            .env("PATH", &path)
            .run_piped("")
    };
    let opened = |name: &str| {
        let text = std::fs::read_to_string(user.path(name)).unwrap();
        std::fs::remove_file(user.path(name)).unwrap();
        text.trim_end().to_owned()
    };
    for (link, end) in [("src/a b.rs:1", "/src/a b.rs"), ("./src/a b.rs", "/src/a b.rs"), ("odd:3", "/odd:3")] {
        let (out, err, code) = run(&[link]);
        assert_eq!((out.as_str(), err.as_str(), code), ("", "", 0), "{link}");
        assert!(opened("editor.argv").ends_with(end), "{link}");
    }
    let (_, err, code) = run(&["missing.rs:3"]);
    assert!(code == 2 && err.contains("Cannot open missing.rs: there is no such file."), "{err}");
    let (_, err, code) = run(&["file:///etc/../x y"]);
    assert!(code == 2 && err.contains("Cannot open"), "{err}");
    let (_, err, code) = run(&["javascript:alert(1)"]);
    assert!(code == 2 && err.contains("PATH:LINE"), "{err}");
    let (_, err, code) = run(&["https://docs.rs/x"]);
    assert_eq!((err.as_str(), code), ("", 0));
    let opener = if cfg!(target_os = "macos") { "bin/open.argv" } else { "bin/xdg-open.argv" };
    let deadline = std::time::Instant::now() + crate::support::keyboard::PATIENCE;
    while !user.path(opener).exists() && std::time::Instant::now() < deadline {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(opened(opener), "https://docs.rs/x");
}
