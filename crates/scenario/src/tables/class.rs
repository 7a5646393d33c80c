//! `[[class]]` tables: classes of data, as 802.1Q has them, each with its turns, memory, PAUSE, scheme and transport.

use super::switch::pause::{self, PauseMode};
use super::switch::{self, Buffer, Part, share_of_pool};
use super::transport::{QueuePairs, SendsAgain, Steered};
use super::{Section, Settings};
use crate::language::reader::Reader;
use crate::language::row::declare::*;
use cnsim_fabric::{ClassScheme, ClassSpec, MOST_CLASSES, RunSpec, Turn};
use cnsim_scheme_api::registry::Configured;
use std::sync::Arc;

choices! {
    /// `class.preset`.
    Preset { Nothing = "none", TwoClass = "two-class", SonicLike = "sonic-like", }
    /// `class.priority`.
    Priority { Auto = "auto", Strict = "strict", }
    /// `class.unit`.
    Unit { Bytes = "bytes", Frames = "frames", }
}

rows! {
    PRESET = key("class.preset", Kind::Choice(Preset::WORDS), "none",
        "the classes of a preset in place of this table: two-class (lossless roce of priority 3 beside lossy tcp, CUBIC over TCP, of priority 0, with equal weights), or sonic-like (pcp0 to pcp7, of which 3 and 4 are lossless, with weights 15 to 14, and a pool of headroom: switch.headroom_pool)")
        .fixed("");
    NAME = key("class.name", Kind::Or("off", &Kind::Name(40)), "off", "name of the class in scenario and results");
    LOSSLESS = key("class.lossless", kind::SWITCHED, "on",
        "the class has XOFF and XON of its own (priority flow control), or is lost where there is no room").with_pause().seen();
    PRIORITY = key("class.priority", Kind::Choice(Priority::WORDS), "auto",
        "strict: the class goes before later ones, and before all with a weight; auto: strict unless it has a weight");
    WEIGHT = key("class.weight", Kind::Line, "off",
        "share of the class by deficit round robin among the classes with a weight: a number from 1 to 1000, or per cents that sum to 100, as ETS has them");
    UNIT = key("class.unit", Kind::Choice(Unit::WORDS), "bytes", "the weight shares bytes, or frames whatever their length").unless(WEIGHT, "off");
    SCHEME = key("class.scheme", Kind::Or("case", &Kind::Scheme), "case",
        "scheme of the class: the case's, another one, or none; another one manages the class at all hosts and switches, groups or not");
    TRANSPORT = key("class.transport", Kind::Or("run", &Kind::Choice(SendsAgain::WORDS)), "run",
        "transport of the class: that of transport.kind, or another kind of it, with the keys of [transport]").with_pairs();
    PCP = key("class.pcp", Kind::Or("auto", &Kind::Integer(0, 7)), "auto",
        "priority code point of the class, which PFC frames and captures show; auto: its place in the file, or the lowest that is free");
    CN_DEFENCE = key("class.cn_defence", Kind::Or("off", &Kind::Name(40)), "off",
        "class of the frames that hosts outside the scheme ([[group]]) send in this one: the edge ports of a congestion managed domain take it out of the priority of the domain (802.1Qau)");
    ALPHA = key("class.alpha", Kind::Line, "switch", "share of the free pool of a shared buffer, as switch.alpha").only(switch::BUFFER, one_of!(Buffer: Shared));
    RESERVE = key("class.reserve", Kind::Or("switch", &kind::BUFFER), "switch",
        "bytes of a shared buffer that each input has for the class, as switch.reserve").of_lossless();
    HEADROOM = key("class.headroom", Kind::Or("switch", &kind::BUFFER), "switch",
        "bytes of a shared buffer that each input has for what the class still sends after XOFF, as switch.headroom").of_lossless();
}

impl Key {
    /// The key concerns a lossless class and a shared buffer.
    const fn of_lossless(self) -> Self {
        let remedy = "remove it: a class that may lose frames has an output's threshold alone";
        self.only(switch::BUFFER, one_of!(Buffer: Shared)).needs(LOSSLESS, |word| word == "on", remedy)
    }
}

/// A class of data.
#[derive(Clone, Debug)]
pub struct Class {
    /// Name in results.
    pub name: Arc<str>,
    /// Priority code point.
    pub pcp: u8,
    /// The class comes from a preset.
    pub preset: bool,
    /// Id of its own scheme; none where it has the case's.
    pub scheme: Option<Arc<str>>,
    turn: Turn,
    part: Part,
    own: ClassScheme,
    pairs: Option<QueuePairs>,
    /// Number of the class to which frames from outside the scheme are taken.
    defence: Option<usize>,
}

impl Class {
    /// Has it PAUSE, where the switches have?
    pub fn lossless(&self) -> bool {
        self.part.lossless
    }
}

/// The classes of a case; none: all data is of one class.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    /// In order of priority.
    pub list: Vec<Class>,
    /// Schemes of classes, beside the case's.
    schemes: Vec<Configured>,
    /// Part of a shared buffer that is the pool of its headroom, by a preset.
    pub(crate) headroom_share: Option<f64>,
}

/// SONiC's settings for 32 ports of 100 Gb/s give headroom 4,194,112 of the 15,982,720 B of an Arista 7060CX-32S
/// (`buffers_defaults_t0.j2` of its HwSKU `Arista-7060CX-32S-C32`: `xoff` of `ingress_lossless_pool`, `size` of `egress_lossless_pool`).
const SONIC_HEADROOM: f64 = 4_194_112.0 / 15_982_720.0;

impl Classes {
    /// The number of the class of this name; the first where none is named.
    pub(crate) fn find(&self, name: Option<&str>) -> Option<usize> {
        name.map_or(Some(0), |name| self.list.iter().position(|class| &*class.name == name))
    }

    /// A remedy for a name that no class has.
    pub(crate) fn named(&self) -> String {
        let known: Vec<&str> =
            self.list.iter().map(|class| &*class.name).filter(|name| *name != "off").collect();
        match known.is_empty() {
            true => "write a [[class]] table with this name, or remove it".into(),
            false => format!("known: {}", known.join(", ")),
        }
    }

    /// Queue pairs of a class, where they differ from the run's.
    pub(crate) fn pairs(&self, class: usize) -> Option<QueuePairs> {
        self.list.get(class).and_then(|class| class.pairs)
    }

    /// Each class's part of a shared buffer. A single class is lossless if the case has PAUSE.
    pub(crate) fn parts(&self, pause: bool) -> Vec<Part> {
        if self.list.is_empty() {
            return vec![Part { lossless: pause, ..Part::default() }];
        }
        self.list.iter().map(|class| Part { lossless: class.part.lossless && pause, ..class.part }).collect()
    }

    /// Schemes of a run that are classes' own.
    pub(crate) fn own_schemes(&self) -> usize {
        self.schemes.len()
    }

    /// The class in which a host's frames of one travel: another, if an edge port takes it out of the domain.
    pub(crate) fn behind_edge(&self, class: u8, bare: bool) -> u8 {
        let other = self.list.get(usize::from(class)).and_then(|class| class.defence);
        other.filter(|_| bare).map_or(class, |other| other as u8)
    }

    /// Priority code points, by number of the class.
    pub fn priorities(&self) -> Vec<u8> {
        self.list.iter().map(|class| class.pcp).collect()
    }
}

impl Section for Classes {
    fn read(r: &mut Reader<'_>, settings: &mut Settings) -> Self {
        let tables = r.tables("class");
        let mut classes = Self::default();
        for (n, prefix) in tables.iter().enumerate() {
            let class = read(r, prefix, n, settings, &mut classes.schemes);
            classes.list.push(class);
            let sonic = r.choice::<Preset>(PRESET.of(prefix)) == Preset::SonicLike;
            classes.headroom_share = classes.headroom_share.or(sonic.then_some(SONIC_HEADROOM));
        }
        if tables.len() > MOST_CLASSES {
            let reason = format!("{} classes, and 802.1Q has {MOST_CLASSES}", tables.len());
            r.wrong(&tables[MOST_CLASSES], reason, "write fewer [[class]] tables");
        }
        told_apart(r, &tables, &mut classes.list);
        for (n, prefix) in tables.iter().enumerate() {
            let name = r.word(CN_DEFENCE.of(prefix));
            let other = classes.find(Some(&name)).filter(|other| *other != n);
            if name != "off" && other.is_none() {
                let reason = format!("`{name}` is no other class");
                r.wrong(CN_DEFENCE.of(prefix), reason, "name a class outside the domain");
            }
            classes.list[n].defence = other;
        }
        weights(r, &tables, &mut classes.list);
        let paused = r.choice::<PauseMode>(pause::MODE) != PauseMode::Off;
        let named = r.word(pause::FRAMES) == "pfc";
        if classes.list.len() > 1 && paused && !named && classes.list.iter().any(Class::lossless) {
            let reason = "frames of 802.3x stop all data of a link, and there are several classes";
            r.wrong(pause::FRAMES, reason, "write pause.frames = \"pfc\"");
        }
        classes
    }

    fn put(&self, settings: &Settings, run: &mut RunSpec) {
        let first = run.schemes.len();
        run.schemes.extend(self.schemes.iter().map(|own| own.scheme.clone()));
        let pairs = settings.pairs.map(|pairs| pairs.spec);
        let spec = |class: &Class| ClassSpec {
            name: class.name.to_string(),
            pause: class.part.lossless,
            turn: class.turn,
            scheme: match class.own {
                ClassScheme::Own(n) => ClassScheme::Own(first + n),
                other => other,
            },
            transport: class.pairs.map(|own| own.spec).filter(|own| Some(*own) != pairs),
        };
        run.classes = self.list.iter().map(spec).collect();
    }
}

/// Reads a class. A scheme of its own joins `schemes`.
fn read(
    r: &mut Reader<'_>,
    prefix: &str,
    n: usize,
    settings: &Settings,
    schemes: &mut Vec<Configured>,
) -> Class {
    let name = r.word(NAME.of(prefix));
    if name == "off" {
        r.wrong(prefix, "has no name", "write for example name = \"roce\"");
    } else if name == "first" && n > 0 {
        let reason = "`first` is the class of the first table, for traffic and faults";
        r.wrong(NAME.of(prefix), reason, "give it another name");
    }
    let word = r.word(SCHEME.of(prefix));
    let steered = settings.steered.classes.get(n).and_then(Option::as_ref);
    let own = match (word.as_str(), steered) {
        ("case", _) => ClassScheme::OfNodes,
        (_, Some((_, built))) => {
            schemes.push(built.clone());
            ClassScheme::Own(schemes.len() - 1)
        }
        (word, None) => {
            if r.registry.find(word).is_none() {
                let hint = crate::language::meant::scheme(r.registry, word);
                let reason = format!("there is no scheme `{word}`");
                r.wrong(SCHEME.of(prefix), reason, format!("{hint}`cnsim list schemes` shows them"));
            }
            ClassScheme::Nobody
        }
    };
    let kind = r.word(TRANSPORT.of(prefix));
    let kind = SendsAgain::of(&kind);
    let none = Steered { name: "none".into(), ..Steered::default() };
    let steered = match own {
        ClassScheme::OfNodes => &settings.steered,
        ClassScheme::Nobody => &none,
        ClassScheme::Own(_) => steered.map_or(&none, |own| &own.0),
    };
    let pairs = QueuePairs::read(r, settings.host.queues, steered, kind);
    let alpha = match r.word(ALPHA.of(prefix)) {
        word if word == "switch" => None,
        word => share_of_pool(r, ALPHA.of(prefix), &word),
    };
    Class {
        preset: r.choice::<Preset>(PRESET.of(prefix)) != Preset::Nothing,
        defence: None,
        name: name.into(),
        scheme: (word != "case").then(|| word.as_str().into()),
        pcp: r.integer_or(PCP.of(prefix)).map_or(u8::MAX, |pcp| pcp as u8),
        turn: Turn::Strict,
        part: Part {
            lossless: r.switched(LOSSLESS.of(prefix)),
            alpha,
            reserve: r.bytes_or(RESERVE.of(prefix)),
            headroom: r.bytes_or(HEADROOM.of(prefix)),
        },
        own,
        pairs,
    }
}

/// Refuses two classes of one name or priority, and gives those without a priority one that is free.
fn told_apart(r: &mut Reader<'_>, tables: &[String], list: &mut [Class]) {
    for (n, prefix) in tables.iter().enumerate() {
        let (before, name) = (&list[..n], list[n].name.clone());
        if name.as_ref() != "off" && before.iter().any(|class| class.name == name) {
            let reason = format!("two classes have the name `{name}`");
            r.wrong(NAME.of(prefix), reason, "give each a name of its own");
        }
        if let Some(other) = before.iter().find(|class| class.pcp == list[n].pcp && class.pcp < u8::MAX) {
            let reason = format!("class {} has priority {}, too", other.name, other.pcp);
            r.wrong(PCP.of(prefix), reason, "give each a priority of its own, 0 to 7");
        }
    }
    for n in 0..list.len() {
        let free = |pcp: &u8| list.iter().all(|class| class.pcp != *pcp);
        let pcp = std::iter::once(n as u8).chain(0..8).find(free);
        list[n].pcp = if list[n].pcp == u8::MAX { pcp.unwrap_or_default() } else { list[n].pcp };
    }
}

/// Reads the turns of all classes: numbers, or per cents that sum to 100.
fn weights(r: &mut Reader<'_>, tables: &[String], list: &mut [Class]) {
    let (mut percents, before) = (Vec::new(), r.problems.len());
    for (n, prefix) in tables.iter().enumerate() {
        let at = WEIGHT.of(prefix);
        let strict = r.choice::<Priority>(PRIORITY.of(prefix)) == Priority::Strict;
        let text = r.word(&at);
        let frames = r.choice::<Unit>(UNIT.of(prefix)) == Unit::Frames;
        if text == "off" {
            continue;
        }
        if strict {
            r.clash(
                &[PRIORITY.of(prefix), at],
                "a strict class has no weight".into(),
                "remove one of the two",
            );
            continue;
        }
        let hundredths = text.strip_suffix('%').and_then(|text| text.trim().parse::<f64>().ok());
        let number = text.trim().parse::<u32>().ok();
        let weight = match (hundredths, number) {
            (Some(percent), _) if percent > 0.0 && percent <= 100.0 => {
                percents.push((n, percent));
                (percent * 100.0).round() as u32
            }
            (_, Some(weight)) if (1..=1000).contains(&weight) => weight,
            _ => {
                let reason = format!("`{text}` is no share of the link");
                r.wrong(at, reason, "write a number from 1 to 1000, or per cents such as \"40 %\"");
                continue;
            }
        };
        list[n].turn = Turn::Weight { weight: weight.max(1), frames };
    }
    // A sum without the weight that is refused says nothing.
    let Some((first, _)) = percents.first().filter(|_| r.problems.len() == before) else { return };
    let at = WEIGHT.of(&tables[*first]);
    let weighted = list.iter().filter(|class| class.turn != Turn::Strict).count();
    let sum: f64 = percents.iter().map(|percent| percent.1).sum();
    if percents.len() < weighted {
        r.wrong(
            at,
            "per cents stand beside numbers",
            "write per cents for all classes with a weight, or for none",
        );
    } else if (sum - 100.0).abs() > 0.01 {
        r.wrong(at, format!("the per cents of the classes sum to {sum}"), "let them sum to 100");
    }
}

/// The keys of a preset's tables, each with its value; `class.0.` stands for the first of them.
pub(crate) fn preset_tables(word: &str) -> Vec<Vec<(Key, String)>> {
    let table = |name: &str, pcp: u64, lossless: bool, weight: u64| {
        let word = if lossless { "on" } else { "off" };
        let keys = [
            (NAME, name.into()),
            (PCP, pcp.to_string()),
            (LOSSLESS, word.into()),
            (WEIGHT, weight.to_string()),
        ];
        keys.to_vec()
    };
    match Preset::of(word) {
        None | Some(Preset::Nothing) => Vec::new(),
        Some(Preset::TwoClass) => {
            let mut tcp = table("tcp", 0, false, 1);
            tcp.extend([(SCHEME, "cubic".into()), (TRANSPORT, "tcp".into()), (ALPHA, "1".into())]);
            vec![table("roce", 3, true, 1), tcp]
        }
        Some(Preset::SonicLike) => (0..8)
            .map(|pcp| {
                let lossless = matches!(pcp, 3 | 4);
                table(&format!("pcp{pcp}"), pcp, lossless, if lossless { 15 } else { 14 })
            })
            .collect(),
    }
}
