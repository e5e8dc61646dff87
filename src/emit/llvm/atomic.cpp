// src/emit/llvm/atomic.cpp: Atomic and CompareExchange, by lane or once for all lanes.
#include "emit/llvm/atomic.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "emit/llvm/math/arith.h"
#include "emit/llvm/math/combine.h"

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

/// One Atomic or CompareExchange.
struct Update {
    const Instr& in;
    DType type;
    bool plain;  // nothing else uses the memory while it runs
};

/// What memory holds afterwards. values: the operand, or expected and desired.
llvm::Value* updated(Codegen& g, const Update& u, llvm::Value* old, llvm::ArrayRef<llvm::Value*> values) {
    if (u.in.op == Opcode::CompareExchange) {
        llvm::Type* bits = g.b.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
        return g.b.CreateSelect(g.b.CreateICmpEQ(g.b.CreateBitCast(old, bits), g.b.CreateBitCast(values[0], bits)), values[1], old);
    }
    const bool real = is_float(u.type);
    switch (u.in.atomic()) {
        case AtomicOp::Add: return binary(g, Opcode::Add, u.type, old, values[0]);
        case AtomicOp::Sub: return binary(g, Opcode::Sub, u.type, old, values[0]);
        case AtomicOp::Min: return min_max(g, real ? Opcode::Fmin : Opcode::Min, u.type, old, values[0]);
        case AtomicOp::Max: return min_max(g, real ? Opcode::Fmax : Opcode::Max, u.type, old, values[0]);
        case AtomicOp::And: return g.b.CreateAnd(old, values[0]);
        case AtomicOp::Or: return g.b.CreateOr(old, values[0]);
        case AtomicOp::Xor: return g.b.CreateXor(old, values[0]);
        case AtomicOp::Exchange: return values[0];
    }
    return values[0];
}

/// For what processors have no instruction: tries until no other change came between.
llvm::Value* update_in_loop(Codegen& g, const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values) {
    llvm::Type* bits = g.b.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
    const llvm::Align align = alignment(u.type);
    const llvm::AtomicOrdering order = ordering(u.in.ordering().order);
    llvm::LoadInst* first = g.b.CreateAlignedLoad(bits, at, align);
    first->setAtomic(llvm::AtomicOrdering::Monotonic);
    llvm::BasicBlock *before = g.b.GetInsertBlock(), *loop = block(g, "atomic"), *done = block(g, "atomic.done");
    g.b.CreateBr(loop);
    g.b.SetInsertPoint(loop);
    llvm::PHINode* seen = g.b.CreatePHI(bits, 2);
    seen->addIncoming(first, before);
    llvm::Value* old = g.b.CreateBitCast(seen, element(g, u.type));
    llvm::Value* wanted = g.b.CreateBitCast(updated(g, u, old, values), bits);
    llvm::Value* result =
        g.b.CreateAtomicCmpXchg(at, seen, wanted, align, order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
    seen->addIncoming(g.b.CreateExtractValue(result, 0), g.b.GetInsertBlock());
    g.b.CreateCondBr(g.b.CreateExtractValue(result, 1), done, loop);
    g.b.SetInsertPoint(done);
    return old;
}

/// One access; what was there before.
llvm::Value* update(Codegen& g, const Update& u, llvm::Value* at, llvm::ArrayRef<llvm::Value*> values) {
    const llvm::Align align = alignment(u.type);
    if (u.plain) {
        llvm::LoadInst* old = g.b.CreateAlignedLoad(element(g, u.type), at, align);
        g.b.CreateAlignedStore(updated(g, u, old, values), at, align);
        return old;
    }
    const llvm::AtomicOrdering order = ordering(u.in.ordering().order);
    if (u.in.op == Opcode::CompareExchange) {
        llvm::Type* bits = g.b.getIntNTy(static_cast<unsigned>(itemsize(u.type)) * 8);
        llvm::Value* result = g.b.CreateAtomicCmpXchg(at, g.b.CreateBitCast(values[0], bits), g.b.CreateBitCast(values[1], bits), align,
                                                      order, llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
        return g.b.CreateBitCast(g.b.CreateExtractValue(result, 0), element(g, u.type));
    }
    const bool extreme = u.in.atomic() == AtomicOp::Min || u.in.atomic() == AtomicOp::Max;
    if (is_float(u.type) && extreme) return update_in_loop(g, u, at, values);
    return g.b.CreateAtomicRMW(operation(u.in.atomic(), u.type), at, values[0], align, order);
}

/// All lanes have one address and the old value is not used: combines their integers first. False if that is not so.
bool update_once(Memory& m, const LaneContext& here, const Update& u, llvm::Value* index, llvm::Value* value) {
    const bool joins = u.in.op == Opcode::Atomic && u.in.atomic() != AtomicOp::Exchange && is_integer(u.type);
    if (!joins || m.source.info.uses[u.in.results[0]] > 0) return false;
    const bool is_signed = kind_of(u.type) == DKind::Signed;
    auto joined = [&]() -> llvm::Value* {
        auto on = [&](ir::Combine neutral) {
            return here.mask ? m.g.b.CreateSelect(here.mask, value, identity(m.g, neutral, u.type, here.lanes)) : value;
        };
        switch (u.in.atomic()) {
            case AtomicOp::Min: return m.g.b.CreateIntMinReduce(on(ir::Combine::Min), is_signed);
            case AtomicOp::Max: return m.g.b.CreateIntMaxReduce(on(ir::Combine::Max), is_signed);
            case AtomicOp::And: return m.g.b.CreateAndReduce(on(ir::Combine::And));
            case AtomicOp::Or: return m.g.b.CreateOrReduce(on(ir::Combine::Or));
            case AtomicOp::Xor: return m.g.b.CreateXorReduce(on(ir::Combine::Or));
            default: return m.g.b.CreateAddReduce(on(ir::Combine::Add));
        }
    };
    llvm::BasicBlock *write = block(m.g, "atomic.once"), *done = block(m.g, "atomic.done");
    here.mask ? branch_if_any(m.g, here.mask, write, done) : static_cast<void>(m.g.b.CreateBr(write));
    m.g.b.SetInsertPoint(write);
    update(m.g, u, address(m, u.in.operands[0], index), joined());
    m.g.b.CreateBr(done);
    m.g.b.SetInsertPoint(done);
    m.values.define(here, u.in.results[0], llvm::Constant::getNullValue(element(m.g, u.type)));
    return true;
}

/// All lanes add integers at one address: one access, and each lane finds what the lanes before it have added. False if that is not so.
bool update_running(Memory& m, const LaneContext& here, const Update& u, llvm::Value* index, llvm::Value* value) {
    const bool adds = u.in.op == Opcode::Atomic && (u.in.atomic() == AtomicOp::Add || u.in.atomic() == AtomicOp::Sub);
    if (!adds || !is_integer(u.type)) return false;
    llvm::Constant* none = llvm::Constant::getNullValue(value->getType());
    llvm::BasicBlock *before = m.g.b.GetInsertBlock(), *write = block(m.g, "atomic.once"), *done = block(m.g, "atomic.done");
    here.mask ? branch_if_any(m.g, here.mask, write, done) : static_cast<void>(m.g.b.CreateBr(write));
    m.g.b.SetInsertPoint(write);
    llvm::Value* own = here.mask ? m.g.b.CreateSelect(here.mask, value, none) : value;
    llvm::Value* sum = own;
    for (int reach = 1; reach < here.lanes; reach *= 2) {
        llvm::SmallVector<int, 64> from;
        for (int l = 0; l < here.lanes; ++l) from.push_back(l < reach ? here.lanes : l - reach);
        sum = m.g.b.CreateAdd(sum, m.g.b.CreateShuffleVector(sum, none, from));
    }
    llvm::Value* old =
        update(m.g, u, address(m, u.in.operands[0], index), m.g.b.CreateExtractElement(sum, static_cast<std::uint64_t>(here.lanes - 1)));
    llvm::Value* others = m.g.b.CreateSub(sum, own);
    old = splat(m.g, old, here.lanes);
    old = u.in.atomic() == AtomicOp::Add ? m.g.b.CreateAdd(old, others) : m.g.b.CreateSub(old, others);
    llvm::BasicBlock* end = m.g.b.GetInsertBlock();
    m.g.b.CreateBr(done);
    m.g.b.SetInsertPoint(done);
    if (here.mask) {
        llvm::PHINode* phi = m.g.b.CreatePHI(old->getType(), 2);
        phi->addIncoming(none, before);
        phi->addIncoming(old, end);
        old = phi;
    }
    m.values.define(here, u.in.results[0], old);
    return true;
}

/// One lane after the other, the first one first; what each found there.
llvm::Value* updates_by_lane(Memory& m, const LaneContext& here, const Update& u, const Lane& index, llvm::ArrayRef<llvm::Value*> values) {
    llvm::Value* old = llvm::Constant::getNullValue(widened(element(m.g, u.type), here.lanes));
    for (int l = 0; l < here.lanes; ++l) {
        const auto lane = static_cast<std::uint64_t>(l);
        llvm::Value* on = here.mask ? m.g.b.CreateExtractElement(here.mask, lane) : nullptr;
        llvm::BasicBlock *before = m.g.b.GetInsertBlock(), *done = nullptr;
        if (on && !u.plain) {
            llvm::BasicBlock* inside = block(m.g, "atomic.lane");
            done = block(m.g, "atomic.next");
            m.g.b.CreateCondBr(on, inside, done);
            m.g.b.SetInsertPoint(inside);
        }
        llvm::Value* at = address(m, u.in.operands[0], index.kind == LaneShape::Uniform ? index.v : lane_index(m.g, index, l));
        if (on && u.plain) at = m.g.b.CreateSelect(on, at, m.scratch);
        LlvmValues own;
        for (llvm::Value* v : values) own.push_back(m.g.b.CreateExtractElement(v, lane));
        llvm::Value* next = m.g.b.CreateInsertElement(old, update(m.g, u, at, own), lane);
        if (done) {
            llvm::BasicBlock* end = m.g.b.GetInsertBlock();
            m.g.b.CreateBr(done);
            m.g.b.SetInsertPoint(done);
            llvm::PHINode* phi = m.g.b.CreatePHI(old->getType(), 2);
            phi->addIncoming(old, before);
            phi->addIncoming(next, end);
            next = phi;
        }
        old = next;
    }
    return old;
}

/// Plain accesses are cheap: where all lanes are active they go without asking each whether it is.
void update_by_lane(Memory& m, const LaneContext& here, const Update& u, const Lane& index, llvm::ArrayRef<llvm::Value*> values) {
    if (!here.mask || !u.plain) return m.values.define(here, u.in.results[0], updates_by_lane(m, here, u, index, values));
    llvm::BasicBlock *whole = block(m.g, "atomic.whole"), *some = block(m.g, "atomic.some"), *done = block(m.g, "atomic.done");
    m.g.b.CreateCondBr(m.g.b.CreateAndReduce(here.mask), whole, some);
    llvm::Value* old[2];
    llvm::BasicBlock* ends[2];
    for (int side = 0; side < 2; ++side) {
        m.g.b.SetInsertPoint(side == 0 ? whole : some);
        old[side] = updates_by_lane(m, side == 0 ? here.under(nullptr) : here, u, index, values);
        ends[side] = m.g.b.GetInsertBlock();
        m.g.b.CreateBr(done);
    }
    m.g.b.SetInsertPoint(done);
    llvm::PHINode* phi = m.g.b.CreatePHI(old[0]->getType(), 2);
    for (int side = 0; side < 2; ++side) phi->addIncoming(old[side], ends[side]);
    m.values.define(here, u.in.results[0], phi);
}

}  // namespace

void fence(Codegen& g, const Instr& in) { g.b.CreateFence(ordering(in.ordering().order)); }

void atomic(Memory& m, const LaneContext& here, const Instr& in) {
    const Update u{in, m.source.type(in.operands[0]), !m.source.is_param(in.operands[0])};
    const Lane index = element_of(m, here, in).index;
    LlvmValues values;
    for (int k = 2; k < in.operands.size(); ++k) values.push_back(m.values.vector(here, in.operands[k]));
    if (here.lanes == 1) return m.values.define(here, in.results[0], update(m.g, u, address(m, in.operands[0], index.v), values));
    if (index.kind == LaneShape::Uniform && (update_once(m, here, u, index.v, values[0]) || update_running(m, here, u, index.v, values[0])))
        return;
    update_by_lane(m, here, u, index, values);
}

}  // namespace pardo::emit
