#include "record.h"

#include <stddef.h>
#include <string.h>
#include <sys/un.h>

#include "next.h"

static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF}; // ::ffff:0:0/96

struct lmmc_record lmmc_record(enum lmmc_kind kind, int domain) {
	return (struct lmmc_record){.magic = {'l', 'm', 'm', 'c'}, .version = LMMC_VERSION, .kind = (char)kind, .domain = (uint8_t)domain};
}

bool lmmc_is_record(const void *name, socklen_t size) {
	const struct sockaddr_un *un = name;
	return size == offsetof(struct sockaddr_un, sun_path) + sizeof(struct lmmc_record) && un->sun_family == AF_UNIX &&
	       memcmp(un->sun_path, "\0lmmc", 5) == 0 && un->sun_path[5] == LMMC_VERSION;
}

static bool name_of(int (*ask)(int, struct sockaddr *, socklen_t *), int fd, struct lmmc_record *r) {
	struct sockaddr_un un;
	socklen_t size = sizeof un;
	if (ask(fd, (struct sockaddr *)&un, &size) < 0 || !lmmc_is_record(&un, size))
		return false;
	memcpy(r, un.sun_path, sizeof *r);
	return true;
}

bool lmmc_own_name(int fd, struct lmmc_record *r) { return name_of(NEXT(getsockname), fd, r); }
bool lmmc_peer_name(int fd, struct lmmc_record *r) { return name_of(NEXT(getpeername), fd, r); }

bool lmmc_end_of(const struct sockaddr *from, socklen_t size, struct lmmc_end *to) {
	if (from && size >= sizeof(struct sockaddr_in) && from->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)from;
		memcpy(to->port, &in->sin_port, 2);
		memcpy(to->ip, mapped, 12);
		memcpy(to->ip + 12, &in->sin_addr, 4);
		return true;
	}
	if (from && size >= sizeof(struct sockaddr_in6) && from->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)from;
		memcpy(to->port, &in6->sin6_port, 2);
		memcpy(to->ip, &in6->sin6_addr, 16);
		return true;
	}
	return false;
}

void lmmc_address_of(const struct lmmc_end *from, int domain, struct sockaddr *to, socklen_t *size) {
	union {
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} a;
	memset(&a, 0, sizeof a);
	socklen_t whole = domain == AF_INET ? sizeof a.in : sizeof a.in6;
	if (domain == AF_INET) {
		a.in.sin_family = AF_INET;
		memcpy(&a.in.sin_port, from->port, 2);
		memcpy(&a.in.sin_addr, from->ip + 12, 4);
	} else {
		a.in6.sin6_family = AF_INET6;
		memcpy(&a.in6.sin6_port, from->port, 2);
		memcpy(&a.in6.sin6_addr, from->ip, 16);
	}
	memcpy(to, &a, *size < whole ? *size : whole);
	*size = whole;
}

bool lmmc_is_any(const struct lmmc_end *e) {
	static const uint8_t none[16];
	return memcmp(e->ip, none, 16) == 0 || (memcmp(e->ip, mapped, 12) == 0 && memcmp(e->ip + 12, none, 4) == 0);
}

socklen_t lmmc_name(const struct lmmc_record *r, struct sockaddr_un *un) {
	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(un->sun_path, r, sizeof *r);
	return offsetof(struct sockaddr_un, sun_path) + sizeof *r;
}
