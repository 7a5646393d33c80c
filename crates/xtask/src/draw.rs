//! Figures of documents as SVG: the report's own script draws them, in an engine of JavaScript that only this crate has.

use cnsim_report::model::Figure;
use cnsim_scheme_api::Registry;
use rquickjs::{CatchResultExt, Context, Runtime};

/// Figures below one another, in light and dark; `registry` gives schemes their colours. The text is the same on every machine: the
/// script rounds each number.
///
/// # Errors
/// What the script complains of.
pub fn svg(title: &str, figures: &[Figure], registry: &Registry) -> Result<String, String> {
    let colours = cnsim_report::build::colours(registry);
    let script = cnsim_report::sheet(title, figures, &colours).map_err(|e| e.to_string())?;
    let context =
        Runtime::new().and_then(|engine| Context::full(&engine)).map_err(|e| format!("no engine: {e}"))?;
    context.with(|engine| engine.eval(script).catch(&engine).map_err(|e| format!("{title}: {e}")))
}
