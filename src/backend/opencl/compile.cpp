// src/backend/opencl/compile.cpp: Kernel or text -> OpenCL program, through the program cache.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include <pardo/error.h>

#include "backend/opencl/kernel_info.h"
#include "backend/opencl/program.h"
#include "device/queue/queue.h"
#include "emit/c/family.h"
#include "ir/hash.h"
#include "ir/ir.h"
#include "jit/build_log.h"
#include "jit/cache.h"

namespace pardo::opencl {
namespace {

/// A cl_program until its owner takes it over.
class Built {
public:
    Built(const Api& api, cl_program program) : api_(api), program_(program) {}
    Built(const Built&) = delete;
    ~Built() {
        if (program_) api_.clReleaseProgram(program_);
    }
    cl_program get() const { return program_; }
    cl_program detach() { return std::exchange(program_, nullptr); }

private:
    const Api& api_;
    cl_program program_;
};

std::string build_log(const Api& api, cl_program program, cl_device_id device) {
    std::size_t bytes = 0;
    api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
    std::string text(bytes, '\0');
    if (bytes) api.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, text.data(), nullptr);
    return text;
}

/// The device's part of a built program; empty where the driver gives none.
jit::Binary binary_of(const Api& api, cl_program program, cl_device_id device) {
    cl_uint count = 0;
    if (api.clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) != CL_SUCCESS || count == 0) return {};
    std::vector<cl_device_id> devices(count);
    std::vector<std::size_t> sizes(count);
    if (api.clGetProgramInfo(program, CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), devices.data(), nullptr) != CL_SUCCESS ||
        api.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, count * sizeof(std::size_t), sizes.data(), nullptr) != CL_SUCCESS) {
        return {};
    }
    const auto at = static_cast<std::size_t>(std::find(devices.begin(), devices.end(), device) - devices.begin());
    if (at == devices.size()) return {};
    std::vector<jit::Binary> binaries(count);
    std::vector<unsigned char*> targets(count);
    for (std::size_t i = 0; i < count; ++i) {
        binaries[i].resize(sizes[i]);
        targets[i] = sizes[i] ? binaries[i].data() : nullptr;
    }
    if (api.clGetProgramInfo(program, CL_PROGRAM_BINARIES, count * sizeof(unsigned char*), targets.data(), nullptr) != CL_SUCCESS)
        return {};
    return binaries[at];
}

/// Builds for one device.
struct Builder {
    const Api& api;
    cl_context context;
    cl_device_id device;
    std::string options, compiler;

    std::unique_ptr<Built> from_source(const std::string& text) const {
        if (device::is_spirv(text)) return from_spirv(text);
        return built(of_text(text), text);
    }
    /// Each text is compiled apart, with the headers that it includes, and all are linked.
    std::unique_ptr<Built> from_texts(const device::ProgramText& given) const {
        if (given.headers.empty() && given.others.empty()) return from_source(given.text);
        std::vector<std::unique_ptr<Built>> headers, objects;
        std::vector<cl_program> header_programs, linked;
        std::vector<const char*> names;
        for (const auto& [name, text] : given.headers) {
            headers.push_back(std::make_unique<Built>(api, of_text(text)));
            header_programs.push_back(headers.back()->get());
            names.push_back(name.c_str());
        }
        const auto compile = [&](const std::string& text) {
            objects.push_back(std::make_unique<Built>(api, of_text(text)));
            cl_program program = objects.back()->get();
            linked.push_back(program);
            const cl_int code = api.clCompileProgram(program, 1, &device, options.c_str(), static_cast<cl_uint>(names.size()),
                                                     names.empty() ? nullptr : header_programs.data(),
                                                     names.empty() ? nullptr : names.data(), nullptr, nullptr);
            if (code != CL_SUCCESS) refuse(program, code, text);
        };
        compile(given.text);
        for (const std::string& other : given.others) compile(other);
        cl_int code = CL_SUCCESS;
        cl_program program =
            api.clLinkProgram(context, 1, &device, nullptr, static_cast<cl_uint>(linked.size()), linked.data(), nullptr, nullptr, &code);
        auto out = std::make_unique<Built>(api, program);
        if (code != CL_SUCCESS) refuse(program, code, {});
        return out;
    }
    std::unique_ptr<Built> from_spirv(const std::string& module) const {
        if (!api.clCreateProgramWithIL || !has_version(api, device, 2, 1) || device_text(api, device, CL_DEVICE_IL_VERSION).empty())
            throw Error(ErrorCode::Device, compiler + " takes no SPIR-V; give it OpenCL C, or write the kernel in Python (pardo.kernel)");
        cl_int code = CL_SUCCESS;
        cl_program program = api.clCreateProgramWithIL(context, module.data(), module.size(), &code);
        if (code == CL_INVALID_VALUE)
            throw Error(ErrorCode::Compile, compiler + " does not take it: it is not a SPIR-V module of a version that it knows");
        check(code, "clCreateProgramWithIL");
        return built(program, {});
    }
    /// From a binary, if there is one.
    std::unique_ptr<Built> from_either(const jit::Binary& binary, const std::string& text) const {
        if (binary.empty()) return from_source(text);
        const unsigned char* data = binary.data();
        const std::size_t bytes = binary.size();
        cl_int status = CL_SUCCESS, code = CL_SUCCESS;
        cl_program program = api.clCreateProgramWithBinary(context, 1, &device, &bytes, &data, &status, &code);
        check(code == CL_SUCCESS ? status : code, "clCreateProgramWithBinary");
        return built(program, {});
    }

private:
    cl_program of_text(const std::string& text) const {
        const char* source = text.c_str();
        cl_int code = CL_SUCCESS;
        cl_program program = api.clCreateProgramWithSource(context, 1, &source, nullptr, &code);
        check(code, "clCreateProgramWithSource");
        return program;
    }
    std::unique_ptr<Built> built(cl_program program, const std::string& text) const {
        auto out = std::make_unique<Built>(api, program);
        const cl_int code = api.clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
        if (code != CL_SUCCESS) refuse(program, code, text);
        return out;
    }
    [[noreturn]] void refuse(cl_program program, cl_int code, const std::string& text) const {
        const std::string words = program ? jit::format_build_log(build_log(api, program, device), text) : std::string();
        throw Error(ErrorCode::Compile,
                    compiler + " does not compile it: " + error_name(code) + (words.empty() ? ", and no words" : words));
    }
};

}  // namespace

OpenClProgram::OpenClProgram(std::string name, const Api& api, cl_program program, cl_kernel kernel, std::string params,
                             device::ShapeClass shape, bool reversible, int group_size, emit::CGroups groups)
    : Program(std::move(name)),
      api_(api),
      program_(program),
      kernel_(kernel),
      params_(std::move(params)),
      shape_(shape),
      reversible_(reversible),
      group_size_(group_size),
      groups_(std::move(groups)) {}

OpenClProgram::~OpenClProgram() {
    if (device::driver_gone()) return;
    api_.clReleaseKernel(kernel_);
    api_.clReleaseProgram(program_);
}

std::string OpenClDevice::build_options(bool fast) const {
    std::string options = "-cl-std=CL1.2 -w";  // generated text needs no warnings, and PoCL prints them on the terminal
    if (fast) return options + " -cl-fast-relaxed-math";
    const NameSet& single = info_.single_fp_config;
    if (single && std::find(single->begin(), single->end(), "correctly_rounded_divide_sqrt") != single->end())
        options += " -cl-fp32-correctly-rounded-divide-sqrt";
    return options;
}

// Sub-devices and memory paths have programs of their own in memory; `id_` tells them apart.
std::string OpenClDevice::program_key(const std::string& options) const {
    return "opencl\n" + id_ + "\n" + context_->name() + "\n" + context_->version() + "\n" + info_.name + "\n" + info_.driver_version +
           "\n" + options + "\n";
}

Ref<device::Program> OpenClDevice::build(const Hash128& key, const std::string& name, bool fast, device::ShapeClass shape, int group_size,
                                         const std::function<emit::CText()>& emit) {
    const device::Compiling compiling(name, this);
    (void)path();
    const Builder builder{api(), context_->handle(), handle_, build_options(fast),
                          name + ": the compiler of " + id_ + " (" + context_->name() + ")"};
    std::optional<emit::CText> emitted;  // once it is needed
    const auto c = [&]() -> const emit::CText& { return emitted ? *emitted : emitted.emplace(emit()); };
    std::unique_ptr<Built> fresh;  // what has just been compiled need not be loaded from its own binary
    jit::CompileSteps recipe;
    recipe.name = name;
    recipe.device = id_;
    recipe.file = [&] {
        return jit::key(program_key(builder.options) + features_.key() + "\n" + std::to_string(shape) + " " + std::to_string(group_size) +
                        " " + c().params + "\n" + c().text);
    };
    recipe.compile = [&] {
        fresh = builder.from_source(c().text);
        return binary_of(api(), fresh->get(), handle_);
    };
    recipe.load = [&](const jit::Binary& binary) -> Ref<device::Program> {
        const auto built = fresh ? std::move(fresh) : builder.from_either(binary, c().text);
        cl_int code = CL_SUCCESS;
        cl_kernel kernel = api().clCreateKernel(built->get(), c().entry.c_str(), &code);
        if (code != CL_SUCCESS)
            throw Error(ErrorCode::Compile, builder.compiler + " made no kernel " + c().entry + ": " + error_name(code));
        return new OpenClProgram(name, api(), built->detach(), kernel, c().params, shape, c().reversible, group_size, c().groups);
    };
    return jit::get(key, recipe);
}

device::ShapeClass OpenClDevice::shape_class(const ir::Kernel& kernel, const device::LaunchShape& shape) const {
    return emit::choose_geometry(kernel, shape, features_).encode();
}

Hash128 OpenClDevice::key_of(const ir::Kernel& kernel, device::ShapeClass shape) const {
    return jit::key(ir::hash(kernel), "opencl " + id_ + " " + std::to_string(shape));
}

Ref<device::Program> OpenClDevice::known_program(const ir::Kernel& kernel, device::ShapeClass shape) {
    return jit::find(key_of(kernel, shape));
}

Ref<device::Program> OpenClDevice::compile(const ir::Kernel& kernel, device::ShapeClass shape) {
    const emit::CGeometry geometry = emit::CGeometry::decode(shape);
    return build(key_of(kernel, shape), kernel.name, kernel.fast_math != 0, shape, geometry.group_size, [&] {
        const ir::Kernel lowered = emit::lowered_for_c(kernel, features_);
        emit::check_groups(lowered, {info_.max_work_group_size, info_.max_work_item_sizes, info_.local_mem_size}, id_);
        return emit::emit_c(lowered, features_, geometry);
    });
}

Ref<device::Program> OpenClDevice::compile_emitted(const std::string& name, const emit::CText& text, device::ShapeClass shape) {
    const Hash128 key = jit::key("opencl emitted " + id_ + "\n" + std::to_string(shape) + " " + text.params + "\n" + text.text);
    return build(key, name, text.fast_math, shape, emit::CGeometry::decode(shape).group_size, [&] { return text; });
}

Ref<device::Program> OpenClDevice::compile_source(const device::SourceKernel& kernel) {
    emit::CText c;
    c.text = emit::c_macros(features_) + kernel.text;
    c.entry = kernel.name;
    c.params = kernel.params;
    const Hash128 key = jit::key("opencl source " + id_ + "\n" + std::to_string(kernel.group_size) + " " + c.params + "\n" + c.text);
    return build(key, kernel.name, false, 0, kernel.group_size, [&] { return c; });
}

OpenClTextProgram::OpenClTextProgram(const OpenClDevice& device, ProgramHandle program, std::vector<device::TextKernel> kernels,
                                     std::vector<KernelHandle> handles, device::ProgramBinary binary, std::string log)
    : TextProgram(std::move(kernels), device.path() == MemoryPath::Buffer ? std::max(device.info().mem_base_addr_align / 8, 1) : 1, false,
                  std::move(binary), std::move(log)),
      program_(std::move(program)),
      handles_(std::move(handles)) {}

OpenClTextProgram::~OpenClTextProgram() {
    if (!device::driver_gone()) return;
    for (KernelHandle& handle : handles_) (void)handle.release();
    (void)program_.release();
}

Ref<device::TextProgram> OpenClDevice::compile_program(const device::ProgramText& given) {
    const device::Compiling compiling("Program", this);
    (void)path();
    std::string options = "-cl-kernel-arg-info";
    for (const std::string& o : given.options) options += o.find(' ') == std::string::npos ? " " + o : " \"" + o + "\"";
    const Builder builder{api(), context_->handle(), handle_, options, "Program: the compiler of " + id_ + " (" + context_->name() + ")"};
    std::unique_ptr<Built> fresh;
    jit::CompileSteps recipe;
    recipe.name = "Program";
    recipe.device = id_;
    const bool packed = device::is_packed(given.binary), raw = !given.binary.empty() && !packed;
    const auto from_binary = [&](const jit::Binary& code) {
        try {
            return builder.from_either(code, given.text);
        } catch (const Error& e) {
            if (given.binary.empty()) throw;
            throw Error(ErrorCode::Value,
                        builder.compiler + " takes no such binary; one of the same device and driver is taken: " + e.what());
        }
    };
    const auto pack_up = [&] {
        const std::string description = described(api(), fresh->get());  // first: a program without kernels may have no binary
        return jit::pack(description, jit::pack(build_log(api(), fresh->get(), handle_).c_str(), binary_of(api(), fresh->get(), handle_)));
    };
    recipe.compile = [&] {
        fresh = raw ? from_binary(given.binary) : builder.from_texts(given);
        return pack_up();
    };
    recipe.load = [&](const jit::Binary& binary) -> Ref<device::Program> {
        const auto [description, rest] = jit::unpack(binary);
        const auto [log, code] = jit::unpack(rest);
        const auto built = fresh ? std::move(fresh) : code.empty() ? builder.from_texts(given) : from_binary(code);
        std::vector<device::TextKernel> kernels = kernels_of(description);
        std::vector<KernelHandle> handles;
        for (device::TextKernel& kernel : kernels) {
            handles.push_back(create_kernel(api(), built->get(), kernel.name));
            ask_limits(api(), handles.back().get(), handle_, info_.local_mem_size, kernel);
        }
        ProgramHandle program(built->detach(), ReleaseProgram{&api()});
        return new OpenClTextProgram(*this, std::move(program), std::move(kernels), std::move(handles),
                                     code.empty() ? device::ProgramBinary() : binary, log);
    };
    if (packed) return static_cast<device::TextProgram*>(recipe.load(device::unpacked(given.binary)).get());
    const bool kept = given.self_contained() && !raw;
    const Ref<device::Program> made =
        kept ? jit::get(jit::key(program_key(options) + "texts\n" + given.whole()), recipe) : jit::make(recipe);
    return static_cast<device::TextProgram*>(made.get());
}

std::string OpenClDevice::inspect(const ir::Kernel& kernel, device::ShapeClass shape, std::string_view what) {
    if (what == "ir") return ir::print(kernel);
    if (what == "opencl") return emit::emit_c(emit::lowered_for_c(kernel, features_), features_, emit::CGeometry::decode(shape)).text;
    throw Error(ErrorCode::Value, "inspect: " + id_ + " has no \"" + std::string(what) + "\", only \"ir\" and \"opencl\"");
}

}  // namespace pardo::opencl
