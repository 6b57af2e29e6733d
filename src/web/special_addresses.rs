//! Addresses that are not those of public servers: private networks, this machine, metadata services of clouds.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Special ranges of IPv4: network, prefix length, and what it is. From the IANA registry of special-purpose addresses,
/// and the metadata address of Azure, which is outside of it. `192.88.99.0/24` led to 6to4 relays.
const RANGES_V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, "this machine"),
    ([10, 0, 0, 0], 8, "a private network"),
    ([100, 64, 0, 0], 10, "a shared network of a provider"),
    ([127, 0, 0, 0], 8, "this machine"),
    ([168, 63, 129, 16], 32, "a cloud's metadata service"),
    ([169, 254, 0, 0], 16, "a link-local network, as of metadata services"),
    ([172, 16, 0, 0], 12, "a private network"),
    ([192, 0, 0, 0], 24, "a protocol assignment"),
    ([192, 0, 2, 0], 24, "an example network"),
    ([192, 88, 99, 0], 24, "a relay"),
    ([192, 168, 0, 0], 16, "a private network"),
    ([198, 18, 0, 0], 15, "a test network"),
    ([198, 51, 100, 0], 24, "an example network"),
    ([203, 0, 113, 0], 24, "an example network"),
    ([224, 0, 0, 0], 3, "a multicast or reserved address"),
];

/// Special ranges of IPv6 within the global unicast space `2000::/3`.
const RANGES_V6: &[([u16; 8], u32, &str)] = &[
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "a protocol assignment"),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "an example network"),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "a 6to4 address"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "an example network"),
];

/// Returns what a special address is, worded to follow “the address of”; `None` for that of a public server. An IPv6
/// address is public only in the global unicast space, or if it contains a public IPv4 address by IPv4 mapping or NAT64.
pub fn describe_special(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => describe_v4(address),
        IpAddr::V6(address) => describe_v6(address),
    }
}

fn describe_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let is_in = |(network, length, _): &&([u8; 4], u32, &str)| {
        let shift = 32 - length;
        bits >> shift == Ipv4Addr::from(*network).to_bits() >> shift
    };
    RANGES_V4.iter().find(is_in).map(|(_, _, what)| *what)
}

fn describe_v6(address: Ipv6Addr) -> Option<&'static str> {
    let segments = address.segments();
    let embedded = || Ipv4Addr::from_bits(u32::from(segments[6]) << 16 | u32::from(segments[7]));
    match segments {
        // IPv4-mapped addresses, and NAT64 with its well-known prefix.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => return describe_v4(embedded()),
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => return Some("this machine"),
        [0xfe80..=0xfebf, ..] => return Some("a link-local network, as of metadata services"),
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => return Some("a private network"),
        [0xff00..=0xffff, ..] => return Some("a multicast or reserved address"),
        // Interface identifiers of ISATAP contain an IPv4 address of the local network.
        [.., 0 | 0x200, 0x5efe, _, _] => return Some("a tunnel"),
        [0x2000..=0x3fff, ..] => {}
        _ => return Some("a reserved range"),
    }
    let bits = address.to_bits();
    let is_in = |(network, length, _): &&([u16; 8], u32, &str)| {
        let shift = 128 - length;
        bits >> shift == Ipv6Addr::from(*network).to_bits() >> shift
    };
    RANGES_V6.iter().find(is_in).map(|(_, _, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn edges_of_each_range_are_special_and_their_neighbours_public() {
        for (first, last, before, after) in [
            ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
            ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
            ("168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"),
            ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
            ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
            ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
            ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
            ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
            ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"),
        ] {
            for special in [first, last] {
                assert!(describe_special(parse(special)).is_some(), "{special}");
            }
            for public in [before, after] {
                assert_eq!(describe_special(parse(public)), None, "{public}");
            }
        }
        for special in ["0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fd00:ec2::254", "ff02::1"] {
            assert!(describe_special(parse(special)).is_some(), "{special}");
        }
    }

    #[test]
    fn embedded_addresses_count_as_what_they_embed() {
        for (address, is_special) in [
            ("::ffff:169.254.169.254", true),
            ("::ffff:8.8.8.8", false),
            ("64:ff9b::10.0.0.1", true),
            ("64:ff9b::8.8.8.8", false),
            // Other prefixes of NAT64, deprecated IPv4-compatible addresses and Teredo are never public.
            ("64:ff9b:1::8.8.8.8", true),
            ("::8.8.8.8", true),
            ("2001:0:4136:e378::1", true),
            ("2a00::5efe:10.0.0.1", true),
            ("2a00:1450:4001::200e", false),
        ] {
            assert_eq!(describe_special(parse(address)).is_some(), is_special, "{address}");
        }
    }

    proptest! {
        /// What the standard library knows to be special is special here, in every form.
        #[test]
        fn agrees_with_the_standard_library(bits: u32) {
            let address = Ipv4Addr::from_bits(bits);
            let is_special = address.is_private() || address.is_loopback() || address.is_link_local()
                || address.is_broadcast() || address.is_documentation() || address.is_multicast() || address.is_unspecified();
            let ours = describe_special(address.into());
            prop_assert!(!is_special || ours.is_some(), "{address}");
            prop_assert_eq!(describe_special(address.to_ipv6_mapped().into()), ours);
        }

        #[test]
        fn only_global_unicast_is_public(bits: u128) {
            let address = Ipv6Addr::from_bits(bits);
            let is_public = describe_special(address.into()).is_none();
            let is_translated = address.to_ipv4_mapped().is_some() || address.segments()[..2] == [0x64, 0xff9b];
            prop_assert!(!is_public || is_translated || address.segments()[0] >> 13 == 1, "{address}");
        }
    }
}
