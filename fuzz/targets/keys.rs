//! The fuzz target of `checks::keys`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::keys::check(bytes));
