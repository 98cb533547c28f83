//! Tests of sender and receiver through the public interface: packetdrill-like scripts, and complete
//! connections over a lossy path.

mod accurate_ecn;
mod connections;
mod controller;
mod dismissed;
mod ecn;
mod limits;
mod newreno;
mod path;
mod rack;
mod receiver;
mod reno;
mod sack;
mod script;
mod tail_loss_probe;
mod timers;
