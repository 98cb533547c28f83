# EBE's dumbbell under ns-2's own XCP, with a configured capacity of 10 Mbit/s:  ns ebe_dumbbell.tcl SETTING SEED
#
# SETTING is T (20 long flows each way over the same varying rate) or O (forward only), as in the scenarios ebe-dumbbell-t
# and -o: 10 Mbit/s, 14, 17, 19, 15, 17, 5, 2, 6, 4, 8, 5, each for 10 s, and 32 ms; hosts at 100 Mbit/s and 4 ms,
# RTTs up to 10 ms apart; a buffer of 575 kB; 10 short forward flows of 100 kB, 1 s apart on average. Everything starts
# within 300 ms. All other settings are ns-2's defaults: timeouts of at least 200 ms, a clock of 10 ms, Reno, packets
# of 1000 bytes of payload.
#
# Prints one line of JSON: for each second the throughput of the forward link in Mbit/s and its mean queue in kB, and the drops.

lassign $argv setting seed
set rates {10 14 17 19 15 17 5 2 6 4 8 5}
set hold 10
set believed 10e6
set long 20
set short 10

source [file join [file dirname [info script]] xcp.tcl]
proc exponential {mean} { expr {-$mean * log(1 - rand())} }

set left [$simulator node]
set right [$simulator node]
$simulator duplex-link $left $right [lindex $rates 0]Mb 32ms XCP
foreach {from to} [list $left $right $right $left] {
    $simulator queue-limit $from $to 575
    [[$simulator link $from $to] queue] set-link-capacity $believed
}

proc set_rate {mbps} {
    global simulator left right
    foreach {from to} [list $left $right $right $left] {
        [[$simulator link $from $to] link] set bandwidth_ [expr {$mbps * 1e6}]
    }
}
for {set number 0} {$number < [llength $rates]} {incr number} {
    $simulator at [expr {$hold * $number}] "set_rate [lindex $rates $number]"
}

# Creates a host at either end: flow `number` of `count` gets its part of the 10 ms over which RTTs are spread.
proc hosts {near_router far_router number count} {
    global simulator
    set near [$simulator node]
    set far [$simulator node]
    set extra [expr {10.0 * $number / ($count - 1)}]
    foreach {host router delay} [list $near $near_router [expr {4 + $extra / 2}] $far $far_router 4] {
        $simulator duplex-link $host $router 100Mb ${delay}ms DropTail
        $simulator queue-limit $host $router 10000
        $simulator queue-limit $router $host 10000
    }
    return [list $near $far]
}

proc start_long {near far} {
    set source [new Application/FTP]
    $source attach-agent [connect $near $far]
    $source start
}

# Sends 100 kB over a new connection; the next one begins after a pause.
proc start_short {near far} {
    set sender [connect $near $far]
    $sender proc done {} [list after_pause $near $far]
    set source [new Application/FTP]
    $source attach-agent $sender
    $source produce 100
}
proc after_pause {near far} {
    global simulator
    $simulator at [expr {[$simulator now] + [exponential 1.0]}] "start_short $near $far"
}

for {set number 0} {$number < $long} {incr number} {
    lassign [hosts $left $right $number $long] near far
    $simulator at [uniform 0 0.3] "start_long $near $far"
    if {$setting eq "T"} {
        lassign [hosts $right $left $number $long] near far
        $simulator at [uniform 0 0.3] "start_long $near $far"
    }
}
for {set number 0} {$number < $short} {incr number} {
    lassign [hosts $left $right $number $short] near far
    $simulator at [uniform 0 0.3] "start_short $near $far"
}

set monitor [$simulator monitor-queue $left $right ""]
set queue [new Integrator]
$monitor set-bytes-integrator $queue
set throughput {}
set kilobytes {}
set before 0.0
set area 0.0
proc sample {} {
    global simulator monitor queue throughput kilobytes before area
    set departed [$monitor set bdepartures_]
    $queue newpoint [$simulator now] [$monitor set size_]
    lappend throughput [format %.2f [expr {($departed - $before) * 8e-6}]]
    lappend kilobytes [format %.0f [expr {([$queue set sum_] - $area) / 1e3}]]
    set before $departed
    set area [$queue set sum_]
    $simulator at [expr {[$simulator now] + 1}] sample
}
proc finish {} {
    global monitor setting seed throughput kilobytes
    puts [format {{"setting": "%s", "seed": %d, "drops": %d, "throughput_mbps": [%s], "queue_kb": [%s]}} \
        $setting $seed [$monitor set pdrops_] [join $throughput ", "] [join $kilobytes ", "]]
    exit 0
}
$simulator at 1 sample
$simulator at [expr {$hold * [llength $rates] + 0.001}] finish
$simulator run
