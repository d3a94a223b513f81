// Conditions that end a run.
#include "model.h"

void Model::watch(lm_condition* conditions, int n) const {
    for (int i = 0; i < n; ++i)
        if (conditions[i].field.port >= 0) conditions[i].before = Field{design, memory, conditions[i].field}.get();
}

// Returns the first condition that holds, or -1.
int Model::test(lm_condition* conditions, int n) const {
    int found = -1;
    for (int i = n - 1; i >= 0; --i) {
        lm_condition& c = conditions[i];
        bool holds = false;
        if (c.ring) {
            switch (c.op) {
            case LM_ITEMS: holds = c.ring->head - c.ring->tail >= c.value; break;
            case LM_FRAMES: holds = c.ring->frames >= c.value; break;
            case LM_ROOM: holds = c.ring->mask + 1 - (c.ring->head - c.ring->tail) >= c.value; break;
            case LM_DRAINED: holds = c.ring->head == c.ring->tail; break;
            }
        } else {
            const uint64_t v = Field{design, memory, c.field}.get();
            switch (c.op) {
            case LM_EQ: holds = v == c.value; break;
            case LM_NE: holds = v != c.value; break;
            case LM_LT: holds = v < c.value; break;
            case LM_GE: holds = v >= c.value; break;
            case LM_RISE: holds = v && !c.before; break;
            case LM_FALL: holds = !v && c.before; break;
            case LM_CHANGE: holds = v != c.before; break;
            }
            c.before = v;
        }
        if (holds) found = i;
    }
    return found;
}
