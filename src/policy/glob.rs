//! Patterns for paths and hosts: `*` within a component, `**` across components, `?` for one character. Nothing else is
//! special.

/// Returns whether a path matches a pattern, component by component. A trailing `**` also matches the folder itself.
pub fn matches_path(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = path_components(pattern);
    let path: Vec<&str> = path_components(path);
    matches_sequence(&pattern, &path, |part| *part == "**", |part, name| matches_name(part, name))
}

/// Returns whether a host matches a pattern. `*.example.com` matches `example.com` and all its subdomains.
pub fn matches_host(pattern: &str, host: &str) -> bool {
    let (pattern, host) = (pattern.to_ascii_lowercase(), host.trim_end_matches('.').to_ascii_lowercase());
    match pattern.strip_prefix("*.") {
        Some(parent) => host == parent || host.strip_suffix(parent).is_some_and(|prefix| prefix.ends_with('.')),
        None => matches_name(&pattern, &host),
    }
}

/// Returns the components of a path, without `.` and empty ones.
fn path_components(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    matches_sequence(
        &pattern,
        &name,
        |pattern_char| *pattern_char == '*',
        |pattern_char, name_char| *pattern_char == '?' || pattern_char == name_char,
    )
}

/// Returns whether the items match the patterns in order. A pattern for which `matches_any_number` is true matches any
/// number of items. Takes time proportional to the product of both lengths.
fn matches_sequence<P, T>(
    patterns: &[P],
    items: &[T],
    matches_any_number: impl Fn(&P) -> bool,
    matches_one: impl Fn(&P, &T) -> bool,
) -> bool {
    // reached[n]: the first n items match the patterns so far.
    let mut reached = vec![false; items.len() + 1];
    reached[0] = true;
    for pattern in patterns {
        if matches_any_number(pattern) {
            let mut is_reached = false;
            for entry in &mut reached {
                is_reached |= *entry;
                *entry = is_reached;
            }
            continue;
        }
        for index in (0..items.len()).rev() {
            reached[index + 1] = reached[index] && matches_one(pattern, &items[index]);
        }
        reached[0] = false;
    }
    reached.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_wildcards_within_and_across_components() {
        for (pattern, matching, not_matching) in [
            ("docs/**", &["docs/a", "docs/a/b.md", "docs", "./docs//a"][..], &["doc", "a/docs/b"][..]),
            ("docs/*.md", &["docs/a.md", "docs/.md"], &["docs/a/b.md", "docs/a.mdx"]),
            ("**/secret*", &["secret", "a/b/secrets"], &["a/b/my-secret/x", "sec"]),
            ("a?c", &["abc", "aßc"], &["ac", "abbc", "a/c"]),
            ("**", &["", "a", "a/b"], &[]),
            ("[ab]", &["[ab]"], &["a"]),
            ("*a*a*a*a*a*b", &[], &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]),
        ] {
            assert!(matching.iter().all(|name| matches_path(pattern, name)), "{pattern} {matching:?}");
            assert!(!not_matching.iter().any(|name| matches_path(pattern, name)), "{pattern} {not_matching:?}");
        }
    }

    #[test]
    fn matches_hosts_by_labels() {
        for (pattern, name, expected) in [
            ("example.com", "Example.com", true),
            ("example.com", "example.com.", true),
            ("example.com", "a.example.com", false),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", true),
            ("*.example.com", "badexample.com", false),
            ("*", "anything", true),
        ] {
            assert_eq!(matches_host(pattern, name), expected, "{pattern} {name}");
        }
    }
}
