// Calls of sockets, and what each returns: calls ADDRESS. The same must be printed over the kernel's TCP and over the daemon's connections.
#include "calls.h"

static void names(void) {
	int a, b;
	connected(&a, &b);
	struct sockaddr_in as = name(a), bs = name(b), ap, bp, more[2];
	socklen_t n = sizeof ap;
	CALL(getpeername(a, (void *)&ap, &n));
	SAY("size %u, family %d, the listener's %d %d", n, ap.sin_family, ap.sin_addr.s_addr == at.sin_addr.s_addr, ap.sin_port == bs.sin_port);
	getpeername(b, (void *)&bp, &n);
	SAY("the peer's %d %d", as.sin_addr.s_addr == bp.sin_addr.s_addr, as.sin_port == bp.sin_port);
	n = 4;
	CALL(getsockname(a, (void *)more, &n));
	SAY("cut: size %u", n);
	CALL(connect(a, (void *)&bs, sizeof bs));
	CALL(listen(a, 1) < 0);
	int u = socket(AF_INET, SOCK_STREAM, 0), l = listener(0);
	CALL(getpeername(u, (void *)&ap, &n));
	CALL(getpeername(l, (void *)&ap, &n));
	CALL(accept(a, NULL, NULL));
	CALL(accept(u, NULL, NULL));
	CALL(send(u, "x", 1, MSG_NOSIGNAL));
	SAY("local before bind %d", name(u).sin_port);
	n = sizeof ap;
	connect(u, (void *)&(struct sockaddr_in){AF_INET, name(l).sin_port, at.sin_addr, {0}}, sizeof ap);
	int c = accept4(l, (void *)&ap, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
	SAY("accepted from size %u, the client's %d; flags %d %d", n, ap.sin_port == name(u).sin_port, fcntl(c, F_GETFD), !!(fcntl(c, F_GETFL) & O_NONBLOCK));
	SAY("accept gives flags %d %d", fcntl(b, F_GETFD), !!(fcntl(b, F_GETFL) & O_NONBLOCK));
}

static void bound(void) {
	int l = listener(0), other = socket(AF_INET, SOCK_STREAM, 0), b;
	struct sockaddr_in to = name(l);
	CALL(bind(other, (void *)&to, sizeof to));
	close(l);
	CALL(bind(other, (void *)&to, sizeof to)); // the port of a listener that is closed is free
	CALL(listen(other, 1));
	struct sockaddr_in from = at;
	int c = socket(AF_INET, SOCK_STREAM, 0);
	CALL(bind(c, (void *)&from, sizeof from));
	from = name(c);
	CALL(connect(c, (void *)&to, sizeof to));
	CALL((b = accept(other, NULL, NULL)) < 0);
	SAY("from the port that was bound: %d", name(c).sin_port == from.sin_port);
	int u = socket(AF_INET, SOCK_STREAM, 0);
	CALL(bind(c, (void *)&to, sizeof to));
	CALL(listen(u, 1));
	SAY("listen chooses a port: %d", name(u).sin_port != 0);
	fcntl(other, F_SETFL, O_NONBLOCK);
	CALL(accept(other, NULL, NULL));
	int f = socket(AF_INET, SOCK_STREAM, 0);
	set(f, IPPROTO_IP, IP_FREEBIND, 1);
	from.sin_port = 0;
	errno = EADDRNOTAVAIL; // of an earlier call
	int result = bind(f, (void *)&from, sizeof from);
	SAY("bind behind another error: %d", result);
}

static void refused(void) {
	int l = listener(0), c = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in to = name(l);
	close(l);
	usleep(1000);
	set(c, SOL_SOCKET, SO_KEEPALIVE, 1);
	CALL(connect(c, (void *)&to, sizeof to));
	CALL(connect(c, (void *)&to, sizeof to));
	int n = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CALL(connect(n, (void *)&to, sizeof to));
	SAY("events %#x", events(n, POLLERR));
	SAY("error %s", strerrorname_np(get(n, SOL_SOCKET, SO_ERROR)));
	SAY("error again %d", get(n, SOL_SOCKET, SO_ERROR));
	SAY("flags %d %d", fcntl(n, F_GETFD), !!(fcntl(n, F_GETFL) & O_NONBLOCK));
}

static void nonblocking(void) {
	int l = listener(0), c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), n = 0;
	struct sockaddr_in to = name(l);
	CALL(connect(c, (void *)&to, sizeof to));
	SAY("events %#x", events(c, POLLOUT));
	SAY("error %d", get(c, SOL_SOCKET, SO_ERROR));
	CALL(connect(c, (void *)&to, sizeof to));
	CALL(recv(c, &n, 1, 0));
	int b = accept(l, NULL, NULL);
	char block[4096] = {0};
	do
		while (write(c, block, sizeof block) > 0)
			n++;
	while (events(c, 0) & POLLOUT); // what is underway has arrived
	SAY("full: %s, wrote much %d", strerrorname_np(errno), n > 10);
	fcntl(b, F_SETFL, O_NONBLOCK);
	while (!(events(c, 0) & POLLOUT))
		while (read(b, block, sizeof block) > 0)
			;
	CALL(write(c, block, 1));
}

static void data(void) {
	int a, b, n;
	char t[100] = {0};
	static char many[1 << 16];
	connected(&a, &b);
	SAY("events %#x", events(a, POLLOUT));
	CALL(recv(b, t, 9, MSG_DONTWAIT));
	CALL(write(a, "hello", 5));
	settled(b, 5);
	SAY("events %#x", events(b, POLLIN));
	CALL(recv(b, t, 3, MSG_PEEK));
	CALL(recv(b, t, 99, MSG_PEEK));
	CALL(ioctl(b, FIONREAD, &n));
	SAY("readable %d", n);
	struct sockaddr_in from;
	socklen_t size = sizeof from;
	CALL(recvfrom(b, t, 2, 0, (void *)&from, &size));
	SAY("size of its address %u", size);
	struct msghdr m = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &(struct iovec){t, 2}, .msg_iovlen = 1};
	CALL(recvmsg(b, &m, 0));
	SAY("size of its address %u, flags %#x: %s", m.msg_namelen, m.msg_flags, t);
	CALL(send(a, "12", 2, MSG_MORE));
	CALL(writev(a, (struct iovec[]){{"34", 2}, {"56", 2}}, 2));
	CALL(recv(b, t, 7, MSG_WAITALL));
	SAY("%.7s", t);
	CALL(write(a, "", 0));
	CALL(send(b, "back", 4, 0));
	CALL(recv(a, t, 4, MSG_ERRQUEUE));
	CALL(recv(a, t, 4, MSG_WAITALL | MSG_PEEK));
	CALL(recv(a, t, 4, MSG_WAITALL));
	setsockopt(a, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 10000}, sizeof(struct timeval));
	CALL(read(a, t, 1));
	setsockopt(a, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){0, 10000}, sizeof(struct timeval));
	while (write(a, many, sizeof many) > 0)
		;
	SAY("full: %s", strerrorname_np(errno));
}

static void ends(void) {
	int a, b;
	char t[10];
	connected(&a, &b);
	write(a, "last", 4);
	CALL(shutdown(a, SHUT_WR));
	settled(b, 4);
	SAY("events %#x", events(b, POLLRDHUP));
	CALL(read(b, t, 10));
	CALL(read(b, t, 10));
	CALL(send(a, "x", 1, MSG_NOSIGNAL));
	CALL(write(b, "other way", 9));
	CALL(recv(a, t, 9, MSG_WAITALL));
	SAY("events %#x", events(a, 0));
	CALL(shutdown(b, SHUT_WR));
	SAY("events %#x", events(a, POLLHUP));
	CALL(read(a, t, 10));
	CALL(read(a, t, 10));
	SAY("error %d %d", get(a, SOL_SOCKET, SO_ERROR), get(b, SOL_SOCKET, SO_ERROR));
	connected(&a, &b);
	CALL(shutdown(a, SHUT_RD));
	CALL(read(a, t, 10));
	CALL(write(a, "1", 1));
	CALL(read(b, t, 10));
	connected(&a, &b);
	write(a, "bye", 3);
	close(a);
	settled(b, 3);
	SAY("events %#x", events(b, POLLRDHUP));
	CALL(read(b, t, 10));
	CALL(read(b, t, 10));
	CALL(send(b, "x", 1, MSG_NOSIGNAL)); // to what is closed
	SAY("events %#x", events(b, POLLHUP));
	CALL(read(b, t, 10));
	CALL(send(b, "x", 1, MSG_NOSIGNAL));
}

static void flags(void) { // of one that cannot listen for want of descriptors
	struct rlimit limit, low;
	int l = socket(AF_INET, SOCK_STREAM, 0), spare = dup(l);
	struct sockaddr_in to = at;
	to.sin_port = 0;
	CALL(bind(l, (void *)&to, sizeof to));
	close(spare);
	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	low.rlim_cur = (rlim_t)spare + 1;
	setrlimit(RLIMIT_NOFILE, &low);
	listen(l, 5);
	setrlimit(RLIMIT_NOFILE, &limit);
	SAY("flags %#x", fcntl(l, F_GETFL));
}

static void resets(void) {
	int a, b;
	char t[10];
	connected(&a, &b);
	write(b, "unread", 6);
	settled(a, 6);
	close(a);
	SAY("closed with bytes unread: events %#x", events(b, POLLHUP));
	CALL(read(b, t, 10));
	CALL(read(b, t, 10));
	sigset_t broken;
	sigemptyset(&broken), sigaddset(&broken, SIGPIPE), sigprocmask(SIG_BLOCK, &broken, NULL);
	CALL(write(b, "x", 1));
	CALL(sigtimedwait(&broken, NULL, &(struct timespec){0, 0}));
	connected(&a, &b);
	write(a, "first", 5);
	settled(b, 5);
	setsockopt(a, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
	close(a);
	SAY("SO_LINGER 0: events %#x", events(b, POLLHUP));
	SAY("error %s", strerrorname_np(get(b, SOL_SOCKET, SO_ERROR)));
	connected(&a, &b);
	write(a, "first", 5);
	settled(b, 5);
	setsockopt(a, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
	close(a);
	events(b, POLLHUP);
	CALL(read(b, t, 10));
	CALL(read(b, t, 10));
}

static void options(void) {
	int a, b, l = listener(0);
	connected(&a, &b);
	for (int i = 0; i < 3; i++) {
		int fd = (int[]){a, b, l}[i];
		SAY("type %d, domain %d, protocol %d, listens %d", get(fd, SOL_SOCKET, SO_TYPE), get(fd, SOL_SOCKET, SO_DOMAIN), get(fd, SOL_SOCKET, SO_PROTOCOL), get(fd, SOL_SOCKET, SO_ACCEPTCONN));
	}
	CALL(set(a, IPPROTO_TCP, TCP_NODELAY, 1));
	SAY("TCP_NODELAY %d", get(a, IPPROTO_TCP, TCP_NODELAY));
	CALL(set(a, IPPROTO_TCP, TCP_KEEPIDLE, 60));
	CALL(set(a, SOL_SOCKET, SO_KEEPALIVE, 1));
	SAY("SO_KEEPALIVE %d", get(a, SOL_SOCKET, SO_KEEPALIVE));
	CALL(set(a, IPPROTO_IP, IP_TOS, 16));
	CALL(set(a, IPPROTO_TCP, 12345, 1));
	SAY("unknown %s", strerrorname_np(-get(a, IPPROTO_TCP, 12345)));
	CALL(set(a, SOL_SOCKET, SO_SNDBUF, 5000));
	CALL(set(l, IPPROTO_TCP, TCP_DEFER_ACCEPT, 0));
	struct tcp_info info;
	socklen_t n = sizeof info;
	CALL(getsockopt(a, IPPROTO_TCP, TCP_INFO, &info, &n));
	SAY("state %d", info.tcpi_state);
	SAY("TCP_NODELAY at first %d", get(b, IPPROTO_TCP, TCP_NODELAY));
	SAY("SO_KEEPALIVE of what was set before connect %d", ({
		int c = socket(AF_INET, SOCK_STREAM, 0);
		struct sockaddr_in to = name(l);
		set(c, SOL_SOCKET, SO_KEEPALIVE, 1);
		connect(c, (void *)&to, sizeof to);
		get(c, SOL_SOCKET, SO_KEEPALIVE);
	}));
}

static void watches(void) {
	int l = socket(AF_INET, SOCK_STREAM, 0), e = epoll_create1(0), c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), outer = epoll_create1(0);
	struct epoll_event of_c = {EPOLLIN | EPOLLOUT | EPOLLET, {.u32 = 7}}, of_l = {EPOLLIN, {.u32 = 8}}, of_e = {EPOLLIN, {.u32 = 9}}, got;
	CALL(epoll_ctl(e, EPOLL_CTL_ADD, l, &of_l)); // before it listens
	CALL(epoll_ctl(outer, EPOLL_CTL_ADD, e, &of_e));
	bind(l, (void *)&at, sizeof at);
	listen(l, 5);
	while (epoll_wait(e, &got, 1, 0) > 0 && got.events == EPOLLIN) // none
		SAY("a listener that nobody calls is ready");
	struct sockaddr_in to = name(l);
	epoll_ctl(e, EPOLL_CTL_DEL, l, NULL);
	of_l.events |= EPOLLONESHOT;
	epoll_ctl(e, EPOLL_CTL_ADD, l, &of_l);
	CALL(connect(c, (void *)&to, sizeof to));
	CALL(epoll_wait(outer, &got, 1, -1));
	SAY("nested: %u", got.data.u32);
	CALL(epoll_wait(e, &got, 1, -1));
	SAY("events %#x of %u", got.events, got.data.u32);
	int b = accept(l, NULL, NULL);
	CALL(epoll_wait(e, &got, 1, 0)); // it was for one shot
	int n = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	of_c.data.u32 = 10;
	epoll_ctl(e, EPOLL_CTL_ADD, n, &of_c); // before it connects
	while (epoll_wait(e, &got, 1, 0) > 0)
		;
	CALL(connect(n, (void *)&to, sizeof to));
	do
		epoll_wait(e, &got, 1, -1);
	while (!(got.events & EPOLLOUT) || got.events & EPOLLHUP);
	SAY("events %#x of %u", got.events, got.data.u32);
	while (epoll_wait(e, &got, 1, 5) > 0) // a further edge or none, and then none
		;
	int d = dup2(dup(n), 100), m = accept(l, NULL, NULL);
	write(m, "x", 1);
	do
		epoll_wait(e, &got, 1, -1);
	while (!(got.events & EPOLLIN));
	SAY("events %#x of %u", got.events, got.data.u32);
	fd_set set;
	FD_ZERO(&set);
	FD_SET(d, &set);
	CALL(select(d + 1, &set, NULL, NULL, NULL));
	close(n);
	char t;
	CALL(read(d, &t, 1));
	close(b);
}

static void catch(int number) { (void)number; }

static void processes(void) {
	int a, b, pair[2], status;
	char t[20] = {0};
	connected(&a, &b);
	if (fork() == 0) {
		char number[20];
		write(a, "child", 5);
		snprintf(number, sizeof number, "%d", a);
		setenv("PORT", (snprintf(t, sizeof t, "%d", name(a).sin_port), t), 1);
		execl("/proc/self/exe", "calls", "of", number, NULL);
		_exit(1);
	}
	wait(&status);
	SAY("the name is known behind exec: %d", status == 0);
	write(a, "parent", 6);
	CALL(recv(b, t, 11, MSG_WAITALL));
	SAY("%s", t);
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	memcpy(CMSG_DATA(&control.head), &a, sizeof a);
	struct msghdr m = {.msg_iov = &(struct iovec){t, 1}, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	in_port_t port = name(a).sin_port;
	CALL(sendmsg(pair[0], &m, 0));
	close(a);
	CALL(recvmsg(pair[1], &m, 0));
	memcpy(&a, CMSG_DATA(&control.head), sizeof a);
	SAY("passed on: %d", name(a).sin_port == port);
	CALL(write(a, "z", 1));
	CALL(read(b, t, 1));
	sigaction(SIGALRM, &(struct sigaction){.sa_handler = catch}, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 20000}}, NULL);
	CALL(read(b, t, 1));
	if (fork() == 0) {
		write(a, "killed", 6);
		kill(getpid(), SIGKILL);
	}
	close(a);
	wait(&status);
	CALL(recv(b, t, 10, MSG_WAITALL));
	CALL(read(b, t, 10));
}

static void forks(void) {
	int a, b, n = 0;
	char t[1000];
	connected(&a, &b);
	for (int i = 0; i < 1000; i++)
		if (fork() == 0)
			_exit(write(a, "x", 1) == 1 ? 0 : 1);
	close(a);
	for (int status; wait(&status) > 0; n += status == 0)
		;
	SAY("children that have written %d", n);
	CALL(recv(b, t, sizeof t, MSG_WAITALL));
	CALL(read(b, t, 1));
}

static void bulk(void) {
	int a, b, pipes[2];
	static unsigned char out[1 << 20], in[1 << 20];
	connected(&a, &b);
	for (unsigned i = 0; i < sizeof out; i++)
		out[i] = (unsigned char)(i * i >> 3);
	FILE *file = tmpfile();
	fwrite(out, 1, sizeof out, file);
	fflush(file);
	if (fork() == 0) {
		off_t from = 0;
		while (from < (off_t)sizeof out)
			if (sendfile(a, fileno(file), &from, sizeof out) <= 0)
				_exit(1);
		shutdown(a, SHUT_WR);
		for (size_t n = 0, k; n < sizeof in; n += k)
			if ((k = (size_t)read(a, in + n, sizeof in - n)) == 0)
				_exit(1);
		_exit(memcmp(in, out, sizeof in) ? 1 : 0);
	}
	close(a);
	pipe(pipes);
	int status, target = fileno(tmpfile());
	ssize_t k, n = 0;
	while ((k = splice(b, NULL, pipes[1], NULL, 65536, 0)) > 0)
		for (n += k; k > 0;)
			k -= splice(pipes[0], NULL, target, NULL, (size_t)k, 0);
	SAY("splice %zd, end %zd", n, k);
	CALL(pread(target, in, sizeof in, 0));
	SAY("as sent by sendfile: %d", memcmp(in, out, sizeof in) == 0);
	CALL(write(b, in, sizeof in));
	wait(&status);
	SAY("and back: %d", status);
}

static void six(void) {
	int l = listener(0), c = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = name(l).sin_port}, p;
	to.sin6_addr.s6_addr[10] = to.sin6_addr.s6_addr[11] = 0xFF;
	memcpy(to.sin6_addr.s6_addr + 12, &at.sin_addr, 4);
	socklen_t n = sizeof p;
	CALL(connect(c, (void *)&to, sizeof to));
	CALL(getpeername(c, (void *)&p, &n));
	SAY("size %u, family %d, as it was called %d; domain %d", n, p.sin6_family, memcmp(&p.sin6_addr, &to.sin6_addr, 16) == 0, get(c, SOL_SOCKET, SO_DOMAIN));
	struct sockaddr_in from;
	n = sizeof from;
	CALL(accept(l, (void *)&from, &n) < 0);
	SAY("size %u, family %d", n, from.sin_family);
}

int main(int count, char **args) {
	if (count == 3) { // an exec by processes
		char port[20];
		snprintf(port, sizeof port, "%d", name(atoi(args[2])).sin_port);
		return strcmp(port, getenv("PORT"));
	}
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"names", names}, {"bound", bound}, {"refused", refused}, {"nonblocking", nonblocking}, {"data", data}, {"ends", ends}, {"flags", flags}, {"resets", resets},
		{"options", options}, {"watches", watches}, {"processes", processes}, {"forks", forks}, {"bulk", bulk}, {"six", six}};
	setlinebuf(stdout);
	at.sin_family = AF_INET;
	inet_pton(AF_INET, args[1], &at.sin_addr);
	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		now = all[i].name;
		all[i].run();
	}
	return 0;
}
