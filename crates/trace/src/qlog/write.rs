//! A writer of events in JSON text sequences (RFC 7464).

use std::io::Write;

use serde_json::{Value, json};

/// The version of the main schema stated in logs.
pub const VERSION: &str = "0.3";

/// The namespace of airpath's own events.
pub const OWN_NAMESPACE: &str = "airpath";

/// Begins each text of a sequence (RFC 7464, section 2.2).
pub(crate) const RECORD_SEPARATOR: u8 = 0x1e;

/// An event to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenEvent<'a> {
    /// `transport:packet_sent`.
    PacketSent {
        /// Number of the packet.
        packet: u64,
        /// Its size in bytes.
        bytes: u32,
    },
    /// `transport:packet_received` of a packet that only acknowledges.
    AckReceived {
        /// Number of the packet.
        packet: u64,
        /// Its size in bytes, if known.
        bytes: Option<u32>,
        /// The acknowledged packet numbers as ranges, first and last, ascending.
        ranges: &'a [(u64, u64)],
    },
    /// `recovery:packet_lost`.
    PacketLost {
        /// Number of the packet.
        packet: u64,
    },
    /// `recovery:metrics_updated`.
    MetricsUpdated(WrittenMetrics),
    /// `recovery:congestion_state_updated`.
    CongestionStateUpdated {
        /// The previous state, if known.
        old: Option<&'a str>,
        /// The state.
        new: &'a str,
        /// The trigger of the change.
        trigger: Option<&'a str>,
    },
    /// An event in airpath's namespace.
    Own {
        /// Its name there.
        name: &'a str,
        /// Its data.
        data: Value,
    },
}

/// Metrics of a sender. Round-trip times in milliseconds, sizes in bytes; fields that are NaN are omitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenMetrics {
    /// Congestion window.
    pub congestion_window: f64,
    /// Bytes sent and neither acknowledged nor lost.
    pub bytes_in_flight: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
    /// Smoothed round-trip time.
    pub smoothed_rtt: f64,
    /// Latest round-trip time sample.
    pub latest_rtt: f64,
    /// Smallest round-trip time sample.
    pub min_rtt: f64,
    /// Pacing rate, bit/s.
    pub pacing_rate: f64,
}

/// A writer of events in sequence; the caller writes the header of the file first.
#[derive(Debug, Default)]
pub struct EventWriter {
    text: Vec<u8>,
}

impl EventWriter {
    /// Writes an event at `at_ns` nanoseconds after the beginning of the log. Times should not decrease.
    pub fn event(&mut self, at_ns: u64, event: &WrittenEvent<'_>) {
        let out = &mut self.text;
        out.push(RECORD_SEPARATOR);
        // Whole nanoseconds as decimals of a millisecond, exactly. Writing to memory cannot fail.
        let _ = write!(out, r#"{{"time":{}.{:06},"#, at_ns / 1_000_000, at_ns % 1_000_000);
        let _ = match event {
            WrittenEvent::PacketSent { packet, bytes } => {
                write!(out, r#""name":"transport:packet_sent","data":{{{}}}"#, Packet(*packet, Some(*bytes)))
            }
            WrittenEvent::AckReceived { packet, bytes, ranges } => write!(
                out,
                r#""name":"transport:packet_received","data":{{{},"frames":[{{"frame_type":"ack","acked_ranges":[{}]}}]}}"#,
                Packet(*packet, *bytes),
                Ranges(ranges)
            ),
            // Old readers expect the number outside of the header as well.
            WrittenEvent::PacketLost { packet } => write!(
                out,
                r#""name":"recovery:packet_lost","data":{{"header":{{"packet_type":"1RTT","packet_number":{packet}}},"packet_number":{packet}}}"#
            ),
            WrittenEvent::MetricsUpdated(metrics) => {
                write!(out, r#""name":"recovery:metrics_updated","data":{}"#, metrics.as_json())
            }
            WrittenEvent::CongestionStateUpdated { old, new, trigger } => {
                let mut data = serde_json::Map::new();
                let fields = [("old", *old), ("new", Some(*new)), ("trigger", *trigger)];
                for (name, value) in fields.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                    data.insert(name.to_owned(), json!(value));
                }
                write!(out, r#""name":"recovery:congestion_state_updated","data":{}"#, Value::Object(data))
            }
            WrittenEvent::Own { name, data } => {
                write!(out, r#""name":"{OWN_NAMESPACE}:{name}","data":{data}"#)
            }
        };
        out.extend_from_slice(b"}\n");
    }

    /// Returns the text.
    pub fn finish(self) -> Vec<u8> {
        self.text
    }
}

impl WrittenMetrics {
    fn as_json(&self) -> Value {
        let fields = [
            ("congestion_window", self.congestion_window),
            ("bytes_in_flight", self.bytes_in_flight),
            ("ssthresh", self.ssthresh),
            ("smoothed_rtt", self.smoothed_rtt),
            ("latest_rtt", self.latest_rtt),
            ("min_rtt", self.min_rtt),
            ("pacing_rate", self.pacing_rate),
        ];
        let known = fields.into_iter().filter(|(_, value)| value.is_finite());
        Value::Object(known.map(|(name, value)| (name.to_owned(), number(value))).collect())
    }
}

/// Returns a number, as an integer if it is one, as most sizes and rates are.
pub fn number(value: f64) -> Value {
    // Integers below 2^53 are exact.
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

/// Header and size of a packet.
struct Packet(u64, Option<u32>);

impl std::fmt::Display for Packet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(number, bytes) = self;
        write!(f, r#""header":{{"packet_type":"1RTT","packet_number":{number}}}"#)?;
        bytes.map_or(Ok(()), |bytes| write!(f, r#","raw":{{"length":{bytes}}}"#))
    }
}

/// Ranges of packet numbers; a single number is written as a range with equal ends.
struct Ranges<'a>(&'a [(u64, u64)]);

impl std::fmt::Display for Ranges<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, (first, last)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}[{first},{last}]")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(at_ns: u64, event: &WrittenEvent<'_>) -> String {
        let mut writer = EventWriter::default();
        writer.event(at_ns, event);
        String::from_utf8(writer.finish()).expect("text")
    }

    #[test]
    fn records_are_separated_and_times_are_exact() {
        let sent = written(1_234_000_567, &WrittenEvent::PacketSent { packet: 7, bytes: 1460 });
        assert_eq!(
            sent,
            "\u{1e}{\"time\":1234.000567,\"name\":\"transport:packet_sent\",\"data\":{\"header\":\
             {\"packet_type\":\"1RTT\",\"packet_number\":7},\"raw\":{\"length\":1460}}}\n"
        );
        let ack = WrittenEvent::AckReceived { packet: 1, bytes: Some(40), ranges: &[(3, 5), (8, 8)] };
        assert!(written(0, &ack).contains(r#""acked_ranges":[[3,5],[8,8]]"#));
    }

    #[test]
    fn unknown_values_are_omitted_and_every_line_is_json() {
        let nan = f64::NAN;
        let metrics = WrittenMetrics {
            congestion_window: 14_600.0,
            bytes_in_flight: 0.0,
            ssthresh: nan,
            smoothed_rtt: 40.125,
            latest_rtt: f64::INFINITY,
            min_rtt: nan,
            pacing_rate: nan,
        };
        let events = [
            WrittenEvent::MetricsUpdated(metrics),
            WrittenEvent::PacketLost { packet: 2 },
            WrittenEvent::CongestionStateUpdated { old: None, new: "re\"covery", trigger: Some("loss") },
            WrittenEvent::Own { name: "link_updated", data: json!({"capacity_bps": number(12e6)}) },
        ];
        for event in &events {
            let text = written(5, event);
            let value: Value = serde_json::from_str(&text[1..]).expect("JSON");
            assert_eq!(value["time"], json!(0.000_005));
        }
        assert!(
            written(0, &events[0])
                .contains(r#"{"bytes_in_flight":0,"congestion_window":14600,"smoothed_rtt":40.125}"#)
        );
    }
}
