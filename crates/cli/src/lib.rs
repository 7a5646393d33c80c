//! The `cnsim` program.
