//! The fuzz target of `checks::references`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::references::check(bytes));
