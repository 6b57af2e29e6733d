//! Programs that take several targets. A rule for `make check` also covers added options, but no added target.
//!
//! Their options are in their grammars. A word after an option that the grammar does not know may be a target.

use super::command_line::{Word, program_base_name};
use super::grammar::{self, ArgumentProblem};

/// Programs that run each of their operands as a target.
#[rustfmt::skip]
const TARGET_RUNNERS: &[&str] = &[
    "make", "gmake", "bmake", "remake", "nmake", "dmake", "pmake", "mingw32-make", "colormake", "just", "task", "go-task",
    "rake", "jake", "ninja", "samu", "gradle", "gradlew", "mvn", "mvnw", "mvnd", "xcodebuild", "ant", "b2", "bjam", "doit",
    "fab", "grunt", "gulp", "inv", "invoke", "lein", "mage", "npm-run-all", "pants", "redo", "run-p", "run-s", "sbt",
    "scons", "tup", "waf", "xmake",
];
/// Programs with a verb before the first target: `bazel test //a`.
const VERB_PROGRAMS: &[&str] = &["bazel", "bazelisk", "buck", "buck2", "turbo"];
/// Programs that pass the words after `--` to the target.
const PASS_THROUGH_PROGRAMS: &[&str] = &["task", "go-task"];

/// Returns the first added word, one after the words of the rule, that may be a target. `None` if there is none, if the
/// program takes no targets, or if a rule such as `bazel test` names only the verb and so covers every target.
pub(super) fn find_added_target(rule_words: &[String], command_words: &[Word]) -> Option<String> {
    let program = rule_words.first().map(|program| program_base_name(program))?;
    let has_verb = VERB_PROGRAMS.contains(&program);
    if !has_verb && !TARGET_RUNNERS.contains(&program) || has_verb && rule_words.len() <= 2 {
        return None;
    }
    let added_words = command_words.get(rule_words.len()..)?;
    let arguments = grammar::parse_arguments(grammar::program_named(program).unwrap_or(&grammar::UNKNOWN), added_words);
    let passes_rest = PASS_THROUGH_PROGRAMS.contains(&program) && arguments.problems.is_empty();
    let target_count = arguments.operands_before_end.filter(|_| passes_rest).unwrap_or(arguments.operands.len());
    let target = arguments.operands.iter().take(target_count).next();
    let target = target.or_else(|| find_uncertain_target(arguments.problems.first()?, added_words));
    target.map(|target| target.display_text().to_owned())
}

/// Returns the first word that may be a target after a word of uncertain meaning. The value of a later option counts as
/// a target too, because that option may itself be the value of the uncertain word.
fn find_uncertain_target<'a>(problem: &ArgumentProblem, added_words: &'a [Word]) -> Option<&'a Word> {
    let mut later_words = added_words.iter().skip_while(|word| word.display_text() != problem.word()).skip(1);
    later_words.find(|word| !word.display_text().starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_target(rule: &str, command: &str, expected: Option<&str>) {
        let rule_words: Vec<String> = rule.split(' ').map(str::to_owned).collect();
        let command_words: Vec<Word> = command.split(' ').map(|word| Word::Known(word.to_owned())).collect();
        assert_eq!(find_added_target(&rule_words, &command_words).as_deref(), expected, "{rule}: {command}");
    }

    #[test]
    fn r11_rule_for_a_target_covers_no_other_target() {
        for command in [
            "make check",
            "make check -j4",
            "make check -j 4",
            "make check -kj 4",
            "make check -l 2.5",
            "make check -k -s",
            "make check -o a.o -W b.c",
            "make check --old-file a.o",
            "make check --no-print-directory",
        ] {
            check_target("make check", command, None);
        }
        check_target("make check", "make check deploy", Some("deploy"));
        check_target("make check", "make check -j deploy", Some("deploy"));
        check_target("make check", "make check -k 4", Some("4"));
        check_target("make check", "make check -j 4 4", Some("4"));
        check_target("make check", "make check -o a.o deploy", Some("deploy"));
        check_target("make check", "make check --jobs 4", Some("4"));
        check_target("make check", "make check -- deploy", Some("deploy"));
        check_target("make check", "make check -", Some("-"));
        check_target("make check lint", "make check lint -j4", None);
        check_target("just test", "just test fast", Some("fast"));
        check_target("task test", "task test -- deploy", None);
        check_target("task test", "task test deploy", Some("deploy"));
        check_target("rake test", "rake test deploy", Some("deploy"));
        check_target("ninja all", "ninja all -j 4 -v", None);
        check_target("ninja all", "ninja all -v install", Some("install"));
        check_target("mvn test", "mvn test -pl core -q", None);
        check_target("mvn test", "mvn test deploy", Some("deploy"));
        check_target("gradle test", "gradle test --tests Foo", None);
        check_target("gradle test", "gradle test publish", Some("publish"));
        check_target("bazel test", "bazel test //a //b", None);
        check_target("bazel test //a", "bazel test //a --config=ci", None);
        check_target("bazel test //a", "bazel test //a //b", Some("//b"));
        check_target("gulp", "gulp deploy", Some("deploy"));
        check_target("cargo test", "cargo test retry", None);
        check_target("npm run", "npm run test", None);
    }

    #[test]
    fn any_word_after_an_unknown_option_may_be_a_target() {
        for (rule, command, target) in [
            // The unknown option may take `-o`, or share its word with one that takes a value.
            ("make check", "make check --later -o deploy", Some("deploy")),
            ("make check", "make check --old -o deploy", Some("deploy")),
            ("make check", "make check -Zo deploy", Some("deploy")),
            ("make check", "make check -Zj 4", Some("4")),
            ("make check", "make check -o a.o --later -W deploy", Some("deploy")),
            ("make check", "make check --later", None),
            ("make check", "make check --later -k", None),
            ("task test", "task test --later -- deploy", Some("deploy")),
            ("task test", "task test -C 4 -- deploy", None),
            // Values that make does not accept as numbers are targets.
            ("make check", "make check -j inf", Some("inf")),
            ("make check", "make check -j 2.5", Some("2.5")),
            ("make check", "make check -j 1e3", Some("1e3")),
            ("make check", "make check -l nan", Some("nan")),
            ("make check", "make check -l .", Some(".")),
            // Similar programs read options in their own way.
            ("bmake check", "bmake check -W deploy", Some("deploy")),
            ("bmake check", "bmake check -j 4 -k", None),
            ("nmake check", "nmake check -o deploy", Some("deploy")),
            ("jake test", "jake test -j 4", Some("4")),
            ("rake test", "rake test -T deploy", Some("deploy")),
            ("rake test", "rake test -j 4 --trace", None),
            ("gradle test", "gradle test -tests publish", Some("publish")),
            ("gulp build", "gulp build --production", None),
            ("gulp build", "gulp build --production deploy", Some("deploy")),
        ] {
            check_target(rule, command, target);
        }
    }
}
