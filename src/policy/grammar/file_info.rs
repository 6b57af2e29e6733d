//! Programs that show properties of files and of the system: names, sizes, times.

use super::program::{
    AttachedValue, GNU, NO_OPERANDS, Operands, Program, Role, Syntax, ValueKind, flags, operands_of, program,
    with_optional_word, with_value, with_word,
};

const COREUTILS: &str = "GNU coreutils 9";

/// Files of which only names, sizes and times are read; the working directory by default.
const NAME_OPERANDS: Operands = Operands { default: Some("."), ..operands_of(ValueKind::Names) };

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["ls"], COREUTILS, &[
        flags("-a --all, -A --almost-all, -b --escape, -B --ignore-backups, -c, -C, -d --directory, -f, -F, -g, \
            -G --no-group, -h --human-readable, -H --dereference-command-line, -i --inode, -k --kibibytes, -l, -m, \
            -n --numeric-uid-gid, -N --literal, -o, -p --file-type, -q --hide-control-chars, -Q --quote-name, \
            -r --reverse, -R --recursive, -s --size, -S, -t, -u, -U, -v, -x, -X, -Z --context, -1, --author, \
            --full-time, --si, --zero, --group-directories-first, --show-control-chars"),
        with_optional_word("--classify, --color, --hyperlink"), with_value("-I --ignore, --hide", ValueKind::Pattern),
        with_word("-w --width, --block-size, --sort, --time, --time-style, --format, --indicator-style, \
            --quoting-style"),
        // These follow links.
        flags("-L --dereference, --dereference-command-line-symlink-to-dir").role(Role::NeedsApproval),
    ], NAME_OPERANDS),
    program(&["stat"], COREUTILS, &[
        flags("-L --dereference, -f --file-system, -t --terse"), with_word("-c --format, --printf"),
    ], operands_of(ValueKind::Names)),
    program(&["du"], COREUTILS, &[
        flags("-0 --null, -a --all, --apparent-size, -b --bytes, -c --total, -D --dereference-args, -H, \
            -h --human-readable, --inodes, -k, -l --count-links, -m, -P --no-dereference, -S --separate-dirs, --si, \
            -s --summarize, -x --one-file-system"),
        with_word("-B --block-size, -d --max-depth, -t --threshold, --time-style"),
        with_value("--exclude", ValueKind::Pattern), with_optional_word("--time"),
        flags("-L --dereference").role(Role::NeedsApproval),
        with_value("-X --exclude-from, --files0-from", ValueKind::List),
    ], NAME_OPERANDS),
    // df opens its operands to find their file systems.
    program(&["df"], COREUTILS, &[
        flags("-a --all, -h --human-readable, -H --si, -i --inodes, -k, -l --local, -P --portability, -T --print-type, \
            --total, --no-sync"), with_word("-B --block-size, -t --type, -x --exclude-type"),
        with_optional_word("--output"), flags("--sync").role(Role::NeedsApproval),
    ], Operands { default: Some("."), ..operands_of(ValueKind::Read) }),
    program(&["realpath"], COREUTILS, &[
        flags("-e --canonicalize-existing, -m --canonicalize-missing, -L --logical, -P --physical, -q --quiet, \
            -s --strip --no-symlinks, -z --zero"), with_value("--relative-to, --relative-base", ValueKind::Names),
    ], operands_of(ValueKind::Names)),
    program(&["readlink"], COREUTILS, &[
        flags("-f --canonicalize, -e --canonicalize-existing, -m --canonicalize-missing, -n --no-newline, \
            -q -s --quiet --silent, -v --verbose, -z --zero"),
    ], operands_of(ValueKind::Names)),
    program(&["basename"], COREUTILS, &[
        flags("-a --multiple, -z --zero"), with_word("-s --suffix"),
    ], operands_of(ValueKind::Word)),
    program(&["dirname"], COREUTILS, &[flags("-z --zero")], operands_of(ValueKind::Word)),
    Program { syntax: TREE_SYNTAX, ..program(&["tree"], "tree 1.8 to 2.1 by Steve Baker", &[
        flags("-a, -d, -f, -i, -s, -p, -u, -g, -h, -D, -r, -t, -c, -C, -n, -q, -N, -Q, -F, -J, -X, -U, -v, -x, \
            --dirsfirst, --noreport, --gitignore, --prune, --du, --si"), with_word("-L"),
        with_value("-P, -I", ValueKind::Pattern),
        // These run tree again, follow links, read names from files, or write.
        flags("-R, -l, --fromfile, --info").role(Role::NeedsApproval), with_word("-H, -T").role(Role::NeedsApproval),
        with_value("-o", ValueKind::Write),
    ], NAME_OPERANDS) },
    program(&["pwd"], "bash and GNU coreutils", &[flags("-L, -P")], NO_OPERANDS),
    program(&["which"], "debianutils and GNU which", &[flags("-a, -s")], operands_of(ValueKind::Word)),
    Program { syntax: BUILTIN_SYNTAX, ..program(&["type"], "bash",
        &[flags("-a, -f, -t, -p, -P")], operands_of(ValueKind::Word)) },
    program(&["true"], "bash", &[], operands_of(ValueKind::Word)),
    program(&["false"], "bash", &[], operands_of(ValueKind::Word)),
    program(&["uname"], COREUTILS, &[
        flags("-a --all, -s --kernel-name, -n --nodename, -r --kernel-release, -v --kernel-version, -m --machine, \
            -p --processor, -i --hardware-platform, -o --operating-system"),
    ], NO_OPERANDS),
    program(&["arch"], COREUTILS, &[], NO_OPERANDS),
    program(&["nproc"], COREUTILS, &[flags("--all"), with_word("--ignore")], NO_OPERANDS),
    program(&["whoami"], COREUTILS, &[], NO_OPERANDS),
    program(&["id"], COREUTILS, &[flags("-u, -g, -G, -n, -r")], NO_OPERANDS),
    // An operand sets the host name.
    program(&["hostname"], "Debian hostname", &[], NO_OPERANDS),
    program(&["uptime"], "procps", &[flags("-p --pretty, -s --since")], NO_OPERANDS),
    program(&["free"], "procps", &[
        flags("-b, -k, -m, -g, -h, -l, -t, -v, -w"),
    ], NO_OPERANDS),
    Program { syntax: Syntax { permutes: false, ..GNU }, ..program(&["seq"], COREUTILS,
        &[flags("-w --equal-width"), with_word("-f --format, -s --separator")], operands_of(ValueKind::Word)) },
    // An operand that begins with `+` is a format; any other operand sets the clock.
    program(&["date"], COREUTILS, &[
        flags("-u --utc --universal, -R --rfc-email"), with_optional_word("-I --iso-8601"),
        with_word("--rfc-3339, -d --date"), with_value("-r --reference", ValueKind::Names),
        with_value("-f --file", ValueKind::List), with_word("-s --set").role(Role::NeedsApproval),
    ], operands_of(ValueKind::Word)),
];

/// Short options can share a word, and each of them takes its value from the words after it: `-Lo 2 x` sets the depth 2
/// and writes to `x`. So an option with a value must be a word of its own.
const TREE_SYNTAX: Syntax =
    Syntax { attached: AttachedValue::Never, abbreviates: false, has_separate_long: false, ..GNU };

/// `getopt` of the bash builtins: no long options, and the first operand ends the options.
const BUILTIN_SYNTAX: Syntax = Syntax { permutes: false, abbreviates: false, ..GNU };
