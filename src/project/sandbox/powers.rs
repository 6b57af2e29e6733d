//! What root may beyond files: a walled command keeps what changing files takes, and nothing over the system or over
//! other processes. Some of these powers look past Landlock: on newer kernels one of them reads any environment.

use super::Refused;
use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

/// What is kept: files of any owner, becoming another user, and ports below 1024 where there is a network.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Gives the others up, for this thread and whatever it starts. Nothing to do for who is not root and has none.
pub fn give_up() -> Result<(), Refused> {
    let has = capabilities(None).map_err(|_| Refused::Powers)?;
    keep(has, KEPT)
}

/// Gives all up but reading files of any owner. Some containers give root no other power for that than one that writes too.
pub fn give_up_all_but_reading() -> Result<(), Refused> {
    let has = capabilities(None).map_err(|_| Refused::Powers)?;
    let reads = CapabilitySet::DAC_READ_SEARCH;
    keep(has, if has.permitted.contains(reads) { reads } else { CapabilitySet::DAC_OVERRIDE })
}

fn keep(has: CapabilitySets, kept: CapabilitySet) -> Result<(), Refused> {
    let refused = |_| Refused::Powers;
    if !geteuid().is_root() && has.permitted.is_empty() {
        return Ok(());
    }
    clear_ambient_capability_set().map_err(refused)?;
    for power in (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit)) {
        // An error says that this kernel has no such power, nor any beyond it.
        let Ok(is_in) = capability_is_in_bounding_set(power) else { break };
        if is_in && !kept.contains(power) {
            remove_capability_from_bounding_set(power).map_err(refused)?;
        }
    }
    let sets = CapabilitySets {
        effective: has.effective & kept,
        permitted: has.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(refused)
}
