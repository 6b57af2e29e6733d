//! Certificates named by the user: of authorities and of servers.
//!
//! A self-signed server certificate is often marked as an authority, as plain `openssl req -x509` does. WebPKI rejects
//! such a certificate for a server. It is accepted here if the user named exactly this certificate, byte for byte; its
//! name and dates are still checked. Plain `openssl req -x509` writes the name only as the common name of the subject,
//! so that counts if there is no other.

use super::Error;
use crate::web::tls_error::CA_USED_AS_END_ENTITY;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Environment variable that names a certificate file to use instead of the system's certificates.
const VARIABLE: &str = "SSL_CERT_FILE";

/// Reads the certificates in a file.
///
/// # Errors
/// Fails if the file cannot be read or contains no certificate.
pub fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let file_error = |reason: &str| {
        let file = file.display();
        Error::InvalidReply(format!(
            "Cannot use the certificates in {file}: {reason}. Correct `ca_file` of the profile."
        ))
    };
    let bytes = std::fs::read(file).map_err(|error| file_error(&error.to_string()))?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let certificates = certificates.map_err(|_| file_error("it is not a PEM file"))?;
    if certificates.is_empty() { Err(file_error("it contains no certificate")) } else { Ok(certificates) }
}

/// Returns TLS settings that accept the certificates named by the user: `user_certificates` and those in the file of
/// `SSL_CERT_FILE`. Returns `None` if the user named none.
///
/// # Errors
/// Fails if one of them is not a valid certificate.
pub fn build_tls_config(user_certificates: &[CertificateDer<'static>]) -> Result<Option<ClientConfig>, rustls::Error> {
    let file = std::env::var_os(VARIABLE).map(PathBuf::from);
    if user_certificates.is_empty() && file.is_none() {
        return Ok(None);
    }
    let provider =
        CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()));
    let default_verifier: Arc<dyn ServerCertVerifier> = match rustls_platform_verifier::Verifier::new_with_extra_roots(
        user_certificates.iter().cloned(),
        provider.clone(),
    ) {
        Ok(verifier) => Arc::new(verifier),
        // This machine has no certificates, and the variable names no readable file.
        Err(_) => build_bundled_verifier(user_certificates, provider.clone())?,
    };
    let verifier = Arc::new(NamedVerifier { default_verifier, user_certificates: user_certificates.to_vec(), file });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(config))
}

fn build_bundled_verifier(
    user_certificates: &[CertificateDer<'static>],
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    for certificate in user_certificates.iter().chain(webpki_root_certs::TLS_SERVER_ROOT_CERTS) {
        roots.add(certificate.clone())?;
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    verifier.map_err(|error| rustls::Error::General(error.to_string()))
}

/// Verifies like the usual verifier, and also accepts the named certificates themselves.
#[derive(Debug)]
struct NamedVerifier {
    default_verifier: Arc<dyn ServerCertVerifier>,
    user_certificates: Vec<CertificateDer<'static>>,
    /// Read only if a server presents a certificate of an authority.
    file: Option<PathBuf>,
}

impl NamedVerifier {
    fn is_named(&self, certificate: &CertificateDer<'_>) -> bool {
        let is_in_file = || {
            let bytes = self.file.as_deref().and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
            CertificateDer::pem_slice_iter(&bytes).flatten().any(|named| named == *certificate)
        };
        self.user_certificates.iter().any(|named| named == certificate) || is_in_file()
    }
}

/// Returns whether the certificate was rejected only because it is marked as an authority. WebPKI checks the dates
/// before that, so they are valid.
fn is_ca_certificate_error(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(CertificateError::Other(reason))
        if reason.0.to_string() == CA_USED_AS_END_ENTITY)
}

/// Returns whether the name was rejected because the certificate has no alternative names.
fn has_no_names(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext { presented, .. })
        if presented.is_empty())
}

/// Returns whether a common name in the certificate is this name. It need not be parsed further: the user named exactly
/// this certificate.
fn has_common_name(certificate: &[u8], name: &str) -> bool {
    // DER of the attribute 2.5.4.3. A text follows, with its type and length: UTF8String (0x0c), PrintableString (0x13)
    // or IA5String (0x16), of at most 127 bytes.
    const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
    let starts =
        certificate.windows(COMMON_NAME.len()).zip(COMMON_NAME.len()..).filter(|(part, _)| *part == COMMON_NAME);
    starts.map(|(_, start)| &certificate[start..]).any(|text| match text {
        [0x0c | 0x13 | 0x16, length @ 0..=127, rest @ ..] => {
            rest.get(..usize::from(*length)).is_some_and(|text| text.eq_ignore_ascii_case(name.as_bytes()))
        }
        _ => false,
    })
}

impl ServerCertVerifier for NamedVerifier {
    fn verify_server_cert(
        &self,
        presented: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.default_verifier.verify_server_cert(presented, intermediates, name, ocsp, now) {
            Err(error) if is_ca_certificate_error(&error) && self.is_named(presented) => {
                match verify_server_name(&ParsedCertificate::try_from(presented)?, name) {
                    Err(error) if has_no_names(&error) && has_common_name(presented, &name.to_str()) => {}
                    result => result?,
                }
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.default_verifier.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.default_verifier.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.default_verifier.supported_verify_schemes()
    }
}
