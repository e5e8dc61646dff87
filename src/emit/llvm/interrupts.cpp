// src/emit/llvm/interrupts.cpp: makes long loops poll the flag that ends the whole entry.
#include <optional>

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
/// Where the iterations are counted anyway, that is a loop around as many of them, and costs them nothing.
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

llvm::MDNode* seldom(llvm::LLVMContext& context) { return llvm::MDBuilder(context).createBranchWeights(1, 1 << 20); }

/// The look itself, which ends a block.
void look_at(llvm::IRBuilder<>& b, llvm::Value* stop, llvm::BasicBlock* stopped, llvm::BasicBlock* next) {
    llvm::LoadInst* asked = b.CreateLoad(b.getInt8Ty(), stop);
    asked->setVolatile(true);
    b.CreateCondBr(b.CreateICmpNE(asked, b.getInt8(0)), stopped, next, seldom(b.getContext()));
}

/// Puts the look on the way from `latch` back to the header. `left`: iterations until the next one; null: each time.
void look_after(llvm::BasicBlock* latch, llvm::BasicBlock* header, llvm::PHINode* left, llvm::Value* stop, llvm::BasicBlock* stopped) {
    llvm::LLVMContext& context = header->getContext();
    llvm::Function* function = header->getParent();
    auto* again = llvm::BasicBlock::Create(context, "again", function, latch->getNextNode());
    llvm::IRBuilder<> b(again);
    latch->getTerminator()->replaceSuccessorWith(header, again);
    header->replacePhiUsesWith(latch, again);
    llvm::BasicBlock* look = again;
    if (left) {
        look = llvm::BasicBlock::Create(context, "look", function, stopped);
        llvm::Value* fewer = b.CreateSub(left, b.getInt32(1));
        left->addIncoming(fewer, again);
        b.CreateCondBr(b.CreateICmpEQ(fewer, b.getInt32(0)), look, header, seldom(context));
        for (llvm::PHINode& phi : header->phis()) {
            if (&phi != left) phi.addIncoming(phi.getIncomingValueForBlock(again), look);
        }
        left->addIncoming(b.getInt32(rounds_between), look);
        b.SetInsertPoint(look);
    }
    look_at(b, stop, stopped, header);
}

/// Branches of one block that go to `header` more than once cannot be told apart by its phis.
bool goes_once(const llvm::BasicBlock* latch, const llvm::BasicBlock* header) { return llvm::count(llvm::successors(latch), header) == 1; }

/// How an innermost loop tells at its latch that it goes on: a counter, `step` more each time, is less than `end`, or is not `end`.
struct Count {
    llvm::ICmpInst* test = nullptr;
    unsigned end_operand = 0;  // of `test`
    llvm::PHINode* counter = nullptr;
    llvm::Value* tested = nullptr;  // the counter, or its next value
    const llvm::ConstantInt* step = nullptr;
    bool is_signed = false, is_less = false;
};

/// Nothing for loops that tell it in another way.
std::optional<Count> count_of(const llvm::Loop& loop) {
    llvm::BasicBlock* const latch = loop.getLoopLatch();
    const auto* branch = latch && loop.getLoopPreheader() ? llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator()) : nullptr;
    if (!branch || !branch->isConditional() || !loop.isLoopExiting(latch)) return {};
    Count c;
    c.test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (!c.test || !c.test->hasOneUse() || c.test->getParent() != latch) return {};
    c.end_operand = loop.isLoopInvariant(c.test->getOperand(0)) ? 0 : 1;
    if (!loop.isLoopInvariant(c.test->getOperand(c.end_operand))) return {};
    c.tested = c.test->getOperand(1 - c.end_operand);
    auto predicate = branch->getSuccessor(0) == loop.getHeader() ? c.test->getPredicate() : c.test->getInversePredicate();
    if (c.end_operand == 0) predicate = llvm::CmpInst::getSwappedPredicate(predicate);
    c.is_signed = predicate == llvm::CmpInst::ICMP_SLT;
    c.is_less = c.is_signed || predicate == llvm::CmpInst::ICMP_ULT;
    if (!c.is_less && predicate != llvm::CmpInst::ICMP_NE) return {};
    const auto next_of = [&](llvm::PHINode& phi) { return llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(latch)); };
    for (llvm::PHINode& phi : loop.getHeader()->phis()) {
        const llvm::BinaryOperator* next = next_of(phi);
        if (!next || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != &phi) continue;
        if (c.tested != &phi && c.tested != next) continue;
        c.step = llvm::dyn_cast<llvm::ConstantInt>(next->getOperand(1));
        c.counter = &phi;
    }
    constexpr unsigned widest = 64, most_step = 1 << 16;
    const bool counts = c.step && c.step->getBitWidth() <= widest && c.step->getBitWidth() > 31 &&
                        c.step->getValue().isStrictlyPositive() && c.step->getValue().ule(most_step);
    return counts ? std::optional(c) : std::nullopt;
}

/// Makes of the loop one over parts of its iterations, and looks after each.
void look_between_parts(llvm::Loop& loop, const Count& c, llvm::Value* stop, llvm::BasicBlock* stopped) {
    llvm::BasicBlock *const header = loop.getHeader(), *const latch = loop.getLoopLatch(), *const before = loop.getLoopPreheader();
    llvm::BranchInst* const branch = llvm::cast<llvm::BranchInst>(latch->getTerminator());
    const unsigned out = branch->getSuccessor(0) == header ? 1 : 0;
    llvm::BasicBlock* const behind = branch->getSuccessor(out);
    llvm::Value* const end = c.test->getOperand(c.end_operand);
    llvm::Value* const length = llvm::ConstantInt::get(end->getType(), c.step->getZExtValue() * rounds_between);
    llvm::Function* const function = header->getParent();
    const auto block = [&](const char* name, llvm::BasicBlock* next) {
        return llvm::BasicBlock::Create(header->getContext(), name, function, next);
    };
    llvm::BasicBlock *const part = block("part", header), *const ended = block("ended", latch->getNextNode()),
                            *const look = block("look", stopped);
    // Where a part ends that begins with `at`.
    const auto limit = [&](llvm::IRBuilder<>& b, llvm::Value* at) -> llvm::Value* {
        llvm::Value* longer = b.CreateICmpUGT(b.CreateSub(end, at), length);
        if (c.is_less) longer = b.CreateAnd(longer, c.is_signed ? b.CreateICmpSGT(end, at) : b.CreateICmpUGT(end, at));
        return b.CreateSelect(longer, b.CreateAdd(at, length), end);
    };

    llvm::IRBuilder<> b(before->getTerminator());
    llvm::Value* first = c.counter->getIncomingValueForBlock(before);
    if (c.tested != c.counter) first = b.CreateAdd(first, llvm::ConstantInt::get(first->getType(), c.step->getValue()));
    llvm::Value* const first_limit = limit(b, first);
    before->getTerminator()->replaceSuccessorWith(header, part);
    b.SetInsertPoint(part);
    for (llvm::PHINode& phi : header->phis()) {
        llvm::PHINode* of_part = b.CreatePHI(phi.getType(), 2, phi.getName());
        of_part->addIncoming(phi.getIncomingValueForBlock(before), before);
        of_part->addIncoming(phi.getIncomingValueForBlock(latch), look);
        phi.setIncomingValueForBlock(before, of_part);
    }
    header->replacePhiUsesWith(before, part);
    llvm::PHINode* const until = b.CreatePHI(end->getType(), 2, "until");
    b.CreateBr(header);

    c.test->setOperand(c.end_operand, until);
    branch->setSuccessor(out, ended);
    behind->replacePhiUsesWith(latch, ended);
    b.SetInsertPoint(ended);
    b.CreateCondBr(b.CreateICmpEQ(until, end), behind, look);
    b.SetInsertPoint(look);
    until->addIncoming(first_limit, before);
    until->addIncoming(limit(b, until), look);
    look_at(b, stop, stopped, part);
}

void add_to(llvm::Loop& loop, llvm::Value* stop, llvm::BasicBlock* stopped) {
    if (const auto count = loop.isInnermost() ? count_of(loop) : std::nullopt) return look_between_parts(loop, *count, stop, stopped);
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

void add_interrupts(llvm::Module& module) {
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
