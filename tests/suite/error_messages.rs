//! The form of errors: what failed, a colon and the reason, then what to do. A table of mistakes with the text of each
//! part, and one check for all of them.

use crate::support::closed_port::reserve_closed_port;
use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use crate::support::tls_service::{ServerCertificate, TlsService};

mod error_form;

use error_form::find_fault;

/// A mistake of the user, and the parts of the error about it.
struct Mistake {
    arguments: &'static [&'static str],
    /// Files to write first: path below the root of the test, which contains `home` and `project`, and content.
    files: &'static [(&'static str, &'static str)],
    what_failed: &'static str,
    reason: &'static str,
    what_to_do: &'static str,
}

const fn mistake(
    arguments: &'static [&'static str],
    what_failed: &'static str,
    reason: &'static str,
    what_to_do: &'static str,
) -> Mistake {
    Mistake { arguments, files: &[], what_failed, reason, what_to_do }
}

/// A line of a settings file that is wrong. The run itself then fails because no model answers.
const fn wrong_setting(
    files: &'static [(&'static str, &'static str)],
    what_failed: &'static str,
    reason: &'static str,
    what_to_do: &'static str,
) -> Mistake {
    let arguments = &["-p", "hi"];
    Mistake { arguments, files, what_failed, reason, what_to_do }
}

const fn wrong_file(
    arguments: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    what_failed: &'static str,
    reason: &'static str,
    what_to_do: &'static str,
) -> Mistake {
    Mistake { arguments, files, what_failed, reason, what_to_do }
}

/// The origin that credentials of the table are for.
const ORIGIN: &str = "https://api.example.com";

const COMMAND_LINE: &[Mistake] = &[
    mistake(&["--nonsense"], "Cannot read the command line", "unexpected argument `--nonsense`", "See `aye --help`."),
    mistake(
        &["--profil", "x"],
        "Cannot read the command line",
        "unexpected argument `--profil`",
        "Did you mean `--profile`?",
    ),
    mistake(&["--theme"], "Cannot read the command line", "a value is required for `--theme", "See `aye --help`."),
    mistake(
        &["sessions", "export", "--format", "pdf"],
        "Cannot read the command line",
        "invalid value `pdf`",
        "Use one of: markdown, html, json.",
    ),
    mistake(
        &["-p", "--raw", "--json", "hi"],
        "Cannot read the command line",
        "cannot be used with",
        "See `aye --help`.",
    ),
    mistake(
        &["--json"],
        "Cannot use --json here",
        "an option of other commands",
        "Use it with -p, or with: aye sessions list",
    ),
    mistake(
        &["doctor", "--hunks"],
        "Cannot use --hunks here",
        "an option of another command",
        "Use it with: aye rehearsal apply",
    ),
    mistake(&["sesions"], "Cannot run aye sesions", "there is no such command", "Did you mean `aye sessions`?"),
    mistake(
        &["sessions", "bogus"],
        "Cannot run aye sessions bogus",
        "aye sessions takes one of: list, show",
        "To send this",
    ),
    mistake(&["doctor", "please"], "Cannot run aye doctor please", "aye doctor takes no arguments", "To send this"),
    mistake(
        &["mcp", "add", "x"],
        "Cannot run aye mcp add x",
        "an argument is missing, or there are too many",
        "Use `aye mcp add [OPTIONS] <NAME> [URL] [-- <COMMAND>...]`.",
    ),
    mistake(
        &["help", "sandbx"],
        "Cannot show help for sandbx",
        "there is no such page",
        "Did you mean `aye help sandbox`?",
    ),
    mistake(&[], "Cannot show the screen", "not a terminal", "Use -p to print the reply instead."),
    mistake(&["rehearsal", "apply"], "Cannot show the screen", "not a terminal", "Run it in a terminal."),
    mistake(&["-p", "hi"], "Cannot start a turn", "no model is configured", "Set OPENAI_API_KEY, or use --base-url"),
    mistake(&["-p", "--tour"], "Cannot start a turn", "there is no prompt", "Give one as an argument, or pipe it in."),
    mistake(
        &["-p", "--mode", "wild", "hi"],
        "Cannot use the mode \"wild\"",
        "does not exist",
        "Use plan, ask, auto or full.",
    ),
    mistake(
        &["-p", "--profile", "opnai", "hi"],
        "--profile",
        "profile \"opnai\" does not exist",
        "Did you mean openai?",
    ),
    mistake(&["-p", "--profile", "zzzzzzzz", "hi"], "--profile", "does not exist", "Use one of: anthropic"),
    mistake(
        &["-p", "--base-url", "example.com/v1", "hi"],
        "--base-url: Cannot use this address",
        "does not begin with http:// or https://",
        "Write \"https://example.com/v1\".",
    ),
    mistake(
        &["-p", "--base-url", "http://127.0.0.1:1/v1/chat/completions", "hi"],
        "--base-url: Cannot use this address",
        "it is a complete endpoint",
        "Write \"http://127.0.0.1:1/v1\".",
    ),
    mistake(
        &["-p", "-C", "/no/such", "hi"],
        "Cannot use the folder /no/such",
        "No such file",
        "Name another with --folder.",
    ),
    mistake(
        &["-p", "-C", "/dev/null", "hi"],
        "Cannot use the folder /dev/null",
        "not a folder",
        "Name another with --folder.",
    ),
    mistake(&["models"], "Cannot list the models", "no provider is configured", "Set the environment variable"),
    mistake(&["serve"], "Cannot serve", "the protocol is not named", "Run `aye serve --acp` for an editor"),
];

const SESSIONS: &[Mistake] = &[
    wrong_file(
        &["-p", "--tour", "x"],
        &[("home/aye/data", "")],
        "Cannot save anything between runs",
        "data: File exists",
        "Set AYE_HOME to a writable folder.",
    ),
    mistake(
        &["sessions", "show", "01ZZ"],
        "Cannot find the session \"01ZZ\"",
        "no ID begins with it",
        "List the IDs with",
    ),
    mistake(&["sessions", "show"], "Cannot find a session of", "there is none", "Start one with `aye`"),
    mistake(&["-p", "--tour", "--continue", "x"], "Cannot find a session of", "there is none", "Start one with `aye`"),
    mistake(
        &["-p", "--tour", "--resume"],
        "Cannot continue a session",
        "--resume has no session ID",
        "Name one, or use",
    ),
    mistake(&["--fork", "x"], "Cannot show the screen", "not a terminal", "Use -p"),
    mistake(&["-p", "--fork", "x"], "Cannot copy a session", "--fork names none", "Add --resume"),
    wrong_file(
        &["-p", "--continue", "x"],
        &[("home/aye/data/sessions/01ZZ.jsonl", "{\"damaged")],
        "Cannot read any session of",
        "session 01ZZ cannot be read: the first line of the session is damaged",
        "List all with `aye sessions --all`.",
    ),
    wrong_file(
        &["sessions", "show", "01"],
        &[("home/aye/data/sessions/01AA.jsonl", ""), ("home/aye/data/sessions/01BB.jsonl", "")],
        "Cannot find the session \"01\"",
        "several IDs begin with it: 01",
        "Type more characters.",
    ),
    wrong_file(
        &["sessions", "export", "01AA", "--output", "/no/such/x"],
        &[("home/aye/data/sessions/01AA.jsonl", "")],
        "Cannot write /no/such/x",
        "its parent folder does not exist",
        "Name another file",
    ),
    wrong_file(
        &["sessions", "export", "01AA", "--output", "out"],
        &[("home/aye/data/sessions/01AA.jsonl", ""), ("project/out", "")],
        "Cannot write out",
        "it already exists",
        "Use --force to overwrite it.",
    ),
    wrong_file(
        &["sessions", "export", "01AA", "--with-files"],
        &[("home/aye/data/sessions/01AA.jsonl", "")],
        "Cannot export files to standard output",
        "this format puts them next to the document",
        "Name a new folder with --output",
    ),
    wrong_file(
        &["sessions", "export", "01AA", "--with-files", "--output", "out"],
        &[("home/aye/data/sessions/01AA.jsonl", ""), ("project/out", "")],
        "Cannot write the folder out",
        "it already exists",
        "Name a new folder",
    ),
    wrong_file(
        &["sessions", "rename", "01AA", "\u{200b}"],
        &[("home/aye/data/sessions/01AA.jsonl", "")],
        "Cannot rename the session",
        "no visible characters",
        "Use another title.",
    ),
    wrong_file(
        &["sessions", "rm", "01AA"],
        &[("home/aye/data/sessions/01AA.jsonl", "")],
        "Cannot ask before removing",
        "not a terminal",
        "Confirm with --yes.",
    ),
    mistake(
        &["audit", "01ZZ"],
        "Cannot find the session \"01ZZ\"",
        "no ID begins with it",
        "To send this to the model",
    ),
    mistake(&["rehearsal"], "Cannot find a dry run of", "there is none", "Start one with `aye --dry-run`."),
    mistake(&["undo", "--session", "01ZZ"], "Cannot find the session \"01ZZ\"", "no ID begins with it", "List the IDs"),
    mistake(
        &["checkpoints", "show", "x"],
        "Cannot find the checkpoint \"x\"",
        "there is none in this folder",
        "List all with",
    ),
    mistake(&["trust"], "Cannot trust this project", "it has no files that change how aye works", "Add an AGENTS.md"),
    wrong_file(&["sessions"], &[("home/aye/data", "")], "Cannot use ", "Not a directory", "Check the path."),
    wrong_file(
        &["-p", "--tour", "x"],
        &[("home/aye", "")],
        "Cannot write the project of the script",
        "Not a dir",
        "Set AYE_HOME",
    ),
    wrong_file(
        &["-p", "--tour", "--answers", "a.json", "x"],
        &[("project/a.json", "clock = real")],
        "Cannot read the answers in a.json",
        "it is not JSON: expected value at line 1",
        "Use the JSON that -p printed",
    ),
    mistake(&["-p", "--tour", "--answers", "no", "x"], "Cannot read the answers in no", "No such file", "Use the JSON"),
];

const SETTINGS: &str = "home/aye/config/config.toml";
const RULES: &str = "home/aye/config/rules.toml";
const TOOL: &str = "home/aye/config/tools/x.toml";

const FILES: &[Mistake] = &[
    wrong_file(
        &["mcp", "login", "x"],
        &[(SETTINGS, "[mcp.x]\nurl = \"http://127.0.0.1:1/\"\n")],
        "Cannot reach http://127.0.0.1:1/",
        "the request failed",
        "Check the address and the network.",
    ),
    wrong_file(
        &["mcp", "check", "x"],
        &[(SETTINGS, "[mcp.x]\nurl = \"http://127.0.0.1:1/\"\n")],
        "Cannot use the MCP server x",
        "it cannot be reached: Connection refused",
        "Correct its settings",
    ),
    wrong_file(
        &["mcp", "logout", "x"],
        &[(SETTINGS, "[mcp.x]\nurl = \"http://127.0.0.1:1/\"\n")],
        "Cannot log out of x",
        "it has no credential",
        "List all with `aye credentials`.",
    ),
    wrong_setting(
        &[(SETTINGS, "[screen]\ncolour = 1\n")],
        "config.toml:2",
        "screen.colour is not a setting",
        "Did you mean screen.color?",
    ),
    wrong_setting(&[(SETTINGS, "[scren]\n")], "config.toml:1", "scren is not a section", "Did you mean screen?"),
    wrong_setting(&[(SETTINGS, "[screen\n")], "config.toml:1", "this is not TOML", "Correct it"),
    wrong_setting(&[(SETTINGS, "[screen]\nmouse = 3\n")], "config.toml:2", "screen.mouse is 3", "Use true or false"),
    wrong_setting(
        &[(SETTINGS, "[shell]\ntimeout = 9000\n")],
        "config.toml:2",
        "shell.timeout is 9000",
        "Use an integer from 1 to 3600 seconds",
    ),
    wrong_setting(
        &[(SETTINGS, "[profiles.x]\nkey = \"sk-1\"\n")],
        "config.toml:2",
        "profiles.x.key is not a setting",
        "use key_env",
    ),
    wrong_setting(
        &[(SETTINGS, "[profiles.x]\nbase_url = \"nope\"\n")],
        "config.toml:2",
        "profiles.x.base_url has an invalid value",
        "Use an address such as",
    ),
    wrong_setting(
        &[(SETTINGS, "[mcp.x]\nurl = 3\n")],
        "config.toml:2",
        "mcp.x.url has an invalid value",
        "Use an address such as",
    ),
    wrong_file(
        &["rules", "check"],
        &[(RULES, "[[rule]]\nverdict = \"dney\"\nprefix = \"x\"\n")],
        "rules.toml:2",
        "verdict is \"dney\"",
        "Use \"allow\", \"ask\" or \"deny\"",
    ),
    wrong_file(
        &["rules", "check"],
        &[(RULES, "[[rule]]\nverdict = \"deny\"\nprefxi = \"x\"\n")],
        "rules.toml:3",
        "prefxi is not a key of a rule",
        "Did you mean prefix? Correct it",
    ),
    wrong_file(&["rules", "check"], &[(RULES, "[[rule]\n")], "rules.toml:1", "this is not TOML", "Correct it"),
    wrong_file(
        &["tools", "check"],
        &[(TOOL, "name = \"x\"\n")],
        "x.toml:1",
        "type is missing",
        "Use one of \"http_api\"",
    ),
    wrong_file(
        &["tools", "check"],
        &[(TOOL, "name = \"x\"\ntype = \"comand\"\n")],
        "x.toml:2",
        "type \"comand\" is not supported",
        "Use one of \"http_api\"",
    ),
    mistake(&["tools", "check", "/no/such"], "Cannot check /no/such", "No such file", "Check the path."),
    mistake(&["tools", "import", "no.json"], "Cannot import no.json", "the file does not exist", "Name a JSON export"),
    mistake(&["tools", "new", "9x"], "Cannot name a tool \"9x\"", "it begins with no letter", "Use at most 64 letters"),
    mistake(&["tools", "new", "x", "--kind", "y"], "Cannot write a tool of kind \"y\"", "no such kind", "Use one of"),
    mistake(&["tools", "show", "no"], "Cannot find the tool \"no\"", "no file defines it", "Use one of: web_search."),
    mistake(&["tools", "disable", "bash_exec"], "Cannot turn off bash_exec", "it is built in", "Deny it with a rule"),
    wrong_file(
        &["mcp", "import", "m.json"],
        &[("project/m.json", "{}")],
        "Cannot import m.json",
        "it has none of",
        "Name a .mcp.json",
    ),
    mistake(
        &["mcp", "check", "x"],
        "Cannot find the MCP server \"x\"",
        "none is configured",
        "Add one with `aye mcp add`.",
    ),
    mistake(&["mcp", "remove", "x"], "Cannot remove the MCP server \"x\"", "it is not in", "List all with `aye mcp`."),
    mistake(
        &["mcp", "add", "X!", "http://h/"],
        "Cannot add the MCP server \"X!\"",
        "its name may only have",
        "Choose another name.",
    ),
    mistake(&["mcp", "add", "x", "nope"], "Cannot add the MCP server x", "its address is invalid", "Use an address"),
    mistake(
        &["mcp", "add", "x", "--", "/no/program"],
        "Cannot use the MCP server x",
        "could not be started",
        "Correct its settings",
    ),
    mistake(
        &["credentials", "add", "A/b"],
        "Cannot use this name",
        "has other characters",
        "Use at most 64 characters",
    ),
    mistake(&["credentials", "add", "a"], "Cannot add a", "it has no origin", "Name the scheme, host and port"),
    mistake(
        &["credentials", "add", "a", "--origin", "ftp://x"],
        "Cannot use this origin",
        "does not begin with",
        "Use scheme",
    ),
    mistake(
        &["credentials", "add", "a", "--origin", ORIGIN],
        "Cannot ask for the secret",
        "not a terminal",
        "Use --stdin",
    ),
    mistake(
        &["credentials", "add", "a", "--origin", ORIGIN, "--stdin"],
        "Cannot save the secret",
        "it is empty",
        "Enter one that is not.",
    ),
    mistake(
        &["credentials", "add", "a", "--origin", ORIGIN, "--kind", "basic", "--stdin"],
        "Cannot use --kind basic",
        "there is no user name",
        "Add --user NAME.",
    ),
    mistake(&["credentials", "remove", "a"], "Cannot delete a", "no credential of this name", "List all with"),
    mistake(&["credentials", "rotate", "a"], "Cannot replace the secret of a", "no usable credential", "List all with"),
];

/// Fails unless an error has the form and these parts, in this order.
fn check_error(mistake: &Mistake, out: &str, err: &str, code: i32) -> Result<(), String> {
    let all = format!("{err}{out}");
    let context = format!("{:?} {:?}: {all}", mistake.arguments, mistake.files);
    if code == 0 {
        return Err(format!("exit code 0: {context}"));
    }
    let line = all.lines().find(|line| line.contains(mistake.what_failed));
    let Some(line) = line else { return Err(format!("no {:?}: {context}", mistake.what_failed)) };
    if let Some(fault) = find_fault(line) {
        return Err(format!("{fault}: {context}"));
    }
    if let Some(fault) = error_form::find_leftover(if err.is_empty() { out } else { err }) {
        return Err(format!("{fault}: {context}"));
    }
    let mut rest = line;
    for part in [mistake.what_failed, mistake.reason, mistake.what_to_do] {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return Err(format!("no {part:?}: {context}")),
        }
    }
    Ok(())
}

/// Runs the program after each mistake, several at a time.
fn check_all(mistakes: &[Mistake]) {
    let faults: Vec<String> = std::thread::scope(|scope| {
        let chunks = mistakes.chunks(mistakes.len().div_ceil(4));
        let workers: Vec<_> =
            chunks.map(|chunk| scope.spawn(move || chunk.iter().filter_map(find_error).collect::<Vec<_>>())).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

fn find_error(mistake: &Mistake) -> Option<String> {
    let (_closed, address) = reserve_closed_port();
    let mut setup = Setup::new(mistake.arguments);
    for (path, content) in mistake.files {
        let path = setup.root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        let is_setting = *mistake.arguments == ["-p", "hi"];
        if is_setting {
            setup = setup.env("OPENAI_BASE_URL", &format!("http://{address}/v1")).env("AYE_MODEL", "m");
        }
    }
    let (out, err, code) = setup.run_piped("");
    check_error(mistake, &out, &err, code).err()
}

#[test]
fn errors_of_the_command_line_have_three_parts() {
    check_all(COMMAND_LINE);
}

#[test]
fn errors_of_sessions_have_three_parts() {
    check_all(SESSIONS);
}

#[test]
fn errors_of_files_have_three_parts() {
    check_all(FILES);
}

/// Runs `aye -p` with a provider; returns its errors and its exit code.
fn run_with_provider(address: &str) -> (String, i32) {
    let setup = Setup::new(&["-p", "--base-url", address, "--model", "m", "hi"]).env("OPENAI_API_KEY", "sk-test-1");
    let (_, err, code) = setup.run_piped("");
    (err, code)
}

#[track_caller]
fn check_provider_error((err, code): &(String, i32), parts: [&'static str; 3]) {
    let [what_failed, reason, what_to_do] = parts;
    let mistake = Mistake { arguments: &[], files: &[], what_failed, reason, what_to_do };
    check_error(&mistake, "", err, *code).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_of_a_provider_have_three_parts() {
    for (status, headers, message, parts) in [
        (401, &[][..], "bad key", ["The provider rejected the key", "bad key", "Check the key of the profile."]),
        (402, &[], "no credit", ["The provider requires payment", "no credit", "Add credit at the provider"]),
        (403, &[], "not you", ["The provider denied access", "not you", "Check the request and what the key permits."]),
        (
            404,
            &[],
            "no m",
            ["The provider does not know this model or address", "no m", "Check the model with `aye models`"],
        ),
        (429, &["retry-after: 3600"], "slower", ["The provider asks to wait 3600 s", "slower", "Try again later"]),
        (429, &[], "quota used up", ["The account at the provider has no quota left", "used up", "Add credit"]),
    ] {
        let body = format!(r#"{{"error":{{"message":"{message}"}}}}"#);
        let service = Service::start([Answer::body(status, "application/json", headers, &body)]).await;
        let address = service.base_url.clone();
        let result = tokio::task::spawn_blocking(move || run_with_provider(&address)).await.unwrap();
        check_provider_error(&result, parts);
    }
}

#[test]
fn errors_of_a_connection_have_three_parts() {
    let (_closed, address) = reserve_closed_port();
    let refused = run_with_provider(&format!("http://{address}/v1"));
    check_provider_error(
        &refused,
        ["Cannot connect to http://127.0.0.1:", "Connection refused", "Start it, or correct the address."],
    );
    let service = TlsService::start(ServerCertificate::self_signed("127.0.0.1"), b"HTTP/1.1 200 OK\r\n\r\n".to_vec());
    let untrusted = run_with_provider(&format!("https://127.0.0.1:{}/v1", service.port));
    let what_to_do = "name a file with it, or with that of its authority, in `ca_file`";
    check_provider_error(&untrusted, ["Cannot trust https://127.0.0.1:", "its certificate is not signed", what_to_do]);
}
