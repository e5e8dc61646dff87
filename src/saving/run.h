// src/saving/run.h: one run of a function that is exported, for one choice of sizes: what it allocates, launches and gives.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <pardo/array.h>

#include "plan/adaptable.h"
#include "plan/capture.h"
#include "plan/plan.h"
#include "plan/size.h"
#include "routines/registry.h"
#include "saved/program.h"
#include "saving/device.h"
#include "saving/formula.h"

namespace pardo::saving {

/// What is exported, as the runs call it.
using Function = std::function<std::vector<Array>(std::span<const Array>)>;

/// The formulas of a run's numbers, in the order in which they come.
struct KnownNumbers {
    const Formulas* formulas = nullptr;
    std::vector<Formula> of;
    std::vector<RealFormula> reals;
};

/// Kernels by their hash, and routines by their name, of all plans.
class Codes {
public:
    std::uint32_t number(const ir::Kernel& kernel);
    std::uint32_t number(const routines::RoutineBase& routine);
    const std::vector<ir::Kernel>& kernels() const { return kernels_; }
    const std::vector<saved::Routine>& routines() const { return routines_; }

private:
    std::vector<saved::Routine> routines_;
    std::vector<Hash128> hashes_;
    std::vector<ir::Kernel> kernels_;
};

/// What a run was, but for its numbers.
struct RunOutline {
    std::vector<std::uint8_t> structure;
    std::vector<std::int64_t> numbers;
    std::vector<DType> rounded_to;  // of each number: Int64, or the dtype of the scalar that it is
    std::vector<double> reals;      // floats
    std::vector<DType> real_dtypes;
};

/// Runs a function on arrays that are not there.
class Run final : public Notes, public plan::Capture, public routines::Recorder {
public:
    /// With `known` and a regime, what the run does is added to the regime: for steps that have no alternative for these sizes yet, one for
    /// all sizes for which the planner decides the same.
    Run(NotingDevice& device, const saved::Program& program, const Sizes& sizes, const KnownNumbers* known = nullptr,
        Codes* codes = nullptr, saved::Regime* regime = nullptr);
    ~Run() override;
    Run(const Run&) = delete;
    /// Throws what the function throws, and Value for what cannot be exported.
    void call(const Function& function);

    const RunOutline& outline() const { return outline_; }
    const std::vector<DType>& outputs() const { return outputs_; }
    /// Blocks that the host wrote: their names, and what is in them.
    struct Written {
        std::uint32_t name;
        Ref<NotedBuffer> buffer;
    };
    const std::vector<Written>& written() const { return written_; }
    // Notes.
    std::uint32_t allocated(std::size_t bytes) override;
    void wrote(NotedBuffer& buffer) override;
    // plan::Capture.
    bool take(const plan::Subgraph& subgraph, device::Queue* queue) override;
    void take(const plan::CapturedLaunch& launch) override;
    // routines::Recorder.
    void take(const routines::RoutineBase& routine, const std::function<void(routines::Fields&)>& walk) override;
    [[noreturn]] void refuse_count(const char* op_name) override;

private:
    std::size_t note(std::int64_t number);
    void name(std::uint32_t block);
    /// The block behind a leaf; throws Value for one of another run.
    std::uint32_t block_of(const graph::Node& leaf) const;
    std::uint32_t block_of(const device::Buffer& memory) const;
    /// Throws where a number is not what it was when the samples were taken.
    void check(std::size_t at) const;
    /// The place of a float among those of the run.
    std::size_t note_real(double value, DType dtype);
    [[noreturn]] static void refuse_change();
    /// The trace of one step, or of the regime's own numbers.
    class Tracing;
    class RoutineNotes;
    bool wanted(std::size_t step) const;
    saved::Launch launch(const plan::PlannedLaunch& planned, const plan::AdaptablePlan::Launch& launch,
                         std::span<const plan::AdaptablePlan::Number> numbers, const plan::Subgraph& subgraph,
                         std::span<const std::size_t> own, std::span<const std::uint32_t> slots, Tracing& tracing);

    NotingDevice& device_;
    const saved::Program& program_;
    const Sizes sizes_;
    const KnownNumbers* known_;
    Codes* codes_;
    saved::Regime* regime_;
    RunOutline outline_;
    std::vector<Written> written_;
    /// Blocks by number. Names are those that every run for other sizes has: scratch of the planner is left out.
    struct Block {
        std::uint32_t name;
        std::size_t bytes_at = 0;  // among the numbers; of scratch meaningless
        bool used = false;         // by a launch, or an argument: its contents are not the host's any more
    };
    std::vector<Block> blocks_;
    std::uint32_t names_ = 0;
    bool scratch_ = false;  // the next block is
    std::size_t step_ = 0;
    std::vector<std::size_t> real_of_;  // of the step's nodes that are float constants
    std::vector<Array> results_;
    std::vector<DType> outputs_;
    std::vector<Ref<device::Buffer>> kept_;
};

/// The name of scratch in launches: behind all other values.
inline constexpr std::uint32_t scratch_mark = std::uint32_t{1} << 31;

}  // namespace pardo::saving
