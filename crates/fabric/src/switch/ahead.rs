//! What depends on the moment, in a window whose frames are stored already.
//!
//! [`crate::sweep`] stores the frames of a calm window without order, each at its place in its queue, and *then* comes to
//! what is rare: samples that are due, own messages, timers, ticks, changes of rate. Each looks at one port, and what it
//! needs of the port at its moment follows from the queue: what has left by then is found by replaying the transmitter, and
//! what is stored but arrives later stands at the queue's end.

use super::*;

/// A port whose countdown runs out among the frames stored ahead, and the frame on which it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    port: u16,
    /// When it arrives, and where: the order of samples.
    at: Key,
    /// Frames stored behind it.
    behind: usize,
}

impl Port {
    /// Frames, and their bytes, that are stored already though they arrive at `from` or later.
    #[inline]
    pub(crate) fn ahead(&self, from: u64) -> (usize, u64) {
        let mut ahead = (0, 0);
        for e in self.data.entries().iter().rev().take_while(|e| e.ready >= from) {
            ahead = (ahead.0 + 1, ahead.1 + u64::from(e.frame.len));
        }
        ahead
    }

    /// Bytes of the last frames of the queue.
    pub(super) fn last_bytes(&self, frames: usize) -> u64 {
        let all = self.data.entries();
        let last = all.get(all.len().saturating_sub(frames)..).unwrap_or_default();
        last.iter().map(|e| u64::from(e.frame.len)).sum()
    }
}

impl Switch {
    /// Does what is due before `end`, in order of time. All frames of the window, which began at `base`, are stored, and no
    /// occupancy has come near a threshold.
    #[cold]
    #[inline(never)]
    pub(crate) fn catch_up(&mut self, base: u64, end: u64, net: &Net, wires: &mut Wires) {
        for i in 0..self.ran_out.len() {
            let p = usize::from(self.ran_out[i]);
            self.look_for_sample(p, self.ports[p].ahead(base).0);
        }
        self.ran_out.clear();
        loop {
            let rare = if self.rare < end { self.next_rare_key() } else { NO_EVENT };
            match self.due.iter().enumerate().min_by_key(|(_, d)| d.at) {
                Some((i, &due)) if due.at < rare => {
                    self.due.swap_remove(i);
                    self.sample_ahead(due, net, wires);
                }
                _ if rare.0 < end => self.execute(rare, net, wires),
                _ => return,
            }
        }
    }

    /// Notes that a port's countdown has run out on a frame that was stored ahead.
    #[cold]
    #[inline(never)]
    pub(super) fn note_ran_out(&mut self, p: usize) {
        if self.ran_out.last() != Some(&(p as u16)) && !self.ran_out.contains(&(p as u16)) {
            self.ran_out.push(p as u16);
        }
    }

    /// On which of the last `frames` frames of its queue does a port's countdown run out, if on one?
    pub(super) fn look_for_sample(&mut self, p: usize, frames: usize) {
        if !self.due.is_empty() {
            self.due.retain(|d| usize::from(d.port) != p);
        }
        let port = &self.ports[p];
        let mut countdown = port.countdown + port.last_bytes(frames) as i64;
        let all = port.data.entries();
        for (i, e) in all.iter().enumerate().skip(all.len().saturating_sub(frames)) {
            countdown -= i64::from(e.frame.len);
            if countdown <= 0 {
                let at = (e.ready, order::DATA, u32::from(e.frame.input));
                self.due.push(Due { port: p as u16, at, behind: all.len() - 1 - i });
                return;
            }
        }
    }

    fn sample_ahead(&mut self, due: Due, net: &Net, wires: &mut Wires) {
        let p = usize::from(due.port);
        self.now = due.at.0;
        self.touch(p, self.now, wires);
        let all = self.ports[p].data.entries();
        let Some(e) = all.len().checked_sub(due.behind + 1).and_then(|i| all.get(i)) else { return };
        let frame = e.frame;
        self.sample(p, frame, false, due.behind, net);
    }
}
