//! The pages of the manual, `docs/*.md`, built into the program.

/// A page of the manual.
#[derive(Debug, PartialEq, Eq)]
pub struct Topic {
    /// Name for `aye help NAME` and `/help NAME`.
    pub name: &'static str,
    /// Other names it is found by.
    pub aliases: &'static [&'static str],
    /// Text in Markdown.
    pub text: &'static str,
}

const fn topic(name: &'static str, aliases: &'static [&'static str], text: &'static str) -> Topic {
    Topic { name, aliases, text }
}

impl Topic {
    /// Returns the heading of the page.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or(self.name).trim_start_matches("# ")
    }

    /// Returns the text for a terminal: without comments, and with links to pages by name instead of by file.
    pub fn terminal_text(&self) -> String {
        let lines: Vec<&str> = self.text.lines().filter(|line| !line.starts_with("<!--")).collect();
        let text = lines.join("\n");
        let mut parts = text.split("](");
        let mut shown = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let page = part.split_once(')').and_then(|(target, after)| {
                let (name, _) = target.split_once(".md")?;
                topic_names().any(|topic| topic == name).then_some((name, after))
            });
            shown.push_str("](");
            match page {
                Some((name, after)) => shown.extend([name, ")", after]),
                None => shown.push_str(part),
            }
        }
        shown
    }
}

/// All pages, in reading order.
pub const TOPICS: &[Topic] = &[
    topic("getting-started", &["start", "tour"], include_str!("../docs/getting-started.md")),
    topic("installation", &["install", "completion", "packages"], include_str!("../docs/installation.md")),
    topic("providers", &["provider", "profiles", "profile", "connect"], include_str!("../docs/providers.md")),
    topic(
        "permissions",
        &["permission", "approval", "approvals", "rules", "modes", "mode", "trust"],
        include_str!("../docs/permissions.md"),
    ),
    topic("instructions", &["agents.md", "init"], include_str!("../docs/instructions.md")),
    topic("custom-commands", &["custom-command", "command-files"], include_str!("../docs/custom-commands.md")),
    topic("skills", &["skill", "skill.md"], include_str!("../docs/skills.md")),
    topic("docs-search", &["docs", "documents", "search_docs"], include_str!("../docs/docs-search.md")),
    topic("sandbox", &["network"], include_str!("../docs/sandbox.md")),
    topic("trials", &["trial", "try", "keep"], include_str!("../docs/trials.md")),
    topic("undo", &["rewind", "checkpoints", "checkpoint", "restore"], include_str!("../docs/undo.md")),
    topic("dry-run", &["dry", "dry_run", "rehearsal", "overlay"], include_str!("../docs/dry-run.md")),
    topic("shell", &["commands", "!", "terminal"], include_str!("../docs/shell.md")),
    topic("sessions", &["session", "resume", "export"], include_str!("../docs/sessions.md")),
    topic("recording", &["record", "recordings", "asciinema"], include_str!("../docs/recording.md")),
    topic("demos", &["demo"], include_str!("../docs/demos.md")),
    topic("files", &["workspace", "file"], include_str!("../docs/files.md")),
    topic("references", &["reference", "@@file"], include_str!("../docs/references.md")),
    topic("headless", &["print", "scripts", "json", "ci"], include_str!("../docs/headless.md")),
    topic("tools", &["tool"], include_str!("../docs/tools.md")),
    topic("tokens", &["context", "budgets"], include_str!("../docs/tokens.md")),
    topic("credentials", &["credential", "oauth"], include_str!("../docs/credentials.md")),
    topic("web", &["web_fetch", "pages"], include_str!("../docs/web.md")),
    topic("editors", &["editor", "acp", "zed"], include_str!("../docs/editors.md")),
    topic("mcp", &["servers", "server"], include_str!("../docs/mcp.md")),
    topic("sub-agents", &["sub-agent", "subagents"], include_str!("../docs/sub-agents.md")),
    topic("reviewers", &["reviewer", "hooks", "hook"], include_str!("../docs/reviewers.md")),
    topic("audit", &[], include_str!("../docs/audit.md")),
    topic("settings", &["config", "configuration"], include_str!("../docs/settings.md")),
    topic("keys", &["key", "keymap"], include_str!("../docs/keys.md")),
    topic("themes", &["theme", "colors"], include_str!("../docs/themes.md")),
    topic("troubleshooting", &["problems", "doctor"], include_str!("../docs/troubleshooting.md")),
    topic("security", &["secrets"], include_str!("../docs/security.md")),
    topic("glossary", &["terms"], include_str!("../docs/glossary.md")),
    topic("architecture", &["design"], include_str!("../docs/architecture.md")),
];

/// Finds a page by its name or an alias, ignoring case.
pub fn find_topic(name: &str) -> Option<&'static Topic> {
    let matches_name = |known: &str| known.eq_ignore_ascii_case(name);
    TOPICS.iter().find(|topic| matches_name(topic.name) || topic.aliases.iter().any(|alias| matches_name(alias)))
}

/// Returns the names of all pages, in reading order.
pub fn topic_names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|topic| topic.name)
}

/// Returns the names and aliases of all pages.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().flat_map(|topic| std::iter::once(topic.name).chain(topic.aliases.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_page_of_docs_is_a_topic_and_no_name_means_two() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let files: BTreeSet<String> = std::fs::read_dir(docs)
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".md").map(str::to_owned))
            .collect();
        assert_eq!(files, topic_names().map(str::to_owned).collect());
        let mut names: Vec<&str> = all_names().collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(find_topic("Hooks"), find_topic("reviewers"));
        assert!(TOPICS.iter().all(|topic| topic.text.starts_with("# ")));
    }

    #[test]
    fn links_between_pages_name_the_page() {
        let page = topic("x", &[], "# X\n<!-- note -->\n[a](sandbox.md#b) [c](../c.toml) [d](https://e/f.md) [g](h");
        assert_eq!(page.terminal_text(), "# X\n[a](sandbox) [c](../c.toml) [d](https://e/f.md) [g](h");
        assert!(TOPICS.iter().all(|topic| !topic.terminal_text().contains(".md#")));
    }
}
