// src/lang/loops/dependence.cpp: what the iterations of a loop share, as far as its text says: names that they reduce into, elements.
#include "lang/loops/dependence.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "lang/syntax_facts.h"

namespace pardo::lang {
namespace {

bool is_name(const Tree& t, const std::string& name) { return t.form == Form::Name && t.name == name; }

/// name + a - b + …, with the name anywhere but after the second operator.
bool on_spine(const Tree& t, const std::string& name, const char* plain, const char* inverse) {
    if (is_name(t, name)) return true;
    if (t.form != Form::Binary || (t.name != plain && t.name != inverse)) return false;
    if (on_spine(t.parts[0], name, plain, inverse) && !mentions(t.parts[1], name)) return true;
    return t.name == plain && on_spine(t.parts[1], name, plain, inverse) && !mentions(t.parts[0], name);
}

/// How a statement reduces into a name, if it does.
std::optional<ir::Combine> reduction_by(const Tree& t, const std::string& name) {
    using ir::Combine;
    const auto by_operator = [](const std::string& op) -> std::optional<Combine> {
        if (op == "+" || op == "-") return Combine::Add;
        if (op == "*" || op == "/") return Combine::Mul;
        if (op == "&") return Combine::And;
        if (op == "|") return Combine::Or;
        if (op == "^") return Combine::Xor;
        return std::nullopt;
    };
    if (t.form == Form::Augment && is_name(t.parts[0], name) && !mentions(t.parts[1], name)) return by_operator(t.name);
    if (t.form != Form::Assign || !is_name(t.parts[0], name)) return std::nullopt;
    const Tree& value = t.parts[1];
    if (on_spine(value, name, "+", "-")) return Combine::Add;
    if (on_spine(value, name, "*", "/")) return Combine::Mul;
    if (value.form == Form::Binary && is_name(value.parts[0], name) && !mentions(value.parts[1], name)) return by_operator(value.name);
    if (value.form == Form::Binary && is_name(value.parts[1], name) && !mentions(value.parts[0], name) && value.name != "-" &&
        value.name != "/")
        return by_operator(value.name);
    const bool least = value.form == Form::Call && (value.name == "min" || value.name == "minimum");
    const bool most = value.form == Form::Call && (value.name == "max" || value.name == "maximum");
    if ((least || most) && value.parts.size() >= 2) {
        int own = 0;
        for (const Tree& p : value.parts) {
            if (is_name(p, name))
                ++own;
            else if (mentions(p, name))
                return std::nullopt;
        }
        if (own == 1) return least ? Combine::Min : Combine::Max;
    }
    if ((value.form == Form::And || value.form == Form::Or) && is_name(value.parts[0], name) &&
        std::none_of(value.parts.begin() + 1, value.parts.end(), [&](const Tree& p) { return mentions(p, name); }))
        return value.form == Form::And ? Combine::And : Combine::Or;
    return std::nullopt;
}

}  // namespace

bool mentions(const Tree& t, const std::string& name) {
    return is_name(t, name) || std::any_of(t.parts.begin(), t.parts.end(), [&](const Tree& p) { return mentions(p, name); });
}

bool same_text(const Tree& a, const Tree& b) {
    return a.form == b.form && a.name == b.name && a.index == b.index && (a.form != Form::Number || a.number.u == b.number.u) &&
           std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same_text);
}

void collect_use(const Tree& t, const std::string& name, Use& use) {
    if (const auto combine = reduction_by(t, name)) {
        if (use.combine && *use.combine != *combine) {
            use.reduces = false;
            if (!use.other) use.other = &t;
        }
        use.combine = combine;
        return;
    }
    if (is_name(t, name)) {
        use.reduces = false;
        if (!use.other) use.other = &t;
    }
    for (const Tree& p : t.parts) collect_use(p, name, use);
}

bool distinct_in(const Tree& t, const std::string& index, const std::set<std::string>& changed) {
    if (is_name(t, index)) return !changed.contains(index);
    if (t.form != Form::Binary) return false;
    const auto fixed = [&](const Tree& p) {
        std::set<std::string> all = changed;
        all.insert(index);
        return std::none_of(all.begin(), all.end(), [&](const std::string& n) { return mentions(p, n); }) && p.form != Form::Subscript &&
               p.form != Form::Call;
    };
    const Tree &a = t.parts[0], &b = t.parts[1];
    if (t.name == "+" || t.name == "-") return (distinct_in(a, index, changed) && fixed(b)) || (distinct_in(b, index, changed) && fixed(a));
    if (t.name == "*") {
        const auto factor = [](const Tree& p) { return p.form == Form::Number && p.number.as_int() != 0; };
        return (distinct_in(a, index, changed) && factor(b)) || (distinct_in(b, index, changed) && factor(a));
    }
    return false;
}

void collect_elements(const Tree& t, Elements& out) {
    if (t.form == Form::Apply || t.form == Form::Assert || t.form == Form::Raise || t.form == Form::Each) out.other = true;
    if (t.form == Form::Call && (t.name.starts_with("atomic") || t.name.find("barrier") != std::string::npos || t.name == "print"))
        out.other = true;
    const bool assigns = t.form == Form::Assign || t.form == Form::Augment;
    for (std::size_t k = 0; k < t.parts.size(); ++k) {
        const Tree& p = t.parts[k];
        if (assigns && k == 0) {
            if (p.form == Form::Tuple) out.other = true;
            if (p.form == Form::Subscript || p.form == Form::Attribute) {
                out.stored.push_back(&p);
                for (std::size_t j = 1; j < p.parts.size(); ++j) collect_elements(p.parts[j], out);
                continue;
            }
        }
        if (p.form == Form::Subscript) out.read.push_back(&p);
        collect_elements(p, out);
    }
}

namespace {

bool reads_itself(const Tree& value, const Tree& target) {
    return same_text(value, target) ||
           std::any_of(value.parts.begin(), value.parts.end(), [&](const Tree& p) { return reads_itself(p, target); });
}

/// Names that a loop's body assigns, and what they are given; null: more than one thing.
using Given = std::map<std::string, const Tree*>;

void collect_given(const Tree& t, Given& out) {
    std::set<std::string> assigned;
    if (t.form == Form::Assign || t.form == Form::Augment || t.form == Form::For || t.form == Form::Each) {
        Tree targets = t;
        targets.parts.resize(1);
        collect_targets(targets, assigned);
    }
    for (const std::string& name : assigned) {
        const bool first = !out.contains(name) && t.form == Form::Assign && t.parts[0].form == Form::Name;
        out[name] = first ? &t.parts[1] : nullptr;
    }
    for (const Tree& p : t.parts) collect_given(p, out);
}

/// What is indexed in the end, and all that is in the brackets after it: of r[i, j]["x"] r, and i, j and "x". A name that stands for a
/// record's element, q = r[i], is what it was given.
const Tree& indexed_in(const Tree& t, std::vector<const Tree*>& indices, const Given& given, bool of_field = false) {
    if (t.form == Form::Attribute) return indexed_in(t.parts[0], indices, given, true);
    if (t.form == Form::Name && of_field) {
        const auto element = given.find(t.name);
        const bool known = element != given.end() && element->second && element->second->form == Form::Subscript;
        return known ? indexed_in(*element->second, indices, given) : t;
    }
    if (t.form != Form::Subscript) return t;
    const Tree& base = indexed_in(t.parts[0], indices, given, of_field || t.parts.back().form == Form::Text);
    for (std::size_t k = 1; k < t.parts.size(); ++k) {
        const Tree& p = t.parts[k];
        if (p.form != Form::Tuple) {
            indices.push_back(&p);
            continue;
        }
        for (const Tree& q : p.parts) indices.push_back(&q);
    }
    return base;
}

/// How a statement reduces into an element of an array, h[k] += v, if it does.
std::optional<ir::Combine> reduction_into(const Tree& t, const std::string& array) {
    const bool assigns = (t.form == Form::Augment || t.form == Form::Assign) && t.parts[0].form == Form::Subscript;
    if (!assigns || !is_name(t.parts[0].parts[0], array)) return std::nullopt;
    const Tree& place = t.parts[0];
    const bool other =
        std::any_of(place.parts.begin() + 1, place.parts.end(), [&](const Tree& p) { return p.form == Form::Text || mentions(p, array); });
    if (other) return std::nullopt;
    // As a statement on a name.
    Tree named = t;
    named.parts[0] = place.parts[0];
    if (t.form == Form::Assign) {
        const auto replace = [&](Tree& p, const auto& self) -> void {
            if (same_text(p, place))
                p = place.parts[0];
            else
                for (Tree& q : p.parts) self(q, self);
        };
        replace(named.parts[1], replace);
        if (named.parts[1].form == Form::And || named.parts[1].form == Form::Or) return std::nullopt;
        if (named.parts[1].form == Form::Binary && !is_name(named.parts[1].parts[0], array)) return std::nullopt;
    }
    return reduction_by(named, array);
}

/// Whether all that a loop does with an array is to reduce into its elements, in one way.
bool is_scattered(const Tree& t, const std::string& array, std::optional<ir::Combine>& combine) {
    if (is_name(t, array)) return false;
    if (const auto own = reduction_into(t, array)) {
        if (combine && *combine != *own) return false;
        combine = own;
        return true;
    }
    return std::ranges::all_of(t.parts, [&](const Tree& p) { return is_scattered(p, array, combine); });
}

/// Notes an array that iterations may reduce into at the same time.
bool noted_scattered(const Tree& loop, const Tree& base, const std::vector<std::string>& outside, std::vector<std::string>* scattered) {
    std::optional<ir::Combine> combine;
    if (!scattered || base.form != Form::Name || std::ranges::find(outside, base.name) == outside.end()) return false;
    if (!is_scattered(loop.parts[4], base.name, combine)) return false;
    if (std::ranges::find(*scattered, base.name) == scattered->end()) scattered->push_back(base.name);
    return true;
}

/// Iterations that certainly meet: all write one element, or one reads what its neighbour writes.
void check_neighbours(const Function& f, const Tree& loop, const std::string& index, const std::set<std::string>& changed,
                      const std::set<std::string>& own, const Given& given, const std::vector<std::string>* scattered) {
    Elements elements;
    collect_elements(loop.parts[4], elements);
    for (const Tree* s : elements.stored) {
        std::vector<const Tree*> indices;
        const Tree& base = indexed_in(*s, indices, given);
        if (base.form == Form::Name && own.contains(base.name)) continue;
        if (scattered && base.form == Form::Name && std::ranges::find(*scattered, base.name) != scattered->end()) continue;
        std::set<std::string> all = changed;
        all.insert(index);
        const bool fixed = std::none_of(all.begin(), all.end(), [&](const std::string& n) {
            return std::any_of(indices.begin(), indices.end(), [&](const Tree* p) { return mentions(*p, n); });
        });
        const bool plain =
            std::all_of(indices.begin(), indices.end(), [](const Tree* p) { return p->form != Form::Slice && p->form != Form::Subscript; });
        if (fixed && plain)
            throw problem(
                ErrorCode::Type, f, s->place,
                "every iteration of the parallel loop writes this element, at the same time; write it outside of the loop, or use an "
                "index that differs in each iteration of `" +
                    index + "`");
        for (const Tree* r : elements.read) {
            if (!same_text(r->parts[0], s->parts[0]) || r->parts.size() != s->parts.size()) continue;
            for (std::size_t k = 1; k < s->parts.size(); ++k) {
                const bool meets = distinct_in(s->parts[k], index, changed) && distinct_in(r->parts[k], index, changed) &&
                                   !same_text(s->parts[k], r->parts[k]);
                if (meets)
                    throw problem(
                        ErrorCode::Type, f, r->place,
                        "another iteration of the parallel loop writes this element, before or after it is read here; write the "
                        "results into another array, or read pardo.unordered(x)[…] where its old value serves and its new one too");
            }
        }
    }
}

/// Elements that are changed by what they were: each iteration needs its own.
void check_elements(const Function& f, const Tree& t, const std::vector<std::string>& indices, const std::set<std::string>& changed,
                    const std::set<std::string>& own, const Given& given, const std::function<bool(const Tree& base)>& is_reduced) {
    const bool is_place = !t.parts.empty() && (t.parts[0].form == Form::Subscript || t.parts[0].form == Form::Attribute);
    const bool changes = t.form == Form::Augment || (t.form == Form::Assign && is_place && reads_itself(t.parts[1], t.parts[0]));
    if (changes && is_place) {
        std::vector<const Tree*> places;
        const Tree& base = indexed_in(t.parts[0], places, given);
        const bool private_array = base.form == Form::Name && own.contains(base.name);
        const bool distinct = std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
            return std::any_of(places.begin(), places.end(), [&](const Tree* p) { return distinct_in(*p, index, changed); });
        });
        if (!private_array && !distinct && !is_reduced(base)) {
            throw problem(
                ErrorCode::Type, f, t.place,
                "two iterations of the parallel loop may change the same element; write pardo.atomic.add(array, index, value), or make the "
                "index differ in each iteration of `" +
                    indices[0] + "`");
        }
    }
    for (const Tree& p : t.parts) check_elements(f, p, indices, changed, own, given, is_reduced);
}

}  // namespace

std::vector<std::string> reductions_of(const Function& function, const Tree& loop, const std::vector<std::string>& outside,
                                       std::vector<std::string>* scattered) {
    std::set<std::string> assigned;
    collect_targets(loop.parts[4], assigned);
    std::vector<std::string> found;
    for (const std::string& name : assigned) {
        if (std::find(outside.begin(), outside.end(), name) == outside.end()) continue;
        Use use;
        collect_use(loop.parts[4], name, use);
        if (use.combine && use.reduces) found.push_back(name);
        if (use.combine && !use.reduces)
            throw problem(
                ErrorCode::Type, function, use.other->place,
                "`" + name +
                    "` is reduced over all iterations of the parallel loop, and this uses it before they have ended: an iteration "
                    "does not see what others have added; use it after the loop, or another name, assigned in the loop, here");
    }
    std::vector<std::string> indices;
    if (loop.parts[0].form == Form::Name) indices.push_back(loop.parts[0].name);
    std::set<std::string> own;
    for (const std::string& name : assigned)
        if (std::find(outside.begin(), outside.end(), name) == outside.end()) own.insert(name);
    Given given;
    collect_given(loop.parts[4], given);
    check_elements(function, loop.parts[4], indices, assigned, own, given,
                   [&](const Tree& base) { return noted_scattered(loop, base, outside, scattered); });
    if (!indices.empty()) check_neighbours(function, loop, indices[0], assigned, own, given, scattered);
    return found;
}

}  // namespace pardo::lang
