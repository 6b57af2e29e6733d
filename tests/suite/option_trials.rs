//! Command lines made from the options of every program, judged by the real policy and run by the real programs. Lines
//! that run without approval change no file, print no secret and take nothing out of a pipe. In the read-only sandbox
//! no line does any of this, whatever the policy says of it.

use crate::sandbox_escapes::has_sandbox;
use crate::support::folder::Folder;
use crate::support::print_uncaptured;
use crate::support::program::program;
use crate::support::stored_files::share_program;
use evidence::Effect;
use generate::{Generator, Line, Recipe, Takes};
use scratch::PROJECTS;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use trials::Trials;

mod evidence;
mod generate;
mod mutations;
mod programs;
mod random;
mod sandbox;
mod scratch;
mod trials;
mod words;

/// An ordinary user that every machine has.
const NOBODY: u32 = 65534;
/// The scratch folder, in the environment of the process in which the trials run.
const INSIDE: &str = "AYE_TEST_SCRATCH";
/// Lines in `cargo test`, judged by the policy.
const LINES: usize = 3000;
/// Lines in `cargo test`, in the read-only sandbox.
const SANDBOXED: usize = 150;

fn read_number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Runs this test in a child process of an ordinary user, with a temporary home and a minimal environment. Returns the
/// temporary folder in the child, and `None` in the parent.
fn folder_in_sandbox(test: &str) -> Option<PathBuf> {
    if let Some(base) = std::env::var_os(INSIDE) {
        return Some(base.into());
    }
    let root = Folder::new();
    let base = root.path().canonicalize().unwrap();
    std::fs::set_permissions(&base, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(base.join("bin")).unwrap();
    let [aye, suite] = [("aye", program()), ("suite", std::env::current_exe().unwrap())].map(|(name, from)| {
        let to = base.join("bin").join(name);
        share_program(&from, &to);
        to
    });
    let mut command = Command::new(suite);
    command.args(["--exact", test, "--nocapture"]).current_dir(&base).env_clear();
    command.envs(std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AYE_TEST_")));
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8");
    command.env("HOME", base.join("home")).env("TMPDIR", base.join("tmp"));
    command.env("AYE_TEST_PROGRAM", aye).env(INSIDE, &base);
    if rustix::process::geteuid().is_root() {
        chown(&base, Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    }
    let result = command.output().unwrap();
    let output = String::from_utf8_lossy(&result.stdout);
    output
        .lines()
        .filter(|line| line.starts_with("option trials:") || line.contains("LEFT OUT"))
        .for_each(print_uncaptured);
    assert!(result.status.success(), "{output}\n{}", String::from_utf8_lossy(&result.stderr));
    assert!(output.contains("1 passed"), "no test is called {test}:\n{output}");
    None
}

/// Commands of bash itself, which are no files on `PATH` everywhere.
const BUILTIN: &[&str] = &["type", "cd", "command", "echo", "printf", "test", "true", "false", "pwd"];

fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap();
    BUILTIN.contains(&name) || std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Returns the recipes of the programs on this machine; if `AYE_TEST_ONLY` is set, only those that start with one of
/// its comma-separated items. Prints which programs are missing.
fn installed_recipes() -> Vec<Recipe> {
    let is_present = |recipe: &Recipe| recipe.words.split(' ').next().is_some_and(is_program);
    let only = std::env::var("AYE_TEST_ONLY").unwrap_or_default();
    let is_wanted = |recipe: &Recipe| only.split(',').any(|start| recipe.words.starts_with(start));
    let recipes = programs::recipes().into_iter().filter(is_wanted);
    let (present, missing): (Vec<Recipe>, Vec<Recipe>) = recipes.partition(is_present);
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|recipe| recipe.words.as_str()).collect();
        print_uncaptured(&format!("option trials: LEFT OUT, not on this machine: {}", names.join(", ")));
    }
    present
}

/// Generates lines and tries them. Fails if one did what it may not do. Returns the number of lines tried.
///
/// That number is `AYE_TEST_LINES`, by default `lines`. If `AYE_TEST_SECONDS` is set, the time decides instead.
fn try_lines(trials: &mut Trials, lines: usize) -> usize {
    let seed = read_number("AYE_TEST_SEED").unwrap_or(1);
    let lines = read_number("AYE_TEST_LINES").map_or(lines, |lines| usize::try_from(lines).unwrap());
    let deadline = read_number("AYE_TEST_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let recipes = installed_recipes();
    let mut generator = Generator::new(seed, &recipes);
    let started = Instant::now();
    let mut made = 0;
    while deadline.map_or(made < lines, |until| Instant::now() < until) {
        let line = generator.line();
        // Each project is chosen for its percentage of the lines.
        let mut remaining = generator.random.below(100);
        let project = PROJECTS.iter().find(|(_, percent)| {
            let is_chosen = remaining < *percent;
            remaining = remaining.saturating_sub(*percent);
            is_chosen
        });
        trials.try_and_store(project.unwrap_or(&PROJECTS[0]).0, line);
        made += 1;
    }
    print_uncaptured(&format!(
        "option trials: seed {seed}, {made} lines, {} runs, {} stopped by the time limit, {} s",
        trials.runs,
        trials.stopped.len(),
        started.elapsed().as_secs()
    ));
    trials.stopped.iter().take(5).for_each(|line| print_uncaptured(&format!("option trials: stopped: {line}")));
    let mut report = String::new();
    for (line, effects) in trials.found.values().flatten() {
        report.push_str(&format!("{}\n    {effects:?}\n", line.text()));
    }
    assert!(report.is_empty(), "seed {seed}; these lines may not do this:\n{report}");
    made
}

#[test]
fn r12_allowed_lines_change_and_disclose_nothing() {
    let Some(base) = folder_in_sandbox("option_trials::r12_allowed_lines_change_and_disclose_nothing") else { return };
    let mut trials = Trials::new(&base);
    let made = try_lines(&mut trials, LINES);
    assert!(made < 500 || trials.runs * 10 > made, "only {} of {made} lines ran", trials.runs);
}

#[test]
fn in_the_read_only_sandbox_no_line_changes_or_discloses_anything() {
    let test = "option_trials::in_the_read_only_sandbox_no_line_changes_or_discloses_anything";
    let Some(base) = folder_in_sandbox(test) else { return };
    if has_sandbox() {
        try_lines(&mut Trials::in_sandbox(&base), SANDBOXED);
    }
}

/// A kind of mutation, the minimum number of lines that contain it, and whether the arguments of a program do.
type Mutation = (&'static str, usize, fn(&Recipe, &[String]) -> bool);

/// The mutations that the generator must make.
const MUTATIONS: &[Mutation] = &[
    ("options in one word", 1000, |recipe, words| {
        let is_short = |name: char| recipe.options.iter().any(|choice| choice.short_name() == Some(name));
        let is_bundle = |short_names: &str| short_names.chars().count() > 1 && short_names.chars().all(is_short);
        words.iter().filter_map(|word| word.strip_prefix('-')).any(is_bundle)
    }),
    ("an abbreviated option", 100, |recipe, words| {
        let is_abbreviated = |word: &String| {
            word.len() > 2 && recipe.options.iter().any(|choice| choice.name.starts_with(word.as_str()))
        };
        words.iter().any(|word| word.starts_with("--") && recipe.choice(word).is_none() && is_abbreviated(word))
    }),
    ("a missing value", 10, |recipe, words| {
        words.last().and_then(|word| recipe.choice(word)).is_some_and(|choice| choice.takes == Takes::Required)
    }),
    ("a word after an option with an optional value", 50, |recipe, words| {
        let takes_optional = |word: &String| recipe.choice(word).is_some_and(|choice| choice.takes == Takes::Optional);
        words.iter().zip(words.iter().skip(1)).any(|(word, next)| takes_optional(word) && words::is_decoy(next))
    }),
    ("an option after an operand", 200, |recipe, words| {
        words.first().is_some_and(|word| !word.starts_with('-'))
            && words.iter().any(|word| recipe.choice(word).is_some())
    }),
    ("a repeated option", 120, |recipe, words| {
        words.iter().enumerate().any(|(at, word)| recipe.choice(word).is_some() && words[..at].contains(word))
    }),
    ("unusual quotes", 50, |_, words| {
        // An attached value has quotes of its own.
        let starts_with_letter = |word: &&String| word.starts_with(|c: char| c.is_ascii_alphanumeric());
        words.iter().filter(starts_with_letter).any(|word| {
            let quoted_at = word.find(['\\', '\'', '"']);
            quoted_at.is_some_and(|at| word[..at].ends_with(|c: char| c.is_ascii_alphanumeric()))
        })
    }),
];

#[test]
fn generated_lines_contain_every_mutation() {
    let recipes = programs::recipes();
    let mut generator = Generator::new(1, &recipes);
    let lines: Vec<Line> = (0..2 * LINES).map(|_| generator.line()).collect();
    let count = |contains: &fn(&Recipe, &[String]) -> bool| {
        let is_mutated = |line: &&Line| {
            let starts_line =
                |recipe: &&Recipe| recipe.words.split(' ').eq(line.0.iter().take(recipe.words.split(' ').count()));
            let recipe = recipes.iter().filter(starts_line).max_by_key(|recipe| recipe.words.len());
            recipe.is_some_and(|recipe| contains(recipe, &line.0[recipe.words.split(' ').count()..]))
        };
        lines.iter().filter(is_mutated).count()
    };
    let counts: Vec<(&str, usize)> = MUTATIONS.iter().map(|(name, _, contains)| (*name, count(contains))).collect();
    let is_enough = |((_, minimum, _), (_, count)): (&Mutation, &(&str, usize))| count >= minimum;
    assert!(MUTATIONS.iter().zip(&counts).all(is_enough), "{counts:?}");
}

/// Lines that tables of options have judged wrongly: the program, the project, the line, and what the line does.
const HARMFUL: &[(&str, &str, &str, Effect)] = &[
    ("xxd", "clean", "xxd -al data.csv README.md", Effect::Changed(String::new())),
    ("tree", "clean", "tree -Lo 2 src/main.rs", Effect::Changed(String::new())),
    ("od", "clean", "od -w @/sibling/secret.txt", Effect::Printed("sibling/secret.txt")),
    ("git", "clean", "git diff -U @/sibling/secret.txt README.md", Effect::Printed("sibling/secret.txt")),
    ("rg", "clean", "rg -eC .env", Effect::Printed("P/.env")),
    ("grep", "clean", "grep -d rec SECRET .", Effect::Printed("P/.env")),
    ("grep", "clean", "grep -r --exclude-dir=server.pem SECRET keys", Effect::Printed("P/keys/server.pem")),
    ("git", "staged", "git diff", Effect::Printed("P/.env")),
    ("git", "staged", "git diff --cached", Effect::Printed("P/keys/server.pem")),
    ("git", "staged", "git diff -C -C", Effect::Printed("P/keys/server.pem")),
    ("cat", "clean", "cat pipe", Effect::Drained),
    ("grep", "clean", "grep x pipe", Effect::Opened("P/pipe")),
    // Every form in which a secret is printed.
    ("cat", "clean", "cat notes.txt", Effect::Printed("P/.env")),
    ("od", "clean", "od .env", Effect::Printed("P/.env")),
    ("od", "clean", "od -tx1 .env", Effect::Printed("P/.env")),
    ("od", "clean", "od -x .env", Effect::Printed("P/.env")),
    ("od", "clean", "od -c .env", Effect::Printed("P/.env")),
    ("od", "clean", "od -b .env", Effect::Printed("P/.env")),
    ("xxd", "clean", "xxd -p linked.txt", Effect::Printed("home/.ssh/id_rsa")),
    ("hexdump", "clean", "hexdump .env", Effect::Printed("P/.env")),
    ("base64", "clean", "base64 ~/.netrc", Effect::Printed("home/.netrc")),
    ("rev", "clean", "rev .env", Effect::Printed("P/.env")),
    ("tr", "clean", "tr a-z A-Z <.env", Effect::Printed("P/.env")),
    ("fold", "clean", "fold -w 20 .env", Effect::Printed("P/.env")),
    ("md5sum", "clean", "md5sum .env", Effect::Opened("P/.env")),
    // Every kind of change of a file or folder.
    ("chmod", "clean", "chmod 600 README.md", Effect::Changed(String::new())),
    ("touch", "clean", "touch ../sibling/new", Effect::Changed(String::new())),
    ("rm", "clean", "rm .git/index", Effect::Changed(String::new())),
    ("ln", "bare", "ln -sf data.csv README.md", Effect::Changed(String::new())),
    ("mkdir", "bare", "mkdir $TMPDIR/new", Effect::Changed(String::new())),
];

#[test]
fn trials_see_every_kind_of_harm() {
    let Some(base) = folder_in_sandbox("option_trials::trials_see_every_kind_of_harm") else { return };
    let mut trials = Trials::new(&base);
    let mut unseen = Vec::new();
    for (program, project, line, expected) in HARMFUL {
        if !is_program(program) {
            print_uncaptured(&format!("option trials: LEFT OUT, not on this machine: {program}"));
            continue;
        }
        let text = trials.text(line);
        let effects = trials.observe(project, &text);
        if !effects.iter().any(|effect| effect.is_like(expected)) {
            unseen.push(format!("{project}$ {line}\n    {expected:?}, but seen was {effects:?}"));
        }
        let nothing = trials.observe(project, "ls -la; cat README.md; git status; git log -p; stat .env");
        assert!(nothing.is_empty(), "after {line}: {nothing:?}");
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

#[test]
fn r12_programs_with_unknown_options_are_never_allowed() {
    let Some(base) = folder_in_sandbox("option_trials::r12_programs_with_unknown_options_are_never_allowed") else {
        return;
    };
    let trials = Trials::new(&base);
    let mut count = 0;
    for program in programs::unknown() {
        for rest in ["", " README.md", " -x", " -l", " -n x", " --list", " check"] {
            assert!(!trials.is_allowed("bare", &format!("{program}{rest}")), "{program}{rest}");
        }
        count += 1;
    }
    assert!(count > 10 && trials.is_allowed("bare", "cat README.md"));
}
