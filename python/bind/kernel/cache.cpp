// python/bind/kernel/cache.cpp: pardo/binding/cache.h for Python.
#include <pardo/binding/cache.h>

#include "bind.h"

namespace bind {
namespace {
std::string_view text_of(const nb::bytes& bytes) { return {static_cast<const char*>(bytes.data()), bytes.size()}; }
}  // namespace

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
    m.def(
        "_kernel_pack_info",
        [] {
            const pardo::KernelPackInfo p = pardo::kernel_pack_info();
            nb::dict d;
            d["path"] = p.path;
            d["targets"] = p.targets;
            d["kernels"] = p.kernels;
            d["bytes"] = p.bytes;
            return d;
        },
        nb::sig("def _kernel_pack_info() -> dict[str, Any]"));
    m.def("_clear_cache", &pardo::clear_cache);
    m.def(
        "_cache_translation", [](const nb::bytes& key, const nb::bytes& data) { pardo::keep(text_of(key), text_of(data)); }, nb::arg("key"),
        nb::arg("data"));
    m.def(
        "_cached_translation",
        [](const nb::bytes& key) -> nb::object {
            const auto data = pardo::kept(text_of(key));
            return data ? nb::object(nb::bytes(data->data(), data->size())) : nb::none();
        },
        nb::arg("key"), nb::sig("def _cached_translation(key: bytes) -> bytes | None"));
}

}  // namespace bind
