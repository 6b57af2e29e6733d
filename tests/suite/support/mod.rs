//! What tests are built with.

pub mod between;
pub mod encrypted;
pub mod fixture;
pub mod hand;
pub mod kept;
pub mod program;
pub mod promise;
pub mod scene;
pub mod service;
pub mod talking;

/// How often something is tried: the small number while a person waits for the tests, the great one where
/// `AYE_TEST_THOROUGH` is set, as the check of a change does.
pub fn often(thorough: usize, quick: usize) -> usize {
    if std::env::var_os("AYE_TEST_THOROUGH").is_some() { thorough } else { quick }
}
