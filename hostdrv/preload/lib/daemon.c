#include "record.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "next.h"

// What lmmc run has said, kept since programs clear their environment.
static struct sockaddr_un at; // the daemon's socket; no family: there is none
static bool quiet;
static struct net {
	struct lmmc_end own;
	int bits; // of a prefix of 128
} nets[16];
static int net_count;
static bool groups; // multicast groups are the cluster's

__attribute__((constructor)) static void configure(void) {
	const char *path = getenv("LMMC_SOCKET_DAEMON"), *list = getenv("LMMC_SOCKET_NETS");
	quiet = getenv("LMMC_SOCKET_QUIET") != NULL;
	groups = getenv("LMMC_SOCKET_GROUPS") != NULL;
	if (!path || !list || strlen(path) >= sizeof at.sun_path)
		return;
	char text[1024], *rest = text;
	snprintf(text, sizeof text, "%s", list);
	for (char *item; (item = strsep(&rest, " ")) && net_count < 16;) { // as 10.0.0.2/24 or fd00::2/64
		char *bits = strchr(item, '/');
		if (!bits)
			continue;
		*bits++ = 0;
		struct sockaddr_in in = {.sin_family = AF_INET};
		struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
		struct net *n = &nets[net_count];
		if (inet_pton(AF_INET, item, &in.sin_addr) == 1) {
			lmmc_end_of((void *)&in, sizeof in, &n->own);
			n->bits = 96 + atoi(bits);
		} else if (inet_pton(AF_INET6, item, &in6.sin6_addr) == 1) {
			lmmc_end_of((void *)&in6, sizeof in6, &n->own);
			n->bits = atoi(bits);
		} else
			continue;
		net_count++;
	}
	strcpy(at.sun_path, path);
	at.sun_family = AF_UNIX;
}

// net_of is the one that has an address, or NULL.
static const struct net *net_of(const struct lmmc_end *e) {
	for (int i = 0; i < net_count; i++) {
		int whole = nets[i].bits / 8, rest = nets[i].bits % 8;
		if (memcmp(e->ip, nets[i].own.ip, (size_t)whole) == 0 && (rest == 0 || (e->ip[whole] ^ nets[i].own.ip[whole]) >> (8 - rest) == 0))
			return &nets[i];
	}
	return NULL;
}

bool lmmc_in_cluster(const struct lmmc_end *e) { return net_of(e) != NULL; }

bool lmmc_is_group(const struct lmmc_end *e) { // 224.0.0.0/24 is what a link's own protocols have
	return groups && memcmp(e->ip, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF", 12) == 0 && e->ip[12] >> 4 == 14 && memcmp(e->ip + 12, "\xE0\0\0", 3) != 0;
}

bool lmmc_has_groups(void) { return groups; }

struct lmmc_end lmmc_own_for(const struct lmmc_end *peer, const uint8_t port[2]) {
	const struct net *n = lmmc_is_group(peer) && net_count > 0 ? &nets[0] : net_of(peer);
	struct lmmc_end own = n ? n->own : (struct lmmc_end){0};
	memcpy(own.port, port, 2);
	return own;
}

bool lmmc_is_own(const struct lmmc_end *e) {
	for (int i = 0; i < net_count; i++)
		if (memcmp(e->ip, nets[i].own.ip, 16) == 0)
			return true;
	return false;
}

bool lmmc_node_address(const char *name, int family, char *text, socklen_t size) {
	char *rest;
	if (strncmp(name, "node", 4) != 0 || name[4] < '1' || name[4] > '9')
		return false;
	unsigned long node = strtoul(name + 4, &rest, 10);
	if ((*rest && strcmp(rest, ".cluster") != 0 && strcmp(rest, ".cluster.") != 0) || node > 4095)
		return false;
	const struct net *n = NULL;
	for (int i = 0; i < net_count && !n; i++) // one of IPv6 only to those who want that
		if ((memcmp(nets[i].own.ip, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF", 12) == 0) != (family == AF_INET6))
			n = &nets[i];
	if (!n && net_count > 0 && family != AF_INET)
		n = &nets[0];
	if (!n || (128 - n->bits < 16 && node >= (1ul << (128 - n->bits)) - 1))
		return false;
	uint8_t ip[16] = {0};
	for (int i = 0; i < n->bits; i++)
		ip[i / 8] |= (uint8_t)(n->own.ip[i / 8] & 128 >> i % 8);
	ip[14] |= (uint8_t)(node >> 8);
	ip[15] |= (uint8_t)node;
	bool four = memcmp(ip, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF", 12) == 0;
	return inet_ntop(four ? AF_INET : AF_INET6, four ? ip + 12 : ip, text, size) != NULL;
}

// warn says once why sockets go by the system's stack, unless standard error is a connection.
static void warn(const char *why) {
	static bool warned;
	struct stat s;
	if (!quiet && !warned && fstat(2, &s) == 0 && !S_ISSOCK(s.st_mode))
		dprintf(2, "lmmc: %s: %s; connections go by the system's stack\n", at.sun_path, why);
	warned = true;
}

static bool exchange(int fd, const struct lmmc_record *r, const void *more, size_t size, int with) {
	struct iovec parts[] = {{(void *)r, sizeof *r}, {(void *)more, size}};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2};
	if (with >= 0) {
		memcpy(CMSG_DATA(&control.head), &with, sizeof with);
		m.msg_control = &control, m.msg_controllen = sizeof control;
	}
	return sendmsg(fd, &m, MSG_NOSIGNAL) >= 0;
}

// receive receives a descriptor with a record, and what follows that.
static int receive(int from, struct lmmc_record *r, void *more, socklen_t *size) {
	struct iovec parts[] = {{r, sizeof *r}, {more, *size}};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
	ssize_t n;
	int got = -1;
	r->kind = 0;
	while ((n = NEXT(recvmsg)(from, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
		;
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&got, CMSG_DATA(c), sizeof got);
	if (n < (ssize_t)sizeof *r)
		r->kind = 0;
	else
		*size = (socklen_t)((size_t)n - sizeof *r);
	return got;
}

int lmmc_receive(int from, struct lmmc_record *r) { return receive(from, r, NULL, &(socklen_t){0}); }

// reach connects to the daemon. Returns -1 if it is not there.
static int reach(void) {
	if (at.sun_family == 0) {
		errno = ENOENT;
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || NEXT(connect)(fd, (void *)&at, sizeof at) == 0)
		return fd;
	int problem = errno;
	warn(errno == EACCES || errno == EPERM ? "the daemon is another user's" : "no daemon (lmmc run has ended)");
	close(fd);
	errno = problem;
	return -1;
}

static int ask(struct lmmc_record *r, int with, void *more, socklen_t *size, int *got, int *hold) {
	int fd = reach();
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? errno : EPROTO;
	int descriptor = -1, problem = EPROTO;
	if (exchange(fd, r, more, *size, with)) {
		descriptor = receive(fd, r, more, size);
		if (r->kind && r->version != LMMC_VERSION)
			warn("the daemon is of another version than liblmmc-socket.so: use both of one build");
		else if (r->kind == LMMC_DONE)
			problem = got && descriptor < 0 ? EMFILE : 0;
		else if (r->kind == LMMC_ERROR)
			problem = r->value;
		else
			warn("the daemon does not answer");
	}
	if (problem == 0 && hold)
		*hold = fd;
	else {
		NEXT(recv)(fd, &(char){0}, 1, 0); // the end: the daemon has let go of what it has passed and got
		close(fd);
	}
	if (problem == 0 && got)
		*got = descriptor;
	else if (descriptor >= 0)
		close(descriptor);
	return problem;
}

int lmmc_ask(struct lmmc_record *r, int with, int *got, int *hold) { return ask(r, with, NULL, &(socklen_t){0}, got, hold); }
int lmmc_ask_option(struct lmmc_record *r, void *value, socklen_t *size) { return ask(r, -1, value, size, NULL, NULL); }

int lmmc_outcome(int held, const struct timeval *limit) {
	struct lmmc_record r;
	setsockopt(held, SOL_SOCKET, SO_RCVTIMEO, limit, sizeof *limit);
	ssize_t n = NEXT(recv)(held, &r, sizeof r, 0); // is gone on with, or not, behind a signal as connect is
	if (n < 0)
		return errno == EAGAIN ? EINPROGRESS : errno;
	if (n < (ssize_t)sizeof r)
		return ECONNRESET;
	return r.kind == LMMC_DONE ? 0 : r.value;
}

void lmmc_note(int fd, const struct lmmc_end *peer, const char *why) {
	int saved = errno, to = reach();
	if (to < 0) {
		errno = saved;
		return;
	}
	struct lmmc_record r = lmmc_record(LMMC_NOTE, lmmc_option(fd, SO_TYPE));
	struct sockaddr_storage a;
	socklen_t size = sizeof a;
	struct stat s;
	r.id = fstat(fd, &s) == 0 ? s.st_ino : 0;
	if (NEXT(getsockname)(fd, (void *)&a, &size) == 0)
		lmmc_end_of((void *)&a, size, &r.local);
	if (peer)
		r.peer = *peer;
	exchange(to, &r, why, strlen(why), -1);
	close(to);
	errno = saved;
}
