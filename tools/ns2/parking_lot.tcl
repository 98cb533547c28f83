# VCP-W's parking lot under ns-2's own XCP:  ns parking_lot.tcl SEED LEAST_TIMEOUT
#
# As the scenario vcpw-parking-lot, but without losses, of which there are none at 2x2 antennas and 30 dB: 30 flows over four
# links of 4, 4, 2 and 4 Mbit/s and 250 ms, and 60 local flows on each, those on the third starting at 1000 s; hosts of a group
# share a link of 20 Mbit/s and 5 ms; buffers of 260, 260, 130 and 260 kB. Timeouts are at least LEAST_TIMEOUT seconds:
# ns-2's default is 0.2. All other settings are ns-2's defaults: a clock of 10 ms, Reno, packets of 1000 bytes of payload,
# XCP's longest interval of 1 s.
#
# Prints one line of JSON: for each 10 s and each link its throughput in Mbit/s and its mean queue in kB, and the acknowledged
# rate of the long flows in Mbit/s, with headers; all timeouts, and the drops of each link.

lassign $argv seed least_timeout
set names {AB BC CD DE}
set rates {4 4 2 4}
set limits {260 260 130 260}
set interval 10
set end 1500

source [file join [file dirname [info script]] xcp.tcl]
Agent/TCP set minrto_ $least_timeout

for {set number 0} {$number < 5} {incr number} {
    set router($number) [$simulator node]
}
set monitors {}
for {set number 0} {$number < 4} {incr number} {
    set near $router($number)
    set far $router([expr {$number + 1}])
    set rate [lindex $rates $number]
    $simulator duplex-link $near $far ${rate}Mb 250ms XCP
    foreach {from to} [list $near $far $far $near] {
        $simulator queue-limit $from $to [lindex $limits $number]
        [[$simulator link $from $to] queue] set-link-capacity [expr {$rate * 1e6}]
    }
    set monitor [$simulator monitor-queue $near $far ""]
    $monitor set-bytes-integrator [new Integrator]
    lappend monitors $monitor
    set departed($monitor) 0.0
    set area($monitor) 0.0
}

# Creates a group of flows from one router to another, whose hosts share a link at either end; they start within 10 s.
proc group {first last count start} {
    global simulator router
    set senders {}
    foreach {host at} [list near $first far $last] {
        set $host [$simulator node]
        $simulator duplex-link [set $host] $router($at) 20Mb 5ms DropTail
        $simulator queue-limit [set $host] $router($at) 1000000
        $simulator queue-limit $router($at) [set $host] 1000000
    }
    for {set number 0} {$number < $count} {incr number} {
        set sender [connect $near $far]
        set source [new Application/FTP]
        $source attach-agent $sender
        $simulator at [uniform $start [expr {$start + 10}]] "$source start"
        lappend senders $sender
    }
    return $senders
}

set long [group 0 4 30 0]
foreach {first start} {0 0 1 0 2 1000 3 0} {
    group $first [expr {$first + 1}] 60 $start
}

set acknowledged 0.0
set long_mbps {}
proc sample {} {
    global simulator monitors names departed area mbps kilobytes long acknowledged long_mbps interval
    set now [$simulator now]
    foreach monitor $monitors name $names {
        set queue [$monitor get-bytes-integrator]
        $queue newpoint $now [$monitor set size_]
        set left [$monitor set bdepartures_]
        lappend mbps($name) [format %.4f [expr {($left - $departed($monitor)) * 8e-6 / $interval}]]
        lappend kilobytes($name) [format %.3f [expr {([$queue set sum_] - $area($monitor)) / 1e3 / $interval}]]
        set departed($monitor) $left
        set area($monitor) [$queue set sum_]
    }
    set sum 0
    foreach sender $long { incr sum [expr {max(0, [$sender set ack_])}] }
    lappend long_mbps [format %.4f [expr {($sum - $acknowledged) * 1040 * 8e-6 / $interval}]]
    set acknowledged $sum
    $simulator at [expr {$now + $interval}] sample
}
proc finish {} {
    global seed names monitors mbps kilobytes long_mbps
    set parts {}
    set drops {}
    set timeouts 0
    foreach sender [Agent/TCP/Reno/XCP info instances] { incr timeouts [$sender set nrexmit_] }
    foreach name $names monitor $monitors {
        lappend parts [format {"%s": {"mbps": [%s], "queue_kb": [%s]}} $name \
            [join $mbps($name) ", "] [join $kilobytes($name) ", "]]
        lappend drops [$monitor set pdrops_]
    }
    puts [format {{"seed": %d, "timeouts": %d, "drops": [%s], "long_mbps": [%s], "links": {%s}}} \
        $seed $timeouts [join $drops ", "] [join $long_mbps ", "] [join $parts ", "]]
    exit 0
}
$simulator at $interval sample
$simulator at [expr {$end + 0.001}] finish
$simulator run
