//go:build usb && cgo

#include "loop.h"

#include <string.h>
#include <time.h>

enum { PACKET = 512, STATUS = 2, VENDOR = 0x0403, LATENCY = 9, TIMEOUT = 1000 };

struct state {
	const struct loop *l;
	size_t sent, came; /* of total; sent counts what is underway */
	int underway;
	int error;
	struct timespec end;
	unsigned char *sink; /* what came in a transfer, without the status */
};

static void fail(struct state *s, int error)
{
	if (!s->error)
		s->error = error;
}

static int done(const struct state *s)
{
	return s->error || s->came >= s->l->total;
}

static void submit(struct state *s, struct libusb_transfer *t)
{
	int error = libusb_submit_transfer(t);

	if (error)
		fail(s, error);
	else
		s->underway++;
}

/* next sends what comes next, if anything does. */
static void next(struct state *s, struct libusb_transfer *t)
{
	size_t at = s->sent % s->l->length, n = s->l->out_size;

	if (n > s->l->length - at)
		n = s->l->length - at;
	if (n > s->l->total - s->sent)
		n = s->l->total - s->sent;
	if (!n || s->error)
		return;
	t->buffer = (unsigned char *)s->l->data + at;
	t->length = n;
	s->sent += n;
	submit(s, t);
}

static int ended(struct state *s, struct libusb_transfer *t)
{
	s->underway--;
	if (t->status == LIBUSB_TRANSFER_COMPLETED)
		return 0;
	if (!done(s)) /* else it was cancelled */
		fail(s, t->status == LIBUSB_TRANSFER_NO_DEVICE ? LIBUSB_ERROR_NO_DEVICE : LIBUSB_ERROR_IO);
	return 1;
}

static void LIBUSB_CALL was_sent(struct libusb_transfer *t)
{
	if (!ended(t->user_data, t))
		next(t->user_data, t);
}

static void LIBUSB_CALL has_come(struct libusb_transfer *t)
{
	struct state *s = t->user_data;
	unsigned char *to = s->sink;

	if (ended(s, t))
		return;
	for (int at = 0; at + STATUS < t->actual_length; at += PACKET) {
		int n = t->actual_length - at;

		n = (n < PACKET ? n : PACKET) - STATUS;
		memcpy(to, t->buffer + at + STATUS, n);
		to += n;
	}
	s->came += to - s->sink;
	if (!done(s))
		submit(s, t);
}

static libusb_device_handle *find(libusb_context *ctx, const char *serial)
{
	libusb_device **all;
	libusb_device_handle *found = NULL;
	ssize_t n = libusb_get_device_list(ctx, &all);

	for (ssize_t i = 0; i < n && !found; i++) {
		struct libusb_device_descriptor d;
		unsigned char text[256] = "";

		if (libusb_get_device_descriptor(all[i], &d) || d.idVendor != VENDOR || libusb_open(all[i], &found))
			continue;
		libusb_get_string_descriptor_ascii(found, d.iSerialNumber, text, sizeof text);
		if (strcmp((char *)text, serial)) {
			libusb_close(found);
			found = NULL;
		}
	}
	if (n >= 0)
		libusb_free_device_list(all, 1);
	return found;
}

/* carry moves everything. */
static int carry(libusb_context *ctx, libusb_device_handle *h, struct state *s)
{
	const struct loop *l = s->l;
	int all = l->ins + l->outs, cancelled = 0;
	struct libusb_transfer **t = calloc(all, sizeof *t);
	unsigned char *in = malloc((size_t)l->ins * l->in_size);

	for (int i = 0; i < all; i++) {
		t[i] = libusb_alloc_transfer(0);
		if (i < l->ins) {
			libusb_fill_bulk_transfer(t[i], h, LIBUSB_ENDPOINT_IN | (2 * l->channel + 1), in + (size_t)i * l->in_size, l->in_size, has_come, s, 0);
			submit(s, t[i]);
		} else {
			libusb_fill_bulk_transfer(t[i], h, 2 * l->channel + 2, NULL, 0, was_sent, s, 0);
			next(s, t[i]);
		}
	}
	while (s->underway) {
		int error = libusb_handle_events(ctx);

		if (error && error != LIBUSB_ERROR_INTERRUPTED)
			fail(s, error);
		if (done(s) && !cancelled) {
			cancelled = 1;
			clock_gettime(CLOCK_MONOTONIC, &s->end);
			for (int i = 0; i < all; i++)
				libusb_cancel_transfer(t[i]);
		}
	}
	for (int i = 0; i < all; i++)
		libusb_free_transfer(t[i]);
	free(in);
	free(t);
	return s->error;
}

int loop_run(const struct loop *l, double *seconds)
{
	struct state s = { .l = l };
	struct timespec from;
	libusb_context *ctx;
	libusb_device_handle *h;
	int error = libusb_init(&ctx);

	if (error)
		return error;
	h = find(ctx, l->serial);
	if (!h) {
		libusb_exit(ctx);
		return LIBUSB_ERROR_NO_DEVICE;
	}
	libusb_set_auto_detach_kernel_driver(h, 1);
	error = libusb_claim_interface(h, l->channel);
	if (!error)
		error = libusb_control_transfer(h, LIBUSB_REQUEST_TYPE_VENDOR, LATENCY, l->latency, l->channel + 1, NULL, 0, TIMEOUT);
	if (!error) {
		s.sink = malloc(l->in_size);
		clock_gettime(CLOCK_MONOTONIC, &from);
		error = carry(ctx, h, &s);
		*seconds = s.end.tv_sec - from.tv_sec + (s.end.tv_nsec - from.tv_nsec) * 1e-9;
		free(s.sink);
	}
	libusb_release_interface(h, l->channel);
	libusb_close(h);
	libusb_exit(ctx);
	return error;
}
