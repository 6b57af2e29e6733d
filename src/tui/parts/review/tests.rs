//! The review of a batch: keys and rendering within the approval prompt.

use super::*;
use crate::agent::Trial;
use crate::chat::{
    Access, BatchWork, CallId, ChangeKind, Decision, Digest, Edit, Group, Item, Plan, Preconditions, Preview, ToolCall,
    Work,
};
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::link_lookups::LinkLookups;
use crate::tui::parts::listening::Listening;
use crate::tui::prompts::approval::{Approval, ApprovalContent};
use crate::tui::prompts::prompt::{KeyResult, Prompt as _, PromptCommand};
use crate::tui::tests::{buffer_text, with_prompt_facts};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

fn review_item(path: &str, before: Option<&str>, after: &str) -> Item {
    let edit = Edit { path: path.into(), before: before.map(str::to_owned), after: after.to_owned() };
    Item {
        path: path.into(),
        from: None,
        kind: if before.is_some() { ChangeKind::Modified } else { ChangeKind::Created },
        is_folder: false,
        diff: Some(edit.diff()),
        notes: vec![],
        blocked: None,
        destroys: None,
        access: Access::Write(path.into()),
        sha256: Digest::default(),
    }
}

/// Returns `a` with two hunks, a new file `b`, and a deleted file `c`.
fn sample_items() -> Vec<Item> {
    let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\nthirty\n");
    let deleted =
        Item { kind: ChangeKind::Deleted, destroys: Some("deletes c".into()), ..review_item("c", Some("x\n"), "") };
    vec![review_item("a", Some(&before), &after), review_item("b", None, "new\n"), deleted]
}

fn batch_plan(items: Vec<Item>) -> Plan {
    let work = BatchWork { items: vec![vec![]; items.len()], ..BatchWork::default() };
    let batch = Batch { group: Group::Source, notes: vec![], items };
    Plan {
        title: "Apply source changes?".into(),
        summary: batch.describe_batch(),
        access: Access::Write("a".into()),
        destroys: batch.destroys(&[]),
        preview: Preview::Batch(batch),
        full_preview: None,
        grant: None,
        preconditions: Preconditions::default(),
        work: Work::Batch(work),
    }
}

struct Prompt {
    approval: Approval,
    plan: Plan,
    size: (u16, u16),
    now: u64,
}

impl Prompt {
    fn new(items: Vec<Item>, size: (u16, u16)) -> Self {
        let approval = Approval::new(CallId("1".into()));
        let mut prompt = Self { approval, plan: batch_plan(items), size, now: 0 };
        prompt.screen_text();
        prompt.now = 1000;
        prompt
    }

    fn screen_text(&mut self) -> String {
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        let mut buffer = Buffer::empty(area);
        let call = ToolCall { id: "1".into(), name: "apply_group".into(), arguments: "{}".into() };
        let content = ApprovalContent {
            sub_agent: None,
            plan: &self.plan,
            call: &call,
            reason: "separate decision for each change",
            sandbox_note: "",
            position: 1,
            queue_length: 2,
            home: None,
            trial: &Trial::None,
            offers_trial: false,
            missing_trial_reason: None,
            now: Duration::ZERO,
            folder: std::path::Path::new("/home/ada/src/app"),
            lookups: &LinkLookups::default(),
        };
        let (keys, theme) = (Keymap::default(), Theme::without_colours());
        let context = PromptContext { listening: Listening::Ready, keys: &keys, theme: &theme, message: "" };
        let drawn_frame = self.approval.draw(&content, &context, area, &mut buffer);
        self.approval.record_frame(Duration::from_millis(self.now), drawn_frame);
        buffer_text(&buffer)
    }

    fn press_key_while(&mut self, code: KeyCode, listening: Listening) -> KeyResult {
        self.now += 1000;
        let key = KeyEvent::from(code);
        let now = Duration::from_millis(self.now);
        let call = ToolCall { id: "1".into(), name: "apply".into(), arguments: "{}".into() };
        let Self { approval, plan, .. } = self;
        let result = with_prompt_facts(listening, now, |facts| {
            approval.handle_call_key(&key, &call, (plan, &Trial::None), facts)
        });
        self.screen_text();
        result
    }

    fn press_key(&mut self, code: KeyCode) -> KeyResult {
        self.press_key_while(code, Listening::Ready)
    }
}

fn extract_decision(result: KeyResult) -> Option<Decision> {
    let KeyResult::Run(commands) = result else { return None };
    commands.into_iter().find_map(|command| match command {
        PromptCommand::Decide(_, decision) => Some(decision),
        _ => None,
    })
}

const TALL: (u16, u16) = (80, 50);

#[test]
fn each_file_and_hunk_is_selected_separately() {
    let mut prompt = Prompt::new(sample_items(), TALL);
    let screen = prompt.screen_text();
    assert!(screen.contains("❯ [x] ~ a · +2 −2") && screen.contains("3 of 3 selected · 1 of 2"), "{screen}");
    assert!(screen.contains("[x] hunk 1 of 2") && screen.contains("[x] + b · new file"), "{screen}");
    // One hunk is rejected, so the file is selected in part.
    prompt.press_key(KeyCode::Down);
    prompt.press_key(KeyCode::Char(' '));
    let screen = prompt.screen_text();
    assert!(screen.contains("[-] ~ a") && screen.contains("❯ [ ] hunk 1 of 2"), "{screen}");
    // Both hunks are rejected, so the file is rejected.
    prompt.press_key(KeyCode::Down);
    prompt.press_key(KeyCode::Char(' '));
    let screen = prompt.screen_text();
    assert!(screen.contains("[ ] ~ a") && screen.contains("2 of 3 selected"), "{screen}");
    // The whole file is selected again, then one hunk of it.
    prompt.press_key(KeyCode::Up);
    prompt.press_key(KeyCode::Up);
    prompt.press_key(KeyCode::Char(' '));
    assert!(prompt.screen_text().contains("[x] ~ a"));
    prompt.press_key(KeyCode::Char(' '));
    prompt.press_key(KeyCode::Down);
    prompt.press_key(KeyCode::Char(' '));
    let screen = prompt.screen_text();
    assert!(
        screen.contains("[-] ~ a") && screen.contains("[x] hunk 1 of 2") && screen.contains("[ ] hunk 2"),
        "{screen}"
    );
    let second_hunk_line = sample_items()[0].diff.as_ref().unwrap().hunks[1].after;
    let rejected = Rejected { item: 0, hunks: vec![second_hunk_line] };
    assert_eq!(extract_decision(prompt.press_key(KeyCode::Char('Y'))), Some(Decision::Selected(vec![rejected])));
}

#[test]
fn a_warning_is_shown_once_at_its_change() {
    let mut prompt = Prompt::new(sample_items(), TALL);
    let screen = prompt.screen_text();
    assert_eq!(screen.matches("deletes c").count(), 1, "{screen}");
    assert!(screen.contains("3 changes, +3 −3, 1 with a warning"), "{screen}");
    let rows: Vec<&str> = screen.lines().collect();
    let heading = rows.iter().position(|row| row.contains("− c · +0 −1")).expect("the change is listed");
    assert!(rows[heading + 1].contains("warning: this deletes c"), "{screen}");
    // A single change needs no number.
    let mut prompt = Prompt::new(sample_items().split_off(2), TALL);
    let screen = prompt.screen_text();
    assert!(screen.matches("warning").count() == 1 && screen.contains("warning: this deletes c"), "{screen}");
}

#[test]
fn selected_items_decide_whether_a_capital_is_needed() {
    let mut prompt = Prompt::new(sample_items(), TALL);
    assert!(prompt.screen_text().contains("Warning: Apply"), "the frame shows the warning");
    assert!(
        matches!(prompt.press_key(KeyCode::Char('y')), KeyResult::Explained(message) if message.contains("not enough"))
    );
    assert_eq!(extract_decision(prompt.press_key(KeyCode::Enter)), None);
    for _ in 0..4 {
        prompt.press_key(KeyCode::Down);
    }
    prompt.press_key(KeyCode::Char(' '));
    let screen = prompt.screen_text();
    assert!(screen.contains("[ ] − c") && !screen.contains("Warning: Apply"), "{screen}");
    let rejected = Rejected { item: 2, hunks: vec![] };
    assert!(matches!(prompt.press_key(KeyCode::Char('Y')), KeyResult::Explained(_)));
    assert_eq!(extract_decision(prompt.press_key(KeyCode::Char('y'))), Some(Decision::Selected(vec![rejected])));
    // An empty selection cannot be approved.
    let mut prompt = Prompt::new(sample_items(), TALL);
    prompt.press_key(KeyCode::Char('*'));
    for key in ['y', 'Y'] {
        let result = prompt.press_key(KeyCode::Char(key));
        assert!(
            matches!(&result, KeyResult::Explained(message) if message.contains("Nothing is selected")),
            "{result:?}"
        );
    }
    prompt.press_key(KeyCode::Char('*'));
    assert_eq!(extract_decision(prompt.press_key(KeyCode::Char('Y'))), Some(Decision::Once));
    assert_eq!(extract_decision(prompt.press_key(KeyCode::Char('n'))), Some(Decision::Deny(String::new())));
}

#[test]
fn approval_needs_the_end_to_be_seen_and_selection_a_listening_prompt() {
    for size in [(60, 15), (80, 24), (120, 36)] {
        let long: String = (1..=3000).map(|n| format!("line {n}\n")).collect();
        let items = vec![review_item("a", None, "x\n"), review_item("b", None, &long), review_item("z", None, "end\n")];
        let mut prompt = Prompt::new(items, size);
        let screen = prompt.screen_text();
        assert!(screen.contains("lines below") && screen.contains("end jump to the end"), "{screen}");
        let result = prompt.press_key(KeyCode::Char('y'));
        assert!(
            matches!(&result, KeyResult::Explained(message) if message.contains("The end has not been shown yet")),
            "{result:?}"
        );
        // Scrolling does not change the selection, and a key pressed too soon goes to the composer.
        for _ in 0..30 {
            prompt.press_key(KeyCode::Down);
        }
        assert!(prompt.screen_text().contains("3 of 3 selected"));
        let early = prompt.press_key_while(KeyCode::Char(' '), Listening::Until(Duration::MAX));
        assert_eq!(early, KeyResult::PassedOn);
        assert_eq!(prompt.press_key_while(KeyCode::Char('*'), Listening::Unsent), KeyResult::PassedOn);
        prompt.press_key(KeyCode::End);
        let screen = prompt.screen_text();
        assert!(screen.contains("❯ [x] + z") && screen.contains("reason: "), "{screen}");
        prompt.press_key(KeyCode::Char(' '));
        assert!(prompt.screen_text().contains("2 of 3 selected"));
        let rejected = Rejected { item: 2, hunks: vec![] };
        assert_eq!(extract_decision(prompt.press_key(KeyCode::Char('y'))), Some(Decision::Selected(vec![rejected])));
    }
}

#[test]
fn arrow_keys_reach_every_row_and_heading() {
    for size in [(60, 15), (80, 24)] {
        let long: String = (1..=60).map(|n| format!("line {n}\n")).collect();
        let items = vec![
            review_item("a", None, &long),
            sample_items().remove(0),
            review_item("b", None, &long),
            review_item("z", None, "end\n"),
        ];
        let mut prompt = Prompt::new(items, size);
        let mut cursor_rows: Vec<String> = Vec::new();
        for _ in 0..400 {
            let screen = prompt.screen_text();
            cursor_rows.extend(screen.lines().find(|line| line.contains('❯')).map(|line| line.trim().to_owned()));
            prompt.press_key(KeyCode::Down);
        }
        assert!(prompt.screen_text().contains("reason: "), "the end: {}", prompt.screen_text());
        cursor_rows.dedup();
        for heading in ["+ a", "~ a", "hunk 1 of 2", "hunk 2 of 2", "+ b", "+ z"] {
            assert!(cursor_rows.iter().any(|line| line.contains(heading)), "{heading}: {cursor_rows:?}");
        }
        for _ in 0..400 {
            prompt.press_key(KeyCode::Up);
        }
        assert!(prompt.screen_text().contains("❯ [x] + a"), "{}", prompt.screen_text());
    }
}

#[test]
fn other_prompts_pass_the_review_keys_to_the_composer() {
    let mut prompt = Prompt::new(sample_items(), TALL);
    prompt.plan.preview = Preview::Text("x".into());
    for key in [' ', '*'] {
        assert_eq!(prompt.press_key(KeyCode::Char(key)), KeyResult::PassedOn);
    }
}

#[test]
fn hostile_names_are_escaped_and_blocked_items_cannot_be_selected() {
    let mut hostile = review_item("a\n❯ [x] b\u{202e}\x1b[2J", None, "x\n");
    hostile.from = Some("from\n╰──╯".into());
    let blocked = Item { blocked: Some("CONFLICT: b\n[x] changed".into()), ..review_item("b", None, "x\n") };
    let mut prompt = Prompt::new(vec![hostile, blocked], TALL);
    let screen = prompt.screen_text();
    assert!(screen.contains("<U+000A>") && screen.contains("<U+202E>") && !screen.contains('\x1b'), "{screen}");
    // One of the two matches is in the name of the item, the other is its cursor and mark.
    assert!(screen.contains("✗ + b") && screen.matches("❯ [x]").count() == 2, "{screen}");
    assert!(!screen.contains("of 2 selected"), "{screen}");
    prompt.press_key(KeyCode::Char('*'));
    assert_eq!(extract_decision(prompt.press_key(KeyCode::Char('y'))), None);
    prompt.press_key(KeyCode::Char('*'));
    assert_eq!(extract_decision(prompt.press_key(KeyCode::Char('y'))), Some(Decision::Once));
}

#[test]
fn arrow_keys_show_every_row_in_both_directions() {
    for size in [(60, 15), (80, 24)] {
        let long: String = (1..=60).map(|n| format!("line {n}\n")).collect();
        let items = vec![
            review_item("a", None, &long),
            sample_items().remove(0),
            review_item("b", None, &long.replace("line", "row")),
        ];
        let mut prompt = Prompt::new(items, size);
        let mut press_often = |code: KeyCode| {
            let (mut rows, mut headings) = (BTreeSet::new(), BTreeSet::new());
            for _ in 0..400 {
                for row in prompt.screen_text().lines() {
                    let is_content = row.contains("line ") || row.contains("row ");
                    rows.extend(is_content.then(|| row.trim_matches(['│', ' ', '█', '▐']).to_owned()));
                    headings.extend(row.contains('❯').then(|| row.trim().to_owned()));
                }
                prompt.press_key(code);
            }
            (rows, headings)
        };
        let down = press_often(KeyCode::Down);
        let up = press_often(KeyCode::Up);
        assert_eq!(up.1, down.1);
        assert_eq!(up.0.difference(&down.0).chain(down.0.difference(&up.0)).collect::<Vec<_>>(), [""; 0]);
    }
}
