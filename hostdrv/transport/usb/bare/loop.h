#include <libusb.h>
#include <stdlib.h>

struct loop {
	const char *serial;
	int channel, latency;
	const unsigned char *data; /* sent over and over */
	size_t length, total;
	int ins, outs, in_size, out_size;
};

/* Returns 0 or one of libusb's errors. */
int loop_run(const struct loop *, double *seconds);
