//! Name resolution that refuses names with an address that is not public.

use super::special_addresses::describe_special;
use super::target::{Target, refuse_special};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
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

/// Why a target has no address to connect to. Each displays one sentence for the model.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// It has an address that is not public.
    #[error("{0}")]
    Refused(String),
    #[error("Cannot find {host}: {error}.")]
    NotFound { host: String, error: io::Error },
}

/// Why a lookup returns no addresses.
enum LookupError {
    Special(SpecialAddress),
    NotFound(io::Error),
}

/// Resolves the host of a target once, for a connection to one of the returned addresses. None of them is special, unless the
/// user allows the host in a private network.
pub async fn resolve_target(target: &Target) -> Result<Vec<SocketAddr>, ResolveError> {
    let port = target.url.port_or_known_default().unwrap_or_default();
    lookup_checked(&target.host, port, target.is_private_allowed).await.map_err(|error| match error {
        LookupError::Special(special) => ResolveError::Refused(refuse_special(&special.host, special.what)),
        LookupError::NotFound(error) => ResolveError::NotFound { host: target.host.clone(), error },
    })
}

/// Resolves a name. Refuses it if one of its addresses is special, unless those are allowed.
async fn lookup_checked(host: &str, port: u16, is_special_allowed: bool) -> Result<Vec<SocketAddr>, LookupError> {
    let found = tokio::net::lookup_host((host, port)).await;
    let addresses: Vec<SocketAddr> = found.map_err(LookupError::NotFound)?.collect();
    let special = addresses.iter().find_map(|address| describe_special(address.ip()));
    match special.filter(|_| !is_special_allowed) {
        Some(what) => Err(LookupError::Special(SpecialAddress { host: host.to_owned(), what })),
        None => Ok(addresses),
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_proxy = self.proxy_hosts.iter().any(|host| host == name.as_str());
        Box::pin(async move {
            // The caller sets the port.
            match lookup_checked(name.as_str(), 0, is_proxy).await {
                Ok(addresses) => Ok(Box::new(addresses.into_iter()) as Addrs),
                Err(LookupError::Special(special)) => Err(special.into()),
                Err(LookupError::NotFound(error)) => Err(error.into()),
            }
        })
    }
}
