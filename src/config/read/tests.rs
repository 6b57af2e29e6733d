//! Wrong settings, one of a kind, with what is said of them word for word.

use super::*;

const FILE: &str = "~/.config/aye/config.toml";

/// A file's text, and every problem in it as it is said.
#[track_caller]
fn check(text: &str, said: &[&str]) -> Layer {
    let layer = read(text, FILE);
    let problems: Vec<String> = layer.problems.iter().map(ToString::to_string).collect();
    let said: Vec<String> = said.iter().map(|words| format!("{FILE}:{words}")).collect();
    assert_eq!(problems, said);
    layer
}

#[test]
fn a_wrong_value_says_what_was_found_and_what_is_allowed() {
    check("\n\n[screen]\nmouse = \"maybe\"", &[r#"4: screen.mouse is "maybe"; it takes true or false"#]);
    check("[screen]\nlinks = 3", &[r#"2: screen.links is 3; it takes "auto", "on" or "off""#]);
    check("[screen]\ntheme = []", &["2: screen.theme is a list; it takes a text in quotes"]);
    check("screen.theme = \" \"", &["1: screen.theme is \" \"; it takes a text in quotes"]);
    check(
        "[approval]\nmode = \"yolo\"",
        &[r#"2: approval.mode is "yolo"; it takes "plan", "ask", "auto" or "full""#],
    );
    check("shell = { timeout = 0 }", &["1: shell.timeout is 0; it takes a whole number from 1 to 3600"]);
    check("[shell]\ntimeout = 1.5", &["2: shell.timeout is 1.5; it takes a whole number from 1 to 3600"]);
    check(
        "[profiles.a]\nprice_input = -1",
        &["2: profiles.a.price_input is -1; it takes a number, such as 0.25, for a million tokens"],
    );
    check(
        "[keys]\nquit = [1]",
        &["2: keys.quit is a list; it takes a chord such as \"ctrl-k\", or a list of them"],
    );
    check(
        "[profiles.a]\nparameters = 1",
        &[
            "2: profiles.a.parameters cannot be used as it is; it takes names with values, such as { temperature = 0.2 }",
        ],
    );
}

#[test]
fn r57_what_may_be_a_secret_is_not_shown() {
    check(
        "[profiles.a]\nkey_env = \"sk-secret\"",
        &[
            "2: profiles.a.key_env cannot be used as it is; it takes the name of a variable, such as \"OPENAI_API_KEY\", and never the key itself",
        ],
    );
    check(
        "[profiles.a]\nheaders = { X = 1 }",
        &[
            "2: profiles.a.headers cannot be used as it is; it takes names with a text each, such as { X-Title = \"aye\" }",
        ],
    );
    check(
        "[profiles.a]\nbase_url = \"https://me:secret@host/v1\"",
        &[
            "2: profiles.a.base_url cannot be used as it is; it takes an address such as \"https://example.com/v1\"",
        ],
    );
    check(
        "[profiles.a]\napi_key = \"sk-secret\"",
        &[
            "2: profiles.a.api_key is no setting; a key never stands in this file; key_env names the variable that holds it",
        ],
    );
}

#[test]
fn what_is_wrong_in_a_profile_says_what() {
    for (text, said) in [
        ("model = \"\"", "model says nothing; leave the line out where there is none"),
        ("model = \"null\"", "model says nothing; leave the line out where there is none"),
        ("key_env = \"none\"", "key_env says nothing; leave the line out where there is none"),
        ("api = \"completions\"", "api is \"completions\"; it takes \"chat\" or \"responses\""),
        ("max_tokens = 0", "max_tokens is 0; it takes a whole number from 1 to 10000000"),
        ("max_tokens = \"many\"", "max_tokens is \"many\"; it takes a whole number from 1 to 10000000"),
        ("price_cached = nan", "price_cached is nan; it takes a number, such as 0.25, for a million tokens"),
        ("tools = \"yes\"", "tools is \"yes\"; it takes true or false"),
        (
            "ca_file = \"company.pem\"",
            "ca_file is \"company.pem\"; it takes the whole path of a file, such as \"~/certificates/company.pem\"",
        ),
        (
            "leave_out = \"stream_options\"",
            "leave_out is \"stream_options\"; it takes a list of names, such as [\"stream_options\"]",
        ),
        ("headers = { \"X Y\" = \"1\" }", "headers has a header \"X Y\", which is no name of one"),
        ("headers = { Host = \"h\" }", "headers has the header Host, which HTTP itself sets"),
        (
            "headers = { X-A = \"fine\", X-B = \"sec\\nret\" }",
            "headers has the header X-B with nothing in it, or a line break or letters that cannot be sent",
        ),
        (
            "headers = { X-B = \"sécret\" }",
            "headers has the header X-B with nothing in it, or a line break or letters that cannot be sent",
        ),
        ("key_header = \"connection\"", "key_header is set by HTTP itself"),
        (
            "key_header = \"api key\"",
            "key_header cannot be used as it is; it takes the name of a header, such as \"api-key\"",
        ),
        ("parameters = { model = \"x\" }", "parameters has model, which aye writes itself"),
        (
            "parameters = { seed = 1979-05-27 }",
            "parameters has seed with a date, nan or inf in it, which JSON has no word for",
        ),
        (
            "parameters = { a = { b = [inf] } }",
            "parameters has a with a date, nan or inf in it, which JSON has no word for",
        ),
        (
            "query = { key = 1 }",
            "query cannot be used as it is; it takes names with a text each, such as { api-version = \"preview\" }",
        ),
        (
            "proxy = \"127.0.0.1:3128\"",
            "proxy cannot be used as it is; it takes an address such as \"http://127.0.0.1:3128\", or \"none\"",
        ),
        (
            "base_url = \"https://h/v1/chat/completions\"",
            "base_url is a whole endpoint, not the address before it. Write \"https://h/v1\".",
        ),
        (
            "base_url = \"https://h/v1?key=secret\"",
            "base_url has a query: write what comes after the ? as query = { name = \"value\" }",
        ),
        ("key_command = \"pass 'show\"", "key_command has a quote that is not closed"),
        (
            "key_command = \"pass show | head -1\"",
            "key_command wants a shell, and none is used; make it [\"sh\", \"-c\", \"…\"] if that is meant",
        ),
        (
            "key_command = []",
            "key_command cannot be used as it is; it takes a program with its arguments, such as [\"pass\", \"show\", \"openai\"]",
        ),
        ("max_token = 1", "max_token is no setting; did you mean profiles.a.max_tokens?"),
        (
            "reasonning_effort = \"low\"",
            "reasonning_effort is no setting; did you mean profiles.a.reasoning_effort?",
        ),
        ("key_comand = \"x\"", "key_comand is no setting; did you mean profiles.a.key_command?"),
    ] {
        let layer =
            check(&format!("[profiles.a]\n{text}\nidle_seconds = 7"), &[&format!("2: profiles.a.{said}")]);
        assert_eq!(layer.table["profiles"]["a"]["idle_seconds"].as_integer(), Some(7), "{text}");
        assert!(!layer.problems[0].words.contains("ret") || !text.contains("sec"), "{text}");
    }
}

#[test]
fn a_command_is_a_list_or_one_text() {
    for text in ["key_command = \"pass show 'a b'\"", "key_command = [\"pass\", \"show\", \"a b\"]"] {
        let layer = check(&format!("[profiles.a]\n{text}"), &[]);
        let command = layer.table["profiles"]["a"]["key_command"].as_array().unwrap();
        let words: Vec<&str> = command.iter().filter_map(Value::as_str).collect();
        assert_eq!(words, ["pass", "show", "a b"]);
    }
}

#[test]
fn there_is_no_word_for_nothing() {
    check(
        "[profiles.a]\nmodel = null\n",
        &[
            "2: this is not TOML (there is no word for nothing in it: leave the line out); nothing in the file is used until it is",
        ],
    );
}

#[test]
fn a_profile_that_stands_twice_is_no_end_of_the_file() {
    let layer = check(
        "[profiles.a]\nmodel = \"1\"\n[profiles.a]\nmodel = \"2\"\n[profiles.b]\nmodel = \"3\"\n[profiles.a]\nmodel = \"4\"",
        &[
            "3: the profile a stands on line 1 already; that one counts, and this one does not",
            "7: the profile a stands on line 1 already; that one counts, and this one does not",
        ],
    );
    assert_eq!(layer.table["profiles"]["a"]["model"].as_str(), Some("1"));
    assert_eq!(layer.origins["profiles.b.model"].to_string(), format!("{FILE}:6"));
    // Where something else is wrong too, that is said, with its own line.
    let broken = read("[profiles.a]\n[profiles.a]\n[screen\n", "f");
    assert_eq!(broken.problems.len(), 1, "{:?}", broken.problems);
}

#[test]
fn an_unknown_name_says_the_nearest_one() {
    check("[screen]\nmuose = true", &["2: screen.muose is no setting; did you mean screen.mouse?"]);
    check(
        "[shell]\nsomething_else = 1",
        &[
            "2: shell.something_else is no setting; there are timeout, max_timeout, sandbox, network, write, sockets",
        ],
    );
    check("[scren]\nmouse = true", &["1: scren is no section; did you mean screen?"]);
    check(
        "mouse = true",
        &[
            "1: mouse is no section; there are model, profiles, approval, hooks, second_reader, project, dry_run, shell, screen, keys",
        ],
    );
    check("screen = 3", &["1: screen is 3; it is a section: [screen]"]);
    check("[profiles]\nmine = \"x\"", &["2: profiles.mine is \"x\"; it is a section: [profiles.mine]"]);
}

#[test]
fn the_rest_is_still_loaded_and_known_by_its_line() {
    let layer = check(
        "[screen]\nmouse = 1\ntheme = \"dark\"\n[screne]\n[keys]\nquit = \"ctrl-q\"\n",
        &["2: screen.mouse is 1; it takes true or false", "4: screne is no section; did you mean screen?"],
    );
    assert_eq!(layer.table["screen"]["theme"].as_str(), Some("dark"));
    assert_eq!(layer.table["keys"]["quit"][0].as_str(), Some("ctrl-q"));
    assert_eq!(layer.origins["screen.theme"].to_string(), format!("{FILE}:3"));
    assert_eq!(layer.origins["keys.quit"].to_string(), format!("{FILE}:6"));
}

#[test]
fn r69_what_is_no_toml_is_one_problem_with_its_line() {
    let layer = check(
        "[screen]\nmouse = true\ntheme = \n",
        &[
            "3: this is not TOML (string values must be quoted, expected literal string); nothing in the file is used until it is",
        ],
    );
    assert_eq!(layer.table, Table::new());
    assert_eq!(read("[a]\n[a]\n", "f").problems[0].at.to_string(), "f:2");
    assert_eq!(read("\u{feff}[screen]\nmouse = false", "f").problems, []);
}

#[test]
fn a_long_value_is_shortened() {
    let problems = read(&format!("[screen]\nmouse = \"{}\"", "x".repeat(1000)), "f").problems;
    assert!(problems[0].words.len() < 120, "{}", problems[0]);
}

#[test]
fn r64_no_depth_makes_reading_fail() {
    for text in [
        format!("a = {}", "[".repeat(20_000)),
        format!("a = {}", "{a=".repeat(20_000)),
        format!("[{}a]", "a.".repeat(20_000)),
        format!("{}a = 1", "a.".repeat(20_000)),
        format!("[profiles.a]\nparameters = {}1{}", "{ a = ".repeat(20_000), "}".repeat(20_000)),
        format!("[profiles.a.parameters.{}a]\nb = 1", "a.".repeat(20_000)),
    ] {
        assert_eq!(read(&text, "f").problems.len(), 1, "{}", &text[..40]);
    }
}

proptest::proptest! {
    #[test]
    fn r64_no_text_makes_reading_panic(text in "(\\[[a-z.]{0,9}\\]\n|[a-z.]{0,9} = [\\[\\]{}\"0-9a-z, ]{0,9}\n|\\PC{0,9}){0,9}") {
        read(&text, "f");
    }
}
