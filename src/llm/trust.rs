//! Why there is no way to a service, or none that can be trusted, in words that say what to do about it.

use rustls::{AlertDescription, CertificateError, Error};

/// What the person is told of a fault in the encryption; `None` where it is a mere break of the connection.
pub fn words(error: &Error) -> Option<String> {
    let words = match error {
        Error::InvalidCertificate(why) => certificate(why),
        Error::InvalidMessage(_) => "it does not answer encrypted; is it an http:// address?".to_owned(),
        Error::PeerIncompatible(_)
        | Error::AlertReceived(
            AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::InsufficientSecurity,
        ) => "it encrypts only in ways that are not safe any more; TLS 1.2 or later is needed".to_owned(),
        Error::AlertReceived(AlertDescription::CertificateRequired | AlertDescription::AccessDenied) => {
            "it wants a certificate of yours, which aye has none of".to_owned()
        }
        Error::AlertReceived(AlertDescription::UnrecognisedName) => {
            "nobody at that address has this name".to_owned()
        }
        // The rest are breaks and faults of this program, told as they are.
        _ => return None,
    };
    Some(words)
}

/// What the person is told where a proxy made no way, by what the connection says of it and the innermost cause; and
/// whether trying again can help.
pub fn proxy(said: &str, cause: &str) -> Option<(String, bool)> {
    match said.strip_prefix("tunnel error: ")? {
        "proxy authorization required" => {
            Some(("the proxy in between wants a name and a password, or other ones".to_owned(), false))
        }
        "failed to create underlying connection" => {
            Some((format!("the proxy in between cannot be reached: {cause}"), true))
        }
        _ => Some(("the proxy in between made no connection".to_owned(), true)),
    }
}

fn certificate(why: &CertificateError) -> String {
    match why {
        // One that vouches for itself comes as the second, where another of the same name is trusted.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "nobody whom this machine trusts vouches for its certificate. If it is yours, let the variable \
             SSL_CERT_FILE name a file with the certificate that vouches for it"
                .to_owned()
        }
        CertificateError::ExpiredContext { not_after, .. } => {
            format!("its certificate ended on {}; is this machine's clock right?", day(not_after.as_secs()))
        }
        CertificateError::Expired => "its certificate has ended; is this machine's clock right?".to_owned(),
        CertificateError::NotValidYetContext { not_before, .. } => {
            format!("its certificate begins on {}; is this machine's clock right?", day(not_before.as_secs()))
        }
        CertificateError::NotValidYet => {
            "its certificate has not begun yet; is this machine's clock right?".to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).take(5).collect();
            let names = if names.is_empty() { "no name at all".to_owned() } else { names.join(", ") };
            format!("its certificate is for {names}, not for {}", expected.to_str())
        }
        CertificateError::NotValidForName => "its certificate is for another name".to_owned(),
        CertificateError::Revoked => "its certificate was taken back by who made it".to_owned(),
        other => format!("its certificate cannot be used: {other}"),
    }
}

/// The name itself of what rustls writes as `DnsName("localhost")`.
fn bare(name: &str) -> &str {
    name.split('"').nth(1).unwrap_or(name)
}

fn day(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    at.map_or_else(|| "an unknown day".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::{ServerName, UnixTime};
    use std::time::Duration;

    #[test]
    fn r42_what_is_wrong_with_a_certificate_is_said_with_names_and_days() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let check = |why: CertificateError, expected: &str| {
            let words = words(&Error::InvalidCertificate(why)).unwrap();
            assert!(words.starts_with(expected), "{words}");
        };
        check(
            CertificateError::UnknownIssuer,
            "nobody whom this machine trusts vouches for its certificate.",
        );
        check(
            CertificateError::ExpiredContext { time: at(9), not_after: at(978_307_200) },
            "its certificate ended on 2001-01-01;",
        );
        check(
            CertificateError::NotValidYetContext { time: at(9), not_before: at(3_976_214_400) },
            "its certificate begins on 2096-01-01;",
        );
        let named = |presented: &[&str]| CertificateError::NotValidForNameContext {
            expected: ServerName::try_from("api.example.com").unwrap(),
            presented: presented.iter().map(|name| (*name).to_owned()).collect(),
        };
        check(
            named(&["DnsName(\"localhost\")", "DnsName(\"b.example\")"]),
            "its certificate is for localhost, b.example, not for api.example.com",
        );
        check(named(&[]), "its certificate is for no name at all, not for");
        check(CertificateError::BadEncoding, "its certificate cannot be used: ");
    }

    #[test]
    fn a_break_is_no_question_of_trust() {
        assert_eq!(words(&Error::AlertReceived(AlertDescription::InternalError)), None);
        assert_eq!(words(&Error::General("x".into())), None);
    }
}
