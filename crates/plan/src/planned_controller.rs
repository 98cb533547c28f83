//! Controllers.

use std::sync::Arc;

use airpath_control::declare::{Components, ControllerFacts, Controllers};
use airpath_control::{Agent, ConfigError};
use airpath_model::declare::{ComponentError, Factory};
use airpath_model::{Bytes, Controller, RandomStream};

use crate::plan::ControllerPlan;

/// A controller of a plan. It is read once and builds the controllers of all connections of a flow.
#[derive(Clone, Debug)]
pub struct PlannedController(Planned);

#[derive(Clone, Debug)]
enum Planned {
    /// A component that declares itself.
    Declared(Arc<dyn Factory<Controllers>>),
    /// What an agent outside of the run sets.
    Agent,
    /// An algorithm of the operating system's kernel.
    Kernel(Arc<str>),
}

impl PlannedController {
    /// Reads a controller.
    ///
    /// # Errors
    /// The component or a nested one is unknown, or its parameters are wrong.
    pub fn new(plan: &ControllerPlan, components: &Components) -> Result<Self, ComponentError> {
        Ok(Self(match plan {
            ControllerPlan::Declared(plan) => {
                Planned::Declared(components.controllers.read(plan, components)?)
            }
            ControllerPlan::Agent => Planned::Agent,
            ControllerPlan::Kernel { algorithm } => Planned::Kernel(algorithm.as_str().into()),
        }))
    }

    /// The algorithm of the operating system's kernel, which only the emulator can run.
    pub fn kernel(&self) -> Option<&str> {
        match &self.0 {
            Planned::Kernel(algorithm) => Some(algorithm),
            _ => None,
        }
    }

    /// Builds the controller of a connection with segments of `mss`.
    ///
    /// # Errors
    /// A parameter is outside its range, or the controller is one of the kernel's.
    pub fn build(
        &self,
        initial_window: Bytes,
        mss: Bytes,
        random: RandomStream,
    ) -> Result<Box<dyn Controller>, ConfigError> {
        match &self.0 {
            Planned::Declared(factory) => {
                factory.build(ControllerFacts { initial_window, mss, handshake_rtt: None, random })
            }
            Planned::Agent => Ok(Box::new(Agent::new(initial_window, mss)?)),
            // The callers reject it with its name.
            Planned::Kernel(_) => Err(ConfigError {
                parameter: "controller",
                range: "one that can be simulated",
                value: f64::NAN,
            }),
        }
    }
}
