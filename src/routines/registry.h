// src/routines/registry.h: which code computes a routine on a device: implementations register themselves, the cheapest that applies is
// taken.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "device/device.h"
#include "graph/call.h"
#include "routines/fields.h"
#include "routines/recorder.h"

namespace pardo::routines {

/// The devices that an implementation is for, by what they can do.
enum class DeviceKinds : std::uint8_t {
    Host = 1,                   // the library's own code computes on their memory
    Text = 2,                   // they compile text, in groups of device_group items
    Away = 4,                   // the host does not compute there, whatever else they can do
    Shared = 8,                 // away too, but they are the host's processor, and its code computes on their memory (HostRoutines)
    Processor = Host | Shared,  // where the library's own code computes; on shared memory it goes before kernels, whatever they cost
    HostProcessor = 16,         // away too: the host's processor, whether or not its code is to go before kernels (HostProcessor)
};
/// Items a group, in all kernels of text.
inline constexpr int device_group = 256;

/// What does not depend on a routine's signature.
class RoutineBase {
public:
    constexpr explicit RoutineBase(const char* name, bool in_place = false) : name_(name), in_place_(in_place) {}
    const char* name() const { return name_; }
    /// Whether it writes its first memory where that holds values already; all else that it writes is fresh.
    bool in_place() const { return in_place_; }
    /// The one of this name; null if there is none.
    static const RoutineBase* named(std::string_view name);
    /// Calls it with the arguments that `fields` has: those that a Recorder was given.
    virtual void replay(device::Queue* queue, Fields& fields) const = 0;
    /// The kinds of its arguments' fields: a letter each.
    std::string signature() const;
    /// Names of its implementations: "OpenBLAS, loops".
    virtual std::string implementations() const = 0;
    /// True when PARDO_ROUTINES names this implementation, to have it where it would not be taken.
    bool asked_for(const char* implementation) const;
    /// Adds why libraries that it would call on a device are not there, if they are not in the list.
    virtual void list_problems(const device::Device* device, std::vector<std::string>& problems) const = 0;
    /// In the list of all.
    const RoutineBase* previous() const { return previous_; }

protected:
    ~RoutineBase() = default;
    /// Adds it to the list of all, before main begins.
    void list();
    /// The kinds that a device is of, as bits.
    static unsigned kinds_of(const device::Device* device);
    /// False when PARDO_ROUTINES names another implementation of this routine.
    bool allowed(const char* implementation) const;
    /// Says that none applies.
    [[noreturn]] void refuse(const device::Device* device) const;
    /// Whether an implementation of this name is one of src/routines/copied.
    static bool on_copies(const char* implementation) noexcept { return std::string_view(implementation) == "copies"; }
    void log_choice(const char* implementation, const device::Device* device) const;
    /// Notes that work is done by a costlier implementation than one whose library is not installed.
    static void count_fallback();
    /// Gives each field of arguments without values.
    virtual void walk_default(Fields& fields) const = 0;

private:
    const char* name_;
    const bool in_place_;
    const RoutineBase* previous_ = nullptr;
};

/// A computation on memory that is not one fused loop, by the signature of its implementations: `routines::sort(queue, …)` takes the
/// cheapest one that applies on the queue's device. PARDO_ROUTINES="matmul=kernels,sort=threads" names others, for tests.
template <class F> class Routine;
template <class R, class... Args> class Routine<R(device::Queue*, Args...)> final : public RoutineBase {
public:
    struct Implementation {
        const char* name;
        DeviceKinds devices;
        R (*run)(device::Queue*, Args...);
        /// Whether it takes these operands, by their dtypes, shapes and strides: their memory may be missing. Null: it takes all.
        bool (*applies)(device::Queue*, Args...) = nullptr;
        double cost = 1;                     // relative to other implementations of the routine
        const char* language = nullptr;      // the text that its devices compile; null: any
        bool (*available)() = nullptr;       // whether the library that it calls is installed; null: it calls none
        std::string (*problem)() = nullptr;  // why it is not, without its name
    };

    using RoutineBase::RoutineBase;

    /// Throws Device where none applies.
    R operator()(device::Queue* queue, Args... args) const {
        if (Recorder* const recorder = Recorder::of(queue)) [[unlikely]] {
            if constexpr (is_work)
                return recorder->take(*this, [&](Fields& fields) {
                    Arguments kept(keep<Args>(args)...);
                    walk(kept, fields);
                });
            else if constexpr (std::is_same_v<R, std::int64_t>)
                recorder->refuse_count(name());
        }
        const Choice choice = find(queue, args...);
        if (!choice.best) refuse(queue->device());
        if (choice.missing) count_fallback();
        if (!told_[static_cast<std::size_t>(choice.best - list_.data())].exchange(true, std::memory_order_relaxed))
            log_choice(choice.best->name, queue->device());
        return choice.best->run(queue, args...);
    }

    /// Whether one of them takes these operands, which need no memory.
    bool applies(device::Queue* queue, Args... args) const { return find(queue, args...).best != nullptr; }

    /// What would be taken and what not, for explain. The operands need no memory.
    graph::ImplementationChoice describe(device::Queue* queue, Args... args) const {
        const Implementation* best = find(queue, args...).best;
        graph::ImplementationChoice choice;
        if (best) choice.name = best->name;
        choice.on_host = best && on_copies(best->name);
        const Kinds here(queue->device());
        for (std::size_t i = 0; i < count_; ++i) {
            const Implementation& one = list_[i];
            if (!here.have(one) || &one == best || (best && here.cost(*best) <= here.cost(one))) continue;
            const bool takes = !one.applies || one.applies(queue, args...);
            std::string why = !allowed(one.name) ? "PARDO_ROUTINES asks for another"
                              : !takes           ? "does not take these operands"
                                                 : one.problem();
            if (!takes && one.available && !one.available()) why += ", and is " + one.problem();  // it may take parts of them
            choice.rejected.push_back(one.name + (": " + why));
        }
        return choice;
    }

    /// Before a call that is not recorded, and before what it does: throws what the transfer hook throws, where it would be on copies.
    /// `bytes`: those of what it reads.
    void ask(const char* op_name, std::int64_t bytes, device::Queue* queue, Args... args) const {
        if constexpr (std::is_same_v<R, std::int64_t>)
            if (Recorder* const recorder = Recorder::of(queue)) [[unlikely]]
                recorder->refuse_count(op_name);
        if (graph::TransferQuestion::wanted(queue)) graph::TransferQuestion::ask(op_name, bytes, queue, describe(queue, args...));
    }

    void add(const Implementation& implementation) {
        if (count_ == 0) list();
        list_.at(count_++) = implementation;
    }

    void replay(device::Queue* queue, Fields& fields) const override {
        if constexpr (is_work) {
            Arguments kept;
            walk(kept, fields);
            std::apply([&](const auto&... args) { (*this)(queue, args...); }, kept);
        }
    }

    void list_problems(const device::Device* device, std::vector<std::string>& problems) const override {
        const Kinds here(device);
        for (const Implementation& one : std::span(list_).first(count_)) {
            if (!here.have(one) || !one.available || one.available()) continue;
            std::string problem = one.name + (": " + one.problem());
            if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(std::move(problem));
        }
    }

    std::string implementations() const override {
        std::string names;
        for (std::size_t i = 0; i < count_; ++i) {
            const bool known =
                std::any_of(list_.begin(), list_.begin() + i, [&](const auto& o) { return std::string_view(o.name) == list_[i].name; });
            if (!known) names.append(i ? ", " : "").append(list_[i].name);
        }
        return names;
    }

private:
    // What computes; all others answer a question, at once.
    static constexpr bool is_work = std::is_void_v<R> && (is_memory<Args> || ...);
    using Arguments = std::tuple<KeptType<Args>...>;
    template <class T> static KeptType<T> keep(const std::remove_reference_t<T>& value) {
        if constexpr (std::is_same_v<KeptType<T>, std::remove_cvref_t<T>>)
            return value;
        else
            return {value.begin(), value.end()};
    }
    static void walk(Arguments& kept, Fields& fields) {
        std::apply([&](auto&... args) { (field(fields, args), ...); }, kept);
    }
    void walk_default(Fields& fields) const override {
        if constexpr (is_work) {
            Arguments kept;
            walk(kept, fields);
        }
    }
    struct Kinds {
        explicit Kinds(const device::Device* on) : bits(kinds_of(on)), device(on) {}
        bool have(const Implementation& one) const {
            return (bits & static_cast<unsigned>(one.devices)) && (!one.language || one.language == device->text_language());
        }
        /// Among those that the device has.
        double cost(const Implementation& one) const {
            constexpr auto shared = static_cast<unsigned>(DeviceKinds::Shared);
            return bits & shared & static_cast<unsigned>(one.devices) ? one.cost * 1e-6 : one.cost;
        }
        unsigned bits;
        const device::Device* device;
    };
    struct Choice {
        const Implementation* best = nullptr;
        bool missing = false;  // a cheaper one is not installed
    };
    Choice find(device::Queue* queue, Args... args) const {
        const Kinds here(queue->device());
        Choice choice;
        double missing = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < count_; ++i) {
            const Implementation& one = list_[i];
            if (!here.have(one) || !allowed(one.name) || (choice.best && here.cost(*choice.best) <= here.cost(one))) continue;
            if (one.applies && !one.applies(queue, args...)) continue;
            if (one.available && !one.available())
                missing = std::min(missing, here.cost(one));
            else
                choice.best = &one;
        }
        choice.missing = choice.best && missing < here.cost(*choice.best);
        return choice;
    }
    static constexpr std::size_t most = 8;
    std::array<Implementation, most> list_{};
    std::size_t count_ = 0;
    mutable std::array<std::atomic<bool>, most> told_{};  // in the log
};

/// Adds an implementation before main begins: a constant of its file.
template <class F> struct Registered {
    Registered(Routine<F>& routine, const typename Routine<F>::Implementation& implementation) { routine.add(implementation); }
};

}  // namespace pardo::routines
