//! The limit that keeps a sender from sending more.

use airpath_model::{Bytes, Controller};

use super::transmit::Candidate;
use super::{Sender, State};

/// The limit that keeps a sender from sending more. If several apply, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendLimit {
    /// Losses are being repaired: fast recovery, or all data that was outstanding at a retransmission
    /// timeout. The congestion window, proportional rate reduction or the wait for a timer then limits the
    /// sender.
    Recovery,
    /// The application has offered nothing more to send. Data may be in flight.
    Application,
    /// The next segment would exceed the receiver's window.
    ReceiveWindow,
    /// The send buffer is full of data that is in flight. Simulated senders have none.
    SendBuffer,
    /// The next segment would exceed the congestion window.
    CongestionWindow,
    /// The windows allow the next segment, and the pacer releases it later.
    Pacing,
}

impl SendLimit {
    /// The number of limits.
    pub const COUNT: usize = 6;

    /// Returns the number of the limit, from zero in the order of declaration.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl<C: Controller + ?Sized> Sender<C> {
    /// Returns what limits the sender between two calls. Call after [`Sender::poll_transmit`] has returned nothing.
    pub fn limit(&self) -> SendLimit {
        if self.state != State::Open {
            return SendLimit::Recovery;
        }
        let left = self.unsent();
        if left == 0 {
            return SendLimit::Application;
        }
        let Some(payload) = self.next_payload(left) else {
            return SendLimit::ReceiveWindow;
        };
        let window = self.controller.control().window;
        if self.window_allows(Candidate::New { payload }, Bytes::new(u64::from(payload)), window) {
            SendLimit::Pacing
        } else {
            SendLimit::CongestionWindow
        }
    }
}
