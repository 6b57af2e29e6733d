//! The profile of Firefox: its settings, which are written anew for each browser.

use crate::browser::page_watch::VISIBLE_SIZE;
use std::fs;
use std::io;
use std::path::Path;

/// Ports in the network of Firefox, in which nothing else runs.
pub const PROXY_PORT: u16 = 3128;
pub const DEBUGGING_PORT: u16 = 9222;

/// Settings with their values as JavaScript. Firefox adds those that it recommends for a browser under remote control, but none
/// of them replaces one of these.
const SETTINGS: [(&str, &str); 66] = [
    // All requests go through the proxy, also those to loopback addresses. Without it none is made, and no name is resolved.
    ("network.proxy.type", "1"),
    ("network.proxy.http", "'127.0.0.1'"),
    ("network.proxy.ssl", "'127.0.0.1'"),
    ("network.proxy.no_proxies_on", "''"),
    ("network.proxy.allow_hijacking_localhost", "true"),
    ("network.proxy.allow_bypass", "false"),
    ("network.proxy.failover_direct", "false"),
    ("network.trr.mode", "5"),
    ("network.dns.disabled", "false"),
    ("network.dns.disablePrefetch", "true"),
    ("network.dns.disablePrefetchFromHTTPS", "true"),
    ("network.http.http3.enable", "false"),
    ("network.webtransport.enabled", "false"),
    ("network.manage-offline-status", "false"),
    ("media.peerconnection.enabled", "false"),
    ("media.navigator.enabled", "false"),
    // No requests of its own, and none before a page makes them.
    ("network.prefetch-next", "false"),
    ("network.predictor.enabled", "false"),
    ("network.early-hints.enabled", "false"),
    ("network.preload", "false"),
    ("network.http.speculative-parallel-limit", "0"),
    ("browser.urlbar.speculativeConnect.enabled", "false"),
    ("network.captive-portal-service.enabled", "false"),
    ("network.connectivity-service.enabled", "false"),
    ("security.OCSP.enabled", "0"),
    ("security.ssl.enable_ocsp_stapling", "false"),
    ("security.remote_settings.crlite_filters.enabled", "false"),
    ("app.update.auto", "false"),
    ("app.update.enabled", "false"),
    ("app.normandy.enabled", "false"),
    ("app.shield.optoutstudies.enabled", "false"),
    ("browser.safebrowsing.malware.enabled", "false"),
    ("browser.safebrowsing.phishing.enabled", "false"),
    ("browser.safebrowsing.downloads.remote.enabled", "false"),
    ("browser.safebrowsing.provider.mozilla.updateURL", "''"),
    ("browser.safebrowsing.provider.google4.updateURL", "''"),
    ("browser.search.update", "false"),
    ("browser.search.geoip.url", "''"),
    ("browser.region.update.enabled", "false"),
    ("browser.newtabpage.enabled", "false"),
    ("browser.newtabpage.activity-stream.feeds.system.topstories", "false"),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("datareporting.healthreport.uploadEnabled", "false"),
    ("toolkit.telemetry.enabled", "false"),
    ("toolkit.telemetry.unified", "false"),
    ("toolkit.telemetry.server", "''"),
    ("dom.push.enabled", "false"),
    ("dom.push.connection.enabled", "false"),
    ("geo.enabled", "false"),
    ("extensions.update.enabled", "false"),
    ("extensions.systemAddon.update.enabled", "false"),
    ("extensions.blocklist.enabled", "false"),
    ("media.gmp-manager.url", "''"),
    ("media.gmp-provider.enabled", "false"),
    ("services.settings.server", "'data:,#remote-settings-dummy/v1'"),
    // An address without encryption is opened as it was approved.
    ("dom.security.https_first", "false"),
    ("dom.security.https_first_schemeless", "false"),
    ("dom.security.https_only_mode", "false"),
    // Nothing is kept of earlier pages: each is loaded again, so that its request is checked.
    ("browser.sessionhistory.max_total_viewers", "0"),
    ("browser.sessionstore.resume_from_crash", "false"),
    // Windows only after a click, which closes them. Files have no folder to be saved in.
    ("dom.disable_open_during_load", "true"),
    ("dom.popup_maximum", "3"),
    ("browser.download.folderList", "2"),
    ("browser.download.dir", "'/dev/null/downloads'"),
    ("browser.download.useDownloadDir", "true"),
    ("pdfjs.disabled", "true"),
];

/// Creates the folder of the profile with its settings.
pub fn write_profile(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    let line = |(name, value): (&str, &str)| format!("user_pref(\"{name}\", {value});\n");
    let mut text: String = SETTINGS.map(line).concat();
    for kind in ["http", "ssl"] {
        text.push_str(&line((&format!("network.proxy.{kind}_port"), &PROXY_PORT.to_string())));
    }
    let (width, height) = VISIBLE_SIZE;
    text.push_str(&line(("browser.window.width", &width.to_string())));
    text.push_str(&line(("browser.window.height", &height.to_string())));
    fs::write(folder.join("user.js"), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_profile_names_the_proxy_and_allows_no_way_past_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("profile");
        write_profile(&folder).unwrap();
        let text = fs::read_to_string(folder.join("user.js")).unwrap();
        for line in [
            "user_pref(\"network.proxy.type\", 1);",
            "user_pref(\"network.proxy.http\", '127.0.0.1');",
            "user_pref(\"network.proxy.ssl_port\", 3128);",
            "user_pref(\"network.proxy.allow_hijacking_localhost\", true);",
            "user_pref(\"network.proxy.failover_direct\", false);",
            "user_pref(\"media.peerconnection.enabled\", false);",
            "user_pref(\"network.http.http3.enable\", false);",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}");
        }
        assert!(write_profile(&folder).is_err(), "a profile is new");
    }
}
