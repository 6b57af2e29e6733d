//! The overlay sandbox of a dry run: commands run in the overlay and see earlier changes; without the sandbox their
//! results are simulated.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::overlay_project::{EmptyProject, command_line, discard_overlay, open_overlay};
use crate::support::processes::count_command_lines_with;
use crate::support::program::{Setup, program};
use crate::support::scene::Scene;
use crate::support::scripted::{Reply, calls, says};
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{command_answer, text_answer};
use aye::agent::WaitingCall;
use aye::chat::{CommandLine, Outcome};
use aye::project::Reader;
use aye::project::disk::Disk;
use aye::project::output::CommandProgress;
use aye::project::overlay_sandbox::{CommandRehearsal, OverlayShell, View, test_overlay_sandbox};
use aye::project::rehearsal::{FileNode, Rehearsal};
use aye::project::shell::Shell;
use serde_json::json;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn command_reply(command: &str) -> Reply {
    calls("bash_exec", json!({ "command": command }))
}

/// A dry run whose commands run in an overlay sandbox.
fn scene_with_sandbox(replies: impl IntoIterator<Item = Reply>) -> Scene {
    let mut scene = Scene::dry_run(replies);
    let (_, shell) = open_overlay(&scene.project(), scene.project().parent().unwrap().join("layer"));
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
    scene
}

#[tokio::test]
async fn r30_commands_and_file_tools_see_each_others_changes() {
    if !has_overlay_sandbox() {
        return;
    }
    let mut scene = scene_with_sandbox([
        calls("write_file", json!({ "path": "new/a.txt", "content": "one\n" })),
        command_reply("cat new/a.txt; ls"),
        command_reply("echo two >> new/a.txt; mv b.txt c.txt; mkdir -p bin; printf '\\0\\377' > bin/x; chmod 750 bin/x; ln -s \"$PWD/c.txt\" bin/l; exit 3"),
        calls("read_file", json!({ "path": "new/a.txt" })),
        calls("edit_file", json!({ "path": "bin/l", "old_text": "b", "new_text": "C" })),
        calls("list_files", json!({})),
        calls("read_file", json!({ "path": "b.txt" })),
        command_reply("cat c.txt; stat -c %a bin/x"),
        says("Would do."),
    ])
    .with_file("b.txt", "b\r\n");
    scene.say("go").await;
    let outcomes = scene.outcomes();
    let text = |index: usize| outcomes[index].text();
    assert_eq!(text(1), "one\nb.txt\nnew\nexit 0", "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Rehearsed(text) if text == "exit 3"), "{outcomes:?}");
    assert!(text(3).contains("two"), "{outcomes:?}");
    assert!(matches!(&outcomes[4], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(text(5).contains("c.txt") && text(5).contains("bin/") && !text(5).contains("b.txt"), "{outcomes:?}");
    assert!(matches!(&outcomes[6], Outcome::Failed(_)), "{outcomes:?}");
    assert_eq!(text(7), "C\n750\nexit 0");
    assert_eq!(scene.file("b.txt").as_deref(), Some("b\r\n"));
    assert!(!scene.project().join("new").exists() && !scene.project().join("bin").exists());
    let (rehearsal, _) = open_overlay(&scene.project(), scene.project().parent().unwrap().join("layer"));
    let changes = rehearsal.list_changes().unwrap();
    let names: Vec<String> = changes.iter().map(|change| change.path.display().to_string()).collect();
    assert_eq!(names, ["b.txt", "bin", "bin/l", "bin/x", "c.txt", "new", "new/a.txt"]);
    assert_eq!(changes[0].after, FileNode::Nothing);
    assert!(matches!(&changes[3].after, FileNode::File { bytes, mode: 0o750 } if bytes == b"\0\xff"));
    let target = scene.project().canonicalize().unwrap().join("c.txt");
    assert_eq!(changes[2].after, FileNode::Link(target));
    assert_eq!(rehearsal.origin(Path::new("b.txt")).unwrap().digest, Some(aye::chat::Digest::of_bytes(b"b\r\n")));
}

/// The overlay sandbox has no network, so a command that needs it would only fail there.
#[tokio::test]
async fn r30_a_command_that_needs_the_network_is_simulated_although_there_is_an_overlay_sandbox() {
    if !has_overlay_sandbox() {
        return;
    }
    // The result of `touch` is known without a model.
    let call = calls("bash_exec", json!({ "command": "touch made", "network": "to ask" }));
    let mut scene = scene_with_sandbox([call, calls("list_files", json!({})), says("Would do.")]);
    scene.say("go").await;
    let outcomes = scene.outcomes();
    let why = "The command needs network access, which this dry run does not have. Simulated result:";
    assert!(matches!(&outcomes[0], Outcome::Rehearsed(text) if text.contains(why)), "{outcomes:?}");
    assert!(!outcomes[1].text().contains("made"), "{outcomes:?}");
}

#[tokio::test]
async fn r30_without_overlay_sandbox_nothing_runs_and_results_repeat() {
    let mut scene = Scene::dry_run([
        command_reply("touch made"),
        command_reply("touch made"),
        command_reply("ls"),
        says("Would do."),
    ]);
    scene.runtime.set_rehearsal(CommandRehearsal::Simulated("the trial says so".into()));
    scene.say("go").await;
    let outcomes = scene.outcomes();
    assert_eq!(scene.file("made"), None);
    let result = outcomes[0].text();
    assert!(result.starts_with("Dry run: this call was not run: touch made"), "{result}");
    assert!(result.contains("do not run in this dry run (the trial says so)"), "{result}");
    assert_eq!(outcomes[0], outcomes[1]);
    assert!(outcomes[2].text().contains("read_file, list_files and search_text see"), "{outcomes:?}");
}

#[tokio::test]
async fn r30_hidden_dry_run_is_not_mentioned_in_results() {
    let outside = calls("read_file", json!({ "path": "../elsewhere.txt" }));
    let mut scene = Scene::dry_run([command_reply("ls src"), outside, command_reply("touch made"), says("Would do.")]);
    scene.runtime.set_rehearsal(CommandRehearsal::Simulated("the trial says so".into()));
    let (hides_dry_run, ledger) = (true, aye::chat::SimulationLedger::default());
    scene.runtime.set_simulator(aye::runtime::Simulator::new(None, hides_dry_run, ledger));
    scene.state.config.dry_run.is_hidden = true;
    scene.say("go").await;
    let outcomes = scene.outcomes();
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
    for outcome in &outcomes {
        let result = outcome.text().to_lowercase();
        assert!(!result.contains("dry run") && !result.contains("rehears"), "{result}");
    }
    assert!(outcomes[0].text().contains("Commands cannot run here"), "{outcomes:?}");
    assert!(outcomes[1].text().contains("Not readable here"), "{outcomes:?}");
}

/// A read-only command that a rule asks about has no simulated result, and its prompt promises none.
#[tokio::test]
async fn r30_prompt_of_a_read_only_command_promises_no_result() {
    let mut scene = Scene::dry_run([command_reply("ls src"), says("Would do.")]);
    scene.runtime.set_rehearsal(CommandRehearsal::Simulated("the trial says so".into()));
    scene.state.config.dry_run.no_sandbox_reason = Some("the trial says so".into());
    scene.state.policy.asks_as_live = true;
    let target = aye::policy::RuleTarget::Prefix(vec!["ls".into()]);
    let ask_rule = aye::policy::Rule::new(aye::policy::RuleEffect::Ask, target);
    let rules = aye::policy::Rules { list: vec![ask_rule], ..Default::default() };
    scene.state.rules = std::sync::Arc::new(rules);
    scene.say("go").await;
    let Some(WaitingCall::Approval { reason, .. }) = scene.state.waiting_call() else { panic!("nothing asks") };
    assert!(reason.ends_with("Not run in this dry run; no simulated result"), "{reason}");
}

/// A prompt of a dry run offers grants for the session, but no rules.
#[tokio::test]
async fn r30_asking_as_live_offers_session_grants_but_no_rules() {
    let write = |path: &str| calls("write_file", json!({ "path": path, "content": "one\n" }));
    let mut scene = Scene::dry_run([write("a.txt"), write("b.txt"), says("Would do.")]);
    scene.state.policy.asks_as_live = true;
    scene.say("go").await;
    let options = aye::agent::grant_options(&scene.state);
    assert!(options.len() > 1 && options.iter().all(|option| !option.can_be_rule), "{options:?}");
    let Some(WaitingCall::Approval { call, .. }) = scene.state.waiting_call() else { panic!("nothing asks") };
    let call = call.id.clone();
    let decision = aye::chat::Decision::Always(options.last().unwrap().grant.clone());
    let by = aye::chat::Decider::Headless;
    scene.run_event(aye::agent::Event::CallDecided { call, decision, by }).await;
    let outcomes = scene.outcomes();
    assert_eq!(outcomes.len(), 2, "b.txt is not asked about: {outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Rehearsed(_))), "{outcomes:?}");
}

#[tokio::test]
async fn r30_asking_as_live_rehearses_approved_calls_only() {
    let mut scene = Scene::dry_run([
        calls("write_file", json!({ "path": "a.txt", "content": "one\n" })),
        calls("write_file", json!({ "path": "b.txt", "content": "two\n" })),
        calls("bash_exec", json!({ "command": "sudo touch made" })),
        calls("list_files", json!({})),
        says("Would do."),
    ]);
    scene.state.policy.asks_as_live = true;
    scene.say("go").await;
    for is_approved in [true, false] {
        let Some(WaitingCall::Approval { call, .. }) = scene.state.waiting_call() else { panic!("nothing asks") };
        let call = call.id.clone();
        let decision = if is_approved { aye::chat::Decision::Once } else { aye::chat::Decision::Deny(String::new()) };
        let by = aye::chat::Decider::Headless;
        scene.run_event(aye::agent::Event::CallDecided { call, decision, by }).await;
    }
    let outcomes = scene.outcomes();
    assert!(matches!(&outcomes[0], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(matches!(&outcomes[1], Outcome::Refused(_)), "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Refused(_)), "{outcomes:?}");
    assert!(outcomes[3].text().contains("a.txt") && !outcomes[3].text().contains("b.txt"), "{outcomes:?}");
    assert_eq!((scene.file("a.txt"), scene.file("b.txt")), (None, None));
}

#[tokio::test]
async fn overlay_sandbox_works_for_project_paths_of_any_form() {
    if !has_overlay_sandbox() {
        return;
    }
    let root = Folder::new();
    let path_from = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
    for name in [
        path_from(b"plain"),
        path_from(b" two  words "),
        path_from(b"a:b,c\\d=e"),
        path_from(b"line\nend\ttab"),
        path_from(b"not \xff\xfe unicode"),
        path_from("ünïcödé🙂".as_bytes()),
        path_from(b"--place"),
        path_from(&[b'l'; 250]),
        [path_from(&[b'd'; 200]), path_from(&[b'e'; 200]), path_from(b"deep")].iter().collect(),
    ] {
        let (project, overlay) = (root.path().join("in").join(&name), root.path().join("layers").join(&name));
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("here"), "x").unwrap();
        let (rehearsal, shell) = open_overlay(&project, overlay);
        let outcome = shell
            .run_in_overlay(
                &command_line("cat here && rm here && pwd -P > there", &project),
                View::WithoutSecrets,
                &|_| {},
            )
            .await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", name.display()));
        assert_eq!((outcome.output.as_str(), outcome.exit), ("x", Some(0)), "{}", name.display());
        assert_eq!(rehearsal.list_changes().unwrap().len(), 2, "{}", name.display());
        assert!(project.join("here").exists() && !project.join("there").exists());
    }
}

#[tokio::test]
async fn r57_home_can_be_the_project_and_own_folders_appear_empty() {
    if !has_overlay_sandbox() {
        return;
    }
    let root = Folder::new();
    let home = root.path().canonicalize().unwrap().join("home");
    let aye_folder = home.join(".local/share/aye");
    std::fs::create_dir_all(aye_folder.join("rehearsal")).unwrap();
    std::fs::write(aye_folder.join("credentials.toml"), "hunter2").unwrap();
    for folder in ["project", "home"] {
        let project = root.path().canonicalize().unwrap().join(folder);
        std::fs::create_dir_all(&project).unwrap();
        let shell = Shell::new(program())
            .with_closed_paths(vec![aye_folder.clone()], vec![aye_folder.join("credentials.toml")]);
        let overlay = aye_folder.join("rehearsal").join(folder);
        let overlay_rehearsal = Arc::new(Rehearsal::new(Arc::new(Disk::new(&project).unwrap()), overlay));
        let shell = OverlayShell::new(Arc::new(shell), overlay_rehearsal.clone());
        let write = vec![home.clone()];
        let sandbox = aye::chat::CommandSandbox::enforced(aye::chat::SandboxAccess { write, ..Default::default() });
        let command = format!(
            "echo x > {home}/new && cat {home}/new; ls -A {aye_folder}; cat {aye_folder}/credentials.toml; rm -rf {aye_folder}; echo made > made",
            home = home.display(),
            aye_folder = aye_folder.display()
        );
        let line = CommandLine { sandbox, ..command_line(&command, &project) };
        let outcome = shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}).await.unwrap();
        assert!(
            outcome.output.starts_with("x\n")
                && outcome.output.contains("credentials.toml: ")
                && !outcome.output.contains("hunter2"),
            "{folder}: {}",
            outcome.output
        );
        let names: Vec<PathBuf> = overlay_rehearsal.overlay_paths().unwrap();
        assert!(names.contains(&PathBuf::from("made")), "{names:?}");
        assert!(aye_folder.join("credentials.toml").exists() && !home.join("new").exists());
    }
}

#[tokio::test]
async fn overlay_sandbox_that_cannot_start_states_the_reason() {
    let root = Folder::new();
    let path_of = |path: &str| root.path().join(path);
    std::fs::create_dir_all(path_of("project")).unwrap();
    let before = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let root_error = test_overlay_sandbox(&program(), Path::new("/"), &path_of("beside")).unwrap_err();
    if has_overlay_sandbox() {
        assert!(root_error.starts_with("the project is the root of a file system"), "{root_error}");
    }
    // The overlay cannot be created: a file has the name of its folder.
    std::fs::create_dir_all(path_of("layer")).unwrap();
    std::fs::write(path_of("layer/upper"), "").unwrap();
    let (_, shell) = open_overlay(&path_of("project"), path_of("layer"));
    let error = shell
        .run_in_overlay(&command_line("echo ran > ran", &path_of("project")), View::WithoutSecrets, &|_| {})
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the command was not run: no overlay sandbox: cannot create the folders of the overlay"),
        "{error}"
    );
    // A file system of the kernel accepts no overlay.
    let in_proc =
        test_overlay_sandbox(&program(), &PathBuf::from(format!("/proc/{}", std::process::id())), &path_of("beside"));
    assert!(in_proc.is_err());
    assert!(test_overlay_sandbox(&path_of("none"), &path_of("project"), &path_of("beside")).is_err());
    assert!(!path_of("project/ran").exists());
    assert!(!path_of("beside").exists(), "the test of the sandbox left files behind");
    assert_eq!(std::fs::read_to_string("/proc/self/mountinfo").unwrap(), before);
}

#[tokio::test]
async fn cancelled_or_timed_out_command_leaves_nothing_running() {
    if !has_overlay_sandbox() {
        return;
    }
    let EmptyProject { root: _root, project, rehearsal, shell } = EmptyProject::new();
    let mark = format!("given-up-{}", std::process::id());
    let command =
        format!("touch begun; (setsid sh -c 'trap \"\" TERM; : {mark}; sleep 600' &) ; trap '' TERM; sleep 600");
    let mut long = command_line(&command, &project);
    long.seconds = 1;
    let outcome = shell.run_in_overlay(&long, View::WithoutSecrets, &|_| {}).await.unwrap();
    assert!(outcome.timed_out, "{outcome:?}");
    let count_running = || count_command_lines_with(&format!(": {mark}"));
    while count_running() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    long.seconds = 60;
    let pending = rehearsal.overlay_folder().join("pending");
    // The changes of the first command are merged, so that `pending/begun` can only be a file of the second one. On a
    // busy machine the first command may have been stopped before it created the file.
    rehearsal.merge_pending().unwrap();
    {
        let progress = |_: CommandProgress<'_>| {};
        let running = shell.run_in_overlay(&long, View::WithoutSecrets, &progress);
        tokio::pin!(running);
        while !pending.join("begun").exists() {
            let soon = tokio::time::sleep(std::time::Duration::from_millis(20));
            tokio::select! { ran = &mut running => panic!("{ran:?}"), () = soon => {} }
        }
    }
    while count_running() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let outcome = shell.run_in_overlay(&command_line("ls", &project), View::WithoutSecrets, &|_| {}).await.unwrap();
    assert_eq!(outcome.output, "begun\n", "the overlay is free again");
}

#[tokio::test]
async fn command_over_the_memory_limit_is_killed_with_its_children_and_reported() {
    if !has_overlay_sandbox() {
        return;
    }
    let EmptyProject { root: _root, project, rehearsal, .. } = EmptyProject::new();
    let shell = OverlayShell::new(Arc::new(Shell::new(program())), rehearsal.clone()).with_memory(200 << 20);
    let command = "touch begun; (setsid sleep 600 &); x=aaaaaaaa; while :; do x=$x$x; done";
    let outcome = shell.run_in_overlay(&command_line(command, &project), View::WithoutSecrets, &|_| {}).await.unwrap();
    let notice = "[stopped by the limits of the dry run: it used more than 200 MB of memory]";
    assert!(outcome.output.contains(notice), "{outcome:?}");
    assert!(outcome.signal == Some(9) && !outcome.timed_out, "{outcome:?}");
    assert!(rehearsal.exists(&rehearsal.locate("begun").unwrap()), "its earlier changes are kept");
}

#[tokio::test]
async fn overlay_with_unusual_files_can_be_removed() {
    if !has_overlay_sandbox() {
        return;
    }
    let root = Folder::new();
    let project = root.path().join("project");
    std::fs::create_dir_all(project.join("old/deep")).unwrap();
    let (rehearsal, shell) = open_overlay(&project, root.path().join("layer"));
    let command = "rm -r old; mkdir -p shut/in; touch shut/in/x; chmod 000 shut/in shut; mkfifo p; ln -s / root; touch /tmp/aye-staged";
    assert_eq!(
        shell.run_in_overlay(&command_line(command, &project), View::WithoutSecrets, &|_| {}).await.unwrap().exit,
        Some(0)
    );
    discard_overlay(rehearsal.overlay_folder()).await;
    assert!(!rehearsal.overlay_folder().exists() && Path::new("/etc").exists());
    discard_overlay(rehearsal.overlay_folder()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r30_overlay_sandbox_runs_commands_unless_the_settings_disable_it() {
    let is_available = has_overlay_sandbox();
    let overlay = "[dry_run]\noutside = \"overlay\"\n";
    for (text, runs_it) in [(overlay, is_available), ("[dry_run]\noverlay_sandbox = \"off\"\n", false)] {
        let service = Service::start([
            command_answer("cat a.txt; echo changed > a.txt; cat a.txt; echo x > ~/x"),
            command_answer("cat a.txt"),
            text_answer("Done."),
        ])
        .await;
        let arguments = ["--dry-run", "-p", "go", "--base-url", &service.base_url, "--model", "m"];
        let setup = Setup::new(&arguments).with_file("a.txt", "real\n");
        write_settings(&setup, text);
        let root = setup.root.clone();
        let (out, err, code) = tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap();
        assert_eq!(code, 0, "{out}\n{err}");
        // The system prompt and the last message of a request.
        let messages_of = |request: usize| {
            let messages = service.received()[request].body["messages"].as_array().unwrap().clone();
            (
                messages[0]["content"].as_str().unwrap().to_owned(),
                messages.last().unwrap()["content"].as_str().unwrap().to_owned(),
            )
        };
        let (system, first) = messages_of(1);
        if runs_it {
            assert_eq!(first, "real\nchanged\nexit 0");
            assert_eq!(messages_of(2).1, "changed\nexit 0");
            assert!(system.contains("Commands run in an overlay sandbox"), "{system}");
        } else {
            assert!(first.starts_with("Dry run: this call was not run"), "{first}");
            assert!(system.contains("Commands and all other calls are not run"), "{system}");
        }
        assert_eq!(std::fs::read_to_string(root.path().join("project/a.txt")).unwrap(), "real\n");
        assert!(!root.path().join("home/x").exists());
    }
}
