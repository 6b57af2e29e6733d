//! Explains TLS errors and how to fix them.

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, Error};

/// Text of the verifier's error about a CA certificate that a server uses as its own.
pub const CA_USED_AS_END_ENTITY: &str = "CaUsedAsEndEntity";

/// Explains a TLS error for the user. `ca_setting` names where the user can add an authority. Returns `None` for lost
/// connections and internal errors.
pub fn explain_tls_error(error: &Error, ca_setting: &str) -> Option<String> {
    let explanation = match error {
        Error::InvalidCertificate(error) => explain_certificate_error(error, ca_setting),
        Error::PeerIncompatible(_)
        | Error::AlertReceived(
            AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::InsufficientSecurity,
        ) => "it supports no secure version of TLS. TLS 1.2 or later is required".to_owned(),
        Error::AlertReceived(AlertDescription::CertificateRequired | AlertDescription::AccessDenied) => {
            "it requires a client certificate, which aye does not support".to_owned()
        }
        Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            "no server at that address has this name".to_owned()
        }
        // All other errors are breaks of the connection or internal errors, and are reported unchanged.
        _ => return None,
    };
    Some(explanation)
}

fn explain_certificate_error(error: &CertificateError, ca_setting: &str) -> String {
    match error {
        // A self-signed certificate causes `BadSignature` if another certificate with the same name is trusted.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            format!(
                "its certificate is not signed by an authority that this machine trusts. If it is yours, name a file with \
                 it, or with that of its authority, in {ca_setting}"
            )
        }
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("its certificate expired on {}. Check the clock of this machine", format_date(not_after.as_secs()))
        }
        CertificateError::Expired => "its certificate has expired. Check the clock of this machine".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!(
                "its certificate is not valid before {}. Check the clock of this machine",
                format_date(not_before.as_secs())
            )
        }
        CertificateError::NotValidYet => "its certificate is not valid yet. Check the clock of this machine".to_owned(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| extract_name(name)).take(5).collect();
            let host = expected.to_str();
            if names.is_empty() {
                let kind = if matches!(expected, ServerName::DnsName(_)) { "DNS" } else { "IP" };
                return format!(
                    "its certificate is for no name at all, not for {host}. Create one with this name, with openssl by \
                     -addext subjectAltName={kind}:{host}"
                );
            }
            format!("its certificate is for {}, not for {host}", names.join(", "))
        }
        CertificateError::NotValidForName => "its certificate is for another name".to_owned(),
        CertificateError::Revoked => "its certificate was revoked".to_owned(),
        CertificateError::Other(inner) if inner.0.to_string() == CA_USED_AS_END_ENTITY => {
            format!(
                "its certificate is a CA certificate. If it is yours, name a file with exactly this certificate in \
                 {ca_setting}"
            )
        }
        error => format!("its certificate cannot be used: {error}"),
    }
}

/// Extracts the name from rustls's format `DnsName("localhost")`.
fn extract_name(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

fn format_date(seconds: u64) -> String {
    let date = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    date.map_or_else(|| "an unknown day".to_owned(), |date| date.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::UnixTime;
    use std::time::Duration;

    #[test]
    fn r42_certificate_errors_contain_names_and_dates() {
        let time_at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let check = |error: CertificateError, expected: &str| {
            let explanation = explain_tls_error(&Error::InvalidCertificate(error), "F").unwrap();
            assert!(explanation.starts_with(expected), "{explanation}");
        };
        check(
            CertificateError::UnknownIssuer,
            "its certificate is not signed by an authority that this machine trusts.",
        );
        check(
            CertificateError::ExpiredContext { time: time_at(9), not_after: time_at(978_307_200) },
            "its certificate expired on 2001-01-01.",
        );
        check(
            CertificateError::NotValidYetContext { time: time_at(9), not_before: time_at(3_976_214_400) },
            "its certificate is not valid before 2096-01-01.",
        );
        let wrong_name_error = |presented: &[&str]| CertificateError::NotValidForNameContext {
            expected: ServerName::try_from("api.example.com").unwrap(),
            presented: presented.iter().map(|name| (*name).to_owned()).collect(),
        };
        check(
            wrong_name_error(&["DnsName(\"localhost\")", "DnsName(\"b.example\")"]),
            "its certificate is for localhost, b.example, not for api.example.com",
        );
        check(
            wrong_name_error(&[]),
            "its certificate is for no name at all, not for api.example.com. Create one with this name, with openssl by \
             -addext subjectAltName=DNS:api.example.com",
        );
        check(CertificateError::BadEncoding, "its certificate cannot be used: ");
    }

    #[test]
    fn a_broken_connection_is_not_a_certificate_error() {
        assert_eq!(explain_tls_error(&Error::AlertReceived(AlertDescription::InternalError), "F"), None);
        assert_eq!(explain_tls_error(&Error::General("x".into()), "F"), None);
    }
}
