// include/pardo/export.h: which symbols the shared library shows; everything else is hidden.
#pragma once

#if __cplusplus < 202002L
#error "pardo is a library of C++20: compile with -std=c++20 (extensions of Python include pardo/native.hpp, for which C++17 is enough)"
#endif

#define PARDO_API __attribute__((visibility("default")))
