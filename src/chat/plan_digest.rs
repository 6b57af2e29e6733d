//! Digests of plans and questions: proof of what exactly a decision was for.

use super::{Access, Digest, Plan, Preconditions, Preview, Questions};
use serde::Serialize;
use serde_json::Value;

/// Parts of a plan that are hashed: all that its prompt shows, except why the user is asked.
///
/// Order and names of the fields are part of the format of the digest.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DisplayedPlan<'a> {
    /// Title of the prompt.
    pub title: &'a str,
    /// Short description of the call.
    pub summary: &'a str,
    pub access: &'a Access,
    pub preview: &'a Preview,
    /// Things it destroys, if any.
    pub destroys: Option<&'a str>,
    #[serde(rename = "basis")]
    pub preconditions: &'a Preconditions,
}

/// Hashed form of a plan. Order and names of the fields are part of the format.
#[derive(Serialize)]
struct HashedPlan<'a> {
    tool: &'a str,
    arguments: Value,
    #[serde(flatten)]
    displayed: DisplayedPlan<'a>,
}

/// Hashed form of questions.
#[derive(Serialize)]
struct HashedQuestions<'a> {
    tool: &'a str,
    arguments: Value,
    questions: &'a Questions,
}

impl Digest {
    /// Returns the digest of a call and its plan: of the JSON `{"tool", "arguments", "title", "summary", "access",
    /// "preview", "destroys", "basis"}` in this order and without spaces, each as in the session's log, the arguments
    /// with sorted keys.
    pub fn of_plan(tool: &str, arguments: &str, displayed: DisplayedPlan<'_>) -> Self {
        Self::of_json(&HashedPlan { tool, arguments: canonical_arguments(arguments), displayed })
    }

    /// Returns the digest of a call and its questions: of the JSON `{"tool", "arguments", "questions"}` in the
    /// form described at [`Self::of_plan`].
    pub fn of_questions(tool: &str, arguments: &str, questions: &Questions) -> Self {
        Self::of_json(&HashedQuestions { tool, arguments: canonical_arguments(arguments), questions })
    }
}

impl Plan {
    /// Returns the parts that its prompt shows.
    pub fn displayed_plan(&self) -> DisplayedPlan<'_> {
        DisplayedPlan {
            title: &self.title,
            summary: &self.summary,
            access: &self.access,
            preview: &self.preview,
            destroys: self.destroys.as_deref(),
            preconditions: &self.preconditions,
        }
    }
}

/// Parses the arguments and sorts their keys; a string if they are not JSON.
fn canonical_arguments(arguments: &str) -> Value {
    let mut value = serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()));
    value.sort_all_objects();
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CommandLine, FileContent, FileSnapshot, Work};

    fn build_plan() -> Plan {
        let line =
            CommandLine { command: "sh x.sh".into(), folder: "/p".into(), seconds: 30, ..CommandLine::default() };
        let content = FileContent::Bytes { bytes: 3, sha256: Digest::of_bytes(b"ls\n") };
        Plan {
            title: "run a command?".into(),
            summary: "sh x.sh".into(),
            access: Access::Run(line.clone().into()),
            preview: Preview::Command(line.clone()),
            full_preview: None,
            grant: None,
            destroys: None,
            preconditions: Preconditions {
                files: vec![FileSnapshot { path: "x.sh".into(), content, new_sha256: None, may_grow: false }],
                environment: vec!["HOME".into(), "PATH".into()],
                restricted_path: None,
                is_partial: false,
                hard_links: None,
                scripts: super::super::Scripts::Known,
                parts: Vec::new(),
                references: Vec::new(),
            },
            work: Work::Command(line),
        }
    }

    fn digest(plan: &Plan) -> Digest {
        Digest::of_plan("bash_exec", r#"{"command":"sh x.sh","timeout":30}"#, plan.displayed_plan())
    }

    #[test]
    fn the_digest_is_the_standard_sha256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of_bytes(b"").as_str(), empty);
        assert_eq!(Digest::of_bytes(b"").short_hex(), "e3b0c44298fc");
    }

    #[test]
    fn r08_the_digest_is_of_the_documented_form() {
        let line = r#"{"command":"sh x.sh","folder":"/p","seconds":30}"#;
        let sha = Digest::of_bytes(b"ls\n");
        let form = format!(
            r#"{{"tool":"bash_exec","arguments":{{"command":"sh x.sh","timeout":30}},"title":"run a command?","summary":"sh x.sh","access":{{"reach":"run","of":{line}}},"preview":{{"as":"command","what":{line}}},"destroys":null,"basis":{{"files":[{{"path":"x.sh","held":{{"is":"read","bytes":3,"sha256":"{sha}"}}}}],"environment":["HOME","PATH"],"scripts":{{"are":"seen"}}}}}}"#
        );
        assert_eq!(digest(&build_plan()), Digest::of_bytes(form.as_bytes()));
    }

    #[test]
    fn r08_the_digest_depends_on_every_shown_part_but_not_on_the_order_of_keys() {
        let original = digest(&build_plan());
        let reordered =
            Digest::of_plan("bash_exec", "{ \"timeout\":30, \"command\":\"sh x.sh\" }", build_plan().displayed_plan());
        assert_eq!(original, reordered);
        let changes: [fn(&mut Plan); 7] = [
            |plan| plan.title.push('!'),
            |plan| plan.summary.push('!'),
            |plan| plan.access = Access::Nothing,
            |plan| plan.preview = Preview::Text("sh x.sh".into()),
            |plan| plan.destroys = Some("all".into()),
            |plan| plan.preconditions.files[0].content = FileContent::Missing,
            |plan| plan.preconditions.environment.truncate(1),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut changed = build_plan();
            change(&mut changed);
            assert_ne!(digest(&changed), original, "change {index}");
        }
        assert_ne!(Digest::of_plan("write_file", "{}", build_plan().displayed_plan()), original);
        assert_ne!(Digest::of_plan("bash_exec", r#"{"command":"sh x.sh"}"#, build_plan().displayed_plan()), original);
    }
}
