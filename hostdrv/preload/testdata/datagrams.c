// Calls of sockets of UDP, and what each returns: datagrams ADDRESS. The same must be printed over the kernel's UDP and over the daemon's.
#include "calls.h"

static int bound(int port) {
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = at;
	to.sin_port = htons(port);
	if (bind(s, (void *)&to, sizeof to) < 0)
		perror("bound"), exit(1);
	return s;
}

// fixed is bound to a port that was asked for by its number, which it keeps whatever it is connected to.
static int fixed(void) {
	int s = bound(0), port = ntohs(name(s).sin_port);
	close(s);
	return bound(port);
}

static void names(void) {
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = bound(0);
	struct sockaddr_in to = name(b), p;
	socklen_t n = sizeof p;
	SAY("local before bind %d", name(a).sin_port);
	SAY("bound to what was said %d, a port %d", to.sin_addr.s_addr == at.sin_addr.s_addr, to.sin_port != 0);
	CALL(getpeername(b, (void *)&p, &n));
	CALL(bind(b, (void *)&to, sizeof to));
	CALL(connect(a, (void *)&to, sizeof to));
	CALL(getpeername(a, (void *)&p, &n));
	SAY("peer %d %d, size %u; local %d, a port %d", p.sin_addr.s_addr == to.sin_addr.s_addr, p.sin_port == to.sin_port, n, name(a).sin_addr.s_addr == at.sin_addr.s_addr, name(a).sin_port != 0);
	int other = socket(AF_INET, SOCK_DGRAM, 0);
	CALL(bind(other, (void *)&to, sizeof to));
	close(b);
	CALL(bind(other, (void *)&to, sizeof to)); // the port of one that is closed is free
	CALL(listen(other, 1));
	CALL(accept(other, NULL, NULL));
	SAY("type %d, domain %d, protocol %d, listens %d, error %d", get(a, SOL_SOCKET, SO_TYPE), get(a, SOL_SOCKET, SO_DOMAIN), get(a, SOL_SOCKET, SO_PROTOCOL), get(a, SOL_SOCKET, SO_ACCEPTCONN), get(a, SOL_SOCKET, SO_ERROR));
	CALL(set(a, SOL_SOCKET, SO_BROADCAST, 1));
	SAY("SO_BROADCAST %d", get(a, SOL_SOCKET, SO_BROADCAST));
	CALL(set(a, IPPROTO_IP, IP_TOS, 16));
	CALL(set(a, IPPROTO_IP, IP_MULTICAST_TTL, 2));
	CALL(set(a, IPPROTO_UDP, 12345, 1));
	CALL(set(a, IPPROTO_TCP, TCP_NODELAY, 1) < 0);
}

static void data(void) {
	int a = bound(0), b = bound(0), have;
	char t[100] = {0};
	struct sockaddr_in to = name(b), from = {0};
	socklen_t n = sizeof from;
	SAY("events %#x", events(a, POLLOUT));
	CALL(recv(b, t, 9, MSG_DONTWAIT));
	CALL(sendto(a, "hello", 5, 0, (void *)&to, sizeof to));
	SAY("events %#x", events(b, POLLIN));
	CALL(ioctl(b, FIONREAD, &have));
	SAY("readable %d", have);
	CALL(recvfrom(b, t, 3, MSG_PEEK, (void *)&from, &n));
	SAY("from %d %d, family %d, size %u: %.3s", from.sin_addr.s_addr == at.sin_addr.s_addr, from.sin_port == name(a).sin_port, from.sin_family, n, t);
	CALL(recv(b, t, 3, MSG_PEEK | MSG_TRUNC));
	struct msghdr m = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = (struct iovec[]){{t, 2}, {t + 50, 2}}, .msg_iovlen = 2};
	CALL(recvmsg(b, &m, 0));
	SAY("flags %#x, size %u, control %zu: %.2s %.2s", m.msg_flags, m.msg_namelen, m.msg_controllen, t, t + 50);
	CALL(recv(b, t, 9, MSG_DONTWAIT)); // the rest of a datagram is dropped
	CALL(sendto(b, "back", 4, 0, (void *)&from, sizeof from));
	CALL(recvfrom(a, t, 100, 0, (void *)&from, &n));
	SAY("from %d", from.sin_port == to.sin_port);
	CALL(sendto(a, "", 0, 0, (void *)&to, sizeof to));
	CALL(recv(b, t, 9, 0));
	volatile size_t some = 9; // so that a compiler that checks sizes leaves it to the C library
	sendto(a, "x", 1, 0, (void *)&to, sizeof to);
	n = sizeof from;
	CALL(recvfrom(b, t, some, 0, (void *)&from, &n));
	SAY("from %d, size %u", from.sin_port == name(a).sin_port, n);
	for (int i = 0; i < 2; i++)
		sendto(a, "x", 1, 0, (void *)&to, sizeof to);
	CALL(recv(b, t, some, 0));
	CALL(read(b, t, some));
	n = 4;
	sendto(a, "x", 1, 0, (void *)&to, sizeof to);
	CALL(recvfrom(b, t, 9, 0, (void *)&from, &n));
	SAY("cut: size %u", n);
	sendto(a, "y", 1, 0, (void *)&to, sizeof to);
	CALL(recvfrom(b, t, 9, 0, NULL, NULL));
	to.sin_port = 0;
	CALL(sendto(a, "x", 1, 0, (void *)&to, sizeof to));
	CALL(send(a, "x", 1, 0));
	CALL(write(a, "x", 1));
	to = name(b);
	static char big[70000];
	for (unsigned i = 0; i < sizeof big; i++)
		big[i] = (char)(i * 7 >> 3);
	for (int *size = (int[]){1472, 16364, 16365, 40000, 65507, 0}; *size; size++) {
		static char in[70000];
		SAY("size %d", *size);
		CALL(sendto(a, big, *size, 0, (void *)&to, sizeof to));
		CALL(recv(b, in, sizeof in, 0));
		SAY("as sent %d", memcmp(in, big, *size) == 0);
	}
	CALL(sendto(a, big, 65508, 0, (void *)&to, sizeof to));
	CALL(sendto(a, big, sizeof big, 0, (void *)&to, sizeof to));
	setsockopt(a, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 10000}, sizeof(struct timeval));
	CALL(recv(a, t, 1, 0));
	CALL(recvfrom(a, t, 1, 0, (void *)&from, &n));
	CALL(recv(a, t, 1, MSG_ERRQUEUE | MSG_DONTWAIT) < 0);
	fcntl(b, F_SETFL, O_NONBLOCK);
	CALL(recv(b, t, 1, 0));
	CALL(read(b, t, 1));
}

static void uncarried(void) { // what the daemon cannot carry, a second one of a port, stays as it was
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	set(b, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	CALL(bind(a, (void *)&to, sizeof to));
	six.sin6_port = name(a).sin_port;
	CALL(bind(b, (void *)&six, sizeof six));
	SAY("flags %#x %#x", fcntl(a, F_GETFL), fcntl(b, F_GETFL));
}

static void connected_to(void) {
	int a = fixed(), b = bound(0), c = bound(0);
	char t[100] = {0};
	struct sockaddr_in to = name(b), other = name(c), own;
	connect(a, (void *)&to, sizeof to);
	own = name(a);
	CALL(write(a, "one", 3));
	CALL(writev(a, (struct iovec[]){{"tw", 2}, {"o", 1}}, 2));
	CALL(send(a, "three", 5, 0));
	CALL(recv(b, t, 100, 0));
	CALL(recv(b, t, 100, 0));
	CALL(read(b, t, 100));
	CALL(sendto(c, "from another", 12, 0, (void *)&own, sizeof own)); // which it does not hear
	CALL(sendto(b, "from the peer", 13, 0, (void *)&own, sizeof own));
	CALL(recv(a, t, 100, 0));
	SAY("%s", t);
	CALL(sendto(a, "elsewhere", 9, 0, (void *)&other, sizeof other));
	CALL(recv(c, t, 100, 0));
	CALL(connect(a, (void *)&other, sizeof other)); // another peer
	CALL(send(a, "hello", 5, 0));
	CALL(recv(c, t, 100, 0));
	CALL(connect(a, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr)));
	CALL(send(a, "x", 1, 0));
	CALL(sendto(b, "of all", 6, 0, (void *)&own, sizeof own));
	CALL(recv(a, t, 100, 0));
	CALL(connect(c, (void *)&own, sizeof own));
	CALL(sendto(a, "to c", 4, 0, (void *)&other, sizeof other));
	SAY("events %#x", events(c, POLLIN));
	CALL(recv(c, t, 100, 0));
}

static void many(void) {
	int a = bound(0), b = bound(0);
	char t[4][10] = {0};
	struct sockaddr_in to = name(b), from[4];
	struct iovec out[3] = {{"a", 1}, {"bc", 2}, {"", 0}}, in[4] = {{t[0], 9}, {t[1], 9}, {t[2], 9}, {t[3], 9}};
	struct mmsghdr send[3] = {0}, take[4] = {0};
	for (int i = 0; i < 3; i++)
		send[i].msg_hdr = (struct msghdr){.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &out[i], .msg_iovlen = 1};
	for (int i = 0; i < 4; i++)
		take[i].msg_hdr = (struct msghdr){.msg_name = &from[i], .msg_namelen = sizeof *from, .msg_iov = &in[i], .msg_iovlen = 1};
	CALL(sendmmsg(a, send, 3, 0));
	SAY("%u %u %u", send[0].msg_len, send[1].msg_len, send[2].msg_len);
	usleep(100000);
	CALL(recvmmsg(b, take, 4, MSG_WAITFORONE, NULL));
	SAY("%u %u %u from %d: %s %s", take[0].msg_len, take[1].msg_len, take[2].msg_len, from[2].sin_port == name(a).sin_port, t[0], t[1]);
	CALL(recvmmsg(b, take, 4, MSG_DONTWAIT, NULL));
	int n = 0;
	for (int i = 0; i < 300; i++) {
		sendto(a, t[0], 10, 0, (void *)&to, sizeof to);
		if (i % 3 == 2)
			while (recv(b, t[1], 10, events(b, POLLIN) ? MSG_DONTWAIT : 0) == 10 && ++n % 3)
				;
	}
	SAY("came %d", n);
}

static void watches(void) {
	int e = epoll_create1(0), other = epoll_create1(0), a = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), b = bound(0);
	struct epoll_event of_a = {EPOLLIN | EPOLLET, {.u32 = 7}}, of_other = {EPOLLIN, {.u32 = 8}}, got = {0};
	struct sockaddr_in to = name(b);
	char t[10];
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, a, &of_a)); // before it is known which way it goes
	CALL(epoll_ctl(other, EPOLL_CTL_ADD, a, &of_other));
	CALL(sendto(a, "x", 1, 0, (void *)&to, sizeof to));
	struct sockaddr_in from;
	socklen_t n = sizeof from;
	recvfrom(b, t, 1, 0, (void *)&from, &n);
	CALL(epoll_wait(e, &got, 1, 0));
	sendto(b, "1", 1, 0, (void *)&from, n);
	CALL(epoll_wait(e, &got, 1, -1));
	SAY("events %#x of %u", got.events, got.data.u32);
	CALL(epoll_wait(e, &got, 1, 0));
	CALL(epoll_wait(other, &got, 1, 0));
	SAY("events %#x of %u", got.events, got.data.u32);
	sendto(b, "2", 1, 0, (void *)&from, n);
	CALL(epoll_wait(e, &got, 1, -1));
	CALL(read(a, t, 10));
	CALL(read(a, t, 10));
	CALL(read(a, t, 10));
	int d = dup(a);
	close(a);
	CALL(sendto(b, "3", 1, 0, (void *)&from, n));
	SAY("events %#x", events(d, POLLIN));
	CALL(read(d, t, 10));
	if (fork() == 0)
		_exit(sendto(d, "child", 5, 0, (void *)&to, sizeof to) == 5 ? 0 : 1);
	int status;
	wait(&status);
	CALL(recvfrom(b, t, 10, 0, (void *)&from, &n));
	SAY("child %d, from %d", status, from.sin_port == name(d).sin_port);
	CALL(shutdown(d, SHUT_RD) < 0);
}

static void any(void) { // what is bound to any address hears of all, those of the system's stack too
	int s = socket(AF_INET, SOCK_DGRAM, 0), a = bound(0), c = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = {.sin_family = AF_INET}, from;
	char t[10];
	CALL(bind(s, (void *)&to, sizeof to));
	to.sin_port = name(s).sin_port;
	SAY("local %x", name(s).sin_addr.s_addr);
	to.sin_addr = at.sin_addr;
	CALL(sendto(a, "1", 1, 0, (void *)&to, sizeof to));
	socklen_t n = sizeof from;
	CALL(recvfrom(s, t, 10, 0, (void *)&from, &n));
	SAY("from %d", from.sin_port == name(a).sin_port);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CALL(connect(c, (void *)&to, sizeof to));
	CALL(send(c, "23", 2, 0));
	CALL(recvfrom(s, t, 10, 0, (void *)&from, &n));
	SAY("from %d %x", from.sin_port == name(c).sin_port, from.sin_addr.s_addr);
	CALL(sendto(s, "456", 3, 0, (void *)&from, n));
	CALL(recv(c, t, 10, 0));
	CALL(connect(s, (void *)&from, n)); // now only the system's stack is asked
	SAY("local %x", name(s).sin_addr.s_addr);
	CALL(send(s, "7890", 4, 0));
	CALL(recv(c, t, 10, 0));
}

static void shared(void) { // as iperf3 has a port: each client a socket, and one more for the next
	int s[3], c[3];
	struct sockaddr_in to, from;
	char t[10];
	for (int i = 0; i < 3; i++) {
		s[i] = socket(AF_INET, SOCK_DGRAM, 0);
		set(s[i], SOL_SOCKET, SO_REUSEADDR, 1);
		if (i == 0)
			to = at;
		CALL(bind(s[i], (void *)&to, sizeof to));
		to = name(s[i]);
		c[i] = socket(AF_INET, SOCK_DGRAM, 0);
		connect(c[i], (void *)&to, sizeof to);
		CALL(send(c[i], "hello", 5, 0));
		socklen_t n = sizeof from;
		CALL(recvfrom(s[i], t, 10, 0, (void *)&from, &n));
		CALL(connect(s[i], (void *)&from, n));
	}
	for (int i = 0; i < 3; i++) {
		t[0] = (char)('0' + i);
		CALL(send(c[i], t, 1, 0));
		CALL(send(s[i], t, 1, 0));
	}
	for (int i = 0; i < 3; i++) {
		CALL(recv(s[i], t, 10, 0));
		SAY("%c", t[0]);
		CALL(recv(c[i], t, 10, 0));
		SAY("%c", t[0]);
	}
}

static void nobody(void) {
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = bound(0), c = bound(0);
	struct sockaddr_in to = name(b), own;
	char t[10];
	close(b);
	CALL(connect(a, (void *)&to, sizeof to));
	do
		send(a, "x", 1, 0);
	while (!(events(a, 0) & POLLERR));
	SAY("events %#x", events(a, 0));
	CALL(recv(a, t, 1, 0));
	do
		send(a, "x", 1, 0);
	while (!(events(a, 0) & POLLERR));
	SAY("error %s", strerrorname_np(get(a, SOL_SOCKET, SO_ERROR)));
	own = name(a);
	to = name(c);
	for (int i = 0; i < 3; i++) {
		do
			send(a, "x", 1, 0);
		while (!(events(a, 0) & POLLERR));
		if (i == 0)
			CALL(sendto(a, "x", 1, 0, (void *)&to, sizeof to));
		if (i == 1)
			CALL(writev(a, &(struct iovec){"x", 1}, 1));
		if (i == 2)
			CALL(readv(a, &(struct iovec){t, 1}, 1));
	}
	CALL(connect(a, (void *)&to, sizeof to));
	CALL(sendto(c, "still", 5, 0, (void *)&own, sizeof own));
	while (recv(a, t, 10, 0) < 0 && errno == ECONNREFUSED) // as many as there were
		;
	SAY("%.5s", t);
}

static void nobody_once(void) {
	int a = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = at;
	char t[10];
	to.sin_port = htons(9);
	CALL(connect(a, (void *)&to, sizeof to));
	for (int i = 0; i < 4; i++) {
		struct pollfd p = {.fd = a};
		set(a, IPPROTO_IP, IP_RECVERR, i == 3);
		CALL(send(a, "x", 1, 0));
		CALL(poll(&p, 1, 20000));
		CALL(recv(a, t, 1, MSG_DONTWAIT));
	}
	CALL(recv(a, t, 10, MSG_ERRQUEUE)); // what ICMP has sent back
}

static void six(void) {
	int b = bound(0), a = socket(AF_INET6, SOCK_DGRAM, 0), s = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = name(b).sin_port}, p;
	struct sockaddr_in from;
	char t[10];
	to.sin6_addr.s6_addr[10] = to.sin6_addr.s6_addr[11] = 0xFF;
	memcpy(to.sin6_addr.s6_addr + 12, &at.sin_addr, 4);
	socklen_t n = sizeof from;
	CALL(sendto(a, "x", 1, 0, (void *)&to, sizeof to));
	CALL(recvfrom(b, t, 10, 0, (void *)&from, &n));
	CALL(sendto(b, "yz", 2, 0, (void *)&from, n));
	n = sizeof p;
	CALL(recvfrom(a, t, 10, 0, (void *)&p, &n));
	SAY("size %u, family %d, as it was called %d %d; domain %d", n, p.sin6_family, memcmp(&p.sin6_addr, &to.sin6_addr, 16) == 0, p.sin6_port == to.sin6_port, get(a, SOL_SOCKET, SO_DOMAIN));
	p = (struct sockaddr_in6){.sin6_family = AF_INET6};
	CALL(bind(s, (void *)&p, sizeof p));
	from = at;
	from.sin_port = name(s).sin_port;
	CALL(sendto(b, "123", 3, 0, (void *)&from, sizeof from));
	n = sizeof p;
	CALL(recvfrom(s, t, 10, 0, (void *)&p, &n));
	SAY("from %d %d", memcmp(&p.sin6_addr, &to.sin6_addr, 16) == 0, p.sin6_port == to.sin6_port);
}

// take receives a datagram of a group, and says what control messages come with it.
static void take(int fd, size_t room) {
	char t[20] = {0}, control[300];
	struct msghdr m = {.msg_iov = &(struct iovec){t, 19}, .msg_iovlen = 1, .msg_control = control, .msg_controllen = room};
	CALL(recvmsg(fd, &m, 0));
	SAY("flags %#x, control %zu: %s", m.msg_flags, m.msg_controllen, t);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		struct in_pktinfo *p = (void *)CMSG_DATA(c);
		if (c->cmsg_type == IP_PKTINFO && c->cmsg_len == CMSG_LEN(sizeof *p))
			SAY("to %x", p->ipi_addr.s_addr == at.sin_addr.s_addr ? p->ipi_spec_dst.s_addr == at.sin_addr.s_addr : p->ipi_addr.s_addr);
		else
			SAY("type %d, length %zu: %d", c->cmsg_type, c->cmsg_len, c->cmsg_len < CMSG_LEN(1) || c->cmsg_type == IP_PKTINFO ? -1 : *CMSG_DATA(c));
	}
}

static struct ip_mreqn member(const char *group) {
	struct ip_mreqn m = {.imr_address = at.sin_addr};
	inet_pton(AF_INET, group, &m.imr_multiaddr);
	return m;
}

#define OPTION(fd, name, value) setsockopt(fd, IPPROTO_IP, name, &value, sizeof value)

static void groups(void) { // of which all know that are the node's, so that nothing depends on other interfaces
	int a = bound(0), s[4], e = socket(AF_INET, SOCK_DGRAM, 0), port = 0;
	struct ip_mreqn m = member("239.1.2.3"), other = member("239.1.2.4"), none = member("10.0.0.9"), early = member("239.1.2.5");
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = m.imr_multiaddr}, p;
	struct in_addr by;
	socklen_t n = sizeof by;
	char t[20];
	for (int i = 0; i < 4; i++) { // of any address, the same, the group's, the node's
		p = to;
		p.sin_port = port;
		p.sin_addr.s_addr = i < 2 ? 0 : i == 2 ? to.sin_addr.s_addr : at.sin_addr.s_addr;
		s[i] = socket(AF_INET, SOCK_DGRAM, 0);
		set(s[i], SOL_SOCKET, SO_REUSEADDR, 1);
		CALL(bind(s[i], (void *)&p, sizeof p));
		to.sin_port = port = name(s[i]).sin_port;
	}
	SAY("bound to the group %d", name(s[2]).sin_addr.s_addr == to.sin_addr.s_addr);
	SAY("TTL %d, loop %d, all %d", get(a, IPPROTO_IP, IP_MULTICAST_TTL), get(a, IPPROTO_IP, IP_MULTICAST_LOOP), get(a, IPPROTO_IP, IP_MULTICAST_ALL));
	int joined = 0;
	for (int i = 0; i < 100; i++) { // sockets that are closed without a port
		int f = socket(AF_INET, SOCK_DGRAM, 0);
		joined += OPTION(f, IP_ADD_MEMBERSHIP, early) == 0;
		close(f);
	}
	SAY("joined %d", joined);
	CALL(OPTION(a, IP_MULTICAST_IF, at.sin_addr));
	CALL(getsockopt(a, IPPROTO_IP, IP_MULTICAST_IF, &by, &n));
	SAY("by the node %d", by.s_addr == at.sin_addr.s_addr);
	CALL(OPTION(s[0], IP_ADD_MEMBERSHIP, none));
	CALL(OPTION(s[0], IP_DROP_MEMBERSHIP, m));
	CALL(setsockopt(s[0], IPPROTO_IP, IP_ADD_MEMBERSHIP, &m, 4));
	for (int i = 0; i < 4; i++)
		CALL(OPTION(s[i], IP_ADD_MEMBERSHIP, m));
	CALL(OPTION(s[0], IP_ADD_MEMBERSHIP, m));
	CALL(sendto(a, "to all", 6, 0, (void *)&to, sizeof to));
	for (int i = 0; i < 3; i++) {
		n = sizeof p;
		CALL(recvfrom(s[i], t, 20, 0, (void *)&p, &n));
		SAY("from %d", p.sin_port == name(a).sin_port && p.sin_addr.s_addr == at.sin_addr.s_addr);
	}
	CALL(set(a, IPPROTO_IP, IP_MULTICAST_TTL, 0));
	CALL(set(a, IPPROTO_IP, IP_MULTICAST_TTL, 300));
	CALL(sendto(a, "to the node's own", 17, 0, (void *)&to, sizeof to));
	SAY("TTL %d", get(a, IPPROTO_IP, IP_MULTICAST_TTL));
	for (int i = 0; i < 3; i++)
		CALL(recv(s[i], t, 20, 0));
	p = name(s[3]);
	CALL(sendto(a, "to the node", 11, 0, (void *)&p, sizeof p));
	CALL(recv(s[3], t, 20, 0)); // the group's have not come there
	set(a, IPPROTO_IP, IP_MULTICAST_TTL, 1);

	set(s[1], IPPROTO_IP, IP_MULTICAST_ALL, 0);
	set(s[1], IPPROTO_IP, IP_PKTINFO, 1);
	set(s[1], IPPROTO_IP, IP_RECVTTL, 1);
	CALL(OPTION(s[0], IP_ADD_MEMBERSHIP, other));
	to.sin_addr = other.imr_multiaddr;
	CALL(sendto(a, "to the other", 12, 0, (void *)&to, sizeof to)); // which socket 1 does not hear
	CALL(recv(s[0], t, 20, 0));
	to.sin_addr = m.imr_multiaddr;
	CALL(connect(a, (void *)&to, sizeof to));
	SAY("local %d", name(a).sin_addr.s_addr == at.sin_addr.s_addr);
	CALL(send(a, "connected", 9, 0));
	take(s[1], 300);
	CALL(recv(s[0], t, 20, 0));
	CALL(recv(s[2], t, 20, 0));
	CALL(OPTION(s[1], IP_DROP_MEMBERSHIP, m));
	CALL(OPTION(s[1], IP_DROP_MEMBERSHIP, m));
	CALL(send(a, "once more", 9, 0)); // which socket 1 does not hear
	CALL(recv(s[2], t, 20, 0));
	p = name(s[1]);
	p.sin_addr = at.sin_addr;
	close(s[3]);
	close(s[0]);

	struct group_req g = {0};
	((struct sockaddr_in *)&g.gr_group)->sin_family = AF_INET;
	((struct sockaddr_in *)&g.gr_group)->sin_addr = early.imr_multiaddr;
	CALL(OPTION(e, IP_ADD_MEMBERSHIP, early)); // before it has a port
	CALL(OPTION(e, IP_ADD_MEMBERSHIP, early));
	CALL(OPTION(e, IP_ADD_MEMBERSHIP, m));
	CALL(OPTION(e, IP_DROP_MEMBERSHIP, m));
	CALL(OPTION(e, IP_MULTICAST_IF, at.sin_addr));
	set(e, SOL_SOCKET, SO_REUSEADDR, 1);
	p.sin_addr.s_addr = 0;
	p.sin_port = 0;
	CALL(bind(e, (void *)&p, sizeof p));
	CALL(OPTION(e, IP_ADD_MEMBERSHIP, early));
	to = name(e);
	to.sin_addr = early.imr_multiaddr;
	CALL(sendto(e, "early", 5, 0, (void *)&to, sizeof to));
	CALL(recv(e, t, 20, 0));
	CALL(OPTION(e, IP_DROP_MEMBERSHIP, early));
	int count = 0;
	for (; count < 30; count++) {
		early.imr_multiaddr.s_addr = htonl(0xEF010300 + count);
		if (OPTION(e, IP_ADD_MEMBERSHIP, early) < 0)
			break;
	}
	SAY("groups %d: %s", count, strerrorname_np(errno));
	struct ip_mreq_source source = {m.imr_multiaddr, at.sin_addr, at.sin_addr};
	CALL(OPTION(s[1], IP_ADD_SOURCE_MEMBERSHIP, source));
	CALL(OPTION(s[2], IP_BLOCK_SOURCE, source));
	close(a), close(s[1]), close(s[2]), close(e);
}

static void told(void) { // control messages
	int a = bound(0), b = bound(0);
	struct sockaddr_in to = name(b);
	CALL(set(b, IPPROTO_IP, IP_PKTINFO, 1));
	CALL(set(b, IPPROTO_IP, IP_RECVTTL, 1));
	CALL(set(b, IPPROTO_IP, IP_RECVTOS, 1));
	SAY("wanted %d %d %d", get(b, IPPROTO_IP, IP_PKTINFO), get(b, IPPROTO_IP, IP_RECVTTL), get(b, IPPROTO_IP, IP_RECVTOS));
	for (size_t *room = (size_t[]){300, 80, 72, 50, 28, 20, 1}; *room > 1; room++) {
		sendto(a, "told", 4, 0, (void *)&to, sizeof to);
		take(b, *room);
	}
	CALL(set(b, IPPROTO_IP, IP_PKTINFO, 0));
	sendto(a, "told", 4, 0, (void *)&to, sizeof to);
	take(b, 300);
	CALL(set(a, IPPROTO_IP, IP_TTL, 7));
	SAY("TTL %d", get(a, IPPROTO_IP, IP_TTL));
	CALL(set(a, IPPROTO_IP, IP_TTL, 700));
	CALL(set(a, IPPROTO_IP, IP_RECVERR, 1));
	SAY("IP_RECVERR %d", get(a, IPPROTO_IP, IP_RECVERR));

	union {
		struct cmsghdr head;
		char room[100];
	} c = {.head = {.cmsg_level = IPPROTO_IP}};
	struct msghdr m = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &(struct iovec){"with", 4}, .msg_iovlen = 1, .msg_control = &c};
	struct in_pktinfo by = {.ipi_spec_dst = at.sin_addr};
	for (struct { int type, value; size_t size; } *w = (void *)(struct { int type, value; size_t size; }[]){
		     {IP_TTL, 9, 4}, {IP_TTL, 0, 4}, {IP_TTL, 256, 4}, {IP_TTL, 9, 1}, {IP_TOS, 16, 4}, {IP_TOS, 16, 1}, {IP_TOS, 300, 4}, {IP_PKTINFO, 0, sizeof by}, {IP_PKTINFO, 1, sizeof by}, {IP_PKTINFO, 0, 4}, {IP_MTU, 0, 4}, {0}};
	     w->type; w++) {
		by.ipi_spec_dst = at.sin_addr;
		if (w->value == 1)
			by.ipi_spec_dst.s_addr = htonl(0x0A090909);
		memcpy(CMSG_DATA(&c.head), w->type == IP_PKTINFO ? (void *)&by : &w->value, w->size);
		c.head.cmsg_type = w->type;
		c.head.cmsg_len = CMSG_LEN(w->size);
		m.msg_controllen = CMSG_SPACE(w->size);
		SAY("with type %d, %d, size %zu", w->type, w->value, w->size);
		CALL(sendmsg(a, &m, 0));
	}
}

int main(int count, char **args) {
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"names", names}, {"data", data}, {"uncarried", uncarried}, {"connected", connected_to}, {"many", many}, {"watches", watches}, {"any", any}, {"shared", shared}, {"nobody", nobody}, {"nobody_once", nobody_once}, {"six", six}, {"groups", groups}, {"told", told}};
	setlinebuf(stdout);
	at.sin_family = AF_INET;
	inet_pton(AF_INET, args[1], &at.sin_addr);
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		now = all[i].name;
		all[i].run();
	}
	return count - 2;
}
