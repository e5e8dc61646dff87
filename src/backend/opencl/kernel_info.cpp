// src/backend/opencl/kernel_info.cpp: asks for kernels' parameters and limits, and reads OpenCL C's names of types.
#include "backend/opencl/kernel_info.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include <pardo/error.h>

namespace pardo::opencl {
namespace {

struct TypeName {
    std::string_view name;
    DType dtype;
};
constexpr TypeName type_names[] = {
    {"char", DType::Int8},    {"uchar", DType::UInt8},   {"short", DType::Int16},    {"ushort", DType::UInt16},
    {"int", DType::Int32},    {"uint", DType::UInt32},   {"long", DType::Int64},     {"ulong", DType::UInt64},
    {"half", DType::Float16}, {"float", DType::Float32}, {"double", DType::Float64},
};

/// What a type of OpenCL C is made of: "float4" is four of float32. No dtype for what the language has no name for.
struct Elements {
    std::optional<DType> dtype;
    std::size_t count = 1;
};
Elements elements_of(std::string_view type) {
    constexpr std::pair<std::string_view, std::size_t> counts[] = {{"", 1}, {"2", 2}, {"3", 4}, {"4", 4}, {"8", 8}, {"16", 16}};
    const std::size_t end = type.find_last_not_of("0123456789") + 1;
    for (const TypeName& t : type_names) {
        if (type.substr(0, end) != t.name) continue;
        for (const auto& [digits, count] : counts)
            if (type.substr(end) == digits) return {t.dtype, count};
    }
    return {};
}

std::string argument_text(const Api& api, cl_kernel kernel, cl_uint i, cl_kernel_arg_info what) {
    std::size_t bytes = 0;
    if (api.clGetKernelArgInfo(kernel, i, what, 0, nullptr, &bytes) != CL_SUCCESS) return {};
    std::string text(bytes, '\0');
    if (api.clGetKernelArgInfo(kernel, i, what, bytes, text.data(), nullptr) != CL_SUCCESS) return {};
    return text.substr(0, text.find('\0'));
}

template <class T> T argument_fact(const Api& api, cl_kernel kernel, cl_uint i, cl_kernel_arg_info what) {
    T fact = 0;
    return api.clGetKernelArgInfo(kernel, i, what, sizeof fact, &fact, nullptr) == CL_SUCCESS ? fact : 0;
}

/// What a driver tells of an argument. It does so of programs built from text; binaries may have lost it.
struct ArgumentFacts {
    unsigned space = 0, access = 0;  // 0: it does not tell
    std::uint64_t qualifiers = 0;
    std::string name, type;
};

ArgumentFacts facts_of(const Api& api, cl_kernel kernel, cl_uint i) {
    ArgumentFacts f;
    f.space = argument_fact<cl_kernel_arg_address_qualifier>(api, kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER);
    f.access = argument_fact<cl_kernel_arg_access_qualifier>(api, kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER);
    f.qualifiers = argument_fact<cl_kernel_arg_type_qualifier>(api, kernel, i, CL_KERNEL_ARG_TYPE_QUALIFIER);
    f.name = argument_text(api, kernel, i, CL_KERNEL_ARG_NAME);
    f.type = argument_text(api, kernel, i, CL_KERNEL_ARG_TYPE_NAME);
    return f;
}

device::TextParameter parameter_of(const ArgumentFacts& f) {
    using Kind = device::TextParameter::Kind;
    device::TextParameter p;
    p.name = f.name;
    p.type = f.type;
    if (f.space == 0) return p;
    const Elements elements = elements_of(std::string_view(f.type).substr(0, f.type.find_last_not_of("* ") + 1));
    if (f.type == "sampler_t") {
        p.kind = Kind::Sampler;
    } else if (f.access != 0 && f.access != CL_KERNEL_ARG_ACCESS_NONE) {
        p.kind = f.type.find("image") != std::string::npos ? Kind::Image : Kind::Other;
        p.read_only = f.access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
    } else if (f.space != CL_KERNEL_ARG_ADDRESS_PRIVATE) {
        p.kind = f.space == CL_KERNEL_ARG_ADDRESS_LOCAL ? Kind::Local : Kind::Pointer;
        p.read_only = f.space == CL_KERNEL_ARG_ADDRESS_CONSTANT || (f.qualifiers & CL_KERNEL_ARG_TYPE_CONST) != 0;
        p.dtype = elements.dtype;
    } else {
        p.kind = Kind::Value;
        if (elements.count == 1) p.dtype = elements.dtype;
        if (elements.count == 2 && elements.dtype == DType::Float32) p.dtype = DType::Complex64;
        if (elements.count == 2 && elements.dtype == DType::Float64) p.dtype = DType::Complex128;
        if (elements.dtype) p.bytes = elements.count * static_cast<std::size_t>(itemsize(*elements.dtype));
    }
    return p;
}

}  // namespace

KernelHandle create_kernel(const Api& api, cl_program program, const std::string& name) {
    cl_int code = CL_SUCCESS;
    KernelHandle kernel(api.clCreateKernel(program, name.c_str(), &code), ReleaseKernel{&api});
    check(code, "clCreateKernel");
    return kernel;
}

std::string described(const Api& api, cl_program program) {
    std::size_t bytes = 0, kernels = 0;
    cl_int code = api.clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, nullptr);
    if (code == CL_SUCCESS && kernels > 0) code = api.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &bytes);
    if (code != CL_INVALID_PROGRAM_EXECUTABLE) check(code, "clGetProgramInfo");  // Intel's word for no kernels
    std::string names(bytes, '\0');
    if (bytes > 0) check(api.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, bytes, names.data(), nullptr), "clGetProgramInfo");
    names.resize(std::min(names.find('\0'), names.size()));
    if (names.empty()) throw Error(ErrorCode::Compile, "Program: there is no kernel in the text: no function is marked __kernel");
    std::ostringstream out;
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ';');) {
        const KernelHandle kernel = create_kernel(api, program, name);
        cl_uint count = 0;
        check(api.clGetKernelInfo(kernel.get(), CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr), "clGetKernelInfo");
        out << count << ' ' << name << '\n';
        for (cl_uint i = 0; i < count; ++i) {
            const ArgumentFacts f = facts_of(api, kernel.get(), i);
            out << f.space << ' ' << f.access << ' ' << f.qualifiers << ' ' << f.name << '\t' << f.type << '\n';
        }
    }
    return out.str();
}

std::vector<device::TextKernel> kernels_of(const std::string& description) {
    std::vector<device::TextKernel> kernels;
    std::istringstream in(description);
    std::size_t count = 0;
    for (std::string name; in >> count >> name;) {
        device::TextKernel& kernel = kernels.emplace_back();
        kernel.name = name;
        for (std::size_t i = 0; i < count; ++i) {
            ArgumentFacts f;
            in >> f.space >> f.access >> f.qualifiers;
            in.get();
            std::getline(in, f.name, '\t');
            std::getline(in, f.type);
            kernel.parameters.push_back(parameter_of(f));
        }
    }
    return kernels;
}

void ask_limits(const Api& api, cl_kernel handle, cl_device_id device, std::int64_t local_bytes, device::TextKernel& kernel) {
    std::size_t most = 0, group[3] = {};
    cl_ulong local = 0;
    const auto ask = [&](cl_kernel_work_group_info what, std::size_t bytes, void* to) {
        check(api.clGetKernelWorkGroupInfo(handle, device, what, bytes, to, nullptr), "clGetKernelWorkGroupInfo");
    };
    ask(CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most);
    ask(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group);
    ask(CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local);
    std::size_t multiple = 0;
    cl_ulong own = 0;
    if (api.clGetKernelWorkGroupInfo(handle, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple, &multiple, nullptr) ==
        CL_SUCCESS)
        kernel.multiple = static_cast<std::int64_t>(multiple);
    if (api.clGetKernelWorkGroupInfo(handle, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof own, &own, nullptr) == CL_SUCCESS)
        kernel.private_bytes = static_cast<std::int64_t>(own);
    kernel.local_bytes = static_cast<std::int64_t>(local);
    kernel.most_items = static_cast<std::int64_t>(most);
    kernel.most_local = local_bytes - static_cast<std::int64_t>(local);
    std::copy(group, group + 3, kernel.group.begin());
}

}  // namespace pardo::opencl
