//! Everything a key can do, with the words that explain it.

/// Where keys mean something. The innermost scope that knows a key wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Wherever the keyboard is.
    Anywhere,
    /// The composer.
    Composer,
    /// A call of the transcript is selected.
    Transcript,
    /// An approval card.
    Approval,
    /// How wide a yes is kept, on an approval card.
    Keep,
    /// The list of what waits.
    Waits,
    /// A question card.
    Question,
    /// The card of what a project brings along.
    Trust,
    /// A list with a filter, and what completes a word.
    List,
    /// A page that is only read.
    Page,
    /// One line to be written, within a card or a list.
    Line,
    /// Wherever the keyboard is, while a request that failed can be sent again.
    Again,
}

impl Scope {
    /// Every scope, in the order help shows them.
    pub const ALL: [Scope; 12] = [
        Scope::Approval,
        Scope::Keep,
        Scope::Waits,
        Scope::Question,
        Scope::Trust,
        Scope::List,
        Scope::Line,
        Scope::Page,
        Scope::Again,
        Scope::Composer,
        Scope::Transcript,
        Scope::Anywhere,
    ];

    /// The heading of its keys.
    pub fn words(self) -> &'static str {
        match self {
            Scope::Anywhere => "anywhere",
            Scope::Composer => "writing",
            Scope::Transcript => "a selected call",
            Scope::Approval => "an approval card",
            Scope::Keep => "how wide a yes is kept",
            Scope::Waits => "the list of what waits",
            Scope::Question => "a question card",
            Scope::Trust => "the card of what a project brings along",
            Scope::List => "a list",
            Scope::Page => "a page",
            Scope::Line => "a line to write",
            Scope::Again => "a request that failed",
        }
    }
}

macro_rules! actions {
    ($($action:ident $name:literal $help:literal)*) => {
        /// What a key does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        impl Action {
            /// Every action, in the order help shows them.
            pub const ALL: &'static [Action] = &[$(Action::$action),*];

            /// Its name in the settings.
            pub fn name(self) -> &'static str {
                match self { $(Action::$action => $name,)* }
            }

            /// What it does, in a few words for the person.
            pub fn help(self) -> &'static str {
                match self { $(Action::$action => $help,)* }
            }
        }
    };
}

actions! {
    ApproveOnce "approve_once" "yes, this time"
    ApproveDestroying "approve_destroying" "yes, though something is destroyed"
    ApproveAlways "approve_always" "yes, always: how wide, where and how long"
    Trust "trust" "trust it as it is, in this folder"
    Narrower "narrower" "narrower"
    Wider "wider" "wider"
    EditCall "edit_call" "change the arguments"
    Refuse "refuse" "no"
    RefuseBecause "refuse_because" "no, with words for the model"
    Details "details" "the arguments as the model sent them"
    ListWaiting "list_waiting" "the list of what waits"
    SwitchKeyboard "switch_keyboard" "move the keyboard between card and composer"
    NextQuestion "next_question" "next question"
    PreviousQuestion "previous_question" "previous question"
    Note "note" "a note to the option"
    Tick "tick" "tick or untick, where several may be picked"
    TickAll "tick_all" "tick all that can be told no, or none"
    Decline "decline" "decline to answer"
    Accept "accept" "take the row"
    Keep "keep" "take the row and keep it for the next start, where that can be"
    Park "park" "later: nothing is sent, nothing is lost"
    Close "close" "back"
    Up "up" "up"
    Down "down" "down"
    PageUp "page_up" "a page up"
    PageDown "page_down" "a page down"
    ReadUp "read_up" "up in what does not fit: the question, the open row, its preview"
    ReadDown "read_down" "down in what does not fit: the question, the open row, its preview"
    Top "top" "to the beginning"
    Bottom "bottom" "to the end"
    RetryNow "retry_now" "ask again now"
    Send "send" "send"
    BreakLine "break_line" "break the line"
    Left "left" "left"
    Right "right" "right"
    WordLeft "word_left" "a word left"
    WordRight "word_right" "a word right"
    LineStart "line_start" "start of the line"
    LineEnd "line_end" "end of the line"
    DeleteBack "delete_back" "delete the letter before"
    DeleteForward "delete_forward" "delete the letter under the cursor"
    DeleteOrQuit "delete_or_quit" "delete the letter under the cursor; quit where nothing is written"
    DeleteWordBack "delete_word_back" "delete the word before"
    DeleteWordForward "delete_word_forward" "delete the word after"
    DeleteToStart "delete_to_start" "delete to the start of the line"
    DeleteToEnd "delete_to_end" "delete to the end of the line"
    Yank "yank" "bring back what was deleted last"
    Transpose "transpose" "swap two letters"
    Undo "undo" "undo"
    Redo "redo" "redo"
    HistoryUp "history_up" "up a line, or what was said before"
    HistoryDown "history_down" "down a line, or what was said after"
    SearchHistory "search_history" "search what was said before"
    OpenPaste "open_paste" "open a folded paste"
    OpenEditor "open_editor" "write in your editor"
    ChangeMode "change_mode" "change between plan and ask mode"
    TakeBack "take_back" "take back what waits to be sent"
    SelectPrevious "select_previous" "select the call above"
    SelectNext "select_next" "select the call below"
    Toggle "toggle" "open or close what is selected"
    ReadWhole "read_whole" "read all of what is selected"
    ScrollUp "scroll_up" "scroll the transcript up"
    ScrollDown "scroll_down" "scroll the transcript down"
    ScrollTop "scroll_top" "to the beginning of the session"
    ScrollBottom "scroll_bottom" "to the newest"
    PreviousSaid "previous_said" "back to what you said before"
    NextSaid "next_said" "on to what you said next"
    SearchTranscript "search_transcript" "search the transcript"
    OpenLink "open_link" "put a letter on each link"
    Copy "copy" "copy"
    Palette "palette" "every command"
    Sessions "sessions" "sessions"
    Themes "themes" "themes"
    Models "models" "models"
    Connect "connect" "talk to another service: a server found here, or a key to enter"
    BringQuestion "bring_question" "bring back the question that waits"
    DeclineQuestion "decline_question" "decline the question that waits"
    Help "help" "the keys that work now"
    HelpWhenEmpty "help_when_empty" "the keys that work now, where nothing is written"
    Redraw "redraw" "draw the screen anew"
    Suspend "suspend" "suspend the program"
    Stop "stop" "stop the turn; twice where a card is open"
    StopOrQuit "stop_or_quit" "stop the turn; twice quits"
}
