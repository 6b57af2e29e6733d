//! Options of git commands that walk commits and show differences.

use super::program::{
    AttachedValue, GNU, OptionSpec, OptionValue, Role, Syntax, ValueKind, flag, flag_needing_approval,
    flag_showing_content, option_with, option_with_optional, option_with_word,
};

/// Each word is one option, as `log` and `diff` parse them. The value of a long option follows `=`.
pub(super) const SYNTAX: Syntax =
    Syntax { bundles: false, attached: AttachedValue::Any, has_numbers: true, has_separate_long: false, ..GNU };

const fn listing_flag(names: &'static str) -> OptionSpec {
    flag(names).with_role(Role::Lists)
}

const fn optional_with_role(names: &'static str, role: Role) -> OptionSpec {
    OptionSpec { names, value: OptionValue::Optional(ValueKind::Word), role }
}

#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    // Content of files
    flag_showing_content("-p -u --patch"), optional_with_role("-U --unified", Role::ShowsContent), flag_showing_content("--binary"), optional_with_role("--word-diff", Role::ShowsContent),
    optional_with_role("--color-words", Role::ShowsContent), flag_showing_content("--check"), option_with("-L", ValueKind::Range).with_role(Role::ShowsContent),
    flag_showing_content("-c"), flag_showing_content("--cc"), flag_showing_content("--patch-with-stat"), flag_showing_content("--patch-with-raw"), flag_showing_content("-m"),
    // Names and statistics of files
    optional_with_role("--stat", Role::Lists), listing_flag("--shortstat"), listing_flag("--numstat"), listing_flag("--name-only"), listing_flag("--name-status"),
    listing_flag("--summary"), listing_flag("--raw"), listing_flag("-s --no-patch"), optional_with_role("--dirstat", Role::Lists), listing_flag("--compact-summary"),
    listing_flag("--quiet"), flag("-q"),
    // Format of differences
    flag("-b --ignore-space-change"), flag("-w --ignore-all-space"), flag("-i --regexp-ignore-case"), flag("-z"),
    flag("-t"), flag("-E --extended-regexp"), flag("-F --fixed-strings"), flag("-P --perl-regexp"),
    option_with_optional("-M --find-renames"), option_with_optional("-C --find-copies"), flag("--find-copies-harder"), option_with_optional("-B --break-rewrites"),
    option_with_optional("--color"), flag("--no-color"), flag("--no-ext-diff"), flag("--no-textconv"), option_with_word("--diff-filter"),
    flag("--exit-code"), flag("--minimal"), flag("--histogram"), flag("--patience"), option_with_optional("--relative"), flag("--full-index"),
    flag("--no-renames"), flag("--no-prefix"), flag("--ignore-blank-lines"), flag("--cached --staged"), flag("--merge-base"),
    flag("-W --function-context"), option_with_word("--inter-hunk-context"),
    // The selection of commits reveals content of files.
    option_with_word("-S").with_role(Role::ShowsContent), option_with_word("-G").with_role(Role::ShowsContent), flag("--pickaxe-regex"), flag("--pickaxe-all"),
    // Commits
    option_with_word("-n --max-count"), flag("--oneline"), flag("--graph"), flag("--all"), option_with_optional("--decorate"), flag("--no-decorate"),
    option_with_optional("--pretty"), option_with_word("--format"), flag("--abbrev-commit"), option_with_optional("--abbrev"), option_with_word("--since --after"),
    option_with_word("--until --before"), option_with_word("--author"), option_with_word("--committer"), option_with_word("--grep"), flag("--follow"), flag("--merges"),
    flag("--no-merges"), flag("--first-parent"), flag("--reverse"), option_with_word("--date"), flag("--topo-order"),
    flag("--date-order"), option_with_optional("--branches"), option_with_optional("--tags"), option_with_optional("--remotes"), flag("--left-right"), flag("--cherry-pick"),
    option_with_word("--skip"), flag("--boundary"), flag("--full-history"), flag("--source"), flag("--no-notes"), flag("--numbered"),
    flag("--email"), flag("--count"), flag("--objects"),
    // These run programs, write, or read files outside the repository.
    flag_needing_approval("--ext-diff"), flag_needing_approval("--textconv"), flag_needing_approval("--show-signature"), option_with("--output", ValueKind::Write), flag_needing_approval("--no-index"),
    option_with("-O", ValueKind::List), flag("--stdin").with_role(Role::NeedsApproval),
];
