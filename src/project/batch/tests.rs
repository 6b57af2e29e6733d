//! Tests of a group's items: moves, folders, hunks, and conflicts.

use super::*;
use crate::chat::batch::Rejected;
use crate::project::checkpoints::CallRecorder;
use crate::project::test_project::RehearsedProject;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Helpers of these tests.
trait BatchHelpers {
    /// Drafts the batch of [`Group::Source`], the files that git does not ignore.
    fn draft_source(&self) -> (Batch, BatchWork);

    /// Applies all items that are neither blocked nor rejected.
    fn apply_selected(&self, draft: &(Batch, BatchWork), rejected: &[Rejected]) -> Vec<ItemOutcome>;
}

impl BatchHelpers for RehearsedProject {
    fn draft_source(&self) -> (Batch, BatchWork) {
        draft_batch(&self.rehearsal, Group::Source, None).unwrap()
    }

    fn apply_selected(&self, (batch, work): &(Batch, BatchWork), rejected: &[Rejected]) -> Vec<ItemOutcome> {
        let results = batch.selected_items(rejected).map(|(index, _)| {
            let rejection = rejected.iter().find(|rejection| rejection.item == index);
            apply_item(
                &self.rehearsal,
                &work.items[index],
                rejection.map_or(&[], |rejection| &rejection.hunks),
                &CallRecorder::disabled(),
            )
        });
        let results = results.collect();
        delete_empty(&self.rehearsal, &work.folders, &CallRecorder::disabled());
        results
    }
}

fn item_names(batch: &Batch) -> Vec<String> {
    batch.items.iter().map(Item::name).collect()
}

#[test]
fn moved_folder_has_one_item_per_file_and_is_removed() {
    let project = RehearsedProject::new(&[("old/a", "a\n"), ("old/deep/b", "b\n"), ("same", "s\n")]);
    project.rehearse_deletion("old");
    project.rehearse_write("new/a", "a\n");
    project.rehearse_write("new/deep/b", "b\n");
    let draft = project.draft_source();
    assert_eq!(item_names(&draft.0), ["old/a → new/a", "old/deep/b → new/deep/b"]);
    assert_eq!(draft.0.destroys(&[]), None);
    assert_eq!(project.apply_selected(&draft, &[]), [ItemOutcome::Applied, ItemOutcome::Applied]);
    assert_eq!((project.live_text("new/a"), project.live_text("new/deep/b")), (Some("a\n".into()), Some("b\n".into())));
    assert!(!project.rehearsal.root().join("old").exists());
    assert_eq!(project.draft_source().0.items, []);
}

#[test]
fn folder_with_a_rejected_deletion_stays() {
    let project = RehearsedProject::new(&[("old/a", "a\n"), ("old/b", "b\n")]);
    project.rehearse_deletion("old");
    let draft = project.draft_source();
    assert_eq!(item_names(&draft.0), ["old/a", "old/b"]);
    assert_eq!(draft.0.destroys(&[]).as_deref(), Some("deletes old/a, deletes old/b"));
    let rejected = [Rejected { item: 1, hunks: vec![] }];
    assert_eq!(project.apply_selected(&draft, &rejected), [ItemOutcome::Applied]);
    assert_eq!((project.live_text("old/a"), project.live_text("old/b")), (None, Some("b\n".into())));
    assert_eq!(item_names(&project.draft_source().0), ["old/b"]);
    project.apply_selected(&project.draft_source(), &[]);
    assert!(!project.rehearsal.root().join("old").exists());
}

#[test]
fn source_of_a_move_stays_if_source_or_target_conflicts() {
    let create_move = || {
        let project = RehearsedProject::new(&[("old", "m\n")]);
        project.rehearse_deletion("old");
        project.rehearse_write("new", "m\n");
        project
    };
    // A change before the preview: of the target, then of the source.
    for (path, text) in [("new", "mine\n"), ("old", "mine\n")] {
        let project = create_move();
        fs::write(project.rehearsal.root().join(path), text).unwrap();
        let (batch, _) = project.draft_source();
        assert_eq!(item_names(&batch), ["old → new"]);
        assert!(batch.items[0].blocked.as_ref().is_some_and(|reason| reason.contains("CONFLICT")), "{path}");
        assert_eq!(project.live_text(path).as_deref(), Some("mine\n"));
    }
    // A change after the preview.
    for (path, text) in [("new", "mine\n"), ("old", "mine\n")] {
        let project = create_move();
        let draft = project.draft_source();
        fs::write(project.rehearsal.root().join(path), text).unwrap();
        assert!(matches!(project.apply_selected(&draft, &[])[..], [ItemOutcome::Conflict(_)]), "{path}");
        assert_eq!(project.live_text(path).as_deref(), Some("mine\n"));
        assert!(project.live_text("old").is_some(), "{path}");
    }
}

#[test]
fn interrupted_move_continues_and_destroys_nothing() {
    let project = RehearsedProject::new(&[("old", "m\n")]);
    project.rehearse_deletion("old");
    project.rehearse_write("new", "m\n");
    let (_, work) = project.draft_source();
    // The program ended after it created the target.
    assert_eq!(
        apply_item(&project.rehearsal, &work.items[0][..1], &[], &CallRecorder::disabled()),
        ItemOutcome::Applied
    );
    assert_eq!((project.live_text("old"), project.live_text("new")), (Some("m\n".into()), Some("m\n".into())));
    let draft = project.draft_source();
    assert_eq!(item_names(&draft.0), ["old"]);
    assert_eq!(draft.0.destroys(&[]), None, "{draft:?}");
    assert!(draft.0.items[0].notes[0].contains("moved to new"), "{draft:?}");
    // The earlier plan completes it as well.
    assert_eq!(apply_item(&project.rehearsal, &work.items[0], &[], &CallRecorder::disabled()), ItemOutcome::Applied);
    assert_eq!((project.live_text("old"), project.live_text("new")), (None, Some("m\n".into())));
    assert_eq!(
        apply_item(&project.rehearsal, &work.items[0], &[], &CallRecorder::disabled()),
        ItemOutcome::AlreadyApplied
    );
}

#[test]
fn empty_files_and_copies_are_not_moves() {
    let project = RehearsedProject::new(&[("empty", ""), ("kept", "k\n")]);
    project.rehearse_deletion("empty");
    project.rehearse_write("other", "");
    project.rehearse_write("copy", "k\n");
    assert_eq!(item_names(&project.draft_source().0), ["copy", "empty", "other"]);
}

#[test]
fn rejected_hunks_are_not_applied() {
    let before: String = (1..=60).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\nthirty\n").replace("\n50\n", "\n");
    let project = RehearsedProject::new(&[("a", &before)]);
    project.rehearse_write("a", &after);
    let draft = project.draft_source();
    // A hunk is identified by its line number in the new text.
    let hunk_ids: Vec<usize> = draft.0.items[0].diff.as_ref().unwrap().hunks.iter().map(|hunk| hunk.after).collect();
    assert_eq!(hunk_ids.len(), 3);
    let rejected = [Rejected { item: 0, hunks: vec![hunk_ids[0], hunk_ids[2]] }];
    assert_eq!(project.apply_selected(&draft, &rejected), [ItemOutcome::Applied]);
    assert_eq!(project.live_text("a"), Some(before.replace("\n30\n", "\nthirty\n")));
    // The rest is offered again.
    assert_eq!(project.draft_source().0.items[0].diff.as_ref().unwrap().hunks.len(), 2);
    assert_eq!(project.apply_selected(&project.draft_source(), &[]), [ItemOutcome::Applied]);
    assert_eq!(project.live_text("a"), Some(after));
    // Unknown hunks do not cause the whole file to be applied.
    project.rehearse_write("a", "other\n");
    let draft = project.draft_source();
    let unknown_hunk = [Rejected { item: 0, hunks: vec![999] }];
    assert!(matches!(project.apply_selected(&draft, &unknown_hunk)[..], [ItemOutcome::Conflict(_)]));
}

#[test]
fn folder_replaced_by_a_file_is_one_item_with_its_content() {
    let files = [("d/a", "a\n"), ("d/deep/b", "b\n")];
    let project = RehearsedProject::new(&files);
    project.rehearsal.prepare_overlay().unwrap();
    fs::write(project.overlay_path("d"), "a file now\n").unwrap();
    project.rehearsal.record_origins().unwrap();
    let draft = project.draft_source();
    assert_eq!(item_names(&draft.0), ["d"]);
    assert!(draft.0.destroys(&[]).is_some_and(|text| text.contains("replaces d")), "{draft:?}");
    assert!(draft.0.items[0].notes.iter().any(|note| note.contains("d/deep/b")), "{draft:?}");
    // A file that the user added since blocks the whole item.
    fs::write(project.rehearsal.root().join("d/mine"), "mine\n").unwrap();
    assert!(matches!(project.apply_selected(&draft, &[])[..], [ItemOutcome::Conflict(_)]));
    assert_eq!(project.live_text("d/a").as_deref(), Some("a\n"), "no part of the item was applied");
    assert_eq!(project.live_text("d/mine").as_deref(), Some("mine\n"));
    fs::remove_file(project.rehearsal.root().join("d/mine")).unwrap();
    assert_eq!(project.apply_selected(&project.draft_source(), &[]), [ItemOutcome::Applied]);
    assert_eq!(project.live_text("d").as_deref(), Some("a file now\n"));
}

#[test]
fn batch_without_a_repository_notes_that_no_file_is_ignored() {
    let project = RehearsedProject::new(&[(".gitignore", "/target\n")]);
    project.rehearse_write("target/x", "x\n");
    let (batch, _) = project.draft_source();
    assert_eq!(item_names(&batch), ["target/x"]);
    assert_eq!(batch.notes, ["The project is not in a git repository, so no file counts as ignored."]);
}

#[test]
fn note_about_ignored_files_counts_the_places_that_it_does_not_name() {
    for (count, more) in [(3, ""), (4, " and 1 more place"), (5, " and 2 more places")] {
        let project = RehearsedProject::new(&[(".git/HEAD", "ref: refs/heads/main\n"), (".gitignore", "*.o\n")]);
        for name in &["a.o", "b.o", "c.o", "d.o", "e.o"][..count] {
            project.rehearse_write(name, "x\n");
        }
        let note = project.draft_source().0.notes.join("\n");
        let expected = format!("Not included: {count} files ignored by git (a.o, b.o, c.o{more}). ");
        assert!(note.starts_with(&expected), "{note}");
    }
}

#[test]
fn sensitive_file_has_a_note_and_outside_access() {
    let project = RehearsedProject::new(&[]);
    project.rehearse_write(".env", "KEY=x\n");
    let (batch, _) = project.draft_source();
    assert_eq!(batch.items[0].access, Access::WriteOutside(".env".into()));
    assert!(batch.items[0].notes.iter().any(|note| note.contains("secrets")), "{batch:?}");
}

#[test]
fn content_that_differs_from_the_preview_is_not_applied() {
    let project = RehearsedProject::new(&[("a", "one\n")]);
    project.rehearse_write("a", "two\n");
    let draft = project.draft_source();
    project.rehearse_write("a", "three\n");
    assert!(matches!(project.apply_selected(&draft, &[])[..], [ItemOutcome::Conflict(_)]));
    assert_eq!(project.live_text("a").as_deref(), Some("one\n"));
}

#[test]
fn a_rejected_hunk_does_not_leave_the_mode_of_its_file_for_later() {
    let before: String = (1..=40).map(|n| format!("{n}\n")).collect();
    let after = before.replace("\n5\n", "\nfive\n").replace("\n30\n", "\nthirty\n");
    let project = RehearsedProject::new(&[("a", &before)]);
    project.rehearse_write("a", &after);
    fs::set_permissions(project.overlay_path("a"), fs::Permissions::from_mode(0o755)).unwrap();
    let draft = project.draft_source();
    assert_eq!(draft.0.items[0].notes, ["mode 644 → 755"]);
    let hunk = draft.0.items[0].diff.as_ref().unwrap().hunks[1].after;
    let rejected = [Rejected { item: 0, hunks: vec![hunk] }];
    assert_eq!(project.apply_selected(&draft, &rejected), [ItemOutcome::Applied]);
    assert_eq!(project.live_path("a").metadata().unwrap().mode() & 0o777, 0o755);
    assert_eq!(project.draft_source().0.items[0].notes, [""; 0]);
}
