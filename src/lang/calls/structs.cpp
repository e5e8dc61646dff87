// src/lang/calls/structs.cpp: structs: how they are made, and the functions of their classes: methods, properties, operators.
#include <algorithm>

#include "lang/array_expr/array_expr.h"
#include "lang/calls/calls.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"
#include "lang/syntax_facts.h"

namespace pardo::lang {

namespace {

struct OperatorMethod {
    const char *op, *name;
};
constexpr OperatorMethod operator_methods[] = {{"+", "add"},       {"-", "sub"}, {"*", "mul"},  {"/", "truediv"},
                                               {"//", "floordiv"}, {"%", "mod"}, {"**", "pow"}, {"<<", "lshift"},
                                               {">>", "rshift"},   {"&", "and"}, {"|", "or"},   {"^", "xor"}};
struct Comparison {
    const char *op, *name, *turned;  // a op b is b.turned(a)
};
constexpr Comparison comparisons[] = {{"==", "__eq__", "__eq__"}, {"!=", "__ne__", "__ne__"}, {"<", "__lt__", "__gt__"},
                                      {"<=", "__le__", "__ge__"}, {">", "__gt__", "__lt__"},  {">=", "__ge__", "__le__"}};

/// A number that a field of this dtype takes: what an array of it would take.
TypedExpr as_field(Lowering& l, const TypedExpr& given, DType to, const std::string& name, const Place& place) {
    const DType from = l.rules.dtype(given.number().type);
    if (!can_cast_same_kind(from, to) && !(given.number().type.weak && is_integer(from) && !is_inexact(to))) {
        const std::string how = is_complex(from) ? "take .real or abs(…)" : "convert it: np." + std::string(dtype_name(to)) + "(…)";
        l.source.wrong_type(
            place, "`" + name + "` is " + std::string(dtype_name(to)) + ", which cannot take " + describe(given) + " without loss; " + how);
    }
    check_range(l.rules, given, to, place);
    return cast(l, given, {to, false});
}

}  // namespace

TypedExpr structure(Lowering& l, const Tree& t, const std::vector<TypedExpr>& a) {
    const std::size_t count = a.size() / 3;
    TypedExpr out = tuple({});
    if (t.index < 0) out.tuple().dimensions = -1;
    if (t.index > 0) out.tuple().structure = l.source.function->classes[static_cast<std::size_t>(t.index - 1)].lock();
    for (std::size_t k = 0; k < count; ++k) {
        const TypedExpr &given = a[k], &type = a[count + k];
        const std::string& name = a[2 * count + k].text();
        const bool converts = type.kind() == Kind::DType && given.kind() == Kind::Number;
        out.tuple().items.push_back(converts ? as_field(l, given, type.dtype(), name, t.place) : given);
        out.tuple().names.push_back(name);
    }
    return out;
}

TypedExpr replaced(Lowering& l, const Tree& t, const std::vector<TypedExpr>& a) {
    TypedExpr out = a[0];
    for (std::size_t k = 1; k < a.size(); ++k) {
        const Tree& given = t.parts[k];
        const auto field = std::find(out.tuple().names.begin(), out.tuple().names.end(), given.name);
        if (given.form != Form::Keyword || field == out.tuple().names.end())
            l.source.wrong_type(given.place, "_replace takes fields by name; here is " + describe(out));
        TypedExpr& old = out.tuple().items[static_cast<std::size_t>(field - out.tuple().names.begin())];
        const bool converts = old.kind() == Kind::Number && a[k].kind() == Kind::Number;
        old = !converts                ? a[k]
              : old.number().type.weak ? cast(l, a[k], old.number().type)
                                       : as_field(l, a[k], old.number().type.dtype, given.name, given.place);
    }
    return out;
}

std::optional<syntax::Member> member_of(const TypedExpr& object, const std::string& name) {
    const auto& structure = structure_of(object);
    if (!structure) return {};
    const std::shared_ptr<const syntax::Class::Members> members = structure->members();
    const auto found = members->find(name);
    return found == members->end() ? std::nullopt : std::optional(found->second);
}

std::shared_ptr<const Function> function_of(const Lowering& l, const syntax::Member& member, const Place& place) {
    if (!member.function && member.problem.find('\n') == std::string::npos) l.source.fail(member.code, place, member.problem);
    if (!member.function) throw Error(member.code, member.problem);  // with its own line
    return member.function;
}

std::optional<TypedExpr> by_method(Lowering& l, const std::string& name, const TypedExpr& object,
                                   std::initializer_list<TypedExpr> arguments, const Place& place) {
    const auto member = member_of(object, name);
    if (!member) return {};
    // The arguments are values already: they get names that a program cannot have.
    std::vector<Tree> given;
    std::vector<std::string> names;
    for (const TypedExpr& argument : arguments) {
        Tree& tree = given.emplace_back();
        tree.form = Form::Name;
        tree.place = place;
        tree.name = "$operand" + std::to_string(l.operands++);
        names.push_back(tree.name);
        give(l, tree.name, argument, place);
    }
    TypedExpr out =
        called(l, function_of(l, *member, place), member->kind == syntax::Member::Kind::Static ? nullptr : &object, given, place);
    for (const std::string& used : names) l.scope.erase(used);
    return out;
}

std::optional<TypedExpr> by_operator(Lowering& l, const TypedExpr& a, const TypedExpr& b, const std::string& op, bool in_place,
                                     const Place& place) {
    if (!structure_of(a) && !structure_of(b)) return {};
    const auto* row = std::ranges::find_if(operator_methods, [&](const OperatorMethod& o) { return op == o.op; });
    if (row == std::end(operator_methods)) return {};
    const std::string name = row->name;
    if (in_place) return by_method(l, "__i" + name + "__", a, {b}, place);
    if (auto out = by_method(l, "__" + name + "__", a, {b}, place)) return out;
    return structure_of(a) == structure_of(b) ? std::nullopt : by_method(l, "__r" + name + "__", b, {a}, place);
}

std::optional<TypedExpr> by_comparison(Lowering& l, const std::string& op, const TypedExpr& a, const TypedExpr& b, const Place& place) {
    if (!structure_of(a) && !structure_of(b)) return {};
    const auto* row = std::ranges::find_if(comparisons, [&](const Comparison& c) { return op == c.op; });
    if (row == std::end(comparisons)) return {};
    if (auto out = by_method(l, row->name, a, {b}, place)) return out;
    if (auto out = by_method(l, row->turned, b, {a}, place)) return out;
    const bool equality = op == "==" || op == "!=";
    if (!equality)
        l.source.wrong_type(
            place, describe(a) + " and " + describe(b) + " have no order: the class has no " + row->name + "; write it, or compare fields");
    if (op == "!=")
        if (auto same = by_comparison(l, "==", a, b, place))
            return pure(l, Opcode::Not, {DType::Bool, false}, {truth(l, *same, place)}, DType::Bool);
    if (structure_of(a) != structure_of(b)) return number(Scalar(op == "!="));
    return {};
}

namespace calls {

Tables structs() { return {{{"struct", {0, 3 * most_fields, structure}}}, {{"struct._replace", {1, 1 + most_fields, replaced}}}}; }

}  // namespace calls

}  // namespace pardo::lang
