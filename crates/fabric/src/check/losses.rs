//! Frames that switches drop, by pair of hosts.

/// How many frames were dropped of each pair of hosts: nothing is held before the first.
#[derive(Debug, Default)]
pub(crate) struct Losses(Vec<u32>);

impl Losses {
    /// A frame of the pair with this index (source times hosts plus destination) is dropped.
    #[inline(never)]
    pub(crate) fn add(&mut self, pair: u32, hosts: u32) {
        if self.0.is_empty() {
            self.0.resize(hosts as usize * hosts as usize, 0);
        }
        if let Some(n) = self.0.get_mut(pair as usize) {
            *n += 1;
        }
    }

    /// Adds them to those of the whole network.
    pub(crate) fn add_to(&self, all: &mut Vec<u64>) {
        all.resize(all.len().max(self.0.len()), 0);
        all.iter_mut().zip(&self.0).for_each(|(sum, n)| *sum += u64::from(*n));
    }
}
