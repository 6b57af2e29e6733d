//! Note about files that are ignored by git and therefore not part of the batch.

use super::{Error, Group, GroupClassifier, Path, PathBuf, Rehearsal};
use std::collections::BTreeMap;

/// Number of places that the note lists by name.
const LISTED_PLACES: usize = 3;

/// Returns a note about these ignored files, `None` if none of them changes.
pub(super) fn describe_ignored_files(
    rehearsal: &Rehearsal,
    groups: &mut GroupClassifier<'_>,
    paths: &[PathBuf],
) -> Result<Option<String>, Error> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        if rehearsal.change_at(path)?.is_none() {
            continue;
        }
        let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        above.reverse();
        let folder = above.into_iter().find(|above| groups.classify(above, true) == Group::Ignored);
        let place = folder.map_or_else(|| path.display().to_string(), |folder| format!("{}/", folder.display()));
        *places.entry(place).or_default() += 1;
    }
    let count: usize = places.values().sum();
    let files = if count == 1 { "file ignored by git" } else { "files ignored by git" };
    let named = places.keys().take(LISTED_PLACES).cloned().collect::<Vec<_>>().join(", ");
    let more = match places.len().saturating_sub(LISTED_PLACES) {
        0 => String::new(),
        more => format!(" and {more} more places"),
    };
    Ok((count > 0)
        .then(|| format!("Not included: {count} {files} ({named}{more}). Apply them with /rehearsal apply ignored.")))
}
