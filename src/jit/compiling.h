// src/jit/compiling.h: while it lives, the calling thread compiles.
#pragma once

namespace pardo::jit {

/// A fork on another thread waits until it is over: compilers have locks and threads that a child would not find at rest.
class Compiling {
public:
    Compiling();
    ~Compiling();
    Compiling(const Compiling&) = delete;
    Compiling& operator=(const Compiling&) = delete;
};

}  // namespace pardo::jit
