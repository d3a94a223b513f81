#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "next.h"

// An epoll watches what a descriptor stands for, not the descriptor. So what is watched before connect or listen puts another in its place is watched again behind it.
enum { EPOLLS = 4 }; // that may watch one descriptor
static struct watch {
	int epoll; // 0: none
	struct epoll_event event;
} (*watches)[EPOLLS]; // by descriptor, what its program has said, the latest first
static const int most = 1 << 20;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void reserve(void) {
	void *room = mmap(NULL, (size_t)most * sizeof *watches, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	watches = room == MAP_FAILED ? NULL : room;
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event) {
	int result = NEXT(epoll_ctl)(epoll, op, fd, event);
	pthread_once(&once, reserve);
	if (result < 0 || !watches || fd >= most)
		return result;
	struct watch *of = watches[fd];
	int at = 0;
	while (at < EPOLLS - 1 && of[at].epoll && of[at].epoll != epoll)
		at++;
	if (op == EPOLL_CTL_DEL) {
		if (of[at].epoll == epoll) {
			memmove(of + at, of + at + 1, (size_t)(EPOLLS - 1 - at) * sizeof *of);
			of[EPOLLS - 1].epoll = 0;
		}
		return 0;
	}
	memmove(of + 1, of, (size_t)at * sizeof *of);
	*of = (struct watch){epoll, *event};
	return 0;
}

int lmmc_replace(int fd, int by, int flags) {
	static const int options[] = {SO_KEEPALIVE, SO_OOBINLINE, SO_BROADCAST, SO_RCVLOWAT, SO_REUSEADDR, SO_REUSEPORT};
	for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
		int value;
		socklen_t size = sizeof value;
		if (NEXT(getsockopt)(fd, SOL_SOCKET, options[i], &value, &size) == 0)
			NEXT(setsockopt)(by, SOL_SOCKET, options[i], &value, size);
	}
	struct timeval limit;
	struct linger linger;
	socklen_t size = sizeof limit;
	if (NEXT(getsockopt)(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &size) == 0)
		NEXT(setsockopt)(by, SOL_SOCKET, SO_RCVTIMEO, &limit, size);
	if (NEXT(getsockopt)(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &size) == 0)
		NEXT(setsockopt)(by, SOL_SOCKET, SO_SNDTIMEO, &limit, size);
	size = sizeof linger;
	if (NEXT(getsockopt)(fd, SOL_SOCKET, SO_LINGER, &linger, &size) == 0 && linger.l_onoff)
		setsockopt(by, SOL_SOCKET, SO_LINGER, &linger, size); // also tells the daemon
	fcntl(by, F_SETOWN, fcntl(fd, F_GETOWN));
	fcntl(by, F_SETFL, flags);

	struct watch of[EPOLLS] = {0};
	if (watches && fd < most)
		memcpy(of, watches[fd], sizeof of);
	for (int i = 0; i < EPOLLS; i++)
		if (of[i].epoll && NEXT(epoll_ctl)(of[i].epoll, EPOLL_CTL_DEL, fd, NULL) < 0)
			of[i].epoll = 0; // it watches what had the descriptor before
	int result = dup3(by, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
	close(by);
	for (int i = 0; i < EPOLLS && result >= 0; i++)
		if (of[i].epoll)
			NEXT(epoll_ctl)(of[i].epoll, EPOLL_CTL_ADD, fd, &of[i].event);
	return result < 0 ? -1 : 0;
}
