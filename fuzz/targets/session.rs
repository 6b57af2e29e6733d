//! The fuzz target of `checks::session`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::session::check(bytes));
