// include/pardo/binding/cache.h: the folder where compiled kernels are kept between runs.
// For pardo's own bindings: no stability.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// Kernels that were compiled when pardo was built: a file beside the library, or that of PARDO_KERNEL_PACK.
struct KernelPackInfo {
    std::string path;
    std::vector<std::string> targets;  // "x86-64-v4", "sm_90"; "compute_90" for PTX; none: there is no file
    std::int64_t kernels = 0, bytes = 0;
};
PARDO_API KernelPackInfo kernel_pack_info();

/// Deletes this version's files.
PARDO_API void clear_cache();
/// Bytes that a front end keeps with the kernels, of what takes long to make again; none if they have not been kept, or are gone again.
PARDO_API void keep(std::string_view key, std::string_view data);
PARDO_API std::optional<std::string> kept(std::string_view key);

}  // namespace pardo
