//! What is built in from others: under which licences, from where, and how much of it twice. `deny.toml` says what may be.

use crate::support::leave_out;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// What `deny.toml` says.
fn said() -> toml::Table {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml");
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

fn texts(list: &toml::Value) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A crate that is part of the program, or of what builds it, on the machine that the tests run on.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crate {
    name: String,
    version: String,
    /// Whatever else is said of it: where it is from, unless that is where all are.
    from: String,
    licence: String,
}

/// All of them; `None`, said aloud, where this user may not start the cargo that built this.
fn crates() -> Option<BTreeSet<Crate>> {
    if let Err(error) = Command::new(env!("CARGO")).arg("--version").output() {
        leave_out(&format!("cargo cannot be started here: {error}"));
        return None;
    }
    let told = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}|{l}|"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let told = String::from_utf8(told.stdout).unwrap();
    let lines = told.lines().filter(|line| !line.starts_with("aye "));
    let crates: BTreeSet<Crate> = lines
        .map(|line| {
            let [package, licence, _] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let mut words = package.splitn(3, ' ').map(str::to_owned);
            let mut word = || words.next().unwrap_or_default();
            let (name, version) = (word(), word());
            let from = word().replace("(proc-macro)", "");
            Crate { name, version, from, licence: licence.to_owned() }
        })
        .collect();
    assert!(crates.len() > 100, "{} crates were found", crates.len());
    Some(crates)
}

/// Whether one may take it under these licences: `A OR B`, `A AND B`, brackets, and the old `A/B`.
fn may(words: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = words.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    let may = any(&mut rest, allowed);
    assert!(rest.is_empty(), "{spaced} is not understood");
    may
}

fn any(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut may = all(words, allowed);
    while let Some((&"OR", rest)) = words.split_first() {
        *words = rest;
        may |= all(words, allowed);
    }
    may
}

fn all(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    let mut may = one(words, allowed);
    while let Some((&"AND", rest)) = words.split_first() {
        *words = rest;
        may &= one(words, allowed);
    }
    may
}

fn one(words: &mut &[&str], allowed: &BTreeSet<String>) -> bool {
    // Without a licence there is nothing to allow.
    let Some((first, rest)) = words.split_first() else { return false };
    *words = rest;
    if *first == "(" {
        let may = any(words, allowed);
        let (end, rest) = words.split_first().expect("a bracket is closed");
        assert_eq!(*end, ")");
        *words = rest;
        return may;
    }
    // An exception makes it another licence.
    match rest {
        ["WITH", exception, behind @ ..] => {
            *words = behind;
            allowed.contains(&format!("{first} WITH {exception}"))
        }
        _ => allowed.contains(*first),
    }
}

#[test]
fn r70_every_crate_may_be_built_in_by_its_licence() {
    let said = said();
    let allowed = texts(&said["licenses"]["allow"]);
    let exceptions = said["licenses"]["exceptions"].as_array().unwrap();
    let mut wrong = Vec::new();
    let Some(crates) = crates() else { return };
    for one in crates {
        let own = exceptions.iter().find(|exception| exception["crate"].as_str() == Some(&one.name));
        let mut allowed = allowed.clone();
        allowed.extend(own.map(|own| texts(&own["allow"])).unwrap_or_default());
        if !may(&one.licence, &allowed) {
            wrong.push(format!("{}: {}", one.name, one.licence));
        }
    }
    assert!(wrong.is_empty(), "no licence that deny.toml allows: {wrong:#?}");
}

#[test]
fn r70_every_crate_comes_from_where_all_do() {
    let Some(crates) = crates() else { return };
    let elsewhere: Vec<Crate> = crates.into_iter().filter(|one| !one.from.trim().is_empty()).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}

#[test]
fn no_crate_is_built_in_twice_but_those_that_are_known() {
    let said = said();
    let known: BTreeSet<&str> =
        said["bans"]["skip"].as_array().unwrap().iter().map(|skip| skip["crate"].as_str().unwrap()).collect();
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let Some(crates) = crates() else { return };
    for one in crates {
        versions.entry(one.name).or_default().insert(one.version);
    }
    versions.retain(|name, versions| versions.len() > 1 && !known.contains(name.as_str()));
    assert!(versions.is_empty(), "deny.toml does not know of these: {versions:#?}");
}

#[test]
fn a_licence_is_read_as_it_is_written() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "ISC".to_owned()]);
    for yes in ["MIT", "MIT OR Apache-2.0", "Apache-2.0/MIT", "(GPL-3.0 OR MIT) AND ISC", "MIT AND ISC"] {
        assert!(may(yes, &allowed), "{yes}");
    }
    for no in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "MIT WITH odd-exception"] {
        assert!(!may(no, &allowed), "{no}");
    }
}
