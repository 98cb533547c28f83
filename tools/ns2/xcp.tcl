# Shared by the scripts with ns-2's own XCP: a simulator whose random numbers follow from `seed`, and connections.

global defaultRNG
$defaultRNG seed $seed
expr {srand($seed)}
set simulator [new Simulator]
# All packets are in XCP's queue, as in airpath: acknowledgments too. Its limit counts bytes, in packets of 1000.
Queue/XCP set tcp_xcp_on_ 0
Queue/DropTail set queue_in_bytes_ true
Queue/DropTail set mean_pktsize_ 1000
Agent/TCP set window_ 10000

proc uniform {low high} { expr {$low + ($high - $low) * rand()} }

# Connects two nodes and returns the sender.
proc connect {near far} {
    global simulator
    set sender [new Agent/TCP/Reno/XCP]
    set sink [new Agent/TCPSink/XCPSink]
    $simulator attach-agent $near $sender
    $simulator attach-agent $far $sink
    $simulator connect $sender $sink
    return $sender
}
