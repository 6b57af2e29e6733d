//! `budgets.toml` and the file of tool schemas agree with the program and with real tokenizers.
//!
//! `AYE_BLESS=1` measures again and writes both files. It raises no limit, and with losses of meaning in a description it fails:
//! `AYE_BLESS=losses` accepts those.

use aye::agent::system_prompt_texts;
use aye::chat::ToolSpec;
use aye::chat::message_tokens::estimate_tools;
use aye::chat::schema_diff::{ToolText, find_losses};
use aye::chat::token_budgets::{
    Budget, Budgets, GROUPS, ProfileBudget, TokenCounts, prompt_row, request_json, request_text, short_digest, tool_row,
};
use aye::config::{Config, Profile};
use aye::text::tokens::estimate_text;
use aye::tools::{ToolSettings, Toolbox};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tiktoken_rs::CoreBPE;

static CL100K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::cl100k_base().unwrap());
static O200K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().unwrap());

/// The checked-in file of schemas, which `aye tokens compare` reads from commits.
const SCHEMAS: &str = "docs/tool-schemas.jsonl";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn measure(text: &str) -> TokenCounts {
    let count = |encoding: &CoreBPE| encoding.encode_ordinary(text).len() as u64;
    TokenCounts { cl100k: count(&CL100K), o200k: count(&O200K) }
}

/// Measures tools as one request contains them.
fn measure_tools(specs: &[ToolSpec]) -> TokenCounts {
    measure(&specs.iter().map(request_json).collect::<Value>().to_string())
}

fn blessing() -> Option<String> {
    std::env::var("AYE_BLESS").ok()
}

/// Explains why a limit does not hold or is too generous: it is a ratchet that moves both ways.
fn check_limit(name: &str, measured: TokenCounts, limit: u64) -> Option<String> {
    let tokens = measured.larger();
    if tokens > limit {
        return Some(format!("{name} has {tokens} tokens, its limit is {limit}: shorten it, or raise the limit"));
    }
    (limit * 100 > tokens * 105)
        .then(|| format!("{name} has only {tokens} tokens: lower its limit {limit} to {tokens}"))
}

/// The limit after blessing: lowered if it is too generous, never raised; the measured number for a new line.
fn blessed_limit(measured: TokenCounts, limit: Option<u64>) -> u64 {
    let tokens = measured.larger();
    limit.filter(|limit| *limit > 0 && limit * 100 <= tokens * 105).unwrap_or(tokens)
}

fn measured_budget(text: &str, known: Option<&Budget>) -> Budget {
    let measured = measure(text);
    let limit = blessed_limit(measured, known.map(|known| known.limit));
    Budget { cl100k: measured.cl100k, o200k: measured.o200k, limit, digest: short_digest(text) }
}

/// The budgets as they should be, with the known limits.
fn measured_budgets(known: &Budgets) -> Budgets {
    let prompts = system_prompt_texts()
        .into_iter()
        .map(|(name, text)| (name.to_owned(), measured_budget(text, known.system_prompts.get(name))));
    let groups = Toolbox::spec_groups();
    let tools = groups.iter().map(|(group, specs)| {
        let known = known.tools.get(*group);
        let budget = |spec: &ToolSpec| {
            let known = known.and_then(|tools| tools.get(&spec.name));
            (spec.name.clone(), measured_budget(&request_text(spec), known))
        };
        ((*group).to_owned(), specs.iter().map(budget).collect())
    });
    let profiles = known.profiles.iter().map(|(name, profile)| {
        let in_profile = groups.iter().filter(|(group, _)| profile.groups.iter().any(|name| name == group));
        let specs: Vec<ToolSpec> = in_profile.flat_map(|(_, specs)| specs.clone()).collect();
        let measured = measure_tools(&specs);
        let limit = blessed_limit(measured, Some(profile.limit));
        let groups = profile.groups.clone();
        (name.clone(), ProfileBudget { groups, cl100k: measured.cl100k, o200k: measured.o200k, limit })
    });
    Budgets {
        limits: known.limits.clone(),
        system_prompts: prompts.collect(),
        tools: tools.collect(),
        profiles: profiles.collect(),
    }
}

/// Writes the file of budgets: its comment, then the tables in a fixed order.
fn budgets_text(comment: &str, budgets: &Budgets) -> String {
    let mut text = comment.to_owned();
    let line = |name: &str, Budget { cl100k, o200k, limit, digest }: &Budget| {
        format!("{name} = {{ cl100k = {cl100k}, o200k = {o200k}, limit = {limit}, digest = \"{digest}\" }}\n")
    };
    let limits = &budgets.limits;
    let (bytes, tokens) = (limits.instruction_bytes, limits.tool_tokens);
    write!(text, "[limits]\ninstruction_bytes = {bytes}\ntool_tokens = {tokens}\n\n[system_prompts]\n").unwrap();
    text.extend(budgets.system_prompts.iter().map(|(name, budget)| line(name, budget)));
    text.push_str("\n[profiles]\n");
    for (name, ProfileBudget { groups, cl100k, o200k, limit }) in &budgets.profiles {
        let counts = format!("cl100k = {cl100k}, o200k = {o200k}, limit = {limit}");
        writeln!(text, "\"{name}\" = {{ groups = {groups:?}, {counts} }}").unwrap();
    }
    for (group, _) in GROUPS {
        write!(text, "\n[tools.{group}]\n").unwrap();
        text.extend(budgets.tools[group].iter().map(|(name, budget)| line(name, budget)));
    }
    text
}

#[test]
fn budgets_are_measured_and_hold_both_ways() {
    let path = file("src/chat/budgets.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let known = Budgets::parse(&text).unwrap();
    let measured = measured_budgets(&known);
    let comment = &text[..text.find("\n[").unwrap() + 1];
    if blessing().is_some() {
        std::fs::write(&path, budgets_text(comment, &measured)).unwrap();
    }
    let tools = measured.tools.values().flatten().chain(&measured.system_prompts);
    let limited = tools.map(|(name, budget)| (name, budget.counts(), budget.limit));
    let profiles = measured
        .profiles
        .iter()
        .map(|(name, profile)| (name, TokenCounts { cl100k: profile.cl100k, o200k: profile.o200k }, profile.limit));
    let problems: Vec<String> =
        limited.chain(profiles).filter_map(|(name, counts, limit)| check_limit(name, counts, limit)).collect();
    // The measured budgets have lowered limits, so a generous limit of the file is a difference below.
    assert!(problems.is_empty(), "{problems:#?}");
    if blessing().is_none() {
        assert!(known == measured, "budgets.toml is out of date:\n{}", budgets_text("", &measured));
        assert_eq!(budgets_text(comment, &measured), text, "budgets.toml is written by the test");
    }
}

#[test]
fn limits_move_both_ways() {
    let counts = |tokens| TokenCounts { cl100k: tokens, o200k: tokens - 1 };
    assert_eq!([check_limit("a", counts(100), 100), check_limit("a", counts(100), 105)], [None, None]);
    assert!(check_limit("a", counts(106), 105).unwrap().contains("shorten it"));
    assert!(check_limit("a", counts(100), 106).unwrap().contains("lower its limit 106 to 100"));
    assert_eq!(blessed_limit(counts(100), Some(90)), 90, "no limit is raised");
    assert_eq!([blessed_limit(counts(100), Some(104)), blessed_limit(counts(100), Some(106))], [104, 100]);
}

#[test]
fn a_description_that_grows_by_six_percent_exceeds_its_budget() {
    let budgets = Budgets::built_in();
    for (group, specs) in Toolbox::spec_groups() {
        for mut spec in specs {
            let old_length = spec.description.len();
            while spec.description.len() * 100 < old_length * 106 {
                spec.description.push_str(" also");
            }
            let limit = budgets.tools[group][&spec.name].limit;
            let problem = check_limit(&spec.name, measure(&request_text(&spec)), limit);
            assert!(problem.is_some(), "{} has room within its limit of {limit} tokens", spec.name);
        }
    }
}

#[test]
fn other_limits_are_those_of_the_settings() {
    let limits = Budgets::built_in().limits;
    assert_eq!(limits.instruction_bytes, Config::default().project.instructions_kib << 10);
    assert_eq!(limits.tool_tokens, Profile::default().tool_tokens);
    // The measured text of bash_exec states both.
    let (shell, tools) = (Config::default().shell, ToolSettings::default());
    assert_eq!((shell.timeout, shell.max_timeout), (tools.default_timeout, tools.max_timeout));
}

#[test]
fn profiles_stay_below_their_targets() {
    let budgets = Budgets::built_in();
    let limit = |name: &str| budgets.profiles[name].limit;
    assert!(limit("core") <= 2_000 && limit("everything") <= 2_500, "{:?}", budgets.profiles);
    let everything: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
    let mut groups: Vec<&str> = budgets.profiles["everything"].groups.iter().map(String::as_str).collect();
    groups.sort_by_key(|name| everything.iter().position(|group| group == name));
    assert_eq!(groups, everything);
}

/// The manual states this accuracy.
#[test]
fn estimates_of_tools_are_within_a_tenth_together_and_a_quarter_each() {
    let specs: Vec<ToolSpec> = Toolbox::spec_groups().into_iter().flat_map(|(_, specs)| specs).collect();
    let is_close = |specs: &[ToolSpec], percent: u64| {
        let (estimate, tokens) = (estimate_tools(specs), measure_tools(specs).o200k);
        (estimate.abs_diff(tokens) * 100 > tokens * percent)
            .then(|| format!("{}: {estimate} for {tokens}", specs[0].name))
    };
    assert_eq!(is_close(&specs, 10), None);
    let inaccurate: Vec<String> = specs.iter().filter_map(|spec| is_close(std::slice::from_ref(spec), 25)).collect();
    assert_eq!(inaccurate, [""; 0]);
}

/// The rows of the file of schemas.
fn schema_rows() -> Vec<Value> {
    let prompts =
        system_prompt_texts().map(|(name, text)| prompt_row(name, text, Some(measure(text)), estimate_text(text)));
    let groups = Toolbox::spec_groups();
    let tools = groups.iter().flat_map(|(group, specs)| {
        let row = |spec: &ToolSpec| {
            let estimate = estimate_tools(std::slice::from_ref(spec));
            tool_row(spec, group, Some(measure(&request_text(spec))), estimate)
        };
        specs.iter().map(row).collect::<Vec<_>>()
    });
    prompts.into_iter().chain(tools).collect()
}

/// Tools and prompts of rows by name.
fn texts(rows: &[Value]) -> BTreeMap<String, ToolText> {
    let text = |row: &Value| {
        let name = row["name"].as_str().unwrap().to_owned();
        let description = row["description"].as_str().or(row["text"].as_str()).unwrap().to_owned();
        (name.clone(), ToolText { name, description, parameters: row["parameters"].clone() })
    };
    rows.iter().map(text).collect()
}

/// Types, descriptions, allowed values, defaults and limits of all built-in tools change only on purpose.
#[test]
fn schemas_are_those_of_the_checked_in_file_and_lose_nothing_silently() {
    let rows = schema_rows();
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let path = file(SCHEMAS);
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let known_rows: Vec<Value> = known.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (old, new) = (texts(&known_rows), texts(&rows));
    let names: Vec<String> = new.keys().cloned().collect();
    let mut losses = Vec::new();
    for (name, old) in &old {
        match new.get(name) {
            None => losses.push(format!("{name} is gone")),
            Some(new) => losses.extend(
                find_losses(old, new, &names)
                    .iter()
                    .map(|loss| format!("{name} {}: {} {}", loss.place, loss.kind.as_str(), loss.text)),
            ),
        }
    }
    match blessing().as_deref() {
        Some(how) => {
            assert!(losses.is_empty() || how == "losses", "AYE_BLESS=losses accepts this: {losses:#?}");
            std::fs::write(&path, text).unwrap();
        }
        None => assert!(
            known == text,
            "{SCHEMAS} is out of date; AYE_BLESS=1 cargo test --test suite token_budgets writes it again. Lost: {losses:#?}"
        ),
    }
}
