//! Invalid settings of each kind with their exact error texts.

use super::*;

const FILE: &str = "~/.config/aye/config.toml";

/// Asserts that a text has no errors and exactly these notices, each as `LINE: MESSAGE`. Returns what was read.
#[track_caller]
fn check_notices(text: &str, expected: &[&str]) -> Layer {
    let layer = parse_settings(text, FILE);
    assert_eq!(layer.problems, []);
    let notices: Vec<String> = layer.notices.iter().map(ToString::to_string).collect();
    let expected: Vec<String> = expected.iter().map(|text| format!("{FILE}:{text}")).collect();
    assert_eq!(notices, expected);
    layer
}

#[test]
fn old_names_of_settings_work_with_a_notice() {
    let new = "[model_reviewer]\nprofile = \"a\"\nseconds = 5\n[profiles.\"a.b\"]\nomit_parameters = [\"user\"]\n\
        max_tokens_parameter = \"most\"\nsend_reasoning = true\n[dry_run]\noverlay_sandbox = \"off\"\n";
    let expected = check_notices(new, &[]);
    let old = "[second_reader]\nprofile = \"a\"\nseconds = 5\n[profiles.\"a.b\"]\nleave_out = [\"user\"]\n\
        max_tokens_name = \"most\"\nreasoning_back = true\n[dry_run]\nstage = \"off\"\n";
    let layer = check_notices(
        old,
        &[
            "1: `[second_reader]` is now `[model_reviewer]`; the old name works in this release",
            "5: `profiles.a.b.leave_out` is now `omit_parameters`; the old name works in this release",
            "6: `profiles.a.b.max_tokens_name` is now `max_tokens_parameter`; the old name works in this release",
            "7: `profiles.a.b.reasoning_back` is now `send_reasoning`; the old name works in this release",
            "9: `dry_run.stage` is now `overlay_sandbox`; the old name works in this release",
        ],
    );
    assert_eq!((layer.table, layer.origins), (expected.table, expected.origins));
}

#[test]
fn the_new_name_counts_if_both_are_given() {
    let layer = check_notices(
        "second_reader.profile = \"a\"\nmodel_reviewer.seconds = 5\ndry_run = { overlay_sandbox = \"off\", stage = \"auto\" }\n",
        &[
            "1: `[second_reader]` is now `[model_reviewer]`; both are given and only the new name counts",
            "3: `dry_run.stage` is now `overlay_sandbox`; both are given and only the new name counts",
        ],
    );
    assert_eq!(layer.table["model_reviewer"], Value::Table("seconds = 5".parse().unwrap()));
    assert_eq!(layer.table["dry_run"]["overlay_sandbox"].as_str(), Some("off"));
}

#[test]
fn names_of_profiles_and_hooks_are_not_old_names() {
    let layer = check_notices("[profiles.second_reader]\nmodel = \"m\"\n[hooks.second_reader]\ncommand = \"x\"\n", &[]);
    assert!(layer.origins.contains_key("profiles.second_reader.model"), "{:?}", layer.origins);
    assert!(layer.origins.contains_key("hooks.second_reader.command"), "{:?}", layer.origins);
}

#[test]
fn old_names_of_key_actions_work_with_a_notice() {
    let layer = check_notices(
        "[keys]\nrefuse-because = \"f2\"\ntick = [\"f3\", \"f4\"]\ndeny = \"f5\"\nrefuse = \"f6\"\nopen-queue = \"f7\"\nlist_waiting = \"f8\"\n",
        &[
            "2: `keys.refuse-because` is now `deny_with_message`; the old name works in this release",
            "3: `keys.tick` is now `select`; the old name works in this release",
            "5: `keys.refuse` is now `deny`; both are given and only the new name counts",
            "7: `keys.list_waiting` is now `open_queue`; both are given and only the new name counts",
        ],
    );
    let keys = "deny = [\"f5\"]\ndeny_with_message = [\"f2\"]\nopen-queue = [\"f7\"]\nselect = [\"f3\", \"f4\"]";
    assert_eq!(layer.table["keys"], Value::Table(keys.parse().unwrap()));
    assert_eq!(layer.origins["keys.deny_with_message"].to_string(), format!("{FILE}:2"));
}

#[test]
fn an_invalid_value_under_an_old_name_is_reported_at_its_line() {
    let layer = check_settings(
        "[second_reader]\nseconds = 0\n",
        &["2: model_reviewer.seconds is 0. Use an integer from 1 to 120 seconds"],
    );
    assert_eq!(layer.notices.len(), 1);
}

/// Asserts that a text has exactly these errors, each as `LINE: MESSAGE`. Returns what was read.
#[track_caller]
fn check_settings(text: &str, expected: &[&str]) -> Layer {
    let layer = parse_settings(text, FILE);
    let problems: Vec<String> = layer.problems.iter().map(ToString::to_string).collect();
    let expected: Vec<String> = expected.iter().map(|text| format!("{FILE}:{text}")).collect();
    assert_eq!(problems, expected);
    layer
}

#[test]
fn an_invalid_value_is_reported_with_the_accepted_values() {
    check_settings("\n\n[screen]\nmouse = \"maybe\"", &[r#"4: screen.mouse is "maybe". Use true or false"#]);
    check_settings("[screen]\nlinks = 3", &[r#"2: screen.links is 3. Use "auto", "on" or "off""#]);
    check_settings("[screen]\ntheme = []", &["2: screen.theme is a list. Use a quoted string"]);
    check_settings("screen.theme = \" \"", &["1: screen.theme is \" \". Use a quoted string"]);
    check_settings(
        "[approval]\nmode = \"yolo\"",
        &[r#"2: approval.mode is "yolo". Use "plan", "ask", "auto" or "full""#],
    );
    check_settings("shell = { timeout = 0 }", &["1: shell.timeout is 0. Use an integer from 1 to 3600 seconds"]);
    check_settings("[shell]\ntimeout = 1.5", &["2: shell.timeout is 1.5. Use an integer from 1 to 3600 seconds"]);
    check_settings(
        "[profiles.a]\nprice_input = -1",
        &["2: profiles.a.price_input is -1. Use a price per million tokens, such as 0.25"],
    );
    check_settings(
        "[keys]\nquit = [1]",
        &["2: keys.quit is a list. Use a key chord such as \"ctrl-k\", or a list of them"],
    );
    check_settings(
        "[profiles.a]\nparameters = 1",
        &["2: profiles.a.parameters has an invalid value. Use names with values, such as { temperature = 0.2 }"],
    );
}

#[test]
fn r57_values_that_may_be_secret_are_not_shown() {
    check_settings(
        "[profiles.a]\nkey_env = \"sk-secret\"",
        &[
            "2: profiles.a.key_env has an invalid value. Use the name of an environment variable, such as \"OPENAI_API_KEY\", not the key itself",
        ],
    );
    check_settings(
        "[profiles.a]\nheaders = { X = 1 }",
        &["2: profiles.a.headers has an invalid value. Use names with string values, such as { X-Title = \"aye\" }"],
    );
    check_settings(
        "[profiles.a]\nbase_url = \"https://me:secret@host/v1\"",
        &["2: profiles.a.base_url has an invalid value. Use an address such as \"https://example.com/v1\""],
    );
    check_settings(
        "[profiles.a]\napi_key = \"sk-secret\"",
        &[
            "2: profiles.a.api_key is not a setting. Keys are not stored in this file: use key_env, which names the variable that holds the key",
        ],
    );
}

#[test]
fn errors_in_a_profile_name_the_cause() {
    for (text, message) in [
        ("model = \"\"", "model has no value; remove the line to leave it unset"),
        ("model = \"null\"", "model has no value; remove the line to leave it unset"),
        ("key_env = \"none\"", "key_env has no value; remove the line to leave it unset"),
        ("api = \"completions\"", "api is \"completions\". Use \"chat\" or \"responses\""),
        ("max_tokens = 0", "max_tokens is 0. Use an integer from 1 to 10000000 tokens"),
        ("max_tokens = \"many\"", "max_tokens is \"many\". Use an integer from 1 to 10000000 tokens"),
        ("price_cached = nan", "price_cached is nan. Use a price per million tokens, such as 0.25"),
        ("tools = \"yes\"", "tools is \"yes\". Use true or false"),
        (
            "ca_file = \"company.pem\"",
            "ca_file is \"company.pem\". Use an absolute file path such as \"~/certificates/company.pem\"",
        ),
        (
            "omit_parameters = \"stream_options\"",
            "omit_parameters is \"stream_options\". Use a list of names, such as [\"stream_options\"]",
        ),
        ("headers = { \"X Y\" = \"1\" }", "headers has the header \"X Y\", which is not a valid header name"),
        ("headers = { Host = \"h\" }", "headers has the header Host, which HTTP sets itself"),
        (
            "headers = { X-A = \"fine\", X-B = \"sec\\nret\" }",
            "headers has the header X-B with an empty value, a line break or characters that cannot be sent",
        ),
        (
            "headers = { X-B = \"sécret\" }",
            "headers has the header X-B with an empty value, a line break or characters that cannot be sent",
        ),
        ("key_header = \"connection\"", "key_header is set by HTTP itself"),
        ("key_header = \"api key\"", "key_header has an invalid value. Use a header name such as \"api-key\""),
        ("parameters = { model = \"x\" }", "parameters has model, which aye sets itself"),
        (
            "parameters = { seed = 1979-05-27 }",
            "parameters has seed with a date, nan or inf, which JSON cannot represent",
        ),
        ("parameters = { a = { b = [inf] } }", "parameters has a with a date, nan or inf, which JSON cannot represent"),
        (
            "query = { key = 1 }",
            "query has an invalid value. Use names with string values, such as { api-version = \"preview\" }",
        ),
        (
            "proxy = \"127.0.0.1:3128\"",
            "proxy has an invalid value. Use an address such as \"http://127.0.0.1:3128\", or \"none\"",
        ),
        (
            "base_url = \"https://h/v1/chat/completions\"",
            "base_url is a complete endpoint, not a base address. Write \"https://h/v1\".",
        ),
        (
            "base_url = \"https://h/v1?key=secret\"",
            "base_url has a query: write the part after the ? as query = { name = \"value\" }",
        ),
        ("key_command = \"pass 'show\"", "key_command has a quote that is not closed"),
        (
            "key_command = \"pass show | head -1\"",
            "key_command needs a shell, which is not used by default; write [\"sh\", \"-c\", \"…\"] to run one",
        ),
        (
            "key_command = []",
            "key_command has an invalid value. Use a program with its arguments, such as [\"pass\", \"show\", \"openai\"]",
        ),
        ("max_token = 1", "max_token is not a setting. Did you mean profiles.a.max_tokens?"),
        (
            "reasonning_effort = \"low\"",
            "reasonning_effort is not a setting. Did you mean profiles.a.reasoning_effort?",
        ),
        ("key_comand = \"x\"", "key_comand is not a setting. Did you mean profiles.a.key_command?"),
    ] {
        let layer =
            check_settings(&format!("[profiles.a]\n{text}\nidle_seconds = 7"), &[&format!("2: profiles.a.{message}")]);
        assert_eq!(layer.table["profiles"]["a"]["idle_seconds"].as_integer(), Some(7), "{text}");
        // The values with `sec` above are secrets that end with `ret`: the message must not show that end.
        assert!(!layer.problems[0].message.contains("ret") || !text.contains("sec"), "{text}");
    }
}

#[test]
fn a_command_is_a_list_or_a_string() {
    for text in ["key_command = \"pass show 'a b'\"", "key_command = [\"pass\", \"show\", \"a b\"]"] {
        let layer = check_settings(&format!("[profiles.a]\n{text}"), &[]);
        let command = layer.table["profiles"]["a"]["key_command"].as_array().unwrap();
        let words: Vec<&str> = command.iter().filter_map(Value::as_str).collect();
        assert_eq!(words, ["pass", "show", "a b"]);
    }
}

#[test]
fn null_is_reported_as_invalid_toml() {
    check_settings(
        "[profiles.a]\nmodel = null\n",
        &["2: this is not TOML (TOML has no null: remove the line). Correct it: until then the whole file is ignored"],
    );
}

#[test]
fn a_repeated_profile_does_not_invalidate_the_file() {
    let layer = check_settings(
        "[profiles.a]\nmodel = \"1\"\n[profiles.a]\nmodel = \"2\"\n[profiles.b]\nmodel = \"3\"\n[profiles.a]\nmodel = \"4\"",
        &[
            "3: profile a is already defined on line 1. Remove this definition: only the first one is used",
            "7: profile a is already defined on line 1. Remove this definition: only the first one is used",
        ],
    );
    assert_eq!(layer.table["profiles"]["a"]["model"].as_str(), Some("1"));
    assert_eq!(layer.origins["profiles.b.model"].to_string(), format!("{FILE}:6"));
    // Any other syntax error is reported instead, with its own line.
    let layer = parse_settings("[profiles.a]\n[profiles.a]\n[screen\n", "f");
    assert_eq!(layer.problems.len(), 1, "{:?}", layer.problems);
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_one() {
    check_settings("[screen]\nmuose = true", &["2: screen.muose is not a setting. Did you mean screen.mouse?"]);
    check_settings(
        "[shell]\nsomething_else = 1",
        &[
            "2: shell.something_else is not a setting. Use one of: timeout, max_timeout, sandbox, network, write, read, sockets",
        ],
    );
    check_settings("[scren]\nmouse = true", &["1: scren is not a section. Did you mean screen?"]);
    check_settings(
        "mouse = true",
        &[
            "1: mouse is not a section. Use one of: model, profiles, approval, hooks, model_reviewer, mcp, project, undo, workspace, dry_run, shell, web, credentials, tools, docs, screen, keys",
        ],
    );
    check_settings("screen = 3", &["1: screen is 3. Use a section [screen]"]);
    check_settings("[profiles]\nmine = \"x\"", &["2: profiles.mine is \"x\". Use a section [profiles.mine]"]);
}

#[test]
fn valid_settings_are_loaded_with_their_lines() {
    let layer = check_settings(
        "[screen]\nmouse = 1\ntheme = \"dark\"\n[screne]\n[keys]\nquit = \"ctrl-q\"\n",
        &["2: screen.mouse is 1. Use true or false", "4: screne is not a section. Did you mean screen?"],
    );
    assert_eq!(layer.table["screen"]["theme"].as_str(), Some("dark"));
    assert_eq!(layer.table["keys"]["quit"][0].as_str(), Some("ctrl-q"));
    assert_eq!(layer.origins["screen.theme"].to_string(), format!("{FILE}:3"));
    assert_eq!(layer.origins["keys.quit"].to_string(), format!("{FILE}:6"));
}

#[test]
fn r69_invalid_toml_is_one_problem_with_its_line() {
    let layer = check_settings(
        "[screen]\nmouse = true\ntheme = \n",
        &[
            "3: this is not TOML (string values must be quoted, expected literal string). Correct it: until then the whole file is ignored",
        ],
    );
    assert_eq!(layer.table, Table::new());
    assert_eq!(parse_settings("[a]\n[a]\n", "f").problems[0].origin.to_string(), "f:2");
    assert_eq!(parse_settings("\u{feff}[screen]\nmouse = false", "f").problems, []);
}

#[test]
fn a_number_out_of_range_is_one_problem_and_the_rest_applies() {
    let layer = check_settings(
        "screen = 99999999999999999999\n[shell]\ntimeout = 99999999999999999999\nmax_timeout = 60\n",
        &[
            "1: screen has a number that is out of range. Use a smaller one",
            "3: shell.timeout has a number that is out of range. Use a smaller one",
        ],
    );
    assert_eq!(layer.table["shell"], Value::Table("max_timeout = 60".parse().unwrap()));
}

#[test]
fn a_long_invalid_value_is_truncated() {
    let problems = parse_settings(&format!("[screen]\nmouse = \"{}\"", "x".repeat(1000)), "f").problems;
    assert!(problems[0].message.len() < 120, "{}", problems[0]);
}

#[test]
fn r64_deep_nesting_does_not_crash() {
    for text in [
        format!("a = {}", "[".repeat(20_000)),
        format!("a = {}", "{a=".repeat(20_000)),
        format!("[{}a]", "a.".repeat(20_000)),
        format!("{}a = 1", "a.".repeat(20_000)),
        format!("[profiles.a]\nparameters = {}1{}", "{ a = ".repeat(20_000), "}".repeat(20_000)),
        format!("[profiles.a.parameters.{}a]\nb = 1", "a.".repeat(20_000)),
    ] {
        assert_eq!(parse_settings(&text, "f").problems.len(), 1, "{}", &text[..40]);
    }
}

proptest::proptest! {
    #[test]
    fn r64_no_text_makes_reading_panic(text in "(\\[[a-z.]{0,9}\\]\n|[a-z.]{0,9} = [\\[\\]{}\"0-9a-z, ]{0,9}\n|\\PC{0,9}){0,9}") {
        parse_settings(&text, "f");
    }
}
