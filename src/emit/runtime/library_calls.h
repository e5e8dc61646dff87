// src/emit/runtime/library_calls.h: functions of the system's libraries that machine code calls where a processor lacks an instruction.
#pragma once

// clang-format off
#define PARDO_LIBRARY_CALLS(C)                                                                                     \
    C(fmod) C(fmodf) C(fma) C(fmaf) C(floor) C(floorf) C(ceil) C(ceilf) C(trunc) C(truncf) C(rint) C(rintf)        \
    C(fmin) C(fminf) C(fmax) C(fmaxf)                                                                              \
    C(memcpy) C(memset) C(memmove) C(__divti3) C(__udivti3) C(__modti3) C(__umodti3) PARDO_HALF_CALLS(C)
// Every 64-bit ARM has instructions for these, and its compiler's library has no functions.
#if defined(__aarch64__)
#define PARDO_HALF_CALLS(C)
#else
#define PARDO_HALF_CALLS(C) C(__extendhfsf2) C(__truncsfhf2) C(__truncdfhf2)
#endif
// clang-format on

// Only addresses are taken, so the true signatures do not matter; asm labels keep the names apart from the declarations of system headers.
#define PARDO_DECLARE_CALL(name) extern "C" void pardo_call_##name() __asm__(#name);
PARDO_LIBRARY_CALLS(PARDO_DECLARE_CALL)
#undef PARDO_DECLARE_CALL
