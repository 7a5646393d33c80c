//! The program `cnsim` with one scheme more: `cargo run --profile try -p my-scheme -- run B07/single-hop --scheme my-timely`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut registry = cnsim_schemes::registry();
    if let Err(error) = registry.register(my_scheme::registration()) {
        eprintln!("error: {error}");
        return ExitCode::from(2);
    }
    cnsim_cli::main_with(registry)
}
