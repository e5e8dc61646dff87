// include/pardo/exit.h: what a program may do before its end.
#pragma once

#include <pardo/export.h>

namespace pardo {

/// Drops what is deferred on the host, and blocks until drivers have no work of this process. exit() does the same, but libraries that a
/// driver's threads use may be gone by then: programs that leave work in flight call this before they leave main().
PARDO_API void finish_driver_work();

}  // namespace pardo
