// src/ir/passes/teams.cpp: whether the lanes of a kernel's loops use elements that other lanes store.
#include <algorithm>
#include <vector>

#include "ir/rules.h"

namespace pardo::ir {
namespace {

constexpr InstrId no_loop = ~0u;

/// One load, store or atomic of a parameter's element.
struct Use {
    Value pointer, index;
    InstrId loop;  // the lanes loop around
    bool stores;
};

class Uses {
public:
    explicit Uses(const Kernel& kernel) : kernel_(kernel) { visit(kernel.body, no_loop); }

    bool pass_elements() const {
        return std::any_of(uses_.begin(), uses_.end(), [&](const Use& stored) {
            return stored.stores && std::any_of(uses_.begin(), uses_.end(), [&](const Use& other) { return meets(stored, other); });
        });
    }

private:
    const Kernel& kernel_;
    std::vector<Use> uses_;

    void visit(const Region& region, InstrId loop) {
        for (const InstrId id : region.body) {
            const Instr& in = kernel_.instrs[id];
            if (takes_pointer(in.op) && in.op != Opcode::Report)
                uses_.push_back({in.operands[0], in.operands[1], loop, in.op != Opcode::Load});
            for (const RegionId r : in.regions) visit(kernel_.regions[r], is_lanes_loop(in) ? id : loop);
        }
    }

    /// Whether two lanes may use what `stored` leaves. Iterations of one lanes loop share nothing, and one lane does what no such loop
    /// does.
    bool meets(const Use& stored, const Use& other) const {
        if (stored.pointer != other.pointer) return false;
        if (stored.loop == no_loop) return !other.stores;
        if (stored.loop == other.loop) return false;
        return other.loop == no_loop || !same(lower(stored), lower(other), stored.loop, other.loop) ||
               !same(stored.index, other.index, stored.loop, other.loop);
    }

    Value lower(const Use& use) const { return kernel_.instrs[use.loop].operands[0]; }

    /// Whether `x` in one lanes loop is `y` in another, in iterations of one number.
    bool same(Value x, Value y, InstrId loop_x, InstrId loop_y) const {
        if (x == y) return true;
        const ValueInfo &a = kernel_.values[x], &b = kernel_.values[y];
        if (a.region != ~0u || b.region != ~0u)
            return a.region != ~0u && b.region != ~0u && a.result == -1 && b.result == -1 && a.def == loop_x && b.def == loop_y;
        const Instr &p = kernel_.instrs[a.def], &q = kernel_.instrs[b.def];
        if (p.op != q.op || p.attribute != q.attribute || a.type != b.type || !is_pure(p.op)) return false;
        if (p.op == Opcode::Const) return is_integer(a.type);
        if (p.operands.size() != q.operands.size()) return false;
        for (int k = 0; k < p.operands.size(); ++k)
            if (!same(p.operands[k], q.operands[k], loop_x, loop_y)) return false;
        return true;
    }
};

}  // namespace

bool passes_elements(const Kernel& kernel) {
    return std::any_of(kernel.instrs.begin(), kernel.instrs.end(), is_lanes_loop) && Uses(kernel).pass_elements();
}

}  // namespace pardo::ir
