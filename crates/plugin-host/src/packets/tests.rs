//! Numbers of packets.

use airpath_model::{Bytes, Ecn, PathHeader};

use super::*;

#[derive(Debug)]
struct Sized(u64);

impl Packet for Sized {
    fn size(&self) -> Bytes {
        Bytes::new(self.0)
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn set_ecn(&mut self, _ecn: Ecn) {}

    fn flow(&self) -> u64 {
        0
    }

    fn is_data(&self) -> bool {
        true
    }

    fn path_header(&mut self) -> &mut PathHeader {
        unimplemented!("queues of the user have no headers")
    }
}

#[test]
fn a_number_identifies_one_packet_until_it_departs() {
    let mut packets = Packets::default();
    let (first, second) = (packets.add(Sized(100)), packets.add(Sized(200)));
    assert!(first != 0 && second != 0 && first != second);
    assert_eq!(packets.backlog(), Backlog { bytes: Bytes::new(300), packets: 2 });
    assert_eq!(packets.take(first).unwrap().0, 100);
    assert!(packets.take(first).is_none());
    let third = packets.add(Sized(50));
    assert_ne!(third, first, "the place is the same, the number is not");
    assert!(packets.get_mut(first).is_none());
    assert_eq!(packets.get_mut(third).unwrap().0, 50);
    assert_eq!(packets.backlog(), Backlog { bytes: Bytes::new(250), packets: 2 });
    for number in [0, 7, u64::MAX] {
        assert!(packets.take(number).is_none());
    }
}
