// src/lang/calls.cpp: what a kernel may call: NumPy's and Python's functions, the item's methods, other functions of the user.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "lang/lowering.h"

namespace pardo::lang {

/// The functions by name. Each gets the call and its arguments.
struct Calls {
    static constexpr int most_fields = 64;
    using Terms = std::vector<Term>;
    using Handler = Term (*)(Lowering& l, const Tree& t, const Terms& a);
    struct Row {
        int least, most;  // arguments
        Handler handler;
        const char* names = "";  // of those that may be given by name; "a|b": by either
    };
    static const std::unordered_map<std::string, Row>& functions();
    static const std::map<std::string, Row>& methods();

    static Term number_of(Lowering& l, const Tree& t, const Terms& a, std::size_t k) {
        return l.need_number(a[k], t.parts[std::min(k, t.parts.size() - 1)].place, t.name.c_str());
    }

    template <ir::Math fn> static Term math(Lowering& l, const Tree& t, const Terms& a) {
        for (std::size_t k = 0; k < a.size(); ++k) (void)number_of(l, t, a, k);
        for (const Term& x : a)
            if (is_complex(x.type.dtype) && !complex_form(fn)) l.wrong_type(t.place, t.name + ": complex numbers have no such function");
        return l.math(fn, a, t.place);
    }
    static bool complex_form(ir::Math fn) {
        switch (fn) {
            case ir::Math::cbrt:
            case ir::Math::atan2:
            case ir::Math::hypot:
            case ir::Math::copysign:
            case ir::Math::nextafter:
            case ir::Math::floor:
            case ir::Math::ceil:
            case ir::Math::trunc:
            case ir::Math::rint:
            case ir::Math::erf:
            case ir::Math::erfc:
            case ir::Math::logaddexp:
            case ir::Math::logaddexp2:
            case ir::Math::tgamma:
            case ir::Math::lgamma: return false;
            default: return true;
        }
    }

    /// floor and its like leave integers alone.
    template <ir::Math fn> static Term rounding(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        return is_inexact(x.type.dtype) ? math<fn>(l, t, a) : x;
    }
    /// As the functions of Python's math: the result is an int.
    template <ir::Math fn> static Term rounding_to_int(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = rounding<fn>(l, t, a);
        return l.to_int(x, t.place);
    }
    /// An integer rounded to a multiple of ten to the power of `zeros`; halves go to the even one. In integers: floats would be inexact.
    static Term rounded_to_tens(Lowering& l, const Tree& t, const Term& given, std::int64_t zeros) {
        const Term x = given.type.dtype == DType::Bool ? l.cast(given, {DType::Int64, true}) : given;
        const NumberType wide{l.dtype(x.type) == DType::UInt64 ? DType::UInt64 : DType::Int64, false};
        if (zeros > (wide.dtype == DType::UInt64 ? 19 : 18)) return l.cast(integer(0), x.type);
        Scalar tens(std::uint64_t(1));
        for (std::int64_t k = 0; k < zeros; ++k) tens.u *= 10;
        const auto part = [&](const char* op, const Term& a, const Term& b) { return l.binary(op, a, b, t.place); };
        const Term factor = l.cast(number(tens), wide), whole = l.cast(x, wide);
        const Term above = part("%", whole, factor), below = part("-", factor, above), low = part("-", whole, above);
        const Term odd = l.compared("==", part("%", part("//", whole, factor), l.cast(integer(2), wide)), integer(1), t.place);
        const Term half = l.pure(Opcode::And, {DType::Bool, false}, {l.compared("==", above, below, t.place), odd}, DType::Bool);
        const Term up = l.pure(Opcode::Or, {DType::Bool, false}, {l.compared(">", above, below, t.place), half}, DType::Bool);
        return l.cast(l.selected(up, {part("+", low, factor), t.place}, {low, t.place}, t.place), x.type);
    }
    template <bool numpy> static Term round(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        if (a.size() == 1) return numpy ? rounding<ir::Math::rint>(l, t, a) : rounding_to_int<ir::Math::rint>(l, t, a);
        const Term digits = number_of(l, t, a, 1);
        if (!digits.constant) l.wrong_type(t.place, "round: the number of digits must be a constant");
        if (!is_inexact(x.type.dtype)) return digits.scalar.as_int() < 0 ? rounded_to_tens(l, t, x, -digits.scalar.as_int()) : x;
        double scale = 1;
        for (std::int64_t k = 0; k < std::abs(digits.scalar.as_int()); ++k) scale *= 10;
        const Term factor = number(Scalar(scale));
        const bool up = digits.scalar.as_int() >= 0;
        const Terms scaled{l.binary(up ? "*" : "/", x, factor, t.place)};
        return l.binary(up ? "/" : "*", math<ir::Math::rint>(l, t, scaled), factor, t.place);
    }

    /// Two operands of one dtype.
    static Term pair(Lowering& l, const Tree& t, Opcode op, const Term& a, const Term& b) {
        const bool extreme = op == Opcode::Min || op == Opcode::Max || op == Opcode::Fmin || op == Opcode::Fmax;
        const bool wide = extreme && outgrows(a, b);
        if (wide && (a.type.dtype == DType::UInt64 || b.type.dtype == DType::UInt64))
            l.wrong_type(t.place,
                         t.name + ": " + describe(a) + " and " + describe(b) + " have no common integer dtype; convert one of the two");
        NumberType type = wide ? NumberType{DType::Int64, true} : l.promoted(a, b, t.place);
        if (type.dtype == DType::Bool) {  // NumPy's: one of two bools is a bool, what is left of a division an int8
            if (op == Opcode::Fmin) op = Opcode::Min;
            if (op == Opcode::Fmax) op = Opcode::Max;
            if (op == Opcode::Fmod) type = {DType::Int8, false};
        }
        if (type.dtype == DType::Bool && a.type.dtype != b.type.dtype) type = {DType::Int64, true};
        if (is_complex(type.dtype)) l.wrong_type(t.place, t.name + ": complex numbers have no order");
        l.check_operands(op, a, b, l.dtype(type), t.place);
        Term out = l.pure(op, type, {a, b}, l.dtype(type));
        if (is_integer(type.dtype) && !out.constant) {
            const bool smaller = op == Opcode::Min || op == Opcode::Fmin;
            out.least = smaller ? std::min(a.least, b.least) : std::max(a.least, b.least);
            out.given = type.weak && is_given(a) && is_given(b);
            l.bound(out, op, a, b, t.place, false);
        }
        return out;
    }
    /// The first that no other comes before.
    static Term extreme_tuple(Lowering& l, const Tree& t, const std::string& before, const Terms& items) {
        Term out = items[0];
        for (const Term& other : std::span<const Term>(items).subspan(1)) {
            if (other.kind != Kind::Tuple || other.items.size() != out.items.size())
                l.wrong_type(t.place, t.name + ": " + describe(out) + " and " + describe(other) + " have no order");
            out = l.selected(l.compared(before, other, out, t.place), {other, t.place}, {out, t.place}, t.place);
        }
        return out;
    }
    template <Opcode op> static Term extreme(Lowering& l, const Tree& t, const Terms& a) {
        const Terms& items = a.size() == 1 && a[0].kind == Kind::Tuple ? a[0].items : a;
        if (items.empty()) l.fail(ErrorCode::Value, t.place, t.name + ": at least one number is needed");
        if (items[0].kind == Kind::Tuple) return extreme_tuple(l, t, op == Opcode::Min ? "<" : ">", items);
        Term out = l.need_number(items[0], t.place, t.name.c_str());
        for (std::size_t k = 1; k < items.size(); ++k) out = pair(l, t, op, out, l.need_number(items[k], t.place, t.name.c_str()));
        return out;
    }
    static Term abs(Lowering& l, const Tree& t, const Terms& a) {
        if (const auto out = l.by_method("__abs__", a[0], {}, t.place)) return *out;
        const Term x = number_of(l, t, a, 0);
        if (x.type.dtype == DType::Bool) return l.cast(x, {DType::Int64, true});
        const NumberType type{real_of(x.type.dtype), x.type.weak};
        Term out = l.pure(Opcode::Abs, type, {x}, l.dtype(x.type));
        l.bound(out, Opcode::Abs, x, x, t.place, false);
        out.given = x.given;
        return out;
    }
    /// As abs, but always a float: of integers by NumPy's rule for their size, in Python's math the widest.
    template <bool numpy> static Term fabs(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        if (is_complex(x.type.dtype)) l.wrong_type(t.place, t.name + ": complex numbers have no such function; take abs(…)");
        if (is_float(x.type.dtype)) return abs(l, t, a);
        NumberType type{weak_dtype(DType::Float64, l.options_.fp64), x.type.weak};
        const int size = itemsize(x.type.dtype);
        if (numpy && !x.type.weak && size < 4) type.dtype = size == 1 ? DType::Float16 : DType::Float32;
        return abs(l, t, {l.cast(x, type)});
    }
    static Term sign(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        if (is_complex(x.type.dtype) || x.type.dtype == DType::Bool)
            l.wrong_type(t.place, "sign: an integer or float is expected, not " + describe(x));
        const Term zero = l.cast(integer(0), x.type), one = l.cast(integer(1), x.type);
        const Term minus = l.cast(integer(-1), {x.type.dtype, x.type.weak});
        const DType d = l.dtype(x.type);
        const Term positive = l.pure(Opcode::Gt, {DType::Bool, false}, {x, zero}, d);
        const auto choice = [&](const Term& test, const Term& a, const Term& b) {
            return l.selected(test, {a, t.place}, {b, t.place}, t.place);
        };
        if (kind_of(d) == DKind::Unsigned) return choice(positive, one, zero);
        const Term rest = is_float(d) ? choice(l.pure(Opcode::Eq, {DType::Bool, false}, {x, zero}, d), zero, x) : zero;  // NaN stays
        return choice(positive, one, choice(l.pure(Opcode::Lt, {DType::Bool, false}, {x, zero}, d), minus, rest));
    }
    static Term where(Lowering& l, const Tree& t, const Terms& a) {
        const Term test = l.truth(a[0], t.place), x = number_of(l, t, a, 1), y = number_of(l, t, a, 2);
        const NumberType type = x.type == y.type ? x.type : l.promoted(x, y, t.place);
        return l.selected(test, {l.cast(x, type), t.place}, {l.cast(y, type), t.place}, t.place);
    }
    static Term clip(Lowering& l, const Tree& t, const Terms& a) {
        return extreme<Opcode::Min>(l, t, {extreme<Opcode::Max>(l, t, {a[0], a[1]}), a[2]});
    }
    static Term fmod(Lowering& l, const Tree& t, const Terms& a) {
        return pair(l, t, Opcode::Fmod, number_of(l, t, a, 0), number_of(l, t, a, 1));
    }
    static Term fma(Lowering& l, const Tree& t, const Terms& a) {
        Term sum = l.binary("+", l.binary("*", number_of(l, t, a, 0), number_of(l, t, a, 1), t.place), number_of(l, t, a, 2), t.place);
        if (!is_float(sum.type.dtype)) return sum;
        const DType d = l.dtype(sum.type);
        return l.pure(Opcode::Fma, sum.type, {a[0], a[1], a[2]}, d);
    }
    static Term divmod(Lowering& l, const Tree& t, const Terms& a) {
        return tuple({l.binary("//", a[0], a[1], t.place), l.binary("%", a[0], a[1], t.place)});
    }
    static Term square(Lowering& l, const Tree& t, const Terms& a) { return l.binary("*", a[0], a[0], t.place); }
    /// Of integers an integer, as in NumPy: by float32, which is exact enough for -1, 0 and 1.
    static Term reciprocal(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        if (is_inexact(x.type.dtype)) return l.binary("/", integer(1), x, t.place);
        constexpr NumberType single{DType::Float32, false};
        return l.cast(l.pure(Opcode::Div, single, {integer(1), x}, DType::Float32),
                      x.type.dtype == DType::Bool ? NumberType{DType::Int8, false} : x.type);
    }
    static Term is_nan(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        return is_inexact(x.type.dtype) ? l.compared("!=", x, x, t.place) : number(Scalar(false));
    }
    static Term is_inf(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        if (!is_inexact(x.type.dtype)) return number(Scalar(false));
        if (is_complex(x.type.dtype)) l.wrong_type(t.place, t.name + ": test .real and .imag of complex numbers");
        return l.compared("==", abs(l, t, a), number(Scalar(std::numeric_limits<double>::infinity())), t.place);
    }
    static Term is_finite(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        if (!is_inexact(x.type.dtype)) return number(Scalar(true));
        if (is_complex(x.type.dtype)) l.wrong_type(t.place, t.name + ": test .real and .imag of complex numbers");
        return l.compared("<", abs(l, t, a), number(Scalar(std::numeric_limits<double>::infinity())), t.place);
    }
    static Term conjugate(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        if (!is_complex(x.type.dtype)) return x;
        const NumberType part{real_of(x.type.dtype), x.type.weak};
        const DType d = l.dtype(x.type);
        if (l.dry()) return number(x.type, ir::no_value);
        const Value v = l.value(x, d);
        (void)part;
        return number(x.type, l.builder_.complex(l.builder_.real(v), l.builder_.neg(l.builder_.imag(v))));
    }
    template <Opcode op> static Term part(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = number_of(l, t, a, 0);
        const NumberType type{real_of(x.type.dtype), x.type.weak};
        if (!is_complex(x.type.dtype)) return op == Opcode::Real ? x : l.cast(integer(0), type);
        return l.pure(op, type, {x}, l.dtype(x.type));
    }
    template <char op> static Term bits(Lowering& l, const Tree& t, const Terms& a) {
        return l.binary(std::string(1, op), a[0], a[1], t.place);
    }
    template <int op> static Term logic(Lowering& l, const Tree& t, const Terms& a) {
        const Term x = l.truth(a[0], t.place);
        constexpr NumberType type{DType::Bool, false};
        if (op == 3) return l.pure(Opcode::Not, type, {x}, DType::Bool);
        constexpr Opcode ops[] = {Opcode::And, Opcode::Or, Opcode::Xor};
        return l.pure(ops[op % 3], type, {x, l.truth(a[1], t.place)}, DType::Bool);
    }
    template <int op> static Term comparison(Lowering& l, const Tree& t, const Terms& a) {
        constexpr const char* ops[] = {"==", "!=", "<", "<=", ">", ">="};
        return l.compared(ops[op], a[0], a[1], t.place);
    }
    template <int op> static Term operation(Lowering& l, const Tree& t, const Terms& a) {
        constexpr const char* ops[] = {"+", "-", "*", "/", "//", "%", "**", "<<", ">>"};
        return l.binary(ops[op], a[0], a[1], t.place);
    }
    template <char op> static Term of_one(Lowering& l, const Tree& t, const Terms& a) { return l.unary_of({op}, a[0], t.place); }
    template <int numerator> static Term scaled(Lowering& l, const Tree& t, const Terms& a) {  // degrees, radians
        constexpr double pi = 3.14159265358979323846;
        return l.binary("*", number_of(l, t, a, 0), number(Scalar(numerator == 180 ? 180.0 / pi : pi / 180.0)), t.place);
    }

    /// An element of an array, or of a struct of arrays; numbers are their own.
    static Term element(Lowering& l, const Tree& t, const Terms& a) {
        if (first_part(a[0]).kind == Kind::Number) return a[0];
        const Terms indices = a[1].kind == Kind::Tuple ? a[1].items : Terms{a[1]};
        return l.loaded(l.indexed(a[0], indices, t));
    }

    // Python's own.
    static Term length(Lowering& l, const Tree& t, const Terms& a) {
        const Term& counted = is_indexed(a[0]) ? first_part(a[0]) : a[0];  // a record has its fields
        if (counted.kind == Kind::Tuple) return integer(static_cast<std::int64_t>(counted.items.size()));
        if (counted.kind == Kind::Array && counted.view.rank > 0) return counted.view.lead[1];
        l.wrong_type(t.place, "len: an array or a tuple is expected, not " + describe(a[0]));
    }
    template <DKind kind> static Term python_number(Lowering& l, const Tree& t, const Terms& a) {
        if (a.empty()) return kind == DKind::Bool ? number(Scalar(false)) : kind == DKind::Float ? number(Scalar(0.0)) : integer(0);
        const Term x = number_of(l, t, a, 0);
        if (kind == DKind::Bool) return l.truth(x, t.place);
        if (kind == DKind::Complex) {
            const DType d = weak_dtype(DType::Complex128, l.options_.fp64);
            if (a.size() == 1) return l.cast(x, {d, true});
            const Term re = l.cast(x, {real_of(d), true}), im = l.cast(number_of(l, t, a, 1), {real_of(d), true});
            if (l.dry()) return number({d, true}, ir::no_value);
            return number({d, true}, l.builder_.complex(l.value(re), l.value(im)));
        }
        if (is_complex(x.type.dtype)) l.wrong_type(t.place, t.name + ": take .real or abs(…) of a complex number");
        if (kind == DKind::Signed) return l.to_int(x, t.place);
        return l.cast(x, {weak_dtype(DType::Float64, l.options_.fp64), true});
    }
    static Term astype(Lowering& l, const Tree& t, const Terms& a) {  // np.float32(x), x.astype(np.float32)
        if (a[1].kind != Kind::DType) l.wrong_type(t.place, "a dtype is expected, not " + describe(a[1]));
        const Term x = number_of(l, t, a, 0);
        const DType to = a[1].type.dtype;
        if (is_complex(x.type.dtype) && !is_complex(to))
            l.wrong_type(t.place, "a complex number does not fit " + std::string(dtype_name(to)) + "; take .real or abs(…)");
        Term out = l.cast(x, {to, false});
        if (!out.constant && x.least >= 0 && l.holds_least(x, to)) out.least = x.least;
        return out;
    }

    // Arrays of the kernel's own.
    static DType dtype_argument(Lowering& l, const Tree& t, const Terms& a, std::size_t k, DType otherwise) {
        if (k >= a.size()) return otherwise;
        if (a[k].kind != Kind::DType) l.wrong_type(t.place, t.name + ": a dtype is expected, not " + describe(a[k]));
        return a[k].type.dtype;
    }
    /// Arrays for elements of a type: a dtype, a struct or tuple of dtypes, or a value whose type is meant.
    static Term array_of(Lowering& l, const Tree& t, ir::Space space, const Term& type, const std::vector<std::int64_t>& extents) {
        if (type.kind == Kind::Tuple) {
            Term out = tuple_like(type, {});
            out.columns = true;
            for (const Term& item : type.items) out.items.push_back(array_of(l, t, space, item, extents));
            return out;
        }
        if (type.kind != Kind::DType && type.kind != Kind::Number)
            l.wrong_type(t.place, t.name + ": a dtype is expected, not " + describe(type));
        const DType dtype = type.kind == Kind::DType ? type.type.dtype : l.dtype(type.type);
        return l.unwritten_array(space, space == ir::Space::Group ? "local" : "private", dtype, extents, t.place);
    }
    template <ir::Space space> static Term array(Lowering& l, const Tree& t, const Terms& a) {
        if (space == ir::Space::Group && l.space_.group_size.empty())
            l.fail(ErrorCode::Type, t.place, "local_array: items share memory in groups only; launch the kernel over an NdRange");
        const Term type = a.size() > 1 ? a[1] : dtype_term(weak_dtype(DType::Float64, l.options_.fp64));
        return array_of(l, t, space, type, l.constant_extents(a[0], t.place, t.name.c_str()));
    }
    template <int fill> static Term filled(Lowering& l, const Tree& t, const Terms& a) {  // zeros, ones, full
        const bool full = fill == 2;
        const Term value = full ? number_of(l, t, a, 1) : integer(fill);
        const DType d = dtype_argument(l, t, a, full ? 2 : 1, full ? l.dtype(value.type) : weak_dtype(DType::Float64, l.options_.fp64));
        const Term array = l.own_array(ir::Space::Private, t.name, d, l.constant_extents(a[0], t.place, t.name.c_str()), t.place);
        l.store_view(array.view, l.cast(value, {d, false}), t.place);
        return array;
    }
    static Term barrier(Lowering& l, const Tree& t, const Terms&) {
        if (l.space_.group_size.empty())
            l.fail(ErrorCode::Type, t.place, t.name + ": only items of a group can wait for each other; launch the kernel over an NdRange");
        if (!l.dry()) l.builder_.barrier();
        return {};
    }

    static Term structure(Lowering& l, const Tree& t, const Terms& a) { return l.structure(t, a); }
    static Term replaced(Lowering& l, const Tree& t, const Terms& a) { return l.replaced(t, a); }

    static Term print(Lowering& l, const Tree& t, const Terms& a) {
        l.log(a[0].text, std::span<const Term>(a).subspan(1), t.place);
        return {};
    }

    // Atomics: (array, index, value), index an integer or a tuple; or a reference, which stands for array and index.
    static Term reference(Lowering& l, const Tree& t, const Terms& a) {
        if (a[0].kind != Kind::Array) l.wrong_type(t.place, t.name + ": the first argument is an array, not " + describe(a[0]));
        Term out;
        out.kind = Kind::Reference;
        const Terms indices = a[1].kind == Kind::Tuple ? a[1].items : Terms{a[1]};
        Tree place = t;
        place.parts = {t.parts[0]};
        for (std::size_t k = 0; k < indices.size(); ++k) place.parts.push_back(t.parts[1]);
        out.view = l.viewed(a[0].view, indices, place);
        if (out.view.rank != 0)
            l.wrong_type(t.place, t.name + ": `" + a[0].view.name + "` has " + std::to_string(a[0].view.rank) +
                                      " dimensions; give an index for each, as a tuple");
        if (const char* broken = atomic_problem(ir::AtomicOp::Exchange, out.view.dtype))
            l.wrong_type(t.place, t.name + ": " + broken + "; `" + out.view.name + "` is " + std::string(dtype_name(out.view.dtype)));
        for (const Tree& p : t.parts) {
            if (p.form != Form::Keyword) continue;
            const Term word = l.expression(p.parts[0]);
            const auto among = [&](std::initializer_list<const char*> words) {
                const auto* found = std::find(words.begin(), words.end(), word.text);
                if (word.kind == Kind::Text && found != words.end()) return static_cast<int>(found - words.begin());
                std::string known;
                for (const char* w : words) known += (known.empty() ? "'" : ", '") + std::string(w) + "'";
                l.fail(ErrorCode::Value, p.place, t.name + ": " + p.name + " is one of " + known);
            };
            if (p.name == "order") out.order = static_cast<ir::MemoryOrder>(among({"relaxed", "acquire", "release", "acq_rel", "seq_cst"}));
            if (p.name == "scope") out.scope = static_cast<ir::MemoryScope>(among({"work_group", "device", "system"}));
        }
        return out;
    }
    static const char* atomic_problem(ir::AtomicOp op, DType dtype) {
        if (!(is_integer(dtype) || is_float(dtype)) || itemsize(dtype) < 4)
            return "atomics are for int32, uint32, int64, uint64, float32 and float64";
        const bool of_bits = op == ir::AtomicOp::And || op == ir::AtomicOp::Or || op == ir::AtomicOp::Xor;
        return of_bits && !is_integer(dtype) ? "and, or, xor are for integers" : nullptr;
    }
    /// A number that is combined with the element, in its dtype.
    static Term operand(Lowering& l, const Tree& t, const View& v, const Term& x) {
        l.need_number(x, t.place, t.name.c_str());
        if (!can_cast_same_kind(l.dtype(x.type), v.dtype) && !(x.type.weak && is_integer(l.dtype(x.type)) && is_integer(v.dtype)))
            l.wrong_type(t.place,
                         t.name + ": " + describe(x) + " does not fit the " + std::string(dtype_name(v.dtype)) + " array `" + v.name + "`");
        l.check_range(x, v.dtype, t.place);
        return l.cast(x, {v.dtype, false});
    }
    /// What `update` gives, where the indices are in range.
    static Term updated(Lowering& l, const View& v, const std::function<Value(Value place)>& update, bool reads = true) {
        l.note_access(v, ir::Access::ReadWrite);
        if (l.dry()) return number({v.dtype, false}, ir::no_value);
        const auto apply = [&] {
            const Value place = l.value(v.lead[0], DType::Int64);
            if (reads) l.check_written(v, place);
            const Value old = update(place);
            l.mark_written(v, place);
            return ir::Builder::Values{old};
        };
        return number({v.dtype, false}, l.guarded(v, apply, {l.builder_.constant(v.dtype, 0.0)})[0]);
    }
    static Term changed(Lowering& l, const Tree& t, ir::AtomicOp op, const Term& r, const Term& given) {
        const View& v = r.view;
        if (const char* broken = atomic_problem(op, v.dtype))
            l.wrong_type(t.place, t.name + ": " + broken + "; `" + v.name + "` is " + std::string(dtype_name(v.dtype)));
        const Term x = operand(l, t, v, given);
        return updated(
            l, v, [&](Value place) { return l.builder_.atomic(op, v.pointer, place, l.value(x), r.order, r.scope); },
            op != ir::AtomicOp::Exchange);
    }
    static Term exchanged(Lowering& l, const Tree& t, const Term& r, const Term& before, const Term& after) {
        const View& v = r.view;
        const Term expected = operand(l, t, v, before), desired = operand(l, t, v, after);
        return updated(l, v, [&](Value place) {
            return l.builder_.compare_exchange(v.pointer, place, l.value(expected), l.value(desired), r.order, r.scope);
        });
    }
    template <ir::AtomicOp op> static Term atomic(Lowering& l, const Tree& t, const Terms& a) {
        return changed(l, t, op, reference(l, t, a), a[2]);
    }
    static Term compare_exchange(Lowering& l, const Tree& t, const Terms& a) { return exchanged(l, t, reference(l, t, a), a[2], a[3]); }
    template <ir::AtomicOp op> static Term fetch(Lowering& l, const Tree& t, const Terms& a) { return changed(l, t, op, a[0], a[1]); }
    static Term store_atomic(Lowering& l, const Tree& t, const Terms& a) {
        (void)changed(l, t, ir::AtomicOp::Exchange, a[0], a[1]);
        return {};
    }
    /// Equal or not, the element stays: zero for zero.
    static Term load_atomic(Lowering& l, const Tree& t, const Terms& a) {
        return exchanged(l, t, a[0], l.cast(integer(0), {a[0].view.dtype, false}), l.cast(integer(0), {a[0].view.dtype, false}));
    }
    static Term exchange_if(Lowering& l, const Tree& t, const Terms& a) { return exchanged(l, t, a[0], a[1], a[2]); }

    // Where an item stands.
    static int dimension(Lowering& l, const Tree& t, const Terms& a, std::size_t k) {
        if (k >= a.size()) {
            if (l.space_.rank == 1) return 0;
            l.wrong_type(t.place, t.name + ": the range has " + std::to_string(l.space_.rank) + " dimensions; say which one, from 0");
        }
        const Term& d = a[k];
        if (d.kind != Kind::Number || !d.constant || !is_integer(d.type.dtype))
            l.wrong_type(t.place, t.name + ": the dimension is a constant integer");
        const std::int64_t i = d.scalar.i < 0 ? d.scalar.i + l.space_.rank : d.scalar.i;
        if (i < 0 || i >= l.space_.rank)
            l.fail(ErrorCode::Index, t.place,
                   t.name + ": the range has " + std::to_string(l.space_.rank) + (l.space_.rank == 1 ? " dimension" : " dimensions") +
                       ", there is no dimension " + std::to_string(d.scalar.i));
        return static_cast<int>(i);
    }
    static void in_groups(Lowering& l, const Tree& t) {
        if (l.space_.group_size.empty())
            l.fail(ErrorCode::Type, t.place, t.name + ": a plain Range has no groups; launch the kernel over an NdRange");
    }
    enum class Where : std::uint8_t { Global, Local, Group, GlobalSize, LocalSize, GroupCount };
    static Term position(Lowering& l, Where where, int d) {
        const auto made = [&](Value (ir::Builder::*leaf)(int), std::int64_t least) {
            return number({DType::Int64, true}, l.dry() ? ir::no_value : (l.builder_.*leaf)(d), least);
        };
        switch (where) {
            case Where::Global: return made(&ir::Builder::dim, 0);
            case Where::Local: return l.space_.group_size[static_cast<std::size_t>(d)] == 1 ? integer(0) : made(&ir::Builder::local_dim, 0);
            case Where::Group: return made(&ir::Builder::group_dim, 0);
            case Where::GlobalSize: return made(&ir::Builder::extent, 1);
            case Where::LocalSize: return integer(l.space_.group_size[static_cast<std::size_t>(d)]);
            case Where::GroupCount: {
                const Term n = made(&ir::Builder::extent, 1), size = integer(l.space_.group_size[static_cast<std::size_t>(d)]);
                Term count = l.pure(Opcode::FloorDiv, {DType::Int64, true}, {n, size}, DType::Int64);
                count.least = 1;
                return count;
            }
        }
        return {};
    }
    template <Where where> static Term at(Lowering& l, const Tree& t, const Terms& a) {  // methods: a[0] is the object
        if (where != Where::Global && where != Where::GlobalSize) in_groups(l, t);
        return position(l, where, dimension(l, t, a, 1));
    }
    template <Where where> static Term function_at(Lowering& l, const Tree& t, const Terms& a) {
        if (where != Where::Global && where != Where::GlobalSize) in_groups(l, t);
        return position(l, where, dimension(l, t, a, 0));
    }
    template <Where where, Where size> static Term linear(Lowering& l, const Tree& t, const Terms&) {
        if (where != Where::Global) in_groups(l, t);
        Term out = position(l, where, 0);
        for (int d = 1; d < l.space_.rank; ++d) out = l.add(l.mul(out, position(l, size, d)), position(l, where, d));
        return out;
    }
    template <Where size> static Term product(Lowering& l, const Tree& t, const Terms&) {
        if (size != Where::GlobalSize) in_groups(l, t);
        Term out = position(l, size, 0);
        for (int d = 1; d < l.space_.rank; ++d) out = l.mul(out, position(l, size, d));
        return out;
    }
    template <Kind kind> static Term group(Lowering& l, const Tree& t, const Terms&) {
        in_groups(l, t);
        Term g;
        g.kind = kind;
        return g;
    }
    template <Handler place> static Term leader(Lowering& l, const Tree& t, const Terms& a) {
        return l.compared("==", place(l, t, a), integer(0), t.place);
    }

    // Sub-groups: neighbours in row-major order, a power of two of them; the last of a group may have fewer.
    static std::int64_t group_items(const Lowering& l) {
        std::int64_t items = 1;
        for (const std::int64_t n : l.space_.group_size) items *= n;
        return items;
    }
    template <Opcode op> static Term of_sub_group(Lowering& l, const Tree& t, const Terms& a) {  // Rem: the item in it; FloorDiv: which one
        if (group_items(l) <= l.space_.sub_group && op == Opcode::FloorDiv) return integer(0);
        const Term item = linear<Where::Local, Where::LocalSize>(l, t, a);
        if (group_items(l) <= l.space_.sub_group) return item;
        Term out = l.pure(op, {DType::Int64, true}, {item, integer(l.space_.sub_group)}, DType::Int64);
        out.least = 0;
        return out;
    }
    static Term sub_group_most(Lowering& l, const Tree&, const Terms&) {
        return integer(std::min<std::int64_t>(group_items(l), l.space_.sub_group));
    }
    static Term sub_group_size(Lowering& l, const Tree& t, const Terms& a) {
        const std::int64_t items = group_items(l), most = l.space_.sub_group;
        if (items <= most || items % most == 0) return sub_group_most(l, t, a);
        const Term before = l.mul(of_sub_group<Opcode::FloorDiv>(l, t, a), integer(most));
        return pair(l, t, Opcode::Min, integer(most), l.sub(integer(items), before));
    }
    static Term sub_group_count(Lowering& l, const Tree&, const Terms&) {
        return integer((group_items(l) + l.space_.sub_group - 1) / l.space_.sub_group);
    }
    static Term is_sub_group(Lowering& l, const Tree& t, const Terms& a) {
        if (a[0].kind != Kind::Group && a[0].kind != Kind::SubGroup)
            l.wrong_type(t.place, "a group is expected, of item.get_group() or item.get_sub_group(), not " + describe(a[0]));
        return number(Scalar(a[0].kind == Kind::SubGroup));
    }
    /// (sub-group, value, index): the value of the item that stands there, which is one of the sub-group.
    static Term shuffled(Lowering& l, const Tree& t, const Terms& a) {
        if (a[0].kind != Kind::SubGroup) l.wrong_type(t.place, "a SubGroup is expected, of item.get_sub_group(), not " + describe(a[0]));
        if (a[1].kind == Kind::Tuple) {
            Term out = tuple_like(a[1], {});
            for (const Term& part : a[1].items) out.items.push_back(shuffled(l, t, {a[0], part, a[2]}));
            return out;
        }
        const Term x = number_of(l, t, a, 1), item = l.cast(number_of(l, t, a, 2), {DType::Int64, true});
        if (l.dry()) return number(x.type, ir::no_value);
        return number(x.type, l.builder_.shuffle(l.value(x), l.value(item, DType::Int64)));
    }
};

namespace {

using Row = Calls::Row;
using Where = Calls::Where;
using ir::AtomicOp;
using ir::Math;

}  // namespace

const std::unordered_map<std::string, Row>& Calls::functions() {
    static const std::unordered_map<std::string, Row> rows{
        {"sqrt", {1, 1, math<Math::sqrt>}},
        {"cbrt", {1, 1, math<Math::cbrt>}},
        {"exp", {1, 1, math<Math::exp>}},
        {"exp2", {1, 1, math<Math::exp2>}},
        {"expm1", {1, 1, math<Math::expm1>}},
        {"log", {1, 1, math<Math::log>}},
        {"log2", {1, 1, math<Math::log2>}},
        {"log10", {1, 1, math<Math::log10>}},
        {"log1p", {1, 1, math<Math::log1p>}},
        {"sin", {1, 1, math<Math::sin>}},
        {"cos", {1, 1, math<Math::cos>}},
        {"tan", {1, 1, math<Math::tan>}},
        {"asin", {1, 1, math<Math::asin>}},
        {"acos", {1, 1, math<Math::acos>}},
        {"atan", {1, 1, math<Math::atan>}},
        {"sinh", {1, 1, math<Math::sinh>}},
        {"cosh", {1, 1, math<Math::cosh>}},
        {"tanh", {1, 1, math<Math::tanh>}},
        {"asinh", {1, 1, math<Math::asinh>}},
        {"acosh", {1, 1, math<Math::acosh>}},
        {"atanh", {1, 1, math<Math::atanh>}},
        {"atan2", {2, 2, math<Math::atan2>}},
        {"hypot", {2, 2, math<Math::hypot>}},
        {"copysign", {2, 2, math<Math::copysign>}},
        {"nextafter", {2, 2, math<Math::nextafter>}},
        {"erf", {1, 1, math<Math::erf>}},
        {"erfc", {1, 1, math<Math::erfc>}},
        {"logaddexp", {2, 2, math<Math::logaddexp>}},
        {"logaddexp2", {2, 2, math<Math::logaddexp2>}},
        {"gamma", {1, 1, math<Math::tgamma>}},
        {"lgamma", {1, 1, math<Math::lgamma>}},
        {"floor", {1, 1, rounding<Math::floor>}},
        {"ceil", {1, 1, rounding<Math::ceil>}},
        {"trunc", {1, 1, rounding<Math::trunc>}},
        {"rint", {1, 1, rounding<Math::rint>}},
        {"math.floor", {1, 1, rounding_to_int<Math::floor>}},
        {"math.ceil", {1, 1, rounding_to_int<Math::ceil>}},
        {"math.trunc", {1, 1, rounding_to_int<Math::trunc>}},
        {"round", {1, 2, round<false>, "number ndigits"}},
        {"around", {1, 2, round<true>, "a decimals"}},
        {"min", {1, 64, extreme<Opcode::Min>}},
        {"max", {1, 64, extreme<Opcode::Max>}},
        {"minimum", {2, 2, extreme<Opcode::Min>}},
        {"maximum", {2, 2, extreme<Opcode::Max>}},
        {"fmin", {2, 2, extreme<Opcode::Fmin>}},
        {"fmax", {2, 2, extreme<Opcode::Fmax>}},
        {"clip", {3, 3, clip, "x|a min|a_min max|a_max"}},
        {"abs", {1, 1, abs}},
        {"fabs", {1, 1, fabs<true>}},
        {"math.fabs", {1, 1, fabs<false>}},
        {"sign", {1, 1, sign}},
        {"where", {3, 3, where, "condition x|x1 y|x2"}},
        {"fmod", {2, 2, fmod}},
        {"fma", {3, 3, fma}},
        {"divmod", {2, 2, divmod}},
        {"square", {1, 1, square}},
        {"reciprocal", {1, 1, reciprocal}},
        {"isnan", {1, 1, is_nan}},
        {"isinf", {1, 1, is_inf}},
        {"isfinite", {1, 1, is_finite}},
        {"conj", {1, 1, conjugate}},
        {"real", {1, 1, part<Opcode::Real>}},
        {"imag", {1, 1, part<Opcode::Imag>}},
        {"degrees", {1, 1, scaled<180>}},
        {"radians", {1, 1, scaled<1>}},
        {"bitwise_and", {2, 2, bits<'&'>}},
        {"bitwise_or", {2, 2, bits<'|'>}},
        {"bitwise_xor", {2, 2, bits<'^'>}},
        {"logical_and", {2, 2, logic<0>}},
        {"logical_or", {2, 2, logic<1>}},
        {"logical_xor", {2, 2, logic<2>}},
        {"logical_not", {1, 1, logic<3>}},
        {"equal", {2, 2, comparison<0>}},
        {"not_equal", {2, 2, comparison<1>}},
        {"less", {2, 2, comparison<2>}},
        {"less_equal", {2, 2, comparison<3>}},
        {"greater", {2, 2, comparison<4>}},
        {"greater_equal", {2, 2, comparison<5>}},
        {"add", {2, 2, operation<0>}},
        {"subtract", {2, 2, operation<1>}},
        {"multiply", {2, 2, operation<2>}},
        {"divide", {2, 2, operation<3>}},
        {"floor_divide", {2, 2, operation<4>}},
        {"remainder", {2, 2, operation<5>}},
        {"power", {2, 2, operation<6>, "base|x1 exp|x2"}},
        {"left_shift", {2, 2, operation<7>}},
        {"right_shift", {2, 2, operation<8>}},
        {"negative", {1, 1, of_one<'-'>}},
        {"positive", {1, 1, of_one<'+'>}},
        {"bitwise_invert", {1, 1, of_one<'~'>}},
        {"element", {2, 2, element}},
        {"len", {1, 1, length}},
        {"int", {0, 1, python_number<DKind::Signed>}},
        {"float", {0, 1, python_number<DKind::Float>}},
        {"bool", {0, 1, python_number<DKind::Bool>}},
        {"complex", {1, 2, python_number<DKind::Complex>, "real imag"}},
        {"astype", {2, 2, astype}},
        {"local_array", {1, 2, array<ir::Space::Group>, "shape dtype"}},
        {"private_array", {1, 2, array<ir::Space::Private>, "shape dtype"}},
        {"empty", {1, 2, array<ir::Space::Private>, "shape dtype"}},
        {"zeros", {1, 2, filled<0>, "shape dtype"}},
        {"ones", {1, 2, filled<1>, "shape dtype"}},
        {"full", {2, 3, filled<2>, "shape fill_value dtype"}},
        {"shuffle", {3, 3, shuffled}},
        {"is_sub_group", {1, 1, is_sub_group}},
        {"group_barrier", {0, 2, barrier, "group"}},
        {"barrier", {0, 1, barrier}},
        {"atomic.add", {3, 3, atomic<AtomicOp::Add>, "array index value"}},
        {"atomic.sub", {3, 3, atomic<AtomicOp::Sub>, "array index value"}},
        {"atomic.min", {3, 3, atomic<AtomicOp::Min>, "array index value"}},
        {"atomic.max", {3, 3, atomic<AtomicOp::Max>, "array index value"}},
        {"atomic.and_", {3, 3, atomic<AtomicOp::And>, "array index value"}},
        {"atomic.or_", {3, 3, atomic<AtomicOp::Or>, "array index value"}},
        {"atomic.xor", {3, 3, atomic<AtomicOp::Xor>, "array index value"}},
        {"atomic.exchange", {3, 3, atomic<AtomicOp::Exchange>, "array index value"}},
        {"atomic.compare_exchange", {4, 4, compare_exchange, "array index expected desired"}},
        {"AtomicRef", {2, 2, reference, "array index"}},
        {"print", {1, 1 + most_fields, print}},
        {"struct", {0, 3 * most_fields, structure}},
        {"get_global_id", {0, 1, function_at<Where::Global>}},
        {"get_local_id", {0, 1, function_at<Where::Local>}},
        {"get_group_id", {0, 1, function_at<Where::Group>}},
        {"get_global_size", {0, 1, function_at<Where::GlobalSize>}},
        {"get_local_size", {0, 1, function_at<Where::LocalSize>}},
        {"get_num_groups", {0, 1, function_at<Where::GroupCount>}},
    };
    return rows;
}

const std::map<std::string, Row>& Calls::methods() {
    static const std::map<std::string, Row> rows{
        {"Item.get_id", {1, 2, at<Where::Global>, "dimension"}},
        {"Item.get_range", {1, 2, at<Where::GlobalSize>, "dimension"}},
        {"Item.get_linear_id", {1, 1, linear<Where::Global, Where::GlobalSize>}},
        {"Item.get_linear_range", {1, 1, product<Where::GlobalSize>}},
        {"NdItem.get_global_id", {1, 2, at<Where::Global>, "dimension"}},
        {"NdItem.get_local_id", {1, 2, at<Where::Local>, "dimension"}},
        {"NdItem.get_group", {1, 1, group<Kind::Group>}},
        {"NdItem.get_sub_group", {1, 1, group<Kind::SubGroup>}},
        {"NdItem.get_group_id", {1, 2, at<Where::Group>, "dimension"}},
        {"NdItem.get_global_range", {1, 2, at<Where::GlobalSize>, "dimension"}},
        {"NdItem.get_local_range", {1, 2, at<Where::LocalSize>, "dimension"}},
        {"NdItem.get_group_range", {1, 2, at<Where::GroupCount>, "dimension"}},
        {"NdItem.get_global_linear_id", {1, 1, linear<Where::Global, Where::GlobalSize>}},
        {"NdItem.get_local_linear_id", {1, 1, linear<Where::Local, Where::LocalSize>}},
        {"NdItem.get_group_linear_id", {1, 1, linear<Where::Group, Where::GroupCount>}},
        {"Group.get_group_id", {1, 2, at<Where::Group>, "dimension"}},
        {"Group.get_local_id", {1, 2, at<Where::Local>, "dimension"}},
        {"Group.get_group_range", {1, 2, at<Where::GroupCount>, "dimension"}},
        {"Group.get_local_range", {1, 2, at<Where::LocalSize>, "dimension"}},
        {"Group.get_group_linear_id", {1, 1, linear<Where::Group, Where::GroupCount>}},
        {"Group.get_group_linear_range", {1, 1, product<Where::GroupCount>}},
        {"Group.get_local_linear_id", {1, 1, linear<Where::Local, Where::LocalSize>}},
        {"Group.get_local_linear_range", {1, 1, product<Where::LocalSize>}},
        {"Group.leader", {1, 1, leader<linear<Where::Local, Where::LocalSize>>}},
        {"SubGroup.get_local_id", {1, 1, of_sub_group<Opcode::Rem>}},
        {"SubGroup.get_local_linear_id", {1, 1, of_sub_group<Opcode::Rem>}},
        {"SubGroup.get_local_range", {1, 1, sub_group_size}},
        {"SubGroup.get_local_linear_range", {1, 1, sub_group_size}},
        {"SubGroup.get_max_local_range", {1, 1, sub_group_most}},
        {"SubGroup.get_group_id", {1, 1, of_sub_group<Opcode::FloorDiv>}},
        {"SubGroup.get_group_linear_id", {1, 1, of_sub_group<Opcode::FloorDiv>}},
        {"SubGroup.get_group_range", {1, 1, sub_group_count}},
        {"SubGroup.get_group_linear_range", {1, 1, sub_group_count}},
        {"SubGroup.leader", {1, 1, leader<of_sub_group<Opcode::Rem>>}},
        {"AtomicRef.fetch_add", {2, 2, fetch<AtomicOp::Add>, "value"}},
        {"AtomicRef.fetch_sub", {2, 2, fetch<AtomicOp::Sub>, "value"}},
        {"AtomicRef.fetch_min", {2, 2, fetch<AtomicOp::Min>, "value"}},
        {"AtomicRef.fetch_max", {2, 2, fetch<AtomicOp::Max>, "value"}},
        {"AtomicRef.fetch_and", {2, 2, fetch<AtomicOp::And>, "value"}},
        {"AtomicRef.fetch_or", {2, 2, fetch<AtomicOp::Or>, "value"}},
        {"AtomicRef.fetch_xor", {2, 2, fetch<AtomicOp::Xor>, "value"}},
        {"AtomicRef.exchange", {2, 2, fetch<AtomicOp::Exchange>, "value"}},
        {"AtomicRef.compare_exchange", {3, 3, exchange_if, "expected desired"}},
        {"AtomicRef.load", {1, 1, load_atomic}},
        {"AtomicRef.store", {2, 2, store_atomic, "value"}},
        {"struct._replace", {1, 1 + most_fields, replaced}},
        {"number.astype", {2, 2, astype, "dtype"}},
        {"number.conjugate", {1, 1, conjugate}},
        {"number.conj", {1, 1, conjugate}},
        {"number.item", {1, 1, [](Lowering&, const Tree&, const Terms& a) { return a[0]; }}},
    };
    return rows;
}

Term Lowering::call(const Tree& given) {
    const auto found = Calls::functions().find(given.name);
    if (found == Calls::functions().end()) wrong_type(given.place, "`" + given.name + "` cannot be called in a kernel");
    const Calls::Row& row = found->second;
    const bool by_name = std::ranges::any_of(given.parts, [](const Tree& p) { return p.form == Form::Keyword; });
    const Tree made = by_name ? ordered(given, 0, row.names, {"order", "scope"}) : Tree();
    const Tree& t = by_name ? made : given;
    std::vector<Term> arguments;
    for (const Tree& p : t.parts) {
        if (p.form == Form::Keyword) {  // the handler asks for them
            if (t.name == "AtomicRef" || t.name.starts_with("atomic.")) continue;
            wrong_type(p.place, t.name + ": the keyword `" + p.name + "` is not known in a kernel");
        }
        if (p.form == Form::Star) {
            const Term items = starred(p);
            arguments.insert(arguments.end(), items.items.begin(), items.items.end());
        } else {
            const Term argument = expression(p);
            arguments.push_back(t.name == "len" || t.name == "print" ? argument : loaded(argument));
        }
    }
    const auto count = static_cast<int>(arguments.size());
    if (count < row.least || count > row.most)
        wrong_type(t.place, t.name + ": takes " + count_text(row.least, row.most) + ", here are " + std::to_string(count));
    return row.handler(*this, t, arguments);
}

Term Lowering::method(const Tree& given) {
    const Term owner_term = loaded(expression(given.parts[0]));
    if (const auto member = member_of(owner_term, given.name)) {
        if (member->kind == syntax::Member::Kind::Property)
            wrong_type(given.place, "`" + given.name + "` is a property, which is not called");
        const bool takes_self = member->kind == syntax::Member::Kind::Method;
        return called(function_of(*member), takes_self ? &owner_term : nullptr, std::span(given.parts).subspan(1), given.place);
    }
    const Term& object = owner_term;
    const bool is_struct = object.kind == Kind::Tuple && !object.names.empty();
    const char* owner = object.kind == Kind::Item        ? "Item"
                        : object.kind == Kind::NdItem    ? "NdItem"
                        : object.kind == Kind::Group     ? "Group"
                        : object.kind == Kind::SubGroup  ? "SubGroup"
                        : object.kind == Kind::Number    ? "number"
                        : object.kind == Kind::Reference ? "AtomicRef"
                        : is_struct                      ? "struct"
                                                         : "";
    const auto found = Calls::methods().find(std::string(owner) + "." + given.name);
    if (found == Calls::methods().end()) {
        std::string known;
        for (const auto& [name, row] : Calls::methods()) {
            if (*owner && name.starts_with(std::string(owner) + "."))
                known += (known.empty() ? "" : ", ") + name.substr(name.find('.') + 1);
        }
        const auto own = object.structure ? object.structure->members() : std::make_shared<const syntax::Class::Members>();
        for (const auto& [name, member] : *own)
            if (member.kind != syntax::Member::Kind::Property && !name.starts_with('_')) known += ", " + name;
        const char* instead = given.name == "barrier" ? "; all items of a group meet at pp.group_barrier(item.get_group())" : "";
        wrong_type(given.place, describe(object) + " has no method `" + given.name + "` in a kernel" + instead +
                                    (known.empty() ? "" : "; it has " + known));
    }
    const Calls::Row& row = found->second;
    const bool by_name = !is_struct && std::ranges::any_of(given.parts, [](const Tree& p) { return p.form == Form::Keyword; });
    const Tree made = by_name ? ordered(given, 1, row.names, {}) : Tree();
    const Tree& t = by_name ? made : given;
    std::vector<Term> arguments{owner_term};
    for (const Tree& p : std::span(t.parts).subspan(1)) arguments.push_back(loaded(expression(p.form == Form::Keyword ? p.parts[0] : p)));
    const auto count = static_cast<int>(arguments.size());
    if (count < row.least || count > row.most)
        wrong_type(t.place, t.name + ": takes " + count_text(row.least - 1, row.most - 1) + ", here are " + std::to_string(count - 1));
    return row.handler(*this, t, arguments);
}

}  // namespace pardo::lang
