//! What a yes for a command's first words never covers: words behind them that bring code of their own.

use super::*;
use crate::chat::{By, CommandLine, Grant, Scope, Standing};

fn allowed(words: &str, command: &str) -> bool {
    let line = CommandLine { command: command.into(), folder: "/p".into(), ..CommandLine::default() };
    let words = words.split(' ').map(str::to_owned).collect();
    let grant = Grant::new("tool", Scope::Words { words, folder: "/p".into() });
    let granted = [Standing { grant, entry: 0, number: 1, call: "c".into(), by: By::Nobody }];
    let plan = super::tests::plan(Access::Run(line.into()), false);
    judge(&Policy::default(), &granted, &Rules::default(), "tool", &plan).word() == "allow"
}

#[test]
fn r11_a_kept_prefix_never_covers_code_in_the_words_behind_it() {
    for (words, covered, not) in [
        (
            "make test",
            &["make test", "make test lint", "make test -j4 -k"][..],
            &[
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
            ][..],
        ),
        (
            "git grep",
            &["git grep -n main", "git grep -e 'a b' -- src"],
            &["git grep -O'sh -c id' main", "git grep -O./x main", "git grep '-Osh' main"],
        ),
        (
            "tar cf",
            &["tar cf a.tar src"],
            &[
                "tar cf a.tar src -I ./x",
                "tar cf a.tar src -I./x",
                "tar cf a.tar src -F ./x",
                "tar cf a.tar src --info-script=./x",
                "tar cf a.tar src --rmt-command ./x",
            ],
        ),
        (
            "cargo test",
            &[
                "cargo test a=b",
                "cargo test -- --nocapture",
                "cargo test --features=a,b",
                "cargo test 'a; b'",
            ],
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
            &["git commit -m 'one; two | three'", "git commit -am 'a b = c'"],
            &["git commit '-ma;b'"],
        ),
        ("go vet", &["go vet ./..."], &["go vet -vettool=./x", "go vet -vettool ./x"]),
    ] {
        for command in covered {
            assert!(allowed(words, command), "{command}");
        }
        for command in not {
            assert!(!allowed(words, command), "{command}");
        }
    }
}

#[test]
fn r11_a_prefix_that_is_too_wide_covers_nothing_wherever_it_was_kept() {
    for words in
        ["git", "bash", "taskset 1", "npx eslint", "sqlite3 x", "gcc", "strace", "env ls", "rm x", "-c x"]
    {
        assert!(!allowed(words, &format!("{words} y")), "{words}");
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        assert!(too_wide(&words).is_some(), "{words:?}");
    }
    assert!(allowed("cargo test", "cargo test y"));
}
