//! What the trials pass to each program. Options and kinds of operands are from its grammar, the rest is here.

use super::generate::{Choice, Recipe, Takes};
use aye::policy::grammar::{self, NO_OPERANDS, Operands, OptionValue, Program, Role, ValueKind};

/// The first operand of programs with their own language, or with special words.
#[rustfmt::skip]
const SCRIPTS: &[(&str, &[&str])] = &[
    ("sed", &["p", "1,3p", "'$p'", "s/a/b/", "s/a/b/gp", "/fn/p", "'/x/!d'", "2q", "1,+3p", "=", "'1d;3p'"]),
    ("awk", AWK), ("gawk", AWK), ("mawk", AWK), ("nawk", AWK),
    ("jq", &["'.'", "'.name'", "keys", "'.[]?'", "length", "input_filename", "tojson", "'[inputs]'", "'$__loc__'", "'@base64'"]),
    ("git", &["status", "log", "'log' -p", "diff", "show", "'grep' SECRET", "ls-files", "blame README.md", "stash list"]),
    ("git cat-file", &["HEAD", "blob HEAD:README.md", "HEAD:README.md", "'HEAD^{tree}'", "tree HEAD", ":README.md"]),
    ("git branch", LISTED), ("git tag", LISTED), ("git stash", LISTED), ("git reflog", LISTED), ("git worktree", LISTED),
    ("date", &["+%s", "+%F", "+", "01010000"]),
    ("hostname", &["x"]),
    ("find", &[". -name '*.rs'", "src -type f", ". -maxdepth 1", "README.md", ".", "src", "docs -newer README.md"]),
    ("printf", &["'%s\\n'", "%s", "a", "%d", "%q", "%%", "'%5s|'"]),
    ("test", &["-f", "-d", "-e", "-s", "-r", "-n", "-z", "'!' -e", "a =", "-x", "README.md -nt"]),
    ("printenv", &["HOME", "PATH", "USER"]),
    ("tar", &["-tf", "tf", "-tvf", "tvf", "-tzf", "-t", "-tv", "-tJf", "-xf", "-cf out.tar"]),
    ("command", &["-v", "-V"]),
];
const AWK: &[&str] = &[
    "'{print $1}'",
    "'{print}'",
    "NR==1",
    "/fn/",
    "'END{print NR}'",
    "'BEGIN{print 1}'",
    "'{print length($0)}'",
    "'NR<3 || /x/'",
    "'{ORS=\"\"} 1'",
    "'!seen[$0]++'",
    "'{print FILENAME}'",
];
const LISTED: &[&str] = &["list", "show", "show HEAD", "list HEAD", "-l", "--list", "show 'stash@{0}'"];

/// Values to try for options: a program, the names of its options separated by blanks, and the values. The program may
/// be only the beginning or the end of a command: `git` of `git log`, `grep` of `git grep`.
#[rustfmt::skip]
const VALUES: &[(&str, &str, &[&str])] = &[
    ("grep", "-d --directories", &["read", "skip", "recurse"]), ("grep", "-D --devices", &["read", "skip"]),
    ("grep", "--include --exclude --exclude-dir", EXCLUDED), ("grep", "--binary-files", &["binary", "text", "without-match"]),
    ("rg", "-g --glob --iglob", EXCLUDED), ("rg", "-t --type -T --type-not", &["rust", "all", "md", "txt", "sh"]),
    ("rg", "--sort --sortr", &["path", "none", "modified"]), ("rg", "-E --encoding", &["utf-8", "none", "utf-16"]),
    ("fd", "-t --type", &["file", "directory", "symlink", "executable", "empty", "socket", "pipe"]),
    ("fd", "-E --exclude", EXCLUDED), ("tree", "-I -P", EXCLUDED), ("diff", "-x --exclude", EXCLUDED),
    ("du", "--exclude", EXCLUDED), ("ls", "-I --ignore --hide", EXCLUDED), ("git ls-files", "-x --exclude", EXCLUDED),
    ("find", "-name -iname -path", EXCLUDED), ("find", "-type -xtype", &["f", "d", "l", "p", "f,d"]),
    ("find", "-printf", &["%p", "'%p\\n'", "%f", "%s", "%l", "%h"]), ("find", "-maxdepth -mindepth", &["0", "1", "2"]),
    ("sort", "--sort", &["numeric", "random", "version", "general-numeric"]), ("sort", "--check", &["quiet", "silent", "diagnose-first"]),
    ("od", "-t --format", &["x1", "x2", "x4", "x8", "c", "a", "o1", "o2", "u1", "d2", "f4", "x1z"]), ("od", "-A --address-radix", &["n", "x", "d", "o"]),
    ("hexdump", "-e", &["'1/1 \"%02x\"'", "'\"%c\"'"]), ("strings", "-t --radix", &["x", "d", "o"]),
    ("git", "--color --decorate", &["always", "never", "auto", "short", "full"]), ("git", "--diff-filter", &["A", "M", "AM", "d"]),
    ("git", "--pretty --format", &["oneline", "short", "full", "raw", "%H", "%B", "'%an %s'", "email"]),
    ("git", "--word-diff", &["plain", "color", "porcelain", "none"]), ("git", "--date", &["iso", "short", "relative", "raw"]),
    ("git status", "--porcelain", &["v1", "v2"]), ("git status", "-u --untracked-files", &["no", "normal", "all"]),
    ("uniq", "--all-repeated --group", &["none", "prepend", "separate", "append", "both"]),
    ("cut", "-f -c -b --fields --characters --bytes", &["1", "1-", "-5", "2,3", "1-100"]), ("cut", "-d --delimiter", &["','", "=", "' '"]),
    ("head", "-n -c --lines --bytes", &["1", "5", "-1", "100", "1k"]), ("tail", "-n -c --lines --bytes", &["1", "5", "+1", "100", "1k"]),
    ("stat", "-c --format --printf", &["%n", "%s", "'%n %a'", "%N"]), ("sed", "-e --expression", &["p", "1p", "s/a/b/", "'$p'"]),
];
const EXCLUDED: &[&str] = &[
    ".env",
    ".env.local",
    "server.pem",
    "keys",
    "web",
    ".git",
    "links",
    "pipe",
    "'.*'",
    "'*'",
    "'*.rs'",
    "'*.md'",
    "'!.env'",
    "'!*.rs'",
    "'*.env'",
    "'.env*'",
    "'!.git'",
    "'{.env,x}'",
    "'[.]env'",
    "src",
    "./keys",
    "keys/",
    "'**/.env'",
    "id_rsa",
];

/// The words that start a program, its options and its operands.
type Other = (&'static str, &'static [(&'static str, Takes)], Operands);

/// Programs that the policy parses with their own code, with the options to try.
#[rustfmt::skip]
const OTHERS: &[Other] = &[
    ("echo", &[("-n", Takes::Nothing), ("-e", Takes::Nothing), ("-E", Takes::Nothing)], grammar::operands_of(ValueKind::Word)),
    ("printf", &[("-v", Takes::Required)], grammar::leading_operands(&[ValueKind::Script], Some(ValueKind::Word))),
    ("test", &[], grammar::leading_operands(&[ValueKind::Script], Some(ValueKind::Names))),
    ("printenv", &[("-0", Takes::Nothing), ("--null", Takes::Nothing)], grammar::leading_operands(&[ValueKind::Script], Some(ValueKind::Word))),
    ("tar", &[("-v", Takes::Nothing), ("-z", Takes::Nothing), ("-O", Takes::Nothing), ("-C", Takes::Required),
        ("-T", Takes::Required), ("--to-command", Takes::Required), ("--index-file", Takes::Required)],
        grammar::leading_operands(&[ValueKind::Script, ValueKind::Read], Some(ValueKind::Word))),
    ("command", &[], grammar::leading_operands(&[ValueKind::Script], Some(ValueKind::Word))),
    ("cd", &[("-P", Takes::Nothing), ("-L", Takes::Nothing)], grammar::operands_of(ValueKind::Names)),
];

/// Returns a recipe for every program of the grammar and of `OTHERS`. A program without known operands and with
/// incomplete options has none: see `r12_programs_with_unknown_options_are_never_allowed`.
pub fn recipes() -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for program in grammar::programs() {
        program.names.iter().for_each(|name| add_recipes(name, program, &mut recipes));
    }
    for (words, options, operands) in OTHERS {
        let options = options.iter().map(|(name, takes)| Choice {
            name,
            takes: *takes,
            holds: ValueKind::Word,
            words: &[],
            role: Role::Plain,
        });
        let scripts = scripts_of(words);
        recipes.push(Recipe {
            words: (*words).to_owned(),
            options: options.collect(),
            operands: *operands,
            scripts,
            may_run: true,
        });
    }
    recipes
}

/// Programs of which only the options with effects are known.
pub fn unknown() -> impl Iterator<Item = &'static str> {
    grammar::programs().filter(|program| is_unknown(program)).flat_map(|program| program.names).copied()
}

fn is_unknown(program: &Program) -> bool {
    !program.is_complete && program.operands == NO_OPERANDS && program.subcommands.is_empty()
}

fn add_recipes(words: &str, program: &'static Program, recipes: &mut Vec<Recipe>) {
    for subcommand in program.subcommands {
        subcommand.names.iter().for_each(|name| add_recipes(&format!("{words} {name}"), subcommand, recipes));
    }
    if is_unknown(program) {
        return;
    }
    let scripts = scripts_of(words);
    let needs_script = program.operands.first.contains(&ValueKind::Script);
    assert!(!needs_script || !scripts.is_empty(), "{words} needs a script: add one to SCRIPTS");
    let options = program.all_options().flat_map(|option| {
        let (takes, holds) = match option.value {
            OptionValue::None => (Takes::Nothing, ValueKind::Word),
            OptionValue::Required(holds) => (Takes::Required, holds),
            OptionValue::Optional(holds) => (Takes::Optional, holds),
            OptionValue::OptionalNumber { .. } => (Takes::Optional, ValueKind::Number),
        };
        option.all_names().map(move |name| Choice {
            name,
            takes,
            holds,
            words: values_of(words, name),
            role: option.role,
        })
    });
    let options = options.collect();
    let operands = program.operands;
    recipes.push(Recipe { words: words.to_owned(), options, operands, scripts, may_run: program.is_complete });
}

fn scripts_of(words: &str) -> &'static [&'static str] {
    SCRIPTS.iter().find(|(name, _)| *name == words).map_or(&[], |(_, scripts)| scripts)
}

fn values_of(words: &str, option: &str) -> &'static [&'static str] {
    let matches = |(program, names, _): &&(&str, &str, _)| {
        (words.starts_with(program) || words.ends_with(program)) && names.split(' ').any(|name| name == option)
    };
    VALUES.iter().find(matches).map_or(&[], |(_, _, values)| values)
}
