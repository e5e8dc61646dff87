// src/emit/llvm/memory.cpp: loads and stores: vector accesses where lanes are neighbours, shuffles for small steps, else gather and
// scatter.
#include "emit/llvm/emitter.h"
#include "emit/llvm/math/cast.h"

#include <llvm/IR/MDBuilder.h>
#include <pardo/error.h>

#include <algorithm>

#include "base/shape.h"
#include "emit/runtime/own_memory.h"

namespace pardo::emit {

using ir::Instr;
using ir::Value;

namespace {

/// Whether an index is a sum in which a loop's counter occurs once.
bool counts_with(const ir::Kernel& kernel, Value index, Value counter) {
    if (index == counter) return true;
    const ir::ValueInfo& info = kernel.values[index];
    if (info.region != ir::RegionId(~0u) || info.def >= kernel.instrs.size()) return false;
    const Instr& in = kernel.instrs[info.def];
    return in.op == ir::Opcode::Add && counts_with(kernel, in.operands[0], counter) != counts_with(kernel, in.operands[1], counter);
}

}  // namespace

void Emitter::make_alias_scopes() {
    llvm::MDBuilder md(g_.b.getContext());
    llvm::MDNode* domain = md.createAnonymousAliasScopeDomain("pardo");
    const std::size_t params = kernel_.params.size();
    std::vector<llvm::MDNode*> scopes(params + kernel_.arrays.size());
    for (std::size_t p = 0; p < scopes.size(); ++p)
        if (p >= params || (kernel_.params[p].pointer && kernel_.params[p].noalias)) scopes[p] = md.createAnonymousAliasScope(domain);
    scope_lists_.resize(scopes.size());
    noalias_lists_.resize(scopes.size());
    for (std::size_t p = 0; p < scopes.size(); ++p) {
        if (scopes[p]) scope_lists_[p] = llvm::MDNode::get(g_.b.getContext(), {scopes[p]});
        llvm::SmallVector<llvm::Metadata*, 8> others;
        for (std::size_t q = 0; q < scopes.size(); ++q)
            if (q != p && scopes[q]) others.push_back(scopes[q]);
        if (!others.empty()) noalias_lists_[p] = llvm::MDNode::get(g_.b.getContext(), others);
    }
}

void Emitter::annotate(llvm::Instruction* access, Value pointer) {
    const std::size_t p = memory_of(pointer);
    if (scope_lists_[p]) access->setMetadata(llvm::LLVMContext::MD_alias_scope, scope_lists_[p]);
    if (noalias_lists_[p]) access->setMetadata(llvm::LLVMContext::MD_noalias, noalias_lists_[p]);
}

llvm::Align Emitter::alignment(DType t) const { return llvm::Align(static_cast<std::uint64_t>(itemsize(t))); }

llvm::Value* Emitter::address(Value pointer, llvm::Value* index) {
    return g_.b.CreateGEP(memory_element(g_, type(pointer)), memory(pointer), index);
}

/// Where an array begins: one without a fixed size where its last Resize says.
llvm::Value* Emitter::memory(Value pointer) {
    llvm::Value* at = scalar(pointer);
    return is_sized(pointer) ? g_.b.CreateLoad(g_.b.getPtrTy(), at) : at;
}

llvm::Value* Emitter::reverse(llvm::Value* v) { return g_.b.CreateVectorReverse(v); }

bool Emitter::hardware_gather(llvm::Type* t) const {
    const unsigned bits = t->getScalarSizeInBits();
    return g_.target.vector_bytes == 64 && (bits == 32 || bits == 64);
}

llvm::Value* Emitter::lane_index(const Lane& index, int lane) {
    if (index.kind == LaneShape::Varying) return g_.b.CreateExtractElement(index.v, static_cast<std::uint64_t>(lane));
    return g_.b.CreateAdd(index.v, g_.b.CreateMul(index.step, i64(g_, lane)));
}

/// How many elements in front of a load the processor should be told to look; null where it sees by itself. Where formulas keep it from
/// running ahead, a kilobyte; where a group's iterations step over what other groups take, two kilobytes of its own: a histogram of 10^7
/// bytes took 5.3 ms without, 3.4 with the next iteration, 2.2 to 3 with those 1 to 4 KiB on.
llvm::Value* Emitter::elements_ahead(Value pointer, Value index, int step) {
    constexpr std::int64_t of_formulas = 1024, of_iterations = 2048, foreseen = 2048;
    if (divergent_ || !is_param(pointer)) return nullptr;
    const std::int64_t bytes = itemsize(type(pointer));
    if (prefetch_) return i64(g_, (step < 0 ? -of_formulas : of_formulas) / bytes);
    if (!iterations_.step || mask_ || !counts_with(kernel_, index, iterations_.counter)) return nullptr;
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(iterations_.step);
    if (known && std::abs(known->getSExtValue()) < foreseen / bytes) return nullptr;
    const std::int64_t iteration = bytes * element_count(kernel_.group_size);
    return g_.b.CreateMul(iterations_.step, i64(g_, std::max<std::int64_t>(1, of_iterations / iteration)));
}

/// Tells the processor what will be read.
void Emitter::prefetch(llvm::Value* address) {
    g_.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()}, {address, g_.b.getInt32(0), g_.b.getInt32(3), g_.b.getInt32(1)});
}

/// Neighbours in ascending (step 1) or descending (step -1) order; `index` is lane 0's. Asks for what lies `ahead` elements in front.
llvm::Value* Emitter::load_vector(Value pointer, llvm::Value* index, int step, llvm::Value* ahead) {
    const DType t = type(pointer);
    llvm::Type* vector_type = widened(memory_element(g_, t), lanes_);
    if (step < 0) index = g_.b.CreateSub(index, i64(g_, lanes_ - 1));
    llvm::Value* at = address(pointer, index);
    llvm::Instruction* access = nullptr;
    if (ahead) prefetch(g_.b.CreateGEP(memory_element(g_, t), at, ahead));
    if (!mask_)
        access = g_.b.CreateAlignedLoad(vector_type, at, alignment(t));
    else
        access = g_.b.CreateMaskedLoad(vector_type, at, alignment(t), step < 0 ? reverse(mask_) : mask_,
                                       llvm::Constant::getNullValue(vector_type));
    annotate(access, pointer);
    return step < 0 ? reverse(access) : access;
}

/// Lane l's element is base + l * step, step 2 to 4 (of either sign): a few whole vectors, then one shuffle each.
llvm::Value* Emitter::load_strided(Value pointer, llvm::Value* base, std::int64_t step) {
    const DType t = type(pointer);
    const int stride = static_cast<int>(std::abs(step)), span = stride * (lanes_ - 1) + 1;
    llvm::Type* vector_type = widened(memory_element(g_, t), lanes_);
    if (step < 0) base = g_.b.CreateSub(base, i64(g_, span - 1));
    llvm::Value* joined = nullptr;
    for (int part = 0; part < stride; ++part) {
        llvm::Value* at = address(pointer, g_.b.CreateAdd(base, i64(g_, part * lanes_)));
        const int inside = std::min(lanes_, span - part * lanes_);
        if (inside <= 0) break;
        llvm::Instruction* access = nullptr;
        if (inside == lanes_) {
            access = g_.b.CreateAlignedLoad(vector_type, at, alignment(t));
        } else {  // the last vector must not read past the last element
            llvm::SmallVector<llvm::Constant*, 64> on;
            for (int l = 0; l < lanes_; ++l) on.push_back(g_.b.getInt1(l < inside));
            access = g_.b.CreateMaskedLoad(vector_type, at, alignment(t), llvm::ConstantVector::get(on),
                                           llvm::Constant::getNullValue(vector_type));
        }
        annotate(access, pointer);
        // Lanes whose element lies in this vector; one shuffle of two sources adds them to those found so far.
        llvm::SmallVector<int, 64> lanes;
        for (int l = 0; l < lanes_; ++l) {
            const int element = l * stride - part * lanes_;
            lanes.push_back(element >= 0 && element < lanes_ ? lanes_ + element : element < 0 && part > 0 ? l : -1);
        }
        if (part == 0) {
            for (int& l : lanes) l = l >= lanes_ ? l - lanes_ : l;
            joined = g_.b.CreateShuffleVector(access, lanes);
        } else {
            joined = g_.b.CreateShuffleVector(joined, access, lanes);
        }
    }
    return step < 0 ? reverse(joined) : joined;
}

/// The counterpart: whole vectors under constant masks that touch only the lanes' own elements.
void Emitter::store_strided(Value pointer, llvm::Value* base, std::int64_t step, llvm::Value* value) {
    const DType t = type(pointer);
    const int stride = static_cast<int>(std::abs(step)), span = stride * (lanes_ - 1) + 1;
    llvm::Value* mask = active();
    if (step < 0) {
        base = g_.b.CreateSub(base, i64(g_, span - 1));
        value = reverse(value);
        mask = reverse(mask);
    }
    for (int part = 0; part * lanes_ < span; ++part) {
        llvm::SmallVector<int, 64> lanes;
        llvm::SmallVector<int, 64> on;
        for (int e = 0; e < lanes_; ++e) {
            const int element = part * lanes_ + e, lane = element / stride;
            const bool used = element % stride == 0 && lane < lanes_;
            lanes.push_back(used ? lane : -1);
            on.push_back(used ? lane : lanes_);
        }
        llvm::Value* spread_mask = g_.b.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), on);
        llvm::Value* at = address(pointer, g_.b.CreateAdd(base, i64(g_, part * lanes_)));
        annotate(g_.b.CreateMaskedStore(g_.b.CreateShuffleVector(value, lanes), at, alignment(t), spread_mask), pointer);
    }
}

llvm::Value* Emitter::gather(Value pointer, const Lane& index) {
    const DType t = type(pointer);
    llvm::Type* element_type = memory_element(g_, t);
    if (hardware_gather(element_type)) {
        llvm::Value *base = memory(pointer), *offsets = index.v;
        if (index.kind != LaneShape::Varying) {  // the scalar part goes to the base: what is left of the vector does not change in a loop
            base = address(pointer, index.v);
            offsets = g_.b.CreateMul(iota(g_, lanes_), splat(g_, index.step, lanes_));
        }
        llvm::Value* at = g_.b.CreateGEP(element_type, base, offsets);
        llvm::Type* vector_type = widened(element_type, lanes_);
        llvm::CallInst* access =
            g_.b.CreateMaskedGather(vector_type, at, alignment(t), active(), llvm::Constant::getNullValue(vector_type));
        annotate(access, pointer);
        return access;
    }
    llvm::Value* out = llvm::Constant::getNullValue(widened(element_type, lanes_));
    for (int l = 0; l < lanes_; ++l) {
        llvm::Value* at = address(pointer, lane_index(index, l));
        if (mask_) at = g_.b.CreateSelect(g_.b.CreateExtractElement(mask_, static_cast<std::uint64_t>(l)), at, scratch_);
        llvm::LoadInst* access = g_.b.CreateAlignedLoad(element_type, at, alignment(t));
        if (!mask_) annotate(access, pointer);
        out = g_.b.CreateInsertElement(out, access, static_cast<std::uint64_t>(l));
    }
    return out;
}

void Emitter::scatter(Value pointer, const Lane& index, llvm::Value* value) {
    const DType t = type(pointer);
    llvm::Type* element_type = memory_element(g_, t);
    if (hardware_gather(element_type)) {
        llvm::Value *base = memory(pointer), *offsets = index.v;
        if (index.kind != LaneShape::Varying) {
            base = address(pointer, index.v);
            offsets = g_.b.CreateMul(iota(g_, lanes_), splat(g_, index.step, lanes_));
        }
        annotate(g_.b.CreateMaskedScatter(value, g_.b.CreateGEP(element_type, base, offsets), alignment(t), active()), pointer);
        return;
    }
    for (int l = 0; l < lanes_; ++l) {
        llvm::Value* at = address(pointer, lane_index(index, l));
        if (mask_) at = g_.b.CreateSelect(g_.b.CreateExtractElement(mask_, static_cast<std::uint64_t>(l)), at, scratch_);
        llvm::StoreInst* access =
            g_.b.CreateAlignedStore(g_.b.CreateExtractElement(value, static_cast<std::uint64_t>(l)), at, alignment(t));
        if (!mask_) annotate(access, pointer);
    }
}

/// All lanes write one address: the last active lane's value stays.
void Emitter::store_last(Value pointer, llvm::Value* index, llvm::Value* value) {
    const DType t = type(pointer);
    if (lanes_ == 1 || !mask_) {
        if (width(value) > 1) value = g_.b.CreateExtractElement(value, static_cast<std::uint64_t>(lanes_ - 1));
        annotate(g_.b.CreateAlignedStore(to_memory(g_, value, t), address(pointer, index), alignment(t)), pointer);
        return;
    }
    llvm::BasicBlock *write = block(g_, "store.last"), *done = block(g_, "store.done");
    branch_if_any(g_, mask_, write, done);
    g_.b.SetInsertPoint(write);
    if (width(value) > 1) {
        llvm::Value* bits = g_.b.CreateBitCast(mask_, g_.b.getIntNTy(static_cast<unsigned>(lanes_)));
        llvm::Value* lane =
            g_.b.CreateSub(integer(bits, lanes_ - 1), g_.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, g_.b.getTrue()));
        // An i1 element at a variable position goes through memory in LLVM; as a byte it is a plain access.
        value = g_.b.CreateExtractElement(to_memory(g_, value, t), g_.b.CreateZExt(lane, g_.b.getInt64Ty()));
    } else {
        value = to_memory(g_, value, t);
    }
    annotate(g_.b.CreateAlignedStore(value, address(pointer, index), alignment(t)), pointer);
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
}

Emitter::Element Emitter::element_of(const Instr& in) {
    Lane index = values_[in.operands[1]];
    const bool affine = lanes_ > 1 && index.kind == LaneShape::Affine;
    const bool of_lane = is_of_lane(kernel_, info_, in.operands[0]), of_item = kernel_.in_groups() && is_private(kernel_, in.operands[0]);
    if (!of_lane && !of_item) return {index, affine ? info_.shapes[in.operands[1]].step : 0};
    // Element e of item i lies at e * items + i: neighbours are adjacent.
    llvm::Value* items = i64(g_, kernel_.in_groups() ? group_items(kernel_) : lanes_);
    llvm::Value* first = item_ ? item_ : i64(g_, 0);
    const bool side_by_side = of_lane && lanes_ > 1;
    if (index.kind == LaneShape::Varying && lanes_ > 1) {
        llvm::Value* own = splat(g_, first, lanes_);
        if (side_by_side) own = g_.b.CreateAdd(own, iota(g_, lanes_));
        index.v = g_.b.CreateAdd(g_.b.CreateMul(index.v, splat(g_, items, lanes_)), own);
        return {index, 0};
    }
    Lane at{index.kind, g_.b.CreateAdd(g_.b.CreateMul(index.v, items), first), nullptr};
    if (lanes_ == 1 || (index.kind == LaneShape::Uniform && !side_by_side)) return {at, 0};
    const bool neighbours = index.kind == LaneShape::Uniform;
    at.kind = neighbours ? LaneShape::Affine : LaneShape::Strided;
    at.step = neighbours ? i64(g_, 1) : g_.b.CreateAdd(g_.b.CreateMul(index.step, items), i64(g_, side_by_side ? 1 : 0));
    return {at, neighbours ? 1 : 0};
}

/// Memory of the function's own, for as long as it runs.
llvm::AllocaInst* Emitter::allocate(llvm::Type* type, std::int64_t count, std::int64_t bytes, const char* name) {
    stack_bytes_ += count * bytes;
    llvm::IRBuilder<>::InsertPointGuard guard(g_.b);
    llvm::BasicBlock& entry = g_.function()->getEntryBlock();
    g_.b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    llvm::AllocaInst* memory = g_.b.CreateAlloca(llvm::ArrayType::get(type, static_cast<std::uint64_t>(count)), nullptr, name);
    memory->setAlignment(llvm::Align(64));
    return memory;
}

/// So many are refused in any case, and can be counted.
constexpr std::int64_t most_elements = std::int64_t(1) << 40;

/// Bytes of the arrays that one lane has to itself.
std::int64_t Emitter::lane_bytes() const {
    std::int64_t bytes = 0;
    for (std::size_t k = 0; k < kernel_.arrays.size(); ++k)
        if (info_.lane_arrays[k]) bytes += std::min(kernel_.arrays[k].count, most_elements) * itemsize(kernel_.arrays[k].type);
    return bytes;
}

/// As many lanes as any of the kernel's lane loops has.
int Emitter::most_lanes() const {
    if (info_.item_lanes) return lane_plan(kernel_.body, 0).lanes;
    int most = 1;
    for (std::size_t id = 0; id < kernel_.instrs.size(); ++id)
        if (info_.vector_loop[id]) most = std::max(most, lane_plan(kernel_.regions[kernel_.instrs[id].regions[0]], 0).lanes);
    return most;
}

void Emitter::make_arrays() {
    if (kernel_.arrays.empty()) return;
    for (std::size_t k = 0; k < kernel_.arrays.size(); ++k) arrays_.push_back(make_array(k));
}

/// Memory of the function that is being made.
llvm::Value* Emitter::make_array(std::size_t k) {
    const ir::ArrayInfo& a = kernel_.arrays[k];
    if (a.count == 0) {
        llvm::Value* at = allocate(g_.b.getPtrTy(), 1, itemsize(DType::Int64), a.name.c_str());
        g_.b.CreateStore(llvm::ConstantPointerNull::get(g_.b.getPtrTy()), at);
        return at;
    }
    const bool of_item = kernel_.in_groups() && a.space == ir::Space::Private;
    const std::int64_t copies = of_item ? group_items(kernel_) : info_.lane_arrays[k] ? most_lanes() : 1;
    return allocate(memory_element(g_, a.type), std::min(a.count, most_elements) * copies, itemsize(a.type), a.name.c_str());
}

/// The thread keeps memory for each array without a fixed size, and makes it larger where that is not enough.
void Emitter::resize(const Instr& in) {
    const Value pointer = in.operands[0];
    llvm::Type* address = g_.b.getPtrTy();
    llvm::Value* at =
        g_.b.CreateCall(own_memory_function(), {i64(g_, param_of(pointer)), scalar(in.operands[1]), i64(g_, itemsize(type(pointer)))});
    llvm::Value* made = g_.b.CreateIsNotNull(at);
    g_.b.CreateStore(g_.b.CreateSelect(made, at, g_.b.CreateLoad(address, scalar(pointer))), scalar(pointer));
    define(in.results[0], made);
}

/// The thread has no memory for the array any longer.
void Emitter::take_memory(const Instr& in) {
    const Value pointer = in.operands[0];
    llvm::Value* at = g_.b.CreateCall(own_memory_function(), {i64(g_, param_of(pointer)), i64(g_, handed_over), i64(g_, 1)});
    g_.b.CreateStore(llvm::ConstantPointerNull::get(g_.b.getPtrTy()), scalar(pointer));
    define(in.results[0], g_.b.CreatePtrToInt(at, g_.b.getInt64Ty()));
}

llvm::FunctionCallee Emitter::own_memory_function() {
    llvm::Type* word = g_.b.getInt64Ty();
    llvm::FunctionCallee f =
        g_.module->getOrInsertFunction(own_memory_symbol, llvm::FunctionType::get(g_.b.getPtrTy(), {word, word, word}, false));
    llvm::cast<llvm::Function>(f.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
    return f;
}

/// Gives large pieces of it back.
void Emitter::release() {
    if (std::ranges::none_of(kernel_.arrays, [](const ir::ArrayInfo& a) { return a.count == 0; })) return;
    g_.b.CreateCall(g_.module->getFunction(own_memory_symbol), {i64(g_, -1), i64(g_, 0), i64(g_, 1)});
}

/// Throws if the memory of one group, or of the items that run at the same time, does not fit.
void Emitter::check_stack() const {
    if (stack_bytes_ <= stack_limit) return;
    throw Error(ErrorCode::Compile, kernel_.name + ": the arrays of one group and what its items keep from one barrier to the next take " +
                                        std::to_string(stack_bytes_) + " bytes, more than the " + std::to_string(stack_limit) +
                                        " that a thread of the CPU has for them; use smaller groups or arrays");
}

void Emitter::load(ir::InstrId id, const Instr& in) {
    const Value pointer = in.operands[0];
    const DType t = type(pointer);
    const auto [index, step] = element_of(in);
    if (lanes_ == 1 || index.kind == LaneShape::Uniform) {
        llvm::LoadInst* access = g_.b.CreateAlignedLoad(memory_element(g_, t), address(pointer, index.v), alignment(t));
        annotate(access, pointer);
        return define(in.results[0], from_memory(g_, access, t));
    }
    llvm::Value* value = row_elements(id, pointer, index);
    if (value)
        ;
    else if (std::abs(step) > 1 && load_group(id))
        value = std::exchange(grouped_[id], nullptr);
    else if (step == 1 || step == -1)
        value = load_vector(pointer, index.v, static_cast<int>(step), elements_ahead(pointer, in.operands[1], static_cast<int>(step)));
    else if (step != 0 && std::abs(step) <= 4 && !mask_)
        value = load_strided(pointer, index.v, step);
    else
        value = gather(pointer, index);
    define(in.results[0], from_memory(g_, value, t));
}

/// Stores a vector past the caches if its address is aligned.
void Emitter::stream(llvm::Value* value, llvm::Value* at, Value pointer, bool always, llvm::function_ref<void()> otherwise) {
    const std::int64_t bytes = lanes_ * itemsize(type(pointer));
    llvm::BasicBlock* done = nullptr;
    if (!always) {
        llvm::BasicBlock *past = block(g_, "stream"), *through = block(g_, "stream.not");
        done = block(g_, "streamed");
        llvm::Value* aligned = g_.b.CreateICmpEQ(misalignment(at, bytes), i64(g_, 0));
        g_.b.CreateCondBr(aligned, past, through);
        g_.b.SetInsertPoint(through);
        otherwise();
        g_.b.CreateBr(done);
        g_.b.SetInsertPoint(past);
    }
    llvm::StoreInst* access =
        g_.b.CreateAlignedStore(value, at, llvm::Align(static_cast<std::uint64_t>(std::min<std::int64_t>(bytes, 64))));
    access->setMetadata(llvm::LLVMContext::MD_nontemporal,
                        llvm::MDNode::get(g_.b.getContext(), llvm::ConstantAsMetadata::get(g_.b.getInt32(1))));
    annotate(access, pointer);
    if (!done) return;
    g_.b.CreateBr(done);
    g_.b.SetInsertPoint(done);
}

void Emitter::store(ir::InstrId id, const Instr& in) {
    const Value pointer = in.operands[0];
    const DType t = type(pointer);
    const auto [index, step] = element_of(in);
    const Lane& stored = values_[in.operands[2]];
    if (lanes_ == 1 || index.kind == LaneShape::Uniform)
        return store_last(pointer, index.v, stored.kind == LaneShape::Uniform ? stored.v : vector_of(stored));
    llvm::Value* value = to_memory(g_, vector_of(stored), t);
    if (step == 1 || step == -1) {
        llvm::Value* at = address(pointer, step < 0 ? g_.b.CreateSub(index.v, i64(g_, lanes_ - 1)) : index.v);
        if (step < 0) value = reverse(value);
        llvm::Value* stored_lanes = mask_ && step < 0 ? reverse(mask_) : mask_;
        auto through_caches = [&] {
            llvm::Instruction* access = nullptr;
            if (stored_lanes)
                access = g_.b.CreateMaskedStore(value, at, alignment(t), stored_lanes);
            else
                access = g_.b.CreateAlignedStore(value, at, alignment(t));
            annotate(access, pointer);
        };
        if (std::find(streaming_.begin(), streaming_.end(), id) == streaming_.end()) return through_caches();
        return stream(value, at, pointer, id == streaming_[0], through_caches);
    }
    if (std::abs(step) > 1 && store_group(id, value)) return;
    // Masked stores in pieces pay only where the machine has them.
    if (step != 0 && std::abs(step) <= 4 && g_.target.vector_bytes == 64) return store_strided(pointer, index.v, step, value);
    scatter(pointer, index, value);
}

}  // namespace pardo::emit
