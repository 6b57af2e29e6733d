//! Declares settings and lists them: a setting is one field of a struct, with its default and the values it accepts.

pub mod value_kind;

use super::{
    Approval, CredentialSettings, Docs, DryRun, Hook, McpServer, Model, ModelReviewer, Profile, Project, Screen, Shell,
    Tools, Undo, Web, WorkspaceSettings,
};

pub use value_kind::ValueKind;

/// Name of a setting that stands for every name, in a section such as `[keys]`.
pub const ANY_NAME: &str = "*";

/// Name and accepted values of a setting.
pub type Setting = (&'static str, ValueKind);

/// All sections with their settings. A section that ends with `.*` contains subsections with user-chosen names.
pub const SECTIONS: &[(&str, &[Setting])] = &[
    ("model", Model::SETTINGS),
    ("profiles.*", Profile::SETTINGS),
    ("approval", Approval::SETTINGS),
    ("hooks.*", Hook::SETTINGS),
    ("model_reviewer", ModelReviewer::SETTINGS),
    ("mcp.*", McpServer::SETTINGS),
    ("project", Project::SETTINGS),
    ("undo", Undo::SETTINGS),
    ("workspace", WorkspaceSettings::SETTINGS),
    ("dry_run", DryRun::SETTINGS),
    ("shell", Shell::SETTINGS),
    ("web", Web::SETTINGS),
    ("credentials", CredentialSettings::SETTINGS),
    ("tools", Tools::SETTINGS),
    ("docs", Docs::SETTINGS),
    ("screen", Screen::SETTINGS),
    ("keys", &[(ANY_NAME, ValueKind::Chords)]),
];

/// Iterates over the names of the sections.
pub fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|(section, _)| section.trim_end_matches(".*"))
}

/// Returns the settings of a section. A profile's section is `profiles.*`, a hook's `hooks.*`, an MCP server's `mcp.*`.
pub fn settings_in_section(section: &str) -> &'static [Setting] {
    SECTIONS.iter().find(|(name, _)| *name == section).map_or(&[], |(_, settings)| settings)
}

/// Returns the accepted values of a setting; `None` if the section has no such setting.
pub fn find_setting(section: &str, name: &str) -> Option<&'static ValueKind> {
    let found = settings_in_section(section).iter().find(|(known, _)| [name, ANY_NAME].contains(known));
    found.map(|(_, accepted)| accepted)
}

/// Declares the struct of a section. Each field states its default (otherwise `Default::default()`) and, after `=>`, the
/// kind of value that it accepts.
macro_rules! section {
    ($(#[$about:meta])* pub struct $section:ident {
        $($(#[$note:meta])* $name:ident: $type:ty $(= $default:expr)? => $accepts:expr,)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $section {
            $($(#[$note])* pub $name: $type,)+
        }

        impl Default for $section {
            fn default() -> Self {
                Self { $($name: $crate::config::schema::default_or!($($default)?),)+ }
            }
        }

        impl $section {
            /// Names and accepted values of the settings.
            pub const SETTINGS: &'static [$crate::config::schema::Setting] = {
                use $crate::config::schema::ValueKind::*;
                &[$((stringify!($name), $accepts)),+]
            };
        }
    };
}

/// Expands to the given default, or to the default of the type.
macro_rules! default_or {
    () => {
        Default::default()
    };
    ($default:expr) => {
        $default
    };
}

/// Declares an enum whose variants are written as the given words in the settings.
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident { $($(#[$note:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$note])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The words that stand for the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }
    };
}

pub(super) use {default_or, section, words};
