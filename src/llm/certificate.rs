//! Certificates named by the user: of authorities and of servers.
//!
//! A self-signed server certificate is often marked as an authority, as plain `openssl req -x509` does. WebPKI rejects
//! such a certificate for a server. It is accepted here if the user named exactly this certificate, byte for byte; its
//! name and dates are still checked.

use super::Error;
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
/// WebPKI error for an authority's certificate that is used by a server.
pub const CA_USED_AS_END_ENTITY: &str = "CaUsedAsEndEntity";

/// Reads the certificates in a file.
///
/// # Errors
/// Fails if the file cannot be read or contains no certificate.
pub fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |why: &str| {
        let file = file.display();
        Error::InvalidReply(format!("Cannot use the certificates in {file}: {why}. Correct `ca_file` of the profile."))
    };
    let bytes = std::fs::read(file).map_err(|error| wrong(&error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|_| wrong("it is not a PEM file"))?;
    if found.is_empty() { Err(wrong("it contains no certificate")) } else { Ok(found) }
}

/// Returns TLS settings that accept the certificates named by the user: these and the ones from the variable. Returns
/// `None` if the user named none.
///
/// # Errors
/// Fails if one of them is not a valid certificate.
pub fn build_tls_config(own: &[CertificateDer<'static>]) -> Result<Option<ClientConfig>, rustls::Error> {
    let file = std::env::var_os(VARIABLE).map(PathBuf::from);
    if own.is_empty() && file.is_none() {
        return Ok(None);
    }
    let provider =
        CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()));
    let usual: Arc<dyn ServerCertVerifier> =
        match rustls_platform_verifier::Verifier::new_with_extra_roots(own.iter().cloned(), provider.clone()) {
            Ok(verifier) => Arc::new(verifier),
            // This machine has no certificates, and the variable names no readable file.
            Err(_) => build_bundled_verifier(own, provider.clone())?,
        };
    let verifier = Arc::new(NamedVerifier { usual, own: own.to_vec(), file });
    let mut settings = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    settings.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(settings))
}

fn build_bundled_verifier(
    own: &[CertificateDer<'static>],
    provider: Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    for certificate in own.iter().chain(webpki_root_certs::TLS_SERVER_ROOT_CERTS) {
        roots.add(certificate.clone())?;
    }
    let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
    built.map_err(|error| rustls::Error::General(error.to_string()))
}

/// Verifies like the usual verifier, and also accepts the named certificates themselves.
#[derive(Debug)]
struct NamedVerifier {
    usual: Arc<dyn ServerCertVerifier>,
    own: Vec<CertificateDer<'static>>,
    /// Read only if a server presents a certificate of an authority.
    file: Option<PathBuf>,
}

impl NamedVerifier {
    fn is_named(&self, certificate: &CertificateDer<'_>) -> bool {
        let in_file = || {
            let bytes = self.file.as_deref().and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
            CertificateDer::pem_slice_iter(&bytes).flatten().any(|one| one == *certificate)
        };
        self.own.iter().any(|one| one == certificate) || in_file()
    }
}

/// Returns whether this is the certificate's only error. WebPKI checks the dates before it.
fn is_ca_certificate_error(error: &rustls::Error) -> bool {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(why)) => why.0.to_string() == CA_USED_AS_END_ENTITY,
        _ => false,
    }
}

impl ServerCertVerifier for NamedVerifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.usual.verify_server_cert(shown, intermediates, name, ocsp, now) {
            Err(error) if is_ca_certificate_error(&error) && self.is_named(shown) => {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}
