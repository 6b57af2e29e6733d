//! Parsing of command lines.

use super::*;
use proptest::prelude::*;

/// Formats a parsed line: the commands with their connectors, and the reason if it is unclear.
fn told(command: &str) -> String {
    let reading = parse_command_line(command);
    let mut told: Vec<String> = reading.commands.iter().map(one).collect();
    if let Some(UnclearReason(why)) = reading.unclear {
        told.push(format!("?? {why}"));
    }
    told.join(" / ")
}

fn one(simple: &SimpleCommand) -> String {
    let mut parts = Vec::new();
    parts.extend(simple.nesting.iter().map(|within| match within {
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
    parts.extend(simple.assignments.iter().map(|(name, value)| format!("{name}={} ", word(value))));
    parts.push(simple.words.iter().map(word).collect::<Vec<_>>().join(" "));
    parts.extend(simple.redirects.iter().map(|redirect| match redirect {
        Redirect::Read(from) => format!(" <{}", word(from)),
        Redirect::Write(to) => format!(" >{}", word(to)),
        Redirect::Append(to) => format!(" >>{}", word(to)),
        Redirect::Descriptor => " >&".to_owned(),
        Redirect::Text(text) => format!(" <<<{}", word(text)),
    }));
    if simple.is_background {
        parts.push(" &".to_owned());
    }
    parts.concat()
}

fn word(word: &Word) -> String {
    match word {
        Word::Known(text) => format!("[{}]", text.replace('\n', "\\n").replace('\t', "\\t")),
        Word::Pattern(text) => format!("*[{text}]"),
        Word::Home(text) => format!("~[{text}]"),
        Word::Unknown(text) => format!("?[{}]", text.replace('\n', "\\n")),
    }
}

fn check_commands(command: &str, expected: &str) {
    assert_eq!(told(command), expected, "{command:?}");
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
    let of = |command: &str| {
        let last = parse_command_line(command).commands.pop().unwrap();
        (last.inline_code.as_ref().map(word), last.script.as_ref().map(word))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(of("python3 -c 'print(1)'"), (some("[print(1)]"), None));
    assert_eq!(of("python3.11 -u x.py a"), (None, some("[x.py]")));
    assert_eq!(of("perl -e1"), (some("[1]"), None));
    assert_eq!(of("bash -eo pipefail x.sh"), (None, some("[x.sh]")));
    assert_eq!(of("./x.sh"), (None, some("[./x.sh]")));
    assert_eq!(of(". ./x.sh"), (None, some("[./x.sh]")));
    assert_eq!(of("ls"), (None, None));
}

#[test]
fn r12_ambiguous_lines_are_unclear() {
    let mut wrong = Vec::new();
    for (command, why) in [
        ("ls\r", "control character"),
        ("ls\u{b}x", "control character"),
        ("ls\u{a0}x", "unknown before it runs"),
        ("ls 'x", "not fully understood"),
        ("ls $(", "not fully understood"),
        ("f() { ls; }", "function definition"),
        ("function f { ls; }", "function definition"),
        ("alias ls=rm", "alias definition"),
        ("for i in a; do ls; done", "loop"),
        ("while a; do b; done", "loop"),
        ("if a; then b; fi", "condition"),
        ("case a in b) c;; esac", "condition"),
        ("[[ -v a ]]", "brackets"),
        ("[ -f a ]", "brackets"),
        ("((a=1))", "arithmetic"),
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
        let said = parse_command_line(command).unclear.map(|UnclearReason(why)| why).unwrap_or_default();
        if !said.contains(why) {
            wrong.push(format!("{command:?}: {said:?} and not {why:?}: {}", told(command)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn r12_too_long_lines_are_unclear_and_still_parsed() {
    let parts = |count: usize| vec!["ls"; count].join(";");
    assert_eq!(parse_command_line(&parts(MAX_COMMANDS)).unclear, None);
    let many = parse_command_line(&parts(MAX_COMMANDS + 1));
    assert!(many.unclear.is_some_and(|UnclearReason(why)| why.contains("more than 50")));
    let long = |count: usize| format!("sudo {}", "é".repeat(count - 5));
    assert!(
        !parse_command_line(&long(MAX_CHARACTERS)).unclear.is_some_and(|UnclearReason(why)| why.contains("longer"))
    );
    let reading = parse_command_line(&long(MAX_CHARACTERS + 1));
    assert_eq!(reading.commands[0].program(), Some("sudo"));
    assert!(reading.unclear.is_some_and(|UnclearReason(why)| why.contains("longer than 10000")));
    for nested in ["(", "$(", "`", "{ ", "bash -c '", "if ", "<(", "\"$("] {
        assert!(parse_command_line(&nested.repeat(2000)).unclear.is_some(), "{nested}");
    }
    let deep = format!("{}ls{}", "( ".repeat(MAX_NESTING + 2), ")".repeat(MAX_NESTING + 2));
    assert!(parse_command_line(&deep).unclear.is_some_and(|UnclearReason(why)| why.contains("deep")));
}

proptest! {
    #[test]
    fn r64_parser_never_panics(line in r#"[ab /.;|&()<>"'\\$`{}=@~\[\]*!#0\n-]{0,60}"#) {
        parse_command_line(&line);
    }
}

mod bash_comparison;
