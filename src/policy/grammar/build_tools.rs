//! Programs that build, run and publish. Holds only their options that run other programs, read settings or work
//! elsewhere; a rule for such a program covers all its other options.

use super::program::{
    AttachedValue, GNU, NO_OPERANDS, OptionGroup, Program, Role, Syntax, ValueKind, flags, program, with_value,
    with_word,
};

/// Most of these programs accept long options with one dash too.
const LOOSE_SYNTAX: Syntax = Syntax { is_single_dash: true, attached: AttachedValue::Any, ..GNU };

/// Describes programs of which only the listed options are known.
pub(super) const fn partial_build_program(names: &'static [&'static str], options: &'static [OptionGroup]) -> Program {
    let described_versions = "every version: only what runs others or works elsewhere";
    Program { syntax: LOOSE_SYNTAX, is_complete: false, ..program(names, described_versions, options, NO_OPERANDS) }
}

/// Options of these names run a program, read settings or write elsewhere in any program.
#[rustfmt::skip]
pub static ANY_RUNNER: Program = partial_build_program(&[""], &[
    with_value("--exec, --execute, --exec-path, --exec-batch, --upload-pack, --receive-pack, --ext-diff, --textconv, \
        --open-files-in-pager, --to-command, --checkpoint-action, --use-compress-program, --compress-program, --rsh, \
        --rsync-path, --pre, --hostname-bin, --pager, --config, --config-env, --toolexec, --execdir, --ok, --okdir, \
        --script-shell, --shell, --runner, --rcfile, --init-file, --load-path, --require, --eval, --plugin, \
        --gpg-program, --ssh-command, --proxy-command, --hooks-path, --template, --makefile, --justfile, \
        --info-script, --new-volume-script, --rmt-command, --rsh-command, --vettool, \
        --post-renderer", ValueKind::Program), with_value("--output", ValueKind::Write),
    with_value("--git-dir, --work-tree, --manifest-path, --prefix, --directory, --chdir", ValueKind::Folder),
]);

/// Long options that set the folder in which a program works.
#[rustfmt::skip]
pub static ANY_FOLDER: Program = partial_build_program(&[""], &[
    with_value("--directory, --git-dir, --work-tree, --prefix, --manifest-path, --cwd, --chdir, --target-directory, \
        --project-dir, --working-directory", ValueKind::Folder),
]);

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    partial_build_program(&["cmake"], &[
        with_value("-P, -C, -E", ValueKind::Program), with_word("-D, -U, -G, -A, -S, -T"),
        with_value("-B", ValueKind::Write),
    ]),
    Program { syntax: Syntax { has_bare_options: true, ..LOOSE_SYNTAX }, ..partial_build_program(&["tar"], &[
        flags("-t").role(Role::Lists), flags("-v, -z, -j, -J"), with_value("-I, -F", ValueKind::Program),
        with_value("-C", ValueKind::Folder), with_value("-T --files-from", ValueKind::List),
        with_value("-f, -g", ValueKind::Write),
        with_word("--exclude, --transform --xform, --suffix, --mode, -b, -H, -K, -L, -N, -V, -X"),
    ]) },
    partial_build_program(&["psql"], &[with_value("-f --file", ValueKind::ScriptFile)]),
    partial_build_program(&["apt", "apt-get"], &[with_value("-o --option, -c", ValueKind::Program), with_word("-t")]),
    partial_build_program(&["ansible"], &[
        with_value("-m --module-name, -a --args, -i, -M --module-path", ValueKind::Program),
        with_word("-u, -f, -e, -t, -T, -l"), flags("-K").role(Role::NeedsApproval),
    ]),
    partial_build_program(&["npm", "pnpm", "yarn"], &[
        with_value("--node-options, --userconfig, --globalconfig", ValueKind::Program),
    ]),
    partial_build_program(&["kubectl", "helm", "oc"], &[with_value("--kubeconfig", ValueKind::Program)]),
    partial_build_program(&["svn"], &[
        with_value("--diff-cmd, --diff3-cmd, --editor-cmd, --merge-cmd, --config-option, \
            --config-dir", ValueKind::Program),
    ]),
    partial_build_program(&["mix"], &[with_value("-e, -r", ValueKind::Program)]),
    partial_build_program(&["go"], &[with_value("--ldflags, --overlay, --modfile", ValueKind::Program)]),
    partial_build_program(&["openssl"], &[with_value("--engine, --provider, --provider-path", ValueKind::Program)]),
    partial_build_program(&["pip", "pip3", "uv"], &[with_value("--python", ValueKind::Program)]),
    partial_build_program(&["jj"], &[with_value("--tool", ValueKind::Program)]),
];
