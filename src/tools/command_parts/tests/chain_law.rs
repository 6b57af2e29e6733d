//! Law: an allowed command line has no part that would ask if it were given alone.

use super::*;
use proptest::prelude::*;

fn chain_strategy() -> impl Strategy<Value = String> {
    let allowed = prop::sample::select(vec![
        "cargo test",
        "cargo build --release",
        "timeout 60 cargo test",
        "RUST_BACKTRACE=1 cargo test",
        "cargo test 2>&1 -q",
        "sed -n 1,5p",
        "cat *.txt",
        "echo $?",
        "npm test",
        "git add -A",
        "git commit -m 'x y'",
        "mytool a.txt",
        "bash x.sh",
        "cat a.txt",
        "tail -n 5",
        "grep x",
        "cd web",
        "cd .",
        "cd ..",
        "echo ok",
        "ls -la",
    ]);
    let other = prop::sample::select(vec![
        "git checkout x",
        "cat b.txt",
        "cat .env",
        "cat linked",
        "sort -o a.txt",
        "rm a.txt",
        "rm -rf web",
        "git reset --hard",
        "curl x.example",
        "cd up",
        "cd missing",
        "sh",
        "export PATH=.",
        "X=1",
        "> a.txt",
        "./timeout 60 cargo test",
        "PATH=. cargo test",
        "cargo test 2>&1 --config=x",
        "sed 'w x'",
        "cat .e*",
        "echo $KEY",
        "cargo test $(id)",
        "! cargo test",
    ]);
    let part = prop_oneof![6 => allowed, 1 => other];
    let suffix = prop::sample::select(vec!["", "", "", " 2>&1", " >/dev/null", " > out", " < a.txt", " 2>/dev/null"]);
    let joint = prop::sample::select(vec![" && ", " && ", " | ", "; ", " || ", "\n", " & ", " |& "]);
    prop::collection::vec((part, suffix, joint), 1..5).prop_map(|items| {
        let mut line = String::new();
        for (index, (part, suffix, joint)) in items.iter().enumerate() {
            line.push_str(if index > 0 { joint } else { "" });
            line.push_str(part);
            line.push_str(suffix);
        }
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    /// Each part of an allowed line is allowed if it is given alone in its folder.
    #[test]
    fn r11_an_allowed_line_has_only_allowed_parts(line in chain_strategy(), rule_count in 0..=PREFIXES.len()) {
        let (_folder, disk) = project();
        let mut rules = allowing(&PREFIXES[..rule_count]);
        let mut exact = Rule::new(RuleEffect::Allow, RuleTarget::Command("bash x.sh".into()));
        exact.scripts = plan(&disk, "bash x.sh").grant.unwrap().scripts;
        rules.list.push(exact);
        let whole = plan(&disk, &line);
        if verdict(&[], &rules, &whole) != "allow" {
            return Ok(());
        }
        prop_assert!(whole.destroys.is_none(), "{line}");
        let split = split_chain(&parse_command_line(&line));
        let judged_parts = split.iter().zip(&whole.preconditions.parts);
        let in_each_folder = judged_parts.flat_map(|(part, judged)| judged.in_each_folder().map(move |judged| (part, judged)));
        for (part, judged) in in_each_folder {
            if part.changes_folder {
                let target = part.command.strip_prefix("cd ").unwrap();
                let entered = judged.folder.join(target).canonicalize().unwrap();
                prop_assert!(entered.starts_with(crate::project::Reader::root(&disk)), "{line}");
                continue;
            }
            let in_folder = Disk::new(&judged.folder).unwrap();
            // Secrets and links out of the project are judged in the project, commands in their own folder.
            let alone = plan(&disk, &format!("cd '{}' && {}", judged.folder.display(), part.command));
            prop_assert!(alone.destroys.is_none(), "{line}: {}", part.command);
            let root = crate::project::Reader::root(&disk);
            let place = if judged.folder == root { &disk } else { &in_folder };
            let command_alone = plan(place, &part.command);
            prop_assert_eq!(verdict(&[], &rules, &command_alone), "allow", "{}: {}", line, part.command);
            prop_assert!(judged.folder.starts_with(root), "{line}");
        }
    }
}
