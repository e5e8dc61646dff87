// src/saving/executable.cpp: kernels of a loaded program for the device that is there: machine code of a processor, text that a driver
// compiles, machine code that it loads.
#include "saving/executable.h"

#include <pardo/error.h>

#include <algorithm>
#include <mutex>

#include "backend/cpu/program.h"
#include "backend/cuda/device.h"
#include "backend/opencl/device.h"
#include "emit/c/forms.h"
#include "emit/llvm/math/table.h"
#include "saved/machine_code.h"
#include "saving/forms.h"
#include "saving/packing.h"
#include "saving/replay.h"

namespace pardo::saving {

std::shared_ptr<const Executable::Ready> Executable::ready(const std::vector<std::int64_t>& sizes) {
    {
        const std::lock_guard lock(saved::Loaded::mutex());
        for (const auto& [known, found] : recent_)
            if (known == sizes) return found;
    }
    auto found = std::make_shared<Ready>();
    found->resolved = loaded.resolve(sizes);
    std::vector<std::int64_t> extents;
    for (const saved::Resolved::Part& part : found->resolved.parts) {
        const saved::Alternative& x = *part.alternative;
        for (std::size_t i = 0; i < x.launches.size(); ++i) {
            const bool any = x.launches[i].range(part.values, extents);
            found->programs.push_back(any ? made(x.launches[i], x.loops.empty() ? nullptr : &x.loops[i], part.values, extents) : nullptr);
        }
    }
    const std::lock_guard lock(saved::Loaded::mutex());
    if (recent_.size() == most_recent) recent_.erase(recent_.begin());
    recent_.emplace_back(sizes, found);
    return found;
}

Ref<device::Buffer> Executable::copy_of_constant(std::size_t number, device::Queue* queue) const {
    const std::vector<std::uint8_t>& bytes = program.constants[number].bytes;
    Ref<device::Buffer> made = queue->device()->obtain(bytes.size(), MemoryKind::Device, queue);
    queue->write(made.get(), 0, bytes.data(), bytes.size());
    return made;
}

Ref<device::Buffer> Executable::constant(std::size_t number, device::Queue* queue) {
    {
        const std::lock_guard lock(saved::Loaded::mutex());
        if (constants_[number]) return constants_[number];
    }
    Ref<device::Buffer> made = copy_of_constant(number, queue);
    const std::lock_guard lock(saved::Loaded::mutex());
    if (!constants_[number]) constants_[number] = std::move(made);
    return constants_[number];
}

namespace {

class OnProcessors final : public Executable {
public:
    explicit OnProcessors(const saved::Loaded& loaded) : Executable(loaded), codes_(program.codes.size()) {}

private:
    Ref<device::Program> made(const saved::Launch& launch, const saved::LoopShape*, const std::vector<std::int64_t>&,
                              const std::vector<std::int64_t>&) override {
        const std::lock_guard lock(saved::Loaded::mutex());
        Ref<device::Program>& known = codes_[launch.code];
        if (!known) {
            const saved::Code& code = program.codes[launch.code];
            saved::MachineCode machine = saved::load_machine_code(loaded.object(launch.code), saved::entry_symbol, emit::math_address);
            known = new cpu::CpuProgram(code.name, reinterpret_cast<cpu::CpuProgram::Entry>(machine.entry), code.rank, code.granularity,
                                        std::move(machine.keep), code.group_size);
        }
        return known;
    }
    std::vector<Ref<device::Program>> codes_;  // loaded when they are first launched
};

/// The form that serves a device best, -1: none does.
int best_form(const std::vector<saved::Form>& forms, device::Device* device) {
    int best = -1, least = 0;
    const auto consider = [&](std::size_t i, int cost) {
        if (cost >= 0 && (best < 0 || cost < least)) best = static_cast<int>(i), least = cost;
    };
    if (device->native_api() == device::NativeApi::Cuda) {
        const auto& gpu = static_cast<cuda::CudaDevice&>(*device);
        for (std::size_t i = 0; i < forms.size(); ++i) {
            const int number = architecture_of(forms[i].target), minor = gpu.compute_minor() - number % 10;
            if (number > 0 && number / 10 == gpu.compute_major()) consider(i, minor);
        }
    }
    if (device->native_api() == device::NativeApi::OpenCl) {
        const emit::CFeatures& features = static_cast<opencl::OpenClDevice&>(*device).features();
        for (const bool processors : {true, false})
            for (const emit::CForm& known : emit::opencl_forms(processors))
                for (std::size_t i = 0; i < forms.size(); ++i)
                    if (forms[i].target == emit::opencl_c.name && forms[i].name == known.name) consider(i, emit::distance(known, features));
    }
    return best;
}

bool is_driven(const device::Device* device) {
    return device->native_api() == device::NativeApi::Cuda || device->native_api() == device::NativeApi::OpenCl;
}

/// A part and a form of it.
struct Found {
    const saved::Loaded* part;
    std::size_t form;
};
Found found_for(const saved::Loaded& loaded, device::Device* device) {
    const saved::Loaded* const part = is_driven(device) ? loaded.part(device->execution() == device::Execution::Groups) : nullptr;
    const int form = part ? best_form(part->forms(), device) : -1;
    if (form >= 0) return {part, static_cast<std::size_t>(form)};
    std::string processors, devices;
    for (const std::string& target : loaded.program().targets) processors += (processors.empty() ? "" : ", ") + target;
    for (const std::string& target : loaded.targets())
        if (std::ranges::find(loaded.program().targets, target) == loaded.program().targets.end()) devices += ", " + target;
    if (!processors.empty()) processors = ", CPUs (" + processors + ")";
    std::string wanted, is = device->id();
    switch (device->native_api()) {
        case device::NativeApi::Host: wanted = emit::levels().empty() ? "" : "\"" + emit::levels().front().level + "\""; break;
        case device::NativeApi::OpenCl: wanted = "\"opencl\""; break;
        case device::NativeApi::Cuda:
            wanted = "\"" + device->info().architecture + "\"";
            is += ", of " + device->info().architecture + ",";
            break;
        default: break;
    }
    throw Error(ErrorCode::Device, loaded.program().name + ": has code for " + (processors + devices).substr(2) + "; " + is +
                                       " runs none of these" + (wanted.empty() ? "" : ": export it with " + wanted + " among the targets"));
}

/// On a device that a driver runs.
class OnDevice final : public Executable {
public:
    OnDevice(const Found& found, device::Device* device)
        : Executable(*found.part),
          device_(device),
          form_(found.part->read_form(found.form)),
          contents_(unpacked(form_, program.name)),
          programs_(program.codes.size()) {
        for (const saved::Routine& routine : program.routines) require_routine(routine, program.name);
        for (std::size_t c = 0; c < program.codes.size(); ++c) {
            const saved::Code& code = program.codes[c];
            std::array<std::int64_t, emit::CTraits::count> numbers{};
            const bool whole = code.traits.size() == numbers.size();
            if (whole) std::ranges::copy(code.traits, numbers.begin());
            traits_.push_back(emit::CTraits::of(numbers));
            shapes_.emplace_back();
            for (const saved::Image& image : form_.images[c]) shapes_[c].push_back(image.shape);
            programs_[c].resize(form_.images[c].size());
            const bool sound = std::ranges::all_of(shapes_[c], [&](device::ShapeClass s) { return emit::sound(s, code.rank); });
            if (!whole || !sound || traits_[c].narrowest < 1 || (traits_[c].group_items != 0) != !code.group_size.empty())
                throw Error(ErrorCode::Value, program.name + ": the program is damaged");
        }
    }

private:
    Ref<device::Program> made(const saved::Launch& launch, const saved::LoopShape* loops, const std::vector<std::int64_t>& values,
                              const std::vector<std::int64_t>& extents) override {
        const saved::Code& code = program.codes[launch.code];
        const emit::CTraits& traits = traits_[launch.code];
        const emit::CFeatures& features = features_of(device_);
        device::LaunchShape shape{extents, 1, 1, true};
        if (loops) shape = {extents, loops->inner.in(values), loops->innermost.in(values), loops->remainder.in(values) == 0};
        const emit::CGeometry wanted = emit::coarse(emit::choose_geometry(traits, shape, features), traits, features);
        const int best = emit::best_of(shapes_[launch.code], wanted, features);
        if (best < 0)
            throw Error(ErrorCode::Device,
                        program.name + ": was exported without a text of " + code.name + " that " + device_->id() + " runs for such sizes");
        Ref<device::Program>& known = programs_[launch.code][static_cast<std::size_t>(best)];
        {
            const std::lock_guard lock(saved::Loaded::mutex());
            if (known) return known;
        }
        check_groups(code, traits);
        Ref<device::Program> fresh = loaded_image(code, traits, form_.images[launch.code][static_cast<std::size_t>(best)]);
        const std::lock_guard lock(saved::Loaded::mutex());
        if (!known) known = std::move(fresh);
        return known;
    }

    static const emit::CFeatures& features_of(device::Device* device) {
        if (device->native_api() == device::NativeApi::Cuda) return static_cast<cuda::CudaDevice*>(device)->features();
        return static_cast<opencl::OpenClDevice*>(device)->features();
    }

    void check_groups(const saved::Code& code, const emit::CTraits& traits) const {
        const DeviceInfo& info = device_->info();
        std::int64_t bytes = info.local_mem_size;
        if (device_->native_api() == device::NativeApi::Cuda) bytes = static_cast<cuda::CudaDevice*>(device_)->most_shared();
        if (traits.group_items <= info.max_work_group_size && traits.group_bytes <= bytes) return;
        throw Error(ErrorCode::Value, code.name + ": groups of " + std::to_string(traits.group_items) + " items that share " +
                                          std::to_string(traits.group_bytes) + " bytes: " + device_->id() + " takes at most " +
                                          std::to_string(info.max_work_group_size) + " items and " + std::to_string(bytes) + " bytes");
    }

    Ref<device::Program> loaded_image(const saved::Code& code, const emit::CTraits& traits, const saved::Image& image) const {
        emit::CText text;
        text.entry = image.entry;
        text.params = image.params;
        text.reversible = image.reversible;
        text.fast_math = image.fast_math;
        text.shared_bytes = image.shared_bytes;
        if (!code.group_size.empty()) text.groups = emit::groups_of(code.group_size, traits.shuffles != 0);
        const std::vector<std::uint8_t>& content = contents_[image.content];
        if (device_->native_api() == device::NativeApi::Cuda)
            return static_cast<cuda::CudaDevice*>(device_)->load_emitted(code.name, text, image.shape, code.rank, content);
        text.text.assign(content.begin(), content.end());
        const auto lacks = [&](const char* extension, bool has, const char* what) {
            if (!has && text.text.find(extension) != std::string::npos)
                throw Error(ErrorCode::Device, code.name + ": " + device_->id() + " has no " + what);
        };
        lacks("cl_khr_fp64", features_of(device_).fp64, "float64");
        lacks("cl_khr_int64_base_atomics", features_of(device_).wide_atomics, "atomic operations on 64 bits");
        return static_cast<opencl::OpenClDevice*>(device_)->compile_emitted(code.name, text, image.shape);
    }

    device::Device* const device_;
    const saved::Form form_;
    const std::vector<std::vector<std::uint8_t>> contents_;
    std::vector<emit::CTraits> traits_;                    // by kernel
    std::vector<std::vector<device::ShapeClass>> shapes_;  // of its images
    std::vector<std::vector<Ref<device::Program>>> programs_;
};

}  // namespace

std::unique_ptr<Executable> for_processors(const saved::Loaded& loaded) {
    if (loaded.target().empty()) return nullptr;
    return std::make_unique<OnProcessors>(loaded);
}

std::unique_ptr<Executable> for_device(const saved::Loaded& loaded, device::Device* device) {
    return std::make_unique<OnDevice>(found_for(loaded, device), device);
}

std::string target_for(const saved::Loaded& loaded, device::Device* device) {
    if (device->native_api() == device::NativeApi::Host && !loaded.target().empty()) return loaded.target();
    const Found found = found_for(loaded, device);
    return found.part->forms()[found.form].target;
}

}  // namespace pardo::saving
