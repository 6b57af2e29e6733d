//! A proxy between the program and a server, which shows whether the program closes its connection.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts the proxy. Returns its base URL, and a flag that is set once the program has closed a connection.
pub fn start_proxy(base: &str) -> (String, Arc<AtomicBool>) {
    let server = base.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let is_closed = Arc::new(AtomicBool::new(false));
    let flag = is_closed.clone();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, Ok(mut server_side)) = (client.unwrap(), TcpStream::connect(&server)) else { return };
            let (mut from_server, mut to_client) = (server_side.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from_server, &mut to_client));
            let mut buffer = [0; 65536];
            while let Ok(count) = client.read(&mut buffer) {
                if count == 0 {
                    flag.store(true, Ordering::SeqCst);
                    let _ = server_side.shutdown(std::net::Shutdown::Both);
                    break;
                }
                server_side.write_all(&buffer[..count]).unwrap();
            }
        }
    });
    (address, is_closed)
}
