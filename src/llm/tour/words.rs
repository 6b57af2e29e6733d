//! What the tour says.

use super::files::{LIBRARY, TEST, line_of};

pub const OPENING: &str = "\
This is the tour: **a script, not a model**. It understands nothing you type, and nothing leaves this machine. \
The tools are real, though: they work in a small project made for the tour, and whatever changes something there \
waits for your key.

The project has a test that fails now and then. Let me look at it, with two reads at once.
";

pub const BEFORE_QUESTION: &str = "What can be done about it is for you to decide.";

pub const OWN_WORDS: &str = "A script cannot follow words of your own, so this is the first option instead. \
You can still say no to it.";

pub const NO_CHOICE: &str = "No clock was chosen, so no file is changed. A question can wait: nothing is ever taken \
for an answer that you did not give.";

pub const BEFORE_EDIT: &str = "The change comes as a diff. It is made only if you say yes, and only if the file is \
still what the diff was made from.";

pub const BEFORE_COMMAND: &str =
    "Last, a command. It is shown whole before it runs, and this one only looks.";

pub const AGAIN: &str = "The script was stopped, or you said something in between. It cannot understand it; it goes \
on where it was.\n\n";

/// Each is said once, in turn, to whatever comes after the end.
pub const AFTER: [&str; 4] = [
    "This is a script and has no answer to that. But the program around it is real; try `/help`, or `?` in an empty \
     composer: it shows every key that works now.",
    "Still the script. Start with `aye --tour --dry-run` and say yes to everything: the edit and the command are \
     rehearsed, later reads see the rehearsed files, and nothing real is touched.",
    "Only a script. Leave, and come back with `aye --continue`: the session is as it was, the answered question \
     among the rest.",
    "A script to the end. For a model, set `OPENAI_API_KEY`, or name any server that speaks the same way: \
     `aye --base-url http://127.0.0.1:8080/v1 --model NAME`.",
];

pub fn finding() -> String {
    let clock = line_of(TEST, "let began");
    let limit = line_of(TEST, "assert!(began");
    let wait = line_of(LIBRARY, "tokio::time::sleep");
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

(The figures are made up; a script measures nothing. Wide letters keep their columns all the same: 再試行 · 재시도 · 🦀 · 👩‍🔬.)

"
    )
}

pub fn closing(changed: Option<(&str, usize)>) -> String {
    let place = match changed {
        Some((path, line)) => format!("- the place of the change: {path}:{line}\n"),
        None => String::new(),
    };
    let test = line_of(TEST, "async fn");
    let library = line_of(LIBRARY, "pub async fn until");
    format!(
        "That was the tour. The places it spoke of can be opened from here:

{place}- the test: {TEST}:{test}
- the library: {LIBRARY}:{library}

To talk to a real model, set `OPENAI_API_KEY`, or name any server that speaks the same way, such as llama.cpp or \
Ollama on this machine:

```sh
aye --base-url http://127.0.0.1:8080/v1 --model NAME
```
"
    )
}
