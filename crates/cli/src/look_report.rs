//! Fills the report's plain data from what was measured.

use crate::reproduce::fingerprint;
use cnsim_report::{Cell as ReportCell, Claim as ReportClaim, Figure, Page, Report, Table, Topology, Trace};
use cnsim_studies::assumptions::ASSUMPTIONS;
use cnsim_studies::claims::{Claim, Finding};
use cnsim_studies::published::Published;
use cnsim_studies::scenario::Scenario;
use cnsim_studies::store::RunRecord;
use cnsim_studies::study::{Cell, Verdict, digits};

pub(crate) fn build(
    command: &str,
    scenarios: &[Scenario],
    records: &[RunRecord],
    cells: &[Cell],
    findings: &[(&'static Claim, Finding)],
    left: &[Published],
) -> Report {
    let mut seeds: Vec<u64> = records.iter().map(|r| r.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    Report {
        version: env!("CARGO_PKG_VERSION").into(),
        command: command.into(),
        facts: vec![
            ("runs".into(), records.len().to_string()),
            ("seeds".into(), seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
            (
                "packet-hops".into(),
                format!("{:.3e}", records.iter().map(|r| r.packet_hops as f64).sum::<f64>()),
            ),
            ("fingerprint".into(), format!("{} (the same on any number of threads)", fingerprint(records))),
            ("target".into(), format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
        ],
        pages: scenarios.iter().filter_map(|s| page(s, records, cells)).collect(),
        claims: findings
            .iter()
            .map(|(c, f)| ReportClaim {
                id: c.id.into(),
                text: c.text.into(),
                origin: c.origin.into(),
                holds: f.holds.text().into(),
                evidence: f.evidence.clone(),
            })
            .collect(),
        assumptions: ASSUMPTIONS
            .iter()
            .map(|a| {
                (format!("{} {}", a.id, a.name), a.about.into(), format!("{} = {}", a.key, a.alternatives))
            })
            .collect(),
        not_run: left
            .iter()
            .map(|p| {
                (
                    format!(
                        "{}/{}, {}, PAUSE {}, {}, {}",
                        p.study, p.scenario, p.condition, p.pause, p.scheme, p.metric
                    ),
                    format!("{} {}", p.text, p.unit),
                )
            })
            .collect(),
    }
}

fn page(s: &Scenario, records: &[RunRecord], cells: &[Cell]) -> Option<Page> {
    let mine: Vec<&Cell> = cells.iter().filter(|c| c.study == s.study && c.scenario == s.name).collect();
    let mut ids: Vec<(&str, &str)> = Vec::new();
    for c in &mine {
        if !ids.contains(&(c.condition.as_str(), c.pause.as_str())) {
            ids.push((&c.condition, &c.pause));
        }
    }
    let tables: Vec<Table> =
        ids.into_iter().map(|(condition, pause)| table(condition, pause, &mine, records, s)).collect();
    (!tables.is_empty()).then(|| Page {
        id: s.id(),
        title: s.title.clone(),
        question: s.question.clone(),
        source: s.source.clone(),
        topology: topology(s),
        tables,
    })
}

fn table(condition: &str, pause: &str, cells: &[&Cell], records: &[RunRecord], s: &Scenario) -> Table {
    let here: Vec<&&Cell> = cells.iter().filter(|c| c.condition == condition && c.pause == pause).collect();
    let (mut schemes, mut metrics): (Vec<&str>, Vec<&'static str>) = (Vec::new(), Vec::new());
    for c in &here {
        if !schemes.contains(&c.scheme.as_str()) {
            schemes.push(&c.scheme);
        }
        let shown = matches!(
            c.metric.id,
            "aggregate_throughput"
                | "hot_port_throughput"
                | "time_paused"
                | "dropped_frames"
                | "overhead"
                | "recovery_time"
        );
        if shown && !c.structural && !metrics.contains(&c.metric.id) {
            metrics.push(c.metric.id);
        }
    }
    metrics.sort_by_key(|m| cnsim_studies::metrics::METRICS.iter().position(|x| x.id == *m));
    let columns = metrics
        .iter()
        .filter_map(|m| cnsim_studies::metrics::find(m))
        .map(|m| (m.title.into(), m.unit.into()))
        .collect();
    let cell = |scheme: &str, metric: &str| {
        here.iter().find(|c| c.scheme == scheme && c.metric.id == metric).map(|c| shown(c))
    };
    let figures = [
        ("hot_queue", "Hot queue length", "queue [KB]"),
        ("hot_port_throughput", "Hot-port throughput", "throughput [Gb/s]"),
    ];
    Table {
        title: format!("{condition}, PAUSE {pause}"),
        columns,
        rows: schemes
            .iter()
            .map(|s| ((*s).to_string(), metrics.iter().map(|m| cell(s, m)).collect()))
            .collect(),
        figures: figures
            .iter()
            .map(|(name, title, y)| figure(name, title, y, condition, pause, &schemes, records, s))
            .collect(),
    }
}

fn shown(c: &Cell) -> ReportCell {
    let text = crate::reproduce::measured(
        c.summary.mean,
        c.summary.confidence().map_or(0.0, |(l, h)| (h - l) / 2.0),
    );
    let (mean, half) = text.split_once(" ± ").map_or((text.as_str(), ""), |(m, h)| (m, h));
    let interval = |name: &str, i: Option<(f64, f64)>| {
        i.map_or_else(String::new, |(l, h)| format!("\n{name}: {} to {}", digits(l), digits(h)))
    };
    let verdict = match c.verdict {
        Verdict::Agrees if c.structural => "zero",
        Verdict::Unpublished if c.structural => "zero",
        v => v.text(),
    };
    let values: Vec<String> = c.values.iter().map(|v| digits(*v)).collect();
    ReportCell {
        published: c.published.as_ref().map_or_else(String::new, |p| p.text.clone()),
        measured: mean.into(),
        half: half.into(),
        detail: format!(
            "{} [{}], {} seeds: {}{}{}{}",
            c.metric.title,
            c.metric.unit,
            c.summary.n,
            values.join(", "),
            interval("95 % interval of the mean", c.summary.confidence()),
            interval("95 % interval of one run", c.summary.prediction()),
            if c.note.is_empty() { String::new() } else { format!("\n{}", c.note) }
        ),
        note: c.note.clone(),
        verdict: verdict.into(),
    }
}

#[allow(clippy::too_many_arguments)]
fn figure(
    name: &str,
    title: &str,
    y: &str,
    condition: &str,
    pause: &str,
    schemes: &[&str],
    records: &[RunRecord],
    s: &Scenario,
) -> Figure {
    let run = |scheme: &str| {
        records.iter().find(|r| {
            r.study == s.study
                && r.scenario == s.name
                && r.condition == condition
                && r.pause == pause
                && r.scheme == scheme
                && r.seed == 1
        })
    };
    let traces = schemes
        .iter()
        .filter_map(|scheme| {
            let curve = run(scheme)?.series.get(name)?;
            let x = (1..=curve.values.len()).map(|i| ((i as f64 * curve.bin) * 1e7).round() / 1e4).collect();
            Some(Trace { name: (*scheme).into(), x, y: curve.values.clone() })
        })
        .collect();
    let ready = s.case_of(condition, pause, schemes.first().unwrap_or(&"none"));
    let hot = ready.and_then(|c| s.ready(&c).ok()).and_then(|r| r.settings.hotspot());
    Figure {
        title: format!("{title}, seed 1"),
        y: y.into(),
        shade: hot.map(|h| (h.start.as_secs_f64() * 1e3, h.stop.as_secs_f64() * 1e3)),
        level: hot
            .filter(|_| name == "hot_port_throughput")
            .map(|h| (h.rate.gbps(), format!("service rate {}", h.rate))),
        traces,
    }
}

fn topology(s: &Scenario) -> Topology {
    let Some(ready) = s.cases().into_iter().next().and_then(|c| s.ready(&c).ok()) else {
        return Topology::default();
    };
    let (hosts, wiring) = (ready.settings.hosts(), &ready.settings.wiring);
    let hot = ready.settings.hot.then_some(ready.settings.receiver);
    // Level of a switch: its distance from the hosts.
    let mut level = vec![u32::MAX; hosts + wiring.switches.len()];
    level[..hosts].fill(0);
    for _ in 0..16 {
        for l in &wiring.links {
            let (a, b) = (l.a.0.0 as usize, l.b.0.0 as usize);
            level[a] = level[a].min(level[b].saturating_add(1));
            level[b] = level[b].min(level[a].saturating_add(1));
        }
    }
    let top = level.iter().copied().filter(|l| *l != u32::MAX).max().unwrap_or(0);
    let row = |n: usize| top - level[n].min(top);
    let mut nodes: Vec<(String, u32, bool, bool)> =
        (0..hosts).map(|h| (wiring.hosts[h].clone(), row(h), true, hot == Some(h))).collect();
    nodes.extend(
        wiring.switches.iter().enumerate().map(|(i, (name, _))| (name.clone(), row(hosts + i), false, false)),
    );
    Topology {
        nodes,
        links: wiring.links.iter().map(|l| (l.a.0.0 as usize, l.b.0.0 as usize)).collect(),
        caption: caption(hosts, wiring.switches.len(), hot.is_some(), wiring.links[0].rate),
    }
}

fn caption(hosts: usize, switches: usize, hot: bool, rate: cnsim_units::Rate) -> String {
    let plural = if switches == 1 { "switch" } else { "switches" };
    let hotspot = if hot { "; the port that feeds the marked host slows down" } else { "" };
    format!("{hosts} hosts, {switches} {plural}, links of {rate}{hotspot}")
}
