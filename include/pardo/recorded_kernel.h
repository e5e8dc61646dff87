// include/pardo/recorded_kernel.h: kernels written in C++: the function is called once, with stand-ins for numbers and arrays, and what it
// does with them is recorded, compiled for each device, and run once for each item of a range.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pardo/array.h>
#include <pardo/dtype.h>
#include <pardo/event.h>
#include <pardo/export.h>
#include <pardo/extents.h>
#include <pardo/kernel.h>
#include <pardo/queue.h>

namespace pardo {

class Value;

/// What the functions below are made of; no part of the interface.
namespace recorded {
struct Expression;
struct State;
/// What can stand in an expression of a kernel beside numbers.
struct InKernel {};
template <class T>
concept Written = std::derived_from<std::remove_cvref_t<T>, InKernel>;
template <class... T>
concept AnyWritten = (Written<T> || ...) && (std::convertible_to<T, Value> && ...);

/// The kinds of parameters.
enum class Parameter : std::uint8_t { Item, NdItem, Read, Write, ReadWrite, Number };
struct ParameterType {
    Parameter kind;
    DType dtype;
};

PARDO_API Value call(const char* function, std::initializer_list<Value> arguments);
PARDO_API Value unary(const char* op, const Value& x);
PARDO_API Value binary(const char* op, const Value& x, const Value& y);
PARDO_API Value compare(const char* op, const Value& x, const Value& y);
PARDO_API Value of_item(const char* method, int dimension);
PARDO_API Value converted(const Value& x, DType dtype);
PARDO_API Value extent_of(const std::string& array, int dimension);
PARDO_API Value load(const std::string& array, ListOf<Value> index);
PARDO_API void store(const std::string& array, ListOf<Value> index, const Value& value);
PARDO_API Value atomic(const char* op, const std::string& array, ListOf<Value> index, std::initializer_list<Value> values);
PARDO_API std::string new_memory(const char* kind, DType dtype, Extents shape);
PARDO_API std::string new_variable(DType dtype, const Value& value);
PARDO_API void assign(const std::string& variable, DType dtype, const Value& value);
PARDO_API Value snapshot(const std::string& variable);
PARDO_API Value number(const std::string& parameter);
PARDO_API void barrier();
PARDO_API void leave(int form);

// Blocks: what is recorded between begin and the next part belongs to it.
PARDO_API void begin_if(const Value& test);
PARDO_API void begin_else();
PARDO_API Value begin_for(const Value& start, const Value& stop, const Value& step);
PARDO_API void begin_while();
PARDO_API void begin_body(const Value& test);
PARDO_API void end_block();

/// One recorded function; a cheap handle, safe from any thread.
class PARDO_API Function {
public:
    using Argument = std::pair<const Array*, Scalar>;
    Event launch(const std::vector<Argument>& arguments, const NdRange& range, const Queue* queue) const;
    std::string inspect(const std::vector<Argument>& arguments, const NdRange& range, const std::string& what) const;
    std::string text() const;

    // Recording: between these two the function of the caller runs. `abandon`: it has thrown.
    static std::string parameter_name(std::size_t k);
    static void begin(const std::vector<ParameterType>& parameters);
    static void abandon() noexcept;
    static Function end(std::string name, int fast_math, bool checks, const std::string& where);

private:
    std::shared_ptr<const State> state_;
};
}  // namespace recorded

/// A number in a kernel. It never changes: Var does. Its dtype follows NumPy's rules; plain numbers take the dtype of what they meet.
class PARDO_API Value : public recorded::InKernel {
public:
    template <Number T> Value(T number) : Value(Scalar(number)) {}                                                  ///< a plain number
    Value(const Scalar& number);                                                                                    ///< a number of a dtype
    explicit Value(std::shared_ptr<const recorded::Expression> expression) : expression_(std::move(expression)) {}  ///< internal
    Value(const Value&) = default;
    Value& operator=(const Value&) = delete;  ///< recorded once, it would be lost: Var<T> is a variable
    /// The same number in another dtype.
    template <Element T> Value as() const { return recorded::converted(*this, dtype_of<T>); }
    const std::shared_ptr<const recorded::Expression>& expression() const noexcept { return expression_; }  ///< internal

private:
    std::shared_ptr<const recorded::Expression> expression_;
};

/// An element of an array that a kernel may write: y[i] = v, y[i] += v; read where it is used as a number.
class ElementRef : public recorded::InKernel {
public:
    ElementRef(std::string array, std::vector<Value> index) : array_(std::move(array)), index_(std::move(index)) {}  ///< internal
    ElementRef(const ElementRef&) = default;
    operator Value() const { return recorded::load(array_, index_); }  ///< reads it
    /// Writes it.
    const ElementRef& operator=(const Value& value) const {
        recorded::store(array_, index_, value);
        return *this;
    }
    ElementRef& operator=(const ElementRef& other) {
        recorded::store(array_, index_, Value(other));
        return *this;
    }
    /// Reads it, and writes what comes of that and another number.
    const ElementRef& operator+=(const Value& v) const { return *this = recorded::binary("+", *this, v); }
    const ElementRef& operator-=(const Value& v) const { return *this = recorded::binary("-", *this, v); }
    const ElementRef& operator*=(const Value& v) const { return *this = recorded::binary("*", *this, v); }
    const ElementRef& operator/=(const Value& v) const { return *this = recorded::binary("/", *this, v); }
    const std::string& array() const noexcept { return array_; }         ///< internal
    const std::vector<Value>& index() const noexcept { return index_; }  ///< internal

private:
    std::string array_;
    std::vector<Value> index_;
};

/// A variable of an item, of one dtype: what loops add up in.
template <Element T> class Var : public recorded::InKernel {
public:
    Var(const Value& value) : name_(recorded::new_variable(dtype_of<T>, value)) {}  ///< starts with a number
    /// Starts with a plain number.
    template <Number N> Var(N value) : Var(Value(value)) {}
    Var(const Var& other) : Var(Value(other)) {}
    operator Value() const { return recorded::snapshot(name_); }  ///< what it holds here
    /// Holds another number from here on.
    Var& operator=(const Value& value) {
        recorded::assign(name_, dtype_of<T>, value);
        return *this;
    }
    /// Holds a plain number from here on.
    template <Number N> Var& operator=(N value) { return *this = Value(value); }
    Var& operator=(const Var& other) { return *this = Value(other); }
    /// Changes what it holds.
    Var& operator+=(const Value& v) { return *this = recorded::binary("+", *this, v); }
    Var& operator-=(const Value& v) { return *this = recorded::binary("-", *this, v); }
    Var& operator*=(const Value& v) { return *this = recorded::binary("*", *this, v); }
    Var& operator/=(const Value& v) { return *this = recorded::binary("/", *this, v); }

private:
    std::string name_;
};

// Parameters of a kernel. Negative indices count from the end, as in Python.
/// An array that the kernel reads.
template <Element T> class In {
public:
    explicit In(std::string name) : name_(std::move(name)) {}                                            ///< internal
    Value operator[](const Value& i) const { return recorded::load(name_, i); }                          ///< the element at an index
    Value operator[](std::initializer_list<Value> index) const { return recorded::load(name_, index); }  ///< of several dimensions
    /// Along a dimension.
    Value extent(int dimension = 0) const { return recorded::extent_of(name_, dimension); }

private:
    std::string name_;
};
/// Memory that the kernel reads and writes: an array, or what local_memory and private_memory give.
template <Element T> class InOut {
public:
    explicit InOut(std::string name) : name_(std::move(name)) {}                                ///< internal
    ElementRef operator[](const Value& i) const { return {name_, {i}}; }                        ///< the element at an index
    ElementRef operator[](std::initializer_list<Value> index) const { return {name_, index}; }  ///< of several dimensions
    /// Along a dimension.
    Value extent(int dimension = 0) const { return recorded::extent_of(name_, dimension); }

private:
    std::string name_;
};
/// An array that the kernel writes, and does not read.
template <Element T> class Out : public InOut<T> {
public:
    using InOut<T>::InOut;
};
/// A number that each launch gives.
template <Element T> class Param : public Value {
public:
    using Value::Value;
};

/// The item of a plain range. In one dimension it is its index: y[i], i + 1.
class Item : public recorded::InKernel {
public:
    Value get_id(int dimension) const { return recorded::of_item("get_id", dimension); }        ///< its index
    Value get_range(int dimension) const { return recorded::of_item("get_range", dimension); }  ///< how many items there are
    Value operator[](int dimension) const { return get_id(dimension); }                         ///< get_id
    operator Value() const { return recorded::of_item("get_id", -1); }                          ///< the index of one dimension
};
/// The item of a range in groups.
class NdItem : public recorded::InKernel {
public:
    Value get_global_id(int dimension = 0) const { return recorded::of_item("get_global_id", dimension); }  ///< among all items
    Value get_local_id(int dimension = 0) const { return recorded::of_item("get_local_id", dimension); }    ///< in its group
    Value get_group_id(int dimension = 0) const { return recorded::of_item("get_group_id", dimension); }    ///< of its group
    /// how many items there are
    Value get_global_range(int dimension = 0) const { return recorded::of_item("get_global_range", dimension); }
    Value get_local_range(int dimension = 0) const { return recorded::of_item("get_local_range", dimension); }  ///< items of a group
    Value get_group_range(int dimension = 0) const { return recorded::of_item("get_group_range", dimension); }  ///< groups
    /// Waits for all items of the group, which all come here; what they have written to local memory and arrays is seen then.
    void barrier() const { recorded::barrier(); }
    operator Value() const { return recorded::of_item("get_global_id", -1); }  ///< the index of one dimension
};

// Memory of a group and of an item, undefined at first; the shape is known while the kernel is recorded.
/// Memory of a group, undefined at first; the shape is known while the kernel is recorded.
template <Element T> InOut<T> local_memory(Extents shape) { return InOut<T>(recorded::new_memory("local_array", dtype_of<T>, shape)); }
/// Memory of an item.
template <Element T> InOut<T> private_memory(Extents shape) { return InOut<T>(recorded::new_memory("private_array", dtype_of<T>, shape)); }

/// A branch that is recorded, so that its condition is a value of the kernel. `&&`, `||` and `if` do not compile on these.
template <std::invocable Then> void If(const Value& test, Then&& then) {
    recorded::begin_if(test);
    then();
    recorded::end_block();
}
/// A branch with another one for where the condition is false.
template <std::invocable Then, std::invocable Else> void If(const Value& test, Then&& then, Else&& other) {
    recorded::begin_if(test);
    then();
    recorded::begin_else();
    other();
    recorded::end_block();
}
/// For k from start to before stop: For(0, n, [&](Value k) { … }).
template <std::invocable<Value> Body> void For(const Value& start, const Value& stop, const Value& step, Body&& body) {
    body(recorded::begin_for(start, stop, step));
    recorded::end_block();
}
/// The same by steps of 1.
template <std::invocable<Value> Body> void For(const Value& start, const Value& stop, Body&& body) {
    For(start, stop, 1, std::forward<Body>(body));
}
/// While([&] { return s < 100; }, [&] { … }).
template <class Test, std::invocable Body>
requires std::convertible_to<std::invoke_result_t<Test>, Value>
void While(Test&& test, Body&& body) {
    recorded::begin_while();
    recorded::begin_body(test());
    body();
    recorded::end_block();
}
inline void Break() { recorded::leave(0); }     ///< leaves the innermost loop
inline void Continue() { recorded::leave(1); }  ///< goes on with its next turn
/// Ends the item.
inline void Return() { recorded::leave(2); }

// Several items may change one element: of int32, uint32, int64, uint64, float32 and float64. Each gives what was there before.
/// Adds; several items may change one element, of int32, uint32, int64, uint64, float32 or float64. Gives what was there before.
inline Value atomic_add(const ElementRef& x, const Value& v) { return recorded::atomic("add", x.array(), x.index(), {v}); }
inline Value atomic_sub(const ElementRef& x, const Value& v) { return recorded::atomic("sub", x.array(), x.index(), {v}); }  ///< subtracts
/// The smaller one.
inline Value atomic_min(const ElementRef& x, const Value& v) { return recorded::atomic("min", x.array(), x.index(), {v}); }
inline Value atomic_max(const ElementRef& x, const Value& v) {
    return recorded::atomic("max", x.array(), x.index(), {v});
}  ///< the larger one
/// Bits that both have; of integers.
inline Value atomic_and(const ElementRef& x, const Value& v) { return recorded::atomic("and_", x.array(), x.index(), {v}); }
/// Bits that one has; of integers.
inline Value atomic_or(const ElementRef& x, const Value& v) { return recorded::atomic("or_", x.array(), x.index(), {v}); }
/// Bits that one of them alone has; of integers.
inline Value atomic_xor(const ElementRef& x, const Value& v) { return recorded::atomic("xor", x.array(), x.index(), {v}); }
/// Another number.
inline Value atomic_exchange(const ElementRef& x, const Value& v) { return recorded::atomic("exchange", x.array(), x.index(), {v}); }
/// Writes `desired` if `expected` is there.
inline Value atomic_compare_exchange(const ElementRef& x, const Value& expected, const Value& desired) {
    return recorded::atomic("compare_exchange", x.array(), x.index(), {expected, desired});
}

// Operators and functions, as on arrays: `/` of integers is float64, `%` has the sign of the divisor; but `+` of bools counts, as in
// Python.
#define PARDO_OPERATOR(kind, op) \
    template <class A, class B>  \
    requires recorded::AnyWritten<A, B> Value operator op(const A& a, const B& b) { return recorded::kind(#op, Value(a), Value(b)); }
PARDO_OPERATOR(binary, +)
PARDO_OPERATOR(binary, -)
PARDO_OPERATOR(binary, *)
PARDO_OPERATOR(binary, /)
PARDO_OPERATOR(binary, %)
PARDO_OPERATOR(binary, &)
PARDO_OPERATOR(binary, |)
PARDO_OPERATOR(binary, ^)
PARDO_OPERATOR(binary, <<)
PARDO_OPERATOR(binary, >>)
PARDO_OPERATOR(compare, <)
PARDO_OPERATOR(compare, <=)
PARDO_OPERATOR(compare, >)
PARDO_OPERATOR(compare, >=)
PARDO_OPERATOR(compare, ==)
PARDO_OPERATOR(compare, !=)
#undef PARDO_OPERATOR
template <recorded::Written A> Value operator-(const A& a) { return recorded::unary("-", Value(a)); }    ///< the negative number
template <recorded::Written A> Value operator+(const A& a) { return Value(a); }                          ///< the number
template <recorded::Written A> Value operator~(const A& a) { return recorded::unary("~", Value(a)); }    ///< bits inverted; of bools: not
template <recorded::Written A> Value operator!(const A& a) { return recorded::unary("not", Value(a)); }  ///< not

#define PARDO_FUNCTION(name, called) \
    template <recorded::Written A> Value name(const A& a) { return recorded::call(#called, {Value(a)}); }
PARDO_FUNCTION(sqrt, sqrt)
PARDO_FUNCTION(cbrt, cbrt)
PARDO_FUNCTION(exp, exp)
PARDO_FUNCTION(exp2, exp2)
PARDO_FUNCTION(expm1, expm1)
PARDO_FUNCTION(log, log)
PARDO_FUNCTION(log2, log2)
PARDO_FUNCTION(log10, log10)
PARDO_FUNCTION(log1p, log1p)
PARDO_FUNCTION(sin, sin)
PARDO_FUNCTION(cos, cos)
PARDO_FUNCTION(tan, tan)
PARDO_FUNCTION(arcsin, asin)
PARDO_FUNCTION(arccos, acos)
PARDO_FUNCTION(arctan, atan)
PARDO_FUNCTION(sinh, sinh)
PARDO_FUNCTION(cosh, cosh)
PARDO_FUNCTION(tanh, tanh)
PARDO_FUNCTION(arcsinh, asinh)
PARDO_FUNCTION(arccosh, acosh)
PARDO_FUNCTION(arctanh, atanh)
PARDO_FUNCTION(erf, erf)
PARDO_FUNCTION(erfc, erfc)
PARDO_FUNCTION(gamma, gamma)
PARDO_FUNCTION(gammaln, gammaln)
PARDO_FUNCTION(floor, floor)
PARDO_FUNCTION(ceil, ceil)
PARDO_FUNCTION(trunc, trunc)
PARDO_FUNCTION(rint, rint)
PARDO_FUNCTION(absolute, abs)
PARDO_FUNCTION(sign, sign)
PARDO_FUNCTION(square, square)
PARDO_FUNCTION(isnan, isnan)
PARDO_FUNCTION(isinf, isinf)
PARDO_FUNCTION(isfinite, isfinite)
PARDO_FUNCTION(real, real)
PARDO_FUNCTION(imag, imag)
PARDO_FUNCTION(conjugate, conj)
#undef PARDO_FUNCTION
#define PARDO_FUNCTION(name, called) \
    template <class A, class B>      \
    requires recorded::AnyWritten<A, B> Value name(const A& a, const B& b) { return recorded::call(#called, {Value(a), Value(b)}); }
PARDO_FUNCTION(minimum, minimum)
PARDO_FUNCTION(maximum, maximum)
PARDO_FUNCTION(fmin, fmin)
PARDO_FUNCTION(fmax, fmax)
PARDO_FUNCTION(power, power)
PARDO_FUNCTION(floor_divide, floor_divide)
PARDO_FUNCTION(fmod, fmod)
PARDO_FUNCTION(hypot, hypot)
PARDO_FUNCTION(arctan2, atan2)
PARDO_FUNCTION(copysign, copysign)
PARDO_FUNCTION(logical_and, logical_and)
PARDO_FUNCTION(logical_or, logical_or)
#undef PARDO_FUNCTION
/// One of two values, both of which are computed.
template <class A, class B, class C>
requires recorded::AnyWritten<A, B, C> Value where(const A& test, const B& x, const C& y) {
    return recorded::call("where", {Value(test), Value(x), Value(y)});
}

namespace recorded {
template <class P> struct ParameterOf;
template <> struct ParameterOf<pardo::Item> {
    static constexpr ParameterType type{Parameter::Item, DType::Bool};
    static pardo::Item stand_in(const std::string&) { return {}; }
};
template <> struct ParameterOf<pardo::NdItem> {
    static constexpr ParameterType type{Parameter::NdItem, DType::Bool};
    static pardo::NdItem stand_in(const std::string&) { return {}; }
};
template <class T> struct ParameterOf<In<T>> {
    static constexpr ParameterType type{Parameter::Read, dtype_of<T>};
    static In<T> stand_in(const std::string& name) { return In<T>(name); }
    using Given = Array;
};
template <class T> struct ParameterOf<Out<T>> {
    static constexpr ParameterType type{Parameter::Write, dtype_of<T>};
    static Out<T> stand_in(const std::string& name) { return Out<T>(name); }
    using Given = Array;
};
template <class T> struct ParameterOf<InOut<T>> {
    static constexpr ParameterType type{Parameter::ReadWrite, dtype_of<T>};
    static InOut<T> stand_in(const std::string& name) { return InOut<T>(name); }
    using Given = Array;
};
template <class T> struct ParameterOf<Param<T>> {
    static constexpr ParameterType type{Parameter::Number, dtype_of<T>};
    static Param<T> stand_in(const std::string& name) { return Param<T>(number(name).expression()); }
    using Given = T;
};
inline Function::Argument argument(const Array& x) { return {&x, Scalar()}; }
template <Element T> Function::Argument argument(const T& x) {
    if constexpr (std::same_as<T, Half>) {
        return {nullptr, Scalar(half_to_float(x)).cast(DType::Float16)};
    } else if constexpr (std::same_as<T, BFloat16>) {
        return {nullptr, Scalar(bfloat16_to_float(x)).cast(DType::BFloat16)};
    } else {
        return {nullptr, Scalar(x).cast(dtype_of<T>)};
    }
}
}  // namespace recorded

/// A kernel that takes arrays and numbers in the order of its parameters. A cheap handle, safe from any thread.
template <class... P> class RecordedKernel {
public:
    explicit RecordedKernel(recorded::Function function) : function_(std::move(function)) {}  ///< internal
    /// Runs the function once for each item of a range: of extents, or NdRange{{1024}, {64}}, which is in groups. On the queue of the
    /// arrays, after what is under way on them. Throws what is wrong with the call; what fails later is raised by the next wait.
    Event operator()(Extents range, const typename recorded::ParameterOf<P>::Given&... arguments) const {
        return (*this)(NdRange{{range.begin(), range.end()}, {}}, arguments...);
    }
    /// The same for a range in groups.
    Event operator()(const NdRange& range, const typename recorded::ParameterOf<P>::Given&... arguments) const {
        return function_.launch({recorded::argument(arguments)...}, range, queue_ ? &*queue_ : nullptr);
    }
    /// The same kernel, launched on this queue.
    RecordedKernel on(const Queue& queue) const {
        RecordedKernel other = *this;
        other.queue_ = queue;
        return other;
    }
    /// What was recorded, as Python's statements.
    std::string text() const { return function_.text(); }
    /// "ir", or what the device can show: "llvm", "asm", "opencl", "cuda", "ptx".
    std::string inspect(const std::string& what, const NdRange& range, const typename recorded::ParameterOf<P>::Given&... arguments) const {
        return function_.inspect({recorded::argument(arguments)...}, range, what);
    }

private:
    recorded::Function function_;
    std::optional<Queue> queue_;
};

/// How a kernel is compiled, and what it is called.
struct KernelSettings {
    std::string name = "kernel";  ///< in messages and profiles
    int fast_math = 0;            ///< 1: sums may be reordered, products and sums contracted; 2: and reciprocals of roots may be estimates
    bool checks = false;          ///< indices out of bounds are an Index error, at the next wait; without, they are undefined behaviour
};

namespace recorded {
template <class Item, class... P, class F>
RecordedKernel<P...> record(F& function, const KernelSettings& settings, const std::string& where) {
    static_assert(std::same_as<Item, pardo::Item> || std::same_as<Item, pardo::NdItem>, "the first parameter is an Item or an NdItem");
    Function::begin({ParameterOf<Item>::type, ParameterOf<P>::type...});
    try {
        [&]<std::size_t... k>(std::index_sequence<k...>) {
            function(ParameterOf<Item>::stand_in({}), ParameterOf<P>::stand_in(Function::parameter_name(k))...);
        }
        (std::index_sequence_for<P...>());
    } catch (...) {
        Function::abandon();
        throw;
    }
    return RecordedKernel<P...>(Function::end(settings.name, settings.fast_math, settings.checks, where));
}
template <class F, class R, class C, class... P>
auto record_as(F& function, const KernelSettings& settings, const std::string& where, R (C::*)(P...) const) {
    return record<std::remove_cvref_t<P>...>(function, settings, where);
}
template <class F, class R, class C, class... P>
auto record_as(F& function, const KernelSettings& settings, const std::string& where, R (C::*)(P...)) {
    return record<std::remove_cvref_t<P>...>(function, settings, where);
}
}  // namespace recorded

/// Records a function: kernel([](Item i, In<float> x, Out<float> y) { y[i] = 2 * x[i]; }). It is called once, here: what it does with plain
/// numbers of C++ is done then, and becomes part of the kernel.
template <class F>
auto kernel(F&& function, const KernelSettings& settings = {}, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return recorded::record_as(function, settings, std::string(file) + ":" + std::to_string(line), &std::remove_reference_t<F>::operator());
}

}  // namespace pardo
