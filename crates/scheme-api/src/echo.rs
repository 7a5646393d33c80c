//! The reflector of schemes that are driven by delay.

use crate::{Feedback, FrameView, Reflector, ReflectorControl, Tag};

/// Acknowledges every frame that carries the time at which it was sent ([`Tag::SentAt`]), at control priority, with the bytes
/// received so far and the frame's mark. The scheme's plan needs `reflect: ReflectGate::Tagged` and `received: true`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Acknowledger;

impl Reflector for Acknowledger {
    fn on_frame(&mut self, frame: &FrameView, ctl: &mut ReflectorControl<'_>) {
        if let Tag::SentAt(sent_at) = frame.tag {
            let received = ctl.received();
            ctl.reply(Feedback::Echo { sent_at, received, marked: frame.marked });
        }
    }
}
