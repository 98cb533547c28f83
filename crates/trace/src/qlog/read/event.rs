//! Events, as written by different versions and stacks.
//!
//! Names are `category:event` in one field, or two fields, or elements of a list whose order `event_fields`
//! states (before 0.3). Numbers can be strings. Times are in milliseconds, or microseconds if the trace
//! declares them; relative to a reference time, absolute, or relative to the previous event.

use serde_json::Value;

/// A packet number space (RFC 9000, section 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketSpace {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Application,
}

/// An event of a log about packets or congestion control.
#[derive(Clone, Debug, PartialEq)]
pub enum QlogEvent {
    /// A packet was sent.
    Sent(LoggedPacket),
    /// A packet was received.
    Received(LoggedPacket),
    /// A packet was declared lost.
    Lost {
        /// Its space.
        space: PacketSpace,
        /// Its number.
        packet: u64,
    },
    /// Congestion control reported its state.
    Metrics(LoggedMetrics),
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedPacket {
    /// Its space.
    pub space: PacketSpace,
    /// Its number.
    pub packet: u64,
    /// Its size in bytes, at most 65 535; zero if the log does not state it.
    pub bytes: u64,
    /// Whether it is ack-eliciting (RFC 9002, section 2), or the log does not contain its frames.
    pub eliciting: bool,
    /// The packet numbers that it acknowledges, as ranges of its own space, first and last.
    pub acknowledges: Vec<(u64, u64)>,
}

/// The congestion control state in a log; `None` for values that did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoggedMetrics {
    /// Congestion window, bytes.
    pub congestion_window: Option<f64>,
    /// Bytes sent and neither acknowledged nor lost.
    pub bytes_in_flight: Option<f64>,
    /// Smoothed round-trip time, seconds.
    pub smoothed_rtt_s: Option<f64>,
    /// Pacing rate, bit/s.
    pub pacing_rate_bps: Option<f64>,
}

/// The error for an event without a required field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Incomplete;

/// Properties of a trace that apply to all its events.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceFacts {
    /// Field names of events that are lists.
    fields: Vec<String>,
    /// Nanoseconds per unit of time.
    unit_ns: f64,
    delta: bool,
}

impl TraceFacts {
    /// Reads the properties of a trace.
    pub(super) fn of(trace: &Value) -> Self {
        let names = trace.get("event_fields").and_then(Value::as_array);
        let fields: Vec<String> = names
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap_or_default().to_ascii_lowercase())
            .collect();
        let said = |key: &str| {
            ["common_fields", "configuration"].iter().find_map(|part| trace.get(*part)?.get(key)?.as_str())
        };
        let microseconds = said("time_units").is_some_and(|units| units.eq_ignore_ascii_case("us"));
        let delta = said("time_format")
            .is_some_and(|format| DELTA_FORMATS.contains(&format.to_ascii_lowercase().as_str()))
            || fields.iter().any(|field| field == "delta_time");
        Self { fields, unit_ns: if microseconds { 1e3 } else { 1e6 }, delta }
    }
}

/// Each event contains the time since the previous one.
const DELTA_FORMATS: [&str; 2] = ["delta", "relative_to_previous_event"];

/// Maximum number of ranges read; no acknowledgment has more on any path.
const MOST_RANGES: usize = 4096;

/// An event with its time in nanoseconds and its group.
type Placed<'a> = (u64, Option<&'a str>, QlogEvent);

/// A reader of the events of one trace, one after the other.
#[derive(Debug, Default)]
pub(super) struct EventReader {
    facts: TraceFacts,
    /// The times of the first event and of the previous one, in units.
    first: Option<f64>,
    before: f64,
}

impl EventReader {
    pub(super) fn new(facts: TraceFacts) -> Self {
        Self { facts, first: None, before: 0.0 }
    }

    /// Returns the event with its time in nanoseconds and its group; `None` for unsupported kinds.
    pub(super) fn read<'a>(&mut self, event: &'a Value) -> Result<Option<Placed<'a>>, Incomplete> {
        let time = self.field(event, &["time", "relative_time", "delta_time"]).and_then(number);
        // If times are differences, those of all events must be added.
        let at_ns = time.map(|time| self.nanoseconds(time));
        let Some(name) = self.field(event, &["name", "event", "event_type", "type"]).and_then(Value::as_str)
        else {
            return if event.as_object().is_some_and(serde_json::Map::is_empty) {
                Ok(None)
            } else {
                Err(Incomplete)
            };
        };
        let (category, kind) = match name.split_once(':') {
            Some((category, kind)) => (Some(category), kind),
            None => (self.field(event, &["category"]).and_then(Value::as_str), name),
        };
        let is_quic = category
            .is_none_or(|category| CATEGORIES.iter().any(|known| known.eq_ignore_ascii_case(category)));
        if !is_quic {
            return Ok(None);
        }
        let data = self.field(event, &["data"]).unwrap_or(&Value::Null);
        if packet_type(data).is_some_and(|kind| WITHOUT_NUMBER.contains(&kind.as_str())) {
            return Ok(None);
        }
        let kind = kind.to_ascii_lowercase();
        let read = match kind.as_str() {
            "packet_sent" => QlogEvent::Sent(packet(data)?),
            "packet_received" => QlogEvent::Received(packet(data)?),
            "packet_lost" => {
                let (space, packet) = header(data)?;
                QlogEvent::Lost { space, packet }
            }
            "metrics_updated" | "recovery_metrics_updated" | "metric_update" => self.metrics(data),
            _ => return Ok(None),
        };
        let group = self.field(event, &["group_id"]).and_then(Value::as_str);
        Ok(Some((at_ns.ok_or(Incomplete)?, group, read)))
    }

    /// Returns the first field of an event that exists under one of these names, for an object or a list.
    fn field<'a>(&self, event: &'a Value, names: &[&str]) -> Option<&'a Value> {
        match event {
            Value::Object(fields) => names.iter().find_map(|name| fields.get(*name)),
            Value::Array(values) => {
                let places =
                    names.iter().find_map(|name| self.facts.fields.iter().position(|field| field == name));
                match (places, names) {
                    (Some(place), _) => values.get(place),
                    // Some stacks name fewer elements than they write: the data is last.
                    (None, ["data"]) => values.iter().rev().find(|value| value.is_object()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns nanoseconds since the first event.
    fn nanoseconds(&mut self, time: f64) -> u64 {
        let time = if self.facts.delta { self.before + time } else { time };
        self.before = time;
        let first = *self.first.get_or_insert(time);
        // Saturates: a time before the first event counts as that of the first.
        ((time - first) * self.facts.unit_ns).round() as u64
    }

    fn metrics(&self, data: &Value) -> QlogEvent {
        let value = |names: &[&str]| names.iter().find_map(|name| data.get(*name)).and_then(number);
        let seconds = |time: f64| time * self.facts.unit_ns / 1e9;
        QlogEvent::Metrics(LoggedMetrics {
            congestion_window: value(&["congestion_window", "cwnd"]),
            bytes_in_flight: value(&["bytes_in_flight"]),
            smoothed_rtt_s: value(&["smoothed_rtt"]).map(seconds),
            pacing_rate_bps: value(&["pacing_rate"]),
        })
    }
}

/// Categories (0.3 and before) and namespaces (later) of QUIC's events.
const CATEGORIES: [&str; 3] = ["transport", "recovery", "quic"];

/// Maximum size of a UDP datagram.
const LARGEST_PACKET: u64 = 65_535;

/// Frames that are not ack-eliciting (RFC 9002, section 2).
const SILENT_FRAMES: [&str; 3] = ["ack", "padding", "connection_close"];

fn packet(data: &Value) -> Result<LoggedPacket, Incomplete> {
    let (space, packet) = header(data)?;
    let size = |part: &str, name: &str| data.get(part).and_then(|part| part.get(name)).and_then(whole);
    let bytes = size("raw", "length")
        .or_else(|| size("header", "packet_size"))
        .or_else(|| data.get("packet_size").and_then(whole))
        .or_else(|| size("raw", "payload_length"))
        .or_else(|| size("header", "payload_length"))
        .unwrap_or(0)
        .min(LARGEST_PACKET);
    let frames = data.get("frames").and_then(Value::as_array);
    let mut acknowledges = Vec::new();
    let mut eliciting = frames.is_none_or(Vec::is_empty);
    for frame in frames.into_iter().flatten() {
        let kind = frame.get("frame_type").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        eliciting |= !SILENT_FRAMES.contains(&kind.as_str());
        if kind == "ack" {
            let ranges = frame.get("acked_ranges").and_then(Value::as_array);
            let room = MOST_RANGES - acknowledges.len().min(MOST_RANGES);
            acknowledges.extend(ranges.into_iter().flatten().filter_map(range).take(room));
        }
    }
    Ok(LoggedPacket { space, packet, bytes, eliciting, acknowledges })
}

/// Parses a range of packet numbers: first and last, or a single one.
fn range(range: &Value) -> Option<(u64, u64)> {
    match range {
        Value::Array(ends) => {
            let first = whole(ends.first()?)?;
            let last = ends.get(1).map_or(Some(first), whole)?;
            Some((first.min(last), first.max(last)))
        }
        single => whole(single).map(|number| (number, number)),
    }
}

fn header(data: &Value) -> Result<(PacketSpace, u64), Incomplete> {
    let space = match packet_type(data).as_deref() {
        Some("initial") => PacketSpace::Initial,
        Some("handshake") => PacketSpace::Handshake,
        _ => PacketSpace::Application,
    };
    let packet = of_header(data, "packet_number").and_then(whole).ok_or(Incomplete)?;
    Ok((space, packet))
}

/// Types of packets without a number (RFC 9000, section 17.2).
const WITHOUT_NUMBER: [&str; 3] = ["retry", "version_negotiation", "stateless_reset"];

fn packet_type(data: &Value) -> Option<String> {
    of_header(data, "packet_type").and_then(Value::as_str).map(str::to_ascii_lowercase)
}

/// Returns a field of a packet's header, from its location in newer or older versions.
fn of_header<'a>(data: &'a Value, name: &str) -> Option<&'a Value> {
    data.get("header").and_then(|header| header.get(name)).or_else(|| data.get(name))
}

/// Parses a nonnegative number, or a string of one.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite() && *number >= 0.0)
}

/// Parses an integer, or a string of one.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
