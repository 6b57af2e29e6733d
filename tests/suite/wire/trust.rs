//! A service that cannot show who it is gets no word and no key.

use super::{collect, told};
use aye::llm::{OpenAi, Secret, Settings};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc;

const PEM: &[u8] = include_bytes!("data/untrusted.pem");

/// Serves one connection with that certificate; gives its port, and later whatever was said inside the encryption.
fn serve() -> (u16, mpsc::Receiver<Vec<u8>>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(PEM).unwrap()],
            PrivateKeyDer::from_pem_slice(PEM).unwrap(),
        )
        .unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut stream = rustls::StreamOwned::new(
                rustls::ServerConnection::new(Arc::new(config.clone())).unwrap(),
                socket.unwrap(),
            );
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said);
            tell.send(said).unwrap();
        }
    });
    (port, told)
}

#[tokio::test]
async fn r42_a_certificate_that_nobody_trusts_is_refused_before_the_key_is_sent() {
    let (port, said) = serve();
    let settings = Settings {
        key: Some(Secret::new("sk-secret")),
        ..Settings::new(&format!("https://127.0.0.1:{port}/v1"))
    };
    let out = told(&collect(&OpenAi::new(settings)).await);
    assert!(
        out.starts_with(&format!("!https://127.0.0.1:{port} is not trusted: ")),
        "and not tried again: {out}"
    );
    assert_eq!(said.recv().unwrap(), b"");
    assert!(said.try_recv().is_err(), "it was asked again");
}
