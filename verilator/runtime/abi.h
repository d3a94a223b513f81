/* The C interface between the three parts of the runtime: the Go package, the engine (one shared library that
 * runs clocks, channels, links and networks) and a design (one shared library a Verilog design). Plain C, because
 * cgo reads it too. Whoever changes it changes LM_ABI. */
#ifndef LM_ABI_H
#define LM_ABI_H

#include <stddef.h>
#include <stdint.h>

#define LM_ABI 12
#define LM_LINE 64 /* bytes in a cache line */

enum { LM_IN = 0, LM_OUT = 1, LM_INSIDE = 2 };

/* A top-level port, or a signal inside the design that it keeps for us. Storage is elems consecutive elements of bytes bytes each; ports wider than 64 bits are arrays
 * of 32-bit words, least significant first. */
typedef struct lm_port {
    const char* name;
    uint32_t width;
    uint32_t dir;
    uint32_t bytes;
    uint32_t elems; /* 1, or the length of an unpacked array port */
} lm_port;

/* Why a run ended, in order of precedence. */
enum {
    LM_RUNNING = 0,
    LM_FLUSH = 1,     /* printed text waits to be taken */
    LM_CONDITION = 2, /* a condition came true */
    LM_FULL = 3,      /* a sink without ready has no room */
    LM_FINISH = 4,    /* $finish */
    LM_STOP = 5,      /* $stop */
    LM_ERROR = 6,     /* $error, $fatal or a failed assertion */
    LM_DEAD = 7       /* the model cannot go on */
};

/* What a design needs from the engine, one a model. The design calls the functions and never touches the rest. */
typedef struct lm_host {
    int32_t stop; /* LM_RUNNING or why the run must end */
    void (*print)(struct lm_host*, const char* text, size_t bytes);
    void (*halt)(struct lm_host*, int kind, const char* file, int line, const char* message);
    void (*reads)(struct lm_host*, const char* file); /* the design opens a file to read it */
} lm_host;

struct lm_burst;

/* A design library exports one of these as lm_design_table. Functions return 0 for success. */
typedef struct lm_design {
    uint32_t abi;
    uint32_t n_ports;
    const lm_port* ports;
    /* Makes a model; memory[i] becomes the address of port i, *time that of the design's clock of time. */
    void* (*create)(lm_host*, const char* name, uint64_t seed, int argc, const char** argv, void** memory,
                    uint64_t** time);
    void (*destroy)(void*);
    void (*enter)(void*); /* the calling thread is going to evaluate this model */
    int (*eval)(void*);
    int32_t silent_clock; /* the port whose falling edge changes nothing by itself, or -1 */
    void (*fell)(void*);  /* tells that it fell: the model takes what inputs changed; null when there is none */
    /* Runs the edges of that clock before a time, see burst.h; null when there is none. */
    int (*burst)(void*, struct lm_burst*, uint64_t until);
    int (*save)(void*, uint8_t** bytes, size_t* size); /* *bytes is malloc'ed; null when built without */
    int (*restore)(void*, const uint8_t* bytes, size_t size);
    int (*trace_open)(void*, const char* path); /* null when built without; 2: no signal is in the scopes chosen */
    int (*trace_dump)(void*, uint64_t time);
    int (*trace_close)(void*);
    int (*trace_lane)(void*, const char* name); /* adds a text beside the signals, before the first dump */
    int (*trace_text)(void*, uint32_t lane, const char* text, size_t bytes); /* what it says from the last dump on */
    int (*coverage)(void*, const char* path); /* null when built without */
    void (*trace_scope)(void*, int levels, const char* path); /* what a trace shows; null when built without */
    int (*settle)(void*); /* evaluates all combinational logic, because a signal inside has been set */
    /* When the design goes on by itself, after a delay: UINT64_MAX for never. Null when built without --timing. */
    uint64_t (*next_event)(void*);
} lm_design;

/* One datum in a ring. */
typedef struct lm_item {
    uint64_t data;
    uint64_t tag; /* cycle << 1 | last */
} lm_item;

/* A ring with one writer and one reader, one of them Go. head and tail only grow. */
typedef struct lm_ring {
    uint64_t head; /* next to write */
    uint8_t gap0[LM_LINE - 8];
    uint64_t tail; /* next to read */
    uint8_t gap1[LM_LINE - 8];
    lm_item* items;
    uint64_t mask;   /* length - 1 */
    uint64_t frames; /* items with last set that were moved so far */
    uint64_t stalls; /* cycles in which the other side kept us waiting */
    uint64_t throttle; /* share of cycles to hold back, of 2^32 */
    uint64_t* words;   /* what travels with each item, per_item words each */
    uint64_t per_item;
    uint64_t notes; /* events of a watch other than LM_MOVED and LM_RESET */
} lm_ring;

/* What a watch has seen: the low byte of the last word that travels with its items. Above it stands how many edges the item has waited. */
enum {
    LM_MOVED,         /* the item moved */
    LM_RESET,         /* reset has begun to act */
    LM_WITHDRAWN,     /* valid went away before ready took the item */
    LM_CHANGED,       /* a field changed while the item waited: data is which, 0 data, 1 last, 2 and above parts */
    LM_VALID_IN_RESET, /* valid after the first edge in reset, or at the first one after it */
    LM_STALLED        /* the item has waited for max_stall edges */
};

/* Where a channel, link or condition touches a model: width bits from bit offset of a port. */
typedef struct lm_field {
    int32_t port; /* index, or -1 for none */
    uint32_t offset;
    uint32_t width;
} lm_field;

enum { LM_SOURCE, LM_SINK, LM_WATCH };

typedef struct lm_channel {
    lm_field data, valid, ready, last, reset;
    const lm_field* parts; /* further fields of an item, a word each */
    uint32_t n_parts;
    int32_t reset_low; /* reset acts at 0 */
    uint64_t max_stall; /* of a watch; 0 for any */
    int32_t clock;
    int32_t kind;
    int32_t has_idle;
    uint64_t idle;
    uint64_t depth;
    uint64_t seed;
} lm_channel;

enum { LM_EQ, LM_NE, LM_LT, LM_GE, LM_RISE, LM_FALL, LM_CHANGE, LM_ITEMS, LM_FRAMES, LM_DRAINED, LM_ROOM };

typedef struct lm_condition {
    int32_t op;
    lm_field field;
    uint64_t value;
    const lm_ring* ring;
    uint64_t before; /* last value seen, kept by the engine */
} lm_condition;

enum { LM_FLIP, LM_IDLE, LM_STUCK, LM_UNPLUG, LM_REPEAT };

typedef struct lm_fault {
    uint64_t at;     /* index of the first sample hit */
    uint64_t count;  /* how many samples */
    uint64_t value;  /* flip mask, or the value seen instead */
    int32_t kind;
} lm_fault;

typedef struct lm_link_stats {
    uint64_t samples, bit_errors, flipped, idled, stuck, unplugged, repeated;
} lm_link_stats;

typedef struct lm_link_config {
    int32_t from_clock, to_clock;
    lm_field from, to;
    uint64_t latency; /* cycles of the sending clock, at least 1 */
    uint64_t idle;    /* what is received before the first sample arrives and during LM_IDLE */
    uint64_t seed;
} lm_link_config;

typedef struct lm_link lm_link;
typedef struct lm_network lm_network;

/* The part of a model that Go looks at. */
typedef struct lm_model {
    int (*step)(struct lm_model*); /* one cycle of clock 0; returns LM_RUNNING or why not */
    uint64_t* time;
    uint64_t* cycles;    /* of each clock */
    void** memory;       /* of each port */
    int32_t news;        /* whether any of the following waits to be taken */
    const char* text;    /* printed */
    size_t text_bytes;
    const char* files;   /* read, each name with a zero behind it */
    size_t files_bytes;
    int32_t halt;        /* LM_FINISH and above, or 0 */
    int32_t halt_line;
    const char* halt_file;
    const char* halt_message;
    int32_t hit;         /* the condition that came true, or -1 */
} lm_model;

/* The engine exports one of these as lm_engine_table. Functions that return int give 0 for success. */
typedef struct lm_engine {
    uint32_t abi;
    lm_model* (*model_new)(const lm_design*, const char* name, uint64_t seed, int argc, const char** argv);
    void (*model_free)(lm_model*);
    void (*take_news)(lm_model*);
    int (*clock_add)(lm_model*, int port, uint64_t period, uint64_t phase);
    int (*eval)(lm_model*);
    int (*run)(lm_model*, int clock, uint64_t cycles, lm_condition*, int n_conditions);
    /* Runs all edges up to this time, falling ones too, and all events of a design with delays. With wait it then is that time. */
    int (*run_to)(lm_model*, uint64_t time, int wait);
    uint64_t (*next_event)(const lm_model*); /* when there is the next of either; UINT64_MAX for never */
    lm_ring* (*channel_add)(lm_model*, const lm_channel*);
    int (*end_run)(lm_model*); /* why a model that ran in a network wants to stop */

    int (*trace_open)(lm_model*, const char* path);
    void (*trace_scope)(lm_model*, int levels, const char* path); /* a trace shows this; without, all. A path has spaces for dots. */
    int (*trace_close)(lm_model*);
    int (*save)(lm_model*, uint8_t** bytes, size_t* size);
    int (*restore)(lm_model*, const uint8_t* bytes, size_t size);
    int (*coverage)(lm_model*, const char* path);
    /* Sets bytes of a signal inside, and evaluates what follows; 1 when they did not stay, 2 when the model cannot go on. */
    int (*poke)(lm_model*, int port, size_t offset, const uint8_t* from, size_t n);

    int (*record_start)(lm_model*, uint64_t interval);
    int (*record_take)(lm_model*, uint8_t** bytes, size_t* size);
    int (*replay)(lm_model*, const uint8_t* bytes, size_t size, const uint8_t* texts, size_t texts_size, const char* path,
                  uint64_t* from, uint64_t* to, uint64_t* differs_at);

    lm_link* (*link_add)(lm_model* from, lm_model* to, const lm_link_config*); /* null: an end outside */
    void (*link_rate)(lm_link*, double bit_error_rate);
    void (*link_fault)(lm_link*, const lm_fault*);
    void (*link_plug)(lm_link*, int plugged, uint64_t value);
    void (*link_stats)(const lm_link*, lm_link_stats*);
    uint64_t (*link_put)(lm_link*, const uint64_t* values, uint64_t n);  /* what a sender outside has sent */
    uint64_t (*link_take)(lm_link*, uint64_t* values, uint64_t n); /* for a receiver outside */
    int (*link_save)(const lm_link*, uint8_t** bytes, size_t* size);
    int (*link_restore)(lm_link*, const uint8_t* bytes, size_t size);

    lm_network* (*network_new)(lm_model**, int n, int threads);
    void (*network_free)(lm_network*);
    int (*network_run)(lm_network*, int clock, uint64_t cycles, lm_condition** conditions, const int* n_conditions);
} lm_engine;

#endif
