//! aye: the terminal copilot that asks before tool calls run.
//!
//! This page is the map of the code: layers (“floors”), rules that hold everywhere, and facts that are hard to guess.
//!
//! # Design
//!
//! An **Event** is something that happened, an **Entry** a permanent record in the session's log, an **Effect** a
//! request for work outside the state: `update(&mut State, Event) -> Vec<Effect>`. An entry is applied to the state and
//! also sent out as `Effect::AppendEntry`, which is written to the log before any later effect starts.
//!
//! Two state machines are pure: [`agent`] knows the model, the tools and the user, but no screen; [`tui`] contains the
//! agent's state and adds the state of the screen. One [`runtime`] executes the agent's effects for the screen, for
//! [`mod@print`], for editors ([`acp`]) and for tests. A tool call has two steps: `plan_call` can only read, `run` does exactly what was
//! planned, and the [`policy`] gives its verdict between them.
//!
//! # Floors
//!
//! ```text
//!   8   main · commands                   one file per command
//!       cli · assemble                    command line; wiring of model, project, session and frontend
//!   7   tui (screen) · print (headless) · acp (editors)   frontends
//!   6   runtime                           executes effects
//!   5   tools                             one file per tool
//!   4   project · documents · doc_index · llm · web · browser · mcp · store · workspace · config · recording   files and
//!                                         sandboxes; documents, pictures, web pages and the clipboard; search of documents;
//!                                         providers; requests to the web; the browser; MCP servers; session files; files of
//!                                         a workspace; settings; recordings of the screen
//!  ── pure below: no input or output, no clock, no async ──
//!   3   agent                             state machine of a turn
//!   2   policy · demo                     verdicts on calls; demo scripts
//!   1   chat                              data types of a session
//!   0   text · manual                     cleans, redacts, measures and reads text; pages of the manual
//! ```
//!
//! Also pure are state, focus, update, view, parts, prompts, text, keys, graphics, terminal_clipboard and theme of `tui`, except
//! for loading themes, and parts of its demo player, recorder and replay.
//! A table in `tests/suite/floors.rs` lists which floor may use which, and that test enforces it. Read in this order:
//! [`chat`], [`policy`], [`demo`], [`agent`]; [`runtime`], [`tools`], [`project`], [`documents`], [`doc_index`], [`llm`], [`web`], [`browser`],
//! [`mcp`], [`store`], [`workspace`], [`config`], [`recording`]; [`mod@print`], [`acp`], [`tui`]; [`assemble`], which wires them together, and last [`commands`]. [`text`]
//! has helpers for all of them.
//!
//! # Invariants
//!
//! - A session is the fold of its entries; live, resumed or replayed, it changes only by `Session::apply`.
//! - Every call is settled exactly once: stopping a turn and resuming a session settle all open calls and run none.
//! - A request is sent again only if no part of its reply was shown. Events of an ended turn change nothing.
//! - Nothing with an effect starts without a verdict of the policy, except commands that the user types (`!`). In a dry
//!   run `Effect::RunCall` is never created, and the runtime can neither write the real project nor run a command
//!   outside the overlay sandbox. A hook runs in a dry run only if the user's settings allow it.
//! - A prompt is derived from `agent::State::waiting_call`: it disappears when the agent stops waiting.
//! - Text from outside is cleaned by `text::clean`, or marked in prompts, before it reaches a cell.
//! - A frame is the same whether its cache was empty or full, and its cost depends only on the visible part.
//! - No provider is contacted before the first message, and none receives the API key, an image or
//!   the `Echo` (opaque data of a provider's own replies) meant for another one.
//! - A credential of a tool is sent only to the origins it is bound to. It is added to the known secrets before it is
//!   used, and these are removed from the result of every request.
//! - Commands run under a guard: a second process of this program that kills them all when the program ends, however it
//!   ends. A command's sandbox is part of its plan: shown, hashed, and enforced, or the command does not start.
//!
//! # Facts that are hard to guess
//!
//! - A plan has preconditions: the files and variables it depends on. They are compared again just before the call
//!   runs. An approval given early is stored with its plan; when the call's turn comes, the tool plans again, and the
//!   user is asked again if the plan changed. A call edited by the user is planned again, and the model is informed.
//! - References to files in arguments (`@@file:`) are expanded once, before a tool plans: the plan holds the bytes, its
//!   preconditions the names and digests. They are not compared again: the plan runs with these bytes. A prompt may show only their
//!   beginning, and says so; reviewers receive all of them.
//! - Preview, decision and outcome of a call carry a SHA-256 of the same bytes; [`chat::audit`] verifies them.
//! - Dry run: changes go to an overlay in the kernel's overlayfs format. File tools write it directly, commands see it
//!   mounted, and a lock separates the two. A second overlay over `/` holds changes outside the project; only those of
//!   file tools can be applied. Reading also goes through the overlay.
//! - Calls that a dry run cannot run get a simulated result: fixture, model or sample. The same call on the same
//!   overlay gets the same result. Applying a dry run makes calls in a live fork, approved and logged as any others.
//! - Partial replies and partial output are saved about once a second, as separate lines, not as entries. If the
//!   complete reply or outcome was never recorded, the reader of the session builds an entry from them. Drafts are
//!   saved separately, one file per session, rewritten by each save.
//! - `tui` reads and writes the terminal itself: a closed terminal must end the program, an unfinished paste must not
//!   block the keyboard, and scrolling moves rows instead of redrawing, unless pictures are drawn in strips. The terminal is asked not to reorder
//!   bidirectional text; the transcript orders Hebrew and Arabic itself, so no text can rearrange a prompt.
//! - A recording draws each frame again, on a canvas of its own, after its secrets were masked. The bytes for the user's
//!   terminal are never copied. Secrets are searched in whole entries, previews and pages, because a frame may show only the end of one.
//! - A demo runs in a process of its own, with a home folder and an environment of its own. `tui::demo_player` takes the place of the
//!   screen's loop: a script replies instead of a model, and time, also that of `store::clock`, advances only while no work is
//!   pending. The keys of a script approve its calls, so a call that reaches beyond the project needs a `result` in the script.
//!   A process that another command started to play it ends with that one.
//! - With `AYE_COMPLETE` set, `main` answers the completion script of a shell before it parses arguments. It only reads files, and
//!   ignores all errors.
//! - Reviewers (hooks and a model reviewer) are asked between verdict and run. They cannot lift a denial; if one fails,
//!   the user is asked. The model reviewer sees no reply and no tool result, except in the arguments of the call and the
//!   files that these reference.
//! - A command line is parsed once, and verdict, preconditions and preview use that parse. One table describes the
//!   options of known programs. Commands approved by the policy run in a read-only sandbox; Landlock rules can only
//!   permit, so excluding one file means permitting all its siblings.
//! - A command line that rules or grants allow only part by part runs pipeline by pipeline: what reads in the read-only
//!   sandbox, and each after its paths, scripts and repository were compared with those that were judged. What the user
//!   approves at a prompt runs in one shell.
//! - An approval that lasts is a grant in the session's log or a rule in the user's file, which is read again before
//!   each call. Allow rules match as narrowly as possible, deny rules as widely. While a rules file is unreadable,
//!   every call needs approval.
//! - A project's own instructions, with the files that they import, its rules, tools, MCP servers, custom commands and skills are ignored until
//!   the user trusts them by path and content.
//! - The instructions of a folder below the project come with the result of the first `read_file` there. Whether they were sent is derived
//!   from the results that the next request contains, so a summary brings them back.
//! - A custom command is expanded by the screen before its message is sent. Its files are read when `/` is typed, and again when an
//!   unknown command is sent; only an Enter sends a draft, also one that waits for the files.
//! - The list of skills is a section of the system prompt that the tool `load_skill` brings with its spec, so both come and go together.
//!   The tool holds the digest of the trusted file and compares it with what it reads.
//! - The index of documents contains exactly those that the current call may read: each search walks the sources, compares them with
//!   the rules and removes the others. Only files whose length or time changed are read again.
//! - A file tool and a kept trial record each change, with the content before it, before they make it: they have no
//!   other way to write. Of a live command the state before and after it is recorded, with what git has stored. An undo,
//!   and a copy of a workspace file into the project, is a call that no model makes, prompted and recorded like any other.
//! - A workspace has contents, which never change but may be removed, and an index in two files with the same lines.
//!   Writers append under a lock; readers need none, and if the files differ, the lines of both count. A dry run has a
//!   workspace of its own, in which its calls run. Another program opens a copy of a file; what it saves there becomes the next
//!   version, whichever program of aye finds it first.
//! - A background command is a call that is settled while its process goes on; its end is an entry of its own.
//! - Documents, pictures and web pages are read by a program of their own, `aye-reader`, with limits of time and memory. It has no
//!   sandbox, so it runs only if it is what it was when aye started.
//! - A picture is decoded only in that program. The header of a file is checked before. What a model
//!   receives is scaled, and prepared once per content.
//! - After a web page was read, the next call of the turn that goes out asks, whatever allows it.
//! - The browser reaches nothing but the proxy of this program, which resolves and checks every name, unless the environment
//!   names a proxy that resolves it. Chromium is driven by a pipe. Firefox has only a port for that, so it runs in a network
//!   namespace of its own. A document of another host becomes the page only by a call of its own. An action in a frame of another host must be allowed for both hosts. An action
//!   with a target or a key is planned for a document, its path and, with a reference, its element; these are compared before
//!   the action.
//! - A tool of a file renders its whole request when it is planned, without the credential, which is added when it runs. A
//!   command of a file is planned and run by `bash_exec`, under the name of the tool.
//! - The end of the conversation and a transfer are calls whose work the agent does: it ends the turn, or refuses while something
//!   waits. A switch to another profile is done by the frontend, as one that the user chose.
//! - A prompt of a tool goes to the provider of the session like a reply, and to another one like an external call. Its usage is
//!   recorded with the outcome of its call.
//! - The searches are tool files that come with the program; the settings choose one, and it is offered once it has its credential.
//! - Above a limit of tokens the tools of files and MCP servers are deferred. A call of `run_tool` becomes the call inside it
//!   when the reply is complete, so verdict, prompt and record are those of a direct call; a request shows it as `run_tool`.
//! - The program contains no tokenizer. `budgets.toml` has the measured tokens of the system prompt and the built-in tools, which
//!   tests compare with real tokenizers; a text that differs from the measured one, also because of a setting, is
//!   estimated.
//! - A form of an MCP server is shown only while one of its calls runs. The answers go to the server, not to the model. A request for
//!   the model is no call: the user decides before it is sent and before the server gets the answer, and no rule can. The screen records each
//!   decision before the host acts on it.
//! - A connection to an MCP server may have no handshake. The server then asks by its answer to a call, which is repeated with the
//!   user's answers.
//! - A call of another program (`aye serve --mcp`) is a turn without a model. What would ask is denied, as in every headless session; the
//!   client answers questions only.
//! - A session of an editor (`aye serve --acp`) has ordinary turns. Each request for a permission stores the plan that it shows, and an
//!   answer is compared with the plan that waits then. Whatever is not one of the offered approvals denies.
//! - A sub-agent is the same turn machine inside the pending call that started it; its entries are in the same log.

pub mod acp;
pub mod agent;
pub mod assemble;
pub mod browser;
pub mod chat;
pub mod cli;
pub mod commands;
pub mod config;
pub mod demo;
pub mod doc_index;
pub mod documents;
pub mod llm;
pub mod manual;
pub mod mcp;
pub mod policy;
pub mod print;
pub mod project;
pub mod recording;
pub mod runtime;
pub mod store;
pub mod text;
pub mod tools;
pub mod tui;
pub mod web;
pub mod workspace;

#[cfg(test)]
extern crate self as aye;
#[cfg(test)]
#[path = "../tests/suite/support/scripted.rs"]
mod scripted;
#[cfg(test)]
#[path = "../tests/suite/support/folder.rs"]
mod test_folder;
