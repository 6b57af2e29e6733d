//! Keeping random changes makes the project equal to a plain copy in which the same commands ran, wherever the run is
//! interrupted, and overwrites nothing that changed meanwhile.

use super::*;
use crate::project::rehearsal::merge::tests::{MergeFixture, RandomNumbers, can_mount, set_steps};

#[test]
fn each_change_that_was_not_made_is_named_with_its_reason() {
    assert_eq!(Unkept::default().describe_each(), [""; 0]);
    let conflicts = (0..10).map(|number| PathBuf::from(format!("a\n{number}"))).collect();
    let names = Unkept { conflicts, left_out: vec![("p".into(), "a pipe".into())] }.describe_each();
    assert_eq!((names.len(), &*names[9], &*names[10]), (11, "a\\n9 (changed meanwhile)", "p (a pipe)"));
}

/// Runs random commands over the overlay and in a plain copy, keeps the changes with interruptions, and compares. Returns
/// the number of interruptions.
fn check_kept(base: &Path, seed: u64) -> usize {
    let mut random = RandomNumbers::new(seed.wrapping_mul(7907));
    let fixture = MergeFixture::new(base);
    let script: Vec<String> = (0..24).map(|_| random.random_change()).collect();
    let script = script.join("\n");
    fixture.run_over_overlay(&script).unwrap();
    fixture.run_in_plain_copy(&script);
    let rehearsal = fixture.open_rehearsal();
    rehearsal.prepare_overlay().unwrap();
    let (root, overlay) = (fixture.path_of("project"), fixture.path_of("layer"));
    let baseline = Baseline::read(&root, &overlay.join(crate::project::rehearsal::UPPER), (i64::MAX, 0)).unwrap();
    let max_steps = 1 + random.next_below(9);
    let mut interruptions = 0;
    let unkept = loop {
        set_steps(3 + random.next_below(max_steps));
        let kept = keep_changes(&root, &overlay, &baseline);
        set_steps(usize::MAX);
        match kept {
            Ok(unkept) => break unkept,
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::Interrupted, "seed {seed}\n{script}\n{error}"),
        }
        interruptions += 1;
    };
    assert_eq!(unkept, Unkept::default(), "seed {seed}\n{script}");
    // The time of a folder that was there before is that of the last entry moved into it.
    let list = |folder: &str| {
        let without_time = |line: &str| match line.split_once("|d|").and_then(|(_, rest)| rest.split_once('|')) {
            Some(_) => line[..line.rfind('|').unwrap_or_default()].to_owned(),
            None => line.to_owned(),
        };
        fixture.list_folder(folder).lines().map(without_time).collect::<Vec<_>>()
    };
    assert_eq!(list("project"), list("plain"), "seed {seed}\n{script}");
    interruptions
}

#[test]
fn kept_changes_match_the_commands_after_any_interruption() {
    let temporary = crate::test_folder::Folder::new();
    let base = temporary.path().canonicalize().unwrap();
    if !can_mount(&base) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        use std::io::Write;
        let _ =
            writeln!(io::stderr(), "LEFT OUT: random changes kept: the scripts leave folders that only root can read");
        return;
    }
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let count = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    let mut interruptions = 0;
    for seed in seed.map_or(1..count + 1, |seed| seed..seed + 1) {
        let folder = base.join(seed.to_string());
        fs::create_dir(&folder).unwrap();
        interruptions += check_kept(&folder, seed);
        // What an ordinary user cannot remove is removed with the temporary folder.
        let _ = fs::remove_dir_all(&folder);
    }
    println!("keeping was interrupted {interruptions} times");
    assert!(interruptions > 0);
}

/// Interrupts keeping after every step, writes where the kept changes are made, and continues: what was written stays.
#[test]
fn what_the_user_writes_at_any_step_stays() {
    let temporary = crate::test_folder::Folder::new();
    let base = temporary.path().canonicalize().unwrap();
    if !can_mount(&base) {
        return;
    }
    for replaces_files in [false, true] {
        let (mut steps, mut conflicts) = (0, 0);
        loop {
            let fixture = MergeFixture::new(&base.join(format!("{replaces_files}-{steps}")));
            fixture
                .run_over_overlay("echo new >> a/a; rm b/b; echo n > a/new; rm -r b/a; mkdir e; echo x > e/x")
                .unwrap();
            fixture.open_rehearsal().prepare_overlay().unwrap();
            let (root, overlay) = (fixture.path_of("project"), fixture.path_of("layer"));
            let upper = overlay.join(crate::project::rehearsal::UPPER);
            let baseline = Baseline::read(&root, &upper, (i64::MAX, 0)).unwrap();
            set_steps(steps);
            let kept = keep_changes(&root, &overlay, &baseline);
            set_steps(usize::MAX);
            if kept.is_ok() {
                break;
            }
            let written = ["a/a", "b/b", "a/new", "b/a/added", "e/x"].map(|path| root.join(path));
            for file in &written {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                let target = if replaces_files { root.join("c/new") } else { file.clone() };
                fs::write(&target, "mine").unwrap();
                fs::rename(target, file).unwrap();
            }
            let unkept = keep_changes(&root, &overlay, &baseline).unwrap();
            conflicts += unkept.conflicts.len();
            for file in &written {
                assert_eq!(fs::read(file).unwrap(), b"mine", "{} after {steps} steps, {unkept:?}", file.display());
            }
            steps += 1;
        }
        assert!(steps > 10 && conflicts > steps, "{conflicts} conflicts in {steps} steps");
    }
}
