// src/lang/typed_expr.cpp: types of the language: how they are named and joined.
#include "lang/typed_expr.h"

#include <algorithm>
#include <utility>

#include "lang/array_expr/array_expr.h"

namespace pardo::lang {

const View& List::elements() const { return memory[0].view(); }

const View& List::counts() const { return memory[1].view(); }

std::span<const TypedExpr> TypedExpr::parts() const {
    switch (kind()) {
        case Kind::Tuple: return tuple().items;
        case Kind::Slice: return slice().bounds;
        case Kind::List: return list().memory;
        default: return {};
    }
}

std::span<TypedExpr> TypedExpr::parts() {
    switch (kind()) {
        case Kind::Tuple: return tuple().items;
        case Kind::Slice: return std::get<Slice>(payload_).bounds;
        case Kind::List: return std::get<List>(payload_).memory;
        default: return {};
    }
}

TypedExpr number(const Scalar& constant) {
    Number n;
    n.type = {constant.dtype, constant.weak};
    n.constant = true;
    n.scalar = constant;
    if (kind_of(constant.dtype) == DKind::Signed) n.least = n.most = constant.i;
    if (kind_of(constant.dtype) == DKind::Unsigned || constant.dtype == DType::Bool) n.least = 0;
    return {n};
}

TypedExpr number(NumberType type, ir::Value value, std::int64_t least) {
    Number n;
    n.type = type;
    n.value = value;
    n.least = kind_of(type.dtype) == DKind::Unsigned && least < 0 ? 0 : least;
    return {n};
}

TypedExpr integer(std::int64_t constant) { return number(Scalar(constant)); }

TypedExpr tuple(std::vector<TypedExpr> items) { return {Tuple{std::move(items)}}; }

TypedExpr tuple_like(const TypedExpr& like, std::vector<TypedExpr> items) {
    Tuple t = like.tuple();
    t.items = std::move(items);
    return {std::move(t)};
}

TypedExpr dtype_expr(DType dtype) { return {dtype}; }

TypedExpr whole_axis() { return {Slice{{{}, {}, {}}}}; }

const std::shared_ptr<const syntax::Class>& structure_of(const TypedExpr& expr) {
    static const std::shared_ptr<const syntax::Class> none;
    return expr.kind() == Kind::Tuple ? expr.tuple().structure : none;
}

bool is_numeric(const TypedExpr& expr) { return expr.kind() == Kind::Number || expr.kind() == Kind::Array || expr.kind() == Kind::Rows; }

bool holds_bools(const TypedExpr& expr) { return is_numeric(expr) && element_type(expr).dtype == DType::Bool; }

NumberType element_type(const TypedExpr& expr) {
    switch (expr.kind()) {
        case Kind::Array: return {expr.view().dtype, false};
        case Kind::Rows: return expr.rows()->type;
        case Kind::List: return expr.list().type;
        default: return expr.number().type;
    }
}

bool is_element(const TypedExpr& expr) { return expr.kind() == Kind::Tuple && expr.tuple().record && expr.tuple().dimensions == 0; }

bool is_indexed(const TypedExpr& expr) {
    return expr.kind() == Kind::Tuple && !expr.tuple().items.empty() && (expr.tuple().columns || !expr.tuple().names.empty()) &&
           expr.tuple().dimensions >= 0 && !is_element(expr);
}

namespace {

bool holds_arrays_alone(const TypedExpr& expr) {
    return expr.kind() == Kind::Tuple ? std::ranges::all_of(expr.tuple().items, holds_arrays_alone)
                                      : expr.kind() == Kind::Array && expr.view().rank > 0;
}

}  // namespace

bool is_array_of_structs(const TypedExpr& expr) { return is_indexed(expr) && holds_arrays_alone(expr); }

const TypedExpr& first_part(const TypedExpr& expr) {
    return expr.kind() == Kind::Tuple && !expr.tuple().items.empty() ? first_part(expr.tuple().items[0]) : expr;
}

std::string text_or(const TypedExpr& expr) { return expr.kind() == Kind::Text ? "'" + expr.text() + "'" : describe(expr); }

std::string describe(NumberType type) {
    if (!type.weak) return std::string(dtype_name(type.dtype));
    switch (kind_of(type.dtype)) {
        case DKind::Bool: return "a Python bool";
        case DKind::Float: return "a Python float";
        case DKind::Complex: return "a Python complex";
        case DKind::Unsigned: return "a Python int beyond int64";
        default: return "a Python int";
    }
}

std::string describe(const TypedExpr& expr) {
    switch (expr.kind()) {
        case Kind::Number: return describe(expr.number().type);
        case Kind::Array:
            return "a " + std::string(dtype_name(expr.view().dtype)) + " array of " + std::to_string(expr.view().rank) +
                   (expr.view().rank == 1 ? " dimension" : " dimensions");
        case Kind::Rows:
            return "a " + std::string(dtype_name(expr.rows()->type.dtype)) + " array of " + std::to_string(expr.rows()->extents.size()) +
                   (expr.rows()->extents.size() == 1 ? " dimension" : " dimensions");
        case Kind::Tuple: {
            if (expr.tuple().names.empty()) return "a tuple of " + std::to_string(expr.tuple().items.size());
            std::string fields;
            for (const std::string& name : expr.tuple().names) fields += (fields.empty() ? "" : ", ") + name;
            return (!expr.tuple().record           ? "a struct of "
                    : expr.tuple().dimensions == 0 ? "a record of "
                                                   : "an array of records of ") +
                   fields;
        }
        case Kind::DType: return "a dtype";
        case Kind::Text: return "a string";
        case Kind::None: return "None";
        case Kind::Item: return "an Item";
        case Kind::NdItem: return "an NdItem";
        case Kind::Group: return "a Group";
        case Kind::SubGroup: return "a SubGroup";
        case Kind::Slice: return "a slice";
        case Kind::Function: return "a function";
        case Kind::Reference: return "an AtomicRef";
        case Kind::List: return std::string("a ") + expr.list().word();
    }
    return "a value";
}

DType weak_dtype(DType kind, bool fp64) {
    switch (kind_of(kind)) {
        case DKind::Bool: return DType::Bool;
        case DKind::Signed: return DType::Int64;
        case DKind::Unsigned: return DType::UInt64;
        case DKind::Float: return fp64 ? DType::Float64 : DType::Float32;
        case DKind::Complex: return fp64 ? DType::Complex128 : DType::Complex64;
    }
    return kind;
}

namespace {

int rank_of(DType dtype) {
    switch (kind_of(dtype)) {
        case DKind::Bool: return 0;
        case DKind::Signed:
        case DKind::Unsigned: return 1;
        case DKind::Float: return 2;
        case DKind::Complex: return 3;
    }
    return 0;
}

}  // namespace

bool join(NumberType a, NumberType b, NumberType& out) {
    if (a == b) {
        out = a;
        return true;
    }
    if ((a.dtype == DType::Bool) != (b.dtype == DType::Bool)) return false;
    const auto is_large = [](NumberType t) { return t.weak && t.dtype == DType::UInt64; };  // beyond int64
    if ((is_large(a) && is_integer(b.dtype) && b.dtype != DType::UInt64) ||
        (is_large(b) && is_integer(a.dtype) && a.dtype != DType::UInt64))
        return false;
    if (a.weak && b.weak) {
        out = rank_of(a.dtype) >= rank_of(b.dtype) ? a : b;
        return true;
    }
    if (!a.weak && !b.weak) return false;
    const NumberType strong = a.weak ? b : a, weak = a.weak ? a : b;
    if (rank_of(weak.dtype) > rank_of(strong.dtype)) return false;
    out = strong;
    return true;
}

}  // namespace pardo::lang
