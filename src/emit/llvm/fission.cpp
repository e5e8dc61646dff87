// src/emit/llvm/fission.cpp: kernels in groups: the loops over groups, and for each step of a group a loop over its items.
#include <algorithm>

#include "emit/llvm/emitter.h"
#include "emit/llvm/math/cast.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;
using ir::Value;

/// The loops over the groups of the box, outermost first.
void Emitter::emit_groups(int dimension) {
    if (dimension == 0) {
        groups_.resize(dims_.size());
        bases_.resize(dims_.size());
        local_.resize(dims_.size());
        slots_.resize(kernel_.values.size());
    }
    if (dimension == kernel_.rank) {
        reset_item();
        return emit_steps(kernel_.body, kernel_.regions.size());
    }
    const auto d = static_cast<std::size_t>(dimension);
    llvm::Value* size = i64(g_, kernel_.group_size[dimension]);
    LlvmValues none;
    serial_loop(g_.b.CreateUDiv(begin_[d], size), g_.b.CreateUDiv(end_[d], size), i64(g_, 1), none,
                [&](llvm::Value* index, int, LlvmValues&) {
                    groups_[d] = index;
                    bases_[d] = g_.b.CreateMul(index, size);
                    emit_groups(dimension + 1);
                });
}

/// Outside of loops over items: what only dimensions with one item ask for.
void Emitter::reset_item() {
    for (std::size_t d = 0; d < dims_.size(); ++d) {
        local_[d] = i64(g_, 0);
        dims_[d] = bases_[d];
    }
    item_ = nullptr;
}

void Emitter::emit_steps(const Region& r, std::size_t list) {
    for (const Step& step : fission_.steps[list]) {
        switch (step.kind) {
            case Step::Once: at_positions(r, step); break;
            case Step::Items: emit_items(r, step); break;
            case Step::Control: emit_control(kernel_.instrs[r.body[step.at[0]]]); break;
        }
    }
}

/// `taken`: a branch whose first region runs without a question.
void Emitter::at_positions(const Region& r, const Step& step, InstrId taken) {
    const Region* outer_region = std::exchange(region_, &r);
    const std::size_t outer_position = position_;
    for (std::uint32_t at : step.at) {
        position_ = at;
        const InstrId id = r.body[at];
        id == taken ? region(kernel_.regions[kernel_.instrs[id].regions[0]]) : instruction(id);
    }
    region_ = outer_region;
    position_ = outer_position;
}

// ---- control flow of the group: values that are the same for all items are carried here, the others stay in their slots

void Emitter::emit_control(const Instr& in) {
    if (in.op == Opcode::If) return emit_group_if(in);
    if (in.op == Opcode::For) return emit_group_for(in);
    emit_group_while(in);
}

void Emitter::emit_group_if(const Instr& in) {
    llvm::BasicBlock *blocks[] = {block(g_, "group.then"), block(g_, "group.else")}, *done = block(g_, "group.endif");
    g_.b.CreateCondBr(scalar(in.operands[0]), blocks[0], blocks[1]);
    LlvmValues values[2];
    llvm::BasicBlock* ends[2];
    for (int side = 0; side < 2; ++side) {
        const Region& r = kernel_.regions[in.regions[side]];
        g_.b.SetInsertPoint(blocks[side]);
        emit_steps(r, in.regions[side]);
        for (int k = 0; k < in.results.size(); ++k)
            values[side].push_back(fission_.uniform[in.results[k]] ? scalar(yield(r).operands[k]) : nullptr);
        ends[side] = g_.b.GetInsertBlock();
        g_.b.CreateBr(done);
    }
    g_.b.SetInsertPoint(done);
    for (int k = 0; k < in.results.size(); ++k) {
        if (!values[0][static_cast<std::size_t>(k)]) continue;
        llvm::PHINode* phi = g_.b.CreatePHI(values[0][static_cast<std::size_t>(k)]->getType(), 2);
        for (int side = 0; side < 2; ++side) phi->addIncoming(values[side][static_cast<std::size_t>(k)], ends[side]);
        define(in.results[k], phi);
    }
}

void Emitter::emit_group_for(const Instr& in) {
    const Region& r = kernel_.regions[in.regions[0]];
    std::vector<int> carried;
    LlvmValues state;
    for (int k = 0; k < in.results.size(); ++k) {
        if (!fission_.uniform[in.results[k]]) continue;
        carried.push_back(k);
        state.push_back(scalar(in.operands[3 + k]));
    }
    llvm::Value* step = scalar(in.operands[2]);
    const Iterations outer = std::exchange(iterations_, {r.args[0], step});
    serial_loop(scalar(in.operands[0]), scalar(in.operands[1]), step, state, [&](llvm::Value* index, int, LlvmValues& values) {
        define(r.args[0], index);
        for (std::size_t c = 0; c < carried.size(); ++c) define(r.args[1 + carried[c]], values[c]);
        emit_steps(r, in.regions[0]);
        for (std::size_t c = 0; c < carried.size(); ++c) values[c] = scalar(yield(r).operands[carried[c]]);
    });
    iterations_ = outer;
    for (std::size_t c = 0; c < carried.size(); ++c) define(in.results[carried[c]], state[c]);
}

void Emitter::emit_group_while(const Instr& in) {
    const Region &condition = kernel_.regions[in.regions[0]], &r = kernel_.regions[in.regions[1]];
    llvm::BasicBlock *before = g_.b.GetInsertBlock(), *head = block(g_, "group.while"), *body = block(g_, "group.body"),
                     *done = block(g_, "group.done");
    g_.b.CreateBr(head);
    g_.b.SetInsertPoint(head);
    std::vector<int> carried;
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (int k = 0; k < in.results.size(); ++k) {
        if (!fission_.uniform[in.results[k]]) continue;
        carried.push_back(k);
        phis.push_back(g_.b.CreatePHI(scalar(in.operands[k])->getType(), 2));
        phis.back()->addIncoming(scalar(in.operands[k]), before);
        define(condition.args[k], phis.back());
        define(r.args[k], phis.back());
    }
    emit_steps(condition, in.regions[0]);
    g_.b.CreateCondBr(scalar(yield(condition).operands[0]), body, done);
    g_.b.SetInsertPoint(body);
    emit_steps(r, in.regions[1]);
    for (std::size_t c = 0; c < carried.size(); ++c) phis[c]->addIncoming(scalar(yield(r).operands[carried[c]]), g_.b.GetInsertBlock());
    finish_loop(g_.b.CreateBr(head), Unroll::Never);
    g_.b.SetInsertPoint(done);
    for (std::size_t c = 0; c < carried.size(); ++c) define(in.results[carried[c]], phis[c]);
}

// ---- loops over the items of the group

int Emitter::item_lane_count(const Region& r, const Step& step) const {
    if (!info_.item_lanes) return 1;
    Region own;
    for (std::uint32_t at : step.at) own.body.push_back(r.body[at]);
    int lanes = lane_count(kernel_, info_, own, g_.target.vector_bytes);
    for (const Step::Copy& copy : step.copies) lanes = std::min(lanes, g_.target.vector_bytes / std::max(itemsize(type(copy.to)), 2));
    const std::int64_t items = kernel_.group_size[kernel_.rank - 1];
    while (lanes > 2 && lanes / 2 >= items) lanes /= 2;
    return std::max(lanes, 2);
}

void Emitter::emit_items(const Region& r, const Step& step) {
    item_ = i64(g_, 0);
    const int lanes = item_lane_count(r, step);
    const Guard guard = find_guard(r, step);
    auto body = [&] { items_body(r, step, guard.branch); };
    item_rows(0, [&] { guard.branch != ~0u ? guarded_lanes(guard, lanes, body) : item_lanes(lanes, body); });
    reset_item();
    for (Value v : step.shared) define(v, g_.b.CreateLoad(element(g_, type(v)), shared_slot(v)));
}

/// The loops over all dimensions of the group but the last.
void Emitter::item_rows(int dimension, ItemBody row) {
    if (dimension == kernel_.rank - 1) return row();
    const auto d = static_cast<std::size_t>(dimension);
    llvm::Value* rows_before = item_;
    LlvmValues none;
    auto at = [&](llvm::Value* index) {
        local_[d] = index;
        dims_[d] = g_.b.CreateAdd(bases_[d], index);
        item_ = g_.b.CreateAdd(g_.b.CreateMul(rows_before, i64(g_, kernel_.group_size[dimension])), index);
        item_rows(dimension + 1, row);
    };
    if (kernel_.group_size[dimension] == 1) return at(i64(g_, 0));
    serial_loop(i64(g_, 0), i64(g_, kernel_.group_size[dimension]), i64(g_, 1), none,
                [&](llvm::Value* index, int, LlvmValues&) { at(index); });
}

/// Vectors of items, then what is left under a mask.
void Emitter::item_lanes(int lanes, ItemBody body) {
    const int last = kernel_.rank - 1;
    const std::int64_t items = kernel_.group_size[last], whole = items / lanes * lanes;
    llvm::Value* row = g_.b.CreateMul(item_, i64(g_, items));
    auto at = [&](llvm::Value* index) {
        local_[static_cast<std::size_t>(last)] = index;
        dims_[static_cast<std::size_t>(last)] = g_.b.CreateAdd(bases_[static_cast<std::size_t>(last)], index);
        item_ = g_.b.CreateAdd(row, index);
        body();
    };
    lanes_ = lanes;
    LlvmValues none;
    if (whole == lanes) at(i64(g_, 0));
    if (whole > lanes)
        serial_loop(i64(g_, 0), i64(g_, whole), i64(g_, lanes), none, [&](llvm::Value* index, int, LlvmValues&) { at(index); });
    if (whole < items) {
        llvm::SmallVector<llvm::Constant*, 64> on;
        for (int l = 0; l < lanes; ++l) on.push_back(g_.b.getInt1(whole + l < items));
        mask_ = llvm::ConstantVector::get(on);
        at(i64(g_, whole));
        mask_ = nullptr;
    }
    lanes_ = 1;
}

/// One vector of items: what earlier steps left, the step itself, what later steps want.
void Emitter::items_body(const Region& r, const Step& step, InstrId taken) {
    llvm::Type* vector_type = nullptr;
    auto place = [&](Value v) {
        vector_type = widened(memory_element(g_, type(v)), lanes_);
        return g_.b.CreateGEP(memory_element(g_, type(v)), slot(v), item_);
    };
    auto write = [&](Value to, llvm::Value* value) {
        value = to_memory(g_, value, type(to));
        llvm::Value* at = place(to);
        if (mask_)
            g_.b.CreateMaskedStore(value, at, alignment(type(to)), mask_);
        else
            g_.b.CreateAlignedStore(value, at, alignment(type(to)));
    };
    for (Value v : step.loads) {
        llvm::Value* at = place(v);
        const llvm::Align align = alignment(type(v));
        llvm::Value* value =
            mask_
                ? static_cast<llvm::Value*>(g_.b.CreateMaskedLoad(vector_type, at, align, mask_, llvm::Constant::getNullValue(vector_type)))
                : g_.b.CreateAlignedLoad(vector_type, at, align);
        define(v, from_memory(g_, value, type(v)));
    }
    for (Value v : step.again) instruction(kernel_.values[v].def);
    at_positions(r, step, taken);
    for (Value v : step.shared) {
        llvm::Value* value = scalar(v);
        if (width(value) > 1) value = g_.b.CreateExtractElement(value, std::uint64_t(0));
        g_.b.CreateStore(value, shared_slot(v));
    }
    for (Value v : step.stores) write(v, vector(v));
    LlvmValues moved;
    for (const Step::Copy& copy : step.copies) moved.push_back(vector(copy.from));
    for (std::size_t k = 0; k < moved.size(); ++k) write(step.copies[k].to, moved[k]);
}

/// Memory with one element an item.
llvm::Value* Emitter::slot(Value v) {
    const Value owner = fission_.slot[v];
    if (!slots_[owner]) slots_[owner] = allocate(memory_element(g_, type(owner)), group_items(kernel_), itemsize(type(owner)), "slot");
    return slots_[owner];
}

/// Memory for a value that is the same for all items.
llvm::Value* Emitter::shared_slot(Value v) {
    if (!slots_[v]) slots_[v] = allocate(element(g_, type(v)), 1, 8, "shared");
    return slots_[v];
}

}  // namespace pardo::emit
