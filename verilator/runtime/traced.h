// What the code of a model that records waves includes, precompiled.
#include "common.h"
#include "verilated_fst_c.h"
#include "gtkwave/fstapi.h" // which later versions leave to verilated_fst_c.cpp
