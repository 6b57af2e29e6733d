//! Sandbox of a command on Linux: it writes only in listed folders, has no network unless requested, and cannot reach
//! other processes.
//!
//! Landlock restricts files, processes and signals; seccomp restricts sockets and administrative syscalls; root
//! loses the capabilities that go beyond files. The restrictions are applied in the guard, to the one thread that
//! starts the command, so that they cover the command and its children but not the guard itself. They are applied
//! completely, or the command is not run.
//!
//! Three decisions: The machine's own network (127.0.0.1) counts as network, because without a network namespace the
//! two cannot be distinguished. Sockets of other programs (Docker, tmux, the session bus, agents that hold keys) are
//! closed even if the network is open, because those programs run outside the sandbox. `.git` in the project stays
//! writable, including hooks, because git could not commit otherwise.
//!
//! Not restricted: reading, and the modes, owners and times of the user's files elsewhere.

#[cfg(target_os = "linux")]
pub(super) mod landlock_rules;
#[cfg(target_os = "linux")]
pub(super) mod namespaces;
pub mod probe;
#[cfg(target_os = "linux")]
mod read_only_filter;
#[cfg(target_os = "linux")]
pub mod read_only_sandbox;
#[cfg(target_os = "linux")]
mod root_capabilities;
#[cfg(target_os = "linux")]
pub(super) mod rule_paths;
mod sandbox_spec;
#[cfg(target_os = "linux")]
mod seccomp_filter;
#[cfg(target_os = "linux")]
pub(super) mod system_paths;
pub mod writable_folders;

pub use sandbox_spec::{SandboxError, SandboxSpec, SandboxSupport};

use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments of the guard, between `guard` and `--`.
const SANDBOX_ARGUMENT: &str = "--sandbox";
const FOLDER: &str = "--folder";
const WRITE: &str = "--write";
const PROTECTED: &str = "--keep";
const UNREADABLE: &str = "--hide";
const NETWORK: &str = "--network";
const SOCKETS: &str = "--sockets";

impl SandboxSpec {
    /// Encodes the specification as arguments of the guard.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec![SANDBOX_ARGUMENT.into(), FOLDER.into(), self.folder.clone().into()];
        for (name, paths) in [(WRITE, &self.access.write), (PROTECTED, &self.protected), (UNREADABLE, &self.unreadable)]
        {
            arguments.extend(paths.iter().flat_map(|path| [name.into(), path.clone().into()]));
        }
        arguments.extend(self.access.network.then(|| NETWORK.into()));
        arguments.extend(self.access.sockets.then(|| SOCKETS.into()));
        arguments
    }

    /// Parses the arguments. Returns `None` if no sandbox is requested. Fails if an argument is invalid, because a
    /// command must not run with fewer restrictions than specified.
    pub fn parse_arguments(arguments: impl IntoIterator<Item = OsString>) -> Result<Option<Self>, SandboxError> {
        let mut arguments = arguments.into_iter();
        match arguments.next() {
            None => return Ok(None),
            Some(first) if first == SANDBOX_ARGUMENT => {}
            Some(_) => return Err(SandboxError::WritablePath),
        }
        let mut spec = Self::default();
        while let Some(argument) = arguments.next() {
            let mut next_path = || {
                let path = arguments.next().map(PathBuf::from).filter(|path| path.is_absolute());
                path.ok_or(SandboxError::WritablePath)
            };
            match argument.to_str() {
                Some(FOLDER) => spec.folder = next_path()?,
                Some(WRITE) => spec.access.write.push(next_path()?),
                Some(PROTECTED) => spec.protected.push(next_path()?),
                Some(UNREADABLE) => spec.unreadable.push(next_path()?),
                Some(NETWORK) => spec.access.network = true,
                Some(SOCKETS) => spec.access.sockets = true,
                Some(_) | None => return Err(SandboxError::WritablePath),
            }
        }
        if spec.folder.as_os_str().is_empty() { Err(SandboxError::WritablePath) } else { Ok(Some(spec)) }
    }

    /// Applies the sandbox to this thread and everything it starts. It cannot be undone.
    pub fn apply_to_thread(&self) -> Result<(), SandboxError> {
        #[cfg(target_os = "linux")]
        {
            root_capabilities::drop_capabilities()?;
            landlock_rules::apply_file_rules(self)?;
            seccomp_filter::apply_syscall_filter(&self.access)
        }
        #[cfg(not(target_os = "linux"))]
        Err(SandboxError::FileRules)
    }

    /// Applies the sandbox inside the overlay sandbox, whose mounts already restrict files. Landlock is an additional
    /// restriction there and may be missing.
    #[cfg(target_os = "linux")]
    pub fn apply_in_overlay(&self) -> Result<(), SandboxError> {
        root_capabilities::drop_capabilities()?;
        if let SandboxSupport::Supported { .. } = landlock_rules::landlock_support() {
            landlock_rules::apply_file_rules(self)?;
        }
        seccomp_filter::apply_syscall_filter(&self.access)
    }
}

/// Queries the kernel's support.
pub fn kernel_support() -> SandboxSupport {
    #[cfg(target_os = "linux")]
    {
        if !seccomp_filter::is_architecture_known() {
            return SandboxSupport::Unsupported(format!(
                "aye does not support it on {} processors",
                std::env::consts::ARCH
            ));
        }
        if !namespaces::has_seccomp_filters() {
            return SandboxSupport::Unsupported("this kernel has no seccomp, or programs may not use it".to_owned());
        }
        landlock_rules::landlock_support()
    }
    #[cfg(not(target_os = "linux"))]
    SandboxSupport::Unsupported(format!("aye does not support one on {}", std::env::consts::OS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SandboxAccess;

    #[test]
    fn r21_specification_survives_a_round_trip_and_rejects_invalid_arguments() {
        let spec = SandboxSpec {
            folder: "/p".into(),
            access: SandboxAccess { write: vec!["/tmp".into(), "/--network".into()], network: false, sockets: false },
            protected: vec!["/home/a/.config/aye".into()],
            unreadable: vec!["/home/a/.config/aye/credentials.toml".into()],
        };
        assert_eq!(SandboxSpec::parse_arguments(spec.to_arguments()), Ok(Some(spec.clone())));
        let mut open_spec = spec;
        open_spec.access = SandboxAccess { write: Vec::new(), network: true, sockets: true };
        assert_eq!(SandboxSpec::parse_arguments(open_spec.to_arguments()), Ok(Some(open_spec)));
        assert_eq!(SandboxSpec::parse_arguments([]), Ok(None));
        for arguments in [
            &["--network"][..],
            &["--sandbox"],
            &["--sandbox", "--folder"],
            &["--sandbox", "--folder", "p"],
            &["--sandbox", "--folder", "/p", "--wirte", "/x"],
            &["--sandbox", "--folder", "/p", "--write"],
        ] {
            let arguments = arguments.iter().map(OsString::from);
            assert_eq!(
                SandboxSpec::parse_arguments(arguments.clone()),
                Err(SandboxError::WritablePath),
                "{arguments:?}"
            );
        }
    }

    #[test]
    fn every_reason_has_its_own_byte() {
        for error in SandboxError::ALL {
            assert_eq!(SandboxError::from_byte(error.byte()), Some(error));
        }
        assert_eq!(SandboxError::from_byte(b'x'), None);
    }
}
