//! Programs that change, delete or fetch files: the files they overwrite and the folders they work in.

use super::program::{
    GNU, Operands, OptionSpec, Program, Role, Syntax, ValueKind, flag, leading_operands, operands_of, option_with,
    option_with_optional, option_with_word, program,
};

const COREUTILS: &str = "GNU coreutils 9";

/// Sources, followed by a target.
const COPY_OPERANDS: Operands = Operands { last: Some(ValueKind::Write), ..operands_of(ValueKind::Recursive) };

/// A partial grammar: only the options that decide what is written.
const fn partial_change_program(
    names: &'static [&'static str],
    described_versions: &'static str,
    options: &'static [OptionSpec],
    operands: Operands,
) -> Program {
    Program { is_complete: false, ..program(names, described_versions, options, operands) }
}

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["rm"], COREUTILS, &[
        flag("-f --force").with_role(Role::Forces), flag("-i"), flag("-I"), option_with_optional("--interactive"),
        flag("-r -R --recursive").with_role(Role::Recursive), flag("-d --dir"), flag("-v --verbose"),
        flag("--no-preserve-root").with_role(Role::NeedsApproval), flag("--help").with_role(Role::Lists), flag("--version").with_role(Role::Lists),
    ], operands_of(ValueKind::Delete)),
    program(&["rmdir"], COREUTILS, &[
        flag("-p --parents"), flag("-v --verbose"), flag("--help").with_role(Role::Lists), flag("--version").with_role(Role::Lists),
        flag("--ignore-fail-on-non-empty"),
    ], operands_of(ValueKind::Delete)),
    program(&["unlink"], COREUTILS, &[
        flag("--help").with_role(Role::Lists), flag("--version").with_role(Role::Lists),
    ], leading_operands(&[ValueKind::Delete], None)),
    partial_change_program(&["shred"], COREUTILS, &[
        option_with_word("-n --iterations"), option_with_word("-s --size"), option_with("--random-source", ValueKind::Read), option_with_optional("--remove"),
    ], operands_of(ValueKind::Write)),
    partial_change_program(&["truncate"], COREUTILS, &[option_with_word("-s --size"), option_with("-r --reference", ValueKind::Names)], operands_of(ValueKind::Write)),
    partial_change_program(&["cp"], COREUTILS, &[
        flag("-f --force").with_role(Role::Forces), flag("-i --interactive").with_role(Role::Forces), flag("-n --no-clobber").with_role(Role::Keeps),
        flag("-b"), option_with_optional("--backup"), option_with_optional("--update"), flag("-u"), option_with_word("-S --suffix"),
        option_with("-t --target-directory", ValueKind::Folder), flag("-T --no-target-directory"), flag("-a --archive"),
        flag("-r -R --recursive"), flag("-p"), option_with_optional("--preserve"), option_with_word("--no-preserve"), flag("-l --link"), flag("-s --symbolic-link"),
        option_with_optional("--reflink"), option_with_word("--sparse"), flag("-v --verbose"), flag("-d"), flag("-H"), flag("-L --dereference"),
        flag("-P --no-dereference"), flag("-x --one-file-system"), flag("-Z"), option_with_optional("--context"),
        flag("--help").with_role(Role::Lists), flag("--version").with_role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["mv"], COREUTILS, &[
        flag("-f --force").with_role(Role::Forces), flag("-i --interactive").with_role(Role::Forces), flag("-n --no-clobber").with_role(Role::Keeps),
        flag("-b"), option_with_optional("--backup"), option_with_optional("--update"), flag("-u"), option_with_word("-S --suffix"),
        option_with("-t --target-directory", ValueKind::Folder), flag("-T --no-target-directory"), flag("-v --verbose"), flag("-Z --context"),
        flag("--help").with_role(Role::Lists), flag("--version").with_role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["ln"], COREUTILS, &[
        flag("-f --force").with_role(Role::Forces), flag("-i --interactive").with_role(Role::Forces), flag("-s --symbolic"),
        flag("-b"), option_with_optional("--backup"), option_with_word("-S --suffix"), option_with("-t --target-directory", ValueKind::Folder),
        flag("-T --no-target-directory"), flag("-n --no-dereference"), flag("-r --relative"), flag("-v --verbose"),
        flag("-L --logical"), flag("-P --physical"),
        flag("--help").with_role(Role::Lists), flag("--version").with_role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["install"], COREUTILS, &[
        flag("-d --directory"), flag("-b"), option_with_optional("--backup"), option_with_word("-S --suffix"), option_with_word("-m --mode"),
        option_with_word("-o --owner"), option_with_word("-g --group"), option_with("-t --target-directory", ValueKind::Folder),
        flag("-T --no-target-directory"), flag("-D"), flag("-c"), flag("-C --compare"), flag("-p --preserve-timestamps"),
        flag("-s --strip"), option_with("--strip-program", ValueKind::Program), flag("-v --verbose"),
        flag("--help").with_role(Role::Lists), flag("--version").with_role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["touch"], COREUTILS, &[
        option_with_word("-d --date"), option_with("-r --reference", ValueKind::Names), option_with_word("-t"), option_with_word("--time"),
    ], operands_of(ValueKind::Write)),
    partial_change_program(&["mkdir"], COREUTILS, &[option_with_word("-m --mode"), flag("-p --parents"), flag("-v --verbose")], operands_of(ValueKind::Write)),
    partial_change_program(&["tee", "sponge"], COREUTILS, &[flag("-a --append").with_role(Role::Keeps), flag("-i --ignore-interrupts"), flag("-p"), option_with_optional("--output-error")], operands_of(ValueKind::Write)),
    Program { syntax: Syntax { abbreviates: true, ..GNU }, ..partial_change_program(&["curl"], "curl 7 and 8", &[
        option_with("-o --output", ValueKind::Write), option_with("-K --config", ValueKind::Program), option_with_word("-A --user-agent"),
        option_with_word("-b --cookie"), option_with("-c --cookie-jar", ValueKind::Write), option_with_word("-C --continue-at"), option_with_word("-d --data"),
        option_with("-D --dump-header", ValueKind::Write), option_with_word("-e --referer"), option_with_word("-E --cert"), option_with_word("-F --form"),
        option_with_word("-h"), option_with_word("-H --header"), option_with_word("-m --max-time"), option_with_word("-P --ftp-port"), option_with_word("-Q --quote"),
        option_with_word("-r --range"), option_with_word("-t --telnet-option"), option_with_word("-T --upload-file"), option_with_word("-u --user"),
        option_with_word("-U --proxy-user"), option_with_word("-w --write-out"), option_with_word("-x --proxy"), option_with_word("-X --request"),
        option_with_word("-y --speed-time"), option_with_word("-Y --speed-limit"), option_with_word("-z --time-cond"),
    ], operands_of(ValueKind::Word)) },
    partial_change_program(&["wget"], "GNU Wget 1.21", &[
        option_with("-O --output-document", ValueKind::Write), option_with("-a --append-output", ValueKind::Write), option_with_word("-A --accept"),
        option_with_word("-B --base"), option_with_word("-D --domains"), option_with("-e --execute", ValueKind::Program), option_with_word("-i --input-file"),
        option_with_word("-I --include-directories"), option_with_word("-l --level"), option_with("-o --output-file", ValueKind::Write),
        option_with("-P --directory-prefix", ValueKind::Folder), option_with_word("-Q --quota"), option_with_word("-R --reject"), option_with_word("-t --tries"),
        option_with_word("-T --timeout"), option_with_word("-U --user-agent"), option_with_word("-w --wait"), option_with_word("-X --exclude-directories"),
    ], operands_of(ValueKind::Word)),
    partial_change_program(&["rsync"], "rsync 3", &[
        flag("--del --delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --delete-missing-args").with_role(Role::Forces),
        flag("--remove-source-files").with_role(Role::Forces), flag("--delay-updates"), option_with("-e --rsh", ValueKind::Program),
        option_with_word("--exclude"), option_with_word("--suffix"), option_with("-M --remote-option", ValueKind::Program), option_with("--rsync-path", ValueKind::Program), option_with_word("-f --filter"),
        option_with("-T --temp-dir", ValueKind::Folder), option_with_word("-B --block-size"), option_with_word("-@ --modify-window"),
    ], Operands { last: Some(ValueKind::Write), ..operands_of(ValueKind::Recursive) }),
    partial_change_program(&["patch"], "GNU patch 2.7", &[
        option_with("-d --directory", ValueKind::Folder), option_with("-o --output", ValueKind::Folder), option_with("-r --reject-file", ValueKind::Folder),
        option_with_word("-B --prefix"), option_with_word("-D --ifdef"), option_with_word("-F --fuzz"), option_with_word("-V --version-control"),
        option_with_word("-Y --basename-prefix"), option_with_word("-g --get"), option_with_word("-i --input"), option_with_word("-p --strip"), option_with_word("-z --suffix"),
    ], leading_operands(&[ValueKind::Write, ValueKind::Read], None)),
];
