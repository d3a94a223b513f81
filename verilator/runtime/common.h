// What the code of every model includes, precompiled.
#include "verilated.h"
#include "verilated_save.h"
#include "timing.h"
