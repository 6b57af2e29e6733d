//! Programs that search for files and in files.

use super::program::{
    AttachedValue, GNU, GNU_NUMBERS, NO_OPERANDS, Operands, Program, Role, Syntax, ValueKind, flags, leading_operands,
    program, with_optional_word, with_value, with_word,
};

/// A pattern, unless an option holds it, then the files to search.
const SEARCH_OPERANDS: Operands = leading_operands(&[ValueKind::Pattern], Some(ValueKind::Read));

/// Option parsers of Rust programs: no abbreviations.
const RUST_SYNTAX: Syntax = Syntax { abbreviates: false, ..GNU };

/// An expression of words with one dash after the folders; some take the next word as value.
const FIND_SYNTAX: Syntax = Syntax {
    bundles: false,
    attached: AttachedValue::Never,
    is_single_dash: true,
    abbreviates: false,
    has_end: false,
    before_expression: Some(&["-H", "-L", "-P", "-O", "-D"]),
    ..GNU
};

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    Program { syntax: GNU_NUMBERS, ..program(&["grep", "egrep", "fgrep"], "GNU grep 3", &[
        flags("-a --text, -b --byte-offset, -c --count, -E --extended-regexp, -F --fixed-strings, -G --basic-regexp, \
            -P --perl-regexp, -h --no-filename, -H --with-filename, -i -y --ignore-case, --no-ignore-case, -I, \
            -l --files-with-matches, -L --files-without-match, -n --line-number, -o --only-matching, \
            -q --quiet --silent, -s --no-messages, -T --initial-tab, -u, -U --binary, -v --invert-match, \
            -w --word-regexp, -x --line-regexp, -z --null-data, -Z --null, --line-buffered"),
        with_optional_word("--color --colour"),
        with_word("-A --after-context, -B --before-context, -C --context, -m --max-count, --binary-files, --label, \
            -d --directories"), with_value("--include, --exclude", ValueKind::Pattern),
        with_value("--exclude-dir", ValueKind::Pattern).role(Role::Excludes),
        with_value("-e --regexp", ValueKind::Pattern).role(Role::HoldsScript),
        with_value("-f --file", ValueKind::Read).role(Role::HoldsScript), flags("-r --recursive").role(Role::Recursive),
        // `-R` follows links, `-D read` reads devices and pipes.
        flags("-R --dereference-recursive").role(Role::NeedsApproval),
        with_word("-D --devices").role(Role::NeedsApproval), with_value("--exclude-from", ValueKind::List),
    ], SEARCH_OPERANDS) },
    Program { syntax: RUST_SYNTAX, ..program(&["rg"], "ripgrep 13 and 14", &[
        flags("-a --text, -c --count, -F --fixed-strings, -H --with-filename, -i --ignore-case, -I --no-filename, \
            -l --files-with-matches, -n --line-number, -N --no-line-number, -o --only-matching, -p --pretty, \
            -P --pcre2, -q --quiet, -s --case-sensitive, -S --smart-case, -U --multiline, -v --invert-match, \
            -w --word-regexp, -x --line-regexp, -0 --null, --heading, --no-heading, --count-matches, \
            --files-without-match, --json, --column, --stats, --trim, --vimgrep, --passthru, --no-messages, \
            --no-config"),
        flags("--no-ignore-vcs, --no-ignore, -u --unrestricted, -. --hidden").role(Role::IncludesHidden),
        flags("--files, -h --help, -V --version").role(Role::Lists),
        with_word("-A --after-context, -B --before-context, -C --context, -m --max-count, -M --max-columns, \
            -j --threads, -E --encoding, -r --replace, --max-depth, --color, --colors, --sort, --sortr, -T --type-not"),
        with_value("-e --regexp", ValueKind::Pattern).role(Role::HoldsScript),
        with_value("-f --file", ValueKind::Read).role(Role::HoldsScript),
        with_value("-g --glob, --iglob", ValueKind::Pattern).role(Role::Selects),
        with_word("-t --type").role(Role::Selects), flags("-L --follow, -z --search-zip").role(Role::NeedsApproval),
        with_value("--pre, --hostname-bin", ValueKind::Program), with_value("--ignore-file", ValueKind::List),
    ], SEARCH_OPERANDS) },
    Program { syntax: RUST_SYNTAX, ..program(&["fd", "fdfind"], "fd 8 to 10", &[
        flags("-H --hidden, -I --no-ignore, -u --unrestricted").role(Role::IncludesHidden),
        flags("-s --case-sensitive, -i --ignore-case, -g --glob, -F --fixed-strings, -a --absolute-path, \
            -p --full-path, -0 --print0"),
        with_word("-d --max-depth, --min-depth, -e --extension, -t --type, -S --size, -c --color, --changed-within, \
            --max-results"), with_value("-E --exclude", ValueKind::Pattern),
        flags("-L --follow, -l --list-details").role(Role::NeedsApproval),
        with_value("-x --exec, -X --exec-batch", ValueKind::Program),
        with_value("--search-path, --base-directory", ValueKind::Folder), with_value("--ignore-file", ValueKind::List),
    ], Operands { default: Some("."), ..leading_operands(&[ValueKind::Pattern], Some(ValueKind::Names)) }) },
    Program { syntax: FIND_SYNTAX, ..program(&["find"], "GNU findutils 4.9", &[
        flags("-print, -print0, -ls, -not, !, -a, -and, -o, -or, (, ), ,, -prune, -xdev, -mount, -depth, -quit, \
            -readable, -writable, -executable, -true, -false, -daystart, -nouser, -nogroup, -empty, -noleaf, \
            -ignore_readdir_race"),
        with_value("-name, -iname, -path, -ipath, -wholename, -iwholename, -regex, -iregex, \
            -lname", ValueKind::Pattern),
        with_word("-regextype, -type, -xtype, -maxdepth, -mindepth, -size, -mtime, -mmin, -atime, -amin, -ctime, \
            -cmin, -perm, -user, -group, -uid, -gid, -links, -inum, -printf, -fstype, -newermt, -newerct"),
        with_value("-newer", ValueKind::Names), with_value("-fprint, -fprint0, -fls, -fprintf", ValueKind::Write),
        with_value("-files0-from", ValueKind::List), with_value("-exec, -execdir, -ok, -okdir", ValueKind::Command),
        flags("-delete").role(Role::Forces),
        // Options before the folders: handling of links.
        flags("-H, -P"), flags("-L").role(Role::NeedsApproval), with_optional_word("-O").role(Role::NeedsApproval),
        with_word("-D").role(Role::NeedsApproval),
    ], Operands { rest: Some(ValueKind::Names), default: Some("."), ..NO_OPERANDS }) },
];
