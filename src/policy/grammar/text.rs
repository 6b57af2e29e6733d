//! Programs that print, sort, cut and compare text.

use super::program::{
    GNU, GNU_NUMBERS, Operands, Program, Role, Syntax, ValueKind, flags, leading_operands, operands_of, program,
    with_optional_word, with_value, with_word,
};

const COREUTILS: &str = "GNU coreutils 9";

const READ_OPERANDS: Operands = operands_of(ValueKind::Read);

/// Most of these programs have several implementations. In some of them the first operand ends the options, so the
/// value of a later option may be a file: see `ParsedArguments::late_values`.
#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["cat"], COREUTILS, &[
        flags("-A --show-all, -b --number-nonblank, -e, -E --show-ends, -n --number, -s --squeeze-blank, -t, \
            -T --show-tabs, -u, -v --show-nonprinting"),
    ], READ_OPERANDS),
    Program { syntax: GNU_NUMBERS, ..program(&["head"], COREUTILS, &[
        with_value("-n --lines, -c --bytes", ValueKind::Number),
        flags("-q --quiet --silent, -v --verbose, -z --zero-terminated"),
    ], READ_OPERANDS) },
    // `-cf` means `-c -f`, which follows a file endlessly. It asks, because `f` is not the number that `-c` requires.
    Program { syntax: GNU_NUMBERS, ..program(&["tail"], COREUTILS, &[
        with_value("-n --lines, -c --bytes", ValueKind::Number),
        flags("-q --quiet --silent, -v --verbose, -z --zero-terminated"),
        flags("-f -F --retry").role(Role::NeedsApproval), with_optional_word("--follow").role(Role::NeedsApproval),
        with_word("-s --sleep-interval, --max-unchanged-stats"), with_word("--pid").role(Role::NeedsApproval),
    ], READ_OPERANDS) },
    program(&["wc"], COREUTILS, &[
        flags("-c --bytes, -m --chars, -l --lines, -L --max-line-length, -w --words"), with_word("--total"),
        with_value("--files0-from", ValueKind::List),
    ], READ_OPERANDS),
    program(&["sort"], COREUTILS, &[
        flags("-b --ignore-leading-blanks, -d --dictionary-order, -f --ignore-case, -g --general-numeric-sort, \
            -i --ignore-nonprinting, -M --month-sort, -h --human-numeric-sort, -n --numeric-sort, -R --random-sort, \
            -r --reverse, -V --version-sort, -c, -C, -m --merge, -s --stable, -u --unique, -z --zero-terminated, \
            --debug"), with_optional_word("--check"),
        with_word("-k --key, -t --field-separator, -S --buffer-size, --sort, --parallel, --batch-size"),
        with_value("-o --output", ValueKind::Write), with_value("-T --temporary-directory", ValueKind::Folder),
        with_value("--compress-program", ValueKind::Program), with_value("--files0-from", ValueKind::List),
        with_value("--random-source", ValueKind::Read),
    ], READ_OPERANDS),
    // The second operand is written.
    program(&["uniq"], COREUTILS, &[
        flags("-c --count, -d --repeated, -D, -i --ignore-case, -u --unique, -z --zero-terminated"),
        with_optional_word("--all-repeated, --group"), with_word("-f --skip-fields, -s --skip-chars, -w --check-chars"),
    ], leading_operands(&[ValueKind::Read, ValueKind::Write], None)),
    program(&["cut"], COREUTILS, &[
        with_word("-b --bytes, -c --characters, -d --delimiter, -f --fields, --output-delimiter"),
        flags("-n, --complement, -s --only-delimited, -z --zero-terminated"),
    ], READ_OPERANDS),
    program(&["nl"], COREUTILS, &[
        with_word("-b --body-numbering, -d --section-delimiter, -f --footer-numbering, -h --header-numbering, \
            -i --line-increment, -l --join-blank-lines, -n --number-format, -s --number-separator, \
            -v --starting-line-number, -w --number-width"), flags("-p --no-renumber"),
    ], READ_OPERANDS),
    program(&["tac"], COREUTILS, &[flags("-b --before, -r --regex"), with_word("-s --separator")], READ_OPERANDS),
    program(&["rev"], "util-linux", &[], READ_OPERANDS),
    program(&["fold"], COREUTILS, &[flags("-b --bytes, -s --spaces"), with_word("-w --width")], READ_OPERANDS),
    program(&["paste"], COREUTILS, &[
        flags("-s --serial, -z --zero-terminated"), with_word("-d --delimiters"),
    ], READ_OPERANDS),
    program(&["expand"], COREUTILS, &[flags("-i --initial"), with_word("-t --tabs")], READ_OPERANDS),
    Program { syntax: Syntax { permutes: false, ..GNU }, ..program(&["tr"], COREUTILS, &[
        flags("-c -C --complement, -d --delete, -s --squeeze-repeats, -t --truncate-set1"),
    ], operands_of(ValueKind::Word)) },
    program(&["comm"], COREUTILS, &[
        flags("-1, -2, -3, -z --zero-terminated, --total, --check-order, --nocheck-order"),
        with_word("--output-delimiter"),
    ], READ_OPERANDS),
    program(&["cmp"], "GNU diffutils 3", &[
        flags("-b --print-bytes, -l --verbose, -s --quiet --silent"), with_word("-i --ignore-initial, -n --bytes"),
    ], leading_operands(&[ValueKind::Read, ValueKind::Read, ValueKind::Word, ValueKind::Word], None)),
    program(&["diff"], "GNU diffutils 3", &[
        flags("--normal, -q --brief, -s --report-identical-files, -c, -u, -e --ed, -n --rcs, -y --side-by-side, \
            --left-column, --suppress-common-lines, -p --show-c-function, -t --expand-tabs, -T --initial-tab, \
            -r --recursive, --no-dereference, -N --new-file, --unidirectional-new-file, -i --ignore-case, \
            -E --ignore-tab-expansion, -Z --ignore-trailing-space, -b --ignore-space-change, -w --ignore-all-space, \
            -B --ignore-blank-lines, -a --text, --strip-trailing-cr, -d --minimal, --speed-large-files"),
        with_word("-C, -U, -W --width, -F --show-function-line, --label, --tabsize, -S --starting-file, \
            -I --ignore-matching-lines, --horizon-lines"), with_optional_word("--context, --unified, --color"),
        with_value("-x --exclude", ValueKind::Pattern),
        // These run `pr` or read further files.
        flags("-l --paginate").role(Role::NeedsApproval), with_value("-X --exclude-from", ValueKind::List),
        with_value("--from-file, --to-file", ValueKind::Recursive),
    ], operands_of(ValueKind::Recursive)),
    // `-c` reads the files that its operand lists.
    program(&["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"], COREUTILS, &[
        flags("-b --binary, -t --text, -z --zero, --tag"), flags("-c --check").role(Role::NeedsApproval),
    ], READ_OPERANDS),
    program(&["cksum"], "POSIX", &[], READ_OPERANDS),
    program(&["column"], "util-linux 2.38", &[flags("-t, -x"), with_word("-s, -c, -o")], READ_OPERANDS),
];
