//! Flow-size tables: the distributions of bytes per flow that data-centre studies draw from.
//!
//! A table is a cumulative distribution, linear between its points, as in the traffic generators of the RoCE studies:
//! a line `bytes percent` a point, both rising, ending at 100; or with shares in place of percentages, ending at 1. Four published
//! tables are built in; any other is a file.

use cnsim_scheme_api::network::Stream;

/// A cumulative distribution of flow sizes, linear between its points.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    /// (bytes, share of flows that are at most that large), rising; the last share is 1.
    points: Vec<(f64, f64)>,
}

/// Why a table of flow sizes is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizesError {
    /// Line of the table, from 1; 0 if the table as a whole is meant.
    pub line: usize,
    /// The fault.
    pub reason: String,
    /// The remedy.
    pub remedy: String,
}

/// Names of the tables that are built in, each with where it comes from.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("websearch", "web search cluster, Alizadeh et al., DCTCP, SIGCOMM 2010; mean 1.71 MB"),
    (
        "fb-hadoop",
        "Facebook Hadoop cluster, Roy et al., SIGCOMM 2015, as digitised for Li et al., HPCC, SIGCOMM 2019; mean 120 KB",
    ),
    ("ali-storage", "storage cluster of a cloud provider, 2019, published with Li et al., HPCC; mean 41 KB"),
    ("solar", "storage network, Miao et al., Solar, SIGCOMM 2022; mean 39 KB"),
];

#[rustfmt::skip]
const WEBSEARCH: &[(u32, f64)] = &[
    (0, 0.0), (10_000, 15.0), (20_000, 20.0), (30_000, 30.0), (50_000, 40.0), (80_000, 53.0),
    (200_000, 60.0), (1_000_000, 70.0), (2_000_000, 80.0), (5_000_000, 90.0), (10_000_000, 97.0),
    (30_000_000, 100.0),
];

#[rustfmt::skip]
const FB_HADOOP: &[(u32, f64)] = &[
    (0, 0.0), (100, 1.0), (200, 2.0), (300, 5.0), (350, 15.0), (400, 20.0), (500, 30.0), (600, 40.0),
    (700, 50.0), (1_000, 60.0), (2_000, 67.0), (7_000, 70.0), (30_000, 72.0), (50_000, 82.0),
    (80_000, 87.0), (120_000, 90.0), (300_000, 95.0), (1_000_000, 97.5), (2_000_000, 99.0),
    (10_000_000, 100.0),
];

#[rustfmt::skip]
const ALI_STORAGE: &[(u32, f64)] = &[
    (0, 0.0), (4_000, 22.93), (8_000, 69.21), (16_000, 80.61), (32_000, 90.47), (64_000, 93.53),
    (128_000, 96.77), (256_000, 97.53), (2_000_000, 100.0),
];

#[rustfmt::skip]
const SOLAR: &[(u32, f64)] = &[
    (0, 0.0), (4_095, 0.001), (4_096, 30.0), (16_383, 35.0), (16_384, 50.0), (65_535, 60.0), (65_536, 95.0),
    (262_144, 100.0),
];

/// Largest flow that a table may name, bytes: a terabyte.
const LARGEST: f64 = 1e12;

/// Largest number of frames between two points that are summed one by one; a formula sums more.
const SUMMED: f64 = 1e6;

impl Sizes {
    /// A table that is built in, by its name ([`BUILT_IN`]).
    pub fn named(name: &str) -> Option<Self> {
        let points = match name {
            "websearch" => WEBSEARCH,
            "fb-hadoop" => FB_HADOOP,
            "ali-storage" => ALI_STORAGE,
            "solar" => SOLAR,
            _ => return None,
        };
        Some(Self { points: points.iter().map(|&(b, p)| (f64::from(b), p / 100.0)).collect() })
    }

    /// Flows of one size.
    pub fn fixed(bytes: u64) -> Self {
        Self { points: vec![(bytes.max(1) as f64, 1.0)] }
    }

    /// Reads a table with a line `bytes percent` for each point, or `bytes share`, which ends at 1. Blank lines and comments after `#` are
    /// skipped.
    ///
    /// # Errors
    /// A line that is not two numbers, sizes or shares that fall, shares outside 0 to 100 %, a table that is empty or
    /// ends neither at 100 % nor at a share of 1.
    pub fn parse(text: &str) -> Result<Self, SizesError> {
        let bad = |line: usize, reason: String, remedy: &str| {
            Err(SizesError { line, reason, remedy: remedy.to_string() })
        };
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut last = 0;
        for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let words: Vec<&str> = line
                .split('#')
                .next()
                .unwrap_or("")
                .split([' ', '\t', ','])
                .filter(|w| !w.is_empty())
                .collect();
            if words.is_empty() {
                continue;
            }
            let number = i + 1;
            let numbers: Vec<f64> =
                words.iter().filter_map(|w| w.parse::<f64>().ok()).filter(|v| v.is_finite()).collect();
            let (&[bytes, percent], 2) = (&numbers[..], words.len()) else {
                return bad(number, format!("`{}` is not two numbers", line.trim()), "write `bytes percent`");
            };
            if !(0.0..=LARGEST).contains(&bytes) {
                return bad(number, format!("{bytes} bytes are out of range"), "allowed: 0 to 1e12 bytes");
            }
            if !(0.0..=100.0).contains(&percent) {
                return bad(number, format!("{percent} % is out of range"), "allowed: 0 to 100 %");
            }
            if let Some(&(b, p)) = points.last()
                && (bytes < b || percent < p || (bytes, percent) == (b, p))
            {
                return bad(
                    number,
                    format!("`{}` does not rise above the line before", line.trim()),
                    "sizes and cumulative percentages rise from line to line",
                );
            }
            points.push((bytes, percent));
            last = number;
        }
        match points.last() {
            None => {
                bad(0, "the table has no points".into(), "write a line `bytes percent` a point, up to 100 %")
            }
            Some(&(_, p)) if p != 1.0 && p != 100.0 => bad(
                last,
                format!("the table ends at {p}"),
                "the last line names the largest size, with 100 %, or 1 if the table has shares",
            ),
            Some(&(b, _)) if b < 1.0 => {
                bad(last, "all flows have no bytes".into(), "the largest size is at least 1 byte")
            }
            Some(&(_, all)) => Ok(Self { points: points.iter().map(|(b, p)| (*b, p / all)).collect() }),
        }
    }

    /// Bytes below which the share `u` of all flows lies, at least 1; `u` in [0, 1).
    pub fn at(&self, u: f64) -> u64 {
        let i = self.points.partition_point(|&(_, p)| p <= u).min(self.points.len() - 1);
        let (b, p) = self.points[i];
        let (below, from) = match i.checked_sub(1) {
            Some(j) => self.points[j],
            // Shares below the first point have the first point's size.
            None => (b, 0.0),
        };
        let share = ((u - from) / (p - from)).clamp(0.0, 1.0);
        ((below + (b - below) * share) as u64).max(1)
    }

    /// Draws a size.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        self.at(stream.uniform())
    }

    /// Share of flows of at most `bytes`.
    pub fn share_up_to(&self, bytes: f64) -> f64 {
        let i = self.points.partition_point(|&(b, _)| b <= bytes);
        let Some(&(b, p)) = self.points.get(i) else { return 1.0 };
        match i.checked_sub(1) {
            Some(j) => {
                let (below, from) = self.points[j];
                from + (p - from) * (bytes - below) / (b - below)
            }
            None => 0.0,
        }
    }

    /// Mean size, bytes, of the distribution that is linear between the points.
    pub fn mean(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |&(b, p)| b * p);
        let rest = self.points.windows(2).map(|w| (w[1].1 - w[0].1) * (w[0].0 + w[1].0) / 2.0);
        first + rest.sum::<f64>()
    }

    /// Mean bytes on the wire where every frame carries `payload` bytes and `header` more.
    pub fn mean_on_wire(&self, payload: u64, header: u64) -> f64 {
        let step = payload.max(1) as f64;
        // All flows have one frame; a flow has more than k where it is larger than k payloads.
        let (mut frames, mut k, mut below): (f64, f64, Option<(f64, f64)>) = (1.0, 1.0, None);
        for &(b, p) in &self.points {
            let larger = |bytes: f64| -> f64 {
                1.0 - below.map_or(0.0, |(low, from)| from + (p - from) * (bytes - low) / (b - low))
            };
            let many = (b / step).ceil() - k;
            if many > SUMMED {
                // Between two points the shares fall evenly, so their mean is that of the first and the last.
                frames += many * larger(k * step).midpoint(larger((k + many - 1.0) * step));
                k += many;
            }
            while k * step < b {
                frames += larger(k * step);
                k += 1.0;
            }
            below = Some((b, p));
        }
        self.mean() + frames * header as f64
    }

    /// The points: (bytes, cumulative share).
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cnsim_scheme_api::network::Purpose;

    /// Means as derived from the published points, in bytes.
    #[test]
    fn means_of_the_published_tables() {
        let near = |name: &str, mean: f64| {
            let is = Sizes::named(name).unwrap().mean();
            assert!((is - mean).abs() < 1.0, "{name}: {is}");
        };
        near("websearch", 1_711_250.0);
        near("fb-hadoop", 120_421.0);
        near("ali-storage", 40_870.0);
        near("solar", 39_424.0);
        assert!(BUILT_IN.iter().all(|(n, _)| Sizes::named(n).is_some()));
    }

    #[test]
    fn draws_follow_the_table() {
        for (name, _) in BUILT_IN {
            let table = Sizes::named(name).unwrap();
            let mut stream = Stream::new(3, 0, Purpose::Test);
            let mut drawn: Vec<u64> = (0..40_000).map(|_| table.draw(&mut stream)).collect();
            drawn.sort_unstable();
            // Kolmogorov-Smirnov: the largest distance, against the 99.9 % point 1.95 / sqrt(n). A drawn size is rounded
            // down, so it stands for sizes up to one byte more.
            let n = drawn.len() as f64;
            let mut worst: f64 = 0.0;
            for (i, &b) in drawn.iter().enumerate() {
                if drawn.get(i + 1) != Some(&b) {
                    worst = worst.max(((i + 1) as f64 / n - table.share_up_to(b as f64 + 1.0)).abs());
                }
            }
            assert!(worst < 1.95 / n.sqrt(), "{name}: {worst}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused_by_line() {
        let line = |text: &str| Sizes::parse(text).map_err(|e| e.line).unwrap_err();
        assert_eq!(line(""), 0);
        assert_eq!(line("# nothing\n\n"), 0);
        assert_eq!(line("0 0\n100\n"), 2);
        assert_eq!(line("0 0\n100 x\n"), 2);
        assert_eq!(line("0 0\n100 NaN\n"), 2);
        assert_eq!(line("0 0\n100 50\n90 100\n"), 3);
        assert_eq!(line("0 0\n100 50\n200 40\n"), 3);
        assert_eq!(line("0 0\n100 50\n200 101\n"), 3);
        assert_eq!(line("0 0\n100 50\n"), 2);
        assert_eq!(line("-1 0\n100 100\n"), 1);
        assert_eq!(line("0 100\n"), 1);
        assert_eq!(line("0 0\n100 0.5\n200 0.99\n"), 3);
        // A table that ends at 1 is one of shares.
        let table = "0 0\n1500 20\n12000 45\n90000 70\n4000000 97\n25000000 100";
        let shares = "0 0\n1500 0.2\n12000 0.45\n90000 0.7\n4000000 0.97\n25000000 1";
        assert_eq!(Sizes::parse(shares), Sizes::parse(table));
        assert!(Sizes::parse("\u{feff}0 0\n100 50 # half\n\n200\t100\n").is_ok());
    }

    #[test]
    fn headers_on_the_wire() {
        // 2500 bytes in frames of 1000: three headers.
        assert_eq!(Sizes::fixed(2500).mean_on_wire(1000, 48), 2500.0 + 3.0 * 48.0);
        // Uniform from 0 to 2000: half the flows have one frame, half have two.
        let uniform = Sizes::parse("0 0\n2000 100").unwrap();
        assert!((uniform.mean_on_wire(1000, 48) - (1000.0 + 1.5 * 48.0)).abs() < 1e-9);
        // Uniform from 0 to 2 TB: 2e9 frames at most, half of them on average, and half a frame that is not full.
        let huge = Sizes::parse("0 0\n1000000000000 100").unwrap();
        assert!((huge.mean_on_wire(1000, 48) / (5e11 + 500_000_000.5 * 48.0) - 1.0).abs() < 1e-12);
        // A step of the table at 1 GB has no length; a tenth of the flows is as large.
        let step = Sizes::parse("1000 90\n1000000000 90\n1000000000 100").unwrap();
        assert!((step.mean_on_wire(1000, 48) / (900.0 + 1e8 + (0.9 + 1e5) * 48.0) - 1.0).abs() < 1e-12);
    }

    /// The published tables walked frame by frame: the same bits, as runs rest on them (`workload.load_counts = "wire"`).
    #[test]
    fn means_on_the_wire_have_the_bits_of_a_plain_sum() {
        for (name, _) in BUILT_IN {
            let table = Sizes::named(name).unwrap();
            for (payload, header) in [(1000_u16, 48_u16), (1460, 58), (64, 20), (8960, 40)] {
                let (mut frames, mut k) = (0.0, 0.0);
                while k * f64::from(payload) < table.points.last().unwrap().0 {
                    frames += if k == 0.0 { 1.0 } else { 1.0 - table.share_up_to(k * f64::from(payload)) };
                    k += 1.0;
                }
                let plain = table.mean() + frames * f64::from(header);
                let is = table.mean_on_wire(u64::from(payload), u64::from(header));
                assert_eq!(is.to_bits(), plain.to_bits(), "{name}, {payload}: {is} {plain}");
            }
        }
    }

    #[test]
    fn a_first_point_above_zero_is_a_size_of_its_own() {
        let t = Sizes::parse("64 50\n128 100").unwrap();
        assert_eq!((t.at(0.0), t.at(0.49), t.at(0.75)), (64, 64, 96));
        assert_eq!(Sizes::fixed(10).at(0.999), 10);
    }

    #[test]
    fn shares_and_means_by_hand() {
        let t = Sizes::parse("100 20\n300 60\n700 100").unwrap();
        for (bytes, share) in [
            (50.0, 0.0),
            (99.0, 0.0),
            (100.0, 0.2),
            (200.0, 0.4),
            (300.0, 0.6),
            (500.0, 0.8),
            (700.0, 1.0),
            (9e9, 1.0),
        ] {
            assert!((t.share_up_to(bytes) - share).abs() < 1e-12, "{bytes}: {}", t.share_up_to(bytes));
        }
        // A fifth of the flows has 100 bytes, two fifths 200 on average, two fifths 500.
        assert!((t.mean() - 300.0).abs() < 1e-9);
        assert_eq!((t.at(0.1), t.at(0.2), t.at(0.4), t.at(0.8)), (100, 100, 200, 500));
        assert_eq!(Sizes::parse("0 0\n1 100").unwrap().at(0.5), 1, "no flow is without a byte");
    }
}
