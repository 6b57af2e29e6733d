//! Programs that search for files and in files.

use super::program::{
    AttachedValue, GNU, GNU_NUMBERS, NO_OPERANDS, Operands, OptionSpec, OptionValue, Program, Role, Syntax, ValueKind,
    flag, flag_needing_approval, leading_operands, option_with, option_with_optional, option_with_word, program,
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
        flag("-a --text"), flag("-b --byte-offset"), flag("-c --count"), flag("-E --extended-regexp"),
        flag("-F --fixed-strings"), flag("-G --basic-regexp"), flag("-P --perl-regexp"), flag("-h --no-filename"),
        flag("-H --with-filename"), flag("-i -y --ignore-case"), flag("--no-ignore-case"), flag("-I"),
        flag("-l --files-with-matches"), flag("-L --files-without-match"), flag("-n --line-number"),
        flag("-o --only-matching"), flag("-q --quiet --silent"), flag("-s --no-messages"), flag("-T --initial-tab"),
        flag("-u"), flag("-U --binary"), flag("-v --invert-match"), flag("-w --word-regexp"), flag("-x --line-regexp"),
        flag("-z --null-data"), flag("-Z --null"), flag("--line-buffered"), option_with_optional("--color --colour"),
        option_with_word("-A --after-context"), option_with_word("-B --before-context"), option_with_word("-C --context"), option_with_word("-m --max-count"),
        option_with_word("--binary-files"), option_with_word("--label"),
        option_with("--include", ValueKind::Pattern), option_with("--exclude", ValueKind::Pattern),
        option_with("--exclude-dir", ValueKind::Pattern).with_role(Role::Excludes),
        option_with("-e --regexp", ValueKind::Pattern).with_role(Role::HoldsScript), option_with("-f --file", ValueKind::Read).with_role(Role::HoldsScript),
        flag("-r --recursive").with_role(Role::Recursive), option_with_word("-d --directories"),
        // `-R` follows links, `-D read` reads devices and pipes.
        flag_needing_approval("-R --dereference-recursive"), option_with_word("-D --devices").with_role(Role::NeedsApproval),
        option_with("--exclude-from", ValueKind::List),
    ], SEARCH_OPERANDS) },
    Program { syntax: RUST_SYNTAX, ..program(&["rg"], "ripgrep 13 and 14", &[
        flag("-a --text"), flag("-c --count"), flag("-F --fixed-strings"), flag("-H --with-filename"),
        flag("-i --ignore-case"), flag("-I --no-filename"), flag("-l --files-with-matches"), flag("-n --line-number"),
        flag("-N --no-line-number"), flag("-o --only-matching"), flag("-p --pretty"), flag("-P --pcre2"),
        flag("-q --quiet"), flag("-s --case-sensitive"), flag("-S --smart-case"), flag("-U --multiline"),
        flag("-v --invert-match"), flag("-w --word-regexp"), flag("-x --line-regexp"), flag("-0 --null"),
        flag("--heading"), flag("--no-heading"), flag("--count-matches"), flag("--files-without-match"),
        flag("--json"), flag("--column"), flag("--no-ignore-vcs").with_role(Role::IncludesHidden), flag("--stats"), flag("--trim"),
        flag("--vimgrep"), flag("--passthru"), flag("--no-messages"), flag("--no-config"), flag("--files").with_role(Role::Lists),
        flag("-h --help").with_role(Role::Lists), flag("-V --version").with_role(Role::Lists),
        flag("--no-ignore").with_role(Role::IncludesHidden), flag("-u --unrestricted").with_role(Role::IncludesHidden),
        flag("-. --hidden").with_role(Role::IncludesHidden),
        option_with_word("-A --after-context"), option_with_word("-B --before-context"), option_with_word("-C --context"), option_with_word("-m --max-count"),
        option_with_word("-M --max-columns"), option_with_word("-j --threads"), option_with_word("-E --encoding"), option_with_word("-r --replace"),
        option_with_word("--max-depth"), option_with_word("--color"), option_with_word("--colors"), option_with_word("--sort"), option_with_word("--sortr"),
        option_with("-e --regexp", ValueKind::Pattern).with_role(Role::HoldsScript), option_with("-f --file", ValueKind::Read).with_role(Role::HoldsScript),
        option_with("-g --glob", ValueKind::Pattern).with_role(Role::Selects), option_with("--iglob", ValueKind::Pattern).with_role(Role::Selects),
        option_with_word("-t --type").with_role(Role::Selects), option_with_word("-T --type-not"),
        flag_needing_approval("-L --follow"), flag_needing_approval("-z --search-zip"), option_with("--pre", ValueKind::Program),
        option_with("--hostname-bin", ValueKind::Program), option_with("--ignore-file", ValueKind::List),
    ], SEARCH_OPERANDS) },
    Program { syntax: RUST_SYNTAX, ..program(&["fd", "fdfind"], "fd 8 to 10", &[
        flag("-H --hidden").with_role(Role::IncludesHidden), flag("-I --no-ignore").with_role(Role::IncludesHidden),
        flag("-u --unrestricted").with_role(Role::IncludesHidden), flag("-s --case-sensitive"), flag("-i --ignore-case"),
        flag("-g --glob"), flag("-F --fixed-strings"), flag("-a --absolute-path"), flag("-p --full-path"),
        flag("-0 --print0"), option_with_word("-d --max-depth"), option_with_word("--min-depth"), option_with_word("-e --extension"), option_with_word("-t --type"),
        option_with_word("-S --size"), option_with_word("-c --color"), option_with_word("--changed-within"), option_with_word("--max-results"),
        option_with("-E --exclude", ValueKind::Pattern),
        flag_needing_approval("-L --follow"), flag_needing_approval("-l --list-details"), option_with("-x --exec", ValueKind::Program),
        option_with("-X --exec-batch", ValueKind::Program), option_with("--search-path", ValueKind::Folder), option_with("--base-directory", ValueKind::Folder),
        option_with("--ignore-file", ValueKind::List),
    ], Operands { default: Some("."), ..leading_operands(&[ValueKind::Pattern], Some(ValueKind::Names)) }) },
    Program { syntax: FIND_SYNTAX, ..program(&["find"], "GNU findutils 4.9", &[
        flag("-print"), flag("-print0"), flag("-ls"), flag("-not"), flag("!"), flag("-a"), flag("-and"), flag("-o"),
        flag("-or"), flag("("), flag(")"), flag(","), flag("-prune"), flag("-xdev"), flag("-mount"), flag("-depth"),
        flag("-quit"), flag("-readable"), flag("-writable"), flag("-executable"), flag("-true"), flag("-false"),
        flag("-daystart"), flag("-nouser"), flag("-nogroup"), flag("-empty"), flag("-noleaf"),
        flag("-ignore_readdir_race"),
        option_with("-name", ValueKind::Pattern), option_with("-iname", ValueKind::Pattern), option_with("-path", ValueKind::Pattern),
        option_with("-ipath", ValueKind::Pattern), option_with("-wholename", ValueKind::Pattern), option_with("-iwholename", ValueKind::Pattern),
        option_with("-regex", ValueKind::Pattern), option_with("-iregex", ValueKind::Pattern), option_with("-lname", ValueKind::Pattern),
        option_with_word("-regextype"), option_with_word("-type"), option_with_word("-xtype"), option_with_word("-maxdepth"), option_with_word("-mindepth"), option_with_word("-size"),
        option_with_word("-mtime"), option_with_word("-mmin"), option_with_word("-atime"), option_with_word("-amin"), option_with_word("-ctime"), option_with_word("-cmin"),
        option_with_word("-perm"), option_with_word("-user"), option_with_word("-group"), option_with_word("-uid"), option_with_word("-gid"), option_with_word("-links"), option_with_word("-inum"),
        option_with_word("-printf"), option_with_word("-fstype"), option_with_word("-newermt"), option_with_word("-newerct"), option_with("-newer", ValueKind::Names),
        option_with("-fprint", ValueKind::Write), option_with("-fprint0", ValueKind::Write), option_with("-fls", ValueKind::Write),
        option_with("-fprintf", ValueKind::Write), option_with("-files0-from", ValueKind::List),
        option_with("-exec", ValueKind::Command), option_with("-execdir", ValueKind::Command), option_with("-ok", ValueKind::Command),
        option_with("-okdir", ValueKind::Command), flag_needing_approval("-delete").with_role(Role::Forces),
        // Options before the folders: handling of links.
        flag("-H"), flag("-P"), flag_needing_approval("-L"), OptionSpec { names: "-O", value: OptionValue::Optional(ValueKind::Word), role: Role::NeedsApproval },
        option_with_word("-D").with_role(Role::NeedsApproval),
    ], Operands { rest: Some(ValueKind::Names), default: Some("."), ..NO_OPERANDS }) },
];
