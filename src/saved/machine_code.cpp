// src/saved/machine_code.cpp: sections into pages, calls of outside functions through stubs, relocations.
#include "saved/machine_code.h"

#include <elf.h>
#include <pardo/error.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/arm.h"

namespace pardo::saved {
namespace {

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::Value, "machine code of a program cannot be loaded: " + why); }

#if defined(__x86_64__)
constexpr Elf64_Half machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half machine = EM_AARCH64;
#endif

/// Pages that are given back.
class Pages {
public:
    explicit Pages(std::size_t bytes) : bytes_(bytes) {
        void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw Error(ErrorCode::Memory, "no memory for " + std::to_string(bytes) + " bytes of machine code");
        at_ = static_cast<std::uint8_t*>(at);
    }
    ~Pages() { ::munmap(at_, bytes_); }
    Pages(const Pages&) = delete;
    std::uint8_t* data() const { return at_; }
    void protect(std::size_t offset, std::size_t bytes, int how) const {
        if (bytes && ::mprotect(at_ + offset, bytes, how) != 0) fail("the system does not allow pages of code");
    }

private:
    std::uint8_t* at_;
    std::size_t bytes_;
};

/// A view of an object file whose every access is checked.
class Object {
public:
    explicit Object(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
        const auto& header = at<Elf64_Ehdr>(0);
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_REL ||
            header.e_machine != machine || header.e_shentsize != sizeof(Elf64_Shdr))
            fail("it is for another machine");
        for (std::size_t i = 0; i < header.e_shnum; ++i) sections_.push_back(at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    }
    const std::vector<Elf64_Shdr>& sections() const { return sections_; }
    const Elf64_Shdr& section(std::size_t number) const {
        if (number >= sections_.size()) fail("it is damaged");
        return sections_[number];
    }
    template <class T> T at(std::uint64_t offset) const {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) fail("it is damaged");
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    std::span<const std::uint8_t> contents(const Elf64_Shdr& s) const {
        if (s.sh_offset > bytes_.size() || bytes_.size() - s.sh_offset < s.sh_size) fail("it is damaged");
        return bytes_.subspan(s.sh_offset, s.sh_size);
    }
    const char* text(const Elf64_Shdr& strings, std::uint32_t offset) const {
        const auto all = contents(strings);
        if (offset >= all.size() || all.back() != 0) fail("it is damaged");
        return reinterpret_cast<const char*>(all.data()) + offset;
    }

private:
    std::span<const std::uint8_t> bytes_;
    std::vector<Elf64_Shdr> sections_;
};

constexpr std::size_t stub_bytes = 16;

/// jmp to an address that is anywhere; the address lies behind the instruction.
void write_stub(std::uint8_t* at, const void* target) {
#if defined(__x86_64__)
    constexpr std::uint8_t jump[] = {0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x0f, 0x0b};  // jmp *2(%rip); ud2
#elif defined(__aarch64__)
    constexpr std::uint8_t jump[] = {0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6};  // ldr x16, 8; br x16
#endif
    std::memcpy(at, jump, sizeof jump);
    std::memcpy(at + sizeof jump, &target, sizeof target);
}

void patch(std::uint8_t* place, std::size_t left, std::uint32_t type, std::uint64_t symbol, std::int64_t addend) {
    const auto put = [&](const auto& value) {
        if (left < sizeof value) fail("it is damaged");
        std::memcpy(place, &value, sizeof value);
    };
    const auto address = reinterpret_cast<std::uint64_t>(place);
    const auto relative = static_cast<std::int64_t>(symbol + static_cast<std::uint64_t>(addend) - address);
#if defined(__x86_64__)
    switch (type) {
        case R_X86_64_64: return put(symbol + static_cast<std::uint64_t>(addend));
        case R_X86_64_PC64: return put(relative);
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
            if (relative != static_cast<std::int32_t>(relative)) fail("a call goes too far");
            return put(static_cast<std::int32_t>(relative));
        default: break;
    }
#elif defined(__aarch64__)
    const auto word = [&] {
        std::uint32_t instruction;
        std::memcpy(&instruction, place, sizeof instruction);
        return instruction;
    };
    if (left < 4) fail("it is damaged");
    const std::uint64_t target = symbol + static_cast<std::uint64_t>(addend);
    switch (type) {
        case R_AARCH64_ABS64: return put(target);
        case R_AARCH64_PREL32: return put(static_cast<std::int32_t>(relative));
        case R_AARCH64_PREL64: return put(relative);
        case R_AARCH64_CALL26:
        case R_AARCH64_JUMP26: return put((word() & 0xfc000000u) | (static_cast<std::uint32_t>(relative >> 2) & 0x03ffffffu));
        case R_AARCH64_ADR_PREL_PG_HI21: {
            const auto pages = static_cast<std::uint32_t>(
                (static_cast<std::int64_t>(target & ~0xfffull) - static_cast<std::int64_t>(address & ~0xfffull)) >> 12);
            return put((word() & 0x9f00001fu) | (pages & 3u) << 29 | ((pages >> 2) & 0x7ffffu) << 5);
        }
        case R_AARCH64_ADD_ABS_LO12_NC: return put((word() & ~(0xfffu << 10)) | static_cast<std::uint32_t>(target & 0xfff) << 10);
        case R_AARCH64_LDST8_ABS_LO12_NC: return put((word() & ~(0xfffu << 10)) | static_cast<std::uint32_t>(target & 0xfff) << 10);
        case R_AARCH64_LDST16_ABS_LO12_NC: return put((word() & ~(0xfffu << 10)) | static_cast<std::uint32_t>((target & 0xfff) >> 1) << 10);
        case R_AARCH64_LDST32_ABS_LO12_NC: return put((word() & ~(0xfffu << 10)) | static_cast<std::uint32_t>((target & 0xfff) >> 2) << 10);
        case R_AARCH64_LDST64_ABS_LO12_NC: return put((word() & ~(0xfffu << 10)) | static_cast<std::uint32_t>((target & 0xfff) >> 3) << 10);
        case R_AARCH64_LDST128_ABS_LO12_NC:
            return put((word() & ~(0xfffu << 10)) | static_cast<std::uint32_t>((target & 0xfff) >> 4) << 10);
        default: break;
    }
#endif
    fail("it has a relocation of type " + std::to_string(type));
}

}  // namespace

MachineCode load_machine_code(std::span<const std::uint8_t> bytes, const char* entry, const FindSymbol& find) {
    const Object object(bytes);
    const std::vector<Elf64_Shdr>& sections = object.sections();
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto rounded = [](std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; };
    // Code first, stubs behind it, then data from the next page on: data may be written, code may not.
    std::vector<std::size_t> places(sections.size());
    std::size_t used = 0, symbols = 0;
    const auto place_all = [&](bool code) {
        for (std::size_t i = 0; i < sections.size(); ++i) {
            const Elf64_Shdr& s = sections[i];
            if (!(s.sh_flags & SHF_ALLOC) || ((s.sh_flags & SHF_EXECINSTR) != 0) != code) continue;
            if (s.sh_addralign > page || s.sh_size > bytes.size() + (s.sh_type == SHT_NOBITS ? page : 0)) fail("it is damaged");
            used = rounded(used, std::max<std::size_t>(s.sh_addralign, 1));
            places[i] = used;
            used += s.sh_size;
        }
    };
    place_all(true);
    const std::size_t stubs = rounded(used, stub_bytes);
    const Elf64_Shdr* table = nullptr;
    for (const Elf64_Shdr& s : sections)
        if (s.sh_type == SHT_SYMTAB) table = &s;
    if (!table) fail("it has no symbols");
    symbols = object.contents(*table).size() / sizeof(Elf64_Sym);
    const std::size_t code_bytes = rounded(stubs + symbols * stub_bytes, page);
    used = code_bytes;
    place_all(false);
    const auto pages = std::make_shared<Pages>(std::max(rounded(used, page), page));
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const Elf64_Shdr& s = sections[i];
        if (!(s.sh_flags & SHF_ALLOC) || s.sh_type == SHT_NOBITS || s.sh_size == 0) continue;
        const auto contents = object.contents(s);
        std::memcpy(pages->data() + places[i], contents.data(), contents.size());
    }
    // Symbols: where each is.
    const Elf64_Shdr& names = object.section(table->sh_link);
    std::vector<std::uint64_t> addresses(symbols);
    void* found = nullptr;
    for (std::size_t i = 1; i < symbols; ++i) {
        const auto symbol = object.at<Elf64_Sym>(table->sh_offset + i * sizeof(Elf64_Sym));
        const char* const name = object.text(names, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF) {
            const void* const target = find(name);
            if (!target) fail(std::string("it calls ") + name + ", which is not there");
            std::uint8_t* const stub = pages->data() + stubs + i * stub_bytes;
            write_stub(stub, target);
            addresses[i] = reinterpret_cast<std::uint64_t>(stub);
        } else if (symbol.st_shndx < SHN_LORESERVE) {
            const Elf64_Shdr& s = object.section(symbol.st_shndx);
            if (symbol.st_value > s.sh_size) fail("it is damaged");
            addresses[i] = reinterpret_cast<std::uint64_t>(pages->data() + places[symbol.st_shndx] + symbol.st_value);
            if (std::strcmp(name, entry) == 0) found = reinterpret_cast<void*>(addresses[i]);
        }
    }
    if (!found) fail(std::string("it has no function ") + entry);
    for (const Elf64_Shdr& s : sections) {
        if (s.sh_type == SHT_REL) fail("it is for another machine");
        if (s.sh_type != SHT_RELA) continue;
        const Elf64_Shdr& target = object.section(s.sh_info);
        if (!(target.sh_flags & SHF_ALLOC)) continue;
        for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= s.sh_size; at += sizeof(Elf64_Rela)) {
            const auto rela = object.at<Elf64_Rela>(s.sh_offset + at);
            const std::size_t number = ELF64_R_SYM(rela.r_info);
            if (number >= symbols || rela.r_offset >= target.sh_size) fail("it is damaged");
            patch(pages->data() + places[s.sh_info] + rela.r_offset, target.sh_size - rela.r_offset,
                  static_cast<std::uint32_t>(ELF64_R_TYPE(rela.r_info)), addresses[number], rela.r_addend);
        }
    }
    pages->protect(0, code_bytes, PROT_READ | PROT_EXEC);
#if defined(__aarch64__)
    __builtin___clear_cache(reinterpret_cast<char*>(pages->data()), reinterpret_cast<char*>(pages->data() + code_bytes));
#endif
    return {found, pages};
}

int rank_of_target(const std::string& target) {
#if defined(__x86_64__)
    // Processors with these have all else of their levels.
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (target == "x86-64-v4") return v4 ? 4 : -1;
    if (target == "x86-64-v3") return v3 ? 3 : -1;
#elif defined(__aarch64__)
    if (target == "neoverse-n1") return has_neoverse_n1() ? 2 : -1;
    if (target == "armv8-a") return 1;
#endif
    return -1;
}

}  // namespace pardo::saved
