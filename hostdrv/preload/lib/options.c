// Options of sockets. What the kernel's socket of the connection has it answers; those of TCP and IP are answered here, as a connection has them that needs none of that.
#include "record.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#include "next.h"

static bool is_ours(int fd, struct lmmc_record *own) {
	int saved = errno;
	bool ours = lmmc_own_name(fd, own);
	errno = saved;
	return ours;
}

// inherent says whether a connection has an option that may be set and changes nothing here, and its value.
static bool inherent(int level, int name, int *value) {
	static const struct {
		int level, name, value;
	} all[] = {
		{IPPROTO_TCP, TCP_NODELAY, 1}, // segments never wait
		{IPPROTO_TCP, TCP_CORK, 0},
		{IPPROTO_TCP, TCP_QUICKACK, 1},
		{IPPROTO_TCP, TCP_MAXSEG, 16364}, // of a segment of the cluster
		{IPPROTO_TCP, TCP_KEEPIDLE, 7200},
		{IPPROTO_TCP, TCP_KEEPINTVL, 75},
		{IPPROTO_TCP, TCP_KEEPCNT, 9},
		{IPPROTO_TCP, TCP_SYNCNT, 6},
		{IPPROTO_TCP, TCP_LINGER2, 60},
		{IPPROTO_TCP, TCP_DEFER_ACCEPT, 0},
		{IPPROTO_TCP, TCP_WINDOW_CLAMP, 0},
		{IPPROTO_TCP, TCP_USER_TIMEOUT, 0},
		{IPPROTO_TCP, TCP_FASTOPEN, 0},
		{IPPROTO_TCP, TCP_NOTSENT_LOWAT, -1},
		{IPPROTO_IP, IP_TOS, 0},
		{IPPROTO_IP, IP_TTL, 64},
		{IPPROTO_IP, IP_FREEBIND, 0},
		{IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 0},
		{IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT},
		{IPPROTO_IP, IP_RECVERR, 0},
		{IPPROTO_IP, IP_RECVTOS, 0},
		{IPPROTO_IP, IP_RECVTTL, 0},
		{IPPROTO_IP, IP_MULTICAST_TTL, 1},
		{IPPROTO_IPV6, IPV6_V6ONLY, 0},
		{IPPROTO_IPV6, IPV6_TCLASS, 0},
		{IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64},
		{IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_WANT},
		{IPPROTO_IPV6, IPV6_RECVERR, 0},
	};
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].level == level && all[i].name == name) {
			*value = all[i].value;
			return true;
		}
	return false;
}

static bool is_protocol(int level) { return level == IPPROTO_TCP || level == IPPROTO_UDP || level == IPPROTO_IP || level == IPPROTO_IPV6; }

static void give(const void *from, socklen_t have, void *to, socklen_t *size) {
	if (*size > have)
		*size = have;
	memcpy(to, from, *size);
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *size) {
	struct lmmc_record own, peer;
	int known;
	int result = NEXT(getsockopt)(fd, level, name, value, size);
	if (level == SOL_SOCKET && result == 0 && *size == sizeof known && (name == SO_DOMAIN || name == SO_PROTOCOL || name == SO_ERROR)) {
		memcpy(&known, value, sizeof known);
		if (known != (name == SO_DOMAIN ? AF_UNIX : name == SO_ERROR ? ECONNRESET : 0) || !is_ours(fd, &own))
			return result;
		if (name == SO_DOMAIN)
			known = own.domain;
		else if (name == SO_PROTOCOL)
			known = own.kind == LMMC_DATAGRAMS ? IPPROTO_UDP : IPPROTO_TCP;
		else if (own.kind == LMMC_DATAGRAMS)
			known = ECONNREFUSED;
		else if (lmmc_peer_name(fd, &peer) && peer.kind == LMMC_FAILED)
			known = peer.value;
		memcpy(value, &known, sizeof known);
		return 0;
	}
	if (result == 0 || !is_protocol(level) || !is_ours(fd, &own))
		return result;
	if (own.kind == LMMC_DATAGRAMS)
		return lmmc_udp_option(fd, &own, false, level, name, value, size);
	if (inherent(level, name, &known))
		give(&known, sizeof known, value, size);
	else if (level == IPPROTO_TCP && name == TCP_CONGESTION)
		give("lmmc", 5, value, size);
	else if (level == IPPROTO_TCP && name == TCP_INFO) {
		struct tcp_info info = {.tcpi_state = lmmc_peer_name(fd, &peer) ? TCP_ESTABLISHED : own.kind == LMMC_LISTENER ? TCP_LISTEN : TCP_SYN_SENT,
			.tcpi_snd_mss = 16364, .tcpi_rcv_mss = 16364};
		give(&info, sizeof info, value, size);
	} else {
		errno = ENOPROTOOPT;
		return -1;
	}
	return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size) {
	struct lmmc_record own;
	int known;
	if (level == SOL_SOCKET && name == SO_SNDBUF && size >= sizeof known && is_ours(fd, &own)) {
		socklen_t known_size = sizeof known;
		// Less than what the kernel gives would be less than what the daemon leaves there (relay_linux.go).
		if (NEXT(getsockopt)(fd, level, name, &known, &known_size) == 0 && 2 * *(const int *)value <= known)
			return 0;
	}
	if (level == IPPROTO_IP && lmmc_option(fd, SO_TYPE) == SOCK_DGRAM && !is_ours(fd, &own)) {
		int early = lmmc_early_option(fd, name, value, size);
		if (early <= 0)
			return early;
	}
	int result = NEXT(setsockopt)(fd, level, name, value, size);
	if (level == SOL_SOCKET && name == SO_LINGER && result == 0 && is_ours(fd, &own) && own.kind == LMMC_SOCKET) {
		const struct linger *l = value;
		struct lmmc_record r = lmmc_record(LMMC_LINGER, own.domain);
		r.id = own.id;
		r.value = l->l_onoff ? l->l_linger : -1;
		lmmc_ask(&r, -1, NULL, NULL);
		return 0;
	}
	if (result == 0 || !is_protocol(level) || !is_ours(fd, &own))
		return result;
	if (own.kind == LMMC_DATAGRAMS)
		return lmmc_udp_option(fd, &own, true, level, name, (void *)value, &size);
	if (inherent(level, name, &known) || (level == IPPROTO_TCP && name == TCP_CONGESTION))
		return 0;
	errno = ENOPROTOOPT;
	return -1;
}
