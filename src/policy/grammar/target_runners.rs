//! Programs that run each operand as a target, such as make. Only the listed options are known: a rule covers no
//! operand after an option that is not listed.

use super::build_tools::{option_runs, option_with_folder, partial_build_program};
use super::program::{
    OptionSpec, OptionValue, Program, Role, ValueKind, flag, flag_needing_approval, option_with, option_with_optional,
    option_with_word,
};

/// An option with a count, which may be the next word.
const fn option_with_count(names: &'static str) -> OptionSpec {
    OptionSpec { names, value: OptionValue::OptionalNumber { has_point: false }, role: Role::Plain }
}

/// A program without known options.
pub(super) static UNKNOWN: Program = partial_build_program(&[""], &[]);

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    // GNU make 4 and programs based on it.
    partial_build_program(&["make", "gmake", "remake", "mingw32-make", "colormake"], &[
        option_with("-f --file --makefile", ValueKind::ScriptFile), option_runs("-E"), option_runs("-I --include-dir"), option_with_folder("-C"),
        option_with_word("-o --old-file --assume-old"), option_with_word("-W --what-if --new-file --assume-new"),
        option_with_count("-j"), option_with_optional("--jobs"), OptionSpec { names: "-l", value: OptionValue::OptionalNumber { has_point: true }, role: Role::Plain },
        option_with_optional("--load-average --max-load"), option_with_optional("-O --output-sync"), option_with_optional("--debug"), option_with_optional("--shuffle"),
        flag("-b"), flag("-m"), flag("-B --always-make"), flag("-d"), flag("-e --environment-overrides"),
        flag("-i --ignore-errors"), flag("-k --keep-going"), flag("-L --check-symlink-times"),
        flag("-n --just-print --dry-run --recon"), flag("-p --print-data-base"), flag("-q --question"),
        flag("-r --no-builtin-rules"), flag("-R --no-builtin-variables"), flag("-s --silent --quiet"), flag("--no-silent"),
        flag("-S --no-keep-going --stop"), flag("-t --touch"), flag("-v --version"), flag("-h --help"),
        flag("-w --print-directory"), flag("--no-print-directory"), flag("--warn-undefined-variables"), flag("--trace"),
    ]),
    // BSD make, in which `-W` takes no value.
    partial_build_program(&["bmake"], &[
        option_runs("-f"), option_runs("-I"), option_runs("-m"), option_with_folder("-C"), option_with_word("-D"), option_with_word("-d"), option_with_word("-j"), option_with_word("-V"), flag("-B"),
        flag("-e"), flag("-i"), flag("-k"), flag("-n"), flag("-q"), flag("-r"), flag("-S"), flag("-s"), flag("-t"),
        flag("-W"), flag("-w"),
    ]),
    partial_build_program(&["just"], &[
        option_with("-f --justfile", ValueKind::ScriptFile), option_with_folder("-d"), option_runs("-E"), option_runs("-c --command"), option_runs("--set"), flag_needing_approval("--choose"), option_runs("--chooser"),
        option_runs("--shell-arg"), option_runs("--dotenv-path"), option_runs("--dotenv-filename"), option_with_folder("--working-directory"),
    ]),
    partial_build_program(&["task", "go-task"], &[
        option_runs("-t --taskfile"), option_with_folder("-d --dir"), flag_needing_approval("-g --global"), option_with_word("-o --output"), option_with_word("-C --concurrency"),
        flag("-a --list-all"), flag("-l --list"), flag("-p --parallel"), flag("-f --force"), flag("-s --silent"),
        flag("-v --verbose"), flag("-y --yes"), flag("-n --dry"), flag("-x --exit-code"), flag("-h --help"),
        flag("--version"), flag("--summary"), flag("--status"),
    ]),
    partial_build_program(&["rake"], &[
        option_runs("-e"), option_runs("-E"), option_runs("-p"), option_runs("-f --rakefile"), option_runs("-r"), option_runs("-R --rakelib --rakelibdir"),
        option_runs("-I --libdir"), option_with_folder("-C"), option_runs("--execute-print"), option_runs("--execute-continue"),
        option_with_optional("-D --describe"), option_with_optional("-W --where"), option_with_optional("-T --tasks"), option_with_count("-j"), option_with_optional("--jobs"), option_with_optional("--trace"), option_with_optional("--backtrace"),
        flag("-A --all"), flag("-B --build-all"), flag("-m --multitask"), flag("-n --dry-run"), flag("-P --prereqs"),
        flag("-q --quiet"), flag("-s --silent"), flag("-t"), flag("-v --verbose"), flag("-V --version"), flag("-h --help"),
    ]),
    partial_build_program(&["ninja", "samu"], &[
        option_runs("-f"), option_with_folder("-C"), option_runs("-t"), option_with_word("-d"), option_with_word("-j"), option_with_word("-k"), option_with_word("-l"), option_with_word("-w"),
        flag("-n"), flag("-v --verbose"), flag("--quiet"), flag("-h --help"), flag("--version"),
    ]),
    partial_build_program(&["gradle", "gradlew"], &[
        option_runs("-I --init-script"), option_runs("-b --build-file"), option_runs("-c --settings-file"), option_with_folder("-p --project-dir"),
        option_runs("--include-build"), option_with_optional("-D --system-prop"), option_with_optional("-P --project-prop"), option_with_word("-x --exclude-task"),
        option_with_word("--tests"), option_with_word("--max-workers"), option_with_word("--console"), option_with_word("--warning-mode"),
        flag("-q --quiet"), flag("-i --info"), flag("-d --debug"), flag("-w --warn"), flag("-s --stacktrace"),
        flag("-S --full-stacktrace"), flag("-m --dry-run"), flag("-v --version"), flag("-h --help"), flag("--offline"),
        flag("--parallel"), flag("--no-parallel"), flag("--daemon"), flag("--no-daemon"), flag("--build-cache"),
        flag("--no-build-cache"), flag("--continue"), flag("--rerun-tasks"), flag("--refresh-dependencies"),
    ]),
    partial_build_program(&["mvn", "mvnw", "mvnd"], &[
        option_runs("-f --f --file"), option_runs("-s --s --settings"), option_runs("-gs --gs"), option_runs("-t --t"), option_with_optional("-D"),
        option_with_word("-P --P --activate-profiles"), option_with_word("-T --T --threads"), option_with_word("-l --l --log-file"), option_with_word("-pl --pl --projects"),
        option_with_word("-rf --rf --resume-from"),
        flag("-q --quiet"), flag("-X --debug"), flag("-e --errors"), flag("-o --offline"), flag("-U --update-snapshots"),
        flag("-B --batch-mode"), flag("-ntp --no-transfer-progress"), flag("-am --also-make"),
        flag("-amd --also-make-dependents"), flag("-fae --fail-at-end"), flag("-ff --fail-fast"), flag("-fn --fail-never"),
        flag("-N --non-recursive"), flag("-V --show-version"), flag("-v --version"), flag("-h --help"),
    ]),
    partial_build_program(&["xcodebuild"], &[
        option_with_word("-scheme"), option_with_word("-workspace"), option_with_word("-project"), option_with_word("-destination"), option_with_word("-configuration"), option_with_word("-sdk"),
        flag("-quiet"), flag("-verbose"),
    ]),
    partial_build_program(&["bazel", "bazelisk"], &[option_runs("--run_under"), option_runs("--workspace_status_command")]),
];
