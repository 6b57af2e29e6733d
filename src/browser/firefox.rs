//! Firefox: driven over WebDriver BiDi, in a network of its own.
//!
//! Firefox speaks on a port only, to whoever connects first. So it runs in a network namespace that has nothing but a loopback
//! interface: no other user can connect to the port, and Firefox reaches nothing but the proxy. [`launcher`] passes the two
//! sockets that aye needs, which belong to that network, over a socket of its own.

mod driver;
mod elements;
mod events;
mod frames;
mod history;
mod keys;
pub mod launcher;
pub mod page;
mod places;
pub mod process;
pub mod profile;
mod websocket;
