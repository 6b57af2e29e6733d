//! Programs with a script language. Only their options are described here; scripts are judged separately.

use super::{GNU, Holds, Program, Role, Syntax, first, flag, holds, may, program, takes};

/// In `awk` the first operand ends the options, and the second one is a file even if it begins with a dash.
const AWK: Syntax = Syntax { permutes: false, abbreviates: false, ..GNU };
/// `-rf x` means `-r -f x`; a value is always the next word.
const JQ: Syntax = Syntax { attached: super::Attached::Never, abbreviates: false, has_end: false, ..GNU };

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["sed"], "GNU sed 4, busybox", &[
        flag("-n --quiet --silent"), flag("-E -r --regexp-extended"), flag("-s --separate"), flag("-z --null-data"),
        holds("-e --expression", Holds::Script).with(Role::Replaces),
        holds("-f --file", Holds::List).with(Role::Replaces), may("-i --in-place").with(Role::Forces),
    ], first(&[Holds::Script], Some(Holds::Read))),
    Program { syntax: AWK, ..program(&["awk", "gawk", "mawk", "nawk"], "gawk 5, mawk 1.3, busybox", &[
        takes("-F"), takes("-v"), holds("-f", Holds::List).with(Role::Replaces),
    ], first(&[Holds::Script], Some(Holds::Read))) },
    Program { syntax: JQ, ..program(&["jq"], "jq 1.6 and 1.7", &[
        flag("-r --raw-output"), flag("-c --compact-output"), flag("-n --null-input"), flag("-s --slurp"),
        flag("-S --sort-keys"), flag("-j --join-output"), flag("-a --ascii-output"), flag("-e --exit-status"),
        flag("-C --color-output"), flag("-M --monochrome-output"), flag("-R --raw-input"), flag("--tab"),
        holds("-f --from-file", Holds::List).with(Role::Replaces), holds("-L", Holds::Program),
    ], first(&[Holds::Script], Some(Holds::Read))) },
];
