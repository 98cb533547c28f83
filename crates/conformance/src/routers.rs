//! The feedback of routers.

use airpath_model::{AbcMark, Duration, LoadCode, LoadWord, PathHeader, Rate, XcpHeader};

use crate::MSS;

/// Returns the feedback of routers to the header `asked`: `word` segments more (or less) in a round trip, or
/// the closest value that the header can express.
pub(crate) fn answer(asked: PathHeader, word: i8, rtt: Duration) -> PathHeader {
    let rtt = rtt.max(Duration::from_millis(1));
    match asked {
        PathHeader::Xcp(header) if header.rtt.is_zero() => {
            PathHeader::Xcp(XcpHeader { delta_throughput: 0.0, ..header })
        }
        PathHeader::Xcp(header) => {
            let delta = f64::from(word) * MSS.as_f64() / rtt.as_secs_f64();
            PathHeader::Xcp(XcpHeader { delta_throughput: delta.min(header.delta_throughput), ..header })
        }
        PathHeader::FairRate(rate) => {
            let segments = u64::try_from(10 + word).unwrap_or(0);
            PathHeader::FairRate(rate.min(Rate::over(MSS * segments, rtt)))
        }
        PathHeader::Load(code) => PathHeader::Load(code.max(match word {
            1.. => LoadCode::Low,
            0 => LoadCode::High,
            _ => LoadCode::Overload,
        })),
        PathHeader::Abc(mark) => {
            PathHeader::Abc(mark.max(if word < 0 { AbcMark::Brake } else { AbcMark::Accelerate }))
        }
        PathHeader::Word(load) => {
            let level = u16::try_from(8 - word).unwrap_or(0);
            PathHeader::Word(LoadWord { level: load.level.max(level), ..load })
        }
        other => other,
    }
}
