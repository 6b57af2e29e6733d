//! Addresses in private networks that a service names as those of its authorization server.

use crate::text::clean::clean_line;
use crate::web::special_addresses::describe_special;
use crate::web::target::host_of;
use reqwest::Url;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// Returns the addresses, each with what it is, that are not of public servers. A service could name them to have this program
/// send requests into the user's network. The host of the service itself is left out, and this machine if the service runs on
/// it. A host that cannot be found is left out too: the request to it fails, or a proxy makes it.
pub async fn find_private_endpoints(service: &Url, endpoints: &[&Url]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for endpoint in endpoints.iter().filter(|endpoint| host_of(endpoint) != host_of(service)) {
        let addresses = resolve_host(endpoint).await;
        if let Some(what) = addresses.iter().find_map(|address| describe_special(*address)) {
            let is_local = !addresses.is_empty() && addresses.iter().all(IpAddr::is_loopback);
            if !(is_local && is_loopback(service)) {
                let origin = endpoint.origin().ascii_serialization();
                found.insert(format!("{} is the address of {what}", clean_line(&origin)));
            }
        }
    }
    found.into_iter().collect()
}

async fn resolve_host(url: &Url) -> Vec<IpAddr> {
    let port = url.port_or_known_default().unwrap_or_default();
    let found = tokio::net::lookup_host((host_of(url), port)).await;
    found.map(|addresses| addresses.map(|address| address.ip()).collect()).unwrap_or_default()
}

/// Returns whether an address names this machine, without a look-up, whose answer the service could control.
fn is_loopback(url: &Url) -> bool {
    let host = host_of(url);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_public_service_cannot_name_private_addresses_unnoticed() {
        let url = |text: &str| Url::parse(text).unwrap();
        for (service, endpoint, what) in [
            ("https://8.8.8.8/mcp", "https://1.1.1.1/token", ""),
            ("https://8.8.8.8/mcp", "https://10.0.0.5/token", "https://10.0.0.5 is the address of a private network"),
            ("https://8.8.8.8/mcp", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080 is the address of this machine"),
            ("https://8.8.8.8/mcp", "http://localhost:8080/x", "http://localhost:8080 is the address of this machine"),
            ("https://8.8.8.8/mcp", "https://[::ffff:10.0.0.5]/x", "is the address of a private network"),
            ("https://8.8.8.8/mcp", "https://169.254.169.254/", "is the address of a link-local network"),
            ("http://127.0.0.1:1/mcp", "https://169.254.169.254/", "is the address of a link-local network"),
            ("http://127.0.0.1:1/mcp", "http://localhost:2/token", ""),
            ("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/token", ""),
            ("https://10.0.0.5/mcp", "https://10.0.0.5:8443/token", ""),
            ("https://10.0.0.5/mcp", "https://10.0.0.6/token", "https://10.0.0.6 is the address of a private network"),
        ] {
            let found = find_private_endpoints(&url(service), &[&url(endpoint)]).await;
            assert_eq!(found.len(), usize::from(!what.is_empty()), "{service} {endpoint}: {found:?}");
            assert!(found.iter().all(|text| text.contains(what)), "{service} {endpoint}: {found:?}");
        }
    }
}
