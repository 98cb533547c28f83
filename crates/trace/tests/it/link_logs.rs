//! Link logs in all known forms.

/// `mm-link` with drops; `mm-link` before it logged drops; a merged tunnel log of two flows; a tunnel log of
/// one flow; and one with the drop format of a single number.
pub(crate) const LOGS: [&str; 5] = [
    "# mahimahi mm-link (uplink) [12mbps.trace] > up.log\n# command line: mm-link --uplink-log=up.log 12mbps.trace\n\
     # queue: droptail [packets=2]\n# init timestamp: 1000\n# base timestamp: 1005\n1006 # 1504\n1006 + 1504\n1006 + 1504\n\
     1006 + 1504\n1006 d 1 1504\n1007 # 1504\n1007 - 1504 1\n1008 # 1504\n1008 - 1504 2\n1009 # 1504\n",
    "# mahimahi mm-link (downlink) [x] > down.log\n# base timestamp: 1539184020013\n1539184020014 + 1504\n\
     1539184020020 # 1504\n1539184020020 - 1504 6\n",
    "# init timestamp: 1539184020013.250\n0.000 + 1500 1\n2.500 + 600 2\n3.000 # 1500\n5.545 - 1500 5.545 1\n6.000 # 1500\n\
     8.045 - 600 5.545 2\n",
    "# init timestamp: 77.125\n0.000 + 1500\n1.250 - 1500 -0.125\n",
    "10 + 1504\n10 d 1504\n11 + 1504\n11 d 3 4512\n",
];
