//! Sockets of every kind, tried from within the walls.

use super::{Place, is_there};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, socketpair};
use std::io::Write;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

/// What is tried inside the walls, by this suite as a command of itself: each line says what went wrong.
#[test]
fn inside() {
    let Some(asked) = std::env::var_os("AYE_TEST_INSIDE") else { return };
    let asked = asked.into_string().unwrap();
    let (network, rest) = asked.split_once(' ').unwrap();
    let (port, path) = rest.split_once(' ').unwrap();
    let network = network == "on";
    let port: u16 = port.parse().unwrap();
    let mut wrong = Vec::new();
    let mut check = |what: String, is: bool, should: bool| {
        if is != should {
            wrong.push(what);
        }
    };
    for family in 0..48u16 {
        let kinds = [SocketType::STREAM, SocketType::DGRAM, SocketType::RAW, SocketType::SEQPACKET];
        for (kind, name) in kinds.into_iter().zip(["stream", "datagram", "raw", "packets"]) {
            let family = AddressFamily::from_raw(family);
            let made = socket_with(family, kind, SocketFlags::empty(), None).is_ok();
            let internet = family == AddressFamily::INET || family == AddressFamily::INET6;
            let asks = family == AddressFamily::NETLINK;
            let plain = kind == SocketType::STREAM || kind == SocketType::DGRAM;
            if !(network && ((internet && plain) || asks)) {
                check(format!("a socket of {family:?}, {name}"), made, false);
            }
        }
    }
    for protocol in 1..25 {
        let protocol = rustix::net::Protocol::from_raw(std::num::NonZeroU32::new(protocol).unwrap());
        let made = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::empty(), Some(protocol));
        check(format!("netlink {protocol:?}"), made.is_ok(), false);
    }
    for (kind, should) in [(SocketType::STREAM, true), (SocketType::SEQPACKET, true), (SocketType::DGRAM, false)] {
        let made = socketpair(AddressFamily::UNIX, kind, SocketFlags::empty(), None).is_ok();
        check(format!("a pair of {kind:?}"), made, should);
    }
    check("TCP to a port".into(), TcpStream::connect(("127.0.0.1", port)).is_ok(), network);
    check("a port of its own".into(), TcpListener::bind("127.0.0.1:0").is_ok(), network);
    let sent = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", ("127.0.0.1", port)));
    check("a datagram".into(), sent.is_ok(), network);
    check("a program's socket".into(), UnixStream::connect(path).is_ok(), false);
    let hidden = SocketAddr::from_abstract_name(path.as_bytes()).unwrap();
    check("a program's nameless socket".into(), UnixStream::connect_addr(&hidden).is_ok(), false);
    let threads: Vec<_> = (0..4).map(|n| std::thread::spawn(move || n)).collect();
    check("threads".into(), threads.into_iter().map(|thread| thread.join().unwrap()).sum::<i32>() == 6, true);
    writeln!(std::io::stdout(), "inside: {wrong:?}").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r21_no_socket_leads_out_and_with_the_network_on_only_the_internets() {
    if !is_there() {
        return;
    }
    let place = Place::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    // In a place that may be written, so that nothing but the socket itself is in the way.
    let path = place.at("tmp/socket");
    let _named = UnixListener::bind(&path).unwrap();
    let hidden = SocketAddr::from_abstract_name(path.to_str().unwrap().as_bytes()).unwrap();
    let _hidden = UnixListener::bind_addr(&hidden).unwrap();
    let suite = std::env::current_exe().unwrap();
    for network in ["off", "on"] {
        let asked = format!("{network} {port} {}", path.display());
        let command = format!(
            "AYE_TEST_INSIDE='{asked}' '{}' --exact sandbox_escapes::sockets::inside --nocapture",
            suite.display()
        );
        let ran = place.run(&command, network == "on").await;
        assert!(ran.output.contains("inside: []"), "network {network}: {}", ran.output);
    }
    assert!(UnixStream::connect(&path).is_ok(), "outside it is there");
}
