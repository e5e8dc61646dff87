// src/lang/statements.cpp: statements: assignment, branches, loops; break, continue and return become flags and regions.
#include <algorithm>

#include "lang/lowering.h"

namespace pardo::lang {
namespace {

constexpr const char *break_flag = "$break", *continue_flag = "$continue", *return_flag = "$return", *result_name = "$value";

Term flag(bool set) { return number(Scalar(set)); }

}  // namespace

// ---- what joins

/// The type of a value that is computed: what is known of a constant now is forgotten, but not its least value.
Term Lowering::fluid(const Term& t) const {
    Term out = t;
    out.constant = false;
    out.value = ir::no_value;
    for (Term& item : out.items) item = fluid(item);
    for (Term& part : out.view.lead) part = fluid(part);
    return out;
}

Term Lowering::unbounded(const Term& t) const {
    Term out = fluid(t);
    if (out.kind == Kind::Number) out = number(out.type, out.value);
    for (Term& item : out.items) item = unbounded(item);
    return out;
}

bool Lowering::same_type(const Term& a, const Term& b) {
    if (a.kind != b.kind || a.items.size() != b.items.size()) return false;
    if (a.kind == Kind::Number && (!(a.type == b.type) || a.least != b.least || a.constant != b.constant)) return false;
    if (a.kind == Kind::Array) {
        for (std::size_t k = 0; k < a.view.lead.size(); ++k)
            if (!same_type(a.view.lead[k], b.view.lead[k])) return false;
    }
    return std::equal(a.items.begin(), a.items.end(), b.items.begin(), same_type);
}

void Lowering::numbers_of(const Term& t, std::vector<Term>& out, std::vector<ArgumentType>& layout) {
    ArgumentType& here = layout.emplace_back();
    here.dtype = t.type.dtype;
    here.weak = t.type.weak;
    if (t.kind != Kind::Tuple) return out.push_back(t);
    here.kind = ArgumentType::Kind::Tuple;
    here.parts = t.items.size();
    here.names = t.names;
    for (const Term& item : t.items) numbers_of(item, out, layout);
}

Term Lowering::joined(const std::string& name, const Variable& a, const Variable& b, const Place& place) const {
    const Term &x = a.term, &y = b.term;
    // The later of the two places is the one that does not fit.
    const bool swapped = a.place.line > b.place.line;
    const Variable &first = swapped ? b : a, &second = swapped ? a : b;
    const auto who = [&] { return name.starts_with("the ") ? name : "`" + name + "`"; };
    const auto conflict = [&](const std::string& what) { wrong_type(second.place.line ? second.place : place, who() + what); };
    const auto types = [&] {
        return " is " + describe(first.term) + " on one way (" + line_text(first.place) + ") and " + describe(second.term) +
               " on another (" + line_text(second.place) + "); it needs one type";
    };
    if (x.kind != y.kind) conflict(types());
    Term out = fluid(x);
    switch (x.kind) {
        case Kind::Number:
            if (x.constant && y.constant && x.type == y.type && x.scalar.u == y.scalar.u && !is_complex(x.type.dtype)) return x;
            if (!join(x.type, y.type, out.type)) conflict(types() + ": convert one of the two");
            out.least = std::min(x.least, y.least);
            return out;
        case Kind::Tuple:
            if (x.names != y.names) conflict(types());
            if (x.items.size() != y.items.size())
                conflict(" is a tuple of " + std::to_string(x.items.size()) + " or of " + std::to_string(y.items.size()));
            for (std::size_t k = 0; k < x.items.size(); ++k)
                out.items[k] = joined(name + "[" + std::to_string(k) + "]", {x.items[k], a.place}, {y.items[k], b.place}, place);
            return out;
        case Kind::Array:
            if (x.view.source != y.view.source || x.view.rank != y.view.rank)
                conflict(" is one array on one way (" + line_text(first.place) + ") and another on another (" + line_text(second.place) +
                         "); at each line it is known which array a name is: choose between elements, or swap "
                         "arrays between launches");
            for (std::size_t k = 0; k < x.view.lead.size(); ++k)
                out.view.lead[k] = joined(name, {x.view.lead[k], a.place}, {y.view.lead[k], b.place}, place);
            out.view.pointer = x.view.pointer;
            return out;
        case Kind::Function:
            if (x.function != y.function || x.text != y.text)
                conflict(" is one function on one way (" + line_text(first.place) + ") and another on another (" + line_text(second.place) +
                         "); at each line it is known which function a name is: call them in the branches");
            return x;
        case Kind::DType:
        case Kind::Text:
            if (x.type.dtype != y.type.dtype || x.text != y.text)
                conflict(" is not the same on every way, and it must be known before the kernel runs");
            return x;
        case Kind::Reference: conflict(" refers to one element on one way and to another on another; make it behind the branch"); return x;
        default: return x;
    }
}

/// The values of a term, converted to another's type; constants of that need none.
void Lowering::flatten(const Term& t, const Term& like, std::vector<Value>& out) {
    switch (like.kind) {
        case Kind::Number:
            if (!like.constant) out.push_back(value(t, dtype(like.type)));
            return;
        case Kind::Tuple:
            for (std::size_t k = 0; k < like.items.size(); ++k) flatten(t.items[k], like.items[k], out);
            return;
        case Kind::Array:
            for (std::size_t k = 0; k < like.view.lead.size(); ++k) flatten(t.view.lead[k], like.view.lead[k], out);
            return;
        default: return;
    }
}

Term Lowering::rebuilt(const Term& like, std::span<const Value> values, std::size_t& at) const {
    Term out = like;
    switch (like.kind) {
        case Kind::Number:
            if (!like.constant) out.value = dry_ ? ir::no_value : values[at++];
            return out;
        case Kind::Tuple:
            for (Term& item : out.items) item = rebuilt(item, values, at);
            return out;
        case Kind::Array:
            for (Term& part : out.view.lead) part = rebuilt(part, values, at);
            return out;
        default: return out;
    }
}

void Lowering::set_variable(const std::string& name, Term term, const Place& place) {
    record_type(name, term, place);
    scope_[name] = {std::move(term), place, false, ++versions_};
}

void Lowering::record_parameters() {
    std::vector<std::string> names = function_->params;
    names.push_back(function_->rest);
    for (const std::string& name : names)
        if (const auto found = scope_.find(name); found != scope_.end()) record_type(name, found->second.term, function_->body.place);
}

void Lowering::record_type(const std::string& name, const Term& term, const Place& place) {
    if (options_.record_types && !dry_ && !name.starts_with('$')) out_.types.push_back({function_, place.line, name, describe(term)});
}

// ---- blocks

bool Lowering::never_falls(const std::vector<Tree>& statements) {
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

bool Lowering::contains(const Tree& t, Form form, bool through_loops) {
    if (t.form == form) return true;
    const bool is_loop = t.form == Form::For || t.form == Form::Each || t.form == Form::While;
    if (is_loop && !through_loops) {  // its own breaks are its own; its else belongs to the loop around
        return contains(t.parts.back(), form, through_loops);
    }
    return std::any_of(t.parts.begin(), t.parts.end(), [&](const Tree& p) { return contains(p, form, through_loops); });
}

void Lowering::collect_targets(const Tree& t, std::set<std::string>& names) {
    const auto target = [&](const Tree& place, const auto& self) -> void {
        if (place.form == Form::Name) names.insert(place.name);
        if (place.form == Form::Tuple)
            for (const Tree& p : place.parts) self(p, self);
    };
    if (t.form == Form::Assign || t.form == Form::Augment || t.form == Form::For || t.form == Form::Each) target(t.parts[0], target);
    for (const Tree& p : t.parts) collect_targets(p, names);
}

bool Lowering::escapes() const {
    for (const char* name : {break_flag, continue_flag, return_flag}) {
        const Term& t = scope_.at(name).term;
        if (!t.constant || t.scalar.b) return true;
    }
    return false;
}

Term Lowering::alive() {
    Term gone = flag(false);
    for (const char* name : {break_flag, continue_flag, return_flag}) {
        const Term& t = scope_.at(name).term;
        if (t.constant && !t.scalar.b) continue;
        gone = gone.constant && !gone.scalar.b ? t : pure(Opcode::Or, {DType::Bool, false}, {gone, t}, DType::Bool);
    }
    return pure(Opcode::Not, {DType::Bool, false}, {gone}, DType::Bool);
}

void Lowering::block(const std::vector<Tree>& statements, std::size_t from) {
    for (std::size_t k = from; k < statements.size(); ++k) {
        const Tree& t = statements[k];
        at_ = t.place;
        if (t.form == Form::If) {
            if (if_statement(t, statements, k + 1)) return;
        } else {
            statement(t);
        }
        if (k + 1 == statements.size() || !escapes()) continue;
        return go_on(t.place, [&] { block(statements, k + 1); });
    }
}

/// What follows statements that may have set a flag: it runs where none is.
void Lowering::go_on(const Place& place, const std::function<void()>& rest) {
    if (!escapes()) return rest();
    const Term goes_on = alive();
    if (goes_on.constant) return goes_on.scalar.b ? rest() : void();
    const auto alone = [&] {
        for (const char* name : {break_flag, continue_flag, return_flag}) scope_[name].term = flag(false);
        rest();
    };
    branch(goes_on, place, alone, [] {});
}

void Lowering::statement(const Tree& t) {
    if (!dry_) {
        builder_.set_span({1, static_cast<std::uint32_t>(t.place.line), static_cast<std::uint32_t>(t.place.column),
                           static_cast<std::uint32_t>(t.place.end_column)});
    }
    switch (t.form) {
        case Form::Block: return block(t.parts);
        case Form::Assign: return assign(t.parts[0], expression(t.parts[1]), t.place);
        case Form::Augment: return augment(t);
        case Form::For: return for_range(t);
        case Form::Each: return for_each(t);
        case Form::While: return while_statement(t);
        case Form::Break: return set_variable(break_flag, flag(true), t.place);
        case Form::Continue: return set_variable(continue_flag, flag(true), t.place);
        case Form::Return:
            if (stack_.size() == 1) {
                if (!t.parts.empty() && t.parts[0].form != Form::None)
                    wrong_type(t.place, "a kernel returns nothing; write its results into arrays");
            } else {
                set_variable(result_name, t.parts.empty() ? Term() : expression(t.parts[0]), t.place);
            }
            return set_variable(return_flag, flag(true), t.place);
        case Form::Discard: (void)expression(t.parts[0]); return;
        case Form::Assert: return assertion(t);
        case Form::Raise:
            fail_when(flag(true), static_cast<ErrorCode>(t.index), t.name, t.place, {});
            return set_variable(return_flag, flag(true), t.place);
        default: fail(ErrorCode::Internal, t.place, "an expression stands where a statement is expected");
    }
}

void Lowering::assign(const Tree& target, const Term& assigned, const Place& place) {
    switch (target.form) {
        case Form::Name: return set_variable(target.name, assigned, place);
        case Form::Subscript: return store(target, assigned, place);
        case Form::Tuple: {
            std::vector<Term> items = assigned.items;
            if (assigned.kind == Kind::Array && assigned.view.rank == 1 && assigned.view.lead[1].constant) {
                for (std::int64_t k = 0; k < assigned.view.lead[1].scalar.i; ++k) {
                    items.push_back(element(part_at(assigned.view, integer(k))));
                }
            } else if (assigned.kind != Kind::Tuple) {
                wrong_type(place, describe(assigned) + " cannot be unpacked into " + std::to_string(target.parts.size()) + " names");
            }
            if (items.size() != target.parts.size())
                fail(ErrorCode::Value, place,
                     std::to_string(items.size()) + " values cannot be unpacked into " + std::to_string(target.parts.size()) + " names");
            for (std::size_t k = 0; k < items.size(); ++k) assign(target.parts[k], items[k], place);
            return;
        }
        default: wrong_type(target.place, "only names, elements of arrays, and tuples of these can be assigned");
    }
}

void Lowering::augment(const Tree& t) {
    const Tree& target = t.parts[0];
    if (target.form == Form::Name) {
        const Term old = expression(target);
        return set_variable(target.name, binary(t.name, old, expression(t.parts[1]), t.place), t.place);
    }
    if (target.form != Form::Subscript) wrong_type(t.place, "only names and elements of arrays can be changed in place");
    const Term object = expression(target.parts[0]);
    if (object.kind != Kind::Array) wrong_type(target.place, describe(object) + " has no elements that could be changed");
    const View place = viewed(object.view, indices_of(target), target);
    if (place.rank > 0) wrong_type(t.place, "a part of an array cannot be changed as a whole here; loop over its elements");
    const Term result = binary(t.name, element(place), expression(t.parts[1]), t.place);
    // NumPy's rule for x[i] += y: the array keeps its dtype.
    store_element(place, result, t.place);
}

// ---- branches

void Lowering::learn(const Tree& test, bool truth) {
    if (test.form == Form::Unary && test.name == "not") return learn(test.parts[0], !truth);
    if ((test.form == Form::And && truth) || (test.form == Form::Or && !truth)) {
        for (const Tree& p : test.parts) learn(p, truth);
        return;
    }
    if (test.form != Form::Compare || (test.parts.size() != 2 && !truth)) return;
    const auto least = [&](const Tree& t, std::int64_t& out) {
        if (t.form == Form::Number && kind_of(t.number.dtype) == DKind::Signed) {
            out = t.number.i;
            return true;
        }
        if (t.form == Form::Name) {
            const auto found = scope_.find(t.name);
            if (found == scope_.end() || found->second.term.kind != Kind::Number) return false;
            out = found->second.term.least;
            return out != unknown_least;
        }
        return false;
    };
    const auto raise = [&](const Tree& t, std::int64_t to) {
        if (t.form != Form::Name) return;
        const auto found = scope_.find(t.name);
        if (found == scope_.end() || found->second.term.kind != Kind::Number || !is_integer(found->second.term.type.dtype)) return;
        found->second.term.least = std::max(found->second.term.least, to);
    };
    std::size_t at = 0;
    for (std::size_t k = 0; k + 1 < test.parts.size(); ++k) {
        const std::size_t end = std::min(test.name.find(',', at), test.name.size());
        std::string op = test.name.substr(at, end - at);
        at = end + 1;
        if (!truth)
            op = op == "<" ? ">=" : op == "<=" ? ">" : op == ">" ? "<=" : op == ">=" ? "<" : op == "==" ? "!=" : op == "!=" ? "==" : op;
        const Tree &a = test.parts[k], &b = test.parts[k + 1];
        std::int64_t low = 0, own = 0;
        if ((op == ">" || op == ">=" || op == "==") && least(b, low)) raise(a, low + (op == ">" ? 1 : 0));
        if ((op == "<" || op == "<=" || op == "==") && least(a, low)) raise(b, low + (op == "<" ? 1 : 0));
        if (op == "!=" && b.form == Form::Number && least(b, low) && least(a, own) && own == low) raise(a, low + 1);
        if (op == "!=" && a.form == Form::Number && least(a, low) && least(b, own) && own == low) raise(b, low + 1);
    }
}

/// Walks both sides dry, to learn what they assign and with which types, then builds them.
void Lowering::branch(const Term& test, const Place& place, const std::function<void()>& then_part,
                      const std::function<void()>& else_part) {
    const Scope before = scope_;
    const bool outer = std::exchange(dry_, true);
    then_part();
    const Scope a = std::exchange(scope_, before);
    else_part();
    const Scope b = std::exchange(scope_, before);
    dry_ = outer;
    Scope after = before;
    std::vector<std::string> names;
    const auto meet = [&](const std::string& name, const Variable* x, const Variable* y) {
        if (x && y && x->version == y->version) return;
        Variable& v = after[name];
        if (!x || !y || x->maybe || y->maybe) {
            v = x ? *x : *y;
            v.term = fluid(v.term);
            v.maybe = true;
            v.version = ++versions_;
            return;
        }
        v = {joined(name, *x, *y, place), y->place.line ? y->place : x->place, false, ++versions_};
        names.push_back(name);
    };
    for (const auto& [name, x] : a) {
        const auto y = b.find(name);
        meet(name, &x, y == b.end() ? nullptr : &y->second);
    }
    for (const auto& [name, y] : b)
        if (!a.contains(name)) meet(name, nullptr, &y);
    if (!dry_) {
        const auto part = [&](const std::function<void()>& f) {
            return [&] {
                scope_ = before;
                f();
                ir::Builder::Values out;
                for (const std::string& name : names) flatten(scope_.at(name).term, after.at(name).term, out);
                return out;
            };
        };
        const ir::Builder::Values values = builder_.if_else(value(test), part(then_part), part(else_part));
        std::size_t at = 0;
        for (const std::string& name : names) after[name].term = rebuilt(after[name].term, values, at);
    }
    scope_ = std::move(after);
}

bool Lowering::if_statement(const Tree& t, const std::vector<Tree>& rest, std::size_t from) {
    const Tree &yes = t.parts[1], &no = t.parts[2];
    const Term test = condition(t.parts[0]);
    if (test.constant) {
        block((test.scalar.b ? yes : no).parts);
        return false;
    }
    // What follows belongs to the side that goes on, if only one does.
    const bool yes_ends = never_falls(yes.parts), no_ends = never_falls(no.parts);
    const bool takes_rest = yes_ends != no_ends && from < rest.size();
    const auto side = [&](const Tree& part, bool truth, bool ends) {
        return [&, truth, ends] {
            learn(t.parts[0], truth);
            block(part.parts);
            if (!takes_rest || ends) return;
            go_on(t.place, [&] { block(rest, from); });
        };
    };
    branch(test, t.place, side(yes, true, yes_ends), side(no, false, no_ends));
    return takes_rest;
}

// ---- loops

Lowering::Carried Lowering::carried_by(const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                                       const std::function<void()>& round) {
    Carried c;
    std::set<std::string> names(hidden.begin(), hidden.end());
    for (const Tree* p : parts) collect_targets(*p, names);
    c.before = scope_;
    for (const std::string& name : names) {
        const auto found = scope_.find(name);
        if (found == scope_.end() || found->second.maybe) continue;
        c.names.push_back(name);
        c.likes.push_back(fluid(found->second.term));
    }
    const bool outer = std::exchange(dry_, true);
    for (int round_number = 0;; ++round_number) {
        scope_ = c.before;
        bind(c, {});
        round();
        bool stable = true;
        for (std::size_t k = 0; k < c.names.size(); ++k) {
            const Variable& entry = c.before.at(c.names[k]);
            const Variable& end = scope_.at(c.names[k]);
            if (end.maybe)
                fail(ErrorCode::Name, end.place,
                     "`" + c.names[k] + "` may have no value when the loop comes round again; assign it on every way");
            Variable start{c.likes[k], entry.place};
            Term next = fluid(joined(c.names[k], start, end, end.place));
            if (next.kind == Kind::Number && next.least < c.likes[k].least) next.least = unknown_least;
            if (next.kind == Kind::Array) {
                for (std::size_t d = 0; d < next.view.lead.size(); ++d)
                    if (next.view.lead[d].least < c.likes[k].view.lead[d].least) next.view.lead[d].least = unknown_least;
            }
            stable = stable && same_type(next, c.likes[k]);
            c.likes[k] = std::move(next);
        }
        if (stable || round_number > 16) break;
    }
    c.after = scope_;
    scope_ = c.before;
    dry_ = outer;
    return c;
}

void Lowering::bind(const Carried& c, std::span<const Value> values) {
    std::size_t at = 0;
    for (std::size_t k = 0; k < c.names.size(); ++k) {
        Variable& v = scope_[c.names[k]];
        v.term = rebuilt(c.likes[k], values, at);
        v.version = ++versions_;
    }
}

void Lowering::collect(const Carried& c, std::vector<Value>& out) {
    for (std::size_t k = 0; k < c.names.size(); ++k) flatten(scope_.at(c.names[k]).term, c.likes[k], out);
}

/// After the loop: carried names have their last values; names that only rounds assign may have none.
void Lowering::leave_loop(const Carried& c, std::span<const Value> results) {
    scope_ = c.before;
    bind(c, results);
    for (const auto& [name, v] : c.after) {
        if (scope_.contains(name)) continue;
        Variable& left = scope_[name];
        left = v;
        left.term = fluid(v.term);
        left.maybe = true;
    }
}

/// for i in range(global id, …, global range), in groups of one dimension: where an item goes on, its neighbours do beside it.
bool Lowering::is_grid_stride(Value lower, const Term& step) {
    return space_.rank == 1 && space_.group_size.size() == 1 && !step.constant && lower == builder_.dim(0) &&
           value(step, DType::Int64) == builder_.extent(0);
}

/// The rounds of a grid-stride loop, counted by the group's first item.
void Lowering::together(Value upper, const std::function<void(Value)>& body) {
    const Value first = builder_.mul(builder_.group_dim(0), builder_.i64(space_.group_size[0]));
    const auto nothing = [] { return ir::Builder::Values(); };
    const auto round = [&](Value base, std::span<const Value>) {
        const Value i = builder_.add(base, builder_.local_dim(0));
        const auto inside = [&] {
            body(i);
            return nothing();
        };
        return builder_.if_else(builder_.lt(i, upper), inside, nothing);
    };
    builder_.for_loop(first, upper, builder_.extent(0), {}, round, 0, ir::LoopKind::Together);
}

void Lowering::counted_loop(const Tree& t, const Term& start, const Term& stop, const Term& step,
                            const std::function<void(const Term&)>& body) {
    std::int64_t least = unknown_least;
    if (step.least > 0) least = start.least;
    if (step.constant && step.scalar.i < 0 && stop.least != unknown_least) least = stop.least + 1;
    const auto index = [&](Value v) { return number({DType::Int64, true}, v, least); };
    if (std::string why; dry_ && depth_ == 0) {
        if (makes_lanes(t, start, stop, step, body, why)) lane_loops_.insert(&t);
        if (!why.empty()) no_lanes_.try_emplace(&t, std::move(why));
    }
    ++depth_;
    const Carried c = carried_by({&t}, {}, [&] { body(index(ir::no_value)); });
    if (dry_) {
        --depth_;
        return leave_loop(c, {});
    }
    const Value lower = value(start, DType::Int64), upper = value(stop, DType::Int64);
    if (c.names.empty() && is_grid_stride(lower, step)) {
        together(upper, [&](Value i) {
            scope_ = c.before;
            body(index(i));
        });
        --depth_;
        return leave_loop(c, {});
    }
    if (depth_ == 1 && lane_loops_.contains(&t)) {
        builder_.for_lanes(lower, upper, {}, [&](Value i) {
            scope_ = c.before;
            body(index(i));
            return ir::Builder::Values();
        });
        --depth_;
        return leave_loop(c, {});
    }
    std::vector<Value> initial;
    collect(c, initial);
    const auto round = [&](Value i, std::span<const Value> values) {
        scope_ = c.before;
        bind(c, values);
        body(index(i));
        ir::Builder::Values out;
        collect(c, out);
        return out;
    };
    const ir::Builder::Values results = builder_.for_loop(lower, upper, value(step, DType::Int64), initial, round);
    --depth_;
    leave_loop(c, results);
}

void Lowering::general_loop(const Tree& t, const std::vector<const Tree*>& parts, const std::vector<std::string>& hidden,
                            const std::function<Term()>& test, const std::function<void()>& body) {
    // The test knows that no flag was set; the body begins without any.
    const bool breaks = contains(t, Form::Break, true),
               returns = contains(t, Form::Return, true) || contains(t, Form::Raise, true) || contains(t, Form::Assert, true);
    std::vector<std::string> names = hidden;
    if (breaks) names.emplace_back(break_flag);
    if (returns) names.emplace_back(return_flag);
    if (returns && scope_.contains(result_name)) names.emplace_back(result_name);
    const auto goes_on = [&]() -> Term {
        scope_[continue_flag].term = flag(false);
        const Term running = alive();
        if (running.constant && running.scalar.b) return test();
        const auto tested = [&] {
            const Scope before = scope_;
            for (const char* name : {break_flag, return_flag}) scope_[name].term = flag(false);
            Term result = test();
            scope_ = before;
            return result;
        };
        return chosen(
            running, t, tested, [] { return flag(false); }, t.place);
    };
    const auto round = [&] {
        for (const char* name : {break_flag, continue_flag, return_flag}) scope_[name] = {flag(false), t.place, false, ++versions_};
        body();
        scope_[continue_flag] = {flag(false), t.place, false, ++versions_};
    };
    ++depth_;
    const Carried c = carried_by(parts, names, [&] {
        (void)goes_on();
        round();
    });
    if (dry_) {
        --depth_;
        return leave_loop(c, {});
    }
    std::vector<Value> initial;
    collect(c, initial);
    const ir::Builder::Values results = builder_.while_loop(
        initial,
        [&](std::span<const Value> values) {
            scope_ = c.before;
            bind(c, values);
            return value(goes_on(), DType::Bool);
        },
        [&](std::span<const Value> values) {
            scope_ = c.before;
            bind(c, values);
            round();
            ir::Builder::Values out;
            collect(c, out);
            return out;
        });
    --depth_;
    leave_loop(c, results);
}

/// Puts the flags of the loop around back, and runs `else` if no break was met.
void Lowering::after_loop(const Tree* otherwise, const Variable& outer_break, const Variable& outer_continue) {
    const Term broken = scope_[break_flag].term;
    scope_[break_flag] = outer_break;
    scope_[continue_flag] = outer_continue;
    if (!otherwise || otherwise->parts.empty()) return;
    const Term whole = pure(Opcode::Not, {DType::Bool, false}, {broken}, DType::Bool);
    if (whole.constant) return whole.scalar.b ? block(otherwise->parts) : void();
    branch(
        whole, otherwise->place, [&] { block(otherwise->parts); }, [] {});
}

/// for i in range(start, stop, step): `begin` binds what depends on i at the start of each round.
void Lowering::ranged(const Tree& t, const Term& start, const Term& stop, const Term& step, const Tree& body, const Tree* otherwise,
                      const std::function<void(const Term&)>& begin) {
    const Variable outer_break = scope_[break_flag], outer_continue = scope_[continue_flag];
    scope_[break_flag] = {flag(false), t.place, false, ++versions_};
    scope_[continue_flag] = {flag(false), t.place, false, ++versions_};
    const bool leaves = contains(body, Form::Break, false) || contains(body, Form::Return, true) || contains(body, Form::Raise, true) ||
                        contains(body, Form::Assert, true);
    if (!leaves) {
        counted_loop(t, start, stop, step, [&](const Term& i) {
            begin(i);
            scope_[continue_flag] = {flag(false), t.place, false, ++versions_};
            block(body.parts);
            scope_[continue_flag] = {flag(false), t.place, false, ++versions_};
        });
        return after_loop(otherwise, outer_break, outer_continue);
    }
    if (!step.constant) fail(ErrorCode::Value, t.place, "a range that is left by break or return needs a constant step");
    // `if test: break` at the start of the body is part of the loop's own test.
    std::vector<const Tree*> tests;
    while ((!otherwise || otherwise->parts.empty()) && tests.size() < body.parts.size()) {
        const Tree& s = body.parts[tests.size()];
        if (s.form != Form::If || !s.parts[2].parts.empty() || s.parts[1].parts.size() != 1 || s.parts[1].parts[0].form != Form::Break)
            break;
        tests.push_back(&s.parts[0]);
    }
    const std::string counter = "$index" + std::to_string(loops_++);
    Term first = cast(start, {DType::Int64, true});
    first.least = step.scalar.i > 0 ? start.least : unknown_least;
    set_variable(counter, first, t.place);
    const auto test = [&]() -> Term {
        const Term i = scope_.at(counter).term;
        Term inside = pure(step.scalar.i > 0 ? Opcode::Lt : Opcode::Gt, {DType::Bool, false}, {i, stop}, DType::Int64);
        if (tests.empty()) return inside;
        const auto stays = [&] {
            begin(i);
            Term all = flag(true);
            for (const Tree* s : tests) {
                at_ = s->place;
                const Term leaves_here = condition(*s);
                const Term on = pure(Opcode::Not, {DType::Bool, false}, {leaves_here}, DType::Bool);
                all = all.constant && all.scalar.b ? on : pure(Opcode::And, {DType::Bool, false}, {all, on}, DType::Bool);
            }
            return all;
        };
        const bool plain = std::all_of(tests.begin(), tests.end(), [](const Tree* s) { return simple(*s); });
        if (plain) return pure(Opcode::And, {DType::Bool, false}, {inside, stays()}, DType::Bool);
        return chosen(
            inside, *tests[0], stays, [] { return flag(false); }, t.place);
    };
    std::vector<const Tree*> parts{&t};
    general_loop(t, parts, {counter}, test, [&] {
        const Term i = scope_.at(counter).term;
        begin(i);
        block(body.parts, tests.size());
        Term next = add(i, step);
        next.least = step.scalar.i > 0 ? i.least : unknown_least;
        set_variable(counter, next, t.place);
    });
    scope_.erase(counter);
    after_loop(otherwise, outer_break, outer_continue);
}

void Lowering::for_range(const Tree& t) {
    Term bounds[3];
    for (std::size_t k = 0; k < 3; ++k) {
        const Term given = expression(t.parts[1 + k]);
        if (given.kind != Kind::Number || !is_integer(given.type.dtype))
            wrong_type(t.parts[1 + k].place, "range takes integers, not " + describe(given));
        bounds[k] = cast(given, {DType::Int64, true});
        bounds[k].least = std::max(bounds[k].least, given.least);
    }
    if (bounds[2].constant && bounds[2].scalar.i == 0) fail(ErrorCode::Value, t.parts[3].place, "range: the step must not be zero");
    if (!bounds[2].constant && bounds[2].least < 1) {
        Term zero = number({DType::Bool, false}, ir::no_value);
        if (!dry_) zero.value = builder_.eq(value(bounds[2], DType::Int64), builder_.i64(0));
        fail_when(zero, ErrorCode::Value, "range: the step must not be zero", t.parts[3].place, {});
        if (!dry_) bounds[2] = number({DType::Int64, true}, builder_.select(zero.value, builder_.i64(1), value(bounds[2], DType::Int64)));
    }
    // A name that counts a loop of at least one round keeps its last value.
    const bool runs = bounds[0].constant && bounds[1].constant && bounds[2].constant &&
                      (bounds[2].scalar.i > 0 ? bounds[0].scalar.i < bounds[1].scalar.i : bounds[0].scalar.i > bounds[1].scalar.i);
    if (runs && t.parts[0].form == Form::Name && !scope_.contains(t.parts[0].name)) {
        Term first = fluid(bounds[0]);
        if (!dry_) first.value = value(bounds[0], DType::Int64);
        set_variable(t.parts[0].name, first, t.place);
    }
    ranged(t, bounds[0], bounds[1], bounds[2], t.parts[4], &t.parts[5], [&](const Term& i) { assign(t.parts[0], i, t.place); });
}

void Lowering::unrolled(const Tree& t, const std::vector<Term>& items, std::size_t k) {
    for (; k < items.size(); ++k) {
        assign(t.parts[0], items[k], t.place);
        scope_[continue_flag] = {flag(false), t.place, false, ++versions_};
        block(t.parts[2].parts);
        scope_[continue_flag] = {flag(false), t.place, false, ++versions_};
        if (k + 1 == items.size() || !escapes()) continue;
        return go_on(t.place, [&] { unrolled(t, items, k + 1); });
    }
}

/// Over tuples, the first axis of arrays, enumerate and zip of these.
void Lowering::for_each(const Tree& t) {
    const Tree& iterable = t.parts[1];
    const bool counts = iterable.form == Form::Call && iterable.name == "enumerate",
               zips = iterable.form == Form::Call && iterable.name == "zip";
    std::vector<Term> sources;
    Term begin = integer(0);
    if (counts) {
        if (iterable.parts.empty()) wrong_type(iterable.place, "enumerate takes an array or a tuple");
        sources.push_back(expression(iterable.parts[0]));
        if (iterable.parts.size() > 1)
            begin = expression(iterable.parts[1].form == Form::Keyword ? iterable.parts[1].parts[0] : iterable.parts[1]);
        need_number(begin, iterable.place, "enumerate");
    } else if (zips) {
        for (const Tree& p : iterable.parts)
            if (p.form != Form::Keyword) sources.push_back(expression(p));
    } else {
        sources.push_back(expression(iterable));
    }
    const bool strict = zips && !iterable.parts.empty() && iterable.parts.back().form == Form::Keyword &&
                        truth(expression(iterable.parts.back().parts[0]), iterable.place).scalar.b;
    bool fixed = !sources.empty();
    Term length;
    for (const Term& s : sources) {
        if (s.kind != Kind::Tuple && (s.kind != Kind::Array || s.view.rank == 0))
            wrong_type(iterable.place, describe(s) + " cannot be looped over; arrays, tuples, range, enumerate and zip can");
        fixed = fixed && s.kind == Kind::Tuple;
        const Term n = s.kind == Kind::Tuple ? integer(static_cast<std::int64_t>(s.items.size())) : s.view.lead[1];
        if (strict && length.kind != Kind::None && !(length.constant && n.constant && length.scalar.i == n.scalar.i))
            fail(ErrorCode::Value, iterable.place, "zip: what is taken strictly must have lengths that are known to be the same");
        if (length.kind == Kind::None) {
            length = n;
        } else if (length.constant && n.constant) {
            length = integer(std::min(length.scalar.i, n.scalar.i));
        } else {
            length =
                number({DType::Int64, true}, dry_ ? ir::no_value : builder_.min(value(length, DType::Int64), value(n, DType::Int64)), 0);
        }
    }
    const auto element_at = [&](const Term& source, const Term& i) -> Term {
        if (source.kind == Kind::Tuple) {
            if (!i.constant) wrong_type(iterable.place, "a tuple cannot be looped over beside an array; use an array for both");
            return source.items[static_cast<std::size_t>(i.scalar.i)];
        }
        Term part = source;
        part.view = part_at(source.view, i);
        return part.view.rank == 0 ? element(part.view) : part;
    };
    const auto all_at = [&](const Term& i) -> Term {
        std::vector<Term> items;
        if (counts) items.push_back(add(begin, i));
        for (const Term& s : sources) items.push_back(element_at(s, i));
        return counts || zips ? tuple(std::move(items)) : items[0];
    };
    if (fixed) {
        std::vector<Term> items;
        for (std::int64_t k = 0; k < length.scalar.i; ++k) items.push_back(all_at(integer(k)));
        const Variable outer_break = scope_[break_flag], outer_continue = scope_[continue_flag];
        scope_[break_flag] = {flag(false), t.place, false, ++versions_};
        unrolled(t, items, 0);
        return after_loop(&t.parts[3], outer_break, outer_continue);
    }
    ranged(t, integer(0), length, integer(1), t.parts[2], &t.parts[3], [&](const Term& i) { assign(t.parts[0], all_at(i), t.place); });
}

void Lowering::while_statement(const Tree& t) {
    const Variable outer_break = scope_[break_flag], outer_continue = scope_[continue_flag];
    scope_[break_flag] = {flag(false), t.place, false, ++versions_};
    scope_[continue_flag] = {flag(false), t.place, false, ++versions_};
    const auto test = [&] {
        at_ = t.place;
        return condition(t.parts[0]);
    };
    general_loop(t, {&t}, {}, test, [&] {
        learn(t.parts[0], true);
        block(t.parts[1].parts);
    });
    after_loop(&t.parts[2], outer_break, outer_continue);
}

// ---- failures

/// Writes the first failure into the status block; the next wait makes an exception of it.
void Lowering::fail_when(const Term& bad, ErrorCode code, const std::string& message, const Place& place, std::vector<Term> values) {
    if (bad.constant && !bad.scalar.b) return;
    if (dry_) {
        uses_status_ = true;
        return;
    }
    out_.sites.push_back({code, message, place, function_});
    const Value site = builder_.i64(static_cast<std::int64_t>(out_.sites.size())), zero = builder_.i64(0);
    const auto nothing = [] { return ir::Builder::Values(); };
    const auto report = [&] {
        const Value old = builder_.compare_exchange(status_, zero, zero, site);
        return builder_.if_else(
            builder_.eq(old, zero),
            [&] {
                for (std::size_t k = 0; k < values.size() && k < 3; ++k)
                    builder_.store(status_, builder_.i64(static_cast<std::int64_t>(1 + k)), value(values[k], DType::Int64));
                for (int d = 0; d < std::min(space_.rank, 3); ++d) builder_.store(status_, builder_.i64(4 + d), builder_.dim(d));
                return ir::Builder::Values();
            },
            nothing);
    };
    builder_.if_else(value(bad), report, nothing);
}

/// Writes a print into the log, if there is room: the host makes lines of it after the kernel.
void Lowering::log(const std::string& format, std::span<const Term> values, const Place& place) {
    std::vector<Term> numbers;
    Print print{format, {}};
    for (const Term& v : values) numbers_of(v, numbers, print.layout);
    for (const Term& n : numbers)
        if (n.kind != Kind::Number) wrong_type(place, "print: numbers, tuples of these and texts are expected, not " + describe(n));
    if (dry_) {
        uses_log_ = true;
        return;
    }
    out_.prints.push_back(std::move(print));
    std::int64_t words = 2;
    for (const Term& n : numbers) words += is_complex(n.type.dtype) ? 2 : 1;
    const Value asked = builder_.atomic(ir::AtomicOp::Add, log_, builder_.i64(0), builder_.i64(words));
    const auto entry = [&] {
        Value at = builder_.add(asked, builder_.i64(1));
        const auto put = [&](const auto& store) {
            store();
            at = builder_.add(at, builder_.i64(1));
        };
        put([&] { builder_.store(log_, at, builder_.i64(static_cast<std::int64_t>(out_.prints.size()))); });
        Value item = builder_.i64(0);
        for (int d = 0; d < builder_rank(space_, loop_); ++d) item = builder_.add(builder_.mul(item, builder_.extent(d)), builder_.dim(d));
        put([&] { builder_.store(log_, at, item); });
        const DType real = weak_dtype(DType::Float64, options_.fp64);
        const Value wide = builder_.i64(8 / itemsize(real));
        const auto put_real = [&](Value v) { put([&] { builder_.store(log_real_, builder_.mul(at, wide), builder_.cast(v, real)); }); };
        for (const Term& n : numbers) {
            const Value v = value(n);
            if (is_complex(n.type.dtype)) {
                put_real(builder_.real(v));
                put_real(builder_.imag(v));
            } else if (is_float(n.type.dtype)) {
                put_real(v);
            } else {
                put([&] { builder_.store(log_, at, value(n, DType::Int64)); });
            }
        }
        return ir::Builder::Values();
    };
    builder_.if_else(builder_.le(asked, builder_.i64(Lowered::log_words - 1 - words)), entry, [] { return ir::Builder::Values(); });
}

void Lowering::assertion(const Tree& t) {
    const Term test = condition(t.parts[0]);
    const Term bad = pure(Opcode::Not, {DType::Bool, false}, {test}, DType::Bool);
    if (bad.constant && !bad.scalar.b) return;
    const auto stops = [&] {
        fail_when(flag(true), ErrorCode::Assertion, t.name, t.place, {});
        set_variable(return_flag, flag(true), t.place);
    };
    if (bad.constant) return stops();
    branch(bad, t.place, stops, [] {});
}

}  // namespace pardo::lang
