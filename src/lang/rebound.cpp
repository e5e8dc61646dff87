// src/lang/rebound.cpp: names that are one new array on one path, or in one iteration, and another on another.
#include <algorithm>
#include <functional>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/loops/dependence.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"
#include "lang/syntax_facts.h"

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

void keep_rebound(Lowering& l) {
    l.rebound.clear();
    const Tree& loop = l.source.function->body.parts[0];
    if (!l.task.options.distinct || (loop.form != Form::For && loop.form != Form::Each && loop.form != Form::While)) return;
    std::set<std::string> names;
    collect_targets(loop, names);
    for (const std::string& name : names) {
        const auto found = l.scope.find(name);
        if (found == l.scope.end() || found->second.expr.kind() != Kind::Array || found->second.expr.view().rank == 0) continue;
        if (!only_reads(loop, name, out_of) || std::ranges::find(l.task.loop->results, name) != l.task.loop->results.end()) continue;
        const TypedExpr given = found->second.expr;
        const TypedExpr memory = joint_array(l, given, given, loop.place, true);
        l.rebound.emplace(name, memory);
        set_variable(l, name, put_into(l, memory, given, loop.place), loop.place);
    }
}

TypedExpr named(Lowering& l, const std::string& name, const TypedExpr& given, const Place& place) {
    const auto found = l.rebound.find(name);
    const auto as_given = [&] { return settled(l, given, place); };
    if (found == l.rebound.end() || l.stack.size() > 1 || !is_rows(given)) return as_given();
    const View& joint = found->second.view();
    const std::shared_ptr<const Rows> rows = rows_of(l, given);
    if (rows->type.dtype != joint.dtype || rows->extents.size() != static_cast<std::size_t>(joint.rank)) return as_given();
    if (given.kind() == Kind::Array && !is_own(given, name, l.arrays.first, l.scope, l.scope, l.scope)) return as_given();
    if (given.kind() == Kind::Array && given.view().source == joint.source) return given;
    const bool reads = std::ranges::any_of(rows->reads, [&](const View& read) { return read.source == joint.source; });
    return put_into(l, found->second, reads ? as_given() : given, place);
}

bool joins_arrays(Memory& l, const std::string& name, const Scope& before, const Scope& a, const Scope& b) {
    const TypedExpr &x = a.at(name).expr, &y = b.at(name).expr;
    if (x.kind() != Kind::Array || y.kind() != Kind::Array || x.view().source == y.view().source) return false;
    if (x.view().rank == 0 || x.view().rank != y.view().rank || x.view().dtype != y.view().dtype) return false;
    return is_own(x, name, l.arrays.first, before, a, b) && is_own(y, name, l.arrays.first, before, b, a);
}

}  // namespace pardo::lang
