//! A log as one JSON document: its traces are read event by event, so that memory never contains a whole
//! trace.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::texts::LONGEST_TEXT;
use super::{Damage, HEADER_KEYS, QlogReadError, Reading, no_json};

/// Reads a document up to its end or its first error.
pub(super) fn read_document(reader: impl Read, reading: &mut Reading<'_>) -> Result<(), QlogReadError> {
    let left = Rc::new(Cell::new(LONGEST_TEXT));
    let bounded = Bounded { reader, left: Rc::clone(&left) };
    let mut document = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, bounded));
    let mut begun = false;
    let file = FileSeed { reading, left: &left, begun: &mut begun };
    let outcome = file.deserialize(&mut document).and_then(|()| document.end());
    match outcome {
        Ok(()) if begun => Ok(()),
        Ok(()) => {
            let found = "JSON without `qlog_version` or `traces`".to_owned();
            Err(QlogReadError::NotALog { line: 1, found })
        }
        Err(error) => {
            let line = error.line() as u64;
            if !begun && reading.report.events == 0 {
                return Err(QlogReadError::NotALog { line, found: no_json(&error) });
            }
            reading.report.stopped = Some(Damage { line, problem: no_json(&error) });
            Ok(())
        }
    }
}

/// A reader that fails if an event, or the text between events, exceeds the maximum length.
struct Bounded<R> {
    reader: R,
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(space)?;
        match self.left.get().checked_sub(count) {
            Some(left) => self.left.set(left),
            None => {
                return Err(io::Error::other(format!("an event of more than {} MiB", LONGEST_TEXT >> 20)));
            }
        }
        Ok(count)
    }
}

/// The file, with its header and its traces.
struct FileSeed<'a, 'b> {
    reading: &'a mut Reading<'b>,
    left: &'a Cell<usize>,
    begun: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for FileSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a qlog")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut header = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            *self.begun |= key != "traces" && HEADER_KEYS.contains(&key.as_str());
            if key == "traces" {
                let title = header.get("title").cloned();
                map.next_value_seed(TracesSeed { reading: self.reading, left: self.left, title })?;
                *self.begun = true;
            } else if header.len() < MOST_FIELDS {
                header.insert(key, map.next_value()?);
                self.reading.version(&header);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Maximum number of kept fields of an object that contains events.
const MOST_FIELDS: usize = 256;

/// The list of traces.
struct TracesSeed<'a, 'b> {
    reading: &'a mut Reading<'b>,
    left: &'a Cell<usize>,
    title: Option<Value>,
}

impl<'de> DeserializeSeed<'de> for TracesSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for TracesSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the list of a qlog's traces")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut traces: A) -> Result<(), A::Error> {
        let Self { reading, left, title } = self;
        while traces.next_element_seed(TraceSeed { reading, left, title: title.as_ref() })?.is_some() {
            left.set(LONGEST_TEXT);
        }
        Ok(())
    }
}

/// One trace.
struct TraceSeed<'a, 'b> {
    reading: &'a mut Reading<'b>,
    left: &'a Cell<usize>,
    title: Option<&'a Value>,
}

impl<'de> DeserializeSeed<'de> for TraceSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for TraceSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut head = Map::new();
        let mut has_events = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "events" {
                if std::mem::replace(&mut has_events, true) {
                    return Err(A::Error::custom("a second list of events in one trace"));
                }
                // The fields that define how to read the events precede them in the files of all stacks.
                self.reading.begin_trace(&Value::Object(std::mem::take(&mut head)), self.title);
                map.next_value_seed(EventsSeed { reading: self.reading, left: self.left })?;
            } else if !has_events && head.len() < MOST_FIELDS {
                head.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// The events of a trace.
struct EventsSeed<'a, 'b> {
    reading: &'a mut Reading<'b>,
    left: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for EventsSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for EventsSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the list of a trace's events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        self.left.set(LONGEST_TEXT);
        while let Some(event) = events.next_element::<Value>()? {
            self.left.set(LONGEST_TEXT);
            self.reading.event(&event);
        }
        Ok(())
    }
}
