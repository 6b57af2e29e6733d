//! A prefix that is a build tool alone covers what the prefixes with its subcommands cover, and only in a sandbox.

use super::*;
use crate::chat::{CommandSandbox, SandboxAccess};
use proptest::prelude::*;

fn covers(words: &str, command: &str, sandbox: CommandSandbox) -> bool {
    let line = CommandLine { command: command.into(), folder: "/p".into(), sandbox, ..CommandLine::default() };
    let words = words.split(' ').map(str::to_owned).collect();
    let grant = Grant::new("tool", GrantScope::Prefix { words, folder: "/p".into() });
    grant_covers(&grant, &Subject::from_plan("tool", &plan_for(Access::Run(line.into()))))
}

fn offline() -> CommandSandbox {
    CommandSandbox::enforced(SandboxAccess::default())
}

#[test]
fn r11_a_build_tool_is_covered_in_a_sandbox_only() {
    let with_network = CommandSandbox::enforced(SandboxAccess { network: true, ..SandboxAccess::default() });
    let with_sockets = CommandSandbox::enforced(SandboxAccess { sockets: true, ..SandboxAccess::default() });
    let without = CommandSandbox::Unavailable("none".into());
    for (sandbox, expected) in
        [(offline(), true), (with_network, false), (with_sockets, false), (without.clone(), false)]
    {
        assert_eq!(covers("cargo", "cargo build --release", sandbox.clone()), expected, "{sandbox:?}");
        assert_eq!(covers("make", "make", sandbox.clone()), expected, "{sandbox:?}");
        // A prefix with a subcommand is the user's word for it, sandbox or not.
        assert!(covers("cargo build", "cargo build --release", sandbox));
    }
}

#[test]
fn r11_a_build_tool_covers_no_wrapper_option_path_or_other_program() {
    for command in [
        "cargo install x",
        "cargo publish",
        "cargo +nightly test",
        "cargo --config x=y test",
        "cargo -Z unstable-options test",
        "cargo test --config x=y",
        "cargo test --manifest-path ../x/Cargo.toml",
        "cargo ../x",
        "cargo x=y",
        "npm exec x",
        "uv run x",
        "make -f x.mk",
        "make X=y",
        "make SHELL=./x test",
        "make 'x;id'",
        "deno eval x",
        "bun ./x.ts",
        "go run .",
        "cargo test && id",
        "cargo test > x",
        "! cargo test",
    ] {
        let program = command.split(' ').find(|word| *word != "!").unwrap();
        assert!(!covers(program, command, offline()), "{command}");
    }
}

#[test]
fn r11_an_example_is_covered_and_is_another_call() {
    for command in ["cargo test", "cargo build", "npm run build", "make", "make test", "pytest", "git log --oneline"] {
        let scope = GrantScope::Command { command: command.into(), folder: "/p".into(), network: false };
        let plan = Plan { grant: Some(Grant::new("tool", scope)), ..command_plan(command) };
        for grant in grant_scopes("tool", &plan) {
            let example = example_call(&grant, &plan);
            assert_eq!(example.is_none(), matches!(grant.scope, GrantScope::Command { .. }), "{grant:?}");
            assert_ne!(example.as_deref(), Some(command));
        }
    }
}

proptest! {
    #[test]
    fn r11_a_build_tool_covers_no_more_than_its_subcommands(
        program in "cargo|npm|make|go|deno|just|gradle|pip",
        words in prop::collection::vec("test|build|install|exec|run|eval|x|-[a-zA-Z]|--[a-z]{1,9}|[a-z]=y|'.{0,3}'|\\./x|../y|\\+a", 0..4),
    ) {
        let command = [vec![program.clone()], words.clone()].concat().join(" ");
        // The subcommand as the shell reads it: without quotes, and none if the word begins a comment.
        let line = crate::policy::command_line::parse_command_line(&command);
        let simple = crate::policy::coverage::single_plain_command(&line);
        let subcommand = simple.and_then(|simple| simple.words.get(1)?.known_text());
        if covers(&program, &command, offline()) && let Some(subcommand) = subcommand {
            prop_assert!(covers(&format!("{program} {subcommand}"), &command, offline()), "{command}");
        }
    }
}
