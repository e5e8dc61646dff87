// src/emit/c/control.cpp: serial loops and branches.
#include "emit/c/control.h"

#include <algorithm>
#include <vector>

#include <pardo/error.h>

#include "emit/c/expressions.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Instr;
using ir::Opcode;
using ir::Value;

namespace {

/// Assigns what a region yields, as if all at once.
void assign_yields(CValues& values, const Instr* yield, const std::vector<std::string>& names) {
    if (!yield) return;
    CWriter& w = values.w;
    std::vector<std::string> yields;
    for (const Value v : yield->operands) yields.push_back(values[v]);
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (yields[k] == names[k]) continue;
        bool read_later = false;
        for (std::size_t j = k + 1; j < names.size(); ++j) read_later |= yields[j].find(names[k]) != std::string::npos;
        if (!read_later) continue;
        for (std::size_t j = k; j < names.size(); ++j) {
            const std::string name = w.fresh("t");
            w.line("const " + c_type(w.target, values.source.type(yield->operands[static_cast<int>(j)])) + " " + name + " = " + yields[j] +
                   ";");
            yields[j] = name;
        }
        break;
    }
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (yields[k] != names[k]) w.line(names[k] + " = " + yields[k] + ";");
    }
}

/// What the k-th name that a loop carries begins with; its first argument is one of `first` before these. One whose value another name
/// takes over begins, for compilers that need that, as a value which might differ between items.
std::string start_of(const CValues& values, const ir::Region& loop, int first, int k, Value initial) {
    const CSource& source = values.source;
    const std::string& start = values[initial];
    const Instr* yield = source.yield(loop);
    if (!source.features.own_starts || !yield || source.kernel.rank == 0) return start;
    const Value own = loop.args[first + k];
    bool passed_on = false;
    for (int j = 0; j < yield->operands.size(); ++j) passed_on = passed_on || (j != k && yield->operands[j] == own);
    if (!passed_on) return start;
    const std::string item = "(long)get_global_id(0)";  // of which the compiler does not know that it is not negative
    if (source.type(initial) == DType::Bool) return item + " < 0 ? !" + wrapped(start) + " : " + wrapped(start);
    return item + " < 0 ? (" + c_type(source.target, source.type(initial)) + ")" + item + " : " + wrapped(start);
}

/// A name for the k-th result of a loop, which the loop carries.
std::string carried_name(CValues& values, const Instr& in, const ir::Region& loop, int first, int k, Value initial) {
    std::string name = values.w.fresh("a");
    values.w.line(c_type(values.w.target, values.source.type(in.results[k])) + " " + name + " = " +
                  start_of(values, loop, first, k, initial) + ";");
    values[loop.args[first + k]] = values[in.results[k]] = name;
    return name;
}

bool has_barrier(const ir::Kernel& kernel, const Instr& in) {
    if (in.op == Opcode::Barrier) return true;
    return std::any_of(in.regions.begin(), in.regions.end(), [&](ir::RegionId r) {
        const auto& body = kernel.regions[r].body;
        return std::any_of(body.begin(), body.end(), [&](ir::InstrId i) { return has_barrier(kernel, kernel.instrs[i]); });
    });
}

/// For compilers that make wrong code of it.
void refuse_barrier(const ir::Kernel& kernel, const Instr& branch) {
    if (!has_barrier(kernel, branch)) return;
    const ir::Span& at = branch.span;
    const std::string place =
        at.file && at.file < kernel.files.size() ? " (" + kernel.files[at.file] + ":" + std::to_string(at.line) + ")" : "";
    throw Error(ErrorCode::Compile, kernel.name + ": a barrier is in an if" + place +
                                        ": this device's compiler, PoCL, compiles that wrongly; put the barrier outside, into the "
                                        "kernel's body or in a loop, and only what is around it in the if, or use another device");
}

/// Whether the loop goes on.
std::string loop_test(const CValues& values, const Instr& in, const std::string& index) {
    const std::string upper = wrapped(values[in.operands[1]]), &step = values[in.operands[2]];
    const std::string below = index + " < " + upper, above = index + " > " + upper;
    const bool constant_step = !step.empty() && step.find_first_not_of("-0123456789") == std::string::npos;
    if (constant_step) return step[0] == '-' ? above : below;
    // Steps of the array engine count upwards; those of the user's loops may be anything.
    const bool any_direction = values.source.kernel.files.size() > 1 || !values.source.indices[in.operands[2]];
    return any_direction ? "(" + wrapped(step) + " > 0 ? " + below + " : " + above + ")" : below;
}

}  // namespace

void serial_loop(CEmitter& e, const CContext& here, const Instr& in) {
    CWriter& w = e.w;
    const ir::Region& region = e.source.region(in, 0);
    std::vector<std::string> carried;
    carried.reserve(static_cast<std::size_t>(in.results.size()));
    for (int k = 0; k < in.results.size(); ++k) carried.push_back(carried_name(e.values, in, region, 1, k, in.operands[3 + k]));
    const std::string index = w.fresh("k"), t = c_type(w.target, DType::Int64);
    e.values[region.args[0]] = index;
    const std::string test = loop_test(e.values, in, index);
    if (in.loop().unroll > 1) w.directive(std::string(w.target.unroll) + " " + std::to_string(in.loop().unroll));
    w.block(
        "for (" + t + " " + index + " = " + e.values[in.operands[0]] + "; " + test + "; " + index + " += " + e.values[in.operands[2]] + ")",
        [&] {
            e.region(here, region);
            assign_yields(e.values, e.source.yield(region), carried);
        });
}

void branch(CEmitter& e, const CContext& here, const Instr& in) {
    CWriter& w = e.w;
    if (!w.features.conditional_barriers) refuse_barrier(e.source.kernel, in);
    std::vector<std::string> results;
    for (const Value v : in.results) {
        const std::string name = w.fresh("v");
        w.line(c_type(w.target, e.source.type(v)) + " " + name + ";");
        e.values[v] = name;
        results.push_back(name);
    }
    w.line("if (" + e.values[in.operands[0]] + ") {");
    for (int k = 0; k < 2; ++k) {
        const ir::Region& region = e.source.region(in, k);
        if (k == 1) {
            if (region.body.size() <= 1 && results.empty()) break;
            w.line("} else {");
        }
        ++w.depth;
        e.region(here, region);
        assign_yields(e.values, e.source.yield(region), results);
        --w.depth;
    }
    w.line("}");
}

void while_loop(CEmitter& e, const CContext& here, const Instr& in) {
    const ir::Region &condition = e.source.region(in, 0), &loop = e.source.region(in, 1);
    std::vector<std::string> carried;
    for (int k = 0; k < in.results.size(); ++k) {
        carried.push_back(carried_name(e.values, in, loop, 0, k, in.operands[k]));
        e.values[condition.args[k]] = carried.back();
    }
    e.w.block("for (;;)", [&] {
        e.region(here, condition);
        if (const Instr* yield = e.source.yield(condition)) e.w.line("if (!(" + e.values[yield->operands[0]] + ")) break;");
        e.region(here, loop);
        assign_yields(e.values, e.source.yield(loop), carried);
    });
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
