// src/lang/scope_facts.cpp: comparisons of names with numbers and with each other, as facts of a scope.
#include "lang/scope_facts.h"

#include <algorithm>

#include "lang/syntax_facts.h"

namespace pardo::lang {

void learn(Scope& scope, const Tree& test, bool truth) {
    if (test.form == Form::Unary && test.name == "not") return learn(scope, test.parts[0], !truth);
    if ((test.form == Form::And && truth) || (test.form == Form::Or && !truth)) {
        for (const Tree& p : test.parts) learn(scope, p, truth);
        return;
    }
    if (test.form != Form::Compare || (test.parts.size() != 2 && !truth)) return;
    const auto least = [&](const Tree& t, std::int64_t& out) {
        if (t.form == Form::Number && kind_of(t.number.dtype) == DKind::Signed) {
            out = t.number.i;
            return true;
        }
        if (t.form == Form::Name) {
            const auto found = scope.find(t.name);
            if (found == scope.end() || found->second.expr.kind() != Kind::Number) return false;
            out = found->second.expr.number().least;
            return out != unknown_least;
        }
        return false;
    };
    const auto raise = [&](const Tree& t, std::int64_t to) {
        if (t.form != Form::Name) return;
        const auto found = scope.find(t.name);
        if (found == scope.end() || found->second.expr.kind() != Kind::Number || !is_integer(found->second.expr.number().type.dtype))
            return;
        if (found->second.expr.number().least < to) scope.change(t.name).expr.number().least = to;
    };
    const auto above = [&](const Tree& more, const Tree& less, std::int64_t by) {
        if (more.form != Form::Name || less.form != Form::Name) return;
        const auto x = scope.find(more.name), y = scope.find(less.name);
        if (x == scope.end() || y == scope.end()) return;
        Above known{x->second.version, less.name, y->second.version, by};
        scope.change(more.name).above.push_back(std::move(known));
    };
    const std::vector<std::string> ops = operators_of(test);
    for (std::size_t k = 0; k + 1 < test.parts.size(); ++k) {
        std::string op = ops[k];
        if (!truth)
            op = op == "<" ? ">=" : op == "<=" ? ">" : op == ">" ? "<=" : op == ">=" ? "<" : op == "==" ? "!=" : op == "!=" ? "==" : op;
        const Tree &a = test.parts[k], &b = test.parts[k + 1];
        std::int64_t low = 0, own = 0;
        if ((op == ">" || op == ">=" || op == "==") && least(b, low)) raise(a, low + (op == ">" ? 1 : 0));
        if ((op == "<" || op == "<=" || op == "==") && least(a, low)) raise(b, low + (op == "<" ? 1 : 0));
        if (op == ">" || op == ">=" || op == "==") above(a, b, op == ">" ? 1 : 0);
        if (op == "<" || op == "<=" || op == "==") above(b, a, op == "<" ? 1 : 0);
        if (op == "!=" && b.form == Form::Number && least(b, low) && least(a, own) && own == low) raise(a, low + 1);
        if (op == "!=" && a.form == Form::Number && least(a, low) && least(b, own) && own == low) raise(b, low + 1);
    }
}

std::int64_t difference(const Scope& scope, const Tree& t) {
    if (t.name != "-" || t.parts[0].form != Form::Name || t.parts[1].form != Form::Name) return unknown_least;
    const auto x = scope.find(t.parts[0].name), y = scope.find(t.parts[1].name);
    if (x == scope.end() || y == scope.end() || y->second.expr.number().least < 0)
        return unknown_least;  // less a negative number, it may wrap
    std::int64_t most = unknown_least;
    for (const Above& a : x->second.above)
        if (a.own == x->second.version && a.other == t.parts[1].name && a.version == y->second.version) most = std::max(most, a.by);
    return most;
}

}  // namespace pardo::lang
