// src/saving/packing.cpp: many texts that are nearly the same, as few bytes, by zstd.
#include "saving/packing.h"

#include <pardo/error.h>
#include <zstd.h>

namespace pardo::saving {
namespace {

constexpr int level = 9;  // higher ones take longer and gain little
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;

}  // namespace

std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& contents) {
    std::vector<std::uint8_t> bytes(ZSTD_compressBound(contents.size()));
    const std::size_t size = ZSTD_compress(bytes.data(), bytes.size(), contents.data(), contents.size(), level);
    if (ZSTD_isError(size) != 0) throw Error(ErrorCode::Internal, std::string("export: zstd: ") + ZSTD_getErrorName(size));
    bytes.resize(size);
    return bytes;
}

std::vector<std::vector<std::uint8_t>> unpacked(const saved::Form& form, const std::string& name) {
    const Error damaged(ErrorCode::Value, name + ": the program is damaged");
    std::uint64_t total = 0;
    for (const std::uint64_t length : form.lengths) {
        if (length > most_bytes - total) throw damaged;
        total += length;
    }
    // What the frame says of itself first: memory is taken for no more than that.
    if (ZSTD_getFrameContentSize(form.packed.data(), form.packed.size()) != total) throw damaged;
    std::vector<std::uint8_t> bytes(total);
    if (ZSTD_decompress(bytes.data(), bytes.size(), form.packed.data(), form.packed.size()) != total) throw damaged;
    std::vector<std::vector<std::uint8_t>> contents;
    auto at = bytes.begin();
    for (const std::uint64_t length : form.lengths) {
        const auto end = at + static_cast<std::ptrdiff_t>(length);
        contents.emplace_back(at, end);
        at = end;
    }
    return contents;
}

}  // namespace pardo::saving
