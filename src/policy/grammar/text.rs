//! Programs that print, sort, cut and compare text.

use super::program::{
    GNU, GNU_NUMBERS, Operands, Program, Role, Syntax, ValueKind, flag, flag_needing_approval, leading_operands,
    operands_of, option_with, option_with_optional, option_with_word, program,
};

const COREUTILS: &str = "GNU coreutils 9";

const READ_OPERANDS: Operands = operands_of(ValueKind::Read);

/// POSIX programs; some implementations end the options with the first operand.
#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["cat"], COREUTILS, &[
        flag("-A --show-all"), flag("-b --number-nonblank"), flag("-e"), flag("-E --show-ends"), flag("-n --number"),
        flag("-s --squeeze-blank"), flag("-t"), flag("-T --show-tabs"), flag("-u"), flag("-v --show-nonprinting"),
    ], READ_OPERANDS),
    Program { syntax: GNU_NUMBERS, ..program(&["head"], COREUTILS, &[
        option_with("-n --lines", ValueKind::Number), option_with("-c --bytes", ValueKind::Number), flag("-q --quiet --silent"),
        flag("-v --verbose"), flag("-z --zero-terminated"),
    ], READ_OPERANDS) },
    // `-cf` means `-c -f`, which follows a file endlessly.
    Program { syntax: GNU_NUMBERS, ..program(&["tail"], COREUTILS, &[
        option_with("-n --lines", ValueKind::Number), option_with("-c --bytes", ValueKind::Number), flag("-q --quiet --silent"),
        flag("-v --verbose"), flag("-z --zero-terminated"), flag_needing_approval("-f -F --retry"), option_with_optional("--follow").with_role(Role::NeedsApproval),
        option_with_word("-s --sleep-interval"), option_with_word("--pid").with_role(Role::NeedsApproval), option_with_word("--max-unchanged-stats"),
    ], READ_OPERANDS) },
    program(&["wc"], COREUTILS, &[
        flag("-c --bytes"), flag("-m --chars"), flag("-l --lines"), flag("-L --max-line-length"), flag("-w --words"),
        option_with_word("--total"), option_with("--files0-from", ValueKind::List),
    ], READ_OPERANDS),
    program(&["sort"], COREUTILS, &[
        flag("-b --ignore-leading-blanks"), flag("-d --dictionary-order"), flag("-f --ignore-case"),
        flag("-g --general-numeric-sort"), flag("-i --ignore-nonprinting"), flag("-M --month-sort"),
        flag("-h --human-numeric-sort"), flag("-n --numeric-sort"), flag("-R --random-sort"), flag("-r --reverse"),
        flag("-V --version-sort"), flag("-c"), flag("-C"), option_with_optional("--check"), flag("-m --merge"), flag("-s --stable"),
        flag("-u --unique"), flag("-z --zero-terminated"), option_with_word("-k --key"), option_with_word("-t --field-separator"),
        option_with_word("-S --buffer-size"), option_with_word("--sort"), option_with_word("--parallel"), option_with_word("--batch-size"), flag("--debug"),
        option_with("-o --output", ValueKind::Write), option_with("-T --temporary-directory", ValueKind::Folder),
        option_with("--compress-program", ValueKind::Program), option_with("--files0-from", ValueKind::List),
        option_with("--random-source", ValueKind::Read),
    ], READ_OPERANDS),
    // The second operand is written.
    program(&["uniq"], COREUTILS, &[
        flag("-c --count"), flag("-d --repeated"), flag("-D"), option_with_optional("--all-repeated"), option_with_word("-f --skip-fields"),
        option_with_optional("--group"), flag("-i --ignore-case"), option_with_word("-s --skip-chars"), flag("-u --unique"),
        flag("-z --zero-terminated"), option_with_word("-w --check-chars"),
    ], leading_operands(&[ValueKind::Read, ValueKind::Write], None)),
    program(&["cut"], COREUTILS, &[
        option_with_word("-b --bytes"), option_with_word("-c --characters"), option_with_word("-d --delimiter"), option_with_word("-f --fields"), flag("-n"),
        flag("--complement"), flag("-s --only-delimited"), option_with_word("--output-delimiter"), flag("-z --zero-terminated"),
    ], READ_OPERANDS),
    program(&["nl"], COREUTILS, &[
        option_with_word("-b --body-numbering"), option_with_word("-d --section-delimiter"), option_with_word("-f --footer-numbering"),
        option_with_word("-h --header-numbering"), option_with_word("-i --line-increment"), option_with_word("-l --join-blank-lines"),
        option_with_word("-n --number-format"), flag("-p --no-renumber"), option_with_word("-s --number-separator"),
        option_with_word("-v --starting-line-number"), option_with_word("-w --number-width"),
    ], READ_OPERANDS),
    program(&["tac"], COREUTILS, &[flag("-b --before"), flag("-r --regex"), option_with_word("-s --separator")], READ_OPERANDS),
    program(&["rev"], "util-linux", &[], READ_OPERANDS),
    program(&["fold"], COREUTILS, &[flag("-b --bytes"), flag("-s --spaces"), option_with_word("-w --width")], READ_OPERANDS),
    program(&["paste"], COREUTILS, &[flag("-s --serial"), flag("-z --zero-terminated"), option_with_word("-d --delimiters")], READ_OPERANDS),
    program(&["expand"], COREUTILS, &[flag("-i --initial"), option_with_word("-t --tabs")], READ_OPERANDS),
    Program { syntax: Syntax { permutes: false, ..GNU }, ..program(&["tr"], COREUTILS, &[
        flag("-c -C --complement"), flag("-d --delete"), flag("-s --squeeze-repeats"), flag("-t --truncate-set1"),
    ], operands_of(ValueKind::Word)) },
    program(&["comm"], COREUTILS, &[
        flag("-1"), flag("-2"), flag("-3"), flag("-z --zero-terminated"), flag("--total"), flag("--check-order"),
        flag("--nocheck-order"), option_with_word("--output-delimiter"),
    ], READ_OPERANDS),
    program(&["cmp"], "GNU diffutils 3", &[
        flag("-b --print-bytes"), flag("-l --verbose"), flag("-s --quiet --silent"), option_with_word("-i --ignore-initial"),
        option_with_word("-n --bytes"),
    ], leading_operands(&[ValueKind::Read, ValueKind::Read, ValueKind::Word, ValueKind::Word], None)),
    program(&["diff"], "GNU diffutils 3", &[
        flag("--normal"), flag("-q --brief"), flag("-s --report-identical-files"), flag("-c"), option_with_word("-C"),
        option_with_optional("--context"), flag("-u"), option_with_word("-U"), option_with_optional("--unified"), flag("-e --ed"), flag("-n --rcs"),
        flag("-y --side-by-side"), option_with_word("-W --width"), flag("--left-column"), flag("--suppress-common-lines"),
        flag("-p --show-c-function"), option_with_word("-F --show-function-line"), option_with_word("--label"), flag("-t --expand-tabs"),
        flag("-T --initial-tab"), option_with_word("--tabsize"), flag("-r --recursive"), flag("--no-dereference"),
        flag("-N --new-file"), flag("--unidirectional-new-file"), option_with("-x --exclude", ValueKind::Pattern),
        option_with_word("-S --starting-file"), flag("-i --ignore-case"), flag("-E --ignore-tab-expansion"),
        flag("-Z --ignore-trailing-space"), flag("-b --ignore-space-change"), flag("-w --ignore-all-space"),
        flag("-B --ignore-blank-lines"), option_with_word("-I --ignore-matching-lines"), flag("-a --text"),
        flag("--strip-trailing-cr"), flag("-d --minimal"), option_with_word("--horizon-lines"), flag("--speed-large-files"),
        option_with_optional("--color"),
        // These run `pr` or read further files.
        flag_needing_approval("-l --paginate"), option_with("-X --exclude-from", ValueKind::List), option_with("--from-file", ValueKind::Recursive),
        option_with("--to-file", ValueKind::Recursive),
    ], operands_of(ValueKind::Recursive)),
    // `-c` reads the files that its operand lists.
    program(&["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"], COREUTILS, &[
        flag("-b --binary"), flag("-t --text"), flag("-z --zero"), flag("--tag"), flag_needing_approval("-c --check"),
    ], READ_OPERANDS),
    program(&["cksum"], "POSIX", &[], READ_OPERANDS),
    program(&["column"], "util-linux 2.38", &[flag("-t"), flag("-x"), option_with_word("-s"), option_with_word("-c"), option_with_word("-o")], READ_OPERANDS),
];
