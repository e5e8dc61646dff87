// src/lang/loops.cpp: parallel loops: one item a round, or blocks of rounds that reduce; and serial parts of a function.
#include <algorithm>
#include <optional>

#include "lang/lowering.h"

namespace pardo::lang {

// ---- what a loop's rounds share

namespace {

bool is_name(const Tree& t, const std::string& name) { return t.form == Form::Name && t.name == name; }

bool mentions(const Tree& t, const std::string& name) {
    return is_name(t, name) || std::any_of(t.parts.begin(), t.parts.end(), [&](const Tree& p) { return mentions(p, name); });
}

/// name + a - b + …, with the name anywhere but behind the second operator.
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

/// What all statements that mention a name say of it.
struct Use {
    std::optional<ir::Combine> combine;
    bool reduces = true;          // nothing but reductions of one kind
    const Tree* other = nullptr;  // the first statement that is none
};

void look(const Tree& t, const std::string& name, Use& use) {
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
    for (const Tree& p : t.parts) look(p, name, use);
}

/// i, i + c, c * i, … : different in each round.
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

bool same_text(const Tree& a, const Tree& b) {
    return a.form == b.form && a.name == b.name && a.index == b.index && (a.form != Form::Number || a.number.u == b.number.u) &&
           std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(), same_text);
}

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
            if (i.form == Form::Slice || i.form == Form::Text) return false;
            ++count;
        }
    }
    return count == rank;
}

bool reads_itself(const Tree& value, const Tree& target) {
    return same_text(value, target) ||
           std::any_of(value.parts.begin(), value.parts.end(), [&](const Tree& p) { return reads_itself(p, target); });
}

/// All elements that a loop's body names: `stored` those that it assigns.
struct Elements {
    std::vector<const Tree*> stored, read;
    bool other = false;  // something that may touch arrays in ways not seen here
};

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

/// Names that a loop's body assigns, and what they are given; null: more than one thing.
using Given = std::map<std::string, const Tree*>;

void collect_given(const Tree& t, Given& out) {
    std::set<std::string> assigned;
    if (t.form == Form::Assign || t.form == Form::Augment || t.form == Form::For || t.form == Form::Each) {
        Tree targets = t;
        targets.parts.resize(1);
        Lowering::collect_targets(targets, assigned);
    }
    for (const std::string& name : assigned) {
        const bool first = !out.contains(name) && t.form == Form::Assign && t.parts[0].form == Form::Name;
        out[name] = first ? &t.parts[1] : nullptr;
    }
    for (const Tree& p : t.parts) collect_given(p, out);
}

/// What is indexed in the end, and all that stands in the brackets behind it: of r[i, j]["x"] r, and i, j and "x". A name that stands for a
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

/// Rounds that certainly meet: all write one element, or one reads what its neighbour writes.
void check_neighbours(const Function& f, const Tree& loop, const std::string& index, const std::set<std::string>& changed,
                      const std::set<std::string>& own, const Given& given) {
    Elements elements;
    collect_elements(loop.parts[4], elements);
    for (const Tree* s : elements.stored) {
        std::vector<const Tree*> indices;
        const Tree& base = indexed_in(*s, indices, given);
        if (base.form == Form::Name && own.contains(base.name)) continue;
        std::set<std::string> all = changed;
        all.insert(index);
        const bool fixed = std::none_of(all.begin(), all.end(), [&](const std::string& n) {
            return std::any_of(indices.begin(), indices.end(), [&](const Tree* p) { return mentions(*p, n); });
        });
        const bool plain =
            std::all_of(indices.begin(), indices.end(), [](const Tree* p) { return p->form != Form::Slice && p->form != Form::Subscript; });
        if (fixed && plain)
            throw problem(ErrorCode::Type, f, s->place,
                          "every round of the parallel loop writes this element, side by side; write it outside of the loop, or use an "
                          "index that differs in each round of `" +
                              index + "`");
        for (const Tree* r : elements.read) {
            if (!same_text(r->parts[0], s->parts[0]) || r->parts.size() != s->parts.size()) continue;
            for (std::size_t k = 1; k < s->parts.size(); ++k) {
                const bool meets = distinct_in(s->parts[k], index, changed) && distinct_in(r->parts[k], index, changed) &&
                                   !same_text(s->parts[k], r->parts[k]);
                if (meets)
                    throw problem(ErrorCode::Type, f, r->place,
                                  "another round of the parallel loop writes this element, before or after it is read here; write the "
                                  "results into another array");
            }
        }
    }
}

/// Elements that are changed by what they were: each round needs its own.
void check_elements(const Function& f, const Tree& t, const std::vector<std::string>& indices, const std::set<std::string>& changed,
                    const std::set<std::string>& own, const Given& given) {
    const bool is_place = !t.parts.empty() && (t.parts[0].form == Form::Subscript || t.parts[0].form == Form::Attribute);
    const bool changes = t.form == Form::Augment || (t.form == Form::Assign && is_place && reads_itself(t.parts[1], t.parts[0]));
    if (changes && is_place) {
        std::vector<const Tree*> places;
        const Tree& base = indexed_in(t.parts[0], places, given);
        const bool private_array = base.form == Form::Name && own.contains(base.name);
        const bool distinct = std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
            return std::any_of(places.begin(), places.end(), [&](const Tree* p) { return distinct_in(*p, index, changed); });
        });
        if (!private_array && !distinct) {
            throw problem(
                ErrorCode::Type, f, t.place,
                "two rounds of the parallel loop may change the same element; write pardo.atomic.add(array, index, value), or make the "
                "index differ in each round of `" +
                    indices[0] + "`");
        }
    }
    for (const Tree& p : t.parts) check_elements(f, p, indices, changed, own, given);
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

bool holds_array(const Term& t, const std::function<bool(int source)>& of) {
    return (t.kind == Kind::Array && of(t.view.source)) ||
           std::ranges::any_of(t.items, [&](const Term& item) { return holds_array(item, of); });
}

bool holds_struct(const Term& t) { return t.structure || std::ranges::any_of(t.items, holds_struct); }

}  // namespace

std::vector<std::string> reductions_of(const Function& function, const Tree& loop, const std::vector<std::string>& outside) {
    std::set<std::string> assigned;
    Lowering::collect_targets(loop.parts[4], assigned);
    std::vector<std::string> found;
    for (const std::string& name : assigned) {
        if (std::find(outside.begin(), outside.end(), name) == outside.end()) continue;
        Use use;
        look(loop.parts[4], name, use);
        if (use.combine && use.reduces) found.push_back(name);
        if (use.combine && !use.reduces)
            throw problem(ErrorCode::Type, function, use.other->place,
                          "`" + name +
                              "` collects something from all rounds of the parallel loop, and this uses it before they have ended: a round "
                              "does not see what others have added; use it after the loop, or a name of the round's own here");
    }
    std::vector<std::string> indices;
    if (loop.parts[0].form == Form::Name) indices.push_back(loop.parts[0].name);
    std::set<std::string> own;
    for (const std::string& name : assigned)
        if (std::find(outside.begin(), outside.end(), name) == outside.end()) own.insert(name);
    Given given;
    collect_given(loop.parts[4], given);
    check_elements(function, loop.parts[4], indices, assigned, own, given);
    if (!indices.empty()) check_neighbours(function, loop, indices[0], assigned, own, given);
    return found;
}

bool Lowering::makes_lanes(const Tree& t, const Term& start, const Term& stop, const Term& step,
                           const std::function<void(const Term&)>& body, std::string& why) {
    constexpr std::int64_t least_rounds = 16;
    const auto no = [&](std::string reason) {
        why = std::move(reason);
        return false;
    };
    const bool ranges = !loop_ || (loop_->parallel && loop_->results.empty());
    if (!ranges || !space_.group_size.empty()) return false;
    if (t.form != Form::For || t.parts[0].form != Form::Name) return no("it does not run over a range");
    if (!options_.distinct) return no("arrays of the call share memory");
    if (!options_.lane_loops) return no("what it writes is used elsewhere by the same item");
    if (!step.constant || step.scalar.i != 1) return no("its step is not 1");
    if (start.constant && stop.constant && stop.scalar.i - start.scalar.i < least_rounds)
        return no("it has fewer than " + std::to_string(least_rounds) + " rounds");
    const Tree& statements = t.parts[4];
    if (!t.parts[5].parts.empty() || contains(statements, Form::Break, false) || contains(statements, Form::Return, true))
        return no("it may be left early");
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
        const auto base = scope_.find(element.parts[0].name);
        return base == scope_.end() || base->second.term.kind != Kind::Array ? nullptr : &base->second.term.view;
    };
    std::set<std::string> around = assigned;  // what differs between runs of the loop, too
    for (const Around& a : around_) {
        if (a.calls != stack_.size()) return no("loops of another function are around it");
        collect_targets(*a.loop, around);
    }
    around.erase(index);
    std::map<int, const Tree*> sources;  // what is written, and where first
    for (const Tree* s : elements.stored) {
        const View* array = array_of(*s);
        if (!array || array->source < 0) return no("it writes into something else than an argument");
        if (!is_element(*s, array->rank)) return no("it writes rows of `" + array->name + "`");
        const Tree& last = last_index(*s);
        if (!distinct_in(last, index, assigned)) return no("`" + index + "` does not count the last index of `" + array->name + "`");
        const Tree* first = sources.try_emplace(array->source, s).first->second;
        if (!same_text(first->parts[0], s->parts[0]) || !same_text(last_index(*first), last))
            return no("two of its rounds may write the same element of `" + array->name + "`");
        if (std::ranges::any_of(around, [&](const std::string& name) {
                return mentions(s->parts[0], name) || mentions(last, name) || mentions(t.parts[1], name);
            }))
            return no("loops around it shift what it writes of `" + array->name + "`");
    }
    for (const auto& [source, element] : sources)
        if (least_at(last_index(*element), index, start) < 0) return no("an index of it may be negative, and counts from the end then");
    // Of a name that is an array itself, elements are compared below.
    const auto is_written = [&](const std::string& name, bool element) {
        const auto found = scope_.find(name);
        if (found == scope_.end()) return false;
        const Term& term = found->second.term;
        return !(element && term.kind == Kind::Array) && holds_array(term, [&](int source) { return sources.contains(source); });
    };
    if (uses_whole(statements, is_written)) return no("it uses what it writes otherwise than by elements");
    for (const Tree* r : elements.read) {
        const View* array = array_of(*r);
        if (!array || !sources.contains(array->source)) continue;
        if (std::none_of(elements.stored.begin(), elements.stored.end(), [&](const Tree* s) { return same_text(*s, *r); }))
            return no("it reads other elements of `" + array->name + "` than it writes");
    }
    // Rounds carry nothing if each name is assigned before it is read, and nobody asks for the last one's.
    const Scope before = scope_;
    const auto function = function_;
    const auto stack = stack_;
    assigned.insert(index);
    for (const std::string& name : assigned) {
        const auto found = scope_.find(name);
        if (found != scope_.end() && !found->second.maybe) return no("`" + name + "` goes from round to round");
    }
    for (const std::string& name : assigned) scope_.erase(name);
    bool independent = true;
    const std::size_t depth = around_.size();
    around_.push_back({&t, stack_.size()});
    in_lanes_ = true;
    try {
        body(number({DType::Int64, true}, ir::no_value, start.least));
        for (const std::string& name : assigned) {
            const auto found = scope_.find(name);
            if (found != scope_.end() && holds_array(found->second.term, [](int) { return true; })) independent = false;
        }
    } catch (const Error&) {
        independent = false;
    }
    in_lanes_ = false;
    around_.resize(depth);
    scope_ = before;
    function_ = function;
    stack_ = stack;
    return independent || no("a name in it is not assigned before it is read, or stands for an array");
}

/// What an index that a loop counts never is below.
std::int64_t Lowering::least_at(const Tree& place, const std::string& index, const Term& start) {
    const Scope before = scope_;
    scope_.set(index, {number({DType::Int64, true}, ir::no_value, start.least), place.place, false, ++versions_});
    std::int64_t least = unknown_least;
    try {
        least = expression(place).least;
    } catch (const Error&) {  // told where the loop is walked
    }
    scope_ = before;
    return least;
}

/// Notes whether a loop becomes the lanes. It does if it can each time that it is met. Why it cannot is told of outermost loops.
void Lowering::choose_lanes(const Tree& t, const Term& start, const Term& stop, const Term& step,
                            const std::function<void(const Term&)>& body) {
    std::string why;
    const bool can = makes_lanes(t, start, stop, step, body, why);
    if (can && !no_lanes_.contains(&t)) {
        lane_loops_.insert(&t);
    } else if (!can) {
        lane_loops_.erase(&t);
        no_lanes_.try_emplace(&t, around_.empty() ? std::move(why) : std::string());
    }
}

// ---- lowering

int Lowering::builder_rank(const Space& space, const LoopSpec* loop) {
    if (!loop) return space.rank;
    if (!loop->parallel) return 0;
    return loop->results.empty() ? loop->dimensions : 1;
}

const Tree& Lowering::loop_at(int depth) const {
    const Tree* t = &function_->body.parts[0];
    for (int d = 0; d < depth; ++d) t = &t->parts[4].parts[0];
    return *t;
}

/// start + number * step, by the last parameters.
Term Lowering::round_index(int d, const Term& round) {
    const std::size_t first = function_->params.size() - 2 * static_cast<std::size_t>(loop_->dimensions);
    const auto at = first + 2 * static_cast<std::size_t>(d);
    const Term &start = arguments_[at], &step = arguments_[at + 1];
    Term i = add(start, mul(round, step));
    i.least = start.least >= 0 && step.least >= 0 ? start.least : unknown_least;
    return i;
}

/// Forgets names that each round must assign before it reads them.
void Lowering::walk_rounds() {
    std::set<std::string> assigned;
    collect_targets(function_->body.parts[0], assigned);
    for (const std::string& name : assigned) {
        if (std::find(loop_->results.begin(), loop_->results.end(), name) != loop_->results.end()) continue;
        if (scope_.contains(name)) own_.insert(name);
        scope_.erase(name);
    }
}

void Lowering::walk_loop() {
    if (!loop_->parallel) return walk_serial();
    const Tree& innermost = loop_at(loop_->dimensions - 1);
    if (contains(innermost.parts[4], Form::Break, false) || contains(innermost.parts[4], Form::Return, true))
        fail(ErrorCode::Type, innermost.place, "a parallel loop cannot be left by break or return: its rounds run side by side; use range");
    walk_rounds();
    if (!loop_->results.empty()) return walk_reduction();
    for (int d = 0; d < loop_->dimensions; ++d) {
        const Term round = number({DType::Int64, true}, dry_ ? ir::no_value : builder_.dim(d), 0);
        assign(loop_at(d).parts[0], round_index(d, round), loop_at(d).place);
    }
    block(innermost.parts[4].parts);
}

Term Lowering::identity(ir::Combine combine, const Term& like) {
    return number(like.type, dry_ ? ir::no_value : builder_.identity(combine, dtype(like.type)));
}

/// Names start each round as what changes nothing, so that rounds may be taken in any order. Tuples have no such value: they start as what
/// they were before the loop, and rounds follow each other.
void Lowering::walk_reduction() {
    const Tree& t = loop_at(0);
    const std::size_t count = loop_->results.size();
    std::vector<ir::Combine> combines;
    std::vector<Variable> initial;
    std::vector<Term> likes;
    bool tuples = false;
    for (const std::string& name : loop_->results) {
        Use use;
        look(t.parts[4], name, use);
        combines.push_back(use.combine.value_or(ir::Combine::Add));
        initial.push_back(scope_.at(name));
        const Term& before = initial.back().term;
        const bool ordered = combines.back() == ir::Combine::Min || combines.back() == ir::Combine::Max;
        if (before.kind != Kind::Number && !(before.kind == Kind::Tuple && ordered))
            wrong_type(t.place, "`" + name + "` is reduced by the loop and must be a number" +
                                    (before.kind == Kind::Tuple ? ", or a tuple of which the loop keeps the least or greatest"
                                                                : ", not " + describe(before)));
        if (holds_struct(before))  // what blocks of rounds give is compared as tuples
            wrong_type(t.place,
                       "`" + name + "` holds " + describe(before) + ", whose order is the class's own; use pardo.reduction, or tuples");
        tuples = tuples || before.kind == Kind::Tuple;
        likes.push_back(unbounded(before));
    }
    const Scope before = scope_;
    const auto round = [&](const Term& i, std::span<const Term> values) {
        scope_ = before;
        for (std::size_t k = 0; k < count; ++k) scope_.set(loop_->results[k], {values[k], initial[k].place, false, ++versions_});
        assign(t.parts[0], round_index(0, i), t.place);
        block(t.parts[4].parts);
    };
    const bool outer = std::exchange(dry_, true);
    for (int n = 0; n < 8; ++n) {
        round(number({DType::Int64, true}, ir::no_value, 0), likes);
        bool stable = true;
        for (std::size_t k = 0; k < count; ++k) {
            Term next = unbounded(joined(loop_->results[k], {likes[k], initial[k].place}, scope_.at(loop_->results[k]), t.place));
            stable = stable && same_type(next, likes[k]);
            likes[k] = std::move(next);
        }
        if (stable) break;
    }
    dry_ = outer;
    out_.results.clear();
    out_.layout.clear();
    for (std::size_t k = 0; k < count; ++k) {
        std::vector<Term> numbers;
        numbers_of(likes[k], numbers, out_.layout);
        const bool is_tuple = likes[k].kind == Kind::Tuple;
        if (!is_tuple && dtype(likes[k].type) == DType::Bool && combines[k] != ir::Combine::And && combines[k] != ir::Combine::Or)
            wrong_type(t.place, "`" + loop_->results[k] + "` is a bool, and reduced as a number");
        for (std::size_t p = 0; p < numbers.size(); ++p)
            out_.results.push_back({numbers[p].type, combines[k], is_tuple && p == 0 ? numbers.size() : 0, p > 0});
    }
    scope_ = before;
    if (dry_) return;
    const auto extra = [&](Slot::Kind kind, const char* label) {
        out_.slots.push_back({kind, 0, 0});
        return builder_.scalar_param(label, DType::Int64);
    };
    const Value rounds = extra(Slot::Kind::Count, "count"), per = extra(Slot::Kind::Block, "block");
    std::vector<Value> places;
    for (std::size_t k = 0; k < out_.results.size(); ++k) {
        places.push_back(builder_.pointer("result" + std::to_string(k), dtype(out_.results[k].type), ir::Access::Write, true));
        out_.slots.push_back({Slot::Kind::Result, static_cast<int>(k), 0});
    }
    std::vector<Term> start;
    std::vector<Value> carried;
    for (std::size_t k = 0; k < count; ++k) {
        start.push_back(likes[k].kind == Kind::Tuple ? initial[k].term : identity(combines[k], likes[k]));
        flatten(start[k], likes[k], carried);
    }
    const auto body = [&](Value i, std::span<const Term> values) {
        round_ = i;
        round(number({DType::Int64, true}, i, 0), values);
        ir::Builder::Values out;
        for (std::size_t k = 0; k < count; ++k) flatten(scope_.at(loop_->results[k]).term, likes[k], out);
        return out;
    };
    const Value low = builder_.mul(builder_.dim(0), per), high = builder_.min(builder_.add(low, per), rounds);
    ir::Builder::Values sums;
    if (tuples) {
        // Rounds of a block wait for each other, so blocks go side by side in the lanes; but not where lanes would wait in inner loops.
        if (options_.lane_blocks && inner_loops_ == 0) builder_.set_lanes(true);
        sums = builder_.for_loop(low, high, builder_.i64(1), carried, [&](Value i, std::span<const Value> values) {
            std::vector<Term> current;
            current.reserve(likes.size());
            std::size_t at = 0;
            for (const Term& like : likes) current.push_back(rebuilt(like, values, at));
            return body(i, current);
        });
    } else {
        std::vector<ir::Reduction> reductions;
        for (std::size_t k = 0; k < count; ++k) reductions.push_back({combines[k], carried[k]});
        sums = builder_.for_lanes(low, high, reductions, [&](Value i) {
            std::vector<Term> fresh;
            for (std::size_t k = 0; k < count; ++k) fresh.push_back(identity(combines[k], likes[k]));
            return body(i, fresh);
        });
    }
    round_ = ir::no_value;
    for (std::size_t k = 0; k < sums.size(); ++k) builder_.store(places[k], builder_.dim(0), sums[k]);
    scope_ = before;
}

/// All of the body, once; the names asked for are written out.
void Lowering::walk_serial() {
    block(function_->body.parts);
    out_.results.clear();
    out_.layout.clear();
    for (const std::string& name : loop_->results) {
        const auto found = scope_.find(name);
        if (found == scope_.end() || found->second.maybe)
            fail(ErrorCode::Name, found == scope_.end() ? function_->body.place : found->second.place,
                 "`" + name + "` is used after the loop, but not assigned on every way through it; give it a value before");
        std::vector<Term> numbers;
        numbers_of(found->second.term, numbers, out_.layout);
        for (std::size_t p = 0; p < numbers.size(); ++p) {
            const Term& t = numbers[p];
            if (t.kind != Kind::Number || !found->second.term.names.empty())
                wrong_type(found->second.place, "`" + name + "` is used after the loop and must be a number or a tuple of numbers, not " +
                                                    describe(found->second.term));
            out_.results.push_back({t.type});
            if (dry_) continue;
            const DType d = dtype(t.type);
            const Value place = builder_.pointer("result_" + name, d, ir::Access::Write, true);
            out_.slots.push_back({Slot::Kind::Result, static_cast<int>(out_.results.size()) - 1, 0});
            builder_.store(place, builder_.i64(0), value(t, d));
        }
    }
}

Lowered lower_loop(const std::shared_ptr<const Function>& function, const LoopSpec& spec, const std::vector<ArgumentType>& arguments,
                   const Options& options) {
    Space space;
    space.rank = spec.parallel ? (spec.results.empty() ? spec.dimensions : 1) : 0;
    return lowered(function, false, space, arguments, options, &spec);
}

}  // namespace pardo::lang
