//! Time that passes only while a thread under test sleeps or reads the clock. Delays are part of the test.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Mutex;
use std::time::Instant;

use airpath_model::{Duration, Timestamp};

use super::Clock;

/// An event outside of the thread under test.
struct Event {
    wakes: bool,
    happens: Box<dyn FnOnce() + Send>,
}

/// Decides whether time is stopped, given the current time and the length of the next sleep.
type Holds = Box<dyn FnMut(Timestamp, Duration) -> bool + Send>;

/// Virtual time. Only one thread may use it.
pub(crate) struct VirtualTime(Mutex<State>);

#[derive(Default)]
struct State {
    now: Timestamp,
    /// Time that each reading of the clock takes.
    look: Duration,
    /// Events in the order of time.
    events: VecDeque<(Timestamp, Event)>,
    /// Additional time of sleeps that end at or after an instant; each is used once, in the order of time.
    delays: VecDeque<(Timestamp, Duration)>,
    /// Called before each sleep; time is stopped while it returns `true`.
    holds: Option<Holds>,
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VirtualTime")
    }
}

impl VirtualTime {
    /// Returns a clock at zero, and its virtual time.
    pub(crate) fn start() -> (Clock, &'static Self) {
        // Clocks are `Copy`, and a test creates only one.
        let time: &'static Self = Box::leak(Box::new(Self(Mutex::default())));
        (Clock { began: Instant::now(), replaced: Some(time) }, time)
    }

    /// Sets the time that each reading of the clock takes.
    pub(crate) fn looks_take(&self, look: Duration) {
        self.0.lock().unwrap().look = look;
    }

    /// Schedules an event. A sleep that waits for it ends there.
    pub(crate) fn at(&self, at: Timestamp, event: impl FnOnce() + Send + 'static) {
        self.add(at, true, event);
    }

    /// Schedules an event that does not end a sleep: the wake-up is lost.
    pub(crate) fn at_silently(&self, at: Timestamp, event: impl FnOnce() + Send + 'static) {
        self.add(at, false, event);
    }

    fn add(&self, at: Timestamp, wakes: bool, event: impl FnOnce() + Send + 'static) {
        let events = &mut self.0.lock().unwrap().events;
        let place = events.partition_point(|(earlier, _)| *earlier <= at);
        events.insert(place, (at, Event { wakes, happens: Box::new(event) }));
    }

    /// Prolongs the sleep that ends at that time or later.
    pub(crate) fn delay(&self, at: Timestamp, by: Duration) {
        self.0.lock().unwrap().delays.push_back((at, by));
    }

    /// Calls `holds` before each sleep. While it returns `true`, the sleep ends at once.
    pub(crate) fn hold_while(&self, holds: impl FnMut(Timestamp, Duration) -> bool + Send + 'static) {
        self.0.lock().unwrap().holds = Some(Box::new(holds));
    }

    /// Advances the time, as if the thread under test worked or had no processor.
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
        // Called without the lock, because it may read the clock.
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

/// Removes the first item if its time is not after `to`.
fn pop_until<T>(queue: &mut VecDeque<(Timestamp, T)>, to: Timestamp) -> Option<(Timestamp, T)> {
    queue.front().is_some_and(|(at, _)| *at <= to).then(|| queue.pop_front()).flatten()
}
