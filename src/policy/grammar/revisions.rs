//! Options of git commands that walk commits and show differences.

use super::{Attached, GNU, Holds, Opt, Role, Syntax, Value, flag, holds, may, takes};

/// Each word is one option, as `log` and `diff` parse them. The value of a long option follows `=`.
pub(super) const SYNTAX: Syntax =
    Syntax { bundles: false, attached: Attached::Any, has_numbers: true, has_separate_long: false, ..GNU };

const fn shows(names: &'static str) -> Opt {
    flag(names).with(Role::Shows)
}

const fn lists(names: &'static str) -> Opt {
    flag(names).with(Role::Lists)
}

const fn asks(names: &'static str) -> Opt {
    flag(names).with(Role::Asks)
}

const fn may_as(names: &'static str, role: Role) -> Opt {
    Opt { names, value: Value::Optional(Holds::Word), role }
}

#[rustfmt::skip]
pub(super) const OPTIONS: &[Opt] = &[
    // Content of files
    shows("-p -u --patch"), may_as("-U --unified", Role::Shows), shows("--binary"), may_as("--word-diff", Role::Shows),
    may_as("--color-words", Role::Shows), shows("--check"), holds("-L", Holds::Range).with(Role::Shows),
    shows("-c"), shows("--cc"), shows("--patch-with-stat"), shows("--patch-with-raw"), shows("-m"),
    // Names and statistics of files
    may_as("--stat", Role::Lists), lists("--shortstat"), lists("--numstat"), lists("--name-only"), lists("--name-status"),
    lists("--summary"), lists("--raw"), lists("-s --no-patch"), may_as("--dirstat", Role::Lists), lists("--compact-summary"),
    lists("--quiet"), flag("-q"),
    // Format of differences
    flag("-b --ignore-space-change"), flag("-w --ignore-all-space"), flag("-i --regexp-ignore-case"), flag("-z"),
    flag("-t"), flag("-E --extended-regexp"), flag("-F --fixed-strings"), flag("-P --perl-regexp"),
    may("-M --find-renames"), may("-C --find-copies"), flag("--find-copies-harder"), may("-B --break-rewrites"),
    may("--color"), flag("--no-color"), flag("--no-ext-diff"), flag("--no-textconv"), takes("--diff-filter"),
    flag("--exit-code"), flag("--minimal"), flag("--histogram"), flag("--patience"), may("--relative"), flag("--full-index"),
    flag("--no-renames"), flag("--no-prefix"), flag("--ignore-blank-lines"), flag("--cached --staged"), flag("--merge-base"),
    flag("-W --function-context"), takes("--inter-hunk-context"),
    // The selection of commits reveals content of files.
    takes("-S").with(Role::Shows), takes("-G").with(Role::Shows), flag("--pickaxe-regex"), flag("--pickaxe-all"),
    // Commits
    takes("-n --max-count"), flag("--oneline"), flag("--graph"), flag("--all"), may("--decorate"), flag("--no-decorate"),
    may("--pretty"), takes("--format"), flag("--abbrev-commit"), may("--abbrev"), takes("--since --after"),
    takes("--until --before"), takes("--author"), takes("--committer"), takes("--grep"), flag("--follow"), flag("--merges"),
    flag("--no-merges"), flag("--first-parent"), flag("--reverse"), takes("--date"), flag("--topo-order"),
    flag("--date-order"), may("--branches"), may("--tags"), may("--remotes"), flag("--left-right"), flag("--cherry-pick"),
    takes("--skip"), flag("--boundary"), flag("--full-history"), flag("--source"), flag("--no-notes"), flag("--numbered"),
    flag("--email"), flag("--count"), flag("--objects"),
    // These run programs, write, or read files outside the repository.
    asks("--ext-diff"), asks("--textconv"), asks("--show-signature"), holds("--output", Holds::Write), asks("--no-index"),
    holds("-O", Holds::List), flag("--stdin").with(Role::Asks),
];
