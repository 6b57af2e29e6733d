//! Addresses of this machine.

use reqwest::Url;

/// Returns whether the address is certainly this machine. Host names other than `localhost` may resolve to any machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<std::net::IpAddr>().map(|ip| ip.to_canonical()) {
        // Connecting to the unspecified address, which some servers print as their own, reaches this machine.
        Ok(ip) => ip.is_loopback() || ip.is_unspecified(),
        Err(_) => host.trim_end_matches('.') == "localhost",
    }
}

/// Returns whether this origin is this machine.
pub fn is_local_origin(origin: &str) -> bool {
    Url::parse(origin).is_ok_and(|url| is_loopback(&url))
}
