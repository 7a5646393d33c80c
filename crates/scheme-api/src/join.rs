//! Parameters of a scheme that is built on another: two sets that read, write and list as one.

use crate::params::unknown;
use crate::{ParamError, ParamInfo, Params};

/// Two sets of parameters with no key in common; a key that both have is the first's.
///
/// ```
/// use cnsim_scheme_api::{Join, Params, params};
/// params! {
///     /// Of a scheme.
///     pub struct Base {
///         /// Weight.
///         w: f64 = 2.0, symbol "W";
///     }
/// }
/// params! {
///     /// Of an addition to it.
///     pub struct More {
///         /// Gain.
///         gain: f64 = 0.5, symbol "G";
///     }
/// }
/// let mut both = Join::<Base, More>::default();
/// both.set("w", "3").unwrap();
/// both.set("gain", "1/4").unwrap();
/// assert_eq!((both.first.w, both.second.gain, both.values().len()), (3.0, 0.25, 2));
/// assert!(both.set("gains", "1").unwrap_err().remedy.contains("did you mean `gain`"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Join<A, B> {
    /// The set whose parameters are listed first.
    pub first: A,
    /// The set whose parameters are listed second.
    pub second: B,
}

impl<A: Params, B: Params> Params for Join<A, B> {
    fn info() -> Vec<ParamInfo> {
        let mut all = A::info();
        all.extend(B::info());
        all
    }
    fn set(&mut self, key: &str, text: &str) -> Result<(), ParamError> {
        let has = |list: &[ParamInfo]| list.iter().any(|i| i.key == key);
        if has(&A::info()) {
            self.first.set(key, text)
        } else if has(&B::info()) {
            self.second.set(key, text)
        } else {
            let info = Self::info();
            let known: Vec<&str> = info.iter().map(|i| i.key.as_str()).collect();
            Err(unknown(key, &known))
        }
    }
    fn values(&self) -> Vec<(&'static str, String)> {
        let mut all = self.first.values();
        all.extend(self.second.values());
        all
    }
}
