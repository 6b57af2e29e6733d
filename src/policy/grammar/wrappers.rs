//! Wrappers, which run the program named in their operands: `timeout 5 ls`; and shells, which run a command line or a
//! script. With an option that is not listed here, the program that a wrapper runs is unknown.

use super::program::{
    AttachedValue, GNU, GNU_NUMBERS, OptionGroup, Program, Syntax, ValueKind, flags, leading_operands, operands_of,
    program, with_value, with_word,
};

const fn wrapper(names: &'static [&'static str], options: &'static [OptionGroup]) -> Program {
    let described_versions = "bash, GNU coreutils 9, findutils 4 and util-linux 2";
    let operands = operands_of(ValueKind::Program);
    Program { syntax: Syntax { permutes: false, ..GNU }, ..program(names, described_versions, options, operands) }
}

/// Wrappers. `leading_operands` lists the operands before the program, such as the duration of `timeout`.
#[rustfmt::skip]
pub(super) static WRAPPERS: &[Program] = &[
    wrapper(&["env"], &[flags("-i --ignore-environment, -0 --null"), with_word("-u --unset")]),
    wrapper(&["setsid"], &[flags("-w --wait")]),
    Program { operands: leading_operands(&[ValueKind::Word], Some(ValueKind::Program)), ..wrapper(&["timeout"], &[
        flags("--foreground, --preserve-status, -v --verbose"), with_word("-k --kill-after, -s --signal"),
    ]) },
    Program { syntax: Syntax { permutes: false, ..GNU_NUMBERS }, ..wrapper(&["nice"], &[
        with_word("-n --adjustment"),
    ]) },
    wrapper(&["ionice"], &[flags("-t"), with_word("-c, -n")]),
    wrapper(&["stdbuf"], &[with_word("-i, -o, -e")]),
    wrapper(&["time", "command"], &[flags("-p")]),
    wrapper(&["nohup", "builtin", "busybox", "toybox"], &[]),
    wrapper(&["exec"], &[flags("-c, -l"), with_word("-a")]),
    wrapper(&["xargs"], &[
        flags("-0 --null, -r --no-run-if-empty, -t, -x"),
        with_word("-n --max-args, -P --max-procs, -I, -L, -d --delimiter, -s, -a"),
    ]),
];

/// Shells. Only the options that decide where commands come from and which words are values; shells read options in
/// their own way, and any other letter is an option too.
pub static SHELL: Program = Program {
    syntax: Syntax { attached: AttachedValue::Later, abbreviates: false, permutes: false, has_plus: true, ..GNU },
    is_complete: false,
    ..program(
        &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"],
        "bash 5 and dash",
        &[flags("-c, -s"), with_word("-o -O"), with_value("--rcfile --init-file", ValueKind::ScriptFile)],
        leading_operands(&[ValueKind::Program], Some(ValueKind::Word)),
    )
};
