//! The fuzz target of `checks::settings`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::settings::check(bytes));
