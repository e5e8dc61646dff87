// src/emit/llvm/atomic.cpp: Atomic and CompareExchange, by lane or once for all lanes.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "emit/llvm/emitter.h"

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
void Emitter::fence(const Instr& in) { b_.CreateFence(ordering(in.order)); }

/// What memory holds afterwards. values: the operand, or expected and desired.
llvm::Value* Emitter::updated(const Update& u, llvm::Value* old, llvm::ArrayRef<llvm::Value*> values) {
    if (u.in.op == Opcode::CompareExchange) {
        llvm::Type* bits = b_.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
        return b_.CreateSelect(b_.CreateICmpEQ(b_.CreateBitCast(old, bits), b_.CreateBitCast(values[0], bits)), values[1], old);
    }
    const bool real = is_float(u.type);
    switch (u.in.atomic) {
        case AtomicOp::Add: return binary(Opcode::Add, u.type, old, values[0]);
        case AtomicOp::Sub: return binary(Opcode::Sub, u.type, old, values[0]);
        case AtomicOp::Min: return min_max(real ? Opcode::Fmin : Opcode::Min, u.type, old, values[0]);
        case AtomicOp::Max: return min_max(real ? Opcode::Fmax : Opcode::Max, u.type, old, values[0]);
        case AtomicOp::And: return b_.CreateAnd(old, values[0]);
        case AtomicOp::Or: return b_.CreateOr(old, values[0]);
        case AtomicOp::Xor: return b_.CreateXor(old, values[0]);
        case AtomicOp::Exchange: return values[0];
    }
    return values[0];
}

/// For what processors have no instruction: tries until no other change came between.
llvm::Value* Emitter::update_in_loop(const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values) {
    llvm::Type* bits = b_.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
    const llvm::Align align = alignment(u.type);
    const llvm::AtomicOrdering order = ordering(u.in.order);
    llvm::LoadInst* first = b_.CreateAlignedLoad(bits, at, align);
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::BasicBlock *before = b_.GetInsertBlock(), *loop = block("atomic"), *done = block("atomic.done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    llvm::PHINode* seen = b_.CreatePHI(bits, 2);
    seen->addIncoming(first, before);
    llvm::Value* old = b_.CreateBitCast(seen, element(u.type));
    llvm::Value* wanted = b_.CreateBitCast(updated(u, old, values), bits);
    llvm::Value* result =
        b_.CreateAtomicCmpXchg(at, seen, wanted, align, order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
    seen->addIncoming(b_.CreateExtractValue(result, 0), b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateExtractValue(result, 1), done, loop);
    b_.SetInsertPoint(done);
    return old;
}

/// One access; what was there before.
llvm::Value* Emitter::update(const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values) {
    const llvm::Align align = alignment(u.type);
    if (u.plain) {
        llvm::LoadInst* old = b_.CreateAlignedLoad(element(u.type), at, align);
        b_.CreateAlignedStore(updated(u, old, values), at, align);
        return old;
    }
    const llvm::AtomicOrdering order = ordering(u.in.order);
    if (u.in.op == Opcode::CompareExchange) {
        llvm::Type* bits = b_.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
        llvm::Value* result = b_.CreateAtomicCmpXchg(at, b_.CreateBitCast(values[0], bits), b_.CreateBitCast(values[1], bits), align, order,
                                                     llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
        return b_.CreateBitCast(b_.CreateExtractValue(result, 0), element(u.type));
    }
    const bool extreme = u.in.atomic == AtomicOp::Min || u.in.atomic == AtomicOp::Max;
    if (is_float(u.type) && extreme) return update_in_loop(u, at, values);
    return b_.CreateAtomicRMW(operation(u.in.atomic, u.type), at, values[0], align, order);
}

/// All lanes have one address and the old value is not used: combines their integers first. False if that is not so.
bool Emitter::update_once(const Update& u, llvm::Value* index, llvm::Value* value) {
    const bool joins = u.in.op == Opcode::Atomic && u.in.atomic != AtomicOp::Exchange && is_integer(u.type);
    if (!joins || info_.uses[u.in.results[0]] > 0) return false;
    const bool is_signed = kind_of(u.type) == DKind::Signed;
    auto joined = [&]() -> llvm::Value* {
        auto on = [&](ir::Combine neutral) { return mask_ ? b_.CreateSelect(mask_, value, identity(neutral, u.type, lanes_)) : value; };
        switch (u.in.atomic) {
            case AtomicOp::Min: return b_.CreateIntMinReduce(on(ir::Combine::Min), is_signed);
            case AtomicOp::Max: return b_.CreateIntMaxReduce(on(ir::Combine::Max), is_signed);
            case AtomicOp::And: return b_.CreateAndReduce(on(ir::Combine::And));
            case AtomicOp::Or: return b_.CreateOrReduce(on(ir::Combine::Or));
            case AtomicOp::Xor: return b_.CreateXorReduce(on(ir::Combine::Or));
            default: return b_.CreateAddReduce(on(ir::Combine::Add));
        }
    };
    llvm::BasicBlock *write = block("atomic.once"), *done = block("atomic.done");
    mask_ ? branch_if_any(mask_, write, done) : static_cast<void>(b_.CreateBr(write));
    b_.SetInsertPoint(write);
    update(u, address(u.in.operands[0], index), joined());
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    define(u.in.results[0], llvm::Constant::getNullValue(element(u.type)));
    return true;
}

/// All lanes add integers at one address: one access, and each lane finds what the lanes before it have added. False if that is not so.
bool Emitter::update_running(const Update& u, llvm::Value* index, llvm::Value* value) {
    const bool adds = u.in.op == Opcode::Atomic && (u.in.atomic == AtomicOp::Add || u.in.atomic == AtomicOp::Sub);
    if (!adds || !is_integer(u.type)) return false;
    llvm::Constant* none = llvm::Constant::getNullValue(value->getType());
    llvm::BasicBlock *before = b_.GetInsertBlock(), *write = block("atomic.once"), *done = block("atomic.done");
    mask_ ? branch_if_any(mask_, write, done) : static_cast<void>(b_.CreateBr(write));
    b_.SetInsertPoint(write);
    llvm::Value* own = mask_ ? b_.CreateSelect(mask_, value, none) : value;
    llvm::Value* sum = own;
    for (int reach = 1; reach < lanes_; reach *= 2) {
        llvm::SmallVector<int, 64> from;
        for (int l = 0; l < lanes_; ++l) from.push_back(l < reach ? lanes_ : l - reach);
        sum = b_.CreateAdd(sum, b_.CreateShuffleVector(sum, none, from));
    }
    llvm::Value* old = update(u, address(u.in.operands[0], index), b_.CreateExtractElement(sum, static_cast<std::uint64_t>(lanes_ - 1)));
    llvm::Value* others = b_.CreateSub(sum, own);
    old = splat(old, lanes_);
    old = u.in.atomic == AtomicOp::Add ? b_.CreateAdd(old, others) : b_.CreateSub(old, others);
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    if (mask_) {
        llvm::PHINode* phi = b_.CreatePHI(old->getType(), 2);
        phi->addIncoming(none, before);
        phi->addIncoming(old, end);
        old = phi;
    }
    define(u.in.results[0], old);
    return true;
}

/// One lane after the other, the first one first; what each found there.
llvm::Value* Emitter::updates_by_lane(const Update& u, const Lane& index, llvm::ArrayRef<llvm::Value*> values) {
    llvm::Value* old = llvm::Constant::getNullValue(widened(element(u.type), lanes_));
    for (int l = 0; l < lanes_; ++l) {
        const auto lane = static_cast<std::uint64_t>(l);
        llvm::Value* on = mask_ ? b_.CreateExtractElement(mask_, lane) : nullptr;
        llvm::BasicBlock *before = b_.GetInsertBlock(), *done = nullptr;
        if (on && !u.plain) {
            llvm::BasicBlock* inside = block("atomic.lane");
            done = block("atomic.next");
            b_.CreateCondBr(on, inside, done);
            b_.SetInsertPoint(inside);
        }
        llvm::Value* at = address(u.in.operands[0], index.kind == LaneShape::Uniform ? index.v : lane_index(index, l));
        if (on && u.plain) at = b_.CreateSelect(on, at, scratch_);
        LlvmValues own;
        for (llvm::Value* v : values) own.push_back(b_.CreateExtractElement(v, lane));
        llvm::Value* next = b_.CreateInsertElement(old, update(u, at, own), lane);
        if (done) {
            llvm::BasicBlock* end = b_.GetInsertBlock();
            b_.CreateBr(done);
            b_.SetInsertPoint(done);
            llvm::PHINode* phi = b_.CreatePHI(old->getType(), 2);
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
    llvm::BasicBlock *whole = block("atomic.whole"), *some = block("atomic.some"), *done = block("atomic.done");
    b_.CreateCondBr(b_.CreateAndReduce(mask_), whole, some);
    llvm::Value* old[2];
    llvm::BasicBlock* ends[2];
    llvm::Value* const mask = mask_;
    for (int side = 0; side < 2; ++side) {
        b_.SetInsertPoint(side == 0 ? whole : some);
        mask_ = side == 0 ? nullptr : mask;
        old[side] = updates_by_lane(u, index, values);
        ends[side] = b_.GetInsertBlock();
        b_.CreateBr(done);
    }
    mask_ = mask;
    b_.SetInsertPoint(done);
    llvm::PHINode* phi = b_.CreatePHI(old[0]->getType(), 2);
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
