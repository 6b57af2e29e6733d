//! Lists of so many files that another thread filters them.

use super::*;

/// More files than are filtered at once.
fn large_index() -> Arc<FileIndex> {
    let names: Vec<String> = (0..30_000).map(|number| format!("src/file{number}.rs")).collect();
    file_index(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn many_files_are_filtered_on_another_thread() {
    let mut completion = Completion::default();
    completion.set_files(large_index(), ListState::Complete);
    update_word(&mut completion, "@file29999|");
    assert!(!completion.is_open(), "nothing is known yet");
    let request = completion.take_filter_request().expect("a filter");
    assert_eq!(completion.take_filter_request(), None);
    let matches = request.run(&|| true).unwrap();
    completion.set_file_matches(&request, matches.clone());
    assert_eq!(screen_text(&completion, 40, 1).trim_end(), "❯ @src/file29999.rs");
    // The rows of the text before stay until those of the new one are known.
    update_word(&mut completion, "@file2999|");
    let newer = completion.take_filter_request().expect("a filter");
    completion.set_file_matches(&request, matches);
    assert_eq!(screen_text(&completion, 40, 1).trim_end(), "❯ @src/file29999.rs");
    completion.set_file_matches(&newer, newer.run(&|| true).unwrap());
    assert!(screen_text(&completion, 40, 9).contains("@src/file2999.rs"));
    update_word(&mut completion, "@file2999 |");
    assert!(!completion.is_open());
}

#[test]
fn a_key_that_comes_before_the_matches_acts_on_what_is_typed() {
    let mut completion = Completion::default();
    completion.set_files(large_index(), ListState::Complete);
    update_word(&mut completion, "@file77.rs|");
    assert_eq!(press_key(&mut completion, KeyCode::Tab), KeyResult::Replace(0..10, "@src/file77.rs ".into()));
    update_word(&mut completion, "@file78.rs|");
    update_word(&mut completion, "|");
    assert_eq!(press_key(&mut completion, KeyCode::Tab), KeyResult::PassedOn);
    // While a larger list is filtered, the rows are those of the smaller one.
    let mut completion = project_completion("@main|");
    completion.set_files(large_index(), ListState::Scanning);
    assert!(screen_text(&completion, 60, 3).contains("@src/main.rs"));
    let request = completion.take_filter_request().expect("a filter");
    completion.set_file_matches(&request, request.run(&|| true).unwrap());
    assert!(!completion.is_open(), "no file of the larger list matches");
}
