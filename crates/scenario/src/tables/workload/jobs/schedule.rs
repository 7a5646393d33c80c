//! Tables of schedules in GOAL text, as operations: rank r is the r-th host of the table.
//!
//! A receive that waits for nothing else is no operation of its own: what waits for it waits for its message. Its begin is an operation where
//! others wait for that.

use super::read::{begins_in_time, few_of_a_pair, known, no_path, too_many};
use super::weave::{ByHost, Sends};
use super::{Asked, Operations, Rounds, Woven};
use crate::language::reader::Reader;
use crate::language::row::{LONGEST, MAX_TRANSFER};
use crate::tables::workload::{OPERATIONS, SEND_ENDS, SendEnds};
use cnsim_fabric::{Act, After};
use cnsim_import::goal::{self, Before, Goal, GoalAct};
use cnsim_units::{Bytes, Time};
use std::borrow::Cow;

/// In place of the number of an operation: it has none.
const NONE: u32 = u32::MAX;

/// Reads a table of a schedule; none if something is wrong.
pub(super) fn schedule(r: &mut Reader<'_>, asked: &Asked<'_>, operations: &mut Operations) -> Option<Woven> {
    let Asked { hosts: ranks, wiring, sources, framing, .. } = *asked;
    let before = r.problems.len();
    let hosts = asked.hosts_key(OPERATIONS);
    let known = known(r, &hosts, ranks, wiring);
    let start = begins_in_time(r, asked.prefix, Time::ZERO);
    let ends: SendEnds = r.choice(asked.key(SEND_ENDS));
    let list = r.listed(asked.key(OPERATIONS));
    if list.items.is_empty() {
        let remedy = "write its lines, or name a file in GOAL text in `file`";
        r.lacks(asked.prefix, &list, "there is no schedule", remedy);
        return None;
    }
    let text = match &list.items[..] {
        [one] => Cow::Borrowed(one.as_str()),
        all => Cow::Owned(all.join("\n")),
    };
    // The text of a file is one item, whose lines have places of their own.
    let item = |line: usize| match &list.items[..] {
        [_] => line,
        all => {
            let ends = all.iter().scan(0, |end, item| {
                *end += item.split('\n').count();
                Some(*end)
            });
            ends.take_while(|end| *end <= line).count()
        }
    };
    let goal = match goal::read(&text) {
        Ok(goal) => goal,
        Err(faults) => {
            for f in faults {
                r.wrong_at(&list.key, item(f.line - 1), f.column - 1, f.reason, f.remedy);
            }
            return None;
        }
    };
    drop(text);
    if known && goal.ranks > ranks.len() {
        let reason = format!("{} ranks, and the table names {} hosts", goal.ranks, ranks.len());
        r.wrong_item(&list.key, item(goal.line), reason, "name a host for each rank in hosts");
    }
    for one in &goal.operations {
        if let Some(wrong) = too_much(one.act) {
            r.wrong_item(&list.key, item(one.line as usize), wrong, "write less");
        }
    }
    too_many(r, &list.key, goal.operations.len() as u64);
    if r.problems.len() > before || !known {
        return None;
    }
    let ranks = &ranks[..goal.ranks];
    let followed = followed(&goal);
    let places = places(&goal, operations.len() as u32, &followed);
    let weave = Weave { goal: &goal, ranks, ends, places, followed };
    let mut rounds = Rounds::new(operations, ranks, (start, Time::ZERO), 1);
    let mut sends = Sends::new(operations, wiring, sources, framing);
    weave.all(&rounds.gates, &mut sends);
    if let Some(apart) = sends.apart {
        no_path(r, &hosts, apart, wiring);
        return None;
    }
    rounds.ends = weave.last(&rounds.gates, sends.operations);
    rounds.turn();
    few_of_a_pair(r, &list.key, sends.sources.iter().map(|s| &s.1[..]).enumerate(), wiring, 1);
    let bytes = goal.operations.iter().map(|o| if let GoalAct::Send(_, bytes) = o.act { bytes } else { 0 });
    let size = Bytes::new(bytes.fold(0, u64::saturating_add));
    let job = rounds.job(asked, None, ranks.to_vec(), size, Time::ZERO);
    Some(Woven { job, sends: sends.by_host(), requests: ByHost::new() })
}

/// In which way an operation is too long or too large, if it is.
fn too_much(act: GoalAct) -> Option<String> {
    match act {
        GoalAct::Calc(time, _) if time > LONGEST => Some(format!("{time} is longer than {LONGEST}")),
        GoalAct::Send(_, bytes) if Bytes::new(bytes) > MAX_TRANSFER => {
            Some(format!("{} is more than {MAX_TRANSFER}", Bytes::new(bytes)))
        }
        _ => None,
    }
}

/// By operation of a schedule: does another wait for its begin?
fn followed(goal: &Goal) -> Vec<bool> {
    let mut followed = vec![false; goal.operations.len()];
    for n in 0..followed.len() {
        for before in goal.before(n) {
            if let Before::Begun(first) = *before {
                followed[first as usize] = true;
            }
        }
    }
    followed
}

/// By operation of a schedule: the numbers of those in the graph that it is, behind `first` and a gate for each rank. A receive that waits
/// is one that says that it has begun, if another waits for that, and the next that it has ended.
fn places(goal: &Goal, first: u32, followed: &[bool]) -> Vec<u32> {
    let mut next = first + goal.ranks as u32;
    let place = |n: usize| {
        let of = match goal.operations[n].act {
            GoalAct::Receive(_) if goal.before(n).is_empty() => 0,
            GoalAct::Receive(_) if followed[n] => 2,
            _ => 1,
        };
        next += of;
        if of == 0 { NONE } else { next - of }
    };
    (0..goal.operations.len()).map(place).collect()
}

/// A schedule as it becomes operations.
struct Weave<'a> {
    goal: &'a Goal,
    ranks: &'a [usize],
    ends: SendEnds,
    places: Vec<u32>,
    followed: Vec<bool>,
}

impl Weave<'_> {
    /// The event by which an operation has ended.
    fn ended(&self, n: u32) -> After {
        match (self.goal.operations[n as usize].act, self.places[n as usize]) {
            (GoalAct::Receive(send), NONE) => After::Ended(self.places[send as usize]),
            (GoalAct::Receive(_), place) => After::Ended(place + u32::from(self.followed[n as usize])),
            (GoalAct::Send(..), place) if self.ends == SendEnds::Sent => After::Sent(place),
            (_, place) => After::Ended(place),
        }
    }

    /// The events that an operation waits for; one that waits for nothing else waits for its rank's gate.
    fn after(&self, n: usize, gates: &[u32]) -> Vec<After> {
        let came = |before: &Before| match *before {
            Before::Ended(n) => Some(self.ended(n)),
            Before::Begun(n) => match (self.goal.operations[n as usize].act, self.places[n as usize]) {
                (GoalAct::Receive(_), NONE) => None,
                (GoalAct::Receive(_), place) => Some(After::Ended(place)),
                (_, place) => Some(After::Begun(place)),
            },
        };
        let mut all: Vec<After> = self.goal.before(n).iter().filter_map(came).collect();
        if all.is_empty() {
            all.push(After::Ended(gates[self.goal.operations[n].rank as usize]));
        }
        all
    }

    /// All operations, and what each host sends.
    fn all(&self, gates: &[u32], sends: &mut Sends<'_>) {
        for (n, one) in self.goal.operations.iter().enumerate() {
            let host = self.ranks[one.rank as usize];
            match one.act {
                GoalAct::Calc(time, cpu) => {
                    let act = Act::Compute { time, stream: Some(cpu) };
                    sends.operations.push(host, act, self.after(n, gates));
                }
                GoalAct::Send(to, bytes) => {
                    // A message without bytes has a frame of one.
                    sends.pass((host, self.ranks[to as usize]), bytes.max(1), self.after(n, gates));
                }
                GoalAct::Receive(_) if self.places[n] == NONE => {}
                GoalAct::Receive(send) => {
                    let (mut before, arrived) =
                        (self.after(n, gates), After::Ended(self.places[send as usize]));
                    if self.followed[n] {
                        before = vec![After::Ended(sends.operations.wait(host, Time::ZERO, before))];
                    }
                    sends.operations.wait(host, Time::ZERO, before.into_iter().chain([arrived]));
                }
            }
        }
    }

    /// By rank: an operation that ends when all of the rank have.
    fn last(&self, gates: &[u32], operations: &mut Operations) -> Vec<u32> {
        // The end of what another waits for comes no later than the end of that.
        let mut waited = vec![false; self.goal.operations.len()];
        for n in 0..waited.len() {
            for before in self.goal.before(n) {
                if let Before::Ended(first) = *before {
                    waited[first as usize] = true;
                }
            }
        }
        let mut all: Vec<Vec<After>> = gates.iter().map(|&gate| vec![After::Ended(gate)]).collect();
        for (n, one) in self.goal.operations.iter().enumerate().filter(|o| !waited[o.0]) {
            all[one.rank as usize].push(self.ended(n as u32));
        }
        let wait = |(&host, after)| operations.wait(host, Time::ZERO, after);
        self.ranks.iter().zip(all).map(wait).collect()
    }
}
