//! git: its options before the subcommand, and those of the subcommands.

use super::program::{
    AttachedValue, GNU, Operands, OptionGroup, OptionValue, Program, Role, Syntax, ValueKind, flags, leading_operands,
    operands_of, program, with_optional_word, with_value, with_word,
};
use super::revisions;

const GIT_VERSIONS: &str = "git 2.30 to 2.50";

/// Syntax of subcommands of which all options are known. Git also accepts the value of a long option as the next word;
/// here only `=` is accepted, and a separate value needs approval.
const SUBCOMMAND_SYNTAX: Syntax = Syntax { has_separate_long: false, ..GNU };

/// git before the subcommand; words after it belong to the subcommand.
const GIT_SYNTAX: Syntax =
    Syntax { bundles: false, attached: AttachedValue::Never, permutes: false, abbreviates: false, ..GNU };

const REVISION_OPERANDS: Operands = operands_of(ValueKind::Revision);

/// A subcommand of which every option that may run without approval is listed.
const fn complete_subcommand(
    names: &'static [&'static str],
    options: &'static [OptionGroup],
    operands: Operands,
) -> Program {
    Program { syntax: SUBCOMMAND_SYNTAX, ..program(names, GIT_VERSIONS, options, operands) }
}

/// A subcommand of which only those options are listed that decide what is written, lost or run. The value of
/// a long option may also be the next word.
const fn partial_subcommand(names: &'static [&'static str], options: &'static [OptionGroup]) -> Program {
    Program { syntax: GNU, is_complete: false, ..complete_subcommand(names, options, REVISION_OPERANDS) }
}

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[Program { syntax: GIT_SYNTAX, subcommands: SUBCOMMANDS,
    ..program(&["git"], GIT_VERSIONS, &[
        flags("--no-pager, --no-optional-locks"), flags("--version").role(Role::Lists),
        with_value("-C, --git-dir, --work-tree", ValueKind::Folder), with_value("-c, --config-env", ValueKind::Program),
        OptionGroup { options: "--exec-path", value: OptionValue::Optional(ValueKind::Program), role: Role::NeedsApproval },
        with_word("--namespace").role(Role::NeedsApproval),
        flags("-p --paginate, -P, --bare, --literal-pathspecs").role(Role::NeedsApproval),
    ], leading_operands(&[ValueKind::Word], Some(ValueKind::Word))) }];

#[rustfmt::skip]
static SUBCOMMANDS: &[Program] = &[
    // These walk through revisions, with the options of `git log`.
    Program { syntax: revisions::SYNTAX, ..complete_subcommand(
        &["log", "show", "diff", "rev-list", "whatchanged", "reflog"], revisions::OPTIONS, REVISION_OPERANDS) },
    complete_subcommand(&["status"], &[
        flags("-s --short, -b --branch, -z, --long, --no-renames, --show-stash"),
        flags("-v --verbose").role(Role::ShowsContent),
        with_optional_word("--porcelain, -u --untracked-files, --ignored"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["branch"], &[
        flags("-a --all, -r --remotes, -v --verbose, --show-current, --no-color"), flags("-l --list").role(Role::Lists),
        with_optional_word("--merged, --no-merged, --color, --column"), with_word("--sort, --format"),
        flags("-D, -M, -C, -f --force").role(Role::Forces),
        flags("-d --delete, -m --move, -c --copy, --unset-upstream").role(Role::Changes),
        with_word("-u --set-upstream-to").role(Role::Changes), flags("--edit-description").role(Role::NeedsApproval),
    ], REVISION_OPERANDS),
    complete_subcommand(&["tag"], &[
        flags("-l --list").role(Role::Lists), with_optional_word("-n, --merged, --no-merged"),
        with_word("--sort, --format"), flags("-i --ignore-case"),
        flags("-d --delete, -a --annotate, -f --force").role(Role::Changes),
        flags("-s --sign, -v --verify").role(Role::NeedsApproval), with_word("-m --message").role(Role::Changes),
        with_value("-F --file", ValueKind::List),
    ], REVISION_OPERANDS),
    complete_subcommand(&["rev-parse"], &[
        flags("-q --quiet, --show-toplevel, --git-dir, --is-inside-work-tree, --verify, --symbolic-full-name, \
            --show-prefix, --is-shallow-repository, --absolute-git-dir, --show-cdup, --is-bare-repository"),
        with_optional_word("--abbrev-ref, --short"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["ls-files"], &[
        flags("-c --cached, -m --modified, -o --others, -d --deleted, -s --stage, -z, -t, -k --killed, -i --ignored, \
            -u --unmerged, --exclude-standard, --full-name, --error-unmatch, --directory"), with_word("-x --exclude"),
        with_value("-X --exclude-from", ValueKind::List),
    ], REVISION_OPERANDS),
    complete_subcommand(&["ls-tree"], &[
        flags("-r, -t, -d, -l --long, -z, --name-only --name-status, --full-tree, --full-name"),
        with_optional_word("--abbrev"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["blame"], &[
        flags("-w, -s, -e --show-email, -l, -f --show-name, -t, -n --show-number, -c, -b, -p --porcelain, \
            --line-porcelain, --root"), with_value("-L", ValueKind::Range), with_optional_word("-M, -C, --abbrev"),
        with_word("--date"), with_value("--contents", ValueKind::Read).role(Role::NeedsApproval),
        with_value("-S, --ignore-revs-file", ValueKind::List),
    ], REVISION_OPERANDS),
    complete_subcommand(&["describe"], &[
        flags("--tags, --always, --long, --all, --exact-match"), with_optional_word("--abbrev, --dirty"),
        with_word("--match, --exclude"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["shortlog"], &[
        flags("-s --summary, -n --numbered, -e --email, --all, --no-merges"), with_word("--since, --until"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["cat-file"], &[flags("-p").role(Role::ShowsContent), flags("-t, -s, -e")], REVISION_OPERANDS),
    complete_subcommand(&["merge-base"], &[], REVISION_OPERANDS),
    complete_subcommand(&["grep"], &[
        flags("-n --line-number, -i --ignore-case, -l --files-with-matches --name-only, -L --files-without-match, \
            -c --count, -w --word-regexp, -E --extended-regexp, -F --fixed-strings, -G --basic-regexp, \
            -P --perl-regexp, -h, -H, -I, -q --quiet, -v --invert-match, -o --only-matching, -p --show-function, \
            -W --function-context, --heading, --break, --no-color, --column, --full-name, --cached"),
        with_optional_word("--color"), flags("--untracked").role(Role::Recursive),
        with_word("-A --after-context, -B --before-context, -C --context, -m --max-count, --max-depth"),
        with_value("-e", ValueKind::Pattern).role(Role::HoldsScript),
        with_value("-f", ValueKind::Read).role(Role::HoldsScript),
        flags("--no-index, --recurse-submodules").role(Role::NeedsApproval),
        OptionGroup { options: "-O --open-files-in-pager", value: OptionValue::Optional(ValueKind::Program), role: Role::NeedsApproval },
    ], leading_operands(&[ValueKind::Pattern], Some(ValueKind::Revision))),
    partial_subcommand(&["push"], &[
        flags("-f --force, -d --delete, --mirror, --prune").role(Role::Forces),
        with_optional_word("--force-with-lease").role(Role::Forces),
        flags("--all, --branches, --tags, -u --set-upstream, -n --dry-run"), with_word("-o --push-option, --repo"),
        with_value("--receive-pack --exec", ValueKind::Program),
    ]),
    partial_subcommand(&["checkout"], &[
        flags("-f --force").role(Role::Forces), with_word("-b, -B, --orphan").role(Role::Keeps),
        with_word("-U, --conflict"), with_value("--pathspec-from-file", ValueKind::List),
    ]),
    partial_subcommand(&["switch"], &[
        flags("-f --force --discard-changes").role(Role::Forces),
        with_word("-c --create, -C --force-create, --orphan, --conflict"),
    ]),
    partial_subcommand(&["restore"], &[
        flags("-S --staged").role(Role::Keeps), flags("--no-staged"), flags("-W --worktree").role(Role::Forces),
        with_word("-s --source, -U, --conflict"), with_value("--pathspec-from-file", ValueKind::List),
    ]),
    partial_subcommand(&["reset"], &[
        flags("--hard, --merge").role(Role::Forces), flags("--soft, --mixed, --keep"),
        with_value("--pathspec-from-file", ValueKind::List),
    ]),
    partial_subcommand(&["clean"], &[
        flags("-f --force").role(Role::Forces), flags("-n --dry-run").role(Role::Keeps),
        flags("--no-dry-run, -d, -x, -X, -q --quiet, -i --interactive"), with_word("-e --exclude"),
    ]),
    partial_subcommand(&["rm"], &[
        flags("-f --force").role(Role::Forces), flags("--cached").role(Role::Keeps),
        flags("--no-cached, -r, -n --dry-run, -q --quiet"),
    ]),
    partial_subcommand(&["config"], &[
        flags("--get --get-all --get-regexp --get-urlmatch, -l --list").role(Role::Lists),
        flags("--global, --system, --local, --worktree"),
        with_value("-f --file", ValueKind::Program).role(Role::Changes),
        flags("--add --replace-all --unset --unset-all --rename-section --remove-section -e --edit").role(Role::Changes),
    ]),
    partial_subcommand(&["stash"], &[]),
    partial_subcommand(&["worktree"], &[flags("-f --force").role(Role::Forces)]),
    // `policy::exec_options` reads unknown subcommands with this grammar too. As in `git grep`, their `-O` may name a
    // program to run.
    partial_subcommand(&["commit", "merge", "am", "cherry-pick", "revert", "fetch", "pull", "add"], &[
        with_word("-m --message"), flags("-e --edit"), with_value("-O", ValueKind::Program),
    ]),
];
