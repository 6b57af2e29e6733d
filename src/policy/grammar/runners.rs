//! Programs that run each operand as a target, such as make. Only the listed options are known; a rule covers no word
//! after another option.

use super::builds::{asks, partial, place, runs};
use super::{Opt, Program, Role, Value, flag, may, takes};

/// An option with a count, which may be the next word.
const fn count(names: &'static str) -> Opt {
    Opt { names, value: Value::OptionalNumber { has_point: false }, role: Role::Plain }
}

/// A program without known options.
pub(super) static UNKNOWN: Program = partial(&[""], &[]);

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    // GNU make 4 and programs based on it.
    partial(&["make", "gmake", "remake", "mingw32-make", "colormake"], &[
        runs("-f --file"), runs("-E"), runs("-I --include-dir"), place("-C"),
        takes("-o --old-file --assume-old"), takes("-W --what-if --new-file --assume-new"),
        count("-j"), may("--jobs"), Opt { names: "-l", value: Value::OptionalNumber { has_point: true }, role: Role::Plain },
        may("--load-average --max-load"), may("-O --output-sync"), may("--debug"), may("--shuffle"),
        flag("-b"), flag("-m"), flag("-B --always-make"), flag("-d"), flag("-e --environment-overrides"),
        flag("-i --ignore-errors"), flag("-k --keep-going"), flag("-L --check-symlink-times"),
        flag("-n --just-print --dry-run --recon"), flag("-p --print-data-base"), flag("-q --question"),
        flag("-r --no-builtin-rules"), flag("-R --no-builtin-variables"), flag("-s --silent --quiet"), flag("--no-silent"),
        flag("-S --no-keep-going --stop"), flag("-t --touch"), flag("-v --version"), flag("-h --help"),
        flag("-w --print-directory"), flag("--no-print-directory"), flag("--warn-undefined-variables"), flag("--trace"),
    ]),
    // BSD make, in which `-W` takes no value.
    partial(&["bmake"], &[
        runs("-f"), runs("-I"), runs("-m"), place("-C"), takes("-D"), takes("-d"), takes("-j"), takes("-V"), flag("-B"),
        flag("-e"), flag("-i"), flag("-k"), flag("-n"), flag("-q"), flag("-r"), flag("-S"), flag("-s"), flag("-t"),
        flag("-W"), flag("-w"),
    ]),
    partial(&["just"], &[
        runs("-f"), place("-d"), runs("-E"), runs("-c --command"), runs("--set"), asks("--choose"), runs("--chooser"),
        runs("--shell-arg"), runs("--dotenv-path"), runs("--dotenv-filename"), place("--working-directory"),
    ]),
    partial(&["task", "go-task"], &[
        runs("-t --taskfile"), place("-d --dir"), asks("-g --global"), takes("-o --output"), takes("-C --concurrency"),
        flag("-a --list-all"), flag("-l --list"), flag("-p --parallel"), flag("-f --force"), flag("-s --silent"),
        flag("-v --verbose"), flag("-y --yes"), flag("-n --dry"), flag("-x --exit-code"), flag("-h --help"),
        flag("--version"), flag("--summary"), flag("--status"),
    ]),
    partial(&["rake"], &[
        runs("-e"), runs("-E"), runs("-p"), runs("-f --rakefile"), runs("-r"), runs("-R --rakelib --rakelibdir"),
        runs("-I --libdir"), place("-C"), runs("--execute-print"), runs("--execute-continue"),
        may("-D --describe"), may("-W --where"), may("-T --tasks"), count("-j"), may("--jobs"), may("--trace"), may("--backtrace"),
        flag("-A --all"), flag("-B --build-all"), flag("-m --multitask"), flag("-n --dry-run"), flag("-P --prereqs"),
        flag("-q --quiet"), flag("-s --silent"), flag("-t"), flag("-v --verbose"), flag("-V --version"), flag("-h --help"),
    ]),
    partial(&["ninja", "samu"], &[
        runs("-f"), place("-C"), runs("-t"), takes("-d"), takes("-j"), takes("-k"), takes("-l"), takes("-w"),
        flag("-n"), flag("-v --verbose"), flag("--quiet"), flag("-h --help"), flag("--version"),
    ]),
    partial(&["gradle", "gradlew"], &[
        runs("-I --init-script"), runs("-b --build-file"), runs("-c --settings-file"), place("-p --project-dir"),
        runs("--include-build"), may("-D --system-prop"), may("-P --project-prop"), takes("-x --exclude-task"),
        takes("--tests"), takes("--max-workers"), takes("--console"), takes("--warning-mode"),
        flag("-q --quiet"), flag("-i --info"), flag("-d --debug"), flag("-w --warn"), flag("-s --stacktrace"),
        flag("-S --full-stacktrace"), flag("-m --dry-run"), flag("-v --version"), flag("-h --help"), flag("--offline"),
        flag("--parallel"), flag("--no-parallel"), flag("--daemon"), flag("--no-daemon"), flag("--build-cache"),
        flag("--no-build-cache"), flag("--continue"), flag("--rerun-tasks"), flag("--refresh-dependencies"),
    ]),
    partial(&["mvn", "mvnw", "mvnd"], &[
        runs("-f --f --file"), runs("-s --s --settings"), runs("-gs --gs"), runs("-t --t"), may("-D"),
        takes("-P --P --activate-profiles"), takes("-T --T --threads"), takes("-l --l --log-file"), takes("-pl --pl --projects"),
        takes("-rf --rf --resume-from"),
        flag("-q --quiet"), flag("-X --debug"), flag("-e --errors"), flag("-o --offline"), flag("-U --update-snapshots"),
        flag("-B --batch-mode"), flag("-ntp --no-transfer-progress"), flag("-am --also-make"),
        flag("-amd --also-make-dependents"), flag("-fae --fail-at-end"), flag("-ff --fail-fast"), flag("-fn --fail-never"),
        flag("-N --non-recursive"), flag("-V --show-version"), flag("-v --version"), flag("-h --help"),
    ]),
    partial(&["xcodebuild"], &[
        takes("-scheme"), takes("-workspace"), takes("-project"), takes("-destination"), takes("-configuration"), takes("-sdk"),
        flag("-quiet"), flag("-verbose"),
    ]),
    partial(&["bazel", "bazelisk"], &[runs("--run_under"), runs("--workspace_status_command")]),
];
