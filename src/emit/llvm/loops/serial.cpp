// src/emit/llvm/loops/serial.cpp: loops whose iterations run one after the other.
#include "emit/llvm/loops/serial.h"

namespace pardo::emit {

void finish_loop(Codegen& g, llvm::BranchInst* latch, Unroll unroll, bool items) {
    auto fact = [&](const char* name) { return llvm::MDNode::get(g.b.getContext(), llvm::MDString::get(g.b.getContext(), name)); };
    llvm::SmallVector<llvm::Metadata*, 4> facts{nullptr, fact("llvm.loop.mustprogress")};
    if (unroll == Unroll::Never) facts.push_back(fact("llvm.loop.unroll.disable"));
    if (unroll == Unroll::Known) facts.push_back(fact("llvm.loop.unroll.runtime.disable"));
    if (items) facts.push_back(fact(items_loop));
    llvm::MDNode* id = llvm::MDNode::getDistinct(g.b.getContext(), facts);
    id->replaceOperandWith(0, id);
    latch->setMetadata(llvm::LLVMContext::MD_loop, id);
    ++g.loops;
}

void serial_loop(Codegen& g, llvm::Value* lower, llvm::Value* upper, llvm::Value* step, LlvmValues& state, SerialBody body, bool items) {
    auto* constant_step = llvm::dyn_cast<llvm::ConstantInt>(step);
    auto goes_on = [&](llvm::Value* i) {
        llvm::Value *up = g.b.CreateICmpSLT(i, upper), *down = g.b.CreateICmpSGT(i, upper);
        if (constant_step) return constant_step->isNegative() ? down : up;
        return g.b.CreateSelect(g.b.CreateICmpSGT(step, i64(g, 0)), up, down);
    };
    llvm::BasicBlock *before = g.b.GetInsertBlock(), *loop = block(g, "for"), *done = block(g, "endfor");
    g.b.CreateCondBr(goes_on(lower), loop, done);
    g.b.SetInsertPoint(loop);
    llvm::PHINode* index = g.b.CreatePHI(g.b.getInt64Ty(), 2);
    index->addIncoming(lower, before);
    const LlvmValues initial = state;
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (llvm::Value*& v : state) {
        phis.push_back(g.b.CreatePHI(v->getType(), 2));
        phis.back()->addIncoming(v, before);
        v = phis.back();
    }
    const int loops_before = g.loops;
    body(index, 0, state);
    const Unroll unroll = g.loops == loops_before ? Unroll::May : Unroll::Known;  // copies of inner loops only make the program larger
    llvm::Value* next = g.b.CreateAdd(index, step);
    llvm::BasicBlock* latch = g.b.GetInsertBlock();
    index->addIncoming(next, latch);
    for (std::size_t k = 0; k < phis.size(); ++k) phis[k]->addIncoming(state[k], latch);
    finish_loop(g, g.b.CreateCondBr(goes_on(next), loop, done), unroll, items);
    g.b.SetInsertPoint(done);
    for (std::size_t k = 0; k < phis.size(); ++k) {
        llvm::PHINode* result = g.b.CreatePHI(state[k]->getType(), 2);
        result->addIncoming(initial[k], before);
        result->addIncoming(state[k], latch);
        state[k] = result;
    }
}

}  // namespace pardo::emit
