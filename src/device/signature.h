// src/device/signature.h: how the arguments of launches are bound, of plans, of kernels and loops of users, of the library's kernels.
// What is the same in all launches of a program is its signature; `bind` fills in the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <pardo/dtype.h>

#include "base/scalar_words.h"
#include "base/small_vector.h"
#include "device/program.h"

namespace pardo::device {

/// Where the byte of a buffer is, as a word of a launch.
inline std::uint64_t address_in(const Buffer* buffer, std::int64_t byte) {
    return reinterpret_cast<std::uint64_t>(buffer->data()) + static_cast<std::uint64_t>(byte);
}

/// What a launch takes: a word for each parameter, and what is used of the buffers behind them.
struct LaunchArguments {
    SmallVector<std::uint64_t, 24> words;
    SmallVector<BufferUse, 8> uses;
    bool foreign = false;  // code outside of pardo may see what is written, or write what is read

    void clear() {
        words.clear();
        uses.clear();
        foreign = false;
    }
    void add(std::int64_t number) { words.push_back(static_cast<std::uint64_t>(number)); }
    /// The address of a first element, and what is used around it.
    void add(const void* first, const BufferUse& use) {
        words.push_back(reinterpret_cast<std::uint64_t>(first));
        this->use(use);
    }
    void use(const BufferUse& use) {
        uses.push_back(use);
        foreign |= externally_visible(use.buffer, use.access);
    }
};

/// What is the same in all launches of a program.
struct Signature {
    enum class Role : std::uint8_t { Address, Extent, Stride, Number };
    /// A word that is another one from launch to launch.
    struct Patch {
        Role role;
        DType dtype;          // of a Number: two words if it is complex
        std::uint16_t word;   // its place
        std::uint32_t value;  // which one it comes from
        std::int64_t detail;  // of an Address: bytes from the value's first element; of an Extent and a Stride: the dimension
        friend bool operator==(const Patch&, const Patch&) = default;
    };
    /// A buffer that is used; an access of WriteSome may turn out to write all.
    struct Use {
        std::uint32_t value;
        Access access;
        friend bool operator==(const Use&, const Use&) = default;
    };
    std::vector<std::uint64_t> words;  // those that are the same are in place
    std::vector<Patch> patches;
    std::vector<Use> uses;

    void add_fixed(std::int64_t word) { words.push_back(static_cast<std::uint64_t>(word)); }
    void add(Role role, std::uint32_t value, std::int64_t detail = 0, DType dtype = DType::Int64) {
        patches.push_back({role, dtype, static_cast<std::uint16_t>(words.size()), value, detail});
        words.push_back(role == Role::Address ? static_cast<std::uint64_t>(detail) : 0);
        if (role == Role::Number && is_complex(dtype)) words.push_back(0);
    }
    /// Accesses of one value add up.
    void use(std::uint32_t value, Access access) {
        const auto known = std::find_if(uses.begin(), uses.end(), [value](const Use& u) { return u.value == value; });
        if (known == uses.end())
            uses.push_back({value, access});
        else
            known->access = static_cast<Access>(static_cast<int>(known->access) | static_cast<int>(access));
    }
    friend bool operator==(const Signature&, const Signature&) = default;
};

/// The arguments of one launch. `value(k)` gives what stands for the k-th value, which says what is asked of it: buffer(), the byte of it
/// at which the first element is, first(), extent(d), stride(d) in elements, view(); or number().
template <class ValueOf> void bind(const Signature& signature, const ValueOf& value, LaunchArguments& out) {
    out.clear();
    out.words.append(signature.words.begin(), signature.words.end());
    for (const Signature::Patch& patch : signature.patches) {
        const auto& bound = value(patch.value);
        std::uint64_t& word = out.words[patch.word];
        switch (patch.role) {
            case Signature::Role::Address: word = address_in(bound.buffer(), bound.first() + patch.detail); break;
            case Signature::Role::Extent: word = static_cast<std::uint64_t>(bound.extent(static_cast<int>(patch.detail))); break;
            case Signature::Role::Stride: word = static_cast<std::uint64_t>(bound.stride(static_cast<int>(patch.detail))); break;
            case Signature::Role::Number: {
                const Scalar& given = bound.number();
                const ScalarWords number = given.dtype == patch.dtype ? scalar_words(given) : scalar_words(given.cast(patch.dtype));
                word = number.words[0];
                if (number.count > 1) out.words[patch.word + 1] = number.words[1];
                break;
            }
        }
    }
    for (const Signature::Use& use : signature.uses) {
        const auto& bound = value(use.value);
        out.use({bound.buffer(), use.access, bound.view()});
    }
}

}  // namespace pardo::device
