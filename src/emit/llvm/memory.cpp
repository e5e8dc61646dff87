// src/emit/llvm/memory.cpp: loads and stores: vector accesses where lanes are neighbours, shuffles for small steps, else gather and
// scatter.
#include "emit/llvm/memory.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <utility>

#include "base/shape.h"
#include "emit/llvm/math/cast.h"
#include "emit/llvm/records.h"
#include "emit/llvm/transposed_loads.h"

namespace pardo::emit {

using ir::Instr;
using ir::Value;

Memory::Memory(Values& values)
    : g(values.g),
      source(values.source),
      values(values),
      fields(source.kernel.instrs.size()),
      store_records(source.kernel.instrs.size(), ~0u),
      slots(source.kernel.in_groups() ? source.kernel.values.size() : 0) {
    llvm::MDBuilder md(g.b.getContext());
    llvm::MDNode* domain = md.createAnonymousAliasScopeDomain("pardo");
    const std::size_t params = source.kernel.params.size();
    std::vector<llvm::MDNode*> scopes(params + source.kernel.arrays.size());
    for (std::size_t p = 0; p < scopes.size(); ++p)
        if (p >= params || (source.kernel.params[p].pointer && source.kernel.params[p].noalias))
            scopes[p] = md.createAnonymousAliasScope(domain);
    scope_lists.resize(scopes.size());
    noalias_lists.resize(scopes.size());
    for (std::size_t p = 0; p < scopes.size(); ++p) {
        if (scopes[p]) scope_lists[p] = llvm::MDNode::get(g.b.getContext(), {scopes[p]});
        llvm::SmallVector<llvm::Metadata*, 8> others;
        for (std::size_t q = 0; q < scopes.size(); ++q)
            if (q != p && scopes[q]) others.push_back(scopes[q]);
        if (!others.empty()) noalias_lists[p] = llvm::MDNode::get(g.b.getContext(), others);
    }
}

void annotate(Memory& m, llvm::Instruction* access, Value pointer) {
    const std::size_t p = m.source.memory_of(pointer);
    if (m.scope_lists[p]) access->setMetadata(llvm::LLVMContext::MD_alias_scope, m.scope_lists[p]);
    if (m.noalias_lists[p]) access->setMetadata(llvm::LLVMContext::MD_noalias, m.noalias_lists[p]);
}

llvm::Value* address(Memory& m, Value pointer, llvm::Value* index) {
    return m.g.b.CreateGEP(memory_element(m.g, m.source.type(pointer)), array_start(m, pointer), index);
}

llvm::Value* array_start(Memory& m, Value pointer) {
    llvm::Value* at = m.values.scalar(pointer);
    return m.source.is_sized(pointer) ? m.g.b.CreateLoad(m.g.b.getPtrTy(), at) : at;
}

void prefetch(Codegen& g, llvm::Value* address) {
    g.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()}, {address, g.b.getInt32(0), g.b.getInt32(3), g.b.getInt32(1)});
}

llvm::Value* misalignment(Codegen& g, llvm::Value* address, std::int64_t bytes) {
    return g.b.CreateAnd(g.b.CreatePtrToInt(address, g.b.getInt64Ty()), i64(g, std::min<std::int64_t>(bytes, 64) - 1));
}

void fence_streams(Codegen& g, const Source& source) {
#if defined(__x86_64__)
    if (std::ranges::any_of(source.kernel.params, [](const ir::Param& param) { return param.streaming; }))
        g.b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
#endif
}

Element element_of(Memory& m, const LaneContext& here, const Instr& in) {
    Lane index = m.values[in.operands[1]];
    const bool affine = here.lanes > 1 && index.kind == LaneShape::Affine;
    const bool of_lane = is_of_lane(m.source.kernel, m.source.info, in.operands[0]),
               of_item = m.source.kernel.in_groups() && is_private(m.source.kernel, in.operands[0]);
    if (!of_lane && !of_item) return {index, affine ? m.source.shape(in.operands[1]).step : 0};
    // Element e of item i lies at e * items + i: neighbours are adjacent.
    llvm::Value* items = i64(m.g, m.source.kernel.in_groups() ? group_items(m.source.kernel) : here.lanes);
    llvm::Value* first = here.item->number ? here.item->number : i64(m.g, 0);
    const bool side_by_side = of_lane && here.lanes > 1;
    if (index.kind == LaneShape::Varying && here.lanes > 1) {
        llvm::Value* own = splat(m.g, first, here.lanes);
        if (side_by_side) own = m.g.b.CreateAdd(own, iota(m.g, here.lanes));
        index.v = m.g.b.CreateAdd(m.g.b.CreateMul(index.v, splat(m.g, items, here.lanes)), own);
        return {index, 0};
    }
    Lane at{index.kind, m.g.b.CreateAdd(m.g.b.CreateMul(index.v, items), first), nullptr};
    if (here.lanes == 1 || (index.kind == LaneShape::Uniform && !side_by_side)) return {at, 0};
    const bool neighbours = index.kind == LaneShape::Uniform;
    at.kind = neighbours ? LaneShape::Affine : LaneShape::Strided;
    at.step = neighbours ? i64(m.g, 1) : m.g.b.CreateAdd(m.g.b.CreateMul(index.step, items), i64(m.g, side_by_side ? 1 : 0));
    return {at, neighbours ? 1 : 0};
}

namespace {

/// Whether an index is a sum in which a loop's counter occurs once.
bool counts_with(const ir::Kernel& kernel, Value index, Value counter) {
    if (index == counter) return true;
    const ir::ValueInfo& info = kernel.values[index];
    if (info.region != ir::RegionId(~0u) || info.def >= kernel.instrs.size()) return false;
    const Instr& in = kernel.instrs[info.def];
    return in.op == ir::Opcode::Add && counts_with(kernel, in.operands[0], counter) != counts_with(kernel, in.operands[1], counter);
}

/// How many elements in front of a load the processor should be told to look; null where it sees by itself. Where formulas keep it from
/// running ahead, a kilobyte; where a group's iterations step over what other groups take, two kilobytes of its own: a histogram of 10^7
/// bytes took 5.3 ms without, 3.4 with the next iteration, 2.2 to 3 with those 1 to 4 KiB on.
llvm::Value* elements_ahead(Memory& m, const LaneContext& here, Value pointer, Value index, int step) {
    constexpr std::int64_t of_formulas = 1024, of_iterations = 2048, foreseen = 2048;
    if (here.divergent || !m.source.is_param(pointer)) return nullptr;
    const std::int64_t bytes = itemsize(m.source.type(pointer));
    if (here.prefetch) return i64(m.g, (step < 0 ? -of_formulas : of_formulas) / bytes);
    if (!here.iterations.step || here.mask || !counts_with(m.source.kernel, index, here.iterations.counter)) return nullptr;
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(here.iterations.step);
    if (known && std::abs(known->getSExtValue()) < foreseen / bytes) return nullptr;
    const std::int64_t iteration = bytes * element_count(m.source.kernel.group_size);
    return m.g.b.CreateMul(here.iterations.step, i64(m.g, std::max<std::int64_t>(1, of_iterations / iteration)));
}

bool hardware_gather(const LlvmTarget& target, llvm::Type* t) {
    const unsigned bits = t->getScalarSizeInBits();
    return target.vector_bytes == 64 && (bits == 32 || bits == 64);
}

/// Neighbours in ascending (step 1) or descending (step -1) order; `index` is lane 0's. Asks for what lies `ahead` elements in front.
llvm::Value* load_vector(Memory& m, const LaneContext& here, Value pointer, llvm::Value* index, int step, llvm::Value* ahead) {
    const DType t = m.source.type(pointer);
    llvm::Type* vector_type = widened(memory_element(m.g, t), here.lanes);
    if (step < 0) index = m.g.b.CreateSub(index, i64(m.g, here.lanes - 1));
    llvm::Value* at = address(m, pointer, index);
    llvm::Instruction* access = nullptr;
    if (ahead) prefetch(m.g, m.g.b.CreateGEP(memory_element(m.g, t), at, ahead));
    if (!here.mask)
        access = m.g.b.CreateAlignedLoad(vector_type, at, alignment(t));
    else
        access = m.g.b.CreateMaskedLoad(vector_type, at, alignment(t), step < 0 ? m.g.b.CreateVectorReverse(here.mask) : here.mask,
                                        llvm::Constant::getNullValue(vector_type));
    annotate(m, access, pointer);
    return step < 0 ? m.g.b.CreateVectorReverse(access) : access;
}

/// Lane l's element is base + l * step, step 2 to 4 (of either sign): a few whole vectors, then one shuffle each.
llvm::Value* load_strided(Memory& m, const LaneContext& here, Value pointer, llvm::Value* base, std::int64_t step) {
    const DType t = m.source.type(pointer);
    const int stride = static_cast<int>(std::abs(step)), span = stride * (here.lanes - 1) + 1;
    llvm::Type* vector_type = widened(memory_element(m.g, t), here.lanes);
    if (step < 0) base = m.g.b.CreateSub(base, i64(m.g, span - 1));
    llvm::Value* joined = nullptr;
    for (int part = 0; part < stride; ++part) {
        llvm::Value* at = address(m, pointer, m.g.b.CreateAdd(base, i64(m.g, part * here.lanes)));
        const int inside = std::min(here.lanes, span - part * here.lanes);
        if (inside <= 0) break;
        llvm::Instruction* access = nullptr;
        if (inside == here.lanes) {
            access = m.g.b.CreateAlignedLoad(vector_type, at, alignment(t));
        } else {  // the last vector must not read past the last element
            llvm::SmallVector<llvm::Constant*, 64> on;
            for (int l = 0; l < here.lanes; ++l) on.push_back(m.g.b.getInt1(l < inside));
            access = m.g.b.CreateMaskedLoad(vector_type, at, alignment(t), llvm::ConstantVector::get(on),
                                            llvm::Constant::getNullValue(vector_type));
        }
        annotate(m, access, pointer);
        // Lanes whose element lies in this vector; one shuffle of two sources adds them to those found so far.
        llvm::SmallVector<int, 64> lanes;
        for (int l = 0; l < here.lanes; ++l) {
            const int element = l * stride - part * here.lanes;
            lanes.push_back(element >= 0 && element < here.lanes ? here.lanes + element : element < 0 && part > 0 ? l : -1);
        }
        if (part == 0) {
            for (int& l : lanes) l = l >= here.lanes ? l - here.lanes : l;
            joined = m.g.b.CreateShuffleVector(access, lanes);
        } else {
            joined = m.g.b.CreateShuffleVector(joined, access, lanes);
        }
    }
    return step < 0 ? m.g.b.CreateVectorReverse(joined) : joined;
}

/// The counterpart: whole vectors under constant masks that touch only the lanes' own elements.
void store_strided(Memory& m, const LaneContext& here, Value pointer, llvm::Value* base, std::int64_t step, llvm::Value* value) {
    const DType t = m.source.type(pointer);
    const int stride = static_cast<int>(std::abs(step)), span = stride * (here.lanes - 1) + 1;
    llvm::Value* mask = active(m.g, here);
    if (step < 0) {
        base = m.g.b.CreateSub(base, i64(m.g, span - 1));
        value = m.g.b.CreateVectorReverse(value);
        mask = m.g.b.CreateVectorReverse(mask);
    }
    for (int part = 0; part * here.lanes < span; ++part) {
        llvm::SmallVector<int, 64> lanes;
        llvm::SmallVector<int, 64> on;
        for (int e = 0; e < here.lanes; ++e) {
            const int element = part * here.lanes + e, lane = element / stride;
            const bool used = element % stride == 0 && lane < here.lanes;
            lanes.push_back(used ? lane : -1);
            on.push_back(used ? lane : here.lanes);
        }
        llvm::Value* spread_mask = m.g.b.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), on);
        llvm::Value* at = address(m, pointer, m.g.b.CreateAdd(base, i64(m.g, part * here.lanes)));
        annotate(m, m.g.b.CreateMaskedStore(m.g.b.CreateShuffleVector(value, lanes), at, alignment(t), spread_mask), pointer);
    }
}

llvm::Value* gather(Memory& m, const LaneContext& here, Value pointer, const Lane& index) {
    const DType t = m.source.type(pointer);
    llvm::Type* element_type = memory_element(m.g, t);
    if (hardware_gather(m.g.target, element_type)) {
        llvm::Value *base = array_start(m, pointer), *offsets = index.v;
        if (index.kind != LaneShape::Varying) {  // the scalar part goes to the base: what is left of the vector does not change in a loop
            base = address(m, pointer, index.v);
            offsets = m.g.b.CreateMul(iota(m.g, here.lanes), splat(m.g, index.step, here.lanes));
        }
        llvm::Value* at = m.g.b.CreateGEP(element_type, base, offsets);
        llvm::Type* vector_type = widened(element_type, here.lanes);
        llvm::CallInst* access =
            m.g.b.CreateMaskedGather(vector_type, at, alignment(t), active(m.g, here), llvm::Constant::getNullValue(vector_type));
        annotate(m, access, pointer);
        return access;
    }
    llvm::Value* out = llvm::Constant::getNullValue(widened(element_type, here.lanes));
    for (int l = 0; l < here.lanes; ++l) {
        llvm::Value* at = address(m, pointer, lane_index(m.g, index, l));
        if (here.mask) at = m.g.b.CreateSelect(m.g.b.CreateExtractElement(here.mask, static_cast<std::uint64_t>(l)), at, m.scratch);
        llvm::LoadInst* access = m.g.b.CreateAlignedLoad(element_type, at, alignment(t));
        if (!here.mask) annotate(m, access, pointer);
        out = m.g.b.CreateInsertElement(out, access, static_cast<std::uint64_t>(l));
    }
    return out;
}

void scatter(Memory& m, const LaneContext& here, Value pointer, const Lane& index, llvm::Value* value) {
    const DType t = m.source.type(pointer);
    llvm::Type* element_type = memory_element(m.g, t);
    if (hardware_gather(m.g.target, element_type)) {
        llvm::Value *base = array_start(m, pointer), *offsets = index.v;
        if (index.kind != LaneShape::Varying) {
            base = address(m, pointer, index.v);
            offsets = m.g.b.CreateMul(iota(m.g, here.lanes), splat(m.g, index.step, here.lanes));
        }
        annotate(m, m.g.b.CreateMaskedScatter(value, m.g.b.CreateGEP(element_type, base, offsets), alignment(t), active(m.g, here)),
                 pointer);
        return;
    }
    for (int l = 0; l < here.lanes; ++l) {
        llvm::Value* at = address(m, pointer, lane_index(m.g, index, l));
        if (here.mask) at = m.g.b.CreateSelect(m.g.b.CreateExtractElement(here.mask, static_cast<std::uint64_t>(l)), at, m.scratch);
        llvm::StoreInst* access =
            m.g.b.CreateAlignedStore(m.g.b.CreateExtractElement(value, static_cast<std::uint64_t>(l)), at, alignment(t));
        if (!here.mask) annotate(m, access, pointer);
    }
}

/// All lanes write one address: the last active lane's value stays.
void store_last(Memory& m, const LaneContext& here, Value pointer, llvm::Value* index, llvm::Value* value) {
    const DType t = m.source.type(pointer);
    if (here.lanes == 1 || !here.mask) {
        if (width(value) > 1) value = m.g.b.CreateExtractElement(value, static_cast<std::uint64_t>(here.lanes - 1));
        annotate(m, m.g.b.CreateAlignedStore(to_memory(m.g, value, t), address(m, pointer, index), alignment(t)), pointer);
        return;
    }
    llvm::BasicBlock *write = block(m.g, "store.last"), *done = block(m.g, "store.done");
    branch_if_any(m.g, here.mask, write, done);
    m.g.b.SetInsertPoint(write);
    if (width(value) > 1) {
        llvm::Value* bits = m.g.b.CreateBitCast(here.mask, m.g.b.getIntNTy(static_cast<unsigned>(here.lanes)));
        llvm::Value* lane =
            m.g.b.CreateSub(integer(bits, here.lanes - 1), m.g.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, m.g.b.getTrue()));
        // An i1 element at a variable position goes through memory in LLVM; as a byte it is a plain access.
        value = m.g.b.CreateExtractElement(to_memory(m.g, value, t), m.g.b.CreateZExt(lane, m.g.b.getInt64Ty()));
    } else {
        value = to_memory(m.g, value, t);
    }
    annotate(m, m.g.b.CreateAlignedStore(value, address(m, pointer, index), alignment(t)), pointer);
    m.g.b.CreateBr(done);
    m.g.b.SetInsertPoint(done);
}

/// Stores a vector past the caches if its address is aligned.
void stream(Memory& m, const LaneContext& here, llvm::Value* value, llvm::Value* at, Value pointer, bool always,
            llvm::function_ref<void()> otherwise) {
    const std::int64_t bytes = here.lanes * itemsize(m.source.type(pointer));
    llvm::BasicBlock* done = nullptr;
    if (!always) {
        llvm::BasicBlock *past = block(m.g, "stream"), *through = block(m.g, "stream.not");
        done = block(m.g, "streamed");
        llvm::Value* aligned = m.g.b.CreateICmpEQ(misalignment(m.g, at, bytes), i64(m.g, 0));
        m.g.b.CreateCondBr(aligned, past, through);
        m.g.b.SetInsertPoint(through);
        otherwise();
        m.g.b.CreateBr(done);
        m.g.b.SetInsertPoint(past);
    }
    llvm::StoreInst* access =
        m.g.b.CreateAlignedStore(value, at, llvm::Align(static_cast<std::uint64_t>(std::min<std::int64_t>(bytes, 64))));
    access->setMetadata(llvm::LLVMContext::MD_nontemporal,
                        llvm::MDNode::get(m.g.b.getContext(), llvm::ConstantAsMetadata::get(m.g.b.getInt32(1))));
    annotate(m, access, pointer);
    if (!done) return;
    m.g.b.CreateBr(done);
    m.g.b.SetInsertPoint(done);
}

}  // namespace

void load(Memory& m, const LaneContext& here, ir::InstrId id, const Instr& in) {
    const Value pointer = in.operands[0];
    const DType t = m.source.type(pointer);
    const auto [index, step] = element_of(m, here, in);
    if (here.lanes == 1 || index.kind == LaneShape::Uniform) {
        llvm::LoadInst* access = m.g.b.CreateAlignedLoad(memory_element(m.g, t), address(m, pointer, index.v), alignment(t));
        annotate(m, access, pointer);
        return m.values.define(here, in.results[0], from_memory(m.g, access, t));
    }
    llvm::Value* value = row_elements(m, here, id, pointer, index);
    if (value)
        ;
    else if (std::abs(step) > 1 && load_record(m, here, id))
        value = std::exchange(m.fields[id], nullptr);
    else if (step == 1 || step == -1)
        value = load_vector(m, here, pointer, index.v, static_cast<int>(step),
                            elements_ahead(m, here, pointer, in.operands[1], static_cast<int>(step)));
    else if (step != 0 && std::abs(step) <= 4 && !here.mask)
        value = load_strided(m, here, pointer, index.v, step);
    else
        value = gather(m, here, pointer, index);
    m.values.define(here, in.results[0], from_memory(m.g, value, t));
}

void store(Memory& m, const LaneContext& here, ir::InstrId id, const Instr& in) {
    const Value pointer = in.operands[0];
    const DType t = m.source.type(pointer);
    const auto [index, step] = element_of(m, here, in);
    const Lane& stored = m.values[in.operands[2]];
    if (here.lanes == 1 || index.kind == LaneShape::Uniform)
        return store_last(m, here, pointer, index.v, stored.kind == LaneShape::Uniform ? stored.v : m.values.vector_of(here, stored));
    llvm::Value* value = to_memory(m.g, m.values.vector_of(here, stored), t);
    if (step == 1 || step == -1) {
        llvm::Value* at = address(m, pointer, step < 0 ? m.g.b.CreateSub(index.v, i64(m.g, here.lanes - 1)) : index.v);
        if (step < 0) value = m.g.b.CreateVectorReverse(value);
        llvm::Value* stored_lanes = here.mask && step < 0 ? m.g.b.CreateVectorReverse(here.mask) : here.mask;
        auto through_caches = [&] {
            llvm::Instruction* access = nullptr;
            if (stored_lanes)
                access = m.g.b.CreateMaskedStore(value, at, alignment(t), stored_lanes);
            else
                access = m.g.b.CreateAlignedStore(value, at, alignment(t));
            annotate(m, access, pointer);
        };
        if (std::find(here.streaming.begin(), here.streaming.end(), id) == here.streaming.end()) return through_caches();
        return stream(m, here, value, at, pointer, id == here.streaming[0], through_caches);
    }
    if (std::abs(step) > 1 && store_record(m, here, id, value)) return;
    // Masked stores in pieces pay only where the machine has them.
    if (step != 0 && std::abs(step) <= 4 && m.g.target.vector_bytes == 64) return store_strided(m, here, pointer, index.v, step, value);
    scatter(m, here, pointer, index, value);
}

}  // namespace pardo::emit
