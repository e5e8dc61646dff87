// src/ir/builder.cpp: makes Kernels; checks, folds and numbers each operation as it is added.
#include "ir/builder.h"

#include <array>
#include <bit>
#include <limits>

#include <pardo/error.h>

#include "ir/eval.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

std::uint32_t mix(std::uint32_t h, std::uint64_t v) {
    const std::uint64_t product = (h ^ v) * 0x9e3779b97f4a7c15u;
    return static_cast<std::uint32_t>(product >> 32) ^ static_cast<std::uint32_t>(product);
}

std::uint32_t hash_of(const Instr& in, DType type) {
    std::uint64_t number = static_cast<std::uint64_t>(function_of(in));
    if (in.op == Opcode::Const)
        number = in.scalar().dtype == DType::Bool ? in.scalar().b : in.scalar().u;
    else if (is_leaf(in.op))
        number = in.index();
    std::uint32_t h = mix(static_cast<std::uint32_t>(in.op) << 8 | static_cast<std::uint32_t>(type), number);
    for (Value v : in.operands) h = mix(h, v);
    return h;
}

bool commutes(Opcode op) {
    switch (op) {
        case Opcode::Add:
        case Opcode::Mul:
        case Opcode::And:
        case Opcode::Or:
        case Opcode::Xor:
        case Opcode::Eq:
        case Opcode::Ne: return true;
        default: return false;
    }
}

/// Removes from each region what is not needed: pure instructions, loads and loops without stores whose results are unused.
class Sweep {
public:
    explicit Sweep(Kernel& kernel) : kernel_(kernel), live_(kernel.values.size(), false) {}
    void run() { region(kernel_.body); }

private:
    bool stores(const Region& region) const {
        for (InstrId id : region.body) {
            const Instr& in = kernel_.instrs[id];
            if (has_effect(in.op)) return true;
            for (RegionId r : in.regions)
                if (stores(kernel_.regions[r])) return true;
        }
        return false;
    }

    bool needed(const Instr& in) const {
        if (has_effect(in.op) || in.op == Opcode::Yield || in.op == Opcode::Param || in.op == Opcode::Array) return true;
        for (Value v : in.results)
            if (live_[v]) return true;
        for (RegionId r : in.regions)
            if (stores(kernel_.regions[r])) return true;
        return false;
    }

    void region(Region& region_) {
        auto& body = region_.body;
        std::size_t kept = body.size();
        for (std::size_t k = body.size(); k-- > 0;) {
            const Instr& in = kernel_.instrs[body[k]];
            if (!needed(in)) continue;
            for (Value v : in.operands) live_[v] = true;
            for (int r = in.regions.size(); r-- > 0;) region(kernel_.regions[in.regions[r]]);
            body[--kept] = body[k];
        }
        body.erase(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(kept));
    }

    Kernel& kernel_;
    std::vector<bool> live_;
};

}  // namespace

void Builder::ValueTable::add(std::uint32_t hash, Value value) {
    std::int32_t& head = heads[hash % heads.size()];
    entries.push_back({hash, head, value});
    head = static_cast<std::int32_t>(entries.size()) - 1;
}

void Builder::ValueTable::shrink(std::size_t count) {
    for (; entries.size() > count; entries.pop_back()) heads[entries.back().hash % heads.size()] = entries.back().next;
}

Builder::Builder(std::string name, int rank, bool lanes) {
    kernel_.name = std::move(name);
    kernel_.rank = rank;
    kernel_.lanes = lanes;
    kernel_.instrs.reserve(64);
    kernel_.values.reserve(64);
    scopes_.push_back({root, 0});
}

Kernel Builder::finish() {
    if (scopes_.size() != 1) throw Error(ErrorCode::Internal, "finish: a region of kernel '" + kernel_.name + "' is still open");
    Sweep(kernel_).run();
    Kernel done = std::move(kernel_);
    kernel_ = Kernel();
    numbers_ = leaves_ = ValueTable();
    scopes_.assign(1, {root, 0});
    verify(done);
    return done;
}

std::uint32_t Builder::add_file(std::string path) {
    for (std::size_t k = 0; k < kernel_.files.size(); ++k)
        if (kernel_.files[k] == path) return static_cast<std::uint32_t>(k);
    kernel_.files.push_back(std::move(path));
    return static_cast<std::uint32_t>(kernel_.files.size() - 1);
}

void Builder::fail(Opcode op, const char* rule, std::span<const Value> operands) const {
    std::string text = std::string(name(op)) + ": " + rule + " (kernel '" + kernel_.name + "'";
    for (Value v : operands) {
        text += v < kernel_.values.size() ? ", " + std::string(dtype_name(type(v))) : ", no value";
        if (v < kernel_.values.size() && kernel_.values[v].pointer) text += " pointer";
    }
    throw Error(ErrorCode::Internal, text + ")");
}

void Builder::require(bool condition, Opcode op, const char* rule) const {
    if (!condition) fail(op, rule);
}

// ---- instructions

InstrId Builder::append(RegionId region, Instr&& instr) {
    const InstrId id = static_cast<InstrId>(kernel_.instrs.size());
    instr.span = span_;
    kernel_.instrs.push_back(std::move(instr));
    (region == root ? kernel_.body : kernel_.regions[region]).body.push_back(id);
    return id;
}

Value Builder::define(InstrId id, DType type, bool pointer) {
    const Value v = static_cast<Value>(kernel_.values.size());
    SmallVector<Value, 2>& results = kernel_.instrs[id].results;
    kernel_.values.push_back({type, pointer, id, results.size(), ~0u});
    results.push_back(v);
    return v;
}

Value Builder::find(const ValueTable& table, std::uint32_t hash, const Instr& instr, DType type) const {
    for (std::int32_t k = table.heads[hash % table.heads.size()]; k >= 0; k = table.entries[static_cast<std::size_t>(k)].next) {
        const ValueTable::Entry& entry = table.entries[static_cast<std::size_t>(k)];
        if (entry.hash != hash) continue;
        const Instr& other = kernel_.instrs[kernel_.values[entry.value].def];
        if (other.op != instr.op || other.attribute != instr.attribute || kernel_.values[entry.value].type != type) continue;
        if (!(other.operands == instr.operands)) continue;
        return entry.value;
    }
    return no_value;
}

/// Leaves go to the kernel's body whatever region is open: that region's own instruction follows them.
Value Builder::leaf(Opcode op, DType type, Instr::Attribute attribute) {
    Instr in{.op = op, .attribute = std::move(attribute)};
    const std::uint32_t hash = hash_of(in, type);
    if (const Value known = find(leaves_, hash, in, type); known != no_value) return known;
    const Value v = define(append(root, std::move(in)), type);
    leaves_.add(hash, v);
    return v;
}

Value Builder::pure(Opcode op, DType type, std::span<const Value> operands, Math fn) {
    Instr in{.op = op};
    if (op == Opcode::Call) in.attribute = fn;
    SmallVector<DType, 4> types;
    for (Value v : operands) {
        if (v >= kernel_.values.size() || kernel_.values[v].pointer) fail(op, "operands must be values, not pointers", operands);
        types.push_back(kernel_.values[v].type);
        in.operands.push_back(v);
    }
    if (const char* broken = broken_rule(op, fn, type, types)) fail(op, broken, operands);
    if (commutes(op) && (constant_of(in.operands[0]) || (in.operands[0] > in.operands[1] && !constant_of(in.operands[1]))))
        std::swap(in.operands[0], in.operands[1]);
    if (const Value known = folded(in, type); known != no_value) return known;
    const std::uint32_t hash = hash_of(in, type);
    if (const Value known = find(numbers_, hash, in, type); known != no_value) return known;
    const Value v = define(append(scopes_.back().region, std::move(in)), type);
    numbers_.add(hash, v);
    return v;
}

Value Builder::binary(Opcode op, Value a, Value b) {
    const Value operands[] = {a, b};
    if (a >= kernel_.values.size()) fail(op, "the first operand is not a value", operands);
    return pure(op, type(a), operands);
}

Value Builder::compare(Opcode op, Value a, Value b) {
    const Value operands[] = {a, b};
    return pure(op, DType::Bool, operands);
}

// ---- parameters and leaves

Value Builder::add_param(std::string name, DType type, bool pointer, Access access, bool noalias, bool streaming) {
    require(scopes_.size() == 1, Opcode::Param, "parameters are declared outside regions");
    Instr in{.op = Opcode::Param, .attribute = Index{static_cast<std::uint32_t>(kernel_.params.size())}};
    const Value v = define(append(root, std::move(in)), type, pointer);
    kernel_.params.push_back({std::move(name), type, pointer, access, noalias, streaming, v});
    return v;
}

Value Builder::pointer(std::string name, DType type, Access access, bool noalias, bool streaming) {
    return add_param(std::move(name), type, true, access, noalias, streaming);
}

Value Builder::scalar_param(std::string name, DType type) { return add_param(std::move(name), type, false, Access::Read, false, false); }

Value Builder::array(std::string name, DType type, std::int64_t count, Space space, bool whole) {
    require(count >= 0, Opcode::Array, "an array has no negative number of elements");
    require(count > 0 || space == Space::Private, Opcode::Array, "an array of the group has at least one element");
    require(space == Space::Private || kernel_.in_groups(), Opcode::Array, "only kernels in groups have arrays of the group");
    Instr in{.op = Opcode::Array, .attribute = Index{static_cast<std::uint32_t>(kernel_.arrays.size())}};
    const Value v = define(append(root, std::move(in)), type, true);
    kernel_.arrays.push_back({std::move(name), type, count, space, whole || count == 0, v});
    return v;
}

void Builder::set_groups(std::span<const std::int64_t> size, int sub_group) {
    require(static_cast<int>(size.size()) == kernel_.rank && kernel_.rank >= 1, Opcode::LocalDim, "a group has a size in each dimension");
    for (const std::int64_t n : size) require(n > 0, Opcode::LocalDim, "a group has at least one item in each dimension");
    require(sub_group >= 0 && (sub_group & (sub_group - 1)) == 0, Opcode::LocalDim, "a sub-group has a power of two of items");
    kernel_.group_size = SmallVector<std::int64_t, 3>(size);
    kernel_.sub_group = sub_group;
    kernel_.lanes = true;
}

Value Builder::local_dim(int d) {
    require(d >= 0 && d < kernel_.group_size.size(), Opcode::LocalDim, "the groups have no such dimension");
    if (kernel_.group_size[d] == 1) return i64(0);
    return leaf(Opcode::LocalDim, DType::Int64, Index{static_cast<std::uint32_t>(d)});
}

Value Builder::group_dim(int d) {
    require(d >= 0 && d < kernel_.group_size.size(), Opcode::GroupDim, "the groups have no such dimension");
    return leaf(Opcode::GroupDim, DType::Int64, Index{static_cast<std::uint32_t>(d)});
}

Value Builder::dim(int d) {
    require(d >= 0 && d < kernel_.rank, Opcode::Dim, "the range has no such dimension");
    return leaf(Opcode::Dim, DType::Int64, Index{static_cast<std::uint32_t>(d)});
}

Value Builder::extent(int d) {
    require(d >= 0 && d < kernel_.rank, Opcode::Extent, "the range has no such dimension");
    return leaf(Opcode::Extent, DType::Int64, Index{static_cast<std::uint32_t>(d)});
}

Value Builder::constant(DType type, const Scalar& value) {
    Scalar s = value.dtype == type ? value : value.cast(type);
    s.weak = false;
    return leaf(Opcode::Const, type, Constant{s});
}

Value Builder::constant(DType type, double value) {
    return constant(type, is_float(type) ? make_float(type, value) : Scalar(value).cast(type));
}

Value Builder::i64(std::int64_t value) { return constant(DType::Int64, make_integer(DType::Int64, static_cast<std::uint64_t>(value))); }
Value Builder::boolean(bool value) { return constant(DType::Bool, Scalar(value)); }

// ---- operations

Value Builder::add(Value a, Value b) { return binary(Opcode::Add, a, b); }
Value Builder::sub(Value a, Value b) { return binary(Opcode::Sub, a, b); }
Value Builder::mul(Value a, Value b) { return binary(Opcode::Mul, a, b); }
Value Builder::div(Value a, Value b) { return binary(Opcode::Div, a, b); }
Value Builder::floor_div(Value a, Value b) { return binary(Opcode::FloorDiv, a, b); }
Value Builder::rem(Value a, Value b) { return binary(Opcode::Rem, a, b); }
Value Builder::fmod(Value a, Value b) { return binary(Opcode::Fmod, a, b); }
Value Builder::neg(Value a) { return emit(Opcode::Neg, type(a), {a}); }
Value Builder::abs(Value a) { return emit(Opcode::Abs, real_of(type(a)), {a}); }
Value Builder::min(Value a, Value b) { return binary(Opcode::Min, a, b); }
Value Builder::max(Value a, Value b) { return binary(Opcode::Max, a, b); }
Value Builder::fmin(Value a, Value b) { return binary(Opcode::Fmin, a, b); }
Value Builder::fmax(Value a, Value b) { return binary(Opcode::Fmax, a, b); }
Value Builder::fma(Value a, Value b, Value c) { return emit(Opcode::Fma, type(a), {a, b, c}); }
Value Builder::bit_and(Value a, Value b) { return binary(Opcode::And, a, b); }
Value Builder::bit_or(Value a, Value b) { return binary(Opcode::Or, a, b); }
Value Builder::bit_xor(Value a, Value b) { return binary(Opcode::Xor, a, b); }
Value Builder::bit_not(Value a) { return emit(Opcode::Not, type(a), {a}); }
Value Builder::shl(Value a, Value b) { return binary(Opcode::Shl, a, b); }
Value Builder::shr(Value a, Value b) { return binary(Opcode::Shr, a, b); }
Value Builder::eq(Value a, Value b) { return compare(Opcode::Eq, a, b); }
Value Builder::ne(Value a, Value b) { return compare(Opcode::Ne, a, b); }
Value Builder::lt(Value a, Value b) { return compare(Opcode::Lt, a, b); }
Value Builder::le(Value a, Value b) { return compare(Opcode::Le, a, b); }
Value Builder::gt(Value a, Value b) { return compare(Opcode::Gt, a, b); }
Value Builder::ge(Value a, Value b) { return compare(Opcode::Ge, a, b); }
Value Builder::select(Value condition, Value a, Value b) { return emit(Opcode::Select, type(a), {condition, a, b}); }
Value Builder::cast(Value a, DType to) { return emit(Opcode::Cast, to, {a}); }
Value Builder::bitcast(Value a, DType to) { return emit(Opcode::Bitcast, to, {a}); }
Value Builder::call(Math fn, Value a) { return call(fn, std::span<const Value>(&a, 1)); }
Value Builder::call(Math fn, Value a, Value b) {
    const Value operands[] = {a, b};
    return call(fn, operands);
}
Value Builder::call(Math fn, std::span<const Value> operands) {
    require(!operands.empty() && operands[0] < kernel_.values.size(), Opcode::Call, "the first operand is not a value");
    return pure(Opcode::Call, type(operands[0]), operands, fn);
}
Value Builder::complex(Value re, Value im) { return emit(Opcode::Complex, complex_of(type(re)), {re, im}); }
Value Builder::real(Value a) { return emit(Opcode::Real, real_of(type(a)), {a}); }
Value Builder::imag(Value a) { return emit(Opcode::Imag, real_of(type(a)), {a}); }
Value Builder::wrap(Value index, Value extent) { return binary(Opcode::Wrap, index, extent); }
Value Builder::inside(Value index, Value extent) { return compare(Opcode::Inside, index, extent); }

Value Builder::lookup(Value index, std::span<const Value> values) {
    Values operands{index};
    operands.insert(operands.end(), values.begin(), values.end());
    return pure(Opcode::Lookup, values.empty() ? DType::Bool : type(values[0]), operands);
}

// ---- memory

/// operands: the pointer, the index, and values of the pointer's element dtype.
Instr Builder::access(Opcode op, std::initializer_list<Value> list) const {
    const std::span<const Value> operands(list.begin(), list.size());
    if (operands[0] >= kernel_.values.size() || !kernel_.values[operands[0]].pointer)
        fail(op, "the first operand must be a pointer", operands);
    if (operands[1] >= kernel_.values.size() || type(operands[1]) != DType::Int64) fail(op, "the index must be int64", operands);
    for (const Value v : operands.subspan(2)) {
        if (v >= kernel_.values.size() || type(v) != type(operands[0]))
            fail(op, "the value must have the pointer's element dtype", operands);
    }
    return {.op = op, .operands = SmallVector<Value, 4>(operands)};
}

Value Builder::load(Value pointer, Value index) {
    Instr in = access(Opcode::Load, {pointer, index});
    const DType t = type(pointer);
    const Instr& made = kernel_.instrs[kernel_.values[pointer].def];
    const Param* param = made.op == Opcode::Param ? &kernel_.params[made.index()] : nullptr;
    const bool stays = param && param->noalias && param->access == Access::Read;  // nothing that the kernel does changes what is there
    const std::uint32_t hash = hash_of(in, t);
    if (const Value known = stays ? find(numbers_, hash, in, t) : no_value; known != no_value) return known;
    const Value v = define(append(scopes_.back().region, std::move(in)), t);
    if (stays) numbers_.add(hash, v);
    return v;
}

void Builder::store(Value pointer, Value index, Value value) {
    append(scopes_.back().region, access(Opcode::Store, {pointer, index, value}));
}

Value Builder::atomic(AtomicOp op, Value pointer, Value index, Value value, MemoryOrder order, MemoryScope scope) {
    Instr in = access(Opcode::Atomic, {pointer, index, value});
    if (const char* broken = broken_atomic_rule(op, type(pointer))) fail(Opcode::Atomic, broken, in.operands);
    in.attribute = Atomic{op, {order, scope}};
    return define(append(scopes_.back().region, std::move(in)), type(pointer));
}

Value Builder::compare_exchange(Value pointer, Value index, Value expected, Value desired, MemoryOrder order, MemoryScope scope) {
    Instr in = access(Opcode::CompareExchange, {pointer, index, expected, desired});
    if (const char* broken = broken_atomic_rule(AtomicOp::Exchange, type(pointer))) fail(Opcode::CompareExchange, broken, in.operands);
    in.attribute = Ordering{order, scope};
    return define(append(scopes_.back().region, std::move(in)), type(pointer));
}

Value Builder::resize(Value pointer, Value count) {
    return define(append(scopes_.back().region, access(Opcode::Resize, {pointer, count})), DType::Bool);
}

Value Builder::take_memory(Value pointer, Value count) {
    return define(append(scopes_.back().region, access(Opcode::TakeMemory, {pointer, count})), DType::Int64);
}

void Builder::report(Value pointer, std::span<const Value> words) {
    require(!words.empty(), Opcode::Report, "it needs words");
    for (const Value v : words) require(type(v) == DType::Int64, Opcode::Report, "its words are int64");
    Instr in = access(Opcode::Report, {pointer, words[0]});
    for (const Value v : words.subspan(1)) in.operands.push_back(v);
    append(scopes_.back().region, std::move(in));
}

Value Builder::shuffle(Value value, Value item) {
    require(kernel_.in_groups() && kernel_.sub_group > 0, Opcode::Shuffle, "only kernels with sub-groups have shuffles");
    if (type(item) != DType::Int64) fail(Opcode::Shuffle, "the index must be int64", std::array{value, item});
    Instr in{.op = Opcode::Shuffle, .operands = SmallVector<Value, 4>(std::array{value, item})};
    return define(append(scopes_.back().region, std::move(in)), type(value));
}

void Builder::fence(MemoryOrder order, MemoryScope scope) {
    require(order != MemoryOrder::Relaxed, Opcode::Fence, "a relaxed one orders nothing");
    append(scopes_.back().region, {.op = Opcode::Fence, .attribute = Ordering{order, scope}});
}

void Builder::barrier() {
    require(kernel_.in_groups(), Opcode::Barrier, "only kernels in groups have barriers");
    append(scopes_.back().region, {.op = Opcode::Barrier});
}

// ---- regions; the instruction joins its region's list when it is complete, so that leaves made meanwhile are before it

InstrId Builder::add_region_op(Opcode op, std::span<const Value> operands) {
    const InstrId id = static_cast<InstrId>(kernel_.instrs.size());
    kernel_.instrs.push_back({.op = op, .operands = SmallVector<Value, 4>(operands), .span = span_});
    return id;
}

RegionId Builder::open_region(InstrId owner) {
    const RegionId region = static_cast<RegionId>(kernel_.regions.size());
    kernel_.regions.emplace_back();
    kernel_.instrs[owner].regions.push_back(region);
    scopes_.push_back({region, numbers_.entries.size()});
    return region;
}

Value Builder::add_argument(InstrId owner, RegionId region, DType type) {
    const Value v = static_cast<Value>(kernel_.values.size());
    SmallVector<Value, 4>& args = kernel_.regions[region].args;
    kernel_.values.push_back({type, false, owner, -1 - args.size(), region});
    args.push_back(v);
    return v;
}

void Builder::close_region(InstrId, std::span<const Value> yields) {
    append(scopes_.back().region, {.op = Opcode::Yield, .operands = SmallVector<Value, 4>(yields)});
    numbers_.shrink(scopes_.back().numbered);
    scopes_.pop_back();
}

Builder::Values Builder::finish_region_op(InstrId id, std::span<const Value> like) {
    Values results;
    for (Value v : like) results.push_back(define(id, type(v)));
    const RegionId region = scopes_.back().region;
    (region == root ? kernel_.body : kernel_.regions[region]).body.push_back(id);
    return results;
}

Builder::Values Builder::for_loop(Value lower, Value upper, Value step, std::span<const Value> initial,
                                  const std::function<Values(Value, std::span<const Value>)>& body, std::uint32_t unroll, LoopKind kind) {
    const Scalar *low = constant_of(lower), *high = constant_of(upper), *by = constant_of(step);
    if (low && high && by && by->i > 0) {
        if (low->i >= high->i) return Values(initial.begin(), initial.end());
        if (static_cast<std::uint64_t>(high->i) - static_cast<std::uint64_t>(low->i) <= by->u) return body(lower, initial);
    }
    Values operands{lower, upper, step};
    operands.insert(operands.end(), initial.begin(), initial.end());
    const InstrId id = add_region_op(Opcode::For, operands);
    kernel_.instrs[id].attribute = Loop{.kind = kind, .unroll = unroll};
    const RegionId region = open_region(id);
    const Value index = add_argument(id, region, DType::Int64);
    Values carried;
    for (Value v : initial) carried.push_back(add_argument(id, region, type(v)));
    const Values next = body(index, carried);
    require(next.size() == initial.size(), Opcode::For, "the body must yield one value for each carried one");
    close_region(id, next);
    return finish_region_op(id, initial);
}

Builder::Values Builder::for_lanes(Value lower, Value upper, std::span<const Reduction> reductions,
                                   const std::function<Values(Value)>& body) {
    Values operands{lower, upper, i64(1)}, initial;
    for (const Reduction& r : reductions) initial.push_back(r.initial);
    operands.insert(operands.end(), initial.begin(), initial.end());
    const InstrId id = add_region_op(Opcode::For, operands);
    Loop loop{.kind = LoopKind::Lanes};
    for (const Reduction& r : reductions) loop.combines.push_back(r.combine);
    kernel_.instrs[id].attribute = std::move(loop);
    const RegionId region = open_region(id);
    const Values contributions = body(add_argument(id, region, DType::Int64));
    require(contributions.size() == reductions.size(), Opcode::For, "the body must yield one contribution for each reduction");
    close_region(id, contributions);
    return finish_region_op(id, initial);
}

Builder::Values Builder::if_else(Value condition, const std::function<Values()>& then_body, const std::function<Values()>& else_body) {
    if (const Scalar* known = constant_of(condition)) return known->b ? then_body() : else_body();
    const Value operands[] = {condition};
    const InstrId id = add_region_op(Opcode::If, operands);
    Values yields[2];
    for (int side = 0; side < 2; ++side) {
        open_region(id);
        yields[side] = side == 0 ? then_body() : else_body();
        close_region(id, yields[side]);
    }
    require(yields[0].size() == yields[1].size(), Opcode::If, "both branches must yield the same number of values");
    return finish_region_op(id, yields[0]);
}

Builder::Values Builder::while_loop(std::span<const Value> initial, const std::function<Value(std::span<const Value>)>& condition,
                                    const std::function<Values(std::span<const Value>)>& body) {
    const InstrId id = add_region_op(Opcode::While, initial);
    const RegionId test = open_region(id);
    Values carried;
    for (Value v : initial) carried.push_back(add_argument(id, test, type(v)));
    const Value goes_on = condition(carried);
    close_region(id, std::span<const Value>(&goes_on, 1));
    const RegionId region = open_region(id);
    carried.clear();
    for (Value v : initial) carried.push_back(add_argument(id, region, type(v)));
    const Values next = body(carried);
    require(next.size() == initial.size(), Opcode::While, "the body must yield one value for each carried one");
    close_region(id, next);
    return finish_region_op(id, initial);
}

// ---- reductions

Value Builder::combine(Combine c, Value a, Value b) {
    constexpr Opcode ops[] = {Opcode::Add, Opcode::Mul, Opcode::Min, Opcode::Max, Opcode::And, Opcode::Or, Opcode::Xor};
    return binary(ops[static_cast<int>(c)], a, b);
}

Value Builder::identity(Combine c, DType type) {
    const bool least = c == Combine::Max;
    switch (c) {
        case Combine::Add:
        case Combine::Or:
        case Combine::Xor: return constant(type, 0.0);
        case Combine::Mul: return constant(type, 1.0);
        case Combine::And: return constant(type, make_integer(type, ~std::uint64_t{0}));
        default: break;
    }
    const double infinity = least ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    if (is_float(type)) return constant(type, infinity);
    if (is_complex(type)) return constant(type, make_complex(type, infinity, infinity));
    if (type == DType::Bool) return boolean(!least);
    const int bits = 8 * itemsize(type);
    if (kind_of(type) == DKind::Unsigned) return constant(type, make_integer(type, least ? 0 : ~std::uint64_t{0}));
    const std::uint64_t lowest = ~std::uint64_t{0} << (bits - 1);
    return constant(type, make_integer(type, least ? lowest : ~lowest));
}

}  // namespace pardo::ir
