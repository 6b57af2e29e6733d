//! Checks the shell patterns among the paths of a command.

use super::{MAX_NAMES, PathFindings};
use crate::chat::Reach;
use crate::policy::effects::{PathAccess, join_path};
use globset::GlobBuilder;

impl PathFindings<'_> {
    /// Checks every path that the pattern matches in the same way as a path that the command names. May also check
    /// paths that the pattern does not match.
    pub(super) fn check_pattern(&mut self, folder: &str, pattern: &str, access: &PathAccess) {
        let mut names = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let mut next_names = Vec::new();
            for parent in &names {
                let join = |name: &str| match parent.as_str() {
                    "" => name.to_owned(),
                    "/" => format!("/{name}"),
                    parent => format!("{parent}/{name}"),
                };
                if !part.contains(['*', '?', '[']) {
                    next_names.push(join(part));
                    continue;
                }
                let directory = if parent.is_empty() { join_path(folder, ".") } else { join_path(folder, parent) };
                let located = self.files.locate(&directory).map_err(|error| error.to_string());
                let located = located.and_then(|location| {
                    if location.is_inside { Ok(location) } else { Err("it looks outside the project".to_owned()) }
                });
                match located.map(|location| self.files.list_names(&location)) {
                    Ok(Ok(entries)) => {
                        next_names.extend(entries.iter().filter(|name| may_match(name, part)).map(|name| join(name)))
                    }
                    Ok(Err(error)) if error.is_unlistable_folder() => {}
                    Ok(Err(error)) => {
                        self.is_sensitive = true;
                        return self
                            .add_restricted(access, format!("the matching files cannot all be listed: {error}"));
                    }
                    Err(why) => {
                        self.is_sensitive = true;
                        return self.add_restricted(access, why);
                    }
                }
            }
            names = next_names;
            if names.len() > MAX_NAMES {
                return self.add_restricted(access, format!("“{}” matches too many files", pattern.escape_debug()));
            }
        }
        if *access == PathAccess::MustNotMatch {
            if !names.is_empty() {
                self.add_finding(Reach::Runs, "a file name would be read as an option".to_owned());
            }
            return;
        }
        if pattern.starts_with('-') || names.iter().any(|name| name.starts_with('-')) {
            return self.add_restricted(access, "a file name would be read as an option".to_owned());
        }
        for name in names {
            self.check_path(&join_path(folder, &name), access);
        }
    }
}

/// Returns whether the shell may match this name. A pattern with brackets is not parsed and matches every name.
fn may_match(name: &str, pattern: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with(['.', '[']) {
        return false;
    }
    if pattern.contains('[') {
        return true;
    }
    let glob = GlobBuilder::new(pattern).backslash_escape(false).build();
    glob.map_or(true, |glob| glob.compile_matcher().is_match(name))
}
