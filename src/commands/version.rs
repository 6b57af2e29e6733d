//! `aye --version --verbose`: what this program was built from, and how.

use super::output::print_lines;
use anyhow::Result;
use std::process::ExitCode;

/// Optional features of the build, each with whether it is on.
const FEATURES: [(&str, bool); 4] = [
    ("keyring", cfg!(feature = "keyring")),
    ("images", cfg!(feature = "images")),
    ("clipboard", cfg!(feature = "clipboard")),
    ("recording-images", cfg!(feature = "recording-images")),
];

/// Prints version, commit, target, profile and features, one per line.
///
/// # Errors
/// If standard output cannot be written.
pub fn print_build() -> Result<ExitCode> {
    print_lines(describe_build())
}

fn describe_build() -> Vec<String> {
    let features: Vec<&str> = FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    vec![
        concat!("aye ", env!("CARGO_PKG_VERSION")).to_owned(),
        format!("commit: {}", env!("AYE_BUILD_COMMIT")),
        format!("target: {}", env!("AYE_BUILD_TARGET")),
        format!("profile: {}", env!("AYE_BUILD_PROFILE")),
        format!("features: {features}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_package_is_named() {
        let package: toml::Table = include_str!("../../Cargo.toml").parse().unwrap();
        let features = package["features"].as_table().unwrap().keys().filter(|name| *name != "default");
        let mut features: Vec<&str> = features.map(String::as_str).collect();
        let mut named = FEATURES.map(|(name, _)| name);
        features.sort_unstable();
        named.sort_unstable();
        assert_eq!(features, named);
    }

    #[test]
    fn each_fact_is_known_or_said_to_be_unknown() {
        for line in describe_build().iter().skip(1) {
            let (name, value) = line.split_once(": ").unwrap();
            assert!(!value.is_empty() && value.chars().all(|c| c.is_ascii_graphic() || c == ' '), "{name}");
        }
    }
}
