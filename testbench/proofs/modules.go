package proofs

import "github.com/stafflink/lmmc/testbench/prove"

func common() []prove.Proof {
	const (
		ordered   = "order, no loss, no overflow, `used` exact"
		shown     = "words on trial are shown as they come, in order; a rollback takes them all back, and says so; `m_sure` is never early"
		committed = "only committed words come out, in order, once; rollback takes back all of a packet; `used` exact"
	)
	fifo := func(module, depth, properties string, parts ...string) prove.Proof {
		return prove.Proof{
			Name: module + "-" + depth, Properties: properties, Top: module, Params: params{"WIDTH": "2", "DEPTH": depth}, Depth: 3,
			Files: append([]string{"common/" + module + ".v", "common/ram_sdp.v"}, parts...),
		}
	}
	early := func(depth string) prove.Proof {
		p := fifo("fifo_commit", depth, shown)
		p.Name, p.Params["EARLY"] = "fifo_commit_early-"+depth, "1"
		return p
	}
	spaced := fifo("fifo_commit", "4", committed)
	spaced.Name, spaced.Params["SPACED"], spaced.Params["APART"] = "fifo_commit_spaced-4", "1", "1"
	apart := fifo("fifo_commit", "4", committed)
	apart.Name, apart.Params["APART"] = "fifo_commit_apart-4", "1"
	arbiter := func(n string) prove.Proof {
		return prove.Proof{
			Name: "arbiter_rr-" + n, Properties: "one grant, held for the packet, served within N-1 packets of others",
			Top: "arbiter_rr", Params: params{"N": n}, Depth: 4, Files: []string{"common/arbiter_rr.v"},
		}
	}
	return []prove.Proof{
		fifo("fifo_sync", "4", ordered),
		fifo("fifo_sync", "8", ordered),
		fifo("fifo_commit", "4", committed), fifo("fifo_commit", "8", committed),
		early("4"), early("8"), spaced, apart,
		{
			Name: "skid_buffer", Properties: "order, no loss, stable while stalled",
			Top: "skid_buffer", Params: params{"WIDTH": "2"}, Depth: 3, Files: []string{"common/skid_buffer.v"},
		},
		{
			Name: "pass_buffer", Properties: "order, no loss, stable while stalled",
			Top: "pass_buffer", Params: params{"WIDTH": "2"}, Depth: 3, Files: []string{"common/pass_buffer.v"},
		},
		arbiter("2"), arbiter("3"), arbiter("4"),
		{
			Name: "counter_bank", Properties: "every event counted once, reads exact, words beside the counters stay",
			Top: "counter_bank", Params: params{"N": "4", "SLOW": "6"}, Files: []string{"common/counter_bank.v", "common/ram_sdp.v"},
			Depth: 14, // more than the clocks between two visits of a word, so the schedule is part of the step
		},
		{
			Name: "fifo_async", Properties: "order, no loss, between any two clocks; pointers cross one bit at a time",
			Top: "fifo_async", Params: params{"WIDTH": "1", "DEPTH": "4"}, Method: prove.Reachability, Clocks: true,
			Files: []string{"common/fifo_async.v", "common/ram_2clk.v", "common/sync_bit.v"},
		},
	}
}

func phy() []prove.Proof {
	return []prove.Proof{{
		Name: "enc_8b10b", Properties: "the decoder undoes the encoder; disparity stays at ±1; at most five equal bits in a row; no comma outside a K28.5",
		Top: "enc_8b10b", Depth: 4, Files: []string{"phy/enc_8b10b.v", "phy/dec_8b10b.v"},
	}}
}

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
				"they were given; the buffer is read in its turn, at the packet's places alone; no five turns pass without a symbol",
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
			Name: "trunk_tally", Properties: "a pulse for each bit that has come, while no more than 255 wait",
			Top: "trunk_tally", Params: params{"N": "3"}, Depth: 2, Files: []string{"link/trunk_tally.v"},
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

func net() []prove.Proof {
	match := func(ports string, method prove.Method, depth int) prove.Proof {
		return prove.Proof{
			Name: "net_match-" + ports, Properties: "who begins wishes to and has room; one packet an input and an output at a time; an output begins at most " +
				"N * (PATIENCE + 2) packets before one that waits for it",
			Top: "net_match", Params: params{"N": ports, "PATIENCE": "1"}, Method: method, Depth: depth, Files: []string{"net/net_match.v"},
		}
	}
	input := func(ports, width string) prove.Proof {
		return prove.Proof{
			Name: "net_input-" + ports,
			Properties: "each packet leaves by each of its outputs once, whole and as it came, in the order of their queues; one that is taken back leaves nothing behind; " +
				"one that is not queued is counted; each slot is free, or one packet's",
			Top: "net_input", Params: params{"N": ports, "SLOTS": "2", "SLOT_BYTES": "32", "WIDTH": width}, Depth: 2,
			Files: []string{"net/net_input.v", "common/ram_sdp.v"},
		}
	}
	rules := func(ports string) prove.Proof {
		return prove.Proof{
			Name: "net_match-" + ports + "-rules", Properties: "the same for all time, but for the number of packets: who begins wishes to and has room; one packet an input and an output at a time",
			Top: "net_match", Params: params{"N": ports, "PATIENCE": "2"}, Depth: 2, Files: []string{"net/net_match.v"},
		}
	}
	return []prove.Proof{
		match("2", prove.Reachability, 0), match("3", prove.Bounded, 12), rules("4"), input("2", "1"), input("3", "4"),
		{
			Name: "net_barrier",
			Properties: "whatever words are lost, doubled, late or of an earlier life of the group: what is said by a link, and what the node reads, all members on the other " +
				"ports have entered; a word that is not of the next phase changes nothing; a word that has come is looked at in a bounded time, and what it makes the unit say is said, or owed until it is; of two words that differ the second is said 64 clocks after the first",
			Top: "net_barrier", Depth: 2, Params: params{"PORTS": "2", "AGAIN": "3"}, Files: []string{"net/net_barrier.v", "common/ram_sdp.v"},
			Parts: []string{"common/at_least.v"},
		},
		{
			Name: "net_table",
			Properties: "a packet goes where the entry last written for its destination says, or to this node, or nowhere; one beyond the table has none; " +
				"a read tells that entry; whoever asks is served within N + 1 clocks that write nothing",
			Top: "net_table", Depth: 6, Params: params{"N": "3", "NODES": "4", "GROUPS": "2"}, Files: []string{"net/net_table.v", "common/ram_sdp.v"},
		},
		{
			Name: "net_patience", Properties: "overdue begins behind PATIENCE clocks in a row without room or a move, then at once, and lasts to the next move",
			Top: "net_patience", Params: params{"PATIENCE": "5"}, Depth: 2, Files: []string{"net/net_patience.v"}, Parts: []string{"common/at_least.v"},
		},
		{
			Name: "net_local",
			Properties: "who begins a packet only while there is room never overruns the queue, whatever is taken back; of bytes and packets each is freed once, " +
				"when the router has taken its packet; behind a refusal there is no room until it was seen",
			Top: "net_local", Params: params{"REPLAY_BYTES": "8", "MAX_PACKET": "4"}, Depth: 2,
			Files: []string{"net/net_local.v", "common/fifo_commit_queue.formal.v"}, Parts: []string{"common/at_least.v"},
		},
		{
			Name: "net_regs",
			Properties: "each access is answered once; an entry of the table is written once for each write of it, and only then, and holds only ports that there are; what is " +
				"read of a port is its state in the clock before",
			Top: "net_regs", Params: params{"PORTS": "2", "NODES": "4", "GROUPS": "2"}, Depth: 2,
			Files: []string{"net/net_regs.v", "common/counter_bank_any.formal.v"},
		},
		{
			Name: "net_manage",
			Properties: "a register is accessed for a request alone whose datagram is for this switch, whole and right, once for each, and as it says; each request has one answer, " +
				"to its sender, which tells what came of it, or is counted as late",
			Top: "net_manage", Params: params{"PORTS": "2", "PATIENCE": "4"}, Depth: 2,
			Files: []string{"net/net_manage.v", "common/crc32c_byte.formal.v"}, Parts: []string{"common/beat_bytes.v", "common/beat_pack.v"},
		},
		{
			Name: "net_router",
			Properties: "a router of two ports as a whole: what comes leaves by an output once, whole, as it came and in order, or is counted, or was void; of what is void nothing " +
				"stays; one that is alone leaves within 5 clocks from its last beat on, while outputs take it",
			Top: "net_router_formal", Method: prove.Bounded, Depth: 11, Files: []string{"net/net_router.formal.v"},
			Parts: []string{"net/net_router.v", "net/net_input.v", "net/net_output.v", "net/net_match.v", "net/net_table.v", "common/ram_sdp.v"},
		},
		{
			Name: "net_ident",
			Properties: "each access is answered once, in the next clock, with what the register held; NODE_ID and SCRATCH hold what was last written to them, and no other " +
				"register takes a write",
			Top: "net_ident", Params: params{"PORTS": "3"}, Depth: 2, Files: []string{"net/net_ident.v"},
		},
		{
			Name:       "net_output",
			Properties: "each packet is given whole, or taken back from where it went, or dropped whole and counted; nothing is left of it when the next one begins",
			Top:        "net_output", Depth: 2, Files: []string{"net/net_output.v"},
		},
		{
			Name:       "net_vl_queues",
			Properties: "a link that is put into a queue is shown once, behind those that were put before it; in the last queue no sooner than DELAY paces after it came",
			Top:        "net_vl_queues", Method: prove.Bounded, Depth: 9, Params: params{"VIRTUAL": "1", "QUEUES": "2", "DELAY": "2"},
			Files: []string{"net/net_vl_queues.v"}, Parts: []string{"common/fifo_sync.v", "common/ram_sdp.v"},
		},
		{
			Name: "net_vl_next",
			Properties: "what is chosen is asked for, and its link is the one that asks; a packet that is put, and the link that is the next to send, wait for 7 events at most, whatever " +
				"others ask, whoever says STOP; the host is not chosen twice while others wait; each link is looked through in its turn",
			Top: "net_vl_next", Params: params{"VIRTUAL": "2"}, Depth: 2, Files: []string{"net/net_vl_queues_any.formal.v", "net/net_vl_next.v"},
		},
		{
			Name: "net_vl_context",
			Properties: "of each link the context and the life that were last said of it are told, whatever is said of others; a context that there is not is none; of each slot, " +
				"whether it is kept for a completion or counted as freed, by what was last put into it",
			Top: "net_vl_context", Params: params{"CONTEXTS": "3", "VIRTUAL": "2", "SLOTS": "4"}, Depth: 2, Files: []string{"net/net_vl_context.v", "common/ram_sdp.v"},
		},
		{
			Name: "net_vl_engine",
			Properties: "of two links, each beside the other: each packet is sent from its own slot under the number as which it was put, and its slot freed once; " +
				"no event writes to another link's entry; a ROUTE that is not taken changes nothing but what is counted; who asks is answered once, within 7 + 2 * WINDOW " +
				"clocks of an event; who has something to say waits for its turn; a link whose peer says STOP sends no packet but a probe",
			Top: "net_vl_engine", Params: params{"VIRTUAL": "1", "SLOTS": "4", "WINDOW": "3", "RETRY": "1", "RETRY_LIMIT": "2", "CONTEXTS": "1"}, Depth: 2,
			Files: []string{
				"net/net_vl_engine.v", "common/ram_sdp_all.formal.v", "net/net_vl_next_any.formal.v", "net/net_vl_slots_any.formal.v", "net/net_vl_context_any.formal.v",
			},
			Parts: []string{"net/net_vl_rules.v", "net/net_vl_regs.v"},
		},
		{
			Name: "net_vl_slots", Properties: "of each slot, what was last said of it is told: the next of its link, its length, and when it was sent",
			Top: "net_vl_slots", Params: params{"SLOTS": "4", "TIME": "3"}, Depth: 2, Files: []string{"net/net_vl_slots.v", "common/ram_sdp.v"},
			Parts: []string{"common/fifo_sync.v"},
		},
		{
			Name: "net_vl_bytes",
			Properties: "of ROUTEs that are no datagrams each byte comes out once, in order; of datagrams, and of what is taken back, nothing stays; a datagram waits for nobody once " +
				"its state has come",
			Top: "net_vl_bytes", Params: params{"WIDTH": "4", "MAX_PACKET": "16"}, Depth: 2,
			Files: []string{"net/net_vl_bytes.v", "common/fifo_commit_queue.formal.v", "common/beat_bytes.v"},
		},
		{
			Name: "net_vl_send",
			Properties: "each ROUTE goes out once, whole: its fields, the bytes of its slot, first to last, and their CRC; or it is taken back; of a packet that comes no byte " +
				"before it is there, nor the last one before it is whole; while all has come a byte a clock",
			Top: "net_vl_send", Params: params{"SLOTS": "4", "SLOT_BYTES": "8"}, Depth: 2, Files: []string{"net/net_vl_send.v", "common/crc32c_byte.formal.v"},
		},
		{
			Name: "net_vl_receive",
			Properties: "what is said of a ROUTE are its fields, and its length and CRC are judged right, whatever the key; of a packet that counts each byte goes out once, in order, " +
				"the last one when it counts; of any other nothing stays; each ROUTE that has come is good, or counted as bad; one that is not taken waits for no packet's reader",
			Top: "net_vl_receive", Params: params{"VIRTUAL": "3", "MAX_PACKET": "24"}, Depth: 2, Files: []string{"common/crc32c_small.formal.v", "net/net_vl_receive.v"},
		},
		{
			Name: "net_vl_rules",
			Properties: "both ends of a virtual link over a network that loses, doubles and reorders, and holds what it likes: every packet counts once and in order; " +
				"nothing is sent that was not put, acknowledged that was not sent, or freed that did not count; never more than WINDOW are held; an end that says STOP takes none; who holds packets says something or has a timer",
			Top: "net_vl_rules_formal", Depth: 2, Files: []string{"net/net_vl_rules.formal.v"}, Parts: []string{"net/net_vl_rules.v"},
		},
	}
}

func ni() []prove.Proof {
	table := func(name, frames, virtual string) prove.Proof {
		return prove.Proof{
			Name: "ni_frame_table-" + name, Properties: "a frame that the table gives to a link, or to a virtual link, is allowed to it alone; one that does not exist to nobody",
			Top: "ni_frame_table", Params: params{"LINKS": "2", "FRAMES": frames, "VIRTUAL": virtual}, Depth: 3, Files: []string{"ni/ni_frame_table.v"},
		}
	}
	return []prove.Proof{
		table("1", "1", "0"), table("3", "3", "0"), table("virtual", "3", "3"),
		{
			Name: "ni_vl_out",
			Properties: "what comes by virtual links goes on behind its link's number, each byte once and in order, to the host or the receive buffer, and nothing is left of what is taken back; " +
				"what the host is told goes whole and before the next packet; a VIRTUAL's head has its length; the number of what is written changes only when all before is done; " +
				"a packet that has begun waits neither for the host nor for another's trap",
			Top: "ni_vl_out", Params: params{"VIRTUAL": "3", "FRAMES": "4", "MAX_PACKET": "24", "HOLD_BYTES": "128"}, Depth: 3,
			Files: []string{"ni/ni_vl_out.v"}, Parts: []string{"common/fifo_commit.v", "common/ram_sdp.v", "common/at_least.v"},
		},
		{
			Name: "ni_msg_place", Properties: "bytes that are a context's are in its frames and not in its rings; an entry of a ring is in that ring, whole",
			Top: "ni_msg_place_formal", Depth: 2, Files: []string{"ni/ni_msg_place.formal.v"}, Parts: []string{"ni/ni_msg_place.v"},
		},
		{
			Name:       "ni_msg_table",
			Properties: "a context that is enabled has frames that there are, and its rings fit in them; of what is posted each descriptor is taken once, and no other",
			Top:        "ni_msg_table", Params: params{"CONTEXTS": "2", "FRAMES": "8", "PAGE_BYTES": "64"}, Depth: 2, Files: []string{"ni/ni_msg_table.v", "common/ram_sdp.v"},
			Parts: []string{"common/fifo_sync.v"},
		},
		{
			Name: "ni_msg_complete",
			Properties: "what is complete is written to its context's ring, whole and once, if that is enabled, and then counted; a send when its last packet is freed, " +
				"unless its context has ended since",
			Top: "ni_msg_complete", Params: params{"CONTEXTS": "1", "SLOTS": "4", "PAGE_BYTES": "64", "ADDR_WIDTH": "8"}, Depth: 3,
			Files: []string{"ni/ni_msg_complete.v", "common/ram_sdp.v", "common/fifo_sync.v"}, Parts: []string{"ni/ni_msg_place.v"},
		},
		{
			Name: "ni_compose", Properties: "packets go out whole, each behind the header that its head says; every byte of a source once, in order",
			Top: "ni_compose", Params: params{"N": "3"}, Depth: 3,
			Files: []string{"ni/ni_compose.v"}, Parts: []string{"common/arbiter_rr.v", "common/skid_buffer.v"},
		},
		{
			Name: "ni_route",
			Properties: "what is no ROUTE comes out as it came; of a datagram for this node whose CRC and lengths are right the packet inside, each byte once, and of no other " +
				"ROUTE anything; the host is told of answers, MESSAGEs and ROUTEs of virtual links alone, whole, with `gateway` of those for " +
				"others too; every ROUTE has one outcome, and one that is dropped is counted",
			Top: "ni_route", Params: params{"MAX_PACKET": "40", "HOLD_BYTES": "8"}, Depth: 2,
			Files: []string{"ni/ni_route.v", "common/fifo_commit_queue.formal.v"}, Parts: []string{"common/at_least.v"},
		},
		{
			Name: "ni_answer",
			Properties: "TRAPs and ROUTEs go out whole, one at a time, as they came; each ROUTE behind the head that its header says; one for which there was no room " +
				"is counted, and nothing of it goes out",
			Top: "ni_answer", Params: params{"LINK": "5", "HOLD_BYTES": "8"}, Depth: 2,
			Files: []string{"ni/ni_answer.v", "common/fifo_commit_queue.formal.v"}, Parts: []string{"common/beat_bytes.v"},
		},
		{
			Name: "ni_trap",
			Properties: "a PAGE or CONNECT is reported whole, once, after all before it has been carried out; `hold` from its report to RESUME; " +
				"nothing passes meanwhile but what `hold` governs; other packets pass unchanged; malformed ones go nowhere",
			Top: "ni_trap", Params: params{"LINK": "5", "FRAMES": "5", "MAX_PACKET": "72"}, Depth: 3,
			Files: []string{"ni/ni_trap.v"}, Parts: []string{"common/beat_bytes.v"},
		},
		{
			Name: "ni_link_in",
			Properties: "of writes that were checked while the table gave their frame to this link, and of no others, each byte is written once, in " +
				"order, at its place; no word is handed on for a frame that was taken away more than three clocks before; from quiet to the end of `hold` " +
				"nothing is written or reported, whatever arrives",
			Top: "ni_link_in", Params: params{"PAGE_BYTES": "16", "ADDR_WIDTH": "6"}, Depth: 3,
			Files: []string{"ni/ni_link_in.v"}, Parts: []string{"ni/ni_frame_table.v", "ni/ni_page_writer.v", "ni/ni_bounds.v"},
		},
		{
			Name: "ni_trap_in",
			Properties: "both together: from the first byte of a PAGE or CONNECT to RESUME nothing of its link is written or reported, and all before it has " +
				"been; while there is no hold, no byte waits for more than 10 times what the neighbours make it wait and one clock, a TRAP that is " +
				"told again included",
			Top: "ni_trap_in_formal", Method: prove.Reachability, Files: []string{"ni/ni_trap_in.formal.v"},
			Parts: []string{"ni/ni_trap.v", "ni/ni_link_in.v", "ni/ni_page_writer.v", "ni/ni_bounds.v", "common/beat_bytes.v"},
		},
		{
			Name: "ni_trace",
			Properties: "what happens at a port reaches the ring once, unchanged, with its clock, at the place of its number, or is counted and told as " +
				"lost; no port waits for more than the others once; only a record or the host triggers, and POST records follow",
			Top: "ni_trace", Params: params{"PORTS": "3", "DEPTH": "4"}, Depth: 4,
			Files: []string{"ni/ni_trace.v", "ni/ni_trace_port.v", "common/ram_sdp.v"},
		},
	}
}
