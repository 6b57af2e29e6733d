//! Protocols in which terminals draw pictures, and what terminals answer about them.

pub mod answers;
pub mod iterm;
pub mod kitty;
pub mod sixel;
