// src/emit/llvm/fission.cpp: kernels in groups: the loops over groups, and for each step of a group a loop over its items.
#include "emit/llvm/fission.h"

#include <algorithm>

#include "emit/llvm/arrays.h"
#include "emit/llvm/guard.h"
#include "emit/llvm/loops/serial.h"
#include "emit/llvm/math/cast.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Region;
using ir::Value;

namespace {

void emit_steps(Emitter& e, const LaneContext& here, const Region& r, std::size_t list);

/// `taken`: a branch whose first region runs without a question.
void at_positions(Emitter& e, const LaneContext& here, const Region& r, const Step& step, InstrId taken = ~0u) {
    LaneContext inside = here;
    inside.region = &r;
    for (std::uint32_t at : step.at) {
        inside.position = at;
        const InstrId id = r.body[at];
        id == taken ? e.region(inside, e.source.region(e.source.instr(id).regions[0])) : e.instruction(inside, id);
    }
}

// Control flow of the group: values that are the same for all items are carried here, the others stay in their slots.

void emit_group_if(Emitter& e, const LaneContext& here, const Instr& in) {
    llvm::BasicBlock *blocks[] = {block(e.g, "group.then"), block(e.g, "group.else")}, *done = block(e.g, "group.endif");
    e.g.b.CreateCondBr(e.values.scalar(in.operands[0]), blocks[0], blocks[1]);
    LlvmValues values[2];
    llvm::BasicBlock* ends[2];
    for (int side = 0; side < 2; ++side) {
        const Region& r = e.source.region(in.regions[side]);
        e.g.b.SetInsertPoint(blocks[side]);
        emit_steps(e, here, r, in.regions[side]);
        for (int k = 0; k < in.results.size(); ++k)
            values[side].push_back(e.source.fission.uniform[in.results[k]] ? e.values.scalar(e.source.yield(r).operands[k]) : nullptr);
        ends[side] = e.g.b.GetInsertBlock();
        e.g.b.CreateBr(done);
    }
    e.g.b.SetInsertPoint(done);
    for (int k = 0; k < in.results.size(); ++k) {
        if (!values[0][static_cast<std::size_t>(k)]) continue;
        llvm::PHINode* phi = e.g.b.CreatePHI(values[0][static_cast<std::size_t>(k)]->getType(), 2);
        for (int side = 0; side < 2; ++side) phi->addIncoming(values[side][static_cast<std::size_t>(k)], ends[side]);
        e.values.define(here, in.results[k], phi);
    }
}

void emit_group_for(Emitter& e, const LaneContext& here, const Instr& in) {
    const Region& r = e.source.region(in.regions[0]);
    std::vector<int> carried;
    LlvmValues state;
    for (int k = 0; k < in.results.size(); ++k) {
        if (!e.source.fission.uniform[in.results[k]]) continue;
        carried.push_back(k);
        state.push_back(e.values.scalar(in.operands[3 + k]));
    }
    llvm::Value* step = e.values.scalar(in.operands[2]);
    LaneContext inside = here;
    inside.iterations = {r.args[0], step};
    serial_loop(e.g, e.values.scalar(in.operands[0]), e.values.scalar(in.operands[1]), step, state,
                [&](llvm::Value* index, int, LlvmValues& values) {
                    e.values.define(here, r.args[0], index);
                    for (std::size_t c = 0; c < carried.size(); ++c) e.values.define(here, r.args[1 + carried[c]], values[c]);
                    emit_steps(e, inside, r, in.regions[0]);
                    for (std::size_t c = 0; c < carried.size(); ++c) values[c] = e.values.scalar(e.source.yield(r).operands[carried[c]]);
                });
    for (std::size_t c = 0; c < carried.size(); ++c) e.values.define(here, in.results[carried[c]], state[c]);
}

void emit_group_while(Emitter& e, const LaneContext& here, const Instr& in) {
    const Region &condition = e.source.region(in.regions[0]), &r = e.source.region(in.regions[1]);
    llvm::BasicBlock *before = e.g.b.GetInsertBlock(), *head = block(e.g, "group.while"), *body = block(e.g, "group.body"),
                     *done = block(e.g, "group.done");
    e.g.b.CreateBr(head);
    e.g.b.SetInsertPoint(head);
    std::vector<int> carried;
    llvm::SmallVector<llvm::PHINode*, 8> phis;
    for (int k = 0; k < in.results.size(); ++k) {
        if (!e.source.fission.uniform[in.results[k]]) continue;
        carried.push_back(k);
        phis.push_back(e.g.b.CreatePHI(e.values.scalar(in.operands[k])->getType(), 2));
        phis.back()->addIncoming(e.values.scalar(in.operands[k]), before);
        e.values.define(here, condition.args[k], phis.back());
        e.values.define(here, r.args[k], phis.back());
    }
    emit_steps(e, here, condition, in.regions[0]);
    e.g.b.CreateCondBr(e.values.scalar(e.source.yield(condition).operands[0]), body, done);
    e.g.b.SetInsertPoint(body);
    emit_steps(e, here, r, in.regions[1]);
    for (std::size_t c = 0; c < carried.size(); ++c)
        phis[c]->addIncoming(e.values.scalar(e.source.yield(r).operands[carried[c]]), e.g.b.GetInsertBlock());
    finish_loop(e.g, e.g.b.CreateBr(head), Unroll::Never);
    e.g.b.SetInsertPoint(done);
    for (std::size_t c = 0; c < carried.size(); ++c) e.values.define(here, in.results[carried[c]], phis[c]);
}

int item_lane_count(const Source& source, const LlvmTarget& target, const Region& r, const Step& step) {
    if (!source.info.item_lanes) return 1;
    Region own;
    for (std::uint32_t at : step.at) own.body.push_back(r.body[at]);
    int lanes = lane_count(source.kernel, source.info, own, target.vector_bytes);
    for (const Step::Copy& copy : step.copies) lanes = std::min(lanes, target.vector_bytes / std::max(itemsize(source.type(copy.to)), 2));
    const std::int64_t items = source.kernel.group_size[source.kernel.rank - 1];
    while (lanes > 2 && lanes / 2 >= items) lanes /= 2;
    return std::max(lanes, 2);
}

/// The loops over all dimensions of the group but the last.
void item_rows(Emitter& e, const LaneContext& here, int dimension, ItemBody row) {
    if (dimension == e.source.kernel.rank - 1) return row(here);
    const auto d = static_cast<std::size_t>(dimension);
    LlvmValues none;
    auto at = [&](llvm::Value* index) {
        Item item = *here.item;
        item.local[d] = index;
        item.dims[d] = e.g.b.CreateAdd(item.bases[d], index);
        item.number = e.g.b.CreateAdd(e.g.b.CreateMul(here.item->number, i64(e.g, e.source.kernel.group_size[dimension])), index);
        LaneContext inside = here;
        inside.item = &item;
        item_rows(e, inside, dimension + 1, row);
    };
    if (e.source.kernel.group_size[dimension] == 1) return at(i64(e.g, 0));
    serial_loop(e.g, i64(e.g, 0), i64(e.g, e.source.kernel.group_size[dimension]), i64(e.g, 1), none,
                [&](llvm::Value* index, int, LlvmValues&) { at(index); });
}

/// Vectors of items, then what is left under a mask.
void item_lanes(Emitter& e, const LaneContext& here, int lanes, ItemBody body) {
    const auto last = static_cast<std::size_t>(e.source.kernel.rank - 1);
    const std::int64_t items = e.source.kernel.group_size[static_cast<int>(last)], whole = items / lanes * lanes;
    llvm::Value* row = e.g.b.CreateMul(here.item->number, i64(e.g, items));
    auto at = [&](llvm::Value* index, llvm::Value* mask) {
        Item item = *here.item;
        item.local[last] = index;
        item.dims[last] = e.g.b.CreateAdd(item.bases[last], index);
        item.number = e.g.b.CreateAdd(row, index);
        LaneContext inside = here.under(mask);
        inside.lanes = lanes;
        inside.item = &item;
        body(inside);
    };
    LlvmValues none;
    if (whole == lanes) at(i64(e.g, 0), nullptr);
    if (whole > lanes)
        serial_loop(e.g, i64(e.g, 0), i64(e.g, whole), i64(e.g, lanes), none,
                    [&](llvm::Value* index, int, LlvmValues&) { at(index, nullptr); });
    if (whole == items) return;
    llvm::SmallVector<llvm::Constant*, 64> on;
    for (int l = 0; l < lanes; ++l) on.push_back(e.g.b.getInt1(whole + l < items));
    at(i64(e.g, whole), llvm::ConstantVector::get(on));
}

/// Memory with one element an item.
llvm::Value* slot(Memory& m, Value v) {
    const Value owner = m.source.fission.slot[v];
    if (!m.slots[owner])
        m.slots[owner] =
            allocate(m, memory_element(m.g, m.source.type(owner)), group_items(m.source.kernel), itemsize(m.source.type(owner)), "slot");
    return m.slots[owner];
}

/// Memory for a value that is the same for all items.
llvm::Value* shared_slot(Memory& m, Value v) {
    if (!m.slots[v]) m.slots[v] = allocate(m, element(m.g, m.source.type(v)), 1, 8, "shared");
    return m.slots[v];
}

/// One vector of items: what earlier steps left, the step itself, what later steps want.
void items_body(Emitter& e, const LaneContext& here, const Region& r, const Step& step, InstrId taken) {
    llvm::Type* vector_type = nullptr;
    auto place = [&](Value v) {
        vector_type = widened(memory_element(e.g, e.source.type(v)), here.lanes);
        return e.g.b.CreateGEP(memory_element(e.g, e.source.type(v)), slot(e.memory, v), here.item->number);
    };
    auto write = [&](Value to, llvm::Value* value) {
        value = to_memory(e.g, value, e.source.type(to));
        llvm::Value* at = place(to);
        if (here.mask)
            e.g.b.CreateMaskedStore(value, at, alignment(e.source.type(to)), here.mask);
        else
            e.g.b.CreateAlignedStore(value, at, alignment(e.source.type(to)));
    };
    for (Value v : step.loads) {
        llvm::Value* at = place(v);
        const llvm::Align align = alignment(e.source.type(v));
        llvm::Value* value = here.mask ? static_cast<llvm::Value*>(e.g.b.CreateMaskedLoad(vector_type, at, align, here.mask,
                                                                                          llvm::Constant::getNullValue(vector_type)))
                                       : e.g.b.CreateAlignedLoad(vector_type, at, align);
        e.values.define(here, v, from_memory(e.g, value, e.source.type(v)));
    }
    for (Value v : step.again) e.instruction(here, e.source.kernel.values[v].def);
    at_positions(e, here, r, step, taken);
    for (Value v : step.shared) {
        llvm::Value* value = e.values.scalar(v);
        if (width(value) > 1) value = e.g.b.CreateExtractElement(value, std::uint64_t(0));
        e.g.b.CreateStore(value, shared_slot(e.memory, v));
    }
    for (Value v : step.stores) write(v, e.values.vector(here, v));
    LlvmValues moved;
    for (const Step::Copy& copy : step.copies) moved.push_back(e.values.vector(here, copy.from));
    for (std::size_t k = 0; k < moved.size(); ++k) write(step.copies[k].to, moved[k]);
}

void emit_items(Emitter& e, const LaneContext& here, const Region& r, const Step& step) {
    Item item = *here.item;
    item.number = i64(e.g, 0);
    LaneContext first = here;
    first.item = &item;
    const int lanes = item_lane_count(e.source, e.g.target, r, step);
    const Guard guard = find_guard(e.source, r, step);
    auto body = [&](const LaneContext& inside) { items_body(e, inside, r, step, guard.branch); };
    item_rows(e, first, 0, [&](const LaneContext& row) {
        guard.branch != ~0u ? guarded_lanes(e, row, guard, lanes, body) : item_lanes(e, row, lanes, body);
    });
    for (Value v : step.shared) e.values.define(here, v, e.g.b.CreateLoad(element(e.g, e.source.type(v)), shared_slot(e.memory, v)));
}

void emit_control(Emitter& e, const LaneContext& here, const Instr& in) {
    if (in.op == Opcode::If) return emit_group_if(e, here, in);
    if (in.op == Opcode::For) return emit_group_for(e, here, in);
    emit_group_while(e, here, in);
}

void emit_steps(Emitter& e, const LaneContext& here, const Region& r, std::size_t list) {
    for (const Step& step : e.source.fission.steps[list]) {
        switch (step.kind) {
            case Step::Once: at_positions(e, here, r, step); break;
            case Step::Items: emit_items(e, here, r, step); break;
            case Step::Control: emit_control(e, here, e.source.instr(r.body[step.at[0]])); break;
        }
    }
}

/// The loops over the groups of the box, outermost first.
void over_groups(Emitter& e, const LaneContext& here, int dimension) {
    if (dimension == e.source.kernel.rank) {
        // Outside of loops over items: what only dimensions with one item ask for.
        Item item = *here.item;
        for (llvm::Value*& v : item.local) v = i64(e.g, 0);
        item.dims = item.bases;
        LaneContext group = here;
        group.item = &item;
        return emit_steps(e, group, e.source.kernel.body, e.source.kernel.regions.size());
    }
    const auto d = static_cast<std::size_t>(dimension);
    llvm::Value* size = i64(e.g, e.source.kernel.group_size[dimension]);
    LlvmValues none;
    serial_loop(e.g, e.g.b.CreateUDiv(e.inputs.begin[d], size), e.g.b.CreateUDiv(e.inputs.end[d], size), i64(e.g, 1), none,
                [&](llvm::Value* index, int, LlvmValues&) {
                    Item item = *here.item;
                    item.groups[d] = index;
                    item.bases[d] = e.g.b.CreateMul(index, size);
                    LaneContext inside = here;
                    inside.item = &item;
                    over_groups(e, inside, dimension + 1);
                });
}

}  // namespace

void emit_groups(Emitter& e, const LaneContext& here) {
    Item item = *here.item;
    for (LlvmValues* each : {&item.groups, &item.bases, &item.local}) each->resize(item.dims.size());
    LaneContext inside = here;
    inside.item = &item;
    over_groups(e, inside, 0);
}

}  // namespace pardo::emit
