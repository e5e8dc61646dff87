// src/emit/llvm/rows.cpp: serial loops in which each lane walks along a row of its own: pieces of rows are loaded as vectors, and turned
// in registers, so that as many iterations as there are lanes take one each. Gathering each element takes three times as long.
#include <algorithm>
#include <numeric>

#include "emit/llvm/emitter.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;
using ir::Value;

namespace {

constexpr int most_row_lanes = 16, most_cost = 24;  // copies of the loop's body, and its instructions

/// A loop whose body has no other regions.
struct Body {
    const ir::Kernel& kernel;
    InstrId loop;
    const Region& region;

    bool fixed(Value v, int depth = 8) const {
        const ir::ValueInfo& info = kernel.values[v];
        if (info.result < 0) return info.def != loop;
        if (std::ranges::find(region.body, info.def) == region.body.end()) return true;
        const Instr& in = kernel.instrs[info.def];
        return depth > 0 && ir::is_pure(in.op) && std::ranges::all_of(in.operands, [&](Value o) { return fixed(o, depth - 1); });
    }
    /// Whether an index is the loop's counter and something that is the same in all iterations.
    bool walks(Value index) const {
        if (index == region.args[0]) return true;
        const Instr* in = ir::definition(kernel, index);
        if (!in || in->op != Opcode::Add || fixed(index)) return false;
        return (fixed(in->operands[0]) && walks(in->operands[1])) || (fixed(in->operands[1]) && walks(in->operands[0]));
    }
};

}  // namespace

/// Loads of a loop by which each lane reads one element after the other of a row, which nothing changes meanwhile.
std::vector<InstrId> Emitter::row_loads(InstrId loop) const {
    const Instr& in = kernel_.instrs[loop];
    const Region& r = kernel_.regions[in.regions[0]];
    std::int64_t step = 0;
    const bool suits = lanes_ > 1 && lanes_ <= most_row_lanes && !mask_ && !divergent_ && !kernel_.in_groups() &&
                       constant_int(kernel_, in.operands[2], step) && step == 1 && region_cost(kernel_, r) <= most_cost;
    if (!suits) return {};
    std::vector<InstrId> loads;
    for (InstrId id : r.body) {
        const Instr& each = kernel_.instrs[id];
        if (!each.regions.empty() || !(ir::is_pure(each.op) || each.op == Opcode::Load || each.op == Opcode::Yield)) return {};
        if (each.op != Opcode::Load || hoisted_[id] || !is_param(each.operands[0])) continue;
        const ir::Param& param = kernel_.params[param_of(each.operands[0])];
        const LaneShape shape = info_.shapes[each.operands[1]];
        const bool apart = shape.kind == LaneShape::Strided || (shape.kind == LaneShape::Affine && std::abs(shape.step) > 4);
        const auto bytes = itemsize(type(each.operands[0]));
        if (apart && param.noalias && param.access == ir::Access::Read && (bytes == 4 || bytes == 8) &&
            Body{kernel_, loop, r}.walks(each.operands[1]))
            loads.push_back(id);
    }
    return loads;
}

/// A square of elements, one vector a lane's row, as one vector an iteration. Rows come with halves exchanged already: `row_elements`.
void Emitter::turn(LlvmValues& rows) {
    const int n = lanes_;
    for (int apart = 1; apart < n / 2; apart *= 2) {
        llvm::SmallVector<int, most_row_lanes> low, high;  // of a pair of rows, the second one's elements from n on
        for (int k = 0; k < n; ++k) {
            const bool second = (k & apart) != 0;
            low.push_back(second ? n + k - apart : k);
            high.push_back(second ? n + k : k + apart);
        }
        for (int k = 0; k < n; ++k) {
            if (k & apart) continue;
            llvm::Value *a = rows[static_cast<std::size_t>(k)], *b = rows[static_cast<std::size_t>(k + apart)];
            rows[static_cast<std::size_t>(k)] = g_.b.CreateShuffleVector(a, b, low);
            rows[static_cast<std::size_t>(k + apart)] = g_.b.CreateShuffleVector(a, b, high);
        }
    }
}

/// What lanes read in this iteration, if their rows are loaded in pieces; null if they are not.
llvm::Value* Emitter::row_elements(InstrId id, Value pointer, const Lane& index) {
    if (!rows_) return nullptr;
    const auto found = std::ranges::find(rows_->loads, id);
    if (found == rows_->loads.end()) return nullptr;
    LlvmValues& turned = rows_->turned[static_cast<std::size_t>(found - rows_->loads.begin())];
    if (rows_->iteration == 0) {
        turned.clear();
        // The next lanes' rows: processors foresee what comes within a page, and rows soon leave it.
        llvm::Value* next = g_.b.CreateMul(index.step, i64(g_, lanes_));
        // Halves of rows are loaded, and two rows' put together: processors do that as they load, and it is the first step of turning a
        // square. Of rows that begin anywhere, as NumPy's do, half as many loads reach into a second cache line.
        const int half = lanes_ / 2;
        llvm::Type* const element = memory_element(g_, type(pointer));
        LlvmValues halves[2];
        for (int l = 0; l < lanes_; ++l) {
            llvm::Value* at = address(pointer, lane_index(index, l));
            prefetch(g_.b.CreateGEP(element, at, next));
            for (int h = 0; h < 2; ++h) {
                llvm::Value* from = g_.b.CreateGEP(element, at, i64(g_, h * half));
                llvm::LoadInst* access = g_.b.CreateAlignedLoad(llvm::FixedVectorType::get(element, half), from, alignment(type(pointer)));
                annotate(access, pointer);
                halves[h].push_back(access);
            }
        }
        llvm::SmallVector<int, most_row_lanes> whole(static_cast<std::size_t>(lanes_));
        std::iota(whole.begin(), whole.end(), 0);
        for (const LlvmValues& each : halves)
            for (int l = 0; l < half; ++l) {
                const auto at = static_cast<std::size_t>(l);
                turned.push_back(g_.b.CreateShuffleVector(each[at], each[at + static_cast<std::size_t>(half)], whole));
            }
        turn(turned);
    }
    return turned[static_cast<std::size_t>(rows_->iteration)];
}

/// Iterations in blocks of as many as there are lanes, from `lower`; gives the counter of the first one that is left.
llvm::Value* Emitter::blocks_of_rows(const std::vector<InstrId>& loads, llvm::Value* lower, llvm::Value* upper, LlvmValues& state,
                                     LaneBody body) {
    Rows rows{loads, std::vector<LlvmValues>(loads.size()), 0};
    llvm::Value* count = g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, g_.b.CreateSub(upper, lower), i64(g_, 0));
    llvm::Value* end = g_.b.CreateAdd(lower, g_.b.CreateAnd(count, i64(g_, -lanes_)));
    serial_loop(lower, end, i64(g_, lanes_), state, [&](llvm::Value* index, int, LlvmValues& carried) {
        Rows* const outer = std::exchange(rows_, &rows);
        for (rows.iteration = 0; rows.iteration < lanes_; ++rows.iteration)
            body(g_.b.CreateAdd(index, i64(g_, rows.iteration)), rows.iteration, carried);
        rows_ = outer;
    });
    return end;
}

}  // namespace pardo::emit
