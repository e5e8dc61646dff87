/* gemv_c.c: gemv for ctypes, which holds the GIL: objects of Python in, an event out; NULL: an exception of Python is set. */
#include "gemv.c"

void* gemv_of(void* const* objects, size_t n) { return P->call_from_py("gemv", "qaaae*", objects, n, PARDO_IS_EVENT, gemv, NULL); }
