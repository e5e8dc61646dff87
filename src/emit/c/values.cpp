// src/emit/c/values.cpp: the kernel's values as text.
#include "emit/c/values.h"

#include "emit/c/expressions.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

CValues::CValues(CWriter& w, const CSource& source)
    : w(w), source(source), texts(source.kernel.values.size()), given(source.kernel.values.size()) {
    for (const ir::Param& p : source.kernel.params) {
        std::string text = source.names.params[params.size()];
        if (!p.pointer && p.type == DType::Bool) text = "(" + text + " != 0)";
        texts[p.value] = text;
        params.push_back(text);
    }
    for (std::size_t v = 0; v < given.size(); ++v) {
        if (const int array = source.shared.found[v]; array != SharedValues::none) given[v] = kept_element(array);
    }
}

void CValues::define(ir::Value v, const std::string& expression) {
    if (source.uses.count[v] == 0) return;
    if (!is_expression(expression) || (source.uses.once_nearby(v) && expression.size() < longest_expression))
        texts[v] = expression;
    else
        declare(v, expression);
}

void CValues::declare(ir::Value v, const std::string& expression) {
    const std::string name = w.fresh("v");
    w.line("const " + c_type(w.target, source.type(v)) + " " + name + " = " + expression + ";");
    texts[v] = name;
}

std::string CValues::named(ir::Value v) {
    if (!is_expression(texts[v])) return texts[v];
    std::string name = w.fresh("v");
    w.line("const " + c_type(w.target, source.type(v)) + " " + name + " = " + texts[v] + ";");
    return name;
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
