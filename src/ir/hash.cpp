// src/ir/hash.cpp: what decides what is compiled for a kernel, as a number.
#include "ir/hash.h"

#include <string>
#include <type_traits>

#include "base/scalar_words.h"

namespace pardo::ir {
namespace {

/// A kernel's structure as bytes: all that decides what is compiled; faster to make than its text.
class KernelBytes {
public:
    explicit KernelBytes(const Kernel& kernel) : kernel_(kernel) {
        bytes_.reserve(64 * kernel.instrs.size() + 256);
        bytes_.append(kernel.name);
        put(kernel.rank);
        put(kernel.lanes);
        put(kernel.fast_math);
        put_all(kernel.group_size);
        put(kernel.sub_group);
        for (const ArrayInfo& a : kernel.arrays) {
            put(a.type);
            put(a.count);
            put(a.space);
            put(a.whole);
            put(a.value);
        }
        for (const Param& p : kernel.params) {
            put(p.type);
            put(p.pointer);
            put(p.access);
            put(p.noalias);
            put(p.streaming);
            put(p.value);
        }
        region(kernel.body);
        for (const Region& r : kernel.regions) region(r);
        for (const Instr& i : kernel.instrs) instr(i);
    }
    Hash128 hash() const { return hash128(bytes_); }

private:
    template <class T> void put(T value) {
        static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class Range> void put_all(const Range& values) {
        put(static_cast<std::uint32_t>(values.size()));
        for (const auto& v : values) put(v);
    }
    void put(std::monostate) {}
    void put(const Constant& constant) {
        put(constant.value.dtype);
        for (const std::uint64_t word : scalar_words(constant.value).words) put(word);
    }
    void put(const Ordering& ordering) {
        put(ordering.order);
        put(ordering.scope);
    }
    void put(const Atomic& atomic) {
        put(atomic.op);
        put(atomic.ordering);
    }
    void put(const Loop& loop) {
        put(loop.kind);
        put(loop.unroll);
        put_all(loop.combines);
    }
    void region(const Region& r) {
        put_all(r.args);
        put_all(r.body);
    }
    void instr(const Instr& i) {
        put(i.op);
        put(static_cast<std::uint8_t>(i.attribute.index()));
        std::visit([this](const auto& attribute) { put(attribute); }, i.attribute);
        put_all(i.operands);
        put_all(i.results);
        put_all(i.regions);
        for (const Value v : i.results) put(kernel_.values[v].type);
    }

    const Kernel& kernel_;
    std::string bytes_;
};

}  // namespace

Hash128 hash(const Kernel& kernel) { return KernelBytes(kernel).hash(); }

}  // namespace pardo::ir
