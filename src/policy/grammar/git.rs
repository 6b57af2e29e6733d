//! git: its options before the subcommand, and those of the subcommands.

use super::revisions::{OPTIONS, SYNTAX};
use super::{
    Attached, GNU, Holds, Operands, Opt, Program, Role, Syntax, Value, all, first, flag, holds, may, takes,
};

const STATES: &str = "git 2.30 to 2.50";

/// `parse_options` of git: the value of a long option follows `=`.
const PARSED: Syntax = Syntax { has_separate_long: false, ..GNU };

/// git before the subcommand; words after it belong to the subcommand.
const OUTER: Syntax =
    Syntax { bundles: false, attached: Attached::Never, permutes: false, abbreviates: false, ..GNU };

const REVISIONS: Operands = all(Holds::Revision);

const fn reads(names: &'static [&'static str], options: &'static [Opt], operands: Operands) -> Program {
    Program { names, states: STATES, syntax: PARSED, options, operands, subcommands: &[], is_complete: true }
}

/// Options that decide whether uncommitted work is lost.
const fn partial(names: &'static [&'static str], options: &'static [Opt]) -> Program {
    Program { syntax: GNU, is_complete: false, ..reads(names, options, REVISIONS) }
}

const fn walks(names: &'static [&'static str]) -> Program {
    Program { syntax: SYNTAX, ..reads(names, OPTIONS, REVISIONS) }
}

const fn forces(names: &'static str) -> Opt {
    flag(names).with(Role::Forces)
}

const fn asks(names: &'static str) -> Opt {
    flag(names).with(Role::Asks)
}

const fn changes(names: &'static str) -> Opt {
    flag(names).with(Role::Changes)
}

const fn shows(names: &'static str) -> Opt {
    flag(names).with(Role::Shows)
}

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[Program {
    names: &["git"],
    states: STATES,
    syntax: OUTER,
    options: &[
        flag("--no-pager"), flag("--no-optional-locks"), flag("--version").with(Role::Lists), holds("-C", Holds::Place),
        holds("-c", Holds::Program), holds("--config-env", Holds::Program), holds("--git-dir", Holds::Place),
        holds("--work-tree", Holds::Place), Opt { names: "--exec-path", value: Value::Optional(Holds::Program), role: Role::Asks },
        takes("--namespace").with(Role::Asks), asks("-p --paginate"), asks("-P"), asks("--bare"), asks("--literal-pathspecs"),
    ],
    operands: first(&[Holds::Word], Some(Holds::Word)),
    subcommands: SUBCOMMANDS,
    is_complete: true,
}];

#[rustfmt::skip]
static SUBCOMMANDS: &[Program] = &[
    walks(&["log"]), walks(&["show"]), walks(&["diff"]), walks(&["rev-list"]), walks(&["whatchanged"]), walks(&["reflog"]),
    reads(&["status"], &[
        flag("-s --short"), flag("-b --branch"), flag("-z"), shows("-v --verbose"), may("--porcelain"),
        may("-u --untracked-files"), may("--ignored"), flag("--long"), flag("--no-renames"), flag("--show-stash"),
    ], REVISIONS),
    reads(&["branch"], &[
        flag("-a --all"), flag("-r --remotes"), flag("-v --verbose"), flag("-l --list").with(Role::Lists),
        flag("--show-current"), may("--merged"), may("--no-merged"), takes("--sort"), takes("--format"),
        flag("--no-color"), may("--color"), may("--column"), forces("-D"), forces("-f --force").with(Role::Forces),
        changes("-d --delete"), changes("-m -M -c -C --move --copy"), takes("-u --set-upstream-to").with(Role::Changes),
        changes("--unset-upstream"), asks("--edit-description"),
    ], REVISIONS),
    reads(&["tag"], &[
        flag("-l --list").with(Role::Lists), may("-n"), takes("--sort"), takes("--format"), may("--merged"),
        may("--no-merged"), flag("-i --ignore-case"), changes("-d --delete"), changes("-a --annotate"), asks("-s --sign"),
        changes("-f --force"), asks("-v --verify"), takes("-m --message").with(Role::Changes), holds("-F --file", Holds::List),
    ], REVISIONS),
    reads(&["rev-parse"], &[
        flag("-q --quiet"), may("--abbrev-ref"), may("--short"), flag("--show-toplevel"), flag("--git-dir"),
        flag("--is-inside-work-tree"), flag("--verify"), flag("--symbolic-full-name"), flag("--show-prefix"),
        flag("--is-shallow-repository"), flag("--absolute-git-dir"), flag("--show-cdup"), flag("--is-bare-repository"),
    ], REVISIONS),
    reads(&["ls-files"], &[
        flag("-c --cached"), flag("-m --modified"), flag("-o --others"), flag("-d --deleted"), flag("-s --stage"),
        flag("-z"), flag("-t"), flag("-k --killed"), flag("-i --ignored"), flag("-u --unmerged"),
        flag("--exclude-standard"), flag("--full-name"), flag("--error-unmatch"), flag("--directory"),
        takes("-x --exclude"), holds("-X --exclude-from", Holds::List),
    ], REVISIONS),
    reads(&["ls-tree"], &[
        flag("-r"), flag("-t"), flag("-d"), flag("-l --long"), flag("-z"), flag("--name-only --name-status"),
        flag("--full-tree"), flag("--full-name"), may("--abbrev"),
    ], REVISIONS),
    reads(&["blame"], &[
        flag("-w"), flag("-s"), flag("-e --show-email"), flag("-l"), flag("-f --show-name"), flag("-t"),
        flag("-n --show-number"), flag("-c"), flag("-b"), holds("-L", Holds::Range), may("-M"), may("-C"),
        flag("-p --porcelain"), flag("--line-porcelain"), takes("--date"), may("--abbrev"), flag("--root"),
        holds("--contents", Holds::Read).with(Role::Asks), holds("-S", Holds::List), holds("--ignore-revs-file", Holds::List),
    ], REVISIONS),
    reads(&["describe"], &[
        flag("--tags"), flag("--always"), flag("--long"), flag("--all"), may("--abbrev"), flag("--exact-match"),
        takes("--match"), takes("--exclude"), may("--dirty"),
    ], REVISIONS),
    reads(&["shortlog"], &[
        flag("-s --summary"), flag("-n --numbered"), flag("-e --email"), flag("--all"), flag("--no-merges"),
        takes("--since"), takes("--until"),
    ], REVISIONS),
    reads(&["cat-file"], &[shows("-p"), flag("-t"), flag("-s"), flag("-e")], REVISIONS),
    reads(&["merge-base"], &[], REVISIONS),
    reads(&["grep"], &[
        flag("-n --line-number"), flag("-i --ignore-case"), flag("-l --files-with-matches --name-only"),
        flag("-L --files-without-match"), flag("-c --count"), flag("-w --word-regexp"), flag("-E --extended-regexp"),
        flag("-F --fixed-strings"), flag("-G --basic-regexp"), flag("-P --perl-regexp"), flag("-h"), flag("-H"), flag("-I"),
        flag("-q --quiet"), flag("-v --invert-match"), flag("-o --only-matching"), flag("-p --show-function"),
        flag("-W --function-context"), flag("--heading"), flag("--break"), may("--color"), flag("--no-color"),
        flag("--column"), flag("--full-name"), flag("--cached"), flag("--untracked").with(Role::Recursive),
        takes("-A --after-context"), takes("-B --before-context"), takes("-C --context"), takes("-m --max-count"),
        takes("--max-depth"), holds("-e", Holds::Pattern).with(Role::Replaces),
        holds("-f", Holds::Read).with(Role::Replaces), asks("--no-index"), asks("--recurse-submodules"),
        Opt { names: "-O --open-files-in-pager", value: Value::Optional(Holds::Program), role: Role::Asks },
    ], first(&[Holds::Pattern], Some(Holds::Revision))),
    partial(&["push"], &[
        forces("-f --force"), may("--force-with-lease").with(Role::Forces), forces("-d --delete"), forces("--mirror"),
        forces("--prune"), flag("--all"), flag("--branches"), flag("--tags"), flag("-u --set-upstream"), flag("-n --dry-run"),
        takes("-o --push-option"), takes("--repo"), holds("--receive-pack --exec", Holds::Program),
    ]),
    partial(&["checkout"], &[
        forces("-f --force"), takes("-b").with(Role::Keeps), takes("-B").with(Role::Keeps), takes("--orphan").with(Role::Keeps),
        takes("-U"), takes("--conflict"), holds("--pathspec-from-file", Holds::List),
    ]),
    partial(&["switch"], &[
        forces("-f --force --discard-changes"), takes("-c --create"), takes("-C --force-create"), takes("--orphan"),
        takes("--conflict"),
    ]),
    partial(&["restore"], &[
        flag("-S --staged").with(Role::Keeps), flag("--no-staged"), flag("-W --worktree").with(Role::Forces), takes("-s --source"),
        takes("-U"), takes("--conflict"), holds("--pathspec-from-file", Holds::List),
    ]),
    partial(&["reset"], &[forces("--hard"), flag("--soft"), flag("--mixed"), flag("--merge"), flag("--keep"),
        holds("--pathspec-from-file", Holds::List)]),
    partial(&["clean"], &[
        forces("-f --force"), flag("-n --dry-run").with(Role::Keeps), flag("--no-dry-run"), takes("-e --exclude"),
        flag("-d"), flag("-x"), flag("-X"), flag("-q --quiet"), flag("-i --interactive"),
    ]),
    partial(&["rm"], &[forces("-f --force"), flag("--cached").with(Role::Keeps), flag("--no-cached"), flag("-r"),
        flag("-n --dry-run"), flag("-q --quiet")]),
    partial(&["stash"], &[]),
    partial(&["worktree"], &[forces("-f --force")]),
    // Other subcommands: this option runs another program.
    partial(&["commit", "merge", "am", "cherry-pick", "revert", "fetch", "pull", "add"], &[
        takes("-m --message"), takes("-e"), holds("-O", Holds::Program),
    ]),
];
