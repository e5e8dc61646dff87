// src/ir/passes/rewrite.cpp: copies kernels through a Builder.
#include "ir/passes/rewrite.h"

namespace pardo::ir {

Rewriter::Rewriter(const Kernel& from)
    : from_(from), m_(from.name, from.rank, from.lanes), first_(from.values.size(), no_value), second_(from.values.size(), no_value) {
    m_.set_fast_math(from.fast_math);
    if (from.in_groups()) m_.set_groups(from.group_size, from.sub_group);
    for (std::size_t k = 1; k < from.files.size(); ++k) m_.add_file(from.files[k]);
}

Kernel Rewriter::run() {
    for (const Param& p : from_.params) param(p);
    for (const ArrayInfo& a : from_.arrays) array(a);
    Values none;
    region_body(from_.body, none);
    return m_.finish();
}

void Rewriter::param(const Param& p) {
    set(p.value, p.pointer ? m_.pointer(p.name, p.type, p.access, p.noalias, p.streaming) : m_.scalar_param(p.name, p.type));
}

void Rewriter::array(const ArrayInfo& a) { set(a.value, m_.array(a.name, a.type, a.count, a.space, a.whole)); }

void Rewriter::region_body(const Region& region, Values& yields) {
    for (InstrId id : region.body) {
        const Instr& in = from_.instrs[id];
        m_.set_span(in.span);
        if (in.op == Opcode::Yield) {
            yields = mapped(in.operands);
        } else if (in.op != Opcode::Param && in.op != Opcode::Array) {
            instr(in);
        }
    }
}

void Rewriter::instr(const Instr& in) { copy(in); }

void Rewriter::append(Values& list, Value old) const {
    list.push_back(first_[old]);
    if (paired(type(old)) && !from_.values[old].pointer) list.push_back(second_[old]);
}

Rewriter::Values Rewriter::mapped(std::span<const Value> old) const {
    Values list;
    for (Value v : old) append(list, v);
    return list;
}

void Rewriter::assign(std::span<const Value> old, std::span<const Value> fresh) {
    std::size_t next = 0;
    for (Value v : old) {
        first_[v] = fresh[next++];
        if (paired(type(v))) second_[v] = fresh[next++];
    }
}

Rewriter::Values Rewriter::combined(const Instr& in, std::span<const Value> carried, std::span<const Value> contributions) {
    Values joined;
    for (int k = 0; k < in.combines().size(); ++k)
        joined.push_back(m_.combine(in.combines()[k], carried[static_cast<std::size_t>(k)], contributions[static_cast<std::size_t>(k)]));
    return joined;
}

void Rewriter::for_loop(const Instr& in, LoopKind kind) {
    const Region& body = region(in, 0);
    const std::span<const Value> old_initial = std::span<const Value>(in.operands).subspan(3);
    const Values initial = mapped(old_initial);
    const bool was_lanes = in.loop_kind() == LoopKind::Lanes;
    Values results, yields;
    if (kind == LoopKind::Lanes) {
        std::vector<Reduction> reductions;
        for (int k = 0; k < in.combines().size(); ++k) {
            const Value old = in.operands[3 + k];
            reductions.push_back({in.combines()[k], at(old)});
            if (paired(type(old))) reductions.push_back({in.combines()[k], second(old)});
        }
        results = m_.for_lanes(at(in.operands[0]), at(in.operands[1]), reductions, [&](Value index) {
            set(body.args[0], index);
            region_body(body, yields);
            return yields;
        });
    } else {
        results = m_.for_loop(
            at(in.operands[0]), at(in.operands[1]), at(in.operands[2]), initial,
            [&](Value index, std::span<const Value> carried) {
                set(body.args[0], index);
                if (!was_lanes) assign(std::span<const Value>(body.args).subspan(1), carried);
                region_body(body, yields);
                return was_lanes ? combined(in, carried, yields) : yields;
            },
            in.loop().unroll, kind);
    }
    assign(in.results, results);
}

void Rewriter::copy(const Instr& in) {
    switch (in.op) {
        case Opcode::Const: return set(in.results[0], m_.constant(type(in.results[0]), in.scalar()));
        case Opcode::Dim: return set(in.results[0], m_.dim(static_cast<int>(in.index())));
        case Opcode::Extent: return set(in.results[0], m_.extent(static_cast<int>(in.index())));
        case Opcode::LocalDim: return set(in.results[0], m_.local_dim(static_cast<int>(in.index())));
        case Opcode::GroupDim: return set(in.results[0], m_.group_dim(static_cast<int>(in.index())));
        case Opcode::Param:
        case Opcode::Array: return;
        case Opcode::Atomic:
            return set(in.results[0], m_.atomic(in.atomic(), at(in.operands[0]), at(in.operands[1]), at(in.operands[2]),
                                                in.ordering().order, in.ordering().scope));
        case Opcode::CompareExchange:
            return set(in.results[0], m_.compare_exchange(at(in.operands[0]), at(in.operands[1]), at(in.operands[2]), at(in.operands[3]),
                                                          in.ordering().order, in.ordering().scope));
        case Opcode::Resize: return set(in.results[0], m_.resize(at(in.operands[0]), at(in.operands[1])));
        case Opcode::TakeMemory: return set(in.results[0], m_.take_memory(at(in.operands[0]), at(in.operands[1])));
        case Opcode::Report: {
            const Values operands = mapped(in.operands);
            return m_.report(operands[0], std::span<const Value>(operands).subspan(1));
        }
        case Opcode::Shuffle: return set(in.results[0], m_.shuffle(at(in.operands[0]), at(in.operands[1])));
        case Opcode::Fence: return m_.fence(in.ordering().order, in.ordering().scope);
        case Opcode::Barrier: return m_.barrier();
        case Opcode::Load: return set(in.results[0], m_.load(at(in.operands[0]), at(in.operands[1])));
        case Opcode::Store: return m_.store(at(in.operands[0]), at(in.operands[1]), at(in.operands[2]));
        case Opcode::For: return for_loop(in, in.loop_kind());
        case Opcode::If: {
            Values yields[2];
            auto branch = [&](int k) {
                region_body(region(in, k), yields[k]);
                return yields[k];
            };
            return assign(in.results, m_.if_else(
                                          at(in.operands[0]), [&] { return branch(0); }, [&] { return branch(1); }));
        }
        case Opcode::While: {
            Values yields;
            const Region &condition = region(in, 0), &body = region(in, 1);
            return assign(in.results, m_.while_loop(
                                          mapped(in.operands),
                                          [&](std::span<const Value> carried) {
                                              assign(condition.args, carried);
                                              region_body(condition, yields);
                                              return yields[0];
                                          },
                                          [&](std::span<const Value> carried) {
                                              assign(body.args, carried);
                                              region_body(body, yields);
                                              return yields;
                                          }));
        }
        case Opcode::Call: return set(in.results[0], m_.call(in.math(), mapped(in.operands)));
        default: {
            const Values operands = mapped(in.operands);
            return set(in.results[0], m_.emit(in.op, type(in.results[0]), operands));
        }
    }
}

}  // namespace pardo::ir
