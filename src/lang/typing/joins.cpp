// src/lang/typing/joins.cpp: values of two paths as one: numbers by their types, arrays by the memory that they are in.
#include "lang/typing/joins.h"

#include <algorithm>

#include "lang/names.h"
#include "lang/typing/numbers.h"

namespace pardo::lang {

TypedExpr fluid(const Rules& rules, const TypedExpr& t) {
    TypedExpr out = t;
    if (t.kind() == Kind::Number) {
        Number& n = out.number();
        n.constant = false;
        n.value = ir::no_value;
        n.argument = -1;
        n.given = false;
        if (!rules.exact) n.bits = 63;
    } else if (t.kind() == Kind::Array) {
        out.view().guards.clear();
        for (TypedExpr& part : out.view().lead) part = fluid(rules, part);
    }
    for (TypedExpr& part : out.parts()) part = fluid(rules, part);
    return out;
}

TypedExpr unbounded(const Rules& rules, const TypedExpr& t) {
    TypedExpr out = fluid(rules, t);
    if (out.kind() == Kind::Number) {
        out = number(out.number().type, out.number().value);
        out.number().assumed = out.number().type.weak && is_integer(out.number().type.dtype);
    }
    for (TypedExpr& part : out.parts()) part = unbounded(rules, part);
    return out;
}

TypedExpr blank(const TypedExpr& like) {
    TypedExpr out = like;
    if (like.kind() == Kind::Number) {
        Scalar zero = Scalar(0).cast(like.number().type.dtype);
        zero.weak = like.number().type.weak;
        return number(zero);
    }
    if (like.kind() == Kind::Array) {
        for (TypedExpr& part : out.view().lead) part = blank(part);
        out.view().guards.clear();
    }
    for (TypedExpr& part : out.parts()) part = blank(part);
    return out;
}

bool same_type(const TypedExpr& a, const TypedExpr& b) {
    if (a.kind() != b.kind() || a.parts().size() != b.parts().size()) return false;
    if (a.kind() == Kind::Number &&
        (!(a.number().type == b.number().type) || a.number().least != b.number().least || a.number().most != b.number().most ||
         a.number().bits != b.number().bits || a.number().constant != b.number().constant))
        return false;
    if (a.kind() == Kind::Array) {
        for (std::size_t k = 0; k < a.view().lead.size(); ++k)
            if (!same_type(a.view().lead[k], b.view().lead[k])) return false;
    }
    return std::ranges::equal(a.parts(), b.parts(), same_type);
}

void adopt(TypedExpr& met, const TypedExpr& built) {
    if (met.kind() != built.kind()) return;
    if (met.kind() == Kind::Array && met.view().pointer == ir::no_value) {
        met.view().pointer = built.view().pointer;
        met.view().source = built.view().source;
    }
    for (std::size_t k = 0; k < met.parts().size() && k < built.parts().size(); ++k) adopt(met.parts()[k], built.parts()[k]);
}

void numbers_of(const TypedExpr& t, std::vector<TypedExpr>& out, std::vector<ArgumentType>& layout) {
    ArgumentType& here = layout.emplace_back();
    const NumberType type = t.kind() == Kind::Number ? t.number().type : NumberType{};
    here.dtype = type.dtype;
    here.weak = type.weak;
    if (t.kind() != Kind::Tuple) return out.push_back(t);
    here.kind = ArgumentType::Kind::Tuple;
    here.parts = t.tuple().items.size();
    here.names = t.tuple().names;
    here.structure = t.tuple().structure;
    here.records = t.tuple().record ? 1 : 0;
    for (const TypedExpr& item : t.tuple().items) numbers_of(item, out, layout);
}

TypedExpr joined(const Rules& rules, const std::string& name, const Variable& a, const Variable& b, const Place& place) {
    const TypedExpr &x = a.expr, &y = b.expr;
    // The later of the two places is the one that does not fit.
    const bool swapped = a.place.line > b.place.line;
    const Variable &first = swapped ? b : a, &second = swapped ? a : b;
    const auto op_name = [&] { return name == result_name ? "the value returned" : name.starts_with("the ") ? name : "`" + name + "`"; };
    const auto conflict = [&](const std::string& what) {
        rules.source.wrong_type(second.place.line ? second.place : place, op_name() + what);
    };
    const auto types = [&] {
        return " is " + describe(first.expr) + " on one path (" + line_text(first.place) + ") and " + describe(second.expr) +
               " on another (" + line_text(second.place) + "); it needs one type";
    };
    if (x.kind() != y.kind()) conflict(types());
    TypedExpr out = fluid(rules, x);
    switch (x.kind()) {
        case Kind::Number:
            if (x.number().constant && y.number().constant && x.number().type == y.number().type &&
                x.number().scalar.u == y.number().scalar.u && !is_complex(x.number().type.dtype))
                return x;
            if (!join(x.number().type, y.number().type, out.number().type)) {
                if (!name.starts_with("the value")) conflict(types() + ": convert one of the two");
                out.number().type = promoted(rules, x, y, place);  // of `a if test else b`
                return number(out.number().type, ir::no_value);
            }
            if (outgrows(x, y)) {
                if (out.number().type.dtype == DType::UInt64) conflict(types() + ": convert one of the two");
                out.number().type = {DType::Int64, true};
            }
            out.number().least = std::min(x.number().least, y.number().least);
            out.number().most = std::max(x.number().most, y.number().most);
            out.number().assumed = x.number().assumed && y.number().assumed;
            out.number().given = is_given(x) && is_given(y) && out.number().type.weak && is_integer(out.number().type.dtype);
            if (rules.exact) out.number().bits = static_cast<std::uint8_t>(std::max(bits_of(x), bits_of(y)));
            return out;
        case Kind::Tuple:
            if (x.tuple().names != y.tuple().names || x.tuple().structure != y.tuple().structure || x.tuple().record != y.tuple().record ||
                x.tuple().dimensions != y.tuple().dimensions)
                conflict(types());
            if (x.tuple().items.size() != y.tuple().items.size())
                conflict(" is a tuple of " + std::to_string(x.tuple().items.size()) + " or of " + std::to_string(y.tuple().items.size()));
            for (std::size_t k = 0; k < x.tuple().items.size(); ++k)
                out.tuple().items[k] = joined(rules, name + "[" + std::to_string(k) + "]", {x.tuple().items[k], a.place},
                                              {y.tuple().items[k], b.place}, place);
            return out;
        case Kind::List:
            if (x.list().elements().source != y.list().elements().source)
                conflict(" is one list on one path (" + line_text(first.place) + ") and another on another (" + line_text(second.place) +
                         "); clear one list, or append to it, on both");
            return x;
        case Kind::Array:
            if (x.view().source != y.view().source || x.view().rank != y.view().rank)
                conflict(" is one array on one path (" + line_text(first.place) + ") and another on another (" + line_text(second.place) +
                         "); at each line it is known which array a name is: choose between elements, or swap "
                         "arrays between launches");
            for (std::size_t k = 0; k < x.view().lead.size(); ++k)
                out.view().lead[k] = joined(rules, name, {x.view().lead[k], a.place}, {y.view().lead[k], b.place}, place);
            out.view().pointer = x.view().pointer;
            return out;
        case Kind::Function:
            if (x.callee().function != y.callee().function || x.callee().name != y.callee().name)
                conflict(" is one function on one path (" + line_text(first.place) + ") and another on another (" +
                         line_text(second.place) + "); at each line it is known which function a name is: call them in the branches");
            return x;
        case Kind::DType:
        case Kind::Text:
            if (x.kind() == Kind::DType ? x.dtype() != y.dtype() : x.text() != y.text())
                conflict(" is not the same on every path, and it must be known before the kernel runs");
            return x;
        case Kind::Rows: conflict(" is an expression on arrays on one path or another; write the choice as `if` and `else`"); return x;
        case Kind::Reference: conflict(" refers to one element on one path and to another on another; make it after the branch"); return x;
        default: return x;
    }
}

}  // namespace pardo::lang
