//! Programs that print the bytes or the type of files.

use super::{
    Attached, GNU, Holds, Operands, Program, Role, Syntax, all, first, flag, holds, may, program, takes,
};

const READS: Operands = all(Holds::Read);

/// Options are whole words of which only the first characters are compared: `-ps5` means `-p`. The first operand ends
/// the options; the second one is written.
const XXD: Syntax = Syntax {
    bundles: false,
    attached: Attached::Numbers,
    is_single_dash: true,
    abbreviates: false,
    permutes: false,
    has_end: false,
    has_numbers: false,
    has_separate_long: false,
};

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    Program { syntax: XXD, ..program(&["xxd"], "xxd 2022 and 2024 of vim; busybox 1.36", &[
        flag("-a"), flag("-b"), flag("-e"), flag("-i"), flag("-p -ps -plain"), flag("-u"), flag("-r").with(Role::Asks),
        takes("-c"), takes("-g"), takes("-l"), takes("-s"), takes("-o"),
    ], first(&[Holds::Read, Holds::Write], None)) },
    program(&["od"], "GNU coreutils 9, busybox", &[
        flag("-a"), flag("-b"), flag("-c"), flag("-d"), flag("-f"), flag("-i"), flag("-l"), flag("-o"), flag("-s"),
        flag("-x"), flag("-v --output-duplicates"), takes("-A --address-radix"), takes("-j --skip-bytes"),
        takes("-N --read-bytes"), takes("-S"), may("--strings"), takes("-t --format"), may("-w --width"),
        takes("--endian"),
    ], READS),
    program(&["hexdump"], "util-linux 2.38, BSD, busybox", &[
        flag("-b"), flag("-c"), flag("-C"), flag("-d"), flag("-o"), flag("-v"), flag("-x"), takes("-n"), takes("-s"),
        holds("-f", Holds::List), takes("-e").with(Role::Asks),
    ], READS),
    // It reads options from a file named after `@`.
    program(&["strings"], "GNU binutils 2.40", &[
        flag("-a --all"), flag("-f --print-file-name"), takes("-n --bytes"), takes("-t --radix"),
    ], READS),
    // `-z` and `-Z` run programs, `-p` sets times, `-s` reads devices.
    program(&["file"], "file 5", &[
        flag("-b --brief"), flag("-h --no-dereference"), flag("-i --mime"), flag("-L --dereference"),
        flag("-n --no-buffer"), flag("-N --no-pad"), flag("-r --raw"), flag("-v --version"), flag("-0 --print0"),
        flag("--mime-type"), flag("--mime-encoding"), flag("--extension"), takes("-F --separator"),
        flag("-p --preserve-date").with(Role::Asks), flag("-z -Z --uncompress").with(Role::Asks),
        flag("-s --special-files").with(Role::Asks), flag("-C --compile").with(Role::Asks),
        holds("-f --files-from", Holds::List), holds("-m --magic-file", Holds::Program),
    ], READS),
    Program { syntax: Syntax { permutes: false, has_end: false, ..GNU }, ..program(&["zipinfo"], "Info-ZIP 6.00", &[
        flag("-1"), flag("-s"), flag("-l"), flag("-m"),
    ], first(&[Holds::Read], None)) },
    Program { is_complete: false, syntax: Syntax { permutes: false, has_end: false, ..GNU },
        ..program(&["unzip"], "Info-ZIP 6.00", &[
            flag("-l").with(Role::Lists), flag("-o").with(Role::Forces), flag("-n").with(Role::Keeps), flag("-q"),
            flag("-j"), holds("-d", Holds::Place), takes("-x").with(Role::Asks), takes("-P").with(Role::Asks),
        ], first(&[Holds::Read], None)) },
];
