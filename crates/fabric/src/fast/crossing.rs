//! Frames of the fast way as the model has them.

use crate::check::broken;
use crate::fast::frame::Frame;
use crate::fast::wires::Wires;
use crate::model::{Body, Control, Frame as Whole, Packet, Says};
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
        if self.is_data() {
            let plain = wires.records.plain(self).data_header();
            let data = crate::model::Data { record: self.record(), ..plain };
            return Whole::of_data(self.len, &data).of_class(self.class(), net);
        }
        let Some((flow, says)) = self.says(net, wires) else { broken("a message without a body") };
        let control = Control { flow, to: self.goes_to(), says };
        Whole {
            class: self.class(),
            len: self.len,
            lane: self.lane(),
            input: 0,
            body: Body::Control(control),
        }
    }
}
