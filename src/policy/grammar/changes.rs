//! Programs that change, delete or fetch files: the files they overwrite and the folders they work in.

use super::{GNU, Holds, Operands, Program, Role, Syntax, all, first, flag, holds, may, program, takes};

const COREUTILS: &str = "GNU coreutils 9";

/// Sources, followed by a target.
const COPIES: Operands = Operands { last: Some(Holds::Write), ..all(Holds::Below) };

/// A partial grammar: only the options that decide what is written.
const fn partial(
    names: &'static [&'static str],
    states: &'static str,
    options: &'static [super::Opt],
    operands: Operands,
) -> Program {
    Program { is_complete: false, ..program(names, states, options, operands) }
}

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["rm"], COREUTILS, &[
        flag("-f --force").with(Role::Forces), flag("-i"), flag("-I"), may("--interactive"),
        flag("-r -R --recursive").with(Role::Recursive), flag("-d --dir"), flag("-v --verbose"),
        flag("--no-preserve-root").with(Role::Asks), flag("--help").with(Role::Lists), flag("--version").with(Role::Lists),
    ], all(Holds::Delete)),
    program(&["rmdir"], COREUTILS, &[
        flag("-p --parents"), flag("-v --verbose"), flag("--help").with(Role::Lists), flag("--version").with(Role::Lists),
        flag("--ignore-fail-on-non-empty"),
    ], all(Holds::Delete)),
    program(&["unlink"], COREUTILS, &[
        flag("--help").with(Role::Lists), flag("--version").with(Role::Lists),
    ], first(&[Holds::Delete], None)),
    partial(&["shred"], COREUTILS, &[
        takes("-n --iterations"), takes("-s --size"), holds("--random-source", Holds::Read), may("--remove"),
    ], all(Holds::Write)),
    partial(&["truncate"], COREUTILS, &[takes("-s --size"), holds("-r --reference", Holds::Names)], all(Holds::Write)),
    partial(&["cp"], COREUTILS, &[
        flag("-f --force").with(Role::Forces), flag("-i --interactive").with(Role::Forces), flag("-n --no-clobber").with(Role::Keeps),
        flag("-b"), may("--backup"), may("--update"), flag("-u"), takes("-S --suffix"),
        holds("-t --target-directory", Holds::Place), flag("-T --no-target-directory"), flag("-a --archive"),
        flag("-r -R --recursive"), flag("-p"), may("--preserve"), takes("--no-preserve"), flag("-l --link"), flag("-s --symbolic-link"),
        may("--reflink"), takes("--sparse"), flag("-v --verbose"), flag("-d"), flag("-H"), flag("-L --dereference"),
        flag("-P --no-dereference"), flag("-x --one-file-system"), flag("-Z"), may("--context"),
        flag("--help").with(Role::Lists), flag("--version").with(Role::Lists),
    ], COPIES),
    partial(&["mv"], COREUTILS, &[
        flag("-f --force").with(Role::Forces), flag("-i --interactive").with(Role::Forces), flag("-n --no-clobber").with(Role::Keeps),
        flag("-b"), may("--backup"), may("--update"), flag("-u"), takes("-S --suffix"),
        holds("-t --target-directory", Holds::Place), flag("-T --no-target-directory"), flag("-v --verbose"), flag("-Z --context"),
        flag("--help").with(Role::Lists), flag("--version").with(Role::Lists),
    ], COPIES),
    partial(&["ln"], COREUTILS, &[
        flag("-f --force").with(Role::Forces), flag("-i --interactive").with(Role::Forces), flag("-s --symbolic"),
        flag("-b"), may("--backup"), takes("-S --suffix"), holds("-t --target-directory", Holds::Place),
        flag("-T --no-target-directory"), flag("-n --no-dereference"), flag("-r --relative"), flag("-v --verbose"),
        flag("-L --logical"), flag("-P --physical"),
        flag("--help").with(Role::Lists), flag("--version").with(Role::Lists),
    ], COPIES),
    partial(&["install"], COREUTILS, &[
        flag("-d --directory"), flag("-b"), may("--backup"), takes("-S --suffix"), takes("-m --mode"),
        takes("-o --owner"), takes("-g --group"), holds("-t --target-directory", Holds::Place),
        flag("-T --no-target-directory"), flag("-D"), flag("-c"), flag("-C --compare"), flag("-p --preserve-timestamps"),
        flag("-s --strip"), holds("--strip-program", Holds::Program), flag("-v --verbose"),
        flag("--help").with(Role::Lists), flag("--version").with(Role::Lists),
    ], COPIES),
    partial(&["tee", "sponge"], COREUTILS, &[flag("-a --append").with(Role::Keeps), flag("-i --ignore-interrupts"), flag("-p"), may("--output-error")], all(Holds::Write)),
    Program { syntax: Syntax { abbreviates: true, ..GNU }, ..partial(&["curl"], "curl 7 and 8", &[
        holds("-o --output", Holds::Write), holds("-K --config", Holds::Program), takes("-A --user-agent"),
        takes("-b --cookie"), holds("-c --cookie-jar", Holds::Write), takes("-C --continue-at"), takes("-d --data"),
        holds("-D --dump-header", Holds::Write), takes("-e --referer"), takes("-E --cert"), takes("-F --form"),
        takes("-h"), takes("-H --header"), takes("-m --max-time"), takes("-P --ftp-port"), takes("-Q --quote"),
        takes("-r --range"), takes("-t --telnet-option"), takes("-T --upload-file"), takes("-u --user"),
        takes("-U --proxy-user"), takes("-w --write-out"), takes("-x --proxy"), takes("-X --request"),
        takes("-y --speed-time"), takes("-Y --speed-limit"), takes("-z --time-cond"),
    ], all(Holds::Word)) },
    partial(&["wget"], "GNU Wget 1.21", &[
        holds("-O --output-document", Holds::Write), holds("-a --append-output", Holds::Write), takes("-A --accept"),
        takes("-B --base"), takes("-D --domains"), holds("-e --execute", Holds::Program), takes("-i --input-file"),
        takes("-I --include-directories"), takes("-l --level"), holds("-o --output-file", Holds::Write),
        holds("-P --directory-prefix", Holds::Place), takes("-Q --quota"), takes("-R --reject"), takes("-t --tries"),
        takes("-T --timeout"), takes("-U --user-agent"), takes("-w --wait"), takes("-X --exclude-directories"),
    ], all(Holds::Word)),
    partial(&["rsync"], "rsync 3", &[
        flag("--del --delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --delete-missing-args").with(Role::Forces),
        flag("--remove-source-files").with(Role::Forces), flag("--delay-updates"), holds("-e --rsh", Holds::Program),
        holds("-M --remote-option", Holds::Program), holds("--rsync-path", Holds::Program), takes("-f --filter"),
        holds("-T --temp-dir", Holds::Place), takes("-B --block-size"), takes("-@ --modify-window"),
    ], Operands { last: Some(Holds::Write), ..all(Holds::Below) }),
    partial(&["patch"], "GNU patch 2.7", &[
        holds("-d --directory", Holds::Place), holds("-o --output", Holds::Place), holds("-r --reject-file", Holds::Place),
        takes("-B --prefix"), takes("-D --ifdef"), takes("-F --fuzz"), takes("-V --version-control"),
        takes("-Y --basename-prefix"), takes("-g --get"), takes("-i --input"), takes("-p --strip"), takes("-z --suffix"),
    ], first(&[Holds::Write, Holds::Read], None)),
];
