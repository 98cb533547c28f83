//! Quinn's settings for a flow of a plan, and those that quinn decides itself.

use std::sync::Arc;

use airpath_model::{Bytes, RandomStream};
use airpath_network::Components;
use airpath_plan::{Fault, FlowPlan, Part, PlanError, PlannedController, QuinnAlgorithm, TransportPlan};
use airpath_transport::QuicDriver;
use quinn_proto::congestion;
use quinn_proto::{
    AckFrequencyConfig, ClientConfig, ServerConfig, TransportConfig, ValidationTokenConfig, VarInt,
};

use super::plaintext::Plaintext;
use crate::requirements::check;

/// Headers of IPv4 and UDP in bytes: the part of a packet on the wire outside QUIC.
pub(super) const HEADERS: u64 = 28;
/// Lower bound of the maximum packet size of QUIC (RFC 9000, section 14).
const SMALLEST_MTU: u64 = 1200;
/// Upper bound: quinn writes the length of handshake packets, which are as large as all others, with 14 bits.
const LARGEST_MTU: u64 = 16_000;
/// Segments per acknowledgment, quinn's own setting (RFC 9000, section 13.2.2).
const OWN_ACK_SEGMENTS: u32 = 2;
/// Largest amount of a stream that a sender buffers, in bytes: more than any window.
const SEND_WINDOW: u64 = 1 << 30;

/// Common settings of the connections of a flow.
#[derive(Clone, Debug)]
pub(super) struct FlowSettings {
    /// The largest QUIC packet: the payload of UDP.
    pub(super) mtu: u16,
    /// Whether the sender receives marks of queues.
    pub(super) ecn: bool,
    ack_segments: u32,
    receive_window: VarInt,
    initial_window: Bytes,
    controller: PlannedController,
}

impl FlowSettings {
    /// Returns the settings of a flow of the plan, whose controller quinn must support.
    pub(super) fn of(flow: &FlowPlan, components: &Components) -> Result<Self, PlanError> {
        let wrong = |fault: Fault| fault.of(Part::Flow(flow.name.clone()));
        let (Some(controller), Some(transport)) = (&flow.controller, &flow.transport) else {
            return Err(wrong(Fault::new("", "needs a controller and a transport")));
        };
        if !flow.estimators.is_empty() {
            return Err(wrong(Fault::new("estimators", "those of senders run in the simulator only")));
        }
        let packet = transport.mss_bytes + transport.header_bytes;
        if packet > LARGEST_MTU + HEADERS {
            let most = LARGEST_MTU + HEADERS;
            return Err(wrong(Fault::new(
                "transport.mss",
                format!("packets of {packet} bytes; accepted over QUIC: up to {most}"),
            )));
        }
        let controller = PlannedController::new(controller, &components.control)
            .map_err(|error| wrong(Fault::in_table("controller", error)))?;
        let settings = Self::of_transport(transport, controller);
        let trial = settings
            .build(RandomStream::new(0, ""))
            .map_err(|error| wrong(Fault::in_table("controller", error)))?;
        if settings.quinn().is_none() {
            check(&trial.requirements()).map_err(|error| wrong(Fault::new("scheme", error)))?;
        }
        if transport.accurate_ecn {
            return Err(wrong(Fault::new(
                "transport.ecn",
                "quinn takes marks as RFC 9002 says; accepted: true, false",
            )));
        }
        Ok(settings)
    }

    fn of_transport(transport: &TransportPlan, controller: PlannedController) -> Self {
        let packet = transport.mss_bytes + transport.header_bytes;
        let mtu = packet.saturating_sub(HEADERS).clamp(SMALLEST_MTU, LARGEST_MTU);
        // As many packets as in the plan, which counts TCP payload.
        let initial = u128::from(transport.initial_window_bytes) * u128::from(mtu)
            / u128::from(transport.mss_bytes.max(1));
        Self {
            mtu: mtu as u16, // clamped
            ecn: transport.ecn,
            ack_segments: transport.delayed_ack_segments,
            receive_window: VarInt::from_u64(transport.receive_window_bytes).unwrap_or(VarInt::MAX),
            initial_window: Bytes::new(u64::try_from(initial).unwrap_or(u64::MAX)),
            controller,
        }
    }

    fn build(
        &self,
        random: RandomStream,
    ) -> Result<Box<dyn airpath_model::Controller>, airpath_model::config::ConfigError> {
        self.controller.build(self.initial_window, self.mss(), random)
    }

    /// Returns the controller of quinn that the flow has instead of one of airpath.
    pub(super) fn quinn(&self) -> Option<QuinnAlgorithm> {
        self.controller.quinn()
    }

    /// Returns the initial window in bytes.
    pub(super) fn initial_window(&self) -> u64 {
        self.initial_window.get()
    }

    /// Returns a new driven controller for one connection.
    pub(super) fn driver(&self, random: RandomStream) -> QuicDriver {
        let controller = self.build(random).expect("the same plan made a controller when the run was built");
        QuicDriver::new(controller, self.mss())
    }

    /// Returns the configuration of a sender's connection with that controller.
    pub(super) fn client(
        &self,
        controller: Arc<dyn congestion::ControllerFactory + Send + Sync>,
    ) -> ClientConfig {
        let mut transport = self.transport();
        transport.congestion_controller_factory(controller);
        if self.ack_segments != OWN_ACK_SEGMENTS {
            let mut frequency = AckFrequencyConfig::default();
            frequency.ack_eliciting_threshold(VarInt::from_u32(self.ack_segments.saturating_sub(1)));
            transport.ack_frequency_config(Some(frequency));
        }
        let mut config = ClientConfig::new(Arc::new(Plaintext));
        config.transport_config(Arc::new(transport));
        config
    }

    /// Returns the receiver's configuration.
    pub(super) fn server(&self) -> ServerConfig {
        let mut transport = self.transport();
        transport.stream_receive_window(self.receive_window);
        transport.receive_window(self.receive_window);
        // Quinn's default is 12 000 bytes, which large handshake packets fill, so that acknowledgments are
        // held back too.
        let mut own = congestion::CubicConfig::default();
        own.initial_window(10 * u64::from(self.mtu));
        transport.congestion_controller_factory(Arc::new(own));
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        let mut config = ServerConfig::new(Arc::new(Plaintext), Arc::new(Plaintext));
        config.transport_config(Arc::new(transport)).validation_token_config(tokens);
        config
    }

    /// Returns the transport configuration: packets keep their size, and connections live as long as the run.
    fn transport(&self) -> TransportConfig {
        let mut transport = TransportConfig::default();
        transport
            .initial_mtu(self.mtu)
            .min_mtu(self.mtu)
            .mtu_discovery_config(None)
            .max_idle_timeout(None)
            .send_window(SEND_WINDOW);
        transport
    }

    fn mss(&self) -> Bytes {
        Bytes::new(u64::from(self.mtu))
    }
}
