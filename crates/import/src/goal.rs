//! Schedules of ranks in GOAL text (LogGOPSim, ATLAHS): what each rank computes, sends and receives, and in which order.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//!   a: calc 1000 cpu 1           // ns
//!   b: send 4096b to 1 tag 7
//!   b requires a                 // begins when a has ended
//! }
//! rank 1 {
//!   c: recv 4096b from 0 tag 7
//!   d: calc 50
//!   d irequires c                // begins when c has begun
//! }
//! ```
//!
//! Sources: the grammar and the examples of spcl/HTSIM 8a33f33 and the description of LogGOPSim (from memory and notes). A statement may
//! share its line with others. Comments are `#`, `//` and `/* */`. A tag or a processor that is not named is 0.
//!
//! A message and a receive meet by rank, peer and tag. Of those with the same three, the first that may begin meets the first: by graph and
//! computing times as if messages took no time, and of one moment in the order of the file.

use crate::faults::{Faults, ImportError, error};
use cnsim_units::Time;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Act of an operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalAct {
    /// Occupies a processor for a time.
    Calc(Time, u16),
    /// Sends bytes to a rank.
    Send(u32, u64),
    /// Waits until the message of this operation has arrived.
    Receive(u32),
}

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoalOperation {
    /// The rank.
    pub rank: u32,
    /// Line that names it, from 0.
    pub line: u32,
    /// Act of the operation.
    pub act: GoalAct,
}

/// A condition on another operation of the same rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Before {
    /// An operation has ended.
    Ended(u32),
    /// An operation has begun.
    Begun(u32),
}

impl Before {
    fn of(operation: u32, ends: bool) -> Self {
        if ends { Self::Ended(operation) } else { Self::Begun(operation) }
    }

    fn operation(self) -> usize {
        let (Self::Ended(n) | Self::Begun(n)) = self;
        n as usize
    }
}

/// A schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// How many ranks it has.
    pub ranks: usize,
    /// Line that says so, from 0.
    pub line: usize,
    /// The operations, by line.
    pub operations: Vec<GoalOperation>,
    /// Where the list of each operation begins in `all`.
    first: Vec<u32>,
    all: Vec<Before>,
}

impl Goal {
    /// Conditions that an operation waits for.
    pub fn before(&self, operation: usize) -> &[Before] {
        let end = self.first.get(operation + 1).map_or(self.all.len(), |&end| end as usize);
        self.first.get(operation).and_then(|&first| self.all.get(first as usize..end)).unwrap_or_default()
    }

    /// Operations in the order in which they may begin: the others stand in a circle, or behind one. Messages and receives take no time, and
    /// with `met` a receive also waits for its message. Of those that may begin at one moment, the first of the file is first.
    fn order(&self, met: bool) -> Vec<u32> {
        let n = self.operations.len();
        // An operation begins when nothing is left of `left`, and a receive ends when its message has begun, too.
        let mut left: Vec<u32> = (0..n).map(|i| self.before(i).len() as u32).collect();
        let mut follow: Vec<(Before, u32)> = Vec::with_capacity(self.all.len());
        for i in 0..n {
            follow.extend(self.before(i).iter().map(|&before| (before, i as u32)));
        }
        follow.sort_unstable();
        let message = |i: u32| match self.operations[i as usize].act {
            GoalAct::Receive(send) if met => Some(send),
            _ => None,
        };
        // By message, its receive.
        let mut waits = vec![u32::MAX; if met { n } else { 0 }];
        (0..n as u32).filter_map(|i| Some((message(i)?, i))).for_each(|(send, i)| waits[send as usize] = i);
        let mut begun = vec![false; n];
        let mut free: HashMap<(u32, u16), u64> = HashMap::new();
        let mut ready: BinaryHeap<Reverse<(u64, u32)>> =
            (0..n as u32).filter(|&i| left[i as usize] == 0).map(|i| Reverse((0, i))).collect();
        let mut since = vec![0; n];
        let mut order = Vec::with_capacity(n);
        while let Some(Reverse((at, i))) = ready.pop() {
            order.push(i);
            begun[i as usize] = true;
            let one = self.operations[i as usize];
            let (begins, ends) = match one.act {
                GoalAct::Calc(time, cpu) => {
                    let free = free.entry((one.rank, cpu)).or_default();
                    let begins = at.max(*free);
                    *free = begins.saturating_add(time.as_ps());
                    (begins, *free)
                }
                _ => (at, at),
            };
            let whole = message(i).is_none_or(|send| begun[send as usize]);
            let received = waits.get(i as usize).copied().filter(|r| begun.get(*r as usize) == Some(&true));
            let events = [
                Some((Before::Begun(i), begins)),
                whole.then_some((Before::Ended(i), ends)),
                received.map(|receive| (Before::Ended(receive), at)),
            ];
            for (event, moment) in events.into_iter().flatten() {
                let first = follow.partition_point(|f| f.0 < event);
                for &(_, next) in follow[first..].iter().take_while(|f| f.0 == event) {
                    since[next as usize] = moment.max(since[next as usize]);
                    left[next as usize] -= 1;
                    if left[next as usize] == 0 {
                        ready.push(Reverse((since[next as usize], next)));
                    }
                }
            }
        }
        order
    }

    /// A circle of operations that never end, each before the one that it waits for; none if all end.
    fn circle(&self, order: &[u32], met: bool) -> Option<Vec<usize>> {
        let mut begun = vec![false; self.operations.len()];
        order.iter().for_each(|&i| begun[i as usize] = true);
        // Does it never end? A receive that has begun may wait for a message that has not.
        let message = |i: usize| match self.operations[i].act {
            GoalAct::Receive(send) if met && !begun[send as usize] => Some(send as usize),
            _ => None,
        };
        let mut way = vec![(0..begun.len()).find(|&i| !begun[i])?];
        loop {
            let last = way[way.len() - 1];
            let stands = |before: &&Before| match **before {
                Before::Ended(n) => !begun[n as usize] || message(n as usize).is_some(),
                Before::Begun(n) => !begun[n as usize],
            };
            let next = match begun[last] {
                true => message(last)?,
                false => self.before(last).iter().find(stands)?.operation(),
            };
            let seen = way.iter().position(|&n| n == next);
            way.push(next);
            if let Some(first) = seen {
                return Some(way.split_off(first));
            }
        }
    }
}

/// A word of the text, with its line and its place.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    line: usize,
    /// Bytes of the text before it.
    at: usize,
}

/// The words of a text, without comments; braces, colons and semicolons are words of their own.
struct Words<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let alone = |c: char| matches!(c, '{' | '}' | ':' | ';');
        // The second character of what opens a comment that ends with its line, or not.
        let opens = |rest: &str| rest.as_bytes().get(1).copied().filter(|c| matches!(c, b'/' | b'*'));
        loop {
            let rest = self.text.get(self.at..)?;
            let c = rest.chars().next()?;
            let skipped = match (c, if c == '/' { opens(rest) } else { None }) {
                ('#', _) | (_, Some(b'/')) => rest.find('\n').unwrap_or(rest.len()),
                (_, Some(_)) => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
                _ if c.is_whitespace() => c.len_utf8(),
                _ => {
                    let ends = |&(i, c): &(usize, char)| {
                        alone(c) || c.is_whitespace() || c == '#' || c == '/' && opens(&rest[i..]).is_some()
                    };
                    let end = rest.char_indices().find(ends).map_or(rest.len(), |end| end.0);
                    let word = Word { text: &rest[..end.max(1)], line: self.line, at: self.at };
                    self.at += word.text.len();
                    return Some(word);
                }
            };
            self.line += rest[..skipped].bytes().filter(|b| *b == b'\n').count();
            self.at += skipped;
        }
    }
}

/// How a statement is written.
const STATEMENTS: &str = "write `num_ranks N`, then for each rank `rank R { ... }` with `calc NS [cpu N]`, `send BYTESb to RANK [tag N]`, `recv BYTESb from RANK [tag N]`, or `a requires b`";
/// Processors of a rank.
const PROCESSORS: u64 = 1024;

/// Reads statements.
struct Statements<'a> {
    /// All of the text.
    text: &'a str,
    words: std::iter::Peekable<Words<'a>>,
    /// The word read last.
    last: Word<'a>,
    faults: Faults,
}

type Read<T> = Result<T, ()>;

impl<'a> Statements<'a> {
    fn fault(&mut self, at: Word<'_>, reason: impl Into<String>, remedy: impl Into<String>) {
        let before = &self.text[..at.at];
        let column = before[before.rfind('\n').map_or(0, |end| end + 1)..].chars().count() + 1;
        self.faults.push(ImportError { column, ..error(at.line + 1, reason, remedy) });
    }
    fn refuse<T>(&mut self, at: Word<'_>, reason: impl Into<String>, remedy: impl Into<String>) -> Read<T> {
        self.fault(at, reason, remedy);
        Err(())
    }
    fn next(&mut self) -> Option<Word<'a>> {
        let word = self.words.next()?;
        self.last = word;
        Some(word)
    }
    fn is(&mut self, text: &str) -> bool {
        self.words.peek().is_some_and(|word| word.text == text)
    }
    /// The next word of a statement. A closing brace is no word: it ends the statement.
    fn due(&mut self, what: &str) -> Read<Word<'a>> {
        let last = self.last;
        match self.words.next_if(|word| word.text != "}") {
            Some(word) => {
                self.last = word;
                Ok(word)
            }
            None => self.refuse(last, format!("{what} is missing behind `{}`", last.text), STATEMENTS),
        }
    }
    /// Takes the next word, and refuses any other than this text.
    fn must(&mut self, text: &str) -> Read<()> {
        match self.due(&format!("`{text}`"))? {
            word if word.text == text => Ok(()),
            word => self.refuse(word, format!("`{}` where `{text}` is due", word.text), STATEMENTS),
        }
    }
    /// The next word as a whole number below a bound; bytes may end with `b`.
    fn number(&mut self, what: &str, below: u64) -> Read<u64> {
        let word = self.due(what)?;
        let digits = word.text.strip_suffix('b').filter(|_| what == "a number of bytes").unwrap_or(word.text);
        match digits.parse::<u64>() {
            Ok(n) if n < below => Ok(n),
            Ok(n) => {
                self.refuse(word, format!("{n} is too large for {what}"), format!("at most {}", below - 1))
            }
            Err(_) => self.refuse(word, format!("`{}` is not {what}", word.text), STATEMENTS),
        }
    }
    /// Goes to the next line, or before a brace that closes.
    fn skip(&mut self) {
        let line = self.last.line;
        while self.words.peek().is_some_and(|word| word.line == line && word.text != "}") {
            self.next();
        }
    }
}

/// A message or a receive that is to meet its other.
struct Meets {
    /// Sender, receiver and tag.
    key: (u32, u32, u64),
    bytes: u64,
    operation: u32,
}

/// What is read of the ranks beside their operations.
#[derive(Default)]
struct Found {
    sends: Vec<Meets>,
    receives: Vec<Meets>,
    before: Vec<(u32, Before)>,
}

/// Reads a schedule.
///
/// # Errors
/// All statements that are none, or have a rank or a label that is not there; messages that nobody receives and receives that nobody
/// sends; circles. Lines count from 1.
pub fn read(text: &str) -> Result<Goal, Vec<ImportError>> {
    let start = Word { text: "", line: 0, at: 0 };
    let words = Words { text, at: 0, line: 0 }.peekable();
    let mut s = Statements { text, words, last: start, faults: Faults::default() };
    let (mut goal, mut found) = (Goal::default(), Found::default());
    let head = s.must("num_ranks").and_then(|()| s.number("a number of ranks", 1 << 20));
    goal.ranks = head.unwrap_or_else(|()| {
        s.skip();
        0
    }) as usize;
    goal.line = s.last.line;
    if head == Ok(0) {
        s.fault(s.last, "a schedule of no rank", "write how many ranks there are");
    }
    // Without a number of ranks, any rank may be there.
    let mut seen = HashSet::new();
    while let Some(&word) = s.words.peek() {
        let rank = s.must("rank").and_then(|()| rank_of(&mut s, goal.ranks));
        let Ok(rank) = rank.and_then(|rank| s.must("{").map(|()| rank)) else {
            s.skip();
            // A brace that closes belongs to what was refused.
            if s.is("}") {
                s.next();
            }
            if s.words.peek().is_some_and(|next| next.at == word.at) {
                s.next();
            }
            continue;
        };
        if !seen.insert(rank) {
            s.fault(word, format!("rank {rank} is there twice"), "write all of a rank in one block");
        }
        block(&mut s, (rank, word), &mut goal, &mut found);
    }
    if goal.operations.is_empty() && s.faults.none() {
        s.fault(s.last, "no rank does anything", STATEMENTS);
    }
    let Found { sends, receives, mut before } = found;
    before.sort_unstable();
    before.dedup();
    goal.first = Vec::with_capacity(goal.operations.len());
    for n in 0..goal.operations.len() as u32 {
        goal.first.push(before.partition_point(|b| b.0 < n) as u32);
    }
    goal.all = before.iter().map(|b| b.1).collect();
    drop(before);
    if s.faults.none() {
        meet(&mut goal, (sends, receives), text, &mut s.faults);
    }
    s.faults.or(goal)
}

/// A number of a rank.
fn rank_of<'a>(s: &mut Statements<'a>, ranks: usize) -> Read<u32> {
    let rank = s.number("the number of a rank", 1 << 20)?;
    if rank >= ranks as u64 && ranks > 0 {
        let remedy = format!("ranks are 0 to {}", ranks - 1);
        return s.refuse(s.last, format!("there is no rank {rank}"), remedy);
    }
    Ok(rank as u32)
}

/// The statements of a rank, up to its brace that closes.
fn block<'a>(s: &mut Statements<'a>, (rank, opens): (u32, Word<'a>), goal: &mut Goal, found: &mut Found) {
    let mut labels: HashMap<&str, u32> = HashMap::new();
    let mut named: Vec<(Word<'a>, bool, Word<'a>)> = Vec::new();
    loop {
        let Some(word) = s.next() else {
            let reason = format!("the block of rank {rank} has no brace that closes it");
            s.fault(opens, reason, "write `}` behind its last statement");
            break;
        };
        let mut key = word;
        match word.text {
            "}" => break,
            ";" => continue,
            _ => {}
        }
        if s.is(":") {
            s.next();
            if labels.insert(word.text, goal.operations.len() as u32).is_some() {
                s.fault(
                    word,
                    format!("the label `{}` is there twice in rank {rank}", word.text),
                    "name each once",
                );
            }
            let Ok(next) = s.due("a statement") else { continue };
            key = next;
        } else if s.is("requires") || s.is("irequires") {
            let ends = s.is("requires");
            s.next();
            let Ok(other) = s.due("a label") else { continue };
            match (labels.get(word.text), labels.get(other.text)) {
                (Some(&n), Some(&first)) => found.before.push((n, Before::of(first, ends))),
                // A label may be named before it stands.
                _ => named.push((word, ends, other)),
            }
            continue;
        }
        if operation(s, (rank, key), goal, found).is_err() {
            // A place of its own, so that labels keep theirs.
            s.skip();
        }
    }
    for (word, ends, other) in named {
        let [Some(&n), Some(&first)] = [labels.get(word.text), labels.get(other.text)] else {
            let unknown = if labels.contains_key(word.text) { other } else { word };
            s.fault(
                unknown,
                format!("rank {rank} has no label `{}`", unknown.text),
                "name an operation of this rank",
            );
            continue;
        };
        found.before.push((n, Before::of(first, ends)));
    }
}

/// An operation, whose first word is `key`.
fn operation<'a>(
    s: &mut Statements<'a>,
    (rank, key): (u32, Word<'a>),
    goal: &mut Goal,
    found: &mut Found,
) -> Read<()> {
    let number = goal.operations.len() as u32;
    // What is refused keeps its place.
    let mut one = GoalOperation { rank, line: key.line as u32, act: GoalAct::Calc(Time::ZERO, 0) };
    goal.operations.push(one);
    let (mut tag, mut cpu, mut other) = (0, 0, None);
    let amount = match key.text {
        "calc" => s.number("a time in ns", 1 << 53)?,
        "send" | "recv" => {
            let bytes = s.number("a number of bytes", 1 << 53)?;
            s.must(if key.text == "send" { "to" } else { "from" })?;
            let peer = rank_of(s, goal.ranks)?;
            if peer == rank {
                let reason = format!("rank {rank} and itself");
                return s.refuse(s.last, reason, "a message goes from one host to another: leave it out");
            }
            other = Some(peer);
            bytes
        }
        _ => return s.refuse(key, format!("`{}` is no statement", key.text), STATEMENTS),
    };
    loop {
        if s.is("tag") && other.is_some() {
            s.next();
            tag = s.number("a tag", u64::MAX)?;
        } else if s.is("cpu") {
            s.next();
            cpu = s.number("the number of a processor", PROCESSORS)?;
        } else if s.is("nic") {
            s.next();
            if s.number("the number of a NIC", 1 << 16)? > 0 {
                return s.refuse(
                    s.last,
                    "a NIC of its own",
                    "cnsim chooses the NIC by the destination: write 0, or leave it out",
                );
            }
        } else {
            break;
        }
    }
    one.act = match (key.text, other) {
        ("send", Some(to)) => GoalAct::Send(to, amount),
        ("recv", _) => GoalAct::Receive(u32::MAX),
        _ => GoalAct::Calc(Time::from_ns(amount), cpu as u16),
    };
    goal.operations[number as usize] = one;
    if let Some(peer) = other {
        let sends = key.text == "send";
        let (from, to) = if sends { (rank, peer) } else { (peer, rank) };
        let list = if sends { &mut found.sends } else { &mut found.receives };
        list.push(Meets { key: (from, to, tag), operation: number, bytes: amount });
    }
    Ok(())
}

/// Lets each message meet its receive, and looks for circles.
fn meet(
    goal: &mut Goal,
    (mut sends, mut receives): (Vec<Meets>, Vec<Meets>),
    all: &str,
    faults: &mut Faults,
) {
    let text = |goal: &Goal, n: usize| {
        let one = goal.operations[n];
        format!("rank {}: `{}`", one.rank, all.lines().nth(one.line as usize).unwrap_or_default().trim())
    };
    let line = |goal: &Goal, n: usize| goal.operations[n].line as usize + 1;
    let tell = |goal: &Goal, way: Vec<usize>, faults: &mut Faults| {
        let said: Vec<String> = way.iter().map(|&n| text(goal, n)).collect();
        let reason = format!("these wait for each other for ever: {}", said.join(", which waits for "));
        faults.push(error(line(goal, way[0]), reason, "let one of them wait for none of the others"));
    };
    let order = goal.order(false);
    if let Some(way) = goal.circle(&order, false) {
        return tell(goal, way, faults);
    }
    let mut turn = vec![0; order.len()];
    (0_u32..).zip(&order).for_each(|(k, &n)| turn[n as usize] = k);
    for list in [&mut sends, &mut receives] {
        list.sort_unstable_by_key(|m| (m.key, turn[m.operation as usize]));
    }
    let (mut i, mut j) = (0, 0);
    while i < sends.len() || j < receives.len() {
        let (send, receive) = (sends.get(i), receives.get(j));
        let same = send.zip(receive).filter(|(a, b)| a.key == b.key);
        if let Some((a, b)) = same {
            (i, j) = (i + 1, j + 1);
            goal.operations[b.operation as usize].act = GoalAct::Receive(a.operation);
            if a.bytes > b.bytes {
                let reason = format!(
                    "the receive takes {} B, and {} sends {} B",
                    b.bytes,
                    text(goal, a.operation as usize),
                    a.bytes
                );
                let line = line(goal, b.operation as usize);
                faults.push(error(line, reason, "receive as many bytes as are sent"));
            }
        } else {
            let sent_first = receive.is_none_or(|b| send.is_some_and(|a| a.key < b.key));
            let (alone, verb) = match (sent_first, send, receive) {
                (true, Some(a), _) => (a, "nobody receives it"),
                (_, _, Some(b)) => (b, "nobody sends it"),
                _ => break,
            };
            (i, j) = if sent_first { (i + 1, j) } else { (i, j + 1) };
            let (from, to, tag) = alone.key;
            let reason = format!("{verb}: {} B from rank {from} to rank {to} with tag {tag}", alone.bytes);
            let other = if sent_first { "recv" } else { "send" };
            let remedy = format!(
                "write a {other} with this tag at rank {}, or correct the tag",
                if sent_first { to } else { from }
            );
            faults.push(error(line(goal, alone.operation as usize), reason, remedy));
        }
    }
    if faults.none()
        && let Some(way) = goal.circle(&goal.order(true), true)
    {
        tell(goal, way, faults);
    }
}

#[cfg(test)]
#[path = "goal_tests.rs"]
mod tests;
