package proofs

import "github.com/stafflink/lmmc/testbench/prove"

func ni() []prove.Proof {
	table := func(name, frames, virtual string) prove.Proof {
		return prove.Proof{
			Name: "ni_frame_table-" + name, Properties: "a frame that the table gives to a link, or to a virtual link, is allowed to it alone; one that does not exist to nobody",
			Top: "ni_frame_table", Params: params{"LINKS": "2", "FRAMES": frames, "VIRTUAL": virtual}, Depth: 3, Files: []string{"ni/ni_frame_table.v"},
		}
	}
	host := func(name, width string) prove.Proof {
		return prove.Proof{
			Name: name,
			Properties: "each packet of the host has one outcome, by its bytes and by what its link says: it goes to the link that it names, whole, once, in order and never held up; " +
				"or it is one request, which stands; or its link has no room for it, which is counted; what is taken back is cancelled where it went, and nothing else; " +
				"the data of a BUF_WRITE is written before its request, each byte once, at its place, if all of it is in a page that there is; whoever waits is served in a bounded time",
			Top: "ni_host_in", Params: params{"LINKS": "2", "PAGE_BYTES": "16", "BUFFER_BYTES": "48", "ADDR_WIDTH": "6", "WIDTH": width}, Depth: 2,
			Files: []string{"ni/ni_host_in.v", "common/beat_bytes.v"}, Parts: []string{"ni/ni_bounds.v"},
		}
	}
	return []prove.Proof{
		host("ni_host_in", "1"), host("ni_host_in-4", "4"),
		table("1", "1", "0"), table("3", "3", "0"), table("virtual", "3", "3"),
		{
			Name: "ni_vl_in",
			Properties: "each VIRTUAL has one outcome, by what it says: the packet inside is sent, each byte once and in order, or its request asked, or it is refused, and counted; it is " +
				"answered as it is to be; what is no VIRTUAL passes as it came, and does not overtake; what is taken back goes no further, and nothing else is taken back with it",
			Top: "ni_vl_in", Params: params{"VIRTUAL": "3", "MAX_PACKET": "24"}, Depth: 2, Files: []string{"ni/ni_vl_in.v"}, Parts: []string{"common/beat_bytes.v"},
		},
		{
			Name: "ni_vl_out",
			Properties: "what comes by virtual links goes on behind its link's number, each byte once and in order, to the host or the receive buffer, and nothing is left of what is taken back; " +
				"what the host is told goes whole and before the next packet; a VIRTUAL's head has its length; what is for the host is judged by its own bytes; the number of what is written changes only when all before is done; " +
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
			Name: "ni_msg_send",
			Properties: "a packet is put only for a context's own link that is up, not stopped, and holds less than its window and than is left; contexts hold no more slots " +
				"than their share; a MESSAGE's bytes are those of the memory at its place in the message, each once, in order, and the context's own",
			Top: "ni_msg_send", Params: params{"CONTEXTS": "1", "VIRTUAL": "2", "PAGE_BYTES": "64", "ADDR_WIDTH": "8", "WINDOW": "3", "SHARE": "4"}, Depth: 2,
			Files: []string{"ni/ni_msg_send.v", "common/ram_sdp.v"}, Parts: []string{"ni/ni_msg_place.v"},
		},
		{
			Name: "ni_notify",
			Properties: "of writes that are taken while `enable` is high none is left out of the NOTIFY behind it, nor is anything else in it; a NOTIFY goes out whole, once; " +
				"no frame is told of twice while another waits, and the host has its turn behind each write; a link waits for 6 clocks a link and 3 at most, whatever the host does",
			Top: "ni_notify", Params: params{"LINKS": "3", "FRAMES": "3", "PAGE_BYTES": "4"}, Depth: 2, Files: []string{"ni/ni_notify.v", "common/ram_sdp.v"},
		},
		{
			Name: "ni_msg_waits",
			Properties: "of two links and two contexts: a link that a context has refused is woken by the next receive of that context, or when it has become another context's, once for each " +
				"time that it was listed; whoever asks is answered when all of these have been woken",
			Top: "ni_msg_waits", Params: params{"CONTEXTS": "1", "VIRTUAL": "1"}, Depth: 3, Files: []string{"ni/ni_msg_waits.v", "common/ram_sdp.v"},
		},
		{
			Name: "ni_msg_post",
			Properties: "of a context one receive at a time is taken off its ring, and counted once, when a message has taken it or it is wrong; what a message finds is that receive, as it " +
				"was read and its bytes the context's, until it has been taken or the context is forgotten; a lookup in the clock of a write is blind",
			Top: "ni_msg_post", Params: params{"CONTEXTS": "2", "PAGE_BYTES": "64", "ADDR_WIDTH": "8"}, Depth: 2, Files: []string{"ni/ni_msg_post.v", "common/ram_sdp.v"},
			Parts: []string{"ni/ni_msg_place.v"},
		},
		{
			Name: "ni_msg_receive",
			Properties: "what is written are the bytes of messages, each once, in order and in the receive that its message has taken, or is to take by this packet, of the context by which the packet " +
				"came; a sound first packet alone takes one, once, and the message completes it once: OK when all of it is in the memory; nothing is kept of a context that " +
				"has been forgotten, or written for it",
			Top: "ni_msg_receive", Params: params{"CONTEXTS": "1", "VIRTUAL": "1", "ADDR_WIDTH": "5"}, Depth: 2,
			Files: []string{"ni/ni_msg_receive.v", "common/ram_sdp.v"}, Parts: []string{"ni/ni_page_writer.v"},
		},
		{
			Name: "ni_space",
			Properties: "a SPACE goes out whole and says its link's counts of one clock; a link of which the host knows another count, or whose host has started again, and no other, is told of, " +
				"behind one SPACE of each other link at most",
			Top: "ni_space", Params: params{"LINKS": "3"}, Depth: 3, Files: []string{"ni/ni_space.v"},
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
				"is counted, nothing of it goes out, and its room is free for the next",
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
