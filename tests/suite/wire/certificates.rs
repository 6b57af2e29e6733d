//! A provider that cannot prove its identity receives no request and no key.

use super::{collect, format_reply};
use crate::support::service::{Answer, Service};
use aye::llm::client::ConnectionOptions;
use aye::llm::{OpenAi, Secret, Settings};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

const PEM: &[u8] = include_bytes!("data/untrusted.pem");

/// Serves with the certificate in `PEM`. Returns the port, and a channel with the bytes that each connection received
/// over TLS. An answer is sent as soon as a request arrived.
fn serve(answer: Option<String>) -> (u16, mpsc::Receiver<Vec<u8>>) {
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
    let (sender, received) = mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut stream = rustls::StreamOwned::new(
                rustls::ServerConnection::new(Arc::new(config.clone())).unwrap(),
                socket.unwrap(),
            );
            let mut bytes = Vec::new();
            match &answer {
                None => drop(stream.read_to_end(&mut bytes)),
                Some(answer) => {
                    let mut buffer = [0; 4096];
                    while !bytes.ends_with(b"}") {
                        match stream.read(&mut buffer) {
                            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
                            Ok(0) | Err(_) => break,
                        }
                    }
                    let _ = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
                    stream.conn.send_close_notify();
                    let _ = stream.flush();
                }
            }
            sender.send(bytes).unwrap();
        }
    });
    (port, received)
}

#[tokio::test]
async fn r42_untrusted_certificate_is_refused_before_the_key_is_sent() {
    let (port, received) = serve(None);
    let settings =
        Settings { key: Some(Secret::new("sk-secret")), ..Settings::new(&format!("https://127.0.0.1:{port}/v1")) };
    let out = format_reply(&collect(&OpenAi::new(settings)).await);
    assert!(out.starts_with(&format!("!Cannot trust https://127.0.0.1:{port}: ")), "the request was retried: {out}");
    assert_eq!(received.recv().unwrap(), b"");
    assert!(received.try_recv().is_err(), "there was a second connection");
}

/// Returns the settings for a provider on this port whose certificate the user trusts.
fn trusting(port: u16) -> Settings {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/suite/wire/data/untrusted.pem");
    Settings {
        key: Some(Secret::new("sk-secret")),
        connection: ConnectionOptions { ca_file: Some(file), ..ConnectionOptions::default() },
        ..Settings::new(&format!("https://127.0.0.1:{port}/v1"))
    }
}

#[tokio::test]
async fn certificate_of_the_user_is_trusted_in_addition_to_the_systems() {
    let event = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let (port, received) = serve(Some(format!("{head}{event}")));
    assert_eq!(format_reply(&collect(&OpenAi::new(trusting(port))).await), "hello.");
    assert!(String::from_utf8_lossy(&received.recv().unwrap()).contains("sk-secret"));
}

#[tokio::test]
async fn r42_a_redirect_out_of_encryption_is_not_followed() {
    let other_service = Service::start_strict([Answer::stream().text("stolen").done()]).await;
    let (port, _received) = serve(Some(format!(
        "HTTP/1.1 308 Permanent Redirect\r\nlocation: {}/chat/completions\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        other_service.base_url
    )));
    let out = format_reply(&collect(&OpenAi::new(trusting(port))).await);
    assert!(out.contains("not followed") && !out.contains("sk-secret"), "{out}");
    assert!(other_service.received().is_empty(), "the redirect was followed without encryption");
}
