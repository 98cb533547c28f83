//! Traces of every format: read, summarised, converted, written, and read back.

use airpath_fuzz::{Kind, Target};
use airpath_trace::{
    Direction, Format, ReadOptions, Statistics, Trace, read, to_opportunities, to_rates, write_airpath_csv,
    write_mahimahi,
};

/// A short file of each format, and of one that is refused.
const SEEDS: [&str; 8] = [
    "0\n0\n3\n7\n7\n12\n1500\n",
    "0.0\t1.41832\n5.0\t1.39856\n10.0\t0\n15.0\t1.50672\n",
    "19.0 2327.0528\n644.0 2327.0528\n723.0 2357.2727272727275\n1251.0 2357.2727272727275\n",
    "1.87,Mbits/sec\r\n440,Kbits/sec\r\n0,bits/sec\r\n",
    "26.5,48.1,83.8,88.3,0.0,0.0,0\r\n26.5,54.3,87.7,83.5,0.0,1.0,100\r\n",
    "Timestamp,DL_bitrate,UL_bitrate,PINGAVG\n2019.12.16_07.22.43,222,53,-\n2019.12.16_07.22.43,-,2,-\n\
     2019.12.16_07.22.45,8,2,31\n",
    "time_s,rate_mbps\n0,1.5\n0.25,3\n1,\n",
    "1$[-1, 1069, -2]$2$[0.0005, 0.0004]$0.0009\n",
];

pub(crate) fn target() -> Target {
    let seeds = SEEDS.map(|text| text.as_bytes().to_vec()).to_vec();
    Target { name: "traces", kind: Kind::Text, seeds, feed: Box::new(feed) }
}

fn feed(bytes: &[u8]) -> bool {
    let detected = each_way(bytes, None);
    // A file that is taken for another format is damaged, too.
    let named = Format::ALL.iter().filter(|format| each_way(bytes, Some(**format))).count();
    assert!(!detected || named > 0, "detected as a format that then refuses it");
    detected
}

fn each_way(bytes: &[u8], format: Option<Format>) -> bool {
    let options = ReadOptions { format, ..ReadOptions::default() };
    let up = ReadOptions { direction: Direction::Up, drop_ping_rows: true, ..options };
    [options, up].into_iter().filter(|options| takes(bytes, *options)).count() > 0
}

fn takes(bytes: &[u8], options: ReadOptions) -> bool {
    let trace = match read(bytes, &options) {
        Ok(trace) => trace,
        Err(error) => {
            let lines = bytes.split(|&byte| byte == b'\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(error.to_string().len() < 1000, "{error}");
            return false;
        }
    };
    assert!(trace.period_ns() > 0, "{trace:?}");
    let statistics = Statistics::of(&trace);
    assert!(statistics.mean_bps.is_finite() && statistics.max_bps >= statistics.min_bps, "{statistics:?}");
    // Long traces of few bytes are allowed, and make long files: the number of entries is bounded there.
    if trace.period_ns() < 100_000_000_000 && statistics.mean_bps < 1e9 {
        let _ = (to_opportunities(&trace), write_mahimahi(&trace));
        let _ = to_rates(&trace, 100_000_000);
        if let (Trace::Rates { .. }, Ok(text)) = (&trace, write_airpath_csv(&trace, 100_000_000)) {
            assert_eq!(read(text.as_bytes(), &ReadOptions::default()), Ok(trace));
        }
    }
    true
}
