//! What passes the devices, as a capture: written by a thread of its own, so that no disk holds up the link thread.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use airpath_model::Timestamp;
use airpath_trace::capture::CaptureWriter;

use crate::address::Side;
use crate::error::{Asked, EmulationError};

/// A capture (pcapng) of the packets at the devices of some hosts.
pub(crate) struct Capture {
    /// For each side its interface in the file.
    interfaces: [Option<usize>; 2],
    writer: Option<CaptureWriter<Chunks>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Capture {
    /// No capture.
    pub(crate) const fn none() -> Self {
        Self { interfaces: [None; 2], writer: None, thread: None }
    }

    /// Writes what passes the devices of these sides into a file.
    pub(crate) fn new(path: &Path, sides: &[Side]) -> Result<Self, EmulationError> {
        let what = || format!("the capture {}", path.display());
        let mut file = File::create(path).asked(what())?;
        let (full, chunks) = channel::<Vec<u8>>();
        let (emptied, spare) = channel();
        let thread = thread::Builder::new()
            .name("airpath-capture".to_owned())
            .spawn(move || {
                for mut chunk in chunks {
                    file.write_all(&chunk)?;
                    chunk.clear();
                    // Nobody takes it any more when the capture has ended.
                    let _ = emptied.send(chunk);
                }
                file.flush()
            })
            .asked("a thread for the capture")?;
        let names: Vec<&str> = sides.iter().map(|side| side.name()).collect();
        let chunks = Chunks { filling: Vec::with_capacity(CHUNK), full, spare };
        let writer = CaptureWriter::new(chunks, &names).map_err(io::Error::other).asked(what())?;
        let interface = |side| sides.iter().position(|&captured| captured == side);
        Ok(Self { interfaces: Side::BOTH.map(interface), writer: Some(writer), thread: Some(thread) })
    }

    /// A packet passes the device of a side.
    pub(crate) fn on_packet(&mut self, side: Side, now: Timestamp, packet: &[u8]) {
        if let Some(writer) = &mut self.writer
            && let Some(interface) = self.interfaces[side.index()]
        {
            // The writer only fails when the thread has ended, which says why at the end.
            let _ = writer.ip_packet(interface, now.as_nanos(), packet);
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<(), EmulationError> {
        if let Some(writer) = self.writer.take() {
            let mut chunks = writer.into_inner();
            // As above.
            let _ = chunks.hand_over();
        }
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => written.asked("writing the capture"),
            Some(Err(_)) => Err(EmulationError::Broken("the thread of the capture has ended".to_owned())),
        }
    }
}

/// Collects bytes and hands them to the writing thread, many at a time; the buffers come back.
struct Chunks {
    filling: Vec<u8>,
    full: Sender<Vec<u8>>,
    spare: Receiver<Vec<u8>>,
}

/// Bytes that are handed over at a time.
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
