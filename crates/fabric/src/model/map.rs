//! A map of frames: what a queue pair knows of each frame of its window.

use crate::numbers::FrameNo;
use std::collections::VecDeque;

/// A set of frames of one flow: a bit for each, from the first that is entered to the last.
#[derive(Debug, Default)]
pub(crate) struct FrameMap {
    /// The number of the first word.
    first: u64,
    words: VecDeque<u64>,
    /// Frames in the set.
    pub(crate) count: u64,
}

/// The bits of a word at and above a frame.
fn from(frame: FrameNo) -> u64 {
    u64::MAX << (frame.0 % 64)
}

impl FrameMap {
    /// The empty set.
    pub(crate) const NONE: Self = Self { first: 0, words: VecDeque::new(), count: 0 };

    fn word(&self, frame: FrameNo) -> u64 {
        let at = (frame.0 / 64).checked_sub(self.first);
        at.and_then(|at| self.words.get(at as usize)).copied().unwrap_or(0)
    }
    /// Is a frame in the set?
    pub(crate) fn has(&self, frame: FrameNo) -> bool {
        self.count > 0 && self.word(frame) >> (frame.0 % 64) & 1 == 1
    }
    /// Enters a frame; false if it is in the set.
    pub(crate) fn enter(&mut self, frame: FrameNo) -> bool {
        if self.has(frame) {
            return false;
        }
        if self.count == 0 {
            self.words.clear();
            self.first = frame.0 / 64;
        }
        while frame.0 / 64 < self.first {
            self.words.push_front(0);
            self.first -= 1;
        }
        let at = (frame.0 / 64 - self.first) as usize;
        self.words.resize(self.words.len().max(at + 1), 0);
        self.words[at] |= 1 << (frame.0 % 64);
        self.count += 1;
        true
    }
    /// Takes a frame out of the set.
    pub(crate) fn remove(&mut self, frame: FrameNo) {
        if self.has(frame) {
            self.words[(frame.0 / 64 - self.first) as usize] &= !(1 << (frame.0 % 64));
            self.count -= 1;
        }
    }
    /// Takes all frames below one out of the set.
    pub(crate) fn forget_below(&mut self, frame: FrameNo) {
        while self.count > 0 && self.first < frame.0 / 64 {
            self.count -= self.words.pop_front().map_or(0, |word| u64::from(word.count_ones()));
            self.first += 1;
        }
        if self.count > 0
            && self.first == frame.0 / 64
            && let Some(word) = self.words.front_mut()
        {
            self.count -= u64::from((*word & !from(frame)).count_ones());
            *word &= from(frame);
        }
    }
    /// Takes all frames out of the set.
    pub(crate) fn clear(&mut self) {
        (self.count, self.words) = (0, VecDeque::new());
    }
    /// Frames of the set at or above one.
    pub(crate) fn count_from(&self, frame: FrameNo) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let all = (self.first..).zip(&self.words).skip_while(|w| w.0 < frame.0 / 64);
        all.map(|(n, word)| if n == frame.0 / 64 { word & from(frame) } else { *word })
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }
    /// The first frame of the set.
    pub(crate) fn first(&self) -> Option<FrameNo> {
        let (n, word) = (self.first..).zip(&self.words).find(|w| *w.1 != 0)?;
        Some(FrameNo(n * 64 + u64::from(word.trailing_zeros())))
    }
    /// The nth frame of the set from its end on, the last being the first.
    pub(crate) fn nth_last(&self, nth: u64) -> Option<FrameNo> {
        let mut left = nth.checked_sub(1)?;
        for (at, word) in self.words.iter().enumerate().rev() {
            let (n, mut word) = (self.first + at as u64, *word);
            while word != 0 {
                let top = 63 - word.leading_zeros();
                if left == 0 {
                    return Some(FrameNo(n * 64 + u64::from(top)));
                }
                (left, word) = (left - 1, word & !(1 << top));
            }
        }
        None
    }
    /// The first frame at or above one that is not in the set.
    pub(crate) fn next_missing(&self, mut frame: FrameNo) -> FrameNo {
        loop {
            let missing = !self.word(frame) & from(frame);
            if missing != 0 {
                return FrameNo(frame.0 / 64 * 64 + u64::from(missing.trailing_zeros()));
            }
            frame.0 = (frame.0 / 64 + 1) * 64;
        }
    }
    /// The first frame of the run of frames in the set that ends with one.
    pub(crate) fn run_begin(&self, mut frame: FrameNo) -> FrameNo {
        while frame.0 > 0 && self.has(FrameNo(frame.0 - 1)) {
            frame.0 -= 1;
        }
        frame
    }
}

#[cfg(test)]
#[path = "../../tests/parts/map.rs"]
mod tests;
