//! Paths with real traffic, all at the same time, so that the test takes no longer than the longest of them:
//! our controllers with competing traffic, with routers, and with absent or killed routers. Each path carries
//! few Mbit/s, so that two processors are sufficient.

mod coexistence;
mod low_load;
mod routers;

use std::time::Duration;

use airpath_linux::host::{CONTROLLERS, HostConfig};

use crate::support::OwnCgroup;
use crate::support::lab::Lab;
use crate::support::load;
use crate::support::namespace::Namespace;
use crate::tools::check::{HOLD, check_host};
use crate::tools::namespaces::Pair;
use crate::tools::wire::{Way, Wire};

/// One-way delay of the wires.
const DELAY: Duration = Duration::from_millis(10);

/// Two hosts, a wire of 10 ms each way, and a bottleneck of 10 Mbit/s in front of the right one, with a queue
/// of 30 kB.
struct Path {
    _wire: Wire,
    pair: Pair,
}

impl Path {
    /// Creates a path that drops one data packet in `one_in` at random, or none.
    fn new(one_in: Option<u32>) -> Self {
        let pair = Pair::over_a_wire();
        let mut random = 1_u32;
        let passes = move |way, frame: &mut Vec<u8>| {
            // xorshift (Marsaglia)
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            way == Way::Back
                || frame.len() < 500
                || one_in.is_none_or(|one_in| !random.is_multiple_of(one_in))
        };
        let wire = Wire::new(pair.middle.as_ref().unwrap(), DELAY, passes);
        let path = Self { _wire: wire, pair };
        path.middle().command("tc qdisc add dev out root tbf rate 10mbit burst 5kb limit 30000");
        path
    }

    /// Returns the namespace of the bottleneck, the device `out`.
    fn middle(&self) -> &Namespace {
        self.pair.middle.as_ref().unwrap()
    }
}

#[test]
fn controllers_with_routers_without_routers_and_against_others() {
    check_host(HOLD, || {
        let group = OwnCgroup::join("airpath-paths");
        let low = [None, Some(low_load::ERRORS[0]), Some(low_load::ERRORS[1])].map(Path::new);
        let (shared, with_router) = (CONTROLLERS.map(|_| Path::new(None)), Path::new(None));
        let guided @ [vcp, xcp] = &[(); 2].map(|()| Lab::new("10mbit"));
        let paths = low.iter().chain(&shared).chain([&with_router]);
        let (changing, lossy) = ([(); 2].map(|()| Lab::new("10mbit")), Lab::new("50mbit"));
        let devices = paths.flat_map(|path| path.pair.devices()).chain(guided.iter().flat_map(Lab::devices));
        let devices = Some(devices.collect());
        let host =
            load(&HostConfig { cgroup: group.folder.clone(), devices, record: true, controller: None });
        // These connections are the first, which identifies their records.
        let low = low_load::Running::new(&low);
        std::thread::scope(|scope| {
            scope.spawn(|| routers::vcp_follows_an_estimated_bottleneck(vcp));
            scope.spawn(|| routers::xcp_keeps_to_the_configured_capacity(xcp));
            scope.spawn(|| coexistence::datagrams_pass_a_vcp_router_unchanged(&with_router));
            scope.spawn(|| {
                coexistence::bottlenecks_are_shared(&shared);
                // These do not use our controllers, and run while the low-load flows continue.
                std::thread::scope(|both| {
                    both.spawn(|| routers::busy_follows_a_changing_bottleneck(&changing[1]));
                    routers::ebe_follows_a_changing_bottleneck(&changing[0]);
                });
                routers::losses_occur_only_on_the_configured_device(&lossy);
            });
            low.code_low_counts_only_from_live_routers(&host);
        });
        Ok(())
    });
}
