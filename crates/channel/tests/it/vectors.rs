//! Every vector file of the channel, at the tolerance that the file states.

use airpath_channel::{
    AirChain, Antennas, BitClock, CodeRate, Codeword, GilbertElliott, Matrix, Psk, linear_snr,
};
use airpath_vectors::{Tally, Value, integer, list, number, read, text};

const ANTENNAS: [(&str, Antennas); 4] = [
    ("1x1", Antennas::OneByOne),
    ("2x1", Antennas::TwoByOne),
    ("1x2", Antennas::OneByTwo),
    ("2x2", Antennas::TwoByTwo),
];

/// Symbol error rates of phase-shift keying with maximum-ratio combining, and of the four pairs of antennas.
#[test]
fn ser() {
    let Some(file) = read("ser.json") else { return };
    let mut tally = Tally::default();
    for point in list(&file["mpsk_mrc"]) {
        let (points, branches) = (integer(&point["M"]) as u32, integer(&point["N"]) as u32);
        let psk = Psk::ALL.into_iter().find(|psk| psk.points() == points).unwrap();
        let (db, expected) = (number(&point["snr_db"]), number(&point["ser"]));
        let what = format!("{points}-PSK, {branches} branches, {db} dB");
        tally.hold(&what, psk.rayleigh(branches, linear_snr(db)), expected, 1e-9 * expected);
        // Rician fading without a direct path is Rayleigh fading: the other way of integration, held to the same number.
        let integrated = psk.rician(branches, linear_snr(db), 0.0);
        tally.hold(&format!("{what}, integrated"), integrated, expected, 1e-9 * expected);
    }
    for point in list(&file["antennas"]) {
        let (name, db, expected) = (text(&point["ant"]), number(&point["snr_db"]), number(&point["ber"]));
        let value = antennas(name).bpsk_error(linear_snr(db), 0.0);
        tally.hold(&format!("{name} at {db} dB"), value, expected, 1e-9 * expected);
    }
    tally.finish("ser.json");
}

/// Byte errors, and losses of packets without and with coding: the exact ones and those of independent bytes.
#[test]
fn ge_rs() {
    let Some(file) = read("ge_rs.json") else { return };
    let mut tally = Tally::default();
    let gamma = number(&file["gamma"]);
    let sizes = [("data", integer(&file["data_bytes"])), ("ack", integer(&file["ack_bytes"]))];
    for (kind, size) in sizes {
        for (rate, expected) in file["layouts"][kind].as_object().unwrap() {
            let words: Vec<_> = code_rate(rate).codewords(size).map(columns).collect();
            let expected: Vec<_> =
                list(expected).iter().map(|row| [0, 1, 2].map(|i| integer(&row[i]))).collect();
            assert_eq!(words, expected, "codewords of {kind} at {rate}");
        }
    }
    for point in list(&file["phi"]) {
        let chain = GilbertElliott::new(
            number(&point["gamma"]),
            number(&point["beta"]),
            number(&point["eps_G"]),
            number(&point["eps_B"]),
        )
        .unwrap();
        let what = format!("phi at beta {}, {} dB", point["beta"], point["snr_g_db"]);
        phi(&mut tally, &what, chain, point);
    }
    for point in list(&file["per"]) {
        let (db, beta) = (number(&point["snr_g_db"]), number(&point["beta"]));
        let name = text(&point["ant"]);
        let what = format!("{name}, beta {beta}, {db} dB");
        let [good, bad] = [db, db - 10.0].map(|db| antennas(name).bpsk_error(linear_snr(db), 0.0));
        tally.hold(&format!("eps_G of {what}"), good, number(&point["eps_G"]), 1e-9 * good);
        tally.hold(&format!("eps_B of {what}"), bad, number(&point["eps_B"]), 1e-9 * bad);
        let chain = GilbertElliott::new(gamma, beta, good, bad).unwrap();
        losses(&mut tally, &what, chain, point, sizes);
    }
    tally.finish("ge_rs.json");
}

/// The distribution of right bits among the first t, and the sums that follow from it.
fn phi(tally: &mut Tally, what: &str, chain: GilbertElliott, point: &Value) {
    let relative = |expected: f64| 1e-12 * expected.abs();
    let [good, bad] = chain.stationary();
    let air = AirChain { chain, clock: BitClock::Bit };
    // Bits right so far, by state: the recursion, from the matrices of one step.
    let step = chain.step();
    let bits = integer(&point["t"]) as usize;
    let mut rows = vec![[good, bad]];
    for bit in 1..=bits {
        rows = (0..=bit)
            .map(|right| {
                let wrong_now = rows.get(right).map_or([0.0; 2], |&row| times(row, &step.damaged));
                let right_now = right.checked_sub(1).map_or([0.0; 2], |r| times(rows[r], &step.clean));
                [wrong_now[0] + right_now[0], wrong_now[1] + right_now[1]]
            })
            .collect();
        if bit == 1 {
            for (right, row) in rows.iter().enumerate() {
                for (state, value) in row.iter().enumerate() {
                    let expected = number(&point["t1"][right][state]);
                    tally.hold(&format!("{what}, first bit"), *value, expected, relative(expected));
                }
            }
        }
    }
    for (right, row) in rows.iter().enumerate() {
        for (value, state) in row.iter().zip(["G", "B"]) {
            let expected = number(&point[state][right]);
            tally.hold(&format!("{what}, {right} right, {state}"), *value, expected, relative(expected));
        }
    }
    let byte = air.byte();
    let all_right: f64 = times([good, bad], &byte.clean).iter().sum();
    for (name, value, expected) in [
        ("all right", all_right, &point["phi_ss"]),
        ("byte error", air.byte_error(), &point["one_minus_phi_ss"]),
        ("stationary good", good, &point["stationary"][0]),
        ("stationary bad", bad, &point["stationary"][1]),
    ] {
        let expected = number(expected);
        tally.hold(&format!("{what}, {name}"), value, expected, relative(expected));
    }
}

fn losses(tally: &mut Tally, what: &str, chain: GilbertElliott, point: &Value, sizes: [(&str, u64); 2]) {
    let tolerance = |expected: f64| 1e-6 * expected + 1e-20;
    let air = AirChain { chain, clock: BitClock::Bit };
    let stationary = chain.stationary();
    let mut hold = |name: &str, value: f64, expected: &Value| {
        let expected = number(expected);
        tally.hold(&format!("{name} of {what}"), value, expected, tolerance(expected));
    };
    hold("byte error", air.byte_error(), &point["p_symbol"]);
    for (kind, size) in sizes {
        let uncoded = air.uncoded(size).loss(stationary);
        hold(&format!("uncoded {kind}"), uncoded, &point[format!("uncoded_{size}")]);
        for (rate, expected) in point[kind].as_object().unwrap() {
            let name = |part: &str| format!("{part} loss of {kind} at {rate}");
            let code = code_rate(rate);
            let exact = air.coded(size, code).loss(stationary);
            hold(&name("exact"), exact, &expected["exact"]);
            hold(&name("independent"), air.independent_loss(size, code), &expected["independent"]);
            let block = code.codewords(size).next().unwrap().independent_loss(air.byte_error());
            hold(&name("block"), block, &expected["block_independent"]);
        }
    }
}

fn times(row: [f64; 2], matrix: &Matrix) -> [f64; 2] {
    [0, 1].map(|to| row[0] * matrix[0][to] + row[1] * matrix[1][to])
}

fn columns(word: Codeword) -> [u64; 3] {
    [word.symbols(), word.data, word.corrects].map(u64::from)
}

/// "0.93" as 93/100.
fn code_rate(text: &str) -> CodeRate {
    let digits = text.strip_prefix("0.").unwrap();
    CodeRate::new(digits.parse().unwrap(), 10_u32.pow(digits.len() as u32)).unwrap()
}

fn antennas(name: &str) -> Antennas {
    ANTENNAS.iter().find(|(known, _)| *known == name).unwrap().1
}
