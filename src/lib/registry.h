// src/lib/registry.h: which code computes a routine on a device: implementations register themselves, the cheapest that applies is taken.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "device/device.h"

namespace pardo::lib {

/// The devices that an implementation is for, by what they can do.
enum class Place : std::uint8_t {
    Host = 1,  // the library's own code computes on their memory
    Text = 2,  // they compile text, in groups of device_group items
    Away = 4,  // the host does not compute there, whatever else they can do
};
/// Items a group, in all kernels of text.
inline constexpr int device_group = 256;

/// What does not depend on a routine's signature.
class RoutineBase {
public:
    constexpr explicit RoutineBase(const char* name) : name_(name) {}
    const char* name() const { return name_; }
    /// Names of its implementations: "OpenBLAS, loops".
    virtual std::string implementations() const = 0;

protected:
    ~RoutineBase() = default;
    /// The places that a device is, as bits.
    static unsigned places_of(const device::Device* device);
    /// False when PARDO_ROUTINES names another implementation of this routine.
    bool allowed(const char* implementation) const;
    /// Says that none applies.
    [[noreturn]] void refuse(const device::Device* device) const;
    void log_choice(const char* implementation, const device::Device* device) const;

private:
    const char* name_;
};

/// A computation on memory that is not one fused loop, by the signature of its implementations: `routines::sort(queue, …)` takes the
/// cheapest one that applies on the queue's device. PARDO_ROUTINES="matmul=kernels,sort=threads" names others, for tests.
template <class F> class Routine;
template <class R, class... Args> class Routine<R(device::Queue*, Args...)> final : public RoutineBase {
public:
    struct Implementation {
        const char* name;
        Place place;
        R (*run)(device::Queue*, Args...);
        bool (*applies)(device::Queue*, Args...) = nullptr;  // whether it takes these operands; null: it takes all
        double cost = 1;                                     // relative to other implementations of the routine
    };

    using RoutineBase::RoutineBase;

    R operator()(device::Queue* queue, Args... args) const { return choose(queue, args...).run(queue, args...); }

    /// Throws Device where none applies.
    const Implementation& choose(device::Queue* queue, Args... args) const {
        const unsigned here = places_of(queue->device());
        const Implementation* best = nullptr;
        for (std::size_t i = 0; i < count_; ++i) {
            const Implementation& one = list_[i];
            if (!(here & static_cast<unsigned>(one.place)) || !allowed(one.name) || (best && best->cost <= one.cost)) continue;
            if (!one.applies || one.applies(queue, args...)) best = &one;
        }
        if (!best) refuse(queue->device());
        if (!told_[static_cast<std::size_t>(best - list_.data())].exchange(true, std::memory_order_relaxed))
            log_choice(best->name, queue->device());
        return *best;
    }

    void add(const Implementation& implementation) { list_.at(count_++) = implementation; }

    std::string implementations() const override {
        std::string names;
        for (std::size_t i = 0; i < count_; ++i) names.append(i ? ", " : "").append(list_[i].name);
        return names;
    }

private:
    static constexpr std::size_t most = 6;
    std::array<Implementation, most> list_{};
    std::size_t count_ = 0;
    mutable std::array<std::atomic<bool>, most> told_{};  // in the log
};

/// Adds an implementation before main begins: a constant of its file.
template <class F> struct Registered {
    Registered(Routine<F>& routine, const typename Routine<F>::Implementation& implementation) { routine.add(implementation); }
};

}  // namespace pardo::lib
