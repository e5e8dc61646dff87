// src/lang/calls/calls.cpp: calls by name: the function or method is found, and its arguments are evaluated.
#include "lang/calls/calls.h"

#include <algorithm>

#include "base/constant.h"
#include "lang/array_expr/array_expr.h"
#include "lang/calls/user.h"
#include "lang/expressions.h"
#include "lang/memory/lists.h"
#include "lang/memory/views.h"
#include "lang/numbers/numbers.h"

namespace pardo::lang {
namespace {

/// The rows of all subjects.
template <class Map> Map joined_rows(std::vector<std::pair<const char*, calls::Row>> calls::Tables::*rows) {
    Map all;
    for (const auto& tables : {calls::numbers(), calls::arrays(), calls::rows(), calls::atomics(), calls::items(), calls::draws(),
                               calls::structs(), calls::prints()})
        all.insert((tables.*rows).begin(), (tables.*rows).end());
    return all;
}

/// Functions that stand for Python's own too.
bool of_python(const std::string& name) { return name == "abs" || name == "astype"; }

/// Whether arguments are Python's integers: NumPy's functions give an int64 of them, and not Python's.
bool only_weak_integers(std::span<const TypedExpr> arguments) {
    bool some = false;
    for (const TypedExpr& a : arguments) {
        if (a.kind() != Kind::Number) return false;
        if (a.number().type.dtype == DType::Bool) continue;
        if (!a.number().type.weak || a.number().type.dtype != DType::Int64) return false;
        some = true;
    }
    return some;
}

NumberFunction bound_to(Lowering& l, calls::Handler handler) {
    return [&l, handler](const Tree& call, const std::vector<TypedExpr>& numbers) { return handler(l, call, numbers); };
}

/// A function of elements with an argument for its results, which is what it gives.
TypedExpr call_into(Lowering& l, const Tree& given, const Tree* out) {
    Tree plain = given;
    plain.parts.erase(plain.parts.begin() + (out - given.parts.data()));
    const TypedExpr target = loaded(l, expression(l, out->form == Form::Keyword ? out->parts[0] : *out));
    if (target.kind() == Kind::None) return call_known(l, plain);
    if (target.kind() != Kind::Array || target.view().rank == 0)
        l.source.wrong_type(out->place, given.name + ": `out` is an array in memory, not " + describe(target));
    store_rows(l, target.view(), call_known(l, plain), given.place);
    return target;
}

}  // namespace

const std::unordered_map<std::string, calls::Row>& calls::functions() {
    static constinit Constant<std::unordered_map<std::string, Row>> rows;
    return rows.get([] { return joined_rows<std::unordered_map<std::string, Row>>(&Tables::functions); });
}

const std::map<std::string, calls::Row>& calls::methods() {
    static constinit Constant<std::map<std::string, Row>> rows;
    return rows.get([] { return joined_rows<std::map<std::string, Row>>(&Tables::methods); });
}

TypedExpr calls::number_of(Lowering& l, const Tree& t, const TypedExprs& a, std::size_t k) {
    return need_number(l, a[k], t.parts[std::min(k, t.parts.size() - 1)].place, t.name.c_str());
}

const Tree* out_of(const Tree& call) {
    const auto found = calls::functions().find(call.name);
    if (found == calls::functions().end() || found->second.lift == calls::Lift::No || call.name == "where") return nullptr;
    const auto special = [](const Tree& p) { return p.form == Form::Keyword || p.form == Form::Star; };
    for (const Tree& p : call.parts)
        if (p.form == Form::Keyword && p.name == "out") return &p;
    const bool behind = std::ranges::none_of(call.parts, special) && static_cast<int>(call.parts.size()) == found->second.most + 1;
    return behind ? &call.parts.back() : nullptr;
}

TypedExpr call_known(Lowering& l, const Tree& given) {
    const auto found = calls::functions().find(given.name);
    if (found == calls::functions().end()) l.source.wrong_type(given.place, "`" + given.name + "` cannot be called in a kernel");
    if (const Tree* out = out_of(given)) return call_into(l, given, out);
    const calls::Row& row = found->second;
    const bool by_name = std::ranges::any_of(given.parts, [](const Tree& p) { return p.form == Form::Keyword; });
    const Tree made = by_name ? ordered(l, given, 0, row.names, {"order", "scope"}, row.gaps) : Tree();
    const Tree& t = by_name ? made : given;
    std::vector<TypedExpr> arguments;
    for (const Tree& p : t.parts) {
        if (p.form == Form::Keyword) {  // the handler asks for them
            if (t.name == "AtomicRef" || t.name.starts_with("atomic")) continue;
            l.source.wrong_type(p.place, t.name + ": the keyword `" + p.name + "` is not known in a kernel");
        }
        if (p.form == Form::Star) {
            const TypedExpr items = starred(l, p);
            arguments.insert(arguments.end(), items.tuple().items.begin(), items.tuple().items.end());
        } else {
            const TypedExpr given = expression(l, p), argument = given.kind() == Kind::List ? elements_of(l, given) : given;
            arguments.push_back(t.name == "len" || t.name == "print" ? argument : loaded(l, argument));
        }
    }
    const auto count = static_cast<int>(arguments.size());
    if (count < row.least || count > row.most)
        l.source.wrong_type(
            t.place, t.name.substr(t.name.rfind('.') + 1) + ": takes " + count_text(row.least, row.most) + ", but " + given_text(count));
    if (row.lift != calls::Lift::No && std::ranges::any_of(arguments, is_rows))
        return array_call(l, t, std::move(arguments), bound_to(l, row.handler), row.lift == calls::Lift::Floats);
    if (l.rules.exact && row.lift == calls::Lift::Each && !of_python(t.name) && only_weak_integers(arguments))
        for (TypedExpr& a : arguments)
            if (a.number().type.dtype == DType::Int64) a = cast(l, a, {DType::Int64, false});
    return row.handler(l, t, arguments);
}

NumberFunction function_of_numbers(Lowering& l, const std::string& name) { return bound_to(l, calls::functions().at(name).handler); }

TypedExpr call_method(Lowering& l, const Tree& given) {
    const TypedExpr owner_expr = loaded(l, expression(l, given.parts[0]));
    if (const auto member = member_of(owner_expr, given.name)) {
        if (member->kind == syntax::Member::Kind::Property)
            l.source.wrong_type(given.place, "`" + given.name + "` is a property, which is not called");
        const bool takes_self = member->kind == syntax::Member::Kind::Method;
        return called(l, function_of(l, *member, given.place), takes_self ? &owner_expr : nullptr, std::span(given.parts).subspan(1),
                      given.place);
    }
    const TypedExpr& object = owner_expr;
    if (object.kind() == Kind::DType && given.name == "type") {  // x.dtype.type(v)
        Tree conversion = given;
        conversion.form = Form::Apply;
        return apply(l, conversion);
    }
    const bool is_struct = object.kind() == Kind::Tuple && !object.tuple().names.empty();
    const char* owner = object.kind() == Kind::Item        ? "Item"
                        : object.kind() == Kind::NdItem    ? "NdItem"
                        : object.kind() == Kind::Group     ? "Group"
                        : object.kind() == Kind::SubGroup  ? "SubGroup"
                        : object.kind() == Kind::Number    ? "number"
                        : is_rows(object)                  ? "array"
                        : object.kind() == Kind::List      ? object.list().word()
                        : object.kind() == Kind::Reference ? "AtomicRef"
                        : is_struct                        ? "struct"
                                                           : "";
    const auto found = calls::methods().find(std::string(owner) + "." + given.name);
    if (object.kind() == Kind::List && given.name == "sort")
        l.source.wrong_type(given.place, "a list is not sorted in a kernel; np.sort(np.array(…)) makes a sorted array");
    const bool pops_at = object.kind() == Kind::List && given.name == "pop" && given.parts.size() > 1;
    if ((found == calls::methods().end() || pops_at) && (is_rows(object) || object.kind() == Kind::List) && given.index > 0)
        return called(l, l.source.function->callees[static_cast<std::size_t>(given.index - 1)], &owner_expr,
                      std::span(given.parts).subspan(1), given.place);
    if (found == calls::methods().end()) {
        std::string known;
        for (const auto& [name, row] : calls::methods()) {
            if (*owner && name.starts_with(std::string(owner) + ".") && (is_struct || !name.starts_with(std::string(owner) + "._")))
                known += (known.empty() ? "" : ", ") + name.substr(name.find('.') + 1);
        }
        if (object.kind() == Kind::List)
            known += !object.list().is_set ? ", copy, count, extend, index, insert, remove, reverse" : ", discard, remove, update";
        const auto& structure = structure_of(object);
        const auto own = structure ? structure->members() : std::make_shared<const syntax::Class::Members>();
        for (const auto& [name, member] : *own)
            if (member.kind != syntax::Member::Kind::Property && !name.starts_with('_')) known += ", " + name;
        const char* instead = given.name == "barrier" ? "; all items of a group meet at pp.group_barrier(item.get_group())" : "";
        l.source.wrong_type(given.place, describe(object) + " has no method `" + given.name + "` in a kernel" + instead +
                                             (known.empty() ? "" : "; it has " + known));
    }
    const calls::Row& row = found->second;
    const bool by_name = !is_struct && std::ranges::any_of(given.parts, [](const Tree& p) { return p.form == Form::Keyword; });
    const Tree made = by_name ? ordered(l, given, 1, row.names, {}, row.gaps) : Tree();
    const Tree& t = by_name ? made : given;
    std::vector<TypedExpr> arguments{owner_expr};
    for (const Tree& p : std::span(t.parts).subspan(1))
        arguments.push_back(loaded(l, expression(l, p.form == Form::Keyword ? p.parts[0] : p)));
    const auto count = static_cast<int>(arguments.size());
    if (count < row.least || count > row.most)
        l.source.wrong_type(t.place, t.name + ": takes " + count_text(row.least - 1, row.most - 1) + ", but " + given_text(count - 1));
    if (row.lift != calls::Lift::No)
        return array_call(l, t, std::move(arguments), bound_to(l, row.handler), row.lift == calls::Lift::Floats);
    return row.handler(l, t, arguments);
}

}  // namespace pardo::lang
