//! Loads the rules, and detects changes: by another process, by the user in the file, or by a new day.

use crate::chat::CommandSandbox;
use crate::config::project_files::ProjectSource;
use crate::config::rules::{LoadedRules, PROJECT_RULES_FILE, RulesSource};
use crate::config::{Config, Network};
use crate::policy::Rules;
use crate::store::Places;
use crate::tools::toolbox::{self, Toolbox};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Days until a rule saved from a prompt expires.
pub(crate) const RULE_DAYS: i64 = 90;

/// Returns the tools for checking rules and trust. They have no sandbox, because no call runs.
pub(crate) fn checking_tools(config: &Config) -> Toolbox {
    Toolbox::with_builtin_tools(toolbox::ToolSettings {
        default_timeout: config.shell.timeout,
        max_timeout: config.shell.max_timeout,
        sandbox: CommandSandbox::default(),
        allow_network: config.shell.network != Network::Off,
    })
}

/// Returns the files with the rules for work in this folder.
pub(crate) fn rules_source(places: &Places, folder: &Path, tools: &Toolbox) -> RulesSource {
    RulesSource {
        rules_file: places.rules(),
        trust_file: places.trusted(),
        folder: folder.to_owned(),
        tools: tools.tool_specs().into_iter().map(|spec| spec.name).collect(),
        home: std::env::var_os("HOME").map(PathBuf::from),
    }
}

/// Returns the source of the project's own files. At most `max_instruction_bytes` of its instructions are sent.
pub(crate) fn project_files(
    places: &Places,
    folder: &Path,
    tools: &Toolbox,
    max_instruction_bytes: usize,
) -> ProjectSource {
    let RulesSource { trust_file, folder, tools, .. } = rules_source(places, folder, tools);
    ProjectSource { folder, trust_file, tools, max_instruction_bytes }
}

/// Returns the local date as `2026-11-22`.
pub(crate) fn today_date() -> String {
    jiff::Zoned::now().date().to_string()
}

/// Returns the last day of a rule that is saved today.
pub(crate) fn expiry_date() -> String {
    let today = jiff::Zoned::now().date();
    today.checked_add(jiff::ToSpan::days(RULE_DAYS)).unwrap_or(today).to_string()
}

/// Detects changes of the rule files before every call.
pub(crate) struct RuleWatcher {
    source: RulesSource,
    cached: Mutex<Option<(FileState, LoadedRules)>>,
}

/// State of the files by which a change is detected.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileState {
    today: String,
    files: Vec<Option<[i128; 5]>>,
}

impl RuleWatcher {
    pub(crate) fn new(source: RulesSource) -> Self {
        Self { source, cached: Mutex::new(None) }
    }

    /// Returns the rules and new notices if anything changed since the last call.
    pub(crate) fn reload_if_changed(&self) -> Option<(Arc<Rules>, Vec<String>)> {
        let state = self.file_state();
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        // A deny rule for a link applies to its current target.
        if cached
            .as_ref()
            .is_some_and(|(cached_state, loaded)| *cached_state == state && self.source.has_same_targets(loaded))
        {
            return None;
        }
        let loaded = self.source.load(&state.today);
        // At the start, the notice about an untrusted project file is part of the trust prompt.
        let known_notices = match &*cached {
            Some((_, previous)) => previous.notices(),
            None => loaded.untrusted_notice().into_iter().collect(),
        };
        let notices = loaded.notices().into_iter().filter(|notice| !known_notices.contains(notice)).collect();
        let rules = Arc::new(loaded.rules.clone());
        *cached = Some((state, loaded));
        Some((rules, notices))
    }

    fn file_state(&self) -> FileState {
        let project_file = self.source.folder.join(PROJECT_RULES_FILE);
        let file_stamp = |path: &Path| {
            let metadata = fs::metadata(path).ok()?;
            let (identity, modified) = (
                [metadata.dev(), metadata.ino(), metadata.len()].map(i128::from),
                [metadata.mtime(), metadata.mtime_nsec()].map(i128::from),
            );
            Some([identity[0], identity[1], identity[2], modified[0], modified[1]])
        };
        let files =
            [&self.source.rules_file, &self.source.trust_file, &project_file].map(|path| file_stamp(path)).to_vec();
        FileState { today: today_date(), files }
    }
}
