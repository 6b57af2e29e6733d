//! Programs that print the bytes or the type of files.

use super::program::{
    AttachedValue, GNU, Operands, Program, Role, Syntax, ValueKind, flag, leading_operands, operands_of, option_with,
    option_with_optional, option_with_word, program,
};

const READ_OPERANDS: Operands = operands_of(ValueKind::Read);

/// Options are whole words of which only the first characters are compared: `-ps5` means `-p`. The first operand ends
/// the options; the second one is written.
const XXD_SYNTAX: Syntax = Syntax {
    bundles: false,
    attached: AttachedValue::Numbers,
    is_single_dash: true,
    abbreviates: false,
    permutes: false,
    has_end: false,
    has_separate_long: false,
    ..GNU
};

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    Program { syntax: XXD_SYNTAX, ..program(&["xxd"], "xxd 2022 and 2024 of vim; busybox 1.36", &[
        flag("-a"), flag("-b"), flag("-e"), flag("-i"), flag("-p -ps -plain"), flag("-u"), flag("-r").with_role(Role::NeedsApproval),
        option_with_word("-c"), option_with_word("-g"), option_with_word("-l"), option_with_word("-s"), option_with_word("-o"),
    ], leading_operands(&[ValueKind::Read, ValueKind::Write], None)) },
    program(&["od"], "GNU coreutils 9, busybox", &[
        flag("-a"), flag("-b"), flag("-c"), flag("-d"), flag("-f"), flag("-i"), flag("-l"), flag("-o"), flag("-s"),
        flag("-x"), flag("-v --output-duplicates"), option_with_word("-A --address-radix"), option_with_word("-j --skip-bytes"),
        option_with_word("-N --read-bytes"), option_with_word("-S"), option_with_optional("--strings"), option_with_word("-t --format"), option_with_optional("-w --width"),
        option_with_word("--endian"),
    ], READ_OPERANDS),
    program(&["hexdump"], "util-linux 2.38, BSD, busybox", &[
        flag("-b"), flag("-c"), flag("-C"), flag("-d"), flag("-o"), flag("-v"), flag("-x"), option_with_word("-n"), option_with_word("-s"),
        option_with("-f", ValueKind::List), option_with_word("-e").with_role(Role::NeedsApproval),
    ], READ_OPERANDS),
    // It reads options from a file named after `@`.
    program(&["strings"], "GNU binutils 2.40", &[
        flag("-a --all"), flag("-f --print-file-name"), option_with_word("-n --bytes"), option_with_word("-t --radix"),
    ], READ_OPERANDS),
    // `-z` and `-Z` run programs, `-p` sets times, `-s` reads devices.
    program(&["file"], "file 5", &[
        flag("-b --brief"), flag("-h --no-dereference"), flag("-i --mime"), flag("-L --dereference"),
        flag("-n --no-buffer"), flag("-N --no-pad"), flag("-r --raw"), flag("-v --version"), flag("-0 --print0"),
        flag("--mime-type"), flag("--mime-encoding"), flag("--extension"), option_with_word("-F --separator"),
        flag("-p --preserve-date").with_role(Role::NeedsApproval), flag("-z -Z --uncompress").with_role(Role::NeedsApproval),
        flag("-s --special-files").with_role(Role::NeedsApproval), flag("-C --compile").with_role(Role::NeedsApproval),
        option_with("-f --files-from", ValueKind::List), option_with("-m --magic-file", ValueKind::Program),
    ], READ_OPERANDS),
    Program { syntax: Syntax { permutes: false, has_end: false, ..GNU }, ..program(&["zipinfo"], "Info-ZIP 6.00", &[
        flag("-1"), flag("-s"), flag("-l"), flag("-m"),
    ], leading_operands(&[ValueKind::Read], None)) },
    Program { is_complete: false, syntax: Syntax { permutes: false, has_end: false, ..GNU },
        ..program(&["unzip"], "Info-ZIP 6.00", &[
            flag("-l").with_role(Role::Lists), flag("-o").with_role(Role::Forces), flag("-n").with_role(Role::Keeps), flag("-q"),
            flag("-j"), option_with("-d", ValueKind::Folder), option_with_word("-x").with_role(Role::NeedsApproval), option_with_word("-P").with_role(Role::NeedsApproval),
        ], leading_operands(&[ValueKind::Read], None)) },
];
