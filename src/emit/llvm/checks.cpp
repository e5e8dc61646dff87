// src/emit/llvm/checks.cpp: accesses whose index is checked: one test that is hardly ever true, and a function that reports it.
#include "emit/llvm/checks.h"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;

namespace {

bool reports(const ir::Kernel& kernel, const Region& region) {
    return std::any_of(region.body.begin(), region.body.end(), [&](InstrId id) {
        const Instr& in = kernel.instrs[id];
        return in.op == Opcode::Report ||
               std::any_of(in.regions.begin(), in.regions.end(), [&](ir::RegionId r) { return reports(kernel, kernel.regions[r]); });
    });
}

/// The first one leaves the words.
llvm::Function* report_function(Codegen& g, std::size_t words) {
    const std::string name = "report" + std::to_string(words);
    if (llvm::Function* known = g.module->getFunction(name)) return known;
    llvm::IRBuilder<>::InsertPointGuard guard(g.b);
    llvm::SmallVector<llvm::Type*, 8> types(words + 1, g.b.getInt64Ty());
    types[0] = g.b.getPtrTy();
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(g.b.getVoidTy(), types, false), llvm::Function::InternalLinkage, name, *g.module);
    made->addFnAttr(llvm::Attribute::NoInline);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    made->addFnAttr(llvm::Attribute::WillReturn);
    made->setMemoryEffects(llvm::MemoryEffects::argMemOnly());
    for (const char* key : {"target-cpu", "target-features"})
        if (g.function()->hasFnAttribute(key)) made->addFnAttr(g.function()->getFnAttribute(key));
    const auto block_of = [&](const char* label) { return llvm::BasicBlock::Create(g.b.getContext(), label, made); };
    llvm::BasicBlock *entry = block_of("entry"), *first = block_of("first"), *done = block_of("done");
    llvm::Value* const at = made->getArg(0);
    g.b.SetInsertPoint(entry);
    llvm::Value* result = g.b.CreateAtomicCmpXchg(at, i64(g, 0), made->getArg(1), llvm::Align(8), llvm::AtomicOrdering::Monotonic,
                                                  llvm::AtomicOrdering::Monotonic);
    g.b.CreateCondBr(g.b.CreateExtractValue(result, 1), first, done);
    g.b.SetInsertPoint(first);
    for (std::size_t k = 1; k < words; ++k)
        g.b.CreateAlignedStore(made->getArg(static_cast<unsigned>(k + 1)),
                               g.b.CreateGEP(g.b.getInt64Ty(), at, i64(g, static_cast<std::int64_t>(k))), llvm::Align(8));
    g.b.CreateBr(done);
    g.b.SetInsertPoint(done);
    g.b.CreateRetVoid();
    return made;
}

}  // namespace

bool is_check(const Source& source, const Instr& in) {
    constexpr std::size_t most_instructions = 8;  // they are emitted twice
    const Region& access = source.region(in.regions[0]);
    if (access.body.size() > most_instructions) return false;
    for (const InstrId id : access.body)
        if (!source.instr(id).regions.empty()) return false;
    return reports(source.kernel, source.region(in.regions[1]));
}

llvm::MDNode* likely(Codegen& g) { return llvm::MDBuilder(g.b.getContext()).createBranchWeights(10000, 1); }

void emit_check(Emitter& e, const LaneContext& here, const Instr& in) {
    llvm::Value* condition = e.values.vector(here, in.operands[0]);
    llvm::Value* const outer_mask = here.mask;
    const Region &access = e.source.region(in.regions[0]), &failure = e.source.region(in.regions[1]);
    const int count = in.results.size();
    llvm::Value* bad = e.g.b.CreateNot(condition);
    if (outer_mask) bad = e.g.b.CreateAnd(outer_mask, bad);
    llvm::BasicBlock *inside = block(e.g, "inside"), *outside = block(e.g, "outside"), *done = block(e.g, "checked");
    e.g.b.CreateCondBr(e.g.b.CreateNot(any(e.g, bad)), inside, outside, likely(e.g));
    LlvmValues values[2];
    const auto results = [&](const Region& r, LlvmValues& out) {
        for (int k = 0; k < count; ++k) out.push_back(e.values.vector(here, e.source.yield(r).operands[k]));
    };

    e.g.b.SetInsertPoint(inside);
    e.region(here, access);
    results(access, values[0]);
    llvm::BasicBlock* const inside_end = e.g.b.GetInsertBlock();
    e.g.b.CreateBr(done);

    e.g.b.SetInsertPoint(outside);
    LlvmValues otherwise;
    e.region(here.diverging(bad), failure);
    results(failure, otherwise);
    const LaneContext passing = here.diverging(outer_mask ? e.g.b.CreateAnd(outer_mask, condition) : condition);
    llvm::BasicBlock *before = e.g.b.GetInsertBlock(), *some = block(e.g, "some"), *all_out = block(e.g, "reported");
    branch_if_any(e.g, passing.mask, some, all_out);
    e.g.b.SetInsertPoint(some);
    e.region(passing, access);
    results(access, values[1]);
    llvm::BasicBlock* const some_end = e.g.b.GetInsertBlock();
    e.g.b.CreateBr(all_out);
    e.g.b.SetInsertPoint(all_out);
    for (llvm::Value*& v : values[1]) {
        llvm::PHINode* phi = e.g.b.CreatePHI(v->getType(), 2);
        phi->addIncoming(v, some_end);
        phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
        v = phi;
    }
    for (std::size_t k = 0; k < values[1].size(); ++k) values[1][k] = e.g.b.CreateSelect(condition, values[1][k], otherwise[k]);
    llvm::BasicBlock* const outside_end = e.g.b.GetInsertBlock();
    e.g.b.CreateBr(done);

    e.g.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) {
        llvm::PHINode* phi = e.g.b.CreatePHI(values[0][static_cast<std::size_t>(k)]->getType(), 2);
        phi->addIncoming(values[0][static_cast<std::size_t>(k)], inside_end);
        phi->addIncoming(values[1][static_cast<std::size_t>(k)], outside_end);
        e.values.define(here, in.results[k], phi);
    }
}

void report(Memory& m, const LaneContext& here, const Instr& in) {
    llvm::BasicBlock* done = nullptr;
    llvm::Value* lane = nullptr;
    if (here.lanes > 1 && here.mask) {
        llvm::BasicBlock* some = block(m.g, "report");
        done = block(m.g, "told");
        branch_if_any(m.g, here.mask, some, done);
        m.g.b.SetInsertPoint(some);
        llvm::Value* bits = m.g.b.CreateBitCast(here.mask, m.g.b.getIntNTy(static_cast<unsigned>(here.lanes)));
        lane = m.g.b.CreateZExtOrTrunc(m.g.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, m.g.b.getTrue()), m.g.b.getInt64Ty());
    }
    LlvmValues arguments{m.values.scalar(in.operands[0])};
    for (int k = 1; k < in.operands.size(); ++k) {
        const ir::Value word = in.operands[k];
        const bool one = here.lanes == 1 || m.values[word].kind == LaneShape::Uniform;
        arguments.push_back(one ? m.values.scalar(word)
                                : m.g.b.CreateExtractElement(m.values.vector(here, word), lane ? lane : i64(m.g, 0)));
    }
    llvm::CallInst* call = m.g.b.CreateCall(report_function(m.g, arguments.size() - 1), arguments);
    annotate(m, call, in.operands[0]);
    if (!done) return;
    m.g.b.CreateBr(done);
    m.g.b.SetInsertPoint(done);
}

}  // namespace pardo::emit
