//! A service behind TLS with a certificate of any kind, and the requests it received.

use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A certificate authority.
pub struct Authority {
    /// Its certificate in PEM, as in a file of trusted authorities.
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// Creates an authority that no system trusts.
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// Issues a certificate for this host, valid until 1 January of `last_year`.
    pub fn issue_certificate(&self, host: &str, last_year: i32) -> ServerCertificate {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.not_after = date_time_ymd(last_year, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        ServerCertificate { chain: vec![certificate.der().clone()], key: key.serialize_der() }
    }
}

/// A certificate and its key, as a server uses them.
pub struct ServerCertificate {
    chain: Vec<CertificateDer<'static>>,
    key: Vec<u8>,
}

impl ServerCertificate {
    /// A self-signed certificate of an authority, as `openssl req -x509` creates it with a `subjectAltName`, for this
    /// host and valid until 1 January of `last_year`; and the certificate in PEM.
    pub fn self_signed_authority(host: &str, last_year: i32) -> (Self, String) {
        let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        params.not_after = date_time_ymd(last_year, 1, 1);
        Self::sign_authority(params)
    }

    /// The same with the host only in the subject, as plain `openssl req -x509` creates it.
    pub fn self_signed_common_name(host: &str, last_year: i32) -> (Self, String) {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Internet Widgits Pty Ltd");
        params.distinguished_name.push(DnType::CommonName, host);
        params.not_after = date_time_ymd(last_year, 1, 1);
        Self::sign_authority(params)
    }

    fn sign_authority(mut params: CertificateParams) -> (Self, String) {
        let key = KeyPair::generate().unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        (Self { chain: vec![certificate.der().clone()], key: key.serialize_der() }, certificate.pem())
    }

    /// A self-signed certificate.
    pub fn self_signed(host: &str) -> Self {
        let certificate = rcgen::generate_simple_self_signed(vec![host.to_owned()]).unwrap();
        Self { chain: vec![certificate.cert.der().clone()], key: certificate.signing_key.serialize_der() }
    }
}

/// A service behind TLS.
pub struct TlsService {
    /// Its port on the loopback interface.
    pub port: u16,
    /// The request of each connection, decrypted.
    pub requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl TlsService {
    /// Starts the service.
    pub fn start(certificate: ServerCertificate, answer: Vec<u8>) -> Self {
        Self::start_with(certificate, move |_| answer.clone())
    }

    /// Starts a service that computes the answer to each request.
    pub fn start_with(
        certificate: ServerCertificate,
        answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificate.chain, PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certificate.key)))
            .unwrap();
        let config = Arc::new(config);
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = requests.clone();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        let port = serve_connections(move |socket| {
            count.fetch_add(1, Ordering::SeqCst);
            let connection = rustls::ServerConnection::new(config.clone()).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, socket);
            let received = read_request(&mut stream);
            log.lock().unwrap().push(received.clone());
            if !received.is_empty() {
                let _ = stream.write_all(&answer(&received));
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        });
        Self { port, requests, connections }
    }

    /// The number of connections, including failed ones.
    pub fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Serves each connection to a free port of the loopback interface; returns the port.
pub fn serve_connections(serve: impl Fn(std::net::TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let serve = serve.clone();
            std::thread::spawn(move || serve(socket.unwrap()));
        }
    });
    port
}

/// Reads one request with head and body, or the part received before the client disconnected.
pub fn read_request(stream: &mut impl Read) -> String {
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&received).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(count) => received.extend_from_slice(&buffer[..count]),
        }
    }
}

/// A complete answer with a reply, as bytes.
pub fn stream_reply(text: &str) -> Vec<u8> {
    let delta = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let end = serde_json::json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n").into_bytes()
}
