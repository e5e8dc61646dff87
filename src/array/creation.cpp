// src/array/creation.cpp: arrays from nothing; all but `empty` are recorded, so they fuse into what reads them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include <pardo/error.h>
#include <pardo/ops.h>

#include "array/record.h"
#include "base/counters.h"
#include "base/promotion.h"

namespace pardo {
namespace {

Shape checked(const char* op_name, Extents shape, DType dtype) {
    check_rank(op_name, shape.size());
    (void)graph::byte_count(dtype, shape, op_name);
    return Shape(shape);
}

/// Number of elements of arange for integers; in 128 bits nothing overflows.
std::int64_t integer_length(__int128 start, __int128 stop, __int128 step) {
    if (step == 0) throw Error(ErrorCode::Value, "arange: step must not be zero");
    const __int128 distance = step > 0 ? stop - start : start - stop;
    if (distance <= 0) return 0;
    const __int128 size = step > 0 ? step : -step;
    const __int128 count = (distance + size - 1) / size;
    if (count > std::numeric_limits<std::int64_t>::max()) throw Error(ErrorCode::Value, "arange: Maximum allowed size exceeded");
    return static_cast<std::int64_t>(count);
}

std::int64_t float_length(double start, double stop, double step) {
    if (step == 0) throw Error(ErrorCode::Value, "arange: step must not be zero");
    const double share = (stop - start) / step;
    if (share == 0 && start != stop) return std::signbit(share) ? 0 : 1;  // of an infinite step, or of one that is much too long
    const double count = std::ceil(share);
    if (std::isnan(count)) throw Error(ErrorCode::Value, "arange: cannot compute length");
    if (count >= 9223372036854775808.0) throw Error(ErrorCode::Value, "arange: Maximum allowed size exceeded");
    return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

__int128 wide(const Scalar& s) {
    return kind_of(s.dtype) == DKind::Unsigned ? static_cast<__int128>(s.u) : static_cast<__int128>(s.as_int());
}

Scalar strong(DType dtype, std::int64_t value) {
    Scalar s(value);
    s.weak = false;
    return s.cast(dtype);
}

/// A value that is already of the dtype it is to have.
Scalar strong(DType dtype, double value) {
    Scalar s(value);
    s.weak = false;
    return s.cast(dtype);
}

/// first + i * delta as NumPy fills it: the second element is given, the step is what lies between the first two.
Array ramp(const Array& index, const Scalar& first, const Scalar& second, DType dtype) {
    const DType loop = dtype == DType::Bool ? DType::Int64 : computed_in(real_of(dtype));
    const Array i = index.astype(loop, false);
    Array result = i;
    if (is_float(loop)) {
        const double a = first.as_double(), b = second.as_double();
        const Scalar delta = strong(loop, b - a), start = strong(loop, a);
        result = add(multiply(i, delta), start);
        const double again = strong(loop, a + delta.as_double()).as_double();
        if (again != b) result = where(equal(i, strong(loop, 1.0)), strong(loop, b), result);
    } else {
        const auto a = static_cast<std::uint64_t>(wide(first)), b = static_cast<std::uint64_t>(wide(second));
        const Scalar delta = strong(loop, static_cast<std::int64_t>(b - a)), start = strong(loop, static_cast<std::int64_t>(a));
        if (b - a != 1) result = multiply(i, delta);
        if (a != 0) result = add(result, start);
    }
    return result.astype(dtype, false);
}

/// The index along the only axis, with the same node for every use.
Array index_vector(std::int64_t count, const Queue& queue, const char* op_name) {
    const std::int64_t shape[] = {count};
    return iota(shape, 0, queue, op_name);
}

/// True on and below diagonal k of a matrix.
Array lower_triangle(std::int64_t rows, std::int64_t columns, std::int64_t k, const Queue& queue) {
    const std::int64_t down[] = {rows, 1}, right[] = {1, columns};
    const std::int64_t shift = std::clamp(k, -rows - 1, columns + 1);
    return greater_equal(add(iota(down, 0, queue), shift), iota(right, 1, queue));
}

void require_matrix(const char* op_name, const Array& x) {
    if (x.ndim() < 2)
        throw Error(ErrorCode::Value, std::string(op_name) + ": x must be at least 2-dimensional, got shape " + to_string(x.shape()));
}

}  // namespace

Array full(Extents shape, const Scalar& value, std::optional<DType> dtype, const Queue& queue, const char* op_name) {
    const DType t = dtype.value_or(value.weak ? graph::default_on(queue.impl(), value.dtype) : value.dtype);
    Shape extents = checked(op_name, shape, t);
    if (value.weak && is_integer(t) && is_integer(value.dtype))
        (void)promote_weak(t, value, op_name);  // throws Overflow when it does not fit
    device::Queue* impl = queue.impl();
    counters.recorded.fetch_add(1, std::memory_order_relaxed);
    std::lock_guard guard(graph::state_of(impl).lock);
    return arrays::finish(graph::make_constant(impl, value.cast(t), std::move(extents)));
}

Array zeros(Extents shape, std::optional<DType> dtype, const Queue& queue) {
    return full(shape, Scalar(0), dtype.value_or(graph::default_on(queue.impl(), DType::Float64)), queue, "zeros");
}
Array ones(Extents shape, std::optional<DType> dtype, const Queue& queue) {
    return full(shape, Scalar(1), dtype.value_or(graph::default_on(queue.impl(), DType::Float64)), queue, "ones");
}
Array empty(Extents shape, std::optional<DType> wanted, const Queue& queue, MemoryKind kind, const char* op_name) {
    const DType dtype = wanted.value_or(graph::default_on(queue.impl(), DType::Float64));
    return arrays::make_empty(queue.impl(), dtype, checked(op_name, shape, dtype), op_name, kind);
}

Array iota(Extents shape, int axis, const Queue& queue, const char* op_name) {
    Shape extents = checked(op_name, shape, DType::Int64);
    const int along = normalize_axis(op_name, axis, extents.size());
    device::Queue* impl = queue.impl();
    std::lock_guard guard(graph::state_of(impl).lock);
    return arrays::finish(graph::make_iota(impl, std::move(extents), along));
}

Array arange(const Scalar& start, const Scalar& stop, const Scalar& step, std::optional<DType> dtype, const Queue& queue) {
    if (is_complex(start.dtype) || is_complex(stop.dtype) || is_complex(step.dtype)) {
        throw Error(ErrorCode::Type, "arange: start, stop and step must be real numbers");
    }
    const bool integers = !is_float(start.dtype) && !is_float(stop.dtype) && !is_float(step.dtype);
    const bool huge = start.dtype == DType::UInt64 || stop.dtype == DType::UInt64;  // beyond int64
    const auto natural = [&](DType t) { return graph::default_on(queue.impl(), t); };
    const DType t = dtype.value_or(!integers ? natural(promote_all(std::array{start.dtype, stop.dtype, step.dtype}))
                                   : huge    ? DType::UInt64
                                             : DType::Int64);
    const std::int64_t count = integers ? integer_length(wide(start), wide(stop), wide(step))
                                        : float_length(start.as_double(), stop.as_double(), step.as_double());
    if (t == DType::Bool && count > 2) throw Error(ErrorCode::Type, "arange: no fill-function for data-type bool beyond two elements");
    Scalar first = start, second;
    if (integers) {
        const __int128 next = wide(start) + wide(step);
        const bool beyond = next > std::numeric_limits<std::int64_t>::max();
        second = beyond ? Scalar(static_cast<std::uint64_t>(next)) : Scalar(static_cast<std::int64_t>(next));
    } else {
        second = Scalar(start.as_double() + step.as_double());
    }
    first.weak = second.weak = false;
    const DType element = is_complex(t) ? real_of(t) : t == DType::Bool ? DType::Int64 : t;
    if (count == 1) second = first;  // an infinite step plays no part
    return ramp(index_vector(count, queue, "arange"), first.cast(element), second.cast(element), t);
}

Array linspace(const Scalar& start, const Scalar& stop, std::int64_t num, bool endpoint, std::optional<DType> dtype, const Queue& queue) {
    if (num < 0) throw Error(ErrorCode::Value, "linspace: Number of samples, " + std::to_string(num) + ", must be non-negative.");
    // As NumPy: computed in what the ends and a float of Python promote to, whatever dtype is asked for.
    const auto inexact = [](const Scalar& end) { return is_inexact(end.dtype) ? end.dtype : DType::Float64; };
    const bool complex = is_complex(start.dtype) || is_complex(stop.dtype);
    const DType strong = start.weak ? inexact(stop) : stop.weak ? inexact(start) : promote(inexact(start), inexact(stop));
    const DType ends = start.weak && stop.weak ? complex ? DType::Complex128 : DType::Float64
                       : complex               ? promote(DType::Complex64, strong)
                                               : strong;
    const DType loop = graph::default_on(queue.impl(), ends);
    const Scalar from = start.cast(loop), to = stop.cast(loop);
    const auto number = [&](double re, double im) {
        Scalar s = complex ? Scalar(std::complex<double>(re, im)) : Scalar(re);
        s.weak = false;
        return s.cast(loop);
    };
    const Scalar distance = complex ? number(to.c.re - from.c.re, to.c.im - from.c.im) : number(to.f - from.f, 0.0);
    const double re = complex ? distance.c.re : distance.f, im = complex ? distance.c.im : 0.0;
    const double parts = static_cast<double>(endpoint ? num - 1 : num);
    const Array index = index_vector(num, queue, "linspace");
    const Array i = index.astype(loop, false);
    const auto divided = [&] {
        if (!complex) return number(re / parts, 0.0);
        const double inverse =
            loop == DType::Complex128 ? 1.0 / parts : static_cast<float>(1.0 / parts);  // as Smith's algorithm has it for a real divisor
        return number(re * inverse, im * inverse);
    };
    const bool vanishes = parts > 0 && re / parts == 0.0 && im / parts == 0.0;  // a step too small for its dtype: NumPy divides first
    const Array steps =
        vanishes ? multiply(divide(i, number(parts, 0.0)), number(re, im)) : multiply(i, parts > 0 ? divided() : number(re, im));
    Array y = add(steps, from);
    if (endpoint && num > 1) y = where(equal(index, num - 1), to, y);
    const DType t = dtype.value_or(loop);
    return (is_integer(t) ? floor(y) : y).astype(t, false);
}

Array eye(std::int64_t rows, std::int64_t columns, std::int64_t k, std::optional<DType> wanted, const Queue& queue) {
    const DType dtype = wanted.value_or(graph::default_on(queue.impl(), DType::Float64));
    const std::int64_t down[] = {rows, 1}, right[] = {1, columns}, both[] = {rows, columns};
    (void)checked("eye", both, dtype);
    const std::int64_t shift = std::clamp(k, -rows - 1, columns + 1);
    return equal(add(iota(down, 0, queue), shift), iota(right, 1, queue)).astype(dtype, false);
}

Array tril(const Array& x, std::int64_t k) {
    require_matrix("tril", x);
    const Extents shape = x.shape();
    const Array kept = lower_triangle(shape[shape.size() - 2], shape[shape.size() - 1], k, x.queue());
    return where(kept, x, Scalar(false));
}

Array triu(const Array& x, std::int64_t k) {
    require_matrix("triu", x);
    const Extents shape = x.shape();
    const Array dropped = lower_triangle(shape[shape.size() - 2], shape[shape.size() - 1], k == INT64_MIN ? k : k - 1, x.queue());
    return where(dropped, Scalar(false), x);
}

}  // namespace pardo
