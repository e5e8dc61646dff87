// src/emit/c/mapping.cpp: the kernel function: which items there are, and how they lie over the items and groups of the language.
#include "emit/c/mapping.h"

#include <algorithm>
#include <vector>

#include "emit/c/memory.h"
#include "emit/c/signature.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {
namespace {

/// What all mappings are written with.
struct Frame {
    Frame(const CSource& source, const CHelpers& helpers)
        : source(source),
          helpers(helpers),
          kernel(source.kernel),
          g(source.geometry),
          target(source.target),
          wide(c_type(target, DType::Int64)),
          u(target.unsigned_types[g.wide ? 3 : 2]),
          group(source.reversible() ? "group" : target.group_id),
          arguments(item_arguments(source, helpers)),
          call("item(" + arguments + ");\n") {}

    const CSource& source;
    const CHelpers& helpers;
    const ir::Kernel& kernel;
    const CGeometry& g;
    const CTarget& target;
    const std::string wide, u;    // the types of indices, and of numbers of items and groups, unsigned
    const std::string group;      // the number of the group of the language
    const std::string arguments;  // of the item's function
    const std::string call;       // of it
};

/// Takes `counter` apart into i0 … i<dims - 1>, the last one fastest.
std::string decomposed(const Frame& f, int dims, const std::string& counter) {
    std::string text;
    const std::string &wide = f.wide, &u = f.u;
    for (int d = dims - 1; d >= 0; --d) {
        const std::string n = std::to_string(d);
        if (d == 0) {
            text += "const " + wide + " i0 = " + counter + ";\n";
        } else {
            text += "const " + wide + " i" + n + " = " + counter + " % (" + u + ")n" + n + ";\n" + counter + " /= (" + u + ")n" + n + ";\n";
        }
    }
    return text;
}

/// Items of the first dimensions of the launch, as an expression.
std::string item_count(const Frame& f, int dims) {
    std::string items;
    for (int d = 0; d < dims; ++d) items += (d ? " * (" : "(") + f.u + ")n" + std::to_string(d);
    return items;
}

std::string shared_arrays(const Frame& f) {
    std::string text;
    const int words = f.source.features.sub_group >= 2 ? std::max(32, f.g.team / f.source.features.sub_group) : f.g.team;
    for (const DType dtype : f.helpers.exchanged())
        text += std::string(f.target.shared) + " " + c_type(f.target, dtype) + " shared_" + short_name(dtype) + "[" +
                std::to_string(words) + "];\n";
    return text;
}

std::string team_items(const Frame& f) {
    // Where a driver may number the items of sub-groups as it likes, its numbers say who is who.
    const std::string &u = f.u, local = f.helpers.shuffles() ? f.source.sub_group_word(f.target.sub_group_item) : f.target.local_id;
    std::string text = shared_arrays(f);
    const int together = f.g.group_size / f.g.team;
    if (f.kernel.rank == 0)
        return text + (f.source.uses_team() ? "const int lane = " + local + ";\n" + f.call : "if (" + local + " == 0) " + f.call);
    if (f.source.uses_team()) {
        text += "const int lane = " + local + (together > 1 ? " % " + std::to_string(f.g.team) : "") + ";\n";
    }
    text += u + " at = (" + u + ")" + f.group;
    if (together > 1) {
        text += " * " + std::to_string(together) + " + (" + u + ")(" + local + ")";
        if (f.source.uses_team()) text += " / " + std::to_string(f.g.team);
    }
    text += ";\n";
    if (together > 1) text += "if (at >= " + item_count(f, f.kernel.rank) + ") return;\n";
    return text + decomposed(f, f.kernel.rank, "at") + f.call;
}

std::string flat_loop(const Frame& f) {
    const std::string &u = f.u, size = std::to_string(f.g.group_size), tile = std::to_string(f.g.group_size * f.g.columns);
    std::string text = "const " + u + " items = " + item_count(f, f.kernel.rank) + ";\n";
    text += "const " + u + " first = (" + u + ")" + f.group + " * " + tile + " + (" + u + ")" + f.target.local_id + ";\n";
    const std::string inner = decomposed(f, f.kernel.rank, "at") + f.call;
    if (f.g.columns == 1) return text + u + " at = first;\nif (at < items) {\n" + indented(inner, 1) + "}\n";
    text += std::string(f.target.unroll) + "\nfor (int c = 0; c < " + std::to_string(f.g.columns) + "; ++c) {\n";
    text += indented(u + " at = first + c * " + size + ";\nif (at < items) {\n" + indented(inner, 1) + "}\n", 1);
    return text + "}\n";
}

std::string tile_item(const Frame& f) {
    const int last = f.kernel.rank - 1;
    const std::string &wide = f.wide, &u = f.u, local = std::string("(") + u + ")" + f.target.local_id;
    std::string text = u + " at = (" + u + ")" + f.group + ";\n", inside;
    const auto part = [&](int d, int size, const std::string& own) {
        const std::string i = "i" + std::to_string(d), n = "n" + std::to_string(d), s = std::to_string(size), parts = "parts" + i;
        text += "const " + u + " " + parts + " = (" + u + ")((" + n + " + " + std::to_string(size - 1) + ") / " + s + ");\n";
        text += "const " + wide + " " + i + " = (" + wide + ")(at % " + parts + ") * " + s + " + " + own + ";\nat /= " + parts + ";\n";
        inside += (inside.empty() ? "" : " && ") + i + " < " + n;
    };
    part(last, tile_width, local + " % " + std::to_string(tile_width));
    part(last - 1, f.g.group_size / tile_width, local + " / " + std::to_string(tile_width));
    if (last > 1) text += decomposed(f, last - 1, "at");
    return text + "if (" + inside + ") " + f.call;
}

/// Compilers that make vectors of neighbouring items understand the language's own numbers best.
std::string range_item(const Frame& f) {
    const std::string &wide = f.wide, &u = f.u;
    const auto number = [&](int dimension) {
        std::string id = f.target.global_id;
        return id.replace(id.find("$D"), 2, std::to_string(dimension));
    };
    const int last = f.kernel.rank - 1;
    const std::string i = "i" + std::to_string(last);
    std::string text = "const " + wide + " " + i + " = " + number(0) + ";\n";
    if (last >= 1) text += "const " + wide + " i" + std::to_string(last - 1) + " = " + number(1) + ";\n";
    if (last >= 2) text += u + " at = (" + u + ")" + number(2) + ";\n" + decomposed(f, last - 1, "at");
    return text + "if (" + i + " < n" + std::to_string(last) + ") " + f.call;
}

/// Compilers that make vectors of loops want one without conditions.
std::string loop_rows(const Frame& f) {
    const int last = f.kernel.rank - 1;
    const std::string &wide = f.wide, &u = f.u, stretch = std::to_string(loop_stretch);
    const std::string i = "i" + std::to_string(last), n = "n" + std::to_string(last);
    const std::string loop = "for (" + wide + " " + i + " = begin; " + i + " < end; ++" + i + ") " + f.call;
    const std::string begin = "const " + wide + " begin = (" + wide + ")($AT) * " + stretch + ", end = begin + " + stretch + " < " + n +
                              " ? begin + " + stretch + " : " + n + ";\n";
    const auto from = [&](const std::string& at) { return std::string(begin).replace(begin.find("$AT"), 3, at); };
    std::string text = u + " at = (" + u + ")" + f.group + ";\n";
    if (last == 0) return text + from("at") + loop;
    if (f.g.rows == 1) {
        text += "const " + u + " stretches = (" + u + ")((" + n + " + " + std::to_string(loop_stretch - 1) + ") / " + stretch + ");\n";
        return text + from("at % stretches") + "at /= stretches;\n" + decomposed(f, last, "at") + loop;
    }
    const std::string many = std::to_string(f.g.rows);
    const std::string body = u + " row = at * " + many + " + r;\nif (row >= " + item_count(f, last) + ") break;\n" +
                             decomposed(f, last, "row") + "const " + wide + " begin = 0, end = " + n + ";\n" + loop;
    return text + "for (" + u + " r = 0; r < " + many + "; ++r) {\n" + indented(body, 1) + "}\n";
}

std::string line_loops(const Frame& f) {
    const int last = f.kernel.rank - 1, tile = f.g.group_size * f.g.columns;
    const std::string &wide = f.wide, &u = f.u, size = std::to_string(f.g.group_size);
    const std::string n = "n" + std::to_string(last), i = "i" + std::to_string(last), &given = f.arguments;
    std::string text;
    if (last == 0) {
        text += "const " + wide + " tile = " + f.group + " * " + std::to_string(tile) + ";\n";
    } else {
        text += u + " at = (" + u + ")" + f.group + ";\n";
        text += "const " + u + " tiles = (" + u + ")((" + n + " + " + std::to_string(tile - 1) + ") / " + std::to_string(tile) + ");\n";
        text += "const " + wide + " tile = (" + wide + ")(at % tiles) * " + std::to_string(tile) + ";\nat /= tiles;\n";
        if (f.g.rows == 1) {
            text += decomposed(f, last, "at");
        } else {
            const std::string m = "n" + std::to_string(last - 1), rows = std::to_string(f.g.rows);
            const std::string bands = "(" + u + ")((" + m + " + " + std::to_string(f.g.rows - 1) + ") / " + rows + ")";
            if (last == 1) {
                text += "const " + wide + " row = (" + wide + ")at * " + rows + ";\n";
            } else {
                text += "const " + u + " bands = " + bands + ";\n";
                text +=
                    "const " + wide + " row = (" + wide + ")(at % bands) * " + rows + ";\nat /= bands;\n" + decomposed(f, last - 1, "at");
            }
        }
    }
    text += "const " + wide + " first = tile + " + f.target.local_id + ";\n";
    const bool rows = f.g.rows > 1, columns = f.g.columns > 1;
    const auto loops = [&](bool whole, const std::string& call) {
        std::string inner = "const " + wide + " " + i + " = first" + (columns ? " + c * " + size : "") + ";\n";
        inner += (whole ? call : "if (" + i + " < " + n + ") " + call) + "\n";
        if (columns) {
            inner = std::string(f.target.unroll) + "\nfor (int c = 0; c < " + std::to_string(f.g.columns) + "; ++c) {\n" +
                    indented(inner, 1) + "}\n";
        }
        if (rows) {
            const std::string r = "i" + std::to_string(last - 1), m = "n" + std::to_string(last - 1);
            const std::string head = "const " + wide + " " + r + " = row + r;\n" + (whole ? "" : "if (" + r + " >= " + m + ") break;\n");
            inner = std::string(f.target.unroll) + "\nfor (int r = 0; r < " + std::to_string(f.g.rows) + "; ++r) {\n" +
                    indented(head + inner, 1) + "}\n";
        }
        return inner;
    };
    std::string all = loops(true, "item(" + given + ");"), some = loops(false, "item(" + given + ");");
    if (!f.source.early.empty()) {
        const std::string place = "x[" + std::string(rows ? "r * " + std::to_string(f.g.columns) + (columns ? " + c" : "") : "c") + "]";
        all = "Loads x[" + std::to_string(f.g.rows * f.g.columns) + "];\n" + loops(true, place + " = load(" + given + ");") +
              loops(true, "item(" + given + ", " + place + ");");
        some = loops(false, "item(" + given + ", load(" + given + "));");
    }
    if (!rows && !columns) return text + some;
    std::string whole = "tile + " + std::to_string(tile) + " <= " + n;
    if (rows) whole += " && row + " + std::to_string(f.g.rows) + " <= n" + std::to_string(last - 1);
    return text + "if (" + whole + ") {\n" + indented(all, 1) + "} else {\n" + indented(some, 1) + "}\n";
}

/// The language numbers the items of a group; its groups are in one dimension, which has no narrow limit anywhere.
std::string group_items(const Frame& f) {
    const CGroups groups = groups_of(f.kernel);
    const std::string &wide = f.wide, &u = f.u;
    std::string text = array_definitions(f.source, ir::Space::Group);
    const auto define = [&](char letter, int d, const std::string& value) {
        text += "const " + wide + " " + letter + std::to_string(d) + " = " + value + ";\n";
    };
    // Where a driver may number the items of sub-groups as it likes, its numbers say who is who.
    const std::string member = ir::has_shuffles(f.kernel) ? f.source.sub_group_word(f.target.sub_group_item) : f.target.local_ids[0];
    if (groups.flat) text += "unsigned int member = (unsigned int)" + member + ";\n";
    for (int d = f.kernel.rank - 1; d >= 0; --d) {
        const std::string size = std::to_string(groups.size[d]);
        if (groups.flat) {
            define('l', d, "member % " + size + "u");
            text += "member /= " + size + "u;\n";
        } else {
            define('l', d, groups.axis[d] < 0 ? "0" : f.target.local_ids[groups.axis[d]]);
        }
    }
    text += u + " at = (" + u + ")" + f.target.group_id + ";\n";
    for (int d = f.kernel.rank - 1; d >= 0; --d) {
        const std::string size = std::to_string(groups.size[d]), n = std::to_string(d);
        if (d == 0) {
            define('g', d, "at");
        } else {
            const std::string count = "(" + u + ")(n" + n + " / " + size + ")";
            define('g', d, "at % " + count);
            text += "at /= " + count + ";\n";
        }
        define('i', d, "g" + n + " * " + size + " + l" + n);
    }
    return text + f.call;
}

/// Whether a loop folds what it loads from one array twice, as both parts of complex elements.
bool folds_pairs(const ir::Kernel& kernel) {
    return std::ranges::any_of(kernel.instrs, [&](const ir::Instr& in) {
        if (in.op != ir::Opcode::For || in.combines().empty()) return false;
        std::vector<ir::Value> arrays;
        for (const ir::InstrId id : kernel.regions[in.regions[0]].body) {
            if (kernel.instrs[id].op != ir::Opcode::Load) continue;
            const ir::Value array = kernel.instrs[id].operands[0];
            if (std::ranges::find(arrays, array) != arrays.end()) return true;
            arrays.push_back(array);
        }
        return false;
    });
}

/// What calls the item's function for the items of the kernel that one of the language has.
std::string item_calls(const Frame& f) {
    if (f.kernel.in_groups()) return group_items(f);
    if (f.kernel.rank == 0) return team_items(f);
    switch (f.g.mapping) {
        case CMapping::Team: return team_items(f);
        case CMapping::Flat: return flat_loop(f);
        case CMapping::Tile: return tile_item(f);
        case CMapping::Range: return range_item(f);
        case CMapping::Loop: return loop_rows(f);
        default: return line_loops(f);
    }
}

/// The words in front of the kernel function's name.
std::string beginning(const Frame& f) {
    const bool shuffles = f.kernel.in_groups() ? ir::has_shuffles(f.kernel) : f.helpers.shuffles();
    const std::string size = shuffles ? f.source.sub_group_word(f.target.sub_group_kernel) : "";
    if (f.kernel.in_groups()) {
        std::string kernel = f.target.kernel_3d;
        const auto local = groups_of(f.kernel).local;
        for (std::size_t k = 0; k < local.size(); ++k)
            kernel.replace(kernel.find(std::string("$") + "XYZ"[k]), 2, std::to_string(local[k]));
        return size + kernel;
    }
    std::string kernel = f.target.kernel;
    kernel.replace(kernel.find("$G"), 2, std::to_string(f.g.group_size));
    const bool scalar = f.source.features.scalar_pairs && folds_pairs(f.kernel);
    return size + (scalar ? "__attribute__((intel_vec_len_hint(1))) " : "") + kernel;
}

}  // namespace

std::string indented(const std::string& text, int by) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (text[at] != '#') out.append(static_cast<std::size_t>(4 * by), ' ');
        out.append(text, at, end + 1 - at);
        at = end + 1;
    }
    return out;
}

std::string kernel_function(const CSource& source, const CHelpers& helpers) {
    const Frame f(source, helpers);
    std::string statements = item_calls(f);
    if (source.reversible()) {
        statements = "const " + f.wide + " group = reversed ? " + f.target.group_count + " - 1 - " + f.target.group_id + " : " +
                     f.target.group_id + ";\n" + statements;
    }
    if (source.features.overlap) statements = f.target.overlap + (";\n" + statements);
    return beginning(f) + " " + entry_name(f.kernel) + "(" + kernel_parameters(source) + ") {\n" + indented(statements, 1) + "}\n";
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
