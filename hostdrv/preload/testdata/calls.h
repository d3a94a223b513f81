// What testdata/calls.c is written in.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_in at;
static const char *now = "";

#define SAY(...) (printf("%s: ", now), printf(__VA_ARGS__), putchar('\n'))
// The result of a call, and what it says is wrong.
#define CALL(...)                                                                                \
	do {                                                                                     \
		errno = 0;                                                                       \
		long r_ = (long)(__VA_ARGS__);                                                   \
		SAY("%s = %ld %s", #__VA_ARGS__, r_, r_ < 0 ? strerrorname_np(errno) : "");      \
	} while (0)

static int listener(int port) {
	int l = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in to = at;
	to.sin_port = htons(port);
	if (bind(l, (void *)&to, sizeof to) < 0 || listen(l, 5) < 0)
		perror("listener"), exit(1);
	return l;
}

static struct sockaddr_in name(int fd) {
	struct sockaddr_in a = {0};
	socklen_t n = sizeof a;
	getsockname(fd, (void *)&a, &n);
	return a;
}

// connected makes a connection, whose ends are a and b.
static void connected(int *a, int *b) {
	int l = listener(0);
	struct sockaddr_in to = name(l);
	*a = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(*a, (void *)&to, sizeof to) < 0 || (*b = accept(l, NULL, NULL)) < 0)
		perror("connected"), exit(1);
	close(l);
}

// Events of a descriptor, waited for until one of some is there.
static int events(int fd, int until) {
	struct pollfd p = {fd, POLLIN | POLLOUT | POLLRDHUP, 0};
	do
		poll(&p, 1, 10);
	while (until && !(p.revents & until));
	return p.revents;
}

static int get(int fd, int level, int option) {
	int v = -1;
	socklen_t n = sizeof v;
	return getsockopt(fd, level, option, &v, &n) < 0 ? -errno : v;
}

static int set(int fd, int level, int option, int v) { return setsockopt(fd, level, option, &v, sizeof v); }

// settled waits until what was sent is there.
static void settled(int fd, int n) {
	for (int have = 0; have < n;)
		ioctl(fd, FIONREAD, &have);
}
