//! Programs that build, run and publish. Holds only their options that run other programs, read settings or work
//! elsewhere; a rule for such a program covers all its other options.

use super::program::{
    AttachedValue, GNU, NO_OPERANDS, OptionSpec, Program, Role, Syntax, ValueKind, flag, flag_needing_approval,
    option_with, option_with_word,
};

/// Most of these programs accept long options with one dash too.
const LOOSE_SYNTAX: Syntax = Syntax { is_single_dash: true, attached: AttachedValue::Any, ..GNU };

pub(super) const fn partial_build_program(names: &'static [&'static str], options: &'static [OptionSpec]) -> Program {
    Program {
        names,
        described_versions: "every version: only what runs others or works elsewhere",
        syntax: LOOSE_SYNTAX,
        options,
        operands: NO_OPERANDS,
        subcommands: &[],
        is_complete: false,
    }
}

pub(super) const fn option_runs(names: &'static str) -> OptionSpec {
    option_with(names, ValueKind::Program)
}

pub(super) const fn option_with_folder(names: &'static str) -> OptionSpec {
    option_with(names, ValueKind::Folder)
}

/// Options of these names run a program, read settings or write elsewhere in any program.
#[rustfmt::skip]
pub(super) static ANY_RUNNER: Program = partial_build_program(&[""], &[
    option_runs("--exec"), option_runs("--execute"), option_runs("--exec-path"), option_runs("--exec-batch"), option_runs("--upload-pack"),
    option_runs("--receive-pack"), option_runs("--ext-diff"), option_runs("--textconv"), option_runs("--open-files-in-pager"),
    option_runs("--to-command"), option_runs("--checkpoint-action"), option_runs("--use-compress-program"), option_runs("--compress-program"),
    option_runs("--rsh"), option_runs("--rsync-path"), option_runs("--pre"), option_runs("--hostname-bin"), option_runs("--pager"), option_runs("--config"),
    option_runs("--config-env"), option_runs("--toolexec"), option_runs("--execdir"), option_runs("--ok"), option_runs("--okdir"),
    option_runs("--script-shell"), option_runs("--shell"), option_runs("--runner"), option_runs("--rcfile"), option_runs("--init-file"),
    option_runs("--load-path"), option_runs("--require"), option_runs("--eval"), option_runs("--plugin"), option_runs("--gpg-program"),
    option_runs("--ssh-command"), option_runs("--proxy-command"), option_runs("--hooks-path"), option_runs("--template"), option_runs("--makefile"),
    option_runs("--justfile"), option_runs("--info-script"), option_runs("--new-volume-script"), option_runs("--rmt-command"),
    option_runs("--rsh-command"), option_runs("--vettool"), option_runs("--post-renderer"), option_with("--output", ValueKind::Write),
    option_with_folder("--git-dir"), option_with_folder("--work-tree"), option_with_folder("--manifest-path"), option_with_folder("--prefix"), option_with_folder("--directory"),
    option_with_folder("--chdir"),
]);

/// Long options that set the folder in which a program works.
#[rustfmt::skip]
pub(super) static ANY_FOLDER: Program = partial_build_program(&[""], &[
    option_with_folder("--directory"), option_with_folder("--git-dir"), option_with_folder("--work-tree"), option_with_folder("--prefix"), option_with_folder("--manifest-path"),
    option_with_folder("--cwd"), option_with_folder("--chdir"), option_with_folder("--target-directory"), option_with_folder("--project-dir"), option_with_folder("--working-directory"),
]);

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    partial_build_program(&["cmake"], &[
        option_runs("-P"), option_runs("-C"), option_runs("-E"), option_with_word("-D"), option_with_word("-U"), option_with_word("-G"), option_with_word("-A"), option_with("-B", ValueKind::Write), option_with_word("-S"),
        option_with_word("-T"),
    ]),
    Program { syntax: Syntax { has_bare_options: true, ..LOOSE_SYNTAX }, ..partial_build_program(&["tar"], &[
        flag("-t").with_role(Role::Lists), flag("-v"), flag("-z"), flag("-j"), flag("-J"),
        option_runs("-I"), option_runs("-F"), option_with_folder("-C"), option_with("-T --files-from", ValueKind::List), option_with("-f", ValueKind::Write),
        option_with("-g", ValueKind::Write), option_with_word("--exclude"), option_with_word("--transform --xform"), option_with_word("--suffix"), option_with_word("--mode"),
        option_with_word("-b"), option_with_word("-H"), option_with_word("-K"), option_with_word("-L"), option_with_word("-N"), option_with_word("-V"), option_with_word("-X"),
    ]) },
    partial_build_program(&["psql"], &[option_with("-f --file", ValueKind::ScriptFile)]),
    partial_build_program(&["apt", "apt-get"], &[option_runs("-o --option"), option_runs("-c"), option_with_word("-t")]),
    partial_build_program(&["ansible"], &[
        option_runs("-m --module-name"), option_runs("-a --args"), option_runs("-i"), option_runs("-M --module-path"), option_with_word("-u"), option_with_word("-f"),
        option_with_word("-e"), option_with_word("-t"), option_with_word("-T"), option_with_word("-l"), flag_needing_approval("-K"),
    ]),
    partial_build_program(&["npm", "pnpm", "yarn"], &[option_runs("--node-options"), option_runs("--userconfig"), option_runs("--globalconfig")]),
    partial_build_program(&["kubectl", "helm", "oc"], &[option_runs("--kubeconfig")]),
    partial_build_program(&["svn"], &[
        option_runs("--diff-cmd"), option_runs("--diff3-cmd"), option_runs("--editor-cmd"), option_runs("--merge-cmd"), option_runs("--config-option"),
        option_runs("--config-dir"),
    ]),
    partial_build_program(&["mix"], &[option_runs("-e"), option_runs("-r")]),
    partial_build_program(&["go"], &[option_runs("--ldflags"), option_runs("--overlay"), option_runs("--modfile")]),
    partial_build_program(&["openssl"], &[option_runs("--engine"), option_runs("--provider"), option_runs("--provider-path")]),
    partial_build_program(&["pip", "pip3", "uv"], &[option_runs("--python")]),
    partial_build_program(&["jj"], &[option_runs("--tool")]),
];
