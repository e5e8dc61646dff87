// src/array/float_errors.cpp: divisions by zero, overflow, underflow and invalid operations, noted after the fact: from an operation's
// result and its operands follows what IEEE 754 would have signalled, on devices without flags too.
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pardo/binding/hooks.h>
#include <pardo/log.h>
#include <pardo/ops.h>

#include "array/call.h"
#include "array/float_errors.h"
#include "array/operand.h"
#include "plan/force.h"

namespace pardo {

namespace {

using graph::Op;

std::atomic<FloatErrorsHook> errors_hook{nullptr};
std::atomic<FloatReportHook> report_hook{nullptr};
thread_local bool noting = false;  // what notes events is made of operations, too; and so are library calls

constexpr FloatEvent all_events[] = {FloatEvent::Divide, FloatEvent::Over, FloatEvent::Under,
                                     FloatEvent::Invalid};  // as NumPy reports them

constexpr std::uint8_t bit(FloatEvent e) { return static_cast<std::uint8_t>(e); }

const char* text_of(FloatEvent e) {
    switch (e) {
        case FloatEvent::Divide: return "divide by zero";
        case FloatEvent::Over: return "overflow";
        case FloatEvent::Under: return "underflow";
        case FloatEvent::Invalid: return "invalid value";
    }
    return "";
}

/// Passes its first input on, and tells of the events that the second, a mask of them, holds.
struct FloatErrorsCall final : arrays::ArrayCall {
    FloatErrorsCall(const char* op_name, FloatErrors what) : ArrayCall(op_name), errors(std::move(what)) {}

    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        results[0] = inputs[0];
        const auto tell = [what = errors, op_name = name, place = device::current_location()](std::uint8_t found) {
            const FloatReportHook report = report_hook.load(std::memory_order_acquire);
            for (const FloatEvent event : all_events) {
                if (!(found & what.watched & bit(event))) continue;
                const std::string text = std::string(text_of(event)) + " encountered in " + op_name;
                if (what.raised & bit(event)) throw Error(ErrorCode::Float, place.empty() ? text : text + " (at " + place.str() + ")");
                if (report) report(what.reporter, event, found, text, place.str());
            }
        };
        arrays::check_later(inputs[0].node()->queue.get(), name, arrays::memory_of(inputs[0]), arrays::memory_of(inputs[1]), tell);
    }

    graph::ImplementationChoice implementation(std::span<const graph::CallInput>) const override {
        return {"the host, which looks for floating-point errors", {}};
    }

    graph::CallCost cost_row() const override { return graph::CallCost::waits; }

    FloatErrors errors;
};

/// The operands of one operation, and what is asked about them. Conditions that cannot hold, or hold always, are null.
class Events {
public:
    Events(std::uint8_t watched, Array result) : watched_(watched), y_(std::move(result)) {}

    bool wants(FloatEvent e) const { return watched_ & bit(e); }
    void note(FloatEvent e, const Array& where) {
        if (!wants(e)) return;
        const Array any = reduce(Reduction::Any, where);
        const Array flag = pardo::where(any, Scalar(static_cast<int>(bit(e))), Scalar(0)).astype(DType::UInt8);
        flags_ = flags_ ? bitwise_or(*flags_, flag) : flag;
    }
    const Array& y() const { return y_; }
    const std::optional<Array>& flags() const { return flags_; }

private:
    std::uint8_t watched_;
    Array y_;
    std::optional<Array> flags_;
};

using Operands = std::vector<Operand>;

/// Narrows a condition to where all operands pass, of which a test of arrays and one of numbers tells. False: one number does not.
template <class F, class G> bool add_test(Array& condition, const Operands& operands, F&& of_array, G&& of_number) {
    for (const Operand& o : operands) {
        if (o.array()) {
            condition = logical_and(condition, of_array(o));
        } else if (!of_number(o.scalar().as_double())) {
            return false;
        }
    }
    return true;
}

bool add_finite(Array& condition, const Operands& operands) {
    return add_test(
        condition, operands, [](const Operand& o) { return isfinite(o); }, [](double v) { return std::isfinite(v); });
}

bool add_no_nan(Array& condition, const Operands& operands) {
    return add_test(
        condition, operands, [](const Operand& o) { return logical_not(isnan(o)); }, [](double v) { return !std::isnan(v); });
}

/// What may become infinite from finite operands, and why.
enum class Infinite : std::uint8_t { Never, Pole, Over, Divisor, Base };

Infinite infinite(Op op, bool is_complex) {
    switch (op) {
        case Op::log:
        case Op::log2:
        case Op::log10:
        case Op::log1p:
        case Op::arctanh: return Infinite::Pole;
        case Op::divide:
        case Op::floor_divide:
        case Op::reciprocal: return Infinite::Divisor;
        case Op::power:
        case Op::float_power: return Infinite::Base;
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::square:
        case Op::exp:
        case Op::exp2:
        case Op::expm1:
        case Op::sinh:
        case Op::cosh:
        case Op::hypot:
        case Op::rad2deg:
        case Op::nextafter:
        case Op::cast: return Infinite::Over;
        case Op::absolute:
        case Op::tan:
        case Op::tanh: return is_complex ? Infinite::Over : Infinite::Never;
        default: return Infinite::Never;
    }
}

/// NaN comes from these only where an operand is NaN.
bool is_quiet(Op op) {
    switch (op) {
        case Op::negative:
        case Op::positive:
        case Op::absolute:
        case Op::fabs:
        case Op::sign:
        case Op::maximum:
        case Op::minimum:
        case Op::fmax:
        case Op::fmin:
        case Op::clip:
        case Op::clip_within:
        case Op::where:
        case Op::copysign:
        case Op::nextafter:
        case Op::floor:
        case Op::ceil:
        case Op::trunc:
        case Op::rint:
        case Op::round:
        case Op::real:
        case Op::imag:
        case Op::conjugate:
        case Op::heaviside:
        case Op::hypot:
        case Op::exp2:
        case Op::arctan:
        case Op::erf:
        case Op::erfc:
        case Op::cast:
        case Op::from_parts:
        case Op::bitcast: return true;
        default: return op >= Op::erf && op < Op::heaviside;  // special functions report nothing, as SciPy's
    }
}

double least_normal(DType t) { return std::ldexp(1.0, 2 - (1 << (facts_of(t).exponent - 1))); }

/// Results that are too small, and not exact. Sums and differences are exact there; what is told apart by dividing again, or multiplying,
/// misses those that differ from the exact result by less than that division rounds.
void note_underflow(Op op, const Operands& x, Events& events) {
    if (!events.wants(FloatEvent::Under) || is_complex(events.y().dtype())) return;
    const Array& y = events.y();
    Array tiny = less(absolute(y), Scalar(least_normal(y.dtype())));
    if (!add_finite(tiny, x)) return;
    const auto nonzero = [&](const Operand& o) { tiny = logical_and(tiny, not_equal(o, 0)); };
    const auto inexact = [&](const Array& again, const Operand& exact) { tiny = logical_and(tiny, not_equal(again, exact)); };
    switch (op) {
        case Op::multiply:
            nonzero(x[0]);
            nonzero(x[1]);
            inexact(divide(y, x[1]), x[0]);
            break;
        case Op::square:
            nonzero(x[0]);
            inexact(divide(y, x[0]), x[0]);
            break;
        case Op::divide:
            nonzero(x[0]);
            inexact(multiply(y, x[1]), x[0]);
            break;
        case Op::reciprocal: inexact(multiply(y, x[0]), Scalar(1)); break;
        case Op::power:
        case Op::float_power: nonzero(x[0]); break;
        case Op::exp:
        case Op::exp2: break;
        case Op::cast: inexact(y.astype(x[0].array()->dtype()), x[0]); break;
        default: return;
    }
    events.note(FloatEvent::Under, tiny);
}

void note_infinite(Op op, const Operands& x, Events& events) {
    const Infinite kind = infinite(op, x[0].array() && is_complex(x[0].array()->dtype()));
    if (kind == Infinite::Never || !(events.wants(FloatEvent::Divide) || events.wants(FloatEvent::Over))) return;
    Array made = isinf(events.y());
    if (!add_finite(made, x)) return;
    switch (kind) {
        case Infinite::Never: return;
        case Infinite::Pole: return events.note(FloatEvent::Divide, made);
        case Infinite::Over: return events.note(FloatEvent::Over, made);
        case Infinite::Divisor:
        case Infinite::Base: break;
    }
    const Array pole = equal(kind == Infinite::Base || op == Op::reciprocal ? x[0] : x[1], 0);
    events.note(FloatEvent::Divide, logical_and(made, pole));
    events.note(FloatEvent::Over, logical_and(made, logical_not(pole)));
}

void note_invalid(Op op, const Operands& x, Events& events) {
    if (!events.wants(FloatEvent::Invalid) || is_quiet(op)) return;
    Array made = isnan(events.y());
    if (add_no_nan(made, x)) events.note(FloatEvent::Invalid, made);
}

/// Integers have divisions by zero, and one quotient that does not fit.
void note_of_integers(Op op, const Operands& x, DType loop, Events& events) {
    if (op == Op::reciprocal) {
        events.note(FloatEvent::Divide, equal(x[0], 0));
        return events.note(FloatEvent::Invalid, equal(x[0], 0));
    }
    if (op != Op::floor_divide && op != Op::remainder && op != Op::fmod) return;
    // The divisor meets each element: where there is none, nothing is divided.
    events.note(FloatEvent::Divide, logical_and(equal(x[1], 0), equal(events.y(), events.y())));
    if (op != Op::floor_divide || kind_of(loop) != DKind::Signed || !events.wants(FloatEvent::Over)) return;
    const std::int64_t least = -1 - static_cast<std::int64_t>(std::numeric_limits<std::uint64_t>::max() >> (65 - 8 * itemsize(loop)));
    events.note(FloatEvent::Over, logical_and(equal(x[0], Scalar(least)), equal(x[1], -1)));
}

/// Floats that an integer dtype does not hold.
void note_of_integer_cast(const Array& x, DType to, Events& events) {
    if (!events.wants(FloatEvent::Invalid) || to == DType::Bool || !is_inexact(x.dtype())) return;
    const Array values = trunc(is_complex(x.dtype()) ? real(x) : x);
    const int bits = 8 * itemsize(to);
    const bool has_sign = kind_of(to) == DKind::Signed;
    const double over = std::ldexp(1.0, has_sign ? bits - 1 : bits), least = has_sign ? -over : 0.0;
    const Array wide = values.astype(computed_in(values.dtype()), false);
    const Array fits = logical_and(greater_equal(wide, Scalar(least)), less(wide, Scalar(over)));
    events.note(FloatEvent::Invalid, logical_not(fits));
}

/// What the program asks for at this moment; nothing while events are being noted.
FloatErrors asked() {
    const FloatErrorsHook hook = errors_hook.load(std::memory_order_acquire);
    return hook && !noting ? hook() : FloatErrors{};
}

Array with_events(const char* op_name, FloatErrors errors, const Events& events) {
    if (!events.flags()) return events.y();
    const Array inputs[] = {events.y(), *events.flags()};
    const bool is_number = events.y().is_scalar_value();
    Array result = arrays::record(Ref<arrays::ArrayCall>(new FloatErrorsCall(op_name, std::move(errors))), inputs,
                                  {inputs[0].dtype(), arrays::shape_of(inputs[0])});
    result.node()->scalar_value = is_number;
    return result;
}

}  // namespace

namespace arrays {

NoFloatErrors::NoFloatErrors() noexcept : outer_(std::exchange(noting, true)) {}
NoFloatErrors::~NoFloatErrors() { noting = outer_; }

bool float_errors_wanted() noexcept { return errors_hook.load(std::memory_order_relaxed) != nullptr; }

Array note_float_errors(Op op, std::span<const Operand> operands, DType loop, Array (*compute)(const void*), const void* context) {
    FloatErrors errors = asked();
    if (!errors.watched) return compute(context);
    std::vector<Array> kept;
    kept.reserve(operands.size());
    for (const Operand& o : operands) kept.push_back(o.array() ? *o.array() : Array());
    const arrays::NoFloatErrors scope;
    Events events(errors.watched, compute(context));
    if (events.y().size() == 0 || events.y().dtype() == DType::Bool) return events.y();
    Operands x;
    std::vector<Array> cast_arrays;
    cast_arrays.reserve(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!operands[i].array()) {
            x.emplace_back(operands[i].scalar());
        } else if (op == Op::cast) {
            x.emplace_back(kept[i]);
        } else {
            cast_arrays.push_back(arrays::cast(kept[i], loop));
            x.emplace_back(cast_arrays.back());
        }
    }
    if (op == Op::cast && is_integer(events.y().dtype())) {
        note_of_integer_cast(kept[0], events.y().dtype(), events);
    } else if (is_integer(loop)) {
        note_of_integers(op, x, loop, events);
    } else if (is_inexact(events.y().dtype())) {
        note_infinite(op, x, events);
        note_underflow(op, x, events);
        note_invalid(op, x, events);
    }
    return with_events(graph::name(op), std::move(errors), events);
}

Array note_float_errors_of_fold(const Array& x, const Array& folded, std::uint32_t axes, bool keepdims) {
    FloatErrors errors = asked();
    if (!errors.watched || !is_inexact(folded.dtype()) || folded.size() == 0) return folded;
    const arrays::NoFloatErrors scope;
    std::vector<std::int64_t> list;
    for (int d = 0; d < x.ndim(); ++d) {
        if (axes >> d & 1) list.push_back(d);
    }
    Events events(errors.watched, folded);
    if (events.wants(FloatEvent::Over)) {
        events.note(FloatEvent::Over, logical_and(isinf(folded), reduce(Reduction::All, isfinite(x), list, keepdims)));
    }
    if (events.wants(FloatEvent::Invalid)) {
        const Array nan = reduce(Reduction::Any, isnan(x), list, keepdims);
        events.note(FloatEvent::Invalid, logical_and(isnan(folded), logical_not(nan)));
    }
    return with_events("reduce", std::move(errors), events);
}

}  // namespace arrays

void set_float_errors_hooks(FloatErrorsHook errors, FloatReportHook report) {
    report_hook.store(report, std::memory_order_release);
    errors_hook.store(errors, std::memory_order_release);
}

}  // namespace pardo
