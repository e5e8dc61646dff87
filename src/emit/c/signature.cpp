// src/emit/c/signature.cpp: what the kernel's function and the item's take, and what the one gives the other.
#include "emit/c/signature.h"

#include "emit/c/expressions.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {
namespace {

/// Texts with commas between them.
struct CommaList {
    void add(const std::string& text) { all += (all.empty() ? "" : ", ") + text; }
    /// One a dimension: `words` and its number.
    void add_dimensions(const std::string& words, int dims) {
        for (int d = 0; d < dims; ++d) add(words + std::to_string(d));
    }
    std::string all;
};

char letter_of(DType dtype) {
    switch (itemsize(dtype)) {
        case 1: return 'b';
        case 2: return 'h';
        case 4: return dtype == DType::Float32 ? 'f' : 'i';
        default: return dtype == DType::Float64 ? 'd' : 'l';
    }
}

/// What a parameter points to.
std::string pointed(const CTarget& target, const ir::Param& p, const std::string& type) {
    return qualifier(target.global) + (p.access == ir::Access::Read ? "const " : "") + type;
}

/// A parameter of a function that takes each pointer as one parameter, not as base and offset.
std::string parameter(const CSource& source, std::size_t k) {
    const ir::Param& p = source.kernel.params[k];
    const std::string type = c_memory_type(source.target, p.type), &name = source.names.params[k];
    if (!p.pointer) return type + " " + name;
    // Items of a group read what others wrote before a barrier: compilers must not take written memory for one item's own.
    const bool shared = source.kernel.in_groups() && p.access != ir::Access::Read;
    const std::string alone = p.noalias && !shared ? std::string(" ") + source.target.restrict_pointer : "";
    return pointed(source.target, p, type) + "*" + alone + " " + name;
}

}  // namespace

std::string entry_name(const ir::Kernel& kernel) {
    const bool of_user = kernel.in_groups() || !kernel.arrays.empty() || kernel.files.size() > 1;
    return of_user ? "k_" + c_identifier(kernel.name) : c_identifier(kernel.name);
}

std::string parameter_letters(const CSource& source) {
    std::string letters;
    for (const ir::Param& p : source.kernel.params) letters += p.pointer ? 'p' : letter_of(p.type);
    letters.append(static_cast<std::size_t>(source.kernel.rank), 'l');
    if (source.reversible()) letters += 'i';
    return letters;
}

std::string kernel_parameters(const CSource& source) {
    CommaList list;
    const std::string wide = c_type(source.target, DType::Int64);
    for (std::size_t k = 0; k < source.kernel.params.size(); ++k) {
        const ir::Param& p = source.kernel.params[k];
        if (p.pointer && source.features.split_pointers) {
            list.add(pointed(source.target, p, "char* ") + source.names.params[k] + "_base");
            list.add(wide + " " + source.names.params[k] + "_offset");
        } else {
            list.add(parameter(source, k));
        }
    }
    list.add_dimensions(wide + " n", source.kernel.rank);
    if (source.reversible()) list.add("int reversed");
    return list.all;
}

std::string item_parameters(const CSource& source, const CHelpers& helpers) {
    CommaList list;
    const ir::Kernel& kernel = source.kernel;
    const CTarget& target = source.target;
    const std::string wide = c_type(target, DType::Int64);
    for (std::size_t k = 0; k < kernel.params.size(); ++k) list.add(parameter(source, k));
    list.add_dimensions(wide + " n", kernel.rank);
    list.add_dimensions(wide + " i", kernel.rank);
    list.add_dimensions(wide + " l", kernel.group_size.size());
    list.add_dimensions(wide + " g", kernel.group_size.size());
    for (std::size_t k = 0; k < kernel.arrays.size(); ++k) {
        const ir::ArrayInfo& a = kernel.arrays[k];
        if (a.space == ir::Space::Group) list.add(qualifier(target.local) + c_memory_type(target, a.type) + "* " + source.names.arrays[k]);
    }
    if (source.uses_team()) list.add("int lane");
    for (const DType dtype : helpers.exchanged())
        list.add(qualifier(target.local) + c_type(target, dtype) + "* shared_" + short_name(dtype));
    return list.all;
}

std::string item_arguments(const CSource& source, const CHelpers& helpers) {
    CommaList list;
    const ir::Kernel& kernel = source.kernel;
    for (std::size_t k = 0; k < kernel.params.size(); ++k) {
        const ir::Param& p = kernel.params[k];
        const std::string& name = source.names.params[k];
        if (p.pointer && source.features.split_pointers) {
            const std::string pointer = pointed(source.target, p, c_memory_type(source.target, p.type)) + "*";
            list.add("(" + pointer + ")(" + name + "_base + " + name + "_offset)");
        } else {
            list.add(name);
        }
    }
    list.add_dimensions("n", kernel.rank);
    list.add_dimensions("i", kernel.rank);
    list.add_dimensions("l", kernel.group_size.size());
    list.add_dimensions("g", kernel.group_size.size());
    for (std::size_t k = 0; k < kernel.arrays.size(); ++k) {
        if (kernel.arrays[k].space == ir::Space::Group) list.add(source.names.arrays[k]);
    }
    if (source.uses_team()) list.add("lane");
    for (const DType dtype : helpers.exchanged()) list.add("shared_" + short_name(dtype));
    return list.all;
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
