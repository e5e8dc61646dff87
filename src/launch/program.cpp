// src/launch/program.cpp: text of the user: from arguments as they are given to what a kernel declares.
#include <pardo/program.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <pardo/error.h>

#include "array/record.h"
#include "device/device.h"
#include "device/signature.h"
#include "device/text.h"
#include "ir/eval.h"
#include "launch/function.h"
#include "launch/image.h"
#include "plan/force.h"

namespace pardo {
namespace {

using device::TextArgument;
using device::TextKernel;
using device::TextParameter;
using graph::Node;
using Arguments = std::span<const ProgramArgument>;
using Kind = TextParameter::Kind;

constexpr std::string_view in_spirv = "spirv", in_binary = "binary";  // what programs are beside text

/// The back ends of which that is true, each as `text` says it, with `between` from one to the next.
template <class Has, class Text> std::string of_backends(Has&& has, Text&& text, std::string_view between) {
    std::string out;
    for (const auto& backend : device::backends()) {
        if (backend->hidden() || !has(backend->facts())) continue;
        out.append(out.empty() ? "" : between).append(text(*backend));
    }
    return out;
}
std::string devices_of(const device::Backend& backend) { return "pardo.get_devices(\"" + std::string(backend.name()) + "\")"; }
constexpr const char* given_names[] = {"an array", "a number", "a structure",     "local memory",
                                       "None",     "an Image", "a sampled Image", "a Sampler"};

std::string signature_of(const TextKernel& kernel) {
    std::string out = kernel.name.str() + "(";
    for (const TextParameter& p : kernel.parameters) {
        const std::string type = p.type.empty() ? "?" : (p.read_only ? "const " : "") + p.type;
        out += (&p == kernel.parameters.data() ? "" : ", ") + type + (p.name.empty() ? "" : " " + p.name);
    }
    return out + ")";
}

/// Signed or unsigned integers of one size.
bool same_width(DType a, DType b) { return is_integer(a) && is_integer(b) && itemsize(a) == itemsize(b); }

/// True for elements that a pointer to `declared` may point to: the same, the other sign, pairs for complex numbers, bytes for anything.
bool fits_pointer(DType declared, DType elements) {
    if (declared == elements || same_width(declared, elements) || real_of(elements) == declared) return true;
    return is_integer(declared) && itemsize(declared) == 1;
}

/// A launch's arguments besides the kernel's parameters.
class PackedLaunch {
public:
    PackedLaunch(const device::TextProgram& program, const TextKernel& kernel, Arguments arguments)
        : kernel_(kernel), arguments_(arguments), alignment_(program.alignment()) {
        std::size_t next = 0, shared = 0;
        for (const ProgramArgument& a : arguments) {
            const bool apart = program.local_apart() && std::holds_alternative<LocalMemory>(a);
            shared += apart;
            parameters_.push_back(apart || next >= kernel.parameters.size() ? &none() : &kernel.parameters[next]);
            next += !apart;
        }
        if (next != kernel.parameters.size()) {
            fail(ErrorCode::Type, "takes " + std::to_string(kernel.parameters.size()) +
                                      (kernel.parameters.size() == 1 ? " argument" : " arguments") + ", but " + std::to_string(next) +
                                      (next == 1 ? " was given: " : " were given: ") + signature_of(kernel));
        }
        if (shared > 1)
            fail(ErrorCode::Type, "groups have one block of memory that the launch sizes, `extern __shared__`; give local memory once");
        for (std::size_t k = 0; k < arguments.size(); ++k) check_kind(k);
    }

    std::string op_name() const { return kernel_.name.str(); }
    [[noreturn]] void fail(ErrorCode code, const std::string& text) const { throw Error(code, op_name() + ": " + text); }
    const TextParameter& parameter(std::size_t k) const { return *parameters_[k]; }
    /// The k-th argument if it is an array, else null.
    const Array* array(std::size_t k) const { return std::get_if<Array>(&arguments_[k]); }
    /// The image that the k-th argument is or samples, else null.
    const Image* image(std::size_t k) const {
        const auto* sampled = std::get_if<SampledImage>(&arguments_[k]);
        return sampled ? &sampled->image : std::get_if<Image>(&arguments_[k]);
    }
    bool writes(std::size_t k) const { return !parameter(k).read_only && !std::holds_alternative<SampledImage>(arguments_[k]); }
    std::size_t size() const { return arguments_.size(); }

    device::Queue* queue(device::Device* device, const Queue* given) const;
    /// From now on 0-d arrays of the CPU that the text only reads are on the queue; `memory` keeps them.
    void bring(device::Queue* queue, std::vector<ProgramArgument>& memory);
    NdRange checked(const NdRange& range, const device::Device* device) const;
    /// Hands over what the array is computed from.
    void check_array(std::size_t k) const;
    TextArgument pack(std::size_t k, device::Device* device) const;

private:
    /// "`n` (int)", "argument 2".
    std::string place(std::size_t k) const {
        const TextParameter& p = parameter(k);
        return (p.name.empty() ? "argument " + std::to_string(k) : "`" + p.name + "`") + (p.type.empty() ? "" : " (" + p.type + ")");
    }
    [[noreturn]] void fail_at(std::size_t k, ErrorCode code, const std::string& text) const { fail(code, place(k) + ": " + text); }
    static const TextParameter& none() {
        static const auto& parameter = *new TextParameter;
        return parameter;
    }
    bool follows(std::size_t k) const { return array(k) && !writes(k) && arrays::follows(*array(k)); }
    void check_kind(std::size_t k) const;
    Scalar number(std::size_t k, const Scalar& given) const;
    Scalar converted(std::size_t k, const Scalar& given) const;

    const TextKernel& kernel_;
    Arguments arguments_;
    const std::int64_t alignment_;
    std::vector<const TextParameter*> parameters_;  // of each argument; none() for memory that is not a parameter
};

device::Queue* PackedLaunch::queue(device::Device* device, const Queue* given) const {
    SmallVector<const Array*, 16> arrays;
    for (std::size_t k = 0; k < size(); ++k)
        if (!follows(k)) arrays.push_back(image(k) ? &image(k)->state()->texels : array(k));
    const bool any = std::any_of(arrays.begin(), arrays.end(), [](const Array* a) { return a != nullptr; });
    device::Queue* common = any ? arrays::common_queue(op_name().c_str(), arrays) : given ? given->impl() : nullptr;
    if (!common) return device->queue();
    if (common->device() != device) {
        fail(ErrorCode::Placement, std::string(any ? "the arrays are" : "the queue is") + " on " + common->device()->id() +
                                       ", the program was compiled for " + device->id() + "; compile it for that device too" +
                                       (any ? ", or bring the arrays with x.to_device(device)" : ""));
    }
    if (given && given->impl() != common)
        fail(ErrorCode::Placement, "the arrays are on another queue of " + device->id() +
                                       " than the launch; leave the queue away, or make them with asarray(x, queue=queue)");
    return common;
}

void PackedLaunch::bring(device::Queue* queue, std::vector<ProgramArgument>& memory) {
    for (std::size_t k = 0; k < size(); ++k) {
        if (!follows(k) || array(k)->node()->queue.get() == queue) continue;
        if (memory.empty()) {
            memory.assign(arguments_.begin(), arguments_.end());
            arguments_ = memory;
        }
        memory[k] = arrays::following(*array(k), queue, op_name().c_str());
    }
}

NdRange PackedLaunch::checked(const NdRange& range, const device::Device* device) const {
    launch::check_range(op_name(), range);
    const std::size_t rank = range.global.size();
    NdRange out = range;
    const bool fixed = kernel_.group[0] > 0;
    if (fixed && out.local.empty()) {
        out.local.assign(kernel_.group.begin(), kernel_.group.begin() + static_cast<std::ptrdiff_t>(rank));
        launch::check_range(op_name(), out);
    }
    std::array<std::int64_t, 3> local{1, 1, 1};
    std::copy(out.local.begin(), out.local.end(), local.begin());
    const auto text_of = [](const std::array<std::int64_t, 3>& g) {
        return std::to_string(g[0]) + " x " + std::to_string(g[1]) + " x " + std::to_string(g[2]);
    };
    const auto refuse = [&](const std::string& what, std::int64_t most, const std::string& rest) {
        fail(ErrorCode::Value, what + ": " + device->id() + " takes at most " + std::to_string(most) + rest + "; make the groups smaller");
    };
    const std::string groups = "groups of " + text_of(local) + " items";
    if (fixed && local != kernel_.group) fail(ErrorCode::Value, groups + ", and the text says that they are of " + text_of(kernel_.group));
    const std::vector<std::int64_t>& sizes = device->info().max_work_item_sizes;
    for (std::size_t d = 0; d < std::min(rank, sizes.size()); ++d)
        if (local[d] > sizes[d]) refuse(groups, sizes[d], " in dimension " + std::to_string(d));
    if (local[0] * local[1] * local[2] > kernel_.most_items) refuse(groups, kernel_.most_items, " for this kernel");
    std::int64_t bytes = 0;
    for (const ProgramArgument& a : arguments_) {
        const auto* memory = std::get_if<LocalMemory>(&a);
        if (memory && out.local.empty())
            fail(ErrorCode::Type,
                 "local memory is of a group, and the range has none; say of how many items groups are, as an NdRange does");
        if (memory) bytes += memory->bytes;
    }
    if (bytes > kernel_.most_local)
        fail(ErrorCode::Value, "local memory of " + std::to_string(bytes) + " bytes: " + device->id() + " has " +
                                   std::to_string(kernel_.most_local) +
                                   " for a group in addition to what the text declares; make them smaller");
    return out;
}

/// What is given for a parameter is of its kind.
void PackedLaunch::check_kind(std::size_t k) const {
    const std::size_t given = arguments_[k].index();
    const bool value = given == 1 || given == 2;
    const char* wanted = nullptr;
    switch (parameter(k).kind) {
        case Kind::Any: return;
        case Kind::Pointer: wanted = given == 0 || given == 4 ? nullptr : given_names[0]; break;
        case Kind::Local: wanted = given == 3 ? nullptr : given_names[3]; break;
        case Kind::Value: wanted = value ? nullptr : given_names[1]; break;
        case Kind::Image: wanted = given == 5 ? nullptr : given_names[5]; break;
        case Kind::Sampler: wanted = given == 7 ? nullptr : given_names[7]; break;
        case Kind::Other: fail_at(k, ErrorCode::Type, "pardo has nothing that can be given for it; kernels take arrays and values");
    }
    if (wanted) fail_at(k, ErrorCode::Type, std::string(wanted) + " is expected, not " + given_names[given]);
    if (parameter(k).kind != Kind::Image) return;
    const device::ImageShape& shape = image(k)->state()->shape;
    const std::string type = "image" + std::to_string(shape.rank) + (shape.layered ? "d_array_t" : "d_t");
    if (parameter(k).type.find(type) == std::string::npos) fail_at(k, ErrorCode::Type, "here is " + shape.text() + ", which is an " + type);
}

/// A number of Python in the kernel's type.
Scalar PackedLaunch::converted(std::size_t k, const Scalar& given) const {
    const TextParameter& p = parameter(k);
    if (!p.dtype)
        fail_at(k, ErrorCode::Type,
                "the kernel's type is not known, and a Python scalar has none; write np.int32(7), np.float32(2) or the like");
    const DType to = *p.dtype;
    if (is_complex(given.dtype) && !is_complex(to)) fail_at(k, ErrorCode::Type, "a real number is expected, not a complex one");
    if (is_integer(to) && is_float(given.dtype)) fail_at(k, ErrorCode::Type, "an integer is expected, not a float");
    if (!is_integer(to) || given.dtype == DType::Bool) return given.cast(to);
    const int bits = 8 * itemsize(to);
    const bool is_signed = kind_of(to) == DKind::Signed;
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits + (is_signed && !p.any_sign ? 1 : 0));
    const bool negative = kind_of(given.dtype) == DKind::Signed && given.i < 0;
    const bool fits = negative ? (is_signed || p.any_sign) && given.i >= -(std::int64_t{1} << (bits - 1)) : given.u <= most;
    if (!fits) fail_at(k, ErrorCode::Overflow, (negative ? std::to_string(given.i) : std::to_string(given.u)) + " is out of its range");
    return given.cast(to);
}

Scalar PackedLaunch::number(std::size_t k, const Scalar& given) const {
    if (given.weak) return converted(k, given);
    const TextParameter& p = parameter(k);
    const bool byte = given.dtype == DType::Bool && p.dtype && is_integer(*p.dtype) && itemsize(*p.dtype) == 1;
    const bool same = !p.dtype || given.dtype == *p.dtype || byte || (p.any_sign && same_width(given.dtype, *p.dtype));
    if (!same || (p.bytes > 0 && p.bytes != static_cast<std::size_t>(itemsize(given.dtype)))) {
        fail_at(k, ErrorCode::Type,
                "here is a number of " + std::string(dtype_name(given.dtype)) +
                    (p.dtype ? "; a Python scalar, or a number of " + std::string(dtype_name(*p.dtype)) + ", is taken"
                             : ", which is of another size"));
    }
    return given;
}

void PackedLaunch::check_array(std::size_t k) const {
    const TextParameter& p = parameter(k);
    arrays::ensure_leaf(*array(k));
    if (!p.read_only) arrays::require_writeable((op_name() + ": " + place(k)).c_str(), *array(k));
    const Node& leaf = *array(k)->node();
    if (p.kind == Kind::Pointer && p.dtype && !fits_pointer(*p.dtype, leaf.dtype)) {
        const std::string wanted(dtype_name(*p.dtype));
        fail_at(k, ErrorCode::Type,
                "here is an array of " + std::string(dtype_name(leaf.dtype)) + "; make it one of " + wanted + " with x.astype(\"" + wanted +
                    "\")");
    }
    if (!is_contiguous(leaf.shape, leaf.strides))
        fail_at(k, ErrorCode::Value,
                "the array has strides, of which the text knows nothing; give x.copy(), and copy back what is written");
    const std::int64_t begin = leaf.offset * itemsize(leaf.dtype);
    if (begin % alignment_ != 0)
        fail_at(k, ErrorCode::Value,
                "the array begins " + std::to_string(begin) + " bytes after the start of its memory, and this device takes multiples of " +
                    std::to_string(alignment_) + "; give x.copy(), and copy back what is written");
}

TextArgument PackedLaunch::pack(std::size_t k, device::Device* device) const {
    TextArgument out;
    const auto take = [&](const void* bytes, std::size_t count) {
        out.bytes = count;
        out.words.assign(static_cast<int>((count + 7) / 8), 0);
        std::memcpy(out.words.data(), bytes, count);
    };
    const ProgramArgument& given = arguments_[k];
    if (const Array* a = array(k)) {
        const graph::Bound bound(*a->node());
        out.kind = TextArgument::Kind::Pointer;
        out.bytes = static_cast<std::size_t>(a->nbytes());
        out.buffer = bound.buffer();
        out.words.push_back(device::address_in(bound.buffer(), bound.first()));
    } else if (std::holds_alternative<std::nullptr_t>(given)) {
        out.kind = TextArgument::Kind::Pointer;
        out.words.push_back(0);
    } else if (const Image* of = image(k)) {
        const auto* sampled = std::get_if<SampledImage>(&given);
        try {
            out.image = of->state()->native(writes(k));
            const std::uint64_t handle = out.image->handle(sampled ? &sampled->sampler : nullptr);
            take(&handle, sizeof handle);
        } catch (const Error& e) {
            fail_at(k, e.code(), e.message());
        }
        out.buffer = of->state()->texels.node()->buffer.get();
    } else if (const auto* sampler = std::get_if<Sampler>(&given)) {
        try {
            const std::uint64_t handle = device->sampler_handle(*sampler);
            take(&handle, sizeof handle);
        } catch (const Error& e) {
            fail_at(k, e.code(), e.message());
        }
    } else if (const auto* memory = std::get_if<LocalMemory>(&given)) {
        out.kind = TextArgument::Kind::Local;
        out.bytes = static_cast<std::size_t>(memory->bytes);
    } else if (const auto* scalar = std::get_if<Scalar>(&given)) {
        const Scalar value = number(k, *scalar);
        std::byte bytes[16];
        ir::write_element(value, bytes);
        take(bytes, static_cast<std::size_t>(itemsize(value.dtype)));
    } else {
        const auto& bytes = std::get<std::vector<std::byte>>(given);
        const std::size_t wanted = parameter(k).bytes;
        if (wanted > 0 && wanted != bytes.size())
            fail_at(k, ErrorCode::Type,
                    "here is a structure of " + std::to_string(bytes.size()) + " bytes, the kernel's has " + std::to_string(wanted) +
                        "; numpy.dtype(…, align=True) lays fields out as C does");
        take(bytes.data(), bytes.size());
    }
    return out;
}

}  // namespace

struct Program::State {
    device::Device* device;
    Ref<device::TextProgram> program;
    std::string_view language;

    std::size_t position(std::string_view name) const {
        const std::vector<TextKernel>& all = program->kernels();
        const auto at = std::find_if(all.begin(), all.end(), [&](const TextKernel& k) { return k.name.str() == name; });
        if (at != all.end()) return static_cast<std::size_t>(at - all.begin());
        std::string known;
        for (const TextKernel& k : all) known += (known.empty() ? "" : ", ") + k.name.str();
        throw Error(ErrorCode::Value, "Program: there is no kernel \"" + std::string(name) + "\", only " + known);
    }
};

Program::Program(const Device& device, const std::string& text, std::string_view language, const std::vector<std::string>& options,
                 const std::vector<std::pair<std::string, std::string>>& headers, const std::vector<std::string>& others) {
    const auto fail = [](ErrorCode code, const std::string& why) { throw Error(code, "Program: " + why); };
    using device::Backend;
    using device::BackendFacts;
    const auto has_text = [](const BackendFacts& f) { return !f.text.empty(); };
    const auto in_this_language = [language](const BackendFacts& f) { return f.text == language; };
    const auto devices = [&] { return of_backends(in_this_language, devices_of, " or "); };  // that take text in it
    if (!language.empty() && language != in_spirv && language != in_binary && devices().empty()) {
        const auto quoted = [](const Backend& b) { return "\"" + std::string(b.facts().text) + "\", "; };
        fail(ErrorCode::Value,
             "the language is " + of_backends(has_text, quoted, "") + "\"spirv\" or \"binary\", not \"" + std::string(language) + "\"");
    }
    const BackendFacts facts = device.impl()->backend()->facts();
    const std::string own(facts.text), id = device.id();
    if (own.empty()) {
        const auto each = [](const Backend& b) { return devices_of(b) + " for " + std::string(b.facts().text_name); };
        fail(ErrorCode::Device, id + " compiles no text; write the kernel in Python (pardo.kernel), or take a device of " +
                                    of_backends(has_text, each, ", of "));
    }
    if (language == in_binary) {
        device::ProgramText given{{}, options};
        given.binary.assign(text.begin(), text.end());
        if (given.binary.empty()) fail(ErrorCode::Value, "the binary has no bytes");
        try {
            state_ = std::make_shared<const State>(State{device.impl(), device.impl()->compile_program(given), in_binary});
        } catch (const Error& e) {
            if (e.code() != ErrorCode::Internal) throw;
            fail(ErrorCode::Value, "the binary is damaged");
        }
        return;
    }
    const bool module = device::is_spirv(text);
    if (module && !(headers.empty() && others.empty()))
        fail(ErrorCode::Value, "a module of SPIR-V includes nothing, and is linked with nothing here");
    if (module && !device::is_whole_spirv(text)) fail(ErrorCode::Compile, "the module of SPIR-V is damaged or cut off");
    if (!module && language == in_spirv) fail(ErrorCode::Value, "this is not a SPIR-V module: its first word would be 0x07230203");
    if (module && (!facts.takes_spirv || (!language.empty() && language != in_spirv)))
        fail(ErrorCode::Value, "a module of SPIR-V is for devices of " +
                                   of_backends([](const BackendFacts& f) { return f.takes_spirv; }, devices_of, " or ") +
                                   ", with the language \"spirv\" or none");
    if (!module && !language.empty() && language != own)
        fail(ErrorCode::Value,
             id + " takes text in \"" + own + "\", not \"" + std::string(language) + "\"; that is for devices of " + devices());
    state_ = std::make_shared<const State>(
        State{device.impl(), device.impl()->compile_program({text, options, headers, others, {}}), module ? in_spirv : facts.text});
}
Program::~Program() = default;
Program::Program(const Program&) = default;
Program& Program::operator=(const Program&) = default;

Device Program::device() const { return Device(state_->device); }
std::string_view Program::language() const { return state_->language; }

std::vector<std::string> Program::kernels() const {
    std::vector<std::string> names;
    for (const TextKernel& k : state_->program->kernels()) names.push_back(k.name);
    return names;
}

std::string Program::signature(std::string_view kernel) const { return signature_of(state_->program->kernels()[state_->position(kernel)]); }

KernelFacts Program::facts(std::string_view kernel) const {
    const TextKernel& k = state_->program->kernels()[state_->position(kernel)];
    KernelFacts out{k.most_items, k.multiple, k.local_bytes, k.private_bytes, k.registers, {}};
    std::copy(k.group.begin(), k.group.end(), out.group);
    return out;
}

std::string Program::build_log() const { return state_->program->log(); }

std::string Program::binary() const {
    if (state_->program->binary().empty())
        throw Error(ErrorCode::Device, "Program: the driver of " + state_->device->id() + " gives no binary of it");
    return device::packed_for_user(state_->program->binary());
}

Event Program::launch(std::string_view name, ListOf<ProgramArgument> arguments, const NdRange& range, const Queue* given,
                      ListOf<Event> depends, Extents offset) const {
    device::TextProgram& program = *state_->program;
    const std::size_t kernel = state_->position(name);
    PackedLaunch call(program, program.kernels()[kernel], arguments);
    const NdRange space = call.checked(range, state_->device);
    const Ref<device::Queue> queue(call.queue(state_->device, given));
    std::vector<ProgramArgument> memory;
    call.bring(queue.get(), memory);
    for (std::size_t k = 0; k < call.size(); ++k)
        if (call.array(k)) call.check_array(k);
    device::TextLaunch launch;
    for (std::size_t k = 0; k < call.size(); ++k) launch.arguments.push_back(call.pack(k, state_->device));
    launch.rank = static_cast<int>(space.global.size());
    std::copy(space.global.begin(), space.global.end(), launch.global.begin());
    if (!offset.empty()) {
        if (!state_->device->backend()->facts().has_offsets)
            call.fail(ErrorCode::Device,
                      "launches on " + state_->device->id() + " begin at 0 and have no offset of the range; give it as an argument");
        if (offset.size() != space.global.size())
            call.fail(ErrorCode::Value, "the range has " + std::to_string(space.global.size()) +
                                            (space.global.size() == 1 ? " dimension, its offset " : " dimensions, its offset ") +
                                            std::to_string(offset.size()));
        std::copy(offset.begin(), offset.end(), launch.offset.begin());
    }
    if (!space.local.empty()) launch.local = {1, 1, 1};
    std::copy(space.local.begin(), space.local.end(), launch.local.begin());
    if (std::ranges::find(space.global, 0) != space.global.end()) return arrays::joined(queue.get(), {depends.begin(), depends.end()});

    Event event;
    device::LaunchArguments used;
    {
        // While it is held nothing is recorded that reads the arrays that are written; what had been recorded is submitted first.
        const std::lock_guard guard(graph::state_of(queue.get()).lock);
        for (std::size_t k = 0; k < call.size(); ++k) {  // first, because the lock is free while programs for them are compiled
            device::Buffer* buffer = launch.arguments[k].buffer;
            if (buffer && call.writes(k)) plan::force_readers(buffer, plan::Compile::Unlocked);
        }
        for (std::size_t k = 0; k < call.size(); ++k) {
            device::Buffer* buffer = launch.arguments[k].buffer;
            if (!buffer) continue;
            const bool writes = call.writes(k);
            if (writes) plan::force_readers(buffer);
            const Array& array = call.image(k) ? call.image(k)->state()->texels : *call.array(k);
            used.use({buffer, writes ? device::Access::ReadWrite : device::Access::Read, graph::view_of(*array.node())});
        }
        event = program.launch(queue.get(), kernel, std::move(launch), used.uses, depends);
    }
    if (used.foreign) device::finish_order(event);
    return event;
}

std::vector<ArgumentUse> Program::uses(std::string_view name, ListOf<ProgramArgument> arguments) const {
    const PackedLaunch call(*state_->program, state_->program->kernels()[state_->position(name)], arguments);
    std::vector<ArgumentUse> out;
    for (std::size_t k = 0; k < call.size(); ++k)
        out.push_back(!call.array(k) ? ArgumentUse::None : call.parameter(k).read_only ? ArgumentUse::Read : ArgumentUse::ReadWrite);
    return out;
}

}  // namespace pardo
