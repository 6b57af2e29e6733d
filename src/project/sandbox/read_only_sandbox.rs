//! Sandbox of commands that run without approval: they read the project and the system's programs, and change nothing.
//!
//! Landlock restricts files: paths that are not listed cannot even be read. Seccomp restricts everything else with a
//! list of allowed syscalls (`read_only_filter`). Root loses every capability except reading. Not restricted: sizes
//! and times of any file whose path is known (Landlock has no rule for them), and listing the project's folders.

use super::landlock_rules::{DEVICES, NEWEST_ABI, OLDEST_ABI, add_path_rule, enforce_rules};
use super::rule_paths::{open_without_links, paths_without};
use super::system_paths::{CLOSED_SUBFOLDERS, FILES, PROGRAMS};
use super::{SandboxError, SandboxSupport, read_only_filter, root_capabilities};
use landlock::{
    Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, Scope,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Specification of the read-only sandbox of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOnlySpec {
    /// Absolute path of the working folder, links resolved.
    pub folder: PathBuf,
    /// Readable files and folders of the project, each with everything below it.
    pub open_paths: Vec<PathBuf>,
    /// Folders outside the project that contain programs: those of `PATH`.
    pub programs: Vec<PathBuf>,
    /// Paths that stay closed within the system's folders: the project, the home, aye's own.
    pub closed: Vec<PathBuf>,
    /// Folder in which its private temporary folder is created.
    pub temporary: PathBuf,
}

/// Arguments of the guard, between `guard` and `--`.
pub const READ_ONLY: &str = "--read-only";
const FOLDER: &str = "--folder";
const TEMPORARY: &str = "--temporary";
/// Size of the length prefix of the paths.
const LENGTH_BYTES: usize = 8;
/// Maximum length of all paths together in bytes; no real list is that long.
const MAX_PATH_BYTES: usize = 256 << 20;

impl ReadOnlySpec {
    /// Encodes the folders as arguments of the guard. The paths of `encode_paths` are sent over the lifeline, because
    /// finding them may take longer than starting the guard.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let folders = [FOLDER.into(), self.folder.clone().into(), TEMPORARY.into(), self.temporary.clone().into()];
        [READ_ONLY.into()].into_iter().chain(folders).collect()
    }

    /// Encodes the paths for the lifeline: their total length in eight bytes, followed by the paths.
    pub fn encode_paths(&self) -> Vec<u8> {
        let mut bytes = vec![0; LENGTH_BYTES];
        for (kind, paths) in [(b'o', &self.open_paths), (b'p', &self.programs), (b'c', &self.closed)] {
            for path in paths {
                bytes.push(kind);
                bytes.extend(path.as_os_str().as_bytes());
                bytes.push(0);
            }
        }
        let count = (bytes.len() - LENGTH_BYTES) as u64;
        bytes[..LENGTH_BYTES].copy_from_slice(&count.to_le_bytes());
        bytes
    }

    /// Decodes the specification. `lifeline` reads the given number of bytes from the lifeline. Fails if the arguments
    /// are invalid.
    pub fn parse_arguments(
        arguments: impl IntoIterator<Item = OsString>,
        mut lifeline: impl FnMut(usize) -> std::io::Result<Vec<u8>>,
    ) -> Result<Self, SandboxError> {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        let [folder_flag, folder, temporary_flag, temporary] = arguments.as_slice() else {
            return Err(SandboxError::WritablePath);
        };
        if folder_flag != FOLDER || temporary_flag != TEMPORARY {
            return Err(SandboxError::WritablePath);
        }
        let mut spec = Self { folder: folder.into(), temporary: temporary.into(), ..Self::default() };
        if !spec.folder.is_absolute() || !spec.temporary.is_absolute() {
            return Err(SandboxError::WritablePath);
        }
        let count = lifeline(LENGTH_BYTES).ok().and_then(|count| Some(u64::from_le_bytes(count.try_into().ok()?)));
        let count = count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= MAX_PATH_BYTES);
        let bytes = lifeline(count.ok_or(SandboxError::WritablePath)?).map_err(|_| SandboxError::WritablePath)?;
        for entry in bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let path = PathBuf::from(OsString::from_vec(entry[1..].to_vec()));
            if !path.is_absolute() {
                return Err(SandboxError::WritablePath);
            }
            match entry[0] {
                b'o' => spec.open_paths.push(path),
                b'p' => spec.programs.push(path),
                b'c' => spec.closed.push(path),
                _ => return Err(SandboxError::WritablePath),
            }
        }
        Ok(spec)
    }

    /// Applies the sandbox to this thread and everything it starts. `private_folder` is the only writable folder.
    pub fn apply_to_thread(&self, private_folder: Option<&Path>) -> Result<(), SandboxError> {
        let SandboxSupport::Supported { signals, .. } = super::kernel_support() else {
            return Err(SandboxError::FileRules);
        };
        root_capabilities::drop_all_but_reading()?;
        self.apply_file_rules(private_folder)?;
        read_only_filter::apply_syscall_filters(signals)
    }

    fn apply_file_rules(&self, private_folder: Option<&Path>) -> Result<(), SandboxError> {
        let read_access = AccessFs::ReadFile | AccessFs::ReadDir;
        let mut rules = create_ruleset().map_err(|_| SandboxError::FileRules)?;
        for folder in PROGRAMS.map(Path::new) {
            let closed: Vec<PathBuf> =
                self.closed.iter().cloned().chain(CLOSED_SUBFOLDERS.map(PathBuf::from)).collect();
            // If the project contains this folder, its programs may be executed; whether they may be read is decided
            // by the list of the project's files.
            if closed.iter().any(|closed| folder.starts_with(closed)) {
                rules = add_path_rule(rules, folder, AccessFs::Execute.into())?;
            }
            let closed_inside: Vec<PathBuf> =
                closed.into_iter().filter(|closed| !folder.starts_with(closed) || *closed == self.folder).collect();
            for path in paths_without(folder, &closed_inside) {
                rules = add_path_rule(rules, &path, read_access | AccessFs::Execute)?;
            }
        }
        for folder in &self.programs {
            rules = add_path_rule(rules, folder, read_access | AccessFs::Execute)?;
        }
        for file in FILES.map(Path::new) {
            // Some files are links to other listed or readable files.
            let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
            if !self.closed.iter().any(|closed| real.starts_with(closed)) {
                rules = add_path_rule(rules, &real, AccessFs::ReadFile.into())?;
            }
        }
        for device in DEVICES.map(Path::new) {
            let write_access = if device == Path::new("/dev/null") { file_write_access() } else { BitFlags::EMPTY };
            rules = add_path_rule(rules, device, write_access | AccessFs::ReadFile)?;
        }
        open_without_links(&self.folder).map_err(|_| SandboxError::WritablePath)?;
        rules = add_path_rule(rules, &self.folder, AccessFs::ReadDir.into())?;
        for path in &self.open_paths {
            rules = add_path_rule(rules, path, read_access)?;
        }
        if let Some(folder) = private_folder {
            let permitted = !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::Execute);
            rules = add_path_rule(rules, folder, AccessFs::from_all(OLDEST_ABI) & permitted)?;
        }
        enforce_rules(rules)
    }
}

/// Returns the rights to write an existing file.
fn file_write_access() -> BitFlags<AccessFs> {
    AccessFs::WriteFile | AccessFs::Truncate
}

/// Creates the ruleset. All file rights are required; rights of newer kernels are used if available.
fn create_ruleset() -> Result<RulesetCreated, landlock::RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST_ABI))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .handle_access(AccessNet::from_all(NEWEST_ABI))?
        .scope(Scope::from_all(NEWEST_ABI))?
        .create()
}

/// Returns the folders of `PATH` in which a command without approval may find programs. Excludes closed and sensitive
/// folders, folders that contain a closed one (such as the home), and the system's folders, which are open already.
pub fn program_folders(path: &OsStr, closed: &[PathBuf], private_folders: &[PathBuf]) -> Vec<PathBuf> {
    let real = |folder: PathBuf| folder.canonicalize().ok();
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute()).filter_map(real);
    let is_usable = |folder: &PathBuf| {
        let is_closed = closed.iter().any(|closed| folder.starts_with(closed));
        let contains_private = closed.iter().chain(private_folders).any(|closed| closed.starts_with(folder));
        let is_system = PROGRAMS.iter().any(|program| folder.starts_with(program));
        folder.is_dir()
            && !is_closed
            && !contains_private
            && !is_system
            && !crate::chat::sensitive_paths::is_sensitive(folder)
    };
    let mut folders: Vec<PathBuf> = folders.filter(is_usable).collect();
    folders.sort();
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specification_survives_a_round_trip_and_rejects_invalid_arguments() {
        let spec = ReadOnlySpec {
            folder: "/p".into(),
            open_paths: vec!["/p/a".into(), "/p/--folder".into()],
            programs: vec!["/home/a/.cargo/bin".into()],
            closed: vec!["/p".into(), "/home/a".into()],
            temporary: "/tmp".into(),
        };
        let (arguments, bytes) = (spec.to_arguments(), spec.encode_paths());
        let parse = |arguments: &[OsString], bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            ReadOnlySpec::parse_arguments(arguments.iter().skip(1).cloned(), move |count| match count <= bytes.len() {
                true => Ok(bytes.drain(..count).collect()),
                false => Err(std::io::ErrorKind::UnexpectedEof.into()),
            })
        };
        assert_eq!(parse(&arguments, &bytes), Ok(spec));
        assert_eq!(parse(&arguments, &bytes[1..]), Err(SandboxError::WritablePath), "truncated");
        assert_eq!(parse(&arguments, &bytes[..bytes.len() - 1]), Err(SandboxError::WritablePath), "truncated");
        assert_eq!(parse(&arguments, &[0xff; 64]), Err(SandboxError::WritablePath), "too long");
        assert_eq!(parse(&arguments, &[]), Err(SandboxError::WritablePath));
        assert_eq!(parse(&arguments[..3], &bytes), Err(SandboxError::WritablePath));
        let parse_paths = |bytes: &[u8]| {
            let arguments = ["--read-only", "--folder", "/p", "--temporary", "/tmp"].map(OsString::from);
            parse(&arguments, &[&(bytes.len() as u64).to_le_bytes()[..], bytes].concat())
        };
        assert!(parse_paths(b"o/p/a\0").is_ok());
        for bytes in [&b"x/p\0"[..], b"op\0", b"o\0", b"/p\0"] {
            assert_eq!(parse_paths(bytes), Err(SandboxError::WritablePath), "{bytes:?}");
        }
    }

    #[test]
    fn programs_in_the_home_or_next_to_keys_are_not_used() {
        let temporary = tempfile::tempdir().unwrap();
        let home = temporary.path().canonicalize().unwrap();
        for folder in [".cargo/bin", ".ssh", "bin", "app/bin"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        let folders = [".cargo/bin", ".ssh", "", "bin", "none", "app/bin", "app"].map(|name| home.join(name));
        let path = std::env::join_paths(folders.into_iter().chain(["/usr/bin".into(), "/".into()])).unwrap();
        let usable_folders = program_folders(&path, &[home.join("app")], std::slice::from_ref(&home));
        assert_eq!(usable_folders, [home.join(".cargo/bin"), home.join("bin")]);
    }
}
