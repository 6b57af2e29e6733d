//! Programs that run each operand as a target, such as make. Only the listed options are known: a rule covers no
//! operand after an option that is not listed.

use super::build_tools::partial_build_program;
use super::program::{
    OptionGroup, OptionValue, Program, Role, ValueKind, flags, with_optional_word, with_value, with_word,
};

/// Options with a count, which may be the next word.
const fn with_count(options: &'static str) -> OptionGroup {
    OptionGroup { options, value: OptionValue::OptionalNumber { has_point: false }, role: Role::Plain }
}

/// Grammar for a program that has none of its own: no option is known.
pub static UNKNOWN: Program = partial_build_program(&[""], &[]);

#[rustfmt::skip]
pub(super) static PROGRAMS: &[Program] = &[
    // GNU make 4 and programs based on it.
    partial_build_program(&["make", "gmake", "remake", "mingw32-make", "colormake"], &[
        with_value("-f --file --makefile", ValueKind::ScriptFile),
        with_value("-E, -I --include-dir", ValueKind::Program), with_value("-C", ValueKind::Folder),
        with_word("-o --old-file --assume-old, -W --what-if --new-file --assume-new"), with_count("-j"),
        with_optional_word("--jobs, --load-average --max-load, -O --output-sync, --debug, --shuffle"),
        OptionGroup { options: "-l", value: OptionValue::OptionalNumber { has_point: true }, role: Role::Plain },
        flags("-b, -m, -B --always-make, -d, -e --environment-overrides, -i --ignore-errors, -k --keep-going, \
            -L --check-symlink-times, -n --just-print --dry-run --recon, -p --print-data-base, -q --question, \
            -r --no-builtin-rules, -R --no-builtin-variables, -s --silent --quiet, --no-silent, \
            -S --no-keep-going --stop, -t --touch, -v --version, -h --help, -w --print-directory, \
            --no-print-directory, --warn-undefined-variables, --trace"),
    ]),
    // BSD make, in which `-W` takes no value.
    partial_build_program(&["bmake"], &[
        with_value("-f, -I, -m", ValueKind::Program), with_value("-C", ValueKind::Folder), with_word("-D, -d, -j, -V"),
        flags("-B, -e, -i, -k, -n, -q, -r, -S, -s, -t, -W, -w"),
    ]),
    partial_build_program(&["just"], &[
        with_value("-f --justfile", ValueKind::ScriptFile), with_value("-d, --working-directory", ValueKind::Folder),
        with_value("-E, -c --command, --set, --chooser, --shell-arg, --dotenv-path, \
            --dotenv-filename", ValueKind::Program), flags("--choose").role(Role::NeedsApproval),
    ]),
    partial_build_program(&["task", "go-task"], &[
        with_value("-t --taskfile", ValueKind::Program), with_value("-d --dir", ValueKind::Folder),
        flags("-g --global").role(Role::NeedsApproval), with_word("-o --output, -C --concurrency"),
        flags("-a --list-all, -l --list, -p --parallel, -f --force, -s --silent, -v --verbose, -y --yes, -n --dry, \
            -x --exit-code, -h --help, --version, --summary, --status"),
    ]),
    partial_build_program(&["rake"], &[
        with_value("-e, -E, -p, -f --rakefile, -r, -R --rakelib --rakelibdir, -I --libdir, --execute-print, \
            --execute-continue", ValueKind::Program), with_value("-C", ValueKind::Folder),
        with_optional_word("-D --describe, -W --where, -T --tasks, --jobs, --trace, --backtrace"), with_count("-j"),
        flags("-A --all, -B --build-all, -m --multitask, -n --dry-run, -P --prereqs, -q --quiet, -s --silent, -t, \
            -v --verbose, -V --version, -h --help"),
    ]),
    partial_build_program(&["ninja", "samu"], &[
        with_value("-f, -t", ValueKind::Program), with_value("-C", ValueKind::Folder), with_word("-d, -j, -k, -l, -w"),
        flags("-n, -v --verbose, --quiet, -h --help, --version"),
    ]),
    partial_build_program(&["gradle", "gradlew"], &[
        with_value("-I --init-script, -b --build-file, -c --settings-file, --include-build", ValueKind::Program),
        with_value("-p --project-dir", ValueKind::Folder), with_optional_word("-D --system-prop, -P --project-prop"),
        with_word("-x --exclude-task, --tests, --max-workers, --console, --warning-mode"),
        flags("-q --quiet, -i --info, -d --debug, -w --warn, -s --stacktrace, -S --full-stacktrace, -m --dry-run, \
            -v --version, -h --help, --offline, --parallel, --no-parallel, --daemon, --no-daemon, --build-cache, \
            --no-build-cache, --continue, --rerun-tasks, --refresh-dependencies"),
    ]),
    partial_build_program(&["mvn", "mvnw", "mvnd"], &[
        with_value("-f --f --file, -s --s --settings, -gs --gs, -t --t", ValueKind::Program), with_optional_word("-D"),
        with_word("-P --P --activate-profiles, -T --T --threads, -l --l --log-file, -pl --pl --projects, \
            -rf --rf --resume-from"),
        flags("-q --quiet, -X --debug, -e --errors, -o --offline, -U --update-snapshots, -B --batch-mode, \
            -ntp --no-transfer-progress, -am --also-make, -amd --also-make-dependents, -fae --fail-at-end, \
            -ff --fail-fast, -fn --fail-never, -N --non-recursive, -V --show-version, -v --version, -h --help"),
    ]),
    partial_build_program(&["xcodebuild"], &[
        with_word("-scheme, -workspace, -project, -destination, -configuration, -sdk"), flags("-quiet, -verbose"),
    ]),
    partial_build_program(&["bazel", "bazelisk"], &[
        with_value("--run_under, --workspace_status_command", ValueKind::Program),
    ]),
];
