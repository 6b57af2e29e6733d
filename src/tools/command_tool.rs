//! Tool of a file that runs a command: its words are quoted for the shell, and everything else is that of `bash_exec`.

use super::bash_exec::BashExec;
use super::tool_file::parameters::check_arguments;
use super::tool_file::presets::apply_presets;
use super::tool_file::{CommandDefinition, ToolHead, project_values};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, ResultKind, Tool, ToolSettings, TrialContext};
use crate::chat::{Intent, Plan, ToolSpec, TrialReport};
use crate::project::Reader;
use crate::project::trial::Trial;
use async_trait::async_trait;
use serde_json::{Value, json};
use std::path::Path;

/// Runs a command that a file defines.
pub struct CommandTool {
    head: ToolHead,
    command: CommandDefinition,
    bash: BashExec,
}

impl CommandTool {
    pub fn new(head: ToolHead, command: CommandDefinition, settings: ToolSettings) -> Self {
        Self { head, command, bash: BashExec::new(settings) }
    }

    /// Returns the command line for these arguments: each word of the file is one word for the shell.
    fn command_line(&self, arguments: &Value, project: &Path) -> Result<String, Error> {
        let mut arguments = check_arguments(&self.tool_spec(), &self.head.parameters, arguments)?;
        let mut values = project_values(project);
        apply_presets(&self.head.presets, &values, &mut arguments)?;
        for (name, value) in arguments {
            values.insert(&name, value);
        }
        let words: Result<Vec<String>, Error> =
            self.command.argv.iter().map(|word| quote_word(&word.render(&values))).collect();
        let line = words?.join(" ");
        Ok(match self.command.folder.as_deref().and_then(Path::to_str) {
            Some(folder) => format!("cd {} && {line}", quote_word(folder)?),
            None => line,
        })
    }
}

/// Quotes a text so that a shell takes it for one word without any meaning.
fn quote_word(word: &str) -> Result<String, Error> {
    if word.contains('\0') {
        return Err(Error::Arguments("An argument contains a NUL character.".to_owned()));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&byte);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => Ok(word.to_owned()),
        false => Ok(format!("'{}'", word.replace('\'', "'\\''"))),
    }
}

#[async_trait]
impl Tool for CommandTool {
    fn tool_spec(&self) -> ToolSpec {
        self.head.tool_spec()
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let mut call = json!({ "command": self.command_line(arguments, files.root())? });
        if let Some(seconds) = self.command.seconds {
            call["timeout"] = json!(seconds);
        }
        if let Some(reason) = &self.command.network {
            call["network"] = json!(reason);
        }
        let mut intent = self.bash.plan_call(&call, files)?;
        if let Intent::Act(plan) = &mut intent
            && let Some(grant) = &mut plan.grant
        {
            grant.tool.clone_from(&self.head.function_name);
        }
        Ok(intent)
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.bash.run(plan, context).await
    }

    async fn try_run(&self, plan: &Plan, context: &TrialContext) -> Result<(Trial, TrialReport), Error> {
        self.bash.try_run(plan, context).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        match &self.head.example {
            Some(_) => Ok(RehearsalOutcome::Simulate("The tool has an example of its result.".to_owned())),
            None => self.bash.rehearse(plan, context).await,
        }
    }

    fn result_kind(&self, plan: &Plan) -> ResultKind {
        match &self.head.example {
            Some(example) => ResultKind::Example(example.clone()),
            None => self.bash.result_kind(plan),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Preview;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::plan_call;
    use crate::tools::tool_file::{ToolKind, parse_tool};
    use proptest::prelude::*;

    fn tool(argv: &[&str], lines: &str) -> CommandTool {
        let argv = json!(argv);
        let text = format!(
            "name = \"query\"\ntype = \"command\"\nargv = {argv}\n{lines}\n[[parameters]]\nname = \"text\"\ntype = \"string\"\n"
        );
        let parsed = parse_tool("query.toml", &text);
        let definition = parsed.definition.unwrap_or_else(|| panic!("{:?}", parsed.problems));
        let ToolKind::Command(command) = definition.kind else { panic!("a command") };
        CommandTool::new(definition.head, command, ToolSettings::default())
    }

    fn plan(tool: &CommandTool, text: &str) -> Plan {
        plan_call(tool, json!({ "text": text }), &MemoryProject::with_files(&[])).unwrap()
    }

    #[test]
    fn a_call_is_planned_as_the_command_it_runs() {
        let query =
            tool(&["psql", "-c", "{{text}}"], "folder = \"db dev\"\ntimeout_ms = 2500\nnetwork = \"the database\"");
        let plan = plan(&query, "select 'a'; drop table b");
        let Preview::Command(line) = &plan.preview else { panic!("{plan:?}") };
        assert_eq!(line.command, r"cd 'db dev' && psql -c 'select '\''a'\''; drop table b'");
        assert_eq!((line.seconds, line.network.as_deref()), (3, Some("the database")));
        assert!(plan.grant.is_none_or(|grant| grant.tool == "query"));
        let error = plan_call(&query, json!({ "text": "a", "x": 1 }), &MemoryProject::with_files(&[])).unwrap_err();
        assert!(error.to_string().contains("no argument “x”"), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Each word of the file reaches the program as one argument, whatever an argument of the call contains.
        #[test]
        fn r12_a_value_stays_one_word(text in "(\\PC|[-'\"$`\\\\!*?~#&|;<>(){}\\[\\]=^ \n\t\r]){0,24}") {
            let echo = tool(&["printf", "%s\\037", "{{text}}", "a{{text}}b", "-{{text}}"], "");
            let Preview::Command(line) = plan(&echo, &text).preview else { panic!("a command") };
            for shell in ["sh", "bash"] {
                let output = std::process::Command::new(shell).arg("-c").arg(&line.command).output().unwrap();
                prop_assert!(output.status.success(), "{:?}", output);
                let words: Vec<String> =
                    String::from_utf8(output.stdout).unwrap().split_terminator('\u{1f}').map(str::to_owned).collect();
                // A blank value is no value.
                let value = if text.trim().is_empty() { "" } else { &text };
                prop_assert_eq!(words, vec![value.to_owned(), format!("a{value}b"), format!("-{value}")]);
            }
        }
    }
}
