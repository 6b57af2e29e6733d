//! All settings and the values they accept.

pub mod takes;

pub use takes::Takes;

/// Wildcard for any name in a path.
pub const ANY: &str = "*";

/// All settings by section and name.
pub const SETTINGS: &[(&str, &str, Takes)] = &[
    ("model", "profile", Takes::Text),
    ("model", "titles", Takes::Switch),
    ("model", "fallback", Takes::Text),
    ("profiles.*", "base_url", Takes::Address),
    ("profiles.*", "api", Takes::Word(&["chat", "responses"])),
    ("profiles.*", "key_env", Takes::Variable),
    ("profiles.*", "key_command", Takes::Command),
    ("profiles.*", "key_header", Takes::HeaderName),
    ("profiles.*", "model", Takes::Name),
    ("profiles.*", "headers", Takes::Headers),
    ("profiles.*", "query", Takes::Query),
    ("profiles.*", "parameters", Takes::Parameters),
    ("profiles.*", "leave_out", Takes::Names),
    ("profiles.*", "max_tokens", Takes::Whole(1..=10_000_000)),
    ("profiles.*", "max_tokens_name", Takes::Name),
    ("profiles.*", "tools", Takes::Switch),
    ("profiles.*", "images", Takes::Switch),
    ("profiles.*", "parallel_calls", Takes::Switch),
    ("profiles.*", "reasoning_effort", Takes::Text),
    ("profiles.*", "reasoning_back", Takes::Switch),
    ("profiles.*", "idle_seconds", Takes::Whole(1..=3600)),
    ("profiles.*", "connect_seconds", Takes::Whole(1..=600)),
    ("profiles.*", "ca_file", Takes::File),
    ("profiles.*", "proxy", Takes::Proxy),
    ("profiles.*", "context_window", Takes::Whole(1..=100_000_000)),
    ("profiles.*", "price_input", Takes::Price),
    ("profiles.*", "price_cached", Takes::Price),
    ("profiles.*", "price_output", Takes::Price),
    ("approval", "mode", Takes::Word(&["plan", "ask", "auto", "full"])),
    ("hooks.*", "command", Takes::Command),
    ("hooks.*", "tools", Takes::Names),
    ("hooks.*", "seconds", Takes::Whole(1..=60)),
    ("hooks.*", "dry_run", Takes::Switch),
    ("second_reader", "profile", Takes::Name),
    ("second_reader", "model", Takes::Name),
    ("second_reader", "seconds", Takes::Whole(1..=120)),
    ("project", "instructions_kib", Takes::Whole(0..=1024)),
    ("dry_run", "tell_model", Takes::Word(&["never", "once", "each_result"])),
    ("dry_run", "ask", Takes::Word(&["report", "as live"])),
    ("dry_run", "stage", Takes::Word(&["auto", "off"])),
    ("dry_run", "read", Takes::Places),
    ("dry_run", "outside", Takes::Word(&["refuse", "overlay"])),
    ("dry_run", "simulator", Takes::Name),
    ("dry_run", "simulator_model", Takes::Name),
    ("dry_run", "simulator_seconds", Takes::Whole(1..=120)),
    ("shell", "timeout", Takes::Whole(1..=3600)),
    ("shell", "max_timeout", Takes::Whole(1..=3600)),
    ("shell", "sandbox", Takes::Switch),
    ("shell", "network", Takes::Word(&["off", "ask", "on"])),
    ("shell", "write", Takes::Places),
    ("shell", "sockets", Takes::Switch),
    ("screen", "theme", Takes::Text),
    ("screen", "theme_light", Takes::Text),
    ("screen", "theme_dark", Takes::Text),
    ("screen", "color", Takes::Switch),
    ("screen", "mouse", Takes::Switch),
    ("screen", "ascii", Takes::Switch),
    ("screen", "links", Takes::Word(&["auto", "on", "off"])),
    ("screen", "bell", Takes::Switch),
    ("screen", "editor", Takes::Text),
    ("keys", ANY, Takes::Chords),
];

/// Section names.
pub const SECTIONS: &[&str] = &[
    "model",
    "profiles",
    "approval",
    "hooks",
    "second_reader",
    "project",
    "dry_run",
    "shell",
    "screen",
    "keys",
];

/// Sections that contain subsections with user-chosen names.
pub const NAMED: &[&str] = &["profiles", "hooks"];

/// Iterates over the settings of a section. A profile's section is `profiles.*`, a hook's `hooks.*`.
pub fn in_section(section: &str) -> impl Iterator<Item = (&'static str, &'static Takes)> {
    SETTINGS.iter().filter(move |(of, ..)| *of == section).map(|(_, name, takes)| (*name, takes))
}
