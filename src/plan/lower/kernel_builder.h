// src/plan/lower/kernel_builder.h: state of the translation of one scheduled kernel to IR; kernel.cpp has its values, loops.cpp its loops.
#pragma once

#include <functional>
#include <vector>

#include "ir/builder.h"
#include "plan/lower/kernel.h"

namespace pardo::plan {

class KernelBuilder {
public:
    using Values = ir::Builder::Values;
    using Value = ir::Value;

    KernelBuilder(const Planner& planner, const KernelPlan& plan);
    LoweredKernel run();

private:
    // Parameters.
    void declare_pointers();
    void declare_steps();
    void declare_extents();
    void declare_scalars();
    Value number(std::string name, Size value);
    Value step_of(int dim, Size step) const;
    // Values.
    Value get(int fused);
    Value compute(int fused);
    Value index_of(int access);
    Value load(int access);
    void remember(int fused, Value value);
    /// Computes at this place whatever of `targets` depends only on loop dims that are bound here.
    void hoist(const std::vector<bool>& in, int loop);
    std::size_t mark() const { return made_.size(); }
    void forget(std::size_t mark);
    // Loops.
    void item();
    void run_loop(int loop);
    void outer_stores();
    Values nest(int dim, const Values& carried);
    Values serial(int dim, const Values& carried);
    Values serial_range(int dim, Value lower, Value upper, const Values& carried);
    Values lanes(int dim, const Values& carried);
    Values lanes_range(int dim, Value lower, Value upper, const Values& carried);
    Values written_out(int dim, const Values& carried);
    void rows();
    void rows_loop(int dim);
    void rows_range(int dim, Value lower, Value upper, int count);
    void rows_pass(int row_dim, Value first, int count);
    void lanes_of_row(const std::function<void()>& body);
    Values innermost(const Values& carried);
    void store_full();
    Value contribution(const Reduction& r);
    void find_position(const Reduction& r, int dim, Value lower, Value upper, Value best, Values& carried, int at);
    /// True where argmin or argmax finds value and position in one pass: both in 64 bits, so that the largest is the first of the best.
    bool packs(const Reduction& r) const;
    Value packed(const Reduction& r, Value x, Value place);
    void take_packed(const Reduction& r, int dim, Value lower, Value upper, Value best, Values& carried);
    // Carried values: one a reduction, two for argmin and argmax.
    Values identities();
    bool starts_fresh(const Reduction& r) const;
    Value better(const Reduction& r, Value a, Value b);
    Value matches(Value x, Value best);
    Value is_nan(Value x);
    void bounds(int dim, Value& lower, Value& upper);
    Size trip_count(int dim) const;

    const Planner& planner_;
    const KernelPlan& plan_;
    const Group& group_;
    ir::Builder m_;
    std::vector<Argument> arguments_;
    std::vector<Value> pointers_;  // by access
    std::vector<Value> base_;      // by access: the part of the index that the item fixes
    std::vector<Value> offsets_;   // by access: constant part of an Index
    struct Step {
        int dim;
        Size step;
        Value value;
    };
    std::vector<Step> steps_;                   // of loop dims
    std::vector<Value> extent_;                 // by loop dim, inner ones
    std::vector<Value> block_lengths_;          // by block
    std::vector<Value> var_;                    // by loop dim; no_value: not bound here
    std::vector<Value> memo_;                   // by fused value
    std::vector<int> made_;                     // fused values that have been computed, in that order
    int loop_ = 0;                              // the one being emitted
    std::vector<const Reduction*> reductions_;  // of this loop
    std::vector<bool> in_;                      // fused values that this loop needs
};

}  // namespace pardo::plan
