//! Routes: the links of each flow to its receiver and of the reverse path.

use airpath_plan::Plan;

/// The terminator of a route in the route table.
pub const END_OF_ROUTE: u32 = u32::MAX;

/// The start positions of the routes of one flow of the plan in the route table.
#[derive(Clone, Copy, Debug)]
pub struct FlowRoutes {
    /// From its sender to its receiver.
    pub forward: u32,
    /// From its receiver to its sender.
    pub back: u32,
}

/// Returns the route table of a checked plan, and the position of each flow of the plan in it.
pub fn assemble_routes(plan: &Plan) -> (Vec<u32>, Vec<FlowRoutes>) {
    let mut routes = Vec::new();
    let mut add = |path: &[usize]| {
        let begins = routes.len() as u32;
        routes.extend(path.iter().map(|&link| link as u32));
        routes.push(END_OF_ROUTE);
        begins
    };
    let places = plan.flows.iter().map(|flow| {
        let forward = add(&flow.path);
        FlowRoutes { forward, back: add(&flow.reverse_path) }
    });
    let places = places.collect();
    (routes, places)
}
