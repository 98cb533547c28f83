//! Active queue management and schedulers by hand.

#[path = "managed/avq.rs"]
mod avq;
#[path = "managed/codel.rs"]
mod codel;
#[path = "managed/driver.rs"]
mod driver;
#[path = "managed/dual_pi2.rs"]
mod dual_pi2;
#[path = "managed/fq_codel.rs"]
mod fq_codel;
mod packet;
#[path = "managed/pie.rs"]
mod pie;
#[path = "managed/red.rs"]
mod red;
#[path = "managed/rem.rs"]
mod rem;
#[path = "managed/schedulers.rs"]
mod schedulers;
