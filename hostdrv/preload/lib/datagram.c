// Sockets of UDP. One that the daemon carries is a Unix socket of datagrams; for each peer the daemon has another, whose name says the peer's address. So what the kernel says of
// a datagram's sender is who has sent it, and what a program sends goes to the name of who is to have it.
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "next.h"

static const size_t longest = 65507; // bytes of UDP over IPv4

bool lmmc_is_datagrams(int fd, struct lmmc_record *own) {
	int saved = errno;
	bool is = lmmc_own_name(fd, own) && own->kind == LMMC_DATAGRAMS;
	errno = saved;
	return is;
}

// told says of what has failed what a socket of UDP says.
static ssize_t told(int fd, ssize_t result) {
	struct lmmc_record own;
	if (result < 0 && (errno == ENOTCONN || errno == ECONNRESET) && lmmc_is_datagrams(fd, &own))
		errno = errno == ENOTCONN ? EDESTADDRREQ : ECONNREFUSED;
	return result;
}

static bool is_udp(int fd, int *domain) {
	*domain = lmmc_option(fd, SO_DOMAIN);
	return (*domain == AF_INET || *domain == AF_INET6) && lmmc_option(fd, SO_PROTOCOL) == IPPROTO_UDP;
}

// carries says whether an address is the cluster's: of a multicast group that is so unless the socket's are to go by another interface.
static bool carries(int fd, const struct lmmc_end *e) {
	struct in_addr by = {0};
	socklen_t size = sizeof by;
	if (!lmmc_is_group(e))
		return lmmc_in_cluster(e);
	NEXT(getsockopt)(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, &size); // which fails if the daemon has it
	return by.s_addr == 0;
}

// adopt has the daemon carry the datagrams of the system's socket, which has a port. Returns 0 or an errno.
static int adopt(int fd, int domain) {
	struct lmmc_record r = lmmc_record(LMMC_ADOPT, domain);
	struct sockaddr_storage own;
	socklen_t size = sizeof own;
	int by;
	if (NEXT(getsockname)(fd, (void *)&own, &size) < 0)
		return errno;
	lmmc_end_of((void *)&own, size, &r.local);
	if (memcmp(r.local.port, "\0", 2) == 0) {
		if (NEXT(bind)(fd, (void *)&own, size) < 0 || NEXT(getsockname)(fd, (void *)&own, &size) < 0)
			return errno;
		lmmc_end_of((void *)&own, size, &r.local);
	}
	int flags = fcntl(fd, F_GETFL); // which the daemon changes
	int problem = lmmc_ask(&r, fd, &by, NULL);
	if (problem) {
		fcntl(fd, F_SETFL, flags);
		return problem;
	}
	if (lmmc_own_name(by, &r))
		lmmc_adopted(fd, by, &r);
	return lmmc_replace(fd, by, flags) < 0 ? errno : 0;
}

static const char *reason(int problem) {
	return problem == EPROTO ? "the daemon could not be asked" : problem == EADDRINUSE ? "another program of this node has the port" : "the daemon could not carry it";
}

int lmmc_bound_datagrams(int fd, int domain) {
	struct sockaddr_storage a;
	struct lmmc_end own;
	socklen_t size = sizeof a;
	if (NEXT(getsockname)(fd, (void *)&a, &size) < 0 || !lmmc_end_of((void *)&a, size, &own))
		return 0;
	if (!lmmc_is_any(&own) && !lmmc_is_own(&own) && !lmmc_is_group(&own)) {
		lmmc_note(fd, NULL, "not an address of the cluster");
		return 0;
	}
	int problem = adopt(fd, domain);
	if (problem && problem != EPROTO && lmmc_is_own(&own))
		return lmmc_fail(problem); // nothing would come
	if (problem)
		lmmc_note(fd, NULL, reason(problem));
	return 0;
}

// reach asks the daemon for its end for a peer.
static int reach(const struct lmmc_record *name, int value) {
	struct lmmc_record r = lmmc_record(LMMC_REACH, name->domain);
	r.id = name->id;
	r.peer = name->peer;
	r.value = value;
	return lmmc_ask(&r, -1, NULL, NULL);
}

// give_back puts the system's socket in the place of one that the daemon has carried.
static int give_back(int fd, const struct lmmc_record *own) {
	struct lmmc_record r = lmmc_record(LMMC_RETURN, own->domain);
	int by, flags = fcntl(fd, F_GETFL);
	r.id = own->id;
	int problem = lmmc_ask(&r, -1, &by, NULL);
	return problem ? lmmc_fail(problem) : lmmc_replace(fd, by, flags);
}

static struct lmmc_record peer_name(const struct lmmc_record *own, const struct lmmc_end *peer) {
	struct lmmc_record name = lmmc_record(LMMC_PEER, own->domain);
	name.id = own->id;
	name.peer = *peer;
	return name;
}

int lmmc_connect_datagrams(int fd, const struct sockaddr *to, socklen_t size) {
	struct lmmc_record own, name;
	struct lmmc_end peer;
	struct sockaddr_un un;
	int domain;
	bool known = lmmc_end_of(to, size, &peer);
	if (!lmmc_is_datagrams(fd, &own)) {
		if (!known || !is_udp(fd, &domain))
			return NEXT(connect)(fd, to, size);
		int problem = carries(fd, &peer) ? adopt(fd, domain) : EDESTADDRREQ;
		if (problem || !lmmc_is_datagrams(fd, &own)) {
			int result = NEXT(connect)(fd, to, size);
			lmmc_note(fd, &peer, problem == EDESTADDRREQ ? "not an address of the cluster" : reason(problem));
			return result;
		}
	}
	if (!known) { // AF_UNSPEC
		name = peer_name(&own, &(struct lmmc_end){0});
		reach(&name, -1);
		return NEXT(connect)(fd, to, size);
	}
	if (!carries(fd, &peer))
		return give_back(fd, &own) < 0 ? -1 : connect(fd, to, size);
	name = peer_name(&own, &peer);
	int problem = reach(&name, 1);
	return problem ? lmmc_fail(problem == EPROTO ? ENETDOWN : problem) : NEXT(connect)(fd, (void *)&un, lmmc_name(&name, &un));
}

// direct says where what a descriptor is to send to an address goes: 1: to what has the name; 0: there, as it was said; -1: nowhere, as errno says.
static int direct(int fd, const struct sockaddr *to, socklen_t size, struct lmmc_record *name) {
	struct lmmc_record own;
	struct lmmc_end peer;
	int domain;
	if (!lmmc_end_of(to, size, &peer))
		return 0;
	if (!lmmc_is_datagrams(fd, &own)) {
		if (!carries(fd, &peer) || !is_udp(fd, &domain))
			return 0;
		struct sockaddr_storage other;
		socklen_t other_size = sizeof other;
		int problem = NEXT(getpeername)(fd, (void *)&other, &other_size) == 0 ? EISCONN : adopt(fd, domain);
		if (problem || !lmmc_is_datagrams(fd, &own)) {
			lmmc_note(fd, &peer, problem == EISCONN ? "connected to what is not of the cluster" : reason(problem));
			return 0;
		}
	}
	if (memcmp(peer.port, "\0", 2) == 0)
		return lmmc_fail(EINVAL);
	*name = peer_name(&own, &peer);
	return 1;
}

// sound says whether control messages that go with a datagram are: what they say changes nothing, but for how it would be cut.
static bool sound(const struct msghdr *m) {
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR((struct msghdr *)m, c)) {
		int value = 0;
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_SEGMENT)
			return lmmc_fail(EIO) == 0; // as of an interface that cannot
		if (c->cmsg_level != IPPROTO_IP)
			continue;
		size_t size = c->cmsg_len - CMSG_LEN(0);
		memcpy(&value, CMSG_DATA(c), size < sizeof value ? size : sizeof value);
		struct in_pktinfo info;
		struct lmmc_end own;
		struct sockaddr_in by = {.sin_family = AF_INET};
		switch (c->cmsg_type) {
		case IP_PKTINFO:
			if (size != sizeof info)
				return lmmc_fail(EINVAL) == 0;
			memcpy(&info, CMSG_DATA(c), sizeof info);
			by.sin_addr = info.ipi_spec_dst;
			lmmc_end_of((void *)&by, sizeof by, &own);
			if (!lmmc_is_any(&own) && !lmmc_is_own(&own))
				return lmmc_fail(ENETUNREACH) == 0;
			break;
		case IP_TTL:
			if (size != sizeof value || value < 1 || value > 255)
				return lmmc_fail(EINVAL) == 0;
			break;
		case IP_TOS:
			if ((size != sizeof value && size != 1) || value < 0 || value > 255)
				return lmmc_fail(EINVAL) == 0;
			break;
		default:
			return lmmc_fail(EINVAL) == 0;
		}
	}
	return true;
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags) {
	struct lmmc_record name;
	int way = m ? direct(fd, m->msg_name, m->msg_namelen, &name) : 0;
	if (way <= 0)
		return way < 0 ? -1 : told(fd, NEXT(sendmsg)(fd, m, flags));
	if (!sound(m))
		return -1;
	struct sockaddr_un un;
	struct msghdr there = {.msg_name = &un, .msg_namelen = lmmc_name(&name, &un), .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen};
	size_t n = 0;
	for (size_t i = 0; i < m->msg_iovlen; i++)
		n += m->msg_iov[i].iov_len;
	if (n > longest)
		return lmmc_fail(EMSGSIZE);
	ssize_t result = NEXT(sendmsg)(fd, &there, flags);
	if (result < 0 && errno == ECONNREFUSED) { // there is no such end yet, or no more
		int problem = reach(&name, 0);
		result = problem ? lmmc_fail(problem == EPROTO ? ENETDOWN : problem) : NEXT(sendmsg)(fd, &there, flags);
	}
	return told(fd, result);
}

ssize_t sendto(int fd, const void *b, size_t n, int flags, const struct sockaddr *to, socklen_t size) {
	if (!to)
		return NEXT(sendto)(fd, b, n, flags, to, size);
	struct msghdr m = {.msg_name = (void *)to, .msg_namelen = size, .msg_iov = &(struct iovec){(void *)b, n}, .msg_iovlen = 1};
	return sendmsg(fd, &m, flags);
}

int sendmmsg(int fd, struct mmsghdr *m, unsigned count, int flags) {
	struct lmmc_record own;
	struct lmmc_end peer;
	if (count == 0 || (!(lmmc_end_of(m->msg_hdr.msg_name, m->msg_hdr.msg_namelen, &peer) && carries(fd, &peer)) && !lmmc_is_datagrams(fd, &own)))
		return NEXT(sendmmsg)(fd, m, count, flags);
	for (unsigned i = 0; i < count; i++) {
		ssize_t n = sendmsg(fd, &m[i].msg_hdr, flags);
		if (n < 0)
			return i ? (int)i : -1;
		m[i].msg_len = (unsigned)n;
	}
	return (int)count;
}

// add adds a control message, or what there is room for, as the kernel does.
static void add(struct msghdr *to, size_t room, int type, const void *value, size_t size) {
	struct cmsghdr c = {.cmsg_len = CMSG_LEN(size), .cmsg_level = IPPROTO_IP, .cmsg_type = type};
	size_t left = room - to->msg_controllen;
	char *at = (char *)to->msg_control + to->msg_controllen;
	if (left < c.cmsg_len)
		to->msg_flags |= MSG_CTRUNC;
	if (left < sizeof c)
		return;
	if (left < c.cmsg_len)
		c.cmsg_len = left;
	memcpy(at, &c, sizeof c);
	memcpy(at + CMSG_LEN(0), value, c.cmsg_len - CMSG_LEN(0));
	to->msg_controllen += left < CMSG_SPACE(size) ? left : CMSG_SPACE(size);
}

// inform adds the control messages that the program wants of a datagram from a peer.
static void inform(int fd, const struct lmmc_record *own, const struct lmmc_record *from, struct msghdr *to, size_t room) {
	enum lmmc_wanted wanted = room && own->domain == AF_INET ? lmmc_wanted(fd) : 0;
	struct lmmc_end node = lmmc_own_for(&from->peer, from->peer.port), at = from->local;
	if (lmmc_is_any(&at))
		at = lmmc_is_group(&own->local) ? own->local : node;
	struct in_pktinfo info = {0};
	memcpy(&info.ipi_addr, at.ip + 12, 4);
	memcpy(&info.ipi_spec_dst, node.ip + 12, 4);
	if (wanted & LMMC_PKTINFO)
		add(to, room, IP_PKTINFO, &info, sizeof info);
	int ttl = lmmc_is_group(&at) ? 1 : 64;
	if (wanted & LMMC_TTL)
		add(to, room, IP_TTL, &ttl, sizeof ttl);
	if (wanted & LMMC_TOS)
		add(to, room, IP_TOS, "", 1);
}

// keep copies what the kernel says with a datagram to who receives it, but not who has sent it. Returns whether that was the daemon.
static bool keep(struct msghdr *from, uid_t daemon, struct msghdr *to) {
	bool known = false;
	size_t room = to->msg_control ? to->msg_controllen : 0, used = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(from); c; c = CMSG_NXTHDR(from, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
			struct ucred by;
			memcpy(&by, CMSG_DATA(c), sizeof by);
			known = by.uid == daemon;
			continue;
		}
		size_t size = CMSG_ALIGN(c->cmsg_len);
		if (used + size > room) {
			from->msg_flags |= MSG_CTRUNC;
			break;
		}
		memcpy((char *)to->msg_control + used, c, size);
		used += size;
	}
	to->msg_controllen = used;
	return known;
}

ssize_t lmmc_take(int fd, const struct lmmc_record *own, struct msghdr *m, int flags) {
	if (flags & MSG_ERRQUEUE)
		return lmmc_fail(EAGAIN);
	for (;;) {
		union {
			struct cmsghdr head;
			char room[512];
		} control;
		struct sockaddr_un un;
		struct msghdr in = {.msg_name = &un, .msg_namelen = sizeof un, .msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen, .msg_control = &control, .msg_controllen = sizeof control};
		ssize_t n = NEXT(recvmsg)(fd, &in, flags);
		if (n < 0)
			return told(fd, n);
		struct lmmc_record from = {0};
		if (lmmc_is_record(&un, in.msg_namelen))
			memcpy(&from, un.sun_path, sizeof from);
		struct msghdr out = *m;
		if (!keep(&in, (uid_t)own->value, &out) || from.kind != LMMC_PEER || from.id != own->id) { // another program's, which wants to be taken for the daemon
			if (flags & MSG_PEEK)
				NEXT(recv)(fd, &(char){0}, 1, MSG_DONTWAIT);
			continue;
		}
		out.msg_flags = in.msg_flags & ~MSG_CMSG_CLOEXEC;
		inform(fd, own, &from, &out, m->msg_control ? m->msg_controllen : 0);
		m->msg_controllen = out.msg_controllen;
		m->msg_flags = out.msg_flags;
		if (m->msg_name)
			lmmc_address_of(&from.peer, own->domain, m->msg_name, &m->msg_namelen);
		else
			m->msg_namelen = 0;
		return n;
	}
}

int recvmmsg(int fd, struct mmsghdr *m, unsigned count, int flags, struct timespec *limit) {
	struct lmmc_record own;
	if (!lmmc_is_datagrams(fd, &own))
		return NEXT(recvmmsg)(fd, m, count, flags, limit);
	struct timespec now, over = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (limit)
		over = (struct timespec){now.tv_sec + limit->tv_sec, now.tv_nsec + limit->tv_nsec};
	for (unsigned i = 0; i < count; i++) {
		ssize_t n = lmmc_take(fd, &own, &m[i].msg_hdr, flags & ~MSG_WAITFORONE);
		if (n < 0)
			return i ? (int)i : -1;
		m[i].msg_len = (unsigned)n;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (limit && (now.tv_sec - over.tv_sec) * 1000000000L + now.tv_nsec - over.tv_nsec >= 0) // looked at behind each datagram, as the kernel does
			return (int)i + 1;
	}
	return (int)count;
}

ssize_t send(int fd, const void *b, size_t n, int flags) { return told(fd, NEXT(send)(fd, b, n, flags)); }
ssize_t write(int fd, const void *b, size_t n) { return told(fd, NEXT(write)(fd, b, n)); }
ssize_t recv(int fd, void *b, size_t n, int flags) { return lmmc_no_errors(fd, flags) ? lmmc_fail(EAGAIN) : told(fd, NEXT(recv)(fd, b, n, flags)); }
ssize_t read(int fd, void *b, size_t n) { return told(fd, NEXT(read)(fd, b, n)); }
ssize_t writev(int fd, const struct iovec *b, int n) { return told(fd, NEXT(writev)(fd, b, n)); }
ssize_t readv(int fd, const struct iovec *b, int n) { return told(fd, NEXT(readv)(fd, b, n)); }

// What a program calls that was compiled to check the sizes of what it reads into; the C library's would go by these.
void __chk_fail(void) __attribute__((noreturn));
ssize_t __recvfrom_chk(int fd, void *b, size_t n, size_t room, int flags, struct sockaddr *from, socklen_t *size) {
	if (n > room)
		__chk_fail();
	return recvfrom(fd, b, n, flags, from, size);
}
ssize_t __recv_chk(int fd, void *b, size_t n, size_t room, int flags) {
	if (n > room)
		__chk_fail();
	return recv(fd, b, n, flags);
}
ssize_t __read_chk(int fd, void *b, size_t n, size_t room) {
	if (n > room)
		__chk_fail();
	return read(fd, b, n);
}
