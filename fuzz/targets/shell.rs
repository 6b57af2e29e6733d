//! The fuzz target of `checks::shell`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::shell::check(bytes));
