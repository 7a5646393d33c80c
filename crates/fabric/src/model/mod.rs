//! The network's laws, each in one place.
//!
//! One event is carried out at a time, and a law looks up what it needs to know. The fast way (`crate::fast`) must yield the same bits;
//! it calls the laws that decide, and a host's sending side ([`sender`]) is the same there. The reference in `crate::engine` runs the
//! model.
//!
//! # A frame's trip
//!
//! 1. [`source`]: in one of its slots a source offers a frame to its host. A finite flow waits in a queue of its own, and its frames
//!    are made as the link takes them ([`transfers`]).
//! 2. [`sender`]: it waits in the FIFO (or in its virtual output queue, [`voq`]), or with its [`limiter`] while that holds it back;
//!    [`pacing`] lets it go, and tags and counts it as it starts on the link.
//! 3. [`port`]: the transmitter takes it when it is idle, the far end has not sent XOFF, and nothing goes before it ([`turns`]).
//! 4. [`switch`]: it has arrived whole, and is routed to an output. What follows, and in which order, stands in [`switching`].
//! 5. [`memory`]: it is admitted or dropped. Its bytes count until its last bit has left, and may send XOFF ([`pause`]) to who sent
//!    it; why it did can be recorded ([`cause`]), and a [`watchdog`] looks at those that stand too long. The output's congestion
//!    [`point`] may mark and sample it. It waits for its output's port (3), and goes on to the next switch (4) or host.
//! 6. [`receiver`]: it is delivered; a reflector may answer its source, and a frame of a [`queue_pair`] is acknowledged.
//!
//! A message to the source is routed like data: in [`frame::Lane::Control`] or among the data, unless it takes no link
//! ([`agenda::Direct`]). At the source [`steering`] hands it to the reaction point, which changes its limiter's rate.
//!
//! What is on its way to a node waits in `crate::engine`; routes stand in `crate::net`, and rounding of times in `crate::tx_rate`.
//!
//! # Who acts
//!
//! A node acts in its [`agenda::Turn`]: it changes its own state, plans events of its own, and puts frames on its links. Nodes meet
//! nowhere else, so those of one moment may act in any order. Events of one node at one moment have theirs: [`agenda::Kind`].

mod account;
mod agenda;
mod cause;
mod come;
mod fault;
mod frame;
mod host;
mod limiter;
mod loss;
mod management;
mod map;
mod memory;
mod pacing;
mod packet;
mod pause;
mod point;
mod port;
mod program;
mod queue_pair;
mod rack;
mod receiver;
mod record;
mod records;
mod reduction;
mod rest;
mod sender;
mod sent;
mod shared;
mod source;
mod steering;
mod switch;
mod switching;
mod timeout;
mod transfers;
mod turns;
mod voq;
mod watchdog;

pub(crate) use agenda::{Agenda, Direct, Key, Kind, Moment, NO_EVENT, Turn, of_rank, place_of_data, rank};
pub(crate) use frame::{
    Body, Control, Crossing, Data, EVERY_FLOW, Frame, Lane, MANAGED, Pause, Says, To, lowered,
};
pub(crate) use host::{Host, Sides};
pub(crate) use loss::Losses;
pub(crate) use management::Management;
pub(crate) use memory::Memory;
pub(crate) use packet::{Outside, Packet};
pub(crate) use pause::{Paused, Signal};
pub(crate) use point::{Point, count_down, depart, view};
pub(crate) use port::{At, Left, Transmitter, is_stopped, line, next_start, rate_of, transmission};
pub(crate) use program::{Nic, Program, Said, Saved, together};
pub(crate) use records::Records;
pub(crate) use rest::Rest;
pub(crate) use sent::Report;
pub(crate) use switch::{Output, Switch};
pub(crate) use switching::{By, Outlet, Switching, spread};
