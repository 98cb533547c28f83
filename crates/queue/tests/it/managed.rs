//! Active queue management and schedulers, with results computed by hand.

mod avq;
mod codel;
mod driver;
mod dual_pi2;
mod fq_codel;
mod pie;
mod policer;
mod red;
mod rem;
mod schedulers;
