// src/launch/kernel.cpp: a function of the user from call to launch: look its program up, or make it; pack arguments; submit.
#include <pardo/kernel.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <pardo/error.h>

#include "base/hash.h"
#include "device/device.h"
#include "graph/engine.h"
#include "graph/record.h"
#include "lang/lower.h"
#include "launch/cost.h"
#include "launch/status.h"

namespace pardo {
namespace {

using graph::Node;
using Arguments = std::span<const KernelArgument>;
using Words = SmallVector<std::uint64_t, 24>;

constexpr int most_dimensions = 3;

/// One program's types: the function lowered for them, and what has been compiled of it.
struct Specialisation {
    lang::Lowered lowered;
    launch::Cost cost;
    std::mutex mutex;
    std::vector<std::pair<device::ShapeClass, Ref<device::Program>>> programs;
};

struct KeyHash {
    std::size_t operator()(const Words& words) const noexcept {
        std::uint64_t h = 0x9e3779b97f4a7c15u;
        for (const std::uint64_t w : words) h = (h ^ w) * 0xff51afd7ed558ccdu, h ^= h >> 32;
        return h;
    }
};

struct ByteRange {
    std::uint64_t begin, end;
};
ByteRange range_of(const Node& leaf) {
    const std::int64_t size = itemsize(leaf.dtype);
    std::int64_t low = leaf.offset, high = leaf.offset;
    for (int d = 0; d < leaf.shape.size(); ++d) (leaf.strides[d] < 0 ? low : high) += (leaf.shape[d] - 1) * leaf.strides[d];
    const auto base = reinterpret_cast<std::uint64_t>(leaf.buffer->data());
    return {base + static_cast<std::uint64_t>(low * size), base + static_cast<std::uint64_t>((high + 1) * size)};
}

std::uint64_t bits_of(DType dtype, const Scalar& given) {
    const Scalar s = given.cast(dtype);
    std::uint64_t bits = 0;
    switch (kind_of(dtype)) {
        case DKind::Bool: return s.b;
        case DKind::Signed: return static_cast<std::uint64_t>(s.i);
        case DKind::Unsigned: return s.u;
        default: break;
    }
    if (dtype == DType::Float16) {
        const Half half = double_to_half(s.f);
        std::memcpy(&bits, &half, sizeof half);
    } else if (dtype == DType::Float32) {
        const float narrow = static_cast<float>(s.f);
        std::memcpy(&bits, &narrow, sizeof narrow);
    } else {
        std::memcpy(&bits, &s.f, sizeof s.f);
    }
    return bits;
}

}  // namespace

struct Kernel::State {
    std::shared_ptr<const syntax::Function> function;
    bool takes_item;
    KernelOptions options;
    std::mutex mutex;
    std::unordered_map<Words, std::shared_ptr<Specialisation>, KeyHash> known;

    const std::string& name() const { return function->name; }
    [[noreturn]] void fail(ErrorCode code, const std::string& text) const { throw Error(code, name() + ": " + text); }
    std::string parameter(std::size_t k) const {
        const std::size_t at = k + (takes_item ? 1 : 0);
        return at < function->params.size() ? "`" + function->params[at] + "`" : "argument " + std::to_string(k);
    }

    void check_range(const NdRange& range) const {
        const std::size_t rank = range.global.size();
        if (rank < 1 || rank > most_dimensions) fail(ErrorCode::Value, "a range has one to three dimensions, not " + std::to_string(rank));
        for (const std::int64_t n : range.global)
            if (n < 0) fail(ErrorCode::Value, "the range has a negative extent, " + std::to_string(n));
        if (range.local.empty()) return;
        if (range.local.size() != rank)
            fail(ErrorCode::Value,
                 "the global range has " + std::to_string(rank) + " dimensions, the local one " + std::to_string(range.local.size()));
        for (std::size_t d = 0; d < rank; ++d) {
            if (range.local[d] < 1)
                fail(ErrorCode::Value,
                     "the local range has an extent of " + std::to_string(range.local[d]) + "; groups have at least one item");
            if (range.global[d] % range.local[d] != 0)
                fail(ErrorCode::Value, "the global range, " + std::to_string(range.global[d]) + " items in dimension " + std::to_string(d) +
                                           ", is no multiple of the local one, " + std::to_string(range.local[d]) +
                                           "; round it up, and let items beyond the end do nothing");
        }
    }

    void check_count(Arguments arguments) const {
        const std::size_t wanted = function->params.size() - (takes_item ? 1 : 0);
        if (arguments.size() != wanted)
            fail(ErrorCode::Type, "takes " + std::to_string(wanted) + (wanted == 1 ? " argument" : " arguments") + ", here are " +
                                      std::to_string(arguments.size()));
    }

    /// Compute follows data: all arrays, and the queue if one is given, are of one queue.
    device::Queue* queue_of(Arguments arguments, const Queue* given) const {
        device::Queue* queue = given ? given->impl() : nullptr;
        std::size_t first = arguments.size();
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            if (arguments[k].kind != KernelArgument::Kind::Array) continue;
            device::Queue* own = arguments[k].array.node()->queue.get();
            if (!queue) {
                queue = own;
                first = k;
            } else if (own != queue) {
                const std::string other = first < arguments.size() ? parameter(first) + " is on a queue of " + queue->device()->id()
                                                                   : "the launch is on a queue of " + queue->device()->id();
                fail(ErrorCode::Placement,
                     parameter(k) + " is on " + (own->device() == queue->device() ? "another queue of " : "a queue of ") +
                         own->device()->id() + ", " + other + "; bring them together with x.to_device(device) or asarray(x, queue=queue)");
            }
        }
        return queue ? queue : Queue().impl();
    }

    /// Words that tell programs apart.
    Words key_of(Arguments arguments, const NdRange& range, const device::Device* device, bool distinct) const {
        Words key;
        key.push_back(reinterpret_cast<std::uint64_t>(device));
        key.push_back(range.global.size() | (distinct ? 8u : 0u));
        for (const std::int64_t n : range.local) key.push_back(static_cast<std::uint64_t>(n));
        for (const KernelArgument& a : arguments) {
            const auto kind = static_cast<std::uint64_t>(a.kind);
            switch (a.kind) {
                case KernelArgument::Kind::Array: {
                    const Node& leaf = *a.array.node();
                    const bool rows = is_contiguous(leaf.shape, leaf.strides);
                    key.push_back(kind | static_cast<std::uint64_t>(leaf.dtype) << 8 | static_cast<std::uint64_t>(leaf.shape.size()) << 16 |
                                  (rows ? 1ull << 32 : 0));
                    break;
                }
                case KernelArgument::Kind::Number:
                    key.push_back(kind | static_cast<std::uint64_t>(a.scalar.dtype) << 8 | (a.scalar.weak ? 1ull << 32 : 0));
                    break;
                case KernelArgument::Kind::Constant: {
                    key.push_back(kind | static_cast<std::uint64_t>(a.scalar.dtype) << 8 | (a.scalar.weak ? 1ull << 32 : 0));
                    std::uint64_t parts[2];
                    std::memcpy(parts, &a.scalar.c, sizeof parts);
                    key.push_back(a.scalar.dtype == DType::Bool ? a.scalar.b : parts[0]);
                    key.push_back(is_complex(a.scalar.dtype) ? parts[1] : 0);
                    break;
                }
                case KernelArgument::Kind::Local:
                    key.push_back(kind | static_cast<std::uint64_t>(a.dtype) << 8 | static_cast<std::uint64_t>(a.extents.size()) << 16);
                    for (const std::int64_t n : a.extents) key.push_back(static_cast<std::uint64_t>(n));
                    break;
            }
        }
        return key;
    }

    std::shared_ptr<Specialisation> make(Arguments arguments, const NdRange& range, const device::Device* device, bool distinct) const {
        std::vector<lang::ArgumentType> types;
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            const KernelArgument& a = arguments[k];
            lang::ArgumentType type;
            type.dtype = a.kind == KernelArgument::Kind::Local ? a.dtype : a.scalar.dtype;
            switch (a.kind) {
                case KernelArgument::Kind::Array: {
                    const Node& leaf = *a.array.node();
                    type.kind = lang::ArgumentType::Kind::Array;
                    type.dtype = leaf.dtype;
                    type.rank = leaf.shape.size();
                    type.contiguous = is_contiguous(leaf.shape, leaf.strides);
                    break;
                }
                case KernelArgument::Kind::Number:
                    type.kind = lang::ArgumentType::Kind::Number;
                    type.weak = a.scalar.weak;
                    break;
                case KernelArgument::Kind::Constant:
                    type.kind = lang::ArgumentType::Kind::Constant;
                    type.scalar = a.scalar;
                    break;
                case KernelArgument::Kind::Local:
                    type.kind = lang::ArgumentType::Kind::Shared;
                    type.extents = a.extents;
                    if (range.local.empty())
                        fail(ErrorCode::Type,
                             parameter(k) + " is memory of a group, and a plain Range has no groups; launch over an NdRange");
                    break;
            }
            if (!type.weak && type.kind != lang::ArgumentType::Kind::Constant && !device->supports(type.dtype))
                fail(ErrorCode::Type,
                     parameter(k) + " is " + std::string(dtype_name(type.dtype)) + ", which " + device->id() + " does not have");
            types.push_back(std::move(type));
        }
        lang::Space space;
        space.rank = static_cast<int>(range.global.size());
        space.group_size = range.local;
        lang::Options lang_options;
        lang_options.fp64 = device->supports(DType::Float64);
        lang_options.distinct = distinct;
        lang_options.fast_math = options.fast_math;
        lang_options.bounds_check = options.bounds_check;
        auto made = std::make_shared<Specialisation>();
        made->lowered = lang::lower(function, takes_item, space, types, lang_options);
        made->cost = launch::cost_of(made->lowered.kernel);
        return made;
    }

    std::shared_ptr<Specialisation> find(Arguments arguments, const NdRange& range, const device::Device* device, bool distinct) {
        const Words key = key_of(arguments, range, device, distinct);
        {
            const std::lock_guard lock(mutex);
            if (const auto found = known.find(key); found != known.end()) return found->second;
        }
        std::shared_ptr<Specialisation> made = make(arguments, range, device, distinct);
        const std::lock_guard lock(mutex);
        return known.try_emplace(key, std::move(made)).first->second;
    }

    static Ref<device::Program> program(Specialisation& s, device::Device* device, std::span<const std::int64_t> extents) {
        device::LaunchShape shape;
        shape.extents = extents;
        const device::ShapeClass shape_class = device->shape_class(s.lowered.kernel, shape);
        {
            const std::lock_guard lock(s.mutex);
            for (const auto& [known_class, known_program] : s.programs)
                if (known_class == shape_class) return known_program;
        }
        Ref<device::Program> made = device->compile(s.lowered.kernel, shape_class);
        const std::lock_guard lock(s.mutex);
        s.programs.emplace_back(shape_class, made);
        return made;
    }

    /// True if no two arrays share memory.
    static bool distinct(Arguments arguments) {
        SmallVector<ByteRange, 8> ranges;
        for (const KernelArgument& a : arguments) {
            if (a.kind != KernelArgument::Kind::Array || a.array.size() == 0) continue;
            const ByteRange r = range_of(*a.array.node());
            for (const ByteRange& other : ranges)
                if (r.begin < other.end && other.begin < r.end) return false;
            ranges.push_back(r);
        }
        return true;
    }

    static void force(Arguments arguments) {
        for (const KernelArgument& a : arguments)
            if (a.kind == KernelArgument::Kind::Array) graph::ensure_leaf(a.array);
    }
};

namespace {

struct LabelData {
    const std::string* name;
};
device::Label label_of(const void* data) { return {*static_cast<const LabelData*>(data)->name, device::current_location()}; }

}  // namespace

Kernel::Kernel(std::shared_ptr<const syntax::Function> function, bool takes_item, const KernelOptions& options)
    : state_(std::make_shared<State>()) {
    state_->function = std::move(function);
    state_->takes_item = takes_item;
    state_->options = options;
}
Kernel::~Kernel() = default;
Kernel::Kernel(const Kernel&) = default;
Kernel& Kernel::operator=(const Kernel&) = default;

Event Kernel::launch(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* given,
                     std::span<const Event> depends) const {
    State& state = *state_;
    state.check_range(range);
    state.check_count(arguments);
    const Ref<device::Queue> queue(state.queue_of(arguments, given));
    State::force(arguments);
    const std::shared_ptr<Specialisation> special = state.find(arguments, range, queue->device(), State::distinct(arguments));
    const lang::Lowered& lowered = special->lowered;
    for (std::size_t k = 0; k < arguments.size(); ++k)
        if (lowered.used[k] && lowered.accesses[k] != ir::Access::Read)
            graph::require_writeable((state.name() + ": " + state.parameter(k)).c_str(), arguments[k].array);
    std::int64_t items = 1;
    for (const std::int64_t n : range.global) items *= n;
    if (items == 0) return Event();
    const Ref<device::Program> program = State::program(*special, queue->device(), range.global);

    // While it is held nobody records what reads the arrays that are written; what had been recorded is handed over first.
    const std::lock_guard guard(graph::state_of(queue.get()).lock);
    SmallVector<device::BufferUse, 8> uses;
    SmallVector<std::uint64_t, 24> words;
    bool foreign = false;
    std::int64_t read = 0, written = 0;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        if (arguments[k].kind != KernelArgument::Kind::Array || !lowered.used[k]) continue;
        device::Buffer* buffer = arguments[k].array.node()->buffer.get();
        const auto access = static_cast<device::Access>(lowered.accesses[k]);
        if (access != device::Access::Read) plan::force_readers(queue.get(), buffer);
        uses.push_back({buffer, access});
        foreign = foreign || buffer->foreign_writable();
        const std::int64_t bytes = arguments[k].array.nbytes();
        if (access != device::Access::Write) read += bytes;
        if (access != device::Access::Read) written += bytes;
    }
    launch::Status status;
    if (!lowered.sites.empty()) uses.push_back({status.make(queue.get()), device::Access::ReadWrite});
    for (const lang::Slot& slot : lowered.slots) {
        const KernelArgument* a = slot.kind == lang::Slot::Kind::Status ? nullptr : &arguments[static_cast<std::size_t>(slot.argument)];
        switch (slot.kind) {
            case lang::Slot::Kind::Pointer: {
                const Node& leaf = *a->array.node();
                words.push_back(reinterpret_cast<std::uint64_t>(leaf.buffer->data()) +
                                static_cast<std::uint64_t>(leaf.offset * itemsize(leaf.dtype)));
                break;
            }
            case lang::Slot::Kind::Extent: words.push_back(static_cast<std::uint64_t>(a->array.node()->shape[slot.dimension])); break;
            case lang::Slot::Kind::Stride: words.push_back(static_cast<std::uint64_t>(a->array.node()->strides[slot.dimension])); break;
            case lang::Slot::Kind::Status: words.push_back(status.address()); break;
            case lang::Slot::Kind::Number: {
                const ir::Param& param = lowered.kernel.params[static_cast<std::size_t>(&slot - lowered.slots.data())];
                const DType part = real_of(param.type);
                if (is_complex(param.type)) {
                    const Scalar z = a->scalar.cast(DType::Complex128);
                    words.push_back(bits_of(part, Scalar(z.c.re)));
                    words.push_back(bits_of(part, Scalar(z.c.im)));
                } else {
                    words.push_back(bits_of(param.type, a->scalar));
                }
                break;
            }
        }
    }
    const LabelData label{&state.name()};
    device::Launch request;
    request.program = program.get();
    request.extents = range.global;
    request.args = words;
    request.uses = uses;
    request.cost_ns = special->cost.nanoseconds(items);
    request.bytes_read = read;
    request.bytes_written = written;
    request.label = label_of;
    request.label_data = &label;
    Event event = queue->launch(request, depends);
    if (!lowered.sites.empty()) event = status.check(queue.get(), event, lowered.sites, static_cast<int>(range.global.size()));
    if (foreign) event.wait();  // strangers know no events
    return event;
}

std::string Kernel::inspect(std::span<const KernelArgument> arguments, const NdRange& range, const std::string& what,
                            const Queue* given) const {
    state_->check_range(range);
    state_->check_count(arguments);
    device::Queue* queue = state_->queue_of(arguments, given);
    State::force(arguments);
    const auto special = state_->find(arguments, range, queue->device(), State::distinct(arguments));
    device::LaunchShape shape;
    shape.extents = range.global;
    if (what == "ir") return ir::print(special->lowered.kernel);
    return queue->device()->inspect(special->lowered.kernel, queue->device()->shape_class(special->lowered.kernel, shape), what);
}

std::vector<ArgumentUse> Kernel::uses(std::span<const KernelArgument> arguments, const NdRange& range, const Queue* given) const {
    state_->check_range(range);
    state_->check_count(arguments);
    device::Queue* queue = state_->queue_of(arguments, given);
    State::force(arguments);
    const auto special = state_->find(arguments, range, queue->device(), State::distinct(arguments));
    std::vector<ArgumentUse> out;
    for (std::size_t k = 0; k < arguments.size(); ++k)
        out.push_back(special->lowered.used[k] ? static_cast<ArgumentUse>(special->lowered.accesses[k]) : ArgumentUse::None);
    return out;
}

std::size_t Kernel::specialisations() const {
    const std::lock_guard lock(state_->mutex);
    return state_->known.size();
}

}  // namespace pardo
