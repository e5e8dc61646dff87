// tests/fuzz/native/programs.cpp: files of exported programs with any content: they are refused, or all their numbers name what is there.
#include <pardo/error.h>

#include <cstring>

#include "saved/machine_code.h"
#include "saved/program.h"

namespace {

using namespace pardo;

/// As in a file: where a section is in the table, and what of it.
constexpr std::size_t header = 40, section = 40, offset_at = 8, bytes_at = 16, digest_at = 24;

std::uint64_t number(const std::uint8_t* at) {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// A file of an empty program with a part for devices, in which one section has other contents; all digests are true.
std::vector<std::uint8_t> file_with(std::uint32_t kind, std::span<const std::uint8_t> contents) {
    saved::Program empty;
    empty.targets = {"x86-64-v3"};
    saved::DevicePart part;
    part.groups = true;
    part.forms = {{"opencl", "groups", {}, {}, {}}};
    Hash128 digest;
    const std::vector<std::uint8_t> whole = saved::to_bytes(empty, {part}, digest);
    std::uint32_t sections;
    std::memcpy(&sections, &whole[16], sizeof sections);
    std::vector<std::uint8_t> file(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(header + sections * section));
    for (std::size_t i = 0; i < sections; ++i) {
        const std::size_t row = header + i * section;
        std::uint32_t own;
        std::memcpy(&own, &whole[row], sizeof own);
        const std::uint8_t* const first = whole.data() + number(&whole[row + offset_at]);
        const auto given = own == kind ? contents : std::span(first, number(&whole[row + bytes_at]));
        const std::uint64_t offset = file.size(), bytes = given.size();
        std::memcpy(&file[row + offset_at], &offset, sizeof offset);
        std::memcpy(&file[row + bytes_at], &bytes, sizeof bytes);
        const Hash128 hash = hash128(given.data(), given.size());
        std::memcpy(&file[row + digest_at], &hash, sizeof hash);
        file.insert(file.end(), given.begin(), given.end());
    }
    const Hash128 table = hash128(&file[header], sections * section);
    std::memcpy(&file[24], &table, sizeof table);
    return file;
}

}  // namespace

/// The first byte says whether the rest is an object file, a whole file, or a section of one: the description, a part for devices, a form
/// of the part's kernels.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::uint8_t> rest(data + 1, size - 1);
    constexpr std::uint32_t description = 0, part = 3, form = 4;
    try {
        std::vector<std::uint8_t> file(rest.begin(), rest.end());
        switch (data[0] % 6) {
            case 0: (void)saved::load_machine_code(rest, saved::entry_symbol, [](const char*) -> void* { return nullptr; }); return 0;
            case 1: break;
            case 2: file = file_with(part, rest); break;
            case 3: file = file_with(form, rest); break;
            default: file = file_with(description, rest);
        }
        const auto loaded = saved::Loaded::from_bytes(file, "file", false);
        const std::vector<std::int64_t> sizes(static_cast<std::size_t>(loaded->program().sizes), 5);
        (void)loaded->program().signature();
        for (const bool groups : {false, true}) {
            const saved::Loaded* const own = loaded->part(groups);
            if (!own) continue;
            for (std::size_t i = 0; i < own->forms().size(); ++i) {
                try {
                    (void)own->read_form(i);
                } catch (const Error&) {
                }
            }
            try {
                (void)own->resolve(sizes);
            } catch (const Error&) {
            }
        }
        if (loaded->target().empty()) return 0;
        for (std::size_t i = 0; i < loaded->program().codes.size(); ++i) (void)loaded->object(i);
        (void)loaded->resolve(sizes);
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    return 0;
}
