//! Programs that show properties of files and of the system: names, sizes, times.

use super::{Holds, NO_OPERANDS, Operands, Opt, Program, Role, all, flag, holds, may, program, takes};

const COREUTILS: &str = "GNU coreutils 9";

/// Files that are looked at; the working directory by default.
const LOOKS: Operands = Operands { default: Some("."), ..all(Holds::Names) };

const fn asks(names: &'static str) -> Opt {
    flag(names).with(Role::Asks)
}

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["ls"], COREUTILS, &[
        flag("-a --all"), flag("-A --almost-all"), flag("-b --escape"), flag("-B --ignore-backups"), flag("-c"),
        flag("-C"), flag("-d --directory"), flag("-f"), flag("-F"), may("--classify"), flag("-g"), flag("-G --no-group"),
        flag("-h --human-readable"), flag("-H --dereference-command-line"), flag("-i --inode"), flag("-k --kibibytes"),
        flag("-l"), flag("-m"), flag("-n --numeric-uid-gid"), flag("-N --literal"), flag("-o"), flag("-p --file-type"),
        flag("-q --hide-control-chars"), flag("-Q --quote-name"), flag("-r --reverse"), flag("-R --recursive"),
        flag("-s --size"), flag("-S"), flag("-t"), flag("-u"), flag("-U"), flag("-v"), flag("-x"), flag("-X"),
        flag("-Z --context"), flag("-1"), flag("--author"), flag("--full-time"), flag("--si"), flag("--zero"),
        flag("--group-directories-first"), flag("--show-control-chars"),
        holds("-I --ignore", Holds::Pattern), holds("--hide", Holds::Pattern), takes("-w --width"),
        takes("--block-size"), takes("--sort"), takes("--time"), takes("--time-style"), takes("--format"),
        takes("--indicator-style"), takes("--quoting-style"), may("--color"), may("--hyperlink"),
        // These follow links.
        asks("-L --dereference"), asks("--dereference-command-line-symlink-to-dir"),
    ], LOOKS),
    program(&["stat"], COREUTILS, &[
        flag("-L --dereference"), flag("-f --file-system"), flag("-t --terse"), takes("-c --format"), takes("--printf"),
    ], all(Holds::Names)),
    program(&["du"], COREUTILS, &[
        flag("-0 --null"), flag("-a --all"), flag("--apparent-size"), flag("-b --bytes"), flag("-c --total"),
        flag("-D --dereference-args"), flag("-H"), flag("-h --human-readable"), flag("--inodes"), flag("-k"),
        flag("-l --count-links"), flag("-m"), flag("-P --no-dereference"), flag("-S --separate-dirs"), flag("--si"),
        flag("-s --summarize"), flag("-x --one-file-system"), takes("-B --block-size"), takes("-d --max-depth"),
        takes("-t --threshold"), holds("--exclude", Holds::Pattern), may("--time"), takes("--time-style"),
        asks("-L --dereference"), holds("-X --exclude-from", Holds::List), holds("--files0-from", Holds::List),
    ], LOOKS),
    // df opens its operands to find their file systems.
    program(&["df"], COREUTILS, &[
        flag("-a --all"), flag("-h --human-readable"), flag("-H --si"), flag("-i --inodes"), flag("-k"),
        flag("-l --local"), flag("-P --portability"), flag("-T --print-type"), flag("--total"), flag("--no-sync"),
        takes("-B --block-size"), takes("-t --type"), takes("-x --exclude-type"), may("--output"), asks("--sync"),
    ], Operands { default: Some("."), ..all(Holds::Read) }),
    program(&["realpath"], COREUTILS, &[
        flag("-e --canonicalize-existing"), flag("-m --canonicalize-missing"), flag("-L --logical"),
        flag("-P --physical"), flag("-q --quiet"), flag("-s --strip --no-symlinks"), flag("-z --zero"),
        holds("--relative-to", Holds::Names), holds("--relative-base", Holds::Names),
    ], all(Holds::Names)),
    program(&["readlink"], COREUTILS, &[
        flag("-f --canonicalize"), flag("-e --canonicalize-existing"), flag("-m --canonicalize-missing"),
        flag("-n --no-newline"), flag("-q -s --quiet --silent"), flag("-v --verbose"), flag("-z --zero"),
    ], all(Holds::Names)),
    program(&["basename"], COREUTILS, &[flag("-a --multiple"), flag("-z --zero"), takes("-s --suffix")], all(Holds::Word)),
    program(&["dirname"], COREUTILS, &[flag("-z --zero")], all(Holds::Word)),
    Program { syntax: TREE, ..program(&["tree"], "tree 1.8 to 2.1 by Steve Baker", &[
        flag("-a"), flag("-d"), flag("-f"), flag("-i"), flag("-s"), flag("-p"), flag("-u"), flag("-g"), flag("-h"),
        flag("-D"), flag("-r"), flag("-t"), flag("-c"), flag("-C"), flag("-n"), flag("-q"), flag("-N"), flag("-Q"),
        flag("-F"), flag("-J"), flag("-X"), flag("-U"), flag("-v"), flag("-x"),
        flag("--dirsfirst"), flag("--noreport"), flag("--gitignore"), flag("--prune"), flag("--du"), flag("--si"),
        takes("-L"), holds("-P", Holds::Pattern), holds("-I", Holds::Pattern),
        // These run tree again, follow links, read names from files, or write.
        asks("-R"), asks("-l"), takes("-H").with(Role::Asks), takes("-T").with(Role::Asks), holds("-o", Holds::Write),
        asks("--fromfile"), asks("--info"),
    ], LOOKS) },
    program(&["pwd"], "bash and GNU coreutils", &[flag("-L"), flag("-P")], NO_OPERANDS),
    program(&["which"], "debianutils and GNU which", &[flag("-a"), flag("-s")], all(Holds::Word)),
    Program { syntax: BUILTIN, ..program(&["type"], "bash",
        &[flag("-a"), flag("-f"), flag("-t"), flag("-p"), flag("-P")], all(Holds::Word)) },
    program(&["true"], "bash", &[], all(Holds::Word)),
    program(&["false"], "bash", &[], all(Holds::Word)),
    program(&["uname"], COREUTILS, &[
        flag("-a --all"), flag("-s --kernel-name"), flag("-n --nodename"), flag("-r --kernel-release"),
        flag("-v --kernel-version"), flag("-m --machine"), flag("-p --processor"), flag("-i --hardware-platform"),
        flag("-o --operating-system"),
    ], NO_OPERANDS),
    program(&["arch"], COREUTILS, &[], NO_OPERANDS),
    program(&["nproc"], COREUTILS, &[flag("--all"), takes("--ignore")], NO_OPERANDS),
    program(&["whoami"], COREUTILS, &[], NO_OPERANDS),
    program(&["id"], COREUTILS, &[flag("-u"), flag("-g"), flag("-G"), flag("-n"), flag("-r")], NO_OPERANDS),
    // An operand sets the host name.
    program(&["hostname"], "Debian hostname", &[], NO_OPERANDS),
    program(&["uptime"], "procps", &[flag("-p --pretty"), flag("-s --since")], NO_OPERANDS),
    program(&["free"], "procps", &[
        flag("-b"), flag("-k"), flag("-m"), flag("-g"), flag("-h"), flag("-l"), flag("-t"), flag("-v"), flag("-w"),
    ], NO_OPERANDS),
    Program { syntax: super::Syntax { permutes: false, ..super::GNU }, ..program(&["seq"], COREUTILS,
        &[flag("-w --equal-width"), takes("-f --format"), takes("-s --separator")], all(Holds::Word)) },
    // An operand that begins with `+` is a format; any other operand sets the clock.
    program(&["date"], COREUTILS, &[
        flag("-u --utc --universal"), flag("-R --rfc-email"), may("-I --iso-8601"), takes("--rfc-3339"),
        takes("-d --date"), holds("-r --reference", Holds::Names), holds("-f --file", Holds::List),
        takes("-s --set").with(Role::Asks),
    ], all(Holds::Word)),
];

/// Short options share a word, but the value of each is the next word and further options of the same word follow: `-Lo
/// 2 x` writes to `x`. So an option with a value must be a word of its own.
const TREE: super::Syntax = super::Syntax {
    attached: super::Attached::Never,
    abbreviates: false,
    has_separate_long: false,
    ..super::GNU
};

/// `getopt` of the bash builtins: no long options, and the first operand ends the options.
const BUILTIN: super::Syntax = super::Syntax { permutes: false, abbreviates: false, ..super::GNU };
