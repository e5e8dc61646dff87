// src/lang/array_expr/joins.cpp: a name that is one new array on one path, or in one iteration, and another on another: their elements go
// where one memory has them.
#include <algorithm>
#include <functional>

#include "lang/array_expr/array_expr.h"
#include "lang/loops/dependence.h"
#include "lang/lowering.h"

namespace pardo::lang {
namespace {

bool holds(const TypedExpr& t, int source) {
    return (t.kind() == Kind::Array && t.view().source == source) ||
           std::ranges::any_of(t.parts(), [&](const TypedExpr& item) { return holds(item, source); });
}

/// Whether an array was made in this function, and nothing else names it behind a path: a copy of it is as good. `other`: what the other
/// path knows; `first`: the number of the function's first array.
bool is_own(const TypedExpr& t, const std::string& name, int first, const Scope& before, const Scope& own, const Scope& other) {
    const int source = t.view().source;
    if (source > -1 - first) return false;
    for (const auto& [known, v] : before)
        if (known != name && holds(v.expr, source)) return false;
    for (const auto& [known, v] : own)
        if (known != name && other.contains(known) && holds(v.expr, source)) return false;
    return true;
}

/// Whether a loop does nothing with an array but to read its elements, until the name is another array: then a copy is as good. `elements`:
/// what is done with the whole of `t` is that.
bool only_reads(const Tree& t, const std::string& name, const std::function<const Tree*(const Tree&)>& out_of, bool elements = false) {
    const auto parts = [&](std::size_t from, bool reads) {
        return std::all_of(t.parts.begin() + static_cast<std::ptrdiff_t>(from), t.parts.end(),
                           [&](const Tree& p) { return only_reads(p, name, out_of, reads); });
    };
    switch (t.form) {
        case Form::Name: return elements || t.name != name;
        case Form::Assign: return parts(t.parts[0].form == Form::Name ? 1 : 0, false);
        case Form::Augment: return only_reads(t.parts[0], name, out_of) && only_reads(t.parts[1], name, out_of, true);
        case Form::Unary:
        case Form::Binary:
        case Form::Compare: return parts(0, true);
        case Form::Subscript: return only_reads(t.parts[0], name, out_of, elements) && parts(1, true);
        case Form::Attribute: return parts(0, elements || t.name == "shape" || t.name == "size" || t.name == "ndim" || t.name == "dtype");
        case Form::Call: {
            if (const Tree* out = out_of(t); out && mentions(*out, name)) return false;
            constexpr const char* views[] = {"reshape", "ravel", "transpose", "real", "imag"};
            return parts(0, elements || std::ranges::none_of(views, [&](const char* view) { return t.name == view; }));
        }
        case Form::Method: {
            constexpr const char* values[] = {"sum", "prod", "mean", "var",    "std",    "min",  "max",
                                              "any", "all",  "dot",  "argmin", "argmax", "copy", "astype"};
            return parts(0, elements || std::ranges::any_of(values, [&](const char* value) { return t.name == value; }));
        }
        default: return parts(0, false);
    }
}

}  // namespace

/// Arrays of the call whose names a serial loop gives new ones: these names are memory of the program's own, which they all go into.
void Lowering::keep_rebound() {
    rebound_.clear();
    const Tree& loop = source_.function->body.parts[0];
    if (!options_.distinct || (loop.form != Form::For && loop.form != Form::Each && loop.form != Form::While)) return;
    std::set<std::string> names;
    collect_targets(loop, names);
    for (const std::string& name : names) {
        const auto found = scope_.find(name);
        if (found == scope_.end() || found->second.expr.kind() != Kind::Array || found->second.expr.view().rank == 0) continue;
        if (!only_reads(loop, name, out_of) || std::ranges::find(loop_->results, name) != loop_->results.end()) continue;
        const TypedExpr given = found->second.expr;
        const TypedExpr memory = joint_array(given, given, loop.place, true);
        rebound_.emplace(name, memory);
        set_variable(name, put_into(memory, given, loop.place), loop.place);
    }
}

/// What a name is given: in memory of its own, or in that of all arrays that have the name.
TypedExpr Lowering::named(const std::string& name, const TypedExpr& given, const Place& place) {
    const auto found = rebound_.find(name);
    const auto as_given = [&] { return settled(given, place); };
    if (found == rebound_.end() || stack_.size() > 1 || !is_rows(given)) return as_given();
    const View& joint = found->second.view();
    const std::shared_ptr<const Rows> rows = rows_of(given);
    if (rows->type.dtype != joint.dtype || rows->extents.size() != static_cast<std::size_t>(joint.rank)) return as_given();
    if (given.kind() == Kind::Array && !is_own(given, name, first_array_, scope_, scope_, scope_)) return as_given();
    if (given.kind() == Kind::Array && given.view().source == joint.source) return given;
    const bool reads = std::ranges::any_of(rows->reads, [&](const View& read) { return read.source == joint.source; });
    return put_into(found->second, reads ? as_given() : given, place);
}

bool Lowering::joins_arrays(const std::string& name, const Scope& before, const Scope& a, const Scope& b) {
    const TypedExpr &x = a.at(name).expr, &y = b.at(name).expr;
    if (x.kind() != Kind::Array || y.kind() != Kind::Array || x.view().source == y.view().source) return false;
    if (x.view().rank == 0 || x.view().rank != y.view().rank || x.view().dtype != y.view().dtype) return false;
    return is_own(x, name, first_array_, before, a, b) && is_own(y, name, first_array_, before, b, a);
}

/// The memory for both, as far as it is known before either is. `of_any_size`: and for others.
TypedExpr Lowering::joint_array(const TypedExpr& x, const TypedExpr& y, const Place& place, bool of_any_size) {
    const auto rank = static_cast<std::size_t>(x.view().rank);
    std::vector<TypedExpr> extents;
    bool known = true;
    for (std::size_t d = 0; d < rank; ++d) {
        const TypedExpr &m = x.view().lead[1 + d], &n = y.view().lead[1 + d];
        const bool same = m.number().constant && n.number().constant && m.number().scalar.i == n.number().scalar.i && !of_any_size;
        known = known && same;
        extents.push_back(same ? m : number({DType::Int64, true}, ir::no_value, 0));
    }
    if (known) return own_memory(x.view().name, x.view().dtype, extents, place);
    need_own_memory();
    TypedExpr t = own_view(x.view().name, x.view().dtype, rank);
    if (walk_.builds())
        t.view().pointer = builder_.array(t.view().name, t.view().dtype, own_bytes() / itemsize(t.view().dtype), ir::Space::Private);
    t.view().lead.push_back(integer(0));
    t.view().lead.insert(t.view().lead.end(), extents.begin(), extents.end());
    t.view().lead.insert(t.view().lead.end(), rank - 1, number({DType::Int64, true}, ir::no_value, 0));
    t.view().lead.push_back(integer(1));
    return t;
}

/// Puts what a path has made into the memory for both.
TypedExpr Lowering::put_into(const TypedExpr& joint, const TypedExpr& made, const Place& place) {
    TypedExpr t = joint;
    const auto rank = static_cast<std::size_t>(t.view().rank);
    std::vector<TypedExpr> extents = rows_of(made)->extents;
    if (!std::ranges::all_of(std::span(joint.view().lead).subspan(1, rank), [](const TypedExpr& e) { return e.number().constant; })) {
        sized_memory(t.view(), extents, place);
        TypedExpr stride = integer(1);
        for (std::size_t d = rank; d-- > 0;) {
            t.view().lead[1 + d] = extents[d];
            t.view().lead[1 + rank + d] = stride;
            if (d > 0) stride = mul(stride, extents[d]);
        }
    }
    store_rows(t.view(), made, place, true);
    return t;
}

}  // namespace pardo::lang
