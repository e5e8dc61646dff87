// src/emit/llvm/stops.cpp: loops that may be long look now and then whether the whole entry is to end.
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "emit/llvm/module.h"

namespace pardo::emit {
namespace {

/// An innermost loop looks after so many iterations; its time between two looks is microseconds. Loops with loops inside look each time.
constexpr unsigned rounds_between = 2048;

/// The launch cuts the box of items into pieces that take moments, and looks between them.
bool goes_over_items(const llvm::Loop& loop) {
    const llvm::MDNode* id = loop.getLoopID();
    for (unsigned k = 1; id && k < id->getNumOperands(); ++k) {
        const auto* fact = llvm::dyn_cast<llvm::MDNode>(id->getOperand(k));
        if (!fact || fact->getNumOperands() == 0) continue;
        const auto* name = llvm::dyn_cast<llvm::MDString>(fact->getOperand(0));
        if (name && name->getString() == items_loop) return true;
    }
    return false;
}

/// Puts the look on the way from `latch` back to the header. `left`: iterations until the next one; null: each time.
void look_after(llvm::BasicBlock* latch, llvm::BasicBlock* header, llvm::PHINode* left, llvm::Value* stop, llvm::BasicBlock* stopped) {
    llvm::LLVMContext& context = header->getContext();
    llvm::Function* function = header->getParent();
    auto* again = llvm::BasicBlock::Create(context, "again", function, latch->getNextNode());
    llvm::IRBuilder<> b(again);
    llvm::MDNode* seldom = llvm::MDBuilder(context).createBranchWeights(1, 1 << 20);
    latch->getTerminator()->replaceSuccessorWith(header, again);
    header->replacePhiUsesWith(latch, again);
    llvm::BasicBlock* look = again;
    if (left) {
        look = llvm::BasicBlock::Create(context, "look", function, stopped);
        llvm::Value* fewer = b.CreateSub(left, b.getInt32(1));
        left->addIncoming(fewer, again);
        b.CreateCondBr(b.CreateICmpEQ(fewer, b.getInt32(0)), look, header, seldom);
        for (llvm::PHINode& phi : header->phis()) {
            if (&phi != left) phi.addIncoming(phi.getIncomingValueForBlock(again), look);
        }
        left->addIncoming(b.getInt32(rounds_between), look);
        b.SetInsertPoint(look);
    }
    llvm::LoadInst* asked = b.CreateLoad(b.getInt8Ty(), stop);
    asked->setVolatile(true);
    b.CreateCondBr(b.CreateICmpNE(asked, b.getInt8(0)), stopped, header, seldom);
}

/// Branches of one block that go to `header` more than once cannot be told apart by its phis.
bool goes_once(const llvm::BasicBlock* latch, const llvm::BasicBlock* header) { return llvm::count(llvm::successors(latch), header) == 1; }

void add_to(llvm::Loop& loop, llvm::Value* stop, llvm::BasicBlock* stopped) {
    llvm::BasicBlock* header = loop.getHeader();
    llvm::SmallVector<llvm::BasicBlock*, 4> latches;
    loop.getLoopLatches(latches);
    if (!llvm::all_of(latches, [&](llvm::BasicBlock* latch) { return goes_once(latch, header); })) return;
    llvm::PHINode* left = nullptr;
    if (loop.isInnermost()) {
        llvm::IRBuilder<> b(header, header->begin());
        left = b.CreatePHI(b.getInt32Ty(), 4, "left");
        for (llvm::BasicBlock* before : llvm::predecessors(header)) {
            if (!llvm::is_contained(latches, before)) left->addIncoming(b.getInt32(rounds_between), before);
        }
    }
    for (llvm::BasicBlock* latch : latches) look_after(latch, header, left, stop, stopped);
}

}  // namespace

void add_stops(llvm::Module& module) {
    for (llvm::Function& function : module) {
        if (function.isDeclaration() || function.arg_size() != 5) continue;
        llvm::DominatorTree dominators(function);
        llvm::LoopInfo loops(dominators);
        if (loops.empty()) continue;
        const llvm::TargetLibraryInfoImpl library(llvm::Triple(module.getTargetTriple()));
        llvm::TargetLibraryInfo functions(library);
        llvm::AssumptionCache assumptions(function);
        llvm::ScalarEvolution evolution(function, functions, assumptions, dominators, loops);
        llvm::SmallVector<llvm::Loop*, 16> long_ones;
        for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
            const unsigned trips = evolution.getSmallConstantMaxTripCount(loop);
            const bool items = loop->isInnermost() && goes_over_items(*loop);
            if (!items && (trips == 0 || trips > rounds_between)) long_ones.push_back(loop);
        }
        if (long_ones.empty()) continue;
        auto* stopped = llvm::BasicBlock::Create(module.getContext(), "stopped", &function);
        llvm::ReturnInst::Create(module.getContext(), stopped);
        for (llvm::Loop* loop : long_ones) add_to(*loop, function.getArg(4), stopped);
    }
}

}  // namespace pardo::emit
