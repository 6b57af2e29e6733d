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
//! - A request is sent again only while nothing of its reply was seen, and asking again runs no call a second time.
//! - Events carry their turn; a late one of a turn that is over changes nothing.
//! - Nothing with an effect starts without a verdict of [`policy::judge`]. In a dry run the effect `Act` is never
//!   made, and the runtime has no way to write the real folder, nor to run a command but on the stage
//!   ([`project::stage`]), which touches nothing real or runs nothing. A hook is run in one only where the person's settings
//!   say so.
//! - A prompt is not opened; it is derived from `agent::State::waiting`. When the agent stops waiting it is gone.
//! - Everything from outside passes `tui::text::clean` (or `reveal`, on cards) before it can reach a cell.
//! - The picture with an empty cache is the same picture. A frame costs what is visible.
//! - No service is connected to before something is said to it, and none is sent a key, a picture or an echo that is
//!   another's.
//! - A command is run by a second process of this program, the guard, that ends whatever the command started as soon
//!   as the program is gone, however it went.
//! - What a command may reach is part of its plan ([`chat::Walls`]): shown, hashed, and raised in the guard before the
//!   command starts, or it does not start ([`project::sandbox`]). It never takes the place of a question.
//!
//! # What a reader would not guess
//!
//! - A [`chat::Plan`] carries its `work` (what `act` needs) beside its preview (what is shown and logged): the log
//!   keeps a difference, not two whole files.
//! - `Entry` has also `Planned` and `Asked`, so that a session read back shows what was shown. They and what follows them
//!   carry a [`chat::Digest`] of the same bytes; [`chat::audit`] reads that back.
//! - A plan has a [`chat::Basis`]: the files and variables it rests on. The [`runtime`] compares it again right before
//!   anything is done.
//! - Reading in a dry run goes through `Tool::rehearse` too, on the stage, so that it sees what was rehearsed.
//! - How a rehearsed result came about stands beside it in its entry ([`chat::Staged`]), and is never told in its text.
//! - What a dry run leaves undone has a result all the same: an example of its tool's, what a model of the person's imagines
//!   ([`runtime`]'s simulator), or a sample of the form that the tool declares ([`tools::Results`]). The entries of the session
//!   are the ledger of these ([`chat::Ledger`]): the same call on the same stage is not made up twice.
//! - What was rehearsed is applied by calls that no model makes ([`agent::Offered`]), in a copy of the session that is for
//!   real: cards, walls, conflicts and the record are those of any call. The tool that does it is offered to nobody.
//! - What a command changed on the stage is kept with its result ([`chat::Staged`]): the card that would run it for real says
//!   which of that is applied already. That a copy is for real from some point on is an entry of its own (`Entry::Became`).
//! - The layer of a dry run has the form of the kernel's overlay ([`project::rehearsal`]): the file tools read and write it
//!   by themselves, and the kernel mounts the same folders for commands. A lock on it keeps the two apart.
//! - What a dry run changes outside the project is in a second overlay, over `/`, in the folder of the first. A file tool's
//!   own writes are noted with their hash: only these are applied, and only what `write_file` wrote is read back unasked.
//! - The first process of a stage is a guard that set the stage from within; the kernel ends what is left there with it.
//! - The overlay sandbox has a root of its own ([`project::stage::View`]): what is put into it is seen, and nothing else of the
//!   disk. Only single trees are cloned, so what else is mounted does not matter, and the old root is unmounted before anything
//!   is started. A masked file has something mounted over it, so it can be neither opened nor moved out of its mask.
//! - A device that is bound into the stage is read-only: it still takes and gives, but its mode and owner, which are the
//!   system's, stay.
//! - Whom a session talks to can change: the [`runtime`] is given another model, and an entry says so. A profile that
//!   is left has sent its words already, so that is done between two turns only; a model's name is for the next request.
//! - A key may come from a program of the person's. It is run by [`project::alone`], without the terminal, when the first
//!   request is about to be sent ([`llm::keyed`]), and its answer is nowhere but in memory.
//! - A talk that outgrows the window is cut at the beginning of a turn; `Entry::Compacted` says where, and
//!   `Session::messages` tells its summary in place of what is before. While the model writes it the agent is
//!   `Phase::Thinking` with another purpose, and the reply that follows has a `TurnId` of its own, so that nothing late
//!   of the summary is taken for it.
//! - A reply that grows is written about once a second, as lines that are no entries ([`chat::Grown`]): whoever reads a session
//!   makes one entry of those whose reply never came to its end, and going on writes it down.
//! - Output of a running command is written in the same way ([`chat::Printed`]); if the program ends first, it is in the
//!   outcome of the call.
//! - What is written and not sent ([`chat::Unsent`]) is written off the event loop about once a second ([`store::Keeper`]), as
//!   one file per session that is replaced as a whole, so that a message is either in the draft or in the queue. A draft of a
//!   session that has no entry yet is locked by its program; once that has ended, the next new session takes it over.
//! - What is handed on ([`assemble`]'s document of a session) is cleaned first, then redacted ([`chat::redact`]), then escaped: in
//!   another order a colour code would hide a key, and a mark a tag.
//! - Every entry is counted once, when it is applied ([`chat::tokens`]); how full the window is costs a subtraction.
//! - The terminal's bytes are read and parsed here (`tui::input`), not by crossterm: a terminal that is gone must end
//!   the program, and the lost end of a paste must not lock the keyboard.
//! - What goes to the terminal is written here too (`tui::canvas`): a row that moved is moved by the terminal, and a reply
//!   costs a tenth of the bytes. So is the reader of code colours (`tui::text::code`): one grammar of the library that
//!   served before took more memory than the whole program may.
//! - A call whose card was brought before its turn keeps the model's order: its yes is kept in the agent, its tool looks
//!   again when its turn comes, and a plan that is another by then is asked about anew. A question that was brought is
//!   answered at once; put off, its card goes aside with what was chosen on it.
//! - Output of a command goes through a terminal parser (`tui::text::output`); only letters and colours come out, these
//!   as roles of the theme or made readable on its ground. The model is told the plain words ([`chat::escape`]).
//! - The terminal is told to leave cells where they are whichever way they are read, so that no text turns a card around;
//!   the transcript puts Hebrew and Arabic in order itself (`tui::text::bidi`).
//! - The bar measures what is far by its words and not by its rows (`extent`), so that nothing is laid out for it.
//! - Between the verdict and the act others may be asked, where the person's settings name them: programs
//!   ([`project::hook`]) and a model ([`runtime`], which shows it nothing that the assistant or a tool said). The agent asks
//!   them one by one with the effect `Consult` and keeps what each said as `Entry::Consulted`, before the `Planned` whose
//!   verdict came of it. They lift no refusal, and whatever goes wrong with them asks.
//! - A command line is read once, by [`policy::shell`]: the policy, the files that are compared and the words on the card
//!   rest on the same reading. The grammar's tree says where a word begins and ends; what stands in it, and that nothing
//!   stands between, is looked at again, because bash and the grammar do not always agree.
//! - Which words of a command are options, values and operands is said in one place, as data ([`policy::grammar`]): what
//!   runs without approval, what a rule covers and what a command destroys are all judged by it.
//! - What runs without approval runs in a sandbox of its own kind ([`project::sandbox`]): Landlock opens a list of paths and nothing
//!   else. The list comes from [`project::sensitive_files`], which keeps what it found between two commands.
//! - What a dry run changed is applied in groups, one prompt each ([`chat::batch`]); the commits of a dry run are one item
//!   (`project::repository`), applied by moving objects first and names of branches last.
//! - A yes that lasts is a `chat::Grant` of the session's log, or a rule of the person's file and nowhere else: what is kept
//!   for a project is read back from that file before every call that is looked at, so another program's rule counts, and
//!   one that was taken out no longer does. What rules and grants cover is one question, asked of `policy::Subject`: an
//!   allow is read as narrowly as it can be (`policy::cover`), a deny as widely.
//! - A rule about a path speaks of what a call names. What a search comes upon below a folder is judged where it is met: its
//!   effect carries the patterns that deny or ask ([`policy::LeftOut`]).
//! - What a project brings along ([`config::brought`]) is data until the person has trusted it by path and content
//!   ([`config::trust`]). Its words are kept beside the standing words in the agent's state, not in the session: whoever goes on
//!   with a session is told what is trusted then. Its card is of no call and comes before every other.
//! - A rules file that cannot be read whole may have denied something, so everything asks until it can ([`config::rules`]).
//! - The walls are raised around one thread of the guard, which starts the command: what it starts is within, and the guard
//!   stays outside, where no signal of the command reaches it.
//! - Landlock's rules only open. To keep something closed in an open place, all that is beside it is named instead.
//! - A sub-agent is the machine of the turn once more, in the pending call that handed it its task
//!   (`agent::Step::Delegated`). Turns are counted by one counter, so an event finds the one it is for without a wrapper;
//!   its entries are kept as `Entry::Beneath` in the one log, and its calls have ids that no other call of the session has.
//!   `agent::State::waiting` shows what has waited longest, whoever asks.
//! - The journal ([`store::journal`]) is for whoever looks for a fault: what the runtime did and when. What may stand in it is
//!   decided in one file (`runtime::noting`), which writes numbers and words of ours; an error has such words beside its own.
//!   Content that a person wants in it stands in quotes, which no note has: so a report of a fault leaves it out again.
//! - A call that the person changed is looked at and judged anew; the session keeps both, and the model is told.
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

#[cfg(test)]
#[path = "../tests/suite/support/folder.rs"]
mod test_folder;
