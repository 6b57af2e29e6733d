//! Programs that build, run and publish. Holds only their options that run other programs, read settings or work
//! elsewhere; a rule for such a program covers all its other options.

use super::{Attached, GNU, Holds, NO_OPERANDS, Opt, Program, Role, Syntax, flag, holds, takes};

/// Most of these programs accept long options with one dash too.
const LOOSE: Syntax = Syntax { is_single_dash: true, attached: Attached::Any, ..GNU };

pub(super) const fn partial(names: &'static [&'static str], options: &'static [Opt]) -> Program {
    Program {
        names,
        states: "every version: only what runs others or works elsewhere",
        syntax: LOOSE,
        options,
        operands: NO_OPERANDS,
        subcommands: &[],
        is_complete: false,
    }
}

pub(super) const fn runs(names: &'static str) -> Opt {
    holds(names, Holds::Program)
}

pub(super) const fn place(names: &'static str) -> Opt {
    holds(names, Holds::Place)
}

pub(super) const fn asks(names: &'static str) -> Opt {
    flag(names).with(Role::Asks)
}

/// Options of these names run a program, read settings or write elsewhere in any program.
#[rustfmt::skip]
pub(super) static ANY_RUNNER: Program = partial(&[""], &[
    runs("--exec"), runs("--execute"), runs("--exec-path"), runs("--exec-batch"), runs("--upload-pack"),
    runs("--receive-pack"), runs("--ext-diff"), runs("--textconv"), runs("--open-files-in-pager"),
    runs("--to-command"), runs("--checkpoint-action"), runs("--use-compress-program"), runs("--compress-program"),
    runs("--rsh"), runs("--rsync-path"), runs("--pre"), runs("--hostname-bin"), runs("--pager"), runs("--config"),
    runs("--config-env"), runs("--toolexec"), runs("--execdir"), runs("--ok"), runs("--okdir"),
    runs("--script-shell"), runs("--shell"), runs("--runner"), runs("--rcfile"), runs("--init-file"),
    runs("--load-path"), runs("--require"), runs("--eval"), runs("--plugin"), runs("--gpg-program"),
    runs("--ssh-command"), runs("--proxy-command"), runs("--hooks-path"), runs("--template"), runs("--makefile"),
    runs("--justfile"), runs("--info-script"), runs("--new-volume-script"), runs("--rmt-command"),
    runs("--rsh-command"), runs("--vettool"), runs("--post-renderer"), holds("--output", Holds::Write),
    place("--git-dir"), place("--work-tree"), place("--manifest-path"), place("--prefix"), place("--directory"),
    place("--chdir"),
]);

/// Long options that set the folder in which a program works.
#[rustfmt::skip]
pub(super) static ANY_PLACE: Program = partial(&[""], &[
    place("--directory"), place("--git-dir"), place("--work-tree"), place("--prefix"), place("--manifest-path"),
    place("--cwd"), place("--chdir"), place("--target-directory"), place("--project-dir"), place("--working-directory"),
]);

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    partial(&["cmake"], &[
        runs("-P"), runs("-C"), runs("-E"), takes("-D"), takes("-U"), takes("-G"), takes("-A"), holds("-B", Holds::Write), takes("-S"),
        takes("-T"),
    ]),
    partial(&["tar"], &[
        runs("-I"), runs("-F"), place("-C"), holds("-T --files-from", Holds::List), holds("-f", Holds::Write),
        holds("-g", Holds::Write),
        takes("-b"), takes("-H"), takes("-K"), takes("-L"), takes("-N"), takes("-V"), takes("-X"),
    ]),
    partial(&["apt", "apt-get"], &[runs("-o --option"), runs("-c"), takes("-t")]),
    partial(&["ansible"], &[
        runs("-m --module-name"), runs("-a --args"), runs("-i"), runs("-M --module-path"), takes("-u"), takes("-f"),
        takes("-e"), takes("-t"), takes("-T"), takes("-l"), asks("-K"),
    ]),
    partial(&["npm", "pnpm", "yarn"], &[runs("--node-options"), runs("--userconfig"), runs("--globalconfig")]),
    partial(&["kubectl", "helm", "oc"], &[runs("--kubeconfig")]),
    partial(&["svn"], &[
        runs("--diff-cmd"), runs("--diff3-cmd"), runs("--editor-cmd"), runs("--merge-cmd"), runs("--config-option"),
        runs("--config-dir"),
    ]),
    partial(&["mix"], &[runs("-e"), runs("-r")]),
    partial(&["go"], &[runs("--ldflags"), runs("--overlay"), runs("--modfile")]),
    partial(&["openssl"], &[runs("--engine"), runs("--provider"), runs("--provider-path")]),
    partial(&["pip", "pip3", "uv"], &[runs("--python")]),
    partial(&["jj"], &[runs("--tool")]),
];
