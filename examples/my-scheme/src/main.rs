//! The program `cnsim` with two schemes more: `cargo run --profile try -p my-scheme -- run B07/single-hop --scheme my-timely`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut registry = cnsim_schemes::registry();
    for registration in [my_scheme::registration(), my_scheme::bbr::registration()] {
        if let Err(error) = registry.register(registration) {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    }
    cnsim_cli::main_with(registry)
}
