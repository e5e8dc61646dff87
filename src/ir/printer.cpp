// src/ir/printer.cpp: the stable text of kernels. It holds all that decides what a kernel computes; spans are left out.
#include "ir/printer.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "ir/rules.h"

namespace pardo::ir {
namespace {

constexpr std::uint32_t unnumbered = ~0u;
constexpr const char* access_names[] = {"none", "read", "write", "readwrite"};

}  // namespace

Printer::Printer(const Kernel& kernel) : kernel_(kernel), numbers_(kernel.values.size(), unnumbered) {
    for (const Param& p : kernel.params) assign_number(p.value);
    for (const ArrayInfo& a : kernel.arrays) assign_number(a.value);
    assign_numbers(kernel.body);
}

void Printer::assign_number(Value v) {
    if (v < numbers_.size() && numbers_[v] == unnumbered) numbers_[v] = next_++;
}

void Printer::assign_numbers(const Region& region) {
    for (Value v : region.args) assign_number(v);
    for (InstrId id : region.body) {
        if (id >= kernel_.instrs.size()) continue;
        const Instr& in = kernel_.instrs[id];
        for (Value v : in.results) assign_number(v);
        for (RegionId r : in.regions)
            if (r < kernel_.regions.size()) assign_numbers(kernel_.regions[r]);
    }
}

void Printer::number(std::int64_t n) {
    char text[24];
    out_.append(text, std::to_chars(text, text + sizeof text, n).ptr);
}

void Printer::value(Value v) {
    out_ += '%';
    if (v < numbers_.size() && numbers_[v] != unnumbered) {
        number(numbers_[v]);
    } else {
        out_ += '?';
    }
}

void Printer::values(std::span<const Value> list) {
    for (std::size_t k = 0; k < list.size(); ++k) {
        if (k) out_ += ", ";
        value(list[k]);
    }
}

/// Shortest text that reads back as the same number; NaNs by their bits.
void Printer::real(double f, DType type) {
    char text[40];
    char* end = text;
    if (std::isnan(f)) {
        out_ += "nan:0x";
        end = std::to_chars(text, text + sizeof text, std::bit_cast<std::uint64_t>(f), 16).ptr;
    } else {
        end = type == DType::Float64 ? std::to_chars(text, text + sizeof text, f).ptr
                                     : std::to_chars(text, text + sizeof text, static_cast<float>(f)).ptr;
    }
    out_.append(text, end);
}

void Printer::scalar(const Scalar& s) {
    switch (kind_of(s.dtype)) {
        case DKind::Bool: out_ += s.b ? "true" : "false"; break;
        case DKind::Signed: number(s.i); break;
        case DKind::Unsigned: {
            char text[24];
            out_.append(text, std::to_chars(text, text + sizeof text, s.u).ptr);
            break;
        }
        case DKind::Float: real(s.f, s.dtype); break;
        case DKind::Complex:
            out_ += '(';
            real(s.c.re, real_of(s.dtype));
            out_ += ", ";
            real(s.c.im, real_of(s.dtype));
            out_ += ')';
    }
}

void Printer::quoted(const std::string& text) {
    out_ += '"';
    for (char c : text) {
        if (c == '"' || c == '\\') out_ += '\\';
        if (c == '\n') {
            out_ += "\\n";
        } else {
            out_ += c;
        }
    }
    out_ += '"';
}

/// "%5 = %1, %6 = %2": region arguments and where they start.
void Printer::arguments(const Instr& in, int region, int from) {
    if (region >= in.regions.size() || in.regions[region] >= kernel_.regions.size()) return;
    const auto& args = kernel_.regions[in.regions[region]].args;
    const int first = in.op == Opcode::For ? 1 : 0;
    for (int k = first; k < args.size(); ++k) {
        if (k > first) out_ += ", ";
        value(args[k]);
        out_ += " = ";
        if (from + k - first < in.operands.size()) value(in.operands[from + k - first]);
    }
}

void Printer::for_head(const Instr& in) {
    constexpr const char* kinds[] = {"for ", "for lanes ", "for lockstep ", "for parallel "};
    out_ += kinds[static_cast<int>(in.loop_kind())];
    if (in.regions.size() == 1 && in.regions[0] < kernel_.regions.size() && !kernel_.regions[in.regions[0]].args.empty())
        value(kernel_.regions[in.regions[0]].args[0]);
    if (in.operands.size() >= 3) {
        out_ += " = ";
        value(in.operands[0]);
        out_ += " to ";
        value(in.operands[1]);
        out_ += " step ";
        value(in.operands[2]);
    }
    if (in.loop_kind() == LoopKind::Lanes) {
        for (int k = 0; k < in.combines().size(); ++k) {
            out_ += k ? ", " : " reduce ";
            out_ += name(in.combines()[k]);
            out_ += ' ';
            if (3 + k < in.operands.size()) value(in.operands[3 + k]);
        }
    } else if (in.operands.size() > 3) {
        out_ += " carry ";
        arguments(in, 0, 3);
    }
    if (in.loop().unroll) {
        out_ += " unroll ";
        number(in.loop().unroll);
    }
}

void Printer::while_head(const Instr& in) {
    out_ += "while";
    if (!in.operands.empty()) {
        out_ += " carry ";
        arguments(in, 0, 0);
    }
}

void Printer::head(const Instr& in) {
    if (!in.results.empty()) {
        values(in.results);
        out_ += " = ";
    }
    if (!has_its_attribute(in)) {
        out_ += name(in.op);
        out_ += " with the attribute of another operation";
        return;
    }
    switch (in.op) {
        case Opcode::For: return for_head(in);
        case Opcode::While: return while_head(in);
        case Opcode::Call:
            out_ += "call ";
            out_ += name(in.math());
            break;
        default: out_ += name(in.op);
    }
    if (in.op == Opcode::Atomic || in.op == Opcode::CompareExchange || in.op == Opcode::Fence) {
        if (in.op == Opcode::Atomic) (out_ += ' ') += name(in.atomic());
        (out_ += ' ') += name(in.ordering().order);
        (out_ += ' ') += name(in.ordering().scope);
    }
    if (is_leaf(in.op) && in.op != Opcode::Const) {
        out_ += ' ';
        number(in.index());
        return;
    }
    if (!in.results.empty() && in.op != Opcode::If && in.results[0] < kernel_.values.size()) {
        out_ += ' ';
        out_ += dtype_name(kernel_.values[in.results[0]].type);
    }
    if (in.op == Opcode::Const) {
        out_ += ' ';
        return scalar(in.scalar());
    }
    if (!in.operands.empty()) out_ += ' ';
    values(in.operands);
}

void Printer::instr(InstrId id, int depth) {
    indent(depth);
    if (id >= kernel_.instrs.size()) {
        out_ += "<no such instruction>\n";
        return;
    }
    const Instr& in = kernel_.instrs[id];
    head(in);
    for (int k = 0; k < in.regions.size(); ++k) {
        if (k == 0) {
            out_ += " {\n";
        } else {
            indent(depth);
            out_ += in.op == Opcode::If ? "} else {\n" : "} do ";
            if (in.op != Opcode::If) {
                if (in.regions[k] < kernel_.regions.size()) values(kernel_.regions[in.regions[k]].args);
                out_ += " {\n";
            }
        }
        if (in.regions[k] < kernel_.regions.size()) region(kernel_.regions[in.regions[k]], depth + 1);
    }
    if (!in.regions.empty()) {
        indent(depth);
        out_ += '}';
    }
    out_ += '\n';
}

void Printer::region(const Region& region, int depth) {
    for (InstrId id : region.body) {
        if (id < kernel_.instrs.size() && (kernel_.instrs[id].op == Opcode::Param || kernel_.instrs[id].op == Opcode::Array))
            continue;  // the head has them
        instr(id, depth);
    }
}

std::string Printer::kernel() {
    out_.clear();
    out_.reserve(256 + 40 * kernel_.instrs.size());
    out_ += "kernel ";
    quoted(kernel_.name);
    out_ += " rank ";
    number(kernel_.rank);
    if (kernel_.lanes) out_ += " lanes";
    if (kernel_.fast_math) out_ += kernel_.fast_math > 1 ? " estimates" : " fast_math";
    for (int d = 0; d < kernel_.group_size.size(); ++d) {
        out_ += d == 0 ? " groups " : " x ";
        number(kernel_.group_size[d]);
    }
    if (kernel_.sub_group > 0) {
        out_ += " sub-groups ";
        number(kernel_.sub_group);
    }
    out_ += " (\n";
    for (const Param& p : kernel_.params) {
        out_ += "  ";
        value(p.value);
        out_ += ' ';
        quoted(p.name);
        out_ += p.pointer ? " pointer " : " scalar ";
        out_ += dtype_name(p.type);
        if (p.pointer) {
            out_ += ' ';
            out_ += access_names[static_cast<int>(p.access) & 3];
            if (p.noalias) out_ += " noalias";
            if (p.streaming) out_ += " streaming";
        }
        out_ += '\n';
    }
    for (const ArrayInfo& a : kernel_.arrays) {
        out_ += "  ";
        value(a.value);
        out_ += ' ';
        quoted(a.name);
        out_ += a.space == Space::Group ? " group array " : a.whole ? " private whole array " : " private array ";
        out_ += dtype_name(a.type);
        out_ += ' ';
        number(a.count);
        out_ += '\n';
    }
    out_ += ") {\n";
    region(kernel_.body, 1);
    out_ += "}\n";
    return std::move(out_);
}

std::string Printer::line(InstrId id) {
    out_.clear();
    if (id < kernel_.instrs.size()) head(kernel_.instrs[id]);
    return std::move(out_);
}

std::string print(const Kernel& kernel) { return Printer(kernel).kernel(); }

}  // namespace pardo::ir
