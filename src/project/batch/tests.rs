//! Items of a group: moves, folders, hunks, and what changed since.

use super::*;
use crate::chat::batch::Rejected;
use crate::project::scene::Scene;
use std::fs;

/// What is done with a group.
trait Applies {
    fn draft(&self) -> (Batch, BatchWork);

    /// Applies all that is not blocked and not rejected.
    fn apply(&self, draft: &(Batch, BatchWork), rejected: &[Rejected]) -> Vec<Applied>;
}

impl Applies for Scene {
    fn draft(&self) -> (Batch, BatchWork) {
        draft(&self.rehearsal, Group::Source, None).unwrap()
    }

    fn apply(&self, (batch, work): &(Batch, BatchWork), rejected: &[Rejected]) -> Vec<Applied> {
        let all = batch.selected(rejected).map(|(at, _)| {
            let hunks = rejected.iter().find(|rejected| rejected.item == at);
            apply(&self.rehearsal, &work.items[at], hunks.map_or(&[], |rejected| &rejected.hunks))
        });
        let all = all.collect();
        delete_empty(&self.rehearsal, &work.folders);
        all
    }
}

fn names(batch: &Batch) -> Vec<String> {
    batch.items.iter().map(Item::name).collect()
}

#[test]
fn a_moved_folder_is_one_item_for_each_file_and_leaves_nothing_behind() {
    let scene = Scene::new(&[("old/a", "a\n"), ("old/deep/b", "b\n"), ("same", "s\n")]);
    scene.deletes("old");
    scene.rehearses("new/a", "a\n");
    scene.rehearses("new/deep/b", "b\n");
    let draft = scene.draft();
    assert_eq!(names(&draft.0), ["old/a → new/a", "old/deep/b → new/deep/b"]);
    assert_eq!(draft.0.destroys(&[]), None);
    assert_eq!(scene.apply(&draft, &[]), [Applied::Done, Applied::Done]);
    assert_eq!((scene.text("new/a"), scene.text("new/deep/b")), (Some("a\n".into()), Some("b\n".into())));
    assert!(!scene.rehearsal.root().join("old").exists());
    assert_eq!(scene.draft().0.items, []);
}

#[test]
fn a_folder_that_the_user_keeps_a_file_in_stays() {
    let scene = Scene::new(&[("old/a", "a\n"), ("old/b", "b\n")]);
    scene.deletes("old");
    let draft = scene.draft();
    assert_eq!(names(&draft.0), ["old/a", "old/b"]);
    assert_eq!(draft.0.destroys(&[]).as_deref(), Some("deletes old/a, deletes old/b"));
    let keeps = [Rejected { item: 1, hunks: vec![] }];
    assert_eq!(scene.apply(&draft, &keeps), [Applied::Done]);
    assert_eq!((scene.text("old/a"), scene.text("old/b")), (None, Some("b\n".into())));
    assert_eq!(names(&scene.draft().0), ["old/b"]);
    scene.apply(&scene.draft(), &[]);
    assert!(!scene.rehearsal.root().join("old").exists());
}

#[test]
fn the_source_of_a_move_stays_while_its_target_or_itself_is_in_conflict() {
    let moved = || {
        let scene = Scene::new(&[("old", "m\n")]);
        scene.deletes("old");
        scene.rehearses("new", "m\n");
        scene
    };
    // Before it is shown: the target, and then the source.
    for (path, text) in [("new", "mine\n"), ("old", "mine\n")] {
        let scene = moved();
        fs::write(scene.rehearsal.root().join(path), text).unwrap();
        let (batch, _) = scene.draft();
        assert_eq!(names(&batch), ["old → new"]);
        assert!(batch.items[0].blocked.as_ref().is_some_and(|why| why.contains("CONFLICT")), "{path}");
        assert_eq!(scene.text(path).as_deref(), Some("mine\n"));
    }
    // After it was shown.
    for (path, text) in [("new", "mine\n"), ("old", "mine\n")] {
        let scene = moved();
        let draft = scene.draft();
        fs::write(scene.rehearsal.root().join(path), text).unwrap();
        assert!(matches!(scene.apply(&draft, &[])[..], [Applied::Conflict(_)]), "{path}");
        assert_eq!(scene.text(path).as_deref(), Some("mine\n"));
        assert!(scene.text("old").is_some(), "{path}");
    }
}

#[test]
fn a_move_that_was_cut_short_goes_on_and_destroys_nothing() {
    let scene = Scene::new(&[("old", "m\n")]);
    scene.deletes("old");
    scene.rehearses("new", "m\n");
    let (_, work) = scene.draft();
    // The program ended once the target was in place.
    assert_eq!(apply(&scene.rehearsal, &work.items[0][..1], &[]), Applied::Done);
    assert_eq!((scene.text("old"), scene.text("new")), (Some("m\n".into()), Some("m\n".into())));
    let draft = scene.draft();
    assert_eq!(names(&draft.0), ["old"]);
    assert_eq!(draft.0.destroys(&[]), None, "{draft:?}");
    assert!(draft.0.items[0].notes[0].contains("moved to new"), "{draft:?}");
    // The plan of before finishes it as well.
    assert_eq!(apply(&scene.rehearsal, &work.items[0], &[]), Applied::Done);
    assert_eq!((scene.text("old"), scene.text("new")), (None, Some("m\n".into())));
    assert_eq!(apply(&scene.rehearsal, &work.items[0], &[]), Applied::Already);
}

#[test]
fn empty_files_and_copies_are_no_moves() {
    let scene = Scene::new(&[("empty", ""), ("kept", "k\n")]);
    scene.deletes("empty");
    scene.rehearses("other", "");
    scene.rehearses("copy", "k\n");
    assert_eq!(names(&scene.draft().0), ["copy", "empty", "other"]);
}

#[test]
fn hunks_that_are_rejected_stay_as_they_were() {
    let before: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\nthirty\n").replace("\n50\n", "\n");
    let scene = Scene::new(&[("a", &before)]);
    scene.rehearses("a", &after);
    let draft = scene.draft();
    let hunks: Vec<usize> =
        draft.0.items[0].diff.as_ref().unwrap().hunks.iter().map(|hunk| hunk.after).collect();
    assert_eq!(hunks.len(), 3);
    let without = [Rejected { item: 0, hunks: vec![hunks[0], hunks[2]] }];
    assert_eq!(scene.apply(&draft, &without), [Applied::Done]);
    assert_eq!(scene.text("a"), Some(before.replace("\n30\n", "\nthirty\n")));
    // The rest is offered again.
    assert_eq!(scene.draft().0.items[0].diff.as_ref().unwrap().hunks.len(), 2);
    assert_eq!(scene.apply(&scene.draft(), &[]), [Applied::Done]);
    assert_eq!(scene.text("a"), Some(after));
    // Hunks that there are not are no reason to apply the whole.
    scene.rehearses("a", "other\n");
    let draft = scene.draft();
    let bad = [Rejected { item: 0, hunks: vec![999] }];
    assert!(matches!(scene.apply(&draft, &bad)[..], [Applied::Conflict(_)]));
}

#[test]
fn a_folder_that_a_file_replaces_is_one_item_with_what_was_in_it() {
    let files = [("d/a", "a\n"), ("d/deep/b", "b\n")];
    let scene = Scene::new(&files);
    scene.rehearsal.begin().unwrap();
    fs::write(scene.upper("d"), "a file now\n").unwrap();
    scene.rehearsal.note_origins().unwrap();
    let draft = scene.draft();
    assert_eq!(names(&draft.0), ["d"]);
    assert!(draft.0.destroys(&[]).is_some_and(|words| words.contains("replaces d")), "{draft:?}");
    assert!(draft.0.items[0].notes.iter().any(|note| note.contains("d/deep/b")), "{draft:?}");
    // A file that the user added since is in the way of all of it.
    fs::write(scene.rehearsal.root().join("d/mine"), "mine\n").unwrap();
    assert!(matches!(scene.apply(&draft, &[])[..], [Applied::Conflict(_)]));
    assert_eq!(scene.text("d/a").as_deref(), Some("a\n"), "nothing of the item was changed");
    assert_eq!(scene.text("d/mine").as_deref(), Some("mine\n"));
    fs::remove_file(scene.rehearsal.root().join("d/mine")).unwrap();
    assert_eq!(scene.apply(&scene.draft(), &[]), [Applied::Done]);
    assert_eq!(scene.text("d").as_deref(), Some("a file now\n"));
}

#[test]
fn a_batch_says_where_nothing_counts_as_ignored() {
    let scene = Scene::new(&[(".gitignore", "/target\n")]);
    scene.rehearses("target/x", "x\n");
    let (batch, _) = scene.draft();
    assert_eq!(names(&batch), ["target/x"]);
    assert_eq!(batch.notes, ["The project is not in a git repository, so no file counts as ignored."]);
}

#[test]
fn what_holds_secrets_says_so_and_is_judged_so() {
    let scene = Scene::new(&[]);
    scene.rehearses(".env", "KEY=x\n");
    let (batch, _) = scene.draft();
    assert_eq!(batch.items[0].access, Access::WriteOutside(".env".into()));
    assert!(batch.items[0].notes.iter().any(|note| note.contains("secrets")), "{batch:?}");
}

#[test]
fn another_content_in_the_layer_than_was_shown_is_not_applied() {
    let scene = Scene::new(&[("a", "one\n")]);
    scene.rehearses("a", "two\n");
    let draft = scene.draft();
    scene.rehearses("a", "three\n");
    assert!(matches!(scene.apply(&draft, &[])[..], [Applied::Conflict(_)]));
    assert_eq!(scene.text("a").as_deref(), Some("one\n"));
}
