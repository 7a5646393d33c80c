//! Selective repeat and TCP at losses of known places, frame by frame and to the picosecond. A frame of 1500 B takes a slot of 1.2 us on
//! each link, an acknowledgement of 64 B 51.2 ns; each link and the node behind it take 1.5 us. So the round trip is 8.5024 us: seven slots
//! and 102.4 ns.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod connections;
mod ecn;

use cnsim_fabric::*;
use cnsim_scheme_api::{AckGate, Acks, Bytes, Loss, NodeId, Scope, Time};
use common::script::*;
use common::*;

const SLOT: u64 = 1_200_000;
const OUT: u64 = 2 * SLOT + 3_000_000;
const RTT: u64 = OUT + 2 * 51_200 + 3_000_000;

fn tcp(recovery: Recovery) -> TcpSpec {
    TcpSpec {
        recovery,
        probe: recovery == Recovery::Rack,
        handshake: false,
        classic_ecn: false,
        proportional: false,
        burst: 1,
        limited_transmit: true,
        receive_window: None,
        rto_first: Time::from_us(400),
        rto_min: Time::from_us(200),
        rto_max: Time::from_s(60),
        quantum: Time::ZERO,
        ack_delay: Time::ZERO,
    }
}

const IRN: SelectiveSpec = SelectiveSpec {
    gap_frames: 1,
    gap_time: Time::ZERO,
    rto_low: Time::from_us(100),
    rto_high: Time::from_us(320),
    few: 3,
};

/// A flow of so many frames with a window of so many, of which links lose these: data of host 0 as it leaves, acknowledgements as they
/// reach it.
fn network_of(reliability: Reliability, n: u64, window: u64, data: &[u64], acks: &[u64]) -> RunSpec {
    let mut spec = network(&[]);
    let window = Window::Fixed(Bytes::new(1500 * window));
    spec.transport = Some(TransportSpec { reliability, window, ..TRANSPORT });
    spec.duration = Time::from_ms(5);
    spec.hosts[0].sources = vec![flows(vec![flow(0, TO, n * 1500)])];
    let lost = |nth: &u64, acknowledgement| LostFrame {
        flow: (NodeId(0), NodeId(TO)),
        number: None,
        acknowledgement,
        nth: *nth,
    };
    let all = |list: &[u64], acks| LossKind::Listed(list.iter().map(|nth| lost(nth, acks)).collect());
    let loss =
        |node, port, kind| LinkLoss { node: NodeId(node), port, from: Time::ZERO, to: Time::MAX, kind };
    spec.events.losses = vec![loss(0, 0, all(data, false)), loss(3, 0, all(acks, true))];
    spec
}

/// Ends at the destination and at the source, ps; frames sent again, recoveries, timeouts.
fn ends(spec: &RunSpec) -> (u64, u64, (u64, u64, u64)) {
    let out = run_all(&script().flows(|_| false), spec.clone()).unwrap().out;
    let [done] = &out.hosts[TO as usize].transfers.completions[..] else {
        panic!("{:?}", out.hosts[TO as usize].transfers.missing)
    };
    let t = &out.hosts[0].transport;
    (done.end.as_ps(), done.acknowledged.unwrap().as_ps(), (t.resent, t.recoveries, t.timeouts))
}

fn selective(n: u64, window: u64, data: &[u64], acks: &[u64]) -> (u64, u64, (u64, u64, u64)) {
    ends(&network_of(Reliability::Selective(IRN), n, window, data, acks))
}

fn by(recovery: Recovery, n: u64, window: u64, data: &[u64], acks: &[u64]) -> (u64, u64, (u64, u64, u64)) {
    ends(&network_of(Reliability::Tcp(tcp(recovery)), n, window, data, acks))
}

use Recovery::{NewReno, Rack, Sack};

/// Without losses all are alike.
#[test]
fn nothing_is_lost() {
    let whole = 19 * SLOT + OUT;
    for window in [8, 100] {
        assert_eq!(by(Rack, 20, window, &[], &[]), (whole, whole + RTT - OUT, (0, 0, 0)));
        let given = [
            selective(20, window, &[], &[]),
            by(NewReno, 20, window, &[], &[]),
            by(Sack, 20, window, &[], &[]),
        ];
        assert_eq!(given, [(whole, whole + RTT - OUT, (0, 0, 0)); 3], "{window}");
    }
    let in_order = network_of(Reliability::Selective(IRN), 20, 100, &[], &[]);
    assert_eq!(run_all(&script().flows(|_| false), in_order).unwrap().out.hosts[TO as usize].held_max, 0);
    // A window of four: four frames a round trip.
    let end = 4 * RTT + 3 * SLOT + OUT;
    assert_eq!([by(Sack, 20, 4, &[], &[]).0, selective(20, 4, &[], &[]).0], [end; 2]);
}

/// Frame 5 of 20 is lost, and the link is busy till the end of slot 20. Selective repeat learns of it by frame 6, whose report is there at
/// 5 slots + RTT: 12.085 slots. The frame in transmission ends at slot 13, and frame 5 goes in the next: all ends a slot later. By SACK
/// the window has room then, and nothing else is to be sent: frame 20 goes again, once in a recovery (RFC 6675, NextSeg, rule 4).
#[test]
fn one_frame_is_sent_again_in_place() {
    let end = 20 * SLOT + OUT;
    assert_eq!(selective(20, 100, &[5], &[]), (end, end + RTT - OUT, (1, 1, 0)));
    for recovery in [NewReno, Sack] {
        let rescued = u64::from(recovery == Sack);
        let all = (end, end + RTT - OUT, (1 + rescued, 1, 0));
        assert_eq!(by(recovery, 20, 100, &[5], &[]), all, "{recovery:?}");
    }
    // With a window of eight, frame 13 would go with the acknowledgement of frame 5. That of frame 4 let frame 12 go at 3 slots + RTT; the
    // report of frame 6 is there at 5 slots + RTT, and frame 5 goes. A window from the first missing frame on is full then: frame 13
    // waits until frame 5 is acknowledged, at 5 slots + 2 RTT, and the last seven frames follow.
    let end = 5 * SLOT + 2 * RTT + 7 * SLOT + OUT;
    assert_eq!(selective(20, 8, &[5], &[]).0, end);
}

/// By selective repeat the smaller window holds, the run's or the scheme's: four frames a round trip, or three.
#[test]
fn the_smaller_of_two_windows_holds() {
    for (of_scheme, end) in [(8, 4 * RTT + 3 * SLOT + OUT), (3, 6 * RTT + SLOT + OUT)] {
        let script = script().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Needed));
        let script = script.source(move |at, limiter, _| {
            if let AtSource::Start = at {
                limiter.set_window(Bytes::new(of_scheme * 1500));
            }
        });
        let spec = network_of(Reliability::Selective(IRN), 20, 4, &[], &[]);
        let out = run_all(&script, spec).unwrap().out;
        assert_eq!(out.hosts[TO as usize].transfers.completions[0].end.as_ps(), end, "{of_scheme}");
    }
}

/// Frame 5 of 20 goes again behind frame 13, so that eight later frames come before it. None comes later than another.
#[test]
fn later_frames_come_before_one_that_is_sent_again() {
    let spec = network_of(Reliability::Selective(IRN), 20, 100, &[5], &[]);
    let out = run_all(&script().flows(|_| false), spec).unwrap().out;
    let counted: Vec<_> =
        out.hosts[TO as usize].out_of_order.iter().enumerate().filter(|n| *n.1 > 0).collect();
    assert_eq!(counted, [(0, &19), (8, &1)]);
}

/// The last frame of a flow: nothing tells of it but the timeout, which runs from the last acknowledgement on.
#[test]
fn the_last_frame_waits_for_a_timeout() {
    let last_ack = 18 * SLOT + RTT;
    let low = last_ack + 100_000_000 + OUT;
    assert_eq!(selective(20, 100, &[20], &[]), (low, low + RTT - OUT, (1, 0, 1)));
    // Fewer than three frames on their way are few. Two or three that are lost go again one after the other.
    let lost = |k: u64, rto: u64| (19 - k) * SLOT + RTT + rto + (k - 1) * SLOT + OUT;
    assert_eq!(selective(20, 100, &[19, 20], &[]).0, lost(2, 100_000_000));
    assert_eq!(selective(20, 100, &[18, 19, 20], &[]).0, lost(3, 320_000_000));
    let end = last_ack + 200_000_000 + OUT;
    for recovery in [NewReno, Sack] {
        assert_eq!(by(recovery, 20, 100, &[20], &[]), (end, end + RTT - OUT, (1, 0, 1)));
    }
}

/// The first frame of a window of eight, by TCP: its third duplicate comes at 3 slots + RTT. Two more went by limited transmit, 1 and
/// 2 slots after RTT.
#[test]
fn the_third_duplicate_sends_again() {
    for recovery in [NewReno, Sack] {
        let spec = network_of(Reliability::Tcp(tcp(recovery)), 10, 8, &[1], &[]);
        let (end, over, counts) = ends(&spec);
        // Frames 9 and 10 went before: frame 1 is the last to come, and all is acknowledged with it. SACK rescues frame 10.
        let (last, resent) = (3 * SLOT + RTT + OUT, if recovery == Sack { 2 } else { 1 });
        assert_eq!((end, over, counts), (last, last + RTT - OUT, (resent, 1, 0)), "{recovery:?}");
        let mut without = spec.clone();
        let limited = TcpSpec { limited_transmit: false, ..tcp(recovery) };
        without.transport.as_mut().unwrap().reliability = Reliability::Tcp(limited);
        // Frame 1 goes first. NewReno's window is inflated by the three, then by each of the four duplicates to come; SACK's pipe is
        // eight less three, less one for each.
        let (end, _, counts) = ends(&without);
        let all = (5 * SLOT + RTT + OUT, (resent, 1, 0));
        assert_eq!((end, counts), all, "{recovery:?}: frames 9 and 10 follow");
    }
    // Of three frames two duplicates come, which is too few.
    for recovery in [NewReno, Sack] {
        let (end, _, counts) = by(recovery, 3, 8, &[1], &[]);
        let resent = if recovery == NewReno { 3 } else { 1 };
        assert_eq!((end, counts), (400_000_000 + OUT, (resent, 0, 1)), "{recovery:?}");
    }
}

/// The end and the frames sent again of a flow whose scheme sets a window of so many frames, and another as it learns of a loss.
fn cut(recovery: Recovery, n: u64, windows: [u64; 2], data: &[u64]) -> (u64, u64) {
    cut_by(tcp(recovery), n, windows, data)
}

fn cut_by(how: TcpSpec, n: u64, windows: [u64; 2], data: &[u64]) -> (u64, u64) {
    let cuts = script().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Needed));
    let cuts = cuts.source(move |at, limiter, _| match at {
        AtSource::Start => {
            limiter.wake_on_acks(AckGate::EACH);
            limiter.set_window(Bytes::new(windows[0] * 1500));
        }
        AtSource::Loss(_) => limiter.set_window(Bytes::new(windows[1] * 1500)),
        _ => {}
    });
    let mut spec = network_of(Reliability::Tcp(how), n, 1, data, &[]);
    spec.transport.as_mut().unwrap().window = Window::Scheme;
    let out = run_all(&cuts, spec).unwrap().out;
    (out.hosts[TO as usize].transfers.completions[0].end.as_ps(), out.hosts[0].transport.resent)
}

/// That frame goes whatever the window is: it is cut to two frames as the loss is found, with ten outstanding. By SACK frame 10 goes
/// again as the reports before its own leave room.
#[test]
fn the_third_duplicate_minds_no_window() {
    for (recovery, resent) in [(NewReno, 1), (Sack, 2)] {
        assert_eq!(cut(recovery, 10, [8, 2], &[1]), (3 * SLOT + RTT + OUT, resent), "{recovery:?}");
    }
}

/// Frames 3, 8 and 10 of 11 by SACK. Frame 6 tells of the first, and the window is four frames from then on. Frame 11 tells, at 10 slots +
/// RTT, that three are on their way; frame 8 goes for want of new ones (RFC 6675, rule 3). It counts twice, as it is not lost: so frame
/// 10 waits for the acknowledgement of frame 3, at 5 slots + 2 RTT. As frame 8 is acknowledged frame 10 is the last that is not
/// reported, and goes once more.
#[test]
fn a_frame_sent_again_that_is_not_lost_counts_twice() {
    assert_eq!(cut(Sack, 11, [100, 4], &[3, 8, 10]), (5 * SLOT + 2 * RTT + OUT, 4));
}

/// Two frames of a window: NewReno learns of the second by the acknowledgement that the first one's repair brings, a round trip later. SACK
/// and selective repeat send both at once.
#[test]
fn two_frames_of_a_window() {
    // Frames 3 and 5 of 10. Duplicates by frames 4, 6, 7: the third is there at 6 slots + RTT = 13.085, long after all are sent.
    let third = 6 * SLOT + RTT;
    let (end, _, counts) = by(NewReno, 10, 100, &[3, 5], &[]);
    assert_eq!((end, counts), (third + RTT + OUT, (2, 1, 0)));
    // SACK: frame 3 has three reported behind it with frame 7, and goes. Frame 5 has with frame 8, a slot later.
    let (end, _, counts) = by(Sack, 10, 100, &[3, 5], &[]);
    // Frame 10 is not reported as frame 5 has left, and goes again (rule 4).
    assert_eq!((end, counts), (third + SLOT + OUT, (3, 1, 0)));
    // Selective repeat: by frame 4, at 3 slots + RTT = 10.085; by frame 6, two slots later.
    let (end, _, counts) = selective(10, 100, &[3, 5], &[]);
    assert_eq!((end, counts), (5 * SLOT + RTT + OUT, (2, 1, 0)));
}

/// Frames 1 and 2 of 16, with a window of six, by NewReno. Duplicates of frames 3 to 5 are there at 2, 3 and 4 slots + RTT: the first two
/// let frames 7 and 8 go, the third frame 1. Frames 9 and 10 follow it, by the window of six and three, then four. The duplicates of 7
/// and 8, a round trip after they went, let 11 and 12 go, and frame 1's acknowledgement, of one frame, frame 2. That takes back the
/// frame that it acknowledges, and gives one: frame 13, then 14 and 15 by the duplicates of 9 and 10. Frame 16 waits for that of 11.
#[test]
fn a_part_that_is_acknowledged_deflates_the_window() {
    let (end, _, counts) = by(NewReno, 16, 6, &[1, 2], &[]);
    assert_eq!((end, counts), (2 * SLOT + 3 * RTT + OUT, (2, 1, 0)));
}

/// A frame that is sent again and lost again waits for the timeout, whoever tells of losses.
#[test]
fn a_frame_lost_twice() {
    // Frame 3 of 10, and the eleventh frame on the link, which is frame 3 again.
    let by_selective = selective(10, 100, &[3, 11], &[]);
    // Acknowledgements of new data end with frame 2, at 1 slot + RTT; eight frames are on their way then.
    let end = SLOT + RTT + 320_000_000 + OUT;
    assert_eq!((by_selective.0, by_selective.2), (end, (2, 1, 1)));
    for recovery in [NewReno, Sack] {
        let (end, _, counts) = by(recovery, 10, 100, &[3, 11], &[]);
        assert_eq!(end, SLOT + RTT + 200_000_000 + OUT, "{recovery:?}");
        // By NewReno the source does not know that frames 4 to 10 are there. One acknowledgement says so, before the next goes.
        assert_eq!(counts.1..=counts.2, 1..=1);
        // By SACK frame 10 is sent again, too, before its report is there.
        assert_eq!(counts.0, if recovery == NewReno { 9 } else { 3 });
    }
}

/// A lost acknowledgement is made good by the next. That of the last frame is not: the frame goes again after a timeout.
#[test]
fn acknowledgements_are_lost() {
    let whole = 9 * SLOT + OUT;
    for acks in [&[1_u64][..], &[3, 4, 5], &[9]] {
        let given =
            [selective(10, 100, &[], acks), by(NewReno, 10, 100, &[], acks), by(Sack, 10, 100, &[], acks)];
        assert_eq!(given, [(whole, whole + RTT - OUT, (0, 0, 0)); 3], "{acks:?}");
    }
    let (end, over, counts) = by(Sack, 10, 100, &[], &[10]);
    assert_eq!((end, over, counts), (whole, 8 * SLOT + RTT + 200_000_000 + RTT, (1, 0, 1)));
    // The report of frame 6 is lost, which tells selective repeat of frame 5: that of frame 7 does.
    let (end, _, counts) = selective(20, 100, &[5], &[5]);
    // Frame 6 counts as missing, too: it goes again beside frame 5.
    assert_eq!((end, counts), (21 * SLOT + OUT, (2, 1, 0)));
    // A report by SACK says all: frames 6 and 7 are told by that of frame 7. Frame 20 goes again, too.
    assert_eq!(by(Sack, 20, 100, &[5], &[5]).2, (2, 1, 0));
}

/// RACK (RFC 8985) finds a loss a quarter round trip after the frame could have been acknowledged, or at once as three are reported.
#[test]
fn losses_are_found_by_time() {
    // Frame 5 of 20 starts at 4 slots, and frame 6 is reported at 5 slots + RTT = 12.085. Patience ends at 4 slots + 5/4 RTT = 12.857,
    // before the next report; frame 5 goes behind frame 13.
    let end = 20 * SLOT + OUT;
    assert_eq!(by(Rack, 20, 100, &[5], &[]), (end, end + RTT - OUT, (1, 1, 0)));
    // The link has been idle since slot 10 as patience with frame 3 of 10 ends.
    let (end, _, counts) = by(Rack, 10, 100, &[3], &[]);
    assert_eq!((end, counts), (2 * SLOT + RTT + RTT / 4 + OUT, (1, 1, 0)));
    // Frames 3 and 5: once a loss is known there is no patience, and frame 6's report tells of frame 5.
    let (end, _, counts) = by(Rack, 10, 100, &[3, 5], &[]);
    assert_eq!((end, counts), (5 * SLOT + RTT + OUT, (2, 1, 0)));
    // Of 30 frames the third is lost, and again as it goes in slot 11. Frame 12 starts in slot 12, and its report tells of both.
    let (end, _, counts) = by(Rack, 30, 100, &[3, 12], &[]);
    assert_eq!((end, counts), (31 * SLOT + OUT, (2, 1, 0)), "no timeout");
    assert_eq!(
        by(Sack, 30, 100, &[3, 14], &[]).2.2,
        1,
        "by SACK it goes in slot 13, and waits for a timeout"
    );
    // Where nothing is sent later, only the timeout tells, from the acknowledgement of frame 2 on.
    let (end, _, counts) = by(Rack, 10, 100, &[3, 11], &[]);
    assert_eq!((end, counts), (SLOT + RTT + 200_000_000 + OUT, (2, 1, 1)));
}

/// A probe goes two round trips after the last acknowledgement, and repairs a loss at the end or tells of one.
#[test]
fn a_probe_asks_after_the_end() {
    let probe = 18 * SLOT + 3 * RTT;
    assert_eq!(by(Rack, 20, 100, &[20], &[]), (probe + OUT, probe + RTT, (1, 0, 0)), "the last frame");
    assert_eq!(
        by(Rack, 20, 100, &[], &[20]),
        (19 * SLOT + OUT, probe + RTT, (1, 0, 0)),
        "its acknowledgement"
    );
    // The last three: frame 20 goes, and its report tells of frames 18 and 19.
    let (end, _, counts) = by(Rack, 20, 100, &[18, 19, 20], &[]);
    assert_eq!((end, counts), (16 * SLOT + 4 * RTT + SLOT + OUT, (3, 1, 0)));
    // A probe that is lost is not repeated: the timeout runs from it on, and all three are old.
    let (end, _, counts) = by(Rack, 20, 100, &[18, 19, 20, 21], &[]);
    assert_eq!((end, counts), (16 * SLOT + 3 * RTT + 200_000_000 + 2 * SLOT + OUT, (4, 0, 1)));
    // A window of three holds frame 4 back, but not as a probe; frame 1's acknowledgement is late by then. Before a round trip is known
    // a probe waits for a second, and no longer than the timeout.
    let (end, _, counts) = by(Rack, 3, 3, &[1, 2, 3], &[]);
    assert_eq!((end, counts), (400_000_000 + RTT + SLOT + OUT, (3, 1, 0)));
    let off = TcpSpec { probe: false, ..tcp(Rack) };
    let (end, _, counts) = ends(&network_of(Reliability::Tcp(off), 20, 100, &[18, 19, 20], &[]));
    assert_eq!((end, counts), (16 * SLOT + RTT + 200_000_000 + 2 * SLOT + OUT, (3, 0, 1)), "without a probe");
    // A destination that acknowledges every second frame may wait: so does the probe for a single frame.
    let late = TcpSpec { ack_delay: Time::from_us(40), ..tcp(Rack) };
    let mut delayed = network_of(Reliability::Tcp(late), 21, 100, &[21], &[]);
    delayed.transport.as_mut().unwrap().ack_every = 2;
    assert_eq!(ends(&delayed).0, 19 * SLOT + RTT + 2 * (RTT + SLOT) + 40_000_000 + OUT);
}

/// RFC 6298 with a constant round trip R: 3 R after the first sample, R (1 + 2 (3/4)^n) after n more, and twice as long after each
/// expiry. The tick rounds an expiry up.
#[test]
fn a_timeout_follows_the_round_trip() {
    let with = |n: u64, lost: &[u64], rto_min, quantum| {
        let times = TcpSpec { rto_min: Time::from_ps(rto_min), quantum: Time::from_ps(quantum), ..tcp(Sack) };
        ends(&network_of(Reliability::Tcp(times), n, 1, lost, &[])).0
    };
    // A window of one frame: the round trip is RTT each time. The last of n is lost, after n - 1 samples.
    for n in 2..9_u64 {
        let mut varies = RTT / 2;
        (2..n).for_each(|_| varies = 3 * varies / 4);
        let rto = RTT + 4 * varies;
        let sent = (n - 1) * RTT;
        assert_eq!(with(n, &[n], 0, 0), sent + rto + OUT, "after {} samples", n - 1);
        assert_eq!(with(n, &[n, n + 1, n + 2], 0, 0), sent + 7 * rto + OUT, "doubled twice");
        let ticks = |at: u64| at.div_ceil(10_000_000) * 10_000_000;
        let by_tick = RTT + (4 * varies).max(10_000_000);
        assert_eq!(with(n, &[n], 0, 10_000_000), ticks(sent + by_tick) + OUT, "at a tick");
        assert_eq!(with(n, &[n], 50_000_000, 0), sent + rto.max(50_000_000) + OUT, "no less than the least");
    }
    assert_eq!(with(1, &[1], 0, 0), 400_000_000 + OUT, "the first, before a sample");
    // The timer runs from the last new acknowledgement on: of 8 frames the last three are lost.
    let three = ends(&network_of(
        Reliability::Tcp(TcpSpec { rto_min: Time::ZERO, ..tcp(Sack) }),
        8,
        100,
        &[6, 7, 8],
        &[],
    ));
    let mut varies = RTT / 2;
    (0..4).for_each(|_| varies = 3 * varies / 4);
    assert_eq!(three.0, 4 * SLOT + RTT + RTT + 4 * varies + 2 * SLOT + OUT);
    assert_eq!(three.2, (3, 0, 1));
}

/// Every second frame is acknowledged, or one that has waited for 40 us; at once when a gap opens or closes. The round trip of two frames
/// is that of the first.
#[test]
fn acknowledgements_wait() {
    let delayed = |n, window, data: &[u64], delay| {
        let times = TcpSpec { ack_delay: Time::from_us(delay), ..tcp(Sack) };
        let mut spec = network_of(Reliability::Tcp(times), n, window, data, &[]);
        spec.transport.as_mut().unwrap().ack_every = 2;
        let watch = script().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Needed));
        let watch = watch.source(|at, limiter, _| {
            if let AtSource::Start = at {
                limiter.wake_on_acks(AckGate::EACH);
            }
        });
        let seen = run_all(&watch, spec).unwrap();
        let done = seen.out.hosts[TO as usize].transfers.completions[0];
        (
            done.end.as_ps(),
            seen.times("ack").iter().map(|t| t.as_ps()).collect::<Vec<_>>(),
            seen.numbers("ack "),
        )
    };
    // Five frames with a window of three: two are acknowledged, the third waits for the fourth, which goes with that acknowledgement.
    let (end, at, rtt) = delayed(5, 3, &[], 40);
    let first = SLOT + RTT;
    assert_eq!(end, first + SLOT + OUT, "frames 4 and 5 follow");
    assert_eq!(at, [first, first + RTT, first + SLOT + RTT]);
    assert_eq!(rtt[..2], [first as f64, (first + RTT - 2 * SLOT) as f64]);
    // A window of one: each frame but the last waits for the timer.
    let (end, at, _) = delayed(3, 1, &[], 40);
    assert_eq!(end, 2 * (RTT + 40_000_000) + OUT);
    assert_eq!(at[..2], [RTT + 40_000_000, 2 * (RTT + 40_000_000)]);
    // Frame 2 is lost: frame 1 waits, frames 3 to 5 are answered at once, and so is frame 2.
    let (_, at, _) = delayed(10, 5, &[2], 40);
    assert_eq!(at[..3], [2 * SLOT + RTT, 3 * SLOT + RTT, 4 * SLOT + RTT]);
}

/// A receive window bounds how far the source is ahead, whatever the window is.
#[test]
fn a_receive_window_holds() {
    let times = TcpSpec { receive_window: Some(Bytes::new(3 * 1500 + 700)), ..tcp(Sack) };
    let end = ends(&network_of(Reliability::Tcp(times), 9, 100, &[], &[])).0;
    assert_eq!(end, 2 * RTT + 2 * SLOT + OUT);
    // Frame 1 is lost: frames 2 and 3 come, and no third duplicate.
    assert_eq!(ends(&network_of(Reliability::Tcp(times), 9, 100, &[1], &[])).2, (1, 0, 1));
}

/// A NACK after so many later frames, or after a time: selective repeat for paths that reorder.
#[test]
fn a_gap_may_close_before_it_is_told() {
    let of = |gap_frames, gap_us, n| {
        let spec = SelectiveSpec { gap_frames, gap_time: Time::from_us(gap_us), ..IRN };
        let out =
            run_all(&script().flows(|_| false), network_of(Reliability::Selective(spec), n, 100, &[5], &[]));
        let out = out.unwrap().out;
        (
            out.hosts[TO as usize].transfers.completions[0].end.as_ps(),
            out.hosts[0].transport.nacks,
            out.hosts[2].held_max,
        )
    };
    // Frame 5 goes again behind frame 13, as frame 6 tells of it: eight come before it.
    assert_eq!(of(1, 0, 20), (20 * SLOT + OUT, 8, 8 * 1500));
    // Frame 8 tells, two slots later. The first two reports are no NACKs.
    assert_eq!(of(3, 0, 20), (20 * SLOT + OUT, 8, 10 * 1500));
    // Frame 11 tells, 6 us after frame 6: frame 5 goes behind frame 18.
    assert_eq!(of(1, 6, 20), (20 * SLOT + OUT, 8, 13 * 1500));
    assert_eq!(of(1, 6, 11).0, 10 * SLOT + RTT + OUT);
}

/// A scheme is told of a loss once, of what was outstanding and what is on its way, and when all of it is repaired.
#[test]
fn a_scheme_learns_of_losses() {
    let watch = script().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Needed));
    let watch = watch.source(|at, limiter, notes| match at {
        AtSource::Start => limiter.wake_on_acks(AckGate::EACH),
        AtSource::Loss(Loss::Nack) => {
            let frames = |bytes: Bytes| bytes.get() / 1500;
            let all = [limiter.outstanding(), limiter.in_flight(), limiter.reported()].map(frames);
            notes.say(limiter.now(), format!("flight {all:?}"));
        }
        AtSource::Recovered => notes.say(limiter.now(), format!("whole {}", limiter.acked().get() / 1500)),
        _ => {}
    });
    // Frames 3 and 5 of 30 with a window of ten. By the third duplicate frames 13 and 14 have gone by limited transmit: they do not count.
    for (recovery, flight) in [(NewReno, "flight [10, 8, 0]"), (Sack, "flight [10, 8, 3]")] {
        let spec = network_of(Reliability::Tcp(tcp(recovery)), 30, 10, &[3, 5], &[]);
        let seen = run_all(&watch, spec).unwrap();
        assert_eq!(seen.count("loss"), 1, "{recovery:?}");
        assert_eq!(seen.all("flight")[0].1, flight, "{recovery:?}");
        let whole = seen.numbers("whole");
        assert!(whole.len() == 1 && whole[0] >= 12.0, "{whole:?}");
    }
}

/// A connection opens by two frames of 64 B before the first data goes, which cost a round trip. The first of them is the first frame of
/// the flow on its way, its answer the first acknowledgement. Each goes again by the timeout, which doubles.
#[test]
fn a_connection_opens() {
    const SHAKE: u64 = 2 * (2 * 51_200 + 3_000_000);
    let open = |n, data: &[u64], acks: &[u64], first| {
        let times =
            TcpSpec { handshake: true, rto_first: Time::from_us(first), rto_min: Time::ZERO, ..tcp(Sack) };
        ends(&network_of(Reliability::Tcp(times), n, 100, data, acks))
    };
    let whole = SHAKE + 19 * SLOT + OUT;
    assert_eq!(open(20, &[], &[], 400), (whole, whole + RTT - OUT, (0, 0, 0)));
    assert_eq!(open(20, &[1], &[], 400).0, 400_000_000 + whole, "its first frame is lost");
    assert_eq!(open(20, &[], &[1], 400).0, 400_000_000 + whole, "the answer is lost");
    let (end, _, counts) = open(20, &[1, 2], &[1], 400);
    assert_eq!((end, counts), (2_800_000_000 + whole, (0, 0, 3)), "three times, 400 + 800 + 1600 us");
    // The frame goes again before its answer is there: the second answer says nothing.
    assert_eq!(open(20, &[], &[], 5), (whole, whole + RTT - OUT, (0, 0, 1)));
    // The round trip of the handshake is the first sample: a lost frame goes again after three of them.
    assert_eq!(open(1, &[2], &[], 400).0, 4 * SHAKE + OUT);
    // Windows and reports count data alone.
    assert_eq!(open(20, &[6], &[], 400).0, SHAKE + 20 * SLOT + OUT, "frame 5 of the data");
}

/// Proportional reduction (RFC 6937). Frame 1 is lost of a flow that may have 30 on their way, and the window is three frames from the
/// third duplicate on, at 3 slots + RTT, with 11 outstanding. Of what comes three elevenths go: with the first delivery, 3/11, frame 1
/// again; with the fourth, 12/11, at 6 slots + RTT, frame 12. Without it frame 12 waits until two are on their way, at 9 slots + RTT.
/// Once there are as few, one goes for one: frame 13 at 10 slots + RTT, and 14 as frame 1 is acknowledged, at 11 slots + RTT. Frame 15
/// waits for frame 12. RACK finds the loss by the first report, with nine outstanding: no round trip is known, and so no patience. By the
/// fourth, at 4 slots + RTT, 12/9 have come.
#[test]
fn a_recovery_sends_in_proportion() {
    let of = |recovery, proportional, n| {
        let how = TcpSpec { proportional, ..tcp(recovery) };
        cut_by(how, n, [30, 3], &[1]).0 - OUT - RTT
    };
    assert_eq!([of(Sack, true, 12), of(Sack, false, 12)], [6 * SLOT, 9 * SLOT]);
    assert_eq!([of(Sack, true, 14), of(Sack, false, 14)], [11 * SLOT; 2]);
    assert_eq!([of(Sack, true, 15), of(Sack, false, 15)], [6 * SLOT + RTT, 9 * SLOT + RTT]);
    assert_eq!([of(Rack, true, 10), of(Rack, false, 10)], [4 * SLOT, 7 * SLOT]);
}

/// Bursts of two with a window of six: three go at once. Frame 7 waits until four are on their way, at 1 slot + RTT, and frame 8 follows
/// it; so do 9 and 10, 11 and 12 by every second acknowledgement. Of 14 frames the last two wait for the acknowledgement of frame 8, of
/// 13 the last one does not. A burst is at most a third of the window. Two flows take turns by bursts.
#[test]
fn frames_leave_in_bursts() {
    let of = |burst, n, window| {
        let how = TcpSpec { burst, ..tcp(Sack) };
        ends(&network_of(Reliability::Tcp(how), n, window, &[], &[])).0 - OUT
    };
    assert_eq!(
        [of(1, 14, 6), of(2, 14, 6), of(2, 13, 6)],
        [SLOT + 2 * RTT, 3 * SLOT + 2 * RTT, SLOT + 2 * RTT]
    );
    assert_eq!([of(9, 14, 6), of(9, 14, 5)], [of(2, 14, 6), of(1, 14, 5)]);
    // Two are needed beside a window of seven, too: what is left over lets none go alone.
    assert_eq!(of(2, 8, 7), SLOT + RTT);
    for (burst, first) in [(1, 6), (2, 5), (3, 6), (4, 3)] {
        let how = TcpSpec { burst, ..tcp(Sack) };
        let mut spec = network_of(Reliability::Tcp(how), 4, 100, &[], &[]);
        spec.hosts[0].sources = vec![flows(vec![flow(0, TO, 6000), flow(0, TO, 6000)])];
        let out = run_all(&script().flows(|_| false), spec).unwrap().out;
        let ends: Vec<u64> =
            out.hosts[TO as usize].transfers.completions.iter().map(|c| c.end.as_ps()).collect();
        assert_eq!(ends, [first * SLOT + OUT, 7 * SLOT + OUT], "bursts of {burst}");
    }
}

/// Refused, each with its cause.
#[test]
fn what_cannot_be() {
    let probe = TcpSpec { probe: true, ..tcp(Sack) };
    assert!(refused(&network_of(Reliability::Tcp(probe), 9, 100, &[], &[])).contains("belong to RACK"));
    let narrow = TcpSpec { receive_window: Some(Bytes::new(1499)), ..tcp(Sack) };
    let why = refused(&network_of(Reliability::Tcp(narrow), 9, 100, &[], &[]));
    assert!(why.contains("has no room for a frame"), "{why}");
    for (how, cause) in [
        (TcpSpec { proportional: true, ..tcp(NewReno) }, "NewReno has no reports"),
        (TcpSpec { burst: 0, ..tcp(Sack) }, "a burst of no frames"),
        (TcpSpec { handshake: true, ..tcp(Sack) }, "a handshake takes frames"),
    ] {
        let mut spec = network_of(Reliability::Tcp(how), 9, 100, &[], &[]);
        spec.laws.control = ControlTransport::Ideal { latency: Time::from_us(1) };
        assert!(refused(&spec).contains(cause), "{cause}");
    }
    let lone = connections::messages(
        Reliability::GoBackN { nack_interval: Time::ZERO, rto: Time::from_us(50) },
        9,
        true,
        &[(0, 9)],
        &[],
    );
    assert!(refused(&lone).contains("need reports of single frames"));
    let mut deaf = network_of(Reliability::Tcp(tcp(Sack)), 9, 100, &[], &[]);
    deaf.transport.as_mut().unwrap().ack_every = 0;
    assert!(refused(&deaf).contains("need acknowledgements"));
}
