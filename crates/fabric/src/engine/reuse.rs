//! A run that is put together from phases: what happens from a moment of rest to the next.
//!
//! A phase begins as a flow begins where nothing is under way. It is simulated, with nodes as at the run's begin, until all are at rest
//! again; or it is taken from one before, if the programs of all hosts do the same ([`super::replay`]). No times are rounded and nothing
//! is guessed: the network is a function of what begins when, relative to the first begin, and draws do not depend on time
//! ([`crate::Draws::Keyed`]). What phases counted adds up in the books of their nodes ([`Books::absorb`]).

use super::replay::{Replay, Stage, agree};
use super::{Before, Start, Stretch, stretch};
use crate::check::{Books, Moved};
use crate::model::{Program, Said, Saved};
use crate::net::{NEVER, Net, Ps};
use crate::outcome::{Outcome, Phases};
use crate::spec::{Arrivals, Draws, Faults, Reliability, Routing, RunSpec, TcpSpec, Ties, Transfer};
use crate::{Options, Reuse, RunError};
use cnsim_scheme_api::{Bytes, Time};
use std::collections::BTreeMap;
use std::rc::Rc;

/// How an error begins that says so.
pub(super) const DIFFERS: &str = "a phase that was taken from one before differs from what is simulated";

/// Most phases that are kept to be taken again, and most that all of them keep of single frames and programs.
const MOST: usize = 256;
const MOST_WEIGHT: usize = 1 << 24;

/// Of so many phases that are taken, one is verified where that is asked for.
const SHARE: u64 = 8;

/// Why a run is not put together from phases. What runs by the model is simulated in full.
pub(super) fn refused(net: &Net, spec: &RunSpec, by_model: Option<&str>) -> Option<String> {
    let mut sources = spec.hosts.iter().flat_map(|h| &h.sources);
    let connected = sources.clone().any(|source| source.connected);
    let follow = |t: &Transfer| t.bytes == Bytes::ZERO || t.start == Transfer::FOLLOWS;
    let others = |s: &crate::SourceSpec| s.arrivals != Arrivals::Transfers || !s.transfers.iter().all(follow);
    let faulty = |h: &crate::HostSpec| h.faults != Faults::default();
    let in_turn = spec.routing == Routing::RoundRobin && (0..spec.switches.len()).any(|s| net.in_turn(s));
    let quantum = spec.transport.as_ref().and_then(|transport| match transport.reliability {
        Reliability::Tcp(TcpSpec { quantum, .. }) => Some(quantum),
        _ => None,
    });
    let rates = spec.record.bin > Time::ZERO && !spec.record.rates.is_empty();
    let reasons = [
        (spec.laws.draws == Draws::Stream, "draws are made from streams, so that nothing repeats"),
        (sources.any(others), "there is traffic beside the graph"),
        (!spec.events.faults.is_empty() || spec.hosts.iter().any(faulty), "ports or hosts have faults"),
        (!spec.events.losses.is_empty(), "links lose frames"),
        (!spec.record.captures.is_empty(), "frames are captured"),
        (!spec.record.flow_events.is_empty(), "events of flows are recorded"),
        (spec.record.links, "it is recorded over time what hosts put on their links"),
        (!spec.events.changes.is_empty(), "service rates change"),
        (spec.laws.watchdog.is_some(), "watchdogs look at times of their own"),
        (net.classes.len() > 1, "several classes of data take turns"),
        (connected, "messages share connections, which remember"),
        (quantum > Some(Time::ZERO), "timers of TCP expire at ticks of the run's time"),
        (in_turn, "paths are used in turn"),
        (spec.routing == Routing::ForkHash, "each flow has a path of its own by the fork's hash"),
        (spec.laws.ties == Ties::Drawn, "draws decide ties, anew for each moment"),
        (rates, "rates of limiters are recorded over time"),
    ];
    let absolute = net.schemes.iter().find(|scheme| !scheme.repeats).map(|scheme| {
        format!("scheme `{}` does not say that it behaves alike whenever a flow begins", scheme.name())
    });
    let reason = reasons.into_iter().find(|reason| reason.0).map(|reason| reason.1.into());
    reason.or(absolute).or(by_model.map(|why| format!("what runs by the model is simulated in full: {why}")))
}

/// A phase that was simulated.
#[derive(Debug)]
struct Record {
    start: Ps,
    /// All nodes were simulated up to the first of these times, and rest from the second one on, ps.
    seen: Ps,
    end: Ps,
    /// Where its first flow goes.
    first: u32,
    /// By host, what its program was told and let begin; and the numbers of these flows, in order.
    heard: Vec<Vec<(Ps, Said)>>,
    begun: Vec<u32>,
    /// Of the nodes that it touched.
    books: BTreeMap<u32, Books>,
}

/// What becomes of a simulation: it comes to rest, or is the last.
type Came = Result<Rc<Record>, Box<Stretch>>;

struct Driver<'a> {
    net: &'a Net,
    spec: &'a RunSpec,
    options: &'a Options<'a>,
    /// By host.
    programs: Vec<Option<Box<Program>>>,
    /// By node, over the phases that are over.
    books: BTreeMap<u32, Books>,
    /// Phases that may be taken again, and what they keep one by one.
    kept: Vec<(Rc<Record>, usize)>,
    phases: Phases,
    /// By number of a flow, the one in its place.
    flows: Vec<u32>,
    /// Packet-hops, and how many links and flows were built to simulate.
    hops: u64,
    built: u64,
}

/// Runs a network.
pub(super) fn run(net: &mut Net, spec: &RunSpec, options: &Options<'_>) -> Result<Outcome, RunError> {
    net.keeps = MOST_WEIGHT / net.ports.len();
    let net = &*net;
    let program = |(id, host)| Program::new(net.flows.graph.as_ref()?, host, (id, 0), net);
    let programs = (0..).zip(&spec.hosts).map(program).collect();
    let flows = vec![u32::MAX; net.flows.queue_pairs()];
    let (books, kept, phases) = (BTreeMap::new(), Vec::new(), Phases::default());
    let mut driver = Driver { net, spec, options, programs, books, kept, phases, flows, hops: 0, built: 0 };
    driver.books = driver.blank()?;
    while let Some((from, first)) = driver.look().filter(|first| first.0 < net.duration) {
        if driver.built > 50_000_000 && driver.built > 8 * driver.hops {
            driver.phases.why_not = Some("phases are too short to be kept apart".into());
            break;
        }
        if let Some(last) = driver.pass(from, first)? {
            return driver.finish(Some(last));
        }
    }
    driver.finish(None)
}

impl Driver<'_> {
    /// Books of nodes where nothing happens.
    fn blank(&self) -> Result<BTreeMap<u32, Books>, RunError> {
        let before = std::iter::repeat_with(Before::default).take(self.net.ports.len()).collect();
        Ok(self.stretch(Start { from: self.net.duration, before, to_rest: false })?.books)
    }

    /// What each node begins with: its program, and the hashes over the phases that are over.
    fn before(&mut self) -> Vec<Before> {
        let programs = std::mem::take(&mut self.programs).into_iter().chain(std::iter::repeat_with(|| None));
        let hashes = self.books.values().map(|books| (books.events, books.moments));
        programs.zip(hashes).map(|(program, hashes)| Before { program, hashes }).collect()
    }

    fn save(&self) -> Vec<Option<Saved>> {
        self.programs.iter().map(|program| Some(program.as_ref()?.save())).collect()
    }

    fn restore(&mut self, saved: &[Option<Saved>]) {
        for (program, saved) in self.programs.iter_mut().zip(saved) {
            program.iter_mut().zip(saved).for_each(|(program, saved)| program.restore(saved));
        }
    }

    /// Do programs do the same as in a phase so much earlier that was simulated, and all of it? If not, which flow begins instead.
    fn agrees(&mut self, heard: &[Vec<(Ps, Said)>], by: Ps, end: Ps) -> Result<(), Option<(Ps, u32)>> {
        let mut stage = Stage { net: self.net, by, flows: &mut self.flows, differs: false, begun: None };
        let said = heard.iter().map(|heard| &heard[..]).chain(std::iter::repeat(&[][..]));
        let programs = self.programs.iter_mut().map(Option::as_deref_mut);
        let mut nics = programs.zip(said).map(|(program, heard)| Replay { program, heard, advised: false });
        let mut machines = Vec::new();
        let mut id = 0;
        while id < self.net.hosts {
            let of = self.net.nics(id);
            machines.push((id, nics.by_ref().take(of.len()).collect()));
            id = of.end as u32;
        }
        if agree(&mut machines, end, &mut stage) { Ok(()) } else { Err(stage.begun) }
    }

    /// Finds when programs begin a flow next, of themselves, and where it goes. They stay as they are.
    fn look(&mut self) -> Option<(Ps, u32)> {
        let saved = self.save();
        let begun = self.agrees(&[], Ps(0), self.net.duration).err().flatten();
        self.restore(&saved);
        begun
    }

    /// A phase passes that begins with a flow to `first`. If it lasts to the end of the run, that is all.
    fn pass(&mut self, from: Ps, first: u32) -> Result<Option<Box<Stretch>>, RunError> {
        let saved = self.save();
        let taken = self.take((from, first), &saved);
        let verify = self.options.reuse == Reuse::Verify
            && (self.phases.reused + self.phases.verified).is_multiple_of(SHARE);
        match taken {
            Some(record) if !verify => {
                self.add(&record, Some(from - record.start));
                self.phases.reused += 1;
            }
            taken => {
                taken.iter().for_each(|_| self.restore(&saved));
                let record = match self.simulate(from, first)? {
                    Ok(record) => record,
                    Err(last) => return Ok(Some(last)),
                };
                if let Some(before) = taken {
                    self.verify(&before, &record)?;
                }
                self.add(&record, None);
                self.phases.simulated += 1;
            }
        }
        self.programs.iter_mut().flatten().for_each(|program| program.settle());
        Ok(None)
    }

    /// Adds what a phase counted, as it is or so much later.
    fn add(&mut self, record: &Record, by: Option<Ps>) {
        let moved = by.map(|by| Moved { by, flows: &self.flows });
        for (id, books) in &record.books {
            self.books.entry(*id).and_modify(|sum| sum.absorb(books, record.seen, moved.as_ref(), self.net));
            self.hops += books.hops.0;
        }
    }

    /// Takes a phase of one before that begins alike, if the programs do the same in all of it. What happens at one moment is in order of
    /// the flows' numbers: that is to be the same.
    fn take(&mut self, (from, first): (Ps, u32), saved: &[Option<Saved>]) -> Option<Rc<Record>> {
        for at in (0..self.kept.len()).rev() {
            let record = self.kept[at].0.clone();
            let by = from - record.start;
            if record.first != first || record.end + by >= self.net.duration {
                continue;
            }
            if self.agrees(&record.heard, by, record.end + by).is_ok()
                && record.begun.is_sorted_by_key(|flow| self.flows[*flow as usize])
            {
                let last = self.kept.remove(at);
                self.kept.push(last);
                return Some(record);
            }
            self.restore(saved);
        }
        None
    }

    /// Simulates a phase, and keeps it if it is not too large.
    fn simulate(&mut self, from: Ps, first: u32) -> Result<Came, RunError> {
        self.built += (self.net.links.len() + self.flows.len()) as u64;
        let hosts = self.programs.len();
        let before = self.before();
        let mut stretch = self.stretch(Start { from, before, to_rest: true })?;
        if stretch.books.values().any(|books| books.failure.at().is_some()) {
            return Err(RunError::Law(String::new()));
        }
        let Some((seen, end)) = stretch.rest else { return Ok(Err(Box::new(stretch))) };
        stretch.programs.truncate(hosts);
        self.programs = stretch.programs;
        let heard = |program: &mut Option<Box<Program>>| Some(std::mem::take(&mut program.as_mut()?.heard));
        let heard: Vec<_> = self.programs.iter_mut().map(|p| heard(p).unwrap_or_default()).collect();
        let begun = |said: &(Ps, Said)| if let Said::Begun(flow) = said.1 { Some(flow.0) } else { None };
        let mut begun: Vec<u32> = heard.iter().flatten().filter_map(begun).collect();
        begun.sort_unstable();
        let touched = |(id, books): &(u32, Books)| {
            let frames = books.hops.0 + books.made.frames + books.gone.frames;
            let sum = self.books.get(id).map(|sum| (sum.events.0, sum.moments.0));
            frames > 0 || sum != Some((books.events.0, books.moments.0))
        };
        let mut books: BTreeMap<u32, Books> = stretch.books.into_iter().filter(touched).collect();
        books.values_mut().for_each(Books::shrink);
        let kept: Option<usize> = books.values().map(|books| books.kept.weight(self.net.keeps)).sum();
        let record = Rc::new(Record { start: from, seen, end, first, heard, begun, books });
        if let Some(kept) = kept {
            self.kept.push((record.clone(), kept + record.heard.iter().map(Vec::len).sum::<usize>()));
        }
        while self.kept.len() > MOST || self.kept.iter().map(|kept| kept.1).sum::<usize>() > MOST_WEIGHT {
            self.kept.remove(0);
        }
        Ok(Ok(record))
    }

    /// Simulates with the whole count of packet-hops in the reports of progress.
    fn stretch(&self, start: Start) -> Result<Stretch, RunError> {
        let (before, told) = (self.hops, self.options.progress);
        let progress = |time, hops| told.is_none_or(|told| told(time, before + hops));
        let options = Options { progress: told.is_some().then_some(&progress), ..*self.options };
        stretch(self.net, self.spec, &options, Some(start))
    }

    /// Compares a phase that was taken with the simulated one. As windows lie otherwise, one of them may have come to rest before
    /// what the other one holds, too: then only what programs heard in both is compared.
    fn verify(&mut self, old: &Record, new: &Record) -> Result<(), RunError> {
        let moved = Moved { by: new.start - old.start, flows: &self.flows };
        let later = |said: &(Ps, Said)| (said.0 + moved.by, said.1.of(&self.flows));
        let alike = old.heard.iter().zip(&new.heard).all(|(old, new)| {
            let both = old.len().min(new.len());
            old[..both].iter().map(later).eq(new[..both].iter().copied())
        });
        let whole = old.begun.len() == new.begun.len();
        let counted = |record: &Record, until: Ps, moved: Option<&Moved<'_>>| {
            let mut all = self.blank()?;
            for (id, books) in &record.books {
                let hashes = self.books.get(id).map_or_else(Default::default, |s| (s.events, s.moments));
                let sum = all.entry(*id).and_modify(|sum| (sum.events, sum.moments) = hashes);
                sum.and_modify(|sum| sum.absorb(books, until, moved, self.net));
            }
            all.values_mut().for_each(|sum| (sum.made, sum.gone) = Default::default());
            Ok::<_, RunError>(format!("{all:?}"))
        };
        if !alike || whole && counted(old, NEVER, Some(&moved))? != counted(new, new.seen, None)? {
            let at = new.start.time();
            return Err(RunError::Law(format!("{DIFFERS}, at {at}: a defect of cnsim")));
        }
        self.phases.verified += u64::from(whole);
        Ok(())
    }

    /// The rest of the run, in one: it was simulated, or is now.
    fn finish(mut self, last: Option<Box<Stretch>>) -> Result<Outcome, RunError> {
        let mut last = match last {
            Some(last) => *last,
            None => {
                self.programs.iter_mut().flatten().for_each(|program| program.forget());
                let next = self.programs.iter().flatten().filter_map(|program| program.next()).min();
                let from = next.unwrap_or(NEVER).min(self.net.duration);
                let before = self.before();
                self.stretch(Start { from, before, to_rest: false })?
            }
        };
        if let Some((node, what)) = last.remembers.take() {
            self.phases.why_not = Some(format!("{what} of {} remembers what was", self.spec.name(node)));
        }
        let hops: u64 = last.books.values().map(|books| books.hops.0).sum();
        self.phases.simulated += u64::from(hops > 0);
        for (id, own) in &mut last.books {
            let program = last.programs.get_mut(*id as usize).and_then(Option::take);
            if let Some(mut sum) = self.books.remove(id) {
                sum.absorb(own, NEVER, None, self.net);
                sum.conclude(own, program.map(|program| program.close()).unwrap_or_default());
                *own = sum;
            }
        }
        Ok(Outcome { phases: Some(self.phases), ..last.close(self.net, self.spec)? })
    }
}
