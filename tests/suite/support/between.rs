//! Somebody between the program and a server, to see who hangs up.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The address of one that hands everything on, and whether the program has hung up.
pub fn between(base: &str) -> (String, Arc<AtomicBool>) {
    let server = base.trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let hung_up = Arc::new(AtomicBool::new(false));
    let seen = hung_up.clone();
    std::thread::spawn(move || {
        for near in listener.incoming() {
            let (mut near, Ok(mut far)) = (near.unwrap(), TcpStream::connect(&server)) else { return };
            let (mut from_far, mut to_near) = (far.try_clone().unwrap(), near.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from_far, &mut to_near));
            let mut buffer = [0; 65536];
            while let Ok(count) = near.read(&mut buffer) {
                if count == 0 {
                    seen.store(true, Ordering::SeqCst);
                    let _ = far.shutdown(std::net::Shutdown::Both);
                    break;
                }
                far.write_all(&buffer[..count]).unwrap();
            }
        }
    });
    (address, hung_up)
}
