// src/saving/forms.cpp: kernels as texts and as machine code for devices that drivers run.
#include "saving/forms.h"

#include <pardo/error.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <map>
#include <mutex>
#include <optional>

#include "backend/cuda/device.h"
#include "backend/cuda/libraries/nvrtc.h"
#include "emit/c/family.h"
#include "emit/llvm/module.h"
#include "saving/packing.h"
#include "saving/threads.h"

namespace pardo::saving {
namespace {

/// The target of texts in OpenCL C.
const char* opencl() { return emit::opencl_c.name; }

std::string quoted(const std::string& name) { return std::string("\"").append(name).append("\""); }

/// Throws for architectures that the compiler does not know.
void check_architecture(const std::string& target) {
    const std::vector<int> known = cuda::nvrtc_architectures("export: target " + quoted(target));
    if (std::ranges::find(known, architecture_of(target)) != known.end()) return;
    std::string list;
    for (const int number : known) list += (list.empty() ? "sm_" : ", sm_") + std::to_string(number);
    refuse(cuda::nvrtc_version() + " makes no code for " + quoted(target) + "; it does for " + list);
}

/// Devices that may run a form differ in these; geometries follow from them.
std::vector<emit::CFeatures> possible_devices(const emit::CFeatures& features, bool cuda) {
    struct Size {
        int units, group;
    };
    static constexpr Size gpus[] = {{132, 1024}, {108, 1024}, {56, 1024}}, others[] = {{20, 256}, {64, 512}, {132, 1024}},
                          processors[] = {{1, 4096}, {8, 4096}, {64, 8192}};
    std::vector<emit::CFeatures> all;
    for (const Size& size : cuda ? gpus : features.cpu ? processors : others) {
        all.push_back(features);
        all.back().compute_units = size.units;
        all.back().max_group_size = size.group;
    }
    return all;
}

/// Of each mapping one that serves all sizes.
void add_general_shapes(std::set<device::ShapeClass>& shapes) {
    std::map<emit::CMapping, emit::CGeometry> last;
    for (const device::ShapeClass shape : shapes) {
        const emit::CGeometry g = emit::CGeometry::decode(shape);
        last[g.mapping] = g;
    }
    for (auto& [mapping, g] : last) {
        g.wide = true;
        g.steps = 0;
        g.whole = false;
        shapes.insert(g.encode());
    }
}

}  // namespace

int architecture_of(const std::string& target) {
    int number = 0;
    if (!target.starts_with("sm_")) return 0;
    const char* const end = target.data() + target.size();
    const auto [at, failed] = std::from_chars(target.data() + 3, end, number);
    return failed == std::errc() && at == end && number > 9 ? number : 0;
}

Targets::Targets(const std::vector<std::string>& asked) {
    std::string list;
    std::vector<std::string> known;
    for (const emit::LlvmTarget& level : emit::levels()) {
        known.emplace_back(level.level);
        list += quoted(known.back()) + ", ";
    }
    list += "\"opencl\" and \"sm_80\", \"sm_90\" and other architectures of NVIDIA's";
    for (const std::string& name : asked) {
        std::vector<std::string>& to = std::ranges::find(known, name) != known.end() ? processors : devices;
        if (&to == &devices && name != opencl() && architecture_of(name) == 0)
            refuse("there is no target " + quoted(name) + "; there are " + list);
        if (&to == &devices && name != opencl()) check_architecture(name);
        if (std::ranges::find(to, name) == to.end()) to.push_back(name);
    }
    if (asked.empty()) processors = known;
    if (asked.empty() && known.empty())
        refuse("this build makes no code for other machines of its kind; targets=[\"opencl\"] exports text");
}

bool Targets::need(DeviceKind kind) const {
    if (kind == DeviceKind::Cpu) return !processors.empty();
    return std::ranges::any_of(devices, [&](const std::string& name) { return name == opencl() || kind == DeviceKind::Groups; });
}

Forms::Forms(const Targets& targets, DeviceKind kind, const Codes& codes) : codes_(codes) {
    for (const std::string& target : targets.devices) {
        if (const int architecture = architecture_of(target)) {
            if (kind != DeviceKind::Groups) continue;
            const emit::CFeatures features = cuda::features_of_architecture(architecture);
            forms_.push_back({target, "", architecture, features, possible_devices(features, true), {}});
            continue;
        }
        for (const emit::CForm& form : emit::opencl_forms(kind == DeviceKind::Processor))
            forms_.push_back({target, form.name, 0, form.features, possible_devices(form.features, false), {}});
    }
}

void Forms::meet(const saved::Regime& regime, const Sizes& sizes) {
    while (traits_.size() < codes_.kernels().size()) traits_.emplace_back(codes_.kernels()[traits_.size()]);
    for (One& form : forms_) form.shapes.resize(traits_.size());
    std::vector<std::int64_t> values, extents;
    for (const saved::Step& step : regime.steps) {
        const auto serving = std::ranges::find_if(step.alternatives, [&](const auto& x) { return x.sizing.run(sizes, values); });
        if (serving == step.alternatives.end()) continue;
        for (std::size_t i = 0; i < serving->launches.size(); ++i) {
            const saved::Launch& launch = serving->launches[i];
            if (!launch.range(values, extents)) continue;
            const saved::LoopShape& loops = serving->loops[i];
            const device::LaunchShape shape{extents, loops.inner.in(values), loops.innermost.in(values), loops.remainder.in(values) == 0};
            for (One& form : forms_)
                for (const emit::CFeatures& features : form.devices) {
                    const emit::CGeometry g = emit::choose_geometry(traits_[launch.code], shape, features);
                    form.shapes[launch.code].insert(emit::coarse(g, traits_[launch.code], features).encode());
                }
        }
    }
}

std::vector<saved::Form> Forms::made() {
    struct Job {
        std::size_t form, code;
        device::ShapeClass shape;
        saved::Image image;
        std::vector<std::uint8_t> content;
    };
    struct Kernel {
        std::size_t form, code;
        std::optional<ir::Kernel> lowered;
    };
    std::vector<Job> jobs;
    std::vector<Kernel> kernels;
    for (std::size_t f = 0; f < forms_.size(); ++f) {
        forms_[f].shapes.resize(codes_.kernels().size());
        for (std::size_t c = 0; c < codes_.kernels().size(); ++c) {
            add_general_shapes(forms_[f].shapes[c]);
            for (const device::ShapeClass shape : forms_[f].shapes[c]) jobs.push_back({f, c, shape, {}, {}});
            kernels.push_back({f, c, {}});
        }
    }
    // A driver's fault may stand against one form of OpenCL C; others may do.
    std::vector<std::exception_ptr> failures(forms_.size());
    std::mutex mutex;
    const auto guarded = [&](std::size_t form, const auto& work) {
        try {
            work();
        } catch (const Error&) {
            const std::lock_guard lock(mutex);
            if (!failures[form]) failures[form] = std::current_exception();
        }
    };
    on_all_threads(kernels.size(), [&](std::size_t i) {
        Kernel& k = kernels[i];
        guarded(k.form, [&] { k.lowered = emit::lowered_for_c(codes_.kernels()[k.code], forms_[k.form].features); });
    });
    on_all_threads(jobs.size(), [&](std::size_t i) {
        Job& job = jobs[i];
        const One& form = forms_[job.form];
        const std::optional<ir::Kernel>& lowered = kernels[job.form * codes_.kernels().size() + job.code].lowered;
        if (!lowered) return;
        guarded(job.form, [&] {
            const emit::CText text = emit::emit_c(*lowered, form.features, emit::CGeometry::decode(job.shape));
            job.image = {job.shape, text.entry, text.params, text.reversible, text.fast_math, text.shared_bytes, 0};
            if (form.architecture == 0)
                job.content.assign(text.text.begin(), text.text.end());
            else
                job.content = cuda::compile_text(lowered->name, text.text, cuda::default_options(text.fast_math), form.target);
        });
    });
    std::vector<saved::Form> all;
    std::vector<std::size_t> of;  // which of forms_ each is
    for (std::size_t f = 0; f < forms_.size(); ++f) {
        const One& form = forms_[f];
        if (failures[f]) {
            const auto has = [&](const auto& other) { return other.target == form.target && !failures[&other - forms_.data()]; };
            if (std::ranges::none_of(forms_, has)) std::rethrow_exception(failures[f]);
            continue;
        }
        saved::Form made{form.target, form.name, {}, {}, {}};
        made.images.resize(codes_.kernels().size());
        std::map<std::vector<std::uint8_t>, std::uint32_t> known;
        std::vector<std::uint8_t> contents;
        for (Job& job : jobs) {
            if (job.form != f) continue;
            const auto [place, fresh] = known.try_emplace(job.content, static_cast<std::uint32_t>(made.lengths.size()));
            if (fresh) {
                made.lengths.push_back(job.content.size());
                contents.insert(contents.end(), job.content.begin(), job.content.end());
            }
            job.image.content = place->second;
            made.images[job.code].push_back(std::move(job.image));
        }
        made.packed = packed(contents);
        // Where another one has the same texts, and serves the same devices, that is enough.
        const auto serves = [&](std::size_t other) {
            const saved::Form& o = all[other];
            return o.target == made.target && o.packed == made.packed && o.images == made.images &&
                   emit::distance({"", forms_[of[other]].features}, form.features) >= 0;
        };
        bool needed = true;
        for (std::size_t other = 0; other < all.size(); ++other) needed = needed && !serves(other);
        if (!needed) continue;
        all.push_back(std::move(made));
        of.push_back(f);
    }
    return all;
}

std::vector<saved::Code> device_codes(const Codes& codes) {
    std::vector<saved::Code> all;
    for (const ir::Kernel& kernel : codes.kernels()) {
        saved::Code& code = all.emplace_back();
        code.name = kernel.name;
        code.rank = kernel.rank;
        code.group_size.assign(kernel.group_size.begin(), kernel.group_size.end());
        const auto numbers = emit::CTraits(kernel).numbers();
        code.traits.assign(numbers.begin(), numbers.end());
    }
    return all;
}

}  // namespace pardo::saving
