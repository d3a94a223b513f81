package proofs

import "github.com/stafflink/lmmc/testbench/prove"

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
				"others ask, whoever says STOP; the host is not chosen twice while others wait; behind each tick every link is looked through, in its turn",
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
				"a context's packet is put in the life of its link alone that it is for; no event writes to another link's entry; a ROUTE that is not taken changes nothing but what is counted; who asks is answered once, within 7 + 2 * WINDOW " +
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
			Properties: "each ROUTE goes out once, whole: its fields, the bytes of its slot, first to last, and their CRC; or it is taken back, as it is when its slot is freed " +
				"before all of the packet has gone; of a packet that comes no byte before it is there, nor the last one before it is whole; while all has come a byte a clock",
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
