// src/lang/loops/lanes.cpp: loops in an item whose iterations are independent become the lanes.
#include <algorithm>
#include <map>

#include "lang/array_expr/array_expr.h"
#include "lang/expressions.h"
#include "lang/loops/dependence.h"
#include "lang/loops/loops.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"
#include "lang/syntax_facts.h"

namespace pardo::lang {

namespace {

const Tree& last_index(const Tree& element) {
    const Tree& last = element.parts.back();
    return last.form == Form::Tuple && !last.parts.empty() ? last.parts.back() : last;
}

/// Whether an index says one element of an array.
bool is_element(const Tree& element, int rank) {
    int count = 0;
    for (std::size_t k = 1; k < element.parts.size(); ++k) {
        const Tree& p = element.parts[k];
        const std::span<const Tree> indices = p.form == Form::Tuple ? std::span<const Tree>(p.parts) : std::span<const Tree>(&p, 1);
        for (const Tree& i : indices) {
            if (i.form == Form::Slice || i.form == Form::Text || i.form == Form::None) return false;
            ++count;
        }
    }
    return count == rank;
}

/// Whether an array is used otherwise than by elements, or by what says how large it is.
bool uses_whole(const Tree& t, const std::function<bool(const std::string& name, bool element)>& is_one) {
    if (t.form == Form::Name) return is_one(t.name, false);
    const bool named = !t.parts.empty() && t.parts[0].form == Form::Name;
    const bool element = t.form == Form::Subscript && named && !is_one(t.parts[0].name, true);
    const bool size = named && ((t.form == Form::Attribute && (t.name == "shape" || t.name == "size" || t.name == "ndim")) ||
                                (t.form == Form::Call && t.name == "len"));
    return std::any_of(t.parts.begin() + (element || size ? 1 : 0), t.parts.end(), [&](const Tree& p) { return uses_whole(p, is_one); });
}

/// Whether an array of the program's own is one for all lanes: those whose size is known when the program runs are.
bool is_shared(const View& v) {
    return std::any_of(v.lead.begin() + 1, v.lead.begin() + 1 + v.rank, [](const TypedExpr& extent) { return !extent.number().constant; });
}

bool contains_rounds(const Tree& t) { return (t.form == Form::For && t.index == 1) || std::ranges::any_of(t.parts, contains_rounds); }

bool holds_array(const TypedExpr& t, const std::function<bool(int source)>& of) {
    return (t.kind() == Kind::Array && of(t.view().source)) ||
           std::ranges::any_of(t.parts(), [&](const TypedExpr& item) { return holds_array(item, of); });
}

/// What an index that a loop counts never is below.
std::int64_t least_at(Lowering& l, const Tree& place, const std::string& index, const TypedExpr& start) {
    const Scope before = l.scope;
    give(l, index, number({DType::Int64, true}, ir::no_value, start.number().least), place.place);
    std::int64_t least = unknown_least;
    try {
        if (const TypedExpr index_there = expression(l, place); index_there.kind() == Kind::Number) least = index_there.number().least;
    } catch (const Error&) {  // told where the loop is walked
    }
    l.scope = before;
    return least;
}

bool makes_lanes(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                 const std::function<void(const TypedExpr&)>& body, std::string& why) {
    constexpr std::int64_t least_iterations = 16;
    const auto no = [&](std::string reason) {
        why = std::move(reason);
        return false;
    };
    const bool ranges = !l.task.loop || !l.task.loop->parallel || l.task.loop->results.empty();
    if (!ranges || !l.task.space.group_size.empty()) return false;
    if (t.form != Form::For || t.parts[0].form != Form::Name) return no("it does not run over a range");
    if (!l.task.options.distinct) return no("arrays of the call share memory");
    if (l.scope.contains(draws_name)) return no("random numbers are drawn in this iteration");
    if (!l.task.options.lane_loops) return no("what it writes is used elsewhere by the same item");
    if (!step.number().constant || step.number().scalar.i != 1) return no("its step is not 1");
    if (start.number().constant && stop.number().constant && stop.number().scalar.i - start.number().scalar.i < least_iterations)
        return no("it has fewer than " + std::to_string(least_iterations) + " iterations");
    const Tree& statements = t.parts[4];
    if (contains_rounds(statements)) return no("there is a parallel loop in it");
    if (!t.parts[5].parts.empty() || contains(statements, Form::Break, false) || contains(statements, Form::Return, true))
        return no("it may be left early");
    for (const auto& [name, v] : l.scope)
        if (v.expr.kind() == Kind::List && mentions(statements, name))
            return no("it uses the list `" + name + "`, whose elements have an order");
    Elements elements;
    collect_elements(statements, elements);
    if (elements.other) return no("it calls functions, uses atomics, may fail, or assigns several things at once");
    if (elements.stored.empty()) return no("it writes no elements");
    std::set<std::string> assigned;
    collect_targets(statements, assigned);
    const std::string& index = t.parts[0].name;
    if (assigned.contains(index)) return no("`" + index + "` is assigned in it");
    const auto array_of = [&](const Tree& element) -> const View* {
        if (element.parts[0].form != Form::Name) return nullptr;
        const auto base = l.scope.find(element.parts[0].name);
        return base == l.scope.end() || base->second.expr.kind() != Kind::Array ? nullptr : &base->second.expr.view();
    };
    std::set<std::string> around = assigned;  // what differs between runs of the loop, too
    for (const Around& a : l.around) {
        if (a.calls != l.stack.size()) return no("loops of another function are around it");
        collect_targets(*a.loop, around);
    }
    around.erase(index);
    std::map<int, const Tree*> sources;  // what is written, and where first
    for (const Tree* s : elements.stored) {
        const View* array = array_of(*s);
        if (!array || (array->source < 0 && !is_shared(*array))) return no("it writes into something else than an argument");
        if (!is_element(*s, array->rank)) return no("it writes rows of `" + array->name + "`");
        const Tree& last = last_index(*s);
        if (!distinct_in(last, index, assigned)) return no("`" + index + "` does not count the last index of `" + array->name + "`");
        const Tree* first = sources.try_emplace(array->source, s).first->second;
        if (!same_text(first->parts[0], s->parts[0]) || !same_text(last_index(*first), last))
            return no("two of its iterations may write the same element of `" + array->name + "`");
        if (std::ranges::any_of(around, [&](const std::string& name) {
                return mentions(s->parts[0], name) || mentions(last, name) || mentions(t.parts[1], name);
            }))
            return no("loops around it shift what it writes of `" + array->name + "`");
    }
    for (const auto& [source, element] : sources)
        if (least_at(l, last_index(*element), index, start) < 0) return no("an index of it may be negative, and counts from the end then");
    // Of a name that is an array itself, elements are compared below.
    const auto is_written = [&](const std::string& name, bool element) {
        const auto found = l.scope.find(name);
        if (found == l.scope.end()) return false;
        const TypedExpr& expr = found->second.expr;
        return !(element && expr.kind() == Kind::Array) && holds_array(expr, [&](int source) { return sources.contains(source); });
    };
    if (uses_whole(statements, is_written)) return no("it uses what it writes otherwise than by elements");
    for (const Tree* r : elements.read) {
        const View* array = array_of(*r);
        if (!array || !sources.contains(array->source)) continue;
        if (std::none_of(elements.stored.begin(), elements.stored.end(), [&](const Tree* s) { return same_text(*s, *r); }))
            return no("it reads other elements of `" + array->name + "` than it writes");
    }
    // Iterations carry nothing if each name is assigned before it is read, and the last one's value is not used.
    const Scope before = l.scope;
    const auto function = l.source.function;
    const auto stack = l.stack;
    assigned.insert(index);
    for (const std::string& name : assigned) {
        const auto found = l.scope.find(name);
        if (found != l.scope.end() && !found->second.maybe) return no("`" + name + "` is carried from iteration to iteration");
    }
    for (const std::string& name : assigned) l.scope.erase(name);
    bool independent = true;
    const std::size_t depth = l.around.size();
    l.around.push_back({&t, l.stack.size()});
    l.lanes.inside = true;
    l.lanes.met_rows = false;
    try {
        body(number({DType::Int64, true}, ir::no_value, start.number().least));
        for (const std::string& name : assigned) {
            const auto found = l.scope.find(name);
            if (found != l.scope.end() && holds_array(found->second.expr, [](int) { return true; })) independent = false;
        }
    } catch (const Error&) {
        independent = false;
    }
    l.lanes.inside = false;
    l.around.resize(depth);
    l.scope = before;
    l.source.function = function;
    l.stack = stack;
    if (l.lanes.met_rows) return no("it has loops over elements of arrays");
    return independent || no("a name in it is not assigned before it is read, or is an array");
}

}  // namespace

void choose_lanes(Lowering& l, const Tree& t, const TypedExpr& start, const TypedExpr& stop, const TypedExpr& step,
                  const std::function<void(const TypedExpr&)>& body) {
    std::string why;
    const bool can = makes_lanes(l, t, start, stop, step, body, why);
    l.lanes.choose(t, can, std::move(why), l.around.empty());
}

}  // namespace pardo::lang
