//! The fuzz target of `checks::wire`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::wire::check(bytes));
