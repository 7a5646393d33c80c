//! Messages that share a connection.

use super::*;

/// A flow by [`network_of`] in place of which messages of so many bytes go at these moments (us), on one connection or not.
pub(crate) fn messages(
    reliability: Reliability,
    window: u64,
    connected: bool,
    all: &[(u64, u64)],
    data: &[u64],
) -> RunSpec {
    let mut spec = network_of(reliability, 1, window, data, &[]);
    let all = all.iter().map(|&(start, bytes)| flow(start, TO, bytes)).collect();
    spec.hosts[0].sources = vec![SourceSpec { connected, ..flows(all) }];
    spec
}

/// When each message is there, and acknowledged, ps.
fn read(out: &Outcome) -> Vec<(u64, u64)> {
    let done = out.hosts[TO as usize].transfers.completions.iter();
    done.map(|c| (c.end.as_ps(), c.acknowledged.unwrap().as_ps())).collect()
}

/// Messages on a connection share its window and round trip. The first is two frames, the second four, 100 us later. A scheme begins with
/// two frames and adds one for each acknowledged: the second message goes at once, and by itself it would take two round trips. The scheme
/// is told that nothing went for 98.8 us, from the start of the second frame on.
#[test]
fn a_connection_stays_warm() {
    let grows = script().plan(|p| (p.limiter_scope, p.acks) = (Scope::Flow, Acks::Needed));
    let grows = grows.source(|at, limiter, notes| match at {
        AtSource::Start => {
            limiter.wake_on_acks(AckGate::EACH);
            limiter.set_window(Bytes::new(3000));
        }
        AtSource::Ack(ack) => limiter.set_window(limiter.window() + ack.newly),
        AtSource::Restart(idle, timeout) => {
            notes.say(limiter.now(), format!("idle {} {}", idle.as_ps(), timeout.as_ps()));
        }
        _ => {}
    });
    let start = 100_000_000;
    for how in [Reliability::Tcp(tcp(Sack)), Reliability::Tcp(TcpSpec { handshake: true, ..tcp(Rack) })] {
        let shake =
            if matches!(how, Reliability::Tcp(TcpSpec { handshake: true, .. })) { 6_204_800 } else { 0 };
        for (connected, second) in [(true, 3 * SLOT + OUT), (false, shake + RTT + SLOT + OUT)] {
            let mut spec = messages(how, 1, connected, &[(0, 3000), (100, 6000)], &[]);
            spec.transport.as_mut().unwrap().window = Window::Scheme;
            let seen = run_all(&grows, spec).unwrap();
            let back = RTT - OUT;
            let first = shake + SLOT + OUT;
            let all = [(first, first + back), (start + second, start + second + back)];
            assert_eq!(read(&seen.out), all, "connected: {connected}");
            let idle = seen.all("idle");
            assert_eq!(idle.len(), usize::from(connected));
            if connected {
                assert_eq!(idle[0].1, format!("idle {} 200000000", start - SLOT - shake));
            }
        }
    }
}

/// Each message has a short last frame of its own. Behind one of 3500 B goes one of 1000 B: frames of 1500, 1500, 500 and 1000 B, of which
/// each waits at the switch for the one before it. The connection counts bytes through.
#[test]
fn messages_end_with_frames_of_their_own() {
    let third = SLOT + 1_500_000 + 2 * SLOT + 400_000 + 1_500_000;
    let alike = |how| {
        let spec = messages(how, 100, true, &[(0, 3500), (0, 1000), (0, 100)], &[]);
        let seen = run_all(&script().flows(|_| false), spec).unwrap();
        let t = &seen.out.hosts[0].transport;
        assert_eq!((t.acked, t.acks, t.resent), (4600, 5, 0));
        let ends: Vec<u64> = read(&seen.out).iter().map(|m| m.0).collect();
        assert_eq!(ends, [third, third + 800_000, third + 880_000]);
        let done = &seen.out.hosts[TO as usize].transfers.completions;
        assert_eq!(
            done.iter().map(|c| (c.nth, c.bytes)).collect::<Vec<_>>(),
            [(0, 3500), (1, 1000), (2, 100)]
        );
    };
    [Reliability::Tcp(tcp(NewReno)), Reliability::Tcp(tcp(Rack)), Reliability::Selective(IRN)]
        .into_iter()
        .for_each(alike);
}

/// A stream is read in order: frame 5, the last of the first message, is lost, and the second message waits for it. By SACK the third
/// report is there at 7 slots + RTT. Flows with a connection each do not wait for each other.
#[test]
fn a_message_waits_for_the_one_before_it() {
    let of = |connected, lost: &[u64]| {
        let spec = messages(Reliability::Tcp(tcp(Sack)), 100, connected, &[(0, 7500), (0, 7500)], lost);
        let out = run_all(&script().flows(|_| false), spec).unwrap().out;
        (read(&out), out.hosts[0].transport.timeouts)
    };
    let again = 7 * SLOT + RTT + OUT;
    assert_eq!(of(true, &[5]), (vec![(again, again + RTT - OUT); 2], 0));
    // Each second frame is of the other flow: the last of one is lost, and only its timeout tells.
    let (all, timeouts) = of(false, &[5]);
    assert_eq!((all.len(), all[0].0.min(all[1].0), timeouts), (2, 9 * SLOT + OUT, 1));
    // The last frame of the second message goes again after the timeout, of the first message too if both are lost.
    let (all, timeouts) = of(true, &[10]);
    assert_eq!((all[0].0, all[1].0, timeouts), (4 * SLOT + OUT, 8 * SLOT + RTT + 200_000_000 + OUT, 1));
    // A message that has come whole behind one that has not is not over at the end of the run.
    let mut spec = messages(Reliability::Tcp(tcp(Sack)), 100, true, &[(0, 7500), (0, 1500)], &[5, 6, 7]);
    spec.duration = Time::from_us(100);
    let out = run_all(&script().flows(|_| false), spec).unwrap().out;
    let missing: Vec<_> =
        out.hosts[TO as usize].transfers.missing.iter().map(|m| (m.nth, m.missing)).collect();
    assert_eq!(
        (out.hosts[TO as usize].transfers.completions.len(), missing),
        (0, vec![(0, 1500), (1, 1500)])
    );
}
