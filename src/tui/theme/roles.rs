//! The roles by name, as a theme's file writes them.

use super::Theme;
use ratatui::style::Style;

/// Ties the names to the fields, once.
macro_rules! roles {
    ($($role:ident)*) => {
        /// The names of all roles, in the order they are explained.
        pub const ROLES: &[&str] = &[$(stringify!($role)),*];

        impl Theme {
            /// The style of a role by its name.
            pub fn role(&self, name: &str) -> Option<Style> {
                match name {
                    $(stringify!($role) => Some(self.$role),)*
                    _ => None,
                }
            }

            /// The style of a role by its name, to be set.
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
