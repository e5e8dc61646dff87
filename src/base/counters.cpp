// src/base/counters.cpp: the process-wide counts.
#include "base/counters.h"

namespace pardo {

Counters counters;

}  // namespace pardo
