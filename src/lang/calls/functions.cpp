// src/lang/calls/functions.cpp: functions of the user that a kernel calls: they are inlined.
#include <algorithm>
#include <sstream>

#include "lang/lowering.h"

namespace pardo::lang {
namespace {

/// The first of the names of one argument, "a|b".
std::string first_name(const std::string& names) { return names.substr(0, names.find('|')); }

}  // namespace

/// "one argument", "2 to 3 arguments".
std::string count_text(int least, int most) {
    if (least == most) return std::to_string(least) + (least == 1 ? " argument" : " arguments");
    return std::to_string(least) + " to " + std::to_string(most) + " arguments";
}

/// The tuple behind `*` in a call.
TypedExpr Lowering::starred(const Tree& t) {
    TypedExpr items = expression(t.parts[0]);
    if (items.kind() != Kind::Tuple) wrong_type(t.place, "`*` takes a tuple, not " + describe(items));
    if (is_array_of_structs(items))
        wrong_type(t.place, "`*` of " + describe(items) + " gives its elements, and how many these are is not known");
    return loaded(items);
}

/// A call of something that is a value: a function of the user, one that the language knows, or a dtype.
TypedExpr Lowering::apply(const Tree& t) {
    const TypedExpr value = expression(t.parts[0]);
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
        return call(known);
    }
    const std::span<const Tree> arguments = std::span<const Tree>(t.parts).subspan(1);
    if (const auto member = member_of(value, "__call__")) return called(function_of(*member, t.place), &value, arguments, t.place);
    if (value.kind() != Kind::Function) wrong_type(t.place, "`" + t.name + "` is " + describe(value) + ", which cannot be called");
    return called(value.callee().function, nullptr, arguments, t.place);
}

/// A call of a function of the user. `self`: what comes before the arguments, or null.
TypedExpr Lowering::called(const std::shared_ptr<const Function>& callee, const TypedExpr* self, std::span<const Tree> arguments,
                           const Place& place) {
    const std::vector<std::string>& params = callee->params;
    Scope given;
    std::size_t positional = 0;
    std::vector<TypedExpr> rest;
    const auto give = [&](const std::string& name, const TypedExpr& expr, const Place& place) {
        if (given.contains(name)) wrong_type(place, callee->name + "() gets `" + name + "` twice");
        given.set(name, {settled(expr, place), place, false, ++versions_});
    };
    const std::size_t first = params.size() - callee->defaults.size();
    const auto by_name_only = [&](std::size_t k) { return k >= first && callee->defaults[k - first].form == Form::Keyword; };
    const auto give_next = [&](const TypedExpr& expr, const Place& place) {
        const std::size_t k = positional++;
        if (k < params.size() && !by_name_only(k))
            give(params[k], expr, place);
        else
            rest.push_back(settled(expr, place));
    };
    if (self) give_next(*self, place);
    for (const Tree& p : arguments) {
        if (p.form == Form::Keyword) {
            if (std::find(params.begin(), params.end(), p.name) == params.end())
                wrong_type(p.place, callee->name + "() has no parameter `" + p.name + "`");
            give(p.name, expression(p.parts[0]), p.place);
        } else if (p.form == Form::Star) {
            TypedExpr items = starred(p);
            for (const TypedExpr& item : items.tuple().items) give_next(item, p.place);
        } else {
            give_next(expression(p), p.place);
        }
    }
    if (!callee->rest.empty())
        give(callee->rest, tuple(std::move(rest)), place);
    else if (!rest.empty()) {
        const int taken = static_cast<int>(positional - rest.size());
        wrong_type(place, callee->name + "() takes " + count_text(taken, taken) + ", here are " + std::to_string(positional));
    }
    for (std::size_t k = 0; k < params.size(); ++k)
        if (!given.contains(params[k]) && (k < first || (by_name_only(k) && callee->defaults[k - first].parts.empty())))
            wrong_type(place, callee->name + "() needs an argument for `" + params[k] + "`");
    return inlined(callee, std::move(given), place);
}

/// A function's statements in place of a call; its value.
TypedExpr Lowering::inlined(std::shared_ptr<const Function> callee, Scope given, const Place& place) {
    if (std::find(stack_.begin(), stack_.end(), callee.get()) != stack_.end())
        wrong_type(place, "`" + callee->name + "` calls itself; kernels have no recursion: write a loop");
    Scope outer = std::exchange(scope_, std::move(given));
    std::shared_ptr<const Function> caller = std::exchange(source_.function, std::move(callee));
    const Function& own = *source_.function;
    const Source::Entry outside = source_.entry;
    if (own.library && !caller->library) source_.entry = {caller, place, own.name};
    const std::size_t count = own.params.size(), first = count - own.defaults.size();
    for (const char* name : {break_flag, continue_flag, return_flag}) scope_.set(name, {flag(false), {}, false, ++versions_});
    for (std::size_t k = first; k < count; ++k) {
        if (const Tree& t = own.defaults[k - first]; !scope_.contains(own.params[k]))
            scope_.set(own.params[k], {expression(t.form == Form::Keyword ? t.parts[0] : t), place, false, ++versions_});
    }
    if (const auto found = outer.find(draws_name); found != outer.end()) scope_.set(draws_name, found->second);
    record_parameters();
    const Place called = std::exchange(at_, own.body.place);
    const int outer_array = std::exchange(first_array_, arrays_);
    stack_.push_back(&own);
    block(own.body.parts);
    stack_.pop_back();
    first_array_ = outer_array;
    at_ = called;
    TypedExpr result;
    const auto found = scope_.find(result_name);
    if (found != scope_.end()) {
        const TypedExpr& gone = scope_.at(return_flag).expr;
        if (found->second.expr.kind() != Kind::None && !(gone.number().constant && gone.number().scalar.b))
            fail(ErrorCode::Type, found->second.place, "a value is returned here, but not on every path through the function");
        result = found->second.expr;
    }
    if (const auto counted = scope_.find(draws_name); counted != scope_.end()) outer.set(draws_name, counted->second);
    scope_ = std::move(outer);
    source_.function = std::move(caller);
    source_.entry = outside;
    return result;
}

/// A call with the arguments that are given by name among the others, where these are; what is left are keywords that the function looks
/// for itself: `kept`.
Tree Lowering::ordered(const Tree& t, std::size_t from, const char* names, std::initializer_list<const char*> kept, bool gaps) const {
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
            wrong_type(p.place, t.name + ": the keyword `" + p.name + "` is not known in a kernel" + text);
        }
        if (at < plain || named[at]) wrong_type(p.place, t.name + ": `" + p.name + "` is given twice");
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
                wrong_type(t.place, t.name + ": no value for `" + first_name(known[out.parts.size() - from]) + "`");
            out.parts.push_back(*named[k]);
        }
    }
    for (const Tree& p : std::span(t.parts).subspan(from))
        if (p.form == Form::Keyword && std::ranges::any_of(kept, [&](const char* word) { return p.name == word; })) out.parts.push_back(p);
    return out;
}

}  // namespace pardo::lang
