//! Messages: each flow of a table goes again on its connection.

use super::{KIND, MESSAGE_PERIOD, MESSAGES, START};
use crate::language::reader::Reader;
use crate::language::row::{Key, MAX_FLOWS};
use crate::tables::run;
use cnsim_fabric::Transfer;
use cnsim_units::Time;

/// How often the flows of a table go, and the time from one message to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Messages {
    pub(super) count: u64,
    period: Time,
}

impl Messages {
    /// Each flow goes once.
    pub(super) const ONE: Self = Self { count: 1, period: Time::ZERO };

    /// As the table has it, where these are the listed flows.
    pub(super) fn read<'a>(
        r: &mut Reader<'_>,
        prefix: &str,
        listed: impl Iterator<Item = &'a Transfer>,
    ) -> Self {
        let key = |leaf: Key| leaf.of(prefix);
        let (count, duration) = (r.integer(key(MESSAGES)), r.time(run::DURATION));
        if count <= 1 {
            return Self::ONE;
        }
        let all = Self { count, period: r.time(key(MESSAGE_PERIOD)) };
        let (mut flows, mut last) = (0, r.time(key(START)));
        listed.for_each(|t| (flows, last) = (flows + count, last.max(t.start)));
        let most = Time::from_ps(u64::MAX.saturating_sub(last.as_ps()) / count);
        let begins = last + all.period.min(most) * (count - 1);
        if begins >= duration {
            let reason =
                format!("the last of {count} messages begins at {begins}, after the run of {duration}");
            let remedy = "lower messages or message_period, or lengthen run.duration";
            r.clash(&[key(MESSAGES), key(MESSAGE_PERIOD), run::DURATION.into()], reason, remedy);
        }
        if flows > MAX_FLOWS {
            let remedy = format!("at most {MAX_FLOWS}: lower messages, or list fewer flows");
            r.wrong(key(KIND), format!("{flows} messages are too many"), remedy);
        }
        all
    }

    /// The messages of these flows, in the order in which they begin; `start` is where that stands.
    pub(super) fn of<T: Clone>(self, flows: &[T], start: impl Fn(&mut T) -> &mut Time) -> Vec<T> {
        let nth = |n: u64| {
            let start = &start;
            flows.iter().cloned().map(move |mut flow| {
                *start(&mut flow) += self.period * n;
                flow
            })
        };
        let mut all: Vec<T> = (0..self.count).flat_map(nth).collect();
        if self.count > 1 {
            all.sort_by_key(|flow| *start(&mut flow.clone()));
        }
        all
    }
}
