// src/emit/llvm/checks.cpp: accesses whose index is checked: one test that is hardly ever true, and a function that reports it.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "emit/llvm/emitter.h"
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

}  // namespace

/// A branch that reports a failure on its second side, and makes one access on its first.
bool Emitter::is_check(const Instr& in) const {
    constexpr std::size_t most_instructions = 8;  // they are emitted twice
    const Region& access = kernel_.regions[in.regions[0]];
    if (access.body.size() > most_instructions) return false;
    for (const InstrId id : access.body)
        if (!kernel_.instrs[id].regions.empty()) return false;
    return reports(kernel_, kernel_.regions[in.regions[1]]);
}

llvm::MDNode* Emitter::likely() { return llvm::MDBuilder(g_.b.getContext()).createBranchWeights(10000, 1); }

/// Where all lanes pass, the access is what it would be without the check.
void Emitter::emit_check(const Instr& in) {
    llvm::Value* condition = vector(in.operands[0]);
    llvm::Value* const outer_mask = mask_;
    const Region &access = kernel_.regions[in.regions[0]], &failure = kernel_.regions[in.regions[1]];
    const int count = in.results.size();
    llvm::Value* bad = g_.b.CreateNot(condition);
    if (outer_mask) bad = g_.b.CreateAnd(outer_mask, bad);
    llvm::BasicBlock *inside = block(g_, "inside"), *outside = block(g_, "outside"), *done = block(g_, "checked");
    g_.b.CreateCondBr(g_.b.CreateNot(any(g_, bad)), inside, outside, likely());
    LlvmValues values[2];
    const auto results = [&](const Region& r, LlvmValues& out) {
        for (int k = 0; k < count; ++k) out.push_back(vector(yield(r).operands[k]));
    };

    g_.b.SetInsertPoint(inside);
    region(access);
    results(access, values[0]);
    llvm::BasicBlock* const inside_end = g_.b.GetInsertBlock();
    g_.b.CreateBr(done);

    g_.b.SetInsertPoint(outside);
    const bool outer_divergent = std::exchange(divergent_, true);
    LlvmValues otherwise;
    mask_ = bad;
    region(failure);
    results(failure, otherwise);
    mask_ = outer_mask ? g_.b.CreateAnd(outer_mask, condition) : condition;
    llvm::BasicBlock *before = g_.b.GetInsertBlock(), *some = block(g_, "some"), *all_out = block(g_, "reported");
    branch_if_any(g_, mask_, some, all_out);
    g_.b.SetInsertPoint(some);
    region(access);
    results(access, values[1]);
    llvm::BasicBlock* const some_end = g_.b.GetInsertBlock();
    g_.b.CreateBr(all_out);
    g_.b.SetInsertPoint(all_out);
    for (llvm::Value*& v : values[1]) {
        llvm::PHINode* phi = g_.b.CreatePHI(v->getType(), 2);
        phi->addIncoming(v, some_end);
        phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
        v = phi;
    }
    for (std::size_t k = 0; k < values[1].size(); ++k) values[1][k] = g_.b.CreateSelect(condition, values[1][k], otherwise[k]);
    divergent_ = outer_divergent;
    mask_ = outer_mask;
    llvm::BasicBlock* const outside_end = g_.b.GetInsertBlock();
    g_.b.CreateBr(done);

    g_.b.SetInsertPoint(done);
    for (int k = 0; k < count; ++k) {
        llvm::PHINode* phi = g_.b.CreatePHI(values[0][static_cast<std::size_t>(k)]->getType(), 2);
        phi->addIncoming(values[0][static_cast<std::size_t>(k)], inside_end);
        phi->addIncoming(values[1][static_cast<std::size_t>(k)], outside_end);
        define(in.results[k], phi);
    }
}

/// The first one leaves the words.
llvm::Function* Emitter::report_function(std::size_t words) {
    const std::string name = "report" + std::to_string(words);
    if (llvm::Function* known = g_.module->getFunction(name)) return known;
    llvm::IRBuilder<>::InsertPointGuard guard(g_.b);
    llvm::SmallVector<llvm::Type*, 8> types(words + 1, g_.b.getInt64Ty());
    types[0] = g_.b.getPtrTy();
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(g_.b.getVoidTy(), types, false), llvm::Function::InternalLinkage, name, *g_.module);
    made->addFnAttr(llvm::Attribute::NoInline);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    made->addFnAttr(llvm::Attribute::WillReturn);
    made->setMemoryEffects(llvm::MemoryEffects::argMemOnly());
    for (const char* key : {"target-cpu", "target-features"})
        if (g_.function()->hasFnAttribute(key)) made->addFnAttr(g_.function()->getFnAttribute(key));
    const auto block_of = [&](const char* label) { return llvm::BasicBlock::Create(g_.b.getContext(), label, made); };
    llvm::BasicBlock *entry = block_of("entry"), *first = block_of("first"), *done = block_of("done");
    llvm::Value* const at = made->getArg(0);
    g_.b.SetInsertPoint(entry);
    llvm::Value* result = g_.b.CreateAtomicCmpXchg(at, i64(g_, 0), made->getArg(1), llvm::Align(8), llvm::AtomicOrdering::Monotonic,
                                                   llvm::AtomicOrdering::Monotonic);
    g_.b.CreateCondBr(g_.b.CreateExtractValue(result, 1), first, done);
    g_.b.SetInsertPoint(first);
    for (std::size_t k = 1; k < words; ++k)
        g_.b.CreateAlignedStore(made->getArg(static_cast<unsigned>(k + 1)),
                                g_.b.CreateGEP(g_.b.getInt64Ty(), at, i64(g_, static_cast<std::int64_t>(k))), llvm::Align(8));
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
    g_.b.CreateRetVoid();
    return made;
}

/// The first of the active lanes speaks.
void Emitter::report(const Instr& in) {
    llvm::BasicBlock* done = nullptr;
    llvm::Value* lane = nullptr;
    if (lanes_ > 1 && mask_) {
        llvm::BasicBlock* some = block(g_, "report");
        done = block(g_, "told");
        branch_if_any(g_, mask_, some, done);
        g_.b.SetInsertPoint(some);
        llvm::Value* bits = g_.b.CreateBitCast(mask_, g_.b.getIntNTy(static_cast<unsigned>(lanes_)));
        lane = g_.b.CreateZExtOrTrunc(g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, g_.b.getTrue()), g_.b.getInt64Ty());
    }
    LlvmValues arguments{scalar(in.operands[0])};
    for (int k = 1; k < in.operands.size(); ++k) {
        const ir::Value word = in.operands[k];
        const bool one = lanes_ == 1 || values_[word].kind == LaneShape::Uniform;
        arguments.push_back(one ? scalar(word) : g_.b.CreateExtractElement(vector(word), lane ? lane : i64(g_, 0)));
    }
    llvm::CallInst* call = g_.b.CreateCall(report_function(arguments.size() - 1), arguments);
    annotate(call, in.operands[0]);
    if (!done) return;
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
}

}  // namespace pardo::emit
