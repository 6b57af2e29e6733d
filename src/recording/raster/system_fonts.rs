//! Fonts of the system, for characters that the bundled font does not have, such as Chinese, Japanese and Korean.

use std::path::{Path, PathBuf};

/// Maximum number of font files that are looked at.
const MAX_FILES: usize = 5_000;
/// Maximum depth of the folders.
const MAX_DEPTH: usize = 6;
/// Maximum bytes of one font.
const MAX_FONT_BYTES: u64 = 64 << 20;
/// Maximum number and bytes of all fonts that are read.
const MAX_READ: (usize, u64) = (48, 256 << 20);

/// Parts of file names, in lower case, of fonts with many characters; the first ones are tried first.
const PREFERRED: &[&str] = &[
    "notosansmonocjk",
    "notosanscjk",
    "sourcehan",
    "wqy",
    "wenquanyi",
    "droidsansfallback",
    "hiragino",
    "pingfang",
    "ipag",
    "nanumgothic",
    "notosansmono",
    "symbola",
    "notoemoji",
    "notosanssymbols",
    "dejavusans.",
    "freemono",
    "unifont",
    "menlo",
    "applesymbols",
    "arialunicode",
];

/// The files of fonts in the usual folders, the best ones first; each is read at its first use.
pub(super) struct SystemFonts {
    waiting: std::vec::IntoIter<PathBuf>,
    read: (usize, u64),
}

impl SystemFonts {
    /// Lists the fonts in these folders.
    pub fn list(folders: &[PathBuf]) -> Self {
        let mut files = Vec::new();
        folders.iter().for_each(|folder| list_folder(folder, 0, &mut files));
        // Equal names are those of one font in two folders.
        files.sort_by_cached_key(|file| (font_rank(file), file.clone()));
        Self { waiting: files.into_iter(), read: (0, 0) }
    }

    /// Reads the next font; `None` at the end.
    pub fn read_next(&mut self) -> Option<Vec<u8>> {
        loop {
            let file = self.waiting.next()?;
            let Ok(metadata) = std::fs::metadata(&file) else { continue };
            if !metadata.is_file() || metadata.len() > MAX_FONT_BYTES {
                continue;
            }
            self.read = (self.read.0 + 1, self.read.1 + metadata.len());
            if self.read.0 > MAX_READ.0 || self.read.1 > MAX_READ.1 {
                return None;
            }
            if let Ok(bytes) = std::fs::read(&file) {
                return Some(bytes);
            }
        }
    }
}

/// Returns the folders in which systems keep fonts.
pub(super) fn font_folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(directories) = directories::BaseDirs::new() {
        folders.push(directories.data_dir().join("fonts"));
        folders.extend([".fonts", "Library/Fonts"].map(|name| directories.home_dir().join(name)));
    }
    let shared = ["/usr/local/share/fonts", "/usr/share/fonts", "/Library/Fonts", "/System/Library/Fonts"];
    folders.extend(shared.map(PathBuf::from));
    folders
}

/// Returns the place of a font in the order; fonts of one script with a style of their own come last.
fn font_rank(file: &Path) -> usize {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase().replace(['-', '_', ' '], "");
    let is_styled =
        ["bold", "italic", "oblique", "light", "black", "thin", "condensed"].iter().any(|style| name.contains(style));
    let place = PREFERRED.iter().position(|preferred| name.contains(preferred)).unwrap_or(PREFERRED.len());
    2 * place + usize::from(is_styled)
}

fn list_folder(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if files.len() >= MAX_FILES {
            return;
        }
        let extension = path.extension().map(|extension| extension.to_ascii_lowercase()).unwrap_or_default();
        if kind.is_dir() && depth < MAX_DEPTH {
            list_folder(&path, depth + 1, files);
        } else if ["ttf", "otf", "ttc", "otc"].iter().any(|known| extension == *known) {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fonts_with_many_characters_come_first_and_other_files_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let nested = folder.path().join("a/b");
        std::fs::create_dir_all(&nested).unwrap();
        for name in ["Zebra.ttf", "NotoSansCJK-Bold.ttc", "readme.txt", "DejaVuSans.ttf"] {
            std::fs::write(nested.join(name), name).unwrap();
        }
        std::fs::write(folder.path().join("NotoSansCJK-Regular.TTC"), "NotoSansCJK-Regular").unwrap();
        std::fs::create_dir(folder.path().join("folder.ttf")).unwrap();
        let mut fonts = SystemFonts::list(&[folder.path().to_owned(), folder.path().join("missing")]);
        let names: Vec<String> =
            std::iter::from_fn(|| fonts.read_next()).map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        assert_eq!(names, ["NotoSansCJK-Regular", "NotoSansCJK-Bold.ttc", "DejaVuSans.ttf", "Zebra.ttf"]);
    }
}
