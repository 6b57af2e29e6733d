//! Errors when setting up the overlay sandbox: the step that failed, the cause, and the system setting that would
//! change it.

use rustix::io::Errno;
use std::io;

/// Steps of setting up the overlay sandbox, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Parsing its specification.
    Told,
    /// Creating the folders of the overlay.
    Layer,
    /// Leaving the system's namespaces.
    Namespaces,
    /// Mapping the user in the new user namespace.
    Person,
    /// Checking that the project is not the root of a file system and contains no mount point.
    Project,
    /// Mounting the overlay on the project.
    Overlay,
    /// Making everything else read-only.
    Closing,
    /// Creating its devices.
    Devices,
    /// Mounting its `/proc`.
    Processes,
    /// Mounting the other overlays.
    Places,
    /// Setting resource limits.
    Bounds,
    /// Starting its first process.
    First,
    /// Creating its root file system.
    Root,
    /// Masking files that may hold secrets.
    Masks,
}

impl Step {
    const ALL: [Self; 14] = [
        Self::Told,
        Self::Layer,
        Self::Namespaces,
        Self::Person,
        Self::Project,
        Self::Overlay,
        Self::Closing,
        Self::Devices,
        Self::Processes,
        Self::Places,
        Self::Bounds,
        Self::First,
        Self::Root,
        Self::Masks,
    ];

    fn words(self) -> &'static str {
        match self {
            Self::Told => "its specification is malformed",
            Self::Layer => "cannot create the folders of the overlay",
            Self::Namespaces => "cannot create its namespaces",
            Self::Person => "cannot map the user in its user namespace",
            Self::Project => "the project is the root of a file system or contains a mount point",
            Self::Overlay => "cannot mount an overlay on the project's file system",
            Self::Closing => "cannot make the rest of the disk read-only, which requires Linux 5.12 or newer",
            Self::Devices => "cannot create its devices",
            Self::Processes => "cannot mount its own /proc",
            Self::Places => "cannot mount the overlays outside the project",
            Self::Bounds => "cannot set its resource limits",
            Self::First => "cannot start its first process",
            Self::Root => "cannot create its root file system",
            Self::Masks => "cannot mask files that may hold secrets",
        }
    }
}

/// Reason why the overlay sandbox could not be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unstaged {
    pub step: Step,
    /// The system's error number, 0 if unknown.
    pub errno: u8,
}

impl std::error::Error for Unstaged {}

impl std::fmt::Display for Unstaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = |name: &str| {
            let path = format!("/proc/sys/{}", name.replace('.', "/"));
            Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
        };
        if let Some(cause) = self.cause(value) {
            return f.write_str(&cause);
        }
        f.write_str(self.step.words())?;
        match self.errno {
            0 => Ok(()),
            errno => write!(f, " ({})", io::Error::from_raw_os_error(errno.into())),
        }
    }
}

/// System limits on the number of namespaces, with their names in messages.
const LIMITS: [(&str, &str); 6] = [
    ("user.max_user_namespaces", "user namespaces"),
    ("user.max_mnt_namespaces", "mount namespaces"),
    ("user.max_pid_namespaces", "process namespaces"),
    ("user.max_ipc_namespaces", "IPC namespaces"),
    ("user.max_uts_namespaces", "host name namespaces"),
    ("user.max_net_namespaces", "network namespaces"),
];

impl Unstaged {
    /// Describes the system setting that causes the error and how to change it. `value` reads a setting such as
    /// `user.max_user_namespaces`. Returns `None` if no setting is known to be the cause.
    fn cause(self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let is = |errno: Errno| i32::from(self.errno) == errno.raw_os_error();
        let is_step = |steps: &[Step]| steps.contains(&self.step);
        let making = is_step(&[Step::Namespaces, Step::Person]);
        let mounting = is_step(&[
            Step::Overlay,
            Step::Closing,
            Step::Devices,
            Step::Processes,
            Step::Places,
            Step::Root,
            Step::Masks,
        ]);
        let reached = |what: &str, name: &str, value: &str| {
            format!("the limit of {what} is reached ({name} = {value}). Raise it with `sysctl`")
        };
        if making && is(Errno::NOSPC) {
            let known = LIMITS.map(|(name, what)| (name, what, value(name)));
            let at_zero = known.iter().find(|(_, _, value)| value.as_deref() == Some("0"));
            let (name, what, value) = at_zero.or(known.iter().find(|(_, _, value)| value.is_some()))?;
            return Some(reached(what, name, value.as_deref()?));
        }
        // Only mounting the overlay itself can run out of disk space.
        if mounting && self.step != Step::Overlay && is(Errno::NOSPC) {
            return Some(reached("mounts", "fs.mount-max", &value("fs.mount-max")?));
        }
        if (making || mounting) && (is(Errno::PERM) || is(Errno::ACCESS)) {
            let forbids = [
                ("kernel.unprivileged_userns_clone", "0", "1"),
                ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
            ];
            let (name, is, wanted) =
                forbids.into_iter().find(|(name, forbidden, _)| value(name).as_deref() == Some(forbidden))?;
            return Some(format!(
                "unprivileged users cannot create namespaces on this system ({name} = {is}). Allow it with `sysctl {name}={wanted}`"
            ));
        }
        None
    }

    /// Converts an I/O error at this step.
    pub fn at(step: Step) -> impl FnOnce(io::Error) -> Self {
        move |error| {
            let errno = error.raw_os_error().and_then(|code| u8::try_from(code).ok());
            Self { step, errno: errno.unwrap_or(0) }
        }
    }

    /// Returns whether the overlay's disk is full, which is temporary. The same error number from another step means a
    /// limit on namespaces or mounts.
    pub fn is_full(self) -> bool {
        matches!(self.step, Step::Layer | Step::Overlay)
            && crate::project::is_full(&io::Error::from_raw_os_error(self.errno.into()))
    }

    /// Encodes the error as the two bytes sent over the guard's lifeline.
    pub fn bytes(self) -> [u8; 2] {
        let at = Step::ALL.iter().position(|step| *step == self.step);
        [at.and_then(|at| u8::try_from(at).ok()).unwrap_or(0), self.errno]
    }

    /// Decodes the error from its two bytes.
    pub fn of(step: u8, errno: u8) -> Self {
        Self { step: Step::ALL.get(usize::from(step)).copied().unwrap_or(Step::Told), errno }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_bytes_and_text() {
        for step in Step::ALL {
            let why = Unstaged { step, errno: 1 };
            let [at, errno] = why.bytes();
            assert_eq!(Unstaged::of(at, errno), why);
            assert!(Unstaged { step, errno: 22 }.to_string().ends_with("(Invalid argument (os error 22))"));
        }
    }

    #[test]
    fn error_names_the_system_setting_and_the_remedy() {
        let cause_of = |step, errno: Errno, system: &[(&str, &str)]| {
            let value = |name: &str| {
                system.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let errno = u8::try_from(errno.raw_os_error()).unwrap();
            Unstaged { step, errno }.cause(value)
        };
        let plain = [
            ("user.max_user_namespaces", "96365"),
            ("user.max_mnt_namespaces", "96365"),
            ("user.max_pid_namespaces", "96365"),
            ("fs.mount-max", "100000"),
            ("kernel.unprivileged_userns_clone", "1"),
            ("kernel.apparmor_restrict_unprivileged_userns", "0"),
        ];
        let with = |name: &str, value: &'static str| {
            plain.map(|(known, old)| (known, if known == name { value } else { old }))
        };
        let assert_cause = |step, errno, system: &[(&str, &str)], expected: &str| {
            assert_eq!(cause_of(step, errno, system).as_deref(), Some(expected));
        };
        assert_cause(
            Step::Namespaces,
            Errno::NOSPC,
            &with("user.max_user_namespaces", "0"),
            "the limit of user namespaces is reached (user.max_user_namespaces = 0). Raise it with `sysctl`",
        );
        assert_cause(
            Step::Namespaces,
            Errno::NOSPC,
            &with("user.max_mnt_namespaces", "0"),
            "the limit of mount namespaces is reached (user.max_mnt_namespaces = 0). Raise it with `sysctl`",
        );
        assert_cause(
            Step::Namespaces,
            Errno::NOSPC,
            &plain,
            "the limit of user namespaces is reached (user.max_user_namespaces = 96365). Raise it with `sysctl`",
        );
        assert_cause(
            Step::Places,
            Errno::NOSPC,
            &with("fs.mount-max", "10"),
            "the limit of mounts is reached (fs.mount-max = 10). Raise it with `sysctl`",
        );
        assert_cause(
            Step::Namespaces,
            Errno::PERM,
            &with("kernel.unprivileged_userns_clone", "0"),
            "unprivileged users cannot create namespaces on this system (kernel.unprivileged_userns_clone = 0). Allow it with `sysctl kernel.unprivileged_userns_clone=1`",
        );
        for step in [Step::Person, Step::Root, Step::Overlay] {
            assert_cause(
                step,
                Errno::ACCESS,
                &with("kernel.apparmor_restrict_unprivileged_userns", "1"),
                "unprivileged users cannot create namespaces on this system (kernel.apparmor_restrict_unprivileged_userns = 1). Allow it with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
            );
        }
        for (step, errno) in [
            (Step::Overlay, Errno::NOSPC),
            (Step::Layer, Errno::NOSPC),
            (Step::Namespaces, Errno::PERM),
            (Step::Overlay, Errno::INVAL),
            (Step::Told, Errno::PERM),
        ] {
            assert_eq!(cause_of(step, errno, &plain), None, "{step:?} {errno}");
        }
        // A limit on namespaces or mounts is not a full disk.
        assert!(!Unstaged { step: Step::Namespaces, errno: 28 }.is_full());
        assert!(!Unstaged { step: Step::Places, errno: 28 }.is_full());
        assert!(Unstaged { step: Step::Overlay, errno: 28 }.is_full());
    }
}
