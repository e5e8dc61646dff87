// src/launch/report.cpp: what became of a function of the user, in words: types, and what runs in parallel.
#include "launch/report.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

namespace pardo::launch {
namespace {

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
    std::string text;
    for (const std::int64_t n : sizes) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return text;
}

/// The k-th type of the list, and its parts; k moves on past them.
std::string text_of(const std::vector<lang::ArgumentType>& types, std::size_t& k) {
    using Kind = lang::ArgumentType::Kind;
    const lang::ArgumentType& type = types[k++];
    const std::string dtype(dtype_name(type.dtype));
    switch (type.kind) {
        case Kind::Array:
            return dtype + " array of " + std::to_string(type.rank) + (type.rank == 1 ? " dimension" : " dimensions") +
                   (type.contiguous ? "" : ", with strides");
        case Kind::Number: return lang::describe({type.dtype, type.weak});
        case Kind::Constant: return "a constant, " + lang::describe(lang::number(type.scalar));
        case Kind::None: return "None";
        case Kind::Shared: return "local memory, " + dtype + " [" + sizes_text(type.extents) + "]";
        case Kind::Function: return "the function `" + (type.function ? type.function->name : type.name) + "`";
        case Kind::Tuple: {
            std::string parts;
            for (std::size_t p = 0; p < type.parts; ++p) {
                parts += p ? ", " : "";
                if (!type.names.empty()) parts += type.names[p] + ": ";
                parts += text_of(types, k);
            }
            return (type.names.empty() ? "a tuple (" : "a struct (") + parts + ")";
        }
    }
    return {};
}

std::string space_text(const lang::Space& space, const lang::LoopSpec* loop) {
    const auto dimensions = [](int n) { return std::to_string(n) + (n == 1 ? " dimension" : " dimensions"); };
    if (loop && !loop->parallel) return "serial";
    if (loop && !loop->results.empty()) return "blocks of iterations in parallel, each reduced by itself";
    if (loop) return "iterations over " + dimensions(loop->dimensions) + " in parallel";
    if (space.group_size.empty()) return "items of a Range of " + dimensions(space.rank);
    return "items of an NdRange in groups of " + sizes_text(space.group_size);
}

}  // namespace

std::string types_text(const lang::Lowered& lowered) {
    std::vector<const syntax::Function*> functions;
    std::map<std::pair<const syntax::Function*, int>, std::vector<std::pair<std::string, std::string>>> lines;  // names and their types
    for (const lang::Typed& typed : lowered.types) {
        const syntax::Function* function = typed.function.get();
        if (std::find(functions.begin(), functions.end(), function) == functions.end()) functions.push_back(function);
        auto& names = lines[{function, typed.line}];
        const auto known = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == typed.name; });
        if (known == names.end())
            names.emplace_back(typed.name, typed.type);
        else if (known->second != typed.type && !known->second.ends_with(" or " + typed.type) &&
                 !known->second.starts_with(typed.type + " or "))
            known->second += " or " + typed.type;
    }
    std::string text;
    for (const syntax::Function* f : functions) {
        const int last = std::min(f->body.place.end_line, f->first_line + static_cast<int>(f->lines.size()) - 1);
        const auto line_at = [&](int n) -> const std::string& { return f->lines[static_cast<std::size_t>(n - f->first_line)]; };
        std::size_t width = 0;
        for (int n = f->body.place.line; n <= last; ++n)
            if (lines.contains({f, n})) width = std::max(width, line_at(n).size());
        text += f->name + "  (" + f->file + ")\n";
        for (int n = f->body.place.line; n <= last; ++n) {
            const std::string number = std::to_string(n);
            std::string line = std::string(5 - std::min<std::size_t>(5, number.size()), ' ') + number + "  " + line_at(n);
            if (const auto names = lines.find({f, n}); names != lines.end()) {
                line.append(width - line_at(n).size(), ' ');
                const char* separator = "  # ";
                for (const auto& [name, type] : names->second) {
                    line.append(separator).append(name).append(": ").append(type);
                    separator = "; ";
                }
            }
            text += line + "\n";
        }
    }
    return text;
}

std::string head_text(const Specialisation& special, const syntax::Function& function, bool takes_item, const lang::LoopSpec* loop) {
    std::string text =
        "program " + std::to_string(special.number + 1) + " on " + special.device->id() + ": " + space_text(special.space, loop) + "\n";
    std::size_t parameter = takes_item ? 1 : 0;
    for (std::size_t k = 0; k < special.types.size(); ++parameter) {
        const std::string& name = function.params[parameter];
        const std::string type = text_of(special.types, k);
        if (!name.starts_with('$')) text.append("  ").append(name).append(": ").append(type).append("\n");
    }
    for (const lang::OutsideNumber& n : special.lowered.outside)
        text.append("  ").append(n->name).append(": ").append(lang::describe({n->dtype, n->weak})).append(" from outside; it changes\n");
    for (std::size_t k = 0; k < special.fixed.size(); ++k) {
        const std::string& name = special.fixed[k].first->name;
        const std::string& why = special.fixed_because[k];
        text.append("  ").append(name).append(": from outside, part of the program; each value compiles again");
        text.append(why.empty() ? "\n" : ": " + why + "\n");
    }
    return text;
}

std::string lanes_text(const Specialisation& special) {
    if (special.device->execution() == device::Execution::Groups) return "  each item is a thread of the device\n";
    if (!special.device->can(device::Feature::OwnLanes)) return "  the device's own compiler makes vectors\n";
    std::string text = special.device->inspect(special.variants->shown().kernel, 0, "lanes");
    if (special.lowered.no_lanes.empty()) return text;
    for (const lang::NoLanes& n : special.lowered.no_lanes)
        text += "  line " + std::to_string(n.line) + ": the loop does not become the lanes: " + n.why + "\n";
    std::vector<std::pair<int, std::string>> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.emplace_back(line.starts_with("  line ") ? std::stoi(line.substr(sizeof "  line " - 1)) : 0, line + "\n");
    std::stable_sort(lines.begin(), lines.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    text.clear();
    for (const auto& [number, line] : lines) text += line;
    return text;
}

}  // namespace pardo::launch
