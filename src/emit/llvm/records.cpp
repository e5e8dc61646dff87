// src/emit/llvm/records.cpp: loads and stores of all fields of small records (real and imaginary part; x, y, z) as whole vectors and
// shuffles.
#include "emit/llvm/records.h"

#include <algorithm>
#include <utility>

#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Opcode;
using ir::Value;

namespace {

/// An index as another one plus a constant.
struct IndexFrom {
    Value root;
    std::int64_t offset = 0;
};

IndexFrom place_of(const ir::Kernel& kernel, Value index) {
    IndexFrom p{index, 0};
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

struct Record {
    std::int64_t step = 0;
    std::vector<InstrId> members;       // in program order
    std::vector<std::int64_t> offsets;  // of each, from the record's first field
};

/// The accesses after `first` that touch the other fields of its records; empty unless together they touch every field.
Record find_record(const Memory& m, const ir::Region& region, std::size_t position, InstrId first) {
    constexpr std::size_t window = 48;
    const Instr& in = m.source.instr(first);
    const IndexFrom start = place_of(m.source.kernel, in.operands[1]);
    Record record;
    record.step = m.source.shape(in.operands[1]).step;
    const std::int64_t fields = std::abs(record.step);
    std::int64_t low = 0, high = 0;
    const auto& body = region.body;
    for (std::size_t at = position; at < std::min(body.size(), position + window); ++at) {
        const Instr& other = m.source.instr(body[at]);
        const bool same_kind = other.op == in.op;
        if (!other.regions.empty() || (ir::has_effect(other.op) && !same_kind) || (other.op == Opcode::Load && in.op == Opcode::Store))
            break;
        if (m.source.kernel.in_groups() && m.source.fission.part[body[at]] != m.source.fission.part[first])
            break;  // another loop over the items
        if (!same_kind) continue;
        const IndexFrom p = place_of(m.source.kernel, other.operands[1]);
        const std::int64_t offset = p.offset - start.offset;
        const bool fits = other.operands[0] == in.operands[0] && p.root == start.root && !m.values.hoisted[body[at]] &&
                          std::max(high, offset) - std::min(low, offset) < fields &&
                          std::find(record.offsets.begin(), record.offsets.end(), offset) == record.offsets.end();
        if (!fits) {
            if (in.op == Opcode::Store) break;  // stores keep their order
            continue;
        }
        low = std::min(low, offset);
        high = std::max(high, offset);
        record.members.push_back(body[at]);
        record.offsets.push_back(offset);
        if (static_cast<std::int64_t>(record.members.size()) == fields) break;
    }
    if (static_cast<std::int64_t>(record.members.size()) < fields) return {};
    for (std::int64_t& offset : record.offsets) offset -= low;
    return record;
}

/// The lowest address that the lanes touch; `index` is lane 0's of one member.
llvm::Value* record_address(Memory& m, const LaneContext& here, const Record& record, std::size_t member, llvm::Value* index) {
    const std::int64_t back = record.step < 0 ? -record.step * (here.lanes - 1) : 0;
    return address(m, m.source.instr(record.members[member]).operands[0], m.g.b.CreateSub(index, i64(m.g, record.offsets[member] + back)));
}

}  // namespace

bool load_record(Memory& m, const LaneContext& here, InstrId id) {
    if (m.fields[id]) return true;
    const Instr& in = m.source.instr(id);
    if (here.mask || std::abs(m.source.shape(in.operands[1]).step) > 4) return false;
    const Record record = find_record(m, *here.region, here.position, id);
    if (record.members.empty()) return false;
    const DType t = m.source.type(in.operands[0]);
    const int fields = static_cast<int>(std::abs(record.step));
    llvm::LoadInst* all = m.g.b.CreateAlignedLoad(widened(memory_element(m.g, t), fields * here.lanes),
                                                  record_address(m, here, record, 0, m.values.scalar(in.operands[1])), alignment(t));
    annotate(m, all, in.operands[0]);
    for (std::size_t k = 0; k < record.members.size(); ++k) {
        llvm::SmallVector<int, 64> places;
        for (int l = 0; l < here.lanes; ++l)
            places.push_back(static_cast<int>(record.offsets[k]) + fields * (record.step < 0 ? here.lanes - 1 - l : l));
        m.fields[record.members[k]] = m.g.b.CreateShuffleVector(all, places);
    }
    return true;
}

bool store_record(Memory& m, const LaneContext& here, InstrId id, llvm::Value* value) {
    const Instr& in = m.source.instr(id);
    if (here.mask || std::abs(m.source.shape(in.operands[1]).step) > 4) return false;
    if (m.store_records[id] == ~0u) {
        const Record record = find_record(m, *here.region, here.position, id);
        if (record.members.empty()) return false;
        for (InstrId member : record.members) m.store_records[member] = id;
        m.fields[id] = value;
        return true;
    }
    m.fields[id] = value;
    // The record is found again from its first member, which is at or before the present one.
    std::size_t first = here.position;
    while (here.region->body[first] != m.store_records[id]) --first;
    const Record record = find_record(m, *here.region, first, m.store_records[id]);
    if (record.members.back() != id) return true;
    const DType t = m.source.type(in.operands[0]);
    const int fields = static_cast<int>(std::abs(record.step));
    LlvmValues parts(static_cast<std::size_t>(fields == 2 ? 2 : 4), llvm::PoisonValue::get(value->getType()));
    for (std::size_t k = 0; k < record.members.size(); ++k) {
        parts[static_cast<std::size_t>(record.offsets[k])] = std::exchange(m.fields[record.members[k]], nullptr);
        m.store_records[record.members[k]] = ~0u;
    }
    llvm::SmallVector<int, 64> joined, order;
    for (int e = 0; e < 2 * here.lanes; ++e) joined.push_back(e);
    for (int l = 0; l < here.lanes; ++l)
        for (int f = 0; f < fields; ++f) order.push_back(f * here.lanes + (record.step < 0 ? here.lanes - 1 - l : l));
    llvm::Value *low = parts[0], *high = parts[1];
    if (fields > 2) {
        low = m.g.b.CreateShuffleVector(parts[0], parts[1], joined);
        high = m.g.b.CreateShuffleVector(parts[2], parts[3], joined);
    }
    llvm::Value* all = m.g.b.CreateShuffleVector(low, high, order);
    annotate(m,
             m.g.b.CreateAlignedStore(all, record_address(m, here, record, record.members.size() - 1, m.values.scalar(in.operands[1])),
                                      alignment(t)),
             in.operands[0]);
    return true;
}

}  // namespace pardo::emit
