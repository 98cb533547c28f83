//! Windows on a time grid that starts with the capture, so that windows of several flows can be added.

use super::window::{PARTS, Window, joined_parts};

/// Maximum number of windows of a flow. If a flow outlasts them, adjacent windows are merged.
const MOST_WINDOWS: u64 = 2048;
/// Width of the first windows, in nanoseconds.
pub(super) const FIRST_WIDTH_NS: u64 = 500_000_000;

/// The windows of a flow.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) width_ns: u64,
    /// The start of the first window, in widths.
    pub(super) first: u64,
    pub(super) windows: Vec<Window>,
}

impl Grid {
    /// Creates a grid whose first window contains `start_ns`.
    pub(super) fn new(start_ns: u64) -> Self {
        Self { width_ns: FIRST_WIDTH_NS, first: start_ns / FIRST_WIDTH_NS, windows: vec![Window::default()] }
    }

    /// Returns the end of the last window.
    pub(super) fn end_ns(&self) -> u64 {
        self.start_of(self.windows.len())
    }

    /// Returns the start of window `place`.
    pub(super) fn start_of(&self, place: usize) -> u64 {
        (self.first + place as u64).saturating_mul(self.width_ns)
    }

    /// Adds empty windows until the last one contains `now_ns`.
    pub(super) fn reach(&mut self, now_ns: u64) {
        while now_ns / self.width_ns - self.first.min(now_ns / self.width_ns) >= MOST_WINDOWS {
            self.halve();
        }
        let silent = self.windows.last().map(Window::silent_after).unwrap_or_default();
        let length = (now_ns / self.width_ns).saturating_sub(self.first) as usize + 1; // at most MOST_WINDOWS
        if length > self.windows.len() {
            self.windows.resize(length, silent);
        }
    }

    /// Adds events to the last window.
    pub(super) fn absorb(&mut self, events: &Window) {
        if let Some(last) = self.windows.last_mut() {
            last.absorb(events);
        }
    }

    /// Counts bytes that left the bottleneck at `at_ns`.
    pub(super) fn deliver(&mut self, at_ns: u64, bytes: u64) {
        let place = self.place(at_ns);
        let since = at_ns.saturating_sub(self.start_of(place));
        let part = (since / (self.width_ns / PARTS as u64)).min(PARTS as u64 - 1);
        self.windows[place].parts[part as usize] += bytes;
    }

    /// Adds a time during which everything sent was acknowledged.
    pub(super) fn add_idle(&mut self, from_ns: u64, to_ns: u64) {
        for place in self.place(from_ns)..=self.place(to_ns) {
            let (start, end) = (self.start_of(place), self.start_of(place + 1));
            self.windows[place].idle_ns += to_ns.min(end).saturating_sub(from_ns.max(start));
        }
    }

    /// Returns the window that contains `at_ns`, or the nearest one.
    pub(super) fn place(&self, at_ns: u64) -> usize {
        let place = (at_ns / self.width_ns).saturating_sub(self.first);
        place.min(self.windows.len() as u64 - 1) as usize // below the number of windows
    }

    fn halve(&mut self) {
        if self.first % 2 == 1 {
            self.windows.insert(0, Window::default());
            self.first -= 1;
        }
        self.first /= 2;
        self.width_ns = self.width_ns.saturating_mul(2);
        let pairs = self.windows.chunks(2).map(|pair| {
            let silent = pair[0].silent_after();
            join(&[pair[0], *pair.get(1).unwrap_or(&silent)])
        });
        self.windows = pairs.collect();
    }
}

/// Merges successive windows into one.
pub(super) fn join(windows: &[Window]) -> Window {
    let mut joined = windows.first().copied().unwrap_or_default();
    windows.iter().skip(1).for_each(|window| joined.absorb(window));
    joined.parts = joined_parts(windows);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_merged_without_losing_counts() {
        let mut grid = Grid::new(1_700_000_000);
        assert_eq!((grid.first, grid.start_of(0)), (3, 1_500_000_000));
        for tenth in 17..30_000_u64 {
            grid.reach(tenth * 100_000_000);
            grid.deliver(tenth * 100_000_000, 7);
            grid.absorb(&Window { delivered: 7, acks: 1, ..Window::default() });
        }
        assert!(grid.windows.len() as u64 <= MOST_WINDOWS && grid.width_ns == 4 * FIRST_WIDTH_NS);
        let parts: u64 = grid.windows.iter().flat_map(|window| window.parts).sum();
        let delivered: u64 = grid.windows.iter().map(|window| window.delivered).sum();
        assert_eq!((parts, delivered), (7 * 29_983, 7 * 29_983));
        // Twenty tenths of a second in each window, four in each part.
        assert_eq!(grid.windows[700].parts, [28; PARTS]);
        assert_eq!(grid.windows[700].acks, 20);
    }

    #[test]
    fn idle_time_counts_in_the_windows_that_contain_it() {
        let mut grid = Grid::new(0);
        grid.reach(1_700_000_000);
        grid.add_idle(200_000_000, 300_000_000);
        grid.add_idle(400_000_000, 1_700_000_000);
        let idle: Vec<u64> = grid.windows.iter().map(|window| window.idle_ns / 1_000_000).collect();
        assert_eq!(idle, [200, 500, 500, 200]);
    }

    #[test]
    fn the_longest_time_has_a_window() {
        let mut grid = Grid::new(0);
        grid.reach(u64::MAX);
        assert!(grid.windows.len() as u64 <= MOST_WINDOWS);
        grid.deliver(u64::MAX, 1);
        assert_eq!(grid.windows.last().unwrap().parts.iter().sum::<u64>(), 1);
    }
}
