//! Frames that pass from a node of the fast way to one of the model, and back.

use crate::check::broken;
use crate::fast::frame::{Entry, Frame, packed};
use crate::fast::wires::Wires;
use crate::model::{Body, Control, Frame as Whole, Moment, Packet, Says, Sent};
use crate::net::Net;
use cnsim_scheme_api::FlowId;

impl Frame {
    /// Content of a message or probe, and its flow.
    #[inline(always)]
    pub(crate) fn says(&self, net: &Net, wires: &mut Wires) -> Option<(FlowId, Says)> {
        match self.acknowledges(net, &mut wires.records) {
            Some((flow, feedback)) => Some((flow, Says::Feedback(feedback, 0))),
            None => self.said().map(|says| (self.about(), says)).or_else(|| wires.bodies.take(self.body())),
        }
    }

    /// As the model has it.
    pub(crate) fn whole(&self, net: &Net, wires: &mut Wires) -> Whole {
        if let Some(pause) = self.as_pause() {
            return Whole::of_pause(pause, net);
        }
        if net.classes.len() > 1 && self.class() > 0 {
            return self.of_no_class().whole(net, wires).of_class(self.class(), net);
        }
        if self.is_data() {
            let plain = wires.records.plain(self).data_header();
            return Whole::of_data(self.len, &crate::model::Data { record: self.record(), ..plain });
        }
        let Some((flow, says)) = self.says(net, wires) else { broken("a message without a body") };
        Whole {
            class: 0,
            len: self.len,
            lane: self.kind().lane(),
            input: 0,
            body: Body::Control(Control { flow, to: self.goes_to(), says }),
        }
    }
}

impl Wires {
    /// A node of the model has sent a frame to this receiving port.
    pub(crate) fn push_whole(&mut self, port: u32, sent: &Sent, net: &Net) {
        let Sent { at: ready, frame: whole, .. } = sent;
        let at = Moment { now: *ready, net };
        let (frame, body) = match &whole.body {
            Body::Pause(pause) => (Frame::of_pause(*pause, net), None),
            Body::Control(control) => packed(whole.lane, control, at),
            Body::Data(data) => {
                let mut frame = Frame::of_data(whole.len, data);
                frame.set_marked(data.marked);
                frame.set_cut(data.cut);
                frame.write_tag(data.tag);
                if data.record > 0 {
                    *self.records.beside(data.record) = frame.ext;
                    frame.set_record(data.record);
                }
                (frame, None)
            }
        };
        self.push(port, Entry { ready: *ready, frame }, body);
    }
}
