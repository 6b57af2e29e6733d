//! The process of Firefox, and the sockets in its network.

use super::launcher::ARGUMENT;
use crate::browser::executable::BrowserProgram;
use crate::project::stdio_program::{ProgramFolder, StdioProgram};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::net::{TcpListener, TcpStream, UnixStream};

/// Starts Firefox with a new profile. Returns the program, and the socket at which its launcher sends the sockets of its network.
/// Requires a tokio runtime.
///
/// # Errors
/// Part of a sentence.
pub fn start_firefox(program: &BrowserProgram) -> Result<(StdioProgram, UnixStream), String> {
    let paths = [&program.aye_path, &program.path].map(|path| path.to_string_lossy().into_owned());
    let [aye, firefox] = paths;
    let parent = std::path::absolute(std::env::temp_dir()).map_err(|error| error.to_string())?;
    let command_line = [aye, ARGUMENT.to_owned(), firefox];
    let folder = ProgramFolder::PrivateIn(&parent);
    StdioProgram::start(&program.aye_path, &command_line, folder, &program.environment)
        .map_err(|error| error.to_string())
}

/// Receives the socket that listens for the proxy's clients, and the one that is connected to Firefox. Fails if Firefox ends.
pub async fn receive_sockets(launcher: &UnixStream) -> io::Result<(TcpListener, TcpStream)> {
    let sockets = launcher.async_io(Interest::READABLE, || receive_files(launcher)).await?;
    let [listener, connection] = <[OwnedFd; 2]>::try_from(sockets).map_err(|_| io::ErrorKind::UnexpectedEof)?;
    let (listener, connection) = (std::net::TcpListener::from(listener), std::net::TcpStream::from(connection));
    listener.set_nonblocking(true)?;
    connection.set_nonblocking(true)?;
    Ok((TcpListener::from_std(listener)?, TcpStream::from_std(connection)?))
}

fn receive_files(socket: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    Ok(files.flatten().collect())
}
