//! `cnsim assume`: tries other readings of the gaps in the sources, and ranks them by their fit to the published cells.

use crate::experiment::{interrupted, run_all};
use crate::look::{self, Colour, half, interval, measured, paint};
use crate::output::Output;
use crate::reproduce::{published_in, words_of};
use crate::request::{ASSUMED_SPEED, refuse_many, refuse_no_seeds, threads};
use crate::sweep::bounds;
use crate::{Batch, Common, Done, Failure, pairs};
use clap::Args;
use cnsim_measure::quantity::digits;
use cnsim_measure::stats::Summary;
use cnsim_papers::assume::{
    Fold, Lab, MOST, Scored, ScoredCell, Setup, asked_switches, every, leave_one_out, named_switches,
};
use cnsim_papers::published::Published;
use cnsim_runs::files::table;
use cnsim_runs::place::Place;
use cnsim_runs::run::Watch;
use cnsim_runs::saved::RESULTS;
use cnsim_scenario::{Case, Scenario, embedded_of};
use cnsim_scheme_api::Registry;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `assume`.
#[derive(Args, Debug, Clone)]
pub(crate) struct AssumeArgs {
    /// A study (all its scenarios with published cells), STUDY/SCENARIO, or a file.
    scenario: String,
    /// A switch to vary: KEY=V1,V2, or an assumption for all its alternatives; may be repeated [default:
    /// all named assumptions].
    #[arg(long, value_name = "KEY=V1,V2")]
    over: Vec<String>,
    /// Only cases whose condition, PAUSE mode or scheme contains this text; of several texts, all must match.
    #[arg(long)]
    only: Vec<String>,
    /// Seeds of each case.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Set a key of the scenario for all runs.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// File of published numbers [default: the embedded ones].
    #[arg(long)]
    published: Option<PathBuf>,
    /// Number of combinations that are shown.
    #[arg(long, default_value_t = 15)]
    top: usize,
    #[command(flatten)]
    batch: Batch,
}

/// The scenarios that are searched: of a study, all with published cells.
fn scenarios(
    registry: &Registry,
    args: &AssumeArgs,
    published: &[Published],
) -> Result<Vec<Scenario>, Failure> {
    let sets = pairs(&args.sets, registry)?;
    let Some(paper) = cnsim_papers::find(&args.scenario) else {
        return Ok(vec![Scenario::load_in(registry, &args.scenario, &sets, &[])?]);
    };
    let told = |id: &str| published.iter().any(|p| format!("{}/{}", p.case.study, p.case.scenario) == id);
    let all: Vec<&str> = embedded_of(paper.id).filter(|id| told(id)).collect();
    if all.is_empty() {
        return Err(Failure::input(format!(
            "{} prints no number to compare with\n  help: name a study that does, such as B07, or a scenario",
            paper.id
        )));
    }
    Ok(all.into_iter().map(|id| Scenario::load_in(registry, id, &sets, &[])).collect::<Result<_, _>>()?)
}

pub(crate) fn assume(args: &AssumeArgs, common: &Common) -> Done {
    let asked = !args.over.is_empty();
    let switches = if asked { asked_switches(&args.over).map_err(Failure::Input)? } else { named_switches() };
    let published = published_in(args.published.as_deref())?;
    let scenarios = scenarios(&common.registry, args, &published)?;
    let subject = match &scenarios[..] {
        [one] => one.id(),
        _ => scenarios[0].study.clone(),
    };
    refuse_no_seeds(args.seeds)?;
    let only: Vec<String> = args.only.iter().map(|t| t.to_lowercase()).collect();
    let keep = |c: &Case| only.iter().all(|t| words_of(c).contains(t));
    let mut lab =
        Lab::new(&scenarios, &published, switches, asked, args.seeds, &keep).map_err(Failure::Input)?;
    let (setups, alone) = setups(&mut lab, args)?;
    let missing = lab.missing(&setups);
    let jobs: Vec<_> = missing.iter().map(|i| lab.jobs[*i].clone()).collect();
    refuse_many(&jobs, args.batch.force)?;
    if !common.quiet {
        eprintln!(
            "cnsim {}: {subject}: {} cases, {} switches, {} values that change something; {} runs, about {:.0} CPU-seconds, {} threads",
            env!("CARGO_PKG_VERSION"),
            lab.cases.len(),
            lab.switches.len(),
            alone - 1,
            jobs.len(),
            jobs.iter().map(|j| j.ready.estimate().packet_hops).sum::<f64>() / ASSUMED_SPEED,
            threads(args.batch.threads)
        );
    }
    Output::check(&args.batch.out, args.batch.force)?;
    let watch = Arc::new(Watch::default());
    look::on_interrupt(&watch, true);
    let place = (args.batch.out.as_path(), args.batch.force);
    let records = run_all(&jobs, place, args.batch.threads, &watch, common.quiet)?;
    let finished = records.iter().flatten().count();
    missing.into_iter().zip(records).for_each(|(at, record)| lab.records[at] = record);
    interrupted(&watch, (finished, jobs.len()), true, None)?;
    let scored = lab.score(&setups);
    let Some(base) = scored.iter().find(|s| s.combination.is_empty()) else {
        return Err(Failure::Run("the scenario as it is could not be scored".into()));
    };
    let folds = leave_one_out(&scored);
    let text = Text { lab: &lab, scored: &scored, base, args, idle: idle(&lab, &setups), subject, folds };
    text.write_files()?;
    if args.batch.json {
        println!("{}", text.json());
    } else {
        text.tell();
    }
    Ok(())
}

/// The combinations that are run: each value alone, and of switches that are asked for all combinations; and how many are of one value.
fn setups(lab: &mut Lab<'_>, args: &AssumeArgs) -> Result<(Vec<Setup>, usize), Failure> {
    // A value that was asked for is refused where it cannot be read; an assumption's alternative that does not fit is noted.
    let mut setups: Vec<Setup> = Vec::new();
    let one = lab.one_at_a_time();
    let by_value = args.over.iter().any(|over| over.contains('='));
    lab.add(&mut setups, &one, by_value).map_err(Failure::Input)?;
    if setups.len() < 2 {
        return Err(Failure::input(
            "no alternative changes anything in these cases\n  help: name another key, or other cases with --only",
        ));
    }
    let alone = setups.len();
    if !args.over.is_empty() {
        let all = every(&lab.switches).ok_or_else(|| {
            Failure::input(format!(
                "these switches have more than {MOST} combinations\n  help: name fewer switches or values with --over"
            ))
        })?;
        lab.add(&mut setups, &all, false).map_err(Failure::Input)?;
    }
    Ok((setups, alone))
}

/// Switches none of whose values changes a run here.
fn idle(lab: &Lab<'_>, alone: &[Setup]) -> Vec<String> {
    let mut idle = Vec::new();
    for (s, switch) in lab.switches.iter().enumerate() {
        let used = |v: usize| alone.iter().any(|x| x.combination[..] == [(s, v)]);
        if !(0..switch.values.len()).any(used) {
            idle.push(switch.name.clone());
        }
    }
    idle
}

/// The printed result of a search.
struct Text<'a> {
    lab: &'a Lab<'a>,
    scored: &'a [Scored],
    base: &'a Scored,
    args: &'a AssumeArgs,
    idle: Vec<String>,
    /// STUDY or STUDY/SCENARIO.
    subject: String,
    folds: Vec<Fold>,
}

/// A distance with its interval.
fn scales(s: &Summary) -> String {
    match s.confidence() {
        Some(_) => format!("{:.2} ± {:.2}", s.mean, half(s)),
        None => format!("{:.2}", s.mean),
    }
}

impl Text<'_> {
    fn alone(&self) -> Vec<&Scored> {
        self.scored.iter().filter(|s| s.combination.len() <= 1).collect()
    }

    /// Combinations that measure something else than every shorter reading.
    fn together(&self) -> Vec<&Scored> {
        let values = |s: &Scored| s.cells.iter().map(|c| c.cell.values.clone()).collect::<Vec<_>>();
        let shorter = |s: &Scored| {
            let near = |o: &&Scored| o.distance == s.distance && o.combination.len() < s.combination.len();
            self.scored.iter().filter(near).any(|o| values(o) == values(s))
        };
        self.scored.iter().filter(|s| s.combination.len() > 1 && !shorter(s)).collect()
    }

    fn ranking(&self, title: &str, list: &[&Scored]) {
        println!("\n{}", paint(title, Colour::Bold, look::colour_on_stdout()));
        let row = |s: &&Scored| {
            let gain = s.gain.as_ref().filter(|_| !s.combination.is_empty()).map_or_else(String::new, scales);
            vec![
                s.label.clone(),
                scales(&s.distance),
                gain,
                s.agree.to_string(),
                s.better.to_string(),
                s.worse.to_string(),
                s.each.len().to_string(),
            ]
        };
        let rows: Vec<Vec<String>> = list.iter().map(row).collect();
        let header = ["reading", "distance", "nearer by", "agree", "better", "worse", "seeds"];
        let tint = |line: &str| if line.starts_with("as it is") { Colour::Dim } else { Colour::Plain };
        let table = look::table(&header, &rows, false);
        look::painted(&table, look::colour_on_stdout(), tint).iter().for_each(|line| println!("{line}"));
    }

    fn tell(&self) {
        let (cells, colour) = (self.base.cells.len(), look::colour_on_stdout());
        println!(
            "{}: {} cases, {cells} published cells, {} seeds. Distance: mean |published - run| / scale over the cells; 1 scale is what one honest run may be off.",
            self.subject,
            self.lab.cases.len(),
            self.lab.seeds
        );
        println!(
            "agree: of {cells} cells; better, worse: cells nearer or farther by more than 1 scale. {}",
            interval([self.args.seeds])
        );
        self.ranking("One switch at a time", &self.alone());
        let together = self.together();
        if !together.is_empty() {
            let shown = &together[..together.len().min(self.args.top)];
            self.ranking(&format!("Combinations, the nearest {} of {}", shown.len(), together.len()), shown);
        }
        self.left_out(colour);
        let rows = self.misses();
        if !rows.is_empty() {
            println!(
                "\n{}",
                paint("Cells that differ, and the one switch that brings each nearest", Colour::Bold, colour)
            );
            let header = ["cell", "published", "as it is", "nearest", "with", "best overall"];
            println!("{}", look::table(&header, &rows, false));
        }
        println!();
        if !self.idle.is_empty() {
            println!("Without effect on these cases: {}.", self.idle.join(", "));
        }
        self.lab.refused.iter().for_each(|r| println!("Left out: {r}"));
        println!("{}", self.conclusion());
        let out = self.args.batch.out.display();
        println!("\nNumbers  {out}/assume.csv, {out}/assume-cells.csv");
    }

    /// The tables left out one by one.
    fn left_out(&self, colour: bool) {
        if self.folds.is_empty() {
            return;
        }
        println!("\n{}", paint("Leave one table out", Colour::Bold, colour));
        let row = |f: &Fold| {
            vec![
                f.table.clone(),
                self.scored[f.chosen].label.clone(),
                format!("{:.2}", f.distance.0),
                format!("{:.2}", f.distance.1),
                format!("{} of {}", f.agree.0, f.cells),
                format!("{} of {}", f.agree.1, f.cells),
            ]
        };
        let rows: Vec<Vec<String>> = self.folds.iter().map(row).collect();
        let header =
            ["table left out", "nearest on the others", "distance", "as it is", "agree", "as it is, agree"];
        println!("{}", look::table(&header, &rows, false));
        println!("{}", self.verdict_of_folds());
    }

    /// Does the choice hold on tables that it was not made on?
    fn verdict_of_folds(&self) -> String {
        let nearer = self.folds.iter().filter(|f| f.distance.0 < f.distance.1).count();
        let farther = self.folds.iter().filter(|f| f.distance.0 > f.distance.1).count();
        let cells: usize = self.folds.iter().map(|f| f.cells).sum();
        let sum = |of: &dyn Fn(&Fold) -> f64| {
            self.folds.iter().map(|f| of(f) * f.cells as f64).sum::<f64>() / cells.max(1) as f64
        };
        let agree = |of: &dyn Fn(&Fold) -> usize| self.folds.iter().map(of).sum::<usize>();
        format!(
            "On the table left out: nearer in {nearer}, farther in {farther} of {}; distance {:.2} ({:.2} as it is), {} of {cells} cells agree ({} as it is).",
            self.folds.len(),
            sum(&|f| f.distance.0),
            sum(&|f| f.distance.1),
            agree(&|f| f.agree.0),
            agree(&|f| f.agree.1)
        )
    }

    fn misses(&self) -> Vec<Vec<String>> {
        let shown = |c: &ScoredCell| measured(c.cell.summary.mean, c.cell.summary.confidence());
        let mut rows = Vec::new();
        for (i, c) in self.base.cells.iter().enumerate().filter(|(_, c)| !c.agrees) {
            let best =
                self.alone().into_iter().min_by(|a, b| a.cells[i].distance.total_cmp(&b.cells[i].distance));
            let Some(best) = best else { continue };
            let helps = best.cells[i].distance + 0.05 < c.distance;
            rows.push(vec![
                c.name(),
                c.cell.published.as_ref().map_or_else(String::new, |p| p.text.clone()),
                shown(c),
                if helps { shown(&best.cells[i]) } else { "-".into() },
                if helps { best.label.clone() } else { "none".into() },
                self.scored.first().map_or_else(String::new, |s| shown(&s.cells[i])),
            ]);
        }
        rows
    }

    fn conclusion(&self) -> String {
        let good: Vec<&str> =
            self.scored.iter().filter(|s| s.holds_everywhere(self.base)).map(|s| s.label.as_str()).collect();
        let Some(best) = self.scored.first() else { return String::new() };
        let cells = self.base.cells.len();
        match &good[..] {
            [] if best.combination.is_empty() => {
                format!(
                    "No reading comes nearer than the scenario as it is ({} of {cells} cells agree).",
                    best.agree
                )
            }
            [] => format!(
                "Nearest: {} ({} of {cells} cells agree, {} as it is). No reading is nearer beyond the noise without making some cell worse: no ground for another default.",
                best.label, best.agree, self.base.agree
            ),
            some => format!(
                "Nearer beyond the noise, and no cell worse: {}. Try them on all tables and scenarios of the study before a default changes.",
                some[..some.len().min(5)].join("; ")
            ),
        }
    }

    fn json(&self) -> serde_json::Value {
        let cell = |c: &ScoredCell| {
            json!({
                "scenario": c.cell.case.scenario, "condition": c.cell.condition(), "pause": c.cell.case.pause, "scheme": c.cell.case.scheme, "metric": c.cell.metric.id,
                "unit": c.cell.unit, "published": c.cell.published.as_ref().map(|p| p.value), "measured": c.cell.summary.mean,
                "ci95": c.cell.summary.confidence(), "scale": c.scale, "distance": c.distance, "agrees": c.agrees,
            })
        };
        let one = |s: &Scored| {
            let set: serde_json::Map<String, serde_json::Value> = s
                .combination
                .iter()
                .map(|(k, v)| (self.lab.switches[*k].key.clone(), json!(self.lab.switches[*k].values[*v])))
                .collect();
            json!({
                "set": set, "distance": s.distance.mean, "ci95": s.distance.confidence(), "agree": s.agree,
                "better": s.better, "worse": s.worse, "seeds": s.each.len(), "holds_everywhere": s.holds_everywhere(self.base),
                "cells": s.cells.iter().map(cell).collect::<Vec<_>>(),
            })
        };
        json!({
            "schema": 1, "scenario": self.subject, "seeds": self.lab.seeds, "cells": self.base.cells.len(),
            "without_effect": self.idle, "refused": Vec::from_iter(&self.lab.refused), "conclusion": self.conclusion(),
            "left_out": self.folds.iter().map(|f| json!({
                "table": f.table, "chosen": self.scored[f.chosen].label, "cells": f.cells,
                "distance": f.distance.0, "distance_as_it_is": f.distance.1,
                "agree": f.agree.0, "agree_as_it_is": f.agree.1,
            })).collect::<Vec<_>>(),
            "readings": self.scored.iter().map(one).collect::<Vec<_>>(),
        })
    }

    fn write_files(&self) -> Done {
        let mut place = Place::open(&self.args.batch.out, &RESULTS, self.args.batch.force)?;
        let words = |t: &str| t.split(',').map(String::from).collect::<Vec<String>>();
        let header = words(
            "rank,reading,distance,ci95_low,ci95_high,nearer_by,nearer_ci95_low,nearer_ci95_high,agree,cells,better,worse,holds_everywhere,seeds",
        );
        let mut lines = Vec::new();
        for (i, s) in self.scored.iter().enumerate() {
            let mut line = vec![(i + 1).to_string(), s.label.clone(), digits(s.distance.mean)];
            line.extend(bounds(s.distance.confidence()));
            line.push(s.gain.as_ref().map_or_else(String::new, |g| digits(g.mean)));
            line.extend(bounds(s.gain.as_ref().and_then(Summary::confidence)));
            line.extend([s.agree, s.cells.len(), s.better, s.worse].map(|n| n.to_string()));
            line.push(if s.holds_everywhere(self.base) { "yes" } else { "no" }.into());
            line.push(s.each.len().to_string());
            lines.push(line);
        }
        place.write("assume.csv", table(&header, &lines).as_bytes())?;
        let header = words(
            "reading,study,scenario,condition,pause,scheme,metric,unit,published,measured,ci95_low,ci95_high,pi95_low,pi95_high,seeds,scale,distance,agrees",
        );
        let mut lines = Vec::new();
        for s in self.scored {
            for c in &s.cells {
                let of = &c.cell;
                let case = of.shown();
                let mut line =
                    vec![s.label.clone(), case.study, case.scenario, case.condition, case.pause, case.scheme];
                let published = of.published.as_ref().map_or_else(String::new, |p| digits(p.value));
                line.extend([of.metric.id.to_string(), of.unit.clone(), published, digits(of.summary.mean)]);
                line.extend(bounds(of.summary.confidence()));
                line.extend(bounds(of.summary.prediction()));
                line.extend([of.summary.n.to_string(), digits(c.scale), digits(c.distance)]);
                line.push(if c.agrees { "yes" } else { "no" }.into());
                lines.push(line);
            }
        }
        place.write("assume-cells.csv", table(&header, &lines).as_bytes())?;
        if !self.folds.is_empty() {
            let header = words("table,chosen,cells,distance,distance_as_it_is,agree,agree_as_it_is");
            let line = |f: &Fold| {
                vec![
                    f.table.clone(),
                    self.scored[f.chosen].label.clone(),
                    f.cells.to_string(),
                    digits(f.distance.0),
                    digits(f.distance.1),
                    f.agree.0.to_string(),
                    f.agree.1.to_string(),
                ]
            };
            let lines: Vec<Vec<String>> = self.folds.iter().map(line).collect();
            place.write("assume-tables.csv", table(&header, &lines).as_bytes())?;
        }
        Ok(place.keep(|name| name != "assume-tables.csv" || !self.folds.is_empty())?)
    }
}
