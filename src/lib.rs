//! aye: the terminal copilot that asks first.
//!
//! This page is the map. It says what each floor is for, what it never does, and in which order to read.
//!
//! # The idea
//!
//! Three words for three kinds of thing. An **Event** is what happened. An **Entry** is a fact kept forever. An
//! **Effect** is what is wanted done outside. `update(&mut State, Event) -> Vec<Effect>`; an entry is both applied to
//! the state and sent out as `Effect::Append`, and is on its way to the disk before anything behind it starts.
//!
//! Two pure state machines, one inside the other: [`agent`] knows model, tools and person, and no screen; [`tui`] holds
//! the agent's state as a field and adds what only a screen needs. One [`runtime`] does the agent's effects for the
//! screen, for [`mod@print`] and for tests. A tool tells before it does: `plan` looks and is given nothing that can write,
//! `act` does exactly what was planned, and between them stands the [`policy`].
//!
//! # The floors
//!
//! ```text
//!             ┌──────────────────────────────────────────────────────────┐
//!   7         │ main · cli · assemble          the program put together  │
//!             ├─────────────────────────────┬────────────────────────────┤
//!   6         │ tui  a screen               │ print  no screen           │
//!             ├─────────────────────────────┴────────────────────────────┤
//!   5         │ runtime        does what the agent wants done            │
//!             ├──────────────────────────────────────────────────────────┤
//!   4         │ tools          one file per tool                         │
//!             ├──────────────┬──────────────┬──────────────┬─────────────┤
//!   3         │ project      │ llm          │ store        │ config      │
//!             ├──────────────┴──────────────┴──────────────┴─────────────┤
//! ══ pure ═══ ╞══════════════════════════════════════════════════════════╡
//!   2         │ agent          the turn machine                          │
//!             ├──────────────────────────────────────────────────────────┤
//!   1         │ policy         may this go ahead?                        │
//!             ├──────────────────────────────────────────────────────────┤
//!   0         │ chat           the words                                 │
//!             └──────────────────────────────────────────────────────────┘
//! ```
//!
//! Pure means: no input or output, no clock, no async. Also pure, though they live in `tui`: state, focus, update,
//! view, parts, text, keys and theme (but for loading). Who may name whom is a table in `tests/suite/floors.rs`, and
//! that test holds it.
//!
//! # What holds everywhere
//!
//! - A session is its entries: live, resumed or replayed, it changes by `Session::apply` alone.
//! - Every call is settled exactly once, so every request is well formed. Stopping settles what is open; so does
//!   resuming, which never runs anything again.
//! - Events carry their turn; a late one of a turn that is over changes nothing.
//! - Nothing with an effect starts without a verdict of [`policy::judge`]. In a dry run the effect `Act` is never
//!   made, and the runtime has no way to run a command or to write the real folder.
//! - A prompt is not opened; it is derived from `agent::State::waiting`. When the agent stops waiting it is gone.
//! - Everything from outside passes `tui::text::clean` (or `reveal`, on cards) before it can reach a cell.
//! - The picture with an empty cache is the same picture. A frame costs what is visible.
//! - A command is run by a second process of this program, the guard, that ends whatever the command started as soon
//!   as the program is gone, however it went.
//!
//! # What a reader would not guess
//!
//! - A [`chat::Plan`] carries its `work` (what `act` needs) beside its preview (what is shown and logged): the log
//!   keeps a difference, not two whole files.
//! - `Entry` has also `Planned` and `Asked`, so that a session read back shows what was shown.
//! - Reading in a dry run goes through `Tool::rehearse` too, on the stage, so that it sees what was rehearsed.
//! - The terminal's bytes are read and parsed here (`tui::input`), not by crossterm: a terminal that is gone must end
//!   the program, and the lost end of a paste must not lock the keyboard.
//!
//! # In reading order
//!
//! [`chat`], [`policy`], [`agent`]; then [`runtime`] with [`tools`] and what they stand on, [`project`], [`llm`],
//! [`store`], [`config`]; then the frontends, [`mod@print`] and [`tui`]; and last [`assemble`], the only floor that names
//! every adapter.

pub mod agent;
pub mod assemble;
pub mod chat;
pub mod cli;
pub mod config;
pub mod llm;
pub mod policy;
pub mod print;
pub mod project;
pub mod runtime;
pub mod store;
pub mod tools;
pub mod tui;
