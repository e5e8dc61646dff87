// src/launch/function.h: a function of the user and its programs: looked up by the types of a call, made where they are new, submitted.
#pragma once

#include <pardo/binding/kernel.h>

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "device/device.h"
#include "lang/lower.h"
#include "launch/variant.h"

namespace pardo::plan {
class Capture;
}

namespace pardo::launch {

using Arguments = std::span<const KernelArgument>;
using Words = SmallVector<std::uint64_t, 24>;

struct WordsHash {
    std::size_t operator()(const Words& words) const noexcept;
};

/// Throws Value for a range that is none, and for groups that do not divide it.
void check_range(const std::string& op_name, const NdRange& range);

/// One program's types: the function lowered for them, and what has been compiled of it.
struct Specialisation {
    std::uint64_t number = 0;               // in the order in which they were made
    std::uint64_t used = 0;                 // when it was used last: greater is later
    std::vector<lang::ArgumentType> types;  // keeps the functions among them, whose addresses are part of the key
    lang::Space space;
    lang::Options options;
    lang::FixedNumbers fixed;                // numbers from outside that are part of it, though they have changed
    std::vector<std::string> fixed_because;  // what keeps each of them from being an argument
    device::Device* device = nullptr;
    lang::Lowered lowered;                                 // its kernel has all of its checks
    std::shared_ptr<const std::vector<lang::Site>> sites;  // of `lowered`: launches keep them
    std::unique_ptr<Variants> variants;
    bool streams = false;  // the device's compiler knows stores that bypass the caches

    /// What it does with each argument of the caller; numbers from outside, which come after these, are left out.
    std::vector<ArgumentUse> uses() const {
        std::vector<ArgumentUse> out;
        const std::size_t count = lowered.accesses.size() - lowered.outside.size();
        out.reserve(count);
        for (std::size_t k = 0; k < count; ++k)
            out.push_back(lowered.used[k] ? static_cast<ArgumentUse>(lowered.accesses[k]) : ArgumentUse::None);
        return out;
    }
};

/// What a loop's program is given besides the arguments.
struct LoopArguments {
    std::int64_t count = 0, block = 0, chunk = 0;
    std::span<device::Buffer* const> results;  // one a result
    bool waits = false;                        // for its end, at once
    bool late = false;                         // memory that other code may see is written without waiting
    bool gives_event = true;                   // to the caller, as a kernel does
};

class UserFunction {
public:
    UserFunction(std::shared_ptr<const syntax::Function> function, bool takes_item, const KernelOptions& options,
                 std::optional<lang::LoopSpec> loop = std::nullopt);

    const std::string& name() const { return function_->name; }
    /// Names of the arguments.
    std::span<const std::string> parameters() const { return std::span(function_->params).subspan(takes_item_ ? 1 : 0); }
    /// "`x`", "`x[1]`": the k-th of the arguments as the user calls it.
    std::string parameter(Arguments arguments, std::size_t k) const;
    [[noreturn]] void fail(ErrorCode code, const std::string& text) const;

    void check_range(const NdRange& range) const { launch::check_range(name(), range); }
    void check_count(Arguments arguments) const;
    /// Compute follows data: all arrays, and the queue if one is given, are of one queue, but for 0-d arrays of the CPU, which follow.
    device::Queue* queue_of(Arguments arguments, const Queue* given) const;
    /// The arguments, in `memory` if any of them is to follow to the queue. Throws Placement where the program writes one that would.
    Arguments on_queue(const Specialisation& special, Arguments arguments, device::Queue* queue, std::vector<KernelArgument>& memory) const;
    /// Hands over what the arrays are computed from; then the specialisation, from the cache or made.
    /// `assumed`: one bit for each argument, a Python integer, or an array by its extents, of fewer than 32 bits; `misfit` has to be asked
    /// after it.
    std::shared_ptr<Specialisation> prepare(Arguments arguments, const NdRange& range, device::Queue* queue, std::uint64_t assumed = 0);
    /// One bit for each argument for which is_small is true.
    static std::uint64_t small_ones(Arguments arguments);
    static bool is_small(const KernelArgument& a);
    /// Whether all Python integers among the numbers are small.
    static bool are_small(Arguments numbers);
    /// One more bit: all Python numbers from outside are small.
    static constexpr std::uint64_t small_outside = std::uint64_t{1} << 63;
    bool has_outside() const { return has_outside_; }
    /// The arguments, and behind them, in `memory`, the numbers from outside that the program takes, as they are now.
    static Arguments with_outside(const Specialisation& special, Arguments arguments, std::vector<KernelArgument>& memory);
    /// The first case of a Python integer that does not fit the dtype that it has to fit; null if all fit.
    static const lang::Fit* misfit(const Specialisation& special, Arguments arguments);
    /// Throws Overflow for that.
    void check_fits(const Specialisation& special, Arguments arguments) const;
    /// Throws Value for plain numbers in brackets that are more than the function asks for: in CUDA they mean groups and items.
    void check_dimensions(const Specialisation& special, const NdRange& range) const {
        if (range.bare && special.lowered.asked > 0 && special.lowered.asked < special.space.rank) refuse_dimensions(special, range);
    }
    /// The variant of the kernel for a launch.
    static Variant& variant(const Specialisation& special, Arguments arguments, std::span<const std::int64_t> extents,
                            const LoopArguments& loop = {});
    static Ref<device::Program> program(Variant& variant, device::Device* device, std::span<const std::int64_t> extents,
                                        std::uint64_t streaming);
    /// Parameters whose arrays are written, not read, and so large that what is written does not stay in caches; one bit each.
    static std::uint64_t streaming(const Specialisation& special, const Variant& variant, Arguments arguments,
                                   std::span<const std::int64_t> extents, std::int64_t items);
    static ir::Kernel kernel(const Variant& variant, std::uint64_t streaming);
    /// What submit does on a queue whose work leaves the process.
    void note(plan::Capture& capture, const Specialisation& special, Variant& variant, Arguments arguments,
              std::span<const std::int64_t> extents, double iterations, device::Queue* queue, const LoopArguments& loop) const;
    Event submit(const Specialisation& special, Variant& variant, Arguments arguments, std::span<const std::int64_t> extents,
                 double iterations, device::Queue* queue, std::span<const Event> depends, const LoopArguments& loop = {});
    std::vector<lang::ArgumentType> types_of(Arguments arguments, const NdRange& range, const device::Device* device) const;
    lang::Options options_for(const device::Device* device, bool distinct) const;
    std::size_t specialisations() const;
    /// What pardo/binding/kernel.h says of these.
    std::string types(const Specialisation& special) const;
    std::string types() const;
    std::string diagnostics() const;
    std::string inspect(const std::string& what) const;

private:
    Words key_of(Arguments arguments, const NdRange& range, const device::Device* device, bool distinct, std::uint64_t assumed) const;
    std::shared_ptr<Specialisation> make(Arguments arguments, const NdRange& range, device::Device* device, bool distinct,
                                         std::uint64_t assumed, lang::FixedNumbers& fixed) const;
    void lower(Specialisation& made, lang::FixedNumbers& fixed) const;
    lang::Lowered lowered(const Specialisation& special, const lang::Options& options, lang::OutsideUse* outside) const;
    Error with_line(const Error& e) const;
    bool writes_all(const Specialisation& special, Arguments arguments, std::size_t k, std::span<const std::int64_t> extents) const;
    [[noreturn]] void refuse_queue(Arguments arguments, std::size_t k, const device::Queue* queue, const char* why = "") const;
    [[noreturn]] void refuse_dimensions(const Specialisation& special, const NdRange& range) const;
    void assert_access(Arguments arguments, std::vector<lang::ArgumentType>& types) const;
    std::vector<std::shared_ptr<Specialisation>> programs() const;  // in the order in which they were made
    std::string head(const Specialisation& special) const;
    /// Lets a quarter of the programs go, those that have not been used for longest; what runs keeps its own.
    std::vector<std::shared_ptr<Specialisation>> drop_old();

    using Owners = std::vector<std::shared_ptr<const void>>;
    /// Functions and classes among the arguments, whose addresses are part of the key: what is kept by the key keeps them too.
    static Owners owners_of(Arguments arguments);
    /// Numbers whose values are part of further keys.
    struct Fixed {
        std::vector<lang::OutsideNumber> numbers;
        Owners owners;
    };
    /// Why a program cannot be made: a loop asks again each time that it runs.
    struct Refused {
        Error error;
        Owners owners;
    };

    std::shared_ptr<const syntax::Function> function_;
    const Text label_;  // its name, for all launches
    const bool takes_item_;
    const KernelOptions options_;
    const std::optional<lang::LoopSpec> loop_;
    static constexpr std::size_t most_programs = 1024;  // some 50 KiB each
    const bool has_outside_;
    // By lock_of(this):
    std::uint64_t uses_ = 0;  // by calls that looked for a program
    std::size_t made_ = 0;    // programs
    std::unordered_map<Words, Fixed, WordsHash> fixed_;
    std::unordered_map<Words, std::shared_ptr<Specialisation>, WordsHash> known_;
    std::unordered_map<Words, Refused, WordsHash> refused_;
    const std::pair<const Words, std::shared_ptr<Specialisation>>* last_ = nullptr;  // of them, what the last call took
};

}  // namespace pardo::launch
