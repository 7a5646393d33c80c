//! How a scenario file is written, whatever its keys are: texts and their places, kinds of values, the row of a key, the reading of typed
//! values, and names that may be meant. No key is named here.

pub mod kinds;
pub mod meant;
pub(crate) mod reader;
pub(crate) mod row;
pub mod text;
