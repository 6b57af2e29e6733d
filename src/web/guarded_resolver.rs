//! Name resolution that refuses names with an address that is not public.

use super::special_addresses::describe_special;
use super::target::{Target, refuse_special};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::SocketAddr;

/// Resolves a name once and passes only public addresses on, to which the connection is then made. A name with a single
/// address that is not public is refused as a whole, except the host of a proxy through which others are reached.
pub(super) struct GuardedResolver {
    pub proxy_hosts: Vec<String>,
}

/// A name that was refused.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{host} is the address of {what}")]
pub(super) struct SpecialAddress {
    pub host: String,
    pub what: &'static str,
}

/// Resolves the host of a target once, for a connection to one of the returned addresses. None of them is special, unless the
/// user allows the host in a private network.
///
/// # Errors
/// One sentence for the model.
pub async fn resolve_target(target: &Target) -> Result<Vec<SocketAddr>, String> {
    let port = target.url.port_or_known_default().unwrap_or_default();
    let found = tokio::net::lookup_host((target.host.as_str(), port)).await;
    let addresses: Vec<SocketAddr> = found.map_err(|error| format!("Cannot find {}: {error}.", target.host))?.collect();
    let special = addresses.iter().find_map(|address| describe_special(address.ip()));
    match special.filter(|_| !target.is_private_allowed) {
        Some(what) => Err(refuse_special(&target.host, what)),
        None => Ok(addresses),
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_proxy = self.proxy_hosts.iter().any(|host| host == name.as_str());
        Box::pin(async move {
            let host = name.as_str().to_owned();
            // The caller sets the port.
            let addresses: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let special = addresses.iter().find_map(|address| describe_special(address.ip()));
            if let Some(what) = special.filter(|_| !is_proxy) {
                return Err(SpecialAddress { host, what }.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
