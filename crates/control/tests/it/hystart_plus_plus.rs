//! `HyStart++` compared with a released implementation: tquic's, run by `tools/second_programs` over random
//! rounds.

use airpath_control::{HystartPlusPlus, HystartPlusPlusConfig, NewReno, Windowed};
use airpath_model::{
    AckEvent, Bytes, CongestionEvent, CongestionSignal, Controller, Duration, NullProbe, Phase, Timestamp,
};
use airpath_vectors::{Value, integer, list, read, text};

/// The round to which the acknowledgment of the first packet sent in a round belongs. This acknowledgment
/// ends the previous round.
#[derive(Clone, Copy, PartialEq)]
enum Boundary {
    /// The round that begins, as in the transport.
    Begins,
    /// The round that ends, as in tquic, quiche and msquic.
    Ends,
}

/// One acknowledgment of a case and its effect in tquic.
struct Acknowledged {
    round: u64,
    rtt: Duration,
    /// `s`low start, `c`onservative slow start, slow start `o`ver.
    phase: char,
    /// The total growth of the window so far, if known: at the end of a round and of slow start.
    grown: Option<Bytes>,
}

/// Returns every acknowledgment up to the one that ends slow start.
fn acknowledged(case: &Value, boundary: Boundary) -> Vec<Acknowledged> {
    let rounds = list(&case["rtt"]).iter().zip(list(&case["phases"])).zip(list(&case["grown"]));
    let mut all = Vec::new();
    for (number, ((rtts, phases), grown)) in (1..).zip(rounds) {
        for (index, (rtt, phase)) in list(rtts).iter().zip(text(phases).chars()).enumerate() {
            let ends_one = index == 0 && boundary == Boundary::Ends;
            let known = phase == 'o' || index + 1 == list(rtts).len();
            all.push(Acknowledged {
                round: if ends_one { number - 1 } else { number },
                rtt: Duration::from_micros(100 * integer(rtt)),
                phase,
                grown: known.then(|| Bytes::new(integer(grown))),
            });
            if phase == 'o' {
                return all;
            }
        }
    }
    all
}

/// Our implementation over the same acknowledgments: its phase after each, and its growth.
struct Ours {
    controller: Windowed<HystartPlusPlus, NewReno>,
    initial: Bytes,
    mss: Bytes,
    acked: Bytes,
}

impl Ours {
    fn new(case: &Value, segment: u64) -> Self {
        let mss = Bytes::new(segment);
        // L is 64 in tquic.
        let config = HystartPlusPlusConfig { limit: 64, ..HystartPlusPlusConfig::default() };
        let slow_start = HystartPlusPlus::new(config).expect("in range");
        let initial = mss * 10;
        let controller = Windowed::new(NewReno::default(), slow_start, initial, mss).expect("a window");
        Self { controller, initial, mss, acked: Bytes::new(integer(&case["acked"])) }
    }

    fn on_ack(&mut self, ack: &Acknowledged) -> char {
        let mut event = AckEvent::at(Timestamp::ZERO);
        event.mss = self.mss;
        event.acked = self.acked;
        event.round = ack.round;
        event.rtt_sample = Some(ack.rtt);
        event.window_limited = true;
        self.controller.on_ack(&event, &mut NullProbe);
        self.phase()
    }

    fn on_loss(&mut self) -> char {
        let mut event = CongestionEvent::at(Timestamp::ZERO, CongestionSignal::Loss);
        event.mss = self.mss;
        event.flight_size = self.controller.control().window;
        self.controller.on_congestion(&event, &mut NullProbe);
        self.phase()
    }

    fn phase(&self) -> char {
        match self.controller.phase() {
            Phase::SlowStart => 's',
            Phase::ConservativeSlowStart => 'c',
            Phase::CongestionAvoidance => 'o',
            other => panic!("{other:?} is no phase of this controller"),
        }
    }

    fn grown(&self) -> Bytes {
        self.controller.control().window - self.initial
    }
}

/// Rounds are divided as in tquic. Only the end of slow start is one acknowledgment later: in tquic the last
/// acknowledgment of the last round ends slow start, here the first one of the next round does.
#[test]
fn every_acknowledgment_has_the_same_effect_as_in_tquic() {
    let Some(file) = read("hystart++.json") else { return };
    let (mut compared, mut ended, mut lost) = (0, 0, 0);
    for (number, case) in list(&file["cases"]).iter().enumerate() {
        let mut ours = Ours::new(case, integer(&file["segment"]));
        for (index, ack) in acknowledged(case, Boundary::Ends).iter().enumerate() {
            let phase = ours.on_ack(ack);
            let expected = if ack.phase == 'o' { 'c' } else { ack.phase };
            assert_eq!(phase, expected, "case {number}, acknowledgment {index}");
            if let Some(grown) = ack.grown {
                assert_eq!(ours.grown(), grown, "case {number}, acknowledgment {index}");
            }
            if ack.phase == 'o' {
                let next = Acknowledged { round: ack.round + 1, grown: None, ..*ack };
                assert_eq!(ours.on_ack(&next), 'o', "case {number}");
                ended += 1;
            }
            compared += 1;
        }
        if case["lost"].as_bool() == Some(true) {
            assert_eq!(ours.on_loss(), 'o', "case {number}");
            lost += 1;
        }
    }
    assert!(
        compared > 5_000 && ended > 15 && lost > 5,
        "{compared} acknowledgments, {ended} ends, {lost} losses"
    );
}

/// Rounds are divided as in the transport: a round has one more sample at its start and one fewer at its end.
#[test]
fn slow_start_ends_with_the_same_acknowledgment_with_the_rounds_of_the_transport() {
    let Some(file) = read("hystart++.json") else { return };
    let (mut others, mut all) = (0, 0);
    for (number, case) in list(&file["cases"]).iter().enumerate() {
        let mut ours = Ours::new(case, integer(&file["segment"]));
        let theirs = acknowledged(case, Boundary::Begins);
        for (index, ack) in theirs.iter().enumerate() {
            let phase = ours.on_ack(ack);
            assert_eq!(phase == 'o', ack.phase == 'o', "case {number}, acknowledgment {index}");
            others += usize::from(phase != ack.phase);
        }
        all += theirs.len();
        let expected = theirs.last().and_then(|ack| ack.grown).expect("a round or slow start ended");
        let share = ours.grown().as_f64() / expected.as_f64();
        assert!((share - 1.0).abs() < 0.1, "case {number}: the window grew by {share} of {expected:?}");
    }
    assert!(others * 20 < all, "{others} of {all} acknowledgments leave another phase");
}
