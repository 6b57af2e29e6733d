//! Tests of prompts that are longer than the screen: warnings come first, approval needs the end.

use super::*;
use crate::chat::{CommandSandbox, Edit, SandboxAccess};

/// A prompt in which the choice of scope is open. Down was pressed once, so a rule is selected instead of a grant.
fn prompt_with_scope(options: Vec<GrantOption>) -> Approval {
    let keys = Keymap::default();
    let mut prompt = Approval::new("1".into());
    let mut choice = ScopeChoice::new(options, Path::new("/home/ada/src/app"), &keys, ms(0)).unwrap();
    choice.change_scope(Action::Down, &keys).unwrap();
    prompt.show_view(ApprovalView::Scope(Box::new(choice)));
    prompt
}

/// The plan of a command in this sandbox.
fn plan_in_sandbox(command: &str, network: Option<&str>, sandbox: CommandSandbox) -> Plan {
    let mut plan = command_plan(command);
    if let Access::Run(access) = &mut plan.access {
        (access.line.network, access.line.sandbox) = (network.map(Into::into), sandbox);
    }
    plan
}

fn offline_plan(command: &str) -> Plan {
    plan_in_sandbox(command, None, CommandSandbox::enforced(SandboxAccess::default()))
}

/// The only scope offered for a command that runs a script.
fn script_scopes() -> Vec<GrantOption> {
    let scope =
        GrantScope::Command { command: "sh check.sh".into(), folder: "/home/ada/src/app".into(), network: false };
    let script = crate::chat::Script { path: "check.sh".into(), sha256: None };
    vec![GrantOption {
        grant: Grant::new("bash_exec", scope).with_scripts(vec![script]),
        can_be_rule: true,
        earlier_calls: Vec::new(),
        example: None,
    }]
}

#[test]
fn the_scope_explains_a_rule_before_showing_it_and_offers_enter_at_the_end() {
    let plan = offline_plan("sh check.sh");
    for size in [(80, 14), (60, 12)] {
        let mut prompt = prompt_with_scope(script_scopes());
        let screen = screen_text(&draw_prompt(&mut prompt, &plan, size, Listening::Ready, 6000));
        let position_of = |text: &str| screen.find(text);
        assert!(position_of("90 days") < position_of("[[rule]]") || position_of("[[rule]]").is_none(), "{screen}");
        assert!(position_of("90 days").is_some() && position_of("matches no earlier call").is_some(), "{screen}");
        assert!(screen.contains("╰─ end ") && screen.contains(", then enter grant · ↑↓ where"), "{screen}");
        assert!(!screen.contains("╰─ enter"), "{screen}");
        press_key(&mut prompt, &plan, KeyCode::End, 7000);
        let screen = screen_text(&draw_prompt(&mut prompt, &plan, size, Listening::Ready, 8000));
        assert!(screen.contains("╰─ enter approve and grant") || screen.contains("╰─ enter grant"), "{screen}");
    }
}

/// Only a choice for calls that can send something says that they may ask again.
#[test]
fn the_choice_says_when_covered_calls_still_ask() {
    let note = "asks once more in each turn that has read text from outside";
    let says_so = |network: Option<&str>, sandbox: CommandSandbox| {
        let plan = plan_in_sandbox("sh check.sh", network, sandbox);
        let mut prompt = prompt_with_scope(script_scopes());
        screen_text(&draw_prompt(&mut prompt, &plan, (100, 40), Listening::Ready, 6000)).contains(note)
    };
    let enforced = |network| CommandSandbox::enforced(SandboxAccess { network, ..SandboxAccess::default() });
    assert!(says_so(Some("why"), enforced(true)) && says_so(None, CommandSandbox::Unavailable("x".into())));
    assert!(!says_so(None, enforced(false)), "the sandbox keeps it off the network");
}

#[test]
fn a_small_scope_choice_shows_what_can_be_chosen_and_its_keys() {
    let folder = std::path::PathBuf::from("/home/ada/src/app");
    let scope = |words: &[&str]| match words {
        [] => GrantScope::Command { command: "make test".into(), folder: folder.clone(), network: false },
        words => {
            GrantScope::Prefix { words: words.iter().map(|word| (*word).to_owned()).collect(), folder: folder.clone() }
        }
    };
    let option = |words: &[&str]| GrantOption {
        grant: Grant::new("bash_exec", scope(words)),
        can_be_rule: true,
        earlier_calls: Vec::new(),
        example: None,
    };
    let options = [&[][..], &["make", "test"], &["make"]].map(option).to_vec();
    let plan = command_plan("make test");
    let keys = Keymap::default();
    for selected in 0..options.len() {
        let mut prompt = Approval::new("1".into());
        let mut choice = ScopeChoice::new(options.clone(), &folder, &keys, ms(0)).unwrap();
        choice.select_number(selected + 1).unwrap();
        prompt.show_view(ApprovalView::Scope(Box::new(choice)));
        let screen = screen_text(&draw_prompt(&mut prompt, &plan, (60, 12), Listening::Ready, 6000));
        for part in ["$ make test", "3  make …", "[for this session] · in this project", "1–3 ←→ scope · ↑↓ where"]
        {
            assert!(screen.contains(part), "{selected}, {part}: {screen}");
        }
        assert_eq!(screen.contains("╰─ end first, then enter grant"), screen.contains("lines below"), "{screen}");
    }
}

#[test]
fn a_long_prompt_shows_its_warning_at_the_top() {
    let long = vec!["echo one of many"; 40].join("\n");
    let mut plan = command_plan(&long);
    plan.destroys = Some("deletes old.txt".into());
    let warning_row = |plan: &Plan, size| {
        let mut prompt = Approval::new("1".into());
        let screen = screen_text(&draw_prompt(&mut prompt, plan, size, Listening::Ready, 0));
        let row = screen.lines().position(|line| line.contains("warning: this"));
        (row, screen)
    };
    let (position, screen) = warning_row(&plan, (60, 12));
    assert_eq!(position, Some(1), "{screen}");
    let old: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let edit = Edit { path: "src/retry.rs".into(), before: Some(old), after: "all of it is new\n".into() };
    plan.preview = Preview::Edit(edit.diff());
    plan.destroys = Some("replaces all 60 lines".into());
    let (position, screen) = warning_row(&plan, (60, 12));
    assert_eq!(position, Some(2), "{screen}");
    // A short prompt shows it below the working directory.
    let mut short = command_plan("rm old.txt");
    short.destroys = Some("deletes old.txt".into());
    let (position, screen) = warning_row(&short, (60, 12));
    assert!(position > screen.lines().position(|line| line.contains("in ~/src/app")), "{screen}");
}

#[test]
fn every_hint_has_a_key_and_a_label() {
    let plan = command_plan("cargo test");
    for width in 30..130 {
        let mut prompt = Approval::new("1".into());
        let screen = screen_text(&draw_prompt(&mut prompt, &plan, (width, 10), Listening::Ready, 0));
        let hints = screen.lines().next_back().unwrap_or_default();
        let hints = hints.trim_matches(['╰', '╯', '─', ' ']);
        assert!(hints.split(" · ").all(|hint| hint.contains(' ')), "{width}: {screen}");
    }
}

/// Opens the choice of scope for an edit whose diff is longer than the screen.
fn draw_choice_below_a_diff(size: (u16, u16)) -> (Approval, Plan, String) {
    let mut plan = Plan { access: Access::Write("src/retry.rs".into()), ..command_plan("x") };
    let before: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let after = before.replace("line 20\n", "changed\n");
    let path = "src/retry.rs".into();
    plan.preview = Preview::Edit(Edit { path, before: Some(before), after }.diff());
    let scopes = [GrantScope::File("src/retry.rs".into()), GrantScope::Folder("src".into())];
    let options = scopes.map(|scope| GrantOption {
        example: matches!(scope, GrantScope::Folder(_)).then(|| "src/other.rs".into()),
        grant: Grant::new("edit_file", scope),
        can_be_rule: true,
        earlier_calls: Vec::new(),
    });
    let mut prompt = Approval::new("1".into());
    let choice = ScopeChoice::new(options.to_vec(), Path::new("/home/ada/src/app"), &Keymap::default(), ms(0)).unwrap();
    prompt.show_view(ApprovalView::Scope(Box::new(choice)));
    let screen = screen_text(&draw_prompt(&mut prompt, &plan, size, Listening::Ready, 6000));
    (prompt, plan, screen)
}

#[test]
fn all_scopes_are_listed_below_the_change() {
    let (_, _, screen) = draw_choice_below_a_diff((100, 20));
    for part in ["+ changed", "› 1  edit src/retry.rs", "2  edit any file below src/", "never: ", "[for this session]"]
    {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    // In fewer rows the start of the change stays, each scope has one row, and the explanation of the scopes is below.
    for (size, has_header, is_cut) in [
        ((100, 13), true, false),
        ((40, 14), true, true),
        ((60, 11), true, false),
        ((60, 9), true, true),
        ((60, 7), false, true),
    ] {
        let (_, _, screen) = draw_choice_below_a_diff(size);
        let scopes = match size.0 {
            100 => ["› 1  edit src/retry.rs ", "never: a file outside this folder, another tool"],
            60 => {
                ["› 1  edit src/retry.rs  never another file ", "2  edit in src/  e.g. src/other.rs  never outside it"]
            }
            _ => ["› 1  edit src/retry.rs", "2  edit in src/"],
        };
        for part in [&["− line 20"], &scopes[..]].concat() {
            assert!(screen.contains(part), "{size:?}, {part}: {screen}");
        }
        assert_eq!(screen.contains("src/retry.rs · +1 −1"), has_header, "{size:?}: {screen}");
        assert_eq!(screen.contains("lines below"), is_cut, "{size:?}: {screen}");
        assert!(!screen.contains("lines above"), "{size:?}: {screen}");
    }
}

/// A long preview shows its start, and that it goes on.
#[test]
fn a_long_preview_above_the_scopes_is_marked() {
    let mut plan = offline_plan(&vec!["echo one of many"; 40].join("\n"));
    let screen_of = |plan: &Plan, size| {
        let mut prompt = prompt_with_scope(script_scopes());
        screen_text(&draw_prompt(&mut prompt, plan, size, Listening::Ready, 6000))
    };
    for (size, rows) in [((80, 30), 15), ((80, 16), 4), ((80, 15), 3), ((60, 12), 2)] {
        let screen = screen_of(&plan, size);
        assert_eq!(screen.matches("echo one of many").count(), rows, "{screen}");
        assert_eq!(screen.matches(" ⋯").count(), 1, "{screen}");
        assert!(screen.contains(" more lines · o shows all "), "{screen}");
        assert!(screen.contains("Run a command? Allow without asking:"), "{screen}");
    }
    // Side by side, two lines are in a row.
    let before: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let edit = Edit { path: "a".into(), after: before.replace("line", "row"), before: Some(before) };
    plan.preview = Preview::Edit(edit.diff());
    let screen = screen_of(&plan, (160, 30));
    assert!(screen.contains("− line 0") && screen.contains("  1 + row 0"), "{screen}");
    assert_eq!(screen.matches(" ⋯").count(), 1, "{screen}");
    // The mark between two changes is enough.
    let before: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let after = before.replace("line 3", "row 3");
    plan.preview = Preview::Edit(Edit { path: "a".into(), before: Some(before), after }.diff());
    for height in 9..40 {
        let screen = screen_of(&plan, (80, height));
        assert!(screen.contains(" ⋯") && !screen.contains("⋯ ⋯"), "{height}: {screen}");
    }
}

#[test]
fn every_scope_says_what_it_never_covers_in_a_row_of_its_own_if_there_are_enough_rows() {
    let (own, other) = ("another file, another tool", "a file outside this folder, another tool");
    for (rows, start) in [(20, "never: "), (17, "never: "), (16, "  never ")] {
        let (_, _, screen) = draw_choice_below_a_diff((100, rows));
        assert!([own, other].iter().all(|limit| screen.contains(&format!("{start}{limit}"))), "{rows}: {screen}");
        assert!(screen.contains("secrets such as .env, ") && !screen.contains("lines below"), "{rows}: {screen}");
    }
    for width in 1..60 {
        let (_, _, screen) = draw_choice_below_a_diff((width, 300));
        assert!(width < 30 || screen.matches("never: ").count() == 2, "{width}: {screen}");
    }
}

/// At every size the key shows the whole call, which can be scrolled, and hides it again.
#[test]
fn a_key_shows_the_whole_call_above_the_scopes() {
    let plan = offline_plan(&(1..=20).map(|n| format!("echo {n} of 20")).collect::<Vec<_>>().join("\n"));
    let mut prompt = prompt_with_scope(script_scopes());
    let draw = |prompt: &mut Approval| screen_text(&draw_prompt(prompt, &plan, (60, 12), Listening::Ready, 6000));
    let cut = draw(&mut prompt);
    assert!(cut.contains("more lines · o shows all") && !cut.contains("echo 8 of 20"), "{cut}");
    press_key(&mut prompt, &plan, KeyCode::Char('o'), 7000);
    let whole = draw(&mut prompt);
    assert!(whole.contains("echo 8 of 20") && !whole.contains("shows all"), "{whole}");
    press_key(&mut prompt, &plan, KeyCode::PageDown, 7000);
    press_key(&mut prompt, &plan, KeyCode::PageDown, 7000);
    let below = draw(&mut prompt);
    assert!(below.contains("echo 20 of 20") && below.contains("Allow without asking:"), "{below}");
    press_key(&mut prompt, &plan, KeyCode::Char('o'), 7000);
    assert_eq!(draw(&mut prompt), cut);
}

/// A break within a word of the rule, also one after a hyphen, cannot pass for a space.
#[test]
fn a_row_that_goes_on_with_the_text_of_a_rule_is_marked() {
    let words: Vec<String> = ["npm", "run", "check-every-single-package-of-the-workspace"].map(str::to_owned).into();
    let scope = GrantScope::Prefix { words, folder: "/home/ada/src/app".into() };
    let option = GrantOption {
        grant: Grant::new("bash_exec", scope),
        can_be_rule: true,
        earlier_calls: Vec::new(),
        example: None,
    };
    let mut prompt = prompt_with_scope(vec![option]);
    let screen = screen_text(&draw_prompt(&mut prompt, &offline_plan("npm run x"), (40, 40), Listening::Ready, 6000));
    let rows: Vec<&str> = screen.lines().map(|row| row.trim_matches(['│', ' '])).collect();
    for start in ["› 1  npm run", "prefix = "] {
        let row = rows.iter().position(|row| row.starts_with(start));
        let next = row.and_then(|row| rows.get(row + 1)).copied().unwrap_or_default();
        assert!(next.starts_with("↪ "), "{start}: {screen}");
    }
}

/// The hint says what the key does, and is missing if the whole call is visible anyway.
#[test]
fn the_hint_of_the_key_for_the_whole_call_is_shown_while_the_call_is_cut() {
    let hint_row = |prompt: &mut Approval, plan: &Plan, size| {
        let screen = screen_text(&draw_prompt(prompt, plan, size, Listening::Ready, 6000));
        screen.lines().find(|line| line.starts_with('╰')).unwrap_or_default().to_owned()
    };
    let long = offline_plan(&(1..=40).map(|n| format!("echo {n} of 40")).collect::<Vec<_>>().join("\n"));
    for (size, label, less) in [
        ((120, 30), "o show whole call", "o shorten call"),
        ((80, 20), "o all", "o less"),
        ((60, 12), "o all", "o less"),
    ] {
        let mut prompt = prompt_with_scope(script_scopes());
        let cut = hint_row(&mut prompt, &long, size);
        assert!(cut.contains(label), "{size:?}: {cut}");
        press_key(&mut prompt, &long, KeyCode::Char('o'), 7000);
        let whole = hint_row(&mut prompt, &long, size);
        assert!(whole.contains(less) && !whole.contains(label), "{size:?}: {whole}");
        let short = hint_row(&mut prompt_with_scope(script_scopes()), &offline_plan("sh check.sh"), size);
        assert!(short.contains("enter") && !short.contains("o all") && !short.contains("o show"), "{size:?}: {short}");
    }
    // Unchanged lines of a diff are left out even if there are rows for them.
    let before: String = (0..20).map(|n| format!("line {n}\n")).collect();
    let after = before.replace("line 9", "row 9");
    let mut plan = offline_plan("sh check.sh");
    plan.preview = Preview::Edit(Edit { path: "a".into(), before: Some(before), after }.diff());
    for height in [12, 60] {
        let row = hint_row(&mut prompt_with_scope(script_scopes()), &plan, (120, height));
        assert!(row.contains("o show whole call"), "{height}: {row}");
    }
    plan.preview = Preview::Edit(Edit { path: "a".into(), before: None, after: "new\n".into() }.diff());
    let row = hint_row(&mut prompt_with_scope(script_scopes()), &plan, (120, 60));
    assert!(!row.contains("whole call"), "{row}");
}

#[test]
fn a_number_selects_a_scope_and_a_missing_one_is_explained() {
    let (mut prompt, plan, _) = draw_choice_below_a_diff((100, 20));
    assert_eq!(press_key(&mut prompt, &plan, KeyCode::Char('2'), 7000), KeyResult::Handled);
    let screen = screen_text(&draw_prompt(&mut prompt, &plan, (100, 20), Listening::Ready, 7100));
    assert!(screen.contains("› 2  edit any file below src/ · such as src/other.rs"), "{screen}");
    for digit in ['0', '3', '9'] {
        let result = press_key(&mut prompt, &plan, KeyCode::Char(digit), 8000);
        assert_eq!(result, KeyResult::Explained("There are 2 scopes: 1 to 2".into()));
    }
    let decision = extract_decision(press_key(&mut prompt, &plan, KeyCode::Enter, 9000));
    assert_eq!(decision, Some(Decision::Always(Grant::new("edit_file", GrantScope::Folder("src".into())))));
}

#[test]
fn a_number_right_after_the_choice_opened_goes_to_the_composer() {
    let (mut prompt, plan, _) = draw_choice_below_a_diff((100, 20));
    assert_eq!(press_key(&mut prompt, &plan, KeyCode::Char('2'), 100), KeyResult::PassedOn);
}
