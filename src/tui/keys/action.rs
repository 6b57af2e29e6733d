//! Actions that keys can be bound to, with their names in the settings and their labels in key help.

/// Context of a key binding. The innermost scope that binds a key wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Always.
    Anywhere,
    /// In the composer.
    Composer,
    /// A call of the transcript is selected.
    Transcript,
    /// In an approval prompt.
    Approval,
    /// Choosing the scope of a grant in an approval prompt.
    GrantScope,
    /// In the queue.
    Queue,
    /// In a question prompt.
    Question,
    /// In the trust prompt.
    Trust,
    /// In a list with a filter, or in word completion.
    List,
    /// On a page of text.
    Page,
    /// In a one-line text field of a prompt or list.
    TextField,
    /// Always, while a failed request can be sent again.
    FailedRequest,
}

impl Scope {
    /// All scopes, in the order of key help.
    pub const ALL: [Scope; 12] = [
        Scope::Approval,
        Scope::GrantScope,
        Scope::Queue,
        Scope::Question,
        Scope::Trust,
        Scope::List,
        Scope::TextField,
        Scope::Page,
        Scope::FailedRequest,
        Scope::Composer,
        Scope::Transcript,
        Scope::Anywhere,
    ];

    /// Returns the heading of the scope in key help.
    pub fn heading(self) -> &'static str {
        match self {
            Scope::Anywhere => "Anywhere",
            Scope::Composer => "Composer",
            Scope::Transcript => "Selected call",
            Scope::Approval => "Approval prompt",
            Scope::GrantScope => "Scope of a grant",
            Scope::Queue => "Queue",
            Scope::Question => "Question prompt",
            Scope::Trust => "Trust prompt",
            Scope::List => "List",
            Scope::Page => "Page",
            Scope::TextField => "Text field",
            Scope::FailedRequest => "Failed request",
        }
    }
}

macro_rules! actions {
    ($($action:ident $name:literal $help:literal)*) => {
        /// Action of a key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
