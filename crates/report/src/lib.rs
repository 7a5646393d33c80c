//! The HTML report.
