package proofs

import "github.com/stafflink/lmmc/testbench/prove"

func link() []prove.Proof {
	rxStop := []string{"link/link_rx_stop.formal.v", "common/crc32c_byte.formal.v"}
	rxParts := []string{"link/link_rx.v", "common/at_least.v", "common/beat_pack.v"}
	replay := func(name, width, bytes string) prove.Proof {
		return prove.Proof{
			Name: name, Properties: "never more than WINDOW packets held; frees only what was sent and named in an acknowledgement, and after a restart the others, as lost",
			Top: "link_replay", Depth: 4, Files: []string{"link/link_replay.v", "link/link_window_rules.formal.v", "common/at_least.v", "common/ram_bytes.v", "common/ram_sdp.v"},
			Params: params{"REPLAY_BYTES": bytes, "MAX_PACKET": "4", "WIDTH": width}, // sequence numbers, which it is about, are as wide as ever
		}
	}
	rx := func(name, early string) prove.Proof {
		return prove.Proof{
			Name: name,
			Properties: "of whole, good frames that are next in sequence, and no others, the packet comes out, whole, once, in order; `expected`, `lost` and " +
				"one event say what became of each frame",
			Top: "link_rx", Depth: 2, Params: params{"RX_BYTES": "8", "MAX_PACKET": "4", "HEADROOM": "2", "EARLY": early},
			Files: []string{"link/link_rx.v", "link/link_rx_fifo.formal.v", "common/crc32c_byte.formal.v"},
			Parts: []string{"common/at_least.v", "common/beat_pack.v"},
		}
	}
	halts := func(name, early string) prove.Proof {
		return prove.Proof{
			Name:       name,
			Properties: "a peer that falls silent within HEADROOM-3 clocks after STOP never overruns the FIFO, whatever it sent before",
			Top:        "link_rx_stop_formal", Method: prove.Reachability,
			Files: append([]string{"link/link_rx_count.formal.v"}, rxStop...), Parts: rxParts,
			Params: params{"HALTS": "1", "RX_BYTES": "16", "MAX_PACKET": "8", "HEADROOM": "4", "EARLY": early},
		}
	}
	return []prove.Proof{
		replay("link_replay", "1", "8"), replay("link_replay-4", "4", "8"),
		rx("link_rx", "0"), rx("link_rx-delay", "1"), rx("link_rx-prompt", "2"),
		halts("link_rx_stop-halts", "0"), halts("link_rx_stop-halts-prompt", "2"),
		{
			Name:       "link_rx_stop-goes",
			Properties: "while STOP stands there is a whole packet to read within four clocks, whatever was sent: who reads on comes to GO",
			Top:        "link_rx_stop_formal", Method: prove.Reachability, Files: rxStop,
			Parts:  append([]string{"common/fifo_commit.v", "common/ram_sdp.v"}, rxParts...),
			Params: params{"HALTS": "0", "RX_BYTES": "8", "MAX_PACKET": "4", "HEADROOM": "2"},
		},
		{
			Name: "link_stop",
			Properties: "both ends, by words that arrive: once STOP has stood for 22 clocks no frame symbol comes to `link_rx` any more; what waits for GO " +
				"is sent 25 clocks after it at most",
			Top: "link_stop_formal", Depth: 48, Files: []string{"link/link_stop.formal.v"},
			Parts: []string{"link/link_mux.v", "link/link_split.v", "link/link_state.v", "phy/phy_direct.v", "common/at_least.v", "common/crc16_3740_byte.v"},
		},
		{
			Name: "link_framer",
			Properties: "a frame holds its packet's bytes, from the first to the last, and none before it is there; never more than WINDOW-1 frames sent " +
				"and not acknowledged; only whole packets count as sent, one after the other; a frame that is repeated is one of the WINDOW before the " +
				"next new one; who abandons a frame, or the link's life, goes back to a packet's beginning",
			Top: "link_framer", Depth: 1, Params: params{"POINTER": "4", "RETRY": "8", "RETRY_LIMIT": "2"},
			Files: []string{"link/link_framer.v", "link/link_window_rules.formal.v", "common/at_least.v", "common/crc32c_byte.formal.v"},
		},
		{
			Name: "link_life",
			Properties: "while the link is up the peer's life and its own stand; who leaves UP has another life, and knows nobody; UP begins with a word " +
				"that counts; whom it knows said so, whole, in one INIT",
			Top: "link_life_formal", Depth: 6, Files: []string{"link/link_life.formal.v"},
			Parts: []string{"link/link_split.v", "link/link_peer.v", "link/link_state.v", "common/at_least.v", "common/crc16_3740_byte.v"},
		},
		{
			Name: "trunk_order",
			Properties: "whatever lanes bring, and in whatever order: the numbers expected are delivered, one after the other, each once; what is dropped was " +
				"delivered before, or is doomed; LOST is not said while a lane shows the expected frame",
			Top: "trunk_order", Depth: 3, Params: params{"LANES": "2", "RX_BYTES": "16", "MAX_PACKET": "8", "HEADROOM": "4", "WIDTH": "1"},
			Files: []string{"link/trunk_order.v"}, Parts: []string{"common/at_least.v", "common/fifo_commit.v", "common/ram_sdp.v"},
		},
		{
			Name: "lane_rx",
			Properties: "of whole, good frames, and no others, the packet comes out, whole, once, in the order in which they came, with its number and whether its length " +
				"fits, however long the reader waits; one is doomed as soon as a frame with an earlier number than the one before it has come behind it, or found no room",
			Top: "lane_rx", Depth: 2, Params: params{"SKEW_BYTES": "8", "MAX_PACKET": "4", "WIDTH": "1"},
			Files: []string{"link/lane_rx.v", "common/fifo_commit_queue.formal.v", "common/crc32c_byte.formal.v"}, Parts: []string{"common/beat_pack.v"},
		},
		{
			Name: "lane_framer",
			Properties: "each packet that is given becomes one frame, whole, with its number, its bytes from the first to the last and their check sum, in the order in which " +
				"they were given; it says which it holds, each until its EOP has left; the buffer is read in its turn, at the packet's places alone; no five turns pass " +
				"without a symbol",
			Top: "lane_framer", Depth: 2, Params: params{"POINTER": "4", "WIDTH": "2"},
			Files: []string{"link/lane_framer.v", "common/crc32c_byte.formal.v"},
		},
		{
			Name: "lane_state",
			Properties: "frames go over a lane only while the peer is heard and has said the same in this life of the link, with nothing to the contrary since; a lane is left out only " +
				"when it may be, and is back when it has been good for TRIAL without a fault, or is needed",
			Top: "lane_state", Params: params{"WORD_TIMER": "1"}, Depth: 3, Files: []string{"link/lane_state.v"}, Parts: []string{"common/at_least.v"},
		},
		{
			Name: "trunk_issue",
			Properties: "packets begin in their order, each from its own place in the buffer; none begins half the numbers beyond `safe` or further; `safe` moves to a number " +
				"only when no frame before it has been in a lane for SKEW symbol times",
			Top: "trunk_issue", Params: params{"LANES": "2", "POINTER": "3", "RETRY": "3", "RETRY_LIMIT": "2", "SEQ": "3", "SKEW": "2"}, Depth: 1,
			Files: []string{"link/trunk_issue.v"}, Parts: []string{"common/at_least.v"},
		},
		{
			Name: "trunk_state",
			Properties: "while the link is up its peer stands, that of the lowest lane whose word brought it up; who leaves UP says so once and has another epoch, and " +
				"does when nobody is heard, nothing was said for SILENCE, or it is asked; one lane at a time may be left out, never the last one that is heard",
			Top: "trunk_state", Params: params{"LANES": "3", "SILENCE": "6"}, Depth: 3, Files: []string{"link/trunk_state.v"}, Parts: []string{"common/at_least.v"},
		},
		{
			Name:       "trunk_window",
			Properties: "over lanes of which any loses what it likes, and any dies and comes back: every packet is delivered once and in order, whatever lanes its copies went by",
			Top:        "trunk_window_formal", Depth: 2, Files: []string{"link/trunk_window.formal.v"},
		},
		{
			Name: "link_window",
			Properties: "any life of one end with any of another, over cables that lose what they like, lead elsewhere by and by, and still hold what " +
				"other lives said: every packet is delivered once and in order; nothing is sent outside the window; nothing is freed that was not delivered",
			Top: "link_window_formal", Depth: 2, Files: []string{"link/link_window.formal.v", "link/link_window_life.formal.v", "link/link_window_rules.formal.v"},
		},
	}
}
