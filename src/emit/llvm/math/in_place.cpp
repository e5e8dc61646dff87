// src/emit/llvm/math/in_place.cpp: recipes of ir/math in place of calls. A call of the library keeps the processor from working on several
// vectors at a time, and moves every live register to the stack; only rare arguments take it.
#include "emit/llvm/math/in_place.h"

#include <algorithm>

#include "emit/llvm/math/arith.h"
#include "emit/llvm/math/library.h"
#include "emit/llvm/math/lookup.h"

namespace pardo::emit {

using ir::Instr;
using ir::Opcode;

namespace {

/// The walk over a recipe's kernel, for as many lanes as its operands have. Fast-math flags are off: formulas rely on what is rounded.
class InPlace {
public:
    InPlace(Codegen& g, const ir::Kernel& recipe, llvm::ArrayRef<llvm::Value*> args)
        : g_(g), recipe_(recipe), lanes_(width(args[0])), values_(recipe.values.size()) {
        for (std::size_t k = 0; k < args.size(); ++k) values_[recipe.params[k].value] = args[k];
    }

    llvm::Value* run() {
        llvm::IRBuilder<>::FastMathFlagGuard guard(g_.b);
        g_.b.clearFastMathFlags();
        return region(recipe_.body);
    }

private:
    /// What its Store or its Yield is given.
    llvm::Value* region(const ir::Region& r) {
        for (const ir::InstrId id : r.body) {
            const Instr& in = recipe_.instrs[id];
            if (in.op == Opcode::Store) return values_[in.operands[2]];
            if (in.op == Opcode::Yield) return values_[in.operands[0]];
            if (in.op != Opcode::Param) values_[in.results[0]] = value(in);
        }
        return nullptr;
    }

    llvm::Value* value(const Instr& in) {
        const DType t = recipe_.values[in.results[0]].type;
        if (in.op == Opcode::Const) return splat(g_, constant(g_, t, in.scalar()), lanes_);
        if (in.op == Opcode::If) return branch(in);
        LlvmValues operands;
        for (const ir::Value v : in.operands) operands.push_back(values_[v]);
        if (in.op == Opcode::Call) {
            llvm::Value* one = instruction(g_, in.math(), operands);
            return one ? one : library(g_, in.math(), operands);
        }
        const DType from = recipe_.values[in.operands[0]].type;
        // It fits, so that nothing has to be tested.
        if (in.op == Opcode::Cast && is_float(from) && kind_of(t) == DKind::Signed)
            return g_.b.CreateFPToSI(operands[0], widened(element(g_, t), lanes_));
        return compute(g_, in.op, from, t, operands);
    }

    llvm::Value* branch(const Instr& in) {
        llvm::Value* usual = region(recipe_.regions[in.regions[1]]);
        return unless(g_, values_[in.operands[0]], usual, [&] { return region(recipe_.regions[in.regions[0]]); });
    }

    Codegen& g_;
    const ir::Kernel& recipe_;
    const int lanes_;
    std::vector<llvm::Value*> values_;
};

/// Lanes that are best computed together: as many as look up values at once; of floats that become doubles, a register of floats.
int lanes_at_once(const Codegen& g, const ir::Kernel& recipe, DType t, int lanes) {
    for (const Instr& in : recipe.instrs)
        if (in.op == Opcode::Lookup) {
            const int found = lookup_lanes(g.target, recipe.values[in.results[0]].type, in.operands.size() - 1);
            if (found) return found;
        }
    const auto is_double = [](const ir::ValueInfo& v) { return v.type == DType::Float64; };
    const bool widens = t == DType::Float32 && std::any_of(recipe.values.begin(), recipe.values.end(), is_double);
    return widens ? std::min(lanes, g.target.vector_bytes / 4) : lanes;
}

/// The recipe for vectors of any width; what needs several lanes gets copies of one.
llvm::Value* in_vectors(Codegen& g, const ir::Kernel& recipe, DType t, llvm::ArrayRef<llvm::Value*> args) {
    const int lanes = width(args[0]), at_once = lanes_at_once(g, recipe, t, lanes);
    if (lanes > 1 || at_once == 1)
        return in_chunks(g, at_once, args, [&](llvm::ArrayRef<llvm::Value*> part) { return InPlace(g, recipe, part).run(); });
    LlvmValues copies;
    for (llvm::Value* v : args) copies.push_back(splat(g, v, at_once));
    return g.b.CreateExtractElement(InPlace(g, recipe, copies).run(), std::uint64_t(0));
}

}  // namespace

const ir::math::Row* row_in_place(const LlvmTarget& target, ir::Math fn, DType t) {
    return ir::math::find_in_place(fn, t, {.vector_bytes = target.vector_bytes});
}

llvm::Value* in_place(Codegen& g, const ir::math::Row& row, DType t, llvm::ArrayRef<llvm::Value*> args) {
    const ir::Kernel recipe = ir::math::as_kernel(row.recipe.real, row.fn, t);
    if (!row.rare) return in_vectors(g, recipe, t, args);
    const auto rare = [&] { return InPlace(g, ir::math::as_kernel(row.rare, row.fn, t), args).run(); };
    const auto by_library = [&] { return library(g, row.fn, args); };
    // Both orders give the same values. LLVM compiles the code around them differently: the sign of a NaN made of two NaNs may be another.
    const bool first = t == DType::Float32 || row.fn == ir::Math::log1p;
    if (first) {
        llvm::Value* is_rare = rare();
        return unless(g, is_rare, in_vectors(g, recipe, t, args), by_library);
    }
    llvm::Value* usual = in_vectors(g, recipe, t, args);
    return unless(g, rare(), usual, by_library);
}

}  // namespace pardo::emit
