//! Controllers of a plan.

use std::sync::Arc;

use airpath_control::declare::{Components, ControllerFacts, Controllers};
use airpath_control::{Agent, ConfigError};
use airpath_model::declare::{ComponentError, Factory};
use airpath_model::{Bytes, Controller, RandomStream};

use crate::plan::{ControllerPlan, QuinnAlgorithm};

/// A controller of a plan. It is read once and builds the controllers of all connections of a flow.
#[derive(Clone, Debug)]
pub struct PlannedController(Planned);

#[derive(Clone, Debug)]
enum Planned {
    /// A component that declares itself.
    Declared(Arc<dyn Factory<Controllers>>),
    /// Limits that an agent outside the run sets.
    Agent,
    /// An algorithm of the operating system's kernel.
    Kernel(Arc<str>),
    /// A controller of quinn.
    Quinn(QuinnAlgorithm),
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
            ControllerPlan::Quinn { algorithm } => Planned::Quinn(*algorithm),
        }))
    }

    /// Returns why the simulator cannot run the controller, or `None` if it can.
    pub fn not_simulated(&self) -> Option<String> {
        match &self.0 {
            Planned::Kernel(algorithm) => {
                Some(format!("kernel:{algorithm} is the kernel's: it runs in the emulator only"))
            }
            Planned::Quinn(_) => Some("it is a controller of quinn, which runs over QUIC only".to_owned()),
            Planned::Declared(_) | Planned::Agent => None,
        }
    }

    /// Returns the controller of quinn, which runs over QUIC only.
    pub fn quinn(&self) -> Option<QuinnAlgorithm> {
        match self.0 {
            Planned::Quinn(algorithm) => Some(algorithm),
            _ => None,
        }
    }

    /// Builds the controller of a connection with segments of `mss`. For a controller of quinn, this is an
    /// [`Agent`] whose window follows quinn's.
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
            Planned::Agent | Planned::Quinn(_) => Ok(Box::new(Agent::new(initial_window, mss)?)),
            // The callers reject it and report its name.
            Planned::Kernel(_) => Err(ConfigError {
                parameter: "controller",
                range: "one that can be simulated",
                value: f64::NAN,
            }),
        }
    }
}
