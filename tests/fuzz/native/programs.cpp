// tests/fuzz/native/programs.cpp: files of exported programs with any content: they are refused, or all their numbers name what is there.
#include <pardo/error.h>

#include <cstring>

#include "saved/machine_code.h"
#include "saved/program.h"

namespace {

using namespace pardo;

std::uint64_t number(const std::uint8_t* at) {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

}  // namespace

/// The first byte says whether the rest is a description, of which a file is made whose digests are true, an object file, or a whole file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::span<const std::uint8_t> rest(data + 1, size - 1);
    try {
        if (data[0] % 4 == 0) {
            (void)saved::load_machine_code(rest, saved::entry_symbol, [](const char*) -> void* { return nullptr; });
            return 0;
        }
        std::vector<std::uint8_t> file(rest.begin(), rest.end());
        if (data[0] % 4 != 1) {
            // Header and table of to_bytes, in front of the description and of code of the lengths that it has.
            saved::Program empty;
            empty.targets = {"x86-64-v3"};
            Hash128 digest;
            file = saved::to_bytes(empty, digest);
            constexpr std::size_t header = 40, section = 40;
            const std::size_t code = number(&file[header + section + 16]);
            std::vector<std::uint8_t> changed(file.begin(), file.begin() + header + 2 * section);
            changed.insert(changed.end(), rest.begin(), rest.end());
            changed.insert(changed.end(), file.end() - static_cast<std::ptrdiff_t>(code), file.end());
            const std::uint64_t bytes = rest.size(), offset = header + 2 * section + bytes;
            std::memcpy(&changed[header + 16], &bytes, sizeof bytes);
            std::memcpy(&changed[header + section + 8], &offset, sizeof offset);
            const Hash128 own = hash128(rest.data(), rest.size());
            std::memcpy(&changed[header + 24], &own, sizeof own);
            const Hash128 table = hash128(&changed[header], 2 * section);
            std::memcpy(&changed[24], &table, sizeof table);
            file = std::move(changed);
        }
        const auto loaded = saved::Loaded::from_bytes(file, "file", true);
        const std::vector<std::int64_t> sizes(static_cast<std::size_t>(loaded->program().sizes), 5);
        (void)loaded->program().signature();
        for (std::size_t i = 0; i < loaded->program().codes.size(); ++i) (void)loaded->object(i);
        (void)loaded->resolve(sizes);
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    return 0;
}
