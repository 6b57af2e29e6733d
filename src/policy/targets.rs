//! Programs that take several targets: a rule for `make check` covers more options, and no other target.

use super::shell::{Word, base};

/// A program whose operands are targets, each of which it runs.
struct Runner {
    programs: &'static [&'static str],
    /// Words before the first target: `bazel test //a` has one.
    verbs: usize,
    /// Short options that take the next word.
    taking: &'static str,
    /// Short options that take the next word if that is a number.
    counting: &'static str,
    /// Other options that take the next word, without their dashes.
    names: &'static [&'static str],
    /// Whether what stands after `--` is handed to the target.
    hands_on: bool,
}

const fn runner(programs: &'static [&'static str]) -> Runner {
    Runner { programs, verbs: 0, taking: "", counting: "", names: &[], hands_on: false }
}

#[rustfmt::skip]
const RUNNERS: &[Runner] = &[
    Runner { taking: "oW", counting: "jl", names: &["old-file", "assume-old", "what-if", "new-file", "assume-new"],
        ..runner(&["make", "gmake", "bmake", "remake", "nmake", "dmake", "pmake", "mingw32-make", "colormake"]) },
    runner(&["just"]),
    Runner { hands_on: true, counting: "C", names: &["concurrency"], ..runner(&["task", "go-task"]) },
    Runner { counting: "j", ..runner(&["rake", "jake"]) },
    Runner { taking: "jkldw", ..runner(&["ninja", "samu"]) },
    Runner { taking: "x", names: &["tests", "exclude-task", "max-workers", "console", "warning-mode"],
        ..runner(&["gradle", "gradlew"]) },
    Runner { taking: "PTl", names: &["pl", "rf", "projects", "resume-from", "threads", "activate-profiles"],
        ..runner(&["mvn", "mvnw", "mvnd"]) },
    Runner { names: &["scheme", "workspace", "project", "destination", "configuration", "sdk"],
        ..runner(&["xcodebuild"]) },
    Runner { verbs: 1, ..runner(&["bazel", "bazelisk", "buck", "buck2", "turbo"]) },
    runner(&["ant", "b2", "bjam", "doit", "fab", "grunt", "gulp", "inv", "invoke", "lein", "mage", "npm-run-all", "pants",
        "redo", "run-p", "run-s", "sbt", "scons", "tup", "waf", "xmake"]),
];

/// Returns the first target of a command that stands after these words of a rule. `None` if there is none, if the
/// program takes no targets, or if the rule names none and so speaks of all.
pub(super) fn added<'a>(words: &[String], all: &'a [Word]) -> Option<&'a str> {
    let program = words.first().map(|program| base(program))?;
    let runner = RUNNERS.iter().find(|runner| runner.programs.contains(&program))?;
    if runner.verbs > 0 && words.len() <= 1 + runner.verbs {
        return None;
    }
    let mut rest = all.iter().skip(words.len()).map(Word::shown).peekable();
    while let Some(word) = rest.next() {
        if word == "--" {
            return if runner.hands_on { None } else { rest.next() };
        }
        if !word.starts_with('-') || word == "-" {
            return Some(word);
        }
        if runner.takes_next(word, rest.peek().copied()) {
            rest.next();
        }
    }
    None
}

impl Runner {
    /// Whether the word after this option is the option's own.
    fn takes_next(&self, option: &str, next: Option<&str>) -> bool {
        if self.names.contains(&option.trim_start_matches('-')) {
            return true;
        }
        let is_number = next.is_some_and(|next| next.parse::<f64>().is_ok());
        let ends_in = |letters: &str, others: &str| ends_in(option, letters, others);
        ends_in(self.taking, self.counting) || (is_number && ends_in(self.counting, self.taking))
    }
}

/// Whether the last of the short options in this word is the first of them that takes a value, and one of `letters`. Those
/// of `others` take a value too.
fn ends_in(word: &str, letters: &str, others: &str) -> bool {
    let Some(bundle) = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-')) else { return false };
    let taking =
        bundle.char_indices().find(|(_, letter)| letters.contains(*letter) || others.contains(*letter));
    taking.is_some_and(|(at, letter)| letters.contains(letter) && at + letter.len_utf8() == bundle.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, command: &str, expected: Option<&str>) {
        let words: Vec<String> = rule.split(' ').map(str::to_owned).collect();
        let all: Vec<Word> = command.split(' ').map(|word| Word::Known(word.to_owned())).collect();
        assert_eq!(added(&words, &all), expected, "{rule}: {command}");
    }

    #[test]
    fn r11_a_rule_for_a_target_covers_options_and_no_other_target() {
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
            check("make check", command, None);
        }
        check("make check", "make check deploy", Some("deploy"));
        check("make check", "make check -j deploy", Some("deploy"));
        check("make check", "make check -k 4", Some("4"));
        check("make check", "make check -j 4 4", Some("4"));
        check("make check", "make check -o a.o deploy", Some("deploy"));
        check("make check", "make check --jobs 4", Some("4"));
        check("make check", "make check -- deploy", Some("deploy"));
        check("make check", "make check -", Some("-"));
        check("make check lint", "make check lint -j4", None);
        check("just test", "just test fast", Some("fast"));
        check("task test", "task test -- deploy", None);
        check("task test", "task test deploy", Some("deploy"));
        check("rake test", "rake test deploy", Some("deploy"));
        check("ninja all", "ninja all -j 4 -v", None);
        check("ninja all", "ninja all -v install", Some("install"));
        check("mvn test", "mvn test -pl core -q", None);
        check("mvn test", "mvn test deploy", Some("deploy"));
        check("gradle test", "gradle test --tests Foo", None);
        check("gradle test", "gradle test publish", Some("publish"));
        check("bazel test", "bazel test //a //b", None);
        check("bazel test //a", "bazel test //a --config=ci", None);
        check("bazel test //a", "bazel test //a //b", Some("//b"));
        check("gulp", "gulp deploy", Some("deploy"));
        check("cargo test", "cargo test retry", None);
        check("npm run", "npm run test", None);
    }
}
