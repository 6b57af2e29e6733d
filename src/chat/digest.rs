//! SHA-256 over exactly what was shown, so that it can be said afterwards over which bytes a call was decided.

use super::{Access, Basis, Plan, Preview, Questions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// A SHA-256 as 64 hexadecimal digits; empty where an older version kept none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

/// What of a plan is hashed: all that its card shows, but for why the person is asked.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The card's heading.
    pub title: &'a str,
    /// The call in a few words.
    pub summary: &'a str,
    /// How far it reaches.
    pub access: &'a Access,
    /// What was shown.
    pub preview: &'a Preview,
    /// What is destroyed, where something is.
    pub destroys: Option<&'a str>,
    /// The files and variables it rests on.
    pub basis: &'a Basis,
}

/// What is hashed of a call that would do something. The order of the fields is part of the form, and so are their
/// names.
#[derive(Serialize)]
struct Act<'a> {
    tool: &'a str,
    arguments: Value,
    title: &'a str,
    summary: &'a str,
    access: &'a Access,
    preview: &'a Preview,
    destroys: Option<&'a str>,
    basis: &'a Basis,
}

/// What is hashed of a call that asks.
#[derive(Serialize)]
struct Ask<'a> {
    tool: &'a str,
    arguments: Value,
    questions: &'a Questions,
}

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::finished(Sha256::new_with_prefix(bytes))
    }

    /// Of a call and what was told of it: of the JSON `{"tool", "arguments", "title", "summary", "access", "preview",
    /// "destroys", "basis"}` in this order and without blanks, each as the session's log has it, the arguments with
    /// their keys sorted.
    pub fn of_act(tool: &str, arguments: &str, told: Told<'_>) -> Self {
        let Told { title, summary, access, preview, destroys, basis } = told;
        let arguments = canonical(arguments);
        Self::of_json(&Act { tool, arguments, title, summary, access, preview, destroys, basis })
    }

    /// Of a call that asks: of the JSON `{"tool", "arguments", "questions"}`, as above.
    pub fn of_questions(tool: &str, arguments: &str, questions: &Questions) -> Self {
        Self::of_json(&Ask { tool, arguments: canonical(arguments), questions })
    }

    /// Of a call and the state that the stage of a dry run is in: of the JSON `[tool, arguments, stage]`, the arguments
    /// with their keys sorted.
    pub fn of_call(tool: &str, arguments: &Value, stage: &Self) -> Self {
        let mut arguments = arguments.clone();
        arguments.sort_all_objects();
        Self::of_json(&(tool, arguments, stage))
    }

    /// The one that is written so: 64 hexadecimal digits, the letters small.
    pub fn read(digits: &str) -> Option<Self> {
        let is_one =
            digits.len() == 64 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_one.then(|| Self(digits.to_owned()))
    }

    /// Whether none was kept.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// All digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first digits: enough to compare by eye.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }

    fn of_json(value: &impl Serialize) -> Self {
        let mut hash = Sha256::new();
        // Nothing in it can fail to be written: its maps have texts for keys, and its paths are written as texts.
        match serde_json::to_writer(&mut hash, value) {
            Ok(()) => Self::finished(hash),
            Err(_) => Self::default(),
        }
    }

    fn finished(hash: Sha256) -> Self {
        Self(format!("{:x}", hash.finalize()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Plan {
    /// What its card shows.
    pub fn told(&self) -> Told<'_> {
        Told {
            title: &self.title,
            summary: &self.summary,
            access: &self.access,
            preview: &self.preview,
            destroys: self.destroys.as_deref(),
            basis: &self.basis,
        }
    }
}

/// The arguments with their keys sorted; as a text where they are no JSON.
fn canonical(arguments: &str) -> Value {
    let mut value = serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()));
    value.sort_all_objects();
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CommandLine, Held, Seen, Work};

    fn plan() -> Plan {
        let line = CommandLine {
            command: "sh x.sh".into(),
            folder: "/p".into(),
            seconds: 30,
            ..CommandLine::default()
        };
        let held = Held::Read { bytes: 3, sha256: Digest::of(b"ls\n") };
        Plan {
            title: "run a command?".into(),
            summary: "sh x.sh".into(),
            access: Access::Run(line.clone().into()),
            preview: Preview::Command(line.clone()),
            always: None,
            destroys: None,
            basis: Basis {
                files: vec![Seen { path: "x.sh".into(), held, becomes: None, grows: false }],
                environment: vec!["HOME".into(), "PATH".into()],
                beyond: None,
                partial: false,
                hard_links: None,
                scripts: super::super::Scripts::Seen,
            },
            work: Work::Command(line),
        }
    }

    fn digest(plan: &Plan) -> Digest {
        Digest::of_act("bash_exec", r#"{"command":"sh x.sh","timeout":30}"#, plan.told())
    }

    #[test]
    fn bytes_have_the_digest_that_every_program_gives_them() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").as_str(), empty);
        assert_eq!(Digest::of(b"").short(), "e3b0c44298fc");
    }

    #[test]
    fn r08_the_digest_is_of_the_bytes_that_the_documented_form_gives() {
        let line = r#"{"command":"sh x.sh","folder":"/p","seconds":30}"#;
        let sha = Digest::of(b"ls\n");
        let form = format!(
            r#"{{"tool":"bash_exec","arguments":{{"command":"sh x.sh","timeout":30}},"title":"run a command?","summary":"sh x.sh","access":{{"reach":"run","of":{line}}},"preview":{{"as":"command","what":{line}}},"destroys":null,"basis":{{"files":[{{"path":"x.sh","held":{{"is":"read","bytes":3,"sha256":"{sha}"}}}}],"environment":["HOME","PATH"],"scripts":{{"are":"seen"}}}}}}"#
        );
        assert_eq!(digest(&plan()), Digest::of(form.as_bytes()));
    }

    #[test]
    fn r08_every_part_that_is_shown_counts_and_the_order_of_keys_does_not() {
        let whole = digest(&plan());
        let other = Digest::of_act("bash_exec", "{ \"timeout\":30, \"command\":\"sh x.sh\" }", plan().told());
        assert_eq!(whole, other);
        let changes: [fn(&mut Plan); 7] = [
            |plan| plan.title.push('!'),
            |plan| plan.summary.push('!'),
            |plan| plan.access = Access::Nothing,
            |plan| plan.preview = Preview::Text("sh x.sh".into()),
            |plan| plan.destroys = Some("all".into()),
            |plan| plan.basis.files[0].held = Held::Nothing,
            |plan| plan.basis.environment.truncate(1),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut changed = plan();
            change(&mut changed);
            assert_ne!(digest(&changed), whole, "change {index}");
        }
        assert_ne!(Digest::of_act("write_file", "{}", plan().told()), whole);
        assert_ne!(Digest::of_act("bash_exec", r#"{"command":"sh x.sh"}"#, plan().told()), whole);
    }
}
