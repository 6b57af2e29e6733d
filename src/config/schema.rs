//! All settings and the values they accept.

pub mod value_kind;

pub use value_kind::ValueKind;

/// Wildcard for any name in a path.
pub const ANY_NAME: &str = "*";

/// All settings by section and name.
pub const SETTINGS: &[(&str, &str, ValueKind)] = &[
    ("model", "profile", ValueKind::Text),
    ("model", "titles", ValueKind::Switch),
    ("model", "fallback", ValueKind::Text),
    ("profiles.*", "base_url", ValueKind::Address),
    ("profiles.*", "api", ValueKind::Choice(&["chat", "responses"])),
    ("profiles.*", "key_env", ValueKind::EnvVariable),
    ("profiles.*", "key_command", ValueKind::Command),
    ("profiles.*", "key_header", ValueKind::HeaderName),
    ("profiles.*", "model", ValueKind::Name),
    ("profiles.*", "headers", ValueKind::Headers),
    ("profiles.*", "query", ValueKind::Query),
    ("profiles.*", "parameters", ValueKind::Parameters),
    ("profiles.*", "omit_parameters", ValueKind::Names),
    ("profiles.*", "max_tokens", ValueKind::Integer(1..=10_000_000)),
    ("profiles.*", "max_tokens_parameter", ValueKind::Name),
    ("profiles.*", "tools", ValueKind::Switch),
    ("profiles.*", "images", ValueKind::Switch),
    ("profiles.*", "parallel_calls", ValueKind::Switch),
    ("profiles.*", "reasoning_effort", ValueKind::Text),
    ("profiles.*", "send_reasoning", ValueKind::Switch),
    ("profiles.*", "idle_seconds", ValueKind::Integer(1..=3600)),
    ("profiles.*", "connect_seconds", ValueKind::Integer(1..=600)),
    ("profiles.*", "ca_file", ValueKind::File),
    ("profiles.*", "proxy", ValueKind::Proxy),
    ("profiles.*", "context_window", ValueKind::Integer(1..=100_000_000)),
    ("profiles.*", "price_input", ValueKind::Price),
    ("profiles.*", "price_cached", ValueKind::Price),
    ("profiles.*", "price_output", ValueKind::Price),
    ("approval", "mode", ValueKind::Choice(&["plan", "ask", "auto", "full"])),
    ("hooks.*", "command", ValueKind::Command),
    ("hooks.*", "tools", ValueKind::Names),
    ("hooks.*", "seconds", ValueKind::Integer(1..=60)),
    ("hooks.*", "dry_run", ValueKind::Switch),
    ("model_reviewer", "profile", ValueKind::Name),
    ("model_reviewer", "model", ValueKind::Name),
    ("model_reviewer", "seconds", ValueKind::Integer(1..=120)),
    ("project", "instructions_kib", ValueKind::Integer(0..=1024)),
    ("dry_run", "tell_model", ValueKind::Choice(&["never", "once", "each_result"])),
    ("dry_run", "ask", ValueKind::Choice(&["report", "as live"])),
    ("dry_run", "overlay_sandbox", ValueKind::Choice(&["auto", "off"])),
    ("dry_run", "read", ValueKind::Paths),
    ("dry_run", "outside", ValueKind::Choice(&["refuse", "overlay"])),
    ("dry_run", "simulator", ValueKind::Name),
    ("dry_run", "simulator_model", ValueKind::Name),
    ("dry_run", "simulator_seconds", ValueKind::Integer(1..=120)),
    ("shell", "timeout", ValueKind::Integer(1..=3600)),
    ("shell", "max_timeout", ValueKind::Integer(1..=3600)),
    ("shell", "sandbox", ValueKind::Switch),
    ("shell", "network", ValueKind::Choice(&["off", "ask", "on"])),
    ("shell", "write", ValueKind::Paths),
    ("shell", "sockets", ValueKind::Switch),
    ("screen", "theme", ValueKind::Text),
    ("screen", "theme_light", ValueKind::Text),
    ("screen", "theme_dark", ValueKind::Text),
    ("screen", "color", ValueKind::Switch),
    ("screen", "mouse", ValueKind::Switch),
    ("screen", "ascii", ValueKind::Switch),
    ("screen", "links", ValueKind::Choice(&["auto", "on", "off"])),
    ("screen", "bell", ValueKind::Switch),
    ("screen", "editor", ValueKind::Text),
    ("keys", ANY_NAME, ValueKind::Chords),
];

/// Section names.
pub const SECTIONS: &[&str] =
    &["model", "profiles", "approval", "hooks", "model_reviewer", "project", "dry_run", "shell", "screen", "keys"];

/// Sections that contain subsections with user-chosen names.
pub const NAMED_SECTIONS: &[&str] = &["profiles", "hooks"];

/// Iterates over the settings of a section. A profile's section is `profiles.*`, a hook's `hooks.*`.
pub fn settings_in_section(section: &str) -> impl Iterator<Item = (&'static str, &'static ValueKind)> {
    SETTINGS.iter().filter(move |(of, ..)| *of == section).map(|(_, name, takes)| (*name, takes))
}
