// The record by which the library and the daemon understand each other. It is the name of a connection's ends, as an abstract address of unix(7), and what is asked and answered.
// A name stays with the descriptor through fork, exec, dup and SCM_RIGHTS; so nothing about a connection is kept in a process. hostdrv/preload/record_linux.go has the same.
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#define LMMC_VERSION '3'

enum lmmc_kind {
	// Names.
	LMMC_SOCKET = 'S',    // the program's end of a connection
	LMMC_CONNECTED = 'C', // the daemon's end of one that is established
	LMMC_FAILED = 'F',    // of one that could not be had, value: errno; one that is opening has no name
	LMMC_LISTENER = 'L',  // a program's listening descriptor, value: the user id of the daemon
	LMMC_DATAGRAMS = 'D', // a program's socket of UDP, value: the user id of the daemon
	LMMC_PEER = 'P',      // the daemon's end of one of those, id, for a peer; local: the multicast group that what comes from it has gone to, or zero
	// Requests.
	LMMC_CONNECT = 'c', // value: 1 asks for the outcome as well
	LMMC_LISTEN = 'l',  // with the socket that listens at the system's stack; value: backlog
	LMMC_LINGER = 'g',  // id: the connection; value: seconds, or -1
	LMMC_NOTE = 'n',    // id: number of a socket that goes by the system's stack, domain: its type; the reason follows
	LMMC_REAP = 'r',    // asks for ports to be free whose listeners are closed
	LMMC_ADOPT = 'u',   // with the system's socket of UDP, for one whose datagrams the daemon carries
	LMMC_REACH = 'p',   // id: that one; asks for an end for the peer; value: 1 if it is to be the only one, -1 if there is to be no such any more
	LMMC_RETURN = 'b',  // id: that one; asks for the system's socket back
	LMMC_SET = 's',     // id: that one; domain: level of an option, value: its name; what it is to be follows
	LMMC_GET = 't',     // likewise; what there is room for follows, and the option the answer
	// Answers.
	LMMC_DONE = 'o', // perhaps with a descriptor
	LMMC_ERROR = 'e' // value: errno
};

struct lmmc_end {
	uint8_t port[2]; // most significant byte first
	uint8_t ip[16];  // IPv4 as ::ffff:a.b.c.d
};

struct lmmc_record {
	char zero, magic[4], version;
	char kind;
	uint8_t domain;
	uint64_t id;
	int32_t value;
	struct lmmc_end local, peer;
};

// record.c: reads and writes records and addresses.

struct lmmc_record lmmc_record(enum lmmc_kind kind, int domain);
// The name of a descriptor's own end or of its peer's, if it is one of the daemon's.
bool lmmc_own_name(int fd, struct lmmc_record *r);
bool lmmc_peer_name(int fd, struct lmmc_record *r);
bool lmmc_is_record(const void *name, socklen_t size);
// Whether an address is of IPv4 or IPv6, and the end that it is.
bool lmmc_end_of(const struct sockaddr *from, socklen_t size, struct lmmc_end *to);
void lmmc_address_of(const struct lmmc_end *from, int domain, struct sockaddr *to, socklen_t *size);
bool lmmc_is_any(const struct lmmc_end *e);
// The name that a record is.
socklen_t lmmc_name(const struct lmmc_record *r, struct sockaddr_un *un);

// daemon.c: what the daemon is asked.

// Whether an address is a node's, and whether it is this node's own.
bool lmmc_in_cluster(const struct lmmc_end *e);
bool lmmc_is_own(const struct lmmc_end *e);
// Whether an address is a multicast group's of the cluster.
bool lmmc_is_group(const struct lmmc_end *e);
bool lmmc_has_groups(void); // there are some
// This node's own address for a peer or group, with a port.
struct lmmc_end lmmc_own_for(const struct lmmc_end *peer, const uint8_t port[2]);
// Whether a name is a node's, as node2 or node2.cluster, and its address, which is of the family if there is such a one.
bool lmmc_node_address(const char *name, int family, char *text, socklen_t size);
// Sends a request, with a descriptor unless that is -1, and waits for the answer. Returns 0 and what came with it, or an errno: EPROTO if there is no daemon that can be asked,
// EMFILE or ENFILE if that takes more descriptors than the program may have.
// If hold is not NULL, the connection to the daemon stays open there.
int lmmc_ask(struct lmmc_record *r, int with, int *got, int *hold);
// Does the same for an option, which is sent and received.
int lmmc_ask_option(struct lmmc_record *r, void *value, socklen_t *size);
// Waits for the outcome of a connection at what lmmc_ask held. Returns 0 or an errno.
int lmmc_outcome(int held, const struct timeval *limit);
void lmmc_note(int fd, const struct lmmc_end *peer, const char *why);
// Receives a descriptor with a record. Returns it, or -1.
int lmmc_receive(int from, struct lmmc_record *r);

// datagram.c: sockets of UDP.

bool lmmc_is_datagrams(int fd, struct lmmc_record *own);
// connect of one that the daemon has, or that is the system's and is to be the daemon's; bind of one that the system has bound.
int lmmc_connect_datagrams(int fd, const struct sockaddr *to, socklen_t size);
int lmmc_bound_datagrams(int fd, int domain);
// recvmsg of one that the daemon has.
ssize_t lmmc_take(int fd, const struct lmmc_record *own, struct msghdr *m, int flags);

// group.c: options of IP of sockets of UDP.

enum lmmc_wanted { LMMC_PKTINFO = 1, LMMC_TTL = 2, LMMC_TOS = 4 };
// What control messages the program wants of one that the daemon has.
enum lmmc_wanted lmmc_wanted(int fd);
// getsockopt and setsockopt of one that the daemon has.
int lmmc_udp_option(int fd, const struct lmmc_record *own, bool set, int level, int name, void *value, socklen_t *size);
// setsockopt of IP of one that the system has still; 1: it is for the system.
int lmmc_early_option(int fd, int name, const void *value, socklen_t size);
// Has by, which is to be in the place of fd, want what that does, and join its groups.
void lmmc_adopted(int fd, int by, const struct lmmc_record *own);

// calls.c.

// What an option of SOL_SOCKET is, or -1.
int lmmc_option(int fd, int name);
int lmmc_fail(int problem); // sets errno and returns -1
// Whether a queue of errors is asked for, of a descriptor of the daemon: Unix sockets have none, and would receive data.
bool lmmc_no_errors(int fd, int flags);

// watch.c: what epoll watches.

// Puts another descriptor in the place of fd, with its options and watches, and with the flags (F_GETFL) that it had.
int lmmc_replace(int fd, int by, int flags);
