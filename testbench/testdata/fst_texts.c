// Prints the texts of an FST file: "time lane text" a line; with a second argument the names of all signals.
#include "fstapi.h"

#include <stdio.h>
#include <stdlib.h>

static const char** names;

static void fixed(void* u, uint64_t t, fstHandle h, const unsigned char* v) { (void)u, (void)t, (void)h, (void)v; }

static void text(void* u, uint64_t time, fstHandle h, const unsigned char* value, uint32_t n) {
    (void)u;
    if (names[h]) printf("%lu %s %.*s\n", (unsigned long)time, names[h], (int)n, (const char*)value);
}

int main(int argc, char** argv) {
    void* f = argc > 1 ? fstReaderOpen(argv[1]) : NULL;
    if (!f) return 1;
    names = calloc(fstReaderGetMaxHandle(f) + 1, sizeof *names);
    for (struct fstHier* h; (h = fstReaderIterateHier(f));) {
        if (h->htyp == FST_HT_SCOPE) fstReaderPushScope(f, h->u.scope.name, NULL);
        if (h->htyp == FST_HT_UPSCOPE) fstReaderPopScope(f);
        if (h->htyp == FST_HT_VAR && argc > 2) printf("%s.%s\n", fstReaderGetCurrentFlatScope(f), h->u.var.name);
        if (h->htyp != FST_HT_VAR || h->u.var.typ != FST_VT_GEN_STRING) continue;
        char* name;
        if (asprintf(&name, "%s.%s", fstReaderGetCurrentFlatScope(f), h->u.var.name) < 0) return 1;
        names[h->u.var.handle] = name;
    }
    fstReaderSetFacProcessMaskAll(f);
    fstReaderIterBlocks2(f, fixed, text, NULL, NULL);
    fstReaderClose(f);
    return 0;
}
