//! Schedules in GOAL text by hand.
#![allow(clippy::unwrap_used)]

use super::*;

fn of(text: &str) -> Result<Goal, Vec<ImportError>> {
    read(text)
}

/// Lines and words of the faults.
fn faults(text: &str) -> Vec<(usize, usize, String)> {
    of(text).unwrap_err().into_iter().map(|e| (e.line, e.column, e.reason)).collect()
}

#[test]
fn a_schedule_is_read() {
    let text = "num_ranks 2 // two\nrank 0 {\n  a: calc 1000 cpu 1 /* long\n and on */ b: send 4096b to 1 tag 7 nic 0\nb requires a }\n\
                rank 1 { c: recv 4096 from 0 tag 7; calc 5; d: calc 50; d irequires c; d requires c } # end";
    let goal = of(text).unwrap();
    let acts: Vec<_> = goal.operations.iter().map(|o| (o.rank, o.line, o.act)).collect();
    assert_eq!(
        acts,
        [
            (0, 2, GoalAct::Calc(Time::from_us(1), 1)),
            (0, 3, GoalAct::Send(1, 4096)),
            (1, 5, GoalAct::Receive(1)),
            (1, 5, GoalAct::Calc(Time::from_ns(5), 0)),
            (1, 5, GoalAct::Calc(Time::from_ns(50), 0)),
        ]
    );
    assert_eq!((goal.ranks, goal.before(0), goal.before(1)), (2, &[][..], &[Before::Ended(0)][..]));
    assert_eq!(goal.before(4), [Before::Ended(2), Before::Begun(2)]);
}

/// Tags meet whatever their order. Those of one tag meet as the graph orders them: here against the file.
#[test]
fn messages_meet_by_tag_and_order() {
    let text = "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\nb: send 2b to 1 tag 2\nc: send 3b to 1 tag 1\na requires c\n}\n\
                rank 1 {\nx: recv 2b from 0 tag 2\ny: recv 3b from 0 tag 1\nz: recv 1b from 0 tag 1\nz requires y\n}\n";
    let met = |text: &str| {
        let goal = of(text).unwrap();
        goal.operations
            .iter()
            .filter_map(|o| if let GoalAct::Receive(n) = o.act { Some(n) } else { None })
            .collect::<Vec<_>>()
    };
    assert_eq!(met(text), [1, 2, 0]);
    assert_eq!(
        met(&text
            .replace("a requires c\n", "")
            .replace("y: recv 3b", "y: recv 4b")
            .replace("z: recv 1b", "z: recv 3b")),
        [1, 0, 2]
    );
}

/// Those of one tag meet in the order of their times, which computing decides, on processors of its own or on one: not in that of the file.
#[test]
fn messages_meet_by_time() {
    let text = "num_ranks 2\nrank 0 {\nc: calc 100\nd: calc 10 cpu 1\na: send 1b to 1\nb: send 2b to 1\na requires c\nb requires d\n}\n\
                rank 1 {\nx: recv 2b from 0\ny: recv 2b from 0\ny requires x\n}\n";
    let met = |text: &str| {
        let all = of(text).unwrap().operations;
        all.iter()
            .filter_map(|o| if let GoalAct::Receive(n) = o.act { Some(n) } else { None })
            .collect::<Vec<_>>()
    };
    assert_eq!(met(text), [3, 2]);
    assert_eq!(met(&text.replace(" cpu 1", "")), [2, 3]);
    assert_eq!(met(&text.replace("calc 10 ", "calc 100 ")), [2, 3]);
}

#[test]
fn faults_are_named_all_at_once() {
    let text = "num_ranks 2\nrank 0 {\na: calk 5\nb: send 5b at 1\nc: send xb to 1\nd: recv 5b from 2\ne: send 1b to 0\nf: calc 1 cpu 4000\n\
                a: calc 1\nf requires q\nsend 1b to 1 nic 3\n}\nrank 0 {\n}\nrank 5 {\n}\n";
    let all = faults(text);
    let places: Vec<_> = all.iter().map(|f| (f.0, f.1)).collect();
    assert_eq!(
        places,
        [(3, 4), (4, 12), (5, 9), (6, 17), (7, 15), (8, 15), (9, 1), (10, 12), (11, 18), (13, 1), (15, 6)],
        "{all:?}"
    );
    assert!(all[0].2.contains("`calk`") && all[1].2.contains("`at`") && all[7].2.contains("`q`"), "{all:?}");
    assert_eq!(faults("rank 0 {\n}")[0].0, 1);
    assert_eq!(faults("num_ranks 1\nrank 0 {\ncalc 5\n")[0].0, 2);
    assert!(faults("num_ranks 1\n")[0].2.contains("no rank does anything"));
    assert!(faults("num_ranks 0\n")[0].2.contains("no rank"));
    // Without a number of ranks the statements are read all the same.
    let places = |text: &str| faults(text).iter().map(|f| (f.0, f.1)).collect::<Vec<_>>();
    assert_eq!(places("num_ranks x\nrank 7 {\ncalk 5\n}\nrank 7 {\n}"), [(1, 11), (3, 1), (5, 1)]);
    assert_eq!(places("num_ranks 0\nrank 0 {\ncalk 5\n}"), [(1, 11), (3, 1)]);
    // A brace that closes is no part of a statement.
    assert_eq!(places("num_ranks 1\nrank 0 { a: }"), [(2, 11)]);
    assert_eq!(places("num_ranks 1\nrank 0 { a: calc 1 a requires }"), [(2, 22)]);
    assert_eq!(places("num_ranks 1\nrank 0 { calc }\n} rank 0 }"), [(2, 10), (2, 15), (3, 8)]);
    let many = faults(&format!("num_ranks 1\nrank 0 {{\n{}}}", "calk 5\n".repeat(25)));
    assert!(many.len() == 21 && many[20].2.contains("5 further faults"), "{many:?}");
    assert!(!faults("").is_empty());
}

#[test]
fn what_nobody_sends_or_receives_is_named() {
    let two = |a: &str, b: &str| faults(&format!("num_ranks 2\nrank 0 {{\n{a}\n}}\nrank 1 {{\n{b}\n}}\n"));
    let all = two("send 5b to 1 tag 1\nsend 6b to 1 tag 2", "recv 6b from 0 tag 3");
    assert_eq!(all.iter().map(|f| f.0).collect::<Vec<_>>(), [3, 4, 7], "{all:?}");
    assert!(all[0].2.contains("nobody receives it: 5 B from rank 0 to rank 1 with tag 1"), "{all:?}");
    assert!(all[2].2.contains("nobody sends it: 6 B from rank 0 to rank 1 with tag 3"), "{all:?}");
    let all = two("send 5b to 1", "recv 4b from 0");
    assert!(all[0].0 == 6 && all[0].2.contains("takes 4 B") && all[0].2.contains("sends 5 B"), "{all:?}");
}

/// A circle of a rank, and a deadlock of two that both receive first. A message that may begin while its receive waits is none.
#[test]
fn circles_are_named() {
    let all =
        faults("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nb requires c\nc irequires b\n}\n");
    assert_eq!(all.len(), 1);
    assert!(
        all[0].2.contains(
            "rank 0: `b: calc 2`, which waits for rank 0: `c: calc 3`, which waits for rank 0: `b: calc 2`"
        ),
        "{all:?}"
    );
    let two = |a: &str, b: &str| {
        of(&format!(
            "num_ranks 2\nrank 0 {{\nr: recv 1b from 1\ns: send 1b to 1\n{a}\n}}\nrank 1 {{\nr: recv 1b from 0\ns: send 1b to 0\n{b}\n}}\n"
        ))
    };
    let all = two("s requires r", "s requires r").unwrap_err();
    assert!(
        all[0].reason.contains("rank 0: `s: send 1b to 1`")
            && all[0].reason.contains("rank 1: `r: recv 1b from 0`"),
        "{all:?}"
    );
    for (a, b) in [
        ("s irequires r", "s requires r"),
        ("r requires s", "s requires r"),
        ("r requires s", "r requires s"),
    ] {
        assert!(two(a, b).is_ok(), "{a}, {b}");
    }
}

/// A word that is missing, stands twice, or is another one is a fault or none, and never a panic.
#[test]
fn any_word_may_be_wrong() {
    let text = "num_ranks 2 rank 0 { a : calc 10 cpu 1 b : send 4b to 1 tag 7 nic 0 b requires a } \
                rank 1 { c : recv 4b from 0 tag 7 ; d : calc 5 d irequires c }";
    let good: Vec<&str> = text.split_whitespace().collect();
    assert!(of(text).is_ok());
    let others =
        ["", "0", "x", "}", "{", ":", "rank", "requires", "99999999999999999999", "calc calc", "1 1"];
    for at in 0..good.len() {
        for other in others {
            let mut words = good.clone();
            words[at] = other;
            for wrong in [words.join(" "), words.join("\n"), words[..=at].join("\n")] {
                if let Err(all) = of(&wrong) {
                    assert!(
                        all.iter().all(|e| e.line > 0 && e.column > 0 && !e.remedy.is_empty()),
                        "{all:?}"
                    );
                }
            }
        }
    }
}
