//! The fuzz target of `checks::themes`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::themes::check(bytes));
