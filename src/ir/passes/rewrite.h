// src/ir/passes/rewrite.h: the walk that all passes share: builds a new kernel from an old one, instruction by instruction.
// This folder: what changes kernels (passes), and what is learned from them before (range_analysis.cpp, teams.cpp).
#pragma once

#include "ir/builder.h"

namespace pardo::ir {

/// Rebuilds a kernel. A pass overrides what it changes; everything else is copied. Each old value becomes one or two new ones
/// (a complex one: re and im).
class Rewriter {
public:
    explicit Rewriter(const Kernel& from);
    virtual ~Rewriter() = default;
    Kernel run();

protected:
    using Values = Builder::Values;
    using Regions = std::span<const RegionId>;

    virtual void param(const Param& p);
    virtual void array(const ArrayInfo& a);
    virtual void instr(const Instr& in);
    /// True if values of this type become two.
    virtual bool paired(DType) const { return false; }
    /// One step of a lanes loop that became a serial one: the carried values joined with the contributions.
    virtual Values combined(const Instr& in, std::span<const Value> carried, std::span<const Value> contributions);

    void copy(const Instr& in);
    void for_loop(const Instr& in, LoopKind kind);
    void region_body(const Region& region, Values& yields);

    const Region& region(const Instr& in, int k) const { return from_.regions[in.regions[k]]; }
    DType type(Value old) const { return from_.values[old].type; }
    /// The new value, or the first of two.
    Value at(Value old) const { return first_[old]; }
    Value second(Value old) const { return second_[old]; }
    void set(Value old, Value first, Value second = no_value) {
        first_[old] = first;
        second_[old] = second;
    }
    void append(Values& list, Value old) const;
    Values mapped(std::span<const Value> old) const;
    void assign(std::span<const Value> old, std::span<const Value> fresh);

    const Kernel& from_;
    Builder m_;

private:
    std::vector<Value> first_, second_;
};

}  // namespace pardo::ir
