//! Tests of what the prompt shows of files whose content the arguments contain.

use super::*;
use crate::chat::{Digest, ReferencedFile};

fn referenced(name: &str, is_excerpt: bool) -> ReferencedFile {
    let bytes = b"some text";
    ReferencedFile {
        name: name.into(),
        lines: None,
        path: None,
        bytes: bytes.len() as u64,
        sha256: Digest::of_bytes(bytes),
        is_excerpt,
    }
}

fn plan_with_references(files: Vec<ReferencedFile>) -> Plan {
    let mut plan = command_plan("send");
    plan.preview = Preview::Text("one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n".into());
    plan.preconditions.references = files;
    plan
}

/// Returns the screen of the choice of scope for a call of a tool file.
fn draw_scope(plan: &Plan, size: (u16, u16)) -> String {
    // The end of the plan must have been on the screen.
    let mut prompt = drawn_prompt(plan, (80, 40));
    press_key(&mut prompt, plan, KeyCode::Char('a'), 1_000);
    let call = ToolCall { id: "1".into(), name: "send_mail".into(), arguments: "{}".into() };
    screen_text(&draw_call(&mut prompt, plan, &call, size, Listening::Ready, 1_000))
}

#[test]
fn the_choice_of_scope_names_the_tool_and_the_files_of_the_arguments() {
    let plan = plan_with_references(vec![referenced("a.txt", false), referenced("b.txt", false)]);
    let screen = draw_scope(&plan, (80, 40));
    for part in ["send_mail", "contains a.txt · 9 bytes · sha256", "contains b.txt", "Allow without asking:"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    for size in [(80, 18), (60, 14)] {
        let screen = draw_scope(&plan, size);
        for part in ["send_mail · ", "contains 2 files: a.txt, b.txt", "Allow without asking:", "exactly this command"]
        {
            assert!(screen.contains(part), "{part}: {screen}");
        }
    }
}

#[test]
fn a_file_of_which_the_prompt_shows_an_excerpt_is_named_as_such_and_no_other() {
    let plan = plan_with_references(vec![referenced("cut.txt", true), referenced("whole.txt", false)]);
    let mut prompt = drawn_prompt(&plan, (120, 40));
    let screen = screen_text(&draw_prompt(&mut prompt, &plan, (120, 40), Listening::Ready, 0));
    let line_of = |name: &str| screen.lines().find(|line| line.contains(name)).unwrap().to_owned();
    assert!(line_of("contains cut.txt").contains("only its beginning is shown"), "{screen}");
    assert!(!line_of("contains whole.txt").contains("is shown"), "{screen}");
}
