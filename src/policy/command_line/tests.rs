//! Parsing of command lines.

use super::*;
use proptest::prelude::*;

/// Formats a parsed line: its commands, separated by ` / `, and `?? REASON` if the line is unclear. A command consists
/// of its nesting, connector, assignments, words and redirections; see `format_word` for the words.
fn format_line(command: &str) -> String {
    let parsed_line = parse_command_line(command);
    let mut parts: Vec<String> = parsed_line.commands.iter().map(format_command).collect();
    if let Some(why) = parsed_line.unclear {
        parts.push(format!("?? {why}"));
    }
    parts.join(" / ")
}

fn format_command(simple: &SimpleCommand) -> String {
    let mut parts = Vec::new();
    parts.extend(simple.nesting.iter().map(|construct| match construct {
        Nesting::Subshell => "( ".to_owned(),
        Nesting::Group => "{ ".to_owned(),
        Nesting::Substitution => "$( ".to_owned(),
        Nesting::ProcessSubstitution => "<( ".to_owned(),
        Nesting::Other => "… ".to_owned(),
        Nesting::Arguments(program) => format!("{program}: "),
    }));
    parts.push(
        match simple.connector {
            Connector::First => "",
            Connector::Semicolon => "; ",
            Connector::Ampersand => "& ",
            Connector::And => "&& ",
            Connector::Or => "|| ",
            Connector::Pipe => "| ",
            Connector::PipeWithStderr => "|& ",
        }
        .to_owned(),
    );
    parts.extend(simple.assignments.iter().map(|(name, value)| format!("{name}={} ", format_word(value))));
    parts.push(simple.words.iter().map(format_word).collect::<Vec<_>>().join(" "));
    parts.extend(simple.redirects.iter().map(|redirect| match redirect {
        Redirect::Read(source) => format!(" <{}", format_word(source)),
        Redirect::Write(target) => format!(" >{}", format_word(target)),
        Redirect::Append(target) => format!(" >>{}", format_word(target)),
        Redirect::Descriptor => " >&".to_owned(),
        Redirect::Text(text) => format!(" <<<{}", format_word(text)),
    }));
    if simple.is_background {
        parts.push(" &".to_owned());
    }
    parts.concat()
}

/// Formats a word: `[known]`, `*[pattern]`, `~[home]` or `?[unknown]`.
fn format_word(word: &Word) -> String {
    match word {
        Word::Known(text) => format!("[{}]", text.replace('\n', "\\n").replace('\t', "\\t")),
        Word::Pattern(text) => format!("*[{text}]"),
        Word::Home(text) => format!("~[{text}]"),
        Word::Unknown(text) => format!("?[{}]", text.replace('\n', "\\n")),
    }
}

fn check_commands(command: &str, expected: &str) {
    assert_eq!(format_line(command), expected, "{command:?}");
}

#[test]
fn r12_parses_every_command_of_a_chain() {
    check_commands("ls -la src", "[ls] [-la] [src]");
    check_commands("a; b && c || d | e |& f & g", "[a] / ; [b] & / && [c] & / || [d] & / | [e] & / |& [f] & / & [g]");
    check_commands("a\nb\n\nc # d\n", "[a] / ; [b] / ; [c]");
    check_commands("a \\\n b", "[a] [b]");
    check_commands("(a; b) && { c; }", "( [a] / ( ; [b] / { [c]");
    check_commands("! a", "[a]");
    check_commands("A=b C='d e' x", "A=[b] C=[d e] [x]");
    check_commands("A=b", "A=[b] ");
    check_commands("a 'b c' \"d\" e\\ f *.rs ~/g $H", "[a] [b c] [d] [e f] *[*.rs] ~[~/g] ?[$H]");
}

#[test]
fn r12_parses_redirections() {
    check_commands("a < b > c 2>> d", "[a] <[b] >[c] >>[d]");
    check_commands("a 2>&1 >&- &> x", "[a] >& >& >[x]");
    check_commands("a >& x", "[a] >[x]");
    check_commands("a && b > c", "[a] / && [b] >[c]");
    check_commands("(a; b) > c", "( [a] >[c] / ( ; [b] >[c]");
    check_commands("a > b c", "[a] [c] >[b]");
    check_commands("> a", " >[a]");
    // Words after a redirection decide what runs.
    check_commands(
        "find a 2> b -exec rm {} ';'",
        "[find] [a] [-exec] [rm] [{}] [;] >[b] / find: [rm] ?[files found by find]",
    );
    check_commands("bash 2> a -c 'rm x'", "[bash] [-c] [rm x] >[a] / bash: [rm] [x]");
    check_commands("a <<< 'b c'", "[a] <<<[b c]");
    check_commands("a <<'E'\n$x\nE\nb", "[a] <<<[$x\\n] / ; [b]");
    check_commands("a <<E\nx\nE", "[a] <<<[x\\n]");
    check_commands("a <<-E\n\tx\n\tE\n", "[a] <<<[\\tx\\n]");
    check_commands("a <<E\n$x\nE", "[a] <<<?[$x\\n]");
}

#[test]
fn r12_parses_substitutions() {
    check_commands("a $(b \"c\")", "$( [b] [c] / [a] ?[$(b \"c\")]");
    check_commands("a \"`b`\"", "$( [b] / [a] ?[\"`b`\"]");
    check_commands("a <(b) x", "<( [b] / [a] ?[<(b)] [x]");
    check_commands("A=$(b) c", "$( [b] / A=?[$(b)] [c]");
    check_commands("a <<E\n$(b)\nE", "[a] <<<?[$(b)\\n] / $( [b]");
    check_commands("echo $((1+$(b)))", "$( [b] / [echo] ?[$((1+$(b)))]");
    check_commands("a ${x:-$(b)}", "$( [b] / [a] ?[${x:-$(b)}]");
}

#[test]
fn r12_parses_commands_inside_wrappers() {
    check_commands("env -i A=b timeout -k 1 5 nice -n 3 ls -a", "A=[b] [ls] [-a]");
    check_commands("/usr/bin/env ls", "[ls]");
    check_commands("env - -u X ls", "[-u] [X] [ls]");
    check_commands("env - A=b ls", "A=[b] [ls]");
    check_commands("a | xargs -0rn 5 --max-procs 2 ls -x", "[a] / | [ls] [-x] ?[input of xargs]");
    check_commands("nice -5 timeout --signal=KILL -- 5 ls", "[ls]");
    check_commands("time -p ls", "[ls]");
    check_commands("command -v ls", "[command] [-v] [ls]");
    check_commands("a | xargs -n1 rm", "[a] / | [rm] ?[input of xargs]");
    check_commands("bash -lc 'a && b'", "[bash] [-lc] [a && b] / bash: [a] / bash: && [b]");
    check_commands("bash -oc pipefail 'a'", "[bash] [-oc] [pipefail] [a] / bash: [a]");
    check_commands("bash -o $X -c 'a'", "[bash] [-o] ?[$X] [-c] [a] / bash: [a]");
    check_commands("bash +O extglob -ec a b", "[bash] [+O] [extglob] [-ec] [a] [b] / bash: [a]");
    check_commands("find . -name -exec -o -exec a ';'", "[find] [.] [-name] [-exec] [-o] [-exec] [a] [;] / find: [a]");
    check_commands("sh -c \"sh -c 'a'\"", "[sh] [-c] [sh -c 'a'] / sh: [sh] [-c] [a] / sh: sh: [a]");
    check_commands("eval a 'b; c'", "[eval] [a] [b; c] / eval: [a] [b] / eval: ; [c]");
    check_commands("find . -exec rm {} +", "[find] [.] [-exec] [rm] [{}] [+] / find: [rm] ?[files found by find]");
    check_commands(
        "find . -exec sh -c 'rm x' \\;",
        "[find] [.] [-exec] [sh] [-c] [rm x] [;] / find: [sh] [-c] [rm x] / find: sh: [rm] [x]",
    );
}

#[test]
fn finds_code_and_scripts_of_interpreters() {
    // Inline code and script of the last command.
    let code_and_script = |command: &str| {
        let command = parse_command_line(command).commands.pop().unwrap();
        (command.inline_code.as_ref().map(format_word), command.script.as_ref().map(format_word))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(code_and_script("python3 -c 'print(1)'"), (some("[print(1)]"), None));
    assert_eq!(code_and_script("python3.11 -u x.py a"), (None, some("[x.py]")));
    assert_eq!(code_and_script("perl -e1"), (some("[1]"), None));
    assert_eq!(code_and_script("bash -eo pipefail x.sh"), (None, some("[x.sh]")));
    assert_eq!(code_and_script("./x.sh"), (None, some("[./x.sh]")));
    assert_eq!(code_and_script(". ./x.sh"), (None, some("[./x.sh]")));
    assert_eq!(code_and_script("ls"), (None, None));
}

#[test]
fn r12_ambiguous_lines_are_unclear() {
    let mut failures = Vec::new();
    for (command, why) in [
        ("ls\r", "control character"),
        ("ls\u{b}x", "control character"),
        ("ls\u{a0}x", "unknown before it runs"),
        ("ls 'x", "not fully understood"),
        ("ls $(", "not fully understood"),
        ("f() { ls; }", "function definition"),
        ("function f { ls; }", "function definition"),
        ("alias ls=rm", "alias definition"),
        ("for i in a; do ls; done", "shell loop, not analyzed"),
        ("while a; do b; done", "shell loop, not analyzed"),
        ("if a; then b; fi", "shell condition, not analyzed"),
        ("case a in b) c;; esac", "shell condition, not analyzed"),
        ("[[ -v a ]]", "brackets"),
        ("[ -f a ]", "brackets"),
        ("((a=1))", "shell arithmetic, not analyzed"),
        ("coproc ls", "keyword"),
        ("$x a", "unknown before it runs"),
        ("\"$(a)\" b", "unknown before it runs"),
        ("$'\\x72m' x", "unknown before it runs"),
        ("r{m,} x", "unknown before it runs"),
        ("* x", "unknown before it runs"),
        ("~/x", "unknown before it runs"),
        ("'' x", "empty program name"),
        ("a[1]=2 ls", "assignment"),
        ("a=(1 2)", "not one word"),
        ("PATH+=x ls", "assignment"),
        ("ls ;; pwd", "without a separator"),
        ("cat <<A; ls\n  a\nA\n", "not fully understood"),
        ("cat <<A <<B\nA\nB\n", "not fully understood"),
        ("cat <<A | sh\nx\nA", "here-document"),
        ("cat <> f", "not fully understood"),
        ("ls {x}>f", "redirection"),
        ("env -S 'rm x' y", "unsupported option of env"),
        ("timeout --unknown 5 ls", "unsupported option of timeout"),
        ("timeout --sig KILL 5 ls", "unsupported option of timeout"),
        ("timeout -* 5 ls", "unsupported option of timeout"),
        ("timeout -k $X 5 ls", "unsupported option of timeout"),
        ("xargs $x", "run by xargs unknown"),
        ("bash -c \"$x\"", "run by bash unknown"),
        ("bash -c 'ls", "not fully understood"),
        ("bash -c 'f() { ls; }'", "function definition"),
    ] {
        let reason = parse_command_line(command).unclear.unwrap_or_default();
        if !reason.contains(why) {
            failures.push(format!("{command:?}: {reason:?} and not {why:?}: {}", format_line(command)));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn r12_too_long_lines_are_unclear_and_still_parsed() {
    let repeat_command = |count: usize| vec!["ls"; count].join(";");
    assert_eq!(parse_command_line(&repeat_command(MAX_COMMANDS)).unclear, None);
    let too_many = parse_command_line(&repeat_command(MAX_COMMANDS + 1));
    assert!(too_many.unclear.is_some_and(|why| why.contains("more than 50")));
    let long_command = |count: usize| format!("sudo {}", "é".repeat(count - "sudo ".len()));
    assert!(!parse_command_line(&long_command(MAX_CHARACTERS)).unclear.is_some_and(|why| why.contains("longer")));
    let parsed_line = parse_command_line(&long_command(MAX_CHARACTERS + 1));
    assert_eq!(parsed_line.commands[0].program(), Some("sudo"));
    assert!(parsed_line.unclear.is_some_and(|why| why.contains("longer than 10000")));
    for nested in ["(", "$(", "`", "{ ", "bash -c '", "if ", "<(", "\"$("] {
        assert!(parse_command_line(&nested.repeat(2000)).unclear.is_some(), "{nested}");
    }
    let deep_command = format!("{}ls{}", "( ".repeat(MAX_NESTING + 2), ")".repeat(MAX_NESTING + 2));
    assert!(parse_command_line(&deep_command).unclear.is_some_and(|why| why.contains("deep")));
}

/// Constructs that run a command in an argument or around one: the text before and after it.
const CONSTRUCTS: [(&str, &str); 12] = [
    ("echo $(", ")"),
    ("echo \"$(", ")\""),
    ("echo a$(", ")b"),
    ("cat <(", ")"),
    ("tee >(", ")"),
    ("A=$(", ")"),
    ("A=$(", ") ls"),
    ("ls > $(", ")"),
    ("cat <<< $(", ")"),
    (" ( ", ")"),
    ("! { ", "; }"),
    ("if ls; then ", "; fi"),
];

proptest! {
    #[test]
    fn r64_each_command_is_listed_once_at_any_nesting(constructs in prop::collection::vec(0..CONSTRUCTS.len(), 0..20)) {
        let line = constructs.iter().fold("innermost".to_owned(), |inner, construct| {
            let (before, after) = CONSTRUCTS[*construct];
            format!("{before}{inner}{after}")
        });
        let ParsedLine { commands, unclear, .. } = parse_command_line(&line);
        prop_assert!(commands.len() <= constructs.len() * 2 + 1, "{line}: {} commands", commands.len());
        let innermost = commands.iter().filter(|simple| simple.program() == Some("innermost")).count();
        prop_assert!(innermost == 1 || innermost == 0 && unclear.is_some(), "{line}: {innermost}");
    }

    #[test]
    fn r64_parser_never_panics(line in r#"[ab /.;|&()<>"'\\$`{}=@~\[\]*!#0\n-]{0,60}"#) {
        parse_command_line(&line);
    }
}

mod bash_comparison;
