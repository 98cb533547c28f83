//! The velocity of the window.

/// Rounds in one direction after which the velocity doubles (section 2.1).
const STEADY_ROUNDS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// The velocity parameter v (section 2.1, step 4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    v: f64,
    direction: Option<Direction>,
    /// Number of rounds in this direction.
    rounds: u32,
    /// [`airpath_model::AckEvent::round`] of the current round, and the window at its start.
    round: u64,
    window: f64,
}

impl Default for Velocity {
    fn default() -> Self {
        Self { v: 1.0, direction: None, rounds: 0, round: 0, window: 0.0 }
    }
}

impl Velocity {
    /// Restarts with this round.
    pub(super) fn restart(&mut self, round: u64, window: f64) {
        *self = Self { round, window, ..Self::default() };
    }

    /// Updates, once a round, the direction in which the window has moved since the start of the round.
    pub(super) fn on_ack(&mut self, round: u64, window: f64) {
        if round == self.round {
            return;
        }
        let direction = if window > self.window { Direction::Up } else { Direction::Down };
        if self.direction == Some(direction) {
            self.rounds += 1;
        } else {
            self.direction = Some(direction);
            self.rounds = 1;
            self.v = 1.0;
        }
        if self.rounds >= STEADY_ROUNDS {
            self.v *= 2.0;
        }
        self.round = round;
        self.window = window;
    }

    /// Returns v for a step in `direction`. The first step in the opposite direction discards the velocity,
    /// because otherwise the window would overshoot.
    pub(super) fn towards(&mut self, direction: Direction) -> f64 {
        if self.v > 1.0 && self.direction != Some(direction) {
            self.direction = Some(direction);
            self.rounds = 0;
            self.v = 1.0;
        }
        self.v
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_in_one_direction_double_it_and_a_turn_resets_it() {
        let mut velocity = Velocity::default();
        velocity.restart(0, 10.0);
        let mut seen = [0; 7];
        for ((slot, round), window) in
            seen.iter_mut().zip(1..).zip([11.0, 12.0, 13.0, 14.0, 15.0, 14.0, 13.0])
        {
            velocity.on_ack(round, window);
            velocity.on_ack(round, window + 100.0); // the same round: evaluated only once
            *slot = velocity.v as u32;
        }
        assert_eq!(seen, [1, 1, 2, 4, 8, 1, 1]);
    }

    /// The first round that counts is the next one, starting from the window at the restart.
    #[test]
    fn a_restart_remembers_the_window() {
        let mut velocity = Velocity::default();
        velocity.restart(5, 10.0);
        velocity.on_ack(5, 9.5); // the round of the restart is not over
        for (round, window, v) in [(6, 9.0, 1.0_f64), (7, 8.0, 1.0), (8, 7.0, 2.0)] {
            velocity.on_ack(round, window);
            assert_eq!(velocity.towards(Direction::Down).to_bits(), v.to_bits());
        }
    }

    /// Three rounds double the velocity, regardless of the previous direction. A step back has no effect if
    /// there is no velocity to discard.
    #[test]
    fn after_a_turn_the_count_of_three_rounds_restarts_and_a_step_is_no_turn() {
        let mut velocity = Velocity::default();
        velocity.restart(0, 10.0);
        for (round, window) in [(1, 11.0), (2, 12.0)] {
            velocity.on_ack(round, window);
        }
        velocity.towards(Direction::Down);
        velocity.on_ack(3, 13.0);
        assert_eq!(velocity.towards(Direction::Up).to_bits(), 2.0_f64.to_bits());
        for (round, window, v) in [(4, 12.0, 1.0_f64), (5, 11.0, 1.0), (6, 10.0, 2.0)] {
            velocity.towards(Direction::Down);
            velocity.on_ack(round, window);
            assert_eq!(velocity.v.to_bits(), v.to_bits(), "round {round}");
        }
    }

    #[test]
    fn the_first_step_back_resets_the_velocity() {
        let mut velocity = Velocity::default();
        velocity.restart(0, 10.0);
        for (round, window) in [(1, 11.0), (2, 12.0), (3, 13.0)] {
            velocity.on_ack(round, window);
        }
        assert_eq!(velocity.towards(Direction::Up).to_bits(), 2.0_f64.to_bits());
        assert_eq!(velocity.towards(Direction::Down).to_bits(), 1.0_f64.to_bits());
        assert_eq!(velocity.towards(Direction::Up).to_bits(), 1.0_f64.to_bits());
    }
}
