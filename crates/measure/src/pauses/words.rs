//! Words for roots and times, the same in the terminal and in the report.

use super::{Kind, Stops};

/// A time in a unit that suits it, with four digits.
pub fn time(ps: u64) -> String {
    let (unit, name) = unit(ps);
    let whole = ps / unit;
    let decimals = if unit == 1 { 0 } else { 4_usize.saturating_sub(whole.to_string().len()) };
    format!("{:.decimals$} {name}", ps as f64 / unit as f64)
}

/// A time in the unit of [`time`], with all its digits.
pub fn exact(ps: u64) -> String {
    let (unit, name) = unit(ps);
    let decimals = unit.ilog10() as usize;
    let text = format!("{}.{:0decimals$}", ps / unit, ps % unit);
    format!("{} {name}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A time of a table in the unit that suits the whole that it is a part of; a longer one in its own.
pub fn part(ps: u64, whole: u64) -> String {
    let (unit, name) = unit(whole);
    match ps {
        0 => format!("0 {name}"),
        _ if ps < unit => format!("{:.3} {name}", ps as f64 / unit as f64),
        _ => time(ps),
    }
}

/// The unit that suits a time: ps, and its name.
fn unit(ps: u64) -> (u64, &'static str) {
    let units = [(1_000_000_000_000, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns")];
    units.into_iter().find(|u| ps >= u.0).unwrap_or((1, "ps"))
}

impl Stops {
    /// A root and why it is one: `L1>H0: took in less than came`.
    pub fn root(&self, output: u32, kind: Kind) -> String {
        let name = self.name(output);
        let why = match kind {
            Kind::Slow => "took in less than came",
            Kind::Closed => "serves nothing",
            Kind::Said if name.contains('>') => "the port said XOFF",
            Kind::Said => "its NIC said XOFF",
        };
        format!("{name}: {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_four_digits() {
        let shown = [0, 999, 1_000, 12_345, 4_310_000_000, 1_843_200_000_000].map(time);
        assert_eq!(shown, ["0 ps", "999 ps", "1.000 ns", "12.35 ns", "4.310 ms", "1.843 s"]);
    }

    #[test]
    fn a_sum_has_all_its_digits() {
        let sums = [0, 10, 1_000, 99_360, 34_000_000, 329_325_200, 1_000_000_000_001].map(exact);
        assert_eq!(sums, ["0 ps", "10 ps", "1 ns", "99.36 ns", "34 us", "329.3252 us", "1.000000000001 s"]);
    }

    #[test]
    fn a_fault_is_of_a_nic_or_of_a_port() {
        let stops = Stops { names: vec!["H1".into(), "S1>H1".into()], ..Stops::default() };
        assert_eq!(stops.root(0, Kind::Said), "H1: its NIC said XOFF");
        assert_eq!(stops.root(1, Kind::Said), "S1>H1: the port said XOFF");
        assert_eq!(stops.root(1, Kind::Closed), "S1>H1: serves nothing");
    }
}
