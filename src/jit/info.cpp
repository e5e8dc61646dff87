// src/jit/info.cpp: pardo/binding/cache.h: the disk cache as users see it.
#include <pardo/binding/cache.h>

#include "jit/cache.h"
#include "jit/pack.h"

namespace pardo {

CacheInfo cache_info() {
    const jit::DiskState s = jit::disk_state();
    return {s.path, s.enabled, s.reason, s.files, s.bytes, s.cap_bytes};
}

KernelPackInfo kernel_pack_info() {
    const jit::Pack& pack = jit::Pack::installed();
    return {pack.path(), pack.targets(), pack.count(), pack.bytes()};
}

void clear_cache() { jit::clear_disk(); }

void keep(std::string_view key, std::string_view data) { jit::keep(jit::key(key), {data.begin(), data.end()}); }

std::optional<std::string> kept(std::string_view key) {
    jit::Binary data;
    if (!jit::kept(jit::key(key), data)) return {};
    return std::string(data.begin(), data.end());
}

}  // namespace pardo
