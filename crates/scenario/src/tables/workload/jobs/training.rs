//! Tables of training: an iteration of a SimAI workload, as operations. Rank r is the r-th host of the table.
//!
//! A rank runs its layers as SimAI's packet simulation does. Forward pass: it computes a layer, then waits for the layer's call. Backward
//! pass, from the last layer to the first: it computes the gradient of the inputs, waits for that call, computes the gradient of the weights,
//! and goes on while that call is under way. Stages of a pipeline send each other a message for each micro-batch. All forward passes come
//! before all backward passes.

use super::read::{algorithms, begins_in_time, few_of_a_pair, gap, imported, known, no_path, run, too_many};
use super::weave::{ByHost, Sends, Weave};
use super::{Asked, Operations, Rounds, Woven};
use crate::language::kinds::Choice as _;
use crate::language::reader::{List, Reader};
use crate::language::row::{LONGEST, MAX_TRANSFER};
use crate::tables::workload::{
    ALGORITHM, Algorithm, CHANNELS, CHUNK, OPERATIONS, RANK_ORDER, REDUCE_TIME, REPEAT, RankOrder, Traffic,
};
use cnsim_fabric::{Act, After};
use cnsim_import::simai::{self, Call, Collective, Group, Step, Workload};
use cnsim_units::{Bytes, Time};
use std::ops::Range;

/// Reads a table of training; none if something is wrong.
pub(super) fn training(r: &mut Reader<'_>, asked: &Asked<'_>, operations: &mut Operations) -> Option<Woven> {
    let before = r.problems.len();
    let at = asked.hosts_key(OPERATIONS);
    let known = known(r, &at, asked.hosts, asked.wiring);
    let start = begins_in_time(r, asked.prefix, Time::ZERO);
    let list = r.listed(asked.key(OPERATIONS));
    if list.items.is_empty() {
        let remedy = "write its lines, or name a file of SimAI in `file`";
        r.lacks(asked.prefix, &list, "there is no workload", remedy);
        return None;
    }
    let w = imported(r, &list, simai::read)?;
    fits(r, &list, &w, known.then_some(asked.hosts.len()));
    let how = How::read(r, asked, &w);
    let repeat = r.integer(asked.key(REPEAT));
    let gap = gap(r, asked.prefix, repeat, REPEAT);
    let reduce = r.time(asked.key(REDUCE_TIME)).as_ps();
    let order = r.choice::<RankOrder>(asked.key(RANK_ORDER));
    if w.pp == 1 && order != RankOrder::default() && !r.is_of_case(asked.key(RANK_ORDER)) {
        r.wrong(asked.key(RANK_ORDER), "has no effect: the workload has one stage", "remove it");
    }
    too_many(r, &list.key, how.transfers(&w).saturating_mul(repeat));
    if r.problems.len() > before || !known {
        return None;
    }
    let ranks = &asked.hosts[..w.ranks()];
    let mut rounds = Rounds::new(operations, ranks, (start, gap), repeat);
    let mut iteration = Iteration {
        w: &w,
        order,
        asked: how.algorithm,
        ranks,
        sends: Sends::new(operations, asked.wiring, asked.sources, asked.framing),
        piece: how.chunk.map_or(u64::MAX, Bytes::get),
        reduce,
        channels: how.channels,
        last: Vec::new(),
        open: Vec::new(),
    };
    for _ in 0..repeat {
        (iteration.last, iteration.open) = (rounds.gates.clone(), vec![Vec::new(); ranks.len()]);
        iteration.weave();
        iteration.sends.operations.are("");
        for (rank, &host) in ranks.iter().enumerate() {
            let open = std::mem::take(&mut iteration.open[rank]);
            let after = open.into_iter().chain([After::Ended(iteration.last[rank])]);
            rounds.done(iteration.sends.operations, host, after);
        }
        rounds.turn();
    }
    if let Some(apart) = iteration.sends.apart {
        no_path(r, &at, apart, asked.wiring);
    }
    let of_nics = iteration.sends.sources.iter().map(|s| &s.1[..]).enumerate();
    few_of_a_pair(r, &list.key, of_nics, asked.wiring, 1);
    if r.problems.len() > before {
        return None;
    }
    let groups = |call: Call| (w.ranks() / w.size(call.group)) as u64;
    let size = w.calls().fold(0_u64, |sum, call| sum.saturating_add(call.bytes.saturating_mul(groups(call))));
    let sends = iteration.sends.by_host();
    let job = rounds.job(asked, how.algorithm, ranks.to_vec(), Bytes::new(size), Time::ZERO);
    Some(Woven { job, sends, requests: ByHost::new() })
}

/// Refuses a workload of more ranks than hosts, of too large calls, or of layers that compute too long.
fn fits(r: &mut Reader<'_>, list: &List, w: &Workload, hosts: Option<usize>) {
    if let Some(hosts) = hosts.filter(|hosts| w.ranks() > *hosts) {
        let reason = format!("{} ranks, and the table names {hosts} hosts", w.ranks());
        r.wrong_at(&list.key, w.ranks_at.0, w.ranks_at.1, reason, "name a host for each rank in hosts");
    }
    let above = |bytes: u64| Some(Bytes::new(bytes)).filter(|bytes| *bytes > MAX_TRANSFER);
    if let Some(bytes) = above(w.message) {
        let reason = format!("a message of {bytes} is more than {MAX_TRANSFER}");
        r.wrong_at(&list.key, w.ranks_at.0, 0, reason, "write less");
    }
    for layer in &w.layers {
        let steps = [layer.forward, layer.inputs, layer.weights];
        let called = steps.iter().filter_map(|s| above(s.call.as_ref()?.bytes)).max();
        let called = called.map(|bytes| format!("a call of {bytes} is more than {MAX_TRANSFER}"));
        let computes = steps.iter().any(|s| s.time > LONGEST);
        let computes = computes.then(|| format!("layer {} computes longer than {LONGEST}", layer.name));
        called
            .into_iter()
            .chain(computes)
            .for_each(|reason| r.wrong_item(&list.key, layer.line, reason, "write less"));
    }
}

/// How the calls of a workload go, as far as each can.
struct How {
    algorithm: Option<Algorithm>,
    chunk: Option<Bytes>,
    channels: usize,
}

impl How {
    /// Reads the keys of a table; one without effect on any call is refused.
    fn read(r: &mut Reader<'_>, asked: &Asked<'_>, w: &Workload) -> Self {
        let (key, named) = (asked.key(ALGORITHM), &asked.algorithm);
        let algorithm = algorithms(asked.kind).iter().copied().find(|a| a.word() == named);
        if algorithm.is_none() && named != "auto" && Algorithm::of(named).is_some() {
            let words: Vec<&str> = algorithms(asked.kind).iter().map(|a| a.word()).collect();
            let reason = format!("training has no algorithm `{named}`");
            r.wrong(&key, reason, format!("write {}", cnsim_problem::any_of(&words)));
        }
        let by = |call: &Call| self::algorithm(call, algorithm, w.size(call.group));
        let compared = r.is_of_case(&key);
        if let Some(one) = algorithm.filter(|one| !compared && !w.calls().any(|call| by(&call) == *one)) {
            let reason = format!("no call of this workload can go by {}", one.word());
            r.wrong(&key, reason, "remove it, or write ring");
        }
        let (chunk, channels) = (r.bytes_or(asked.key(CHUNK)), r.integer(asked.key(CHANNELS)) as usize);
        let cut = |a: Algorithm| matches!(a, Algorithm::Ring | Algorithm::Tree | Algorithm::DoubleTree);
        if chunk.is_some() && !compared && !w.calls().any(|call| cut(by(&call))) {
            r.wrong(asked.key(CHUNK), "no call of this workload is cut into pieces", "remove it");
        }
        if channels > 1 && !compared && !w.calls().any(|call| by(&call) == Algorithm::Ring) {
            r.wrong(asked.key(CHANNELS), "no call of this workload has rings", "remove it");
        }
        Self { algorithm, chunk, channels }
    }

    /// At most so many operations an iteration has.
    fn transfers(&self, w: &Workload) -> u64 {
        let of = |call: Call| {
            let n = w.size(call.group) as u64;
            let pieces = self.chunk.map_or(1, |c| call.bytes.div_ceil(n.saturating_mul(c.get())).max(1));
            2 * pieces.saturating_mul(n.max(self.channels as u64)).saturating_mul(w.ranks() as u64)
        };
        let steps = 4 * w.layers.len() as u64 * w.ranks() as u64;
        w.calls().map(of).fold(steps, u64::saturating_add)
    }
}

/// The kind of traffic that a call is.
fn traffic_of(collective: Collective) -> Traffic {
    match collective {
        Collective::AllReduce => Traffic::AllReduce,
        Collective::AllGather => Traffic::AllGather,
        Collective::ReduceScatter => Traffic::ReduceScatter,
        Collective::AllToAll => Traffic::AllToAll,
    }
}

/// By which algorithm a call over n ranks goes: the one that is asked for, where it can.
fn algorithm(call: &Call, asked: Option<Algorithm>, n: usize) -> Algorithm {
    let possible = algorithms(traffic_of(call.collective));
    let can =
        |a: &Algorithm| possible.contains(a) && (*a != Algorithm::HalvingDoubling || n.is_power_of_two());
    let moves = call.collective != Collective::AllToAll;
    asked.filter(|a| moves && can(a)).unwrap_or(possible[0])
}

/// An iteration as it becomes operations.
struct Iteration<'a, 'w> {
    w: &'a Workload,
    order: RankOrder,
    asked: Option<Algorithm>,
    ranks: &'a [usize],
    sends: Sends<'w>,
    piece: u64,
    reduce: u64,
    channels: usize,
    /// By rank: the operation with whose end its next step begins.
    last: Vec<u32>,
    /// By rank: what else it waits for in the end.
    open: Vec<Vec<After>>,
}

impl Iteration<'_, '_> {
    /// A rank, by its places among those of tensor and data parallelism and by its stage.
    fn rank(&self, (t, d, stage): (usize, usize, usize)) -> usize {
        let (tp, pp, dp) = (self.w.tp, self.w.pp, self.w.dp);
        match self.order {
            RankOrder::TpDpPp => t + tp * (d + dp * stage),
            RankOrder::TpPpDp => t + tp * (stage + pp * d),
        }
    }

    /// The ranks of a stage.
    fn of_stage(&self, stage: usize) -> Vec<usize> {
        let places = (0..self.w.dp).flat_map(|d| (0..self.w.tp).map(move |t| (t, d, stage)));
        places.map(|place| self.rank(place)).collect()
    }

    /// The groups of a kind in a stage.
    fn groups(&self, stage: usize, group: Group) -> Vec<Vec<usize>> {
        let (tp, dp, ep) = (self.w.tp, self.w.dp, self.w.ep);
        let of =
            |t: usize, all: &mut dyn Iterator<Item = usize>| all.map(|d| self.rank((t, d, stage))).collect();
        match group {
            Group::Tp => (0..dp).map(|d| (0..tp).map(|t| self.rank((t, d, stage))).collect()).collect(),
            Group::Dp => (0..tp).map(|t| of(t, &mut (0..dp))).collect(),
            Group::Ep => (0..tp)
                .flat_map(|t| (0..dp / ep).map(move |block| (t, block)))
                .map(|(t, block)| of(t, &mut (block * ep..(block + 1) * ep)))
                .collect(),
            Group::DpEp => (0..tp)
                .flat_map(|t| (0..ep).map(move |expert| (t, expert)))
                .map(|(t, expert)| of(t, &mut (expert..dp).step_by(ep)))
                .collect(),
        }
    }

    /// All of it: forward passes of all micro-batches, stage by stage, then the backward passes.
    fn weave(&mut self) {
        let w = self.w;
        let layers = w.layers.len();
        let stages = 0..w.pp;
        let batches: Vec<Range<usize>> = w.batches.windows(2).map(|b| b[0]..b[1]).collect();
        let (first, end) = (w.batches[0], w.batches[batches.len()]);
        stages.clone().for_each(|stage| self.forward(stage, 0..first));
        for batch in &batches {
            let mut sent = Vec::new();
            for stage in stages.clone() {
                self.take(&sent);
                self.forward(stage, batch.clone());
                sent = if stage + 1 < w.pp { self.pass_on(stage, stage + 1) } else { Vec::new() };
            }
        }
        stages.clone().for_each(|stage| self.forward(stage, end..layers));
        stages.clone().for_each(|stage| self.backward(stage, end..layers));
        for batch in batches.iter().rev() {
            let mut sent = Vec::new();
            for stage in stages.clone().rev() {
                self.take(&sent);
                self.backward(stage, batch.clone());
                sent = if stage > 0 { self.pass_on(stage, stage - 1) } else { Vec::new() };
            }
        }
        stages.for_each(|stage| self.backward(stage, 0..first));
    }

    fn forward(&mut self, stage: usize, layers: Range<usize>) {
        for n in layers {
            let layer = &self.w.layers[n];
            self.compute(stage, layer.forward.time, ("forward", &layer.name));
            let ends = self.call(stage, layer.forward, &layer.name);
            self.wait_for(ends);
        }
    }

    fn backward(&mut self, stage: usize, layers: Range<usize>) {
        for n in layers.rev() {
            if self.w.again.contains(&n) {
                let kept = self.w.kept.iter().copied().filter(|k| *k <= n).max().unwrap_or(0);
                self.forward(stage, kept..n);
            }
            let layer = &self.w.layers[n];
            self.compute(stage, layer.inputs.time, ("gradient of inputs", &layer.name));
            let inputs = self.call(stage, layer.inputs, &layer.name);
            let inputs = if self.w.overlaps { inputs } else { self.wait_for(inputs) };
            self.compute(stage, layer.weights.time, ("gradient of weights", &layer.name));
            for (rank, end) in self.call(stage, layer.weights, &layer.name) {
                let updated = self.sends.operations.wait(self.ranks[rank], layer.update, [After::Ended(end)]);
                self.open[rank].push(After::Ended(updated));
            }
            self.wait_for(inputs);
        }
    }

    /// All ranks of a stage compute.
    fn compute(&mut self, stage: usize, time: Time, (what, layer): (&str, &str)) {
        self.sends.operations.are(&format!("{what}, {layer}"));
        for rank in self.of_stage(stage).into_iter().filter(|_| time > Time::ZERO) {
            let act = Act::Compute { time, stream: Some(0) };
            self.last[rank] =
                self.sends.operations.push(self.ranks[rank], act, [After::Ended(self.last[rank])]);
        }
    }

    /// The groups of a stage do what a step calls for: by rank, the operation with whose end its part has ended.
    fn call(&mut self, stage: usize, step: Step, layer: &str) -> Vec<(usize, u32)> {
        let Some(call) = step.call.filter(|call| self.w.size(call.group) > 1) else { return Vec::new() };
        let by = algorithm(&call, self.asked, self.w.size(call.group));
        self.sends.operations.are(&format!("{call}, {layer}"));
        let mut ends = Vec::new();
        for group in self.groups(stage, call.group) {
            let hosts: Vec<usize> = group.iter().map(|&rank| self.ranks[rank]).collect();
            let n = group.len();
            let mut weave = Weave {
                sends: &mut self.sends,
                ranks: &hosts,
                piece: self.piece,
                reduce: self.reduce,
                gates: group.iter().map(|&rank| After::Ended(self.last[rank])).collect(),
                even: false,
                got: vec![Vec::new(); n],
                gone: vec![Vec::new(); n],
            };
            run(&mut weave, traffic_of(call.collective), by, (call.bytes, self.channels));
            let (got, gone) = (weave.got, weave.gone);
            for ((rank, got), gone) in group.into_iter().zip(got).zip(gone) {
                // Of fewer bytes than ranks, some may have no part.
                let all = if got.is_empty() { gone } else { got };
                let after = all.into_iter().chain([After::Ended(self.last[rank])]);
                ends.push((rank, self.sends.operations.wait(self.ranks[rank], Time::ZERO, after)));
            }
        }
        ends
    }

    /// Lets the next step of these ranks follow these ends, too. Yields an empty list, as no end is left to wait for.
    fn wait_for(&mut self, ends: Vec<(usize, u32)>) -> Vec<(usize, u32)> {
        for (rank, end) in ends {
            self.last[rank] = match self.w.overlaps {
                true => {
                    let both = [After::Ended(self.last[rank]), After::Ended(end)];
                    self.sends.operations.wait(self.ranks[rank], Time::ZERO, both)
                }
                false => end,
            };
        }
        Vec::new()
    }

    /// Each rank of a stage sends its message to its fellow of another one: those sends, by receiving rank.
    fn pass_on(&mut self, stage: usize, to: usize) -> Vec<(usize, u32)> {
        if self.w.message == 0 {
            return Vec::new();
        }
        self.sends.operations.are("PP message");
        let mut sent = Vec::new();
        for (from, to) in self.of_stage(stage).into_iter().zip(self.of_stage(to)) {
            let hosts = (self.ranks[from], self.ranks[to]);
            let send = self.sends.pass(hosts, self.w.message, [After::Ended(self.last[from])]);
            self.open[from].push(After::Ended(send));
            sent.push((to, send));
        }
        sent
    }

    /// Ranks wait for their messages.
    fn take(&mut self, sent: &[(usize, u32)]) {
        for &(rank, send) in sent {
            let both = [After::Ended(self.last[rank]), After::Ended(send)];
            self.last[rank] = self.sends.operations.wait(self.ranks[rank], Time::ZERO, both);
        }
    }
}
