//! One module per part of the screen: its state, keys and rendering.

pub mod approval;
pub mod audit;
pub mod complete;
pub mod composer;
pub mod filter;
pub mod frame;
pub mod gist;
pub mod help;
pub mod hints;
pub mod laid;
pub mod line;
pub mod listening;
pub mod pace;
pub mod picker;
#[cfg(test)]
mod picture;
pub mod question;
pub mod rehearsal;
pub mod review;
pub mod scope;
pub mod status;
pub mod sure;
pub mod toast;
pub mod transcript;
pub mod trust;
pub mod waits;
