// src/ir/passes/clears.cpp: the pass that lets the items of a group clear memory of the group before the kernel begins.
#include <algorithm>
#include <utility>

#include "ir/passes/rewrite.h"

namespace pardo::ir {
namespace {

class ClearedFirst : public Rewriter {
public:
    ClearedFirst(const Kernel& from, const std::vector<Value>& arrays) : Rewriter(from), arrays_(arrays) {}

private:
    void instr(const Instr& in) override {
        if (!std::exchange(begun_, true)) clear();
        Rewriter::instr(in);
    }

    void clear() {
        Value item = m_.i64(0);
        std::int64_t items = 1;
        for (int d = 0; d < from_.group_size.size(); ++d) {
            const std::int64_t size = from_.group_size[d];
            item = m_.mul(item, m_.i64(size));
            item = m_.add(item, m_.local_dim(d));
            items *= size;
        }
        for (const ArrayInfo& a : from_.arrays) {
            if (std::ranges::find(arrays_, a.value) == arrays_.end()) continue;
            m_.for_loop(item, m_.i64(a.count), m_.i64(items), {}, [&](Value k, std::span<const Value>) {
                m_.store(at(a.value), k, m_.constant(a.type, 0.0));
                return Values();
            });
        }
        m_.barrier();
    }

    const std::vector<Value>& arrays_;
    bool begun_ = false;
};

}  // namespace

Kernel cleared_first(const Kernel& kernel, const std::vector<Value>& arrays) { return ClearedFirst(kernel, arrays).run(); }

}  // namespace pardo::ir
