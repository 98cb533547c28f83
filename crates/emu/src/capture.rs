//! Packet captures (pcapng), written by a separate thread, so that no disk delays the link thread.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use airpath_model::Timestamp;
use airpath_os_linux::Context;
use airpath_plan::Plan;
use airpath_trace::capture::CaptureWriter;

use crate::address::Side;
use crate::error::EmulationError;

/// A capture of the packets at numbered points: devices of hosts, or entrances of links. [`Capture::finish`]
/// returns the sink.
pub(crate) struct Capture<W> {
    /// The interface in the file of each point.
    interfaces: Vec<Option<usize>>,
    writer: Option<CaptureWriter<Chunks>>,
    thread: Option<JoinHandle<io::Result<W>>>,
}

impl Capture<File> {
    /// Captures the packets at the devices of these sides, whose points are [`Side::index`].
    pub(crate) fn of_hosts(path: &Path, sides: &[Side]) -> Result<Self, EmulationError> {
        let file = File::create(path).context(format!("the capture {}", path.display()))?;
        Self::new(file, sides.iter().map(|side| (side.index(), side.name())))
    }
}

impl Capture<Vec<u8>> {
    /// Captures in memory, as a simulation does, the packets at the entrances of the captured links of a
    /// plan. Points are link numbers.
    pub(crate) fn of_links(plan: &Plan) -> Result<Self, EmulationError> {
        if plan.record.capture.is_empty() {
            return Ok(Self::none());
        }
        Self::new(Vec::new(), plan.record.capture.iter().map(|&link| (link, plan.links[link].name.as_str())))
    }
}

impl<W: Write + Send + 'static> Capture<W> {
    /// Returns a capture of nothing.
    pub(crate) const fn none() -> Self {
        Self { interfaces: Vec::new(), writer: None, thread: None }
    }

    /// Creates an interface for each of these points, by number and name.
    fn new<'a>(mut sink: W, points: impl Iterator<Item = (usize, &'a str)>) -> Result<Self, EmulationError> {
        let (full, chunks) = channel::<Vec<u8>>();
        let (emptied, spare) = channel();
        let thread = thread::Builder::new()
            .name("airpath-capture".to_owned())
            .spawn(move || {
                for mut chunk in chunks {
                    sink.write_all(&chunk)?;
                    chunk.clear();
                    // After the end of the capture the buffer has no receiver.
                    let _ = emptied.send(chunk);
                }
                sink.flush()?;
                Ok(sink)
            })
            .context("a thread for the capture")?;
        let (mut interfaces, mut names) = (Vec::new(), Vec::new());
        for (point, name) in points {
            interfaces.resize(interfaces.len().max(point + 1), None);
            if interfaces[point].is_none() {
                interfaces[point] = Some(names.len());
                names.push(name);
            }
        }
        let chunks = Chunks { filling: Vec::with_capacity(CHUNK), full, spare };
        let writer = CaptureWriter::new(chunks, &names).map_err(io::Error::other).context("the capture")?;
        Ok(Self { interfaces, writer: Some(writer), thread: Some(thread) })
    }

    /// Records a packet that passes a point.
    pub(crate) fn on_packet(&mut self, point: usize, at: Timestamp, packet: &[u8]) {
        if let Some(writer) = &mut self.writer
            && let Some(&Some(interface)) = self.interfaces.get(point)
        {
            // The writer fails only if the thread has ended; `finish` returns the thread's error.
            let _ = writer.ip_packet(interface, at.as_nanos(), packet);
        }
    }

    /// Writes the remaining packets. Returns the sink, if there was a capture.
    pub(crate) fn finish(mut self) -> Result<Option<W>, EmulationError> {
        if let Some(writer) = self.writer.take() {
            let mut chunks = writer.into_inner();
            // See `on_packet` for the ignored error.
            let _ = chunks.hand_over();
        }
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(None),
            Some(Ok(written)) => Ok(Some(written.context("writing the capture")?)),
            Some(Err(_)) => Err(EmulationError::Broken("the thread of the capture has ended".to_owned())),
        }
    }
}

/// Collects bytes and sends them in large chunks to the writing thread, which returns the buffers.
struct Chunks {
    filling: Vec<u8>,
    full: Sender<Vec<u8>>,
    spare: Receiver<Vec<u8>>,
}

/// Size of a chunk in bytes.
const CHUNK: usize = 256 * 1024;

impl Chunks {
    fn hand_over(&mut self) -> io::Result<()> {
        let next = self.spare.try_recv().unwrap_or_else(|_| Vec::with_capacity(CHUNK));
        let filled = std::mem::replace(&mut self.filling, next);
        self.full.send(filled).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.filling.len() + bytes.len() > CHUNK {
            self.hand_over()?;
        }
        self.filling.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
