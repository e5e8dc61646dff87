// src/ir/printer.h: text of single instructions, for messages.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace pardo::ir {

/// Writes a kernel or parts of it. Values are numbered in the order in which they appear, so equal programs have equal text.
class Printer {
public:
    explicit Printer(const Kernel& kernel);
    std::string kernel();
    /// One line without the regions; works on broken kernels too.
    std::string line(InstrId id);

private:
    void instr(InstrId id, int depth);
    void region(const Region& region, int depth);
    void head(const Instr& in);
    void for_head(const Instr& in);
    void while_head(const Instr& in);
    void value(Value v);
    void values(std::span<const Value> list);
    void arguments(const Instr& in, int region, int from);
    void scalar(const Scalar& s);
    void real(double f, DType type);
    void number(std::int64_t n);
    void indent(int depth) { out_.append(static_cast<std::size_t>(2 * depth), ' '); }
    void quoted(const std::string& text);
    void assign_numbers(const Region& region);
    void assign_number(Value v);

    const Kernel& kernel_;
    std::vector<std::uint32_t> numbers_;
    std::uint32_t next_ = 0;
    std::string out_;
};

}  // namespace pardo::ir
