//! Certificates that the user named: authorities, and those that a server shows itself.
//!
//! A self-signed certificate is often made as an authority, as plain `openssl req -x509` makes it, and shown by a
//! server all the same. WebPKI refuses that. It is accepted here if the user named exactly this certificate, byte for
//! byte; its name and its dates are checked all the same.

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

/// The variable that names a file of certificates in place of the system's.
const VARIABLE: &str = "SSL_CERT_FILE";
/// What WebPKI says of a certificate of an authority that a server shows.
pub const USED_BY_A_SERVER: &str = "CaUsedAsEndEntity";

/// The certificates of a file.
///
/// # Errors
/// If it cannot be read, or has none.
pub fn read(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |why: &str| {
        let file = file.display();
        Error::NotAModel(format!(
            "Cannot use the certificates in {file}: {why}. Correct `ca_file` of the profile."
        ))
    };
    let bytes = std::fs::read(file).map_err(|error| wrong(&error.to_string()))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|_| wrong("it is not PEM"))?;
    if found.is_empty() { Err(wrong("it has no certificate")) } else { Ok(found) }
}

/// The TLS settings of a connection for which the user named certificates: these, or those of the variable. `None` if
/// the user named none, so that nothing has to be done.
///
/// # Errors
/// If one of them is no certificate.
pub fn settings(own: &[CertificateDer<'static>]) -> Result<Option<ClientConfig>, rustls::Error> {
    let file = std::env::var_os(VARIABLE).map(PathBuf::from);
    if own.is_empty() && file.is_none() {
        return Ok(None);
    }
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()));
    let usual: Arc<dyn ServerCertVerifier> =
        match rustls_platform_verifier::Verifier::new_with_extra_roots(own.iter().cloned(), provider.clone())
        {
            Ok(verifier) => Arc::new(verifier),
            // This machine has none, and the variable names none that can be read.
            Err(_) => built_in(own, provider.clone())?,
        };
    let verifier = Arc::new(Named { usual, own: own.to_vec(), file });
    let mut settings = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    settings.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(settings))
}

fn built_in(
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

/// Checks as the usual verifier does, and takes a named certificate for what it is.
#[derive(Debug)]
struct Named {
    usual: Arc<dyn ServerCertVerifier>,
    own: Vec<CertificateDer<'static>>,
    /// Read only if a server shows a certificate of an authority.
    file: Option<PathBuf>,
}

impl Named {
    fn is_named(&self, certificate: &CertificateDer<'_>) -> bool {
        let in_file = || {
            let bytes = self.file.as_deref().and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
            CertificateDer::pem_slice_iter(&bytes).flatten().any(|one| one == *certificate)
        };
        self.own.iter().any(|one| one == certificate) || in_file()
    }
}

/// Whether this is the only fault of a certificate. Its dates are checked before it.
fn is_authority(error: &rustls::Error) -> bool {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(why)) => {
            why.0.to_string() == USED_BY_A_SERVER
        }
        _ => false,
    }
}

impl ServerCertVerifier for Named {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match self.usual.verify_server_cert(shown, intermediates, name, ocsp, now) {
            Err(error) if is_authority(&error) && self.is_named(shown) => {
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
