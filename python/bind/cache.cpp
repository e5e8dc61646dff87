// python/bind/cache.cpp: pardo/cache.h for Python.
#include <pardo/cache.h>

#include "bind.h"

namespace bind {

void bind_cache(nb::module_& m) {
    m.def(
        "_cache_info",
        [] {
            const pardo::CacheInfo c = pardo::cache_info();
            nb::dict d;
            d["path"] = c.path;
            d["enabled"] = c.enabled;
            d["reason"] = c.reason;
            d["files"] = c.files;
            d["bytes"] = c.bytes;
            d["limit"] = c.limit;
            return d;
        },
        nb::sig("def _cache_info() -> dict[str, Any]"));
    m.def("_clear_cache", &pardo::clear_cache);
}

}  // namespace bind
