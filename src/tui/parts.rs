//! One module per part of the screen: its state, keys and rendering.

pub mod audit_page;
pub mod authority;
pub mod call_action;
pub mod call_summary;
pub mod completion;
pub mod composer;
pub mod confirmation;
pub mod filter;
pub mod frame;
pub mod help_page;
pub mod key_hints;
pub mod line_cache;
pub mod listening;
pub mod picker;
pub mod quantities;
pub mod rehearsal_lines;
pub mod reply_timing;
pub mod review;
pub mod rule_edit;
pub mod scope_choice;
pub mod spinner;
pub mod status_bar;
pub mod sub_agent_name;
pub mod text_field;
pub mod toast;
pub mod transcript;
