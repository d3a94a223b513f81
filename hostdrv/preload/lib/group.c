// Options of IP of sockets of UDP. The daemon has the system's socket of each that it carries: that one keeps and checks them, but for multicast groups of the cluster.
#include "record.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "next.h"

// Groups that a socket has joined before it has a port, by which the daemon carries it then.
static struct {
	ino_t socket; // 0: none
	int fd;       // that it had
	struct lmmc_end group;
} early[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// Control messages that a program wants, in an option of the socket that nothing else uses, SO_INCOMING_CPU: so they stay with the descriptor whoever has it.
static const int told = 0x4C0000; // that they are there

enum lmmc_wanted lmmc_wanted(int fd) {
	int value = lmmc_option(fd, SO_INCOMING_CPU);
	return (value & ~0xFF) == told ? (enum lmmc_wanted)(value & 0xFF) : 0;
}

static enum lmmc_wanted wanted_by(int name) {
	return name == IP_PKTINFO ? LMMC_PKTINFO : name == IP_RECVTTL ? LMMC_TTL : name == IP_RECVTOS ? LMMC_TOS : 0;
}

static void want(int fd, int name, const void *value, socklen_t size) {
	enum lmmc_wanted is = lmmc_wanted(fd), bit = wanted_by(name);
	int on = 0;
	memcpy(&on, value, size < sizeof on ? size : sizeof on);
	on = told | (int)(on ? is | bit : is & ~bit);
	if (bit)
		NEXT(setsockopt)(fd, SOL_SOCKET, SO_INCOMING_CPU, &on, sizeof on);
}

int lmmc_udp_option(int fd, const struct lmmc_record *own, bool set, int level, int name, void *value, socklen_t *size) {
	struct lmmc_record r = lmmc_record(set ? LMMC_SET : LMMC_GET, level);
	r.id = own->id;
	r.value = name;
	if (level == IPPROTO_UDP || level == IPPROTO_TCP)
		return lmmc_fail(ENOPROTOOPT);
	socklen_t length = *size;
	int problem = lmmc_ask_option(&r, value, size);
	if (problem == 0 && set && level == IPPROTO_IP)
		want(fd, name, value, length);
	return problem ? lmmc_fail(problem == EPROTO ? ENETDOWN : problem) : 0;
}

static ino_t inode(int fd) {
	struct stat s;
	return fstat(fd, &s) == 0 ? s.st_ino : 0;
}

// keep keeps that a socket without a port joins a group, or that it does not.
static int keep(int fd, const struct lmmc_end *group, bool joins) {
	ino_t socket = inode(fd);
	int problem = joins ? ENOBUFS : EADDRNOTAVAIL;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < sizeof early / sizeof *early && problem != EADDRINUSE; i++)
		if (early[i].socket == socket && memcmp(early[i].group.ip, group->ip, 16) == 0) {
			problem = joins ? EADDRINUSE : 0;
			if (!joins)
				early[i].socket = 0;
		}
	for (unsigned i = 0; i < sizeof early / sizeof *early && problem == ENOBUFS; i++)
		if (early[i].socket == 0 || inode(early[i].fd) != early[i].socket) { // that is closed
			early[i].socket = socket;
			early[i].fd = fd;
			early[i].group = *group;
			problem = 0;
		}
	pthread_mutex_unlock(&lock);
	return problem ? lmmc_fail(problem) : 0;
}

int lmmc_early_option(int fd, int name, const void *value, socklen_t size) {
	struct sockaddr_in at = {0};
	socklen_t at_size = sizeof at;
	if (NEXT(getsockname)(fd, (void *)&at, &at_size) == 0 && at.sin_port) // of IPv6 it is at the same place
		return 1;
	struct sockaddr_in a = {.sin_family = AF_INET}, by = a;
	struct lmmc_end group, interface;
	if (name == IP_MULTICAST_IF && size >= 4) {
		memcpy(&by.sin_addr, (const char *)value + (size >= sizeof(struct ip_mreq) ? 4 : 0), 4);
		lmmc_end_of((void *)&by, sizeof by, &interface);
		return lmmc_has_groups() && lmmc_is_own(&interface) ? 0 : 1; // the cluster is where groups of it go anyhow
	}
	struct ip_mreqn m = {0};
	if (name == MCAST_JOIN_GROUP || name == MCAST_LEAVE_GROUP) {
		const struct group_req *g = value;
		if (size < sizeof *g || g->gr_group.ss_family != AF_INET)
			return 1;
		m.imr_ifindex = (int)g->gr_interface;
		m.imr_multiaddr = ((const struct sockaddr_in *)&g->gr_group)->sin_addr;
	} else if ((name == IP_ADD_MEMBERSHIP || name == IP_DROP_MEMBERSHIP) && size >= sizeof(struct ip_mreq))
		memcpy(&m, value, size < sizeof m ? size : sizeof m);
	else
		return 1;
	a.sin_addr = m.imr_multiaddr;
	by.sin_addr = m.imr_address;
	lmmc_end_of((void *)&a, sizeof a, &group);
	lmmc_end_of((void *)&by, sizeof by, &interface);
	if (!lmmc_is_group(&group) || m.imr_ifindex || !(lmmc_is_any(&interface) || lmmc_is_own(&interface)))
		return 1;
	return keep(fd, &group, name == IP_ADD_MEMBERSHIP || name == MCAST_JOIN_GROUP);
}

void lmmc_adopted(int fd, int by, const struct lmmc_record *own) {
	static const int names[] = {IP_PKTINFO, IP_RECVTTL, IP_RECVTOS};
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		int value = 0;
		socklen_t size = sizeof value;
		if (NEXT(getsockopt)(fd, IPPROTO_IP, names[i], &value, &size) == 0 && value)
			want(by, names[i], &value, sizeof value);
	}
	ino_t socket = inode(fd);
	for (unsigned i = 0; i < sizeof early / sizeof *early; i++) {
		struct ip_mreq m = {0};
		pthread_mutex_lock(&lock);
		bool is = socket && early[i].socket == socket;
		if (is) {
			memcpy(&m.imr_multiaddr, early[i].group.ip + 12, 4);
			early[i].socket = 0;
		}
		pthread_mutex_unlock(&lock);
		socklen_t size = sizeof m;
		if (is)
			lmmc_udp_option(by, own, true, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m, &size);
	}
}
