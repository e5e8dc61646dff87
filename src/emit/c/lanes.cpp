// src/emit/c/lanes.cpp: lanes loops: shared by a team, or with several running values in one item; what later loops need again stays in
// registers.
#include <algorithm>
#include <map>

#include "emit/analysis/packed_key.h"
#include "emit/c/emitter.h"
#include "ir/builder.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;
using ir::Value;

namespace {

std::string element(const std::string& array, const std::string& index) { return array + "[" + index + "]"; }

}  // namespace

std::string CEmitter::combine(ir::Combine c, DType dtype, const std::string& a, const std::string& b) {
    switch (c) {
        case ir::Combine::Add:
        case ir::Combine::Mul: {
            const char* sign = c == ir::Combine::Add ? " + " : " * ";
            if (dtype == DType::Bool) return a + (c == ir::Combine::Add ? " | " : " & ") + wrapped(b);
            return is_float(dtype) ? rounded(dtype, a + sign + wrapped(b)) : wrapping(sign, dtype, a, b);
        }
        case ir::Combine::Min:
        case ir::Combine::Max:
            if (dtype == DType::Bool) return a + (c == ir::Combine::Max ? " | " : " & ") + wrapped(b);
            return min_max(c == ir::Combine::Min ? Opcode::Min : Opcode::Max, dtype, a, b);
        case ir::Combine::And: return a + " & " + wrapped(b);
        case ir::Combine::Xor: return a + " ^ " + wrapped(b);
        default: return a + " | " + wrapped(b);
    }
}

/// One iteration: the contributions join what runs at `places`.
void CEmitter::lanes_step(const Instr& in, const std::string& index, const std::vector<std::string>& places) {
    const ir::Region& region = kernel_.regions[in.regions[0]];
    text_[region.args[0]] = index;
    body(region, &in);
    const Instr* yield = yield_of(region);
    for (std::size_t k = 0; k < places.size(); ++k) {
        const Value v = yield->operands[static_cast<int>(k)];
        const ir::Combine c = in.combines[static_cast<int>(k)];
        const std::string value = c == ir::Combine::Min || c == ir::Combine::Max ? named(v) : at(v);
        line(places[k] + " = " + combine(c, type(v), places[k], value) + ";");
    }
}

std::string CEmitter::first_index(const Instr& in) const {
    const std::string& lower = at(in.operands[0]);
    if (!uses_team()) return lower;
    return lower == "0" ? "lane" : wrapped(lower) + " + lane";
}

/// Several for each reduction: a chain of dependent operations would wait for each of them.
CEmitter::Running CEmitter::running_values(const Instr& in, int unroll) {
    Running running;
    ir::Builder neutral("neutral", 0, false);
    for (int k = 0; k < in.combines.size(); ++k) {
        const DType dtype = type(in.results[k]);
        const Value zero = neutral.identity(in.combines[k], dtype);
        const std::string identity = constant(neutral.kernel().instrs[neutral.kernel().values[zero].def].scalar), name = fresh("a");
        const std::string declared = c_type(target_, dtype) + " " + name;
        if (unroll == 1) {
            line(declared + " = " + identity + ";");
        } else {
            line(element(declared, std::to_string(unroll)) + ";");
            pragma_unroll();
            line("for (int u = 0; u < " + std::to_string(unroll) + "; ++u) " + element(name, "u") + " = " + identity + ";");
        }
        running.names.push_back(name);
        running.identities.push_back(identity);
    }
    return running;
}

/// Whether a lanes loop folds integers or bools that are made of float64.
bool CEmitter::counts_of_doubles(const Instr& in) const {
    const auto is_count = [&](Value v) { return !is_float(type(v)); };
    const auto& body = kernel_.regions[in.regions[0]].body;
    const auto is_double = [&](ir::InstrId id) {
        const auto& results = kernel_.instrs[id].results;
        return !results.empty() && type(results[0]) == DType::Float64;
    };
    return std::any_of(in.results.begin(), in.results.end(), is_count) && std::any_of(body.begin(), body.end(), is_double);
}

/// Any number of iterations: `unroll` at once, then what is left. `key`: see packed_key.
void CEmitter::any_steps(const Instr& in, const Running& running, int unroll, Value key) {
    const std::string t = c_type(target_, DType::Int64), index = fresh("k"), upper = named(in.operands[1]);
    const std::string step = std::to_string(geometry_.team);
    std::vector<std::string> places = running.names;
    if (unroll > 1) {
        const std::string bar = key == ir::no_value ? std::string() : fresh("b");
        if (key != ir::no_value) line(c_type(target_, DType::UInt32) + " " + bar + " = 0;");
        line(t + " " + index + " = " + first_index(in) + ";");
        if (features_.scalar_counts && counts_of_doubles(in)) out_ += "#pragma clang loop vectorize(disable)\n";
        line("for (; " + index + " + " + std::to_string((unroll - 1) * geometry_.team) + " < " + wrapped(upper) + "; " + index +
             " += " + std::to_string(unroll * geometry_.team) + ") {");
        ++depth_;
        if (key == ir::no_value) {
            for (std::string& name : places) name = element(name, "u");
            side_by_side(index, unroll, [&](const std::string& here) { lanes_step(in, here, places); });
            for (std::size_t k = 0; k < places.size(); ++k) places[k] = element(running.names[k], "0");
        } else {
            packed_steps(in, index, unroll, key, bar, places[0]);
        }
        --depth_;
        line("}");
        line("for (; " + index + " < " + wrapped(upper) + "; " + index + " += " + step + ") {");
    } else {
        line("for (" + t + " " + index + " = " + first_index(in) + "; " + index + " < " + wrapped(upper) + "; " + index + " += " + step +
             ") {");
    }
    ++depth_;
    lanes_step(in, index, places);
    --depth_;
    line("}");
}

/// A loop, written out, over the iterations from `index` on that one item does at once.
void CEmitter::side_by_side(const std::string& index, int unroll, const std::function<void(const std::string& here)>& each) {
    pragma_unroll();
    line("for (int u = 0; u < " + std::to_string(unroll) + "; ++u) {");
    ++depth_;
    const std::string here = fresh("k"), step = geometry_.team > 1 ? " * " + std::to_string(geometry_.team) : "";
    line("const " + c_type(target_, DType::Int64) + " " + here + " = " + index + " + u" + step + ";");
    each(here);
    --depth_;
    line("}");
}

/// Emits what `root` needs of a lanes loop's iteration.
void CEmitter::part_of(const Instr& in, const std::string& index, Value root) {
    const ir::Region& region = kernel_.regions[in.regions[0]];
    std::vector<bool> needed(kernel_.values.size(), false);
    needed[root] = true;
    const std::vector<bool> before = shared_values_.idle;
    for (auto at = region.body.rbegin(); at != region.body.rend(); ++at) {
        const Instr& step = kernel_.instrs[*at];
        if (step.results.empty() || !needed[step.results[0]]) {
            shared_values_.idle[*at] = true;
        } else if (from_[step.results[0]].empty()) {
            for (const Value operand : step.operands) needed[operand] = true;
        }
    }
    text_[region.args[0]] = index;
    body(region, &in);
    shared_values_.idle = before;
}

/// The greatest key of several iterations first: only where it passes the bar are they packed and compared one by one. Later places do
/// not win by an equal key.
void CEmitter::packed_steps(const Instr& in, const std::string& index, int unroll, Value key, const std::string& bar,
                            const std::string& best) {
    const std::string u32 = c_type(target_, DType::UInt32), keys = fresh("a"), top = fresh("v");
    const Value value = yield_of(kernel_.regions[in.regions[0]])->operands[0];
    line(u32 + " " + element(keys, std::to_string(unroll)) + ";");
    side_by_side(index, unroll, [&](const std::string& here) {
        part_of(in, here, key);
        line(element(keys, "u") + " = " + at(key) + ";");
    });
    line(u32 + " " + top + " = " + element(keys, "0") + ";");
    pragma_unroll();
    line("for (int u = 1; u < " + std::to_string(unroll) + "; ++u) " + top + " = " + top + " > " + element(keys, "u") + " ? " + top +
         " : " + element(keys, "u") + ";");
    const bool warp = target_.warp_votes && geometry_.team >= 32;
    line("if (" + helpers_.use(warp ? "passes_in_warp" : "passes", DType::UInt32) + "(" + top + ", &" + bar + ")) {");
    ++depth_;
    from_[key] = element(keys, "u");
    side_by_side(index, unroll, [&](const std::string& here) {
        part_of(in, here, value);
        line(best + " = " + combine(ir::Combine::Max, DType::UInt64, best, named(value)) + ";");
    });
    from_[key].clear();
    --depth_;
    line("}");
}

/// At most as many iterations for each item as the geometry knows: written out, so that arrays of values are registers.
void CEmitter::fixed_steps(const Instr& in, const Running& running, int unroll) {
    const std::string index = fresh("k"), upper = named(in.operands[1]);
    std::vector<std::string> places;
    for (const std::string& name : running.names) places.push_back(unroll > 1 ? element(name, "u % " + std::to_string(unroll)) : name);
    pragma_unroll();
    line("for (int u = 0; u < " + std::to_string(geometry_.steps) + "; ++u) {");
    ++depth_;
    line("const " + c_type(target_, DType::Int64) + " " + index + " = " + first_index(in) + " + u * " + std::to_string(geometry_.team) +
         ";");
    const bool guarded = !geometry_.whole;
    if (guarded) line("if (" + index + " < " + wrapped(upper) + ") {");
    depth_ += guarded;
    lanes_step(in, index, places);
    depth_ -= guarded;
    if (guarded) line("}");
    --depth_;
    line("}");
}

/// What all iterations of all items give, with the initial value.
void CEmitter::lanes_result(const Instr& in, int k, const Running& running, int unroll) {
    const auto at_k = static_cast<std::size_t>(k);
    const DType dtype = type(in.results[k]);
    const std::string& name = running.names[at_k];
    for (int half = unroll / 2; half > 0; half /= 2) {
        for (int u = 0; u < half; ++u) {
            const std::string a = element(name, std::to_string(u)), b = element(name, std::to_string(u + half));
            line(a + " = " + combine(in.combines[k], dtype, a, b) + ";");
        }
    }
    std::string total = unroll > 1 ? element(name, "0") : name;
    if (uses_team()) {
        const std::string reduce = helpers_.use_team(ir::name(in.combines[k]), dtype, geometry_.team);
        const DType held = dtype == DType::Float16 ? DType::Float32 : dtype;
        if (std::find(shared_.begin(), shared_.end(), held) == shared_.end()) shared_.push_back(held);
        const std::string all = fresh("v");
        line("const " + c_type(target_, dtype) + " " + all + " = " + reduce + "(" + total + ", lane, shared_" + short_name(held) + ");");
        total = all;
    }
    if (at(in.operands[3 + k]) == running.identities[at_k] && !is_expression(total)) {
        text_[in.results[k]] = total;
    } else {
        declare(in.results[k], combine(in.combines[k], dtype, named(in.operands[3 + k]), total));
    }
}

void CEmitter::lanes_loop(const Instr& in) {
    const int count = in.combines.size();
    const int unroll = count == 0 ? 1 : geometry_.steps > 0 ? std::min(geometry_.unroll, 4) : geometry_.unroll;
    const Value key = unroll > 1 && geometry_.steps == 0 ? packed_key(kernel_, uses_, in) : ir::no_value;
    const int chains = key == ir::no_value ? unroll : 1;
    const Running running = running_values(in, chains);
    if (geometry_.steps > 0) {
        fixed_steps(in, running, unroll);
    } else {
        any_steps(in, running, unroll, key);
    }
    for (int k = 0; k < count; ++k) lanes_result(in, k, running, chains);
}

// ---- what later loops need again --------------------------------------------------------------------------------------------------

/// Where lanes loops leave values for later ones.
std::string CEmitter::kept_arrays() const {
    std::string text;
    for (std::size_t k = 0; k < shared_values_.arrays.size(); ++k)
        text +=
            c_type(target_, shared_values_.arrays[k]) + " " + element("kept" + std::to_string(k), std::to_string(geometry_.steps)) + ";\n";
    return text;
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
