//! Seccomp part of the sandbox: restricts sockets and denies administrative syscalls.

use super::SandboxError;
use crate::chat::SandboxAccess;
use libc::c_long;
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    apply_filter, sock_filter,
};
use std::collections::BTreeMap;

/// This processor architecture; `None` if this program has no filters for it.
pub(super) const ARCH: Option<TargetArch> = if cfg!(target_arch = "x86_64") {
    Some(TargetArch::x86_64)
} else if cfg!(target_arch = "aarch64") {
    Some(TargetArch::aarch64)
} else {
    None
};

/// `libc` lacks this number for some systems.
const SYS_KEXEC_FILE_LOAD: c_long = if cfg!(target_arch = "x86_64") { 320 } else { 294 };

/// Denied syscalls.
#[rustfmt::skip]
const DENIED: &[c_long] = &[
    libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_setns, libc::SYS_swapon, libc::SYS_swapoff,
    libc::SYS_reboot, libc::SYS_kexec_load, SYS_KEXEC_FILE_LOAD, libc::SYS_init_module, libc::SYS_finit_module,
    libc::SYS_delete_module, libc::SYS_bpf, libc::SYS_perf_event_open, libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at, libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl, libc::SYS_acct,
    libc::SYS_quotactl, libc::SYS_settimeofday, libc::SYS_clock_settime, libc::SYS_adjtimex, libc::SYS_clock_adjtime,
    libc::SYS_sethostname, libc::SYS_setdomainname, libc::SYS_syslog, libc::SYS_vhangup, libc::SYS_open_tree,
    libc::SYS_move_mount, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_fspick,
    libc::SYS_mount_setattr, libc::SYS_quotactl_fd,
    #[cfg(target_arch = "x86_64")] libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")] libc::SYS_ioperm,
];
/// Syscalls that fail with ENOSYS, so that programs use alternatives: those of io_uring, which can open sockets without
/// passing the filter, and clone3, whose flags a filter cannot read. Same numbers on every architecture.
const HIDDEN_SYSCALLS: [u32; 4] = [425, 426, 427, 435];

/// First syscall number of x32, the second syscall interface of x86-64.
const X32: u32 = 0x4000_0000;

/// Result of a denied syscall.
pub(super) const DENY: SeccompAction = SeccompAction::Errno(libc::EPERM.cast_unsigned());

/// Address families.
const UNIX: u64 = 1;
const INTERNET: u64 = 2;
const INTERNET_6: u64 = 10;
const NETLINK: u64 = 16;
/// Socket types, and the mask of the type in the second argument of `socket`.
const DATAGRAM: u64 = 2;
const RAW: u64 = 3;
const PACKET: u64 = 10;
const TYPE_MASK: u64 = 0xf;

/// Flags that create namespaces: mount, cgroup, uts, ipc, user, pid and net; and time, which only unshare supports.
const NAMESPACES: [u64; 7] = [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
const TIME_NAMESPACE: u64 = 0x80;
/// Ioctls that insert characters into a terminal as if typed, and that paste on a console.
const TERMINAL_INPUT_IOCTLS: [u64; 2] = [0x5412, 0x541C];

/// Returns whether the syscall numbers of this architecture are known.
pub fn is_architecture_known() -> bool {
    ARCH.is_some()
}

/// Applies the filter to this thread.
pub fn apply_syscall_filter(access: &SandboxAccess) -> Result<(), SandboxError> {
    apply_program(&filter_program(access)?)
}

fn filter_program(access: &SandboxAccess) -> Result<Vec<sock_filter>, SandboxError> {
    let rules = denied_syscalls(access).map_err(|_| SandboxError::SyscallRules)?;
    let program = compile_rules(rules, DENY, SeccompAction::Allow)?;
    Ok(hidden_syscall_program(X32).into_iter().chain(program).collect())
}

/// Compiles rules to a filter program. A syscall gets the result `if_matched` if one of its rules matches or it has an
/// empty list of rules; all other syscalls get `otherwise`.
pub(super) fn compile_rules(
    rules: SyscallRules,
    if_matched: SeccompAction,
    otherwise: SeccompAction,
) -> Result<Vec<sock_filter>, SandboxError> {
    let arch = ARCH.ok_or(SandboxError::SyscallRules)?;
    let filter = SeccompFilter::new(rules, otherwise, if_matched, arch);
    filter.and_then(TryInto::try_into).map_err(|_| SandboxError::SyscallRules)
}

/// Applies one filter program to this thread.
pub(super) fn apply_program(program: &[sock_filter]) -> Result<(), SandboxError> {
    apply_filter(program).map_err(|_| SandboxError::SyscallRules)
}

/// Returns the first part of a filter program: `HIDDEN_SYSCALLS` and all syscalls numbered `first_hidden` or higher
/// fail with ENOSYS.
pub(super) fn hidden_syscall_program(first_hidden: u32) -> Vec<sock_filter> {
    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const ERRNO: u32 = 0x0005_0000;
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let return_enosys = instruction(RETURN, 0, 0, ERRNO | libc::ENOSYS.cast_unsigned());
    let mut program =
        vec![instruction(LOAD, 0, 0, 0), instruction(IF_AT_LEAST, 0, 1, first_hidden), return_enosys.clone()];
    for number in HIDDEN_SYSCALLS {
        program.extend([instruction(IF_EQUAL, 0, 1, number), return_enosys.clone()]);
    }
    program
}

/// Rules by syscall number.
pub(super) type SyscallRules = BTreeMap<i64, Vec<SeccompRule>>;

/// Creates a condition on the lower half of an argument, which is the part that the kernel reads.
pub(super) fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

/// Returns the denied syscalls with their rules. A syscall without rules is always denied, otherwise if one of its
/// rules matches.
pub(super) fn denied_syscalls(access: &SandboxAccess) -> Result<SyscallRules, seccompiler::BackendError> {
    let equal = |argument, value| condition(argument, SeccompCmpOp::Eq, value);
    let not_equal = |argument, value| condition(argument, SeccompCmpOp::Ne, value);
    let masked_equal = |argument, mask, value| condition(argument, SeccompCmpOp::MaskedEq(mask), value);

    let mut rules = SyscallRules::new();
    for syscall in DENIED {
        rules.insert(*syscall, Vec::new());
    }
    let mut socket_rules = Vec::new();
    // One list of allowed address families: one rule denies all others.
    let mut families = Vec::new();
    if access.network {
        families.extend([INTERNET, INTERNET_6, NETLINK]);
    }
    if access.sockets {
        families.push(UNIX);
    }
    if !families.is_empty() {
        let no_allowed_family = families.iter().map(|family| not_equal(0, *family)).collect::<Result<_, _>>()?;
        socket_rules.push(SeccompRule::new(no_allowed_family)?);
        // Of netlink, only the protocol that reads addresses and routes is allowed.
        socket_rules.push(SeccompRule::new(vec![equal(0, NETLINK)?, not_equal(2, 0)?])?);
        for family in [INTERNET, INTERNET_6] {
            socket_rules.push(SeccompRule::new(vec![equal(0, family)?, masked_equal(1, TYPE_MASK, RAW)?])?);
        }
        socket_rules.push(SeccompRule::new(vec![masked_equal(1, TYPE_MASK, PACKET)?])?);
    }
    rules.insert(libc::SYS_socket, socket_rules);
    if !access.sockets {
        // A datagram socket of a pair can be connected to any address; a stream socket cannot. A raw Unix socket is a
        // datagram socket, too.
        let pair_conditions = [
            vec![not_equal(0, UNIX)?],
            vec![masked_equal(1, TYPE_MASK, DATAGRAM)?],
            vec![masked_equal(1, TYPE_MASK, RAW)?],
        ];
        let pair_rules = pair_conditions.into_iter().map(SeccompRule::new).collect::<Result<_, _>>()?;
        rules.insert(libc::SYS_socketpair, pair_rules);
    }
    let input_rules = TERMINAL_INPUT_IOCTLS.iter().map(|code| SeccompRule::new(vec![equal(1, *code)?]));
    rules.insert(libc::SYS_ioctl, input_rules.collect::<Result<_, _>>()?);
    let flag_rule = |flag: &u64| SeccompRule::new(vec![masked_equal(0, *flag, *flag)?]);
    rules.insert(libc::SYS_clone, NAMESPACES.iter().map(flag_rule).collect::<Result<_, _>>()?);
    let unshare_rules = NAMESPACES.iter().chain([&TIME_NAMESPACE]).map(flag_rule).collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_unshare, unshare_rules);
    // Changing the limits of other processes is denied; process ID 0 is the calling process. The new limits are a pointer,
    // of which the kernel reads all 64 bits.
    let has_limits = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![not_equal(0, 0)?, has_limits])?]);
    Ok(rules)
}

#[cfg(target_arch = "x86_64")]
#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Interprets a filter program for a syscall as the kernel does.
    pub fn run_filter(program: &[sock_filter], arch: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut data = [number.to_le_bytes(), arch.to_le_bytes(), [0; 4], [0; 4]].concat();
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let (mut position, mut accumulator) = (0, 0u32);
        loop {
            let sock_filter { code, jt, jf, k } = program[position].clone();
            position += 1;
            let jump_offset = |is_true: bool| usize::from(if is_true { jt } else { jf });
            match code {
                0x20 => accumulator = u32::from_le_bytes(data[k as usize..][..4].try_into().unwrap()),
                0x54 => accumulator &= k,
                0x05 => position += k as usize,
                0x15 => position += jump_offset(accumulator == k),
                0x25 => position += jump_offset(accumulator > k),
                0x35 => position += jump_offset(accumulator >= k),
                0x06 => return k,
                _ => panic!("{code:#x} is not a known instruction"),
            }
        }
    }

    pub const X86_64: u32 = 0xc000_003e;
    pub const ALLOW: u32 = 0x7fff_0000;
    pub const EPERM: u32 = 0x0005_0001;
    pub const ENOSYS: u32 = 0x0005_0026;
    pub const KILL: u32 = 0x8000_0000;

    fn complete_filter(network: bool, sockets: bool) -> Vec<sock_filter> {
        let access = SandboxAccess { network, sockets, ..SandboxAccess::default() };
        filter_program(&access).unwrap()
    }

    #[test]
    fn r21_system_calls_are_allowed_or_denied_as_listed() {
        const SOCKET: u32 = 41;
        const PAIR: u32 = 53;
        let (no_network, with_network, with_sockets) =
            (complete_filter(false, false), complete_filter(true, false), complete_filter(true, true));
        // Number, arguments, and results without network, with network, and with sockets of other programs.
        for (number, arguments, expected) in [
            // read and execve; then sockets by family, type and protocol.
            (0, [0; 6], [ALLOW, ALLOW, ALLOW]),
            (59, [0; 6], [ALLOW, ALLOW, ALLOW]),
            (SOCKET, [2, 1, 0, 0, 0, 0], [EPERM, ALLOW, ALLOW]),
            (SOCKET, [10, 0x80802, 0, 0, 0, 0], [EPERM, ALLOW, ALLOW]),
            // The kernel reads only the lower half.
            (SOCKET, [0xffff_ffff_0000_0002, 1, 0, 0, 0, 0], [EPERM, ALLOW, ALLOW]),
            (SOCKET, [0xffff_ffff_0000_0001, 1, 0, 0, 0, 0], [EPERM, EPERM, ALLOW]),
            (SOCKET, [1, 1, 0, 0, 0, 0], [EPERM, EPERM, ALLOW]),
            (SOCKET, [2, 3, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (SOCKET, [2, 0x80003, 1, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (SOCKET, [2, 10, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (SOCKET, [16, 3, 0, 0, 0, 0], [EPERM, ALLOW, ALLOW]),
            (SOCKET, [16, 3, 9, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (SOCKET, [17, 2, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (SOCKET, [40, 1, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (SOCKET, [38, 5, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (PAIR, [1, 1, 0, 0, 0, 0], [ALLOW, ALLOW, ALLOW]),
            (PAIR, [1, 0x80001, 0, 0, 0, 0], [ALLOW, ALLOW, ALLOW]),
            (PAIR, [1, 2, 0, 0, 0, 0], [EPERM, EPERM, ALLOW]),
            (PAIR, [1, 0x80003, 0, 0, 0, 0], [EPERM, EPERM, ALLOW]),
            (PAIR, [30, 1, 0, 0, 0, 0], [EPERM, EPERM, ALLOW]),
            // io_uring, clone3, and all of x32.
            (425, [0; 6], [ENOSYS, ENOSYS, ENOSYS]),
            (426, [0; 6], [ENOSYS, ENOSYS, ENOSYS]),
            (427, [0; 6], [ENOSYS, ENOSYS, ENOSYS]),
            (435, [0; 6], [ENOSYS, ENOSYS, ENOSYS]),
            (0x4000_0000, [0; 6], [ENOSYS, ENOSYS, ENOSYS]),
            (0x4000_0000 + SOCKET, [2, 1, 0, 0, 0, 0], [ENOSYS, ENOSYS, ENOSYS]),
            (u32::MAX, [0; 6], [ENOSYS, ENOSYS, ENOSYS]),
            // mount, setns, bpf, fsopen, keyctl
            (165, [0; 6], [EPERM, EPERM, EPERM]),
            (308, [0; 6], [EPERM, EPERM, EPERM]),
            (321, [0; 6], [EPERM, EPERM, EPERM]),
            (430, [0; 6], [EPERM, EPERM, EPERM]),
            (250, [0; 6], [EPERM, EPERM, EPERM]),
            // TIOCSTI, also with a non-zero upper half; TIOCLINUX; an allowed ioctl.
            (16, [0, 0x5412, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (16, [0, 0x1_0000_5412, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (16, [0, 0x541c, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (16, [0, 0x5401, 0, 0, 0, 0], [ALLOW, ALLOW, ALLOW]),
            // clone: a thread, a process, and a process in its own user namespace.
            (56, [0x3d_0f00, 0, 0, 0, 0, 0], [ALLOW, ALLOW, ALLOW]),
            (56, [17, 0, 0, 0, 0, 0], [ALLOW, ALLOW, ALLOW]),
            (56, [0x1000_0011, 0, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            // unshare: open files, also the mount namespace, and the time namespace.
            (272, [0x400, 0, 0, 0, 0, 0], [ALLOW, ALLOW, ALLOW]),
            (272, [0x2_0400, 0, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (272, [0x80, 0, 0, 0, 0, 0], [EPERM, EPERM, EPERM]),
            // Own limits; reading and changing those of another process.
            (302, [0, 7, 99, 0, 0, 0], [ALLOW, ALLOW, ALLOW]),
            (302, [1234, 7, 0, 99, 0, 0], [ALLOW, ALLOW, ALLOW]),
            (302, [1234, 7, 99, 0, 0, 0], [EPERM, EPERM, EPERM]),
            (302, [1234, 7, 0x1_0000_0000, 0, 0, 0], [EPERM, EPERM, EPERM]),
        ] {
            let results = [&no_network, &with_network, &with_sockets]
                .map(|program| run_filter(program, X86_64, number, arguments));
            assert_eq!(results, expected, "{number} {arguments:x?}");
        }
    }

    #[test]
    fn r21_syscalls_of_another_architecture_kill_the_program() {
        const I386: u32 = 0x4000_0003;
        for number in [1, 41, 102, 359, 0x3fff_ffff] {
            assert_eq!(run_filter(&complete_filter(true, true), I386, number, [0; 6]), KILL, "{number}");
        }
    }
}
