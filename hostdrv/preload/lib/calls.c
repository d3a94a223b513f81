// liblmmc-socket.so: the calls of sockets whose address decides the way: a node of the cluster is reached by the daemon, everything else by the system's stack. doc/sockets.md.
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "next.h"

int lmmc_option(int fd, int name) {
	int value = -1;
	socklen_t size = sizeof value;
	return NEXT(getsockopt)(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// is_stream says whether a descriptor is a socket of TCP, and of which domain.
static bool is_stream(int fd, int *domain) {
	*domain = lmmc_option(fd, SO_DOMAIN);
	return (*domain == AF_INET || *domain == AF_INET6) && lmmc_option(fd, SO_TYPE) == SOCK_STREAM;
}

int lmmc_fail(int problem) {
	errno = problem;
	return -1;
}

// repeated is connect for a descriptor of the daemon.
static int repeated(int fd) {
	struct lmmc_record peer;
	if (!lmmc_peer_name(fd, &peer))
		return lmmc_fail(EALREADY);
	return lmmc_fail(peer.kind == LMMC_FAILED ? peer.value : EISCONN);
}

int connect(int fd, const struct sockaddr *to, socklen_t size) {
	struct lmmc_record r;
	struct lmmc_end peer;
	int domain, by, held;
	if (!lmmc_end_of(to, size, &peer) && !(to && size >= sizeof to->sa_family && to->sa_family == AF_UNSPEC))
		return NEXT(connect)(fd, to, size);
	if (lmmc_option(fd, SO_TYPE) == SOCK_DGRAM)
		return lmmc_connect_datagrams(fd, to, size);
	if (to->sa_family == AF_UNSPEC)
		return NEXT(connect)(fd, to, size);
	if (lmmc_own_name(fd, &r))
		return r.kind == LMMC_LISTENER ? lmmc_fail(EISCONN) : repeated(fd);
	bool stream = is_stream(fd, &domain);
	if (!stream || !lmmc_in_cluster(&peer)) {
		if (stream || lmmc_in_cluster(&peer))
			lmmc_note(fd, &peer, stream ? "not an address of the cluster" : "neither TCP nor UDP");
		return NEXT(connect)(fd, to, size);
	}
	struct sockaddr_storage own;
	socklen_t own_size = sizeof own;
	r = lmmc_record(LMMC_CONNECT, domain);
	r.peer = peer;
	if (NEXT(getsockname)(fd, (void *)&own, &own_size) == 0)
		lmmc_end_of((void *)&own, own_size, &r.local);
	int flags = fcntl(fd, F_GETFL);
	bool waits = !(flags & O_NONBLOCK);
	r.value = waits;
	int problem = lmmc_ask(&r, -1, &by, &held);
	if (problem == EPROTO) {
		lmmc_note(fd, &peer, "the daemon could not be asked");
		return NEXT(connect)(fd, to, size);
	}
	if (problem)
		return lmmc_fail(problem);
	problem = EINPROGRESS;
	if (waits) {
		struct timeval limit = {0};
		socklen_t limit_size = sizeof limit;
		NEXT(getsockopt)(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &limit_size);
		problem = lmmc_outcome(held, &limit);
	}
	close(held);
	if (problem && problem != EINPROGRESS && problem != EINTR) { // the descriptor stays as it was
		close(by);
		return lmmc_fail(problem);
	}
	if (lmmc_replace(fd, by, flags) < 0)
		return -1;
	return problem ? lmmc_fail(problem) : 0;
}

int bind(int fd, const struct sockaddr *to, socklen_t size) {
	int result = NEXT(bind)(fd, to, size);
	struct lmmc_end own;
	int one = 1, domain;
	if ((result < 0 && errno != EADDRNOTAVAIL && errno != EADDRINUSE) || !lmmc_end_of(to, size, &own))
		return result;
	bool datagrams = !is_stream(fd, &domain);
	if (datagrams && lmmc_option(fd, SO_PROTOCOL) != IPPROTO_UDP)
		return result;
	// The system's stack does not have the node's address, unless lmmc ip up gives it that.
	if (result < 0 && errno == EADDRNOTAVAIL && lmmc_is_own(&own) && NEXT(setsockopt)(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof one) == 0)
		result = NEXT(bind)(fd, to, size);
	if (result < 0 && errno == EADDRINUSE) { // perhaps by a listener whose program has just closed it
		struct lmmc_record r = lmmc_record(LMMC_REAP, domain);
		result = lmmc_ask(&r, -1, NULL, NULL) ? lmmc_fail(EADDRINUSE) : NEXT(bind)(fd, to, size);
	}
	return result == 0 && datagrams ? lmmc_bound_datagrams(fd, domain) : result;
}

int listen(int fd, int backlog) {
	struct lmmc_record r;
	struct sockaddr_storage own;
	socklen_t size = sizeof own;
	int domain, by;
	int result = NEXT(listen)(fd, backlog);
	if (result < 0 || !is_stream(fd, &domain) || NEXT(getsockname)(fd, (void *)&own, &size) < 0)
		return result;
	r = lmmc_record(LMMC_LISTEN, domain);
	lmmc_end_of((void *)&own, size, &r.local);
	if (!lmmc_is_any(&r.local) && !lmmc_is_own(&r.local)) {
		lmmc_note(fd, NULL, "not an address of the cluster");
		return result;
	}
	r.value = backlog;
	int flags = fcntl(fd, F_GETFL); // which the daemon changes
	int problem = lmmc_ask(&r, fd, &by, NULL);
	if (problem == 0)
		return lmmc_replace(fd, by, flags);
	fcntl(fd, F_SETFL, flags);
	if (lmmc_is_own(&r.local) && problem != EPROTO)
		return lmmc_fail(problem); // nobody would come
	lmmc_note(fd, NULL, problem == EADDRINUSE ? "another program of this node has the port" : "the daemon could not be asked");
	return result;
}

int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags) {
	struct lmmc_record listener, r;
	if (!lmmc_own_name(fd, &listener) || listener.kind != LMMC_LISTENER) {
		struct sockaddr_storage a;
		struct lmmc_end peer;
		socklen_t whole = sizeof a;
		int got = NEXT(accept4)(fd, from, size, flags);
		if (got >= 0 && NEXT(getpeername)(got, (void *)&a, &whole) == 0 && lmmc_end_of((void *)&a, whole, &peer))
			lmmc_note(got, &peer, "came by the system's stack");
		return got;
	}
	for (;;) { // what comes is a message of the daemon with the connection
		int got = -1, spare = fcntl(fd, F_DUPFD_CLOEXEC, 0); // room for the connection: without it that waits
		if (spare < 0)
			return -1;
		int message = NEXT(accept4)(fd, NULL, NULL, SOCK_CLOEXEC);
		int problem = errno;
		close(spare);
		if (message < 0)
			return lmmc_fail(problem);
		struct ucred by;
		socklen_t by_size = sizeof by;
		if (NEXT(getsockopt)(message, SOL_SOCKET, SO_PEERCRED, &by, &by_size) == 0 && (int32_t)by.uid == listener.value)
			got = lmmc_receive(message, &r);
		close(message);
		if (got < 0)
			continue;
		int status = fcntl(got, F_GETFL) & ~O_NONBLOCK;
		fcntl(got, F_SETFL, flags & SOCK_NONBLOCK ? status | O_NONBLOCK : status);
		if (!(flags & SOCK_CLOEXEC))
			fcntl(got, F_SETFD, 0);
		if (from && size)
			getpeername(got, from, size);
		return got;
	}
}

int accept(int fd, struct sockaddr *from, socklen_t *size) { return accept4(fd, from, size, 0); }

int getsockname(int fd, struct sockaddr *to, socklen_t *size) {
	struct lmmc_record own, peer;
	if (!lmmc_own_name(fd, &own))
		return NEXT(getsockname)(fd, to, size);
	bool known = lmmc_peer_name(fd, &peer);
	if (known && peer.kind == LMMC_PEER && lmmc_is_any(&own.local))
		own.local = lmmc_own_for(&peer.peer, own.local.port);
	known = known && own.kind == LMMC_SOCKET && peer.kind == LMMC_CONNECTED;
	lmmc_address_of(known ? &peer.local : &own.local, own.domain, to, size);
	return 0;
}

int getpeername(int fd, struct sockaddr *to, socklen_t *size) {
	struct lmmc_record own, peer;
	if (!lmmc_own_name(fd, &own))
		return NEXT(getpeername)(fd, to, size);
	if (!lmmc_peer_name(fd, &peer) || peer.kind != (own.kind == LMMC_SOCKET ? LMMC_CONNECTED : LMMC_PEER))
		return lmmc_fail(ENOTCONN);
	lmmc_address_of(&peer.peer, own.domain, to, size);
	return 0;
}

// unnamed lets nobody see the name of the daemon's end: TCP says no address with what is received.
static void unnamed(const void *name, socklen_t *size) {
	if (name && size && lmmc_is_record(name, *size))
		*size = 0;
}

bool lmmc_no_errors(int fd, int flags) {
	struct lmmc_record own;
	return (flags & MSG_ERRQUEUE) && lmmc_own_name(fd, &own);
}

ssize_t recvfrom(int fd, void *b, size_t n, int flags, struct sockaddr *from, socklen_t *size) {
	struct sockaddr_un un;
	struct lmmc_record own;
	socklen_t whole = sizeof un;
	if (lmmc_no_errors(fd, flags))
		return lmmc_fail(EAGAIN);
	if (!from || !size)
		return NEXT(recvfrom)(fd, b, n, flags, from, size);
	if (lmmc_is_datagrams(fd, &own)) {
		struct msghdr m = {.msg_name = from, .msg_namelen = *size, .msg_iov = &(struct iovec){b, n}, .msg_iovlen = 1};
		ssize_t result = lmmc_take(fd, &own, &m, flags);
		*size = m.msg_namelen;
		return result;
	}
	ssize_t result = NEXT(recvfrom)(fd, b, n, flags, (void *)&un, &whole);
	if (result < 0)
		return result;
	unnamed(&un, &whole);
	memcpy(from, &un, *size < whole ? *size : whole);
	*size = whole;
	return result;
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags) {
	struct lmmc_record own;
	if (lmmc_no_errors(fd, flags))
		return lmmc_fail(EAGAIN);
	if (lmmc_is_datagrams(fd, &own))
		return lmmc_take(fd, &own, m, flags);
	ssize_t result = NEXT(recvmsg)(fd, m, flags);
	if (result >= 0)
		unnamed(m->msg_name, &m->msg_namelen);
	return result;
}
