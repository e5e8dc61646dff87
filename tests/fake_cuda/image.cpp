// tests/fake_cuda/image.cpp: reads the kernels' names and parameters out of cubins (ELF) and PTX.
#include "image.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <regex>
#include <string_view>

namespace fake {
namespace {

template <class T> T load(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// The attributes of a section .nv.info.<kernel>: a format byte, an attribute byte, and a value or a length with that many bytes.
void read_attributes(const char* at, const char* end, ImageKernel& kernel) {
    constexpr unsigned char sized = 4, parameter = 0x17, parameter_2 = 0x45, most_threads = 0x05;
    struct Parameter {
        unsigned ordinal;
        std::size_t bytes;
    };
    std::vector<Parameter> parameters;
    while (at + 4 <= end) {
        const auto format = load<unsigned char>(at), attribute = load<unsigned char>(at + 1);
        const auto bytes = load<std::uint16_t>(at + 2);
        at += 4;
        if (format != sized) continue;
        if (attribute == parameter) parameters.push_back({load<std::uint16_t>(at + 4), load<std::uint32_t>(at + 8) >> 18});
        if (attribute == parameter_2) parameters.push_back({load<std::uint16_t>(at + 4), load<std::uint32_t>(at + 12)});
        if (attribute == most_threads && bytes >= 12)
            kernel.max_threads = static_cast<int>(load<std::uint32_t>(at) * load<std::uint32_t>(at + 4) * load<std::uint32_t>(at + 8));
        at += bytes;
    }
    std::sort(parameters.begin(), parameters.end(), [](const Parameter& a, const Parameter& b) { return a.ordinal < b.ordinal; });
    for (const Parameter& p : parameters) kernel.param_bytes.push_back(p.bytes);
}

std::vector<ImageKernel> read_elf(const char* image) {
    const auto header = load<Elf64_Ehdr>(image);
    const auto section = [&](std::size_t i) { return load<Elf64_Shdr>(image + header.e_shoff + i * header.e_shentsize); };
    const char* names = image + section(header.e_shstrndx).sh_offset;
    constexpr std::string_view prefix = ".nv.info.";
    std::vector<ImageKernel> kernels;
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr s = section(i);
        const std::string_view name = names + s.sh_name;
        if (!name.starts_with(prefix)) continue;
        ImageKernel kernel;
        kernel.name = name.substr(prefix.size());
        read_attributes(image + s.sh_offset, image + s.sh_offset + s.sh_size, kernel);
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

std::vector<ImageKernel> read_ptx(const std::string& text) {
    static const std::regex entry(R"(\.entry\s+(\w+)\s*\(([^)]*)\))"), param(R"(\.param\s+(?:\.\w+\s+)*?\.[a-z](\d+))");
    std::vector<ImageKernel> kernels;
    for (std::sregex_iterator k(text.begin(), text.end(), entry), end; k != end; ++k) {
        ImageKernel kernel;
        kernel.name = (*k)[1];
        const std::string params = (*k)[2];
        for (std::sregex_iterator p(params.begin(), params.end(), param), last; p != last; ++p)
            kernel.param_bytes.push_back(static_cast<std::size_t>(std::stoi((*p)[1]) / 8));
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

}  // namespace

std::vector<ImageKernel> read_image(const void* image) {
    const char* bytes = static_cast<const char*>(image);
    if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) return read_elf(bytes);
    if (bytes[0] == '/' || bytes[0] == '.' || bytes[0] == '\n') return read_ptx(bytes);
    return {};
}

}  // namespace fake
