//! The HTTP proxy of the browser, on the loopback interface. It reaches the same addresses as the requests of tools: names
//! are resolved once and checked, and the connection goes to an address that was checked.

use super::message_head::{RequestHead, find_head_end, rewrite_response};
use crate::web::guarded_resolver::resolve_target;
use crate::web::target::{PrivateHosts, Target, check_target};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// Maximum bytes of a head.
const MAX_HEAD_BYTES: usize = 256 << 10;
/// Maximum number of connections; more of them wait.
const MAX_CONNECTIONS: usize = 256;
/// Time limits of a head, of a connection, and of a pause in a transfer.
const HEAD_TIME: Duration = Duration::from_secs(10);
const CONNECT_TIME: Duration = Duration::from_secs(10);
const IDLE_TIME: Duration = Duration::from_secs(600);
/// Maximum number of remembered refusals.
const MAX_REFUSALS: usize = 50;

/// A running proxy. Dropping it ends all connections.
pub struct Proxy {
    pub port: u16,
    context: Arc<Context>,
    task: JoinHandle<()>,
}

/// Beginning of the reason of a request that was not made at all.
pub const REFUSED: &str = "Refused: ";

/// A request that was refused, or whose server cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Host as in [`Target`].
    pub host: String,
    pub port: Option<u16>,
    /// One sentence for the model.
    pub reason: String,
}

struct Context {
    private_hosts: PrivateHosts,
    refusals: Mutex<Vec<Refusal>>,
    permits: Arc<Semaphore>,
}

impl Proxy {
    /// Starts the proxy on a free port. Requires a tokio runtime with I/O and time.
    pub async fn start(private_hosts: PrivateHosts) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let context = Arc::new(Context { private_hosts, refusals: Mutex::default(), permits });
        let task = tokio::spawn(accept_connections(listener, context.clone()));
        Ok(Self { port, context, task })
    }

    /// Returns the refusals since the last call, without repetitions.
    pub fn take_refusals(&self) -> Vec<Refusal> {
        std::mem::take(&mut *self.context.refusals.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept_connections(listener: TcpListener, context: Arc<Context>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let Ok(permit) = context.permits.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((client, _)) => {
                let context = context.clone();
                connections.spawn(async move {
                    let _ = serve_connection(client, &context).await;
                    drop(permit);
                });
            }
            // Such as too many open files: connections that end free some.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Serves one request. Further ones on the same connection are not read, since they may be for another host.
async fn serve_connection(mut client: TcpStream, context: &Context) -> io::Result<()> {
    let Ok(head) = timeout(HEAD_TIME, read_head(&mut client)).await else { return Ok(()) };
    let (head, rest) = head?;
    let request = match RequestHead::parse(&head) {
        Ok(request) => request,
        Err(problem) => return answer(&mut client, "400 Bad Request", &format!("The request has {problem}.")).await,
    };
    let mut server = match connect(&request, context).await {
        Ok(server) => server,
        Err(Unreachable::Refused(refusal)) => {
            let reason = refusal.reason.clone();
            context.remember(refusal);
            return answer(&mut client, "403 Forbidden", &reason).await;
        }
        Err(Unreachable::Failed(failure)) => {
            let reason = failure.reason.clone();
            context.remember(failure);
            return answer(&mut client, "502 Bad Gateway", &reason).await;
        }
    };
    if request.is_tunnel {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        server.write_all(&rest).await?;
        let ((mut client_end, mut to_client), (mut server_end, mut to_server)) = (client.split(), server.split());
        tokio::try_join!(copy(&mut client_end, &mut to_server), copy(&mut server_end, &mut to_client))?;
        return Ok(());
    }
    server.write_all(&request.to_origin_form()).await?;
    send_body(&mut client, &mut server, rest, request.body_length).await?;
    let (rewritten, body) = match read_response(&mut server).await {
        Ok(response) => response,
        Err(problem) => {
            return answer(&mut client, "502 Bad Gateway", &format!("The response has {problem}.")).await;
        }
    };
    client.write_all(&rewritten).await?;
    client.write_all(&body).await?;
    let (mut client_end, mut to_client) = client.split();
    // The browser closes the connection once it has the whole response, and sends nothing more on it.
    let mut byte = [0];
    tokio::select! {
        copied = copy(&mut server, &mut to_client) => copied,
        read = client_end.read(&mut byte) => read.map(drop),
    }
}

/// Why there is no connection to a server.
enum Unreachable {
    Refused(Refusal),
    Failed(Refusal),
}

/// Connects to an address of the server that was checked.
async fn connect(request: &RequestHead, context: &Context) -> Result<TcpStream, Unreachable> {
    let host = request.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches([']', '.']);
    let port = request.url.port_or_known_default();
    let refuse = |reason: String| Unreachable::Refused(Refusal { host: host.to_owned(), port, reason });
    let fail = |reason: String| Unreachable::Failed(Refusal { host: host.to_owned(), port, reason });
    let target: Target = check_target(request.url.clone(), &context.private_hosts).map_err(refuse)?;
    let addresses = match timeout(CONNECT_TIME, resolve_target(&target)).await {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(reason)) if reason.starts_with(REFUSED) => return Err(refuse(reason)),
        Ok(Err(reason)) => return Err(fail(reason)),
        Err(_) => return Err(fail(format!("Cannot find {}: no answer.", target.host))),
    };
    let mut problem = "it has no address".to_owned();
    for address in addresses {
        match connect_to(address).await {
            Ok(server) => return Ok(server),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(fail(format!("Cannot reach {}: {problem}.", target.host)))
}

async fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    let connected = timeout(CONNECT_TIME, TcpStream::connect(address)).await;
    connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

impl Context {
    fn remember(&self, refusal: Refusal) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() < MAX_REFUSALS && !refusals.contains(&refusal) {
            refusals.push(refusal);
        }
    }
}

/// Reads a head. Returns what was read after it too.
async fn read_head(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let mut head = Vec::new();
    loop {
        if let Some(end) = find_head_end(&head) {
            let rest = head.split_off(end);
            return Ok((head, rest));
        }
        if head.len() > MAX_HEAD_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Reads the head of the final response, rewritten, and what was read of its body.
async fn read_response(server: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>), &'static str> {
    let mut unread: Vec<u8> = Vec::new();
    loop {
        let mut stream = AsyncReadExt::chain(unread.as_slice(), &mut *server);
        let read = timeout(IDLE_TIME, read_head(&mut stream)).await;
        let (head, rest) = read.map_err(|_| "no end")?.map_err(|_| "no head")?;
        match rewrite_response(&head)? {
            (101, _) => return Err("another protocol, which was not requested"),
            // The proxy itself has sent the whole request.
            (100..200, _) => unread = rest,
            (_, rewritten) => return Ok((rewritten, rest)),
        }
    }
}

/// Forwards exactly the body of a request, whose beginning was read already.
async fn send_body(client: &mut TcpStream, server: &mut TcpStream, mut start: Vec<u8>, length: u64) -> io::Result<()> {
    start.truncate(usize::try_from(length).unwrap_or(usize::MAX));
    server.write_all(&start).await?;
    let mut body = client.take(length - start.len() as u64);
    copy_all(&mut body, server).await
}

/// Copies until the end, and passes the end on.
async fn copy(from: &mut (impl AsyncRead + Unpin), to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    copy_all(from, to).await?;
    to.shutdown().await
}

async fn copy_all(from: &mut (impl AsyncRead + Unpin), to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = timeout(IDLE_TIME, from.read(&mut buffer)).await;
        match read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))? {
            0 => return Ok(()),
            count => to.write_all(&buffer[..count]).await?,
        }
    }
}

async fn answer(client: &mut TcpStream, status: &str, text: &str) -> io::Result<()> {
    let length = text.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}");
    client.write_all(format!("{head}\r\nConnection: close\r\n\r\n{text}").as_bytes()).await?;
    client.shutdown().await
}

#[cfg(test)]
mod tests;
