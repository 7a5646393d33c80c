//! Studies: scenario, plan, run, results, verdicts.
