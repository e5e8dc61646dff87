// src/launch/lock.h: locks of functions and of their variants.
#pragma once

#include <mutex>

namespace pardo::launch {

/// The lock of an object: one of a few, which fork() finds free. Held for moments; nothing is waited for, and no other is taken, under it.
std::mutex& lock_of(const void* object);

}  // namespace pardo::launch
