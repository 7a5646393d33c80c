//! A frame on a captured link, as results have it.

use crate::flows::flow_of;
use crate::model::{Body, EVERY_FLOW, Frame, Lane, Report, Says, To};
use crate::net::{Net, Ps};
use crate::outcome::{Captured, Content};
use cnsim_scheme_api::{Feedback, NodeId};

/// A frame as the model has it, with its report, that left a port and was lost or not.
pub(super) fn captured(
    net: &Net,
    port: (NodeId, u16),
    (left, lost): (Ps, bool),
    (whole, report): (Frame, Report),
) -> Captured {
    let mut class = if let Lane::Data(class) = whole.lane { Some(class) } else { None };
    let (mut flow, mut to, mut cut) = (None, None, false);
    let content = match whole.body {
        Body::Data(data) => {
            let (nth, lower) = (data.finite.then(|| flow_of(data.number)), data.number & 0xFFFF);
            flow = Some((NodeId(data.src), NodeId(data.dst), nth));
            let classic = || net.transport_of(whole.class.into()).is_some_and(|t| t.is_classic());
            (to, cut) = (Some(NodeId(data.dst)), data.cut && classic());
            Content::Data(data.view(whole.len, net, false), nth.map_or(data.number, |_| lower))
        }
        Body::Pause(pause) => {
            class = Some(pause.class);
            Content::Pause(pause.off)
        }
        Body::Control(control) => {
            let (nth, (src, dst)) = (net.flows.numbered(control.flow), net.hosts_of(control.flow));
            let about = (NodeId(src), NodeId(dst), nth.map(|flow| flow.number));
            flow = (control.flow != EVERY_FLOW).then_some(about);
            to = match control.to {
                To::Host(host) => Some(NodeId(host)),
                To::Everyone => None,
                To::Point(point) => net.point(point.0).map(|(s, _)| NodeId(net.hosts + s as u32)),
            };
            match control.says {
                Says::Feedback(mut says, _) => {
                    // A number that nobody else knows.
                    if let Feedback::Acknowledgement { record, .. } = &mut says {
                        *record = 0;
                    }
                    Content::Message(says, report.runs)
                }
                Says::Probe(probe) => Content::Probe(probe),
            }
        }
    };
    Captured { left: left.time(), port, bytes: whole.len, class, lost, cut, flow, to, content }
}
