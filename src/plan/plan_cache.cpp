// src/plan/plan_cache.cpp: finished plans by signature, and programs by the structure of their kernels.
#include <cstring>

#include "plan/plan.h"

namespace pardo::plan {
namespace {

constexpr std::size_t first_size = 64, most_plans = 512, most_programs = 512;

/// A kernel's structure as bytes: all that decides what is compiled; faster to make than its text.
class KernelBytes {
public:
    KernelBytes(const ir::Kernel& kernel, device::ShapeClass shape) : kernel_(kernel) {
        bytes_.reserve(64 * kernel.instrs.size() + 256);
        bytes_.append(kernel.name);
        put(shape);
        put(kernel.rank);
        put(kernel.lanes);
        put(kernel.fast_math);
        for (const ir::Param& p : kernel.params) {
            put(p.type);
            put(p.pointer);
            put(p.access);
            put(p.noalias);
            put(p.streaming);
            put(p.value);
        }
        region(kernel.body);
        for (const ir::Region& r : kernel.regions) region(r);
        for (const ir::Instr& i : kernel.instrs) instr(i);
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
    void region(const ir::Region& r) {
        put_all(r.args);
        put_all(r.body);
    }
    void instr(const ir::Instr& i) {
        put(i.op);
        put(i.math);
        put(i.loop);
        put(i.index);
        put(i.unroll);
        put_all(i.operands);
        put_all(i.results);
        put_all(i.regions);
        put_all(i.combines);
        for (const ir::Value v : i.results) put(kernel_.values[v].type);
        if (i.op != ir::Opcode::Const) return;
        put(i.scalar.dtype);
        std::uint64_t bits[2];
        std::memcpy(bits, &i.scalar.c, sizeof bits);
        put(bits[0]);
        if (is_complex(i.scalar.dtype)) put(bits[1]);
    }

    const ir::Kernel& kernel_;
    std::string bytes_;
};

/// A queue's cache, as the graph's state keeps it.
struct Holder {
    PlanCache cache;
};

}  // namespace

PlanCache::PlanCache() : table_(first_size) {}

std::size_t PlanCache::slot(std::span<const std::uint8_t> key, std::uint64_t hash) const {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash & mask;
    while (table_[at].plan) {
        const Entry& e = table_[at];
        if (e.hash == hash && e.key.size() == key.size() && std::memcmp(e.key.data(), key.data(), key.size()) == 0) break;
        at = (at + 1) & mask;
    }
    return at;
}

const Plan* PlanCache::find(std::span<const std::uint8_t> key, std::uint64_t hash) const { return table_[slot(key, hash)].plan.get(); }

const Plan* PlanCache::add(std::span<const std::uint8_t> key, std::uint64_t hash, std::unique_ptr<Plan> plan) {
    if (count_ == most_plans) {  // programs stay: planning again is cheap
        table_ = std::vector<Entry>(first_size);
        count_ = 0;
    }
    if (2 * (count_ + 1) > table_.size()) {
        std::vector<Entry> old(table_.size() * 2);
        std::swap(old, table_);
        for (Entry& e : old) {
            if (e.plan) table_[slot(e.key, e.hash)] = std::move(e);
        }
    }
    Entry& e = table_[slot(key, hash)];
    e.hash = hash;
    e.key.assign(key.begin(), key.end());
    e.plan = std::move(plan);
    ++count_;
    return e.plan.get();
}

Ref<device::Program> PlanCache::program(const ir::Kernel& kernel, device::Device* device, const device::LaunchShape& shape) {
    const device::ShapeClass shape_class = device->shape_class(kernel, shape);
    const Hash128 hash = KernelBytes(kernel, shape_class).hash();
    if (const auto known = programs_.find(hash); known != programs_.end()) return known->second;
    Ref<device::Program> program = device->compile(kernel, shape_class);
    if (programs_.size() == most_programs) programs_.clear();
    programs_.emplace(hash, program);
    return program;
}

PlanCache& PlanCache::of(device::Queue* queue) {
    graph::GraphState& state = graph::state_of(queue);
    if (!state.plans) state.plans = std::make_shared<Holder>();
    return static_cast<Holder*>(state.plans.get())->cache;
}

}  // namespace pardo::plan
