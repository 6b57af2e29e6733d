//! The fuzz target of `checks::markdown`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::markdown::check(bytes));
