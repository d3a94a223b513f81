// The functions of it.
#define LM_TIMING_IMPL
#include "timing.h"
