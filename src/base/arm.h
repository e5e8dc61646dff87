// src/base/arm.h: what a 64-bit ARM processor has beyond the first of its kind.
#pragma once

#if defined(__aarch64__)
#include <sys/auxv.h>

namespace pardo {

/// Whether it runs code for Neoverse N1 (ARM 8.2 with atomic instructions): servers since 2019, Apple's, Raspberry Pi 5.
inline bool has_neoverse_n1() {
    constexpr unsigned long all = HWCAP_ATOMICS | HWCAP_ASIMDRDM | HWCAP_ASIMDHP | HWCAP_FPHP | HWCAP_ASIMDDP | HWCAP_LRCPC | HWCAP_CRC32;
    return (getauxval(AT_HWCAP) & all) == all;
}

}  // namespace pardo
#endif
