//! The active flows, and the results of completed flows, both bounded.

use std::collections::BTreeMap;

use airpath_trace::capture::TcpPacket;

use crate::flow::{Context, Ends, Flow};
use crate::result::FlowResult;

/// Maximum number of segments in flight over all flows, about 128 MB. A flow that keeps at most its share of
/// them is not evicted, so there can temporarily be twice as many.
const MOST_SEGMENTS: usize = 1 << 20;

/// Packets of several queues are out of order by less; a clock that goes back by more was set.
const SET_BACK_NS: u64 = 100_000_000;

#[derive(Debug)]
pub(crate) struct FlowTable {
    flows: BTreeMap<Ends, Box<Flow>>,
    finished: Vec<FlowResult>,
    most_flows: usize,
    segments: usize,
    clock: u64,
    zero_ns: Option<u64>,
    /// The latest time, and the total by which the clock of the capture was set back so far.
    latest_ns: u64,
    set_back_ns: u64,
    /// Flows that were ended early to make room for others.
    pub(crate) evicted: u64,
    /// Flows whose results were replaced by those of larger flows.
    pub(crate) dropped: u64,
    /// Flows without data.
    pub(crate) silent: u64,
}

impl FlowTable {
    /// Creates a table of at most `most_flows` active flows, and as many results.
    pub(crate) fn new(most_flows: usize) -> Self {
        Self {
            flows: BTreeMap::new(),
            finished: Vec::new(),
            most_flows: most_flows.max(1),
            segments: 0,
            clock: 0,
            zero_ns: None,
            latest_ns: 0,
            set_back_ns: 0,
            evicted: 0,
            dropped: 0,
            silent: 0,
        }
    }

    /// Returns the start of the capture, nanoseconds since 1970.
    pub(crate) fn zero_ns(&self) -> Option<u64> {
        self.zero_ns
    }

    pub(crate) fn on_packet(&mut self, packet: &TcpPacket, context: &mut Context<'_>) {
        self.clock += 1;
        let packet = &TcpPacket { time_ns: self.steady(packet.time_ns), ..*packet };
        let zero_ns = *self.zero_ns.get_or_insert(packet.time_ns);
        let (ends, side) = Ends::of(packet);
        if self.flows.get(&ends).is_some_and(|flow| flow.is_over(side, packet)) {
            self.end(ends, context);
        }
        if !self.flows.contains_key(&ends) && self.flows.len() >= self.most_flows {
            self.evict(context);
        }
        let flow = self.flows.entry(ends).or_insert_with(|| Box::new(Flow::new(ends, zero_ns, packet)));
        let before = flow.segments();
        flow.heard = self.clock;
        flow.on_packet(side, packet, context);
        self.segments = (self.segments + flow.segments()).saturating_sub(before);
        if self.segments > MOST_SEGMENTS && flow.segments() > MOST_SEGMENTS / self.most_flows {
            self.segments -= flow.segments();
            flow.restart();
        }
    }

    /// Returns the time of a packet on a clock that continues when the capture's clock is set back.
    fn steady(&mut self, time_ns: u64) -> u64 {
        let mut time = time_ns.saturating_add(self.set_back_ns);
        if time.saturating_add(SET_BACK_NS) < self.latest_ns {
            self.set_back_ns += self.latest_ns - time;
            time = self.latest_ns;
        }
        self.latest_ns = self.latest_ns.max(time);
        time
    }

    /// Ends the flows that were idle longest: an eighth of all, so that a capture of very many flows is not
    /// searched for each of its packets.
    fn evict(&mut self, context: &mut Context<'_>) {
        let mut heard: Vec<(u64, Ends)> = self.flows.iter().map(|(ends, flow)| (flow.heard, *ends)).collect();
        heard.sort_unstable();
        for (_, ends) in heard.into_iter().take(self.most_flows.div_ceil(8)) {
            self.evicted += 1;
            self.end(ends, context);
        }
    }

    fn end(&mut self, ends: Ends, context: &mut Context<'_>) {
        let Some(flow) = self.flows.remove(&ends) else { return };
        self.segments = self.segments.saturating_sub(flow.segments());
        match flow.finish(context) {
            Some(result) => self.keep(result),
            None => self.silent += 1,
        }
    }

    fn keep(&mut self, result: FlowResult) {
        self.finished.push(result);
        if self.finished.len() >= 2 * self.most_flows {
            self.finished.sort_by_key(|result| std::cmp::Reverse(result.bytes));
            self.dropped += (self.finished.len() - self.most_flows) as u64;
            self.finished.truncate(self.most_flows);
        }
    }

    /// Ends all flows. Returns their results, the flow with the most payload first.
    pub(crate) fn finish(&mut self, context: &mut Context<'_>) -> Vec<FlowResult> {
        let left: Vec<Ends> = self.flows.keys().copied().collect();
        for ends in left {
            self.end(ends, context);
        }
        let mut results = std::mem::take(&mut self.finished);
        results.sort_by_key(|result| (std::cmp::Reverse(result.bytes), result.start_ns));
        if results.len() > self.most_flows {
            self.dropped += (results.len() - self.most_flows) as u64;
            results.truncate(self.most_flows);
        }
        results
    }
}
