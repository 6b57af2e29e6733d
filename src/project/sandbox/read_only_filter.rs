//! Seccomp part of the read-only sandbox: a list of allowed syscalls. Any other syscall fails.
//!
//! Landlock does not cover modes, owners, times and attributes of files, so the syscalls that change them are not
//! allowed. Also not allowed: sockets, namespaces, tracing, System V shared memory, changes of identity, and syscalls
//! newer than this list.

use super::SandboxError;
use super::seccomp_filter::{
    DENY, SyscallRules, apply_program, compile_rules, condition, denied_syscalls, hidden_syscall_program,
};
use crate::chat::SandboxAccess;
use libc::c_long;
use seccompiler::{SeccompAction, SeccompCmpOp, SeccompRule, sock_filter};

/// Allowed syscalls that exist on every architecture.
#[rustfmt::skip]
const ALLOWED: &[c_long] = &[
    // Files. Landlock decides which can be opened.
    libc::SYS_openat, libc::SYS_openat2, libc::SYS_close, libc::SYS_close_range, libc::SYS_read, libc::SYS_write,
    libc::SYS_readv, libc::SYS_writev, libc::SYS_pread64, libc::SYS_pwrite64, libc::SYS_preadv, libc::SYS_pwritev,
    libc::SYS_preadv2, libc::SYS_pwritev2, libc::SYS_lseek, libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx,
    libc::SYS_statfs, libc::SYS_fstatfs, libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_readlinkat,
    libc::SYS_getdents64, libc::SYS_getcwd, libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_fcntl, libc::SYS_ioctl,
    libc::SYS_dup, libc::SYS_dup3, libc::SYS_pipe2, libc::SYS_fadvise64, libc::SYS_readahead, libc::SYS_copy_file_range,
    libc::SYS_sendfile, libc::SYS_splice, libc::SYS_tee, libc::SYS_umask, libc::SYS_getxattr, libc::SYS_lgetxattr,
    libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr, libc::SYS_flistxattr,
    // Changes of files, which Landlock permits only in the private folder.
    libc::SYS_mkdirat, libc::SYS_unlinkat, libc::SYS_renameat2, libc::SYS_linkat, libc::SYS_symlinkat, libc::SYS_truncate,
    libc::SYS_ftruncate, libc::SYS_fallocate, libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_sync_file_range,
    // Memory
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect, libc::SYS_madvise, libc::SYS_msync,
    libc::SYS_mincore, libc::SYS_membarrier, libc::SYS_pkey_alloc, libc::SYS_pkey_free, libc::SYS_pkey_mprotect,
    // Processes
    libc::SYS_clone, libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4,
    libc::SYS_waitid, libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgid, libc::SYS_setpgid,
    libc::SYS_getsid, libc::SYS_setsid, libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid,
    libc::SYS_getresuid, libc::SYS_getresgid, libc::SYS_getgroups, libc::SYS_capget, libc::SYS_prctl, libc::SYS_prlimit64,
    libc::SYS_getrlimit, libc::SYS_setrlimit, libc::SYS_getrusage, libc::SYS_getpriority, libc::SYS_setpriority,
    libc::SYS_set_tid_address, libc::SYS_set_robust_list, libc::SYS_get_robust_list, libc::SYS_rseq, libc::SYS_futex,
    libc::SYS_sched_yield, libc::SYS_sched_getaffinity, libc::SYS_sched_getparam, libc::SYS_sched_getscheduler,
    libc::SYS_getcpu, libc::SYS_restart_syscall,
    // Signals
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_rt_sigpending,
    libc::SYS_rt_sigsuspend, libc::SYS_rt_sigtimedwait, libc::SYS_sigaltstack, libc::SYS_signalfd4,
    // Waiting and clocks
    libc::SYS_ppoll, libc::SYS_pselect6, libc::SYS_epoll_create1, libc::SYS_epoll_ctl, libc::SYS_epoll_pwait,
    libc::SYS_eventfd2, libc::SYS_nanosleep, libc::SYS_clock_nanosleep, libc::SYS_clock_gettime, libc::SYS_clock_getres,
    libc::SYS_gettimeofday, libc::SYS_times, libc::SYS_getitimer, libc::SYS_setitimer, libc::SYS_timer_create,
    libc::SYS_timer_settime, libc::SYS_timer_gettime, libc::SYS_timer_getoverrun, libc::SYS_timer_delete,
    libc::SYS_timerfd_create, libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime,
    // Detecting a socket as stdin: if this fails in an unknown way, bash assumes a socket and reads a start-up file.
    libc::SYS_getpeername, libc::SYS_getsockname, libc::SYS_getsockopt,
    // System information
    libc::SYS_uname, libc::SYS_sysinfo, libc::SYS_getrandom,
];

/// Allowed older syscalls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLD_CALLS: &[c_long] = &[
    libc::SYS_open, libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink, libc::SYS_getdents, libc::SYS_dup2,
    libc::SYS_pipe, libc::SYS_poll, libc::SYS_select, libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_unlink, libc::SYS_rename,
    libc::SYS_renameat, libc::SYS_link, libc::SYS_symlink, libc::SYS_creat, libc::SYS_fork, libc::SYS_vfork,
    libc::SYS_getpgrp, libc::SYS_arch_prctl, libc::SYS_alarm, libc::SYS_pause, libc::SYS_time, libc::SYS_eventfd,
    libc::SYS_epoll_create, libc::SYS_epoll_wait, libc::SYS_signalfd,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[c_long] = &[libc::SYS_renameat];

/// Allowed only if the kernel keeps signals within the sandbox.
const SIGNAL_SYSCALLS: &[c_long] = &[libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill];

/// Syscalls from this number on are newer than the list. They fail with ENOSYS, so that programs use alternatives.
const FIRST_UNKNOWN: u32 = 440;

/// Allowed ioctls, which query an open file or a terminal, or set flags of the open file. Same numbers on every
/// architecture.
#[rustfmt::skip]
const QUERY_IOCTLS: [u64; 12] = [
    0x5401, 0x802C_542A, 0x5413, 0x540F, 0x5429, // TCGETS, TCGETS2, TIOCGWINSZ, TIOCGPGRP, TIOCGSID
    0x541B, 0x5421, 0x5450, 0x5451, 2, // FIONREAD, FIONBIO, FIONCLEX, FIOCLEX, FIGETBSZ
    0x8008_6601, 0xC020_660B, // FS_IOC_GETFLAGS, FS_IOC_FIEMAP
];
/// Denied fcntl commands, which send signals or set locks that other processes wait for: F_SETLK, F_SETLKW, F_SETOWN,
/// F_SETSIG, F_SETOWN_EX, F_OFD_SETLK, F_OFD_SETLKW, F_SETLEASE, F_NOTIFY.
const DENIED_FCNTL: [u64; 9] = [6, 7, 8, 10, 15, 37, 38, 1024, 1026];
/// Denied prctl operations: PR_SET_PTRACER lets another process trace this one; a reader needs neither PR_SET_MM nor
/// PR_SET_CHILD_SUBREAPER.
const DENIED_PRCTL: [u64; 3] = [0x5961_6D61, 35, 36];

/// Applies the filters to this thread. `signals` is true if Landlock keeps signals within the sandbox.
pub fn apply_syscall_filters(signals: bool) -> Result<(), SandboxError> {
    for program in filter_programs(signals)? {
        apply_program(&program)?;
    }
    Ok(())
}

/// Returns two filters: one that checks arguments of syscalls, and the list of allowed syscalls. The list is applied
/// last, because it does not allow applying filters.
fn filter_programs(signals: bool) -> Result<[Vec<sock_filter>; 2], SandboxError> {
    let signal_syscalls = if signals { SIGNAL_SYSCALLS } else { &[] };
    let allowed =
        ALLOWED.iter().chain(OLD_CALLS).chain(signal_syscalls).map(|syscall| (*syscall, Vec::new())).collect();
    let allow_program = compile_rules(allowed, SeccompAction::Allow, DENY)?;
    let allow_program = hidden_syscall_program(FIRST_UNKNOWN).into_iter().chain(allow_program).collect();
    let denied = read_only_denied_syscalls().map_err(|_| SandboxError::SyscallRules)?;
    Ok([compile_rules(denied, DENY, SeccompAction::Allow)?, allow_program])
}

/// Returns the denied syscalls: those that every sandbox denies, and further ones for a command that only reads.
fn read_only_denied_syscalls() -> Result<SyscallRules, seccompiler::BackendError> {
    let mut denied = denied_syscalls(&SandboxAccess::default())?;
    // One rule denies an ioctl only if all its conditions are met: its code is none of the allowed ones.
    let not_queries =
        QUERY_IOCTLS.iter().map(|code| condition(1, SeccompCmpOp::Ne, *code)).collect::<Result<_, _>>()?;
    denied.insert(libc::SYS_ioctl, vec![SeccompRule::new(not_queries)?]);
    for (syscall, argument_index, values) in
        [(libc::SYS_fcntl, 1, &DENIED_FCNTL[..]), (libc::SYS_prctl, 0, &DENIED_PRCTL)]
    {
        let rules =
            values.iter().map(|value| SeccompRule::new(vec![condition(argument_index, SeccompCmpOp::Eq, *value)?]));
        denied.insert(syscall, rules.collect::<Result<_, _>>()?);
    }
    // A process may change only its own priority, not that of another process, a group or a user.
    let other_owners =
        [0, 1].map(|argument_index| SeccompRule::new(vec![condition(argument_index, SeccompCmpOp::Ne, 0)?]));
    denied.insert(libc::SYS_setpriority, other_owners.into_iter().collect::<Result<_, _>>()?);
    Ok(denied)
}

#[cfg(target_arch = "x86_64")]
#[cfg(test)]
mod tests {
    use super::super::seccomp_filter::tests::{ALLOW, ENOSYS, EPERM, KILL, X86_64, run_filter};
    use super::*;

    #[test]
    fn syscalls_are_allowed_or_denied_as_listed() {
        let (with_signals, without_signals) = (filter_programs(true).unwrap(), filter_programs(false).unwrap());
        // The strictest answer of all filters counts, as in the kernel.
        let strictest = |programs: &[Vec<sock_filter>], syscall: c_long, arguments: [u64; 6]| {
            let number = u32::try_from(syscall).unwrap();
            programs.iter().map(|program| run_filter(program, X86_64, number, arguments)).min().unwrap()
        };
        for (syscall, arguments, expected) in [
            (libc::SYS_openat, [0; 6], ALLOW),
            (libc::SYS_execve, [0; 6], ALLOW),
            (libc::SYS_clone, [0x3d_0f00, 0, 0, 0, 0, 0], ALLOW),
            (libc::SYS_clone, [0x1000_0011, 0, 0, 0, 0, 0], EPERM),
            (libc::SYS_ioctl, [1, 0x5401, 0, 0, 0, 0], ALLOW),
            (libc::SYS_ioctl, [1, 0x5412, 0, 0, 0, 0], EPERM),
            // FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY, BTRFS_IOC_SNAP_CREATE
            (libc::SYS_ioctl, [1, 0x4008_6602, 0, 0, 0, 0], EPERM),
            (libc::SYS_ioctl, [1, 0x401C_5820, 0, 0, 0, 0], EPERM),
            (libc::SYS_ioctl, [1, 0x4080_6685, 0, 0, 0, 0], EPERM),
            (libc::SYS_ioctl, [1, 0x5000_9401, 0, 0, 0, 0], EPERM),
            (libc::SYS_fcntl, [1, 1030, 0, 0, 0, 0], ALLOW),
            (libc::SYS_fcntl, [1, 8, 0, 0, 0, 0], EPERM),
            (libc::SYS_fcntl, [1, 6, 0, 0, 0, 0], EPERM),
            (libc::SYS_setpriority, [0, 0, 5, 0, 0, 0], ALLOW),
            (libc::SYS_setpriority, [0, 1, 5, 0, 0, 0], EPERM),
            (libc::SYS_setpriority, [2, 0, 5, 0, 0, 0], EPERM),
            (libc::SYS_prlimit64, [1234, 7, 99, 0, 0, 0], EPERM),
            (libc::SYS_prctl, [15, 0, 0, 0, 0, 0], ALLOW),
            (libc::SYS_prctl, [0x5961_6D61, 1, 0, 0, 0, 0], EPERM),
            // io_uring, clone3, two numbers that are newer than the list, and x32.
            (425, [0; 6], ENOSYS),
            (435, [0; 6], ENOSYS),
            (451, [0; 6], ENOSYS),
            (9999, [0; 6], ENOSYS),
            (0x4000_0000, [0; 6], ENOSYS),
        ] {
            assert_eq!(strictest(&with_signals, syscall, arguments), expected, "{syscall} {arguments:x?}");
        }
        #[rustfmt::skip]
        let denied = [
            libc::SYS_socket, libc::SYS_socketpair, libc::SYS_connect, libc::SYS_sendmsg, libc::SYS_sendto, libc::SYS_bind,
            libc::SYS_chmod, libc::SYS_fchmod, libc::SYS_fchmodat, libc::SYS_chown, libc::SYS_fchownat, libc::SYS_lchown,
            libc::SYS_utimensat, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_setxattr,
            libc::SYS_fsetxattr, libc::SYS_removexattr, libc::SYS_mknod, libc::SYS_mknodat, libc::SYS_ptrace,
            libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_pidfd_send_signal, libc::SYS_pidfd_getfd,
            libc::SYS_pidfd_open, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo, libc::SYS_setuid,
            libc::SYS_setresuid, libc::SYS_setgroups, libc::SYS_chroot, libc::SYS_mount, libc::SYS_unshare, libc::SYS_setns,
            libc::SYS_memfd_create, libc::SYS_shmget, libc::SYS_msgget, libc::SYS_semget, libc::SYS_mq_open, libc::SYS_flock,
            libc::SYS_bpf, libc::SYS_userfaultfd, libc::SYS_keyctl, libc::SYS_personality, libc::SYS_sched_setaffinity,
            libc::SYS_ioprio_set, libc::SYS_kcmp, libc::SYS_inotify_add_watch, libc::SYS_fanotify_init, libc::SYS_sync,
            libc::SYS_swapon, libc::SYS_reboot, libc::SYS_settimeofday, libc::SYS_quotactl, libc::SYS_sethostname,
        ];
        for syscall in denied {
            assert_eq!(strictest(&with_signals, syscall, [0; 6]), EPERM, "{syscall}");
        }
        for syscall in SIGNAL_SYSCALLS {
            assert_eq!(strictest(&with_signals, *syscall, [0; 6]), ALLOW, "{syscall}");
            assert_eq!(strictest(&without_signals, *syscall, [0; 6]), EPERM, "{syscall}");
        }
        assert_eq!(run_filter(&with_signals[1], 0x4000_0003, 1, [0; 6]), KILL, "another architecture");
    }
}
