//! Drops root's capabilities: a sandboxed command keeps those for changing files, and loses those over the system and
//! other processes. Some of them bypass Landlock; on newer kernels one of them can read the environment of any process.

use super::SandboxError;
use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

/// Capabilities that are kept: access to files of any owner, signals to processes of any user, changing the user, and
/// ports below 1024 if there is a network.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Drops all capabilities except `KEPT_CAPABILITIES`, for this thread and everything it starts. Does nothing if the
/// user is not root and has no capabilities.
pub fn drop_capabilities() -> Result<(), SandboxError> {
    let current = capabilities(None).map_err(|_| SandboxError::Capabilities)?;
    keep_capabilities(current, KEPT_CAPABILITIES)
}

/// Drops all capabilities except reading files of any owner. In some containers root has this only as part of a
/// capability that also allows writing; then that one is kept.
pub fn drop_all_but_reading() -> Result<(), SandboxError> {
    let current = capabilities(None).map_err(|_| SandboxError::Capabilities)?;
    let read_any_file = CapabilitySet::DAC_READ_SEARCH;
    keep_capabilities(
        current,
        if current.permitted.contains(read_any_file) { read_any_file } else { CapabilitySet::DAC_OVERRIDE },
    )
}

fn keep_capabilities(current: CapabilitySets, allowed: CapabilitySet) -> Result<(), SandboxError> {
    let to_error = |_| SandboxError::Capabilities;
    if !geteuid().is_root() && current.permitted.is_empty() {
        return Ok(());
    }
    clear_ambient_capability_set().map_err(to_error)?;
    for capability in (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        // An error means that the kernel does not know this capability and all higher ones.
        let Ok(is_in_bounding_set) = capability_is_in_bounding_set(capability) else { break };
        if is_in_bounding_set && !allowed.contains(capability) {
            remove_capability_from_bounding_set(capability).map_err(to_error)?;
        }
    }
    let sets = CapabilitySets {
        effective: current.effective & allowed,
        permitted: current.permitted & allowed,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(to_error)
}
