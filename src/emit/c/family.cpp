// src/emit/c/family.cpp: the frame of a program: parameters, the function of one item, and the kernel that says which items there are.
#include "emit/c/family.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "emit/analysis/fission.h"
#include "emit/c/emitter.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {
namespace {

char letter_of(DType dtype) {
    switch (itemsize(dtype)) {
        case 1: return 'b';
        case 2: return 'h';
        case 4: return dtype == DType::Float32 ? 'f' : 'i';
        default: return dtype == DType::Float64 ? 'd' : 'l';
    }
}

/// In front of a type; some languages have no such word.
std::string qualifier(const char* word) { return *word ? std::string(word) + " " : std::string(); }

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

/// Whether a loop folds what it loads from one array twice, as both parts of complex elements.
bool folds_pairs(const ir::Kernel& kernel) {
    return std::ranges::any_of(kernel.instrs, [&](const ir::Instr& in) {
        if (in.op != ir::Opcode::For || in.combines.empty()) return false;
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

/// A kernel's name may be a function of the language; those that the array engine gives never are.
std::string entry_name(const ir::Kernel& kernel) {
    const bool of_user = kernel.in_groups() || !kernel.arrays.empty() || kernel.files.size() > 1;
    return of_user ? "k_" + c_identifier(kernel.name) : c_identifier(kernel.name);
}

}  // namespace

std::string c_identifier(const std::string& name) {
    std::string out = name;
    for (char& c : out) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    }
    if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out = "k_" + out;
    return out;
}

ir::Kernel lowered_for_c(const ir::Kernel& kernel, const CFeatures& features) {
    constexpr auto native = [](ir::Math fn, DType) { return fn == ir::Math::erf || fn == ir::Math::log1p; };
    ir::Kernel plain = ir::lower_complex(kernel);
    if (ir::has_shuffles(plain)) {
        const bool whole = features.target->partial_sub_groups || groups_of(plain).items() % plain.sub_group == 0;
        if (!(features.shuffles & plain.sub_group) || !whole) plain = ir::expand_shuffles(plain);
    }
    if (!features.cpu) plain = ir::defer_reports(plain);
    return ir::expand_math(plain, features.native_erf ? +native : nullptr);
}

CText emit_c(const ir::Kernel& kernel, const CFeatures& features, const CGeometry& geometry) {
    return CEmitter(kernel, features, geometry).run();
}

CText CEmitter::run() {
    CText out;
    out.entry = entry_name(kernel_);
    choose_names();
    for (const ir::Param& p : kernel_.params) {
        const std::string& name = param_names_[names_.size()];
        std::string value = name;
        if (!p.pointer && p.type == DType::Bool) value = "(" + name + " != 0)";
        if (!p.pointer && p.type == DType::Float16) {
            helpers_.use("f16", p.type);
            value = "f16_to_f32(" + name + ")";
        }
        text_[p.value] = value;
        names_.push_back(value);
        out.params += p.pointer ? 'p' : letter_of(p.type);
    }
    out.params.append(static_cast<std::size_t>(kernel_.rank), 'l');
    out.reversible = reversible();
    if (out.reversible) out.params += 'i';
    if (kernel_.in_groups()) out.groups = groups_of(kernel_);
    out.fast_math = kernel_.fast_math;
    if (kernel_.in_groups()) (void)split_at_barriers(ir::expand_shuffles(kernel_));  // refuses barriers where items go different ways
    if (large_arrays()) out.shared_bytes = group_bytes(kernel_);
    const std::string item = item_function();
    const std::string kernel_text = kernel_function();
    out.text = head() + helpers_.text() + item + kernel_text;
    return out;
}

std::string CEmitter::head() const {
    std::string text = target_.head;
    const bool doubles =
        std::any_of(kernel_.values.begin(), kernel_.values.end(), [](const ir::ValueInfo& v) { return v.type == DType::Float64; });
    if (doubles) text += target_.fp64;
    const bool wide_atomics = std::any_of(kernel_.instrs.begin(), kernel_.instrs.end(), [&](const ir::Instr& in) {
        if (in.op == ir::Opcode::Report) return features_.wide_atomics;
        return (in.op == ir::Opcode::Atomic || in.op == ir::Opcode::CompareExchange) && itemsize(type(in.operands[0])) == 8;
    });
    if (wide_atomics) text += target_.wide_atomics_head;
    return text;
}

/// Of the item's function, or of the kernel, which may get its pointers in two parts and the extents.
std::string CEmitter::parameters(bool kernel) const {
    std::string text;
    const std::string wide = c_type(target_, DType::Int64);
    const auto add = [&](const std::string& p) {
        if (!text.empty()) text += ", ";
        text += p;
    };
    for (std::size_t k = 0; k < kernel_.params.size(); ++k) {
        const ir::Param& p = kernel_.params[k];
        const std::string& name = param_names_[k];
        if (!p.pointer) {
            add(c_memory_type(target_, p.type) + " " + name);
            continue;
        }
        const std::string constant = p.access == ir::Access::Read ? "const " : "", space = qualifier(target_.global);
        if (kernel && features_.split_pointers) {
            add(space + constant + "char* " + name + "_base");
            add(wide + " " + name + "_offset");
        } else {
            // Items of a group read what others wrote before a barrier: compilers must not take written memory for one item's own.
            const bool shared = kernel_.in_groups() && p.access != ir::Access::Read;
            const std::string alone = p.noalias && !shared ? std::string(" ") + target_.restrict_pointer : "";
            add(space + constant + c_memory_type(target_, p.type) + "*" + alone + " " + name);
        }
    }
    for (int d = 0; d < kernel_.rank; ++d) add(wide + " n" + std::to_string(d));
    if (kernel && reversible()) add("int reversed");
    if (kernel) return text;
    for (int d = 0; d < kernel_.rank; ++d) add(wide + " i" + std::to_string(d));
    for (int d = 0; d < kernel_.group_size.size(); ++d) add(wide + " l" + std::to_string(d));
    for (int d = 0; d < kernel_.group_size.size(); ++d) add(wide + " g" + std::to_string(d));
    for (std::size_t k = 0; k < kernel_.arrays.size(); ++k) {
        const ir::ArrayInfo& a = kernel_.arrays[k];
        if (a.space == ir::Space::Group) add(qualifier(target_.local) + c_memory_type(target_, a.type) + "* " + array_names_[k]);
    }
    if (uses_team()) add("int lane");
    for (const DType dtype : shared_) {
        add(qualifier(target_.local) + c_type(target_, dtype) + "* shared_" + short_name(dtype));
    }
    return text;
}

/// What the kernel hands to the item's function.
std::string CEmitter::arguments() const {
    std::string text;
    const auto add = [&](const std::string& a) {
        if (!text.empty()) text += ", ";
        text += a;
    };
    for (std::size_t k = 0; k < kernel_.params.size(); ++k) {
        const ir::Param& p = kernel_.params[k];
        const std::string& name = param_names_[k];
        if (p.pointer && features_.split_pointers) {
            add("(" + qualifier(target_.global) + (p.access == ir::Access::Read ? "const " : "") + c_memory_type(target_, p.type) + "*)(" +
                name + "_base + " + name + "_offset)");
        } else {
            add(name);
        }
    }
    for (int d = 0; d < kernel_.rank; ++d) add("n" + std::to_string(d));
    for (int d = 0; d < kernel_.rank; ++d) add("i" + std::to_string(d));
    for (int d = 0; d < kernel_.group_size.size(); ++d) add("l" + std::to_string(d));
    for (int d = 0; d < kernel_.group_size.size(); ++d) add("g" + std::to_string(d));
    for (std::size_t k = 0; k < kernel_.arrays.size(); ++k) {
        if (kernel_.arrays[k].space == ir::Space::Group) add(array_names_[k]);
    }
    if (uses_team()) add("lane");
    for (const DType dtype : shared_) add("shared_" + short_name(dtype));
    return text;
}

/// The early loads of one kernel item, as a function that gives them all.
std::string CEmitter::load_function() {
    std::vector<bool> needed(kernel_.values.size(), false);
    for (const ir::InstrId id : early_) needed[kernel_.instrs[id].results[0]] = true;
    for (auto at = kernel_.body.body.rbegin(); at != kernel_.body.body.rend(); ++at) {
        const Instr& in = kernel_.instrs[*at];
        if (in.results.empty() || !needed[in.results[0]]) continue;
        for (const Value v : in.operands) needed[v] = true;
    }
    std::string fields;
    out_.clear();
    for (const ir::InstrId id : kernel_.body.body) {
        const Instr& in = kernel_.instrs[id];
        if (in.results.empty() || !needed[in.results[0]]) continue;
        instr(in);
        const auto at_early = std::find(early_.begin(), early_.end(), id);
        if (at_early == early_.end()) continue;
        const Value v = in.results[0];
        const std::string name = "x" + std::to_string(at_early - early_.begin());
        fields += " " + c_type(target_, type(v)) + " " + name + ";";
        line("x." + name + " = " + at(v) + ";");
    }
    std::string text = "typedef struct {" + fields + " } Loads;\n";
    text += std::string(target_.function) + " Loads load(" + parameters(false) + ") {\n    Loads x;\n" + out_ + "    return x;\n}\n";
    for (std::size_t k = 0; k < early_.size(); ++k) from_[kernel_.instrs[early_[k]].results[0]] = "x.x" + std::to_string(k);
    out_.clear();
    return text;
}

std::string CEmitter::item_function() {
    const std::string arrays = indented(own_arrays(ir::Space::Private) + kept_arrays(), 1);
    const std::string loads = early_.empty() ? std::string() : load_function();
    out_ = arrays;
    body(kernel_.body, nullptr);
    const std::string statements = std::move(out_);
    out_.clear();
    return loads + target_.function + " void item(" + parameters(false) + (early_.empty() ? "" : ", const Loads x") + ") {\n" + statements +
           "}\n";
}

std::string CEmitter::wide_type() const { return geometry_.wide ? target_.unsigned_types[3] : target_.unsigned_types[2]; }

/// Takes `counter` apart into i0 … i<dims - 1>, the last one fastest.
std::string CEmitter::decomposed(int dims, const std::string& counter) const {
    std::string text;
    const std::string wide = c_type(target_, DType::Int64), u = wide_type();
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

std::string CEmitter::shared_arrays() const {
    std::string text;
    const int words = features_.sub_group >= 2 ? std::max(32, geometry_.team / features_.sub_group) : geometry_.team;
    for (const DType dtype : shared_)
        text += std::string(target_.shared) + " " + c_type(target_, dtype) + " shared_" + short_name(dtype) + "[" + std::to_string(words) +
                "];\n";
    return text;
}

/// Items of the first dimensions of the launch, as an expression.
std::string CEmitter::item_count(int dims) const {
    std::string items;
    for (int d = 0; d < dims; ++d) items += (d ? " * (" : "(") + wide_type() + ")n" + std::to_string(d);
    return items;
}

/// A word of the language with the size of sub-groups.
std::string CEmitter::sub_group_word(std::string word) const {
    const int size = kernel_.in_groups() ? kernel_.sub_group : features_.sub_group;
    replace_all(word, "$N", std::to_string(size));
    return word;
}

std::string CEmitter::team_items() const {
    // Where a driver may number the items of sub-groups as it likes, its numbers say who is who.
    const std::string u = wide_type(), local = helpers_.shuffles() ? sub_group_word(target_.sub_group_item) : target_.local_id;
    std::string text = shared_arrays();
    const int together = geometry_.group_size / geometry_.team;
    const std::string call = "item(" + arguments() + ");\n";
    if (kernel_.rank == 0) return text + (uses_team() ? "const int lane = " + local + ";\n" + call : "if (" + local + " == 0) " + call);
    if (uses_team()) {
        text += "const int lane = " + local + (together > 1 ? " % " + std::to_string(geometry_.team) : "") + ";\n";
    }
    text += u + " at = (" + u + ")" + group();
    if (together > 1) {
        text += " * " + std::to_string(together) + " + (" + u + ")(" + local + ")";
        if (uses_team()) text += " / " + std::to_string(geometry_.team);
    }
    text += ";\n";
    if (together > 1) text += "if (at >= " + item_count(kernel_.rank) + ") return;\n";
    return text + decomposed(kernel_.rank, "at") + call;
}

std::string CEmitter::flat_loop() const {
    const std::string u = wide_type(), size = std::to_string(geometry_.group_size),
                      tile = std::to_string(geometry_.group_size * geometry_.columns);
    std::string text = "const " + u + " items = " + item_count(kernel_.rank) + ";\n";
    text += "const " + u + " first = (" + u + ")" + group() + " * " + tile + " + (" + u + ")" + target_.local_id + ";\n";
    const std::string inner = decomposed(kernel_.rank, "at") + "item(" + arguments() + ");\n";
    if (geometry_.columns == 1) return text + u + " at = first;\nif (at < items) {\n" + indented(inner, 1) + "}\n";
    text += std::string(target_.unroll) + "\nfor (int c = 0; c < " + std::to_string(geometry_.columns) + "; ++c) {\n";
    text += indented(u + " at = first + c * " + size + ";\nif (at < items) {\n" + indented(inner, 1) + "}\n", 1);
    return text + "}\n";
}

std::string CEmitter::tile_item() const {
    const int last = kernel_.rank - 1;
    const std::string wide = c_type(target_, DType::Int64), u = wide_type(), local = std::string("(") + u + ")" + target_.local_id;
    std::string text = u + " at = (" + u + ")" + group() + ";\n", inside;
    const auto part = [&](int d, int size, const std::string& own) {
        const std::string i = "i" + std::to_string(d), n = "n" + std::to_string(d), s = std::to_string(size), parts = "parts" + i;
        text += "const " + u + " " + parts + " = (" + u + ")((" + n + " + " + std::to_string(size - 1) + ") / " + s + ");\n";
        text += "const " + wide + " " + i + " = (" + wide + ")(at % " + parts + ") * " + s + " + " + own + ";\nat /= " + parts + ";\n";
        inside += (inside.empty() ? "" : " && ") + i + " < " + n;
    };
    part(last, tile_width, local + " % " + std::to_string(tile_width));
    part(last - 1, geometry_.group_size / tile_width, local + " / " + std::to_string(tile_width));
    if (last > 1) text += decomposed(last - 1, "at");
    return text + "if (" + inside + ") item(" + arguments() + ");\n";
}

/// Compilers that make vectors of neighbouring items understand the language's own numbers best.
std::string CEmitter::range_item() const {
    const std::string wide = c_type(target_, DType::Int64), u = wide_type();
    const auto number = [&](int dimension) {
        std::string id = target_.global_id;
        return id.replace(id.find("$D"), 2, std::to_string(dimension));
    };
    const int last = kernel_.rank - 1;
    const std::string i = "i" + std::to_string(last);
    std::string text = "const " + wide + " " + i + " = " + number(0) + ";\n";
    if (last >= 1) text += "const " + wide + " i" + std::to_string(last - 1) + " = " + number(1) + ";\n";
    if (last >= 2) text += u + " at = (" + u + ")" + number(2) + ";\n" + decomposed(last - 1, "at");
    return text + "if (" + i + " < n" + std::to_string(last) + ") item(" + arguments() + ");\n";
}

/// Compilers that make vectors of loops want one without conditions.
std::string CEmitter::loop_rows() const {
    const int last = kernel_.rank - 1;
    const std::string wide = c_type(target_, DType::Int64), u = wide_type(), stretch = std::to_string(loop_stretch);
    const std::string i = "i" + std::to_string(last), n = "n" + std::to_string(last);
    const std::string loop = "for (" + wide + " " + i + " = begin; " + i + " < end; ++" + i + ") item(" + arguments() + ");\n";
    const std::string begin = "const " + wide + " begin = (" + wide + ")($AT) * " + stretch + ", end = begin + " + stretch + " < " + n +
                              " ? begin + " + stretch + " : " + n + ";\n";
    const auto from = [&](const std::string& at) { return std::string(begin).replace(begin.find("$AT"), 3, at); };
    std::string text = u + " at = (" + u + ")" + group() + ";\n";
    if (last == 0) return text + from("at") + loop;
    if (geometry_.rows == 1) {
        text += "const " + u + " stretches = (" + u + ")((" + n + " + " + std::to_string(loop_stretch - 1) + ") / " + stretch + ");\n";
        return text + from("at % stretches") + "at /= stretches;\n" + decomposed(last, "at") + loop;
    }
    const std::string many = std::to_string(geometry_.rows);
    const std::string body = u + " row = at * " + many + " + r;\nif (row >= " + item_count(last) + ") break;\n" + decomposed(last, "row") +
                             "const " + wide + " begin = 0, end = " + n + ";\n" + loop;
    return text + "for (" + u + " r = 0; r < " + many + "; ++r) {\n" + indented(body, 1) + "}\n";
}

std::string CEmitter::line_loops() const {
    const int last = kernel_.rank - 1, tile = geometry_.group_size * geometry_.columns;
    const std::string wide = c_type(target_, DType::Int64), u = wide_type(), size = std::to_string(geometry_.group_size);
    const std::string n = "n" + std::to_string(last), i = "i" + std::to_string(last), given = arguments();
    std::string text;
    if (last == 0) {
        text += "const " + wide + " tile = " + group() + " * " + std::to_string(tile) + ";\n";
    } else {
        text += u + " at = (" + u + ")" + group() + ";\n";
        text += "const " + u + " tiles = (" + u + ")((" + n + " + " + std::to_string(tile - 1) + ") / " + std::to_string(tile) + ");\n";
        text += "const " + wide + " tile = (" + wide + ")(at % tiles) * " + std::to_string(tile) + ";\nat /= tiles;\n";
        if (geometry_.rows == 1) {
            text += decomposed(last, "at");
        } else {
            const std::string m = "n" + std::to_string(last - 1), rows = std::to_string(geometry_.rows);
            const std::string bands = "(" + u + ")((" + m + " + " + std::to_string(geometry_.rows - 1) + ") / " + rows + ")";
            if (last == 1) {
                text += "const " + wide + " row = (" + wide + ")at * " + rows + ";\n";
            } else {
                text += "const " + u + " bands = " + bands + ";\n";
                text += "const " + wide + " row = (" + wide + ")(at % bands) * " + rows + ";\nat /= bands;\n" + decomposed(last - 1, "at");
            }
        }
    }
    text += "const " + wide + " first = tile + " + target_.local_id + ";\n";
    const bool rows = geometry_.rows > 1, columns = geometry_.columns > 1;
    const auto loops = [&](bool whole, const std::string& call) {
        std::string inner = "const " + wide + " " + i + " = first" + (columns ? " + c * " + size : "") + ";\n";
        inner += (whole ? call : "if (" + i + " < " + n + ") " + call) + "\n";
        if (columns) {
            inner = std::string(target_.unroll) + "\nfor (int c = 0; c < " + std::to_string(geometry_.columns) + "; ++c) {\n" +
                    indented(inner, 1) + "}\n";
        }
        if (rows) {
            const std::string r = "i" + std::to_string(last - 1), m = "n" + std::to_string(last - 1);
            const std::string head = "const " + wide + " " + r + " = row + r;\n" + (whole ? "" : "if (" + r + " >= " + m + ") break;\n");
            inner = std::string(target_.unroll) + "\nfor (int r = 0; r < " + std::to_string(geometry_.rows) + "; ++r) {\n" +
                    indented(head + inner, 1) + "}\n";
        }
        return inner;
    };
    std::string all = loops(true, "item(" + given + ");"), some = loops(false, "item(" + given + ");");
    if (!early_.empty()) {
        const std::string place =
            "x[" + std::string(rows ? "r * " + std::to_string(geometry_.columns) + (columns ? " + c" : "") : "c") + "]";
        all = "Loads x[" + std::to_string(geometry_.rows * geometry_.columns) + "];\n" + loops(true, place + " = load(" + given + ");") +
              loops(true, "item(" + given + ", " + place + ");");
        some = loops(false, "item(" + given + ", load(" + given + "));");
    }
    if (!rows && !columns) return text + some;
    std::string whole = "tile + " + std::to_string(tile) + " <= " + n;
    if (rows) whole += " && row + " + std::to_string(geometry_.rows) + " <= n" + std::to_string(last - 1);
    return text + "if (" + whole + ") {\n" + indented(all, 1) + "} else {\n" + indented(some, 1) + "}\n";
}

std::string CEmitter::kernel_function() {
    std::string begin = helpers_.shuffles() ? sub_group_word(target_.sub_group_kernel) : "";
    if (features_.scalar_pairs && folds_pairs(kernel_)) begin += "__attribute__((intel_vec_len_hint(1))) ";
    begin += target_.kernel;
    if (kernel_.in_groups()) {
        begin = (ir::has_shuffles(kernel_) ? sub_group_word(target_.sub_group_kernel) : "") + target_.kernel_3d;
        const auto local = groups_of(kernel_).local;
        for (std::size_t k = 0; k < local.size(); ++k) begin.replace(begin.find(std::string("$") + "XYZ"[k]), 2, std::to_string(local[k]));
    } else {
        begin.replace(begin.find("$G"), 2, std::to_string(geometry_.group_size));
    }
    std::string statements;
    if (kernel_.in_groups()) {
        statements = group_items();
    } else if (kernel_.rank == 0 || geometry_.mapping == CMapping::Team) {
        statements = team_items();
    } else {
        switch (geometry_.mapping) {
            case CMapping::Flat: statements = flat_loop(); break;
            case CMapping::Tile: statements = tile_item(); break;
            case CMapping::Range: statements = range_item(); break;
            case CMapping::Loop: statements = loop_rows(); break;
            default: statements = line_loops(); break;
        }
    }
    if (reversible()) {
        statements = "const " + c_type(target_, DType::Int64) + " group = reversed ? " + target_.group_count + " - 1 - " +
                     target_.group_id + " : " + target_.group_id + ";\n" + statements;
    }
    if (features_.overlap) statements = target_.overlap + (";\n" + statements);
    return begin + " " + entry_name(kernel_) + "(" + parameters(true) + ") {\n" + indented(statements, 1) + "}\n";
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
