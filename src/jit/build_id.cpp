// src/jit/build_id.cpp: reads the build id from the notes of the program or library that holds this code.
#include "jit/build_id.h"

#include <link.h>

#include <cstdint>
#include <cstring>

namespace pardo::jit {
namespace {

struct Search {
    std::uintptr_t here;
    std::string id;
};

std::string digits(const unsigned char* bytes, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += "0123456789abcdef"[bytes[i] >> 4];
        text += "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

/// The id among the notes of one segment; empty if it is not there.
std::string find_in(const char* notes, std::size_t bytes) {
    const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        ElfW(Nhdr) note;
        std::memcpy(&note, notes + at, sizeof note);
        const std::size_t name = at + sizeof note, text = name + padded(note.n_namesz);
        if (text + note.n_descsz > bytes) return {};
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0)
            return digits(reinterpret_cast<const unsigned char*>(notes + text), note.n_descsz);
        at = text + padded(note.n_descsz);
    }
    return {};
}

int look(dl_phdr_info* object, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    bool ours = false;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
        ours |= segment.p_type == PT_LOAD && search.here >= start && search.here - start < segment.p_memsz;
    }
    if (!ours) return 0;
    for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type == PT_NOTE)
            search.id = find_in(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
    }
    return 1;
}

}  // namespace

std::string build_id() {
    Search search{reinterpret_cast<std::uintptr_t>(&build_id), {}};
    dl_iterate_phdr(look, &search);
    return search.id;
}

}  // namespace pardo::jit
