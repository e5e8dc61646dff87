// src/backend/cuda/ptx.cpp: reads ".visible .entry add(.param .u64 .ptr .align 1 add_param_0, .param .f32 add_param_1)".
#include "backend/cuda/ptx.h"

#include <algorithm>
#include <cctype>

namespace pardo::cuda {
namespace {

constexpr std::string_view entry = ".entry", blanks = " \t\r\n";

/// The declaration at or after `at`, from the kernel's name to the closing bracket; empty when there is none any more.
std::string_view next_declaration(std::string_view ptx, std::size_t& at) {
    for (;;) {
        at = ptx.find(entry, at);
        if (at == std::string_view::npos) return {};
        const std::size_t line = ptx.find_last_of('\n', at) + 1;  // npos + 1 is 0
        const std::size_t begin = ptx.find_first_not_of(blanks, at + entry.size()), end = ptx.find(')', at);
        const bool declares = ptx[ptx.find_first_not_of(blanks, line)] == '.';
        at += entry.size();
        if (declares && end != std::string_view::npos && begin < end) return ptx.substr(begin, end + 1 - begin);
    }
}

/// Words that blanks separate.
std::vector<std::string_view> words_of(std::string_view s) {
    std::vector<std::string_view> words;
    for (std::size_t begin = s.find_first_not_of(blanks); begin != std::string_view::npos;) {
        const std::size_t end = std::min(s.find_first_of(blanks, begin), s.size());
        words.push_back(s.substr(begin, end - begin));
        begin = s.find_first_not_of(blanks, end);
    }
    return words;
}

int number_at(std::string_view s) {
    int number = 0;
    for (const char c : s.substr(0, 8)) {
        if (!std::isdigit(static_cast<unsigned char>(c))) break;
        number = 10 * number + (c - '0');
    }
    return number;
}

DType integer_of(int bits) { return bits == 8 ? DType::Int8 : bits == 16 ? DType::Int16 : bits == 32 ? DType::Int32 : DType::Int64; }

/// ".param .u64 .ptr .global .align 4 name", ".param .align 8 .b8 name[16]".
device::TextParameter parameter_of(std::string_view text) {
    using Kind = device::TextParameter::Kind;
    device::TextParameter p;
    p.kind = Kind::Value;
    const std::vector<std::string_view> words = words_of(text);
    for (const std::string_view word : words) {
        if (word == ".ptr") p.kind = Kind::Pointer;
        const int bits = word.size() > 2 && word[0] == '.' ? number_at(word.substr(2)) : 0;
        if (bits == 0) continue;
        p.bytes = static_cast<std::size_t>(bits / 8);
        if (word[1] == 'f') {
            p.dtype = bits == 64 ? DType::Float64 : bits == 32 ? DType::Float32 : DType::Float16;
            p.type = bits == 64 ? "double" : bits == 32 ? "float" : "half";
        } else if (word[1] == 'u' || word[1] == 's') {
            p.dtype = integer_of(bits);
            p.any_sign = true;
            p.type = std::to_string(bits) + "-bit integer";
        }
    }
    if (const std::size_t count = words.back().find('['); count != std::string_view::npos) {
        p.bytes *= static_cast<std::size_t>(number_at(words.back().substr(count + 1)));
        p.type = std::to_string(p.bytes) + " bytes";
    }
    if (p.kind == Kind::Pointer) {
        p.dtype.reset();
        p.type = "pointer";
    } else if (p.bytes == sizeof(void*) && p.any_sign) {  // older compilers do not tell pointers from integers
        p.kind = Kind::Any;
        p.type = "pointer or 64-bit integer";
    }
    return p;
}

}  // namespace

std::string declarations_of(std::string_view ptx) {
    std::string out;
    std::size_t at = 0;
    for (std::string_view d = next_declaration(ptx, at); !d.empty(); d = next_declaration(ptx, at))
        out.append(".visible ").append(entry).append(" ").append(d).append("\n");
    return out;
}

std::vector<device::TextKernel> kernels_of(std::string_view declarations) {
    std::vector<device::TextKernel> kernels;
    std::size_t at = 0;
    for (std::string_view d = next_declaration(declarations, at); !d.empty(); d = next_declaration(declarations, at)) {
        device::TextKernel kernel;
        const std::size_t open = d.find('(');
        kernel.name = std::string(words_of(d.substr(0, open))[0]);
        for (std::size_t begin = open + 1; begin < d.size();) {
            const std::size_t end = d.find_first_of(",)", begin);
            if (d.substr(begin, end - begin).find_first_not_of(blanks) != std::string_view::npos)
                kernel.parameters.push_back(parameter_of(d.substr(begin, end - begin)));
            begin = end + 1;
        }
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

}  // namespace pardo::cuda
