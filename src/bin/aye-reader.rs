//! Entry point of the program that reads documents, pictures and the clipboard for aye.

use std::process::ExitCode;

fn main() -> ExitCode {
    aye::documents::reader::run_reader()
}
