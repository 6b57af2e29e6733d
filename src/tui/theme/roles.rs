//! Roles by name, as used in theme files.

use super::Theme;
use ratatui::style::Style;

/// Old and new names of renamed roles. The old names work in this release.
pub(super) const RENAMED_ROLES: &[(&str, &str)] =
    &[("ground", "background"), ("spare_ground", "fallback_background"), ("person", "user"), ("found", "search_match")];

/// Maps role names to fields.
macro_rules! roles {
    ($($role:ident)*) => {
        /// Names of all roles, in the order of the documentation.
        pub const ROLES: &[&str] = &[$(stringify!($role)),*];

        impl Theme {
            /// Returns the style of a role by name.
            pub fn role(&self, name: &str) -> Option<Style> {
                match name {
                    $(stringify!($role) => Some(self.$role),)*
                    _ => None,
                }
            }

            /// Returns the style of a role by name, for assignment.
            pub(super) fn role_mut(&mut self, name: &str) -> Option<&mut Style> {
                match name {
                    $(stringify!($role) => Some(&mut self.$role),)*
                    _ => None,
                }
            }
        }
    };
}

roles! {
    background fallback_background text dim accent danger warning success user border border_dim prompt selected search_match
    link heading strong emphasis quote code code_block added removed added_part removed_part mark
    syntax_keyword syntax_string syntax_number syntax_comment syntax_function syntax_type
    syntax_punctuation
}
