//! A port at which nobody listens.

use std::net::SocketAddr;
use tokio::net::TcpSocket;

/// Such a port of this machine. It is taken while the socket lives, so that nobody comes to listen at it meanwhile.
pub fn closed_port() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}
