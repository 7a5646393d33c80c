//! The gallery: figures of the documents, drawn by the report's own code from runs of scenarios.

use cnsim_report::model::Figure;
use cnsim_runs::record::RunRecord;
use cnsim_runs::run::{Job, Watch, run_jobs};
use cnsim_scenario::{Case, Scenario};
use std::fmt::Write as _;
use std::path::Path;

/// A picture: a few cases of a scenario, and which of their figures.
struct Picture {
    /// Path of the picture, from the folder of documents.
    path: &'static str,
    /// Heading, also inside the picture.
    title: &'static str,
    /// Explanation of the picture, a few sentences.
    says: &'static str,
    /// Scenario: its id, or a file from the root.
    scenario: &'static str,
    /// Condition, empty for all.
    condition: &'static str,
    /// Schemes, empty for all.
    schemes: &'static [&'static str],
    /// Titles of the figures, drawn below one another.
    figures: &'static [&'static str],
}

/// Pictures that take a second of CPU time together: `xtask check` makes them anew.
const SMALL: [Picture; 5] = [
    Picture {
        path: "gallery/incast.svg",
        title: "Eight hosts send 1 MB each to H0; a victim sends elsewhere, 100 Gb/s, PAUSE on",
        says: "PAUSE alone keeps the port to H0 full, and stops a victim that never sends there. Its 1 MB takes 649 us, and 86 us without other traffic. \
               DCQCN cuts the time in PAUSE from 7.7 to 0.7 %. Yet the victim takes 1174 us: its frames wait in the same queues, so they \
               are marked, and its rate climbs back in steps of 300 us.",
        scenario: "docs/tutorial/incast.toml",
        condition: "",
        schemes: &[],
        figures: &["Hot queue length", "What the victim H10>H5 gets"],
    },
    Picture {
        path: "gallery/xoff.svg",
        title: "How XOFF spreads in the same experiment",
        says: "XOFF spreads from the spines' ports towards the first leaf to the ports of the other leaves, and from there to the hosts. \
               The victim H10 stops like the senders of the incast. With DCQCN, XOFF comes in two short waves; the second stops one host only.",
        scenario: "docs/tutorial/incast.toml",
        condition: "",
        schemes: &[],
        figures: &["How XOFF spreads: none", "How XOFF spreads: dcqcn"],
    },
    Picture {
        path: "gallery/completion.svg",
        title: "Completion times in the same experiment",
        says: "DCQCN helps the background: its 99th percentile falls from 259 to 133 us. The incast and the victim pay for that.",
        scenario: "docs/tutorial/incast.toml",
        condition: "",
        schemes: &[],
        figures: &["99 % completion by traffic"],
    },
    Picture {
        path: "gallery/latency.svg",
        title: "Latency of all frames in the same experiment",
        says: "Frames wait at the hosts under DCQCN, and in the switches under PAUSE.",
        scenario: "docs/tutorial/incast.toml",
        condition: "",
        schemes: &[],
        figures: &["Latency of frames"],
    },
    Picture {
        path: "gallery/roots.svg",
        title: "Who stops whom: an incast to H0, while the NIC of H13 says XOFF from 50 to 400 us",
        says: "Each transmitter that was stopped is a row, in the colours of the roots for which it stood. H10 sends to H3, and goes by neither root. \
               Yet it stands 583 of the 657 us that its 1 MB takes, longest for H13: its leaf's port L3>S1 stands for H13, too.",
        scenario: "docs/tutorial/two-roots.toml",
        condition: "",
        schemes: &[],
        figures: &["Who stood for which root: none, PAUSE on"],
    },
];

/// Pictures of the studies' pages: some seconds of CPU time each, so only `generate` makes them.
const STUDIES: [Picture; 5] = [
    Picture {
        path: "studies/figures/b07.svg",
        title: "B07: a port slows to 2 Gb/s from 100 to 500 ms, ten hosts, PAUSE on",
        says: "Without a scheme the queue fills the memory and PAUSE spreads. QCN and ECM hold it near the set point.",
        scenario: "B07/single-hop",
        condition: "hotspot 2 Gb/s",
        schemes: &["none", "qcn-2pt", "ecm"],
        figures: &["Hot queue length", "Hot-port throughput"],
    },
    Picture {
        path: "studies/figures/c07.svg",
        title: "C07: six flows over two bottlenecks, BCN with a sampling rate of 1 %",
        says: "BCN gives the short flows more than the long ones for a long time.",
        scenario: "C07/parking-lot",
        condition: "sampling rate 1%",
        schemes: &["bcn"],
        figures: &["sampling rate 1%"],
    },
    Picture {
        path: "studies/figures/m08.svg",
        title: "M08: four hosts at full rate into one port, control loop of 500 us, PAUSE off",
        says: "The first messages come late and cut the rates too deep: it takes 85 to 87 ms until the port is full again. From then on the queue oscillates between 0 and 50 KB.",
        scenario: "M08/symmetric-4-to-1",
        condition: "control loop delay 500 us",
        schemes: &["qcn-serial-hai", "qcn-802.1Qau"],
        figures: &["Hot queue length", "Hot-port throughput"],
    },
    Picture {
        path: "studies/figures/r07.svg",
        title: "R07: a port slows to 0.5 Gb/s from 100 to 500 ms, ten hosts, PAUSE on, without HAI",
        says: "After the hotspot, QCN with probes recovers the rate in 8 ms, ECM in 51 ms, and QCN without probes in 64 ms.",
        scenario: "R07/single-hop-10",
        condition: "hotspot 0.5 Gb/s",
        schemes: &["ecm", "qcn-2pt", "qcn-hsp"],
        figures: &["Hot queue length", "Hot-port throughput"],
    },
    Picture {
        path: "studies/figures/z07.svg",
        title: "Z07: sixteen hosts, one of them slow: measured at the source or at the destination",
        says: "Source-based and destination-based E2CM hardly differ.",
        scenario: "Z07/single-hop-16",
        condition: "",
        schemes: &["none", "e2cm-src", "e2cm-dst"],
        figures: &["Hot queue length"],
    },
];

/// Files that `check` makes anew: pictures of small runs and the page that shows all.
///
/// # Errors
/// A scenario that does not read, a run that failed.
pub fn small(root: &Path) -> Result<Vec<(String, String)>, String> {
    let mut files = vec![("docs/gallery/README.md".to_owned(), page())];
    for p in &SMALL {
        files.push((format!("docs/{}", p.path), draw(root, p)?));
    }
    Ok(files)
}

/// Pictures of longer runs, for the studies' pages.
///
/// # Errors
/// As [`small`].
pub fn studies(root: &Path) -> Result<Vec<(String, String)>, String> {
    STUDIES.iter().map(|p| Ok((format!("docs/{}", p.path), draw(root, p)?))).collect()
}

fn draw(root: &Path, p: &Picture) -> Result<String, String> {
    let lines =
        |all: Vec<cnsim_problem::Problem>| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    let file = root.join(p.scenario);
    let what = if file.is_file() { file.to_string_lossy().into_owned() } else { p.scenario.to_owned() };
    let scenario = Scenario::load(&what, &[]).map_err(lines)?;
    let first =
        scenario.cases().first().map(|c| (c.id.condition.clone(), c.id.pause.clone())).unwrap_or_default();
    let condition = if p.condition.is_empty() { first.0.as_str() } else { p.condition };
    let wanted = |c: &Case| {
        c.id.condition == condition
            && c.id.pause == first.1
            && (p.schemes.is_empty() || p.schemes.contains(&c.id.scheme.as_str()))
    };
    let mut jobs = Vec::new();
    for case in scenario.cases().into_iter().filter(wanted) {
        let ready = scenario.ready(&case).map_err(lines)?;
        jobs.push(Job::new(case, ready, 1));
    }
    let records: Vec<RunRecord> =
        run_jobs(&jobs, None, 1, &Watch::default())?.into_iter().flatten().collect();
    let figures = cnsim_cli::figures(&scenario, &records);
    let mut panels: Vec<Figure> = Vec::new();
    for title in p.figures {
        let found = figures.iter().find(|f| f.title == *title);
        panels.push(found.cloned().ok_or_else(|| format!("{}: no figure `{title}`", p.scenario))?);
    }
    Ok(cnsim_report::svg(p.title, &panels, &cnsim_report::build::colours(scenario.registry())))
}

/// The page of the gallery.
fn page() -> String {
    let mut out = String::from(
        "<!-- Generated by `make docs` from crates/xtask/src/gallery.rs. -->\n\n# Gallery\n\n\
         Every figure here was made by `make docs`: a scenario, a run of seed 1, the report's own drawing.\n\
         The [chapter on schemes](../reference/schemes.md) has a figure for each scheme.\n",
    );
    for p in SMALL.iter().chain(&STUDIES) {
        let says = p.says.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(
            out,
            "\n## {0}\n\n![{0}](../{1})\n\n{says}\n\n`cnsim {4} {2}{3}`\n",
            p.title,
            p.path,
            p.scenario,
            if p.condition.is_empty() { String::new() } else { format!(" --only \"{}\"", p.condition) },
            if p.scenario.ends_with(".toml") { "run" } else { "reproduce" }
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_picture_shows_both_schemes() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = draw(&root, &SMALL[0]).unwrap();
        assert_eq!(text, draw(&root, &SMALL[0]).unwrap(), "the same twice");
        for part in [">none<", ">dcqcn<", "Hot queue length", "What the victim H10&gt;H5 gets"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("NaN") && text.len() < 80_000, "{}", text.len());
    }
}
