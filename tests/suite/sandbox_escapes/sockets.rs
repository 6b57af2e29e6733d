//! Sockets of every kind, tried from inside the sandbox.

use super::{EscapeFixture, has_sandbox};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, socketpair};
use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

/// Runs in the sandbox, as a command of this suite: prints which sockets behaved unexpectedly.
#[test]
fn child_in_the_sandbox() {
    let Some(settings) = std::env::var_os("AYE_TEST_INSIDE") else { return };
    let settings = settings.into_string().unwrap();
    let (network, remaining) = settings.split_once(' ').unwrap();
    let (port, path) = remaining.split_once(' ').unwrap();
    let network = network == "on";
    let port: u16 = port.parse().unwrap();
    let mut failures = Vec::new();
    let mut check = |what: String, is_possible: bool, is_expected: bool| {
        if is_possible != is_expected {
            failures.push(what);
        }
    };
    for family in 0..48u16 {
        let kinds = [SocketType::STREAM, SocketType::DGRAM, SocketType::RAW, SocketType::SEQPACKET];
        for (kind, name) in kinds.into_iter().zip(["stream", "datagram", "raw", "packets"]) {
            let family = AddressFamily::from_raw(family);
            let made = socket_with(family, kind, SocketFlags::empty(), None).is_ok();
            let internet = family == AddressFamily::INET || family == AddressFamily::INET6;
            let netlink = family == AddressFamily::NETLINK;
            let plain = kind == SocketType::STREAM || kind == SocketType::DGRAM;
            // With network, these sockets may be possible. The checks below cover them.
            if !(network && ((internet && plain) || netlink)) {
                check(format!("a socket of {family:?}, {name}"), made, false);
            }
        }
    }
    for protocol in 1..25 {
        let protocol = rustix::net::Protocol::from_raw(std::num::NonZeroU32::new(protocol).unwrap());
        let made = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::empty(), Some(protocol));
        check(format!("netlink {protocol:?}"), made.is_ok(), false);
    }
    for (kind, is_expected) in [(SocketType::STREAM, true), (SocketType::SEQPACKET, true), (SocketType::DGRAM, false)] {
        let made = socketpair(AddressFamily::UNIX, kind, SocketFlags::empty(), None).is_ok();
        check(format!("a pair of {kind:?}"), made, is_expected);
    }
    check("TCP to a port".into(), TcpStream::connect(("127.0.0.1", port)).is_ok(), network);
    check("listening on a port".into(), TcpListener::bind("127.0.0.1:0").is_ok(), network);
    let sent = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", ("127.0.0.1", port)));
    check("a datagram".into(), sent.is_ok(), network);
    check("a socket of another program".into(), UnixStream::connect(path).is_ok(), false);
    let abstract_socket = SocketAddr::from_abstract_name(path.as_bytes()).unwrap();
    check("an abstract socket of another program".into(), UnixStream::connect_addr(&abstract_socket).is_ok(), false);
    let threads: Vec<_> = (0..4).map(|n| std::thread::spawn(move || n)).collect();
    check("threads".into(), threads.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>() == 6, true);
    writeln!(std::io::stdout(), "inside: {failures:?}").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r21_sandbox_allows_internet_sockets_only_and_only_with_network() {
    if !has_sandbox() {
        return;
    }
    let fixture = EscapeFixture::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    // In a writable folder, so that nothing but the sandbox prevents the connection.
    let path = fixture.path("tmp/socket");
    let _named = UnixListener::bind(&path).unwrap();
    let abstract_socket = SocketAddr::from_abstract_name(path.to_str().unwrap().as_bytes()).unwrap();
    let _abstract = UnixListener::bind_addr(&abstract_socket).unwrap();
    let suite = std::env::current_exe().unwrap();
    for network in ["off", "on"] {
        let settings = format!("{network} {port} {}", path.display());
        let command = format!(
            "AYE_TEST_INSIDE='{settings}' '{}' --exact sandbox_escapes::sockets::child_in_the_sandbox --nocapture",
            suite.display()
        );
        let outcome = fixture.run(&command, network == "on").await;
        assert!(outcome.output.contains("inside: []"), "network {network}: {}", outcome.output);
    }
    assert!(UnixStream::connect(&path).is_ok(), "outside the sandbox the socket can be reached");
}
