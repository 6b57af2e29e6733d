//! Options of git commands that walk commits and show differences.

use super::program::{
    AttachedValue, GNU, OptionGroup, Role, Syntax, ValueKind, flags, with_optional_word, with_value, with_word,
};

/// Each word is one option, as `log` and `diff` parse them. The value of a long option follows `=`.
pub(super) const SYNTAX: Syntax =
    Syntax { bundles: false, attached: AttachedValue::Any, has_numbers: true, has_separate_long: false, ..GNU };

#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionGroup] = &[
    // Content of files
    flags("-p -u --patch, --binary, --check, -c, --cc, --patch-with-stat, --patch-with-raw, \
        -m").role(Role::ShowsContent),
    with_optional_word("-U --unified, --word-diff, --color-words").role(Role::ShowsContent),
    with_value("-L", ValueKind::Range).role(Role::ShowsContent),
    // Names and statistics of files
    with_optional_word("--stat, --dirstat").role(Role::Lists),
    flags("--shortstat, --numstat, --name-only, --name-status, --summary, --raw, -s --no-patch, --compact-summary, \
        --quiet").role(Role::Lists), flags("-q"),
    // Format of differences
    flags("-b --ignore-space-change, -w --ignore-all-space, -i --regexp-ignore-case, -z, -t, -E --extended-regexp, \
        -F --fixed-strings, -P --perl-regexp, --find-copies-harder, --no-color, --no-ext-diff, --no-textconv, \
        --exit-code, --minimal, --histogram, --patience, --full-index, --no-renames, --no-prefix, \
        --ignore-blank-lines, --cached --staged, --merge-base, -W --function-context"),
    with_optional_word("-M --find-renames, -C --find-copies, -B --break-rewrites, --color, --relative"),
    with_word("--diff-filter, --inter-hunk-context"),
    // The selection of commits reveals content of files.
    with_word("-S, -G").role(Role::ShowsContent), flags("--pickaxe-regex, --pickaxe-all"),
    // Commits
    with_word("-n --max-count, --format, --since --after, --until --before, --author, --committer, --grep, --date, \
        --skip"),
    flags("--oneline, --graph, --all, --no-decorate, --abbrev-commit, --follow, --merges, --no-merges, --first-parent, \
        --reverse, --topo-order, --date-order, --left-right, --cherry-pick, --boundary, --full-history, --source, \
        --no-notes, --numbered, --email, --count, --objects"),
    with_optional_word("--decorate, --pretty, --abbrev, --branches, --tags, --remotes"),
    // These run programs, write, or read files outside the repository.
    flags("--ext-diff, --textconv, --show-signature, --no-index, --stdin").role(Role::NeedsApproval),
    with_value("--output", ValueKind::Write), with_value("-O", ValueKind::List),
];
