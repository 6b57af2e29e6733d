//! Law: a rule for a prefix covers no command with added syntax.

use super::*;
use proptest::prelude::*;

fn syntax_pieces() -> impl Strategy<Value = String> {
    let operators =
        "(;|&&|\\|\\||\\||&|\n|>|>>|<|2>|\\$\\(id\\)|`id`|<\\(id\\)|\\$x|\\$\\{x\\}|\\(|\\)|\\{|\\}|!|\\*|~|#)";
    let plain_pieces = "( |a|-x|x=y|rm|'|\"|\\\\)";
    prop::collection::vec(
        prop_oneof![
            proptest::string::string_regex(operators).unwrap(),
            proptest::string::string_regex(plain_pieces).unwrap()
        ],
        0..6,
    )
    .prop_map(|pieces| pieces.concat())
}

/// Returns what follows the blank lines and the comments at the start, which do nothing.
fn skip_comments(command: &str) -> &str {
    let mut rest = command.trim_start();
    while rest.starts_with('#') {
        rest = rest.split_once('\n').map_or("", |(_, next_lines)| next_lines).trim_start();
    }
    rest
}

proptest! {
    #[test]
    fn r11_prefix_rule_covers_no_added_syntax(before in syntax_pieces(), within in syntax_pieces(), after in syntax_pieces()) {
        let command = format!("{before}cargo{within} test {after}");
        let allow = rules_from(vec![rule(RuleEffect::Allow, prefix_target("cargo test"))]);
        if judge(&allow, &command_plan(&command)) == "allow" {
            // Outside quotes the command must have no operators and no expansions. Comments before it, and a `;`, a line
            // break or a comment at its end are allowed.
            let (before, command) = (skip_comments(&before), skip_comments(&command));
            prop_assert!(!command.is_empty());
            let is_empty = |rest: &str| rest.lines().map(str::trim_start).all(|line| line.is_empty() || line.starts_with('#'));
            let (mut quote, mut last) = (None, ' ');
            let mut chars = command.trim().chars();
            while let Some(c) = chars.next() {
                let previous = std::mem::replace(&mut last, c);
                let begins_word = previous.is_whitespace();
                match (quote, c) {
                    (None, '#') if begins_word => {
                        let rest = chars.as_str();
                        prop_assert!(is_empty(rest.split_once('\n').map_or("", |(_, rest)| rest)), "{command:?}");
                        break;
                    }
                    (None, ';' | '\n') => {
                        prop_assert!(is_empty(chars.as_str()), "{command:?}");
                        break;
                    }
                    (None, '\\') => drop(chars.next()),
                    (Some('"'), '\\') => drop(chars.next()),
                    (Some(open), c) if open == c => quote = None,
                    (None, '\'' | '"') => quote = Some(c),
                    (Some('"'), c) => prop_assert!(!"$`".contains(c) , "{command:?}"),
                    (Some(_), _) => {}
                    // `~` is expanded only at the start of a word or a value.
                    (None, '~') => prop_assert!(!begins_word && previous != '=', "{command:?}"),
                    (None, c) => prop_assert!(!"|&<>$`()*".contains(c), "{command:?}"),
                }
            }
            // Before `cargo` only blanks, quotes and backslashes are allowed: `\cargo` and `''cargo` are cargo.
            prop_assert_eq!(before.trim().trim_matches(['\\', '\'', '"']), "");
        }
    }
}
