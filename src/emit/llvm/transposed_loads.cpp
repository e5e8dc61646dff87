// src/emit/llvm/transposed_loads.cpp: serial loops in which each lane walks along a row of its own: pieces of rows are loaded as vectors,
// and turned in registers, so that as many iterations as there are lanes take one each. Gathering each element takes three times as long.
#include "emit/llvm/transposed_loads.h"

#include <algorithm>
#include <numeric>

#include "emit/llvm/loops/serial.h"
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

    bool fixed(Value v, int depth = 8) {
        const ir::ValueInfo& info = kernel.values[v];
        if (info.result < 0) return info.def != loop;
        if (std::ranges::find(region.body, info.def) == region.body.end()) return true;
        const Instr& in = kernel.instrs[info.def];
        return depth > 0 && ir::is_pure(in.op) && std::ranges::all_of(in.operands, [&](Value o) { return fixed(o, depth - 1); });
    }
    /// Whether an index is the loop's counter and something that is the same in all iterations.
    bool walks(Value index) {
        if (index == region.args[0]) return true;
        const Instr* in = ir::definition(kernel, index);
        if (!in || in->op != Opcode::Add || fixed(index)) return false;
        return (fixed(in->operands[0]) && walks(in->operands[1])) || (fixed(in->operands[1]) && walks(in->operands[0]));
    }
};

/// A square of elements, one vector a lane's row, as one vector an iteration. Rows come with halves exchanged already: `row_elements`.
void turn(Codegen& g, LlvmValues& rows) {
    const int n = static_cast<int>(rows.size());
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
            rows[static_cast<std::size_t>(k)] = g.b.CreateShuffleVector(a, b, low);
            rows[static_cast<std::size_t>(k + apart)] = g.b.CreateShuffleVector(a, b, high);
        }
    }
}

}  // namespace

std::vector<InstrId> row_loads(const Values& values, const LaneContext& here, InstrId loop) {
    const Instr& in = values.source.instr(loop);
    const Region& r = values.source.region(in.regions[0]);
    std::int64_t step = 0;
    const bool suits = here.lanes > 1 && here.lanes <= most_row_lanes && !here.mask && !here.divergent &&
                       !values.source.kernel.in_groups() && constant_int(values.source.kernel, in.operands[2], step) && step == 1 &&
                       region_cost(values.source.kernel, r) <= most_cost;
    if (!suits) return {};
    std::vector<InstrId> loads;
    for (InstrId id : r.body) {
        const Instr& each = values.source.instr(id);
        if (!each.regions.empty() || !(ir::is_pure(each.op) || each.op == Opcode::Load || each.op == Opcode::Yield)) return {};
        if (each.op != Opcode::Load || values.hoisted[id] || !values.source.is_param(each.operands[0])) continue;
        const ir::Param& param = values.source.kernel.params[values.source.param_of(each.operands[0])];
        const LaneShape shape = values.source.shape(each.operands[1]);
        const bool apart = shape.kind == LaneShape::Strided || (shape.kind == LaneShape::Affine && std::abs(shape.step) > 4);
        const auto bytes = itemsize(values.source.type(each.operands[0]));
        if (apart && param.noalias && param.access == ir::Access::Read && (bytes == 4 || bytes == 8) &&
            Body{values.source.kernel, loop, r}.walks(each.operands[1]))
            loads.push_back(id);
    }
    return loads;
}

llvm::Value* row_elements(Memory& m, const LaneContext& here, InstrId id, Value pointer, const Lane& index) {
    if (!here.transposed) return nullptr;
    const auto found = std::ranges::find(here.transposed->loads, id);
    if (found == here.transposed->loads.end()) return nullptr;
    LlvmValues& turned = here.transposed->turned[static_cast<std::size_t>(found - here.transposed->loads.begin())];
    if (here.transposed->iteration == 0) {
        turned.clear();
        // The next lanes' rows: processors foresee what comes within a page, and rows soon leave it.
        llvm::Value* next = m.g.b.CreateMul(index.step, i64(m.g, here.lanes));
        // Halves of rows are loaded, and two rows' put together: processors do that as they load, and it is the first step of turning a
        // square. Of rows that begin anywhere, as NumPy's do, half as many loads reach into a second cache line.
        const int half = here.lanes / 2;
        llvm::Type* const element = memory_element(m.g, m.source.type(pointer));
        LlvmValues halves[2];
        for (int l = 0; l < here.lanes; ++l) {
            llvm::Value* at = address(m, pointer, lane_index(m.g, index, l));
            prefetch(m.g, m.g.b.CreateGEP(element, at, next));
            for (int h = 0; h < 2; ++h) {
                llvm::Value* from = m.g.b.CreateGEP(element, at, i64(m.g, h * half));
                llvm::LoadInst* access =
                    m.g.b.CreateAlignedLoad(llvm::FixedVectorType::get(element, half), from, alignment(m.source.type(pointer)));
                annotate(m, access, pointer);
                halves[h].push_back(access);
            }
        }
        llvm::SmallVector<int, most_row_lanes> whole(static_cast<std::size_t>(here.lanes));
        std::iota(whole.begin(), whole.end(), 0);
        for (const LlvmValues& each : halves)
            for (int l = 0; l < half; ++l) {
                const auto at = static_cast<std::size_t>(l);
                turned.push_back(m.g.b.CreateShuffleVector(each[at], each[at + static_cast<std::size_t>(half)], whole));
            }
        turn(m.g, turned);
    }
    return turned[static_cast<std::size_t>(here.transposed->iteration)];
}

llvm::Value* blocks_of_rows(Codegen& g, const LaneContext& here, const std::vector<InstrId>& loads, llvm::Value* lower, llvm::Value* upper,
                            LlvmValues& state, LaneBody body) {
    TransposedLoads transposed{loads, std::vector<LlvmValues>(loads.size()), 0};
    llvm::Value* count = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, g.b.CreateSub(upper, lower), i64(g, 0));
    llvm::Value* end = g.b.CreateAdd(lower, g.b.CreateAnd(count, i64(g, -here.lanes)));
    serial_loop(g, lower, end, i64(g, here.lanes), state, [&](llvm::Value* index, int, LlvmValues& carried) {
        LaneContext inside = here;
        inside.transposed = &transposed;
        for (transposed.iteration = 0; transposed.iteration < here.lanes; ++transposed.iteration)
            body(inside, g.b.CreateAdd(index, i64(g, transposed.iteration)), transposed.iteration, carried);
    });
    return end;
}

}  // namespace pardo::emit
