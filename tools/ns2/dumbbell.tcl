# The dumbbell of tools/bench.py in ns-2:  ns dumbbell.tcl SCHEME FLOWS MBPS SECONDS
#
# SCHEME is `sack` (ns-2's own) or `cubic` (the module of Linux 2.6.22). Each flow has a host at either end, 1 Gbit/s
# and 5 ms from its router; between the routers 20 ms and a buffer of one bandwidth-delay product. Flow i starts at
# i/FLOWS seconds. Prints one line of JSON. ns-2 runs in its fastest configuration: three packet headers, manual routes.

lassign $argv scheme flows mbps seconds
set began [clock microseconds]

# Returns a field of this process's status in Linux, in MiB.
proc memory {field} {
    set file [open /proc/self/status]
    set status [read $file]
    close $file
    regexp "$field:\\s+(\\d+)" $status -> kib
    return [expr {$kib / 1024.0}]
}

# Sets the default route of `from` to `to`.
proc lead_all {from to} { [$from get-module "Manual"] add-route-to-adj-node -default $to }

# Routes packets for `to` directly to it.
proc lead {from to} { [$from get-module "Manual"] add-route-to-adj-node $to }

remove-all-packet-headers
add-packet-header IP TCP Flags
set simulator [new Simulator]
$simulator rtproto Manual

# Round trip of 60 ms, packets of 1500 bytes.
set buffer [expr {int($mbps * 1e6 * 0.060 / 8 / 1500)}]
set left [$simulator node]
set right [$simulator node]
$simulator duplex-link $left $right ${mbps}Mb 20ms DropTail
$simulator queue-limit $left $right $buffer
$simulator queue-limit $right $left 10000

Agent/TCP set packetSize_ 1460
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 10
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001

set senders {}
for {set flow 0} {$flow < $flows} {incr flow} {
    set near [$simulator node]
    set far [$simulator node]
    foreach {host router} [list $near $left $far $right] {
        $simulator duplex-link $host $router 1000Mb 5ms DropTail
        $simulator queue-limit $host $router 10000
        $simulator queue-limit $router $host 10000
        lead_all $host $router
        lead $router $host
    }
    set sink [new Agent/TCPSink/Sack1/DelAck]
    if {$scheme eq "cubic"} {
        set sender [new Agent/TCP/Linux]
        $sender set timestamps_ true
        $sink set ts_echo_rfc1323_ true
        $simulator at 0 "$sender select_ca cubic"
    } else {
        set sender [new Agent/TCP/Sack1]
    }
    $simulator attach-agent $near $sender
    $simulator attach-agent $far $sink
    $simulator connect $sender $sink
    set source [new Application/FTP]
    $source attach-agent $sender
    $simulator at [expr {double($flow) / $flows}] "$source start"
    lappend senders $sender
}
lead_all $left $right
lead_all $right $left

set forth [$simulator monitor-queue $left $right ""]
set back [$simulator monitor-queue $right $left ""]

proc finish {} {
    global senders forth back flows built began
    set acknowledged 0
    foreach sender $senders { incr acknowledged [expr {max(0, int([$sender set ack_]))}] }
    set came [$forth set parrivals_]
    set went [$forth set pdepartures_]
    # Three links each way; what is dropped has passed one.
    set hops [expr {int($came + 2 * $went + 3 * [$back set pdepartures_])}]
    puts [format {{"flows": %d, "packet_hops": %d, "setup_wall_s": %.6f, "peak_mib": %.3f, "segments": %d}} \
        $flows $hops [expr {($built - $began) / 1e6}] [memory VmHWM] $acknowledged]
    exit 0
}
$simulator at $seconds finish
set built [clock microseconds]
$simulator run
