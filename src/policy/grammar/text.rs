//! Programs that print, sort, cut and compare text.

use super::{
    GNU, GNU_NUMBERS, Holds, Operands, Opt, Program, Role, Syntax, all, first, flag, holds, may, program,
    takes,
};

const COREUTILS: &str = "GNU coreutils 9";

const fn asks(names: &'static str) -> Opt {
    flag(names).with(Role::Asks)
}

const READS: Operands = all(Holds::Read);

/// POSIX programs; some implementations end the options with the first operand.
#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["cat"], COREUTILS, &[
        flag("-A --show-all"), flag("-b --number-nonblank"), flag("-e"), flag("-E --show-ends"), flag("-n --number"),
        flag("-s --squeeze-blank"), flag("-t"), flag("-T --show-tabs"), flag("-u"), flag("-v --show-nonprinting"),
    ], READS),
    Program { syntax: GNU_NUMBERS, ..program(&["head"], COREUTILS, &[
        holds("-n --lines", Holds::Number), holds("-c --bytes", Holds::Number), flag("-q --quiet --silent"),
        flag("-v --verbose"), flag("-z --zero-terminated"),
    ], READS) },
    // `-cf` means `-c -f`, which follows a file endlessly.
    Program { syntax: GNU_NUMBERS, ..program(&["tail"], COREUTILS, &[
        holds("-n --lines", Holds::Number), holds("-c --bytes", Holds::Number), flag("-q --quiet --silent"),
        flag("-v --verbose"), flag("-z --zero-terminated"), asks("-f -F --retry"), may("--follow").with(Role::Asks),
        takes("-s --sleep-interval"), takes("--pid").with(Role::Asks), takes("--max-unchanged-stats"),
    ], READS) },
    program(&["wc"], COREUTILS, &[
        flag("-c --bytes"), flag("-m --chars"), flag("-l --lines"), flag("-L --max-line-length"), flag("-w --words"),
        takes("--total"), holds("--files0-from", Holds::List),
    ], READS),
    program(&["sort"], COREUTILS, &[
        flag("-b --ignore-leading-blanks"), flag("-d --dictionary-order"), flag("-f --ignore-case"),
        flag("-g --general-numeric-sort"), flag("-i --ignore-nonprinting"), flag("-M --month-sort"),
        flag("-h --human-numeric-sort"), flag("-n --numeric-sort"), flag("-R --random-sort"), flag("-r --reverse"),
        flag("-V --version-sort"), flag("-c"), flag("-C"), may("--check"), flag("-m --merge"), flag("-s --stable"),
        flag("-u --unique"), flag("-z --zero-terminated"), takes("-k --key"), takes("-t --field-separator"),
        takes("-S --buffer-size"), takes("--sort"), takes("--parallel"), takes("--batch-size"), flag("--debug"),
        holds("-o --output", Holds::Write), holds("-T --temporary-directory", Holds::Place),
        holds("--compress-program", Holds::Program), holds("--files0-from", Holds::List),
        holds("--random-source", Holds::Read),
    ], READS),
    // The second operand is written.
    program(&["uniq"], COREUTILS, &[
        flag("-c --count"), flag("-d --repeated"), flag("-D"), may("--all-repeated"), takes("-f --skip-fields"),
        may("--group"), flag("-i --ignore-case"), takes("-s --skip-chars"), flag("-u --unique"),
        flag("-z --zero-terminated"), takes("-w --check-chars"),
    ], first(&[Holds::Read, Holds::Write], None)),
    program(&["cut"], COREUTILS, &[
        takes("-b --bytes"), takes("-c --characters"), takes("-d --delimiter"), takes("-f --fields"), flag("-n"),
        flag("--complement"), flag("-s --only-delimited"), takes("--output-delimiter"), flag("-z --zero-terminated"),
    ], READS),
    program(&["nl"], COREUTILS, &[
        takes("-b --body-numbering"), takes("-d --section-delimiter"), takes("-f --footer-numbering"),
        takes("-h --header-numbering"), takes("-i --line-increment"), takes("-l --join-blank-lines"),
        takes("-n --number-format"), flag("-p --no-renumber"), takes("-s --number-separator"),
        takes("-v --starting-line-number"), takes("-w --number-width"),
    ], READS),
    program(&["tac"], COREUTILS, &[flag("-b --before"), flag("-r --regex"), takes("-s --separator")], READS),
    program(&["rev"], "util-linux", &[], READS),
    program(&["fold"], COREUTILS, &[flag("-b --bytes"), flag("-s --spaces"), takes("-w --width")], READS),
    program(&["paste"], COREUTILS, &[flag("-s --serial"), flag("-z --zero-terminated"), takes("-d --delimiters")], READS),
    program(&["expand"], COREUTILS, &[flag("-i --initial"), takes("-t --tabs")], READS),
    Program { syntax: Syntax { permutes: false, ..GNU }, ..program(&["tr"], COREUTILS, &[
        flag("-c -C --complement"), flag("-d --delete"), flag("-s --squeeze-repeats"), flag("-t --truncate-set1"),
    ], all(Holds::Word)) },
    program(&["comm"], COREUTILS, &[
        flag("-1"), flag("-2"), flag("-3"), flag("-z --zero-terminated"), flag("--total"), flag("--check-order"),
        flag("--nocheck-order"), takes("--output-delimiter"),
    ], READS),
    program(&["cmp"], "GNU diffutils 3", &[
        flag("-b --print-bytes"), flag("-l --verbose"), flag("-s --quiet --silent"), takes("-i --ignore-initial"),
        takes("-n --bytes"),
    ], first(&[Holds::Read, Holds::Read, Holds::Word, Holds::Word], None)),
    program(&["diff"], "GNU diffutils 3", &[
        flag("--normal"), flag("-q --brief"), flag("-s --report-identical-files"), flag("-c"), takes("-C"),
        may("--context"), flag("-u"), takes("-U"), may("--unified"), flag("-e --ed"), flag("-n --rcs"),
        flag("-y --side-by-side"), takes("-W --width"), flag("--left-column"), flag("--suppress-common-lines"),
        flag("-p --show-c-function"), takes("-F --show-function-line"), takes("--label"), flag("-t --expand-tabs"),
        flag("-T --initial-tab"), takes("--tabsize"), flag("-r --recursive"), flag("--no-dereference"),
        flag("-N --new-file"), flag("--unidirectional-new-file"), holds("-x --exclude", Holds::Pattern),
        takes("-S --starting-file"), flag("-i --ignore-case"), flag("-E --ignore-tab-expansion"),
        flag("-Z --ignore-trailing-space"), flag("-b --ignore-space-change"), flag("-w --ignore-all-space"),
        flag("-B --ignore-blank-lines"), takes("-I --ignore-matching-lines"), flag("-a --text"),
        flag("--strip-trailing-cr"), flag("-d --minimal"), takes("--horizon-lines"), flag("--speed-large-files"),
        may("--color"),
        // These run `pr` or read further files.
        asks("-l --paginate"), holds("-X --exclude-from", Holds::List), holds("--from-file", Holds::Below),
        holds("--to-file", Holds::Below),
    ], all(Holds::Below)),
    // `-c` checks the files named in its operand.
    program(&["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"], COREUTILS, &[
        flag("-b --binary"), flag("-t --text"), flag("-z --zero"), flag("--tag"), asks("-c --check"),
    ], READS),
    program(&["cksum"], "POSIX", &[], READS),
    program(&["column"], "util-linux 2.38", &[flag("-t"), flag("-x"), takes("-s"), takes("-c"), takes("-o")], READS),
];
