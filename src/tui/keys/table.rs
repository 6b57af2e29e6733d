//! Scopes and actions of keys: names in the settings, labels in key help, default keys.

macro_rules! scopes {
    ($($(#[$doc:meta])* $scope:ident $heading:literal)*) => {
        /// Context of a key binding. The innermost scope that binds a key wins.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Scope {
            $($(#[$doc])* $scope,)*
        }

        impl Scope {
            /// All scopes, in the order of key help.
            pub const ALL: &'static [Scope] = &[$(Scope::$scope),*];

            /// Returns the heading of the scope in key help.
            pub fn heading(self) -> &'static str {
                match self { $(Scope::$scope => $heading,)* }
            }
        }
    };
}

scopes! {
    /// In an approval prompt.
    Approval "Approval prompt"
    /// Choosing the scope of a grant in an approval prompt.
    GrantScope "Scope of a grant"
    /// In the queue.
    Queue "Queue"
    /// In a question prompt.
    Question "Question prompt"
    /// In the trust prompt.
    Trust "Trust prompt"
    /// In a list with a filter, or in word completion.
    List "List"
    /// In a text field of a prompt or list.
    TextField "Text field"
    /// On a page of text.
    Page "Page"
    /// Always, while a failed request can be sent again.
    FailedRequest "Failed request"
    /// In the composer.
    Composer "Composer"
    /// A call of the transcript is selected.
    Transcript "Selected call"
    /// Always.
    Anywhere "Anywhere"
}

macro_rules! actions {
    ($($action:ident $name:literal $help:literal)*) => {
        /// Action of a key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        impl Action {
            /// All actions, in the order of key help.
            pub const ALL: &'static [Action] = &[$(Action::$action),*];

            /// Returns the action's name in the settings.
            pub fn name(self) -> &'static str {
                match self { $(Action::$action => $name,)* }
            }

            /// Returns the label for key help: at most 40 characters.
            pub fn help(self) -> &'static str {
                match self { $(Action::$action => $help,)* }
            }
        }
    };
}

actions! {
    ApproveOnce "approve_once" "Approve once"
    ApproveDestructive "approve_destructive" "Approve destructive action"
    ApproveAlways "approve_always" "Approve always: choose the scope"
    Trust "trust" "Trust these project files"
    NarrowScope "narrow_scope" "Narrow the scope"
    WidenScope "widen_scope" "Widen the scope"
    EditCall "edit_call" "Edit arguments"
    Deny "deny" "Deny"
    DenyWithMessage "deny_with_message" "Deny with a message"
    Details "details" "Show raw arguments"
    OpenQueue "open_queue" "Open the queue"
    SwitchFocus "switch_focus" "Switch between prompt and composer"
    NextQuestion "next_question" "Next question"
    PreviousQuestion "previous_question" "Previous question"
    Note "note" "Add a note to the option"
    Select "select" "Select or deselect"
    SelectAll "select_all" "Select all deniable calls, or none"
    Decline "decline" "Decline to answer"
    Accept "accept" "Accept"
    AcceptAndSave "accept_and_save" "Accept and save as default"
    AnswerLater "answer_later" "Answer later"
    Close "close" "Close"
    Up "up" "Up"
    Down "down" "Down"
    PageUp "page_up" "Page up"
    PageDown "page_down" "Page down"
    ScrollTextUp "scroll_text_up" "Scroll long text up"
    ScrollTextDown "scroll_text_down" "Scroll long text down"
    Top "top" "Go to start"
    Bottom "bottom" "Go to end"
    RetryNow "retry_now" "Retry now"
    Send "send" "Send message"
    InsertLineBreak "insert_line_break" "Insert line break"
    Left "left" "Left"
    Right "right" "Right"
    WordLeft "word_left" "Word left"
    WordRight "word_right" "Word right"
    LineStart "line_start" "Start of line"
    LineEnd "line_end" "End of line"
    DeleteBack "delete_back" "Delete previous character"
    DeleteForward "delete_forward" "Delete next character"
    DeleteOrQuit "delete_or_quit" "Delete next character, or quit if empty"
    DeleteWordBack "delete_word_back" "Delete previous word"
    DeleteWordForward "delete_word_forward" "Delete next word"
    DeleteToStart "delete_to_start" "Delete to start of line"
    DeleteToEnd "delete_to_end" "Delete to end of line"
    Yank "yank" "Insert last deleted text"
    Transpose "transpose" "Swap two characters"
    Undo "undo" "Undo"
    Redo "redo" "Redo"
    HistoryUp "history_up" "Line up, or previous message"
    HistoryDown "history_down" "Line down, or next message"
    SearchHistory "search_history" "Search message history"
    OpenPaste "open_paste" "Expand folded paste"
    OpenEditor "open_editor" "Edit in external editor"
    ChangeMode "change_mode" "Switch between plan and ask mode"
    EditQueued "edit_queued" "Edit queued message"
    SelectPrevious "select_previous" "Select previous call"
    SelectNext "select_next" "Select next call"
    Toggle "toggle" "Expand or collapse"
    OpenFull "open_full" "Open in full"
    ScrollUp "scroll_up" "Scroll up"
    ScrollDown "scroll_down" "Scroll down"
    ScrollTop "scroll_top" "Scroll to start"
    ScrollBottom "scroll_bottom" "Scroll to end"
    PreviousMessage "previous_message" "Go to previous user message"
    NextMessage "next_message" "Go to next user message"
    SearchTranscript "search_transcript" "Search transcript"
    OpenLink "open_link" "Open a link"
    Copy "copy" "Copy reply, code block or output"
    Palette "palette" "Command palette"
    Sessions "sessions" "Continue another session"
    Themes "themes" "Choose theme"
    Models "models" "Choose model"
    Connect "connect" "Switch provider"
    OpenQuestion "open_question" "Open waiting question"
    DeclineQuestion "decline_question" "Decline waiting question"
    Help "help" "Key help"
    HelpWhenEmpty "help_when_empty" "Key help, if the composer is empty"
    Redraw "redraw" "Redraw screen"
    Suspend "suspend" "Suspend aye"
    Stop "stop" "Stop turn; twice if a prompt is open"
    StopOrQuit "stop_or_quit" "Stop turn; twice to quit"
}

/// Default keys, one row per scope and action.
pub const DEFAULTS: &[(Scope, Action, &[&str])] = &[
    (Scope::Approval, Action::ApproveOnce, &["y"]),
    (Scope::Approval, Action::ApproveDestructive, &["Y"]),
    (Scope::Approval, Action::ApproveAlways, &["a"]),
    (Scope::Approval, Action::EditCall, &["e"]),
    (Scope::Approval, Action::Deny, &["n"]),
    (Scope::Approval, Action::DenyWithMessage, &["m"]),
    (Scope::Approval, Action::Details, &["d"]),
    (Scope::Approval, Action::OpenQueue, &["l"]),
    (Scope::Approval, Action::Select, &["space"]),
    (Scope::Approval, Action::SelectAll, &["t"]),
    (Scope::Approval, Action::SwitchFocus, &["tab"]),
    (Scope::Approval, Action::Up, &["up"]),
    (Scope::Approval, Action::Down, &["down"]),
    (Scope::Approval, Action::PageUp, &["page-up"]),
    (Scope::Approval, Action::PageDown, &["page-down"]),
    (Scope::Approval, Action::Top, &["home"]),
    (Scope::Approval, Action::Bottom, &["end"]),
    (Scope::Approval, Action::Close, &["esc"]),
    (Scope::GrantScope, Action::Accept, &["enter"]),
    (Scope::GrantScope, Action::NarrowScope, &["left"]),
    (Scope::GrantScope, Action::WidenScope, &["right"]),
    (Scope::GrantScope, Action::Up, &["up", "shift-tab"]),
    (Scope::GrantScope, Action::Down, &["down", "tab"]),
    (Scope::GrantScope, Action::PageUp, &["page-up"]),
    (Scope::GrantScope, Action::PageDown, &["page-down"]),
    (Scope::GrantScope, Action::Bottom, &["end"]),
    (Scope::GrantScope, Action::Deny, &["n"]),
    (Scope::GrantScope, Action::Close, &["esc"]),
    (Scope::Queue, Action::Accept, &["enter"]),
    (Scope::Queue, Action::Select, &["space"]),
    (Scope::Queue, Action::SelectAll, &["t"]),
    (Scope::Queue, Action::Deny, &["n"]),
    (Scope::Queue, Action::DenyWithMessage, &["m"]),
    (Scope::Queue, Action::Up, &["up"]),
    (Scope::Queue, Action::Down, &["down"]),
    (Scope::Queue, Action::PageUp, &["page-up"]),
    (Scope::Queue, Action::PageDown, &["page-down"]),
    (Scope::Queue, Action::Top, &["home"]),
    (Scope::Queue, Action::Bottom, &["end"]),
    (Scope::Queue, Action::Close, &["esc", "l"]),
    (Scope::Question, Action::Accept, &["enter"]),
    (Scope::Question, Action::Select, &["space"]),
    (Scope::Question, Action::Note, &["n"]),
    (Scope::Question, Action::NextQuestion, &["tab"]),
    (Scope::Question, Action::PreviousQuestion, &["shift-tab"]),
    (Scope::Question, Action::Up, &["up"]),
    (Scope::Question, Action::Down, &["down"]),
    (Scope::Question, Action::PageUp, &["page-up"]),
    (Scope::Question, Action::PageDown, &["page-down"]),
    (Scope::Question, Action::Top, &["home"]),
    (Scope::Question, Action::Bottom, &["end"]),
    (Scope::Question, Action::ScrollTextUp, &["shift-up", "["]),
    (Scope::Question, Action::ScrollTextDown, &["shift-down", "]"]),
    (Scope::Question, Action::AnswerLater, &["esc"]),
    (Scope::Question, Action::Decline, &["x"]),
    (Scope::Trust, Action::Trust, &["y"]),
    (Scope::Trust, Action::Deny, &["n"]),
    (Scope::Trust, Action::SwitchFocus, &["tab"]),
    (Scope::Trust, Action::Up, &["up"]),
    (Scope::Trust, Action::Down, &["down"]),
    (Scope::Trust, Action::PageUp, &["page-up"]),
    (Scope::Trust, Action::PageDown, &["page-down"]),
    (Scope::Trust, Action::Top, &["home"]),
    (Scope::Trust, Action::Bottom, &["end"]),
    (Scope::Trust, Action::Close, &["esc"]),
    (Scope::List, Action::Accept, &["enter", "tab"]),
    (Scope::List, Action::AcceptAndSave, &["ctrl-s"]),
    (Scope::List, Action::Up, &["up"]),
    (Scope::List, Action::Down, &["down", "ctrl-n"]),
    (Scope::List, Action::PageUp, &["page-up"]),
    (Scope::List, Action::PageDown, &["page-down"]),
    (Scope::List, Action::Top, &["ctrl-home"]),
    (Scope::List, Action::Bottom, &["ctrl-end"]),
    (Scope::List, Action::Close, &["esc"]),
    (Scope::TextField, Action::Accept, &["enter"]),
    (Scope::TextField, Action::Close, &["esc"]),
    (Scope::TextField, Action::InsertLineBreak, &["shift-enter", "alt-enter", "ctrl-j"]),
    (Scope::TextField, Action::Left, &["left", "ctrl-b"]),
    (Scope::TextField, Action::Right, &["right"]),
    (Scope::TextField, Action::WordLeft, &["alt-b", "ctrl-left", "alt-left"]),
    (Scope::TextField, Action::WordRight, &["alt-f", "ctrl-right", "alt-right"]),
    (Scope::TextField, Action::LineStart, &["ctrl-a", "home"]),
    (Scope::TextField, Action::LineEnd, &["ctrl-e", "end"]),
    (Scope::TextField, Action::DeleteBack, &["backspace", "ctrl-h", "shift-backspace"]),
    (Scope::TextField, Action::DeleteForward, &["delete", "ctrl-d"]),
    (Scope::TextField, Action::DeleteWordBack, &["ctrl-w", "alt-backspace", "ctrl-backspace"]),
    (Scope::TextField, Action::DeleteWordForward, &["alt-d", "ctrl-delete"]),
    (Scope::TextField, Action::DeleteToStart, &["ctrl-u"]),
    (Scope::TextField, Action::DeleteToEnd, &["ctrl-k"]),
    (Scope::Page, Action::Close, &["esc", "q"]),
    (Scope::Page, Action::Up, &["up", "k"]),
    (Scope::Page, Action::Down, &["down", "j"]),
    (Scope::Page, Action::PageUp, &["page-up"]),
    (Scope::Page, Action::PageDown, &["page-down", "space"]),
    (Scope::Page, Action::Top, &["home", "g"]),
    (Scope::Page, Action::Bottom, &["end", "G"]),
    (Scope::Composer, Action::Send, &["enter"]),
    (Scope::Composer, Action::InsertLineBreak, &["shift-enter", "alt-enter", "ctrl-j"]),
    (Scope::Composer, Action::Left, &["left", "ctrl-b"]),
    (Scope::Composer, Action::Right, &["right"]),
    (Scope::Composer, Action::WordLeft, &["alt-b", "ctrl-left", "alt-left"]),
    (Scope::Composer, Action::WordRight, &["alt-f", "ctrl-right", "alt-right"]),
    (Scope::Composer, Action::LineStart, &["ctrl-a", "home"]),
    (Scope::Composer, Action::LineEnd, &["ctrl-e", "end"]),
    (Scope::Composer, Action::HistoryUp, &["up"]),
    (Scope::Composer, Action::HistoryDown, &["down", "ctrl-n"]),
    (Scope::Composer, Action::DeleteBack, &["backspace", "ctrl-h", "shift-backspace"]),
    (Scope::Composer, Action::DeleteForward, &["delete"]),
    (Scope::Composer, Action::DeleteOrQuit, &["ctrl-d"]),
    (Scope::Composer, Action::DeleteWordBack, &["ctrl-w", "alt-backspace", "ctrl-backspace"]),
    (Scope::Composer, Action::DeleteWordForward, &["alt-d", "ctrl-delete"]),
    (Scope::Composer, Action::DeleteToStart, &["ctrl-u"]),
    (Scope::Composer, Action::DeleteToEnd, &["ctrl-k"]),
    (Scope::Composer, Action::Yank, &["ctrl-y"]),
    (Scope::Composer, Action::Transpose, &["ctrl-t"]),
    (Scope::Composer, Action::Undo, &["ctrl-_"]),
    (Scope::Composer, Action::Redo, &["alt-z"]),
    (Scope::Composer, Action::SearchHistory, &["ctrl-r"]),
    (Scope::Composer, Action::OpenPaste, &["alt-v"]),
    (Scope::Composer, Action::OpenEditor, &["ctrl-g"]),
    (Scope::Composer, Action::ChangeMode, &["shift-tab"]),
    (Scope::Composer, Action::EditQueued, &["alt-q"]),
    (Scope::Composer, Action::SwitchFocus, &["tab"]),
    (Scope::Composer, Action::HelpWhenEmpty, &["?"]),
    (Scope::Transcript, Action::Toggle, &["enter", "space"]),
    (Scope::Transcript, Action::OpenFull, &["o"]),
    (Scope::Transcript, Action::SelectPrevious, &["up"]),
    (Scope::Transcript, Action::SelectNext, &["down"]),
    (Scope::Transcript, Action::Close, &["esc"]),
    (Scope::FailedRequest, Action::RetryNow, &["alt-r"]),
    (Scope::Anywhere, Action::Palette, &["ctrl-p"]),
    (Scope::Anywhere, Action::Help, &["f1"]),
    (Scope::Anywhere, Action::Stop, &["esc"]),
    (Scope::Anywhere, Action::StopOrQuit, &["ctrl-c"]),
    (Scope::Anywhere, Action::Sessions, &["alt-s"]),
    (Scope::Anywhere, Action::Models, &["alt-m"]),
    (Scope::Anywhere, Action::Themes, &["alt-t"]),
    (Scope::Anywhere, Action::Connect, &["alt-c"]),
    (Scope::Anywhere, Action::SearchTranscript, &["ctrl-f"]),
    (Scope::Anywhere, Action::OpenLink, &["ctrl-o"]),
    (Scope::Anywhere, Action::Copy, &["alt-y"]),
    (Scope::Anywhere, Action::OpenQuestion, &["ctrl-q"]),
    (Scope::Anywhere, Action::DeclineQuestion, &["alt-x"]),
    (Scope::Anywhere, Action::SelectPrevious, &["alt-up"]),
    (Scope::Anywhere, Action::SelectNext, &["alt-down"]),
    (Scope::Anywhere, Action::ScrollUp, &["page-up"]),
    (Scope::Anywhere, Action::ScrollDown, &["page-down"]),
    (Scope::Anywhere, Action::ScrollTop, &["ctrl-home"]),
    (Scope::Anywhere, Action::ScrollBottom, &["ctrl-end"]),
    (Scope::Anywhere, Action::PreviousMessage, &["ctrl-up"]),
    (Scope::Anywhere, Action::NextMessage, &["ctrl-down"]),
    (Scope::Anywhere, Action::Redraw, &["ctrl-l"]),
    (Scope::Anywhere, Action::Suspend, &["ctrl-z"]),
];
