// src/lang/outside.cpp: numbers from outside that are constants of a program take their place in its syntax.
#include "lang/outside.h"

#include <algorithm>
#include <map>

#include "base/fork.h"

namespace pardo::lang {
namespace {

using syntax::Form;
using syntax::Function;
using syntax::Tree;
using Made = std::map<const Function*, std::shared_ptr<const Function>>;

void fix(Tree& t, const Function& function, const FixedNumbers& fixed) {
    if (t.form == Form::Outside) {
        if (const Scalar* value = fixed_value(fixed, function.outside[static_cast<std::size_t>(t.index)].get())) {
            t.form = Form::Number;
            t.number = *value;
            t.index = 0;
        }
    }
    for (Tree& part : t.parts) fix(part, function, fixed);
}

std::shared_ptr<const Function> made(const std::shared_ptr<const Function>& function, const FixedNumbers& fixed, Made& known) {
    if (const auto found = known.find(function.get()); found != known.end()) return found->second;
    if (!has_outside(*function)) return known[function.get()] = function;
    auto out = std::make_shared<Function>(*function);
    for (Tree& t : out->defaults) fix(t, *function, fixed);
    fix(out->body, *function, fixed);
    for (auto& callee : out->callees) callee = made(callee, fixed, known);
    return known[function.get()] = std::move(out);
}

}  // namespace

const Scalar* fixed_value(const FixedNumbers& fixed, const syntax::Outside* number) {
    const auto found = std::ranges::find_if(fixed, [&](const auto& f) { return f.first.get() == number; });
    return found == fixed.end() ? nullptr : &found->second;
}

bool has_outside(const Function& function) {
    return !function.outside.empty() || std::ranges::any_of(function.callees, [](const auto& callee) { return has_outside(*callee); });
}

std::shared_ptr<const Function> with_fixed(const std::shared_ptr<const Function>& function, const FixedNumbers& fixed) {
    if (fixed.empty()) return function;
    Made known;
    return made(function, fixed, known);
}

}  // namespace pardo::lang

namespace pardo::syntax {

namespace {
[[maybe_unused]] const std::mutex& shared_lock_at_start = shared_lock();  // see at_fork
}

std::mutex& shared_lock() {
    static auto& lock = *new HeldMutex;  // never destroyed: threads may launch while the process ends
    return lock;
}

}  // namespace pardo::syntax
