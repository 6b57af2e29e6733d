//! The fuzz target of `checks::cleaner`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::cleaner::check(bytes));
