//! Answers for shells, without names from the disk.

use super::*;
use clap::ValueEnum;

fn answer(shell: CompletionShell, words: &[&str]) -> String {
    format_answer(shell, words.iter().map(|word| (*word).to_owned()).collect()).unwrap_or_default()
}

fn bash_answer(line: &str, kind: &str) -> String {
    answer(CompletionShell::Bash, &[line, &line.len().to_string(), kind, " \t\n\"'><=;|&(:", "40"])
}

#[test]
fn each_shell_has_a_script() {
    for shell in CompletionShell::value_variants() {
        let script = find_script(*shell);
        assert!(script.contains(VARIABLE) && script.is_ascii(), "{shell:?}");
    }
}

#[test]
fn an_answer_has_a_value_and_a_description_per_line() {
    let lines = answer(CompletionShell::Fish, &["aye", "--mode", "a"]);
    assert_eq!(lines, "none\nask\tRead inside the project\nauto\tAlso change files inside the project\n");
    assert_eq!(
        answer(CompletionShell::Zsh, &["aye", "--mode=f"]),
        "none\n--mode=full\tEverything except risky calls\n"
    );
    assert_eq!(answer(CompletionShell::Elvish, &["aye", "explain", "x"]), "files\n");
    assert_eq!(answer(CompletionShell::PowerShell, &["aye", "-C", "+"]), "folders\n");
}

#[test]
fn assignments_before_the_program_are_skipped() {
    let lines = answer(CompletionShell::Fish, &["LANG=C", "_X1=", "aye", "untr"]);
    assert!(lines.starts_with("none\nuntrust\t"), "{lines}");
}

#[test]
fn bash_receives_only_what_it_replaces() {
    assert_eq!(bash_answer("aye --mode=a", "9"), "none\nask\nauto\n");
    assert_eq!(bash_answer("aye --mod", "9"), "none\n--model\n--mode\n");
    assert_eq!(bash_answer("aye --mode \"a", "9"), "files\n", "bash quotes files itself");
    let listed = bash_answer("aye --mode a", "63");
    assert_eq!(listed, "none\nask  (Read inside the project)\nauto  (Also change files inside the p…\n");
    assert_eq!(bash_answer("aye --mode au", "63"), "none\nauto\n", "one candidate is inserted");
}

#[test]
fn arguments_that_no_script_passes_have_an_empty_answer() {
    for shell in CompletionShell::value_variants() {
        for words in [&[][..], &["aye"], &["X=1"], &["a", "b", "c", "d", "e"]] {
            answer(*shell, words);
        }
    }
    assert_eq!(answer(CompletionShell::Fish, &[]), "");
}

#[test]
fn names_that_cannot_be_typed_are_not_usable() {
    for name in ["", "-x", "a\nb", "a\tb", "\u{1b}[31m", "a\u{202e}b", "\u{9b}x", "a\0"] {
        assert!(!is_usable(name), "{name:?}");
    }
    for name in ["work", "a b", "$(touch x)", "'\"`\\", "漢字", "é"] {
        assert!(is_usable(name), "{name:?}");
    }
}
