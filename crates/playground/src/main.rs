//! `cnsim-playground KEY=VALUE...`: one run of the playground's scenario as JSON on standard output. Exit codes: 0 done, 2 bad
//! input, told on standard error.

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let told = cnsim_playground::answer(&words)
        .and_then(|answer| writeln!(std::io::stdout(), "{answer}").map_err(|e| e.to_string()));
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
