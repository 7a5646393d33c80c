//! Method of the numbers, and limits of the model.

use crate::model::{Assumption, NotRun, Report};
use crate::page;
use indexmap::IndexMap;
use maud::{Markup, PreEscaped, html};

/// Limits of the model, if the caller gives none.
const LEFT_OUT: [&str; 6] = [
    "Preamble and inter-frame gap.",
    "Frames that a link puts out of order, and paths that change when a link fails.",
    "PAUSE quanta and refresh: a PAUSE lasts until XON.",
    "The bytes of congestion tags in data frames.",
    "Without queue pairs: a transport. Sources neither send lost frames again nor slow down on their own.",
    "Processing time inside hosts and switches, other than the delays that a scenario names.",
];

/// The text of a report without published numbers.
const PLAIN: &str = "<h2>How to read the numbers</h2><p>Every case runs with several seeds, and the same seed gives every scheme the same arrivals.</p>\
    <dl class=\"terms\"><dt>± 95 %</dt><dd>Half the confidence interval of the mean: <span class=\"formula\">t·s/√n</span>, with Student’s t for n − 1 degrees of freedom and Johnson’s correction \
    for skewness (1978), cut at the bounds of possible values. It shows how well the mean is known.</dd>\
    <dt>Prediction interval</dt><dd><span class=\"formula\">mean ± t·s·√(1 + 1/n)</span>: the range in which one further run falls 19 times in 20.</dd></dl>";

const JUDGED: &str = "<h2>How a number is judged</h2><p>Every case runs with several seeds, and the same seed gives every scheme the same arrivals. \
    A published number is the outcome of <em>one</em> run, and the confidence interval of our mean shrinks with every seed. Published numbers are therefore \
    compared with the <b>prediction interval</b>: the range in which one further run falls 19 times in 20.</p>\
    <dl class=\"terms\"><dt>± 95 %</dt><dd>Half the confidence interval of the mean: <span class=\"formula\">t·s/√n</span>, with Student’s t for n − 1 degrees of freedom and Johnson’s correction \
    for skewness (1978), cut at the bounds of possible values. It shows how well the mean is known.</dd>\
    <dt>Prediction interval</dt><dd><span class=\"formula\">mean ± t·s·√(1 + 1/n)</span>. A single run falls into it 19 times in 20. Published numbers are compared with it.</dd>\
    <dt>✓ agrees</dt><dd>The published number lies in the prediction interval, widened by half a unit of its last printed digit, or within 2 % of the mean, \
    whatever the metric. The interval is at most half the number long.</dd>\
    <dt>~ near</dt><dd>The published number does not agree, but lies within the tolerance of its metric: \
    3 % for throughput and utilisation, 0.5 points for time paused, 5 % for overhead, 1 % or 100 frames for drops. With no measured drops, 54 published ones are near.</dd>\
    <dt>✗ differs</dt><dd>The published number lies outside the tolerance, too. The cell names the suspected assumption. No parameter is tuned to make a cell agree.</dd>\
    <dt>? undecided</dt><dd>The published number lies in the prediction interval, but that is longer than half the number and than the band of <em>near</em>: \
    too few seeds to tell. Fewer seeds make intervals wide, so they never make a number agree.</dd>\
    <dt>· unpublished</dt><dd>The number was measured, but the study prints none.</dd>\
    <dt>≁ incomparable</dt><dd>The printed value cannot be compared with ours; the note gives the reason.</dd>\
    <dt>∅ zero by construction</dt><dd>Drops under a lossless PAUSE, overhead without a scheme. Such cells always agree, so they are counted apart.</dd></dl>\
    <h2>How a claim is judged</h2><p>A claim is a predicate over measured results, decided on differences paired by seed. <b>Undecided</b> means that the difference is inside the noise; \
    more seeds may decide it. Claims that were read from a figure are shown, but not scored.</p>";

const FIGURES: &str = "\
    <h2>How the figures are drawn</h2><p>A series is reduced to at most 4000 points: the least and the greatest value of each bucket, so peaks remain. \
    Bands span the least and the greatest value over the seeds. Heights are stored in 65 534 steps between a line’s extremes; the full series are in <code>series/*.csv</code>. \
    A scheme has the same colour everywhere, close to those of Okabe and Ito, which colour-blind readers can distinguish. Settings, flows and ports are violet to pink. \
    Lines that cover each other show their marks in turn; <em>apart</em> gives each its own panel. <em>CDF</em> is the share of time at or below a value, over the bins of the run. \
    The browser prints the page that is shown; <em>Print all pages</em> prints all.</p>";

pub(crate) fn method(r: &Report) -> Markup {
    let mut all: IndexMap<&str, &Assumption> = IndexMap::new();
    for a in r.assumptions.iter().chain(r.pages.iter().flat_map(|p| &p.assumptions)) {
        all.entry(&a.id).or_insert(a);
    }
    let lost: Vec<&NotRun> = r.not_run.iter().chain(r.pages.iter().flat_map(|p| &p.not_run)).collect();
    let left: Vec<&str> = match &r.not_modelled[..] {
        [] => LEFT_OUT.to_vec(),
        own => own.iter().map(String::as_str).collect(),
    };
    html! {
        section.page data-route="method" hidden {
            h1 tabindex="-1" { "Method" }
            div.prose {
                (PreEscaped(if r.is_judged() { JUDGED } else { PLAIN }))
                (PreEscaped(FIGURES))
                @if !r.by_model.is_empty() {
                    h2 { "Runs by the model" }
                    p { "The model has the same results as the fast engine, but runs an event at a time." }
                    ul { @for text in &r.by_model { li { (text) } } }
                }
                h2 { "What is not modelled" }
                ul { @for text in left { li { (text) } } }
            }
            @if !all.is_empty() {
                h2 { "Named assumptions" }
                p.small { "A study leaves some facts open. For each, cnsim makes an assumption with a name." }
                (page::assumptions(all.into_values()))
            }
            @if !lost.is_empty() { h2 { "Published, not run" } (page::not_run(lost)) }
        }
    }
}
