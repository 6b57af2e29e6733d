//! Programs that change, delete or fetch files: the files they overwrite and the folders they work in.

use super::program::{
    GNU, Operands, OptionGroup, Program, Role, Syntax, ValueKind, flags, leading_operands, operands_of, program,
    with_optional_word, with_value, with_word,
};

const COREUTILS: &str = "GNU coreutils 9";

/// Sources, followed by a target.
const COPY_OPERANDS: Operands = Operands { last: Some(ValueKind::Write), ..operands_of(ValueKind::Recursive) };

/// A partial grammar: only the options that decide what is written.
const fn partial_change_program(
    names: &'static [&'static str],
    described_versions: &'static str,
    options: &'static [OptionGroup],
    operands: Operands,
) -> Program {
    Program { is_complete: false, ..program(names, described_versions, options, operands) }
}

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    program(&["rm"], COREUTILS, &[
        flags("-f --force").role(Role::Forces), flags("-i, -I, -d --dir, -v --verbose"),
        with_optional_word("--interactive"), flags("-r -R --recursive").role(Role::Recursive),
        flags("--no-preserve-root").role(Role::NeedsApproval), flags("--help, --version").role(Role::Lists),
    ], operands_of(ValueKind::Delete)),
    program(&["rmdir"], COREUTILS, &[
        flags("-p --parents, -v --verbose, --ignore-fail-on-non-empty"), flags("--help, --version").role(Role::Lists),
    ], operands_of(ValueKind::Delete)),
    program(&["unlink"], COREUTILS, &[
        flags("--help, --version").role(Role::Lists),
    ], leading_operands(&[ValueKind::Delete], None)),
    partial_change_program(&["shred"], COREUTILS, &[
        with_word("-n --iterations, -s --size"), with_value("--random-source", ValueKind::Read),
        with_optional_word("--remove"),
    ], operands_of(ValueKind::Write)),
    partial_change_program(&["truncate"], COREUTILS, &[
        with_word("-s --size"), with_value("-r --reference", ValueKind::Names),
    ], operands_of(ValueKind::Write)),
    partial_change_program(&["cp"], COREUTILS, &[
        flags("-f --force, -i --interactive").role(Role::Forces), flags("-n --no-clobber").role(Role::Keeps),
        flags("-b, -u, -T --no-target-directory, -a --archive, -r -R --recursive, -p, -l --link, -s --symbolic-link, \
            -v --verbose, -d, -H, -L --dereference, -P --no-dereference, -x --one-file-system, -Z"),
        with_optional_word("--backup, --update, --preserve, --reflink, --context"),
        with_word("-S --suffix, --no-preserve, --sparse"), with_value("-t --target-directory", ValueKind::Folder),
        flags("--help, --version").role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["mv"], COREUTILS, &[
        flags("-f --force, -i --interactive").role(Role::Forces), flags("-n --no-clobber").role(Role::Keeps),
        flags("-b, -u, -T --no-target-directory, -v --verbose, -Z --context"), with_optional_word("--backup, --update"),
        with_word("-S --suffix"), with_value("-t --target-directory", ValueKind::Folder),
        flags("--help, --version").role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["ln"], COREUTILS, &[
        flags("-f --force, -i --interactive").role(Role::Forces),
        flags("-s --symbolic, -b, -T --no-target-directory, -n --no-dereference, -r --relative, -v --verbose, \
            -L --logical, -P --physical"), with_optional_word("--backup"), with_word("-S --suffix"),
        with_value("-t --target-directory", ValueKind::Folder), flags("--help, --version").role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["install"], COREUTILS, &[
        flags("-d --directory, -b, -T --no-target-directory, -D, -c, -C --compare, -p --preserve-timestamps, \
            -s --strip, -v --verbose"), with_optional_word("--backup"),
        with_word("-S --suffix, -m --mode, -o --owner, -g --group"),
        with_value("-t --target-directory", ValueKind::Folder), with_value("--strip-program", ValueKind::Program),
        flags("--help, --version").role(Role::Lists),
    ], COPY_OPERANDS),
    partial_change_program(&["touch"], COREUTILS, &[
        with_word("-d --date, -t, --time"), with_value("-r --reference", ValueKind::Names),
    ], operands_of(ValueKind::Write)),
    partial_change_program(&["mkdir"], COREUTILS, &[
        with_word("-m --mode"), flags("-p --parents, -v --verbose"),
    ], operands_of(ValueKind::Write)),
    partial_change_program(&["tee", "sponge"], COREUTILS, &[
        flags("-a --append").role(Role::Keeps), flags("-i --ignore-interrupts, -p"),
        with_optional_word("--output-error"),
    ], operands_of(ValueKind::Write)),
    Program { syntax: Syntax { abbreviates: true, ..GNU }, ..partial_change_program(&["curl"], "curl 7 and 8", &[
        with_value("-o --output, -c --cookie-jar, -D --dump-header", ValueKind::Write),
        with_value("-K --config", ValueKind::Program),
        with_word("-A --user-agent, -b --cookie, -C --continue-at, -d --data, -e --referer, -E --cert, -F --form, -h, \
            -H --header, -m --max-time, -P --ftp-port, -Q --quote, -r --range, -t --telnet-option, -T --upload-file, \
            -u --user, -U --proxy-user, -w --write-out, -x --proxy, -X --request, -y --speed-time, -Y --speed-limit, \
            -z --time-cond"),
    ], operands_of(ValueKind::Word)) },
    partial_change_program(&["wget"], "GNU Wget 1.21", &[
        with_value("-O --output-document, -a --append-output, -o --output-file", ValueKind::Write),
        with_word("-A --accept, -B --base, -D --domains, -i --input-file, -I --include-directories, -l --level, \
            -Q --quota, -R --reject, -t --tries, -T --timeout, -U --user-agent, -w --wait, -X --exclude-directories"),
        with_value("-e --execute", ValueKind::Program), with_value("-P --directory-prefix", ValueKind::Folder),
    ], operands_of(ValueKind::Word)),
    partial_change_program(&["rsync"], "rsync 3", &[
        flags("--del --delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --delete-missing-args, \
            --remove-source-files").role(Role::Forces), flags("--delay-updates"),
        with_value("-e --rsh, -M --remote-option, --rsync-path", ValueKind::Program),
        with_word("--exclude, --suffix, -f --filter, -B --block-size, -@ --modify-window"),
        with_value("-T --temp-dir", ValueKind::Folder),
    ], Operands { last: Some(ValueKind::Write), ..operands_of(ValueKind::Recursive) }),
    partial_change_program(&["patch"], "GNU patch 2.7", &[
        with_value("-d --directory, -o --output, -r --reject-file", ValueKind::Folder),
        with_word("-B --prefix, -D --ifdef, -F --fuzz, -V --version-control, -Y --basename-prefix, -g --get, \
            -i --input, -p --strip, -z --suffix"),
    ], leading_operands(&[ValueKind::Write, ValueKind::Read], None)),
];
