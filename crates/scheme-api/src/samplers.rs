//! Several samplers at one congestion point.

use crate::{Bytes, PointControl};

/// `N` byte counts over the one gate of a congestion point, each with its own interval.
///
/// ```
/// use cnsim_scheme_api::testing::PointRig;
/// use cnsim_scheme_api::{
///     Bytes, CongestionPoint, Feedback, FrameView, PointControl, Queue, QueueSite, Rate, Samplers, Scheme, Tag,
/// };
///
/// #[derive(Debug)]
/// struct Two(Samplers<2>);
/// impl CongestionPoint for Two {
///     fn start(&mut self, _: &Queue, ctl: &mut PointControl<'_>) {
///         self.0.arm(0, Bytes::new(4500));
///         self.0.arm(1, Bytes::new(6000));
///         self.0.wait(ctl);
///     }
///     fn on_sample(&mut self, frame: &mut FrameView, _: &Queue, ctl: &mut PointControl<'_>) {
///         for which in self.0.due(ctl) {
///             ctl.notify(frame.flow, Feedback::User([which as u64, 0]));
///             self.0.arm(which, Bytes::new([4500, 6000][which]));
///         }
///         self.0.wait(ctl);
///     }
/// }
/// #[derive(Debug)]
/// struct Mine;
/// impl Scheme for Mine {
///     fn name(&self) -> &str {
///         "mine"
///     }
///     fn congestion_point(&self, _: &QueueSite) -> Option<Box<dyn CongestionPoint>> {
///         Some(Box::new(Two(Samplers::default())))
///     }
/// }
/// let mut rig = PointRig::new(&Mine, Rate::from_gbps(10.0), 1).unwrap();
/// // Frames of 1500 B: one sampler fires with frames 3, 6, 9 and 12, the other with 4, 8 and 12.
/// (0..12).for_each(|_| drop(rig.frame(1, 9000, Tag::None)));
/// let fired: Vec<u64> = rig.messages().iter().map(|m| if let Feedback::User(u) = m { u[0] } else { 9 }).collect();
/// assert_eq!(fired, [0, 1, 0, 1, 0, 0, 1]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Samplers<const N: usize> {
    /// Bytes to go of each that is armed.
    left: [Option<u64>; N],
}

impl<const N: usize> Default for Samplers<N> {
    /// None is armed.
    fn default() -> Self {
        Self { left: [None; N] }
    }
}

impl<const N: usize> Samplers<N> {
    /// Sampler `which` is to fire at the frame that brings the bytes from now on to `bytes` (at least 1). Nothing happens
    /// where `which` is not below `N`.
    pub fn arm(&mut self, which: usize, bytes: Bytes) {
        if let Some(left) = self.left.get_mut(which) {
            *left = Some(bytes.get().max(1));
        }
    }
    /// In `on_sample`: the samplers that fire on the frame in hand, in order. They are not armed any more.
    pub fn due(&mut self, ctl: &PointControl<'_>) -> Vec<usize> {
        let counted = ctl.bytes_since_armed().get();
        let mut due = Vec::new();
        for (which, left) in self.left.iter_mut().enumerate() {
            match left.map(|l| l.saturating_sub(counted)) {
                Some(0) => {
                    *left = None;
                    due.push(which);
                }
                more => *left = more,
            }
        }
        due
    }
    /// Waits for the next sampler that is armed. Call it last in `start` and in `on_sample`.
    pub fn wait(&self, ctl: &mut PointControl<'_>) {
        match self.left.iter().flatten().min() {
            Some(bytes) => ctl.sample_after(Bytes::new(*bytes)),
            None => ctl.sample_never(),
        }
    }
}
