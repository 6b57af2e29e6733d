//! Note about files that are ignored by git and therefore not part of the batch.

use super::{Error, Group, GroupClassifier, PathBuf, Rehearsal, list_parents};
use std::collections::BTreeMap;

/// Number of places that the note lists by name.
const LISTED_PLACES: usize = 3;

/// Returns a note about these ignored files, `None` if none of them changes.
pub(super) fn describe_ignored_files(
    rehearsal: &Rehearsal,
    groups: &mut GroupClassifier<'_>,
    paths: &[PathBuf],
) -> Result<Option<String>, Error> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        if rehearsal.change_at(path)?.is_none() {
            continue;
        }
        let is_folder = true;
        let folder = list_parents(path).into_iter().find(|parent| groups.classify(parent, is_folder) == Group::Ignored);
        let place = folder.map_or_else(|| path.display().to_string(), |folder| format!("{}/", folder.display()));
        *counts.entry(place).or_default() += 1;
    }
    let count: usize = counts.values().sum();
    let files = if count == 1 { "file ignored by git" } else { "files ignored by git" };
    let listed = counts.keys().take(LISTED_PLACES).cloned().collect::<Vec<_>>().join(", ");
    let more = match counts.len().saturating_sub(LISTED_PLACES) {
        0 => String::new(),
        1 => " and 1 more place".to_owned(),
        more => format!(" and {more} more places"),
    };
    Ok((count > 0)
        .then(|| format!("Not included: {count} {files} ({listed}{more}). Apply them with /rehearsal apply ignored.")))
}
