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
    /// In the prompt for a credential, and for a request of an MCP server to the model or its answer.
    Request "Request of a tool or a server"
    /// In a list with a filter, or in word completion.
    List "List"
    /// In the list of grants and rules, while its filter is empty.
    Grants "Grants and rules"
    /// In the list of background commands, while its filter is empty.
    Background "Background commands"
    /// In a list with folders, while its filter is empty.
    Tree "Folders"
    /// On the page of a JSON file.
    Json "JSON values"
    /// In the list of the session's files, in that of the versions of one, and on the page of one.
    Files "Files of the session"
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
    TryCall "try_call" "Try it in a throwaway sandbox"
    KeepTrial "keep_trial" "Keep what the trial did"
    KeepDestructive "keep_destructive" "Keep a trial that destroys something"
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
    Up "up" "Move or scroll up"
    Down "down" "Move or scroll down"
    PageUp "page_up" "One page up"
    PageDown "page_down" "One page down"
    ScrollTextUp "scroll_text_up" "Scroll long text up"
    ScrollTextDown "scroll_text_down" "Scroll long text down"
    Top "top" "Go to start"
    Bottom "bottom" "Go to end"
    RetryNow "retry_now" "Retry now"
    Send "send" "Send message"
    InsertLineBreak "insert_line_break" "Insert line break"
    Left "left" "Character left"
    Right "right" "Character right"
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
    PastePicture "paste_picture" "Paste picture of the clipboard"
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
    Expand "expand" "Expand, or go to its first entry"
    Collapse "collapse" "Collapse, or go to its parent"
    ExpandAll "expand_all" "Expand all, or collapse all"
    OpenFull "open_full" "Open in full"
    ExplainCall "explain_call" "Show why the call ran"
    MoveToBackground "move_to_background" "Move running command to the background"
    Revoke "revoke" "Revoke the grant or rule"
    StopCommand "stop_command" "Stop the background command"
    OpenFile "open_file" "Open the file in its program"
    CopyAddress "copy_address" "Copy the address of the file"
    ListVersions "list_versions" "List the versions of the file"
    CopyToProject "copy_to_project" "Copy the file into the project"
    ScrollUp "scroll_up" "Scroll up"
    ScrollDown "scroll_down" "Scroll down"
    ScrollTop "scroll_top" "Scroll to start"
    ScrollBottom "scroll_bottom" "Scroll to end"
    PreviousMessage "previous_message" "Go to previous user message"
    NextMessage "next_message" "Go to next user message"
    SearchTranscript "search_transcript" "Search transcript or page"
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
    Stop "stop" "Stop turn (twice in prompts); rewind"
    StopOrQuit "stop_or_quit" "Stop turn; twice to quit"
}

macro_rules! default_keys {
    ($([$($scope:ident)*] $($action:ident $($chord:literal)+)*)*) => {
        /// Default keys, in the order of key help within each scope.
        const DEFAULT_KEYS: &[(&[Scope], &[(Action, &[&str])])] =
            &[$((&[$(Scope::$scope),*], &[$((Action::$action, &[$($chord),*])),*])),*];
    };
}

default_keys! {
    [Approval]
        ApproveOnce "y"
        ApproveDestructive "Y"
        ApproveAlways "a"
        TryCall "t"
        KeepTrial "k"
        KeepDestructive "K"
        EditCall "e"
        Deny "n"
        DenyWithMessage "m"
        Details "d"
        OpenQueue "l"
    [GrantScope Queue Question TextField] Accept "enter"
    [Approval Queue Question] Select "space"
    [Approval] SelectAll "*"
    [Queue] SelectAll "t"
    [Approval GrantScope] Toggle "o"
    [GrantScope]
        NarrowScope "left"  WidenScope "right"
        Up "up" "shift-tab"  Down "down" "tab"
        PageUp "page-up"  PageDown "page-down"
        Bottom "end"
        Deny "n"
    [Queue]
        Deny "n"
        DenyWithMessage "m"
    [Question]
        Note "n"
        NextQuestion "tab"  PreviousQuestion "shift-tab"
    [Trust]
        Trust "y"
        Deny "n"
    [Request]
        ApproveOnce "y"
        Deny "n"
    [Approval Trust Request] SwitchFocus "tab"
    [Approval Queue Question Trust Request]
        Up "up"  Down "down"
        PageUp "page-up"  PageDown "page-down"
        Top "home"  Bottom "end"
    [Question]
        ScrollTextUp "shift-up" "["  ScrollTextDown "shift-down" "]"
        AnswerLater "esc"
        Decline "x"
    [Approval GrantScope Trust] Close "esc"
    [Queue] Close "esc" "l"
    [List]
        Accept "enter" "tab"
        AcceptAndSave "ctrl-s"
        Up "up"  Down "down" "ctrl-n"
        PageUp "page-up"  PageDown "page-down"
        Top "ctrl-home"  Bottom "ctrl-end"
        Close "esc"
    [Grants] Revoke "x"  OpenFull "alt-o"
    [Background] StopCommand "x"
    [Json] Toggle "enter"
    [Tree Json] Expand "right"  Collapse "left"  ExpandAll "alt-u"
    [Files]
        OpenFile "ctrl-o"
        CopyAddress "alt-y"
        ListVersions "alt-v"
        CopyToProject "alt-p"
    [Page]
        Close "esc" "q"
        Up "up" "k"  Down "down" "j"
        PageUp "page-up"  PageDown "page-down" "space"
        Top "home" "g"  Bottom "end" "G"
    [TextField] Close "esc"
    [Composer] Send "enter"
    [TextField Composer]
        InsertLineBreak "shift-enter" "alt-enter" "ctrl-j"
        Left "left" "ctrl-b"  Right "right"
        WordLeft "alt-b" "ctrl-left" "alt-left"  WordRight "alt-f" "ctrl-right" "alt-right"
        LineStart "ctrl-a" "home"  LineEnd "ctrl-e" "end"
    [Composer] HistoryUp "up"  HistoryDown "down" "ctrl-n"
    [TextField Composer] DeleteBack "backspace" "ctrl-h" "shift-backspace"
    [TextField] DeleteForward "delete" "ctrl-d"
    [Composer]
        DeleteForward "delete"
        DeleteOrQuit "ctrl-d"
    [TextField Composer]
        DeleteWordBack "ctrl-w" "alt-backspace" "ctrl-backspace"  DeleteWordForward "alt-d" "ctrl-delete"
        DeleteToStart "ctrl-u"  DeleteToEnd "ctrl-k"
    [Composer]
        Yank "ctrl-y"
        PastePicture "ctrl-v"
        Transpose "ctrl-t"
        Undo "ctrl-_"  Redo "alt-z"
        SearchHistory "ctrl-r"
        OpenPaste "alt-v"
        OpenEditor "ctrl-g"
        ChangeMode "shift-tab"
        EditQueued "alt-q"
        SwitchFocus "tab"
        HelpWhenEmpty "?"
    [Transcript]
        Toggle "enter" "space"
        OpenFull "o"
        ExplainCall "w"
        MoveToBackground "b"
        SelectPrevious "up"  SelectNext "down"
        Close "esc"
    [FailedRequest] RetryNow "alt-r"
    [Anywhere]
        Palette "ctrl-p"
        Help "f1"
        Stop "esc"
        StopOrQuit "ctrl-c"
        Sessions "alt-s"
        Models "alt-m"
        Themes "alt-t"
        Connect "alt-c"
        SearchTranscript "ctrl-f"
        OpenLink "ctrl-o"
        Copy "alt-y"
        OpenQuestion "ctrl-q"
        DeclineQuestion "alt-x"
        SelectPrevious "alt-up"  SelectNext "alt-down"
        ScrollUp "page-up"  ScrollDown "page-down"
        ScrollTop "ctrl-home"  ScrollBottom "ctrl-end"
        PreviousMessage "ctrl-up"  NextMessage "ctrl-down"
        Redraw "ctrl-l"
        Suspend "ctrl-z"
}

/// Returns each scope and action with its default keys.
pub fn default_bindings() -> impl Iterator<Item = (Scope, Action, &'static [&'static str])> {
    DEFAULT_KEYS.iter().flat_map(|(scopes, bindings)| {
        scopes.iter().flat_map(|scope| bindings.iter().map(|(action, chords)| (*scope, *action, *chords)))
    })
}
