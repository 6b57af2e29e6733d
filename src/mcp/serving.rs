//! Server side of the protocol, over lines of JSON: messages, handshake and questions. It runs no call.

pub mod bounded_lines;
pub mod handshake;
pub mod message;
pub mod question_form;
