// src/lang/calls/functions.cpp: functions of the user that a kernel calls: they are inlined.
#include <algorithm>
#include <sstream>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/statements.h"

namespace pardo::lang {

namespace {

/// The first of the names of one argument, "a|b".
std::string first_name(const std::string& names) { return names.substr(0, names.find('|')); }

}  // namespace

std::string given_text(int count) { return std::to_string(count) + (count == 1 ? " was given" : " were given"); }

std::string count_text(int least, int most) {
    if (least == most) return std::to_string(least) + (least == 1 ? " argument" : " arguments");
    return std::to_string(least) + " to " + std::to_string(most) + " arguments";
}

TypedExpr starred(Lowering& l, const Tree& t) {
    TypedExpr items = expression(l, t.parts[0]);
    if (items.kind() != Kind::Tuple) l.source.wrong_type(t.place, "`*` takes a tuple, not " + describe(items));
    if (is_array_of_structs(items))
        l.source.wrong_type(t.place, "`*` of " + describe(items) + " gives its elements, and how many these are is not known");
    return loaded(l, items);
}

TypedExpr apply(Lowering& l, const Tree& t) {
    const TypedExpr value = expression(l, t.parts[0]);
    if (value.kind() == Kind::DType || (value.kind() == Kind::Function && !value.callee().function)) {
        Tree known = t;
        known.form = Form::Call;
        known.name = value.kind() == Kind::DType ? "astype" : value.callee().name;
        known.parts.erase(known.parts.begin());
        if (value.kind() == Kind::DType) {
            Tree dtype = t.parts[0];
            dtype.form = Form::DTypeName;
            dtype.index = static_cast<int>(value.dtype());
            known.parts.push_back(std::move(dtype));
        }
        return call_known(l, known);
    }
    const std::span<const Tree> arguments = std::span<const Tree>(t.parts).subspan(1);
    if (const auto member = member_of(value, "__call__")) return called(l, function_of(l, *member, t.place), &value, arguments, t.place);
    if (value.kind() != Kind::Function) l.source.wrong_type(t.place, "`" + t.name + "` is " + describe(value) + ", which cannot be called");
    return called(l, value.callee().function, nullptr, arguments, t.place);
}

TypedExpr called(Lowering& l, const std::shared_ptr<const Function>& callee, const TypedExpr* self, std::span<const Tree> arguments,
                 const Place& place) {
    const std::vector<std::string>& params = callee->params;
    Scope given;
    std::size_t positional = 0;
    std::vector<TypedExpr> rest;
    const auto give = [&](const std::string& name, const TypedExpr& expr, const Place& place) {
        if (given.contains(name)) l.source.wrong_type(place, callee->name + "() gets `" + name + "` twice");
        given.set(name, {settled(l, expr, place), place, false, ++l.versions});
    };
    const std::size_t first = params.size() - callee->defaults.size();
    const auto by_name_only = [&](std::size_t k) { return k >= first && callee->defaults[k - first].form == Form::Keyword; };
    const auto give_next = [&](const TypedExpr& expr, const Place& place) {
        const std::size_t k = positional++;
        if (k < params.size() && !by_name_only(k))
            give(params[k], expr, place);
        else
            rest.push_back(settled(l, expr, place));
    };
    if (self) give_next(*self, place);
    for (const Tree& p : arguments) {
        if (p.form == Form::Keyword) {
            if (std::find(params.begin(), params.end(), p.name) == params.end())
                l.source.wrong_type(p.place, callee->name + "() has no parameter `" + p.name + "`");
            give(p.name, expression(l, p.parts[0]), p.place);
        } else if (p.form == Form::Star) {
            TypedExpr items = starred(l, p);
            for (const TypedExpr& item : items.tuple().items) give_next(item, p.place);
        } else {
            give_next(expression(l, p), p.place);
        }
    }
    if (!callee->rest.empty())
        give(callee->rest, tuple(std::move(rest)), place);
    else if (!rest.empty()) {
        const int taken = static_cast<int>(positional - rest.size());
        l.source.wrong_type(place, callee->name + "() takes " + count_text(taken, taken) + ", but " + given_text(positional));
    }
    for (std::size_t k = 0; k < params.size(); ++k)
        if (!given.contains(params[k]) && (k < first || (by_name_only(k) && callee->defaults[k - first].parts.empty())))
            l.source.wrong_type(place, callee->name + "() needs an argument for `" + params[k] + "`");
    return inlined(l, callee, std::move(given), place);
}

TypedExpr inlined(Lowering& l, std::shared_ptr<const Function> callee, Scope given, const Place& place) {
    if (std::find(l.stack.begin(), l.stack.end(), callee.get()) != l.stack.end())
        l.source.wrong_type(place, "`" + callee->name + "` calls itself; kernels have no recursion: write a loop");
    Scope outer = std::exchange(l.scope, std::move(given));
    std::shared_ptr<const Function> caller = std::exchange(l.source.function, std::move(callee));
    const Function& own = *l.source.function;
    const Source::Entry outside = l.source.entry;
    if (own.library && !caller->library) l.source.entry = {caller, place, own.name};
    const std::size_t count = own.params.size(), first = count - own.defaults.size();
    for (const char* name : {break_flag, continue_flag, return_flag}) give(l, name, flag(false), {});
    for (std::size_t k = first; k < count; ++k) {
        if (const Tree& t = own.defaults[k - first]; !l.scope.contains(own.params[k]))
            give(l, own.params[k], expression(l, t.form == Form::Keyword ? t.parts[0] : t), place);
    }
    if (const auto found = outer.find(draws_name); found != outer.end()) l.scope.set(draws_name, found->second);
    record_parameters(l);
    const Place called = std::exchange(l.at, own.body.place);
    const int outer_array = std::exchange(l.arrays.first, l.arrays.made);
    l.stack.push_back(&own);
    block(l, own.body.parts);
    l.stack.pop_back();
    l.arrays.first = outer_array;
    l.at = called;
    TypedExpr result;
    const auto found = l.scope.find(result_name);
    if (found != l.scope.end()) {
        const TypedExpr& gone = l.scope.at(return_flag).expr;
        if (found->second.expr.kind() != Kind::None && !(gone.number().constant && gone.number().scalar.b))
            l.source.fail(ErrorCode::Type, found->second.place, "a value is returned here, but not on every path through the function");
        result = found->second.expr;
    }
    if (const auto counted = l.scope.find(draws_name); counted != l.scope.end()) outer.set(draws_name, counted->second);
    l.scope = std::move(outer);
    l.source.function = std::move(caller);
    l.source.entry = outside;
    return result;
}

Tree ordered(const Lowering& l, const Tree& t, std::size_t from, const char* names, std::initializer_list<const char*> kept, bool gaps) {
    std::vector<std::string> known;
    for (std::istringstream words(names); words >> known.emplace_back();) {
    }
    known.pop_back();
    Tree out = t;
    out.parts.assign(t.parts.begin(), t.parts.begin() + static_cast<std::ptrdiff_t>(from));
    std::vector<const Tree*> named(known.size());
    std::size_t plain = 0;
    for (const Tree& p : std::span(t.parts).subspan(from)) {
        if (p.form != Form::Keyword) {
            out.parts.push_back(p);
            ++plain;
            continue;
        }
        if (std::ranges::any_of(kept, [&](const char* word) { return p.name == word; })) continue;
        const auto called_so = [&](const std::string& word) { return ("|" + word + "|").find("|" + p.name + "|") != std::string::npos; };
        const auto at = static_cast<std::size_t>(std::ranges::find_if(known, called_so) - known.begin());
        if (at == known.size()) {
            std::string text;
            for (const std::string& word : known) text += (text.empty() ? "; it takes " : ", ") + first_name(word);
            l.source.wrong_type(p.place, t.name + ": the keyword `" + p.name + "` is not known in a kernel" + text);
        }
        if (at < plain || named[at]) l.source.wrong_type(p.place, t.name + ": `" + p.name + "` is given twice");
        named[at] = &p.parts[0];
    }
    for (std::size_t k = plain; k < named.size(); ++k) {
        if (named[k]) {
            for (; gaps && out.parts.size() < from + k;) {
                out.parts.emplace_back();
                out.parts.back().form = Form::None;
                out.parts.back().place = t.place;
            }
            if (out.parts.size() != from + k)
                l.source.wrong_type(t.place, t.name + ": no value for `" + first_name(known[out.parts.size() - from]) + "`");
            out.parts.push_back(*named[k]);
        }
    }
    for (const Tree& p : std::span(t.parts).subspan(from))
        if (p.form == Form::Keyword && std::ranges::any_of(kept, [&](const char* word) { return p.name == word; })) out.parts.push_back(p);
    return out;
}

}  // namespace pardo::lang
