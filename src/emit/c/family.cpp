// src/emit/c/family.cpp: a program: what it begins with, the functions that it calls, the function of one item, and the kernel.
#include "emit/c/family.h"

#include <algorithm>
#include <vector>

#include "emit/analysis/fission.h"
#include "emit/c/emitter.h"
#include "emit/c/mapping.h"
#include "emit/c/memory.h"
#include "emit/c/signature.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {
namespace {

std::string head(const CSource& source) {
    const ir::Kernel& kernel = source.kernel;
    std::string text = source.target.head;
    if (std::ranges::any_of(kernel.values, [](const ir::ValueInfo& v) { return v.type == DType::Float64; })) text += source.target.fp64;
    const bool wide_atomics = std::ranges::any_of(kernel.instrs, [&](const ir::Instr& in) {
        if (in.op == ir::Opcode::Report) return source.features.wide_atomics;
        return (in.op == ir::Opcode::Atomic || in.op == ir::Opcode::CompareExchange) && itemsize(source.type(in.operands[0])) == 8;
    });
    if (wide_atomics) text += source.target.wide_atomics_head;
    return text;
}

/// The early loads of one kernel item, as a function that gives them all; the item's function finds them there.
std::string load_function(CEmitter& e) {
    const CSource& source = e.source;
    const std::vector<ir::InstrId>& body = source.kernel.body.body;
    std::vector<bool> needed(source.kernel.values.size(), false);
    for (const ir::InstrId id : source.early) needed[source.instr(id).results[0]] = true;
    for (auto at = body.rbegin(); at != body.rend(); ++at) {
        const ir::Instr& in = source.instr(*at);
        if (in.results.empty() || !needed[in.results[0]]) continue;
        for (const ir::Value v : in.operands) needed[v] = true;
    }
    std::string fields;
    for (const ir::InstrId id : body) {
        const ir::Instr& in = source.instr(id);
        if (in.results.empty() || !needed[in.results[0]]) continue;
        e.instruction({}, in);
        const auto early = std::ranges::find(source.early, id);
        if (early == source.early.end()) continue;
        const ir::Value v = in.results[0];
        const std::string name = "x" + std::to_string(early - source.early.begin());
        fields += " " + c_type(source.target, source.type(v)) + " " + name + ";";
        e.w.line("x." + name + " = " + e.values[v] + ";");
    }
    for (std::size_t k = 0; k < source.early.size(); ++k)
        e.values.given[source.instr(source.early[k]).results[0]] = "x.x" + std::to_string(k);
    return "typedef struct {" + fields + " } Loads;\n" + source.target.function + " Loads load(" + item_parameters(source, e.w.helpers) +
           ") {\n    Loads x;\n" + e.w.take() + "    return x;\n}\n";
}

std::string item_function(CEmitter& e) {
    const CSource& source = e.source;
    const bool loads = !source.early.empty();
    const std::string before = loads ? load_function(e) : std::string();
    const std::string arrays = array_definitions(source, ir::Space::Private) + kept_definitions(source);
    e.region({}, source.kernel.body);
    return before + source.target.function + " void item(" + item_parameters(source, e.w.helpers) + (loads ? ", const Loads x" : "") +
           ") {\n" + indented(arrays, 1) + e.w.take() + "}\n";
}

}  // namespace

ir::Kernel lowered_for_c(const ir::Kernel& kernel, const CFeatures& features) {
    ir::Kernel plain = ir::lower_complex(kernel);
    if (ir::has_shuffles(plain)) {
        const bool whole = features.target->partial_sub_groups || groups_of(plain).items() % plain.sub_group == 0;
        if (!(features.shuffles & plain.sub_group) || !whole) plain = ir::expand_shuffles(plain);
    }
    if (!features.cpu) plain = ir::defer_reports(plain);
    return ir::expand_math(ir::lower_narrow_floats(plain), {.native_erf = features.native_erf});
}

CText emit_c(const ir::Kernel& kernel, const CFeatures& features, const CGeometry& geometry) {
    const CSource source(kernel, features, geometry);
    CText out;
    out.entry = entry_name(kernel);
    out.params = parameter_letters(source);
    out.reversible = source.reversible();
    out.fast_math = kernel.fast_math;
    if (kernel.in_groups()) {
        out.groups = groups_of(kernel);
        (void)split_at_barriers(ir::expand_shuffles(kernel));  // refuses barriers where items go different ways
    }
    if (source.large_arrays()) out.shared_bytes = group_bytes(kernel);
    CEmitter emitter(source);
    const std::string item = item_function(emitter);
    const std::string begin = kernel_function(source, emitter.w.helpers);
    out.text = head(source) + emitter.w.helpers.text() + item + begin;
    return out;
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
