//! Rules are read as they are written, and a wrong one is said with its line.
