// src/ir/passes/shuffles.cpp: the pass that lets the items of a sub-group exchange values through memory of their group.
#include <map>

#include "ir/passes/rewrite.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

class ExpandShuffles : public Rewriter {
public:
    using Rewriter::Rewriter;

private:
    void instr(const Instr& in) override {
        if (in.op != Opcode::Shuffle) return Rewriter::instr(in);
        const Value given = at(in.operands[0]);
        std::int64_t items = 1;
        Value place = m_.i64(0);
        for (int d = 0; d < from_.group_size.size(); ++d) {
            place = m_.mul(place, m_.i64(from_.group_size[d]));
            place = m_.add(place, m_.local_dim(d));
            items *= from_.group_size[d];
        }
        auto [found, fresh] = exchanged_.try_emplace(type(in.operands[0]), no_value);
        if (fresh) found->second = m_.array("exchanged", found->first, items, Space::Group);
        m_.store(found->second, place, given);
        m_.barrier();
        const Value first = m_.bit_and(place, m_.i64(-std::int64_t(from_.sub_group)));
        const Value taken = m_.load(found->second, m_.add(first, at(in.operands[1])));
        m_.barrier();  // the memory is free for the next exchange
        set(in.results[0], taken);
    }

    std::map<DType, Value> exchanged_;  // an element an item
};

}  // namespace

Kernel expand_shuffles(const Kernel& kernel) { return has_shuffles(kernel) ? ExpandShuffles(kernel).run() : kernel; }

}  // namespace pardo::ir
