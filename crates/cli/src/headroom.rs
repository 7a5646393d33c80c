//! The verb `headroom`: memory that a switch needs above XOFF, by the laws of this simulator and by the rules of the field.

use crate::look::table;
use crate::request::quantity;
use crate::{Done, Failure};
use clap::Args;
use cnsim_fabric::PauseFrames;
use cnsim_scenario::Scenario;
use cnsim_scenario::headroom::{Loop, Pfc, annex_o};
use cnsim_scenario::settings::Headroom;
use cnsim_units::{Bytes, Rate, Time};
use serde_json::{Value, json};

/// Arguments of `headroom`.
#[derive(Args, Debug, Clone)]
pub(crate) struct HeadroomArgs {
    /// A scenario, whose lossless classes are counted at each port, in place of one link.
    #[arg(conflicts_with_all = ["rate", "length", "mtu", "processing", "interface", "response", "classes"])]
    scenario: Option<String>,
    /// The one class of the scenario that is counted [default: all lossless ones].
    #[arg(long, requires = "scenario")]
    class: Option<String>,
    /// Lossless classes on the link, each with headroom of its own.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=8))]
    classes: u64,
    /// Rate of the link.
    #[arg(long, default_value = "10 Gb/s")]
    rate: String,
    /// Length of the cable: 30m, 2km or a number of metres (5 ns a metre).
    #[arg(long, default_value = "100m")]
    length: String,
    /// Length of the largest frame.
    #[arg(long, default_value = "1500 B")]
    mtu: String,
    /// Processing delay at an end, in a network of cnsim.
    #[arg(long, default_value = "1 us")]
    processing: String,
    /// Delay of the interface at an end, for 802.1Qbb [default: Annex O's for the rate].
    #[arg(long)]
    interface: Option<String>,
    /// Longest response of the sender, for 802.1Qbb [default: Annex O's for the rate].
    #[arg(long)]
    response: Option<String>,
    /// Print the answer as JSON.
    #[arg(long)]
    json: bool,
}

/// Metres, with or without their unit; kilometres.
fn metres(text: &str) -> Result<f64, Failure> {
    let (number, unit) = text.trim().split_at(text.trim().trim_end_matches(char::is_alphabetic).len());
    let scale = match unit {
        "" | "m" => Some(1.0),
        "km" => Some(1e3),
        _ => None,
    };
    scale.and_then(|s| Some(s * number.trim().parse::<f64>().ok()?)).ok_or_else(|| {
        Failure::input(format!(
            "--length {text}: not a length\n  help: write for example 30, 30m or \"2 km\""
        ))
    })
}

/// A time of the command line, or one by default.
fn chosen(key: &str, text: Option<&str>, or: Option<Time>) -> Result<Option<Time>, Failure> {
    let time: Option<Time> = text.map(|text| quantity(key, text)).transpose()?;
    match time {
        Some(time) if time > Time::from_secs_f64(1e-3) => {
            Err(Failure::input(format!("--{key} {time}: at most 1 ms is possible")))
        }
        time => Ok(time.or(or)),
    }
}

fn terms(pfc: &Pfc) -> Value {
    json!({
        "headroom_bytes": pfc.headroom().get(), "frames_bytes": pfc.frames.get(), "message_bytes": pfc.message.get(),
        "interfaces_bytes": pfc.interfaces.get(), "response_bytes": pfc.response.get(), "cable_bytes": pfc.cable.get(),
    })
}

fn row(rule: &str, pfc: &Pfc) -> Vec<String> {
    let all = [pfc.headroom(), pfc.frames, pfc.message, pfc.interfaces, pfc.response, pfc.cable];
    let bytes = all.iter().map(|b| format!("{}", b.get()));
    std::iter::once(rule.to_string()).chain(bytes).collect()
}

/// What each lossless class of a scenario needs and has, in its first case with PAUSE.
fn of_scenario(name: &str, args: &HeadroomArgs) -> Done {
    let scenario = Scenario::load(name, &[])?;
    let case = scenario.cases().into_iter().find(|case| case.id.pause != "off");
    let case = case.ok_or_else(|| {
        Failure::input(format!("{name} has no case with PAUSE\n  help: write pause = [\"on\"] in [matrix]"))
    })?;
    let settings = scenario.ready(&case)?.settings;
    if let Some(wanted) = &args.class {
        let known: Vec<&str> = settings.classes.list.iter().map(|class| &*class.name).collect();
        let why = match settings.classes.list.iter().find(|class| &*class.name == wanted) {
            None => Some(format!("there is no class `{wanted}`\n  help: known: {}", known.join(", "))),
            Some(class) if !class.lossless() => Some(format!(
                "class {wanted} may lose frames, and has no headroom\n  help: it has an output's threshold alone (class.alpha); name a lossless class"
            )),
            Some(_) => None,
        };
        why.map_or(Ok(()), |why| Err(Failure::input(why)))?;
    }
    let all: Vec<Headroom> = settings.headrooms();
    let all: Vec<&Headroom> =
        all.iter().filter(|h| args.class.as_ref().is_none_or(|class| *class == h.class)).collect();
    let (need, has) =
        all.iter().fold((0, 0), |sum, h| (sum.0 + h.need.get() * h.ports, sum.1 + h.has.get() * h.ports));
    let pool = settings.headroom_pool().map(Bytes::get);
    if args.json {
        let one = |h: &&Headroom| {
            json!({"class": h.class, "port": h.port, "rate_bps": h.rate.bps(), "ports": h.ports,
                "headroom_bytes": h.need.get(), "has_bytes": h.has.get()})
        };
        let ports: Vec<Value> = all.iter().map(one).collect();
        println!("{}", json!({"ports": ports, "headroom_bytes": need, "has_bytes": has, "pool_bytes": pool}));
        return Ok(());
    }
    println!("Headroom above XOFF in {}, by lossless class and port, in bytes:", case.id);
    let row = |h: &&Headroom| {
        let short = h.need.get().saturating_sub(h.has.get());
        let numbers = [h.ports, h.need.get(), h.has.get(), short].map(|n| n.to_string());
        [h.class.clone(), h.rate.to_string(), h.port.clone()].into_iter().chain(numbers).collect()
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    println!("{}", table(&["class", "rate", "first port", "ports", "needs", "has", "lacks"], &rows, false));
    println!("All ports and classes need {need} B, and have {has} B.");
    if let Some(pool) = pool {
        let enough = if pool < need { "PAUSE may lose frames" } else { "it holds all that can come" };
        println!(
            "Each switch has a pool of {pool} B for all of its headroom (switch.headroom_pool): {enough}."
        );
    }
    Ok(())
}

pub(crate) fn headroom(args: &HeadroomArgs) -> Done {
    if let Some(name) = &args.scenario {
        return of_scenario(name, args);
    }
    let rate: Rate = quantity("rate", &args.rate)?;
    let frame: Bytes = quantity("mtu", &args.mtu)?;
    let processing: Time = quantity("processing", &args.processing)?;
    let length = metres(&args.length)?;
    if !(0.0..=1e6).contains(&length) || rate == Rate::ZERO || !(64..=9216).contains(&frame.get()) {
        return Err(Failure::input("--length must be 0 to 1000000 m, --rate above 0, --mtu 64 B to 9216 B"));
    }
    let delay = Time::from_secs_f64(length * 5e-9);
    let link = Loop { rate, delay, processing, frame, pause: PauseFrames::default() };
    let named = annex_o(rate);
    let interface = chosen("interface", args.interface.as_deref(), named.0)?;
    let response = chosen("response", args.response.as_deref(), named.1)?;
    let annex = response.map(|response| Pfc::new(&link, interface.unwrap_or(Time::ZERO), response));
    // XOFF of a class may wait for those of all others.
    let (need, short) = (link.headroom() + link.pause.length * (args.classes - 1), Pfc::short(&link));
    if args.json {
        println!(
            "{}",
            json!({
                "rate_bps": rate.bps(), "delay_s": delay.as_secs_f64(), "processing_s": processing.as_secs_f64(),
                "mtu_bytes": frame.get(), "headroom_bytes": need.get(), "classes": args.classes,
                "port_bytes": need.get() * args.classes,
                "interface_s": interface.map(Time::as_secs_f64), "response_s": response.map(Time::as_secs_f64),
                "annex_o": annex.as_ref().map(terms), "short_rule": terms(&short),
            })
        );
        return Ok(());
    }
    println!(
        "Headroom above XOFF for {rate}, {length} m ({delay}), frames of {frame}, {processing} of processing at each end: {need}"
    );
    println!(
        "  This is the worst case in a network of cnsim: XOFF waits for a frame in transmission, is sent, travels and is processed; \
         the sender finishes its frame; all that is on the link and in processing arrives; the frame that called for XOFF counts.\n",
    );
    if args.classes > 1 {
        let all = need * args.classes;
        println!("Each of {} lossless classes needs that at each port: {all} together.\n", args.classes);
    }
    println!("PFC, IEEE 802.1Qbb, for one class, in bytes:");
    let mut rows = vec![row("vendors' short rule", &short)];
    annex.iter().for_each(|annex| rows.insert(0, row("Annex O", annex)));
    let header = ["rule", "headroom", "frames", "PFC", "interfaces", "response", "cable"];
    println!("{}", table(&header, &rows, false));
    if annex.is_none() {
        println!("note: Annex O's row needs --interface and --response: no values for {rate} are known here");
    } else if interface.is_none() {
        println!(
            "note: no delay of an interface is known for {rate}; it counts as 0, and --interface sets it"
        );
    }
    Ok(())
}
