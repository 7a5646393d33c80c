//! Parameters of a scheme put together from mechanisms: two sets that read, write and list as one.

use cnsim_scheme_api::params::unknown;
use cnsim_scheme_api::{ParamError, ParamInfo, Params};

/// Two sets of parameters with no key in common.
#[derive(Clone, Debug, Default)]
pub struct Join<A, B> {
    /// Listed first.
    pub first: A,
    /// Listed after it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fb_hat::HatParams;
    use crate::qcn_2pt::QcnParams;

    #[test]
    fn both_sets_are_read_and_listed() {
        let mut both = Join::<QcnParams, HatParams>::default();
        both.set("w", "3").unwrap();
        both.set("fbhat_g", "1/4").unwrap();
        assert_eq!((both.first.w, both.second.fbhat_g), (3.0, 0.25));
        assert_eq!(both.values().len(), QcnParams::info().len() + HatParams::info().len());
        let error = both.set("fbhat_mod", "gated").unwrap_err();
        assert!(error.remedy.contains("`fbhat_mode`") && error.remedy.contains("q_eq"), "{error}");
    }
}
