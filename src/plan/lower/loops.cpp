// src/plan/lower/loops.cpp: the loops of a kernel: how reductions run along serial loops, lanes and blocks.
#include <algorithm>

#include "plan/lower/kernel_builder.h"

namespace pardo::plan {

using graph::Node;
using graph::ReduceOp;
using ir::Combine;
using ir::no_value;
using Stage = KernelPlan::Stage;

namespace {

constexpr int rows_together = 4;            // a power of two
constexpr std::int64_t serial_chunk = 128;  // float sums along serial loops restart here

Combine combine_of(ReduceOp op) {
    switch (op) {
        case ReduceOp::Sum: return Combine::Add;
        case ReduceOp::Prod: return Combine::Mul;
        case ReduceOp::Min:
        case ReduceOp::ArgMin: return Combine::Min;
        case ReduceOp::Max:
        case ReduceOp::ArgMax: return Combine::Max;
        case ReduceOp::Any: return Combine::Or;
        case ReduceOp::All: return Combine::And;
    }
    return Combine::Add;
}

}  // namespace

void KernelBuilder::item() {
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {
        const Steps& steps = plan_.accesses[i].steps;
        Value base = offsets_[i] == no_value ? m_.i64(0) : offsets_[i];
        for (int d = 0; d < plan_.range; ++d) {
            if (steps.dims[d] == 0) continue;
            base = m_.add(base, steps.dims[d] == 1 ? var_[d] : m_.mul(var_[d], step_of(d, steps.dims[d])));
        }
        base_[i] = base;
    }
    const int loops = plan_.loops();
    for (loop_ = 0; loop_ < loops; ++loop_) run_loop(loop_);
    outer_stores();
}

void KernelBuilder::run_loop(int loop) {
    reductions_.clear();
    std::vector<int> targets;
    for (const Reduction& r : plan_.reductions) {
        if (r.loop != loop) continue;
        reductions_.push_back(&r);
        if (plan_.stage != Stage::Combine) targets.push_back(group_.values[r.fused].in[0]);
    }
    bool stores = false;
    for (const Store& s : plan_.stores) {
        if (s.level != Level::Full || s.loop != loop) continue;
        targets.push_back(s.fused);
        stores = true;
    }
    if (reductions_.empty() && !stores) return;
    std::vector<int> read_back;
    for (const KernelPlan::Spill& spill : plan_.spills) {
        if (spill.to == loop) read_back.push_back(spill.fused);
    }
    in_ = closure(group_, targets, read_back);
    hoist(in_, loop);
    if (plan_.strategy == Strategy::Rows) return rows();
    const Values results = nest(plan_.inner(), identities());
    int at = 0;
    for (const Reduction* r : reductions_) {
        const Node* n = planner_.node(r->node);
        const Value value = results[at];
        const Value position = r->by_position() || r->partial[1] >= 0 ? results[++at] : no_value;
        ++at;
        if (plan_.stage == Stage::Blocks) {
            m_.store(pointers_[r->partial[0]], index_of(r->partial[0]), value);
            if (position != no_value) m_.store(pointers_[r->partial[1]], index_of(r->partial[1]), position);
        } else {
            const Value result = position != no_value ? position : value;
            remember(r->fused, m_.cast(result, n->dtype));
        }
    }
}

void KernelBuilder::outer_stores() {
    for (const Store& s : plan_.stores) {
        if (s.level == Level::Outer) m_.store(pointers_[s.access], index_of(s.access), get(s.fused));
    }
}

KernelBuilder::Values KernelBuilder::identities() {
    Values values;
    for (const Reduction* r : reductions_) {
        const Node* n = planner_.node(r->node);
        values.push_back(m_.identity(combine_of(n->reduce().op), reduction_dtype(n)));
        if (is_arg(n->reduce().op)) values.push_back(m_.i64(0));
    }
    return values;
}

bool KernelBuilder::starts_fresh(const Reduction& r) const {
    const Node* n = planner_.node(r.node);
    return (n->reduce().op == ReduceOp::Sum || n->reduce().op == ReduceOp::Prod) && is_inexact(reduction_dtype(n));
}

Size KernelBuilder::trip_count(int dim) const {
    for (const KernelPlan::Block& b : plan_.blocks) {
        if (b.dim == dim) return b.length;
    }
    return plan_.extents[dim];
}

void KernelBuilder::bounds(int dim, Value& lower, Value& upper) {
    lower = m_.i64(0);
    upper = extent_[dim];
    for (std::size_t i = 0; i < plan_.blocks.size(); ++i) {
        const KernelPlan::Block& b = plan_.blocks[i];
        if (b.dim != dim) continue;
        lower = m_.mul(var_[b.counter], block_lengths_[i]);
        upper = m_.min(m_.add(lower, block_lengths_[i]), upper);
    }
}

KernelBuilder::Values KernelBuilder::nest(int dim, const Values& carried) {
    if (plan_.strategy == Strategy::Unrolled) return written_out(dim, carried);
    if (dim == plan_.extents.size()) return innermost(carried);
    const bool last = dim + 1 == plan_.extents.size();
    return last && plan_.strategy == Strategy::InnerLanes ? lanes(dim, carried) : serial(dim, carried);
}

KernelBuilder::Values KernelBuilder::written_out(int dim, const Values& carried) {
    if (dim == plan_.extents.size()) {
        const std::size_t before = mark();
        Values values = innermost(carried);
        forget(before);
        return values;
    }
    Values values = carried;
    for (std::int64_t i = 0; i < plan_.extents[dim].pinned(); ++i) {
        var_[dim] = m_.i64(i);
        values = written_out(dim + 1, values);
    }
    var_[dim] = no_value;
    return values;
}

KernelBuilder::Values KernelBuilder::serial(int dim, const Values& carried) {
    Value lower, upper;
    bounds(dim, lower, upper);
    const bool fresh = std::any_of(reductions_.begin(), reductions_.end(), [&](const Reduction* r) { return starts_fresh(*r); });
    const bool last = dim + 1 == plan_.extents.size();
    if (!last || !fresh || trip_count(dim) <= serial_chunk) return serial_range(dim, lower, upper, carried);
    const Value chunk = m_.i64(serial_chunk);
    return m_.for_loop(lower, upper, chunk, carried, [&](Value begin, std::span<const Value> outer) {
        Values start(outer.begin(), outer.end());
        const Values zero = identities();
        int at = 0;
        for (const Reduction* r : reductions_) {
            if (starts_fresh(*r)) start[at] = zero[at];
            at += is_arg(planner_.node(r->node)->reduce().op) ? 2 : 1;
        }
        Values values = serial_range(dim, begin, m_.min(m_.add(begin, chunk), upper), start);
        at = 0;
        for (const Reduction* r : reductions_) {
            const ReduceOp op = planner_.node(r->node)->reduce().op;
            if (starts_fresh(*r)) values[at] = m_.combine(combine_of(op), outer[at], values[at]);
            at += is_arg(op) ? 2 : 1;
        }
        return values;
    });
}

KernelBuilder::Values KernelBuilder::serial_range(int dim, Value lower, Value upper, const Values& carried) {
    return m_.for_loop(lower, upper, m_.i64(1), carried, [&](Value index, std::span<const Value> values) {
        var_[dim] = index;
        const std::size_t before = mark();
        hoist(in_, loop_);
        Values results = nest(dim + 1, Values(values.begin(), values.end()));
        forget(before);
        var_[dim] = no_value;
        return results;
    });
}

KernelBuilder::Values KernelBuilder::lanes(int dim, const Values& carried) {
    Value lower, upper;
    bounds(dim, lower, upper);
    const bool chunks = std::any_of(reductions_.begin(), reductions_.end(),
                                    [&](const Reduction* r) { return starts_fresh(*r) || is_arg(planner_.node(r->node)->reduce().op); });
    const bool few_digits = std::any_of(reductions_.begin(), reductions_.end(), [&](const Reduction* r) {
        return starts_fresh(*r) && itemsize(real_of(reduction_dtype(planner_.node(r->node)))) <= 4;
    });
    const std::int64_t length = few_digits ? planner_.tuning().lanes_chunk_short : planner_.tuning().lanes_chunk;
    if (!chunks || trip_count(dim) <= length) return lanes_range(dim, lower, upper, carried);
    const Value chunk = m_.i64(length);
    return m_.for_loop(lower, upper, chunk, carried, [&](Value begin, std::span<const Value> values) {
        return lanes_range(dim, begin, m_.min(m_.add(begin, chunk), upper), Values(values.begin(), values.end()));
    });
}

KernelBuilder::Values KernelBuilder::lanes_range(int dim, Value lower, Value upper, const Values& carried) {
    std::vector<ir::Reduction> combines;
    int at = 0;
    for (const Reduction* r : reductions_) {
        const Node* n = planner_.node(r->node);
        const Combine combine = combine_of(n->reduce().op);
        const bool arg = is_arg(n->reduce().op);
        if (packs(*r)) {
            combines.push_back({Combine::Max, m_.constant(DType::UInt64, Scalar(std::uint64_t{0}))});
        } else {
            combines.push_back({combine, arg ? m_.identity(combine, reduction_dtype(n)) : carried[at]});
        }
        at += arg ? 2 : 1;
    }
    const Values found = m_.for_lanes(lower, upper, combines, [&](Value index) {
        var_[dim] = index;
        const std::size_t before = mark();
        Values contributions;
        for (const Reduction* r : reductions_) {
            const Value x = contribution(*r);
            contributions.push_back(packs(*r) ? packed(*r, x, m_.sub(index, lower)) : x);
        }
        store_full();
        forget(before);
        var_[dim] = no_value;
        return contributions;
    });
    Values values;
    at = 0;
    for (std::size_t i = 0; i < reductions_.size(); ++i) {
        const Reduction& r = *reductions_[i];
        if (!is_arg(planner_.node(r.node)->reduce().op)) {
            values.push_back(found[i]);
            ++at;
            continue;
        }
        values.push_back(carried[at]);
        values.push_back(carried[at + 1]);
        if (packs(r)) {
            take_packed(r, dim, lower, upper, found[i], values);
            at += 2;
            continue;
        }
        find_position(r, dim, lower, upper, found[i], values, static_cast<int>(values.size()) - 2);
        at += 2;
    }
    return values;
}

void KernelBuilder::rows() {
    const Values start = identities();
    lanes_of_row([&] {
        for (std::size_t i = 0; i < reductions_.size(); ++i) {
            const int access = reductions_[i]->partial[0];
            m_.store(pointers_[access], index_of(access), start[i]);
        }
    });
    rows_loop(plan_.inner());
}

void KernelBuilder::lanes_of_row(const std::function<void()>& body) {
    const int dim = plan_.extents.size() - 1;
    Value lower, upper;
    bounds(dim, lower, upper);
    m_.for_lanes(lower, upper, {}, [&](Value index) {
        var_[dim] = index;
        body();
        var_[dim] = no_value;
        return Values{};
    });
}

void KernelBuilder::rows_loop(int dim) {
    Value lower, upper;
    bounds(dim, lower, upper);
    if (dim + 2 < plan_.extents.size()) {
        m_.for_loop(lower, upper, m_.i64(1), {}, [&](Value index, std::span<const Value>) {
            var_[dim] = index;
            rows_loop(dim + 1);
            var_[dim] = no_value;
            return Values{};
        });
        return;
    }
    // Several rows at a time, so that the results are loaded and stored less often.
    const Value together = m_.i64(rows_together);
    const Value whole = m_.mul(m_.floor_div(m_.sub(upper, lower), together), together);
    const Value middle = m_.add(lower, whole);
    rows_range(dim, lower, middle, rows_together);
    rows_range(dim, middle, upper, 1);
}

void KernelBuilder::rows_range(int dim, Value lower, Value upper, int count) {
    m_.for_loop(lower, upper, m_.i64(count), {}, [&](Value first, std::span<const Value>) {
        rows_pass(dim, first, count);
        return Values{};
    });
}

void KernelBuilder::rows_pass(int dim, Value first, int count) {
    lanes_of_row([&] {
        std::vector<Values> rows(reductions_.size());
        for (int row = 0; row < count; ++row) {
            var_[dim] = m_.add(first, m_.i64(row));
            const std::size_t before = mark();
            for (std::size_t i = 0; i < reductions_.size(); ++i) rows[i].push_back(contribution(*reductions_[i]));
            store_full();
            forget(before);
        }
        var_[dim] = no_value;
        for (std::size_t i = 0; i < reductions_.size(); ++i) {
            // Among themselves first, in a tree: float sums lose less.
            const Combine combine = combine_of(planner_.node(reductions_[i]->node)->reduce().op);
            for (; rows[i].size() > 1; rows[i].resize(rows[i].size() / 2)) {
                for (std::size_t k = 0; k < rows[i].size() / 2; ++k) rows[i][k] = m_.combine(combine, rows[i][2 * k], rows[i][2 * k + 1]);
            }
            const int access = reductions_[i]->partial[0];
            m_.store(pointers_[access], index_of(access), m_.combine(combine, load(access), rows[i][0]));
        }
    });
}

void KernelBuilder::find_position(const Reduction& r, int dim, Value lower, Value upper, Value best, Values& carried, int at) {
    const Value old = carried[at], old_position = carried[at + 1];
    const Values results = m_.if_else(
        better(r, best, old),
        [&] {
            const Value none = m_.identity(Combine::Min, DType::Int64);
            const ir::Reduction first[] = {{Combine::Min, none}};
            const Values position = m_.for_lanes(lower, upper, first, [&](Value index) {
                var_[dim] = index;
                const std::size_t before = mark();
                const Value x = contribution(r);
                const Value here = plan_.stage == Stage::Combine ? load(r.partial[1]) : index_of(r.position);
                const Value hit = m_.select(matches(x, best), here, none);
                forget(before);
                var_[dim] = no_value;
                return Values{hit};
            });
            return Values{best, position[0]};
        },
        [&] {
            return Values{old, old_position};
        });
    carried[at] = results[0];
    carried[at + 1] = results[1];
}

bool KernelBuilder::packs(const Reduction& r) const {
    const Node* n = planner_.node(r.node);
    return planner_.tuning().packed_positions && r.by_position() && plan_.stage != Stage::Combine && itemsize(reduction_dtype(n)) <= 4;
}

ir::Value KernelBuilder::packed(const Reduction& r, Value x, Value place) {
    const auto u32 = [&](std::uint32_t bits) { return m_.constant(DType::UInt32, Scalar(std::uint64_t{bits}).cast(DType::UInt32)); };
    const bool least = planner_.node(r.node)->reduce().op == ReduceOp::ArgMin;
    const Value top = u32(0x80000000u), all = u32(0xffffffffu);
    Value key;
    if (is_float(m_.type(x))) {
        // + 0 makes one zero of both. Negative numbers are in order when all their bits are turned.
        const Value single = m_.cast(x, DType::Float32), wide = m_.add(single, m_.constant(DType::Float32, 0.0));
        const Value bits = m_.bitcast(wide, DType::Int32), sign = m_.constant(DType::Int32, Scalar(std::int64_t{31}).cast(DType::Int32));
        const Value turned = m_.bit_or(m_.bitcast(m_.shr(bits, sign), DType::UInt32), top);
        const Value ordered = m_.bit_xor(m_.bitcast(bits, DType::UInt32), turned);
        const Value no_number = is_nan(wide);
        key = m_.select(no_number, all, least ? m_.bit_not(ordered) : ordered);
    } else {
        const bool is_signed = kind_of(m_.type(x)) == DKind::Signed;
        const Value wide = m_.bitcast(m_.cast(x, is_signed ? DType::Int32 : DType::UInt32), DType::UInt32);
        const Value ordered = is_signed ? m_.bit_xor(wide, top) : wide;
        key = least ? m_.bit_not(ordered) : ordered;
    }
    const Value half = m_.constant(DType::UInt64, Scalar(std::uint64_t{32}));
    const Value low = m_.cast(m_.bit_not(m_.cast(place, DType::UInt32)), DType::UInt64);
    return m_.bit_or(m_.shl(m_.cast(key, DType::UInt64), half), low);
}

void KernelBuilder::take_packed(const Reduction& r, int dim, Value lower, Value upper, Value best, Values& carried) {
    const Value place = m_.cast(m_.bit_not(m_.cast(best, DType::UInt32)), DType::Int64);
    const std::size_t before = mark();
    const Value here_or_beyond = m_.add(lower, place), last = m_.sub(upper, m_.i64(1));
    var_[dim] = m_.min(here_or_beyond, last);
    const Value x = contribution(r), here = index_of(r.position);
    const std::size_t at = carried.size() - 2;
    const Value take = better(r, x, carried[at]);
    carried[at] = m_.select(take, x, carried[at]);
    carried[at + 1] = m_.select(take, here, carried[at + 1]);
    forget(before);
    var_[dim] = no_value;
}

KernelBuilder::Values KernelBuilder::innermost(const Values& carried) {
    Values values;
    int at = 0;
    for (const Reduction* r : reductions_) {
        const Node* n = planner_.node(r->node);
        const Value x = contribution(*r);
        if (!is_arg(n->reduce().op)) {
            values.push_back(m_.combine(combine_of(n->reduce().op), carried[at++], x));
            continue;
        }
        const Value old = carried[at], old_position = carried[at + 1];
        at += 2;
        Value take = better(*r, x, old);
        Value here;
        if (plan_.stage == Stage::Combine) {
            // Blocks need not come in the order of positions.
            here = load(r->partial[1]);
            take = m_.bit_or(take, m_.bit_and(matches(x, old), m_.lt(here, old_position)));
        } else {
            here = index_of(r->position);
        }
        values.push_back(m_.select(take, x, old));
        values.push_back(m_.select(take, here, old_position));
    }
    store_full();
    return values;
}

void KernelBuilder::store_full() {
    int kept = -1;  // the spills of one value are next to each other
    for (const KernelPlan::Spill& spill : plan_.spills) {
        if (!spill.write || spill.from != loop_ || spill.access == kept) continue;
        m_.store(pointers_[spill.access], index_of(spill.access), get(spill.fused));
        kept = spill.access;
    }
    // All values first: several may need one that waits in the memory of one of them.
    for (const Store& s : plan_.stores) {
        if (s.level == Level::Full && s.loop == loop_) get(s.fused);
    }
    for (const Store& s : plan_.stores) {
        if (s.level == Level::Full && s.loop == loop_) m_.store(pointers_[s.access], index_of(s.access), get(s.fused));
    }
}

ir::Value KernelBuilder::contribution(const Reduction& r) {
    if (plan_.stage == Stage::Combine) return load(r.partial[0]);
    const Node* n = planner_.node(r.node);
    const Value x = get(group_.values[r.fused].in[0]);
    return m_.cast(x, reduction_dtype(n));
}

ir::Value KernelBuilder::is_nan(Value x) { return m_.ne(x, x); }

ir::Value KernelBuilder::better(const Reduction& r, Value a, Value b) {
    const Value closer = planner_.node(r.node)->reduce().op == ReduceOp::ArgMax ? m_.gt(a, b) : m_.lt(a, b);
    if (!is_float(m_.type(a))) return closer;
    const Value a_nan = is_nan(a), b_known = m_.bit_not(is_nan(b));
    return m_.bit_or(closer, m_.bit_and(a_nan, b_known));
}

ir::Value KernelBuilder::matches(Value x, Value best) {
    const Value equal = m_.eq(x, best);
    if (!is_float(m_.type(x))) return equal;
    const Value x_nan = is_nan(x), best_nan = is_nan(best);
    return m_.bit_or(equal, m_.bit_and(x_nan, best_nan));
}

}  // namespace pardo::plan
