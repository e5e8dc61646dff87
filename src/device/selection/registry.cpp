// src/device/selection/registry.cpp: knows the back ends, filters their devices by PARDO_DEVICES, and asks only those in question.
#include "device/selection/registry.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include <pardo/binding/hooks.h>
#include <pardo/error.h>

#include "base/env.h"
#include "base/fork.h"
#include "device/selection/partition.h"
#include "device/selection/selection.h"

namespace pardo::device {
namespace {

using RegisterAll = void (*)();
constinit RegisterAll builtin_backends = nullptr;

std::vector<std::unique_ptr<Backend>>& storage() {
    static auto* list = new std::vector<std::unique_ptr<Backend>>;  // devices live as long as the process
    return *list;
}

/// Back ends that have been asked for their devices.
struct Asked {
    std::mutex mutex;
    std::vector<Backend*> list;
};
Asked& asked() {
    static auto* instance = [] {
        auto* made = new Asked;
        hold_at_fork(made->mutex);
        hold_canonical_at_fork();
        return made;
    }();
    return *instance;
}
[[maybe_unused]] const Asked& asked_at_start = asked();  // see at_fork

std::atomic<Device*> chosen{nullptr};  // the default device, once it is known
std::atomic<std::optional<pardo::Device> (*)()> default_hook{nullptr};

/// The parsed PARDO_DEVICES; throws Value naming the variable when it is malformed.
const Filter& visibility() {
    static const auto& filter = *new Filter(parse_filter("PARDO_DEVICES", env("PARDO_DEVICES").value_or(""), {}));
    return filter;
}

bool is_asked_about(const Backend& backend, std::string_view name) { return name.empty() ? !backend.hidden() : backend.name() == name; }

/// Devices of one back end, or of all but hidden ones; those of back ends that PARDO_DEVICES hides are left out unless it counts them.
std::vector<Candidate> candidates(std::string_view name) {
    const bool counts_all = visibility().counts_over_back_ends();
    std::vector<Candidate> list;
    for (const auto& backend : backends()) {
        const bool counted = counts_all && !backend->hidden();
        if (!counted && !(is_asked_about(*backend, name) && may_be_visible(*backend))) continue;
        for (const Platform& platform : platforms_of(*backend)) {
            for (Device* d : platform.devices)
                list.push_back({d, std::string(backend->name()), d->info().type, d->id(), d->info().name, backend->hidden()});
        }
    }
    return list;
}

std::vector<Candidate> visible_of(const std::vector<Candidate>& all) {
    std::vector<Candidate> visible;
    for (const Candidate& c : all) {
        if (visibility().admits(c, all)) visible.push_back(c);
    }
    return visible;
}

/// Nothing matched: looks at everything there is, and says so.
[[noreturn]] void explain(std::string_view selector, std::string reasons = {}) {
    const std::vector<Candidate> all = candidates("");
    for (const auto& backend : backends()) {
        if (backend->hidden()) continue;
        const std::string reason = may_be_visible(*backend) ? backend->unavailable() : "hidden by PARDO_DEVICES";
        if (!reason.empty()) reasons += "; " + std::string(backend->name()) + ": " + reason;
    }
    choose(selector, all, visible_of(all), reasons);
    throw Error(ErrorCode::Internal, "Device: \"" + std::string(selector) + "\" is not found and found");
}

}  // namespace

bool set_builtin_backends(void (*register_all)()) noexcept {
    builtin_backends = register_all;
    return true;
}

void register_backend(std::unique_ptr<Backend> backend) { storage().push_back(std::move(backend)); }

const std::vector<std::unique_ptr<Backend>>& backends() {
    static std::once_flag once;
    std::call_once(once, [] {
        install_fork_handlers();
        if (builtin_backends) builtin_backends();
    });
    return storage();
}

const std::vector<Platform>& platforms_of(Backend& backend) {
    const std::vector<Platform>& platforms = backend.platforms();
    std::lock_guard lock(asked().mutex);
    if (std::find(asked().list.begin(), asked().list.end(), &backend) == asked().list.end()) asked().list.push_back(&backend);
    return platforms;
}

bool may_be_visible(const Backend& backend) { return visibility().may_admit(backend.name(), backend.hidden()); }

std::vector<Device*> visible_devices(std::string_view backend) {
    const std::vector<Candidate> all = candidates(backend);
    std::vector<Device*> devices;
    for (const Candidate& c : visible_of(all)) {
        if (backend.empty() ? !c.hidden : c.backend == backend) devices.push_back(c.device);
    }
    return devices;
}

Device* select(std::string_view selector) {
    const std::vector<Alternative> alternatives = parse_alternatives(selector);
    if (std::any_of(alternatives.begin(), alternatives.end(), [](const Alternative& a) { return !a.pattern; })) explain(selector);
    std::string refused;
    for (const Alternative& a : alternatives) {
        const std::vector<Candidate> all = candidates(a.pattern->backend);
        Device* device = find(*a.pattern, all, visible_of(all));
        try {
            if (device && !a.part.empty()) device = part_of(device, a.part);
        } catch (const Error& e) {  // it cannot be cut so: another alternative may do
            refused += "; " + e.message();
            device = nullptr;
        }
        if (device) return device;
    }
    explain(selector, std::move(refused));
}

Device* default_device() {
    if (auto* hook = default_hook.load(std::memory_order_acquire)) {
        if (const std::optional<pardo::Device> d = hook()) return d->impl();
    }
    if (Device* d = chosen.load(std::memory_order_acquire)) return d;
    Device* device = nullptr;
    if (const std::optional<std::string> wish = env("PARDO_DEVICE")) {
        try {
            device = select(*wish);
        } catch (const Error& e) {
            throw e.with_message("PARDO_DEVICE=" + *wish + ": " + e.message());
        }
    } else {
        std::vector<Device*> devices = visible_devices("cpu");
        if (devices.empty()) devices = visible_devices();
        if (devices.empty())
            throw Error(ErrorCode::Device, "Device: PARDO_DEVICES=" + env("PARDO_DEVICES").value_or("") + " leaves no device visible");
        device = devices.front();
    }
    chosen.store(device, std::memory_order_release);
    return device;
}

}  // namespace pardo::device

namespace pardo {

Device Device::host() { return Device(device::select("cpu")); }

void set_default_device(std::optional<Device> device) {
    device::chosen.store(device ? device->impl() : nullptr, std::memory_order_release);
}

void set_default_device_hook(std::optional<Device> (*hook)()) { device::default_hook.store(hook, std::memory_order_release); }

std::vector<Device> get_devices_in_use() {
    std::vector<device::Device*> used;
    {
        std::lock_guard lock(device::asked().mutex);
        for (device::Backend* backend : device::asked().list) {
            for (const device::Platform& platform : backend->platforms()) {
                for (device::Device* d : platform.devices) d->collect_in_use(used);
            }
        }
    }
    return {used.begin(), used.end()};
}

}  // namespace pardo
