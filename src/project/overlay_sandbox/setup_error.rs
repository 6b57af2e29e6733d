//! Errors when setting up the overlay sandbox: the step that failed, the cause, and the system setting that would
//! change it.

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::io;

/// Steps of setting up the overlay sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum SetupStep {
    /// Parsing its specification.
    #[error("its specification is malformed")]
    Specification,
    /// Creating the folders of the overlay.
    #[error("cannot create the folders of the overlay")]
    OverlayFolders,
    /// Leaving the system's namespaces.
    #[error("cannot create its namespaces")]
    Namespaces,
    /// Mapping the user in the new user namespace.
    #[error("cannot map the user in its user namespace")]
    UserMapping,
    /// Checking that the project is not `/` and contains no mount point.
    #[error("the project is the root of a file system or contains a mount point")]
    Project,
    /// Mounting the overlay on the project.
    #[error("cannot mount an overlay on the project's file system")]
    Overlay,
    /// Making everything else read-only.
    #[error("cannot make the rest of the disk read-only, which requires Linux 5.12 or newer")]
    ReadOnlyDisk,
    /// Creating its devices.
    #[error("cannot create its devices")]
    Devices,
    /// Mounting its `/proc`.
    #[error("cannot mount its own /proc")]
    Processes,
    /// Mounting the other overlays.
    #[error("cannot mount the overlays outside the project")]
    OtherOverlays,
    /// Setting resource limits.
    #[error("cannot set its resource limits")]
    ResourceLimits,
    /// Starting its first process.
    #[error("cannot start its first process")]
    FirstProcess,
    /// Creating its root file system.
    #[error("cannot create its root file system")]
    Root,
    /// Masking files that may hold secrets.
    #[error("cannot mask files that may hold secrets")]
    Masks,
}

/// Reason why the overlay sandbox could not be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupError {
    pub step: SetupStep,
    /// The system's error number, 0 if unknown.
    pub errno: u8,
}

impl std::error::Error for SetupError {}

impl std::fmt::Display for SetupError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let read_setting = |name: &str| {
            let path = format!("/proc/sys/{}", name.replace('.', "/"));
            Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
        };
        if let Some(cause) = self.system_cause(read_setting) {
            return f.write_str(&cause);
        }
        write!(f, "{}", self.step)?;
        match self.errno {
            0 => Ok(()),
            errno => write!(f, " ({})", io::Error::from_raw_os_error(errno.into())),
        }
    }
}

/// Attributes an error to a step of setting up the overlay sandbox.
pub trait AtStep<T> {
    /// Converts the error, if any, to that of this step. Keeps the system's error number.
    fn at_step(self, step: SetupStep) -> Result<T, SetupError>;
}

impl<T, E: Into<io::Error>> AtStep<T> for Result<T, E> {
    fn at_step(self, step: SetupStep) -> Result<T, SetupError> {
        self.map_err(|error| {
            let error: io::Error = error.into();
            let errno = error.raw_os_error().and_then(|code| u8::try_from(code).ok());
            SetupError { step, errno: errno.unwrap_or(0) }
        })
    }
}

/// System limits on the number of namespaces, with their names in messages.
const NAMESPACE_LIMITS: [(&str, &str); 6] = [
    ("user.max_user_namespaces", "user namespaces"),
    ("user.max_mnt_namespaces", "mount namespaces"),
    ("user.max_pid_namespaces", "process namespaces"),
    ("user.max_ipc_namespaces", "IPC namespaces"),
    ("user.max_uts_namespaces", "host name namespaces"),
    ("user.max_net_namespaces", "network namespaces"),
];

impl SetupError {
    /// Describes the system setting that causes the error and how to change it. `read_setting` reads a setting such as
    /// `user.max_user_namespaces`. Returns `None` if no setting is known to be the cause.
    fn system_cause(self, read_setting: impl Fn(&str) -> Option<String>) -> Option<String> {
        let is_errno = |errno: Errno| i32::from(self.errno) == errno.raw_os_error();
        let is_step = |steps: &[SetupStep]| steps.contains(&self.step);
        let creates_namespaces = is_step(&[SetupStep::Namespaces, SetupStep::UserMapping]);
        let mounts = is_step(&[
            SetupStep::Overlay,
            SetupStep::ReadOnlyDisk,
            SetupStep::Devices,
            SetupStep::Processes,
            SetupStep::OtherOverlays,
            SetupStep::Root,
            SetupStep::Masks,
        ]);
        let limit_reached = |kind: &str, name: &str, value: &str| {
            format!("the limit of {kind} is reached ({name} = {value}). Raise it with `sysctl`")
        };
        if creates_namespaces && is_errno(Errno::NOSPC) {
            let limits = NAMESPACE_LIMITS.map(|(name, kind)| (name, kind, read_setting(name)));
            let at_zero = limits.iter().find(|(_, _, value)| value.as_deref() == Some("0"));
            let (name, kind, value) = at_zero.or(limits.iter().find(|(_, _, value)| value.is_some()))?;
            return Some(limit_reached(kind, name, value.as_deref()?));
        }
        // Only mounting the overlay itself can run out of disk space.
        if mounts && self.step != SetupStep::Overlay && is_errno(Errno::NOSPC) {
            return Some(limit_reached("mounts", "fs.mount-max", &read_setting("fs.mount-max")?));
        }
        if (creates_namespaces || mounts) && (is_errno(Errno::PERM) || is_errno(Errno::ACCESS)) {
            let restrictions = [
                ("kernel.unprivileged_userns_clone", "0", "1"),
                ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
            ];
            let (name, current, wanted) = restrictions
                .into_iter()
                .find(|(name, forbidden, _)| read_setting(name).as_deref() == Some(forbidden))?;
            return Some(format!(
                "unprivileged users cannot create namespaces on this system ({name} = {current}). Allow it with `sysctl {name}={wanted}`"
            ));
        }
        None
    }

    /// Returns whether the overlay's disk is full, which is temporary. The same error number from another step means a
    /// limit on namespaces or mounts.
    pub fn is_disk_full(self) -> bool {
        matches!(self.step, SetupStep::OverlayFolders | SetupStep::Overlay)
            && crate::project::is_disk_full(&io::Error::from_raw_os_error(self.errno.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_cause_is_named_by_the_error_of_the_system() {
        let error = SetupError { step: SetupStep::Specification, errno: 22 };
        assert_eq!(error.to_string(), "its specification is malformed (Invalid argument (os error 22))");
    }

    #[test]
    fn error_names_the_system_setting_and_the_remedy() {
        let cause_of = |step, errno: Errno, system: &[(&str, &str)]| {
            let value =
                |name: &str| system.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            let errno = u8::try_from(errno.raw_os_error()).unwrap();
            SetupError { step, errno }.system_cause(value)
        };
        let defaults = [
            ("user.max_user_namespaces", "96365"),
            ("user.max_mnt_namespaces", "96365"),
            ("user.max_pid_namespaces", "96365"),
            ("fs.mount-max", "100000"),
            ("kernel.unprivileged_userns_clone", "1"),
            ("kernel.apparmor_restrict_unprivileged_userns", "0"),
        ];
        let with_setting = |name: &str, value: &'static str| {
            defaults.map(|(known, old)| (known, if known == name { value } else { old }))
        };
        let assert_cause = |step, errno, system: &[(&str, &str)], expected: &str| {
            assert_eq!(cause_of(step, errno, system).as_deref(), Some(expected));
        };
        assert_cause(
            SetupStep::Namespaces,
            Errno::NOSPC,
            &with_setting("user.max_user_namespaces", "0"),
            "the limit of user namespaces is reached (user.max_user_namespaces = 0). Raise it with `sysctl`",
        );
        assert_cause(
            SetupStep::Namespaces,
            Errno::NOSPC,
            &with_setting("user.max_mnt_namespaces", "0"),
            "the limit of mount namespaces is reached (user.max_mnt_namespaces = 0). Raise it with `sysctl`",
        );
        assert_cause(
            SetupStep::Namespaces,
            Errno::NOSPC,
            &defaults,
            "the limit of user namespaces is reached (user.max_user_namespaces = 96365). Raise it with `sysctl`",
        );
        assert_cause(
            SetupStep::OtherOverlays,
            Errno::NOSPC,
            &with_setting("fs.mount-max", "10"),
            "the limit of mounts is reached (fs.mount-max = 10). Raise it with `sysctl`",
        );
        assert_cause(
            SetupStep::Namespaces,
            Errno::PERM,
            &with_setting("kernel.unprivileged_userns_clone", "0"),
            "unprivileged users cannot create namespaces on this system (kernel.unprivileged_userns_clone = 0). Allow it with `sysctl kernel.unprivileged_userns_clone=1`",
        );
        for step in [SetupStep::UserMapping, SetupStep::Root, SetupStep::Overlay] {
            assert_cause(
                step,
                Errno::ACCESS,
                &with_setting("kernel.apparmor_restrict_unprivileged_userns", "1"),
                "unprivileged users cannot create namespaces on this system (kernel.apparmor_restrict_unprivileged_userns = 1). Allow it with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
            );
        }
        for (step, errno) in [
            (SetupStep::Overlay, Errno::NOSPC),
            (SetupStep::OverlayFolders, Errno::NOSPC),
            (SetupStep::Namespaces, Errno::PERM),
            (SetupStep::Overlay, Errno::INVAL),
            (SetupStep::Specification, Errno::PERM),
        ] {
            assert_eq!(cause_of(step, errno, &defaults), None, "{step:?} {errno}");
        }
        // A limit on namespaces or mounts is not a full disk.
        let no_space = u8::try_from(Errno::NOSPC.raw_os_error()).unwrap();
        assert!(!SetupError { step: SetupStep::Namespaces, errno: no_space }.is_disk_full());
        assert!(!SetupError { step: SetupStep::OtherOverlays, errno: no_space }.is_disk_full());
        assert!(SetupError { step: SetupStep::Overlay, errno: no_space }.is_disk_full());
    }
}
