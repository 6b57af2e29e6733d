//! Requests to servers on the internet, other than model providers: which addresses may be reached, redirects, limits,
//! and pages as text.

pub mod client;
pub mod guarded_resolver;
pub mod oauth;
pub mod page_text;
pub mod request;
pub mod request_credentials;
pub mod special_addresses;
pub mod target;
pub mod tls_error;
