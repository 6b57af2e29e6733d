//! Which files are documents, by their names.

use crate::text::passages::Markup;
use std::path::Path;

/// Beginnings of the names of documents in any folder of the project, in lower case.
const NAMED: [&str; 3] = ["readme", "changelog", "contributing"];
/// Names of the folders whose files are documents, in lower case.
const DOC_FOLDERS: [&str; 2] = ["docs", "doc"];
/// Folders with the files of other projects.
const DEPENDENCY_FOLDERS: [&str; 5] = ["node_modules", "vendor", "third_party", "site-packages", "target"];

/// Returns the kind of headings in a file by the ending of its name; `None` if it is not the ending of a document.
pub(super) fn find_markup(path: &Path) -> Option<Markup> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "md" | "markdown" | "mdx" => Some(Markup::Markdown),
        "adoc" => Some(Markup::AsciiDoc),
        "rst" | "txt" => Some(Markup::Underlined),
        _ => None,
    }
}

/// Returns whether a file of the project is one of its documents. `path` is relative to the project.
pub(in crate::tools) fn is_project_document(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()).map(str::to_ascii_lowercase) else { return false };
    let folders: Vec<String> = path
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase())
        .collect();
    let is_below = |names: &[&str]| folders.iter().any(|folder| names.contains(&folder.as_str()));
    let has_ending = find_markup(path).is_some();
    // README and CHANGELOG may have no ending.
    let is_named = NAMED.iter().any(|start| name.starts_with(start)) && (has_ending || !name.contains('.'));
    !is_below(&DEPENDENCY_FOLDERS) && (is_named || has_ending && is_below(&DOC_FOLDERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_known_names_or_are_in_a_folder_of_documents() {
        let is_document = |path: &&&str| is_project_document(Path::new(**path));
        #[rustfmt::skip]
        let documents = [
            "README", "readme.md", "README.de.rst", "CHANGELOG.txt", "CONTRIBUTING.md", ".github/CONTRIBUTING.md", "docs/a.md",
            "docs/deep/er/b.MDX", "doc/c.adoc", "Docs/d.markdown", "packages/x/README.md", "packages/x/docs/e.txt",
        ];
        assert_eq!(documents.iter().filter(|path| !is_document(path)).collect::<Vec<_>>(), [&""; 0]);
        #[rustfmt::skip]
        let others = [
            "", "src/main.rs", "notes.md", "readme.png", "README.sh", "docs/a.rs", "docs/Makefile", "docs", "mydocs/a.md",
            "node_modules/x/README.md", "vendor/x/docs/a.md",
        ];
        assert_eq!(others.iter().filter(is_document).collect::<Vec<_>>(), [&""; 0]);
    }
}
