//! Client of MCP servers: connections, and the definitions of tools that the user has accepted. `serving` has the other side
//! of the protocol, for `aye serve --mcp`.
//!
//! A server is connected when one of its tools is called, or to learn its tools if none are known. Before every call
//! the definition that the server gives now is compared with the accepted one: a tool whose definition changed is
//! neither offered nor called until the user accepts the difference.

mod calls_in_progress;
pub mod catalogue;
pub mod client_handler;
pub mod connection;
pub mod definition;
pub mod form_prompts;
mod http_transport;
mod login_advice;
pub mod result_text;
pub mod sampling_prompts;
mod server;
pub mod server_config;
pub mod server_pool;
pub mod serving;
pub mod unlisted_server;
