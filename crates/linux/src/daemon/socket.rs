//! The control socket of a daemon, through which clients request its status and its end.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use nix::unistd::geteuid;
use serde_json::Value;

use crate::Error;

/// Common prefix of the names of all daemon sockets.
const PREFIX: &str = "airpathd/";

/// Maximum time that a daemon waits for the request of a client that has connected. Short, because the daemon
/// has periodic work.
const PATIENCE: Duration = Duration::from_millis(20);

/// Delay before a client repeats a request that the daemon stopped waiting for.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Maximum time that a client waits for a daemon's response, or for its end.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// Maximum size of a response, bytes.
const LARGEST_ANSWER: u64 = 1 << 20;

/// The daemon's response to a user other than root and its own.
const REFUSED: &str = "it answers root and its own user only";

/// The error if another user's process has the name: any user may take any name.
const NOT_OURS: &str = "the name is taken by a process of another user";

/// A request to a daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Return the status.
    Status,
    /// Detach and end.
    Detach,
}

impl Asked {
    const fn word(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Detach => "detach",
        }
    }
}

/// The daemon's end of the control socket.
#[derive(Debug)]
pub struct Door {
    name: String,
    listener: UnixListener,
}

/// A client that asked the daemon to end, and waits for it.
#[derive(Debug)]
pub struct Goodbye(UnixStream);

impl Goodbye {
    /// Sends the final response.
    pub fn say(mut self, word: &Value) {
        say(&mut self.0, word);
    }
}

impl Door {
    /// Binds the name `name` in this thread's network namespace. Fails if another daemon has the name.
    pub fn open(name: &str) -> Result<Self, Error> {
        let said = |source| Error::System { action: "cannot open the daemon's socket", source };
        let listener = UnixListener::bind_addr(&address(name)?).map_err(|source| match source.kind() {
            ErrorKind::AddrInUse => Error::AlreadyRunning { name: name.to_owned() },
            _ => said(source),
        })?;
        listener.set_nonblocking(true).map_err(said)?;
        Ok(Self { name: name.to_owned(), listener })
    }

    /// Returns the daemon's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Serves one waiting client, if its user is root or the daemon's own. Sends `status` if the client asks
    /// for it. Returns the client if it asks the daemon to end.
    pub fn answer(&self, status: impl FnOnce() -> Value) -> Option<Goodbye> {
        let (mut stream, _) = self.listener.accept().ok()?;
        if !is_trusted(user_of(&stream).ok()?) {
            say(&mut stream, &serde_json::json!({ "error": REFUSED }));
            return None;
        }
        stream.set_nonblocking(false).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        let mut word = String::new();
        BufReader::new((&stream).take(64)).read_line(&mut word).ok()?;
        match word.trim() {
            "status" => {
                say(&mut stream, &status());
                None
            }
            "detach" => Some(Goodbye(stream)),
            _ => None,
        }
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

/// Sends a response as one line in a single write: many small writes would fill the socket buffer of a client
/// that does not read yet.
fn say(stream: &mut UnixStream, word: &Value) {
    let _ = stream.write_all(format!("{word}\n").as_bytes()); // the client may have gone
}

/// Sends `question` to the daemon `name` in this thread's network namespace. A refusal is an error too.
pub fn ask(name: &str, question: Asked) -> Result<Value, Error> {
    ask_within(name, question, LONGEST_ANSWER)
}

fn ask_within(name: &str, question: Asked, patience: Duration) -> Result<Value, Error> {
    let until = Instant::now() + patience;
    loop {
        match ask_once(name, question, patience) {
            // A client that was delayed between connecting and sending its request repeats it.
            Err(Error::System { source, .. }) if was_not_heard(&source) && Instant::now() < until => {
                std::thread::sleep(ASK_AGAIN_AFTER);
            }
            answer => return answer,
        }
    }
}

/// Returns whether the daemon closed the connection before it read the request: writing failed, or the
/// written bytes are lost.
fn was_not_heard(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

fn ask_once(name: &str, question: Asked, patience: Duration) -> Result<Value, Error> {
    let said = |source| Error::System { action: "cannot ask the daemon", source };
    let mut stream = UnixStream::connect_addr(&address(name)?).map_err(|source| match source.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::NotFound => Error::NotRunning { name: name.to_owned() },
        _ => said(source),
    })?;
    if !is_trusted(user_of(&stream).map_err(said)?) {
        return Err(Error::Refused { name: name.to_owned(), reason: NOT_OURS.to_owned() });
    }
    stream.set_write_timeout(Some(patience)).map_err(said)?;
    // A daemon that refuses does not read, and may have closed the connection already; its response can be
    // read all the same.
    let spoken = writeln!(stream, "{}", question.word());
    let answer = line_within(&stream, patience).map_err(|source| match source.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::Silent { name: name.to_owned(), patience },
        _ => said(source),
    })?;
    if answer.is_empty() {
        spoken.map_err(said)?;
    }
    let answer: Value = serde_json::from_str(&answer)
        .map_err(|error| said(std::io::Error::new(ErrorKind::InvalidData, error)))?;
    match answer["error"].as_str() {
        Some(reason) => Err(Error::Refused { name: name.to_owned(), reason: reason.to_owned() }),
        None => Ok(answer),
    }
}

/// Returns the user ID of the peer.
fn user_of(stream: &UnixStream) -> std::io::Result<u32> {
    Ok(getsockopt(stream, PeerCredentials)?.uid())
}

/// Returns whether `user` is root or this process's own user. Both sides trust only these.
fn is_trusted(user: u32) -> bool {
    user == 0 || user == geteuid().as_raw()
}

/// Reads one line within `patience` in total, or the bytes that arrived before the peer closed the
/// connection.
fn line_within(stream: &UnixStream, patience: Duration) -> std::io::Result<String> {
    let until = Instant::now() + patience;
    let mut line = Vec::new();
    let mut reader = BufReader::new(stream.take(LARGEST_ANSWER));
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let bytes = reader.fill_buf()?;
        let (taken, ended) = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(place) => (place + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        line.extend_from_slice(&bytes[..taken]);
        reader.consume(taken);
        if ended {
            return String::from_utf8(line)
                .map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error));
        }
    }
}

/// Returns the names of the daemons that run in this thread's network namespace.
pub fn names() -> Result<Vec<String>, Error> {
    let path = "/proc/thread-self/net/unix";
    let table = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.into(), source })?;
    let mut names: Vec<String> = table
        .lines()
        .filter_map(|line| line.split_once('@')?.1.strip_prefix(PREFIX).map(str::to_owned))
        .collect();
    names.sort();
    // A connection that is being served is listed in addition to its listener.
    names.dedup();
    Ok(names)
}

fn address(name: &str) -> Result<SocketAddr, Error> {
    SocketAddr::from_abstract_name(format!("{PREFIX}{name}"))
        .map_err(|source| Error::System { action: "cannot name the daemon's socket", source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn a_silent_daemon_is_named_in_the_error() {
        let name = format!("silent-{}", std::process::id());
        let _door = Door::open(&name).unwrap();
        let refused = ask_within(&name, Asked::Status, Duration::from_millis(20)).unwrap_err();
        assert!(matches!(refused, Error::Silent { .. }), "{refused}");
        assert!(refused.to_string().starts_with(&name), "{refused}");
    }

    /// On a busy machine, the client may be delayed for longer than the daemon waits: the socket buffer holds
    /// the whole response.
    #[test]
    fn a_late_client_reads_the_whole_response() {
        let name = format!("late-reader-{}", std::process::id());
        let door = Door::open(&name).unwrap();
        let status: serde_json::Map<String, Value> =
            (0..1000).map(|number| (format!("counter_{number}"), number.into())).collect();
        let mut stream = UnixStream::connect_addr(&address(&name).unwrap()).unwrap();
        writeln!(stream, "status").unwrap();
        assert!(door.answer(|| status.clone().into()).is_none());
        let answer = line_within(&stream, Duration::from_secs(60)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), Value::from(status));
    }

    /// Any user may connect, and a full status takes time that the daemon needs for its work.
    #[test]
    fn no_status_is_computed_without_a_request() {
        let name = format!("knocked-{}", std::process::id());
        let door = Door::open(&name).unwrap();
        for (word, wants_end) in [("", false), ("what\n", false), ("detach\n", true)] {
            let mut stream = UnixStream::connect_addr(&address(&name).unwrap()).unwrap();
            stream.write_all(word.as_bytes()).unwrap();
            let goodbye = door.answer(|| panic!("status computed for {word:?}"));
            assert_eq!(goodbye.is_some(), wants_end, "{word:?}");
        }
    }

    #[test]
    fn only_root_and_the_own_user_are_trusted() {
        let ours = geteuid().as_raw();
        assert!(is_trusted(0) && is_trusted(ours) && !is_trusted(ours + 1));
    }

    /// Binds the name in its argument, as any user may, and writes a line to every client.
    const STRANGER: &str = r#"
        socket(DOOR, AF_UNIX, SOCK_STREAM, 0) or die; bind(DOOR, pack("S", AF_UNIX) . "\0$ARGV[0]") or die; listen(DOOR, 5) or die;
        $| = 1; print "ready\n"; while (accept(GUEST, DOOR)) { syswrite(GUEST, "{}\n"); close(GUEST) }"#;

    #[test]
    #[allow(clippy::print_stdout, reason = "a test that is skipped says why")]
    fn responses_of_another_user_under_a_daemons_name_are_rejected() {
        const NOBODY: u32 = 65534;
        let name = format!("stranger-{}", std::process::id());
        let mut stranger = Command::new("perl");
        stranger.args(["-MSocket", "-e", STRANGER, &format!("{PREFIX}{name}")]).stdout(Stdio::piped());
        // Debian and Ubuntu always have `perl`.
        let Ok(mut stranger) = stranger.uid(NOBODY).gid(NOBODY).current_dir("/").spawn() else {
            println!("skipped: needs root, to be another user, and perl");
            return;
        };
        let mut said = String::new();
        BufReader::new(stranger.stdout.take().unwrap()).read_line(&mut said).unwrap();
        let answer = ask_within(&name, Asked::Status, Duration::from_secs(60));
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        assert_eq!(said, "ready\n");
        let refused = answer.unwrap_err();
        assert!(refused.to_string().contains(NOT_OURS), "{refused}");
    }

    /// Binds `name` and writes with `say` to the client until the client closes the connection.
    fn answers(name: &str, mut say: impl FnMut(&mut UnixStream) -> std::io::Result<()> + Send + 'static) {
        let listener = UnixListener::bind_addr(&address(name).unwrap()).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            while say(&mut stream).is_ok() {}
        });
    }

    /// The daemon waits only briefly, and a busy machine may delay the client between connecting and sending
    /// its request.
    #[test]
    fn a_request_is_repeated_if_the_daemon_closed_before_reading_it() {
        let name = format!("hasty-{}", std::process::id());
        let listener = UnixListener::bind_addr(&address(&name).unwrap()).unwrap();
        let daemon = std::thread::spawn(move || {
            for _ in 0..3 {
                drop(listener.accept().unwrap());
            }
            let (mut stream, _) = listener.accept().unwrap();
            let mut word = String::new();
            BufReader::new(&stream).read_line(&mut word).unwrap();
            writeln!(stream, "{{\"heard\": {:?}}}", word.trim()).unwrap();
        });
        let answer = ask_within(&name, Asked::Status, Duration::from_secs(60)).unwrap();
        assert_eq!(answer["heard"], "status");
        daemon.join().unwrap();
        let refused = ask_within(&name, Asked::Status, Duration::from_secs(60)).unwrap_err();
        assert!(matches!(refused, Error::NotRunning { .. }), "{refused}");
    }

    #[test]
    fn a_response_sent_byte_by_byte_times_out() {
        let name = format!("drops-{}", std::process::id());
        // The peer never ends the line: a client that waited for the end of the line would never return.
        answers(&name, |stream| {
            std::thread::sleep(Duration::from_millis(5));
            stream.write_all(b"{")
        });
        let refused = ask_within(&name, Asked::Status, Duration::from_millis(40)).unwrap_err();
        assert!(matches!(refused, Error::Silent { .. }), "{refused}");
    }

    #[test]
    fn an_endless_response_is_cut_off() {
        let name = format!("endless-{}", std::process::id());
        answers(&name, |stream| stream.write_all(&[b'x'; 4096]));
        let refused = ask_within(&name, Asked::Status, Duration::from_secs(60)).unwrap_err();
        assert!(matches!(refused, Error::System { .. }), "{refused}");
    }
}
