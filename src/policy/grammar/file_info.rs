//! Programs that show properties of files and of the system: names, sizes, times.

use super::program::{
    AttachedValue, GNU, NO_OPERANDS, Operands, Program, Role, Syntax, ValueKind, flag, flag_needing_approval,
    operands_of, option_with, option_with_optional, option_with_word, program,
};

const COREUTILS: &str = "GNU coreutils 9";

/// Files that are looked at; the working directory by default.
const NAME_OPERANDS: Operands = Operands { default: Some("."), ..operands_of(ValueKind::Names) };

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["ls"], COREUTILS, &[
        flag("-a --all"), flag("-A --almost-all"), flag("-b --escape"), flag("-B --ignore-backups"), flag("-c"),
        flag("-C"), flag("-d --directory"), flag("-f"), flag("-F"), option_with_optional("--classify"), flag("-g"), flag("-G --no-group"),
        flag("-h --human-readable"), flag("-H --dereference-command-line"), flag("-i --inode"), flag("-k --kibibytes"),
        flag("-l"), flag("-m"), flag("-n --numeric-uid-gid"), flag("-N --literal"), flag("-o"), flag("-p --file-type"),
        flag("-q --hide-control-chars"), flag("-Q --quote-name"), flag("-r --reverse"), flag("-R --recursive"),
        flag("-s --size"), flag("-S"), flag("-t"), flag("-u"), flag("-U"), flag("-v"), flag("-x"), flag("-X"),
        flag("-Z --context"), flag("-1"), flag("--author"), flag("--full-time"), flag("--si"), flag("--zero"),
        flag("--group-directories-first"), flag("--show-control-chars"),
        option_with("-I --ignore", ValueKind::Pattern), option_with("--hide", ValueKind::Pattern), option_with_word("-w --width"),
        option_with_word("--block-size"), option_with_word("--sort"), option_with_word("--time"), option_with_word("--time-style"), option_with_word("--format"),
        option_with_word("--indicator-style"), option_with_word("--quoting-style"), option_with_optional("--color"), option_with_optional("--hyperlink"),
        // These follow links.
        flag_needing_approval("-L --dereference"), flag_needing_approval("--dereference-command-line-symlink-to-dir"),
    ], NAME_OPERANDS),
    program(&["stat"], COREUTILS, &[
        flag("-L --dereference"), flag("-f --file-system"), flag("-t --terse"), option_with_word("-c --format"), option_with_word("--printf"),
    ], operands_of(ValueKind::Names)),
    program(&["du"], COREUTILS, &[
        flag("-0 --null"), flag("-a --all"), flag("--apparent-size"), flag("-b --bytes"), flag("-c --total"),
        flag("-D --dereference-args"), flag("-H"), flag("-h --human-readable"), flag("--inodes"), flag("-k"),
        flag("-l --count-links"), flag("-m"), flag("-P --no-dereference"), flag("-S --separate-dirs"), flag("--si"),
        flag("-s --summarize"), flag("-x --one-file-system"), option_with_word("-B --block-size"), option_with_word("-d --max-depth"),
        option_with_word("-t --threshold"), option_with("--exclude", ValueKind::Pattern), option_with_optional("--time"), option_with_word("--time-style"),
        flag_needing_approval("-L --dereference"), option_with("-X --exclude-from", ValueKind::List), option_with("--files0-from", ValueKind::List),
    ], NAME_OPERANDS),
    // df opens its operands to find their file systems.
    program(&["df"], COREUTILS, &[
        flag("-a --all"), flag("-h --human-readable"), flag("-H --si"), flag("-i --inodes"), flag("-k"),
        flag("-l --local"), flag("-P --portability"), flag("-T --print-type"), flag("--total"), flag("--no-sync"),
        option_with_word("-B --block-size"), option_with_word("-t --type"), option_with_word("-x --exclude-type"), option_with_optional("--output"), flag_needing_approval("--sync"),
    ], Operands { default: Some("."), ..operands_of(ValueKind::Read) }),
    program(&["realpath"], COREUTILS, &[
        flag("-e --canonicalize-existing"), flag("-m --canonicalize-missing"), flag("-L --logical"),
        flag("-P --physical"), flag("-q --quiet"), flag("-s --strip --no-symlinks"), flag("-z --zero"),
        option_with("--relative-to", ValueKind::Names), option_with("--relative-base", ValueKind::Names),
    ], operands_of(ValueKind::Names)),
    program(&["readlink"], COREUTILS, &[
        flag("-f --canonicalize"), flag("-e --canonicalize-existing"), flag("-m --canonicalize-missing"),
        flag("-n --no-newline"), flag("-q -s --quiet --silent"), flag("-v --verbose"), flag("-z --zero"),
    ], operands_of(ValueKind::Names)),
    program(&["basename"], COREUTILS, &[flag("-a --multiple"), flag("-z --zero"), option_with_word("-s --suffix")], operands_of(ValueKind::Word)),
    program(&["dirname"], COREUTILS, &[flag("-z --zero")], operands_of(ValueKind::Word)),
    Program { syntax: TREE_SYNTAX, ..program(&["tree"], "tree 1.8 to 2.1 by Steve Baker", &[
        flag("-a"), flag("-d"), flag("-f"), flag("-i"), flag("-s"), flag("-p"), flag("-u"), flag("-g"), flag("-h"),
        flag("-D"), flag("-r"), flag("-t"), flag("-c"), flag("-C"), flag("-n"), flag("-q"), flag("-N"), flag("-Q"),
        flag("-F"), flag("-J"), flag("-X"), flag("-U"), flag("-v"), flag("-x"),
        flag("--dirsfirst"), flag("--noreport"), flag("--gitignore"), flag("--prune"), flag("--du"), flag("--si"),
        option_with_word("-L"), option_with("-P", ValueKind::Pattern), option_with("-I", ValueKind::Pattern),
        // These run tree again, follow links, read names from files, or write.
        flag_needing_approval("-R"), flag_needing_approval("-l"), option_with_word("-H").with_role(Role::NeedsApproval), option_with_word("-T").with_role(Role::NeedsApproval), option_with("-o", ValueKind::Write),
        flag_needing_approval("--fromfile"), flag_needing_approval("--info"),
    ], NAME_OPERANDS) },
    program(&["pwd"], "bash and GNU coreutils", &[flag("-L"), flag("-P")], NO_OPERANDS),
    program(&["which"], "debianutils and GNU which", &[flag("-a"), flag("-s")], operands_of(ValueKind::Word)),
    Program { syntax: BUILTIN_SYNTAX, ..program(&["type"], "bash",
        &[flag("-a"), flag("-f"), flag("-t"), flag("-p"), flag("-P")], operands_of(ValueKind::Word)) },
    program(&["true"], "bash", &[], operands_of(ValueKind::Word)),
    program(&["false"], "bash", &[], operands_of(ValueKind::Word)),
    program(&["uname"], COREUTILS, &[
        flag("-a --all"), flag("-s --kernel-name"), flag("-n --nodename"), flag("-r --kernel-release"),
        flag("-v --kernel-version"), flag("-m --machine"), flag("-p --processor"), flag("-i --hardware-platform"),
        flag("-o --operating-system"),
    ], NO_OPERANDS),
    program(&["arch"], COREUTILS, &[], NO_OPERANDS),
    program(&["nproc"], COREUTILS, &[flag("--all"), option_with_word("--ignore")], NO_OPERANDS),
    program(&["whoami"], COREUTILS, &[], NO_OPERANDS),
    program(&["id"], COREUTILS, &[flag("-u"), flag("-g"), flag("-G"), flag("-n"), flag("-r")], NO_OPERANDS),
    // An operand sets the host name.
    program(&["hostname"], "Debian hostname", &[], NO_OPERANDS),
    program(&["uptime"], "procps", &[flag("-p --pretty"), flag("-s --since")], NO_OPERANDS),
    program(&["free"], "procps", &[
        flag("-b"), flag("-k"), flag("-m"), flag("-g"), flag("-h"), flag("-l"), flag("-t"), flag("-v"), flag("-w"),
    ], NO_OPERANDS),
    Program { syntax: Syntax { permutes: false, ..GNU }, ..program(&["seq"], COREUTILS,
        &[flag("-w --equal-width"), option_with_word("-f --format"), option_with_word("-s --separator")], operands_of(ValueKind::Word)) },
    // An operand that begins with `+` is a format; any other operand sets the clock.
    program(&["date"], COREUTILS, &[
        flag("-u --utc --universal"), flag("-R --rfc-email"), option_with_optional("-I --iso-8601"), option_with_word("--rfc-3339"),
        option_with_word("-d --date"), option_with("-r --reference", ValueKind::Names), option_with("-f --file", ValueKind::List),
        option_with_word("-s --set").with_role(Role::NeedsApproval),
    ], operands_of(ValueKind::Word)),
];

/// Short options share a word, but the value of each is the next word and further options of the same word follow: `-Lo
/// 2 x` writes to `x`. So an option with a value must be a word of its own.
const TREE_SYNTAX: Syntax =
    Syntax { attached: AttachedValue::Never, abbreviates: false, has_separate_long: false, ..GNU };

/// `getopt` of the bash builtins: no long options, and the first operand ends the options.
const BUILTIN_SYNTAX: Syntax = Syntax { permutes: false, abbreviates: false, ..GNU };
