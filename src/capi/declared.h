// src/capi/declared.h: with PARDO_CHECKS=all, whether work on the host writes what it has declared that it reads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <pardo/c_api.h>

#include "capi/work.h"

namespace pardo::capi {

/// The elements that a function has declared to read, before it runs. Empty unless PARDO_CHECKS is "all"; without arrays that others may
/// write meanwhile, and those whose memory the function also writes.
class DeclaredReads {
public:
    DeclaredReads(std::span<const NativeUse> uses, std::span<const pardo_array_info> infos, std::span<const pardo_memory> places);
    /// Throws Value where they have changed.
    void check(const std::string& name) const;

private:
    struct Read {
        std::size_t use;
        std::uint64_t sum;
    };
    std::vector<Read> reads_;
    std::span<const pardo_array_info> infos_;
    std::span<const pardo_memory> places_;
};

}  // namespace pardo::capi
