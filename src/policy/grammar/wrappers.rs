//! Programs that run the program named in their operands: `timeout 5 ls`. With an option that is not
//! listed here, the program that a wrapper runs is unknown. Shells, which run a command line or a script.

use super::program::{
    AttachedValue, GNU, GNU_NUMBERS, OptionSpec, Program, Syntax, ValueKind, flag, leading_operands, operands_of,
    option_with, option_with_word, program,
};

const fn wrapper(names: &'static [&'static str], options: &'static [OptionSpec]) -> Program {
    Program {
        names,
        described_versions: "bash, GNU coreutils 9, findutils 4 and util-linux 2",
        syntax: Syntax { permutes: false, ..GNU },
        options,
        operands: operands_of(ValueKind::Program),
        subcommands: &[],
        is_complete: true,
    }
}

/// Wrappers. Their `first` operands precede the program, such as the duration of `timeout`.
#[rustfmt::skip]
pub(super) static WRAPPERS: &[Program] = &[
    wrapper(&["env"], &[flag("-i --ignore-environment"), flag("-0 --null"), option_with_word("-u --unset")]),
    wrapper(&["setsid"], &[flag("-w --wait")]),
    Program { operands: leading_operands(&[ValueKind::Word], Some(ValueKind::Program)), ..wrapper(&["timeout"], &[
        flag("--foreground"), flag("--preserve-status"), flag("-v --verbose"), option_with_word("-k --kill-after"),
        option_with_word("-s --signal"),
    ]) },
    Program { syntax: Syntax { permutes: false, ..GNU_NUMBERS }, ..wrapper(&["nice"], &[option_with_word("-n --adjustment")]) },
    wrapper(&["ionice"], &[flag("-t"), option_with_word("-c"), option_with_word("-n")]),
    wrapper(&["stdbuf"], &[option_with_word("-i"), option_with_word("-o"), option_with_word("-e")]),
    wrapper(&["time", "command"], &[flag("-p")]),
    wrapper(&["nohup", "builtin", "busybox", "toybox"], &[]),
    wrapper(&["exec"], &[flag("-c"), flag("-l"), option_with_word("-a")]),
    wrapper(&["xargs"], &[
        flag("-0 --null"), flag("-r --no-run-if-empty"), flag("-t"), flag("-x"), option_with_word("-n --max-args"),
        option_with_word("-P --max-procs"), option_with_word("-I"), option_with_word("-L"), option_with_word("-d --delimiter"),
        option_with_word("-s"), option_with_word("-a"),
    ]),
];

/// Shells. Only the options that decide where commands come from and which words are values; shells read options in
/// their own way, and any other letter is an option too.
pub(super) static SHELL: Program = Program {
    syntax: Syntax { attached: AttachedValue::Later, abbreviates: false, permutes: false, has_plus: true, ..GNU },
    is_complete: false,
    ..program(
        &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"],
        "bash 5 and dash",
        &[
            flag("-c"),
            flag("-s"),
            option_with_word("-o -O"),
            option_with("--rcfile --init-file", ValueKind::ScriptFile),
        ],
        leading_operands(&[ValueKind::Program], Some(ValueKind::Word)),
    )
};
