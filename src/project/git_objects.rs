//! Looks up objects in git's storage: loose ones, whose content is compared, and those in packs.

use super::branch::{common_folder, git_folder};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// First bytes of the index of a pack, version 2.
const PACK_INDEX_HEADER: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// Number of entries of the table after the header: how many ids begin with at most this byte.
const FIRST_BYTES: u64 = 256;
/// Bytes of one entry of that table.
const COUNT_BYTES: u64 = 4;

/// Storage of one repository. Empty if there is none.
#[derive(Default)]
pub struct GitObjects {
    /// Folder `objects`.
    folder: PathBuf,
    /// Indexes of its packs.
    packs: Vec<PathBuf>,
}

impl GitObjects {
    /// Opens the storage of the work tree at `top`.
    pub fn open(top: &Path) -> Self {
        let Some(git) = git_folder(top.join(".git")) else { return Self::default() };
        let folder = common_folder(&git).join("objects");
        let files = fs::read_dir(folder.join("pack")).into_iter().flatten().flatten().map(|entry| entry.path());
        let packs = files.filter(|path| path.extension().is_some_and(|extension| extension == "idx")).collect();
        Self { folder, packs }
    }

    /// Returns whether git has stored a blob. `id` is in hexadecimal digits; `content` is what it must have if it is loose.
    pub fn contains_blob(&self, id: &str, content: &[u8]) -> bool {
        let Some(bytes) = parse_id(id) else { return false };
        self.has_loose_blob(id, content) || self.packs.iter().any(|pack| has_packed(pack, &bytes).unwrap_or(false))
    }

    fn has_loose_blob(&self, id: &str, content: &[u8]) -> bool {
        let Some((folder, name)) = id.split_at_checked(2) else { return false };
        let Ok(file) = File::open(self.folder.join(folder).join(name)) else { return false };
        let expected = [format!("blob {}\0", content.len()).as_bytes(), content].concat();
        // One byte more than expected shows whether there is more.
        let mut stored = Vec::new();
        let mut decoder = flate2::read::ZlibDecoder::new(file).take(expected.len() as u64 + 1);
        decoder.read_to_end(&mut stored).is_ok() && stored == expected
    }
}

fn parse_id(id: &str) -> Option<Vec<u8>> {
    let digits = |start| id.get(start..start + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    (0..id.len()).step_by(2).map(digits).collect()
}

/// Returns whether the index of a pack lists an object.
fn has_packed(pack: &Path, id: &[u8]) -> io::Result<bool> {
    let file = File::open(pack)?;
    let mut header = PACK_INDEX_HEADER;
    file.read_exact_at(&mut header, 0)?;
    let Some(first_byte) = id.first().filter(|_| header == PACK_INDEX_HEADER) else { return Ok(false) };
    let read_count = |index: u64| -> io::Result<u64> {
        let mut count = [0; COUNT_BYTES as usize];
        file.read_exact_at(&mut count, PACK_INDEX_HEADER.len() as u64 + index * COUNT_BYTES)?;
        Ok(u32::from_be_bytes(count).into())
    };
    let index = u64::from(*first_byte);
    let (mut low, mut high) = (if index == 0 { 0 } else { read_count(index - 1)? }, read_count(index)?);
    let ids_start = PACK_INDEX_HEADER.len() as u64 + FIRST_BYTES * COUNT_BYTES;
    let mut found = vec![0; id.len()];
    while low < high {
        let middle = low + (high - low) / 2;
        file.read_exact_at(&mut found, ids_start + middle * id.len() as u64)?;
        match found.as_slice().cmp(id) {
            std::cmp::Ordering::Equal => return Ok(true),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::patch::object_id::Algorithm;

    #[test]
    fn stored_blobs_are_found_loose_and_packed() {
        let temporary = crate::test_folder::Folder::new();
        let root = temporary.path();
        let run_git = |arguments: &[&str]| {
            let mut git = std::process::Command::new("git");
            git.args(["-c", "user.name=a", "-c", "user.email=a@a"]).args(arguments).current_dir(root);
            assert!(git.output().unwrap().status.success(), "{arguments:?}");
        };
        let contents: Vec<String> = (0..300).map(|number| format!("{number}\n").repeat(3)).collect();
        for (number, content) in contents.iter().enumerate() {
            fs::write(root.join(format!("f{number}")), content).unwrap();
        }
        let id_of = |content: &str| Algorithm::Sha1.hash_blob(content.as_bytes(), content.len() as u64).unwrap();
        let is_stored = |content: &str| GitObjects::open(root).contains_blob(&id_of(content), content.as_bytes());
        assert!(!is_stored(&contents[0]));
        run_git(&["init", "-q"]);
        run_git(&["add", "-A"]);
        let all_stored = || contents.iter().all(|content| is_stored(content));
        assert!(all_stored() && !is_stored("x"));
        run_git(&["commit", "-qm", "one"]);
        run_git(&["gc", "-q"]);
        assert!(all_stored() && !is_stored("x"));
        let (folder, name) = (id_of("x")[..2].to_owned(), id_of("x")[2..].to_owned());
        fs::create_dir_all(root.join(".git/objects").join(&folder)).unwrap();
        fs::write(root.join(".git/objects").join(folder).join(name), "no object").unwrap();
        assert!(!is_stored("x") && !GitObjects::open(root).contains_blob("", b""));
        assert!(!GitObjects::default().contains_blob(&id_of("x"), b"x"));
    }
}
