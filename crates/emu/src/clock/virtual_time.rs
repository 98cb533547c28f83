//! Time that passes only when a thread under test sleeps or looks at the clock. Delays are part of the test.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;
use std::time::Instant;

use airpath_model::{Duration, Timestamp};

use super::Clock;

/// Something that happens outside of the thread under test.
struct Event {
    wakes: bool,
    happens: Box<dyn FnOnce() + Send>,
}

/// Whether time stays where it is, at an instant and before a sleep of some length.
type Holds = Box<dyn FnMut(Timestamp, Duration) -> bool + Send>;

/// Virtual time. Only one thread may use it.
pub(crate) struct VirtualTime(Mutex<State>);

#[derive(Default)]
struct State {
    now: Timestamp,
    /// How far time moves at each look at the clock.
    look: Duration,
    /// In the order of time.
    events: VecDeque<(Timestamp, Event)>,
    /// Sleeps that end at the instant or later take that much longer; each once, in the order of time.
    delays: VecDeque<(Timestamp, Duration)>,
    /// Called before each sleep; time stays where it is while it returns `true`.
    holds: Option<Holds>,
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VirtualTime")
    }
}

impl VirtualTime {
    /// A clock that stands at zero, and the virtual time behind it.
    pub(crate) fn start() -> (Clock, &'static Self) {
        // Clocks are copied everywhere, and a test makes only one.
        let time: &'static Self = Box::leak(Box::new(Self(Mutex::default())));
        (Clock { began: Instant::now(), replaced: Some(time) }, time)
    }

    /// Each look at the clock takes that long.
    pub(crate) fn looks_take(&self, look: Duration) {
        self.0.lock().unwrap().look = look;
    }

    /// Something happens at an instant. A sleep that waits for it ends there.
    pub(crate) fn at(&self, at: Timestamp, event: impl FnOnce() + Send + 'static) {
        self.add(at, true, event);
    }

    /// The same, but a sleep that waits for it does not end: the wake-up is lost.
    pub(crate) fn at_silently(&self, at: Timestamp, event: impl FnOnce() + Send + 'static) {
        self.add(at, false, event);
    }

    fn add(&self, at: Timestamp, wakes: bool, event: impl FnOnce() + Send + 'static) {
        let events = &mut self.0.lock().unwrap().events;
        let place = events.partition_point(|(earlier, _)| *earlier <= at);
        events.insert(place, (at, Event { wakes, happens: Box::new(event) }));
    }

    /// The sleep that ends at that instant or later takes longer.
    pub(crate) fn delay(&self, at: Timestamp, by: Duration) {
        self.0.lock().unwrap().delays.push_back((at, by));
    }

    /// Calls `holds` before each sleep. While it returns `true` the sleep ends at once.
    pub(crate) fn hold_while(&self, holds: impl FnMut(Timestamp, Duration) -> bool + Send + 'static) {
        self.0.lock().unwrap().holds = Some(Box::new(holds));
    }

    /// Time passes, as if the thread under test worked or did not get a processor.
    pub(crate) fn pass(&self, time: Duration) {
        let to = self.0.lock().unwrap().now + time;
        self.move_to(to);
    }

    pub(super) fn now(&self) -> Timestamp {
        let look = self.0.lock().unwrap().look;
        self.pass(look);
        self.0.lock().unwrap().now
    }

    pub(super) fn sleep(&self, time: Duration, until_event: bool) {
        let (now, holds) = {
            let mut state = self.0.lock().unwrap();
            (state.now, state.holds.take())
        };
        // Without the lock: it may look at the clock.
        if let Some(mut holds) = holds {
            let held = holds(now, time);
            self.0.lock().unwrap().holds = Some(holds);
            if held {
                return;
            }
        }
        let mut state = self.0.lock().unwrap();
        let mut to = now + time;
        let mut wakes = state.events.iter().filter(|(_, event)| event.wakes);
        if let (true, Some((at, _))) = (until_event, wakes.next()) {
            to = to.min((*at).max(now));
        }
        while let Some((_, by)) = pop_until(&mut state.delays, to) {
            to += by;
        }
        drop(state);
        self.move_to(to);
    }

    fn move_to(&self, to: Timestamp) {
        loop {
            let mut state = self.0.lock().unwrap();
            let Some((at, event)) = pop_until(&mut state.events, to) else {
                state.now = state.now.max(to);
                return;
            };
            state.now = state.now.max(at);
            drop(state);
            (event.happens)();
        }
    }
}

/// The first, if its instant is not after `to`.
fn pop_until<T>(queue: &mut VecDeque<(Timestamp, T)>, to: Timestamp) -> Option<(Timestamp, T)> {
    queue.front().is_some_and(|(at, _)| *at <= to).then(|| queue.pop_front()).flatten()
}
