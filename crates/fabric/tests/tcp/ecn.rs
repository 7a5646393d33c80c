//! Echoes of marks by RFC 3168. The congestion point marks frames of given numbers as they come to the switch.

use super::*;
use std::sync::Mutex;

/// A scheme that begins with a window of so many frames, has another from the first mark or loss on, and notes each mark that it is told.
/// The nth frames at the port are marked; with `exact` it counts marks.
fn marked(windows: [u64; 2], frames: &'static [u64], exact: bool) -> Script {
    let seen = Mutex::new(0);
    let script = script().plan(|p| {
        (p.limiter_scope, p.acks, p.exact_marks) = (Scope::Flow, Acks::Needed, exact);
    });
    let script = script.point(move |at, _, ctl, _| match at {
        AtPoint::Start => {
            *seen.lock().unwrap() = 0;
            ctl.sample_always();
        }
        AtPoint::Sample(frame) => {
            let mut seen = seen.lock().unwrap();
            *seen += 1;
            frame.marked |= frames.contains(&seen);
        }
        _ => {}
    });
    script.source(move |at, limiter, notes| match at {
        AtSource::Start => {
            limiter.wake_on_acks(AckGate::EACH);
            limiter.set_window(Bytes::new(windows[0] * 1500));
        }
        AtSource::Ack(ack) if ack.marked => {
            notes.say(limiter.now(), format!("mark {}", ack.acked.get() / 1500));
            limiter.set_window(Bytes::new(windows[1] * 1500));
        }
        AtSource::Loss(_) => {
            notes.say(limiter.now(), format!("cut {}", limiter.next_seq().get() / 1500));
            limiter.set_window(Bytes::new(windows[1] * 1500));
        }
        _ => {}
    })
}

/// A run of so many frames, of which the link loses these: what the scheme was told, frames acknowledged with an echo, timeouts, and when
/// all had come, ps.
fn of(script: &Script, how: TcpSpec, every: u32, n: u64, data: &[u64]) -> (Vec<String>, u64, u64, u64) {
    let mut spec = network_of(Reliability::Tcp(how), n, 1, data, &[]);
    let transport = spec.transport.as_mut().unwrap();
    (transport.window, transport.ack_every) = (Window::Scheme, every);
    let seen = run_all(script, spec).unwrap();
    let told = seen.notes.iter().filter(|n| ["mark", "cut"].contains(&n.1.split(' ').next().unwrap()));
    let told = told.map(|n| n.1.clone()).collect();
    let (t, done) = (&seen.out.hosts[0].transport, &seen.out.hosts[TO as usize].transfers.completions[0]);
    (told, t.marked / 1500, t.timeouts, done.end.as_ps())
}

const CLASSIC: TcpSpec = TcpSpec { classic_ecn: true, ..TCP };
const TCP: TcpSpec = TcpSpec {
    recovery: Sack,
    probe: false,
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
    ack_delay: Time::from_us(3),
};

/// A window of eight fills the round trip. Frames 5 to 7 are marked. The acknowledgement of frame 5 is there as frame 12 is on its way: the
/// window is four then, and frame 13, which goes with the acknowledgement of frame 9, says so. So the frames 5 to 12 are acknowledged with
/// an echo, the window is cut once, and nothing is lost. What counts marks is told of three.
#[test]
fn a_mark_is_echoed_until_the_cut_is_told() {
    let one = marked([8, 4], &[5, 6, 7], false);
    let (told, echoed, timeouts, end) = of(&one, CLASSIC, 1, 40, &[]);
    assert_eq!((told, echoed, timeouts), (vec!["mark 5".into()], 8, 0));
    let three: Vec<String> = ["mark 5", "mark 6", "mark 7"].map(String::from).into();
    for (script, how) in [(&one, TCP), (&marked([8, 4], &[5, 6, 7], true), CLASSIC)] {
        let exact = of(script, how, 1, 40, &[]);
        assert_eq!(exact, (three.clone(), 3, 0, end), "the windows are the same");
    }
    // A mark that comes with the frame that tells of the cut is a new one. The next is of the window before it.
    let (told, echoed, ..) = of(&marked([8, 4], &[5, 13, 14], false), CLASSIC, 1, 40, &[]);
    assert_eq!((told, echoed), (vec!["mark 5".into(), "mark 13".into()], 8 + 4));
}

/// The frame that tells of the cut is lost. That is a loss: the window is cut again, and the next new frame tells of it. Frame 13 is found
/// lost as frames 14 to 16 are reported, and limited transmit has let frames 17 and 18 go: the echo ends with frame 19.
#[test]
fn a_lost_word_of_the_cut_is_said_again() {
    let (told, echoed, timeouts, _) = of(&marked([8, 4], &[5], false), CLASSIC, 1, 40, &[13]);
    assert_eq!((told, echoed, timeouts), (vec!["mark 5".into(), "cut 18".into()], 14, 0));
}

/// An acknowledgement of two frames waits for the second though the first is marked, and carries the echo; alone it goes after 3 us. By
/// exact marks it goes at once.
#[test]
fn a_delayed_acknowledgement_carries_the_echo() {
    let back = RTT - OUT;
    for (n, how, at) in [(2, CLASSIC, SLOT), (2, TCP, 0), (1, CLASSIC, 0)] {
        let script = marked([8, 4], &[1], false);
        let mut spec = network_of(Reliability::Tcp(how), n, 1, &[], &[]);
        let transport = spec.transport.as_mut().unwrap();
        (transport.window, transport.ack_every) = (Window::Scheme, 2);
        let seen = run_all(&script, spec).unwrap();
        let first = seen.all("mark")[0].0.as_ps();
        assert_eq!(first, OUT + back + at, "{n} frames");
    }
}

/// A window of one frame cannot be cut: after a mark the next frame waits for the timer (RFC 3168, 6.1.2), 200 us here, and that is no
/// timeout. The frame tells of it, so that the third goes with the acknowledgement of the second.
#[test]
fn one_frame_waits_for_the_timer() {
    let all = of(&marked([1, 1], &[1], false), CLASSIC, 1, 3, &[]);
    let end = RTT + 200_000_000 + RTT + OUT;
    assert_eq!(all, (vec!["mark 1".into()], 1, 0, end));
    assert_eq!(of(&marked([1, 1], &[1], false), TCP, 1, 3, &[]).3, 2 * RTT + OUT);
    // A mark on each frame: each but the first waits.
    let all = of(&marked([1, 1], &[1, 2, 3, 4], false), CLASSIC, 1, 4, &[]);
    assert_eq!((all.1, all.2, all.3), (4, 0, 3 * (RTT + 200_000_000) + OUT));
}

/// The acknowledgement of the only frame is lost, and the frame that goes again is marked. What has come before tells of no congestion now
/// (RFC 3168, 6.1.5); exact marks count each.
#[test]
fn a_mark_of_a_frame_that_had_come_is_not_echoed() {
    for (how, echoed) in [(CLASSIC, 0), (TCP, 1)] {
        let mut spec = network_of(Reliability::Tcp(how), 1, 1, &[], &[1]);
        spec.transport.as_mut().unwrap().window = Window::Scheme;
        let out = run_all(&marked([8, 4], &[2], false), spec).unwrap().out;
        let t = &out.hosts[0].transport;
        assert_eq!((t.marked / 1500, t.resent, t.timeouts), (echoed, 1, 1));
    }
}
