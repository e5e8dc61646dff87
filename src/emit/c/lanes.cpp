// src/emit/c/lanes.cpp: lanes loops: shared by a team, or with several running values in one item; what later loops need again stays in
// registers.
#include <algorithm>
#include <map>

#include "emit/c/emitter.h"
#include "ir/builder.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Opcode;
using ir::Value;

namespace {

constexpr int most_kept = 3;           // arrays in registers
constexpr int deepest_structure = 24;  // operations of an expression that is compared

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
    index_like_[region.args[0]] = true;
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

/// Where a loop looks for the greatest of `key << 32 | ~place`, and the place counts its iterations: the key, a UInt32; else none.
Value CEmitter::packed_key(const Instr& in) const {
    const ir::Region& region = kernel_.regions[in.regions[0]];
    if (in.combines.size() != 1 || in.combines[0] != ir::Combine::Max || type(in.results[0]) != DType::UInt64) return ir::no_value;
    for (const ir::InstrId id : region.body) {
        const Instr& step = kernel_.instrs[id];
        if (!step.regions.empty() || ir::has_effect(step.op)) return ir::no_value;
    }
    const auto made_by = [&](Value v, Opcode op) -> const Instr* {
        const ir::ValueInfo& info = kernel_.values[v];
        if (info.region != ~0u || home_[v] != in.regions[0]) return nullptr;
        return kernel_.instrs[info.def].op == op ? &kernel_.instrs[info.def] : nullptr;
    };
    const auto under = [&](Value v, std::initializer_list<Opcode> ops) {
        for (const Opcode op : ops) {
            const Instr* step = v == ir::no_value ? nullptr : made_by(v, op);
            v = step ? step->operands[0] : ir::no_value;
        }
        return v;
    };
    const Instr* both = made_by(yield_of(region)->operands[0], Opcode::Or);
    if (!both) return ir::no_value;
    const bool shifted_first = made_by(both->operands[0], Opcode::Shl) != nullptr;
    const Value key = under(both->operands[shifted_first ? 0 : 1], {Opcode::Shl, Opcode::Cast}), index = region.args[0];
    const Value place = under(both->operands[shifted_first ? 1 : 0], {Opcode::Cast, Opcode::Not, Opcode::Cast});
    if (key == ir::no_value || type(key) != DType::UInt32 || place == ir::no_value) return ir::no_value;
    const Instr* from = made_by(place, Opcode::Sub);
    const bool counts = place == index || (from && from->operands[0] == index && home_[from->operands[1]] != in.regions[0]);
    return counts ? key : ir::no_value;
}

/// Emits what `root` needs of a lanes loop's iteration.
void CEmitter::part_of(const Instr& in, const std::string& index, Value root) {
    const ir::Region& region = kernel_.regions[in.regions[0]];
    std::vector<bool> needed(kernel_.values.size(), false);
    needed[root] = true;
    const std::vector<bool> before = idle_;
    for (auto at = region.body.rbegin(); at != region.body.rend(); ++at) {
        const Instr& step = kernel_.instrs[*at];
        if (step.results.empty() || !needed[step.results[0]]) {
            idle_[*at] = true;
        } else if (from_[step.results[0]].empty()) {
            for (const Value operand : step.operands) needed[operand] = true;
        }
    }
    text_[region.args[0]] = index;
    index_like_[region.args[0]] = true;
    body(region, &in);
    idle_ = before;
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
    const Value key = unroll > 1 && geometry_.steps == 0 ? packed_key(in) : ir::no_value;
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

/// An expression as text in which equal ones of different loops are equal; empty when it is not to be compared.
std::string CEmitter::structure(Value v, ir::RegionId region, int depth) const {
    const Value index = kernel_.regions[region].args[0];
    if (v == index) return "$";
    const ir::ValueInfo& info = kernel_.values[v];
    const Instr* in = info.def == ~0u || info.result < 0 ? nullptr : &kernel_.instrs[info.def];
    if (in && ir::is_leaf(in->op) && in->op != Opcode::Const) return std::string(ir::name(in->op)) + std::to_string(in->index);
    const bool outside = home_[v] != region;
    if (!in || outside) return in && in->op == Opcode::Const ? "c" + std::to_string(v) : "#" + std::to_string(v);
    if (depth == 0 || !in->regions.empty() || ir::has_effect(in->op)) return {};
    if (in->op == Opcode::Load) {
        const Instr& pointer = kernel_.instrs[kernel_.values[in->operands[0]].def];
        if (pointer.op != Opcode::Param || kernel_.params[pointer.index].access != ir::Access::Read) return {};
    }
    std::string text = std::string(ir::name(in->op)) + std::to_string(static_cast<int>(info.type));
    if (in->op == Opcode::Call) text += ir::name(in->math);
    text += '(';
    for (const Value operand : in->operands) {
        const std::string part = structure(operand, region, depth - 1);
        if (part.empty()) return {};
        text += part + ",";
    }
    return text + ")";
}

/// Loads, and what is expensive, that a lanes loop computes at the same index as an earlier one.
void CEmitter::keep_shared_values() {
    if (geometry_.steps == 0) return;
    std::map<std::string, Value> known;
    const Instr* first = nullptr;
    int arrays = 0;
    for (const ir::InstrId id : kernel_.body.body) {
        const Instr& in = kernel_.instrs[id];
        if (!ir::is_lanes_loop(in)) continue;
        if (!first) first = &in;
        if (in.operands[0] != first->operands[0] || in.operands[1] != first->operands[1]) continue;
        const ir::Region& region = kernel_.regions[in.regions[0]];
        // From the last value back: one that is needed only by what is kept already is idle.
        std::vector<bool> needed(kernel_.values.size(), false);
        for (auto at = region.body.rbegin(); at != region.body.rend(); ++at) {
            const Instr& step = kernel_.instrs[*at];
            const Value v = step.results.empty() ? ir::no_value : step.results[0];
            const bool effect = step.op == Opcode::Yield || ir::has_effect(step.op) || !step.regions.empty();
            if (!effect && (v == ir::no_value || !needed[v])) {
                idle_[*at] = v != ir::no_value && uses_[v] > 0;
                continue;
            }
            if (!effect && (step.op == Opcode::Load || step.op == Opcode::Call || step.op == Opcode::Div)) {
                const std::string key = structure(v, in.regions[0], deepest_structure);
                const auto found = key.empty() ? known.end() : known.find(key);
                if (found != known.end() && (!kept_[found->second].empty() || arrays < most_kept)) {
                    std::string& array = kept_[found->second];
                    if (array.empty()) {
                        array = "kept" + std::to_string(arrays++);
                        line(c_type(target_, type(v)) + " " + element(array, std::to_string(geometry_.steps)) + ";");
                    }
                    from_[v] = element(array, "u");
                    continue;
                }
            }
            for (const Value operand : step.operands) needed[operand] = true;
            for (const ir::RegionId r : step.regions) {
                for (const ir::InstrId inner : kernel_.regions[r].body) {
                    for (const Value operand : kernel_.instrs[inner].operands) needed[operand] = true;
                }
            }
        }
        for (const ir::InstrId step : region.body) {
            const Instr& s = kernel_.instrs[step];
            if (idle_[step] || s.results.empty() || !from_[s.results[0]].empty()) continue;
            if (s.op != Opcode::Load && s.op != Opcode::Call && s.op != Opcode::Div) continue;
            const std::string key = structure(s.results[0], in.regions[0], deepest_structure);
            if (!key.empty()) known.emplace(key, s.results[0]);
        }
    }
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
