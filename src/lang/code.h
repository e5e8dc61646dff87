// src/lang/code.h: what a walk makes: the Builder's instructions, or nothing where it finds types alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <pardo/binding/syntax.h>

#include "ir/builder.h"
#include "lang/walk.h"

namespace pardo::lang {

using ir::Opcode;
using ir::Value;

/// In a walk for types its operations make nothing and give ir::no_value: who builds numbers does not ask what the walk is for. Regions and
/// parameters are made in the walk that builds alone.
class Code : private ir::Builder {
public:
    Code(const Walk& walk, std::string name, int rank, bool lanes) : Builder(std::move(name), rank, lanes), walk_(walk) {}

    using Builder::add_file, Builder::set_fast_math, Builder::set_groups, Builder::set_lanes;
    using Builder::finish, Builder::for_lanes, Builder::for_loop, Builder::if_else, Builder::while_loop;
    using Builder::is_dim, Builder::pointer, Builder::scalar_param, Builder::type;
    using Builder::Values;

    /// The Builder itself, to declare parameters.
    Builder& parameters() { return *this; }
    /// No region is open: each item comes here, whatever its data. A walk for types does not know.
    bool is_unconditional() const { return walk_.builds() && Builder::is_unconditional(); }
    /// Where in the user's file what follows is.
    void set_place(const syntax::Place& place) {
        if (!walk_.builds()) return;
        set_span({1, static_cast<std::uint32_t>(place.line), static_cast<std::uint32_t>(place.column),
                  static_cast<std::uint32_t>(place.end_column)});
    }

    Value array(const std::string& name, DType type, std::int64_t count, ir::Space space, bool whole = false) {
        return made<Value>([&] { return Builder::array(name, type, count, space, whole); });
    }
    Value resize(Value pointer, Value count) { return made(&Builder::resize, pointer, count); }
    Value take_memory(Value pointer, Value count) { return made(&Builder::take_memory, pointer, count); }

    Value dim(int d) { return made(&Builder::dim, d); }
    Value local_dim(int d) { return made(&Builder::local_dim, d); }
    Value group_dim(int d) { return made(&Builder::group_dim, d); }
    Value extent(int d) { return made(&Builder::extent, d); }
    Value constant(DType type, const Scalar& value) {
        return made<Value>([&] { return Builder::constant(type, value); });
    }
    Value constant(DType type, double value) {
        return made<Value>([&] { return Builder::constant(type, value); });
    }
    Value i64(std::int64_t value) { return made(&Builder::i64, value); }
    Value boolean(bool value) { return made(&Builder::boolean, value); }

    Value add(Value a, Value b) { return made(&Builder::add, a, b); }
    Value sub(Value a, Value b) { return made(&Builder::sub, a, b); }
    Value mul(Value a, Value b) { return made(&Builder::mul, a, b); }
    Value floor_div(Value a, Value b) { return made(&Builder::floor_div, a, b); }
    Value neg(Value a) { return made(&Builder::neg, a); }
    Value abs(Value a) { return made(&Builder::abs, a); }
    Value min(Value a, Value b) { return made(&Builder::min, a, b); }
    Value max(Value a, Value b) { return made(&Builder::max, a, b); }
    Value bit_and(Value a, Value b) { return made(&Builder::bit_and, a, b); }
    Value bit_or(Value a, Value b) { return made(&Builder::bit_or, a, b); }
    Value bit_xor(Value a, Value b) { return made(&Builder::bit_xor, a, b); }
    Value bit_not(Value a) { return made(&Builder::bit_not, a); }
    Value shr(Value a, Value b) { return made(&Builder::shr, a, b); }
    Value eq(Value a, Value b) { return made(&Builder::eq, a, b); }
    Value ne(Value a, Value b) { return made(&Builder::ne, a, b); }
    Value lt(Value a, Value b) { return made(&Builder::lt, a, b); }
    Value le(Value a, Value b) { return made(&Builder::le, a, b); }
    Value gt(Value a, Value b) { return made(&Builder::gt, a, b); }
    Value ge(Value a, Value b) { return made(&Builder::ge, a, b); }
    Value select(Value condition, Value a, Value b) { return made(&Builder::select, condition, a, b); }
    Value cast(Value a, DType to) { return made(&Builder::cast, a, to); }
    Value complex(Value re, Value im) { return made(&Builder::complex, re, im); }
    Value real(Value a) { return made(&Builder::real, a); }
    Value imag(Value a) { return made(&Builder::imag, a); }
    Value wrap(Value index, Value extent) { return made(&Builder::wrap, index, extent); }
    Value inside(Value index, Value extent) { return made(&Builder::inside, index, extent); }
    Value combine(ir::Combine c, Value a, Value b) { return made(&Builder::combine, c, a, b); }
    Value identity(ir::Combine c, DType type) { return made(&Builder::identity, c, type); }
    Value emit(Opcode op, DType type, std::span<const Value> operands) {
        return made<Value>([&] { return Builder::emit(op, type, operands); });
    }
    Value call(ir::Math fn, std::span<const Value> operands) {
        return made<Value>([&] { return Builder::call(fn, operands); });
    }

    Value load(Value pointer, Value index) { return made(&Builder::load, pointer, index); }
    void store(Value pointer, Value index, Value value) { made(&Builder::store, pointer, index, value); }
    Value atomic(ir::AtomicOp op, Value pointer, Value index, Value value, ir::MemoryOrder order = ir::MemoryOrder::Relaxed,
                 ir::MemoryScope scope = ir::MemoryScope::Device) {
        return made(&Builder::atomic, op, pointer, index, value, order, scope);
    }
    Value compare_exchange(Value pointer, Value index, Value expected, Value desired, ir::MemoryOrder order, ir::MemoryScope scope) {
        return made(&Builder::compare_exchange, pointer, index, expected, desired, order, scope);
    }
    void report(Value pointer, std::span<const Value> words) { made(&Builder::report, pointer, words); }
    Value shuffle(Value value, Value item) { return made(&Builder::shuffle, value, item); }
    void fence(ir::MemoryOrder order, ir::MemoryScope scope) { made(&Builder::fence, order, scope); }
    void barrier() { made(&Builder::barrier); }

private:
    template <class Result, class Make> Result made(const Make& make) {
        if (walk_.builds()) return make();
        if constexpr (!std::is_void_v<Result>) return ir::no_value;
    }
    template <class Result, class... P> Result made(Result (Builder::*operation)(P...), std::type_identity_t<P>... operands) {
        return made<Result>([&] { return (this->*operation)(operands...); });
    }

    const Walk& walk_;
};

}  // namespace pardo::lang
