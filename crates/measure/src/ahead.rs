//! Who stood before the last frame of a flow in a queue: the frames that left the port while it waited there.

use cnsim_fabric::{Captured, Content, Outcome, Stay};
use cnsim_scenario::wiring::Wiring;
use cnsim_scheme_api::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A flow as captured frames name it: source, destination, lower half of its number.
pub(crate) type Name = (NodeId, NodeId, Option<u16>);

/// How long the last frame of a flow waited at a port behind others: frames of a flow (`H1>H5`), `own` ones, `others` that are not named,
/// `answers` (acknowledgements among the data), `control`, other `classes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ahead {
    /// The port, among the ports of the flow.
    pub port: u64,
    /// Behind whom.
    pub who: String,
    /// ps.
    pub time: u64,
}

/// Others that are named at a port; of more the sum.
const MOST: usize = 3;

/// Behind whom the last frame of a flow of a class waited at a switch port, of this number among the ports: the longest first, ps. What
/// is left of its wait is XOFF, or the port was idle. None where frames of the port were not kept.
pub(crate) fn ahead(
    out: &Outcome,
    wiring: &Wiring,
    (flow, class): (Name, u8),
    (port, stay): (u64, &Stay),
) -> Vec<Ahead> {
    let frames = &out.recorded.capture.frames;
    let (until, leaves) = (stay.began, stay.began + stay.sending);
    if stay.began <= stay.came || out.recorded.capture.cut.is_some_and(|cut| cut <= leaves) {
        return Vec::new();
    }
    let first = frames.partition_point(|frame| frame.left <= stay.came);
    let here = |frame: &&Captured| frame.port == stay.at && !matches!(frame.content, Content::Pause(_));
    // The frame itself says how long one takes there.
    let mut after = frames[first..].iter().take_while(|frame| frame.left <= leaves).filter(here);
    let Some(own) = after.find(|frame| frame.left == leaves && frame.flow == Some(flow)) else {
        return Vec::new();
    };
    let service = |bytes: u16| stay.sending.as_ps() * u64::from(bytes) / u64::from(own.bytes).max(1);
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    let mut before = stay.came;
    for frame in frames[first..].iter().take_while(|frame| frame.left <= until).filter(here) {
        let time = frame.left.saturating_sub(before).as_ps().min(service(frame.bytes));
        before = frame.left;
        let name = match (&frame.content, frame.flow) {
            (_, _) if frame.class.is_none() => "control".into(),
            _ if frame.class != Some(class) => "classes".into(),
            (Content::Data(..), Some(other)) if other == flow => "own".into(),
            (Content::Data(..), Some((src, dst, nth))) => {
                let nth = nth.filter(|nth| *nth > 0).map_or_else(String::new, |nth| format!("#{}", nth + 1));
                format!("{}>{}{nth}", wiring.name(src), wiring.name(dst))
            }
            _ => "answers".into(),
        };
        *sums.entry(name).or_default() += time;
    }
    let mut all: Vec<(String, u64)> = sums.into_iter().filter(|sum| sum.1 > 0).collect();
    all.sort_by_key(|sum| std::cmp::Reverse(sum.1));
    let is_flow = |name: &str| name.contains('>');
    let mut named = 0;
    let (mut kept, mut rest) = (Vec::new(), 0);
    for (who, time) in all {
        named += usize::from(is_flow(&who));
        match is_flow(&who) && named > MOST {
            true => rest += time,
            false => kept.push(Ahead { port, who, time }),
        }
    }
    kept.extend((rest > 0).then(|| Ahead { port, who: "others".into(), time: rest }));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::{Bytes, FlowId, FrameView, Tag, Time};

    /// A frame that came at 10 us waits until 22 us: behind the rest of one, behind its own flow, and for XOFF, which no frame takes.
    #[test]
    fn a_wait_is_that_of_the_frames_before() {
        let wiring = Wiring::default();
        let port = (NodeId(3), 2);
        let view = FrameView {
            flow: FlowId(0),
            src: NodeId(0),
            dst: NodeId(2),
            len: Bytes::new(1500),
            marked: false,
            tag: Tag::None,
            dropped: false,
        };
        let mine: Name = (NodeId(0), NodeId(2), Some(0));
        let frame = |us: u64, flow, class, bytes| Captured {
            left: Time::from_us(us),
            port,
            bytes,
            class,
            lost: false,
            cut: false,
            flow: Some(flow),
            to: None,
            content: Content::Data(view, 0),
        };
        let mut out = Outcome::default();
        out.recorded.capture.frames = vec![
            frame(9, mine, Some(0), 1500),
            frame(11, mine, Some(0), 1500),
            frame(13, mine, Some(0), 1500),
            frame(14, mine, None, 750),
            frame(22, mine, Some(1), 1500),
            frame(24, mine, Some(0), 1500),
        ];
        let us = Time::from_us;
        let stay =
            Stay { at: port, came: us(10), began: us(22), xoff: us(6), sending: us(2), link: Time::ZERO };
        let told = ahead(&out, &wiring, (mine, 0), (7, &stay));
        let told: Vec<_> = told.iter().map(|a| (a.port, a.who.as_str(), a.time / 1_000_000)).collect();
        // Of the frame that left at 11 us the last microsecond; of that of another class its own two.
        assert_eq!(told, [(7, "own", 3), (7, "classes", 2), (7, "control", 1)]);
        out.recorded.capture.cut = Some(us(24));
        assert!(ahead(&out, &wiring, (mine, 0), (7, &stay)).is_empty(), "not all is known");
    }
}
