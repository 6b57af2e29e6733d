//! The header that carries a credential.

use super::CredentialKind;
use crate::config::Key;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

/// Why a secret cannot be sent, as part of a sentence. It does not quote the secret.
pub type Rejection = &'static str;

/// Headers that belong to the connection or to the request itself, not to a credential.
const FORBIDDEN_HEADERS: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Parses the name of a header for a credential.
///
/// # Errors
/// One sentence.
pub fn parse_header_name(text: &str) -> Result<HeaderName, String> {
    let name = HeaderName::from_bytes(text.trim().as_bytes())
        .map_err(|_| "Cannot use this header: it has characters that a name cannot have.".to_owned())?;
    if FORBIDDEN_HEADERS.contains(&name.as_str()) {
        return Err(format!("Cannot use this header: {name} belongs to the request itself."));
    }
    Ok(name)
}

/// Returns the header for a secret of this kind. For `OAuth` the secret is the access token. The value is marked as
/// sensitive.
///
/// # Errors
/// If no header can carry the secret.
pub fn header_of_secret(kind: &CredentialKind, secret: &Key) -> Result<(HeaderName, HeaderValue), Rejection> {
    let (name, value) = match kind {
        CredentialKind::Bearer | CredentialKind::OAuth(_) => (AUTHORIZATION, format!("Bearer {}", checked(secret)?)),
        CredentialKind::ApiKey(name) | CredentialKind::Header(name) => (name.clone(), checked(secret)?.to_owned()),
        CredentialKind::Basic(user) => {
            if secret.expose().is_empty() || secret.expose().contains(char::is_control) {
                return Err("it is empty or contains a line break or a control character");
            }
            (AUTHORIZATION, format!("Basic {}", STANDARD.encode(format!("{user}:{}", secret.expose()))))
        }
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| "it contains characters that cannot be sent")?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn checked(secret: &Key) -> Result<&str, Rejection> {
    match secret.can_be_sent() {
        true => Ok(secret.expose()),
        false => Err("it is empty, or contains a line break or characters that cannot be sent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: &CredentialKind, secret: &str) -> Result<String, Rejection> {
        let (name, value) = header_of_secret(kind, &Key::new(secret))?;
        assert!(value.is_sensitive());
        Ok(format!("{name}: {}", value.to_str().unwrap()))
    }

    #[test]
    fn each_kind_has_its_header() {
        let name = |text| parse_header_name(text).unwrap();
        for (kind, expected) in [
            (CredentialKind::Bearer, "authorization: Bearer s3cret"),
            (CredentialKind::ApiKey(name("X-API-Key")), "x-api-key: s3cret"),
            (CredentialKind::Header(name("Authorization")), "authorization: s3cret"),
            (CredentialKind::Basic("Ada".to_owned()), "authorization: Basic QWRhOnMzY3JldA=="),
        ] {
            assert_eq!(header(&kind, "s3cret\n").as_deref(), Ok(expected));
            for secret in ["", "a\nb", "a\r\nX-Other: b", "a\0"] {
                let error = header(&kind, secret).unwrap_err();
                assert!(!error.contains("X-Other"), "{error}");
            }
        }
        assert!(header(&CredentialKind::Bearer, "é").is_err());
        assert!(header(&CredentialKind::Basic("é".to_owned()), "pässword").is_ok());
    }

    #[test]
    fn a_header_of_the_request_itself_is_rejected() {
        for text in ["Host", "content-length", "", "a b", "a:b", "é", "X\nY"] {
            assert!(parse_header_name(text).is_err(), "{text}");
        }
    }
}
