//! Roles by name, as used in theme files.

use super::Theme;
use ratatui::style::Style;

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
    ground spare_ground text dim accent danger warning success person border border_dim prompt selected found
    link heading strong emphasis quote code code_block added removed added_part removed_part mark
    syntax_keyword syntax_string syntax_number syntax_comment syntax_function syntax_type
    syntax_punctuation
}
