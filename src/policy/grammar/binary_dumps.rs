//! Programs that print the bytes or the type of files.

use super::program::{
    AttachedValue, GNU, Operands, Program, Role, Syntax, ValueKind, flags, leading_operands, operands_of, program,
    with_optional_word, with_value, with_word,
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
        flags("-a, -b, -e, -i, -p -ps -plain, -u"), flags("-r").role(Role::NeedsApproval),
        with_word("-c, -g, -l, -s, -o"),
    ], leading_operands(&[ValueKind::Read, ValueKind::Write], None)) },
    program(&["od"], "GNU coreutils 9, busybox", &[
        flags("-a, -b, -c, -d, -f, -i, -l, -o, -s, -x, -v --output-duplicates"),
        with_word("-A --address-radix, -j --skip-bytes, -N --read-bytes, -S, -t --format, --endian"),
        with_optional_word("--strings, -w --width"),
    ], READ_OPERANDS),
    program(&["hexdump"], "util-linux 2.38, BSD, busybox", &[
        flags("-b, -c, -C, -d, -o, -v, -x"), with_word("-n, -s"), with_value("-f", ValueKind::List),
        with_word("-e").role(Role::NeedsApproval),
    ], READ_OPERANDS),
    // `strings @x` reads options from the file `x`; the code that uses this grammar checks for such words.
    program(&["strings"], "GNU binutils 2.40", &[
        flags("-a --all, -f --print-file-name"), with_word("-n --bytes, -t --radix"),
    ], READ_OPERANDS),
    // `-z` and `-Z` run programs, `-p` sets times, `-s` reads devices.
    program(&["file"], "file 5", &[
        flags("-b --brief, -h --no-dereference, -i --mime, -L --dereference, -n --no-buffer, -N --no-pad, -r --raw, \
            -v --version, -0 --print0, --mime-type, --mime-encoding, --extension"), with_word("-F --separator"),
        flags("-p --preserve-date, -z -Z --uncompress, -s --special-files, -C --compile").role(Role::NeedsApproval),
        with_value("-f --files-from", ValueKind::List), with_value("-m --magic-file", ValueKind::Program),
    ], READ_OPERANDS),
    Program { syntax: Syntax { permutes: false, has_end: false, ..GNU }, ..program(&["zipinfo"], "Info-ZIP 6.00", &[
        flags("-1, -s, -l, -m"),
    ], leading_operands(&[ValueKind::Read], None)) },
    Program { is_complete: false, syntax: Syntax { permutes: false, has_end: false, ..GNU },
        ..program(&["unzip"], "Info-ZIP 6.00", &[
            flags("-l").role(Role::Lists), flags("-o").role(Role::Forces), flags("-n").role(Role::Keeps),
            flags("-q, -j"), with_value("-d", ValueKind::Folder), with_word("-x, -P").role(Role::NeedsApproval),
        ], leading_operands(&[ValueKind::Read], None)) },
];
