//! Paths with real traffic, all at once, which takes no longer than the longest of them: others beside our controllers, routers that
//! they follow, and routers that are not there, or not any more. Few Mbit/s each, so that two processors have time for all.

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

/// Of the wires, one way.
const DELAY: Duration = Duration::from_millis(10);

/// Two hosts, a wire of 10 ms each way, and a bottleneck of 10 Mbit/s before the right one, with a queue of 30 kB.
struct Path {
    _wire: Wire,
    pair: Pair,
}

impl Path {
    /// On which one data packet in `one_in` is lost by chance, if any.
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

    /// Where the bottleneck is, the device `out`.
    fn middle(&self) -> &Namespace {
        self.pair.middle.as_ref().unwrap()
    }
}

#[test]
fn our_controllers_with_routers_without_and_beside_others() {
    check_host(HOLD, || {
        let group = OwnCgroup::join("airpath-paths");
        let low = [None, Some(low_load::ERRORS[0]), Some(low_load::ERRORS[1])].map(Path::new);
        let (shared, with_router) = (CONTROLLERS.map(|_| Path::new(None)), Path::new(None));
        let guided @ [vcp, xcp] = &[(); 2].map(|()| Lab::new("10mbit"));
        let paths = low.iter().chain(&shared).chain([&with_router]);
        let (changing, lossy) = (Lab::new("10mbit"), Lab::new("50mbit"));
        let devices = paths.flat_map(|path| path.pair.devices()).chain(guided.iter().flat_map(Lab::devices));
        let devices = Some(devices.collect());
        let host =
            load(&HostConfig { cgroup: group.folder.clone(), devices, record: true, controller: None });
        // Their connections are the first, by which their records are known.
        let low = low_load::Running::new(&low);
        std::thread::scope(|scope| {
            scope.spawn(|| routers::vcp_follows_a_bottleneck_that_its_router_estimates(vcp));
            scope.spawn(|| routers::xcp_keeps_to_the_link_that_its_router_was_told_of(xcp));
            scope.spawn(|| coexistence::datagrams_pass_a_router_of_vcp_as_they_were_sent(&with_router));
            scope.spawn(|| {
                coexistence::bottlenecks_are_shared(&shared);
                // Without our controllers, in the time for which low load lasts longer.
                routers::the_estimate_follows_a_bottleneck_that_changes(&changing);
                routers::losses_are_drawn_where_they_were_asked_for(&lossy);
            });
            low.low_load_is_the_word_of_routers_that_live(&host);
        });
        Ok(())
    });
}
