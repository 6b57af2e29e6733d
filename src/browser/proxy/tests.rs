//! Tests of the proxy over real sockets.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A server that counts its connections, and keeps what each has sent until its client stops or closes.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    received: Arc<Mutex<Vec<String>>>,
}

/// Starts a server that answers each connection with these bytes once it has received `length` bytes after the head.
async fn start_server(response: &'static [u8], length: usize) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (connections, received) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<String>>>::default());
    let (count, texts) = (connections.clone(), received.clone());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let texts = texts.clone();
            tokio::spawn(async move {
                let Ok((head, mut rest)) = read_head(&mut stream).await else { return };
                while rest.len() < length && stream.read_buf(&mut rest).await.unwrap() > 0 {}
                stream.write_all(response).await.unwrap();
                // It keeps the connection, unlike what the request says.
                while let Ok(1..) = stream.read_buf(&mut rest).await {}
                texts.lock().unwrap().push(String::from_utf8_lossy(&[head, rest].concat()).into_owned());
            });
        }
    });
    Server { address, connections, received }
}

async fn start_proxy(hosts: &[String]) -> Proxy {
    start_with(hosts, IDLE_TIME, STALL_TIME).await
}

async fn start_with(hosts: &[String], idle_time: Duration, stall_time: Duration) -> Proxy {
    let direct = Matcher::builder().build();
    Proxy::start_with(PrivateHosts(hosts.to_vec()), direct, idle_time, stall_time).await.unwrap()
}

/// Starts a proxy that reaches others through a proxy at this address.
async fn start_proxied(address: SocketAddr) -> Proxy {
    let upstream = Matcher::builder().all(format!("http://me:secret@{address}")).no("8.8.4.4").build();
    Proxy::start_with(PrivateHosts::default(), upstream, IDLE_TIME, STALL_TIME).await.unwrap()
}

/// Sends bytes to the proxy and returns everything it answers.
async fn exchange(proxy: &Proxy, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    // The proxy may close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.expect("the proxy closes");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_second_request_on_a_connection_reaches_no_server() {
    let server = start_server(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
        3,
    )
    .await;
    let proxy = start_proxy(&[server.address.to_string()]).await;
    let second = "GET http://other.example/secret HTTP/1.1\r\nCookie: x\r\n\r\n";
    let request =
        format!("POST http://{}/a?b HTTP/1.1\r\nContent-Length: 3\r\nHost: evil\r\n\r\nabc{second}", server.address);
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"hi") {
        assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "{}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(
        String::from_utf8_lossy(&answer),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        "the connection is not kept, whatever the server says"
    );
    drop(stream);
    let expected =
        format!("POST /a?b HTTP/1.1\r\nHost: {}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc", server.address);
    while server.received.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(*server.received.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn a_tunnel_passes_bytes_both_ways() {
    let server = start_server(b"\x01answer", 0).await;
    let proxy = start_proxy(&[server.address.to_string()]).await;
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    let connect = format!("CONNECT {} HTTP/1.1\r\nHost: x\r\n\r\n", server.address);
    stream.write_all(connect.as_bytes()).await.unwrap();
    let (head, _) = read_head(&mut stream).await.unwrap();
    assert!(head.starts_with(b"HTTP/1.1 200 "));
    stream.write_all(b"question\r\n\r\n").await.unwrap();
    let mut answer = vec![0; 7];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"\x01answer");
}

/// Every form of an address of this machine and of private networks, as a request and as a tunnel.
#[tokio::test]
async fn no_special_address_is_reached() {
    let canary = start_server(b"HTTP/1.1 200 OK\r\n\r\n", 0).await;
    let port = canary.address.port();
    let proxy = start_proxy(&["127.0.0.1:1".to_owned()]).await;
    let hosts = [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "2130706433",
        "0x7f000001",
        "017700000001",
        "0x7f.1",
        "127.1",
        "0",
        "0.0.0.0",
        "127.0.0.1.",
        "127%2e0%2e0%2e1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "[::127.0.0.1]",
        "127.255.255.254",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.1.1",
        "[fe80::1]",
        "[fd00::1]",
    ];
    for host in hosts {
        for request in [
            format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: a.example\r\n\r\n"),
            format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        ] {
            let answer = exchange(&proxy, request.as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("Refused: "), "{request}{answer}");
        }
    }
    let failures = proxy.take_failures();
    assert!(failures.len() > 10 && failures.len() <= MAX_FAILURES, "{failures:?}");
    assert!(failures.iter().all(|failure| failure.is_refused), "{failures:?}");
    assert!(failures[0].reason.contains("web.private_hosts") && proxy.take_failures().is_empty());
    assert_eq!(canary.connections.load(Ordering::SeqCst), 0, "the canary was reached");
}

#[tokio::test]
async fn hostile_requests_and_responses_are_refused() {
    let server = start_server(b"SSH-2.0-OpenSSH\r\n\r\n", 0).await;
    let switching = start_server(b"HTTP/1.1 101 Switching Protocols\r\n\r\n", 0).await;
    let proxy = start_proxy(&[server.address.to_string(), switching.address.to_string()]).await;
    for (request, status) in [
        (format!("GET http://{}/ HTTP/1.1\r\n\r\n", server.address), "502"),
        (format!("GET http://{}/ HTTP/1.1\r\nUpgrade: h2c\r\n\r\n", switching.address), "502"),
        (format!("GET http://{}/ HTTP/1.1\nHost: x\r\n\r\n", server.address), "400"),
        (format!("GET http://u:p@{}/ HTTP/1.1\r\n\r\n", server.address), "403"),
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), "400"),
        ("\0\0\0\r\n\r\n".to_owned(), "400"),
    ] {
        let answer = exchange(&proxy, request.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}{answer}");
    }
    let endless = [b"GET http://a.example/ HTTP/1.1\r\n".as_slice(), &b"A: b\r\n".repeat(100_000)].concat();
    assert_eq!(exchange(&proxy, &endless).await, "", "an endless head is not read to its end");
}

#[tokio::test]
async fn dropping_the_proxy_ends_its_connections() {
    let server = start_server(b"x", 0).await;
    let proxy = start_proxy(&[server.address.to_string()]).await;
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    stream.write_all(format!("CONNECT {} HTTP/1.1\r\n\r\n", server.address).as_bytes()).await.unwrap();
    read_head(&mut stream).await.unwrap();
    drop(proxy);
    let mut rest = Vec::new();
    let end = timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
    assert!(end.is_ok(), "the tunnel stayed open");
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_no_refusal() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let proxy = start_proxy(&[closed.to_string()]).await;
    let answer = exchange(&proxy, format!("GET http://{closed}/ HTTP/1.1\r\n\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("Cannot reach 127.0.0.1: "), "{answer}");
    let failures = proxy.take_failures();
    assert!(matches!(&failures[..], [failure] if !failure.is_refused && failure.host == "127.0.0.1"), "{failures:?}");
}

/// Waits until no connection has a permit: one is for the next client.
async fn until_free(proxy: &Proxy) {
    let free = async {
        while proxy.context.permits.available_permits() < MAX_CONNECTIONS - 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), free).await.expect("a closed connection keeps its permit");
}

#[tokio::test]
async fn requests_that_the_client_gives_up_leave_room_for_others() {
    let silent = start_server(b"", usize::MAX).await;
    let server = start_server(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 0).await;
    let proxy = start_proxy(&[silent.address.to_string(), server.address.to_string()]).await;
    let request = format!("GET http://{}/ HTTP/1.1\r\n\r\n", silent.address);
    for number in 1..=MAX_CONNECTIONS {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        while silent.connections.load(Ordering::SeqCst) < number {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    stream.write_all(format!("GET http://{}/ HTTP/1.1\r\n\r\n", server.address).as_bytes()).await.unwrap();
    let read = timeout(Duration::from_secs(20), read_head(&mut stream)).await.expect("the proxy answers");
    assert!(read.unwrap().0.starts_with(b"HTTP/1.1 200 "));
    drop(stream);
    until_free(&proxy).await;
}

/// Starts a server that accepts connections and reads nothing.
async fn start_deaf_server() -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        let mut streams = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            streams.push(stream);
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    Server { address, connections, received: Arc::default() }
}

#[tokio::test]
async fn a_client_that_closes_is_noticed_whatever_it_has_sent() {
    let server = start_deaf_server().await;
    let address = server.address;
    let proxy = start_proxy(&[address.to_string()]).await;
    let requests = [
        (format!("CONNECT {address} HTTP/1.1\r\n\r\n"), 0),
        (format!("CONNECT {address} HTTP/1.1\r\n\r\n"), 100_000),
        (format!("POST http://{address}/ HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n"), 100_000),
        (format!("POST http://{address}/ HTTP/1.1\r\nContent-Length: 1\r\n\r\n"), 10_000),
        (format!("GET http://{address}/ HTTP/1.1\r\n\r\n"), 10_000),
    ];
    for (number, (head, sent)) in requests.into_iter().enumerate() {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'x'; sent]).await.unwrap();
        while server.connections.load(Ordering::SeqCst) <= number {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(stream);
        until_free(&proxy).await;
    }
}

#[tokio::test]
async fn a_server_that_accepts_no_bytes_keeps_no_connection() {
    let address = start_deaf_server().await.address;
    let proxy = start_with(&[address.to_string()], IDLE_TIME, Duration::from_millis(500)).await;
    for head in [
        format!("CONNECT {address} HTTP/1.1\r\n\r\n"),
        format!("POST http://{address}/ HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n"),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let block = vec![b'x'; 1 << 20];
        // Until every buffer on the way is full, and the proxy gives up.
        let filled = async { while stream.write_all(&block).await.is_ok() {} };
        timeout(Duration::from_secs(20), filled).await.expect("the proxy closes");
        until_free(&proxy).await;
    }
}

#[tokio::test]
async fn a_tunnel_in_which_only_the_server_sends_is_not_idle() {
    const COUNT: usize = 20;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..COUNT {
            tokio::time::sleep(Duration::from_millis(150)).await;
            stream.write_all(b"x").await.unwrap();
        }
        // It stays open, and sends nothing more.
        let _ = stream.read(&mut [0]).await;
    });
    let proxy = start_with(&[address.to_string()], Duration::from_secs(2), STALL_TIME).await;
    let received = exchange(&proxy, format!("CONNECT {address} HTTP/1.1\r\n\r\n").as_bytes()).await;
    assert_eq!(received.matches('x').count(), COUNT, "{received}");
}

/// `me:secret` as the header has it.
const AUTHORIZATION: &str = "Proxy-Authorization: Basic bWU6c2VjcmV0\r\n";

#[tokio::test]
async fn requests_go_through_the_proxy_of_the_environment() {
    let upstream = start_server(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 0).await;
    let proxy = start_proxied(upstream.address).await;
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    let request = b"GET http://a.example/x?y HTTP/1.1\r\nProxy-Authorization: Basic eA==\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"hi") {
        assert!(stream.read_buf(&mut answer).await.unwrap() > 0, "{}", String::from_utf8_lossy(&answer));
    }
    drop(stream);
    // A tunnel, in which the server speaks first.
    let mut stream = TcpStream::connect(("127.0.0.1", proxy.port)).await.unwrap();
    stream.write_all(b"CONNECT a.example:443 HTTP/1.1\r\n\r\nfirst").await.unwrap();
    let (head, mut rest) = read_head(&mut stream).await.unwrap();
    assert!(head.starts_with(b"HTTP/1.1 200 "));
    while !rest.ends_with(b"hi") {
        assert!(stream.read_buf(&mut rest).await.unwrap() > 0, "{}", String::from_utf8_lossy(&rest));
    }
    drop(stream);
    while upstream.received.lock().unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let request =
        format!("GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\n{AUTHORIZATION}Connection: close\r\n\r\n");
    let tunnel = format!("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n{AUTHORIZATION}\r\nfirst");
    let mut received = upstream.received.lock().unwrap().clone();
    received.sort_by_key(|text| text.starts_with("CONNECT"));
    assert_eq!(received, [request, tunnel]);
}

#[tokio::test]
async fn no_proxy_is_asked_for_an_address_of_a_private_network() {
    let upstream = start_server(b"HTTP/1.1 200 OK\r\n\r\n", 0).await;
    let proxy = start_proxied(upstream.address).await;
    for host in ["127.0.0.1", "10.0.0.1", "[::1]", "2130706433", "localhost", "wiki", "metadata.google.internal"] {
        for request in [
            format!("GET http://{host}/ HTTP/1.1\r\n\r\n"),
            format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n"),
            format!("GET http://{}/ HTTP/1.1\r\n\r\n", upstream.address),
        ] {
            let answer = exchange(&proxy, request.as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("Refused: "), "{request}{answer}");
        }
    }
    assert_eq!(upstream.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_proxy_that_refuses_is_reported_without_its_password() {
    let unauthorized =
        start_server(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n", 0).await;
    let forbidden = start_server(b"HTTP/1.1 403 Forbidden\r\n\r\n", 0).await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (get, connect) = ("GET http://a.example/ HTTP/1.1\r\n\r\n", "CONNECT a.example:443 HTTP/1.1\r\n\r\n");
    for (address, request, part) in [
        (unauthorized.address, get, "requires a valid user name and password"),
        (unauthorized.address, connect, "requires a valid user name and password"),
        (forbidden.address, connect, "its proxy answered 403"),
        (closed, get, "its proxy cannot be reached: "),
        (closed, connect, "its proxy cannot be reached: "),
    ] {
        let proxy = start_proxied(address).await;
        let answer = exchange(&proxy, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains(part), "{request}{answer}");
        let failures = proxy.take_failures();
        let is_told = |failure: &FailedRequest| failure.reason.contains(part) && !failure.is_refused;
        assert!(matches!(&failures[..], [failure] if is_told(failure)), "{request}{failures:?}");
        assert!(!answer.contains("secret") && !answer.contains("Proxy-Authenticate"), "{answer}");
    }
}
