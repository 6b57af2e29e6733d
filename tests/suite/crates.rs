//! Licences, sources and duplicate versions of the dependencies; `deny.toml` says what is allowed.

use crate::support::report_skipped;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Reads `deny.toml`.
fn read_deny() -> toml::Table {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml");
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

fn list_strings(list: &toml::Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A dependency of the program or of its build on the machine that runs the tests.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    /// Where the crate comes from; empty for crates.io.
    from: String,
    licence: String,
}

/// Returns whether this user can start the cargo that built the suite and the compiler that cargo asks for its version;
/// reports it if not, for example because another user installed them.
pub fn is_cargo_usable() -> bool {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    for program in [env!("CARGO"), &compiler] {
        let reason = match Command::new(program).arg("-vV").output() {
            Ok(done) if done.status.success() => continue,
            Ok(done) => String::from_utf8_lossy(&done.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        report_skipped(&format!("{program} cannot be started here: {reason}"));
        return false;
    }
    true
}

/// Lists all dependencies. Returns `None` if cargo cannot be started.
fn list_crates() -> Option<BTreeSet<Crate>> {
    if !is_cargo_usable() {
        return None;
    }
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}|{l}|"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).unwrap();
    // After the last `|` of a line, cargo writes ` (*)` if it listed the package before.
    let lines = output.lines().filter(|line| !line.starts_with("aye "));
    let crates: BTreeSet<Crate> = lines
        .map(|line| {
            let [package, licence, _] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let mut tokens = package.splitn(3, ' ').map(str::to_owned);
            let mut word = || tokens.next().unwrap_or_default();
            let (name, version) = (word(), word());
            let from = word().replace("(proc-macro)", "");
            Crate { name, version, from, licence: licence.to_owned() }
        })
        .collect();
    assert!(crates.len() > 100, "{} crates were found", crates.len());
    Some(crates)
}

/// Returns whether the licence expression is allowed: `A OR B`, `A AND B`, brackets, and the old `A/B`.
fn is_allowed(licence: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = licence.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut remaining = &tokens[..];
    let is_permitted = parse_or(&mut remaining, allowed);
    assert!(remaining.is_empty(), "{spaced} is not understood");
    is_permitted
}

fn parse_or(tokens: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut is_permitted = parse_and(tokens, allowed);
    while let Some((&"OR", rest)) = tokens.split_first() {
        *tokens = rest;
        is_permitted |= parse_and(tokens, allowed);
    }
    is_permitted
}

fn parse_and(tokens: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut is_permitted = parse_term(tokens, allowed);
    while let Some((&"AND", rest)) = tokens.split_first() {
        *tokens = rest;
        is_permitted &= parse_term(tokens, allowed);
    }
    is_permitted
}

fn parse_term(tokens: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    // A missing licence allows nothing.
    let Some((first, remaining)) = tokens.split_first() else { return false };
    *tokens = remaining;
    if *first == "(" {
        let is_permitted = parse_or(tokens, allowed);
        let (end, remaining) = tokens.split_first().expect("a bracket is closed");
        assert_eq!(*end, ")");
        *tokens = remaining;
        return is_permitted;
    }
    // A licence with an exception is a separate licence.
    match remaining {
        ["WITH", exception, rest @ ..] => {
            *tokens = rest;
            allowed.contains(&format!("{first} WITH {exception}"))
        }
        _ => allowed.contains(*first),
    }
}

#[test]
fn r70_every_licence_is_allowed() {
    let deny = read_deny();
    let allowed = list_strings(&deny["licenses"]["allow"]);
    let exceptions = deny["licenses"]["exceptions"].as_array().unwrap();
    let mut failures = Vec::new();
    let Some(crates) = list_crates() else { return };
    for krate in crates {
        let own = exceptions.iter().find(|exception| exception["crate"].as_str() == Some(&krate.name));
        let mut allowed = allowed.clone();
        allowed.extend(own.map(|own| list_strings(&own["allow"])).unwrap_or_default());
        if !is_allowed(&krate.licence, &allowed) {
            failures.push(format!("{}: {}", krate.name, krate.licence));
        }
    }
    assert!(failures.is_empty(), "no licence that deny.toml allows: {failures:#?}");
}

#[test]
fn r70_every_crate_comes_from_crates_io() {
    let Some(crates) = list_crates() else { return };
    let elsewhere: Vec<Crate> = crates.into_iter().filter(|krate| !krate.from.trim().is_empty()).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}

#[test]
fn no_crate_is_built_in_two_versions_except_known_ones() {
    let deny = read_deny();
    let known: BTreeSet<&str> =
        deny["bans"]["skip"].as_array().unwrap().iter().map(|skip| skip["crate"].as_str().unwrap()).collect();
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let Some(crates) = list_crates() else { return };
    for krate in crates {
        versions.entry(krate.name).or_default().insert(krate.version);
    }
    versions.retain(|name, versions| versions.len() > 1 && !known.contains(name.as_str()));
    assert!(versions.is_empty(), "not listed in deny.toml: {versions:#?}");
}

#[test]
fn evaluates_licence_expressions() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "ISC".to_owned()]);
    for allowed_expression in ["MIT", "MIT OR Apache-2.0", "Apache-2.0/MIT", "(GPL-3.0 OR MIT) AND ISC", "MIT AND ISC"]
    {
        assert!(is_allowed(allowed_expression, &allowed), "{allowed_expression}");
    }
    for denied_expression in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "MIT WITH odd-exception"] {
        assert!(!is_allowed(denied_expression, &allowed), "{denied_expression}");
    }
}
