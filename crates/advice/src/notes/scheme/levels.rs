//! What a scheme begins with: the queue above which it marks or sends feedback, and the window of a flow. Does any queue get so long?

use crate::notes::rounded::told_bytes;
use cnsim_fabric::Organisation;
use cnsim_scenario::Ready;
use cnsim_scheme_api::testing::{PointRig, ReactionRig};
use cnsim_scheme_api::{Acks, Ramp, Rate};
use cnsim_units::Bytes;

/// Parameters above whose queue frames are marked.
pub(super) const MARKS: [&str; 2] = ["k_min", "k"];

/// Parameters above whose queue a scheme sends feedback.
const FEEDBACK: [&str; 2] = ["q_eq", "cp_q_sp"];

/// The queue above which a scheme acts.
struct Level {
    bytes: Bytes,
    /// The scheme's parameter that sets the level.
    key: &'static str,
    /// `marks frames`, `sends feedback`.
    does: &'static str,
}

/// The ramp by which a port of this rate marks under a scheme of cnsim.
fn ramp(ready: &Ready, rate: Rate) -> Option<Ramp> {
    cnsim_schemes::find(&ready.scheme)?;
    PointRig::new(&ready.built.scheme, rate, 1)?.state.ramp
}

/// Does a flow of a scheme of cnsim begin with a window of its own? Then no more is in flight, whatever its rate.
pub(super) fn windowed(ready: &Ready, line_rate: Rate) -> bool {
    if cnsim_schemes::find(&ready.scheme).is_none() {
        // A scheme of others that lives by acknowledgements may set one.
        return ready.built.scheme.plan().acks != Acks::Optional;
    }
    let mut flow = ReactionRig::new(ready.built.scheme.clone(), line_rate);
    flow.begin();
    flow.state().acks.window < u64::MAX
}

/// The least queue that a ramp marks; none if it marks none.
fn begins(ramp: &Ramp) -> Option<Bytes> {
    if ramp.low < ramp.high && ramp.p_max > 0.0 {
        return Some(ramp.low);
    }
    (ramp.p_beyond > 0.0).then_some(ramp.high)
}

/// The scheme's least level over all ports; an error if its ramps mark nothing.
fn level(ready: &Ready) -> Result<Option<Level>, String> {
    let size = |keys: &'static [&'static str]| {
        keys.iter().find_map(|key| {
            let value = ready.built.values.iter().find(|v| v.0 == **key)?;
            Some((*key, value.1.parse::<Bytes>().ok()?))
        })
    };
    let mut rates: Vec<Rate> = Vec::new();
    for link in &ready.settings.wiring.links {
        if !rates.contains(&link.rate) {
            rates.push(link.rate);
        }
    }
    let ramps: Vec<Ramp> = rates.into_iter().filter_map(|rate| ramp(ready, rate)).collect();
    let marks = size(&MARKS);
    if ramps.is_empty() {
        let of = |(key, bytes), does| Level { bytes, key, does };
        let marked = marks.map(|level| of(level, "marks frames"));
        return Ok(marked.or_else(|| size(&FEEDBACK).map(|level| of(level, "sends feedback"))));
    }
    let scheme = &ready.scheme;
    let least = ramps.iter().filter_map(begins).min().ok_or_else(|| {
        format!("{scheme} marks no frame at any length of a queue, as its probability is 0: set scheme.{scheme}.p_max above 0")
    })?;
    let has = |key: &&str| ready.built.values.iter().any(|v| v.0 == *key);
    let upper = Some("k_max").filter(has).filter(|_| ramps.iter().all(|r| r.low != least));
    let key = upper.or(marks.map(|m| m.0)).unwrap_or("k_min");
    Ok(Some(Level { bytes: least, key, does: "marks frames" }))
}

/// A scheme that acts only above the length at which PAUSE has stopped the inputs, or above all that can wait.
pub(in crate::notes) fn late(ready: &Ready) -> Option<String> {
    let (settings, scheme) = (&ready.settings, &ready.scheme);
    let Level { bytes: level, key, does } = match level(ready) {
        Ok(level) => level?,
        Err(never) => return Some(never),
    };
    let (buffer, most) = (settings.buffer(), settings.most_inputs());
    let key = format!("scheme.{scheme}.{key}");
    let deepest = settings.deepest(most);
    if level >= deepest.bytes && most > 0 {
        return Some(format!(
            "{scheme} {does} above a queue of {level} ({key}), but no queue gets longer than {} ({}): set {key} below that, or raise {}",
            told_bytes(deepest.bytes.as_f64()),
            deepest.of,
            deepest.keys
        ));
    }
    if let Some(stopped) = settings.all_stopped(most) {
        return (level >= stopped.bytes && most > 0).then(|| {
            format!(
                "{scheme} {does} above a queue of {level} ({key}), but PAUSE stops all inputs at {} ({}): set {key} below that, or raise {}",
                told_bytes(stopped.bytes.as_f64()), stopped.of, stopped.keys
            )
        });
    }
    let pause = buffer.pause.filter(|pause| level > pause.high)?;
    // Of the ports to which most is sent.
    let (xoff, most) = (pause.high, settings.fan_in());
    let inputs = level.get() / xoff.get().max(1) + 1;
    if buffer.organisation != Organisation::SharedOutput && inputs as usize <= most {
        return None;
    }
    let acts = if does == "sends feedback" { "feedback comes" } else { "frames are marked" };
    let here = format!("{inputs} or more inputs fill one output, and here at most {most} do");
    let stops = match (buffer.organisation, pause.global) {
        (Organisation::SharedOutput, _) => {
            let of = if pause.pool { "the switch holds" } else { "an output holds" };
            format!(
                "PAUSE stops all inputs as soon as {of} {xoff}, so {acts} only for what still arrives then"
            )
        }
        (_, true) => {
            format!("PAUSE stops all inputs as soon as one holds {xoff}, so {acts} only where {here}")
        }
        (_, false) => format!("PAUSE stops an input at {xoff}, so {acts} only where {here}"),
    };
    Some(format!(
        "{scheme} {does} above a queue of {level} ({key}), but {stops}: set {key} below pause.high, or raise pause.high and switch.share"
    ))
}
