//! The `cnsim` program.
fn main() {}
