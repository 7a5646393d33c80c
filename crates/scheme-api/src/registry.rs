//! The registry: all that the rest of the program knows of a scheme, and the list in which it looks a scheme up.
//!
//! A scheme is registered in one place, beside its code: its name, title, text, parameters, counters, gauges and promise stand
//! in one [`Registration`]. Scenario files, `--set`, `cnsim list`, `explain`, `sweep`, the report and the conformance suite
//! read nothing else. A registry is a value that is passed in: a program may hold several, and a crate of its own adds
//! its schemes to ours with [`Registry::register`].
//!
//! ```
//! use cnsim_scheme_api::{Params, Registration, Registry, Scheme, params};
//! params! {
//!     /// Parameters of a scheme that does nothing.
//!     pub struct Idle {
//!         /// Weight.
//!         w: f64 = 1.0, symbol "W", from 0.0, to 2.0;
//!     }
//! }
//! impl Scheme for Idle {
//!     fn name(&self) -> &str {
//!         "idle"
//!     }
//! }
//! let mut registry = Registry::default();
//! registry.register(Registration::new("does nothing", "//! Idle.", Idle::default(), |p| p)).unwrap();
//! let scheme = registry.find("IDLE").unwrap();
//! let configured = scheme.build(&[("w".into(), "1/2".into())]).unwrap();
//! assert_eq!(configured.values, [("w".to_string(), "0.5".to_string())]);
//! assert!(scheme.build(&[("w".into(), "3".into())]).unwrap_err().remedy.contains("0 to 2"));
//! ```

use crate::guard::guarded;
use crate::testing::Promise;
use crate::{Counter, Gauge, ParamError, ParamInfo, Params, Rate, Scheme};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Parameters that were set but have no effect under the other settings: (key, reason).
pub type Idle = Vec<(&'static str, &'static str)>;

/// A scheme ready to run, with all its parameters as they are in effect.
#[derive(Clone, Debug)]
pub struct Configured {
    /// The scheme itself, ready to build its objects.
    pub scheme: Arc<dyn Scheme>,
    /// Where it is two schemes ([`crate::Above`]): the same for flows without a window.
    pub windowless: Option<Arc<dyn Scheme>>,
    /// Every parameter with its effective value: (key, text).
    pub values: Vec<(String, String)>,
    /// Parameters without effect under these settings: (key, reason).
    pub idle: Vec<(String, String)>,
    /// How the code of the scheme is known.
    pub code: Code,
}

/// The key of a scheme's table that asks for one of its presets by name.
pub const PRESET: &str = "preset";

/// Named settings of a scheme that fit the rate of the links. A key that is set beside a preset goes before it.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name in scenario files: `preset = "hpcc"`.
    pub name: &'static str,
    /// The source of its values.
    pub source: &'static str,
    /// The settings for hosts' links of this rate: (key, text). Other parameters keep their defaults.
    pub values: fn(Rate) -> Vec<(&'static str, String)>,
    /// Further settings where the network acknowledges frames: (key, text).
    pub acknowledged: &'static [(&'static str, &'static str)],
}

impl Preset {
    /// All settings for hosts' links of this rate, where the network acknowledges frames or does not.
    pub fn settings(&self, rate: Rate, acknowledged: bool) -> Vec<(&'static str, String)> {
        let more = if acknowledged { self.acknowledged } else { &[] };
        (self.values)(rate).into_iter().chain(more.iter().map(|(key, text)| (*key, (*text).into()))).collect()
    }

    /// The settings of [`Preset::acknowledged`] as a sentence; none where there are none.
    pub fn where_acknowledged(&self) -> Option<String> {
        let all: Vec<String> =
            self.acknowledged.iter().map(|(key, text)| format!("`{key} = {text}`")).collect();
        (!all.is_empty())
            .then(|| format!("Where the network acknowledges frames (queue pairs), also {}.", all.join(", ")))
    }
}

/// Sets (key, text) pairs over the defaults and builds the scheme.
type Build = dyn Fn(&[(String, String)]) -> Result<Configured, ParamError> + Send + Sync;

/// How the code of a scheme is known. Kept runs are found by it: results of other code are other results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// The scheme is compiled into the program, whose bytes stand for it.
    #[default]
    Program,
    /// Nothing need be added: it comes with cnsim, or one of its parameters is a hash of its code.
    Known,
    /// The scheme's code cannot be known, for this reason: its runs are not kept.
    Unknown(String),
}

/// All that is registered of one scheme.
#[derive(Clone)]
pub struct Registration {
    /// Name in scenario files, from [`Scheme::name`].
    pub name: String,
    /// Other names that find the scheme.
    pub aliases: Vec<String>,
    /// The scheme in one line, for lists.
    pub title: String,
    /// The scheme's idea, sources, assumptions and deviations, as Markdown.
    pub about: String,
    /// The scheme's parameters with their defaults.
    pub params: Vec<ParamInfo>,
    /// Named settings by rate of the links; none where one set of defaults serves all.
    pub presets: Vec<Preset>,
    /// Rate of the links that the defaults are made for; none where they fit any.
    pub made_for: Option<Rate>,
    /// The scheme's counters.
    pub counters: Vec<Counter>,
    /// The scheme's gauges.
    pub gauges: Vec<Gauge>,
    /// The scheme's promise with its defaults, which the conformance suite checks.
    pub promise: Promise,
    /// The scheme's colour in reports, from 0 to 7; none: one that is free.
    pub colour: Option<u8>,
    build: Arc<Build>,
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("name", &self.name).field("title", &self.title).finish()
    }
}

impl Registration {
    /// Registers a scheme made from a set of parameters. `source` is the text of its file: the comment at its head becomes
    /// [`Registration::about`].
    pub fn new<P, S>(
        title: &str,
        source: &str,
        defaults: P,
        make: impl Fn(P) -> S + Send + Sync + 'static,
    ) -> Self
    where
        P: Params + Clone + Send + Sync + 'static,
        S: Scheme + 'static,
    {
        Self::with_idle(title, source, defaults, |_| Idle::new(), make)
    }

    /// Registers a scheme as [`Registration::new`] does; `idle` names the parameters that have no effect under some settings.
    pub fn with_idle<P, S>(
        title: &str,
        source: &str,
        defaults: P,
        idle: impl Fn(&P) -> Idle + Send + Sync + 'static,
        make: impl Fn(P) -> S + Send + Sync + 'static,
    ) -> Self
    where
        P: Params + Clone + Send + Sync + 'static,
        S: Scheme + 'static,
    {
        let usual = make(defaults.clone());
        let mut params = P::info();
        for (info, (_, value)) in params.iter_mut().zip(defaults.values()) {
            info.default = value;
        }
        let owned = |list: Vec<(&'static str, String)>| list.into_iter().map(|(k, v)| (k.to_string(), v));
        let build = move |pairs: &[(String, String)]| {
            let mut params = defaults.clone();
            for (key, text) in pairs {
                params.set(key, text)?;
            }
            Ok(Configured {
                windowless: None,
                values: owned(params.values()).collect(),
                idle: idle(&params).into_iter().map(|(k, why)| (k.to_string(), why.to_string())).collect(),
                scheme: Arc::new(make(params)),
                code: Code::Program,
            })
        };
        Self::bridged(usual.name(), title, &head(source), params, build)
            .counting(usual.counters(), usual.gauges())
    }

    /// A scheme that is not made from a Rust struct of parameters, such as one in another language: `build` sets
    /// (key, text) pairs over the defaults in `params`.
    pub fn bridged(
        name: &str,
        title: &str,
        about: &str,
        params: Vec<ParamInfo>,
        build: impl Fn(&[(String, String)]) -> Result<Configured, ParamError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            title: title.into(),
            about: about.into(),
            params,
            presets: Vec::new(),
            made_for: None,
            counters: Vec::new(),
            gauges: Vec::new(),
            promise: Promise::default(),
            colour: None,
            build: Arc::new(build),
        }
    }

    /// Adds another name that finds the scheme.
    pub fn alias(mut self, name: &str) -> Self {
        self.aliases.push(name.into());
        self
    }

    /// Names settings that fit the rate of the links; the defaults are made for links of the rate `made_for`.
    pub fn presets(mut self, made_for: Rate, presets: &[Preset]) -> Self {
        self.presets = presets.to_vec();
        self.made_for = Some(made_for);
        self
    }

    /// Sets counters and gauges. [`Registration::new`] asks the scheme itself.
    pub fn counting(mut self, counters: Vec<Counter>, gauges: Vec<Gauge>) -> Self {
        (self.counters, self.gauges) = (counters, gauges);
        self
    }

    /// Sets the scheme's promise with its defaults.
    pub fn promise(mut self, promise: Promise) -> Self {
        self.promise = promise;
        self
    }

    /// Sets the scheme's colour in reports: 0 grey, 1 blue, 2 vermillion, 3 green, 4 orange, 5 sky, 6 brown, 7 olive. A larger number
    /// starts again from grey.
    pub fn colour(mut self, colour: u8) -> Self {
        self.colour = Some(colour % 8);
        self
    }

    /// Sets how the code of the scheme is known, where the program's bytes do not stand for it.
    pub fn code(mut self, code: Code) -> Self {
        let build = self.build.clone();
        self.build = Arc::new(move |pairs| Ok(Configured { code: code.clone(), ..build(pairs)? }));
        self
    }

    /// Builds the scheme from (key, text) pairs over its defaults.
    ///
    /// # Errors
    /// The first pair that is refused; without a key, that the scheme panics with these values.
    pub fn build(&self, pairs: &[(String, String)]) -> Result<Configured, ParamError> {
        guarded(|| (self.build)(pairs)).unwrap_or_else(|why| {
            Err(ParamError {
                key: String::new(),
                reason: format!("`{}` cannot be made: {why}", self.name),
                remedy: "mend it, or narrow the ranges of its parameters".into(),
            })
        })
    }

    /// Finds a parameter by its key.
    pub fn param(&self, key: &str) -> Option<&ParamInfo> {
        self.params.iter().find(|p| p.key == key)
    }

    /// May a table of the scheme have this key: a parameter, or the name of a preset.
    pub fn reads(&self, key: &str) -> bool {
        self.param(key).is_some() || (key == PRESET && !self.presets.is_empty())
    }

    /// Finds a preset by its name.
    pub fn preset(&self, name: &str) -> Option<&Preset> {
        self.presets.iter().find(|p| p.name.eq_ignore_ascii_case(name))
    }

    /// Is this one of the scheme's names, upper and lower case alike?
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
    }
}

/// The comment at the head of a source file, as Markdown.
fn head(source: &str) -> String {
    let lines = source.lines().take_while(|l| l.starts_with("//!"));
    let text = |l: &'_ str| l.trim_start_matches("//!").strip_prefix(' ').unwrap_or("").to_string();
    lines.map(text).collect::<Vec<_>>().join("\n")
}

/// Why a scheme was not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterError {
    /// Name of the scheme that was refused.
    pub scheme: String,
    /// The mistake in the registration.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scheme `{}`: {}; {}", self.scheme, self.reason, self.remedy)
    }
}

impl std::error::Error for RegisterError {}

/// The schemes that a program knows, in the order of their registration. A copy is cheap.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    list: Vec<Arc<Registration>>,
}

impl Registry {
    /// Adds a scheme.
    ///
    /// # Errors
    /// A name that is taken, or that a scenario file could not write; two parameters, two counters or two gauges of one name.
    pub fn register(&mut self, scheme: Registration) -> Result<(), RegisterError> {
        let refuse = |reason: String, remedy: &str| {
            Err(RegisterError { scheme: scheme.name.clone(), reason, remedy: remedy.into() })
        };
        for name in scheme.aliases.iter().chain([&scheme.name]) {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.is_empty() || name == "params" || !name.chars().all(plain) {
                let reason = format!("`{name}` is no name of a scheme");
                return refuse(reason, "write letters, digits, `-`, `_` or `.`, and not `params`");
            }
            if let Some(other) = self.find(name) {
                return refuse(
                    format!("the name `{name}` is taken by `{}` ({})", other.name, other.title),
                    "choose another",
                );
            }
        }
        let keys = scheme.params.iter().map(|p| ("parameter", p.key.as_str()));
        let counters = scheme.counters.iter().map(|c| ("counter", &*c.name));
        let mut names = keys.chain(counters).chain(scheme.gauges.iter().map(|g| ("gauge", &*g.name)));
        let mut seen = BTreeSet::new();
        if let Some((kind, name)) = names.find(|n| !seen.insert(*n)) {
            return refuse(format!("two {kind}s are called `{name}`"), "give each a name of its own");
        }
        self.list.push(Arc::new(scheme));
        Ok(())
    }

    /// Finds a scheme by one of its names, whatever the case.
    pub fn find(&self, name: &str) -> Option<&Arc<Registration>> {
        self.list.iter().find(|s| s.is_called(name))
    }

    /// All schemes, in the order of their registration.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Registration>> + Clone {
        self.list.iter()
    }

    /// The names of all schemes, in the order of their registration.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.list.iter().map(|s| s.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::params! {
        /// None.
        struct Nothing {}
    }

    #[derive(Debug)]
    struct Named(&'static str);

    impl Scheme for Named {
        fn name(&self) -> &str {
            self.0
        }
    }

    fn named(name: &'static str) -> Registration {
        Registration::new("a title", "//! Head.\n//!\n//! * more\nuse x;\n//! no\n", Nothing {}, move |_| {
            Named(name)
        })
    }

    #[test]
    fn a_panic_of_who_makes_a_scheme_is_an_error() {
        crate::params! {
            /// One.
            struct Weight {
                /// Weight.
                w: f64 = 1.0, symbol "", from 0.0, to 2.0;
            }
        }
        let make = |p: Weight| {
            assert!(p.w < 1.5, "a weight of {}", p.w);
            Named("heavy")
        };
        let scheme = Registration::new("a title", "", Weight::default(), make);
        let error = scheme.build(&[("w".into(), "1.6".into())]).unwrap_err().to_string();
        assert_eq!(
            error,
            "`heavy` cannot be made: it panics: a weight of 1.6; mend it, or narrow the ranges of its parameters"
        );
        assert!(scheme.build(&[]).is_ok());
    }

    #[test]
    fn a_name_finds_one_scheme() {
        let mut registry = Registry::default();
        registry.register(named("a.b").alias("ab")).unwrap();
        assert_eq!(registry.find("AB").map(|s| s.name.as_str()), Some("a.b"));
        assert_eq!(registry.find("a.b").unwrap().about, "Head.\n\n* more");
        for (scheme, words) in [
            (named("A.B"), "is taken by `a.b`"),
            (named("c").alias("aB"), "is taken by `a.b`"),
            (named("a b"), "is no name"),
            (named(""), "is no name"),
            (named("params"), "not `params`"),
        ] {
            let error = registry.register(scheme).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let twice = vec![Counter::new("n", "one"), Counter::new("n", "another")];
        let error = registry.register(named("c").counting(twice, Vec::new())).unwrap_err().to_string();
        assert!(error.contains("two counters are called `n`"), "{error}");
        registry.register(named("c")).unwrap();
        assert_eq!(registry.names().collect::<Vec<_>>(), ["a.b", "c"]);
    }
}
