// NEXT(f) is the function f that the library stands before: the C library's, or that of another such library.
#pragma once

#include <dlfcn.h>

#define NEXT(f)                                                                        \
	({                                                                             \
		static __typeof__(&f) next_##f;                                        \
		if (!next_##f)                                                         \
			next_##f = (__typeof__(&f))(intptr_t)dlsym(RTLD_NEXT, #f);     \
		next_##f;                                                              \
	})
