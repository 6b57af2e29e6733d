//! Script files that a command line runs and their possible locations. A grant for the line is bound to these files.

use super::path_access::{display_word, join_path};
use super::working_directories::{cd_target, working_directories};
use crate::policy::command_line::{ParsedLine, Redirect, SimpleCommand, Word, is_interpreter, is_shell};
use crate::policy::grammar::{self, ValueKind};
use crate::policy::wide_prefixes::runs_its_arguments;

/// Files that a command line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptSet {
    /// None, as far as the words show.
    None,
    /// These files, relative to the project. Other files named in the line may run too, if they exist.
    Files(Vec<ScriptFile>),
    /// Unknown, with the reason.
    Unknown(String),
}

/// A file that may be run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ScriptFile {
    /// Path relative to the project.
    pub name: String,
    /// True if this file certainly runs, so that it cannot be a folder.
    pub is_certain: bool,
}

/// Variables that decide which other code runs, or where programs and libraries are searched.
#[rustfmt::skip]
const PATH_VARIABLES: &[&str] = &[
    "PATH", "CDPATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "BASH_ENV", "ENV", "PROMPT_COMMAND", "PYTHONSTARTUP",
    "PYTHONHOME", "NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "MAKEFILES",
];
/// Variables that name a program.
#[rustfmt::skip]
const PROGRAM_VARIABLES: &[&str] = &[
    "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "MANPAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "SHELL",
    "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS", "BROWSER", "CC", "CXX", "RUSTC", "RUSTC_WRAPPER",
];

/// Builtins and programs that may change which program a name means.
const RENAMING_BUILTINS: &[&str] = &["alias", "enable", "hash", "pushd", "popd", "chroot", "unshare", "nsenter"];

/// Returns the script files of a command line.
pub fn find_scripts(parsed_line: &ParsedLine) -> ScriptSet {
    if let Some(unclear) = &parsed_line.unclear {
        return ScriptSet::Unknown(unclear.clone());
    }
    let mut search = ScriptSearch { scripts: Vec::new(), unknown_reason: None };
    let (mut runs_scripts, mut has_unknown_cd) = (false, false);
    for (simple, folders) in parsed_line.commands.iter().zip(working_directories(parsed_line)) {
        runs_scripts |= search.scan_command(simple, &folders);
        has_unknown_cd |= simple.program() == Some("cd") && cd_target(simple).is_none();
    }
    if has_unknown_cd && runs_scripts {
        search.mark_unknown("target of cd unknown before it runs");
    }
    match (search.unknown_reason, runs_scripts) {
        (Some(why), _) => ScriptSet::Unknown(why),
        (None, true) => {
            search.scripts.sort();
            search.scripts.dedup();
            ScriptSet::Files(search.scripts)
        }
        (None, false) => ScriptSet::None,
    }
}

struct ScriptSearch {
    scripts: Vec<ScriptFile>,
    unknown_reason: Option<String>,
}

impl ScriptSearch {
    fn mark_unknown(&mut self, why: impl Into<String>) {
        self.unknown_reason.get_or_insert_with(|| why.into());
    }

    fn push_script(&mut self, word: &Word, folders: &[String], is_certain: bool) {
        match word {
            Word::Known(name) | Word::Home(name) => {
                self.scripts
                    .extend(folders.iter().map(|folder| ScriptFile { name: join_path(folder, name), is_certain }));
            }
            Word::Pattern(_) | Word::Unknown(_) => {
                self.mark_unknown(format!("script “{}” unknown before it runs", display_word(word)));
            }
        }
    }

    /// Adds the scripts of one command. Returns whether the command runs any, even if none could be added.
    fn scan_command(&mut self, simple: &SimpleCommand, folders: &[String]) -> bool {
        let previous_count = self.scripts.len();
        let assigned = simple.assignments.iter().map(|(name, value)| (name.as_str(), value.display_text()));
        let program = simple.program().unwrap_or_default();
        let is_export = matches!(program, "export" | "declare" | "typeset" | "local" | "readonly");
        let exported = simple.arguments().iter().filter(|_| is_export).map(Word::display_text);
        let exported = exported.map(|word| word.split_once('=').unwrap_or((word, "")));
        let decides_program = |(name, value): &(&str, &str)| {
            PATH_VARIABLES.contains(name) || (PROGRAM_VARIABLES.contains(name) && value.contains(['/', '$', '`']))
        };
        if let Some((name, _)) = assigned.chain(exported).find(decides_program) {
            self.mark_unknown(format!("{name} decides what runs"));
        }
        if RENAMING_BUILTINS.contains(&program) && !simple.arguments().is_empty() {
            self.mark_unknown(format!("{program} changes which program a name runs"));
        }
        let program_words = simple.wrappers.iter().filter_map(|words| words.first()).chain(simple.words.first());
        for program_word in program_words.filter(|program_word| program_word.display_text().contains('/')) {
            self.push_script(program_word, folders, true);
        }
        if let Some(script) = simple.script.as_ref().filter(|_| !is_module(simple)) {
            self.push_script(script, folders, true);
        }
        if is_interpreter(program) {
            return self.scan_interpreter(simple, folders) || self.scripts.len() > previous_count;
        }
        let has_script_option = grammar::program_named(program).is_some_and(|grammar| {
            let may_name_script = |word: &Word| {
                let options = grammar::possible_options(grammar, word.display_text());
                options.iter().any(|(option, _)| option.value.is_kind(&[ValueKind::ScriptFile]))
            };
            simple.arguments().iter().any(may_name_script)
        });
        // The command that `find -exec` runs has been parsed as a separate command of the line.
        let runs_arguments =
            runs_its_arguments(program) && !matches!(program, "find" | "sed" | "awk" | "gawk" | "mawk" | "nawk");
        if has_script_option || runs_arguments {
            self.push_arguments(simple, folders);
        }
        has_script_option || self.scripts.len() > previous_count
    }

    /// Adds every argument that may name a script: those with a slash, and those that are unknown.
    fn push_arguments(&mut self, simple: &SimpleCommand, folders: &[String]) {
        for word in simple.arguments() {
            let is_no_path = matches!(word, Word::Known(text) if !text.contains('/') || text.starts_with('-'));
            if !is_no_path {
                self.push_script(word, folders, false);
            }
        }
    }

    /// Adds the scripts of an interpreter. Returns whether it may run files: a script, its input, or what inline
    /// code in another language than shell includes.
    fn scan_interpreter(&mut self, simple: &SimpleCommand, folders: &[String]) -> bool {
        let program = simple.program().unwrap_or_default();
        let mut has_input_script = false;
        for redirect in &simple.redirects {
            if let Redirect::Read(word) = redirect {
                self.push_script(word, folders, true);
                has_input_script = true;
            }
        }
        let is_without_code = simple.script.is_none() && simple.inline_code.is_none();
        if is_without_code && !has_input_script && simple.pipelines.iter().any(|(_, stage)| *stage > 0) {
            self.mark_unknown("script read from a pipe");
        }
        // Arguments of a shell after its script are data; options of other interpreters are not known well enough.
        if !is_shell(program) && !matches!(program, "eval" | "source" | ".") {
            let uncertain = simple.arguments().iter().find(|word| !matches!(word, Word::Known(_)));
            if let Some(word) = uncertain.filter(|_| simple.inline_code.is_none()) {
                self.push_script(word, folders, false);
            }
        }
        let has_other_code = simple.inline_code.is_some() && !is_shell(program);
        has_input_script || has_other_code || (simple.script.is_some() && !is_module(simple))
    }
}

/// Returns whether python is given the name of a module. Like `make`, it then runs code of the project, and no single
/// script.
fn is_module(simple: &SimpleCommand) -> bool {
    let is_python = simple.program().is_some_and(|name| name.starts_with("python") || name.starts_with("pypy"));
    is_python && simple.arguments().first().is_some_and(|word| word.known_text() == Some("-m"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::command_line::parse_command_line;

    /// Returns `nothing`, `unknown`, or the names of the scripts; `?` marks those that are not certain.
    fn format_scripts(command: &str) -> String {
        match find_scripts(&parse_command_line(command)) {
            ScriptSet::None => "nothing".to_owned(),
            ScriptSet::Unknown(_) => "unknown".to_owned(),
            ScriptSet::Files(scripts) => {
                let format_script =
                    |script: &ScriptFile| format!("{}{}", script.name, if script.is_certain { "" } else { "?" });
                scripts.iter().map(format_script).collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn r11_finds_scripts_anywhere_in_a_line() {
        for (command, expected) in [
            ("cargo test", "nothing"),
            ("make", "nothing"),
            ("sed -i s/a/b/ x", "nothing"),
            ("python3 -m pytest tests", "nothing"),
            ("bash --version", "nothing"),
            ("cat x.sh", "nothing"),
            ("git commit -m x", "nothing"),
            ("./x.sh", "./x.sh"),
            ("tools/x", "tools/x"),
            ("bash x.sh a b", "x.sh"),
            ("bash -eu x.sh", "x.sh"),
            ("sh -c ./x.sh", "./x.sh"),
            ("bash -c 'bash -c \"./x.sh\"'", "./x.sh"),
            ("source x.sh", "x.sh"),
            (". ./x.sh", "./x.sh"),
            ("python3 tools/y.py", "tools/y.py"),
            ("env A=b python3 y.py", "y.py"),
            ("timeout 5 ./x.sh", "./x.sh"),
            ("cd web && node a.js", "web/a.js"),
            ("cd web; node a.js", "a.js web/a.js"),
            ("(cd web && ./a.sh); ./b.sh", "./b.sh web/./a.sh"),
            ("make && ./x.sh | tee log", "./x.sh"),
            ("sh < x.sh", "x.sh"),
            ("find . -exec ./x.sh ';'", "./x.sh"),
            ("ls | xargs ./x.sh", "./x.sh"),
            // These run a script, but only arguments with a slash are listed.
            ("awk -f x.awk data", ""),
            ("make -fx.mk", ""),
            ("make -kf tools/x.mk", "tools/x.mk?"),
            ("sed -nf tools/x.sed a", "tools/x.sed?"),
            ("gawk -i tools/x.awk 1 a", "tools/x.awk?"),
            ("psql -qf tools/x.sql", "tools/x.sql?"),
            ("bash -oe pipefail x.sh", "x.sh"),
            ("strace ./x.sh", "./x.sh?"),
            (".venv/bin/python x.py", ".venv/bin/python x.py"),
            ("./env ./x.sh", "./env ./x.sh"),
            ("for", "unknown"),
            ("for f in *.sh; do bash $f; done", "unknown"),
            ("bash *.sh", "unknown"),
            ("bash $X", "unknown"),
            ("$X", "unknown"),
            ("python3 y.py $X", "unknown"),
            ("cat x.sh | sh", "unknown"),
            ("find . -name '*.sh' -exec sh {} ';'", "unknown"),
            ("ls | xargs sh", "unknown"),
            ("cd $X && ./x.sh", "unknown"),
            ("cd -P web && ./x.sh", "unknown"),
            ("pushd web && ./x.sh", "unknown"),
            ("PATH=.:/bin x.sh", "unknown"),
            ("export PATH=. ; x.sh", "unknown"),
            ("env PATH=. x.sh", "unknown"),
            ("BASH_ENV=x.sh bash -c true", "unknown"),
            ("LD_PRELOAD=./x.so ls", "unknown"),
            ("PAGER=./x.sh git log", "unknown"),
            ("PAGER=cat git log", "nothing"),
            ("declare -x PATH=.; x.sh", "unknown"),
            ("hash -p ./x.sh ls; ls", "unknown"),
        ] {
            assert_eq!(format_scripts(command), expected, "{command}");
        }
    }
}
