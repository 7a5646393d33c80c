//! What the program says. These macros take the place of those of the standard library, which end in a panic where a stream takes
//! nothing more: a full disk behind standard output ends the program with words and exit code 2; what cannot be said on standard
//! error is not said.

use std::fmt::Arguments;
use std::io::{self, Write};

macro_rules! print {
    ($($text:tt)*) => { $crate::say::out(format_args!($($text)*)) };
}
macro_rules! println {
    () => { $crate::say::out(format_args!("\n")) };
    ($($text:tt)*) => { $crate::say::out(format_args!("{}\n", format_args!($($text)*))) };
}
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::say::err(format_args!("{}\n", format_args!($($text)*))) };
}

/// To standard output.
pub(crate) fn out(text: Arguments<'_>) {
    let mut out = io::stdout().lock();
    if let Err(e) = out.write_fmt(text).and_then(|()| out.flush()) {
        err(format_args!(
            "error: standard output: {e}\n  help: make room there; files under --out are not touched by this\n"
        ));
        std::process::exit(2);
    }
}

/// To standard error.
pub(crate) fn err(text: Arguments<'_>) {
    let _ = io::stderr().lock().write_fmt(text);
}
