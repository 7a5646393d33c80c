//! A scenario file as a whole: the list of all keys, the assumptions that stand for some, the files that are put in a key's place, the
//! refusal of what nobody reads, and the texts that are made of the list.

pub mod assumptions;
pub(crate) mod checks;
pub(crate) mod inline;
pub mod keys;
pub mod schema;
