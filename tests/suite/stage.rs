//! The stage of a dry run: commands run over the layer, later steps see earlier ones, and where there is no stage it is
//! said what would have run.

use crate::stage_escapes::is_there;
use crate::support::folder::Folder;
use crate::support::overlay_project::{EmptyProject, command_line, discard_overlay, open_overlay};
use crate::support::program::{Setup, program};
use crate::support::scene::Scene;
use crate::support::service::Service;
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{runs, says as answers};
use aye::agent::WaitingCall;
use aye::chat::{CommandLine, Outcome};
use aye::llm::scripted::{Reply, calls, says};
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

fn run(command: &str) -> Reply {
    calls("bash_exec", json!({ "command": command }))
}

/// A dry run whose commands run on a stage.
fn on_stage(replies: impl IntoIterator<Item = Reply>) -> Scene {
    let mut scene = Scene::dry_run(replies);
    let (_, shell) = open_overlay(&scene.project(), scene.project().parent().unwrap().join("layer"));
    scene.runtime.set_rehearsal(CommandRehearsal::Sandboxed(shell));
    scene
}

#[tokio::test]
async fn r30_commands_and_file_tools_see_what_the_others_did() {
    if !is_there() {
        return;
    }
    let mut scene = on_stage([
        calls("write_file", json!({ "path": "new/a.txt", "content": "one\n" })),
        run("cat new/a.txt; ls"),
        run("echo two >> new/a.txt; mv b.txt c.txt; mkdir -p bin; printf '\\0\\377' > bin/x; chmod 750 bin/x; ln -s \"$PWD/c.txt\" bin/l; exit 3"),
        calls("read_file", json!({ "path": "new/a.txt" })),
        calls("edit_file", json!({ "path": "bin/l", "old_text": "b", "new_text": "C" })),
        calls("list_files", json!({})),
        calls("read_file", json!({ "path": "b.txt" })),
        run("cat c.txt; stat -c %a bin/x"),
        says("Would do."),
    ])
    .has("b.txt", "b\r\n");
    scene.say("go").await;
    let outcomes = scene.outcomes();
    let told = |at: usize| outcomes[at].text();
    assert_eq!(told(1), "one\na.txt\nb.txt\nnew\nexit 0".replace("one\na.txt\n", "one\n"), "{outcomes:?}");
    assert!(matches!(&outcomes[2], Outcome::Rehearsed(text) if text == "exit 3"), "{outcomes:?}");
    assert!(told(3).contains("two"), "{outcomes:?}");
    assert!(matches!(&outcomes[4], Outcome::Rehearsed(_)), "{outcomes:?}");
    assert!(told(5).contains("c.txt") && told(5).contains("bin/") && !told(5).contains("b.txt"), "{outcomes:?}");
    assert!(matches!(&outcomes[6], Outcome::Failed(_)), "{outcomes:?}");
    assert_eq!(told(7), "C\n750\nexit 0");
    assert_eq!(scene.file("b.txt").as_deref(), Some("b\r\n"));
    assert!(!scene.project().join("new").exists() && !scene.project().join("bin").exists());
    let (play, _) = open_overlay(&scene.project(), scene.project().parent().unwrap().join("layer"));
    let changes = play.list_changes().unwrap();
    let names: Vec<String> = changes.iter().map(|change| change.path.display().to_string()).collect();
    assert_eq!(names, ["b.txt", "bin", "bin/l", "bin/x", "c.txt", "new", "new/a.txt"]);
    assert_eq!(changes[0].after, FileNode::Nothing);
    assert!(matches!(&changes[3].after, FileNode::File { bytes, mode: 0o750 } if bytes == b"\0\xff"));
    let target = scene.project().canonicalize().unwrap().join("c.txt");
    assert_eq!(changes[2].after, FileNode::Link(target));
    assert_eq!(play.origin(Path::new("b.txt")).unwrap().digest, Some(aye::chat::Digest::of_bytes(b"b\r\n")));
}

#[tokio::test]
async fn r30_where_there_is_no_stage_nothing_runs_and_the_same_call_says_the_same() {
    let mut scene = Scene::dry_run([run("touch made"), run("touch made"), run("ls"), says("Would do.")]);
    scene.runtime.set_rehearsal(CommandRehearsal::Simulated("the trial says so".into()));
    scene.say("go").await;
    let outcomes = scene.outcomes();
    assert_eq!(scene.file("made"), None);
    let told = outcomes[0].text();
    assert!(told.starts_with("Dry run: this call was not run: touch made"), "{told}");
    assert!(told.contains("do not run in this dry run (the trial says so)"), "{told}");
    assert_eq!(outcomes[0], outcomes[1]);
    assert!(outcomes[2].text().contains("read_file, list_files and search_text see"), "{outcomes:?}");
}

#[tokio::test]
async fn r30_a_model_that_is_told_nothing_of_the_dry_run_reads_nothing_of_it_in_results() {
    let outside = calls("read_file", json!({ "path": "../elsewhere.txt" }));
    let mut scene = Scene::dry_run([run("ls src"), outside, run("touch made"), says("Would do.")]);
    scene.runtime.set_rehearsal(CommandRehearsal::Simulated("the trial says so".into()));
    scene.runtime.set_simulator(aye::runtime::SimulatorSettings { hides_dry_run: true, ..Default::default() });
    scene.state.hides_dry_run = true;
    scene.say("go").await;
    let outcomes = scene.outcomes();
    assert_eq!(outcomes.len(), 3, "{outcomes:?}");
    for outcome in &outcomes {
        let told = outcome.text().to_lowercase();
        assert!(!told.contains("dry run") && !told.contains("rehears"), "{told}");
    }
    assert!(outcomes[0].text().contains("Commands cannot run here"), "{outcomes:?}");
    assert!(outcomes[1].text().contains("Not readable here"), "{outcomes:?}");
}

/// Reading that a rule asks about has no made-up result, and its card promises none.
#[tokio::test]
async fn r30_the_card_of_a_command_that_reads_promises_no_result() {
    let mut scene = Scene::dry_run([run("ls src"), says("Would do.")]);
    scene.runtime.set_rehearsal(CommandRehearsal::Simulated("the trial says so".into()));
    scene.state.no_sandbox_reason = Some("the trial says so".into());
    scene.state.policy.asks_as_live = true;
    let asks = aye::policy::Rule {
        effect: aye::policy::RuleEffect::Ask,
        tool: None,
        target: aye::policy::RuleTarget::Prefix(vec!["ls".into()]),
        scope: aye::policy::RuleScope::EveryProject,
        created: String::new(),
        expires: String::new(),
        scripts: Vec::new(),
        saved_with_key: String::new(),
        location: aye::policy::RuleLocation::default(),
    };
    let rules = aye::policy::Rules { list: vec![asks], ..Default::default() };
    scene.state.rules = std::sync::Arc::new(rules);
    scene.say("go").await;
    let Some(WaitingCall::Approval { reason, .. }) = scene.state.waiting_call() else { panic!("nothing asks") };
    assert!(reason.ends_with("Not run in this dry run; no simulated result"), "{reason}");
}

/// A prompt of a dry run offers what holds for the session, and that is kept; no rule.
#[tokio::test]
async fn r30_asked_as_live_no_rule_is_offered_and_a_grant_is_kept() {
    let write = |path: &str| calls("write_file", json!({ "path": path, "content": "one\n" }));
    let mut scene = Scene::dry_run([write("a.txt"), write("b.txt"), says("Would do.")]);
    scene.state.policy.asks_as_live = true;
    scene.say("go").await;
    let widths = aye::agent::grant_options(&scene.state);
    assert!(widths.len() > 1 && widths.iter().all(|width| !width.can_be_rule), "{widths:?}");
    let Some(WaitingCall::Approval { call, .. }) = scene.state.waiting_call() else { panic!("nothing asks") };
    let call = call.id.clone();
    let decision = aye::chat::Decision::Always(widths.last().unwrap().grant.clone());
    let by = aye::chat::Decider::Headless;
    scene.run_event(aye::agent::Event::CallDecided { call, decision, by }).await;
    let outcomes = scene.outcomes();
    assert_eq!(outcomes.len(), 2, "b.txt is not asked about: {outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Rehearsed(_))), "{outcomes:?}");
}

#[tokio::test]
async fn r30_asked_as_in_life_what_is_allowed_is_rehearsed_and_what_is_refused_is_not() {
    let mut scene = Scene::dry_run([
        calls("write_file", json!({ "path": "a.txt", "content": "one\n" })),
        calls("write_file", json!({ "path": "b.txt", "content": "two\n" })),
        calls("bash_exec", json!({ "command": "sudo touch made" })),
        calls("list_files", json!({})),
        says("Would do."),
    ]);
    scene.state.policy.asks_as_live = true;
    scene.say("go").await;
    for yes in [true, false] {
        let Some(WaitingCall::Approval { call, .. }) = scene.state.waiting_call() else { panic!("nothing asks") };
        let call = call.id.clone();
        let decision = if yes { aye::chat::Decision::Once } else { aye::chat::Decision::Deny(String::new()) };
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
async fn a_project_of_any_name_and_in_any_place_has_a_stage() {
    if !is_there() {
        return;
    }
    let root = Folder::new();
    let odd = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
    for name in [
        odd(b"plain"),
        odd(b" two  words "),
        odd(b"a:b,c\\d=e"),
        odd(b"line\nend\ttab"),
        odd(b"not \xff\xfe unicode"),
        odd("ünïcödé🙂".as_bytes()),
        odd(b"--place"),
        odd(&[b'l'; 250]),
        [odd(&[b'd'; 200]), odd(&[b'e'; 200]), odd(b"deep")].iter().collect(),
    ] {
        let (project, layer) = (root.path().join("in").join(&name), root.path().join("layers").join(&name));
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("here"), "x").unwrap();
        let (play, shell) = open_overlay(&project, layer);
        let ran = shell
            .run_in_overlay(&command_line("cat here && rm here && pwd -P > there", &project), View::Hidden, &|_| {})
            .await;
        let ran = ran.unwrap_or_else(|error| panic!("{}: {error}", name.display()));
        assert_eq!((ran.output.as_str(), ran.exit), ("x", Some(0)), "{}", name.display());
        assert_eq!(play.list_changes().unwrap().len(), 2, "{}", name.display());
        assert!(project.join("here").exists() && !project.join("there").exists());
    }
}

#[tokio::test]
async fn r57_the_home_itself_may_be_the_project_and_ayes_own_folders_are_empty_in_it() {
    if !is_there() {
        return;
    }
    let root = Folder::new();
    let home = root.path().canonicalize().unwrap().join("home");
    let own = home.join(".local/share/aye");
    std::fs::create_dir_all(own.join("rehearsal")).unwrap();
    std::fs::write(own.join("credentials.toml"), "hunter2").unwrap();
    for folder in ["project", "home"] {
        let project = root.path().canonicalize().unwrap().join(folder);
        std::fs::create_dir_all(&project).unwrap();
        let shell = Shell::new(program()).with_closed_paths(vec![own.clone()], vec![own.join("credentials.toml")]);
        let layer = own.join("rehearsal").join(folder);
        let play = Arc::new(Rehearsal::new(Arc::new(Disk::new(&project).unwrap()), layer));
        let shell = OverlayShell::new(Arc::new(shell), play.clone());
        let write = vec![home.clone()];
        let sandbox = aye::chat::CommandSandbox::enforced(aye::chat::SandboxAccess { write, ..Default::default() });
        let command = format!(
            "echo x > {home}/new && cat {home}/new; ls -A {own}; cat {own}/credentials.toml; rm -rf {own}; echo made > made",
            home = home.display(),
            own = own.display()
        );
        let line = CommandLine { sandbox, ..command_line(&command, &project) };
        let ran = shell.run_in_overlay(&line, View::Hidden, &|_| {}).await.unwrap();
        assert!(
            ran.output.starts_with("x\n")
                && ran.output.contains("credentials.toml: ")
                && !ran.output.contains("hunter2"),
            "{folder}: {}",
            ran.output
        );
        let names: Vec<PathBuf> = play.overlay_paths().unwrap();
        assert!(names.contains(&PathBuf::from("made")), "{names:?}");
        assert!(own.join("credentials.toml").exists() && !home.join("new").exists());
    }
}

#[tokio::test]
async fn what_a_person_set_up_oddly_has_a_stage_or_says_why_not() {
    let root = Folder::new();
    let at = |path: &str| root.path().join(path);
    std::fs::create_dir_all(at("project")).unwrap();
    let before = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let whole = test_overlay_sandbox(&program(), Path::new("/"), &at("beside")).unwrap_err();
    if is_there() {
        assert!(whole.starts_with("the project is the root of a file system"), "{whole}");
    }
    // The layer cannot be made: a file stands where its folder would.
    std::fs::create_dir_all(at("layer")).unwrap();
    std::fs::write(at("layer/upper"), "").unwrap();
    let (_, shell) = open_overlay(&at("project"), at("layer"));
    let error = shell
        .run_in_overlay(&command_line("echo ran > ran", &at("project")), View::Hidden, &|_| {})
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("the command was not run: no overlay sandbox: cannot create the folders of the overlay"),
        "{error}"
    );
    // A kernel's own file system takes no layer.
    let kernels =
        test_overlay_sandbox(&program(), &PathBuf::from(format!("/proc/{}", std::process::id())), &at("beside"));
    assert!(kernels.is_err());
    assert!(test_overlay_sandbox(&at("none"), &at("project"), &at("beside")).is_err());
    assert!(!at("project/ran").exists());
    assert!(!at("beside").exists(), "a trial leaves nothing");
    assert_eq!(std::fs::read_to_string("/proc/self/mountinfo").unwrap(), before);
}

#[tokio::test]
async fn a_command_that_is_given_up_or_takes_too_long_leaves_nothing_running() {
    if !is_there() {
        return;
    }
    let EmptyProject { root: _root, project, play, shell } = EmptyProject::new();
    let mark = format!("given-up-{}", std::process::id());
    let command =
        format!("touch begun; (setsid sh -c 'trap \"\" TERM; : {mark}; sleep 600' &) ; trap '' TERM; sleep 600");
    let mut long = command_line(&command, &project);
    long.seconds = 1;
    let ran = shell.run_in_overlay(&long, View::Hidden, &|_| {}).await.unwrap();
    assert!(ran.timed_out, "{ran:?}");
    let lives = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let said = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        said.filter(|said| String::from_utf8_lossy(said).contains(&format!(": {mark}"))).count()
    };
    while lives() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    long.seconds = 60;
    let pending = play.overlay_folder().join("pending");
    // Merged, or the file would be there already. On a machine that was busy the command had not begun.
    play.merge_pending().unwrap();
    {
        let progress = |_: CommandProgress<'_>| {};
        let running = shell.run_in_overlay(&long, View::Hidden, &progress);
        tokio::pin!(running);
        while !pending.join("begun").exists() {
            let soon = tokio::time::sleep(std::time::Duration::from_millis(20));
            tokio::select! { ran = &mut running => panic!("{ran:?}"), () = soon => {} }
        }
    }
    while lives() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let ran = shell.run_in_overlay(&command_line("ls", &project), View::Hidden, &|_| {}).await.unwrap();
    assert_eq!(ran.output, "begun\n", "the layer is free again");
}

#[tokio::test]
async fn what_takes_too_much_memory_is_ended_with_all_it_started_and_says_so() {
    if !is_there() {
        return;
    }
    let EmptyProject { root: _root, project, play, .. } = EmptyProject::new();
    let shell = OverlayShell::new(Arc::new(Shell::new(program())), play.clone()).with_memory(200 << 20);
    let command = "touch begun; (setsid sleep 600 &); x=aaaaaaaa; while :; do x=$x$x; done";
    let ran = shell.run_in_overlay(&command_line(command, &project), View::Hidden, &|_| {}).await.unwrap();
    let words = "[stopped by the limits of the dry run: it used more than 200 MB of memory]";
    assert!(ran.output.contains(words), "{ran:?}");
    assert!(ran.signal == Some(9) && !ran.timed_out, "{ran:?}");
    assert!(play.exists(&play.locate("begun").unwrap()), "what it did before is there");
}

#[tokio::test]
async fn a_layer_that_commands_made_odd_can_be_taken_away() {
    if !is_there() {
        return;
    }
    let root = Folder::new();
    let project = root.path().join("project");
    std::fs::create_dir_all(project.join("old/deep")).unwrap();
    let (play, shell) = open_overlay(&project, root.path().join("layer"));
    let command = "rm -r old; mkdir -p shut/in; touch shut/in/x; chmod 000 shut/in shut; mkfifo p; ln -s / root; touch /tmp/aye-staged";
    assert_eq!(
        shell.run_in_overlay(&command_line(command, &project), View::Hidden, &|_| {}).await.unwrap().exit,
        Some(0)
    );
    discard_overlay(play.overlay_folder()).await;
    assert!(!play.overlay_folder().exists() && Path::new("/etc").exists());
    discard_overlay(play.overlay_folder()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r30_the_program_runs_commands_on_the_stage_unless_the_settings_say_off() {
    let staged = is_there();
    let overlay = "[dry_run]\noutside = \"overlay\"\n";
    for (text, runs_it) in [(overlay, staged), ("[dry_run]\nstage = \"off\"\n", false)] {
        let service = Service::start([
            runs("cat a.txt; echo changed > a.txt; cat a.txt; echo x > ~/x"),
            runs("cat a.txt"),
            answers("Done."),
        ])
        .await;
        let arguments = ["--dry-run", "-p", "go", "--base-url", &service.base_url, "--model", "m"];
        let setup = Setup::new(&arguments).has("a.txt", "real\n");
        write_settings(&setup, text);
        let place = setup.place.clone();
        let (out, err, code) = tokio::task::spawn_blocking(move || setup.print("")).await.unwrap();
        assert_eq!(code, 0, "{out}\n{err}");
        let told = |request: usize| {
            let messages = service.received()[request].body["messages"].as_array().unwrap().clone();
            (
                messages[0]["content"].as_str().unwrap().to_owned(),
                messages.last().unwrap()["content"].as_str().unwrap().to_owned(),
            )
        };
        let (system, first) = told(1);
        if runs_it {
            assert_eq!(first, "real\nchanged\nexit 0");
            assert_eq!(told(2).1, "changed\nexit 0");
            assert!(system.contains("Commands run in an overlay sandbox"), "{system}");
        } else {
            assert!(first.starts_with("Dry run: this call was not run"), "{first}");
            assert!(system.contains("Commands and all other calls are not run"), "{system}");
        }
        assert_eq!(std::fs::read_to_string(place.path().join("project/a.txt")).unwrap(), "real\n");
        assert!(!place.path().join("home/x").exists());
    }
}
