//! Completion and its rendering.

mod large_lists;

use super::*;
use crate::chat::mention::write_mention;
use crate::tui::file_index::IndexBuilder;
use crate::tui::tests::buffer_text;
use crate::tui::theme::Theme;
use crossterm::event::KeyCode;
use insta::assert_snapshot;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

/// Returns an index of these names, without sizes.
fn file_index(names: &[&str]) -> Arc<FileIndex> {
    let mut builder = IndexBuilder::new(Vec::new(), std::time::SystemTime::UNIX_EPOCH);
    for name in names {
        builder.add(name, None, None);
    }
    Arc::new(builder.index())
}

fn sample_completion() -> Completion {
    let mut completion = Completion::default();
    let files = ["README.md", "src/main.rs", "src/domain.rs", "tests/retry.rs", "docs/a b.md"];
    completion.set_files(file_index(&files), ListState::Complete);
    let commands = [("help", "the keys that work now"), ("theme", "change the theme"), ("themes", "all themes")];
    completion.set_commands(commands.iter().map(|(name, description)| Candidate::new(name, description)).collect());
    completion
}

/// Returns the list for a text whose cursor is marked with `|`.
fn completion_for(text: &str) -> Completion {
    let mut completion = sample_completion();
    update_word(&mut completion, text);
    completion
}

fn update_word(completion: &mut Completion, text: &str) -> Option<Kind> {
    completion.update_word(&text.replacen('|', "", 1), text.find('|').unwrap())
}

fn press_key(completion: &mut Completion, code: KeyCode) -> KeyResult {
    completion.handle_key(&KeyEvent::from(code), &Keymap::default())
}

fn draw_buffer(completion: &Completion, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    completion.draw(area, &mut buffer, &Theme::without_colours(), &Keymap::default());
    buffer
}

fn screen_text(completion: &Completion, width: u16, height: u16) -> String {
    buffer_text(&draw_buffer(completion, width, height))
}

/// Checks the text after Tab, in which `|` marks the cursor. `passed` means that the completion does not handle Tab.
#[track_caller]
fn check_completion(text: &str, expected: &str) {
    let mut completion = completion_for(text);
    let original = text.replacen('|', "", 1);
    let result = match press_key(&mut completion, KeyCode::Tab) {
        KeyResult::Replace(range, replacement) => {
            let cursor = range.start + replacement.len();
            let mut edited = original.clone();
            edited.replace_range(range, &replacement);
            edited.insert(cursor, '|');
            edited
        }
        KeyResult::PassedOn => "passed".to_owned(),
        KeyResult::Handled => "used".to_owned(),
    };
    assert_eq!(result, expected, "{text}");
}

#[test]
fn a_word_is_completed_in_place() {
    check_completion("@main|", "@src/main.rs |");
    check_completion("look at @retry| please", "look at @tests/retry.rs | please");
    check_completion("look\nat (@READ|", "look\nat (@README.md |");
    check_completion("@ma|xx y", "@src/main.rs | y");
    check_completion("/he|", "/help |");
    check_completion("/|", "/help |");
    check_completion("/theme|", "/theme |");
    check_completion("漢 @dom|", "漢 @src/domain.rs |");
}

#[test]
fn text_that_only_resembles_a_completion_is_unchanged() {
    check_completion("me@example|", "passed");
    check_completion("see /he|", "passed");
    check_completion("and/or|", "passed");
    check_completion("/help x|", "passed");
    check_completion("@zzz|", "passed");
    check_completion("@main |", "passed");
    check_completion("|@main", "passed");
    check_completion("|", "passed");
}

#[test]
fn enter_sends_complete_names_and_completes_others() {
    assert_eq!(press_key(&mut completion_for("/help|"), KeyCode::Enter), KeyResult::PassedOn);
    assert_eq!(press_key(&mut completion_for("/theme|"), KeyCode::Enter), KeyResult::PassedOn);
    assert_eq!(press_key(&mut completion_for("/hel|"), KeyCode::Enter), KeyResult::Replace(0..4, "/help ".into()));
    assert_eq!(press_key(&mut completion_for("x @src/main.rs|"), KeyCode::Enter), KeyResult::PassedOn);
}

#[test]
fn the_selection_wraps_around() {
    let mut completion = completion_for("/theme|");
    assert_eq!(press_key(&mut completion, KeyCode::Down), KeyResult::Handled);
    assert_eq!(press_key(&mut completion, KeyCode::Enter), KeyResult::Replace(0..6, "/themes ".into()));
    assert_eq!(press_key(&mut completion, KeyCode::Down), KeyResult::Handled);
    assert_eq!(press_key(&mut completion, KeyCode::Up), KeyResult::Handled);
    assert_eq!(press_key(&mut completion, KeyCode::Tab), KeyResult::Replace(0..6, "/themes ".into()));
    assert_eq!(press_key(&mut completion, KeyCode::Char('x')), KeyResult::PassedOn);
}

#[test]
fn a_topic_of_help_is_completed_and_may_be_left_out() {
    let with_topics = |text: &str| {
        let mut completion = sample_completion();
        completion
            .set_topics([("sessions", "Sessions"), ("sandbox", "Sandbox")].map(|(a, b)| Candidate::new(a, b)).into());
        update_word(&mut completion, text);
        completion
    };
    let complete = |text: &str, code| press_key(&mut with_topics(text), code);
    assert_eq!(complete("/help sand|", KeyCode::Enter), KeyResult::Replace(6..10, "sandbox ".into()));
    assert_eq!(complete("/help sandbox|", KeyCode::Enter), KeyResult::PassedOn);
    assert_eq!(complete("/help |", KeyCode::Tab), KeyResult::Replace(6..6, "sessions ".into()));
    assert_eq!(complete("/help |", KeyCode::Enter), KeyResult::PassedOn, "the list of keys");
    for text in ["/help sandbox a|", "/theme s|", "x /help s|", "/help\nsand|"] {
        assert!(!with_topics(text).is_open(), "{text}");
    }
    let mut second = with_topics("/help |");
    press_key(&mut second, KeyCode::Down);
    assert_eq!(press_key(&mut second, KeyCode::Enter), KeyResult::Replace(6..6, "sandbox ".into()));
    assert_snapshot!(screen_text(&with_topics("/help s|"), 30, 2), @"
    ❯ sessions  Sessions
      sandbox   Sandbox
    ");
}

#[test]
fn esc_closes_until_the_word_changes() {
    let mut completion = completion_for("/he|");
    assert_eq!(press_key(&mut completion, KeyCode::Esc), KeyResult::Handled);
    assert!(!completion.is_open() && completion.height(16) == 0);
    assert_eq!(press_key(&mut completion, KeyCode::Esc), KeyResult::PassedOn);
    update_word(&mut completion, "/he|");
    assert!(!completion.is_open());
    update_word(&mut completion, "/hel|");
    assert!(completion.is_open());
}

#[test]
fn candidates_that_arrive_late_open_the_list() {
    let mut completion = Completion::default();
    assert_eq!(update_word(&mut completion, "@ma|"), Some(Kind::File));
    assert!(!completion.is_open());
    completion.set_files(file_index(&["src/main.rs"]), ListState::Complete);
    assert!(completion.is_open());
}

#[test]
fn the_list_is_drawn_right_above_the_composer() {
    assert_snapshot!(screen_text(&completion_for("/|"), 40, 4), @r"
    ❯ /help    the keys that work now
      /theme   change the theme
      /themes  all themes
      ↑↓ move · tab complete · esc close
    ");
    assert_snapshot!(screen_text(&completion_for("@rs|"), 16, 4), @r"
    ❯ @src/main.rs
      @src/domain.rs
      @…sts/retry.rs
      tab complete
    ");
}

#[test]
fn typed_characters_are_highlighted() {
    let buffer = draw_buffer(&completion_for("see @retr|"), 30, 1);
    let marked = buffer.content.iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    assert_eq!(marked.map(|cell| cell.symbol()).collect::<String>().trim_end(), "❯ @tests/retry.rs");
    let mut completion = completion_for("see @s|");
    press_key(&mut completion, KeyCode::Down);
    let buffer = draw_buffer(&completion, 30, 3);
    let first = buffer.content[..30].iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    assert_eq!(first.map(|cell| cell.symbol()).collect::<String>(), "s");
}

#[test]
fn r32_r34_file_names_are_sanitized_at_every_size() {
    let mut completion = Completion::default();
    let names = (0..30).map(|number| format!("a{number}\x1b[2J漢字\u{202e}👩\u{200d}👧"));
    let names: Vec<String> = names.collect();
    completion.set_files(file_index(&names.iter().map(String::as_str).collect::<Vec<_>>()), ListState::Complete);
    update_word(&mut completion, "@a|");
    assert_eq!(completion.height(16), 8);
    for (width, height) in (1..40).flat_map(|width| (1..10).map(move |height| (width, height))) {
        press_key(&mut completion, KeyCode::PageDown);
        assert!(!screen_text(&completion, width, height).contains(['\x1b', '\u{202e}']));
    }
}

#[test]
fn a_growing_list_shows_its_status_and_keeps_the_selection() {
    let mut completion = Completion::default();
    update_word(&mut completion, "@|");
    assert_eq!(completion.height(16), 0, "no status before the search takes long");
    completion.set_files(file_index(&["b", "c"]), ListState::Scanning);
    press_key(&mut completion, KeyCode::Down);
    assert_snapshot!(screen_text(&completion, 34, 4), @"

      @b
    ❯ @c
      searching files, 2 so far
    ");
    completion.set_files(file_index(&["a", "b", "c"]), ListState::Truncated);
    assert_snapshot!(screen_text(&completion, 50, 5), @"

      @a
      @b
    ❯ @c
      matches in the first 3 files; more exist
    ");
    completion.set_files(file_index(&["a", "b", "c"]), ListState::Complete);
    assert_eq!(completion.height(16), 4, "with the row of the keys");
    assert_eq!(press_key(&mut completion, KeyCode::Tab), KeyResult::Replace(0..1, "@c ".into()));
}

#[test]
fn rows_that_do_not_fit_are_counted() {
    let mut completion = Completion::default();
    let names = ["a", "b", "c", "d", "e", "f"].map(|name| Candidate::new(name, ""));
    completion.set_commands(names.to_vec());
    update_word(&mut completion, "/|");
    assert_eq!((completion.height(20), completion.height(4)), (7, 4));
    assert_snapshot!(screen_text(&completion, 30, 4), @"
    ❯ /a
      /b
      /c
      ↓ 3 more · tab complete
    ");
    press_key(&mut completion, KeyCode::PageDown);
    press_key(&mut completion, KeyCode::Down);
    assert_snapshot!(screen_text(&completion, 30, 4), @"
      /c
      /d
    ❯ /e
      ↑ 2 more · ↓ 1 more
    ");
    assert_eq!(screen_text(&completion, 30, 1).trim(), "❯ /e");
    let files: Vec<_> = (0..40).map(|number| format!("f{number}")).collect();
    completion.set_files(file_index(&files.iter().map(String::as_str).collect::<Vec<_>>()), ListState::Scanning);
    update_word(&mut completion, "@|");
    assert_eq!((completion.height(40), completion.height(12), completion.height(3)), (20, 8, 3));
    assert!(screen_text(&completion, 60, 12).contains("40 so far · ↓ 33 more"), "{}", screen_text(&completion, 60, 12));
}

#[test]
fn without_a_match_keys_go_to_the_composer() {
    let mut completion = Completion::default();
    completion.set_files(file_index(&["a"]), ListState::Scanning);
    update_word(&mut completion, "@zzz|");
    assert_eq!((completion.height(16), completion.is_open()), (1, false));
    assert_eq!(press_key(&mut completion, KeyCode::Down), KeyResult::PassedOn);
    for (width, height) in [(0, 0), (1, 1), (3, 1)] {
        draw_buffer(&completion, width, height);
    }
}

/// Folders and files as they are found.
fn project_completion(text: &str) -> Completion {
    let mut completion = Completion::default();
    let files = ["docs/", "docs/a b.md", "my dir/", "my dir/x", "src/", "src/main.rs", "src/tui/", "src/tui/main.rs"];
    completion.set_files(file_index(&files), ListState::Complete);
    update_word(&mut completion, text);
    completion
}

#[track_caller]
fn check_accepted(text: &str, code: KeyCode, expected: &str) {
    match press_key(&mut project_completion(text), code) {
        KeyResult::Replace(range, replacement) => {
            let mut edited = text.replacen('|', "", 1);
            edited.replace_range(range, &replacement);
            assert_eq!(edited, expected, "{text}");
        }
        other => assert_eq!(format!("{other:?}"), expected, "{text}"),
    }
}

#[test]
fn tab_enters_a_folder_and_enter_takes_it() {
    check_accepted("see @sr|", KeyCode::Tab, "see @src/");
    check_accepted("see @sr|", KeyCode::Enter, "see @src/ ");
    // A folder that is typed in full is the first row: Tab goes on to what is in it, Enter sends.
    check_accepted("see @src/|", KeyCode::Tab, "Handled");
    check_accepted("see @src/|", KeyCode::Enter, "PassedOn");
    check_accepted("@my|", KeyCode::Tab, "@\"my dir/");
    check_accepted("@my|", KeyCode::Enter, "@\"my dir/\" ");
    assert_snapshot!(screen_text(&project_completion("@src/|"), 40, 4), @"
    ❯ @src/
      @src/main.rs
      @src/tui/
      tab open folder · enter send
    ");
    let mut completion = project_completion("@src/|");
    press_key(&mut completion, KeyCode::Down);
    press_key(&mut completion, KeyCode::Down);
    assert_eq!(press_key(&mut completion, KeyCode::Tab), KeyResult::Replace(0..5, "@src/tui/".into()));
}

#[test]
fn the_selection_is_inside_a_folder_that_tab_entered() {
    let mut completion = project_completion("@sr|");
    press_key(&mut completion, KeyCode::Tab);
    update_word(&mut completion, "@src/|");
    assert_snapshot!(screen_text(&completion, 40, 4), @r"
      @src/
    ❯ @src/main.rs
      @src/tui/
      ↑↓ move · tab complete · esc close
    ");
    assert_eq!(press_key(&mut completion, KeyCode::Tab), KeyResult::Replace(0..5, "@src/main.rs ".into()));
    // The folder itself is one row above.
    press_key(&mut completion, KeyCode::Up);
    assert_eq!(press_key(&mut completion, KeyCode::Enter), KeyResult::PassedOn);
    // What is typed in a folder is looked for from its best match on.
    update_word(&mut completion, "@src/t|");
    update_word(&mut completion, "@src/|");
    assert_eq!(press_key(&mut completion, KeyCode::Enter), KeyResult::PassedOn);
    let mut empty = Completion::default();
    empty.set_files(file_index(&["empty/"]), ListState::Complete);
    update_word(&mut empty, "@empty/|");
    assert_eq!(press_key(&mut empty, KeyCode::Tab), KeyResult::Replace(0..7, "@empty/ ".into()));
}

#[test]
fn lines_after_a_name_are_kept_and_names_with_blanks_are_quoted() {
    check_accepted("@main:10-20|", KeyCode::Tab, "@src/main.rs:10-20 ");
    check_accepted("@src/main.rs:10|", KeyCode::Enter, "PassedOn");
    check_accepted("@src/main.rs:10-|", KeyCode::Tab, "@src/main.rs:10- ");
    check_accepted("@ab|", KeyCode::Tab, "@\"docs/a b.md\" ");
    check_accepted("see @\"a b|", KeyCode::Tab, "see @\"docs/a b.md\" ");
    check_accepted("@\"a b:3|", KeyCode::Tab, "@\"docs/a b.md:3\" ");
    check_accepted("@\"docs/a b.md|\"", KeyCode::Enter, "PassedOn");
    check_accepted("@\"docs/a b.md\"|", KeyCode::Tab, "PassedOn");
    check_accepted("@\"my dir/|", KeyCode::Tab, "Handled");
}

#[test]
fn names_are_quoted_as_mentions_are_written() {
    for name in ["src/a.rs", "docs/a b.md", "odd).", "why?", "a'", "漢字", "a\"b", "a\" b", "docs/"] {
        let mut completion = Completion::default();
        completion.set_files(file_index(&[name]), ListState::Complete);
        update_word(&mut completion, "@|");
        let KeyResult::Replace(_, text) = press_key(&mut completion, KeyCode::Enter) else { panic!("{name}") };
        // The text ends with a blank.
        let expected = write_mention(name).unwrap_or_else(|| format!("@{name}"));
        assert_eq!(text, format!("{expected} "));
    }
}
