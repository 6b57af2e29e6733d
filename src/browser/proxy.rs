//! The HTTP proxy of the browser, on the loopback interface. It reaches the same addresses as the requests of tools: names
//! are resolved once and checked, and the connection goes to an address that was checked, or through the proxy that the
//! environment names, which resolves names itself.

pub mod upstream;

use self::upstream::{UNAUTHORIZED, UpstreamProxy, is_private_name, refuse_private_name};
use super::message_head::{RequestHead, find_head_end, rewrite_response};
use crate::web::guarded_resolver::{ResolveError, resolve_target};
use crate::web::target::{PrivateHosts, check_target, host_of};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest};
use tokio::net::tcp::ReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// Maximum bytes of a head.
const MAX_HEAD_BYTES: usize = 256 << 10;
/// Maximum number of connections; more of them wait.
const MAX_CONNECTIONS: usize = 256;
/// Time limits of a head, of a connection, and of a pause in which nothing is passed on in either direction.
const HEAD_TIME: Duration = Duration::from_secs(10);
const CONNECT_TIME: Duration = Duration::from_secs(10);
const IDLE_TIME: Duration = Duration::from_secs(600);
/// Time for which a server may accept no bytes. The end of a client that waits behind its unsent bytes cannot be noticed.
const STALL_TIME: Duration = Duration::from_secs(60);
/// Time between two looks for the end of a client that has sent bytes which are not read yet.
const CLOSE_INTERVAL: Duration = Duration::from_millis(100);
/// Bytes that are passed on at once.
const BUFFER_BYTES: usize = 16 << 10;
/// Maximum number of remembered failures.
const MAX_FAILURES: usize = 50;

/// A running proxy. Dropping it ends all connections.
pub struct Proxy {
    pub port: u16,
    context: Arc<Context>,
    task: JoinHandle<()>,
}

/// A connection for a request.
pub struct Connected {
    server: TcpStream,
    /// What is sent before the body; empty for a tunnel.
    head: Vec<u8>,
    /// What the server has sent already.
    received: Vec<u8>,
    /// True if it is with a proxy, whose response may be its own.
    is_proxied: bool,
}

/// A request that did not reach its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// Host as in [`crate::web::target::Target`].
    pub host: String,
    pub port: Option<u16>,
    /// One sentence for the model.
    pub reason: String,
    /// True if the request was not made at all, false if its server cannot be reached.
    pub is_refused: bool,
}

struct Context {
    private_hosts: PrivateHosts,
    /// The proxies that the environment names.
    upstream: Matcher,
    failures: Mutex<Vec<FailedRequest>>,
    permits: Arc<Semaphore>,
    idle_time: Duration,
    stall_time: Duration,
}

impl Proxy {
    /// Starts the proxy on a free port. Requires a tokio runtime with I/O and time.
    pub async fn start(private_hosts: PrivateHosts) -> io::Result<Self> {
        Self::start_with(private_hosts, Matcher::from_system(), IDLE_TIME, STALL_TIME).await
    }

    async fn start_with(
        private_hosts: PrivateHosts,
        upstream: Matcher,
        idle_time: Duration,
        stall_time: Duration,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Self::serve(listener, private_hosts, upstream, idle_time, stall_time)
    }

    /// Starts the proxy on a socket that listens already, such as one of another network.
    pub fn start_on(listener: TcpListener, private_hosts: PrivateHosts) -> io::Result<Self> {
        Self::serve(listener, private_hosts, Matcher::from_system(), IDLE_TIME, STALL_TIME)
    }

    fn serve(
        listener: TcpListener,
        private_hosts: PrivateHosts,
        upstream: Matcher,
        idle_time: Duration,
        stall_time: Duration,
    ) -> io::Result<Self> {
        let port = listener.local_addr()?.port();
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let failures = Mutex::default();
        let context = Arc::new(Context { private_hosts, upstream, failures, permits, idle_time, stall_time });
        let task = tokio::spawn(accept_connections(listener, context.clone()));
        Ok(Self { port, context, task })
    }

    /// Returns the failed requests since the last call, without repetitions.
    pub fn take_failures(&self) -> Vec<FailedRequest> {
        std::mem::take(&mut *self.context.failures.lock().unwrap_or_else(PoisonError::into_inner))
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
    let connected = tokio::select! {
        connected = connect(&request, context) => connected,
        () = wait_for_close(&client) => return Ok(()),
    };
    let mut connected = match connected {
        Ok(connected) => connected,
        Err(failure) => {
            let (status, reason) =
                (if failure.is_refused { "403 Forbidden" } else { "502 Bad Gateway" }, failure.reason.clone());
            context.remember(failure);
            return answer(&mut client, status, &reason).await;
        }
    };
    let transfer = Transfer { activity: Notify::new(), context };
    let passed_on = async {
        match request.is_tunnel {
            true => pass_tunnel(&mut client, &mut connected, &rest, &transfer).await,
            false => pass_request(&mut client, &mut connected, &request, rest, &transfer).await,
        }
    };
    let idle = async { while timeout(context.idle_time, transfer.activity.notified()).await.is_ok() {} };
    tokio::select! {
        passed_on = passed_on => passed_on,
        () = idle => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// A transfer between a client and its server.
struct Transfer<'a> {
    /// Notified when bytes were passed on.
    activity: Notify,
    context: &'a Context,
}

/// Passes bytes on in both directions until the client closes.
async fn pass_tunnel(
    client: &mut TcpStream,
    connected: &mut Connected,
    rest: &[u8],
    transfer: &Transfer<'_>,
) -> io::Result<()> {
    let Connected { server, received, .. } = connected;
    let ((mut client_end, mut to_client), (mut server_end, mut to_server)) = (client.split(), server.split());
    to_client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    to_client.write_all(received).await?;
    write_for_client(client_end.as_ref(), &mut to_server, rest, transfer).await?;
    let sent = send_body(&mut client_end, &mut to_server, u64::MAX, transfer);
    let received = copy(&mut server_end, &mut to_client, transfer);
    tokio::try_join!(sent, received).map(drop)
}

/// Sends a request and passes its response on. Ends when the client closes: the browser does so once it has the whole response,
/// or if it no longer wants it.
async fn pass_request(
    client: &mut TcpStream,
    connected: &mut Connected,
    request: &RequestHead,
    mut rest: Vec<u8>,
    transfer: &Transfer<'_>,
) -> io::Result<()> {
    let Connected { server, head, is_proxied, .. } = connected;
    let (mut client_end, mut to_client) = client.split();
    rest.truncate(usize::try_from(request.body_length).unwrap_or(usize::MAX));
    let start = [head.as_slice(), &rest].concat();
    write_for_client(client_end.as_ref(), server, &start, transfer).await?;
    send_body(&mut client_end, server, request.body_length - rest.len() as u64, transfer).await?;
    let received = async {
        match read_response(server).await {
            Ok((407, ..)) if *is_proxied => {
                let (host, port) = (host_of(&request.url).to_owned(), request.url.port_or_known_default());
                let reason = explain_unreachable(&request.url, UNAUTHORIZED);
                transfer.context.remember(FailedRequest { host, port, reason: reason.clone(), is_refused: false });
                answer(&mut to_client, "502 Bad Gateway", &reason).await
            }
            Ok((_, head, body)) => {
                to_client.write_all(&head).await?;
                to_client.write_all(&body).await?;
                copy(server, &mut to_client, transfer).await
            }
            Err(problem) => answer(&mut to_client, "502 Bad Gateway", &format!("The response has {problem}.")).await,
        }
    };
    tokio::select! {
        received = received => received,
        () = wait_for_close(client_end.as_ref()) => Ok(()),
    }
}

/// Connects to an address of the server that was checked, or through a proxy.
async fn connect(request: &RequestHead, context: &Context) -> Result<Connected, FailedRequest> {
    let (host, port) = (host_of(&request.url).to_owned(), request.url.port_or_known_default());
    let fail = |is_refused, reason| FailedRequest { host: host.clone(), port, reason, is_refused };
    let target = check_target(request.url.clone(), &context.private_hosts).map_err(|reason| fail(true, reason))?;
    match UpstreamProxy::find(&context.upstream, &target) {
        Ok(Some(proxy)) => {
            if is_private_name(&host) {
                return Err(fail(true, refuse_private_name(&host)));
            }
            let connected = timeout(CONNECT_TIME, proxy.connect(request)).await;
            let connected = connected.unwrap_or_else(|_| Err("its proxy does not answer".to_owned()));
            return connected.map_err(|reason| fail(false, explain_unreachable(&request.url, &reason)));
        }
        Ok(None) => {}
        Err(reason) => return Err(fail(true, explain_unreachable(&request.url, reason))),
    }
    let resolved = timeout(CONNECT_TIME, resolve_target(&target)).await;
    let resolved = resolved.map_err(|_| fail(false, format!("Cannot find {host}: no answer.")))?;
    let addresses = resolved.map_err(|error| fail(matches!(error, ResolveError::Refused(_)), error.to_string()))?;
    let mut problem = "it has no address".to_owned();
    for address in addresses {
        match connect_to(address).await {
            Ok(server) => {
                let head = request.to_origin_form();
                return Ok(Connected { server, head, received: Vec::new(), is_proxied: false });
            }
            Err(error) => problem = error.to_string(),
        }
    }
    Err(fail(false, explain_unreachable(&request.url, &problem)))
}

fn explain_unreachable(url: &Url, reason: &str) -> String {
    format!("Cannot reach {}: {reason}.", host_of(url))
}

async fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    let connected = timeout(CONNECT_TIME, TcpStream::connect(address)).await;
    connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

impl Context {
    fn remember(&self, failure: FailedRequest) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < MAX_FAILURES && !failures.contains(&failure) {
            failures.push(failure);
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

/// Reads the status and the head of the final response, rewritten, and what was read of its body.
async fn read_response(server: &mut TcpStream) -> Result<(u16, Vec<u8>, Vec<u8>), &'static str> {
    let mut unread: Vec<u8> = Vec::new();
    loop {
        let mut stream = AsyncReadExt::chain(unread.as_slice(), &mut *server);
        let (head, rest) = read_head(&mut stream).await.map_err(|_| "no head")?;
        match rewrite_response(&head)? {
            (101, _) => return Err("another protocol, which was not requested"),
            // The proxy itself has sent the whole request.
            (100..200, _) => unread = rest,
            (status, rewritten) => return Ok((status, rewritten, rest)),
        }
    }
}

/// Forwards exactly this many bytes of the client.
///
/// # Errors
/// Also if the client closes before.
async fn send_body(
    client: &mut ReadHalf<'_>,
    server: &mut (impl AsyncWrite + Unpin),
    mut length: u64,
    transfer: &Transfer<'_>,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    while length > 0 {
        let limit = usize::try_from(length).map_or(BUFFER_BYTES, |length| length.min(BUFFER_BYTES));
        let count = client.read(&mut buffer[..limit]).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        transfer.activity.notify_one();
        write_for_client(client.as_ref(), server, &buffer[..count], transfer).await?;
        length -= count as u64;
    }
    Ok(())
}

/// Writes to the server, but no longer than the client is there.
async fn write_for_client(
    client: &TcpStream,
    server: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
    transfer: &Transfer<'_>,
) -> io::Result<()> {
    tokio::select! {
        // What can be written at once is not lost.
        biased;
        written = server.write_all(bytes) => written,
        () = wait_for_close(client) => Err(io::ErrorKind::ConnectionAborted.into()),
        () = tokio::time::sleep(transfer.context.stall_time) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Waits until the client has closed the connection. Reads nothing.
async fn wait_for_close(client: &TcpStream) {
    while client.ready(Interest::READABLE).await.is_ok_and(|ready| !ready.is_read_closed()) {
        // It is ready because of unread bytes.
        tokio::time::sleep(CLOSE_INTERVAL).await;
    }
}

/// Copies until the end, and passes the end on.
async fn copy(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    transfer: &Transfer<'_>,
) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer).await? {
            0 => return to.shutdown().await,
            count => to.write_all(&buffer[..count]).await?,
        }
        transfer.activity.notify_one();
    }
}

async fn answer(client: &mut (impl AsyncWrite + Unpin), status: &str, text: &str) -> io::Result<()> {
    let length = text.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}");
    client.write_all(format!("{head}\r\nConnection: close\r\n\r\n{text}").as_bytes()).await?;
    client.shutdown().await
}

#[cfg(test)]
mod tests;
