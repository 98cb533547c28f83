//! Router configurations: accepted settings and error messages. Needs no kernel support.

use airpath_channel::{AirChain, Antennas, BitClock, CodeRate, GilbertElliott, linear_snr};
use airpath_linux::router::{Capacity, Protocol, RouterConfig, SIZE_CLASS, SIZE_CLASSES, outcomes};
use airpath_model::{Bytes, Duration, Rate, Timestamp};

use crate::configuration::{read_configuration, uncommented};

fn read(text: &str) -> Result<RouterConfig, String> {
    read_configuration(text)
        .and_then(|file| RouterConfig::try_from(file.router))
        .map_err(|error| error.to_string())
}

const GOOD: &str = "[router]\ndevice = \"eth1\"\nprotocol = \"vcp\"\ncapacity = \"ebe\"\nrate = \"10Mbit\"\nbuffer = \"575kB\"\n";

#[test]
fn the_example_is_accepted_with_and_without_its_comments() {
    let example = include_str!("../../dist/router.toml");
    let plain = read(example).unwrap();
    assert_eq!(
        (plain.device.as_str(), plain.protocol, plain.capacity),
        ("eth1", Protocol::Vcp, Capacity::Ebe)
    );
    assert_eq!((plain.rate, plain.buffer), (Some(Rate::from_bps(10_000_000)), Some(Bytes::new(575_000))));
    assert!(plain.loss.is_none());
    let all = read(&uncommented(example)).unwrap();
    assert_eq!(all.loss.unwrap().1, "eth0");
}

/// `busy` works under both protocols, and needs no size of the queue.
#[test]
fn busy_polls_the_queue() {
    for (protocol, poll, expected_ms) in [("vcp", "", 2), ("xcp", "poll = \"10ms\"\n", 10)] {
        let text = format!(
            "[router]\ndevice = \"eth1\"\nprotocol = \"{protocol}\"\ncapacity = \"busy\"\nrate = \"10Mbit\"\n{poll}"
        );
        let config = read(&text).unwrap();
        assert_eq!((config.capacity, config.poll), (Capacity::Busy, Duration::from_millis(expected_ms)));
        let engine = config.engine().unwrap();
        assert_eq!(engine.next_timer(), Timestamp::ZERO + config.poll);
    }
}

#[test]
fn errors_name_the_mistake() {
    for (change, said) in [
        (("\"10Mbit\"", "\"10\""), "a rate in bits"),
        (("\"10Mbit\"", "10"), "a rate in bits"),
        (("\"10Mbit\"", "\"0bit\""), "rate must be above 0"),
        (("\"575kB\"", "\"575kbit\""), "a size in bytes"),
        (("\"vcp\"", "\"tcp\""), "`vcp` or `xcp`"),
        (("\"ebe\"", "\"xcp-b\""), "accepted for VCP"),
        (("device = \"eth1\"\n", ""), "device is missing"),
        (("rate = \"10Mbit\"\n", ""), "needs rate"),
        (("buffer = \"575kB\"\n", ""), "needs buffer"),
        (("\"ebe\"", "\"busy\"\npoll = \"20ms\""), "poll: found 20ms; accepted: 1ms to 10ms"),
        (("\"ebe\"", "\"busy\"\npoll = \"0.5ms\""), "poll: found 0.5ms; accepted: 1ms to 10ms"),
        (("\"ebe\"", "\"busy\"\npoll = \"2\""), "a time, such as"),
        (("buffer", "bufer"), "unknown field `bufer`"),
        (("\n[", "\n[hosts]\n["), "unknown field `hosts`"),
    ] {
        let text = format!("\n{GOOD}").replace(change.0, change.1);
        let message = read(&text).unwrap_err();
        assert!(message.contains(said), "{change:?}: {message}");
    }
    let fading = "kind = \"fading\"\nsnr = 12.0\n";
    let bits = "kind = \"gilbert-elliott\"\ngamma = 0.9\nbeta = 0.5\n";
    for (kind, parameter, said) in [
        (
            "kind = \"gilbert\"\nmean_loss = 0.9\n",
            "mean_burst = 1.0",
            ".mean_burst: found 1; accepted: from mean",
        ),
        ("kind = \"gilbert-elliott\"\nbeta = 0.5\n", "gamma = 2.0", ".gamma: found 2; accepted: from 0 to 1"),
        (bits, "code_rate = \"223/255\"", ": codes and \"step_by_step\" need clock = \"bit\""),
        (bits, "clock = \"time\"", ".clock: found \"time\"; accepted: \"bit\", \"symbol\", \"packet\""),
        (
            fading,
            "code_rate = \"223\"",
            ".code_rate: found \"223\"; accepted: a number, or data symbols over",
        ),
        (
            fading,
            "code_rate = \"1/0\"",
            ".code_rate: found \"1/0\"; accepted: a number, or data symbols over",
        ),
        (fading, "code_rate = \"3/2\"", ".code_rate: found 1.5; accepted: a code rate from 1/255 to 1"),
        (fading, "modulation = \"qam\"", ".modulation: unknown variant `qam`, expected one of `bpsk`, "),
        (fading, "rician_k = -5.0", ".rician_k: found -5; accepted: from 0 to 100"),
        (fading, "rician_k = \"5\"", ".rician_k: invalid type: string \"5\", expected f64"),
        (fading, "step_by_step = true", ".step_by_step: found true; accepted: false"),
        (
            fading,
            "antenas = \"2x2\"",
            ".antenas: unknown key; accepted: ack_code_rate, ack_limit, antennas, ",
        ),
        ("", "kind = \"fading\"", ": missing field `snr`"),
        (
            "",
            "kind = \"rain\"",
            ".kind: there is no loss \"rain\"; accepted: gilbert-elliott, gilbert, netem",
        ),
    ] {
        let message = read(&format!("{GOOD}[router.loss]\n{kind}{parameter}")).unwrap_err();
        assert!(message.contains(&format!("router.loss{said}")), "{parameter}: {message}");
    }
}

#[test]
fn fading_with_a_packet_clock_equals_its_chain() {
    let all = |loss: &str| {
        let config = read(&format!("{GOOD}[router.loss]\nclock = \"packet\"\n{loss}")).unwrap();
        outcomes(&config.loss.unwrap().0).unwrap()
    };
    let error = |db| Antennas::OneByOne.bpsk_error(linear_snr(db), 0.0);
    let chain =
        format!("gamma = 0.99875\nbeta = 0.875\neps_good = {:?}\neps_bad = {:?}", error(8.0), error(-2.0));
    assert_eq!(all("kind = \"fading\"\nsnr = 8.0"), all(&format!("kind = \"gilbert-elliott\"\n{chain}")));
}

/// The table of the program contains the channel crate's probabilities for the largest size of each class.
#[test]
fn tables_of_losses_are_those_of_the_channel() {
    let config = read(&format!(
        "{GOOD}[router.loss]\nkind = \"fading\"\nsnr = 8.0\nantennas = \"2x2\"\ncode_rate = \"223/255\"\n"
    ));
    let table = outcomes(&config.unwrap().loss.unwrap().0).unwrap();
    assert_eq!(table.len(), SIZE_CLASSES);
    let error = |db| Antennas::TwoByTwo.bpsk_error(linear_snr(db), 0.0);
    let chain = GilbertElliott::new(0.99875, 0.875, error(8.0), error(-2.0)).unwrap();
    let air = AirChain { chain, clock: BitClock::Bit };
    let rate = CodeRate::new(223, 255).unwrap();
    let mut losses = Vec::new();
    for class in [4, 66, 95] {
        let row = table[class];
        let stationary = chain.stationary();
        let loss: f64 =
            (0..2).map(|state| stationary[state] * row.lost[state] as f64 / 4_294_967_296.0).sum();
        let exact = air.coded(class as u64 * SIZE_CLASS, rate).loss(stationary);
        assert!((loss - exact).abs() < 1e-9, "{class}: {loss}, {exact}");
        losses.push(loss);
    }
    assert!(losses.iter().all(|loss| (1e-6..0.1).contains(loss)), "the case requires losses: {losses:?}");
}
