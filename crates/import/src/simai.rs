//! Workload files of SimAI (and of its generator AICB): an iteration of training, layer by layer.
//!
//! ```text
//! HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 2 vpp: 1 ga: 4 all_gpus: 64 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 8388608
//! 2
//! embedding_layer  -1 600000 ALLREDUCE     16777216 1      NONE 0        1      NONE 0 100
//! attention_row    -1 175084 REDUCESCATTER 16777216 875420 NONE 16777216 875420 NONE 0 100
//! ```
//!
//! A line of a layer has its name and a number that is not used. Then it has, each with a collective and its bytes, the times in ns of the
//! forward pass, of the gradient of the inputs and of that of the weights; at last the time of the update. `ALLREDUCE` is over the ranks of
//! tensor parallelism (TP), for weights over those of data parallelism (DP); `_EP` is over those of expert parallelism, `_DP_EP` over the
//! ranks that hold the same experts.
//!
//! Source: `Workload.cc` and the examples of aliyun/SimAI at 0253299 and cef83f9.

use crate::faults::{Faults, ImportError, error};
use cnsim_units::Time;
use std::fmt;

/// Collective that a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collective {
    /// `ALLREDUCE`
    AllReduce,
    /// `ALLGATHER`
    AllGather,
    /// `REDUCESCATTER`
    ReduceScatter,
    /// `ALLTOALL`
    AllToAll,
}

/// Over which ranks of a stage a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Tensor parallelism: ranks that share a layer's tensors.
    Tp,
    /// Data parallelism: ranks with the same part of the model, each with data of its own.
    Dp,
    /// Expert parallelism: ranks among which experts are spread.
    Ep,
    /// Ranks of a group of data parallelism that hold the same experts.
    DpEp,
}

/// A call of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// Collective of the call.
    pub collective: Collective,
    /// Over which ranks.
    pub group: Group,
    /// Bytes of the whole operation, as nccl-tests count them.
    pub bytes: u64,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.group.word(), self.collective.word())
    }
}

impl Collective {
    /// Name of the collective in a scenario.
    pub fn word(self) -> &'static str {
        match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
        }
    }
}

impl Group {
    /// Name of the group.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tp => "TP",
            Self::Dp => "DP",
            Self::Ep => "EP",
            Self::DpEp => "DP_EP",
        }
    }
}

/// A computation, and the call behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// How long each rank computes.
    pub time: Time,
    /// Call of the ranks after that, if it moves bytes.
    pub call: Option<Call>,
}

/// A layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Name of the layer.
    pub name: String,
    /// Its line, from 0.
    pub line: usize,
    /// Forward pass.
    pub forward: Step,
    /// Gradient of its inputs.
    pub inputs: Step,
    /// Gradient of its weights.
    pub weights: Step,
    /// From the end of that call to the end of the update.
    pub update: Time,
}

/// A workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// The gradient of a layer's weights is computed while the call of its inputs is under way (`HYBRID_TRANSFORMER`).
    pub overlaps: bool,
    /// Ranks that share a layer's tensors.
    pub tp: usize,
    /// Ranks among which experts are spread.
    pub ep: usize,
    /// Stages of the pipeline.
    pub pp: usize,
    /// Ranks with the same part of the model.
    pub dp: usize,
    /// Bytes that a rank sends to the next stage, or back, for each micro-batch; 0 for none.
    pub message: u64,
    /// Layers whose forward pass is kept.
    pub kept: Vec<usize>,
    /// Layers before whose gradients the forward pass is done again, from the last kept one.
    pub again: Vec<usize>,
    /// The layers that a rank runs, those of all micro-batches one after the other.
    pub layers: Vec<Layer>,
    /// First layers of the micro-batches, and the end (exclusive) of the last one; one micro-batch without stages.
    pub batches: Vec<usize>,
    /// Line, from 0, and character, from 0, that say how many ranks there are.
    pub ranks_at: (usize, usize),
    /// Features that cnsim leaves out, a sentence each.
    pub notes: Vec<String>,
}

impl Workload {
    /// How many ranks it has.
    pub fn ranks(&self) -> usize {
        self.tp * self.pp * self.dp
    }

    /// How many ranks a group has.
    pub fn size(&self, group: Group) -> usize {
        match group {
            Group::Tp => self.tp,
            Group::Dp => self.dp,
            Group::Ep => self.ep,
            Group::DpEp => self.dp / self.ep,
        }
    }

    /// The calls of a rank's iteration, in the order of layers. Forward passes that are done again are left out.
    pub fn calls(&self) -> impl Iterator<Item = Call> {
        let of = |layer: &Layer| [layer.forward.call, layer.inputs.call, layer.weights.call];
        self.layers.iter().flat_map(of).flatten()
    }

    /// The calls of a rank's iteration by collective and group, each with number and sum of bytes.
    pub fn sums(&self) -> Vec<(Call, u64)> {
        let mut sums: Vec<(Call, u64)> = Vec::new();
        for call in self.calls() {
            match sums.iter_mut().find(|s| (s.0.collective, s.0.group) == (call.collective, call.group)) {
                Some((sum, n)) => (sum.bytes, *n) = (sum.bytes.saturating_add(call.bytes), *n + 1),
                None => sums.push((call, 1)),
            }
        }
        sums.sort_unstable();
        sums
    }

    /// Time that a rank computes in an iteration.
    pub fn busy(&self) -> Time {
        let of = |l: &Layer| [l.forward.time, l.inputs.time, l.weights.time, l.update];
        let ps = self.layers.iter().flat_map(of).fold(0_u64, |sum, t| sum.saturating_add(t.as_ps()));
        Time::from_ps(ps)
    }
}

/// How a workload is written.
const HEADER: &str = "write `HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: TP ep: EP pp: PP vpp: 1 ga: N all_gpus: RANKS checkpoints: 0 checkpoint_initiates: 0 pp_comm: BYTES`";
const LAYER: &str = "write `NAME -1 NS COLLECTIVE BYTES NS COLLECTIVE BYTES NS COLLECTIVE BYTES NS`, where a collective is NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, perhaps with _EP or _DP_EP";
/// Name of the layer with which a micro-batch begins.
const FIRST: &str = "embedding_layer";
/// Longest computation, ns, and most of anything that is counted.
const LONGEST: u64 = 18_000_000_000_000;
const MOST: u64 = 1 << 20;

/// A word, and where it is.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    line: usize,
    column: usize,
}

impl Word<'_> {
    fn wrong(self, reason: impl Into<String>, remedy: impl Into<String>) -> ImportError {
        ImportError { column: self.column + 1, ..error(self.line + 1, reason, remedy) }
    }

    /// The word as a whole number from `least` to `most`; `.0` may stand behind it.
    fn number(self, what: &str, (least, most): (u64, u64), form: &str) -> Result<u64, ImportError> {
        let digits = self.text.strip_suffix(".0").unwrap_or(self.text);
        match digits.parse::<u64>() {
            Ok(n) if (least..=most).contains(&n) => Ok(n),
            Ok(n) => Err(self.wrong(format!("{n} is no {what}"), format!("write {least} to {most}"))),
            Err(_) => Err(self.wrong(format!("`{}` is no {what}", self.text), form)),
        }
    }
}

fn words(line: usize, text: &str) -> Vec<Word<'_>> {
    let column = |word: &str| text[..word.as_ptr() as usize - text.as_ptr() as usize].chars().count();
    text.split_whitespace().map(|word| Word { text: word, line, column: column(word) }).collect()
}

/// Is it the first word of a workload's file? Those of other forms are no capitals.
pub(crate) fn begins(word: &str) -> bool {
    word.len() > 3 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Reads a workload.
///
/// # Errors
/// All words that are none, counts that do not fit, and what cnsim has not. Lines count from 1.
pub fn read(lines: &[&str]) -> Result<Workload, Vec<ImportError>> {
    let mut faults = Faults::default();
    let content = |(n, line): (usize, &&str)| !line.trim().is_empty() && (n > 0 || !line.starts_with('#'));
    let mut all = lines.iter().enumerate().filter(|&line| content(line)).map(|(n, line)| words(n, line));
    let (Some(head), number) = (all.next(), all.next()) else {
        return Err(vec![error(1, "there is no workload", HEADER)]);
    };
    let mut w = Workload { tp: 1, ep: 1, pp: 1, ..Workload::default() };
    let ga = header(&mut w, &head, &mut faults);
    let last = lines.len().max(1);
    let announced = match number.as_deref() {
        Some([one]) => {
            faults.keep(one.number("number of layers", (1, 50 * MOST), "write how many layers follow"))
        }
        Some([_, second, ..]) => {
            faults.push(second.wrong(
                format!("`{}` where the line of the number of layers ends", second.text),
                "write how many layers follow, alone",
            ));
            None
        }
        _ => {
            faults.push(error(last, "the number of layers is missing", "write it in the second line"));
            None
        }
    };
    for line in all {
        if let Some(n) = announced.filter(|&n| w.layers.len() as u64 >= n) {
            let reason = format!("`{}` is a layer more than the {n} that are announced", line[0].text);
            faults.push(line[0].wrong(reason, "announce it, or remove it"));
            break;
        }
        let read = layer(&line, &mut faults).unwrap_or_default();
        w.layers.push(read);
    }
    if let Some(n) = announced.filter(|&n| n > w.layers.len() as u64) {
        let reason = format!("{n} layers are announced, and there are {}", w.layers.len());
        faults.push(error(last, reason, "write the others, or announce fewer"));
    }
    for n in w.kept.iter().chain(&w.again).filter(|n| **n >= w.layers.len()) {
        faults
            .push(head[0].wrong(format!("layer {n} of the checkpoints is not there"), "layers count from 0"));
    }
    w.batches = vec![0, w.layers.len()];
    if w.pp > 1 && w.message > 0 {
        let mut firsts: Vec<usize> = (0..w.layers.len()).filter(|&n| w.layers[n].name == FIRST).collect();
        if firsts.len() as u64 != ga.0 && !w.layers.is_empty() {
            let reason = format!(
                "{} micro-batches, and {} layers are named {FIRST}, with which a micro-batch begins",
                ga.0,
                firsts.len()
            );
            faults.push(ga.1.wrong(reason, "write as many, or pp_comm: 0 for stages that wait for none"));
        }
        // What stands behind the layers of the last one belongs to none.
        let end = match firsts[..] {
            [.., before, first] => (2 * first - before).min(w.layers.len()),
            _ => w.layers.len(),
        };
        firsts.push(end);
        w.batches = firsts;
    }
    faults.or(w)
}

/// The first line: how many micro-batches there are, and the word that says so.
fn header<'a>(w: &mut Workload, head: &[Word<'a>], faults: &mut Faults) -> (u64, Word<'a>) {
    match head[0].text {
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD" => {}
        "HYBRID_TRANSFORMER" => w.overlaps = true,
        other => {
            let remedy = "write HYBRID_TRANSFORMER_FWD_IN_BCKWD or HYBRID_TRANSFORMER";
            faults.push(head[0].wrong(format!("`{other}` is no parallelism that cnsim runs"), remedy));
        }
    }
    let (mut ga, mut vpp, mut ranks, mut rest) = ((1, head[0]), 1, None, head[1..].iter().copied());
    while let Some(key) = rest.next() {
        let known = key.text.strip_suffix(':').unwrap_or(key.text);
        let what = match known {
            "model_parallel_NPU_group" | "ep" | "pp" | "vpp" | "ga" | "all_gpus" => "number of at least 1",
            "pp_comm" => "number of bytes",
            "checkpoints" | "checkpoint_initiates" => "number of layers",
            _ => {
                faults.push(key.wrong(format!("`{}` is no word of the header", key.text), HEADER));
                rest.next();
                continue;
            }
        };
        let Some(value) = rest.next() else {
            faults.push(key.wrong(format!("{what} is missing behind `{}`", key.text), HEADER));
            break;
        };
        let bounds = match known {
            "pp_comm" => (0, u64::MAX / 2),
            "checkpoints" | "checkpoint_initiates" => (0, MOST),
            _ => (1, MOST),
        };
        let Some(n) = faults.keep(value.number(what, bounds, HEADER)) else { continue };
        match known {
            "model_parallel_NPU_group" => w.tp = n as usize,
            "ep" => w.ep = n as usize,
            "pp" => w.pp = n as usize,
            "vpp" => vpp = n,
            "ga" => ga = (n, value),
            "all_gpus" => ranks = Some((n as usize, value)),
            "pp_comm" => w.message = n,
            _ => {
                for _ in 0..n {
                    let Some(layer) = rest.next() else {
                        faults.push(value.wrong(format!("{n} layers, and not as many are named"), HEADER));
                        break;
                    };
                    let read = faults.keep(layer.number("number of a layer", (0, 50 * MOST), HEADER));
                    let list = if known == "checkpoints" { &mut w.kept } else { &mut w.again };
                    list.extend(read.map(|n| n as usize));
                }
            }
        }
    }
    w.divide(ranks, head, faults);
    if w.pp > 1 && w.message == 0 {
        w.notes.push("the stages of the pipeline send each other nothing: the file has no pp_comm".into());
    }
    if w.pp > 1 && vpp > 1 {
        w.notes.push(format!(
            "stages are not interleaved (vpp: {vpp}): all forward passes come before all backward passes"
        ));
    }
    ga
}

impl Workload {
    /// Divides all ranks, with the word that says how many they are, among tensors, stages and data.
    fn divide(&mut self, ranks: Option<(usize, Word<'_>)>, head: &[Word<'_>], faults: &mut Faults) {
        let (all, at) = ranks.unwrap_or((0, head[0]));
        self.ranks_at = (at.line, at.column);
        self.dp = (all / self.tp.saturating_mul(self.pp)).max(1);
        if !head.iter().any(|word| word.text.trim_end_matches(':') == "all_gpus") {
            faults.push(at.wrong("all_gpus is missing", HEADER));
        } else if ranks.is_some() && self.tp.saturating_mul(self.pp).saturating_mul(self.dp) != all {
            let reason = format!(
                "{all} ranks are not a multiple of {} of tensor parallelism times {} stages",
                self.tp, self.pp
            );
            faults.push(at.wrong(reason, "write such a multiple"));
        } else if ranks.is_some() && !self.dp.is_multiple_of(self.ep) {
            let reason = format!(
                "{} ranks of expert parallelism do not divide the {} of data parallelism",
                self.ep, self.dp
            );
            faults.push(at.wrong(reason, "let ep divide all_gpus / (model_parallel_NPU_group * pp)"));
        }
    }
}

/// A line of a layer.
fn layer(line: &[Word<'_>], faults: &mut Faults) -> Option<Layer> {
    if line.len() != 12 {
        let reason = match line.get(12) {
            Some(more) => format!("`{}` is behind the 12 words of a layer", more.text),
            None => format!("{} words, where a layer has 12", line.len()),
        };
        faults.push(line[12.min(line.len() - 1)].wrong(reason, LAYER));
        return None;
    }
    if line[1].text.parse::<i64>().is_err() {
        faults.push(line[1].wrong(format!("`{}` is no whole number", line[1].text), LAYER));
    }
    let time = |at: usize| line[at].number("time in ns", (0, LONGEST), LAYER).map(Time::from_ns);
    let step = |at: usize, plain: Group, faults: &mut Faults| {
        let bytes = faults.keep(line[at + 2].number("number of bytes", (0, u64::MAX / 2), LAYER));
        let what = faults.keep(what(line[at + 1], plain));
        let call = what.flatten().zip(bytes).filter(|c| c.1 > 0);
        let call = call.map(|((collective, group), bytes)| Call { collective, group, bytes });
        Step { time: faults.keep(time(at)).unwrap_or_default(), call }
    };
    Some(Layer {
        name: line[0].text.into(),
        line: line[0].line,
        forward: step(2, Group::Tp, faults),
        inputs: step(5, Group::Tp, faults),
        weights: step(8, Group::Dp, faults),
        update: faults.keep(time(11)).unwrap_or_default(),
    })
}

/// A collective and its group, which is `plain` where the word names none.
fn what(word: Word<'_>, plain: Group) -> Result<Option<(Collective, Group)>, ImportError> {
    if word.text == "NONE" {
        return Ok(None);
    }
    let all = [
        ("ALLREDUCE", Collective::AllReduce),
        ("ALLGATHER", Collective::AllGather),
        ("REDUCESCATTER", Collective::ReduceScatter),
        ("ALLTOALL", Collective::AllToAll),
    ];
    let groups = [("", plain), ("_EP", Group::Ep), ("_DP_EP", Group::DpEp)];
    let found = all.iter().find_map(|(name, collective)| {
        let rest = word.text.strip_prefix(name)?;
        Some((*collective, groups.iter().find(|g| g.0 == rest)?.1))
    });
    found
        .map(Some)
        .ok_or_else(|| word.wrong(format!("`{}` is no collective that cnsim has", word.text), LAYER))
}

#[cfg(test)]
#[path = "simai_tests.rs"]
mod tests;
