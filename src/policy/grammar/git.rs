//! git: its options before the subcommand, and those of the subcommands.

use super::program::{
    AttachedValue, GNU, Operands, OptionSpec, OptionValue, Program, Role, Syntax, ValueKind, flag,
    flag_needing_approval, flag_showing_content, leading_operands, operands_of, option_with, option_with_optional,
    option_with_word,
};
use super::revisions;

const GIT_VERSIONS: &str = "git 2.30 to 2.50";

/// `parse_options` of git: the value of a long option follows `=`.
const SUBCOMMAND_SYNTAX: Syntax = Syntax { has_separate_long: false, ..GNU };

/// git before the subcommand; words after it belong to the subcommand.
const GIT_SYNTAX: Syntax =
    Syntax { bundles: false, attached: AttachedValue::Never, permutes: false, abbreviates: false, ..GNU };

const REVISION_OPERANDS: Operands = operands_of(ValueKind::Revision);

/// A subcommand of which every option that may run without approval is listed.
const fn complete_subcommand(
    names: &'static [&'static str],
    options: &'static [OptionSpec],
    operands: Operands,
) -> Program {
    Program {
        names,
        described_versions: GIT_VERSIONS,
        syntax: SUBCOMMAND_SYNTAX,
        options,
        operands,
        subcommands: &[],
        is_complete: true,
    }
}

/// A subcommand of which only those options are listed that decide what is written, lost or run.
const fn partial_subcommand(names: &'static [&'static str], options: &'static [OptionSpec]) -> Program {
    Program { syntax: GNU, is_complete: false, ..complete_subcommand(names, options, REVISION_OPERANDS) }
}

/// A subcommand that walks through revisions, with the options of `git log`.
const fn walking_subcommand(names: &'static [&'static str]) -> Program {
    Program { syntax: revisions::SYNTAX, ..complete_subcommand(names, revisions::OPTIONS, REVISION_OPERANDS) }
}

const fn forcing_flag(names: &'static str) -> OptionSpec {
    flag(names).with_role(Role::Forces)
}

const fn changing_flag(names: &'static str) -> OptionSpec {
    flag(names).with_role(Role::Changes)
}

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[Program {
    names: &["git"],
    described_versions: GIT_VERSIONS,
    syntax: GIT_SYNTAX,
    options: &[
        flag("--no-pager"), flag("--no-optional-locks"), flag("--version").with_role(Role::Lists), option_with("-C", ValueKind::Folder),
        option_with("-c", ValueKind::Program), option_with("--config-env", ValueKind::Program), option_with("--git-dir", ValueKind::Folder),
        option_with("--work-tree", ValueKind::Folder), OptionSpec { names: "--exec-path", value: OptionValue::Optional(ValueKind::Program), role: Role::NeedsApproval },
        option_with_word("--namespace").with_role(Role::NeedsApproval), flag_needing_approval("-p --paginate"), flag_needing_approval("-P"), flag_needing_approval("--bare"), flag_needing_approval("--literal-pathspecs"),
    ],
    operands: leading_operands(&[ValueKind::Word], Some(ValueKind::Word)),
    subcommands: SUBCOMMANDS,
    is_complete: true,
}];

#[rustfmt::skip]
static SUBCOMMANDS: &[Program] = &[
    walking_subcommand(&["log"]), walking_subcommand(&["show"]), walking_subcommand(&["diff"]), walking_subcommand(&["rev-list"]), walking_subcommand(&["whatchanged"]), walking_subcommand(&["reflog"]),
    complete_subcommand(&["status"], &[
        flag("-s --short"), flag("-b --branch"), flag("-z"), flag_showing_content("-v --verbose"), option_with_optional("--porcelain"),
        option_with_optional("-u --untracked-files"), option_with_optional("--ignored"), flag("--long"), flag("--no-renames"), flag("--show-stash"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["branch"], &[
        flag("-a --all"), flag("-r --remotes"), flag("-v --verbose"), flag("-l --list").with_role(Role::Lists),
        flag("--show-current"), option_with_optional("--merged"), option_with_optional("--no-merged"), option_with_word("--sort"), option_with_word("--format"),
        flag("--no-color"), option_with_optional("--color"), option_with_optional("--column"), forcing_flag("-D"), forcing_flag("-f --force").with_role(Role::Forces),
        changing_flag("-d --delete"), changing_flag("-m -M -c -C --move --copy"), option_with_word("-u --set-upstream-to").with_role(Role::Changes),
        changing_flag("--unset-upstream"), flag_needing_approval("--edit-description"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["tag"], &[
        flag("-l --list").with_role(Role::Lists), option_with_optional("-n"), option_with_word("--sort"), option_with_word("--format"), option_with_optional("--merged"),
        option_with_optional("--no-merged"), flag("-i --ignore-case"), changing_flag("-d --delete"), changing_flag("-a --annotate"), flag_needing_approval("-s --sign"),
        changing_flag("-f --force"), flag_needing_approval("-v --verify"), option_with_word("-m --message").with_role(Role::Changes), option_with("-F --file", ValueKind::List),
    ], REVISION_OPERANDS),
    complete_subcommand(&["rev-parse"], &[
        flag("-q --quiet"), option_with_optional("--abbrev-ref"), option_with_optional("--short"), flag("--show-toplevel"), flag("--git-dir"),
        flag("--is-inside-work-tree"), flag("--verify"), flag("--symbolic-full-name"), flag("--show-prefix"),
        flag("--is-shallow-repository"), flag("--absolute-git-dir"), flag("--show-cdup"), flag("--is-bare-repository"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["ls-files"], &[
        flag("-c --cached"), flag("-m --modified"), flag("-o --others"), flag("-d --deleted"), flag("-s --stage"),
        flag("-z"), flag("-t"), flag("-k --killed"), flag("-i --ignored"), flag("-u --unmerged"),
        flag("--exclude-standard"), flag("--full-name"), flag("--error-unmatch"), flag("--directory"),
        option_with_word("-x --exclude"), option_with("-X --exclude-from", ValueKind::List),
    ], REVISION_OPERANDS),
    complete_subcommand(&["ls-tree"], &[
        flag("-r"), flag("-t"), flag("-d"), flag("-l --long"), flag("-z"), flag("--name-only --name-status"),
        flag("--full-tree"), flag("--full-name"), option_with_optional("--abbrev"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["blame"], &[
        flag("-w"), flag("-s"), flag("-e --show-email"), flag("-l"), flag("-f --show-name"), flag("-t"),
        flag("-n --show-number"), flag("-c"), flag("-b"), option_with("-L", ValueKind::Range), option_with_optional("-M"), option_with_optional("-C"),
        flag("-p --porcelain"), flag("--line-porcelain"), option_with_word("--date"), option_with_optional("--abbrev"), flag("--root"),
        option_with("--contents", ValueKind::Read).with_role(Role::NeedsApproval), option_with("-S", ValueKind::List), option_with("--ignore-revs-file", ValueKind::List),
    ], REVISION_OPERANDS),
    complete_subcommand(&["describe"], &[
        flag("--tags"), flag("--always"), flag("--long"), flag("--all"), option_with_optional("--abbrev"), flag("--exact-match"),
        option_with_word("--match"), option_with_word("--exclude"), option_with_optional("--dirty"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["shortlog"], &[
        flag("-s --summary"), flag("-n --numbered"), flag("-e --email"), flag("--all"), flag("--no-merges"),
        option_with_word("--since"), option_with_word("--until"),
    ], REVISION_OPERANDS),
    complete_subcommand(&["cat-file"], &[flag_showing_content("-p"), flag("-t"), flag("-s"), flag("-e")], REVISION_OPERANDS),
    complete_subcommand(&["merge-base"], &[], REVISION_OPERANDS),
    complete_subcommand(&["grep"], &[
        flag("-n --line-number"), flag("-i --ignore-case"), flag("-l --files-with-matches --name-only"),
        flag("-L --files-without-match"), flag("-c --count"), flag("-w --word-regexp"), flag("-E --extended-regexp"),
        flag("-F --fixed-strings"), flag("-G --basic-regexp"), flag("-P --perl-regexp"), flag("-h"), flag("-H"), flag("-I"),
        flag("-q --quiet"), flag("-v --invert-match"), flag("-o --only-matching"), flag("-p --show-function"),
        flag("-W --function-context"), flag("--heading"), flag("--break"), option_with_optional("--color"), flag("--no-color"),
        flag("--column"), flag("--full-name"), flag("--cached"), flag("--untracked").with_role(Role::Recursive),
        option_with_word("-A --after-context"), option_with_word("-B --before-context"), option_with_word("-C --context"), option_with_word("-m --max-count"),
        option_with_word("--max-depth"), option_with("-e", ValueKind::Pattern).with_role(Role::HoldsScript),
        option_with("-f", ValueKind::Read).with_role(Role::HoldsScript), flag_needing_approval("--no-index"), flag_needing_approval("--recurse-submodules"),
        OptionSpec { names: "-O --open-files-in-pager", value: OptionValue::Optional(ValueKind::Program), role: Role::NeedsApproval },
    ], leading_operands(&[ValueKind::Pattern], Some(ValueKind::Revision))),
    partial_subcommand(&["push"], &[
        forcing_flag("-f --force"), option_with_optional("--force-with-lease").with_role(Role::Forces), forcing_flag("-d --delete"), forcing_flag("--mirror"),
        forcing_flag("--prune"), flag("--all"), flag("--branches"), flag("--tags"), flag("-u --set-upstream"), flag("-n --dry-run"),
        option_with_word("-o --push-option"), option_with_word("--repo"), option_with("--receive-pack --exec", ValueKind::Program),
    ]),
    partial_subcommand(&["checkout"], &[
        forcing_flag("-f --force"), option_with_word("-b").with_role(Role::Keeps), option_with_word("-B").with_role(Role::Keeps), option_with_word("--orphan").with_role(Role::Keeps),
        option_with_word("-U"), option_with_word("--conflict"), option_with("--pathspec-from-file", ValueKind::List),
    ]),
    partial_subcommand(&["switch"], &[
        forcing_flag("-f --force --discard-changes"), option_with_word("-c --create"), option_with_word("-C --force-create"), option_with_word("--orphan"),
        option_with_word("--conflict"),
    ]),
    partial_subcommand(&["restore"], &[
        flag("-S --staged").with_role(Role::Keeps), flag("--no-staged"), flag("-W --worktree").with_role(Role::Forces), option_with_word("-s --source"),
        option_with_word("-U"), option_with_word("--conflict"), option_with("--pathspec-from-file", ValueKind::List),
    ]),
    partial_subcommand(&["reset"], &[forcing_flag("--hard"), flag("--soft"), flag("--mixed"), forcing_flag("--merge"), flag("--keep"),
        option_with("--pathspec-from-file", ValueKind::List)]),
    partial_subcommand(&["clean"], &[
        forcing_flag("-f --force"), flag("-n --dry-run").with_role(Role::Keeps), flag("--no-dry-run"), option_with_word("-e --exclude"),
        flag("-d"), flag("-x"), flag("-X"), flag("-q --quiet"), flag("-i --interactive"),
    ]),
    partial_subcommand(&["rm"], &[forcing_flag("-f --force"), flag("--cached").with_role(Role::Keeps), flag("--no-cached"), flag("-r"),
        flag("-n --dry-run"), flag("-q --quiet")]),
    partial_subcommand(&["config"], &[
        flag("--get --get-all --get-regexp --get-urlmatch").with_role(Role::Lists), flag("-l --list").with_role(Role::Lists),
        flag("--global"), flag("--system"), flag("--local"), flag("--worktree"), option_with("-f --file", ValueKind::Program).with_role(Role::Changes),
        changing_flag("--add --replace-all --unset --unset-all --rename-section --remove-section -e --edit"),
    ]),
    partial_subcommand(&["stash"], &[]),
    partial_subcommand(&["worktree"], &[forcing_flag("-f --force")]),
    // In some of these, `-O` names a program to run.
    partial_subcommand(&["commit", "merge", "am", "cherry-pick", "revert", "fetch", "pull", "add"], &[
        option_with_word("-m --message"), flag("-e --edit"), option_with("-O", ValueKind::Program),
    ]),
];
