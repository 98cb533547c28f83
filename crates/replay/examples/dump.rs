fn main() {
    for path in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        let file = std::fs::File::open(&path).unwrap();
        match airpath_replay::analyse(file, &airpath_replay::Options::default()) {
            Ok(a) => {
                println!("== {path} {:?} {} flows, silent {} {:?}", a.report, a.flows.len(), a.silent, t.elapsed());
                for f in a.flows.iter().take(3) {
                    println!("{} -> {} {:?} s={:?} r={:?} dur {:.2} bytes {} rev {} acked {} acks {} rate {:.3}M mss {} clock {:?} ts {} rtt {:?}/{:?}/{:?} n{} retx {} needless {} reord {} rec {} to {} runs {:?} uncaptured {} ecn {:?} {} {} {} echoes {} marks {} back {} dup {} restarts {} bins {}x{}",
                        f.source, f.destination, f.vantage, f.sender_answer_ns, f.receiver_answer_ns, f.duration_ns as f64/1e9, f.bytes, f.reverse_bytes, f.acked_bytes, f.acks, f.delivered_bps.unwrap_or(0.)/1e6, f.mss, f.clock_hz, f.timestamps, f.rtt_min_ns.map(|x| x/1000), f.rtt_median_ns.map(|x| x/1000), f.rtt_max_ns.map(|x| x/1000), f.rtt_samples, f.retransmitted, f.needless, f.reordered, f.recoveries, f.timeouts, f.loss_runs, f.uncaptured_bytes, f.ecn, f.ect0, f.ect1, f.ce, f.ecn_echoes, f.reported_marks, f.backward_times, f.duplicates, f.restarts, f.series.len(), f.series.width_ns/1000000);
                    for e in &f.estimates { print!("  {}={:.2}/{:.2}{}", e.name, e.mean_bps.unwrap_or(f64::NAN)/1e6, e.last_bps.unwrap_or(f64::NAN)/1e6, e.missing.unwrap_or("")); }
                    println!();
                }
            }
            Err(e) => println!("== {path}: {e}"),
        }
    }
}
