// src/array/calls/fft.cpp: Fourier transforms.
#include <pardo/fft.h>

#include <algorithm>
#include <cmath>

#include <pardo/ops.h>

#include "array/call.h"
#include "array/operand.h"

namespace pardo {

namespace {

struct FftCall final : arrays::ArrayCall {
    FftCall(const char* op_name, const Fourier& transform, SmallVector<int, 8> axes, const graph::ResultType& type, bool rows)
        : ArrayCall(op_name), what(transform), along(std::move(axes)), result(type), contiguous(rows) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        const routines::Memory x = contiguous ? arrays::contiguous_memory(inputs[0]) : arrays::memory_of(inputs[0]);
        device::Queue* queue = inputs[0].node()->queue.get();
        const arrays::Output out = arrays::make_output(name, queue, result.dtype, result.shape, routines::kind_of(x));
        if (out.memory.size() > 0) routines::fft(queue, x, out.memory, what, along);
        results[0] = out.array;
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node& x = *inputs[0].node;
        return routines::fft.describe(x.queue.get(), contiguous ? routines::described(x.dtype, x.shape) : routines::described(inputs[0]),
                                      routines::described(result.dtype, result.shape), what, along);
    }
    graph::CallCost cost_row() const override { return graph::CallCost::transform; }
    Fourier what;
    SmallVector<int, 8> along;
    graph::ResultType result;
    bool contiguous;  // what the routine wants
};

/// The dtype of float16, float32 and complex64 computed in four bytes a number, of others in eight.
DType computed_in(const device::Queue* queue, DType dtype, bool complex) {
    const bool narrow = pardo::computed_in(real_of(dtype)) == DType::Float32;
    if (complex) return narrow ? DType::Complex64 : graph::default_on(queue, DType::Complex128);
    return narrow ? DType::Float32 : graph::default_on(queue, DType::Float64);
}

Array cut_off(const Array& x, int axis, std::int64_t length) {
    std::vector<IndexPart> index(static_cast<std::size_t>(axis), Slice{});
    index.emplace_back(Slice{0, length, 1});
    return x[index];
}

Array filled_up(const Array& x, int axis, std::int64_t length) {
    Shape shape = arrays::shape_of(x);
    shape[axis] = length - shape[axis];
    const Array parts[] = {x, zeros(shape, x.dtype(), x.queue())};
    return concat(parts, axis);
}

Array recorded(const char* op_name, const Fourier& what, const Array& x, SmallVector<int, 8> axes, const graph::ResultType& type,
               bool rows) {
    return arrays::record(Ref<arrays::ArrayCall>(new FftCall(op_name, what, std::move(axes), type, rows)), std::span(&x, 1), type);
}

std::int64_t length_of(const Array& x, int axis) { return x.shape()[static_cast<std::size_t>(axis)]; }

constexpr std::int64_t worth_moving = 1 << 20;  // elements

/// The transform on a device whose routine has no factors, half spectra in one direction and along one axis, and wants rows.
Array in_parts(const char* op_name, const Fourier& what, Array x, SmallVector<int, 8> axes, const graph::ResultType& type) {
    // Along axes of length one a number is its own transform: libraries need not know them.
    if (const int halved = axes.back(); what.transform != Transform::Complex && std::max(length_of(x, halved), type.shape[halved]) == 1) {
        Fourier others = what;
        others.transform = Transform::Complex;
        axes.pop_back();
        if (what.transform == Transform::RealToComplex) return in_parts(op_name, others, x.astype(type.dtype), std::move(axes), type);
        return real(in_parts(op_name, others, x, std::move(axes), {x.dtype(), type.shape}));
    }
    if (what.transform == Transform::Complex) {
        axes = [&] {
            SmallVector<int, 8> longer;
            for (const int axis : axes) {
                if (length_of(x, axis) > 1) longer.push_back(axis);
            }
            return longer;
        }();
        if (axes.empty()) return multiply(x, what.factor);
    }
    // The halved axis is made the last one: lines of real numbers with others between them begin where cuFFT takes no complex number. So is
    // the only axis of a large transform, if the library takes several times as long where a line's elements are far apart.
    const int end = x.ndim() - 1;
    const bool far_apart = axes.size() == 1 && x.size() >= worth_moving && routines::fft_wants_lines.applies(x.node()->queue.get());
    if (const int halved = axes.back(); (what.transform != Transform::Complex || far_apart) && halved != end) {
        graph::ResultType turned = type;
        std::rotate(turned.shape.begin() + halved, turned.shape.begin() + halved + 1, turned.shape.end());
        for (int& axis : axes) axis = axis == halved ? end : axis > halved ? axis - 1 : axis;
        const std::int64_t here[] = {halved}, there[] = {end};
        return moveaxis(in_parts(op_name, what, moveaxis(x, here, there), std::move(axes), turned), there, here);
    }
    // The other direction of half spectra is that of conjugated ones.
    Fourier plain = what;
    plain.factor = 1;
    if (what.transform != Transform::Complex) plain.forward = what.transform == Transform::RealToComplex;
    const bool turned = plain.forward != what.forward;
    if (what.transform == Transform::ComplexToReal) {
        if (turned) x = conjugate(x);
        const int last = axes.back();
        if (axes.size() > 1) {
            axes.pop_back();
            Fourier others = plain;
            others.transform = Transform::Complex;
            x = recorded(op_name, others, x, std::move(axes), {x.dtype(), arrays::shape_of(x)}, true);
        }
        // Imaginary parts that a real signal has not are not to be looked at.
        const Array place = iota(x.shape(), last, x.queue());
        Array real_ones = equal(place, std::int64_t{0});
        if (type.shape[last] % 2 == 0) real_ones = logical_or(real_ones, equal(place, type.shape[last] / 2));
        x = where(real_ones, real(x).astype(x.dtype()), x);
        axes = {last};
    }
    Array output = recorded(op_name, plain, x, std::move(axes), type, true);
    if (what.factor != 1) output = multiply(output, what.factor);
    return turned && what.transform == Transform::RealToComplex ? conjugate(output) : output;
}

}  // namespace

Array fft::transform(const Array& x, const Fourier& what, Extents lengths, Extents axes, const char* op_name) {
    if (lengths.size() != axes.size() || axes.empty()) routines::fail(ErrorCode::Value, op_name, "Shape and axes have different lengths.");
    const bool from_complex = what.transform == Transform::Complex || what.transform == Transform::ComplexToReal;
    const bool to_complex = what.transform == Transform::Complex || what.transform == Transform::RealToComplex;
    if (!from_complex && is_complex(x.dtype()))
        routines::fail(ErrorCode::Type, op_name, "the input must be real, not " + std::string(dtype_name(x.dtype())));
    SmallVector<int, 8> along;
    Array input = x;
    Shape shape = arrays::shape_of(x);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const int axis = arrays::checked_axis(op_name, axes[i], x.ndim());
        if (std::ranges::find(along, axis) != along.end()) routines::fail(ErrorCode::Value, op_name, "an axis is named twice");
        if (lengths[i] < 1)
            routines::fail(ErrorCode::Value, op_name, "Invalid number of FFT data points (" + std::to_string(lengths[i]) + ") specified.");
        along.push_back(axis);
        const bool last = i + 1 == axes.size();
        const std::int64_t half = lengths[i] / 2 + 1;
        const std::int64_t wanted = last && what.transform == Transform::ComplexToReal ? half : lengths[i];
        if (length_of(input, axis) > wanted) input = cut_off(input, axis, wanted);
        shape[axis] = last && what.transform == Transform::RealToComplex ? half : lengths[i];
    }
    device::Queue* queue = x.node()->queue.get();
    (void)graph::byte_count(computed_in(queue, x.dtype(), true), shape, op_name);
    input = arrays::cast(input, computed_in(queue, x.dtype(), from_complex));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const bool half = i + 1 == axes.size() && what.transform == Transform::ComplexToReal;
        const std::int64_t wanted = half ? lengths[i] / 2 + 1 : lengths[i];
        if (length_of(input, along[static_cast<int>(i)]) < wanted) input = filled_up(input, along[static_cast<int>(i)], wanted);
    }
    const graph::ResultType result{computed_in(queue, x.dtype(), to_complex), std::move(shape)};
    if (routines::fft_in_parts(queue, what.transform)) return in_parts(op_name, what, std::move(input), std::move(along), result);
    return recorded(op_name, what, input, std::move(along), result, false);
}

bool fft::on_device(const Queue& queue) { return routines::fft_in_parts.describe(queue.impl(), Transform::Complex).name != "copies"; }

namespace fft {
namespace {

/// What a transform of so many points is multiplied by.
double factor(Norm norm, bool forward, std::int64_t points) {
    const double n = static_cast<double>(points);
    if (norm == Norm::Ortho) return 1 / std::sqrt(n);
    return (norm == Norm::Forward) == forward ? 1 / n : 1;
}

Array along_axis(const char* op_name, Transform what, bool forward, const Array& x, std::optional<std::int64_t> n, std::int64_t axis,
                 Norm norm) {
    const std::int64_t extent = length_of(x, arrays::checked_axis(op_name, axis, x.ndim()));
    const std::int64_t points = n.value_or(what == Transform::ComplexToReal ? 2 * (extent - 1) : extent);
    return transform(x, {what, forward, points > 0 ? factor(norm, forward, points) : 1}, points, axis, op_name);
}

/// All axes where none are named.
SmallVector<std::int64_t, 8> axes_of(const char* op_name, const Array& x, const Axes& axes) {
    SmallVector<std::int64_t, 8> along;
    const int dimensions = x.ndim();
    for (int d = 0; !axes && d < dimensions; ++d) along.push_back(d);
    for (const std::int64_t axis : *axes) along.push_back(arrays::checked_axis(op_name, axis, dimensions));
    return along;
}

Array along_axes(const char* op_name, Transform what, bool forward, const Array& x, const Axes& axes, Norm norm,
                 std::optional<std::int64_t> last = {}) {
    const SmallVector<std::int64_t, 8> along = axes_of(op_name, x, axes);
    if (along.empty()) {
        if (what == Transform::Complex) return x;
        routines::fail(ErrorCode::Value, op_name, "at least 1 axis must be transformed");
    }
    SmallVector<std::int64_t, 8> lengths;
    for (const std::int64_t axis : along) lengths.push_back(length_of(x, static_cast<int>(axis)));
    if (what == Transform::ComplexToReal) lengths.back() = last.value_or(2 * (lengths.back() - 1));
    std::int64_t points = 1;
    for (const std::int64_t length : lengths) points *= length;
    return transform(x, {what, forward, points > 0 ? factor(norm, forward, points) : 1}, lengths, along, op_name);
}

/// By half the extents, rounded down in one direction and up in the other.
Array shifted(const char* op_name, const Array& x, const Axes& axes, bool back) {
    const SmallVector<std::int64_t, 8> along = axes_of(op_name, x, axes);
    if (along.empty()) return x;
    SmallVector<std::int64_t, 8> by;
    for (const std::int64_t axis : along) by.push_back((back ? -1 : 1) * (length_of(x, static_cast<int>(axis)) / 2));
    return roll(x, by, Extents(along));
}

/// 0, 1, … and behind the first `count` negative ones.
Array frequencies(const char* op_name, std::int64_t n, std::int64_t count, std::int64_t negative, double d, const Queue& queue) {
    if (n < 1) routines::fail(ErrorCode::Value, op_name, "there is at least one point, not " + std::to_string(n));
    if (d == 0) routines::fail(ErrorCode::Value, op_name, "points are not 0 apart");
    const Array place = arange(std::int64_t{0}, count + negative, std::int64_t{1}, DType::Int64, queue);
    return multiply(where(less(place, count), place, subtract(place, n)), 1 / (static_cast<double>(n) * d));
}

}  // namespace

Array fft(const Array& x, std::optional<std::int64_t> n, std::int64_t axis, Norm norm) {
    return along_axis("fft", Transform::Complex, true, x, n, axis, norm);
}
Array ifft(const Array& x, std::optional<std::int64_t> n, std::int64_t axis, Norm norm) {
    return along_axis("ifft", Transform::Complex, false, x, n, axis, norm);
}
Array rfft(const Array& x, std::optional<std::int64_t> n, std::int64_t axis, Norm norm) {
    return along_axis("rfft", Transform::RealToComplex, true, x, n, axis, norm);
}
Array irfft(const Array& x, std::optional<std::int64_t> n, std::int64_t axis, Norm norm) {
    const Array result = along_axis("irfft", Transform::ComplexToReal, false, x, n, axis, norm);
    return is_narrow_float(x.dtype()) ? result.astype(x.dtype()) : result;  // as NumPy
}
Array rfftn(const Array& x, const Axes& axes, Norm norm) { return along_axes("rfftn", Transform::RealToComplex, true, x, axes, norm); }
Array irfftn(const Array& x, const Axes& axes, std::optional<std::int64_t> last, Norm norm) {
    const Array result = along_axes("irfftn", Transform::ComplexToReal, false, x, axes, norm, last);
    return is_narrow_float(x.dtype()) ? result.astype(x.dtype()) : result;  // as NumPy
}
Array fftfreq(std::int64_t n, double d, const Queue& queue) { return frequencies("fftfreq", n, (n + 1) / 2, n / 2, d, queue); }
Array rfftfreq(std::int64_t n, double d, const Queue& queue) { return frequencies("rfftfreq", n, n / 2 + 1, 0, d, queue); }
Array fftshift(const Array& x, const Axes& axes) { return shifted("fftshift", x, axes, false); }
Array ifftshift(const Array& x, const Axes& axes) { return shifted("ifftshift", x, axes, true); }

Array fftn(const Array& x, const Axes& axes, Norm norm) { return along_axes("fftn", Transform::Complex, true, x, axes, norm); }
Array ifftn(const Array& x, const Axes& axes, Norm norm) { return along_axes("ifftn", Transform::Complex, false, x, axes, norm); }

}  // namespace fft
}  // namespace pardo
