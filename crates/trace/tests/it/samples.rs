//! Traces of every format.

/// A short file of each format, and one of a rejected format, as inputs for corruption.
pub(crate) const SAMPLES: [&str; 8] = [
    "0\n0\n3\n7\n7\n12\n",
    "0.0\t1.41832\n5.0\t1.39856\n10.0\t0\n15.0\t1.50672\n",
    "19.0 2327.0528\n644.0 2327.0528\n723.0 2357.2727272727275\n1251.0 2357.2727272727275\n",
    "1.87,Mbits/sec\r\n440,Kbits/sec\r\n0,bits/sec\r\n",
    "26.5,48.1,83.8,88.3,0.0,0.0,0\r\n26.5,54.3,87.7,83.5,0.0,1.0,100\r\n",
    "Timestamp,DL_bitrate,UL_bitrate,PINGAVG\n2019.12.16_07.22.43,222,53,-\n2019.12.16_07.22.43,-,2,-\n\
     2019.12.16_07.22.45,8,2,31\n",
    "time_s,rate_mbps\n0,1.5\n0.25,3\n1,\n",
    "1$[-1, 1069, -2]$2$[0.0005, 0.0004]$0.0009\n",
];
