//! Captures: the frames that ports or flows put on their links, as a pcapng file for Wireshark, and as columns.

mod asked;
mod pcapng;
mod tell;
mod wire;

pub use asked::Asked;

use crate::files::table;
use crate::flow_files::ns;
use crate::record::RunRecord;
use crate::results::plain;
use crate::run::{Job, JobError, Watch, finish, open_to, simulate};
use crate::store::Store;
use cnsim_fabric::{Capture, Captured, Content, Pauses, RunSpec};
use cnsim_scenario::wiring::Wiring;
use cnsim_scheme_api::{Feedback, NodeId};
use cnsim_units::Time;
use pcapng::Pcapng;
use std::sync::atomic::Ordering;
use tell::{Line, Teller};
use wire::{Wire, address};

/// The dissector by which Wireshark reads private forms: name and text of the file that stands beside captures.
pub const DISSECTOR: (&str, &str) = ("captures/cnsim.lua", include_str!("cnsim.lua"));
/// Folder of the captures.
pub const FOLDER: &str = "captures";
/// Most frames of a run that are kept; each port has an equal share.
pub const MOST: u64 = 1_000_000;
/// Most XOFFs of which it is known why they were said.
const XOFFS: u64 = 100_000;
/// Most names of addresses.
const NAMES: usize = 4096;

/// Ports and flows of a run whose frames are captured, by the form of the file.
#[derive(Clone, Debug, Default)]
pub struct Captures {
    /// For a pcapng file.
    pub pcap: Asked,
    /// For a table.
    pub trace: Asked,
}

/// A file of a capture.
#[derive(Clone, Debug)]
pub struct CaptureFile {
    /// Name from the folder of results.
    pub name: String,
    /// Contents of the file.
    pub bytes: Vec<u8>,
    /// Number of its frames.
    pub frames: usize,
}

impl Captures {
    /// Reads what is asked for of a job.
    ///
    /// # Errors
    /// As [`Asked::read`].
    pub fn read(pcap: &[String], trace: &[String], job: &Job) -> Result<Self, String> {
        let (wiring, spec) = (&job.ready.settings.wiring, job.spec());
        Ok(Self { pcap: Asked::read(pcap, wiring, &spec)?, trace: Asked::read(trace, wiring, &spec)? })
    }

    /// Is nothing captured?
    pub fn is_empty(&self) -> bool {
        self.pcap.is_empty() && self.trace.is_empty()
    }

    /// Lets a run keep the frames, and why its XOFFs were said. Its results stay as they are.
    fn put(&self, spec: &mut RunSpec) {
        let mut ports = self.pcap.ports();
        let more: Vec<_> = self.trace.ports().into_iter().filter(|port| !ports.contains(port)).collect();
        ports.extend(more);
        let more =
            spec.record.captures.iter().filter(|port| !ports.contains(port)).copied().collect::<Vec<_>>();
        ports.extend(more);
        spec.record.capture_limit = MOST / (ports.len() as u64).max(1);
        spec.record.captures = ports;
        if spec.switches.iter().any(|s| s.buffer.pause.is_some()) {
            spec.record.pauses = spec.record.pauses.max(XOFFS);
        }
    }

    /// The files of a run, from what was captured.
    fn files(&self, job: &Job, spec: &RunSpec, capture: &Capture, pauses: &Pauses) -> Vec<CaptureFile> {
        let settings = &job.ready.settings;
        let wiring = &settings.wiring;
        let name = |end: &str| {
            let id = &job.case.id;
            let words = [&id.scenario, &id.condition, &format!("pause-{}", id.pause), &id.scheme];
            let words: Vec<String> = words.map(|w| plain(w)).into_iter().filter(|w| !w.is_empty()).collect();
            format!("{FOLDER}/{}-seed{}.{end}", words.join("-"), job.seed)
        };
        let mut files = Vec::new();
        if !self.pcap.is_empty() {
            let frames = of(&self.pcap, capture);
            let priorities = settings.classes.priorities();
            let wire = Wire::new(spec, settings.pause.pfc, &priorities, &job.case.id.scheme);
            let mut teller = Teller::new(wiring, spec, &capture.frames, pauses);
            let ports = self.pcap.ports();
            let mut file = begin(&job.record().title(), wiring, &ports);
            for frame in &frames {
                let line = teller.tell(frame);
                let (bytes, length) = wire.bytes(&line, &teller);
                let interface = ports.iter().position(|port| *port == frame.port).unwrap_or_default();
                file.frame(interface as u32, frame.left.as_ps() / 1000, &bytes, length, &line.why);
            }
            files.push(CaptureFile { name: name("pcapng"), bytes: file.bytes(), frames: frames.len() });
        }
        if !self.trace.is_empty() {
            let frames = of(&self.trace, capture);
            let mut teller = Teller::new(wiring, spec, &capture.frames, pauses);
            let lines: Vec<Vec<String>> =
                frames.iter().map(|frame| columns(&teller.tell(frame), &teller)).collect();
            let text = table(&COLUMNS.map(String::from), &lines);
            files.push(CaptureFile { name: name("csv"), bytes: text.into_bytes(), frames: frames.len() });
        }
        files
    }
}

/// The record of a run, files of its capture, and from when on frames are left out, if some are.
pub type Run = (RunRecord, Vec<CaptureFile>, Option<Time>);

/// Runs a job anew, and captures some of its frames; none if it was stopped.
///
/// # Errors
/// As [`crate::run::run_jobs`].
pub fn run_captured(
    job: &Job,
    captures: &Captures,
    store: Option<&Store>,
    watch: &Watch,
    threads: usize,
) -> Result<Option<Run>, JobError> {
    if watch.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut spec = job.spec();
    captures.put(&mut spec);
    let Some(out) = simulate(job, &spec, watch, threads)? else { return Ok(None) };
    let files = captures.files(job, &spec, &out.recorded.capture, &out.recorded.pauses);
    Ok(Some((finish(job, &out, open_to(job, store), watch)?, files, out.recorded.capture.cut)))
}

/// The frames that are asked for.
fn of<'a>(asked: &Asked, capture: &'a Capture) -> Vec<&'a Captured> {
    capture.frames.iter().filter(|frame| asked.has(frame)).collect()
}

/// The head of a file: names, and an interface for each port.
fn begin(title: &str, wiring: &Wiring, ports: &[(NodeId, u16)]) -> Pcapng {
    let program = concat!("cnsim ", env!("CARGO_PKG_VERSION"));
    let about = "Times count from the start of the run: when the last bit of a frame leaves its port. Frames are cut at their headers.";
    let mut file = Pcapng::new(program, &format!("{title}. {about}"));
    file.names((0..).zip(&wiring.hosts).take(NAMES).map(|(host, name)| (address(host), name.as_str())));
    for port in ports {
        let far = wiring.link(*port).map(|link| (if link.a == *port { link.b } else { link.a }, link.rate));
        let to = far.map_or("?", |(far, _)| wiring.name(far.0));
        let about = format!("what {} sends to {to}", wiring.name(port.0));
        file.interface(&wiring.port_name(*port), &about, far.map_or(0, |(_, rate)| rate.bps() as u64));
    }
    file
}

/// Columns of a table of frames.
const COLUMNS: [&str; 20] = [
    "time_ns", "port", "kind", "bytes", "class", "source", "destination", "number", "frame", "marked",
    "lost", "again", "acked_frames", "point", "fb", "q_off_bytes", "q_delta_bytes", "rate_bps", "tag", "why",
];

/// The line of a frame.
fn columns(line: &Line<'_>, teller: &Teller<'_>) -> Vec<String> {
    let (frame, wiring) = (line.frame, teller.wiring);
    let yes = |is: bool| if is { "yes".to_string() } else { String::new() };
    let some = |n: Option<String>| n.unwrap_or_default();
    let flow = frame.flow;
    let (mut marked, mut number, mut tag) = (false, None, None);
    let mut feedback: [Option<String>; 5] = Default::default();
    let point = |point| Some(wiring.port_name(teller.point(point)));
    match &frame.content {
        Content::Data(view, n) => {
            (marked, number) = (view.marked, Some(line.place.unwrap_or(u64::from(*n))));
            tag = wire::tag_of(view.tag).map(|(kind, value)| format!("{kind} {value}"));
        }
        Content::Message(says, _) => match says {
            Feedback::Ecm { point: at, q_off, q_delta, fb, .. } => {
                let pages = |pages: f64| Some((pages * 64.0).round().to_string());
                feedback = [point(*at), Some(fb.to_string()), pages(*q_off), pages(*q_delta), None];
            }
            Feedback::Cnm { point: at, qntz_fb, q_off, q_delta } => {
                feedback = [
                    point(*at),
                    Some(qntz_fb.to_string()),
                    Some(q_off.to_string()),
                    Some(q_delta.to_string()),
                    None,
                ];
            }
            Feedback::AdvertisedRate { point: at, rate } => {
                feedback = [point(*at), None, None, None, Some(rate.bps().to_string())];
            }
            Feedback::ReturnedRate { rate } => feedback[4] = Some(rate.bps().to_string()),
            Feedback::ProbeReply { probe, rx_rate, .. } => {
                (number, feedback[4]) = (Some(probe.number.into()), Some(rx_rate.bps().to_string()));
                (feedback[0], feedback[1]) = (probe.point.and_then(point), Some(probe.fb.to_string()));
            }
            Feedback::Acknowledgement { marked: is, .. } | Feedback::Echo { marked: is, .. } => marked = *is,
            _ => {}
        },
        Content::Probe(probe) => {
            number = Some(probe.number.into());
            (feedback[0], feedback[1]) = (probe.point.and_then(point), Some(probe.fb.to_string()));
        }
        Content::Pause(_) => {}
    }
    let mut cells = vec![ns(frame.left.as_ps()), wiring.port_name(frame.port), line.kind.into()];
    cells.extend([frame.bytes.to_string(), some(frame.class.map(|c| c.to_string()))]);
    cells.push(some(flow.map(|f| wiring.name(f.0).into())));
    cells.push(some(flow.map(|f| wiring.name(f.1).into())));
    cells.push(some(flow.and_then(|f| f.2).map(|nth| nth.to_string())));
    cells.push(some(number.map(|n| n.to_string())));
    cells.extend([yes(marked), yes(frame.lost), yes(line.again)]);
    cells.push(some(line.acked.map(|n| n.to_string())));
    cells.extend(feedback.map(some));
    cells.extend([some(tag), line.why.clone()]);
    cells
}
