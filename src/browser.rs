//! The browser of a session: an installed Chromium without a window, driven by pipe, or on Linux a Firefox in a network of its
//! own. All its traffic goes through a proxy of this program, which reaches the same addresses as the other requests of tools.
//! On other systems than Linux, Firefox is not used.

mod actions;
mod chromium_driver;
mod driver;
mod element;
pub mod executable;
#[cfg(target_os = "linux")]
pub mod firefox;
mod frame;
mod frame_place;
mod hit_test;
mod keystroke;
pub mod known_page;
mod message_head;
mod page;
mod page_state;
pub mod page_watch;
mod pipe;
mod process;
mod proxy;
mod screenshot;
pub mod session;
pub mod snapshot;
pub mod step;
