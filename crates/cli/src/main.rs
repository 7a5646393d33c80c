//! The `cnsim` program.
fn main() -> std::process::ExitCode {
    cnsim_cli::main()
}
