// src/emit/llvm/atomic.cpp: Atomic and CompareExchange, by lane or once for all lanes.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/arith.h"

namespace pardo::emit {

using ir::AtomicOp;
using ir::Instr;
using ir::MemoryOrder;
using ir::Opcode;

namespace {

llvm::AtomicOrdering ordering(MemoryOrder order) {
    switch (order) {
        case MemoryOrder::Relaxed: return llvm::AtomicOrdering::Monotonic;
        case MemoryOrder::Acquire: return llvm::AtomicOrdering::Acquire;
        case MemoryOrder::Release: return llvm::AtomicOrdering::Release;
        case MemoryOrder::AcqRel: return llvm::AtomicOrdering::AcquireRelease;
        case MemoryOrder::SeqCst: return llvm::AtomicOrdering::SequentiallyConsistent;
    }
    return llvm::AtomicOrdering::SequentiallyConsistent;
}

llvm::AtomicRMWInst::BinOp operation(AtomicOp op, DType t) {
    using Rmw = llvm::AtomicRMWInst;
    const bool is_signed = kind_of(t) == DKind::Signed;
    switch (op) {
        case AtomicOp::Add: return is_float(t) ? Rmw::FAdd : Rmw::Add;
        case AtomicOp::Sub: return is_float(t) ? Rmw::FSub : Rmw::Sub;
        case AtomicOp::Min: return is_signed ? Rmw::Min : Rmw::UMin;
        case AtomicOp::Max: return is_signed ? Rmw::Max : Rmw::UMax;
        case AtomicOp::And: return Rmw::And;
        case AtomicOp::Or: return Rmw::Or;
        case AtomicOp::Xor: return Rmw::Xor;
        case AtomicOp::Exchange: return Rmw::Xchg;
    }
    return Rmw::Xchg;
}

}  // namespace

/// Once for all lanes; on a processor that runs the whole launch every scope is that of its threads.
void Emitter::fence(const Instr& in) { g_.b.CreateFence(ordering(in.order)); }

/// What memory holds afterwards. values: the operand, or expected and desired.
llvm::Value* Emitter::updated(const Update& u, llvm::Value* old, llvm::ArrayRef<llvm::Value*> values) {
    if (u.in.op == Opcode::CompareExchange) {
        llvm::Type* bits = g_.b.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
        return g_.b.CreateSelect(g_.b.CreateICmpEQ(g_.b.CreateBitCast(old, bits), g_.b.CreateBitCast(values[0], bits)), values[1], old);
    }
    const bool real = is_float(u.type);
    switch (u.in.atomic) {
        case AtomicOp::Add: return binary(g_, Opcode::Add, u.type, old, values[0]);
        case AtomicOp::Sub: return binary(g_, Opcode::Sub, u.type, old, values[0]);
        case AtomicOp::Min: return min_max(g_, real ? Opcode::Fmin : Opcode::Min, u.type, old, values[0]);
        case AtomicOp::Max: return min_max(g_, real ? Opcode::Fmax : Opcode::Max, u.type, old, values[0]);
        case AtomicOp::And: return g_.b.CreateAnd(old, values[0]);
        case AtomicOp::Or: return g_.b.CreateOr(old, values[0]);
        case AtomicOp::Xor: return g_.b.CreateXor(old, values[0]);
        case AtomicOp::Exchange: return values[0];
    }
    return values[0];
}

/// For what processors have no instruction: tries until no other change came between.
llvm::Value* Emitter::update_in_loop(const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values) {
    llvm::Type* bits = g_.b.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
    const llvm::Align align = alignment(u.type);
    const llvm::AtomicOrdering order = ordering(u.in.order);
    llvm::LoadInst* first = g_.b.CreateAlignedLoad(bits, at, align);
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::BasicBlock *before = g_.b.GetInsertBlock(), *loop = block(g_, "atomic"), *done = block(g_, "atomic.done");
    g_.b.CreateBr(loop);
    g_.b.SetInsertPoint(loop);
    llvm::PHINode* seen = g_.b.CreatePHI(bits, 2);
    seen->addIncoming(first, before);
    llvm::Value* old = g_.b.CreateBitCast(seen, element(g_, u.type));
    llvm::Value* wanted = g_.b.CreateBitCast(updated(u, old, values), bits);
    llvm::Value* result =
        g_.b.CreateAtomicCmpXchg(at, seen, wanted, align, order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
    seen->addIncoming(g_.b.CreateExtractValue(result, 0), g_.b.GetInsertBlock());
    g_.b.CreateCondBr(g_.b.CreateExtractValue(result, 1), done, loop);
    g_.b.SetInsertPoint(done);
    return old;
}

/// One access; what was there before.
llvm::Value* Emitter::update(const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values) {
    const llvm::Align align = alignment(u.type);
    if (u.plain) {
        llvm::LoadInst* old = g_.b.CreateAlignedLoad(element(g_, u.type), at, align);
        g_.b.CreateAlignedStore(updated(u, old, values), at, align);
        return old;
    }
    const llvm::AtomicOrdering order = ordering(u.in.order);
    if (u.in.op == Opcode::CompareExchange) {
        llvm::Type* bits = g_.b.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
        llvm::Value* result = g_.b.CreateAtomicCmpXchg(at, g_.b.CreateBitCast(values[0], bits), g_.b.CreateBitCast(values[1], bits), align,
                                                       order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
        return g_.b.CreateBitCast(g_.b.CreateExtractValue(result, 0), element(g_, u.type));
    }
    const bool extreme = u.in.atomic == AtomicOp::Min || u.in.atomic == AtomicOp::Max;
    if (is_float(u.type) && extreme) return update_in_loop(u, at, values);
    return g_.b.CreateAtomicRMW(operation(u.in.atomic, u.type), at, values[0], align, order);
}

/// All lanes have one address and the old value is not used: combines their integers first. False if that is not so.
bool Emitter::update_once(const Update& u, llvm::Value* index, llvm::Value* value) {
    const bool joins = u.in.op == Opcode::Atomic && u.in.atomic != AtomicOp::Exchange && is_integer(u.type);
    if (!joins || info_.uses[u.in.results[0]] > 0) return false;
    const bool is_signed = kind_of(u.type) == DKind::Signed;
    auto joined = [&]() -> llvm::Value* {
        auto on = [&](ir::Combine neutral) { return mask_ ? g_.b.CreateSelect(mask_, value, identity(neutral, u.type, lanes_)) : value; };
        switch (u.in.atomic) {
            case AtomicOp::Min: return g_.b.CreateIntMinReduce(on(ir::Combine::Min), is_signed);
            case AtomicOp::Max: return g_.b.CreateIntMaxReduce(on(ir::Combine::Max), is_signed);
            case AtomicOp::And: return g_.b.CreateAndReduce(on(ir::Combine::And));
            case AtomicOp::Or: return g_.b.CreateOrReduce(on(ir::Combine::Or));
            case AtomicOp::Xor: return g_.b.CreateXorReduce(on(ir::Combine::Or));
            default: return g_.b.CreateAddReduce(on(ir::Combine::Add));
        }
    };
    llvm::BasicBlock *write = block(g_, "atomic.once"), *done = block(g_, "atomic.done");
    mask_ ? branch_if_any(g_, mask_, write, done) : static_cast<void>(g_.b.CreateBr(write));
    g_.b.SetInsertPoint(write);
    update(u, address(u.in.operands[0], index), joined());
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
    define(u.in.results[0], llvm::Constant::getNullValue(element(g_, u.type)));
    return true;
}

/// All lanes add integers at one address: one access, and each lane finds what the lanes before it have added. False if that is not so.
bool Emitter::update_running(const Update& u, llvm::Value* index, llvm::Value* value) {
    const bool adds = u.in.op == Opcode::Atomic && (u.in.atomic == AtomicOp::Add || u.in.atomic == AtomicOp::Sub);
    if (!adds || !is_integer(u.type)) return false;
    llvm::Constant* none = llvm::Constant::getNullValue(value->getType());
    llvm::BasicBlock *before = g_.b.GetInsertBlock(), *write = block(g_, "atomic.once"), *done = block(g_, "atomic.done");
    mask_ ? branch_if_any(g_, mask_, write, done) : static_cast<void>(g_.b.CreateBr(write));
    g_.b.SetInsertPoint(write);
    llvm::Value* own = mask_ ? g_.b.CreateSelect(mask_, value, none) : value;
    llvm::Value* sum = own;
    for (int reach = 1; reach < lanes_; reach *= 2) {
        llvm::SmallVector<int, 64> from;
        for (int l = 0; l < lanes_; ++l) from.push_back(l < reach ? lanes_ : l - reach);
        sum = g_.b.CreateAdd(sum, g_.b.CreateShuffleVector(sum, none, from));
    }
    llvm::Value* old = update(u, address(u.in.operands[0], index), g_.b.CreateExtractElement(sum, static_cast<std::uint64_t>(lanes_ - 1)));
    llvm::Value* others = g_.b.CreateSub(sum, own);
    old = splat(g_, old, lanes_);
    old = u.in.atomic == AtomicOp::Add ? g_.b.CreateAdd(old, others) : g_.b.CreateSub(old, others);
    llvm::BasicBlock* end = g_.b.GetInsertBlock();
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
    if (mask_) {
        llvm::PHINode* phi = g_.b.CreatePHI(old->getType(), 2);
        phi->addIncoming(none, before);
        phi->addIncoming(old, end);
        old = phi;
    }
    define(u.in.results[0], old);
    return true;
}

/// One lane after the other, the first one first; what each found there.
llvm::Value* Emitter::updates_by_lane(const Update& u, const Lane& index, llvm::ArrayRef<llvm::Value*> values) {
    llvm::Value* old = llvm::Constant::getNullValue(widened(element(g_, u.type), lanes_));
    for (int l = 0; l < lanes_; ++l) {
        const auto lane = static_cast<std::uint64_t>(l);
        llvm::Value* on = mask_ ? g_.b.CreateExtractElement(mask_, lane) : nullptr;
        llvm::BasicBlock *before = g_.b.GetInsertBlock(), *done = nullptr;
        if (on && !u.plain) {
            llvm::BasicBlock* inside = block(g_, "atomic.lane");
            done = block(g_, "atomic.next");
            g_.b.CreateCondBr(on, inside, done);
            g_.b.SetInsertPoint(inside);
        }
        llvm::Value* at = address(u.in.operands[0], index.kind == LaneShape::Uniform ? index.v : lane_index(index, l));
        if (on && u.plain) at = g_.b.CreateSelect(on, at, scratch_);
        LlvmValues own;
        for (llvm::Value* v : values) own.push_back(g_.b.CreateExtractElement(v, lane));
        llvm::Value* next = g_.b.CreateInsertElement(old, update(u, at, own), lane);
        if (done) {
            llvm::BasicBlock* end = g_.b.GetInsertBlock();
            g_.b.CreateBr(done);
            g_.b.SetInsertPoint(done);
            llvm::PHINode* phi = g_.b.CreatePHI(old->getType(), 2);
            phi->addIncoming(old, before);
            phi->addIncoming(next, end);
            next = phi;
        }
        old = next;
    }
    return old;
}

/// Plain accesses are cheap: where all lanes are active they go without asking each whether it is.
void Emitter::update_by_lane(const Update& u, const Lane& index, llvm::ArrayRef<llvm::Value*> values) {
    if (!mask_ || !u.plain) return define(u.in.results[0], updates_by_lane(u, index, values));
    llvm::BasicBlock *whole = block(g_, "atomic.whole"), *some = block(g_, "atomic.some"), *done = block(g_, "atomic.done");
    g_.b.CreateCondBr(g_.b.CreateAndReduce(mask_), whole, some);
    llvm::Value* old[2];
    llvm::BasicBlock* ends[2];
    llvm::Value* const mask = mask_;
    for (int side = 0; side < 2; ++side) {
        g_.b.SetInsertPoint(side == 0 ? whole : some);
        mask_ = side == 0 ? nullptr : mask;
        old[side] = updates_by_lane(u, index, values);
        ends[side] = g_.b.GetInsertBlock();
        g_.b.CreateBr(done);
    }
    mask_ = mask;
    g_.b.SetInsertPoint(done);
    llvm::PHINode* phi = g_.b.CreatePHI(old[0]->getType(), 2);
    for (int side = 0; side < 2; ++side) phi->addIncoming(old[side], ends[side]);
    define(u.in.results[0], phi);
}

void Emitter::atomic(const Instr& in) {
    const Update u{in, type(in.operands[0]), !is_param(in.operands[0])};
    const Lane index = element_of(in).index;
    LlvmValues values;
    for (int k = 2; k < in.operands.size(); ++k) values.push_back(vector(in.operands[k]));
    if (lanes_ == 1) return define(in.results[0], update(u, address(in.operands[0], index.v), values));
    if (index.kind == LaneShape::Uniform && (update_once(u, index.v, values[0]) || update_running(u, index.v, values[0]))) return;
    update_by_lane(u, index, values);
}

}  // namespace pardo::emit
