//! Packages: what `packaging` writes about the program is true.

use crate::crates::is_cargo_usable;
use crate::support::program::program;
use crate::support::report_skipped;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a script of `packaging`; returns what it prints. Returns `None`, and reports it, if it cannot run here.
fn run_script(name: &str, arguments: &[&str]) -> Option<String> {
    if Command::new("python3").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
        report_skipped("Python 3 is not installed");
        return None;
    }
    if !is_cargo_usable() {
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(root.join("packaging").join(name));
    command.args(arguments).current_dir(root).env("CARGO", env!("CARGO")).env("CARGO_NET_OFFLINE", "true");
    let done = command.env("SOURCE_DATE_EPOCH", "1790000000").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(String::from_utf8(done.stdout).unwrap())
}

/// Returns the name and version of each crate whose files the program names, for panics and in its line tables.
fn list_named_crates() -> BTreeSet<String> {
    const REGISTRY: &[u8] = b"/registry/src/";
    let bytes = std::fs::read(program()).unwrap();
    let starts = memchr::memmem::find_iter(&bytes, REGISTRY);
    let folder = |start: usize| {
        let path = &bytes[start + REGISTRY.len()..bytes.len().min(start + 300)];
        let mut parts = path.split(|byte| *byte == b'/');
        let (_registry, folder) = (parts.next()?, parts.next()?);
        // The last part of the path is a file, so what ends the text is not the name of a crate.
        parts.next()?;
        String::from_utf8(folder.to_vec()).ok().filter(|name| name.chars().all(|c| c.is_ascii_graphic()))
    };
    starts.filter_map(folder).collect()
}

#[test]
fn the_bill_of_materials_lists_every_crate_in_the_program() {
    let path = program();
    let Some(text) = run_script("sbom", &[path.to_str().unwrap()]) else { return };
    let bill: Value = serde_json::from_str(&text).unwrap();
    let components = bill["components"].as_array().unwrap();
    let listed: BTreeSet<String> = components
        .iter()
        .map(|component| format!("{}-{}", component["name"].as_str().unwrap(), component["version"].as_str().unwrap()))
        .collect();
    let named = list_named_crates();
    assert!(named.len() > 100, "the crates in the program were not found: {named:?}");
    let missing: Vec<_> = named.difference(&listed).collect();
    assert!(missing.is_empty(), "in the program, but not listed: {missing:?}");
    // Crates of tests, of build scripts and of macros are no parts of it.
    for name in ["insta", "proptest", "criterion", "cc", "clap_derive", "serde_derive"] {
        assert!(!components.iter().any(|component| component["name"] == name), "{name} is listed");
    }
    assert_eq!(bill["metadata"]["timestamp"], "2026-09-21T14:13:20Z");
    assert_eq!(bill["metadata"]["component"]["version"], env!("CARGO_PKG_VERSION"));
    for component in components {
        let hash = component["hashes"][0]["content"].as_str().unwrap();
        assert!(hash.len() == 64 && component["licenses"][0].is_object(), "{component}");
    }
    // Every crate whose licence is printed is listed, and the reverse.
    let properties = bill["metadata"]["component"]["properties"].as_array().unwrap();
    let features = properties.iter().find(|property| property["name"] == "aye:features").unwrap();
    let features = features["value"].as_str().unwrap();
    let Some(licences) = run_script("licences", &["--features", features]) else { return };
    let libraries = components.iter().filter(|component| component["type"] == "library").count();
    assert!(licences.starts_with(&format!("aye contains {libraries} crates ")), "{libraries}: {}", &licences[..60]);
}

#[test]
fn cargo_binstall_is_told_the_layout_of_the_archives() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest: toml::Table = std::fs::read_to_string(root.join("Cargo.toml")).unwrap().parse().unwrap();
    let metadata = &manifest["package"]["metadata"]["binstall"];
    assert_eq!(metadata["pkg-fmt"].as_str(), Some("tgz"));
    // The template with the variables of the script.
    let mut layout = metadata["bin-dir"].as_str().unwrap().to_owned();
    for (name, value) in
        [("name", "aye"), ("bin", "aye"), ("binary-ext", ""), ("version", "$version"), ("target", "$target")]
    {
        layout = layout.replace(&format!("{{ {name} }}"), value);
    }
    let (folder, program) = layout.split_once('/').unwrap();
    let script = std::fs::read_to_string(root.join("packaging/build")).unwrap();
    for line in [
        format!("name=\"{folder}\""),
        format!("install -m 755 \"$program\" \"$root/usr/{program}\""),
        "--directory=\"$root/usr\"".to_owned(),
        "--transform=\"s,^\\.,$name,\"".to_owned(),
        ">\"$out/$name.tar.gz\"".to_owned(),
    ] {
        assert!(script.contains(&line), "not in packaging/build: {line}");
    }
}
