// src/emit/llvm/groups.cpp: loads and stores of all fields of small records (real and imaginary part; x, y, z) as whole vectors and
// shuffles.
#include <algorithm>

#include "emit/llvm/emitter.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Value;

namespace {

/// An index as another one plus a constant.
struct Place {
    Value root;
    std::int64_t offset = 0;
};

Place place_of(const ir::Kernel& kernel, Value index) {
    Place p{index, 0};
    for (;;) {
        const ir::ValueInfo& info = kernel.values[p.root];
        if (info.region != ir::RegionId(~0u) || info.def >= kernel.instrs.size()) return p;
        const Instr& in = kernel.instrs[info.def];
        std::int64_t c = 0;
        if (in.op == Opcode::Add && constant_int(kernel, in.operands[1], c))
            p = {in.operands[0], p.offset + c};
        else if (in.op == Opcode::Add && constant_int(kernel, in.operands[0], c))
            p = {in.operands[1], p.offset + c};
        else if (in.op == Opcode::Sub && constant_int(kernel, in.operands[1], c))
            p = {in.operands[0], p.offset - c};
        else
            return p;
    }
}

}  // namespace

/// The accesses after `first` that touch the other fields of its records; empty unless together they touch every field.
Emitter::Group Emitter::find_group(InstrId first) const {
    constexpr std::size_t window = 48;
    const Instr& in = kernel_.instrs[first];
    const Place start = place_of(kernel_, in.operands[1]);
    Group group;
    group.step = info_.shapes[in.operands[1]].step;
    const std::int64_t fields = std::abs(group.step);
    std::int64_t low = 0, high = 0;
    const auto& body = region_->body;
    for (std::size_t at = position_; at < std::min(body.size(), position_ + window); ++at) {
        const Instr& other = kernel_.instrs[body[at]];
        const bool same_kind = other.op == in.op;
        if (!other.regions.empty() || (ir::has_effect(other.op) && !same_kind) || (other.op == Opcode::Load && in.op == Opcode::Store))
            break;
        if (kernel_.in_groups() && fission_.part[body[at]] != fission_.part[first]) break;  // another loop over the items
        if (!same_kind) continue;
        const Place p = place_of(kernel_, other.operands[1]);
        const std::int64_t offset = p.offset - start.offset;
        const bool fits = other.operands[0] == in.operands[0] && p.root == start.root && !hoisted_[body[at]] &&
                          std::max(high, offset) - std::min(low, offset) < fields &&
                          std::find(group.offsets.begin(), group.offsets.end(), offset) == group.offsets.end();
        if (!fits) {
            if (in.op == Opcode::Store) break;  // stores keep their order
            continue;
        }
        low = std::min(low, offset);
        high = std::max(high, offset);
        group.members.push_back(body[at]);
        group.offsets.push_back(offset);
        if (static_cast<std::int64_t>(group.members.size()) == fields) break;
    }
    if (static_cast<std::int64_t>(group.members.size()) < fields) return {};
    for (std::int64_t& offset : group.offsets) offset -= low;
    return group;
}

/// The lowest address that the lanes of a group touch; `index` is lane 0's of one member.
llvm::Value* Emitter::group_address(const Group& group, std::size_t member, llvm::Value* index) {
    const std::int64_t back = group.step < 0 ? -group.step * (lanes_ - 1) : 0;
    return address(kernel_.instrs[group.members[member]].operands[0], g_.b.CreateSub(index, i64(g_, group.offsets[member] + back)));
}

/// True if `id`'s value is in grouped_, found now or with an earlier member of its group.
bool Emitter::load_group(InstrId id) {
    if (grouped_[id]) return true;
    const Instr& in = kernel_.instrs[id];
    if (mask_ || std::abs(info_.shapes[in.operands[1]].step) > 4) return false;
    const Group group = find_group(id);
    if (group.members.empty()) return false;
    const DType t = type(in.operands[0]);
    const int fields = static_cast<int>(std::abs(group.step));
    llvm::LoadInst* all = g_.b.CreateAlignedLoad(widened(memory_element(g_, t), fields * lanes_),
                                                 group_address(group, 0, scalar(in.operands[1])), alignment(t));
    annotate(all, in.operands[0]);
    for (std::size_t m = 0; m < group.members.size(); ++m) {
        llvm::SmallVector<int, 64> places;
        for (int l = 0; l < lanes_; ++l)
            places.push_back(static_cast<int>(group.offsets[m]) + fields * (group.step < 0 ? lanes_ - 1 - l : l));
        grouped_[group.members[m]] = g_.b.CreateShuffleVector(all, places);
    }
    return true;
}

/// True if the store waits for the rest of its group, or has just completed it.
bool Emitter::store_group(InstrId id, llvm::Value* value) {
    const Instr& in = kernel_.instrs[id];
    if (mask_ || std::abs(info_.shapes[in.operands[1]].step) > 4) return false;
    if (store_groups_[id] == ~0u) {
        const Group group = find_group(id);
        if (group.members.empty()) return false;
        for (InstrId member : group.members) store_groups_[member] = id;
        grouped_[id] = value;
        return true;
    }
    grouped_[id] = value;
    // The group is found again from its first member, which is at or before the present one.
    const std::size_t here = position_;
    while (region_->body[position_] != store_groups_[id]) --position_;
    const Group group = find_group(store_groups_[id]);
    position_ = here;
    if (group.members.back() != id) return true;
    const DType t = type(in.operands[0]);
    const int fields = static_cast<int>(std::abs(group.step));
    LlvmValues parts(static_cast<std::size_t>(fields == 2 ? 2 : 4), llvm::PoisonValue::get(value->getType()));
    for (std::size_t m = 0; m < group.members.size(); ++m) {
        parts[static_cast<std::size_t>(group.offsets[m])] = std::exchange(grouped_[group.members[m]], nullptr);
        store_groups_[group.members[m]] = ~0u;
    }
    llvm::SmallVector<int, 64> joined, order;
    for (int e = 0; e < 2 * lanes_; ++e) joined.push_back(e);
    for (int l = 0; l < lanes_; ++l)
        for (int f = 0; f < fields; ++f) order.push_back(f * lanes_ + (group.step < 0 ? lanes_ - 1 - l : l));
    llvm::Value *low = parts[0], *high = parts[1];
    if (fields > 2) {
        low = g_.b.CreateShuffleVector(parts[0], parts[1], joined);
        high = g_.b.CreateShuffleVector(parts[2], parts[3], joined);
    }
    llvm::Value* all = g_.b.CreateShuffleVector(low, high, order);
    annotate(g_.b.CreateAlignedStore(all, group_address(group, group.members.size() - 1, scalar(in.operands[1])), alignment(t)),
             in.operands[0]);
    return true;
}

}  // namespace pardo::emit
