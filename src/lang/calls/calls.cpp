// src/lang/calls/calls.cpp: calls by name: the function or method is found, and its arguments are evaluated.
#include "lang/calls/calls.h"

#include <algorithm>

#include "base/constant.h"

namespace pardo::lang {
namespace {

/// The rows of all subjects.
template <class Map> Map joined(std::vector<std::pair<const char*, Calls::Row>> Calls::Tables::*rows) {
    Map all;
    for (const auto& tables :
         {Calls::numbers(), Calls::arrays(), Calls::rows(), Calls::atomics(), Calls::items(), Calls::draws(), Calls::others()})
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

}  // namespace

TypedExpr Calls::print(Lowering& l, const Tree& t, const TypedExprs& a) {
    l.log(a[0].text(), std::span<const TypedExpr>(a).subspan(1), t.place);
    return {};
}

Calls::Tables Calls::others() {
    return {
        {
            {"print", {1, 1 + most_fields, print}},
            {"struct", {0, 3 * most_fields, structure}},
        },
        {
            {"struct._replace", {1, 1 + most_fields, replaced}},
        },
    };
}

const std::unordered_map<std::string, Calls::Row>& Calls::functions() {
    static constinit Constant<std::unordered_map<std::string, Row>> rows;
    return rows.get([] { return joined<std::unordered_map<std::string, Row>>(&Tables::functions); });
}

const std::map<std::string, Calls::Row>& Calls::methods() {
    static constinit Constant<std::map<std::string, Row>> rows;
    return rows.get([] { return joined<std::map<std::string, Row>>(&Tables::methods); });
}

/// The argument in which a function of elements puts its results: by name, or behind the others; null if there is none.
const Tree* Lowering::out_of(const Tree& call) {
    const auto found = Calls::functions().find(call.name);
    if (found == Calls::functions().end() || found->second.lift == Calls::Lift::No || call.name == "where") return nullptr;
    const auto special = [](const Tree& p) { return p.form == Form::Keyword || p.form == Form::Star; };
    for (const Tree& p : call.parts)
        if (p.form == Form::Keyword && p.name == "out") return &p;
    const bool behind = std::ranges::none_of(call.parts, special) && static_cast<int>(call.parts.size()) == found->second.most + 1;
    return behind ? &call.parts.back() : nullptr;
}

/// A function of elements with such an argument, which is what it gives.
TypedExpr Lowering::call_into(const Tree& given, const Tree* out) {
    Tree plain = given;
    plain.parts.erase(plain.parts.begin() + (out - given.parts.data()));
    const TypedExpr target = loaded(expression(out->form == Form::Keyword ? out->parts[0] : *out));
    if (target.kind() == Kind::None) return call(plain);
    if (target.kind() != Kind::Array || target.view().rank == 0)
        wrong_type(out->place, given.name + ": `out` is an array in memory, not " + describe(target));
    store_rows(target.view(), call(plain), given.place);
    return target;
}

TypedExpr Lowering::call(const Tree& given) {
    const auto found = Calls::functions().find(given.name);
    if (found == Calls::functions().end()) wrong_type(given.place, "`" + given.name + "` cannot be called in a kernel");
    if (const Tree* out = out_of(given)) return call_into(given, out);
    const Calls::Row& row = found->second;
    const bool by_name = std::ranges::any_of(given.parts, [](const Tree& p) { return p.form == Form::Keyword; });
    const Tree made = by_name ? ordered(given, 0, row.names, {"order", "scope"}, row.gaps) : Tree();
    const Tree& t = by_name ? made : given;
    std::vector<TypedExpr> arguments;
    for (const Tree& p : t.parts) {
        if (p.form == Form::Keyword) {  // the handler asks for them
            if (t.name == "AtomicRef" || t.name.starts_with("atomic")) continue;
            wrong_type(p.place, t.name + ": the keyword `" + p.name + "` is not known in a kernel");
        }
        if (p.form == Form::Star) {
            const TypedExpr items = starred(p);
            arguments.insert(arguments.end(), items.tuple().items.begin(), items.tuple().items.end());
        } else {
            const TypedExpr given = expression(p), argument = given.kind() == Kind::List ? elements_of(given) : given;
            arguments.push_back(t.name == "len" || t.name == "print" ? argument : loaded(argument));
        }
    }
    const auto count = static_cast<int>(arguments.size());
    if (count < row.least || count > row.most)
        wrong_type(t.place, t.name.substr(t.name.rfind('.') + 1) + ": takes " + count_text(row.least, row.most) + ", here are " +
                                std::to_string(count));
    if (row.lift != Calls::Lift::No && std::ranges::any_of(arguments, is_rows))
        return array_call(t, std::move(arguments), row.handler, row.lift == Calls::Lift::Floats);
    if (exact_integers() && row.lift == Calls::Lift::Each && !of_python(t.name) && only_weak_integers(arguments))
        for (TypedExpr& a : arguments)
            if (a.number().type.dtype == DType::Int64) a = cast(a, {DType::Int64, false});
    return row.handler(*this, t, arguments);
}

Lowering::NumberHandler Lowering::number_function(const std::string& name) { return Calls::functions().at(name).handler; }

TypedExpr Lowering::method(const Tree& given) {
    const TypedExpr owner_expr = loaded(expression(given.parts[0]));
    if (const auto member = member_of(owner_expr, given.name)) {
        if (member->kind == syntax::Member::Kind::Property)
            wrong_type(given.place, "`" + given.name + "` is a property, which is not called");
        const bool takes_self = member->kind == syntax::Member::Kind::Method;
        return called(function_of(*member, given.place), takes_self ? &owner_expr : nullptr, std::span(given.parts).subspan(1),
                      given.place);
    }
    const TypedExpr& object = owner_expr;
    if (object.kind() == Kind::DType && given.name == "type") {  // x.dtype.type(v)
        Tree conversion = given;
        conversion.form = Form::Apply;
        return apply(conversion);
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
    const auto found = Calls::methods().find(std::string(owner) + "." + given.name);
    if (object.kind() == Kind::List && given.name == "sort")
        wrong_type(given.place, "a list is not sorted in a kernel; np.sort(np.array(…)) makes a sorted array");
    const bool pops_at = object.kind() == Kind::List && given.name == "pop" && given.parts.size() > 1;
    if ((found == Calls::methods().end() || pops_at) && (is_rows(object) || object.kind() == Kind::List) && given.index > 0)
        return called(source_.function->callees[static_cast<std::size_t>(given.index - 1)], &owner_expr, std::span(given.parts).subspan(1),
                      given.place);
    if (found == Calls::methods().end()) {
        std::string known;
        for (const auto& [name, row] : Calls::methods()) {
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
        wrong_type(given.place, describe(object) + " has no method `" + given.name + "` in a kernel" + instead +
                                    (known.empty() ? "" : "; it has " + known));
    }
    const Calls::Row& row = found->second;
    const bool by_name = !is_struct && std::ranges::any_of(given.parts, [](const Tree& p) { return p.form == Form::Keyword; });
    const Tree made = by_name ? ordered(given, 1, row.names, {}, row.gaps) : Tree();
    const Tree& t = by_name ? made : given;
    std::vector<TypedExpr> arguments{owner_expr};
    for (const Tree& p : std::span(t.parts).subspan(1)) arguments.push_back(loaded(expression(p.form == Form::Keyword ? p.parts[0] : p)));
    const auto count = static_cast<int>(arguments.size());
    if (count < row.least || count > row.most)
        wrong_type(t.place, t.name + ": takes " + count_text(row.least - 1, row.most - 1) + ", here are " + std::to_string(count - 1));
    if (row.lift != Calls::Lift::No) return array_call(t, std::move(arguments), row.handler, row.lift == Calls::Lift::Floats);
    return row.handler(*this, t, arguments);
}

}  // namespace pardo::lang
