//! Programs with a script language. Only their options are described here; scripts are judged separately.

use super::program::{
    AttachedValue, GNU, Program, Role, Syntax, ValueKind, flags, leading_operands, program, with_optional_word,
    with_value, with_word,
};

/// In `awk` the first operand ends the options, and the second one is a file even if it begins with a dash.
const AWK_SYNTAX: Syntax = Syntax { permutes: false, abbreviates: false, ..GNU };
/// `-rf x` means `-r -f x`; a value is always the next word.
const JQ_SYNTAX: Syntax = Syntax { attached: AttachedValue::Never, abbreviates: false, has_end: false, ..GNU };

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["sed"], "GNU sed 4, busybox", &[
        flags("-n --quiet --silent, -E -r --regexp-extended, -s --separate, -z --null-data"),
        with_value("-e --expression", ValueKind::Script).role(Role::HoldsScript),
        with_value("-f --file", ValueKind::ScriptFile).role(Role::HoldsScript),
        with_optional_word("-i --in-place").role(Role::Forces),
    ], leading_operands(&[ValueKind::Script], Some(ValueKind::Read))),
    Program { syntax: AWK_SYNTAX, ..program(&["awk", "gawk", "mawk", "nawk"], "gawk 5, mawk 1.3, busybox", &[
        with_word("-F, -v"), with_value("-f --file", ValueKind::ScriptFile).role(Role::HoldsScript),
        // Only gawk has these.
        with_value("-E --exec", ValueKind::ScriptFile).role(Role::HoldsScript),
        with_value("-i --include", ValueKind::ScriptFile),
    ], leading_operands(&[ValueKind::Script], Some(ValueKind::Read))) },
    Program { syntax: JQ_SYNTAX, ..program(&["jq"], "jq 1.6 and 1.7", &[
        flags("-r --raw-output, -c --compact-output, -n --null-input, -s --slurp, -S --sort-keys, -j --join-output, \
            -a --ascii-output, -e --exit-status, -C --color-output, -M --monochrome-output, -R --raw-input, --tab"),
        with_value("-f --from-file", ValueKind::ScriptFile).role(Role::HoldsScript),
        with_value("-L", ValueKind::ScriptFile),
    ], leading_operands(&[ValueKind::Script], Some(ValueKind::Read))) },
];
