//! Quantities with units: [`Time`], [`Bytes`] and [`Rate`].
//!
//! One type per dimension, many constructors; adding bytes to time does not compile. Each type reads text
//! with a unit (`"500 us"`, `"26 KB"`, `"10 Gb/s"`) and prints text that reads back to the same value.
//! A bare number is refused: its unit would be a guess.
//!
//! ```
//! use cnsim_units::{Bytes, Rate, Time};
//! let link: Rate = "10 Gb/s".parse()?;
//! let frame: Bytes = "1.5 KB".parse()?;
//! assert_eq!(link.transmission_time(frame), Time::from_ns(1200));
//! assert_eq!(link.transmission_time(frame).to_string(), "1.2 us");
//! assert!("10 GB/s".parse::<Rate>().is_err());
//! # Ok::<(), cnsim_units::UnitError>(())
//! ```

mod arithmetic;
mod bytes;
mod parse;
mod rate;
mod time;

use arithmetic::arithmetic;
pub use bytes::Bytes;
pub use parse::UnitError;
pub use rate::Rate;
pub use time::Time;
