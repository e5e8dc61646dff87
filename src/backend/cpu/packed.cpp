// src/backend/cpu/packed.cpp: finds kernels in the pack, and makes them while the wheel is built.
#include "backend/cpu/packed.h"

#include <pardo/error.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/env.h"
#include "ir/ir.h"
#include "jit/pack.h"

namespace pardo::cpu {
namespace {

jit::Binary bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const jit::Binary& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw Error(ErrorCode::Compile, "PARDO_KERNEL_LISTING: cannot write " + path);
}

/// One level's object, from its file if it is there.
struct Listed {
    const emit::LlvmTarget& target;
    std::string name;  // of the file: the hash and the compiler, but not this build
    jit::Binary object;
    std::exception_ptr failure;

    void make(const ir::Kernel& kernel) noexcept {
        try {
            const std::string path = listing_folder() + "/" + name;
            object = bytes_of(path);
            if (!object.empty()) return;
            object = object_for(kernel, target);
            write_bytes(path, object);
        } catch (...) {
            failure = std::current_exception();
        }
    }
};

}  // namespace

Hash128 packed_key(const Hash128& kernel, const emit::LlvmTarget& target) { return jit::key(kernel, emit::compiler_id(target)); }

bool find_packed(const Hash128& kernel, jit::Binary& object) {
    const std::string& level = emit::host_target().level;
    if (level.empty() || !listing_folder().empty()) return false;
    const jit::Pack& pack = jit::Pack::installed();
    const auto named = std::ranges::find(pack.targets(), level);
    if (named == pack.targets().end()) return false;
    const auto number = static_cast<std::size_t>(named - pack.targets().begin());
    const Hash128 key = packed_key(kernel, *std::ranges::find(emit::levels(), level, &emit::LlvmTarget::level));
    if (!pack.holds(key, number)) return false;
    if (!pack.read(key, number, object)) object.clear();
    return true;
}

const std::string& listing_folder() {
    static const auto& folder = *new std::string(env("PARDO_KERNEL_LISTING").value_or(""));
    return folder;
}

jit::Binary list_kernel(const ir::Kernel& kernel, const Hash128& hash) {
    std::vector<Listed> all;
    for (const emit::LlvmTarget& level : emit::levels())
        all.push_back({level, hash128(hash.hex() + emit::compiler_id(level)).hex() + ".o", {}, {}});
    {
        std::vector<std::jthread> threads;
        threads.reserve(all.size());
        for (Listed& listed : all) threads.emplace_back([&] { listed.make(kernel); });
    }
    std::ofstream list(listing_folder() + "/list", std::ios::app);
    const jit::Binary* own = nullptr;
    for (const Listed& listed : all) {
        if (listed.failure) std::rethrow_exception(listed.failure);
        list << packed_key(hash, listed.target).hex() << ' ' << listed.target.level << ' ' << listed.name << ' ' << kernel.name << '\n';
        if (listed.target.level == emit::host_target().level) own = &listed.object;
    }
    return own ? *own : object_for(kernel, emit::host_target());
}

}  // namespace pardo::cpu
