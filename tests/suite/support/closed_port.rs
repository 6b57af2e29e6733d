//! A port on which nothing listens.

use std::net::SocketAddr;
use tokio::net::TcpSocket;

/// Reserves such a port. While the socket lives, no other process can listen on it.
pub fn reserve_closed_port() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}
