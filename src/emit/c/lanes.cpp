// src/emit/c/lanes.cpp: lanes loops: shared by a team, or with several running values in one item.
#include "emit/c/lanes.h"

#include <algorithm>
#include <vector>

#include "emit/analysis/packed_key.h"
#include "emit/c/expressions.h"
#include "ir/builder.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Instr;
using ir::Value;

namespace {

/// What the iterations so far give; one a reduction.
struct Running {
    std::vector<std::string> names, identities;
};

/// Several for each reduction: a chain of dependent operations would wait for each of them.
Running running_values(CEmitter& e, const Instr& in, int unroll) {
    CWriter& w = e.w;
    Running running;
    ir::Builder neutral("neutral", 0, false);
    for (int k = 0; k < in.combines().size(); ++k) {
        const DType dtype = e.source.type(in.results[k]);
        const Value zero = neutral.identity(in.combines()[k], dtype);
        const std::string identity = constant(w.target, neutral.kernel().instrs[neutral.kernel().values[zero].def].scalar()),
                          name = w.fresh("a");
        const std::string declared = c_type(w.target, dtype) + " " + name;
        if (unroll == 1) {
            w.line(declared + " = " + identity + ";");
        } else {
            w.line(element(declared, std::to_string(unroll)) + ";");
            w.directive(w.target.unroll);
            w.line("for (int u = 0; u < " + std::to_string(unroll) + "; ++u) " + element(name, "u") + " = " + identity + ";");
        }
        running.names.push_back(name);
        running.identities.push_back(identity);
    }
    return running;
}

std::string first_index(const CValues& values, const Instr& in) {
    const std::string& lower = values[in.operands[0]];
    if (!values.source.uses_team()) return lower;
    return lower == "0" ? "lane" : wrapped(lower) + " + lane";
}

/// One iteration: the contributions join what runs at `places`.
void one_step(CEmitter& e, const CContext& inside, const Instr& in, const std::string& index, const std::vector<std::string>& places) {
    const ir::Region& region = e.source.region(in, 0);
    e.values[region.args[0]] = index;
    e.region(inside, region);
    const Instr* yield = e.source.yield(region);
    for (std::size_t k = 0; k < places.size(); ++k) {
        const Value v = yield->operands[static_cast<int>(k)];
        const ir::Combine c = in.combines()[static_cast<int>(k)];
        const std::string value = c == ir::Combine::Min || c == ir::Combine::Max ? e.values.named(v) : e.values[v];
        e.w.line(places[k] + " = " + combine(e.w, c, e.source.type(v), places[k], value) + ";");
    }
}

/// What `root` needs of an iteration; nothing of the loop changes memory.
void part_of_step(CEmitter& e, const CContext& inside, const Instr& in, const std::string& index, Value root) {
    const ir::Region& region = e.source.region(in, 0);
    std::vector<bool> needed(e.source.kernel.values.size(), false);
    needed[root] = true;
    const auto is_needed = [&](const Instr& step) { return !step.results.empty() && needed[step.results[0]]; };
    for (auto id = region.body.rbegin(); id != region.body.rend(); ++id) {
        const Instr& step = e.source.instr(*id);
        if (!is_needed(step) || !e.values.given[step.results[0]].empty()) continue;
        for (const Value operand : step.operands) needed[operand] = true;
    }
    e.values[region.args[0]] = index;
    CContext context = inside;
    context.loads_move = true;
    for (const ir::InstrId id : region.body) {
        const Instr& step = e.source.instr(id);
        if (is_needed(step)) e.instruction(context, step);
    }
}

/// A loop, written out, over the iterations from `index` on that one item does at once.
template <class Each> void side_by_side(CEmitter& e, const std::string& index, int unroll, Each&& each) {
    CWriter& w = e.w;
    const int team = e.source.geometry.team;
    w.directive(w.target.unroll);
    w.block("for (int u = 0; u < " + std::to_string(unroll) + "; ++u)", [&] {
        const std::string here = w.fresh("k"), step = team > 1 ? " * " + std::to_string(team) : "";
        w.line("const " + c_type(w.target, DType::Int64) + " " + here + " = " + index + " + u" + step + ";");
        each(here);
    });
}

/// The greatest key of several iterations first: only where it passes the bar are they packed and compared one by one. Later places do
/// not win by an equal key.
void packed_steps(CEmitter& e, const CContext& inside, const Instr& in, const std::string& index, int unroll, Value key,
                  const std::string& bar, const std::string& best) {
    CWriter& w = e.w;
    const std::string u32 = c_type(w.target, DType::UInt32), keys = w.fresh("a"), top = w.fresh("v"), each_key = element(keys, "u");
    const Value packed = e.source.yield(e.source.region(in, 0))->operands[0];
    w.line(u32 + " " + element(keys, std::to_string(unroll)) + ";");
    side_by_side(e, index, unroll, [&](const std::string& here) {
        part_of_step(e, inside, in, here, key);
        w.line(each_key + " = " + e.values[key] + ";");
    });
    w.line(u32 + " " + top + " = " + element(keys, "0") + ";");
    w.directive(w.target.unroll);
    w.line("for (int u = 1; u < " + std::to_string(unroll) + "; ++u) " + top + " = " + top + " > " + each_key + " ? " + top + " : " +
           each_key + ";");
    const bool warp = w.target.warp_votes && e.source.geometry.team >= 32;
    w.block("if (" + w.helpers.use(warp ? "passes_in_warp" : "passes", DType::UInt32) + "(" + top + ", &" + bar + "))", [&] {
        e.values.given[key] = each_key;
        side_by_side(e, index, unroll, [&](const std::string& here) {
            part_of_step(e, inside, in, here, packed);
            w.line(best + " = " + combine(w, ir::Combine::Max, DType::UInt64, best, e.values.named(packed)) + ";");
        });
        e.values.given[key].clear();
    });
}

/// Whether a lanes loop folds integers or bools that are made of float64.
bool counts_of_doubles(const CSource& source, const Instr& in) {
    const auto is_count = [&](Value v) { return !is_float(source.type(v)); };
    const auto is_double = [&](ir::InstrId id) {
        const auto& results = source.instr(id).results;
        return !results.empty() && source.type(results[0]) == DType::Float64;
    };
    return std::ranges::any_of(in.results, is_count) && std::ranges::any_of(source.region(in, 0).body, is_double);
}

/// Any number of iterations: `unroll` at once, then what is left. `key`: see packed_key.
void any_steps(CEmitter& e, const CContext& inside, const Instr& in, const Running& running, int unroll, Value key) {
    CWriter& w = e.w;
    const int team = e.source.geometry.team;
    const std::string t = c_type(w.target, DType::Int64), index = w.fresh("k"), upper = e.values.named(in.operands[1]);
    const std::string first = t + " " + index + " = " + first_index(e.values, in), step = index + " += " + std::to_string(team);
    std::string begin = first;
    std::vector<std::string> places = running.names;
    if (unroll > 1) {
        const std::string bar = key == ir::no_value ? std::string() : w.fresh("b");
        if (key != ir::no_value) w.line(c_type(w.target, DType::UInt32) + " " + bar + " = 0;");
        w.line(first + ";");
        begin.clear();
        if (w.features.scalar_counts && counts_of_doubles(e.source, in)) w.directive("#pragma clang loop vectorize(disable)");
        const std::string last = index + " + " + std::to_string((unroll - 1) * team);
        w.block("for (; " + last + " < " + wrapped(upper) + "; " + index + " += " + std::to_string(unroll * team) + ")", [&] {
            if (key != ir::no_value) return packed_steps(e, inside, in, index, unroll, key, bar, places[0]);
            for (std::string& name : places) name = element(name, "u");
            side_by_side(e, index, unroll, [&](const std::string& here) { one_step(e, inside, in, here, places); });
            for (std::size_t k = 0; k < places.size(); ++k) places[k] = element(running.names[k], "0");
        });
    }
    w.block("for (" + begin + "; " + index + " < " + wrapped(upper) + "; " + step + ")", [&] { one_step(e, inside, in, index, places); });
}

/// At most as many iterations for each item as the geometry knows: written out, so that arrays of values are registers.
void fixed_steps(CEmitter& e, const CContext& inside, const Instr& in, const Running& running, int unroll) {
    CWriter& w = e.w;
    const CGeometry& g = e.source.geometry;
    const std::string index = w.fresh("k"), upper = e.values.named(in.operands[1]);
    std::vector<std::string> places;
    for (const std::string& name : running.names) places.push_back(unroll > 1 ? element(name, "u % " + std::to_string(unroll)) : name);
    w.directive(w.target.unroll);
    w.block("for (int u = 0; u < " + std::to_string(g.steps) + "; ++u)", [&] {
        w.line("const " + c_type(w.target, DType::Int64) + " " + index + " = " + first_index(e.values, in) + " + u * " +
               std::to_string(g.team) + ";");
        const auto step = [&] { one_step(e, inside, in, index, places); };
        if (g.whole)
            step();
        else
            w.block("if (" + index + " < " + wrapped(upper) + ")", step);
    });
}

/// What all iterations of all items give, with the initial value.
void lanes_result(CEmitter& e, const Instr& in, int k, const Running& running, int unroll) {
    CWriter& w = e.w;
    const auto at_k = static_cast<std::size_t>(k);
    const DType dtype = e.source.type(in.results[k]);
    const Value initial = in.operands[3 + k];
    const std::string& name = running.names[at_k];
    for (int half = unroll / 2; half > 0; half /= 2) {
        for (int u = 0; u < half; ++u) {
            const std::string a = element(name, std::to_string(u)), b = element(name, std::to_string(u + half));
            w.line(a + " = " + combine(w, in.combines()[k], dtype, a, b) + ";");
        }
    }
    std::string total = unroll > 1 ? element(name, "0") : name;
    if (e.source.uses_team()) {
        const std::string call = w.helpers.use_team(ir::name(in.combines()[k]), dtype, e.source.geometry.team, total);
        total = w.fresh("v");
        w.line("const " + c_type(w.target, dtype) + " " + total + " = " + call + ";");
    }
    if (e.values[initial] == running.identities[at_k] && !is_expression(total))
        e.values[in.results[k]] = total;
    else
        e.values.declare(in.results[k], combine(w, in.combines()[k], dtype, e.values.named(initial), total));
}

}  // namespace

void lanes_loop(CEmitter& e, const CContext& here, const Instr& in) {
    const CGeometry& g = e.source.geometry;
    CContext inside = here;
    inside.in_lanes_loop = true;
    const int count = in.combines().size();
    const int unroll = count == 0 ? 1 : g.steps > 0 ? std::min(g.unroll, 4) : g.unroll;
    const Value key = unroll > 1 && g.steps == 0 ? packed_key(e.source.kernel, e.source.uses, in) : ir::no_value;
    const int chains = key == ir::no_value ? unroll : 1;
    const Running running = running_values(e, in, chains);
    if (g.steps > 0)
        fixed_steps(e, inside, in, running, unroll);
    else
        any_steps(e, inside, in, running, unroll, key);
    for (int k = 0; k < count; ++k) lanes_result(e, in, k, running, chains);
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
