//! Texts of the tour.

use super::files::{LIBRARY, TEST, find_line};

pub const OPENING: &str = "\
This is the tour: **a script, not a model**. It does not understand what you type, and nothing leaves this machine. \
The tools are real: they run in a small project created for the tour, and calls that change something \
wait for your approval.

The project has a flaky test. I look at it first.
";

pub const BEFORE_QUESTION: &str = "There are three ways to fix it. You decide, and you can add a note to an option.";

pub const OWN_WORDS: &str = "A script cannot understand an answer in your own words, so it uses the first option. \
You can still deny the edit.";

pub const NO_CHOICE: &str = "No clock was chosen, so no file is changed. A question can stay open: aye never chooses \
an answer for you.";

pub const BEFORE_EDIT: &str = "The edit is shown as a diff. It is applied only if you approve it and only if the file \
is unchanged since then.";

pub const BEFORE_CHECK: &str = "Next, the check of the project. It runs a script, so it asks: the prompt shows the \
whole command and what its sandbox allows.";

pub const BEFORE_DELETE: &str = "The old notes are not needed any more. What a command destroys is named in red, and \
only the capital letter approves it. Look at it, or deny it.";

pub const BEFORE_TRIAL: &str = "The next command writes files. If this system has an overlay sandbox, its prompt \
offers `t`, try it first: the command runs in a throwaway copy, you see each file that it creates or changes, and you \
keep these changes or none.";

pub const BEFORE_FORK: &str = "Now a dry run. Type `/fork dry` and send any message: this session continues in a copy \
in which nothing real is changed.";

pub const BEFORE_REHEARSAL: &str = "This is a dry run, so I delete all of the source code.";

pub const AGAIN: &str = "The script was stopped, or you sent a message. It does not understand messages and continues \
where it was.\n\n";

/// Replies to user messages after the end, used in turn.
pub const AFTER: [&str; 4] = [
    "This is a script and cannot answer that. The program is real: try `/help`, or `?` in an empty \
     composer to see the key bindings.",
    "This is still the script. `/fork dry` continues in a dry run, where no real file is changed; `/rehearsal` shows \
     what it would have changed.",
    "This is only a script. Quit and return with `aye --tour --continue`: the session is restored, including the \
     answered question.",
    "This is a script. To use a model, set `OPENAI_API_KEY` or name any server with an OpenAI-compatible API: \
     `aye --base-url http://127.0.0.1:8080/v1 --model NAME`.",
];

pub fn finding_text() -> String {
    let clock = find_line(TEST, "let began");
    let limit = find_line(TEST, "assert!(began");
    let wait = find_line(LIBRARY, "tokio::time::sleep");
    format!(
        "The test measures real time:

```rust
let began = Instant::now();                      // {TEST}:{clock}
// … one wait of 20 ms …
assert!(began.elapsed() < from_millis(25));      // {TEST}:{limit}
```

The wait itself is at {LIBRARY}:{wait}. On a busy machine it takes longer than the test allows:

| machine | wait | test |
|---|--:|---|
| idle | 20.3 ms | passes |
| busy | 31.8 ms | fails |
| asleep for a moment | 2 s | fails |

(The numbers are examples; a script measures nothing. Wide characters stay aligned: 再試行 · 재시도 · 🦀 · 👩‍🔬.)

"
    )
}

/// The end of the tour, in a dry run.
pub fn after_rehearsal(edit_location: Option<(&str, usize)>) -> String {
    let edit_line = edit_location.map(|(path, line)| format!("- the edit: {path}:{line}\n")).unwrap_or_default();
    let test = find_line(TEST, "async fn");
    let library = find_line(LIBRARY, "pub async fn until");
    format!(
        "The source code is still there; open it from here:

{edit_line}- the test: {TEST}:{test}
- the library: {LIBRARY}:{library}

`/rehearsal` shows what the dry run would have changed. `/audit` lists every call of this tour: who decided, when, and \
with which key.

This is the end of the tour. With a real model, start with `/mode auto` if this system can try commands: \
edits run, and a command asks only if its trial was not harmless or if it cannot be tried. To use a model, set \
`OPENAI_API_KEY` or name any server with an OpenAI-compatible API, such as llama.cpp or Ollama on this machine:

```sh
aye --base-url http://127.0.0.1:8080/v1 --model NAME
```
"
    )
}
