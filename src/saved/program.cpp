// src/saved/program.cpp: which plan of a program is for a call, and what a program says of itself.
#include "saved/program.h"

#include <pardo/error.h>

#include <cmath>
#include <string>

#include "base/status_text.h"
#include "base/view_bounds.h"

namespace pardo::saved {
namespace {

/// The name of a size: n, m, k, then s3, s4, ….
std::string size_name(std::int32_t size) {
    static constexpr const char* names[] = {"n", "m", "k"};
    return size < 3 ? names[size] : "s" + std::to_string(size);
}

std::string extent_text(const Extent& extent) { return extent.size >= 0 ? size_name(extent.size) : std::to_string(extent.fixed); }

std::string shape_text(const Argument& a) {
    std::string text;
    for (const Extent& extent : a.shape) text += (text.empty() ? "" : ", ") + extent_text(extent);
    return "[" + text + "]";
}

std::string shape_text(const Shape& shape) {
    std::string text;
    for (int d = 0; d < shape.rank; ++d) text += (d ? ", " : "") + std::to_string(shape.extents[d]);
    return "(" + text + (shape.rank == 1 ? ",)" : ")");
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
    std::string text;
    for (std::size_t k = 0; k < sizes.size(); ++k)
        text += (k ? ", " : "") + size_name(static_cast<std::int32_t>(k)) + " = " + std::to_string(sizes[k]);
    return text;
}

}  // namespace

std::string Program::signature() const {
    std::string text = name + "(";
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        const Argument& a = arguments[k];
        text += (k ? ", " : "") + a.name + ": " + std::string(dtype_name(a.dtype)) + (a.shape.empty() ? "" : shape_text(a));
    }
    text += ")";
    for (std::size_t k = 0; k < outputs.size(); ++k) text += (k ? ", " : " -> ") + std::string(dtype_name(outputs[k]));
    return text;
}

std::string Program::routine_names() const {
    std::string text;
    for (const Routine& routine : routines) text += (text.empty() ? "" : ", ") + routine.name;
    return text;
}

double Real::in(std::span<const std::int64_t> values) const {
    if (kind == Kind::Literal) return literal;
    const auto n = static_cast<double>(of.in(values));
    switch (kind) {
        case Kind::Product: return literal * n;
        case Kind::Quotient: return literal / n;
        case Kind::RootReciprocal: return 1 / std::sqrt(n);
        case Kind::Literal:
        case Kind::Root: break;
    }
    return std::sqrt(n);
}

std::vector<std::int64_t> sizes_of(const Program& program, const std::vector<Shape>& shapes) {
    if (shapes.size() != program.arguments.size())
        throw Error(ErrorCode::Type, program.name + ": takes " + std::to_string(program.arguments.size()) + " arguments, " +
                                         std::to_string(shapes.size()) + " were given: " + program.signature());
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(program.sizes), -1);
    for (std::size_t k = 0; k < shapes.size(); ++k) {
        const Argument& a = program.arguments[k];
        const auto refuse = [&](const std::string& why) {
            throw Error(ErrorCode::Value,
                        program.name + ": argument " + a.name + " is of shape " + shape_text(a) + ", got " + shape_text(shapes[k]) + why);
        };
        if (static_cast<std::size_t>(shapes[k].rank) != a.shape.size()) refuse("");
        for (int d = 0; d < shapes[k].rank; ++d) {
            const Extent& extent = a.shape[static_cast<std::size_t>(d)];
            const std::int64_t given = shapes[k].extents[d];
            if (extent.size < 0) {
                if (given != extent.fixed) refuse("; this extent was " + std::to_string(extent.fixed) + " when the program was exported");
                continue;
            }
            std::int64_t& size = sizes[static_cast<std::size_t>(extent.size)];
            if (size >= 0 && size != given)
                refuse(", where " + size_name(extent.size) + " is " + std::to_string(size) +
                       " already: what was equal in the examples of the export is one size");
            size = given;
        }
    }
    return sizes;
}

namespace {

/// Numbers of a file whose digest is right may be wrong nevertheless: no memory of less than nothing, no view beyond its memory.
void check_values(const Program& program, const Regime& regime, const std::vector<std::int64_t>& values) {
    const auto require = [&](bool holds) {
        if (!holds) throw Error(ErrorCode::Value, program.name + ": the program is damaged");
    };
    for (const Number& bytes : regime.slots) require(bytes.in(values) >= 0);
    const std::size_t constants = program.arguments.size(), slots = constants + program.constants.size();
    for (std::size_t k = 0; k < regime.outputs.size(); ++k) {
        const Output& output = regime.outputs[k];
        std::vector<std::int64_t> shape, strides;
        for (const Number& n : output.shape) require(shape.emplace_back(n.in(values)) >= 0);
        for (const Number& n : output.strides) strides.push_back(n.in(values));
        if (output.value < constants) continue;
        const std::int64_t bytes = output.value < slots
                                       ? static_cast<std::int64_t>(program.constants[output.value - constants].bytes.size())
                                       : regime.slots[output.value - slots].in(values);
        require(lies_within(shape, strides, output.offset.in(values), itemsize(program.outputs[k]), static_cast<std::uint64_t>(bytes)));
    }
}

}  // namespace

void check_status(const std::int64_t* words, const std::vector<Failure>& failures, int rank) {
    if (words[0] == 0) return;
    const auto number = static_cast<std::size_t>(words[0] - 1);
    if (number >= failures.size()) throw Error(ErrorCode::Internal, "a kernel's status block is damaged");
    std::string text = with_values(failures[number].message, {words, status_words});
    if (const std::size_t item = text.find(item_mark); item != std::string::npos)
        text.replace(item, 1, item_text({words, status_words}, rank));
    throw Error(static_cast<ErrorCode>(failures[number].code), text);
}

namespace {

/// What launches do with values, once for all calls of these sizes.
void note_uses(Resolved& found, const Program& program) {
    const std::size_t count = program.arguments.size() + program.constants.size() + found.regime->slots.size();
    found.written.assign(count, false);
    found.last.assign(count, 0);
    for (std::size_t i = 0; i < found.parts.size(); ++i) {
        const auto note = [&](const std::vector<Use>& uses) {
            for (const Use& use : uses) {
                if (use.value >= count) continue;  // scratch
                found.written[use.value] = found.written[use.value] || use.writes;
                found.last[use.value] = i;
            }
        };
        for (const RoutineCall& call : found.parts[i].alternative->routines) note(call.uses);
        for (const Launch& launch : found.parts[i].alternative->launches) note(launch.uses);
    }
    for (const Output& output : found.regime->outputs) found.last[output.value] = found.parts.size();
}

}  // namespace

Resolved Loaded::resolve(const std::vector<std::int64_t>& sizes) const {
    const Program& program = program_;
    for (std::size_t number = 0; number < program.regimes.size(); ++number) {
        const Regime& regime = program.regimes[number];
        bool all = true;
        for (std::size_t k = 0; k < sizes.size(); ++k) all = all && regime.sizes[k].has(sizes[k]);
        if (!all) continue;
        if (!regime.refused.empty()) throw Error(ErrorCode::Value, program.name + ": for " + sizes_text(sizes) + ": " + regime.refused);
        (void)whole(number);
        Resolved found{&regime, {}, {}};
        if (!regime.sizing.run(sizes, found.values)) break;
        check_values(program, regime, found.values);
        for (const Step& step : regime.steps) {
            Resolved::Part part{nullptr, {}};
            for (const Alternative& x : step.alternatives) {
                if (!x.sizing.run(sizes, part.values)) continue;
                part.alternative = &x;
                break;
            }
            if (!part.alternative) break;
            found.parts.push_back(std::move(part));
        }
        if (found.parts.size() == regime.steps.size()) return note_uses(found, program), found;
        break;
    }
    throw Error(ErrorCode::Value,
                program.name + ": was exported without a plan for " + sizes_text(sizes) + "; export it with examples of these sizes");
}

}  // namespace pardo::saved
