#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "next.h"

// An epoll watches what a descriptor stands for, not the descriptor. So what is watched before connect or listen puts another in its place is watched again behind it.
static struct watch {
	int epoll;
	struct epoll_event event;
} *watches; // by descriptor, what its program has said last
static const int most = 1 << 20;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void reserve(void) {
	void *room = mmap(NULL, (size_t)most * sizeof *watches, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	watches = room == MAP_FAILED ? NULL : room;
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event) {
	int result = NEXT(epoll_ctl)(epoll, op, fd, event);
	pthread_once(&once, reserve);
	if (result == 0 && op != EPOLL_CTL_DEL && watches && fd < most)
		watches[fd] = (struct watch){epoll, *event};
	return result;
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

	struct watch w = watches && fd < most ? watches[fd] : (struct watch){0};
	bool watched = w.epoll > 0 && NEXT(epoll_ctl)(w.epoll, EPOLL_CTL_DEL, fd, NULL) == 0;
	int result = dup3(by, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
	close(by);
	if (result >= 0 && watched)
		NEXT(epoll_ctl)(w.epoll, EPOLL_CTL_ADD, fd, &w.event);
	return result < 0 ? -1 : 0;
}
