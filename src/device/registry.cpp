// src/device/registry.cpp: knows the back ends, and filters their devices by PARDO_DEVICES.
#include "device/registry.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <pardo/error.h>

#include "base/env.h"
#include "device/selection.h"

namespace pardo::device {
namespace {

std::vector<std::unique_ptr<Backend>>& storage() {
    static auto* list = new std::vector<std::unique_ptr<Backend>>;  // devices live as long as the process
    return *list;
}

/// The default device, once it is known.
std::atomic<Device*> chosen{nullptr};

/// The parsed PARDO_DEVICES; throws Value naming the variable when it is malformed.
const Filter& visibility(const std::vector<Candidate>& all) {
    static const Filter filter = parse_filter("PARDO_DEVICES", env("PARDO_DEVICES").value_or(""), all);
    return filter;
}

}  // namespace

void register_backend(std::unique_ptr<Backend> backend) { storage().push_back(std::move(backend)); }

const std::vector<std::unique_ptr<Backend>>& backends() {
    static std::once_flag once;
    std::call_once(once, [] {
        install_fork_handlers();
        register_builtin_backends();
    });
    return storage();
}

namespace {

void add_candidates(Backend& backend, std::vector<Candidate>& list) {
    for (const Platform& platform : backend.platforms()) {
        for (Device* d : platform.devices)
            list.push_back({d, std::string(backend.name()), d->info().type, d->id(), d->info().name, backend.hidden()});
    }
}

/// Candidates of those back ends that the alternatives of a selector begin with, so that "cpu" loads no driver; empty when there is more
/// to look at.
std::vector<Candidate> named_candidates(std::string_view selector) {
    std::vector<Candidate> list;
    if (env("PARDO_DEVICES")) return list;
    for (std::size_t start = 0; start <= selector.size();) {
        const std::size_t end = std::min(selector.find(',', start), selector.size());
        const std::string_view word = selector.substr(start, std::min(selector.find(':', start), end) - start);
        const auto& all = backends();
        const auto named = std::find_if(all.begin(), all.end(), [&](const auto& b) { return b->name() == word; });
        if (named == all.end()) return {};
        add_candidates(**named, list);
        start = end + 1;
    }
    return list;
}

}  // namespace

std::vector<Candidate> all_candidates() {
    std::vector<Candidate> list;
    for (const auto& backend : backends()) add_candidates(*backend, list);
    return list;
}

std::vector<Device*> visible_devices(std::string_view backend) {
    if (const std::vector<Candidate> named = named_candidates(backend); !backend.empty() && !named.empty()) {
        std::vector<Device*> devices;
        for (const Candidate& c : named) devices.push_back(c.device);
        return devices;
    }
    const std::vector<Candidate> all = all_candidates();
    std::vector<Device*> devices;
    for (const Candidate& c : all) {
        if (backend.empty() ? c.hidden : c.backend != backend) continue;
        if (visibility(all).admits(c, all)) devices.push_back(c.device);
    }
    return devices;
}

Device* select(std::string_view selector) {
    if (const std::vector<Candidate> named = named_candidates(selector); !named.empty()) {
        try {
            return choose(selector, named, named, {});
        } catch (const Error&) {  // the message is to list what else there is
        }
    }
    const std::vector<Candidate> all = all_candidates();
    std::vector<Candidate> visible;
    std::string reasons;
    for (const Candidate& c : all) {
        if (visibility(all).admits(c, all)) visible.push_back(c);
    }
    for (const auto& backend : backends()) {
        const std::string reason = backend->unavailable();
        if (!reason.empty()) reasons += "; " + std::string(backend->name()) + ": " + reason;
    }
    return choose(selector, all, visible, reasons);
}

Device* default_device() {
    if (Device* d = chosen.load(std::memory_order_acquire)) return d;
    Device* device = nullptr;
    if (const std::optional<std::string> wish = env("PARDO_DEVICE")) {
        try {
            device = select(*wish);
        } catch (const Error& e) {
            throw Error(e.code(), "PARDO_DEVICE=" + *wish + ": " + e.message());
        }
    } else {
        // The CPU first: to look at the others would load their drivers.
        if (const std::vector<Device*> cpus = visible_devices("cpu"); !cpus.empty()) {
            device = cpus.front();
        } else if (const std::vector<Device*> any = visible_devices(); !any.empty()) {
            device = any.front();
        } else {
            throw Error(ErrorCode::Device, "Device: PARDO_DEVICES=" + env("PARDO_DEVICES").value_or("") + " leaves no device visible");
        }
    }
    chosen.store(device, std::memory_order_release);
    return device;
}

}  // namespace pardo::device

namespace pardo {

void set_default_device(std::optional<Device> device) {
    device::chosen.store(device ? device->impl() : nullptr, std::memory_order_release);
}

}  // namespace pardo
