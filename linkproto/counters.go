package linkproto

import "fmt"

// Counter is the number of one of a link's counters. Counters are 32 bits wide and wrap.
type Counter uint8

// The counters of a link.
const (
	CntRxPackets Counter = iota
	CntTxPackets
	CntRxCRC
	CntRxDup
	CntRxGap
	CntRxOverrun
	CntRxStray
	CntBadWord
	CntReplays
	CntRetries
	CntRestarts
	CntLostPackets
	CntBadPacket
	CntDenied
	CntStops
	CntNoSpace
	NumCounters = 16
)

// CounterInfo is a row of Counters.
type CounterInfo struct {
	Counter Counter
	Name    string // as in Verilog, in capitals: LP_CNT_<Name>
	Doc     string
}

// Counters lists a link's counters in order of their number. Not to be modified.
var Counters = [NumCounters]CounterInfo{
	{CntRxPackets, "rx_packets", "packets delivered"},
	{CntTxPackets, "tx_packets", "packets acknowledged by the peer"},
	{CntRxCRC, "rx_crc", "frames dropped: wrong CRC, too short or too long, ERR or SOP inside"},
	{CntRxDup, "rx_dup", "good frames dropped because they had been delivered before"},
	{CntRxGap, "rx_gap", "good frames dropped because an earlier one is missing"},
	{CntRxOverrun, "rx_overrun", "frames dropped for want of room in the receive FIFO"},
	{CntRxStray, "rx_stray", "data symbols and EOPs outside a frame, and frames of which a part came while the link was not up"},
	{CntBadWord, "bad_word", "link state words dropped while the link is up: damaged, reserved bits, another life or impossible number"},
	{CntReplays, "replays", "times the sender went back, for a LOST or for the timer"},
	{CntRetries, "retries", "times the retry timer ran out"},
	{CntRestarts, "restarts", "times the link left UP: the peer restarted, or too many retries"},
	{CntLostPackets, "lost_packets", "packets reported as not acknowledged when the link left UP"},
	{CntBadPacket, "bad_packet", "packets dropped: malformed or of unknown type"},
	{CntDenied, "denied", "packets dropped: remote writes to a frame not valid for the link, or across the page end; ROUTEs for a host that held a trap for too long"},
	{CntStops, "stops", "times this end raised STOP"},
	{CntNoSpace, "no_space", "packets of the host dropped because the link had LOST others, or because it sent more than SPACE allowed"},
}

// String returns the counter's name in the tables.
func (c Counter) String() string {
	if int(c) < len(Counters) {
		return Counters[c].Name
	}
	return fmt.Sprintf("counter(%d)", uint8(c))
}
