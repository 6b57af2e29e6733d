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
//!
//! On other systems there is no sandbox: approved commands run with the user's rights, the prompt says so, and no command
//! runs without approval.

#[cfg(target_os = "linux")]
pub(super) mod landlock_rules;
#[cfg(target_os = "linux")]
pub(super) mod namespaces;
pub mod probe;
#[cfg(target_os = "linux")]
mod read_only_filter;
#[cfg(target_os = "linux")]
mod read_only_sandbox;
#[cfg(target_os = "linux")]
mod root_capabilities;
#[cfg(target_os = "linux")]
pub(super) mod rule_paths;
mod sandbox_spec;
#[cfg(target_os = "linux")]
mod seccomp_filter;
#[cfg_attr(not(target_os = "linux"), expect(dead_code))]
pub(super) mod system_paths;
pub mod writable_folders;

pub use sandbox_spec::{ReadOnlySpec, SandboxError, SandboxSpec, SandboxSupport};

use super::spec_encoding::to_argument;
use std::ffi::OsString;

/// Argument of the guard that requests the sandbox. The argument after it is the specification.
pub const SANDBOX_ARGUMENT: &str = "--sandbox";

/// Argument of the guard that requests the read-only sandbox. Its specification is sent over the lifeline.
pub const READ_ONLY_ARGUMENT: &str = "--read-only";

impl SandboxSpec {
    /// Encodes the specification as arguments of the guard.
    pub fn to_arguments(&self) -> [OsString; 2] {
        [SANDBOX_ARGUMENT.into(), to_argument(self)]
    }

    /// Applies the sandbox to this thread and everything it starts. It cannot be undone. Inside the overlay sandbox,
    /// whose mounts already restrict files, Landlock is an additional restriction and may be missing.
    pub fn apply_to_thread(&self, is_in_overlay: bool) -> Result<(), SandboxError> {
        #[cfg(target_os = "linux")]
        {
            root_capabilities::drop_capabilities()?;
            if !is_in_overlay || matches!(landlock_rules::landlock_support(), SandboxSupport::Supported { .. }) {
                landlock_rules::apply_file_rules(self)?;
            }
            seccomp_filter::apply_syscall_filter(&self.access)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = is_in_overlay;
            Err(SandboxError::FileRules)
        }
    }
}

/// Returns whether the system supports the sandbox, with the reason if it does not.
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
    use crate::project::spec_encoding::{frame_bytes, from_argument, from_frame, to_frame};
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn r21_specification_survives_a_round_trip_and_rejects_invalid_arguments() {
        let odd_path = OsString::from_vec(b"/a \n,\"\\\xff--network".to_vec());
        let spec = SandboxSpec {
            folder: "/p".into(),
            access: SandboxAccess { write: vec!["/tmp".into(), odd_path.into()], network: false, sockets: false },
            protected: vec!["/home/a/.config/aye".into()],
            unreadable: vec!["/home/a/.config/aye/credentials.toml".into()],
        };
        let decode = |spec: &SandboxSpec| from_argument::<SandboxSpec>(Some(spec.to_arguments()[1].clone()));
        assert_eq!(decode(&spec).as_ref(), Some(&spec));
        let mut open_spec = spec.clone();
        open_spec.access = SandboxAccess { write: Vec::new(), network: true, sockets: true };
        assert_eq!(decode(&open_spec), Some(open_spec));
        assert_eq!(from_argument::<SandboxSpec>(None), None);
        let argument = spec.to_arguments()[1].clone().into_string().unwrap();
        for invalid in [
            String::new(),
            "{}".to_owned(),
            argument[..argument.len() - 1].to_owned(),
            argument.replace("/p", "p"),
            argument.replace("/tmp", "tmp"),
            argument.replace("unreadable", "unread"),
            argument.replace("\"network\":false,", ""),
        ] {
            assert_ne!(invalid, argument);
            assert_eq!(from_argument::<SandboxSpec>(Some((&invalid).into())), None, "{invalid}");
        }
    }

    #[test]
    fn r21_read_only_specification_survives_a_round_trip_and_rejects_invalid_frames() {
        let odd_path = OsString::from_vec(b"/a \n,\"\\\xff".to_vec());
        let spec = ReadOnlySpec {
            folder: "/p".into(),
            open_paths: vec!["/p/src".into(), odd_path.into()],
            programs: vec!["/usr/bin".into()],
            closed: vec!["/home/a".into()],
            temporary: "/tmp".into(),
        };
        assert_eq!(from_frame::<ReadOnlySpec>(&*to_frame(&spec)), Some(spec.clone()));
        let text = serde_json::to_string(&spec).unwrap();
        for (part, replacement) in [
            ("\"closed\":[\"/home/a\"],", ""),
            ("\"open_paths\"", "\"open\""),
            ("/p/src", "src"),
            ("/usr/bin", "bin"),
            ("/home/a", "home"),
            ("\"/p\"", "\"p\""),
            ("/tmp", "tmp"),
        ] {
            let invalid = text.replace(part, replacement);
            assert_ne!(invalid, text);
            assert_eq!(from_frame::<ReadOnlySpec>(&*frame_bytes(invalid.as_bytes())), None, "{invalid}");
        }
        let frame = to_frame(&spec);
        assert_eq!(from_frame::<ReadOnlySpec>(&frame[..frame.len() - 1]), None);
    }
}
