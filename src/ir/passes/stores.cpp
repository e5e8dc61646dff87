// src/ir/passes/stores.cpp: the pass that lets a branch whose sides end with stores to the same elements store once, after it.
#include <algorithm>
#include <vector>

#include "ir/passes/rewrite.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

/// Whether two values are made in the same way of the same values, without reading memory.
class Twins {
public:
    explicit Twins(const Kernel& kernel) : kernel_(kernel) {}
    bool operator()(Value a, Value b) {
        if (a == b) return true;
        const Instr *x = definition(kernel_, a), *y = definition(kernel_, b);
        if (!x || !y || --steps_ < 0) return false;
        const bool alike = x->op == y->op && is_pure(x->op) && !is_leaf(x->op) && x->attribute == y->attribute &&
                           kernel_.values[a].type == kernel_.values[b].type && x->operands.size() == y->operands.size();
        if (!alike) return false;
        for (int k = 0; k < x->operands.size(); ++k)
            if (!(*this)(x->operands[k], y->operands[k])) return false;
        return true;
    }

private:
    const Kernel& kernel_;
    int steps_ = 256;  // equal parts are looked at again; indices are small
};

/// The stores after which a region has no other effect and reads nothing, last one first.
std::vector<InstrId> last_stores(const Kernel& kernel, const Region& region) {
    std::vector<InstrId> found;
    for (auto id = region.body.rbegin(); id != region.body.rend(); ++id) {
        const Instr& in = kernel.instrs[*id];
        if (in.op == Opcode::Store)
            found.push_back(*id);
        else if (in.op != Opcode::Yield && !is_pure(in.op))
            break;
    }
    return found;
}

struct Pair {
    InstrId then_store, else_store;
};

/// The stores that both sides of a branch without barriers end with, last one first.
std::vector<Pair> common_stores(const Kernel& kernel, InstrId id, const std::vector<bool>& barriers) {
    std::vector<Pair> pairs;
    const Instr& branch = kernel.instrs[id];
    if (branch.op != Opcode::If || barriers[id]) return pairs;
    const auto a = last_stores(kernel, kernel.regions[branch.regions[0]]), b = last_stores(kernel, kernel.regions[branch.regions[1]]);
    for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
        const Instr &x = kernel.instrs[a[k]], &y = kernel.instrs[b[k]];
        if (x.operands[0] != y.operands[0] || !Twins(kernel)(x.operands[1], y.operands[1])) break;
        pairs.push_back({a[k], b[k]});
    }
    return pairs;
}

class JoinStores : public Rewriter {
public:
    JoinStores(const Kernel& from, const std::vector<bool>& barriers) : Rewriter(from), barriers_(barriers), moved_(from.instrs.size()) {}

private:
    void instr(const Instr& in) override {
        const auto id = static_cast<InstrId>(&in - from_.instrs.data());
        if (moved_[id]) return;
        const std::vector<Pair> pairs = common_stores(from_, id, barriers_);
        if (pairs.empty()) return Rewriter::instr(in);
        for (const Pair& p : pairs) {
            moved_[p.then_store] = moved_[p.else_store] = true;
            make(from_.instrs[p.then_store].operands[1]);
        }
        auto side = [&](int k) {
            Values yields;
            region_body(region(in, k), yields);
            for (const Pair& p : pairs) yields.push_back(at(from_.instrs[k == 0 ? p.then_store : p.else_store].operands[2]));
            return yields;
        };
        const Values results = m_.if_else(
            at(in.operands[0]), [&] { return side(0); }, [&] { return side(1); });
        assign(in.results, results);
        for (std::size_t k = pairs.size(); k-- > 0;) {
            const Instr& store = from_.instrs[pairs[k].then_store];
            m_.set_span(store.span);
            m_.store(at(store.operands[0]), at(store.operands[1]), results[static_cast<std::size_t>(in.results.size()) + k]);
        }
    }

    /// Builds a value in front of the branch that it stood in.
    void make(Value v) {
        if (at(v) != no_value) return;
        const Instr& in = from_.instrs[from_.values[v].def];
        for (Value operand : in.operands) make(operand);
        copy(in);
    }

    const std::vector<bool>& barriers_;
    std::vector<bool> moved_;  // one an instruction
};

bool has_common_stores(const Kernel& kernel, const std::vector<bool>& barriers) {
    for (InstrId id = 0; id < kernel.instrs.size(); ++id)
        if (!common_stores(kernel, id, barriers).empty()) return true;
    return false;
}

}  // namespace

Kernel join_stores(const Kernel& kernel) {
    const std::vector<bool> barriers = barriers_of(kernel);
    if (!has_common_stores(kernel, barriers)) return kernel;
    return join_stores(JoinStores(kernel, barriers).run());  // a branch inside of another one now ends the outer one's side with its store
}

}  // namespace pardo::ir
