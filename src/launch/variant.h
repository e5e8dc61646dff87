// src/launch/variant.h: a specialisation's kernel without the index checks that a launch shows to hold.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"
#include "device/signature.h"
#include "ir/passes/checks.h"
#include "lang/lower.h"
#include "launch/cost.h"

namespace pardo::launch {

/// The values that a user's function is launched with, by their numbers in its signature: the arguments, and behind them these.
struct LaunchValues {
    std::uint32_t count, block, status, log, results;  // `results`: the first of them
    explicit LaunchValues(std::size_t arguments)
        : count(static_cast<std::uint32_t>(arguments)), block(count + 1), status(count + 2), log(count + 3), results(count + 4) {}
};

/// One program's kernel: it assumes that some checks hold, and makes the others at run time.
struct Variant {
    std::vector<bool> held;  // one for each check: assumed to hold
    ir::Kernel kernel;
    std::vector<lang::Slot> slots;  // one for each of the kernel's parameters
    device::Signature signature;    // of `slots`; its values are in LaunchValues' order
    bool reports = false;           // it has a status block
    Cost cost;
    struct Compiled {
        device::ShapeClass shape;
        std::uint64_t streaming = 0;  // one bit a parameter
        Ref<device::Program> program;
    };
    // By lock_of(this):
    std::vector<Compiled> programs;
    SmallVector<std::int64_t, 3> last_extents;  // the last launch's, and what it took
    Compiled last;
};

/// The variants of one lowered function, and the choice among them.
class Variants {
public:
    explicit Variants(const lang::Lowered& lowered);

    using Inputs = SmallVector<ir::Range, 16>;
    /// What a launch has to say for `choose`.
    const std::vector<ir::RangeInput>& inputs() const { return program_.inputs; }
    /// The variant with the fewest checks that a launch with these inputs needs; made if it does not exist yet.
    Variant& choose(const Inputs& inputs);
    /// What the last launch took; before the first one the variant that checks everything.
    Variant& shown();

private:
    Variant& made(std::vector<bool> held);

    const lang::Lowered& lowered_;
    ir::RangeProgram program_;
    // By lock_of(this):
    std::vector<std::unique_ptr<Variant>> all_;
    Inputs last_inputs_;
    Variant* last_ = nullptr;
};

}  // namespace pardo::launch
