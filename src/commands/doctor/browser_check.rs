//! Checks the browser of the tools.

use super::finding::Finding;
use crate::assemble::tool_files::find_browser;
use crate::cli::resolve_folder;
use crate::config::Web;
use std::path::Path;

/// Reports the browser, or why the model is offered none. It is not started.
pub(super) fn check_browser(web: &Web, requested: Option<&Path>) -> Vec<Finding> {
    let area = "browser";
    // A missing folder is reported by another check.
    let Ok(folder) = resolve_folder(requested) else { return Vec::new() };
    let found = match find_browser(web, &folder) {
        None => Finding::ok(area, "off: web.browser is false in the settings"),
        Some(Ok(browser)) => Finding::ok(area, browser.path.display().to_string()),
        Some(Err(reason)) => {
            let advice = "the tools of the browser are not offered; install Chromium, or see aye help web";
            Finding::note(area, format!("none: {reason}"), advice)
        }
    };
    vec![found]
}
