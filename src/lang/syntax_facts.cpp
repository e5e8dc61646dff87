// src/lang/syntax_facts.cpp: names that statements assign, paths that leave, and expressions that may run although they are not needed.
#include "lang/syntax_facts.h"

#include <algorithm>

namespace pardo::lang {

bool never_falls(const std::vector<Tree>& statements) {
    return std::any_of(statements.begin(), statements.end(), [](const Tree& t) {
        switch (t.form) {
            case Form::Break:
            case Form::Continue:
            case Form::Return:
            case Form::Raise: return true;
            case Form::If: return never_falls(t.parts[1].parts) && never_falls(t.parts[2].parts);
            default: return false;
        }
    });
}

bool contains(const Tree& t, Form form, bool through_loops) {
    if (t.form == form) return true;
    const bool is_loop = t.form == Form::For || t.form == Form::Each || t.form == Form::While;
    if (is_loop && !through_loops) {  // its own breaks are its own; its else belongs to the loop around
        return contains(t.parts.back(), form, through_loops);
    }
    return std::any_of(t.parts.begin(), t.parts.end(), [&](const Tree& p) { return contains(p, form, through_loops); });
}

void collect_targets(const Tree& t, std::set<std::string>& names) {
    const auto target = [&](const Tree& place, const auto& self) -> void {
        if (place.form == Form::Name) names.insert(place.name);
        if (place.form == Form::Tuple)
            for (const Tree& p : place.parts) self(p, self);
    };
    if (t.form == Form::Assign || t.form == Form::Augment || t.form == Form::For || t.form == Form::Each || t.form == Form::Named)
        target(t.parts[0], target);
    for (const Tree& p : t.parts) collect_targets(p, names);
}

std::vector<std::string> operators_of(const Tree& t) {
    std::vector<std::string> ops;
    for (std::size_t at = 0; at < t.name.size();) {
        const std::size_t end = std::min(t.name.find(',', at), t.name.size());
        ops.push_back(t.name.substr(at, end - at));
        at = end + 1;
    }
    return ops;
}

bool is_simple(const Tree& t) {
    switch (t.form) {
        case Form::Subscript:
        case Form::Call:
        case Form::Method:
        case Form::Named:
        case Form::List:
        case Form::Apply: return false;
        default: return std::all_of(t.parts.begin(), t.parts.end(), [](const Tree& p) { return is_simple(p); });
    }
}

}  // namespace pardo::lang
