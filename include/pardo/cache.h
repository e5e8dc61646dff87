// include/pardo/cache.h: the folder where compiled kernels are kept between runs.
#pragma once

#include <cstdint>
#include <string>

#include <pardo/export.h>

namespace pardo {

/// State of the folder; sizes in bytes.
struct CacheInfo {
    std::string path;
    bool enabled = false;
    std::string reason;  // why it is not used; empty when it is
    std::int64_t files = 0, bytes = 0, limit = 0;
};
PARDO_API CacheInfo cache_info();
/// Deletes this version's files.
PARDO_API void clear_cache();

}  // namespace pardo
