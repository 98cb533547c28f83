//! The configuration of a router.

use std::ops::RangeInclusive;

use airpath_estimate::{Busy, BusyConfig, Configured, Ebe, EbeConfig, Qfcp, QfcpConfig, XcpB, XcpBConfig};
use airpath_model::{Bytes, CapacitySource, Duration, Rate};
use clap::ValueEnum;
use serde::Deserialize;

use super::engine::Engine;
use super::loss::{Hook, LossConfig, outcomes};
use crate::Error;
use crate::units::{argument, optional};

/// The router protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// VCP: a code of the load factor in the ECN field.
    Vcp,
    /// XCP: feedback in a TCP option.
    Xcp,
}

/// The capacity source of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Capacity {
    /// The configured `rate`, independent of the link.
    Configured,
    /// EBE's estimate, starting from `rate`.
    Ebe,
    /// QFCP's estimate, starting from `rate`.
    Qfcp,
    /// The rate of departures while packets wait, starting from `rate`.
    Busy,
    /// No capacity; the spare bandwidth is derived from the queue. For XCP only.
    XcpB,
}

/// The table `[router]` of a configuration file, or the arguments of `airpathd router`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct RouterSettings {
    /// The device at whose egress packets are counted and modified
    #[arg(long, value_name = "DEVICE", alias = "dev")]
    pub device: Option<String>,
    /// Router protocol
    #[arg(long)]
    pub protocol: Option<Protocol>,
    /// Capacity source
    #[arg(long)]
    pub capacity: Option<Capacity>,
    /// The capacity, or its initial estimate
    #[arg(long, value_parser = argument::<Rate>)]
    #[serde(default, deserialize_with = "optional")]
    pub rate: Option<Rate>,
    /// Size of the device's queue (for `ebe` and `xcp-b`)
    #[arg(long, value_parser = argument::<Bytes>)]
    #[serde(default, deserialize_with = "optional")]
    pub buffer: Option<Bytes>,
    /// Packet size in EBE's filter [default: 1500B]
    #[arg(long, value_parser = argument::<Bytes>)]
    #[serde(default, deserialize_with = "optional")]
    pub packet: Option<Bytes>,
    /// Interval between readings of the queue for `busy`: 1ms to 10ms [default: 2ms]
    #[arg(long, value_parser = argument::<Duration>)]
    #[serde(default, deserialize_with = "optional")]
    pub poll: Option<Duration>,
    /// Network namespace of the device: a name of `ip netns`, or a path
    #[arg(long)]
    pub netns: Option<String>,
    /// Packet loss.
    #[arg(skip)]
    pub loss: Option<LossConfig>,
    /// The device on which packets are lost; the router's device by default.
    #[arg(skip)]
    pub loss_device: Option<String>,
    /// The side of the device on which packets are lost.
    #[arg(skip)]
    pub loss_hook: Option<Hook>,
    /// Seed of the loss generator.
    #[arg(skip)]
    pub loss_seed: Option<u64>,
}

impl RouterSettings {
    /// Returns these settings, with those that are absent taken from `file`.
    #[must_use]
    pub fn over(self, file: Self) -> Self {
        Self {
            device: self.device.or(file.device),
            protocol: self.protocol.or(file.protocol),
            capacity: self.capacity.or(file.capacity),
            rate: self.rate.or(file.rate),
            buffer: self.buffer.or(file.buffer),
            packet: self.packet.or(file.packet),
            poll: self.poll.or(file.poll),
            netns: self.netns.or(file.netns),
            loss: self.loss.or(file.loss),
            loss_device: self.loss_device.or(file.loss_device),
            loss_hook: self.loss_hook.or(file.loss_hook),
            loss_seed: self.loss_seed.or(file.loss_seed),
        }
    }
}

/// The default of `poll`.
const POLL: Duration = Duration::from_millis(2);
/// The shortest and the longest interval between readings of the queue for `busy`.
const POLLS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_millis(10);

/// The complete configuration of a router.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterConfig {
    /// The device.
    pub device: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The capacity source.
    pub capacity: Capacity,
    /// The capacity, or its initial estimate; not used by `xcp-b`.
    pub rate: Option<Rate>,
    /// Size of the queue; needed by `ebe` and `xcp-b`.
    pub buffer: Option<Bytes>,
    /// Packet size in EBE's filter.
    pub packet: Bytes,
    /// Interval between readings of the queue for `busy`.
    pub poll: Duration,
    /// Network namespace, if it is not the caller's.
    pub netns: Option<String>,
    /// Packet loss: chain, device, side of the device, seed of the generator.
    pub loss: Option<(LossConfig, String, Hook, u64)>,
}

impl TryFrom<RouterSettings> for RouterConfig {
    type Error = Error;

    fn try_from(settings: RouterSettings) -> Result<Self, Error> {
        let missing = |field: &str, accepted: &str| Error::Config {
            problem: format!("router: {field} is missing; accepted: {accepted}"),
        };
        let device = settings
            .device
            .ok_or_else(|| missing("device", "the name of a network device, such as \"eth1\""))?;
        let protocol = settings.protocol.ok_or_else(|| missing("protocol", "\"vcp\", \"xcp\""))?;
        let capacity = settings.capacity.unwrap_or(Capacity::Configured);
        let loss_device = settings.loss_device.unwrap_or_else(|| device.clone());
        let loss = settings.loss.map(|loss| {
            (loss, loss_device, settings.loss_hook.unwrap_or_default(), settings.loss_seed.unwrap_or(0))
        });
        let config = Self {
            device,
            protocol,
            capacity,
            rate: settings.rate,
            buffer: settings.buffer,
            packet: settings.packet.unwrap_or(Bytes::new(1500)),
            poll: settings.poll.unwrap_or(POLL),
            netns: settings.netns,
            loss,
        };
        // Report all configuration errors before anything is changed.
        config.engine()?;
        if let Some((loss, ..)) = &config.loss {
            outcomes(loss)?;
        }
        Ok(config)
    }
}

impl RouterConfig {
    /// Creates the protocol with its capacity source, in the initial state.
    pub fn engine(&self) -> Result<Engine, Error> {
        let source = self.source()?;
        match self.protocol {
            Protocol::Vcp => Engine::vcp(source),
            Protocol::Xcp => Engine::xcp(source, self.buffer.unwrap_or(Bytes::new(1_000_000))),
        }
        .map_err(wrong)
    }

    fn source(&self) -> Result<Box<dyn CapacitySource>, Error> {
        let needed = |field: &str, accepted: &str| Error::Config {
            problem: format!("router: this capacity source needs {field}: {accepted}"),
        };
        let rate = || match self.rate {
            Some(rate) if rate.as_bps() == 0 => {
                Err(Error::Config { problem: "router: rate must be above 0, not 0bit".to_owned() })
            }
            rate => rate.ok_or_else(|| needed("rate", "a rate in bits, such as \"10Mbit\"")),
        };
        let buffer = || {
            self.buffer
                .ok_or_else(|| needed("buffer", "what the queue can hold, in bytes, such as \"575kB\""))
        };
        Ok(match self.capacity {
            Capacity::Configured => Box::new(Configured::new(rate()?)),
            Capacity::Ebe => Box::new(Ebe::new(self.ebe(rate()?, buffer()?)).map_err(wrong)?),
            Capacity::Qfcp => {
                let initial = rate()?;
                let maximum = initial.mul_f64(2.0);
                let config = QfcpConfig { capacity: initial, max_capacity: maximum, ..QfcpConfig::default() };
                Box::new(Qfcp::new(config).map_err(wrong)?)
            }
            Capacity::Busy => Box::new(Busy::new(self.busy(rate()?)?).map_err(wrong)?),
            Capacity::XcpB if self.protocol == Protocol::Xcp => {
                buffer()?;
                Box::new(XcpB::new(XcpBConfig::default()).map_err(wrong)?)
            }
            Capacity::XcpB => {
                return Err(Error::Config {
                    problem:
                        "router: the capacity source xcp-b knows spare bandwidth only, which VCP cannot use; \
                              accepted for VCP: \"configured\", \"ebe\", \"qfcp\", \"busy\""
                            .to_owned(),
                });
            }
        })
    }
}

/// Upper bound of an estimate in packets per second; unreachable in practice.
const MOST_PACKETS: u64 = 1_000_000_000;

impl RouterConfig {
    /// Returns EBE's configuration with the bounds of the scenario language: at least one packet in an
    /// estimation interval.
    fn ebe(&self, initial: Rate, buffer: Bytes) -> EbeConfig {
        let usual = EbeConfig::default();
        let packet = Rate::from_bps(self.packet.get().saturating_mul(8));
        EbeConfig {
            // EBE-J, section III-C.
            upsilon: match self.protocol {
                Protocol::Vcp => 1.14,
                Protocol::Xcp => 1.40,
            },
            capacity: initial,
            min_capacity: packet
                .mul_f64(usual.estimation_interval.as_secs_f64().recip())
                .min(initial)
                .max(Rate::from_bps(1)),
            max_capacity: Rate::from_bps(packet.as_bps().saturating_mul(MOST_PACKETS)),
            packet: self.packet,
            buffer,
            ..usual
        }
    }

    /// Returns the configuration of `busy`, whose timer makes the daemon read the queue.
    fn busy(&self, initial: Rate) -> Result<BusyConfig, Error> {
        if !POLLS.contains(&self.poll) {
            let found = self.poll.as_secs_f64() * 1e3;
            return Err(Error::Config {
                problem: format!("router: poll: found {found}ms; accepted: 1ms to 10ms"),
            });
        }
        Ok(BusyConfig { capacity: initial, poll_interval: Some(self.poll), ..BusyConfig::default() })
    }
}

fn wrong(error: airpath_model::config::ConfigError) -> Error {
    Error::Config { problem: format!("router: {error}") }
}
