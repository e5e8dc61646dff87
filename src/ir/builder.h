// src/ir/builder.h: makes Kernels: one method an operation, regions by callbacks, cheap folding of constants and index arithmetic.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace pardo::ir {

/// One reduction of a lanes loop.
struct Reduction {
    Combine combine;
    Value initial;
};

/// Builds one kernel. Operands must have the dtypes that ir.h states; mistakes throw Error(Internal) at once.
/// Folds constants and the identities x+0, x*1, x*0 (integers), and gives equal pure instructions of one region the same Value.
class Builder {
public:
    Builder(std::string name, int rank, bool lanes);

    /// The finished kernel, verified. The builder is empty afterwards.
    Kernel finish();

    void set_span(Span span) { span_ = span; }
    /// Items come in groups; before anything else is built.
    void set_groups(std::span<const std::int64_t> size, int sub_group = 0);
    /// As the constructor's `lanes`; before anything else is built.
    void set_lanes(bool value) { kernel_.lanes = value; }
    /// What is allowed in the whole kernel.
    void set_fast_math(std::uint8_t value) { kernel_.fast_math = value; }
    std::uint32_t add_file(std::string path);

    // Parameters, in launch order.
    Value pointer(std::string name, DType type, Access access, bool noalias, bool streaming = false);
    Value scalar_param(std::string name, DType type);

    /// A pointer to memory of the kernel's own, not initialised.
    Value array(std::string name, DType type, std::int64_t count, Space space, bool whole = false);
    /// Allocates `count` elements for an array that was made with the count 0. The result is false where memory does not suffice.
    Value resize(Value pointer, Value count);
    /// Hands over an array's memory to the host, which frees it. The result is the address; the first `count` elements are in use.
    Value take_memory(Value pointer, Value count);

    // Leaves.
    Value dim(int d);
    Value local_dim(int d);
    Value group_dim(int d);
    Value extent(int d);
    Value constant(DType type, const Scalar& value);
    Value constant(DType type, double value);
    Value i64(std::int64_t value);
    Value boolean(bool value);

    // Arithmetic, bits, comparison.
    Value add(Value a, Value b);
    Value sub(Value a, Value b);
    Value mul(Value a, Value b);
    Value div(Value a, Value b);
    Value floor_div(Value a, Value b);
    Value rem(Value a, Value b);
    Value fmod(Value a, Value b);
    Value neg(Value a);
    Value abs(Value a);
    Value min(Value a, Value b);
    Value max(Value a, Value b);
    Value fmin(Value a, Value b);
    Value fmax(Value a, Value b);
    Value fma(Value a, Value b, Value c);
    Value bit_and(Value a, Value b);
    Value bit_or(Value a, Value b);
    Value bit_xor(Value a, Value b);
    Value bit_not(Value a);
    Value shl(Value a, Value b);
    Value shr(Value a, Value b);
    Value eq(Value a, Value b);
    Value ne(Value a, Value b);
    Value lt(Value a, Value b);
    Value le(Value a, Value b);
    Value gt(Value a, Value b);
    Value ge(Value a, Value b);
    Value select(Value condition, Value a, Value b);
    Value cast(Value a, DType to);
    Value bitcast(Value a, DType to);
    Value call(Math fn, Value a);
    Value call(Math fn, Value a, Value b);
    Value complex(Value re, Value im);
    Value real(Value a);
    Value imag(Value a);
    Value wrap(Value index, Value extent);
    Value inside(Value index, Value extent);
    Value lookup(Value index, std::span<const Value> values);
    /// Any non-region opcode by name; for passes.
    Value emit(Opcode op, DType type, std::initializer_list<Value> operands) { return pure(op, type, {operands.begin(), operands.size()}); }
    Value emit(Opcode op, DType type, std::span<const Value> operands) { return pure(op, type, operands); }
    /// Calls whose arity is known at run time only; for passes.
    Value call(Math fn, std::span<const Value> operands);

    // Memory; `index` counts elements of the pointer's type. What does not change is loaded once a region.
    Value load(Value pointer, Value index);
    void store(Value pointer, Value index, Value value);
    Value atomic(AtomicOp op, Value pointer, Value index, Value value, MemoryOrder order = MemoryOrder::Relaxed,
                 MemoryScope scope = MemoryScope::Device);
    Value compare_exchange(Value pointer, Value index, Value expected, Value desired, MemoryOrder order = MemoryOrder::Relaxed,
                           MemoryScope scope = MemoryScope::Device);
    /// `words[0]` is not zero.
    void report(Value pointer, std::span<const Value> words);
    Value shuffle(Value value, Value item);
    void fence(MemoryOrder order, MemoryScope scope);
    void barrier();

    // Regions.
    using Values = std::vector<Value>;
    Values for_loop(Value lower, Value upper, Value step, std::span<const Value> initial,
                    const std::function<Values(Value index, std::span<const Value> carried)>& body, std::uint32_t unroll = 0,
                    LoopKind kind = LoopKind::Serial);
    Values for_lanes(Value lower, Value upper, std::span<const Reduction> reductions, const std::function<Values(Value index)>& body);
    Values if_else(Value condition, const std::function<Values()>& then_body, const std::function<Values()>& else_body);
    Values while_loop(std::span<const Value> initial, const std::function<Value(std::span<const Value>)>& condition,
                      const std::function<Values(std::span<const Value>)>& body);

    DType type(Value v) const { return kernel_.values[v].type; }
    /// No region is open: each item comes here, whatever its data.
    bool is_unconditional() const { return scopes_.size() == 1; }
    bool is_dim(Value v, int d) const {
        const Instr* in = definition(v, Opcode::Dim);
        return in && in->index() == static_cast<std::uint32_t>(d);
    }
    const Kernel& kernel() const { return kernel_; }
    /// The combining operation of a reduction, as plain arithmetic: add, mul, min, max, and, or.
    Value combine(Combine c, Value a, Value b);
    /// Its neutral element.
    Value identity(Combine c, DType type);

private:
    /// Equal pure instructions by hash, newest first; what an inner region added is dropped when it ends.
    struct ValueTable {
        struct Entry {
            std::uint32_t hash;
            std::int32_t next;
            Value value;
        };
        std::array<std::int32_t, 128> heads;
        std::vector<Entry> entries;
        ValueTable() { heads.fill(-1); }
        void add(std::uint32_t hash, Value value);
        void shrink(std::size_t count);
    };
    /// A region under construction; the kernel's body is `root`.
    struct Scope {
        RegionId region;
        std::size_t numbered;  // size of numbers_ when it began
    };
    static constexpr RegionId root = ~0u;

    Value pure(Opcode op, DType type, std::span<const Value> operands, Math fn = {});
    Value binary(Opcode op, Value a, Value b);
    Value compare(Opcode op, Value a, Value b);
    Value leaf(Opcode op, DType type, Instr::Attribute attribute);
    Value find(const ValueTable& table, std::uint32_t hash, const Instr& instr, DType type) const;
    /// A value that exists already or a constant, if the operation is one; else no_value.
    Value folded(const Instr& instr, DType type);
    Value folded_binary(const Instr& instr, DType type);
    Value folded_sum(const Instr& instr, DType type);
    const Scalar* constant_of(Value v) const;
    bool is_constant(Value v, double value) const;
    const Instr* definition(Value v, Opcode op) const;

    /// A memory operation on a pointer, checked.
    Instr access(Opcode op, std::initializer_list<Value> operands) const;
    InstrId append(RegionId region, Instr&& instr);
    Value define(InstrId id, DType type, bool pointer = false);
    InstrId add_region_op(Opcode op, std::span<const Value> operands);
    RegionId open_region(InstrId owner);
    Value add_argument(InstrId owner, RegionId region, DType type);
    void close_region(InstrId owner, std::span<const Value> yields);
    Values finish_region_op(InstrId id, std::span<const Value> like);
    Value add_param(std::string name, DType type, bool pointer, Access access, bool noalias, bool streaming);
    void require(bool condition, Opcode op, const char* rule) const;
    [[noreturn]] void fail(Opcode op, const char* rule, std::span<const Value> operands = {}) const;

    Kernel kernel_;
    Span span_;
    std::vector<Scope> scopes_;
    ValueTable numbers_;  // of the regions under construction
    ValueTable leaves_;   // constants and the like are in the kernel's body, seen from everywhere
};

}  // namespace pardo::ir
