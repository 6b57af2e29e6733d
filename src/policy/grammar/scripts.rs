//! Programs with a script language. Only their options are described here; scripts are judged separately.

use super::program::{
    AttachedValue, GNU, Program, Role, Syntax, ValueKind, flag, leading_operands, option_with, option_with_optional,
    option_with_word, program,
};

/// In `awk` the first operand ends the options, and the second one is a file even if it begins with a dash.
const AWK_SYNTAX: Syntax = Syntax { permutes: false, abbreviates: false, ..GNU };
/// `-rf x` means `-r -f x`; a value is always the next word.
const JQ_SYNTAX: Syntax = Syntax { attached: AttachedValue::Never, abbreviates: false, has_end: false, ..GNU };

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["sed"], "GNU sed 4, busybox", &[
        flag("-n --quiet --silent"), flag("-E -r --regexp-extended"), flag("-s --separate"), flag("-z --null-data"),
        option_with("-e --expression", ValueKind::Script).with_role(Role::HoldsScript),
        option_with("-f --file", ValueKind::ScriptFile).with_role(Role::HoldsScript), option_with_optional("-i --in-place").with_role(Role::Forces),
    ], leading_operands(&[ValueKind::Script], Some(ValueKind::Read))),
    Program { syntax: AWK_SYNTAX, ..program(&["awk", "gawk", "mawk", "nawk"], "gawk 5, mawk 1.3, busybox", &[
        option_with_word("-F"), option_with_word("-v"), option_with("-f --file", ValueKind::ScriptFile).with_role(Role::HoldsScript),
        // Of gawk.
        option_with("-E --exec", ValueKind::ScriptFile).with_role(Role::HoldsScript), option_with("-i --include", ValueKind::ScriptFile),
    ], leading_operands(&[ValueKind::Script], Some(ValueKind::Read))) },
    Program { syntax: JQ_SYNTAX, ..program(&["jq"], "jq 1.6 and 1.7", &[
        flag("-r --raw-output"), flag("-c --compact-output"), flag("-n --null-input"), flag("-s --slurp"),
        flag("-S --sort-keys"), flag("-j --join-output"), flag("-a --ascii-output"), flag("-e --exit-status"),
        flag("-C --color-output"), flag("-M --monochrome-output"), flag("-R --raw-input"), flag("--tab"),
        option_with("-f --from-file", ValueKind::ScriptFile).with_role(Role::HoldsScript), option_with("-L", ValueKind::ScriptFile),
    ], leading_operands(&[ValueKind::Script], Some(ValueKind::Read))) },
];
