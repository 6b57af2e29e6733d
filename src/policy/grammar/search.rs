//! Programs that search for files and in files.

use super::{
    Attached, GNU, GNU_NUMBERS, Holds, Operands, Opt, Program, Role, Syntax, Value, first, flag, holds, may,
    program, takes,
};

const fn asks(names: &'static str) -> Opt {
    flag(names).with(Role::Asks)
}

/// A pattern, unless an option holds it, then the files to search.
const SEARCHES: Operands = first(&[Holds::Pattern], Some(Holds::Read));

/// Option parsers of Rust programs: no abbreviations.
const RUST: Syntax = Syntax { abbreviates: false, ..GNU };

/// Words with one dash after the folders; some take the next word as value.
const FIND: Syntax = Syntax {
    bundles: false,
    attached: Attached::Never,
    is_single_dash: true,
    abbreviates: false,
    permutes: true,
    has_end: false,
    has_numbers: false,
    has_separate_long: true,
};

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    Program { syntax: GNU_NUMBERS, ..program(&["grep", "egrep", "fgrep"], "GNU grep 3", &[
        flag("-a --text"), flag("-b --byte-offset"), flag("-c --count"), flag("-E --extended-regexp"),
        flag("-F --fixed-strings"), flag("-G --basic-regexp"), flag("-P --perl-regexp"), flag("-h --no-filename"),
        flag("-H --with-filename"), flag("-i -y --ignore-case"), flag("--no-ignore-case"), flag("-I"),
        flag("-l --files-with-matches"), flag("-L --files-without-match"), flag("-n --line-number"),
        flag("-o --only-matching"), flag("-q --quiet --silent"), flag("-s --no-messages"), flag("-T --initial-tab"),
        flag("-u"), flag("-U --binary"), flag("-v --invert-match"), flag("-w --word-regexp"), flag("-x --line-regexp"),
        flag("-z --null-data"), flag("-Z --null"), flag("--line-buffered"), may("--color --colour"),
        takes("-A --after-context"), takes("-B --before-context"), takes("-C --context"), takes("-m --max-count"),
        takes("--binary-files"), takes("--label"),
        holds("--include", Holds::Pattern), holds("--exclude", Holds::Pattern),
        holds("--exclude-dir", Holds::Pattern).with(Role::Excludes),
        holds("-e --regexp", Holds::Pattern).with(Role::Replaces), holds("-f --file", Holds::Read).with(Role::Replaces),
        flag("-r --recursive").with(Role::Recursive), takes("-d --directories"),
        // `-R` follows links, `-D read` reads devices and pipes.
        asks("-R --dereference-recursive"), takes("-D --devices").with(Role::Asks),
        holds("--exclude-from", Holds::List),
    ], SEARCHES) },
    Program { syntax: RUST, ..program(&["rg"], "ripgrep 13 and 14", &[
        flag("-a --text"), flag("-c --count"), flag("-F --fixed-strings"), flag("-H --with-filename"),
        flag("-i --ignore-case"), flag("-I --no-filename"), flag("-l --files-with-matches"), flag("-n --line-number"),
        flag("-N --no-line-number"), flag("-o --only-matching"), flag("-p --pretty"), flag("-P --pcre2"),
        flag("-q --quiet"), flag("-s --case-sensitive"), flag("-S --smart-case"), flag("-U --multiline"),
        flag("-v --invert-match"), flag("-w --word-regexp"), flag("-x --line-regexp"), flag("-0 --null"),
        flag("--heading"), flag("--no-heading"), flag("--count-matches"), flag("--files-without-match"),
        flag("--json"), flag("--column"), flag("--no-ignore-vcs").with(Role::Hidden), flag("--stats"), flag("--trim"),
        flag("--vimgrep"), flag("--passthru"), flag("--no-messages"), flag("--no-config"), flag("--files").with(Role::Lists),
        flag("-h --help").with(Role::Lists), flag("-V --version").with(Role::Lists),
        flag("--no-ignore").with(Role::Hidden), flag("-u --unrestricted").with(Role::Hidden),
        flag("-. --hidden").with(Role::Hidden),
        takes("-A --after-context"), takes("-B --before-context"), takes("-C --context"), takes("-m --max-count"),
        takes("-M --max-columns"), takes("-j --threads"), takes("-E --encoding"), takes("-r --replace"),
        takes("--max-depth"), takes("--color"), takes("--colors"), takes("--sort"), takes("--sortr"),
        holds("-e --regexp", Holds::Pattern).with(Role::Replaces), holds("-f --file", Holds::Read).with(Role::Replaces),
        holds("-g --glob", Holds::Pattern).with(Role::Selects), holds("--iglob", Holds::Pattern).with(Role::Selects),
        takes("-t --type").with(Role::Selects), takes("-T --type-not"),
        asks("-L --follow"), asks("-z --search-zip"), holds("--pre", Holds::Program),
        holds("--hostname-bin", Holds::Program), holds("--ignore-file", Holds::List),
    ], SEARCHES) },
    Program { syntax: RUST, ..program(&["fd", "fdfind"], "fd 8 to 10", &[
        flag("-H --hidden").with(Role::Hidden), flag("-I --no-ignore").with(Role::Hidden),
        flag("-u --unrestricted").with(Role::Hidden), flag("-s --case-sensitive"), flag("-i --ignore-case"),
        flag("-g --glob"), flag("-F --fixed-strings"), flag("-a --absolute-path"), flag("-p --full-path"),
        flag("-0 --print0"), takes("-d --max-depth"), takes("--min-depth"), takes("-e --extension"), takes("-t --type"),
        takes("-S --size"), takes("-c --color"), takes("--changed-within"), takes("--max-results"),
        holds("-E --exclude", Holds::Pattern),
        asks("-L --follow"), asks("-l --list-details"), holds("-x --exec", Holds::Program),
        holds("-X --exec-batch", Holds::Program), holds("--search-path", Holds::Place), holds("--base-directory", Holds::Place),
        holds("--ignore-file", Holds::List),
    ], Operands { default: Some("."), ..first(&[Holds::Pattern], Some(Holds::Names)) }) },
    Program { syntax: FIND, ..program(&["find"], "GNU findutils 4.9", &[
        flag("-print"), flag("-print0"), flag("-ls"), flag("-not"), flag("!"), flag("-a"), flag("-and"), flag("-o"),
        flag("-or"), flag("("), flag(")"), flag(","), flag("-prune"), flag("-xdev"), flag("-mount"), flag("-depth"),
        flag("-quit"), flag("-readable"), flag("-writable"), flag("-executable"), flag("-true"), flag("-false"),
        flag("-daystart"), flag("-nouser"), flag("-nogroup"), flag("-empty"), flag("-noleaf"),
        flag("-ignore_readdir_race"),
        holds("-name", Holds::Pattern), holds("-iname", Holds::Pattern), holds("-path", Holds::Pattern),
        holds("-ipath", Holds::Pattern), holds("-wholename", Holds::Pattern), holds("-iwholename", Holds::Pattern),
        holds("-regex", Holds::Pattern), holds("-iregex", Holds::Pattern), holds("-lname", Holds::Pattern),
        takes("-regextype"), takes("-type"), takes("-xtype"), takes("-maxdepth"), takes("-mindepth"), takes("-size"),
        takes("-mtime"), takes("-mmin"), takes("-atime"), takes("-amin"), takes("-ctime"), takes("-cmin"),
        takes("-perm"), takes("-user"), takes("-group"), takes("-uid"), takes("-gid"), takes("-links"), takes("-inum"),
        takes("-printf"), takes("-fstype"), takes("-newermt"), takes("-newerct"), holds("-newer", Holds::Names),
        holds("-fprint", Holds::Write), holds("-fprint0", Holds::Write), holds("-fls", Holds::Write),
        holds("-fprintf", Holds::Write), holds("-files0-from", Holds::List),
        // The words after it up to `;` or `+` are a command, which is judged separately.
        holds("-exec", Holds::Program), holds("-execdir", Holds::Program), holds("-ok", Holds::Program),
        holds("-okdir", Holds::Program), asks("-delete").with(Role::Forces),
        // Options before the folders: handling of links.
        flag("-H"), flag("-P"), asks("-L"), Opt { names: "-O", value: Value::Optional(Holds::Word), role: Role::Asks },
        takes("-D").with(Role::Asks),
    ], Operands { rest: Some(Holds::Names), default: Some("."), ..super::NO_OPERANDS }) },
];
