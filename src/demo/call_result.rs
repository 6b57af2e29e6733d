//! Classifies results of tool calls by the text the model receives.

use serde_json::Value;

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallResult<'a> {
    /// The user or the policy denied the call.
    Denied,
    /// The call was rehearsed in a dry run.
    Rehearsed,
    /// The call was stopped or never started.
    Stopped,
    /// Output of the tool, successful or not.
    Output(&'a str),
}

/// Classifies a result by its text, as this and earlier versions write it.
pub fn classify_result(text: &str) -> CallResult<'_> {
    let start: String = text.chars().take(400).collect::<String>().to_lowercase();
    let contains_any = |phrases: &[&str]| phrases.iter().any(|phrase| start.contains(phrase));
    if contains_any(&["said no", "nobody was there", "the user denied", "the user rejected"])
        || start.starts_with("refused")
        || start.starts_with("denied")
    {
        CallResult::Denied
    } else if contains_any(&["dry run", "rehears"]) {
        CallResult::Rehearsed
    } else if start.starts_with("not done")
        || start.starts_with("not run")
        || contains_any(&[
            "person stopped it",
            "user stopped",
            "stopped by the user",
            "user interrupted",
            "the program ended",
            "the program exited",
        ])
    {
        CallResult::Stopped
    } else {
        CallResult::Output(text)
    }
}

/// Returns the answer to the first answered question, from the result of the call; `None` if none was answered.
pub fn find_answer(text: &str) -> Option<String> {
    let result = serde_json::from_str::<Value>(text).ok()?;
    let answers = result.get("answers")?.as_array()?;
    let answer = answers.iter().find_map(|answer| answer.get("answer")?.as_str())?;
    (!answer.trim().is_empty()).then(|| answer.to_owned())
}

/// Returns the first note that the user added to an option, from the result of the question.
pub fn find_note(text: &str) -> Option<String> {
    let result = serde_json::from_str::<Value>(text).ok()?;
    let answers = result.get("answers")?.as_array()?;
    answers.iter().find_map(|answer| {
        let note = answer.get("note").and_then(Value::as_str);
        let notes = answer.get("notes").and_then(Value::as_array);
        let option_note = notes.and_then(|notes| notes.iter().find_map(|note| note.get("note")?.as_str()));
        note.or(option_note).filter(|note| !note.trim().is_empty()).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_the_program_are_classified() {
        let check = |text: &str, expected: CallResult<'_>| assert_eq!(classify_result(text), expected, "{text}");
        check("The user denied this call. It was not run.", CallResult::Denied);
        check("The user denied this call: not now", CallResult::Denied);
        check("Denied: no interactive user is available to approve this call.", CallResult::Denied);
        check("Refused: plan mode allows only reading inside the project.", CallResult::Denied);
        check("The person said no. Nothing was done.", CallResult::Denied);
        check("Dry run: this was not done.", CallResult::Rehearsed);
        check("Not run: the user stopped the turn before this call started.", CallResult::Stopped);
        check("The user interrupted this call. Changes it had made remain.", CallResult::Stopped);
        check("The program exited while this call ran. Its outcome is unknown.", CallResult::Stopped);
        check("Not done: the person stopped the turn before it began.", CallResult::Stopped);
        check("Changed tests/retry.rs.", CallResult::Output("Changed tests/retry.rs."));
    }

    #[test]
    fn answers_are_parsed_and_a_missing_one_is_none() {
        let answer = |answer: &str| {
            format!(
                r#"{{"type":"question_answers","status":"answered","answers":[{{"keyword":"clock","answer":{answer}}}]}}"#
            )
        };
        let check = |text: &str, expected: Option<&str>| assert_eq!(find_answer(text).as_deref(), expected, "{text}");
        check(&answer(r#""b""#), Some("b"));
        check(&answer(r#"" ""#), None);
        check(&answer("null"), None);
        check(r#"{"type":"question_answers","status":"declined","answers":[]}"#, None);
        check("The person said no.", None);
    }
}
